//! Records of a history, with their measured values.

use workload::question::{RunMetric, VariedLoad};

use super::metric::{HistoryMetric, SearchResult};
use crate::check::{CheckKind, Status};
use crate::compare::RunFigures;

/// A record of a history.
#[derive(Clone, Debug)]
pub enum HistoryRun {
    /// Figures of runs with the same plan: of a single run, or of an arm of an experiment. In a
    /// sweep, they are the runs of one point. If the experiment searched for a load, they are the
    /// runs at the load that it found.
    Runs(Vec<RunFigures>, Option<FoundLoad>),
    /// The result of a capacity search. The figures of its trials are at different loads, and have
    /// no mean.
    Search(SearchFigures),
}

/// The load at which an experiment compares its arms, found by the experiment itself.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundLoad {
    /// The load that was varied.
    pub load: VariedLoad,
    /// Value of this load.
    pub value: f64,
}

/// The result of a capacity search in a history.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchFigures {
    /// The load that was varied.
    pub load: VariedLoad,
    /// Largest value that was confirmed; `None` if none was.
    pub sustained: Option<f64>,
    /// Value at which the binding condition reaches its bound; `None` if there is none.
    pub estimate: Option<f64>,
    /// Verdict on the search.
    pub status: Status,
    /// Names of the irregularities of the search.
    pub irregular: Vec<&'static str>,
    /// Times of a request to the null server before the trials, in nanoseconds; empty in virtual
    /// time.
    pub canaries_ns: Vec<f64>,
}

/// Reason why a record is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExclusionReason {
    /// The run is INVALID, by these checks.
    Invalid(Vec<CheckKind>),
    /// The search is INVALID, with these irregularities.
    Irregular(Vec<&'static str>),
}

impl ExclusionReason {
    /// Returns the names of the checks or irregularities.
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            ExclusionReason::Invalid(checks) => checks.iter().map(|check| check.name()).collect(),
            ExclusionReason::Irregular(names) => names.clone(),
        }
    }
}

impl HistoryRun {
    /// Returns the reason why the record is left out: all of its runs, or its search, are INVALID.
    /// `None` if the record is not left out.
    pub fn left_out(&self) -> Option<ExclusionReason> {
        match self {
            HistoryRun::Runs(runs, _) if valid(runs).next().is_some() => None,
            HistoryRun::Runs(runs, _) => {
                let mut checks: Vec<CheckKind> = Vec::new();
                for check in runs.iter().flat_map(|run| run.verdict.with(Status::Invalid)) {
                    if !checks.contains(&check) {
                        checks.push(check);
                    }
                }
                Some(ExclusionReason::Invalid(checks))
            }
            HistoryRun::Search(search) => match search.status {
                Status::Invalid => Some(ExclusionReason::Irregular(search.irregular.clone())),
                Status::Pass | Status::NotPossible | Status::Suspect => None,
            },
        }
    }

    /// Returns the verdict: the gravest one of the runs that are not INVALID, or INVALID if all
    /// runs are.
    pub fn status(&self) -> Status {
        match self {
            HistoryRun::Runs(runs, _) => {
                valid(runs).map(|run| run.verdict.status()).max().unwrap_or(Status::Invalid)
            }
            HistoryRun::Search(search) => search.status,
        }
    }

    /// Returns all metrics of the record, also those of INVALID runs.
    pub fn metrics(&self) -> Vec<HistoryMetric> {
        match self {
            HistoryRun::Runs(runs, found) => with_load(metrics_of(runs.iter()), found.as_ref()),
            HistoryRun::Search(search) => search.metrics(),
        }
    }

    /// Returns the metrics of the record that have a value in a history.
    pub(super) fn valid_metrics(&self) -> Vec<HistoryMetric> {
        match self {
            HistoryRun::Runs(..) if self.left_out().is_some() => Vec::new(),
            HistoryRun::Runs(runs, found) => with_load(metrics_of(valid(runs)), found.as_ref()),
            HistoryRun::Search(search) if search.status == Status::Invalid => Vec::new(),
            HistoryRun::Search(search) => search.metrics(),
        }
    }

    /// Returns the value of a metric; for runs, the mean over the valid ones. `None` if a valid
    /// run, or the search, does not have the metric.
    pub(super) fn value(&self, metric: &HistoryMetric) -> Option<f64> {
        match (self, metric) {
            (HistoryRun::Runs(runs, _), HistoryMetric::Run(metric)) => mean_of(runs, metric),
            (HistoryRun::Runs(_, found), HistoryMetric::Search(SearchResult::Saturated, load)) => {
                let counts = self.left_out().is_none();
                let found = found.as_ref().filter(|found| counts && found.load == *load)?;
                Some(found.value)
            }
            (HistoryRun::Search(search), HistoryMetric::Search(result, load)) => {
                let is_it = search.status != Status::Invalid && search.load == *load;
                search.value(*result).filter(|_| is_it)
            }
            (HistoryRun::Runs(..), HistoryMetric::Search(..))
            | (HistoryRun::Search(_), HistoryMetric::Run(_)) => None,
        }
    }

