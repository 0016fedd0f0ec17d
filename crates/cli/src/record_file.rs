//! The record that a command line names: the file itself, or the record in a published bundle.
//!
//! The record of a bundle is unpacked into a temporary file, which no longer exists when a user
//! reads a message about it. Each command that opens a bundle therefore passes its complaints
//! through [`RecordFile::complaint`].

use std::path::{Path, PathBuf};

use report::ExperimentView;

use crate::bundle::{self, ExtractedRecord};
use crate::commands::answer::RecordedRun;
use crate::commands::{answer, experiment};
use crate::complain::Complaint;
use crate::recorded_experiment::RecordedExperiment;

/// A record to read.
#[derive(Debug)]
pub(crate) struct RecordFile {
    /// The record, or the bundle that holds it, as named on the command line.
    argument: PathBuf,
    /// The record that was taken out of a bundle.
    unpacked: Option<ExtractedRecord>,
}

impl RecordFile {
    /// Opens the named file. If it is a bundle, takes the record out of it; any other file is not
    /// read yet.
    ///
    /// # Errors
    /// A bundle is damaged or too large, does not hold exactly one record, or cannot be unpacked.
    pub(crate) fn open(argument: &Path) -> Result<RecordFile, Complaint> {
        let unpacked =
            archive::is_compressed(argument).then(|| bundle::unpack(argument)).transpose()?;
        Ok(RecordFile { argument: argument.to_owned(), unpacked })
    }

    /// Returns the path of the record.
    pub(crate) fn path(&self) -> &Path {
        self.unpacked.as_ref().map_or(&self.argument, |unpacked| &unpacked.record)
    }

    /// Returns the path that was named on the command line.
    pub(crate) fn argument_path(&self) -> &Path {
        &self.argument
    }

    /// Turns a complaint about the record into one about the named file.
    pub(crate) fn complaint(&self, complaint: Complaint) -> Complaint {
        complaint.replacing_path(self.path(), &self.argument)
    }

    /// Returns true if the record belongs to an experiment.
    pub(crate) fn is_experiment(&self) -> bool {
        archive::is_experiment(self.path())
    }

    /// Reads the record, or one run in the record of an experiment. The result names the record as
    /// the command line does.
    ///
    /// # Errors
    /// The file is not a record, is damaged, or has no such run.
    pub(crate) fn read(&self, run: Option<u32>) -> Result<RecordedRun, Complaint> {
        let read = answer::read(self.path(), run);
        let mut read = read.map_err(|error| Complaint::of(&error))?;
        read.view.about.record = self.argument.clone();
        Ok(read)
    }

    /// Reads the answer of an experiment. The answer names the record as the command line does.
    ///
    /// # Errors
    /// The file is not the record of an experiment, is damaged, or its question cannot be read.
    pub(crate) fn experiment(&self) -> Result<ExperimentView, Complaint> {
        Ok(self.view_of(&RecordedExperiment::read(self.path())?))
    }

    /// Returns the view of the experiment that was read from this record.
    pub(crate) fn view_of(&self, recorded: &RecordedExperiment) -> ExperimentView {
        experiment::view_of(recorded, &self.argument)
    }
}
