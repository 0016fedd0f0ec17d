//! `assay export`: a record in an open format.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use archive::{Archive, RecordError, export};
use base::Nanos;
use lab::experiment::found_warm_up;

use crate::args::{ExportArgs, Format};
use crate::commands::answer;
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::record_file::RecordFile;

pub(crate) fn export(args: &ExportArgs) -> Result<Exit, Complaint> {
    let record = RecordFile::open(&args.record)?;
    export_from(record.path(), args).map_err(|complaint| record.complaint(complaint))
}

fn export_from(record: &Path, args: &ExportArgs) -> Result<Exit, Complaint> {
    let format = match args.format {
        Format::Assay => return single_run(record, args),
        Format::Hlog => Rows::Hlog,
        Format::Csv => Rows::Csv,
        Format::Json => Rows::Json,
    };
    let run = ExportedRun::open(record, args.run).map_err(|error| Complaint::of(&error))?;
    match &args.out {
        None => stdout_result(write(&run, format, std::io::stdout().lock())),
        Some(path) => {
            let file = File::create_new(path).map_err(|error| cannot_create(path, &error))?;
            let written = write(&run, format, file);
            if written.is_err() {
                // A partial export could be mistaken for a complete one.
                let _ = std::fs::remove_file(path);
            }
            written.map(|()| Exit::Success).map_err(|error| Complaint::of(&error))
        }
    }
}

/// A format of rows that are written one after the other.
#[derive(Clone, Copy, Debug)]
enum Rows {
    Hlog,
    Csv,
    Json,
}

/// Exports a run of an experiment as a record of its own.
fn single_run(record: &Path, args: &ExportArgs) -> Result<Exit, Complaint> {
    let Some(run) = args.run else {
        let sentence = "`--format assay` takes one run out of the record of an experiment";
        return Err(Complaint::new(sentence).help("name the run with --run"));
    };
    let Some(path) = &args.out else {
        let sentence = "a record is a file and cannot be written to stdout";
        return Err(Complaint::new(sentence).help("name the new file with --out"));
    };
    let window_from = found_warm_up(record, run).map_err(|error| Complaint::of(&error))?;
    let written = export::single_run(record, run, window_from, path);
    written.map(|()| Exit::Success).map_err(|error| Complaint::of(&error))
}

/// A run whose rows are exported.
struct ExportedRun {
    archive: Archive,
    /// Warm-up of the run, if it was detected from all runs of the round.
    warmup_of_round: Option<Nanos>,
}

impl ExportedRun {
    fn open(record: &Path, run: Option<u32>) -> Result<ExportedRun, RecordError> {
        let archive = answer::open(record, run)?;
        let warmup_of_round = run.map(|run| found_warm_up(record, run)).transpose()?.flatten();
        Ok(ExportedRun { archive, warmup_of_round })
    }
}

fn write(run: &ExportedRun, format: Rows, out: impl Write) -> Result<(), RecordError> {
    let mut out = BufWriter::new(out);
    let ExportedRun { archive, warmup_of_round } = run;
    match format {
        Rows::Hlog => export::write_hlog(archive, &mut out),
        Rows::Csv => {
            let warmup = warmup_of_round.map_or_else(|| lab::end_of_warmup(archive), Ok)?;
            export::csv(archive, warmup, &mut out)
        }
        Rows::Json => export::json(archive, &mut out),
    }
}

/// Returns the complaint about the file of an export that cannot be created.
fn cannot_create(path: &Path, error: &std::io::Error) -> Complaint {
    let path = path.display();
    match error.kind() {
        ErrorKind::AlreadyExists => Complaint::new(format!("the file `{path}` exists already"))
            .help("nothing is overwritten: name another file with --out"),
        _ => Complaint::new(format!("cannot create `{path}`: {error}"))
            .help("name a file with --out in a folder that exists and that you may write to"),
    }
}

/// Returns the result of an export to stdout; a reader that has closed its end is not an error.
fn stdout_result(written: Result<(), RecordError>) -> Result<Exit, Complaint> {
    let closed = |error: &RecordError| {
        let cause = std::error::Error::source(error);
        let cause = cause.and_then(|cause| cause.downcast_ref::<std::io::Error>());
        cause.is_some_and(|cause| cause.kind() == ErrorKind::BrokenPipe)
    };
    match written {
        Ok(()) => Ok(Exit::Success),
        Err(error) if closed(&error) => Ok(Exit::Success),
        Err(error) => Err(Complaint::of(&error)),
    }
}
