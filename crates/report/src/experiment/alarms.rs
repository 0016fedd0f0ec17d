//! False alarms: differences that were found by comparing an arm with itself.

use analyze::compare::FalsePositives;
use base::units::grouped;
use workload::question::Scale;

use super::sentence;
use crate::number::count;

/// False alarms of comparisons of an arm with itself.
#[derive(Clone, Debug, PartialEq)]
pub enum FalseAlarms {
    /// False alarms of this experiment, which compares an arm with itself.
    OfExperiment {
        /// The metric.
        metric: String,
        /// Numbers of comparisons, one for each block of rounds, and of false alarms.
        counted: FalsePositives,
        /// Standard deviation of the changes of pairs, as a fraction.
        spread: f64,
        /// The way in which the values of a pair are compared.
        scale: Scale,
    },
    /// False alarms of earlier experiments on the same machine.
    OfMachine {
        /// Number of experiments.
        experiments: u32,
        /// UTC time of the latest of these experiments, as in RFC 3339.
        latest: String,
        /// Kind of the experiments' targets.
        target: String,
        /// Numbers of comparisons and false alarms.
        counted: FalsePositives,
    },
}

impl FalseAlarms {
    /// Returns the numbers of comparisons and false alarms.
    pub fn counted(&self) -> FalsePositives {
        match self {
            FalseAlarms::OfExperiment { counted, .. } | FalseAlarms::OfMachine { counted, .. } => {
                *counted
            }
        }
    }

    /// Returns the sentence about the false alarms.
    pub(super) fn line(&self) -> String {
        let counted = self.counted();
        let (rejections, comparisons) = (grouped(counted.rejections.into()), counted.comparisons);
        let comparisons = count(comparisons.into(), "comparison");
        let found = format!("{rejections} of {comparisons}");
        let unfit = match counted.is_unfit() {
            true => "; this is more than chance: the machine is not fit for comparisons",
            false => "",
        };
        match self {
            FalseAlarms::OfExperiment { metric, spread, scale, .. } => {
                let spread = sentence::percent(*spread, *scale);
                format!(
                    "{found} of {metric} between equal arms found a difference; pairs scatter by \
                     {spread}{unfit}"
                )
            }
            FalseAlarms::OfMachine { experiments, latest, target, .. } => {
                let experiments = count(u64::from(*experiments), "A/A experiment");
                let date = latest.split('T').next().unwrap_or_default();
                format!(
                    "{found} between equal arms found a difference, in {experiments} with {target} \
                     on this machine (the latest on {date}){unfit}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_of_the_machine_is_cited_with_date_and_target() {
        let alarms = |rejections| FalseAlarms::OfMachine {
            experiments: 2,
            latest: "2026-11-25T08:00:00Z".to_owned(),
            target: "postgres".to_owned(),
            counted: FalsePositives { comparisons: 20, rejections },
        };
        assert_eq!(
            alarms(1).line(),
            "1 of 20 comparisons between equal arms found a difference, in 2 A/A experiments with \
             postgres on this machine (the latest on 2026-11-25)"
        );
        assert!(alarms(4).line().ends_with("the machine is not fit for comparisons"));
    }

    #[test]
    fn scatter_of_a_share_is_in_percentage_points() {
        let line = |metric: &str, scale| {
            let counted = FalsePositives { comparisons: 3, rejections: 0 };
            let metric = metric.to_owned();
            FalseAlarms::OfExperiment { metric, counted, spread: 0.014, scale }.line()
        };
        let throughput = line("throughput(read)", Scale::Ratio);
        assert!(throughput.ends_with("pairs scatter by 1.40 %"), "{throughput}");
        let failed = line("failed(read)", Scale::Difference);
        assert!(failed.ends_with("pairs scatter by 1.40 points"), "{failed}");
    }
}
