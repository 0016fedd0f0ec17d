//! The table of all repetitions: reported limiters against known ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Answer, Outcome, Scenario};

/// The minimum fraction of the repetitions in which the limiter must be identified.
const LEAST_IDENTIFIED: f64 = 0.95;

/// The answers of one scenario.
pub struct Row<'s> {
    /// The scenario.
    pub scenario: &'s Scenario,
    /// The answers of its repetitions.
    pub answers: Vec<Answer>,
    /// The reason why the scenario was not run; `None` if it was.
    pub not_run_reason: Option<String>,
}

/// All scenarios with their answers.
#[derive(Default)]
pub struct Table<'s>(pub Vec<Row<'s>>);

impl Table<'_> {
    fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        self.ran().flat_map(Row::outcomes)
    }

    /// Returns true if enough limiters are identified, none is misidentified, and no scenario has
    /// two repetitions without an identified limiter. Without any repetition, returns false.
    pub fn is_good(&self) -> bool {
        let count = self.outcomes().count();
        let right = self.outcomes().filter(|outcome| *outcome == Outcome::Right).count();
        let misses = |row: &Row<'_>| row.outcomes().filter(|it| *it != Outcome::Right).count();
        let is_wrong = self.outcomes().any(|outcome| outcome == Outcome::Wrong);
        count > 0
            && right as f64 >= count as f64 * LEAST_IDENTIFIED
            && !is_wrong
            && self.ran().all(|row| misses(row) < 2)
    }

    /// Returns the whole result in Markdown: the table of scenarios, the confusion matrix, the
    /// totals, and the scenarios that were not run.
    pub fn to_text(&self) -> String {
        format!("{}\n{}{}", self.scenarios(), self.confusion(), self.totals())
    }

    fn scenarios(&self) -> String {
        let mut text = String::from(
            "| scenario | bottleneck | expected | identified | reported |\n\
             | --- | --- | --- | --: | --- |\n",
        );
        for row in self.ran() {
            let right = row.outcomes().filter(|it| *it == Outcome::Right).count();
            // Writing into a String cannot fail.
            let _ = writeln!(
                text,
                "| {} | {} | `{}` | {right} of {} | {} |",
                row.scenario.name,
                row.scenario.bottleneck,
                row.scenario.accepted.join("`, `"),
                row.answers.len(),
                row.reported_components()
            );
        }
        text
    }

    /// Returns the confusion matrix: known limiters against reported ones, with counts.
    fn confusion(&self) -> String {
        let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
        for row in self.ran() {
            for answer in &row.answers {
                let expected = row.scenario.accepted.join("` or `");
                *counts.entry((expected, &answer.component)).or_default() += 1;
            }
        }
        let expected: BTreeSet<&String> = counts.keys().map(|(expected, _)| expected).collect();
        let reported: BTreeSet<&str> = counts.keys().map(|(_, reported)| *reported).collect();
        let heads = reported.iter().map(|name| format!(" `{name}` |")).collect::<String>();
        let mut text =
            format!("| expected / reported |{heads}\n| --- |{}\n", " --: |".repeat(reported.len()));
        for limiter in expected {
            let cell = |name| match counts.get(&(limiter.clone(), name)) {
                Some(count) => format!(" {count} |"),
                None => "  |".to_owned(),
            };
            let cells = reported.iter().copied().map(cell).collect::<String>();
            // Writing into a String cannot fail.
            let _ = writeln!(text, "| `{limiter}` |{cells}");
        }
        text
    }

    fn totals(&self) -> String {
        let count = self.outcomes().count();
        let right = self.outcomes().filter(|outcome| *outcome == Outcome::Right).count();
        let missed = self.outcomes().filter(|outcome| *outcome == Outcome::Missed).count();
        let wrong = count - right - missed;
        let mut text = format!(
            "\n{right} of {count} were identified, {missed} were not identified, {wrong} were \
             misidentified. The measure is {}.\n",
            if self.is_good() { "met" } else { "not met" }
        );
        for row in self.0.iter().filter(|row| row.not_run_reason.is_some()) {
            let why = row.not_run_reason.as_deref().unwrap_or_default();
            let _ = writeln!(text, "\nNot run here: {}: {why}.", row.scenario.name);
        }
        text
    }

    /// Returns the scenarios that could run on this machine.
    pub fn ran(&self) -> impl Iterator<Item = &Row<'_>> {
        self.0.iter().filter(|row| row.not_run_reason.is_none())
    }
}

