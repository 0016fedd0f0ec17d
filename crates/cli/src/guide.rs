//! The parts of the guide that explain a check, a limiter, a metric, an objection, an exit code or
//! a term. They are read from the pages of the guide: there is only one text.

use workload::question::RunMetric;

/// The kind of a thing that the guide explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// A check of a run.
    Check,
    /// A check of `assay doctor`.
    DoctorCheck,
    /// A limiter.
    Limiter,
    /// A metric of experiments.
    Metric,
    /// An objection to a comparison.
    Objection,
    /// An exit code.
    ExitCode,
    /// A word of answers and messages.
    Term,
}

/// A part of the guide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Explanation {
    pub(crate) topic: Topic,
    /// The names that this part explains.
    pub(crate) names: Vec<String>,
    /// Text of the explanation, in paragraphs.
    pub(crate) text: String,
}

const CHECKS: &str = include_str!("../../../docs/checks.md");
const DOCTOR: &str = include_str!(concat!(env!("OUT_DIR"), "/doctor.md"));
const LIMITERS: &str = include_str!(concat!(env!("OUT_DIR"), "/limiters.md"));
const METRICS: &str = include_str!(concat!(env!("OUT_DIR"), "/metrics.md"));
const OBJECTIONS: &str = include_str!(concat!(env!("OUT_DIR"), "/objections.md"));
const EXIT_CODES: &str = include_str!(concat!(env!("OUT_DIR"), "/exit_codes.md"));
const GLOSSARY: &str = include_str!("../../../docs/glossary.md");

impl Topic {
    /// Returns the words for this topic, with an article.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Topic::Check => "a check of a run",
            Topic::DoctorCheck => "a check of `assay doctor`",
            Topic::Limiter => "a limiter",
            Topic::Metric => "a metric of experiments",
            Topic::Objection => "an objection to a comparison",
            Topic::ExitCode => "an exit code",
            Topic::Term => "a term",
        }
    }

    /// Returns the page of the guide about this topic.
    pub(crate) fn page(self) -> &'static str {
        match self {
            Topic::Check => "docs/checks.md",
            Topic::DoctorCheck => "docs/environment.md",
            Topic::Limiter => "docs/limiter.md",
            Topic::Metric | Topic::Objection => "docs/comparing.md",
            Topic::ExitCode => "docs/command-line.md",
            Topic::Term => "docs/glossary.md",
        }
    }
}

impl Explanation {
    /// Returns true if this part explains a name. The name of a metric may include a job or a
    /// table, and a term may be written in any case.
    pub(crate) fn is_about(&self, name: &str) -> bool {
        let is_metric = |known: &String| {
            // `response.Q` stands for a metric of each statistic.
            let stem = known.strip_suffix('Q').filter(|_| self.topic == Topic::Metric);
            let metric = RunMetric::parse(name).ok().map(|metric| metric.quantity.name());
            metric.is_some_and(|it| {
                let of_mode = [".user", ".system"].into_iter().find_map(|end| it.strip_suffix(end));
                let is_stem = stem.is_some_and(|stem| it.starts_with(stem));
                it == *known || of_mode == Some(known.as_str()) || is_stem
            })
        };
        let is_name = |known: &String| match self.topic {
            Topic::Term => known.to_lowercase() == name.to_lowercase(),
            Topic::Check
            | Topic::DoctorCheck
            | Topic::Limiter
            | Topic::Metric
            | Topic::Objection
            | Topic::ExitCode => known == name,
        };
        self.names.iter().any(is_name)
            || self.topic == Topic::Metric && self.names.iter().any(is_metric)
    }

    /// Returns the metric `response.Q` of a name such as `response.p98`, and the statistics that Q
    /// stands for.
    pub(crate) fn statistics(&self, name: &str) -> Option<(&str, &str)> {
        let has_stem = |known: &&String| {
            known.strip_suffix('Q').is_some_and(|stem| !stem.is_empty() && name.starts_with(stem))
        };
        let metric = self.names.iter().find(has_stem)?;
        let (_, statistics) = self.text.split_once("Q is ")?;
        Some((metric, statistics.lines().next()?))
    }
}

/// Returns all explanations.
pub(crate) fn explanations() -> Vec<Explanation> {
    let mut all = sections(CHECKS);
    all.extend(rows_of_table(Topic::DoctorCheck, DOCTOR));
    all.extend(rows_of_table(Topic::Limiter, LIMITERS));
    all.extend(rows_of_table(Topic::Metric, METRICS));
    all.extend(rows_of_table(Topic::Objection, OBJECTIONS));
    all.extend(rows_of_table(Topic::ExitCode, EXIT_CODES));
    all.extend(terms(GLOSSARY));
    all
}

/// Returns the terms of the glossary. Each is an item: `* **word**, **other** (of what): text`.
fn terms(page: &str) -> Vec<Explanation> {
    let term = |item: &str| {
        let item = item.split("\n\n").next()?;
        let (head, text) = item.split_once(": ")?;
        let names = head.split("**").skip(1).step_by(2).map(str::to_owned).collect();
        // The lines of an item are indented.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Explanation { topic: Topic::Term, names, text: without_links(&text) })
    };
    page.split("\n* ").skip(1).filter_map(term).collect()
}

