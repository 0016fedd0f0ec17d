//! Identities of records, which copies of a record share.

use analyze::compare::RunFigures;
use archive::RunRow;
use record::{Header, Pace};
use sha2::{Digest, Sha256};

use crate::recorded_experiment::RecordedExperiment;

/// The identity of a record: a hash of its facts and figures, without the notes of reviewers.
///
/// In real time, no two runs have the same start. In virtual time all runs have the same start, so
/// a repetition with the same seed cannot be distinguished from a copy: it counts as the same run,
/// and as no further evidence. In a history, a repetition counts as a record of its own, so records
/// in virtual time have no identity there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RecordIdentity([u8; 32]);

impl RecordIdentity {
    /// Returns the identity of a run as evidence. In virtual time, two runs have the same identity
    /// if they have the same plan, seed, target, number of lanes, build of the program, and
    /// figures.
    pub(crate) fn of_evidence(header: &Header, figures: &RunFigures) -> RecordIdentity {
        RecordIdentity::of_run(header, figures).unwrap_or_else(|| {
            let (command, workload) = (String::new(), String::new());
            let header = Header { command, workload, ..header.clone() };
            RecordIdentity::hash(&header, &format!("{:?}", figures.metrics))
        })
    }

    /// Returns the identity of a single run; `None` in virtual time.
    pub(crate) fn of_run(header: &Header, figures: &RunFigures) -> Option<RecordIdentity> {
        RecordIdentity::of(header, &format!("{:?} {:?}", figures.facts, figures.metrics))
    }

    /// Returns the identity of an experiment; `None` in virtual time. `header` is that of its first
    /// run.
    pub(crate) fn of_experiment(
        header: &Header,
        recorded: &RecordedExperiment,
    ) -> Option<RecordIdentity> {
        let runs = &recorded.results.runs;
        let rows: Vec<&RunRow> = runs.iter().map(|run| &run.row).collect();
        let measured: Vec<_> = runs.iter().map(|run| &run.figures.metrics).collect();
        RecordIdentity::of(header, &format!("{:?} {rows:?} {measured:?}", recorded.label()))
    }

    fn of(header: &Header, content: &str) -> Option<RecordIdentity> {
        (header.pace == Pace::Real).then(|| RecordIdentity::hash(header, content))
    }

    fn hash(header: &Header, content: &str) -> RecordIdentity {
        RecordIdentity(Sha256::digest(format!("{header:?} {content}")).into())
    }
}
