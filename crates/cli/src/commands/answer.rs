//! Prints the answer of a record on stdout.

use std::fs;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use analyze::TimeCourse;
use archive::{Archive, RecordError, RecordErrorKind};
use base::{printable_json, shell_word};
use console::Term;
use record::{EndKind, InputFile};
use report::{Environment, Page, RunDetails, Style, TestSuite, View};
use serde_json::Value;

use crate::args::AnswerArgs;
use crate::complain::{Complaint, is_styled};
use crate::exit::Exit;
use crate::workload_folder::folder_of;
use crate::{memory, outputs};

/// The width of an answer outside a terminal, and the maximum width on a terminal, in columns.
/// Longer lines are hard to read, and tables need no more.
const WIDTH: usize = 100;

/// The width of a short answer outside a terminal, in columns: the width of a screen.
const SHORT_WIDTH: usize = 80;

/// The form of the answer of a run as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// The part that fits a screen.
    Short,
    /// The whole answer.
    Full,
}

impl TextForm {
    /// Returns the form that the option `--full` selects.
    pub(crate) fn of(full: bool) -> TextForm {
        if full { TextForm::Full } else { TextForm::Short }
    }
}

/// Prints the answer of a run that has just ended, and returns its exit code. A run whose record
/// was deleted or damaged meanwhile is invalid; that is not an error in its workload file.
/// `record_error` is the error that ended the writing of the record; the part before it may be
/// readable.
pub(crate) fn print_run(
    path: &Path,
    end: EndKind,
    record_error: Option<&RecordError>,
    args: &AnswerArgs,
    form: TextForm,
) -> Result<Exit, Complaint> {
    let view = read_as(path, None, Some(end)).map(|run| run.view);
    if let Some(error) = record_error {
        let complaint = Complaint::of(error);
        match view {
            Ok(_) => complaint.help("its content so far can be read"),
            Err(_) => complaint,
        }
        .print();
    }
    match view {
        Ok(view) => {
            print_answer(&view, args, form)?;
            Ok(Exit::of_run(view.evidence.ended, &view.summary, args.strict))
        }
        Err(error) => {
            lost_record(&error, Measurement::Run).print();
            Ok(Exit::Invalid)
        }
    }
}

/// The measurement whose record was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measurement {
    /// A single run.
    Run,
    /// An experiment.
    Experiment,
}

/// Returns the complaint that the record of a measurement no longer exists, or cannot be read. The
/// measurement is invalid; no file of the user is wrong.
pub(crate) fn lost_record(error: &RecordError, of: Measurement) -> Complaint {
    let (measured, name) = match of {
        Measurement::Run => ("the run was made, and its record", "run"),
        Measurement::Experiment => ("requests were measured, and the record", "experiment"),
    };
    let state = match error.kind() {
        RecordErrorKind::NotFound => "is gone".to_owned(),
        _ => format!("cannot be read: {}", cause_of(error)),
    };
    let was = |damage: &str| {
        let remedy = "leave it alone, or write it elsewhere with --out";
        format!("it was {damage} during the {name}: {remedy}")
    };
    let path = error.path().display().to_string();
    let help = match error.kind() {
        RecordErrorKind::NotFound => was("deleted or moved"),
        // Rights, limits of the system or locks: they say nothing about the content.
        RecordErrorKind::CannotRead => {
            let report = format!("assay report {}", shell_word(&path));
            format!("it may be intact: remove the cause, and read it with `{report}`")
        }
        _ => was("cut or overwritten"),
    };
    Complaint::new(format!("{measured} `{path}` {state}")).with_exit(Exit::Invalid).help(help)
}

/// Prints the answer of a recorded run. The exit code reflects the verdict, missed thresholds and a
/// plan that cannot be read: the end of the run, such as an interruption or a lost target, is not a
/// failure of the report.
pub(crate) fn print_record(
    view: &View,
    args: &AnswerArgs,
    form: TextForm,
) -> Result<Exit, Complaint> {
    print_answer(view, args, form)?;
    Ok(Exit::of_verdict(&view.summary, args.strict))
}