/// Returns the explanations of checks, one for each section of their page.
fn sections(page: &str) -> Vec<Explanation> {
    let section = |section: &str| {
        let (name, body) = section.split_once('\n')?;
        // A following chapter is not a part of the last section.
        let body = body.split("\n## ").next()?.trim();
        Some(Explanation {
            topic: Topic::Check,
            names: vec![name.trim().to_owned()],
            text: without_links(body),
        })
    };
    page.split("\n### ").skip(1).filter_map(section).collect()
}

/// Returns the rows of the first table of a part. The first cell of a row has the names; the text
/// has the other cells, each after the title of its column.
fn rows_of_table(topic: Topic, part: &str) -> Vec<Explanation> {
    let mut lines = part.lines().skip_while(|line| !line.starts_with("| "));
    let titles = lines.next().map(cells).unwrap_or_default();
    let rows = lines.skip(1).take_while(|line| line.starts_with("| ")).map(cells);
    let row = |row: Vec<&str>| {
        let explained = titles.iter().zip(&row).skip(1);
        let explained = explained.filter(|(_, cell)| !cell.is_empty());
        let text: Vec<String> =
            explained.map(|(title, cell)| without_links(&format!("{title}: {cell}"))).collect();
        let names = row.first().map_or("", |cell| *cell);
        let names = names.split(',').map(|name| name.trim().trim_matches('`').to_owned());
        Explanation { topic, names: names.collect(), text: text.join("\n") }
    };
    rows.map(row).collect()
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split(" | ").map(str::trim).collect()
}

/// Returns a text without the addresses of its links.
fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let link = after.split_once("](").and_then(|(label, after)| {
            let (_, after) = after.split_once(')')?;
            (!label.contains('[')).then_some((label, after))
        });
        match link {
            Some((label, after)) => {
                out.push_str(label);
                rest = after;
            }
            None => {
                out.push('[');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use analyze::doctor::{DoctorInput, Server};

    use super::*;

    fn names(topic: Topic) -> Vec<String> {
        let all = explanations().into_iter().filter(|one| one.topic == topic);
        all.flat_map(|one| one.names).collect()
    }

    #[test]
    fn every_check_limiter_metric_and_exit_code_is_explained() {
        let mut checks = names(Topic::Check);
        let mut known = analyze::CheckKind::ALL.map(|check| check.name().to_owned()).to_vec();
        checks.sort_unstable();
        known.sort_unstable();
        assert_eq!(checks, known);
        let limiters = names(Topic::Limiter);
        for limiter in analyze::Component::ALL {
            assert!(limiters.contains(&limiter.name().to_owned()), "{}", limiter.name());
        }
        let all = explanations();
        for quantity in workload::question::Quantity::all() {
            let name = quantity.name();
            let is_known = all.iter().any(|one| one.topic == Topic::Metric && one.is_about(name));
            assert!(is_known, "{name}");
        }
        let mut objections = names(Topic::Objection);
        objections.sort_unstable();
        let known = ["data", "durability", "environment", "incomplete", "invalid", "plan"];
        assert_eq!(objections, known);
        assert_eq!(names(Topic::ExitCode), ["2", "130", "4", "3", "1", "0"]);
        let found = analyze::doctor::judge(&DoctorInput {
            servers: vec![Server { host: Some("db1".to_owned()), ..Server::default() }],
            ..DoctorInput::default()
        });
        let doctor = names(Topic::DoctorCheck);
        assert_eq!(doctor.len(), 18);
        for check in found.passed.into_iter().chain(found.not_possible.iter().map(|not| not.check))
        {
            assert!(doctor.contains(&check.to_owned()), "{check}");
        }
        let terms = names(Topic::Term);
        let words = [
            "VALID",
            "SUSPECT",
            "INVALID",
            "SLO",
            "withheld",
            "undecided",
            "teardown",
            "declared",
            "exploratory",
            "bracket",
            "hold",
            "equivalent",
            "tie",
            "binding condition",
        ];
        words.iter().for_each(|word| assert!(terms.contains(&(*word).to_owned()), "{word}"));
        assert!(terms.iter().all(|term| !term.is_empty() && !term.contains('*')), "{terms:?}");
        assert!(all.iter().all(|one| !one.text.is_empty() && !one.text.contains("](")));
    }

    #[test]
    fn words_of_tables_and_lines_of_experiments_are_explained() {
        let terms = names(Topic::Term);
        let words = [
            "better",
            "worse",
            "no-scatter",
            "single-run",
            "held",
            "failed",
            "smooth",
            "cliff",
            "non-monotone",
            "not reached",
            "pass",
            "fail",
            "shrink",
            "round",
            "confirm",
            "irregular",
            "A/A",
            "USL",
        ];
        words.iter().for_each(|word| assert!(terms.contains(&(*word).to_owned()), "{word}"));
    }

    #[test]
    fn term_is_explained_without_the_indentation_of_its_item() {
        let page = "# A\n\n* **a**, **b** (of c): one [two](x.md)\n  three.\n* **d**: e.\n";
        let texts: Vec<String> = terms(page).into_iter().map(|term| term.text).collect();
        assert_eq!(texts, ["one two three.", "e."]);
    }

    #[test]
    fn links_lose_their_addresses_and_brackets_stay() {
        assert_eq!(without_links("a [b](c.md#d), [read], [e\nf](g)"), "a b, [read], e\nf");
        assert_eq!(without_links("[unfinished](x"), "[unfinished](x");
    }
}
