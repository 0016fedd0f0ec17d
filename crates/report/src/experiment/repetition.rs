//! The comparison of an experiment with the first experiment, which it repeats.

use analyze::compare::{ChangeInterval, Compared, Repetition, RepetitionOutcome};
use workload::question::{RunMetric, Scale};

use super::repeated_capacity::RepeatedCapacity;
use super::sentence;
use crate::difference::shorten_pair;

/// The line about a repetition whose runs are identical to those of the first experiment.
const SAME_RUNS: &str = "runs: the same again, which confirms nothing: in virtual time one seed \
                         makes one sequence of runs; repeat with another --seed";

/// The changes of an experiment and of the experiment that repeats it.
#[derive(Clone, Debug, PartialEq)]
pub struct RepetitionView {
    /// The record of the first experiment.
    pub record: String,
    /// Probability that the interval of one difference misses the true difference.
    pub alpha: f64,
    /// Metrics that were declared.
    pub metrics: Vec<RepeatedMetric>,
    /// The best points of the arms of two sweeps.
    pub best: Vec<RepeatedBest>,
    /// The results of two capacity searches; `None` if one of them is missing or has not ended.
    pub capacity: Option<RepeatedCapacity>,
    /// The loads of both experiments, if both searched for one and found it.
    pub loads: Option<RepeatedLoads>,
    /// The first line in which the workloads of the first experiment and of its repetition differ,
    /// as it is in each (`None` if the workload has no such line); `None` if they do not differ.
    /// Changes of different workloads cannot contradict each other.
    pub work: Option<[Option<String>; 2]>,
    /// True if both experiments made the same runs, as in virtual time with equal seeds. Such
    /// experiments neither confirm nor contradict each other.
    pub has_same_runs: bool,
}

/// The loads at which the arms of two experiments were compared.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedLoads {
    /// The load of the first experiment, in words.
    pub first: String,
    /// The load of the repetition, in words.
    pub second: String,
    /// The difference of the loads, if there is one. Changes under different loads cannot
    /// contradict each other.
    pub difference: Option<LoadDifference>,
}

/// The difference of two loads that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadDifference {
    /// The values of the loads differ.
    Value,
    /// The values are equal, but the baseline was saturated in only one of the experiments.
    Saturation,
}

/// The best points of an arm in a sweep and in its repetition.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedBest {
    /// Name of the arm; empty if there is only one.
    pub arm: String,
    /// The best value of the first sweep and the values that may be as good, in words.
    pub first: String,
    /// The best value of the repetition and the values that may be as good, in words.
    pub second: String,
    /// The same words for both sweeps, with few of the values that may be as good.
    pub short: [String; 2],
    /// The outcome of comparing the best points.
    pub outcome: RepetitionOutcome,
}

/// A metric of an arm in both experiments.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedMetric {
    /// Name of the arm.
    pub arm: String,
    /// The metric.
    pub metric: RunMetric,
    /// Change in the first experiment; `None` if it was not compared.
    pub first: Option<Compared>,
    /// Change in the repetition; `None` if it was not compared.
    pub second: Option<Compared>,
    /// The difference of the two changes; `None` if one of them is missing, or if their values
    /// cannot be compared.
    pub repetition: Option<Repetition>,
}

impl RepetitionView {
    /// Returns the gravest outcome of all parts: the metrics, the best points and the search.
    pub fn outcome(&self) -> RepetitionOutcome {
        let outcomes = self.metrics.iter().map(RepeatedMetric::outcome);
        let outcomes = outcomes.chain(self.best.iter().map(|it| it.outcome));
        let outcomes = outcomes.chain(self.capacity.iter().map(|it| it.outcome));
        outcomes.max().unwrap_or(RepetitionOutcome::Undecided)
    }

    /// Marks the repetition as one with a different workload: contradictions become undecided.
    /// `lines` has, for each of the two workloads, its text at the first line in which they differ.
    #[must_use]
    pub fn with_different_workload(mut self, lines: [Option<String>; 2]) -> RepetitionView {
        let limited = |outcome: RepetitionOutcome| outcome.min(RepetitionOutcome::Undecided);
        self.outcomes().for_each(|outcome| *outcome = limited(*outcome));
        self.work = Some(lines);
        self
    }

    /// Marks the repetition as one whose runs are identical to those of the first experiment: all
    /// outcomes become undecided.
    #[must_use]
    pub fn with_same_runs(mut self) -> RepetitionView {
        self.outcomes().for_each(|outcome| *outcome = RepetitionOutcome::Undecided);
        self.has_same_runs = true;
        self
    }

    fn outcomes(&mut self) -> impl Iterator<Item = &mut RepetitionOutcome> {
        let of_metrics = self.metrics.iter_mut().filter_map(|it| it.repetition.as_mut());
        let of_best = self.best.iter_mut().map(|it| &mut it.outcome);
        let of_search = self.capacity.iter_mut().map(|it| &mut it.outcome);
        of_metrics.map(|it| &mut it.outcome).chain(of_best).chain(of_search)
    }

