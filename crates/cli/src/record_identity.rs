//! Identities of records, which copies of a record share.

use analyze::compare::RunFigures;
use archive::RunRow;
use record::Header;
use sha2::{Digest, Sha256};

use crate::recorded_experiment::RecordedExperiment;

/// The identity of a record: a hash of its facts and figures.
///
/// In real time, no two runs have the same start. In virtual time all of them do, and a run with
/// the same seed is the same measurement. The notes of reviewers are not a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RecordIdentity([u8; 32]);

impl RecordIdentity {
    /// Returns the identity of a single run.
    pub(crate) fn of_run(header: &Header, figures: &RunFigures) -> RecordIdentity {
        RecordIdentity::of(&format!("{header:?} {:?} {:?}", figures.facts, figures.metrics))
    }

    /// Returns the identity of an experiment; `header` is that of its first run.
    pub(crate) fn of_experiment(header: &Header, recorded: &RecordedExperiment) -> RecordIdentity {
        let runs = &recorded.results.runs;
        let rows: Vec<&RunRow> = runs.iter().map(|run| &run.row).collect();
        let measured: Vec<_> = runs.iter().map(|run| &run.figures.metrics).collect();
        RecordIdentity::of(&format!("{header:?} {:?} {rows:?} {measured:?}", recorded.label()))
    }

    fn of(content: &str) -> RecordIdentity {
        RecordIdentity(Sha256::digest(content).into())
    }
}
