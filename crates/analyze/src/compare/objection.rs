//! Reasons not to compare groups of runs.

use record::EndKind;

use super::validity::ArmValidity;
use crate::check::CheckKind;

/// A kind of objection, which a user names to accept it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectionKind {
    /// A run or an experiment was not completed.
    Incomplete,
    /// Runs are INVALID.
    Invalid,
    /// The plans differ in more than target, seed, `setup-timeout` and numbers of rows, or the
    /// contents of their input files differ.
    Plan,
    /// The sizes of the data differ.
    Data,
    /// The settings that decide whether commits survive a crash differ.
    Durability,
    /// The machines, the settings of the load generator, the kinds of time (real or virtual), or
    /// the connections to the server differ in a fact that affects the figures.
    Environment,
}

/// A reason not to compare a group of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Objection {
    /// Index of the group.
    pub group: usize,
    /// The problem.
    pub problem: Problem,
}

/// The problem of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// A run was not completed.
    RunEnded {
        /// Name of the run.
        run: String,
        /// End of the run; `None` if it was killed, or still runs.
        ended: Option<EndKind>,
    },
    /// An experiment has not taken its last look.
    ExperimentEnded(Unfinished),
    /// Some runs are INVALID.
    Invalid {
        /// Number of these runs.
        runs: u32,
        /// The checks that failed.
        checks: Vec<CheckKind>,
    },
    /// Facts that must be equal differ.
    Differs {
        /// Kind of the objection.
        kind: ObjectionKind,
        /// Name of the first run that differs.
        run: String,
        /// Name of the run that it differs from.
        reference: String,
        /// The differences, at least one.
        differences: Vec<FactDifference>,
    },
}

/// The reason why an experiment has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// The experiment was interrupted, still runs, or ended because the difference of an arm was
    /// not in effect: it can be resumed.
    Interrupted,
    /// The load generator or the machine failed too often: the experiment cannot be resumed.
    Failed,
    /// The search for saturation could not observe the quantity that its condition names: the
    /// experiment cannot be resumed.
    NotObserved,
}

/// A fact that differs between two runs; `None` where a run does not have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactDifference {
    /// Name of the fact.
    pub name: String,
    /// Value in the reference.
    pub reference: Option<String>,
    /// Value in the run that differs.
    pub value: Option<String>,
}

/// Facts about a run that decide if it is comparable with others: names and values.
#[derive(Clone, Debug, PartialEq)]
pub struct RunConditions {
    /// Name of the run: its record, and its number in the record.
    pub run: String,
    /// End of the run; `None` if it was killed, or still runs.
    pub ended: Option<EndKind>,
    /// Lines of the plan that determine the work of the run, without numbers of rows.
    pub plan: Vec<(String, String)>,
    /// Contents of the files that requests are made from. Older records do not have them.
    pub files: Vec<(String, String)>,
    /// Sizes of the data: numbers of rows, and bytes of databases, which may differ by a tenth.
    pub data: Vec<(String, String)>,
    /// Settings that decide whether commits survive a crash.
    pub durability: Vec<(String, String)>,
    /// Facts about machine, network, load generator and kind of time (real or virtual) that affect
    /// the figures. A fact that is unknown for a run is not compared.
    pub environment: Vec<(String, String)>,
}

/// A group of runs before the comparison.
#[derive(Clone, Debug)]
pub struct GroupConditions<'a> {
    /// The runs, at least one.
    pub runs: Vec<&'a RunConditions>,
    /// The reason why the experiment of the group has no answer yet, if the group is an arm of an
    /// experiment that has not taken its last look.
    pub unfinished: Option<Unfinished>,
    /// Validity of the runs.
    pub validity: &'a ArmValidity,
    /// Index of the group whose first run must have had the same conditions; `None` for arms of one
    /// experiment, which differ by intention.
    pub reference: Option<usize>,
}

impl ObjectionKind {
    /// All kinds.
    pub const ALL: [ObjectionKind; 6] = [
        ObjectionKind::Incomplete,
        ObjectionKind::Invalid,
        ObjectionKind::Plan,
        ObjectionKind::Data,
        ObjectionKind::Durability,
        ObjectionKind::Environment,
    ];

    /// Returns the name on command lines and in documents.
    pub fn name(self) -> &'static str {
        match self {
            ObjectionKind::Incomplete => "incomplete",
            ObjectionKind::Invalid => "invalid",
            ObjectionKind::Plan => "plan",
            ObjectionKind::Data => "data",
            ObjectionKind::Durability => "durability",
            ObjectionKind::Environment => "environment",
        }
    }
}