    /// Returns the mean time of a request to the null server before the record's runs, in
    /// nanoseconds; `None` if a run that is not INVALID has no canary.
    pub fn canary_ns(&self) -> Option<f64> {
        match self {
            HistoryRun::Runs(runs, _) => {
                mean(&valid(runs).map(RunFigures::canary_ns).collect::<Option<Vec<f64>>>()?)
            }
            HistoryRun::Search(search) => mean(&search.canaries_ns),
        }
    }
}

impl SearchFigures {
    fn value(&self, result: SearchResult) -> Option<f64> {
        match result {
            SearchResult::Sustained => self.sustained,
            SearchResult::Estimate => self.estimate,
            SearchResult::Saturated => None,
        }
    }

    fn metrics(&self) -> Vec<HistoryMetric> {
        let measured = SearchResult::ALL.into_iter().filter(|it| self.value(*it).is_some());
        measured.map(|result| HistoryMetric::Search(result, self.load.clone())).collect()
    }
}

fn valid(runs: &[RunFigures]) -> impl Iterator<Item = &RunFigures> {
    runs.iter().filter(|run| run.verdict.status() != Status::Invalid)
}

fn metrics_of<'f>(runs: impl Iterator<Item = &'f RunFigures>) -> Vec<HistoryMetric> {
    let measured = runs.flat_map(|run| &run.metrics);
    measured.map(|(metric, _)| HistoryMetric::Run(metric.clone())).collect()
}

/// Returns the metric of the load that was found for the runs, if there is one, followed by
/// `metrics`.
fn with_load(metrics: Vec<HistoryMetric>, found: Option<&FoundLoad>) -> Vec<HistoryMetric> {
    let load =
        found.map(|found| HistoryMetric::Search(SearchResult::Saturated, found.load.clone()));
    load.into_iter().chain(metrics).collect()
}

fn mean_of(runs: &[RunFigures], metric: &RunMetric) -> Option<f64> {
    mean(&valid(runs).map(|run| run.get(metric).ok()).collect::<Option<Vec<f64>>>()?)
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::RunVerdict;

    fn search(status: Status) -> HistoryRun {
        HistoryRun::Search(SearchFigures {
            load: VariedLoad::Rate { job: "read".to_owned() },
            sustained: Some(740.0),
            estimate: None,
            status,
            irregular: vec!["budget spent"],
            canaries_ns: vec![300.0, 320.0],
        })
    }

    #[test]
    fn search_has_its_results_and_the_mean_of_its_canaries() {
        let run = search(Status::Suspect);
        let [sustained] = &run.valid_metrics()[..] else { panic!("one result") };
        assert_eq!(
            (sustained.to_string(), run.value(sustained)),
            ("sustained(read)".into(), Some(740.0))
        );
        let load = VariedLoad::Concurrency { job: "read".to_owned() };
        let other = HistoryMetric::Search(SearchResult::Sustained, load);
        assert_eq!((run.value(&other), run.left_out()), (None, None));
        assert_eq!((run.canary_ns(), run.status()), (Some(310.0), Status::Suspect));
    }

    #[test]
    fn load_that_an_experiment_found_is_a_metric_of_its_runs() {
        let bare = || RunFigures {
            metrics: vec![(RunMetric::parse("throughput(read)").unwrap(), 400.0)],
            ..RunFigures::bare(&["read"])
        };
        let load = VariedLoad::Concurrency { job: "read".to_owned() };
        let found = FoundLoad { load, value: 4.0 };
        let run = HistoryRun::Runs(vec![bare(), bare()], Some(found.clone()));
        let names: Vec<String> = run.valid_metrics().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["saturated(read)", "throughput(read)", "throughput(read)"]);
        let values: Vec<Option<f64>> = run.metrics().iter().map(|it| run.value(it)).collect();
        assert_eq!(values, [Some(4.0), Some(400.0), Some(400.0)]);
        let other = VariedLoad::Rate { job: "read".to_owned() };
        assert_eq!(run.value(&HistoryMetric::Search(SearchResult::Saturated, other)), None);
        let mut spoiled = bare();
        spoiled.verdict = RunVerdict::new([(CheckKind::Errors, Status::Invalid)]);
        let run = HistoryRun::Runs(vec![spoiled], Some(found));
        assert!(run.valid_metrics().is_empty(), "{run:?}");
        assert_eq!(run.value(&run.metrics()[0]), None);
    }

    #[test]
    fn invalid_search_is_left_out_by_its_irregularities() {
        let run = search(Status::Invalid);
        assert_eq!(run.left_out().unwrap().names(), ["budget spent"]);
        assert!(run.valid_metrics().is_empty() && !run.metrics().is_empty());
        assert_eq!(run.value(&run.metrics()[0]), None);
    }
}
