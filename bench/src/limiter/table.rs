//! What came of all repetitions.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Answer, Outcome, Scenario};

/// The part of the repetitions that must be named right.
const RIGHT: f64 = 0.95;

/// What a scenario was answered.
pub struct Row<'s> {
    /// Which.
    pub scenario: &'s Scenario,
    /// The answers of its repetitions.
    pub answers: Vec<Answer>,
    /// Why it was not run, if it was not.
    pub unable: Option<String>,
}

/// All scenarios with their answers.
#[derive(Default)]
pub struct Table<'s>(pub Vec<Row<'s>>);

impl Table<'_> {
    fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        self.0.iter().flat_map(Row::outcomes)
    }

    /// Whether enough of them are named right, no scenario is missed twice, and none is named
    /// wrong.
    pub fn is_good(&self) -> bool {
        let count = self.outcomes().count();
        let right = self.outcomes().filter(|outcome| *outcome == Outcome::Right).count();
        let misses = |row: &Row<'_>| row.outcomes().filter(|it| *it != Outcome::Right).count();
        let is_wrong = self.outcomes().any(|outcome| outcome == Outcome::Wrong);
        count > 0
            && right as f64 >= count as f64 * RIGHT
            && !is_wrong
            && self.0.iter().all(|row| misses(row) < 2)
    }

    /// The table in Markdown.
    pub fn to_text(&self) -> String {
        let mut text = String::from(
            "| situation | what was made | named rightly by | named right | otherwise |\n\
             | --- | --- | --- | --: | --- |\n",
        );
        let (ran, not): (Vec<_>, Vec<_>) = self.0.iter().partition(|row| row.unable.is_none());
        for row in &ran {
            let right = row.outcomes().filter(|it| *it == Outcome::Right).count();
            // Writing into a String cannot fail.
            let _ = writeln!(
                text,
                "| {} | {} | `{}` | {right} of {} | {} |",
                row.scenario.name,
                row.scenario.made,
                row.scenario.accepted.join("`, `"),
                row.answers.len(),
                row.otherwise()
            );
        }
        let count = self.outcomes().count();
        let right = self.outcomes().filter(|outcome| *outcome == Outcome::Right).count();
        let _ = writeln!(text, "\n{right} of {count} were named right.");
        for row in not {
            let why = row.unable.as_deref().unwrap_or_default();
            let _ = writeln!(text, "\nNot run here: {}: {why}", row.scenario.name);
        }
        text
    }
}

impl Row<'_> {
    fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        self.answers.iter().map(|answer| self.scenario.judge(answer))
    }

    /// What was named instead, with how often.
    fn otherwise(&self) -> String {
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for answer in &self.answers {
            if self.scenario.judge(answer) != Outcome::Right {
                *named.entry(&answer.component).or_default() += 1;
            }
        }
        let words = named.iter().map(|(name, count)| format!("`{name}` {count}"));
        words.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limiter::Unable;

    const SCENARIO: Scenario = Scenario {
        name: "one client",
        made: "nothing is full",
        accepted: &["concurrency"],
        word: None,
        run: |_| Err(Unable::because("never").into()),
    };

    fn row(components: &[&str]) -> Row<'static> {
        let answer = |component: &&str| Answer {
            component: (*component).to_owned(),
            because: String::new(),
        };
        Row { scenario: &SCENARIO, answers: components.iter().map(answer).collect(), unable: None }
    }

    #[test]
    fn a_table_is_good_if_nearly_all_is_named_right_and_nothing_wrong() {
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
    fn what_was_named_instead_and_what_was_not_run_is_told() {
        let not = Row { unable: Some("no namespaces".to_owned()), ..row(&[]) };
        let text = Table(vec![row(&["concurrency", "unknown"]), not]).to_text();
        assert!(text.contains("| `concurrency` | 1 of 2 | `unknown` 1 |"), "{text}");
        assert!(text.contains("1 of 2 were named right."), "{text}");
        assert!(text.contains("Not run here: one client: no namespaces"), "{text}");
    }
}