impl Objection {
    /// Returns the kind.
    pub fn kind(&self) -> ObjectionKind {
        match &self.problem {
            Problem::RunEnded { .. } | Problem::ExperimentEnded(_) => ObjectionKind::Incomplete,
            Problem::Invalid { .. } => ObjectionKind::Invalid,
            Problem::Differs { kind, .. } => *kind,
        }
    }
}

/// Returns all objections to a comparison of groups, by group. Each kind of difference is reported
/// for the first run that differs.
pub fn objections(groups: &[GroupConditions<'_>]) -> Vec<Objection> {
    let mut all = Vec::new();
    for (place, group) in groups.iter().enumerate() {
        let mut problems = Vec::new();
        problems.extend(unfinished(group));
        problems.extend(invalid(group.validity));
        let reference = group.reference.and_then(|place| groups.get(place)?.runs.first());
        if let Some(reference) = reference {
            problems.extend(differing(reference, &group.runs));
        }
        all.extend(problems.into_iter().map(|problem| Objection { group: place, problem }));
    }
    all
}

fn unfinished(group: &GroupConditions<'_>) -> Option<Problem> {
    if let Some(unfinished) = group.unfinished {
        return Some(Problem::ExperimentEnded(unfinished));
    }
    let cut = group.runs.iter().find(|run| run.ended != Some(EndKind::Completed))?;
    Some(Problem::RunEnded { run: cut.run.clone(), ended: cut.ended })
}

fn invalid(validity: &ArmValidity) -> Option<Problem> {
    let mut checks: Vec<CheckKind> =
        validity.invalid.iter().flat_map(|(_, checks)| checks.iter().copied()).collect();
    checks.sort_by_key(|check| check.name());
    checks.dedup();
    let runs = validity.invalid.len() as u32;
    (runs > 0).then_some(Problem::Invalid { runs, checks })
}

fn differing(reference: &RunConditions, runs: &[&RunConditions]) -> Vec<Problem> {
    let of_kind = |kind: ObjectionKind| {
        runs.iter().find_map(|run| {
            let differences = differences(kind, reference, run);
            (!differences.is_empty()).then(|| Problem::Differs {
                kind,
                run: run.run.clone(),
                reference: reference.run.clone(),
                differences,
            })
        })
    };
    ObjectionKind::ALL.into_iter().filter_map(of_kind).collect()
}

fn differences(
    kind: ObjectionKind,
    reference: &RunConditions,
    run: &RunConditions,
) -> Vec<FactDifference> {
    let between = |of: fn(&RunConditions) -> &Facts, absent: AbsentFact| {
        fact_differences(of(reference), of(run), absent)
    };
    match kind {
        ObjectionKind::Incomplete | ObjectionKind::Invalid => Vec::new(),
        ObjectionKind::Plan => {
            let lines = between(|run| &run.plan, AbsentFact::Differs);
            [lines, between(|run| &run.files, AbsentFact::Unknown)].concat()
        }
        ObjectionKind::Data => between(|run| &run.data, AbsentFact::Differs),
        ObjectionKind::Durability => between(|run| &run.durability, AbsentFact::Unknown),
        ObjectionKind::Environment => between(|run| &run.environment, AbsentFact::Unknown),
    }
}

type Facts = Vec<(String, String)>;

/// The meaning of a fact that one run does not have. The size of a database may always be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AbsentFact {
    /// The runs differ.
    Differs,
    /// The fact is unknown, and not compared.
    Unknown,
}

