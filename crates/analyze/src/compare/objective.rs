//! The SLOs of jobs over the runs of an arm.

/// An SLO of a job, judged in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSlo {
    /// Name of the job.
    pub job: String,
    /// Text of the SLO, as in the workload file.
    pub text: String,
    /// True if it was met.
    pub met: bool,
}

/// An SLO of a job, judged in each run of an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmSlo {
    /// Name of the job.
    pub job: String,
    /// Text of the SLO, as in the workload file.
    pub text: String,
    /// Number of runs that count.
    pub runs: u32,
    /// Number of these runs in which the SLO was missed.
    pub missed: u32,
}

/// Returns, for each SLO in the order of the file, the number of runs that count and the number of
/// those that missed it. `runs` are the runs that count.
pub fn slos_of<'a>(runs: impl IntoIterator<Item = &'a [RunSlo]>) -> Vec<ArmSlo> {
    let mut counted: Vec<ArmSlo> = Vec::new();
    for slo in runs.into_iter().flatten() {
        let is_it = |known: &&mut ArmSlo| known.job == slo.job && known.text == slo.text;
        let missed = u32::from(!slo.met);
        match counted.iter_mut().find(is_it) {
            Some(known) => {
                known.runs += 1;
                known.missed += missed;
            }
            None => {
                let (job, text) = (slo.job.clone(), slo.text.clone());
                counted.push(ArmSlo { job, text, runs: 1, missed });
            }
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slos_are_counted_over_the_runs_of_an_arm() {
        let slo =
            |job: &str, met| RunSlo { job: job.to_owned(), text: "p99 < 5ms".to_owned(), met };
        let runs = [
            [slo("read", true), slo("write", true)],
            [slo("read", false), slo("write", true)],
            [slo("read", false), slo("write", true)],
        ];
        let counted = slos_of(runs.iter().map(|run| &run[..]));
        let numbers: Vec<(&str, u32, u32)> =
            counted.iter().map(|slo| (slo.job.as_str(), slo.runs, slo.missed)).collect();
        assert_eq!(numbers, [("read", 3, 2), ("write", 3, 0)]);
        assert_eq!(slos_of([]), []);
    }
}