/// Prints the environment in which a record was made, without judging it.
pub(crate) fn print_environment(
    path: &Path,
    run: Option<u32>,
    json: bool,
) -> Result<Exit, Complaint> {
    let about = open(path, run).and_then(|archive| archive.facts()).map(RunDetails::of);
    let about = about.map_err(|error| Complaint::of(&error))?;
    let environment = Environment::of(&about);
    match json {
        true => print_document(&report::environment_json(&environment))?,
        false => print(&report::environment(&environment, &style()))?,
    }
    Ok(Exit::Success)
}

/// Prints the answer of a run, and writes its test cases.
pub(crate) fn print_answer(
    view: &View,
    args: &AnswerArgs,
    form: TextForm,
) -> Result<(), Complaint> {
    let page = Page::of(view);
    match (args.json, args.markdown) {
        (true, _) => print_document(&report::json(&page))?,
        (false, true) => print(&report::markdown(&page))?,
        (false, false) => match form {
            TextForm::Short => print(&report::text(&page, &short_style()))?,
            TextForm::Full => print(&report::full_text(&page, &style()))?,
        },
    }
    write_cases(args, || TestSuite::of_page(&page, args.strict))
}

/// Checks that the file of `--junit` can be created, before anything is measured.
pub(crate) fn check_cases(args: &AnswerArgs) -> Result<(), Complaint> {
    let Some(path) = &args.junit else { return Ok(()) };
    let shown = path.display();
    if path.exists() {
        let sentence = format!("the file `{shown}` of --junit exists");
        return Err(Complaint::new(sentence).help("remove it, or name another file"));
    }
    if !folder_of(path).is_dir() {
        return Err(Complaint::new(format!("the folder of `{shown}` does not exist"))
            .help("create it, or name another file with --junit"));
    }
    let created = outputs::write_new(path, b"").and_then(|()| fs::remove_file(path));
    created.map_err(|error| outputs::cannot_write(path, &error, "--junit"))
}

/// Writes test cases to the new file of `--junit`, if this option is given. The answer has already
/// been printed, so it is not lost if the file cannot be written.
pub(crate) fn write_cases(
    args: &AnswerArgs,
    suite: impl FnOnce() -> TestSuite,
) -> Result<(), Complaint> {
    let Some(path) = &args.junit else { return Ok(()) };
    let written = outputs::write_new(path, report::junit(&suite()).as_bytes());
    written.map_err(|error| outputs::cannot_write(path, &error, "--junit"))
}

/// Returns the reason why a record is unreadable, without the remedy.
fn cause_of(error: &RecordError) -> String {
    match error.kind() {
        RecordErrorKind::NotFound => "the file no longer exists".to_owned(),
        _ => std::error::Error::source(error).map_or_else(|| error.to_string(), |c| c.to_string()),
    }
}

/// Returns the layout of an answer on stdout: the width of the terminal, up to [`WIDTH`].
pub(crate) fn style() -> Style {
    style_with_default_width(WIDTH)
}

/// Returns the layout of a short answer on stdout: the width of the terminal, up to [`WIDTH`], or
/// the width of a screen.
pub(crate) fn short_style() -> Style {
    style_with_default_width(SHORT_WIDTH)
}

/// Returns the layout of an answer whose sentences are broken at the width of the terminal, and not
/// at all elsewhere: programs search such answers for sentences.
pub(crate) fn unwrapped_style() -> Style {
    style_with_default_width(usize::MAX)
}

/// Returns the layout of an answer on stdout: the width of the terminal, up to [`WIDTH`], or
/// `other` if stdout is no terminal or its width is unknown.
fn style_with_default_width(other: usize) -> Style {
    let is_terminal = std::io::stdout().is_terminal();
    let width = match is_terminal {
        true => {
            let (reported, set) = (Term::stdout().size_checked(), std::env::var("COLUMNS").ok());
            width(reported.map(|(_, columns)| columns), set.as_deref()).unwrap_or(other)
        }
        false => other,
    };
    Style { color: is_styled(is_terminal), width }
}