fn fact_differences(before: &Facts, after: &Facts, absent: AbsentFact) -> Vec<FactDifference> {
    let value = |facts: &Facts, name: &str| {
        facts.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in before.iter().chain(after) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let difference = |name: &String| {
        let (reference, value) = (value(before, name), value(after, name));
        let is_same = match (&reference, &value) {
            (Some(a), Some(b)) => a == b || is_bytes(name) && is_similar(a, b),
            (Some(_), None) | (None, Some(_)) => absent == AbsentFact::Unknown || is_bytes(name),
            (None, None) => true,
        };
        (!is_same).then(|| FactDifference { name: name.clone(), reference, value })
    };
    names.into_iter().filter_map(difference).collect()
}

fn is_bytes(name: &str) -> bool {
    name.ends_with("_bytes")
}

/// Returns true if two numbers differ by at most a tenth.
fn is_similar(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.max(b) <= a.min(b) * 1.1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn run(name: &str) -> RunConditions {
        RunConditions {
            run: name.to_owned(),
            ended: Some(EndKind::Completed),
            plan: facts(&[("query of [a]", "select 1")]),
            files: facts(&[("the SHA-256 of ids.csv", "5e88")]),
            data: facts(&[("rows of table t", "1000")]),
            durability: facts(&[("durability", "fsync=on")]),
            environment: facts(&[("host.cpu.model", "x")]),
        }
    }

    fn found(baseline: &RunConditions, other: &RunConditions) -> Vec<Objection> {
        let validity = ArmValidity::default();
        let group = |run, reference| GroupConditions {
            runs: vec![baseline, run],
            unfinished: None,
            validity: &validity,
            reference,
        };
        objections(&[group(baseline, Some(0)), group(other, Some(0))])
    }

    #[test]
    fn equal_conditions_are_comparable() {
        assert_eq!(found(&run("a"), &run("b")), []);
    }

    #[test]
    fn each_kind_of_difference_names_the_run_and_the_fact() {
        let change = |kind: ObjectionKind, run: &mut RunConditions| {
            let facts = match kind {
                ObjectionKind::Plan => &mut run.plan,
                ObjectionKind::Data => &mut run.data,
                ObjectionKind::Durability => &mut run.durability,
                _ => &mut run.environment,
            };
            facts[0].1 = "other".to_owned();
        };
        for kind in &ObjectionKind::ALL[2..] {
            let mut other = run("b");
            change(*kind, &mut other);
            let found = found(&run("a"), &other);
            assert_eq!((found.len(), found[0].group, found[0].kind()), (1, 1, *kind));
            let Problem::Differs { run, reference, differences, .. } = &found[0].problem else {
                panic!("{found:?}");
            };
            assert_eq!((run.as_str(), reference.as_str()), ("b", "a"));
            assert_eq!(differences[0].value.as_deref(), Some("other"));
        }
    }

    #[test]
    fn unknown_fact_is_not_a_difference() {
        let mut other = run("b");
        (other.environment, other.durability) = (Vec::new(), Vec::new());
        assert_eq!(found(&run("a"), &other), []);
        other.plan.clear();
        let found = found(&run("a"), &other);
        let Problem::Differs { differences, .. } = &found[0].problem else { panic!("{found:?}") };
        assert_eq!(differences[0].value, None);
    }

    #[test]
    fn other_content_of_an_input_file_is_another_plan() {
        let with = |files: &[(&str, &str)]| RunConditions { files: facts(files), ..run("b") };
        let found_in = |files| found(&run("a"), &with(files));
        assert_eq!(found_in(&[]), []);
        let found = found_in(&[("the SHA-256 of ids.csv", "77ab")]);
        let Problem::Differs { kind, differences, .. } = &found[0].problem else {
            panic!("{found:?}");
        };
        assert_eq!((*kind, differences.len()), (ObjectionKind::Plan, 1));
        assert_eq!(differences[0].name, "the SHA-256 of ids.csv");
    }

    #[test]
    fn databases_are_of_one_size_within_a_tenth() {
        let sized = |bytes: &str| {
            let data = facts(&[("rows of table t", "1000"), ("database.size_bytes", bytes)]);
            RunConditions { data, ..run(bytes) }
        };
        assert_eq!(found(&sized("1000"), &sized("1090")), []);
        assert_eq!(found(&sized("1000"), &run("unknown")), []);
        assert_eq!(found(&sized("1000"), &sized("1200"))[0].kind(), ObjectionKind::Data);
    }

    #[test]
    fn arms_of_one_experiment_may_differ_and_must_be_complete_and_valid() {
        let (mut other, checks) = (run("b"), vec![CheckKind::Errors]);
        other.plan.clear();
        let validity = ArmValidity { invalid: vec![(3, checks.clone())], ..Default::default() };
        let group = |unfinished| GroupConditions {
            runs: vec![&other],
            unfinished,
            validity: &validity,
            reference: None,
        };
        let found = objections(&[group(None), group(Some(Unfinished::Interrupted))]);
        let kinds: Vec<(usize, ObjectionKind)> =
            found.iter().map(|one| (one.group, one.kind())).collect();
        use ObjectionKind::{Incomplete, Invalid};
        assert_eq!(kinds, [(0, Invalid), (1, Incomplete), (1, Invalid)]);
        assert_eq!(found[0].problem, Problem::Invalid { runs: 1, checks });
    }

    #[test]
    fn killed_and_interrupted_runs_are_named() {
        for ended in [None, Some(EndKind::Interrupted)] {
            let cut = RunConditions { ended, ..run("b") };
            let problem = Problem::RunEnded { run: "b".to_owned(), ended };
            assert_eq!(found(&run("a"), &cut), [Objection { group: 1, problem }]);
        }
    }
}
