//! The part of an experiment's report that follows its answer: the checks by arm, the environment,
//! the settings of the servers, and the plan.

use analyze::compare::ArmId;
use analyze::{CheckKind, Status};

use super::arm_facts::ArmFacts;
use super::view::{ExperimentView, RunView};
use crate::number::{NONE, count};
use crate::page::{FactGroup, group_facts, is_default};

/// Maximum number of values of a fact that are shown one by one.
const MOST_VALUES: usize = 3;

/// The part of the report that follows the answer.
pub(super) struct Appendix {
    /// A row for each check that objected: its name, and for each arm the numbers of runs to which
    /// it objected.
    pub(super) checks: Vec<Vec<String>>,
    /// The sentence about the checks that did not object.
    pub(super) other_checks: String,
    /// Facts about program, machine, network and observation.
    pub(super) environment: Vec<FactTables>,
    /// Versions, sizes and settings of the servers.
    pub(super) servers: Vec<FactTables>,
}

/// The facts about one subject.
pub(super) struct FactTables {
    pub(super) heading: String,
    /// For each fact that is not the same in all runs: its name, and the values of each arm.
    pub(super) differing: Vec<Vec<String>>,
    /// For each fact that is the same in all runs: its name and value.
    pub(super) same: Vec<Vec<String>>,
}

impl Appendix {
    pub(super) fn of(view: &ExperimentView) -> Appendix {
        let (environment, servers) = facts(&view.facts);
        let checks = checks(view);
        Appendix { other_checks: other_checks(view, &checks), checks, environment, servers }
    }
}

fn counting_runs(view: &ExperimentView) -> impl Iterator<Item = &RunView> {
    view.runs.iter().filter(|run| run.state == "counts")
}

fn checks(view: &ExperimentView) -> Vec<Vec<String>> {
    let row = |kind: CheckKind| {
        let objects = |run: &RunView| run.objections.iter().any(|(known, _)| *known == kind);
        if !counting_runs(view).any(objects) {
            return None;
        }
        let of_arm = |arm: ArmId| {
            let runs: Vec<&RunView> = counting_runs(view).filter(|run| run.arm == arm).collect();
            let with = |status: Status| {
                runs.iter().filter(|run| run.objections.contains(&(kind, status))).count()
            };
            let counts = [Status::Invalid, Status::Suspect]
                .map(|status| (with(status), status.verdict()))
                .into_iter()
                .filter(|(runs, _)| *runs > 0);
            let counts: Vec<String> =
                counts.map(|(number, word)| format!("{number} {word}")).collect();
            match counts.is_empty() {
                true => format!("none of {}", runs.len()),
                false => format!("{} of {}", counts.join(", "), runs.len()),
            }
        };
        let cells = (0..view.arms.len()).map(ArmId).map(of_arm);
        Some([kind.name().to_owned()].into_iter().chain(cells).collect())
    };
    CheckKind::ALL.into_iter().filter_map(row).collect()
}

fn other_checks(view: &ExperimentView, objecting: &[Vec<String>]) -> String {
    let runs = counting_runs(view).count() as u64;
    match (runs, objecting.len()) {
        (0, _) => "No run counts yet.".to_owned(),
        (_, 0) => format!("No check objected in {}.", count(runs, "run")),
        (_, _) => format!("No other check objected in {}.", count(runs, "run")),
    }
}

/// Returns the facts about the environment, and the facts about servers.
fn facts(facts: &ArmFacts) -> (Vec<FactTables>, Vec<FactTables>) {
    let (mut environment, mut servers) = (Vec::new(), Vec::new());
    let values = facts.values().into_iter().filter(|(name, _)| !is_default(name));
    for FactGroup { heading, is_server, facts } in group_facts(values.collect()) {
        let mut tables = FactTables { heading, differing: Vec::new(), same: Vec::new() };
        for (name, arms) in facts {
            let cells = arms.iter().map(|values| in_words(values));
            match arms.split_first() {
                Some((first, others))
                    if first.len() == 1 && others.iter().all(|other| other == first) =>
                {
                    tables.same.push(vec![name, in_words(first)]);
                }
                _ => tables.differing.push([name].into_iter().chain(cells).collect()),
            }
        }
        if is_server { servers.push(tables) } else { environment.push(tables) }
    }
    (environment, servers)
}

/// Returns the values of a fact in several runs as text. If there are more than [`MOST_VALUES`],
/// the text is the range of the numbers, or the first few texts.
fn in_words(values: &[String]) -> String {
    if values.len() <= MOST_VALUES {
        return if values.is_empty() { NONE.to_owned() } else { values.join(", ") };
    }
    let numbers: Option<Vec<(f64, &String)>> =
        values.iter().map(|text| Some((text.parse::<f64>().ok()?, text))).collect();
    match numbers.and_then(range) {
        Some([least, most]) => format!("{least} to {most} ({} values)", values.len()),
        None => {
            let named = values[..MOST_VALUES - 1].join(", ");
            format!("{named} and {} other values", values.len() + 1 - MOST_VALUES)
        }
    }
}