/// Returns the width of an answer on a terminal with this many columns. If the terminal does not
/// report them, the value of `COLUMNS` is used; `None` if that is missing or not a positive number.
fn width(reported: Option<u16>, set: Option<&str>) -> Option<usize> {
    let reported = reported.or_else(|| set?.trim().parse().ok()).filter(|columns| *columns > 0);
    reported.map(|columns| usize::from(columns).min(WIDTH))
}

/// Writes a document to stdout.
pub(crate) fn print_document(document: &Value) -> Result<(), Complaint> {
    print(&document_text(document)?)
}

/// Formats a document.
pub(crate) fn document_text(document: &Value) -> Result<String, Complaint> {
    let text = serde_json::to_string_pretty(document).map_err(|error| Complaint::of(&error))?;
    Ok(format!("{}\n", printable_json(&text)))
}

/// Opens the record of a single run, or one run in the record of an experiment.
pub(crate) fn open(path: &Path, run: Option<u32>) -> Result<Archive, RecordError> {
    match run {
        Some(run) => Archive::open_run(path, run),
        None => Archive::open(path),
    }
}

/// A run with its open record.
pub(crate) struct RecordedRun {
    /// The evidence of the run, with its verdict.
    pub(crate) view: View,
    archive: Archive,
}

impl RecordedRun {
    /// Reads the times of the run's jobs over the whole run.
    pub(crate) fn time_courses(&self) -> Result<Vec<TimeCourse>, RecordError> {
        lab::time_courses(&self.archive, &self.view.evidence)
    }

    /// Reads the input files of the run, as its record contains them.
    pub(crate) fn inputs(&self) -> Result<Vec<InputFile>, RecordError> {
        self.archive.files()
    }
}

/// Reads a record, or one run in the record of an experiment.
pub(crate) fn read(path: &Path, run: Option<u32>) -> Result<RecordedRun, RecordError> {
    read_as(path, run, None)
}

fn read_as(
    path: &Path,
    run: Option<u32>,
    end: Option<EndKind>,
) -> Result<RecordedRun, RecordError> {
    memory::retain_freed_memory();
    let (archive, view) = archive::open_and_read(path, run, |archive| {
        let evidence = match run {
            Some(run) => lab::experiment::evidence_of_run(archive, run)?,
            None => lab::evidence_of_run(archive, end)?,
        };
        let about = RunDetails { run, ..RunDetails::of(archive.facts()?) };
        Ok(View::new(about, evidence))
    })?;
    Ok(RecordedRun { view, archive })
}

/// Writes to stdout; a reader that has closed its end is not an error.
pub(crate) fn print(text: &str) -> Result<(), Complaint> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Complaint::new(format!("cannot write to stdout: {error}"))
            .help("make room on the disk that it is redirected to, or redirect it elsewhere")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_is_called_damaged_only_if_its_content_is() {
        for (path, expected) in [
            ("/dev/null/r.assay", ["cannot be read: Not a directory", "it may be intact"]),
            ("/dev/null", ["cannot be read: ", "it was cut or overwritten during the run"]),
            ("/dev/r.assay", ["is gone", "it was deleted or moved during the run"]),
        ] {
            let error = Archive::open(Path::new(path)).err().unwrap();
            let complaint = format!("{:?}", lost_record(&error, Measurement::Run));
            for words in expected {
                assert!(complaint.contains(words), "{words}: {complaint}");
            }
            assert_eq!(complaint.contains("overwritten"), path == "/dev/null", "{complaint}");
        }
    }

    #[test]
    fn answer_is_as_wide_as_the_terminal_up_to_a_hundred_columns() {
        for (reported, set, expected) in [
            (Some(80), None, Some(80)),
            (Some(80), Some("60"), Some(80)),
            (Some(213), None, Some(WIDTH)),
            (None, Some("72"), Some(72)),
            (None, Some("0"), None),
            (None, Some("wide"), None),
            (None, None, None),
        ] {
            assert_eq!(width(reported, set), expected, "{reported:?} {set:?}");
        }
    }
}
