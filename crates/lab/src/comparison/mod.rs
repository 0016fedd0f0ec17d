//! Runs read from records, for comparisons.
//!
//! [`ComparedRun`] has the figures of a run and the conditions that decide whether it is comparable
//! with others. [`differing_facts`] finds the differences between two groups of runs, and
//! records with the same [`SeriesKey`] are one series of a history. [`differing_work`] compares the
//! plans of an experiment and its repetition.

mod conditions;
mod differing;
mod series;
mod work;

use analyze::compare::{RunConditions, RunFigures};
use archive::{Archive, RecordError};

pub use differing::{comparable_differing_facts, differing_facts};
pub use series::SeriesKey;
pub use work::differing_work;

use crate::experiment::figures;

/// A run, as read from its record.
#[derive(Clone, Debug)]
pub struct ComparedRun {
    /// Conditions that decide whether the run is comparable with others.
    pub conditions: RunConditions,
    /// Figures that are compared.
    pub figures: RunFigures,
    /// Facts about the program and the target.
    pub program_and_target: Vec<(String, String)>,
}

impl ComparedRun {
    /// Reads a run; `name` is the name of the run in messages.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn read(archive: &Archive, name: String) -> Result<ComparedRun, RecordError> {
        ComparedRun::of(archive, name, figures(archive)?)
    }

    /// Creates a run from figures that were read before.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn of(
        archive: &Archive,
        name: String,
        figures: RunFigures,
    ) -> Result<ComparedRun, RecordError> {
        let conditions = conditions::read_conditions(archive, name, &figures.facts)?;
        let header = archive.header();
        let mut program_and_target = vec![("assay".to_owned(), header.assay.clone())];
        if !header.target.as_str().is_empty() {
            program_and_target.push(("target".to_owned(), header.target.as_str().to_owned()));
        }
        Ok(ComparedRun { conditions, figures, program_and_target })
    }

    /// Returns true if the record has no workload, because it observed another program.
    pub fn is_observation(&self) -> bool {
        self.figures.jobs.is_empty()
            && self
                .figures
                .metrics
                .iter()
                .all(|(metric, _)| metric.quantity.subject() == workload::question::Subject::Run)
    }
}
