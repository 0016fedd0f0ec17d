//! Facts about the runs of an experiment by arm, and its plan as text.

use std::collections::BTreeMap;

use analyze::compare::ArmId;
use record::environment::UNKNOWN;

use crate::number::NONE;

/// Facts of the runs with the state `counts`, by name and arm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArmFacts {
    /// Number of runs of each arm.
    runs: Vec<usize>,
    /// For each name and arm: the distinct values in the order of the runs, and the number of runs
    /// that have the fact.
    by_name: BTreeMap<String, Vec<(Vec<String>, usize)>>,
}

impl ArmFacts {
    /// Collects the facts of runs; `arms` is the number of arms. Each run is given by its arm and
    /// by the names and values of its facts.
    pub fn of<'f>(
        arms: usize,
        runs: impl IntoIterator<Item = (ArmId, &'f [(String, String)])>,
    ) -> ArmFacts {
        let mut facts = ArmFacts { runs: vec![0; arms], by_name: BTreeMap::new() };
        for (arm, of_run) in runs {
            facts.runs[arm.index()] += 1;
            for (name, value) in of_run {
                facts.add(arm, name, value);
            }
        }
        facts
    }

    /// Adds a fact that all runs share.
    pub fn add_to_all(&mut self, name: &str, value: &str) {
        for (arm, runs) in self.runs.clone().into_iter().enumerate() {
            (0..runs).for_each(|_| self.add(ArmId(arm), name, value));
        }
    }

    fn add(&mut self, arm: ArmId, name: &str, value: &str) {
        if !self.by_name.contains_key(name) {
            self.by_name.insert(name.to_owned(), vec![Default::default(); self.runs.len()]);
        }
        let Some(of_name) = self.by_name.get_mut(name) else { return };
        let (values, runs) = &mut of_name[arm.index()];
        *runs += 1;
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }

    /// Returns the distinct known values of a fact in all arms, joined by `or`; `None` if no value
    /// is known.
    pub(super) fn distinct(&self, name: &str) -> Option<String> {
        let mut distinct: Vec<&str> = Vec::new();
        for value in self.by_name.get(name)?.iter().flat_map(|(values, _)| values) {
            if value != UNKNOWN && !distinct.contains(&value.as_str()) {
                distinct.push(value);
            }
        }
        (!distinct.is_empty()).then(|| distinct.join(" or "))
    }

    /// Returns the values of each fact by arm. If only some runs of an arm have the fact, the
    /// values of this arm end with [`NONE`].
    pub(super) fn values(&self) -> Vec<(String, Vec<Vec<String>>)> {
        let of_arm = |(arm, (values, runs)): (usize, &(Vec<String>, usize))| {
            let missing = (*runs < self.runs[arm]).then(|| NONE.to_owned());
            values.iter().cloned().chain(missing).collect::<Vec<String>>()
        };
        let fact = |(name, arms): (&String, &Vec<(Vec<String>, usize)>)| {
            (name.clone(), arms.iter().enumerate().map(of_arm).collect())
        };
        self.by_name.iter().map(fact).collect()
    }
}

/// The plan of an experiment as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanTexts {
    /// The experiment file, as printed.
    pub experiment: String,
    /// The workload of a run of the baseline, as printed, with the number of the run; `None` before
    /// the first run.
    pub workload: Option<(u32, String)>,
}

impl PlanTexts {
    /// Returns the texts with their headings.
    pub(super) fn sections(&self) -> Vec<(String, &str)> {
        let experiment = ("Experiment".to_owned(), self.experiment.as_str());
        let workload = self.workload.as_ref();
        let workload =
            workload.map(|(run, text)| (format!("Workload of run {run}"), text.as_str()));
        let all = [experiment].into_iter().chain(workload);
        all.filter(|(_, text)| !text.is_empty()).collect()
    }
}
