//! The options `--figures`, `--svg`, `--png` and `--html` of `assay report` and `assay compare`:
//! figures, and pages with figures.

use std::path::Path;

use archive::RecordError;
use base::{closest, printable};
use report::Page;
use report::figure::Figure;

use crate::args::{AnswerArgs, FigureArgs, ReportArgs};
use crate::commands::answer::{RecordedRun, TextForm};
use crate::commands::{answer, experiment, stored_runs};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::outputs;
use crate::record_file::RecordFile;

/// Maximum number of names in a complaint; `--figures` prints all.
const MOST_NAMES: usize = 12;

/// Prints or writes the figures of a record that the options request; `None` if they request none.
pub(crate) fn print_for_report(
    args: &ReportArgs,
    record: &RecordFile,
) -> Result<Option<Exit>, Complaint> {
    if let Some(path) = &args.figures.html {
        return html(args, record, path).map(Some);
    }
    print_requested(&args.figures, || figures_of_record(record, args.run))
}

/// Prints the names of figures with their captions, or prints or writes one figure; `None` if the
/// options request neither.
pub(crate) fn print_requested(
    args: &FigureArgs,
    figures: impl FnOnce() -> Result<Vec<Figure>, Complaint>,
) -> Result<Option<Exit>, Complaint> {
    if let Some(name) = &args.svg {
        return svg(args, &figures()?, name).map(Some);
    }
    if let Some((name, path)) = args.png.as_ref().zip(args.out.as_ref()) {
        write_file(path, &report::png(find_figure(&figures()?, name)?), "--out")?;
        return Ok(Some(Exit::Success));
    }
    match args.figures {
        true => list(&figures()?).map(Some),
        false => Ok(None),
    }
}

fn list(figures: &[Figure]) -> Result<Exit, Complaint> {
    let width = figures.iter().map(|figure| figure.name.chars().count()).max().unwrap_or(0);
    let width = width.min(WIDEST_NAME);
    let line = |figure: &Figure| {
        let (name, sentence) = (printable(&figure.name), printable(figure.sentence()));
        format!("{name:<width$}  {sentence}\n")
    };
    answer::print(&figures.iter().map(line).collect::<String>())?;
    Ok(Exit::Success)
}

/// Maximum width of the column with the names, in characters.
const WIDEST_NAME: usize = 40;

/// Writes a figure to stdout, or to the file of `--out`.
fn svg(args: &FigureArgs, figures: &[Figure], name: &str) -> Result<Exit, Complaint> {
    let text = report::svg(find_figure(figures, name)?);
    match &args.out {
        None => answer::print(&text)?,
        Some(path) => write_file(path, text.as_bytes(), "--out")?,
    }
    Ok(Exit::Success)
}

/// Writes the page of a record to a new file, and prints the answer.
fn html(args: &ReportArgs, record: &RecordFile, path: &Path) -> Result<Exit, Complaint> {
    let answer = AnswerArgs::clone(&args.answer);
    if args.run.is_none() && record.is_experiment() {
        let form = TextForm::of(args.full);
        let view = match record.experiment() {
            Ok(view) => view,
            Err(error) => {
                if let Some(view) = stored_runs::of_record(record)? {
                    write_page(path, &report::stored_runs_html(&view))?;
                    stored_runs::print_runs(&view, &answer, form)?;
                }
                return Err(error);
            }
        };
        write_page(path, &report::experiment_html(&view))?;
        experiment::print_answer(&view, &answer, form)?;
        return Ok(Exit::of_experiment(&view, answer.strict));
    }
    let run = record.read(args.run)?;
    write_page(path, &page_of_run(&run).map_err(|error| Complaint::of(&error))?)?;
    answer::print_answer(&run.view, &answer, TextForm::of(args.full))?;
    Ok(Exit::of_verdict(&run.view.summary, answer.strict))
}

/// Formats the page of a run as HTML, with its figures.
///
/// # Errors
/// The record is damaged.
pub(crate) fn page_of_run(run: &RecordedRun) -> Result<String, RecordError> {
    let figures = report::figures(&run.view, &run.time_courses()?);
    Ok(report::html(&Page::of(&run.view), &figures))
}

/// Writes a page to a new file.
pub(crate) fn write_page(path: &Path, text: &str) -> Result<(), Complaint> {
    write_file(path, text.as_bytes(), "--html")
}

fn figures_of_record(record: &RecordFile, run: Option<u32>) -> Result<Vec<Figure>, Complaint> {
    if run.is_none() && record.is_experiment() {
        return Ok(report::experiment_figures(&record.experiment()?));
    }
    let run = record.read(run)?;
    let courses = run.time_courses().map_err(|error| Complaint::of(&error))?;
    Ok(report::figures(&run.view, &courses))
}

/// Returns the figure with this name.
fn find_figure<'f>(figures: &'f [Figure], name: &str) -> Result<&'f Figure, Complaint> {
    let found = figures.iter().find(|figure| figure.name == name);
    found.ok_or_else(|| unknown(name, figures))
}

/// Returns the complaint about a name that no figure has.
fn unknown(name: &str, figures: &[Figure]) -> Complaint {
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    let complaint = Complaint::new(format!("the record has no figure `{name}`"));
    complaint.help(match closest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? --figures lists all of them"),
        None if names.len() <= MOST_NAMES => format!("its figures are {}", names.join(", ")),
        None => "--figures lists all of them".to_owned(),
    })
}

/// Writes a new file; nothing is overwritten.
fn write_file(path: &Path, bytes: &[u8], option: &str) -> Result<(), Complaint> {
    outputs::write_new(path, bytes).map_err(|error| outputs::cannot_write(path, &error, option))
}