    /// Returns a line about runs that are the same, and one about different workloads; then a line
    /// for each metric, for each best point, for the search, and for the loads.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lines_with(RepeatedBest::line)
    }

    /// Returns the same lines with few of the values that may be as good as a best point.
    pub(super) fn short_lines(&self) -> Vec<String> {
        self.lines_with(RepeatedBest::short_line)
    }

    fn lines_with(&self, best_line: fn(&RepeatedBest) -> String) -> Vec<String> {
        let of_metrics = self.metrics.iter().map(|metric| metric.line(self.alpha));
        let of_search = self.capacity.iter().map(RepeatedCapacity::line);
        let of_best = self.best.iter().map(best_line);
        let of_loads = self.loads.iter().map(RepeatedLoads::line);
        let of_work = self.work.iter().map(|lines| {
            let lines = shorten_pair(lines.each_ref().map(Option::as_deref));
            let [first, second] = lines.map(|line| match line {
                Some(line) => format!("`{line}`"),
                None => "none".to_owned(),
            });
            format!("workload: first {first}, now {second}: changes of another workload")
        });
        let of_runs = self.has_same_runs.then(|| SAME_RUNS.to_owned()).into_iter();
        of_runs
            .chain(of_work)
            .chain(of_metrics)
            .chain(of_best)
            .chain(of_search)
            .chain(of_loads)
            .collect()
    }

    /// Returns the sentence that says whether the first answer holds.
    pub(super) fn sentence(&self) -> String {
        let record = &self.record;
        match self.outcome() {
            RepetitionOutcome::Holds => format!("The first answer holds ({record})"),
            RepetitionOutcome::Undecided => {
                format!("The first answer is neither confirmed nor contradicted ({record})")
            }
            RepetitionOutcome::Contradicts => {
                format!("The first answer is contradicted ({record})")
            }
        }
    }
}

impl RepeatedLoads {
    /// Returns `outcome`, limited by these loads: if they differ, a contradiction becomes
    /// undecided, because the changes were measured under different loads.
    pub(super) fn limit_outcome(&self, outcome: RepetitionOutcome) -> RepetitionOutcome {
        match self.difference {
            Some(LoadDifference::Value | LoadDifference::Saturation) => {
                outcome.min(RepetitionOutcome::Undecided)
            }
            None => outcome,
        }
    }

    fn line(&self) -> String {
        let RepeatedLoads { first, second, difference } = self;
        let difference = match difference {
            Some(LoadDifference::Value) => ": changes at another load",
            Some(LoadDifference::Saturation) => ": saturated in only one of them",
            None => "",
        };
        format!("load: first {first}, now {second}{difference}")
    }
}

impl RepeatedBest {
    /// Returns the line with both best points.
    pub(super) fn line(&self) -> String {
        self.line_with([&self.first, &self.second])
    }

    fn short_line(&self) -> String {
        self.line_with(self.short.each_ref())
    }

    fn line_with(&self, [first, second]: [&String; 2]) -> String {
        let RepeatedBest { arm, outcome, .. } = self;
        let of_arm = match arm.is_empty() {
            true => String::new(),
            false => format!(" of {}", sentence::name_as_code(arm)),
        };
        format!("best point{of_arm}: first {first}, now {second}: {}", outcome.name())
    }
}

impl RepeatedMetric {
    /// Returns the outcome; undecided if the changes could not be compared.
    pub fn outcome(&self) -> RepetitionOutcome {
        self.repetition.as_ref().map_or(RepetitionOutcome::Undecided, |it| it.outcome)
    }

    /// Returns true if the metric was not compared in one of the experiments.
    pub fn is_missing(&self) -> bool {
        self.first.is_none() || self.second.is_none()
    }

    /// Returns the line with both changes and their difference.
    pub(super) fn line(&self, alpha: f64) -> String {
        let scale = self.metric.quantity.scale();
        let change = |of: &Compared| with_interval(of.change, of.interval, scale);
        let both = [&self.first, &self.second].map(|one| one.as_ref());
        let [first, second] = both.map(|one| one.map_or("not compared".to_owned(), change));
        let difference = self.repetition.as_ref().map(|it| {
            let level = sentence::level(alpha);
            let size = with_interval(it.difference, it.interval, scale);
            format!("; difference {size}, {level} CI")
        });
        let (metric, arm) = (&self.metric, sentence::name_as_code(&self.arm));
        let (difference, outcome) = (difference.unwrap_or_default(), self.outcome().name());
        format!("{metric} of {arm}: first {first}, now {second}{difference}: {outcome}")
    }
}

fn with_interval(change: f64, interval: Option<ChangeInterval>, scale: Scale) -> String {
    let size = sentence::signed(change, scale);
    match interval {
        Some(interval) => format!("{size} ({})", sentence::range(interval, scale)),
        None => size,
    }
}