fn range(mut numbers: Vec<(f64, &String)>) -> Option<[&String; 2]> {
    numbers.sort_by(|one, other| one.0.total_cmp(&other.0));
    Some([numbers.first()?.1, numbers.last()?.1])
}

#[cfg(test)]
mod tests {
    use record::{Excerpt, ExcerptKind};

    use super::super::arm_facts::PlanTexts;
    use super::super::fixtures::{experiment, run_of};
    use super::super::full_text::experiment_full_text;
    use super::super::html::experiment_html;
    use super::*;
    use crate::text::Style;

    /// Returns an experiment with two runs of each arm.
    fn with_runs() -> ExperimentView {
        let lag = |status| vec![(CheckKind::SendLag, status)];
        let runs = vec![
            run_of(0, Vec::new()),
            run_of(1, lag(Status::Suspect)),
            run_of(0, Vec::new()),
            run_of(1, lag(Status::Invalid)),
        ];
        let facts = |arm: usize, load: &str, fsync: Option<&str>| {
            let mut facts = vec![("host.kernel", "6.1"), ("host.load", load), ("server", "Pg 16")];
            facts.extend(fsync.map(|value| ("fsync", value)));
            let owned = facts.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
            (ArmId(arm), owned.collect::<Vec<(String, String)>>())
        };
        let facts = [
            facts(0, "0.1", None),
            facts(1, "0.2", Some("off")),
            facts(0, "0.3", None),
            facts(1, "0.2", Some("off")),
        ];
        let mut facts = ArmFacts::of(2, facts.iter().map(|(arm, facts)| (*arm, facts.as_slice())));
        facts.add_to_all("assay.version", "0.1.0");
        let plan = PlanTexts {
            experiment: "[question]\nask = ?\n".to_owned(),
            workload: Some((2, "duration = 5s\n".to_owned())),
        };
        ExperimentView { runs, facts, plan, ..experiment() }
    }

    #[test]
    fn objections_are_counted_by_check_and_arm() {
        let found = Appendix::of(&with_runs());
        assert_eq!(found.checks, [["send-lag", "none of 2", "1 INVALID, 1 SUSPECT of 2"]]);
        assert_eq!(found.other_checks, "No other check objected in 4 runs.");
        let mut repeated = with_runs();
        repeated.runs[3].state = "repeated";
        assert_eq!(Appendix::of(&repeated).checks, [["send-lag", "none of 2", "1 SUSPECT of 1"]]);
        let mut sound = with_runs();
        sound.runs.iter_mut().for_each(|run| run.objections.clear());
        let found = Appendix::of(&sound);
        assert!(found.checks.is_empty(), "{:?}", found.checks);
        assert_eq!(found.other_checks, "No check objected in 4 runs.");
    }

    #[test]
    fn facts_are_divided_into_equal_and_different_ones() {
        let found = Appendix::of(&with_runs());
        let headings = |tables: &[FactTables]| -> Vec<String> {
            tables.iter().map(|it| it.heading.clone()).collect()
        };
        assert_eq!(headings(&found.environment), ["Assay and its options", "Host"]);
        assert_eq!(found.environment[1].same, [["host.kernel", "6.1"]]);
        assert_eq!(found.environment[1].differing, [["host.load", "0.1, 0.3", "0.2"]]);
        assert_eq!(headings(&found.servers), ["Server"]);
        assert_eq!(found.servers[0].same, [["server", "Pg 16"]]);
        assert_eq!(found.servers[0].differing, [["fsync", NONE, "off"]]);
    }

    #[test]
    fn many_values_are_shortened() {
        let values = |all: &[&str]| {
            in_words(&all.iter().map(|value| (*value).to_owned()).collect::<Vec<String>>())
        };
        assert_eq!(values(&[]), NONE);
        assert_eq!(values(&["a", "b", "c"]), "a, b, c");
        assert_eq!(values(&["3", "10", "2.5", "7"]), "2.5 to 10 (4 values)");
        assert_eq!(values(&["a", "b", "c", "4"]), "a, b and 2 other values");
    }

    #[test]
    fn page_and_full_text_have_the_same_appendix() {
        let mut view = with_runs();
        view.excerpts = vec![Excerpt {
            subject: "read".to_owned(),
            kind: ExcerptKind::Examples,
            titles: vec!["statement".to_owned(), "example".to_owned()],
            rows: vec![vec![Some("select ?".to_owned()), Some("select 7".to_owned())]],
        }];
        let page = experiment_html(&view);
        let text = experiment_full_text(&view, &Style { color: false, width: usize::MAX });
        for shown in [
            "send-lag",
            "1 INVALID, 1 SUSPECT of 2",
            "No other check objected in 4 runs.",
            "host.kernel",
            "0.1, 0.3",
            "assay.version",
            "Pg 16",
            "ask = ?",
            "Examples of read: run 2",
            "select 7",
            "duration = 5s",
        ] {
            assert!(page.contains(shown), "{shown}: {page}");
            assert!(text.contains(shown), "{shown}: {text}");
        }
        assert!(text.contains("\n  fsync: plain –; tls off\n"), "{text}");
    }
}