impl Row<'_> {
    fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        self.answers.iter().map(|answer| self.scenario.judge(answer))
    }

    /// Returns the reported components with their counts. An accepted component without the
    /// required facts, such as the locks of another table, is marked.
    fn reported_components(&self) -> String {
        let mut named: BTreeMap<String, usize> = BTreeMap::new();
        for answer in &self.answers {
            let is_other = self.scenario.judge(answer) == Outcome::Wrong
                && self.scenario.accepted.contains(&answer.component.as_str());
            let other = if is_other { " (of another)" } else { "" };
            *named.entry(format!("`{}`{other}", answer.component)).or_default() += 1;
        }
        let words = named.iter().map(|(name, count)| format!("{count} × {name}"));
        words.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limiter::Unsupported;

    fn one_client() -> Scenario {
        Scenario {
            name: "one client".to_owned(),
            bottleneck: "nothing is saturated",
            accepted: &["concurrency"],
            fact: None,
            run: Box::new(|_| Err(Unsupported::new("never").into())),
        }
    }

    /// Returns a row of a scenario that lives as long as the test program.
    fn row(components: &[&str]) -> Row<'static> {
        let answer = |component: &&str| Answer {
            component: (*component).to_owned(),
            because: String::new(),
            finding: None,
        };
        let scenario = Box::leak(Box::new(one_client()));
        Row { scenario, answers: components.iter().map(answer).collect(), not_run_reason: None }
    }

    #[test]
    fn table_passes_if_few_limiters_are_missed_and_none_is_wrong() {
        let good = ["concurrency"; 20];
        assert!(Table(vec![row(&good)]).is_good());
        let with = |other: &'static str| {
            let mut answers = good;
            answers[3] = other;
            Table(vec![row(&answers), row(&good)])
        };
        assert!(with("unknown").is_good());
        assert!(!with("database-cpu").is_good());
        let twice = ["concurrency", "unknown", "unknown"];
        assert!(!Table(vec![row(&good), row(&good), row(&good), row(&twice)]).is_good());
        assert!(!Table(vec![row(&["unknown"])]).is_good());
        assert!(!Table(Vec::new()).is_good());
    }

    #[test]
    fn table_lists_answers_and_skipped_scenarios() {
        let not = Row { not_run_reason: Some("no namespaces".to_owned()), ..row(&[]) };
        let text = Table(vec![row(&["concurrency", "unknown"]), not]).to_text();
        assert!(text.contains("| 1 of 2 | 1 × `concurrency`, 1 × `unknown` |"), "{text}");
        assert!(
            text.contains("1 of 2 were identified, 1 were not identified, 0 were misidentified."),
            "{text}"
        );
        assert!(text.contains("misidentified. The measure is not met."), "{text}");
        assert!(Table(vec![row(&["concurrency"; 20])]).to_text().contains("The measure is met."));
        assert!(text.contains("Not run here: one client: no namespaces."), "{text}");
    }

    #[test]
    fn confusion_matrix_counts_known_against_reported() {
        let accepted = &["cgroup", "proxy"];
        let other = Scenario { accepted, fact: Some(|_| true), ..one_client() };
        let others = Row { scenario: &other, ..row(&["cgroup", "concurrency", "concurrency"]) };
        let table = Table(vec![row(&["concurrency", "unknown"]), others]);
        let expected = "\
            | expected / reported | `cgroup` | `concurrency` | `unknown` |\n\
            | --- | --: | --: | --: |\n\
            | `cgroup` or `proxy` | 1 | 2 |  |\n\
            | `concurrency` |  | 1 | 1 |\n";
        assert_eq!(table.confusion(), expected);
        let text = table.to_text();
        assert!(text.contains("1 × `cgroup` (of another), 2 × `concurrency`"), "{text}");
        assert!(
            text.contains("1 of 5 were identified, 1 were not identified, 3 were misidentified."),
            "{text}"
        );
    }
}
