//! `assay publish`: an archive or a folder with a record, its answer as a page, text, JSON and
//! Markdown, the files that were read, the settings of every system, and checksums.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use archive::{Archive, ExperimentContent, RecordErrorKind};
use base::{is_terminal_control, printable};
use guardian::TemporaryFolder;
use lab::experiment::STATE;
use record::{InputFile, LONGEST_KEPT_TEXT};
use report::{
    BundleView, BundledInput, BundledRun, ExperimentState, InputOmission, Page, Style,
    bundle_readme, bundle_settings, bundle_undisclosed, secret_names,
};

use crate::args::PublishArgs;
use crate::bundle::{self, PackError};
use crate::commands::{answer, experiment, figures};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::input_files;
use crate::recorded_experiment::{PATH, PLANS, RecordedExperiment};
use crate::workload_file::file_name;
use crate::workload_folder::folder_of;

/// The file with the checksums. It is written last: a bundle without it is incomplete.
const CHECKSUMS: &str = "SHA256SUMS";

/// The folder, within the bundle, of the files that were read before the runs.
const INPUTS: &str = "files";

/// The name of the bundle's folder within the temporary folder.
const FOLDER: &str = "folder";

/// The name of the archive within the temporary folder.
const ARCHIVE: &str = "archive";

pub(crate) fn publish(args: &PublishArgs) -> Result<Exit, Complaint> {
    let name = record_name(&file_name(&args.record))?;
    let stem = name.strip_suffix(bundle::RECORD_ENDING).unwrap_or(&name);
    let top = format!("{stem}-published");
    let out = match (&args.out, args.folder) {
        (Some(out), _) => out.clone(),
        (None, true) => PathBuf::from(&top),
        (None, false) => PathBuf::from(format!("{stem}{}", bundle::ARCHIVE_ENDING)),
    };
    let top = (!args.folder).then_some(top);
    write(&BundleRequest { record: &args.record, name: &name, top, out: &out })?;
    answer::print(&format!("{}\n", printable(&out.display().to_string())))?;
    Ok(Exit::Success)
}

/// A requested bundle.
struct BundleRequest<'a> {
    /// The record.
    record: &'a Path,
    /// Name of the record in the bundle.
    name: &'a str,
    /// The folder of the files within the archive; `None` without an archive.
    top: Option<String>,
    /// The archive or the folder.
    out: &'a Path,
}

/// Returns the name of the record in the bundle. No other file of the bundle has the same ending,
/// except input files, which are in the folder [`INPUTS`].
fn record_name(name: &str) -> Result<String, Complaint> {
    if !is_plain_name(name) {
        let sentence = format!("the name `{name}` has characters that lists of checksums lack");
        return Err(Complaint::new(sentence).help("rename the record"));
    }
    match name.ends_with(bundle::RECORD_ENDING) {
        true => Ok(name.to_owned()),
        false => Ok(format!("{name}{}", bundle::RECORD_ENDING)),
    }
}

/// Writes a bundle under a temporary path next to its final one, and moves it when it is complete,
/// because an incomplete bundle could be mistaken for a complete one. If this process is killed
/// before the move, nothing is left.
fn write(request: &BundleRequest<'_>) -> Result<(), Complaint> {
    let BundleRequest { record, name, out, .. } = *request;
    let cannot_create = |error: io::Error| request.cannot_create(&error);
    if out.symlink_metadata().is_ok() {
        return Err(cannot_create(ErrorKind::AlreadyExists.into()));
    }
    if request.top.as_ref().is_some_and(|top| !bundle::fits(&format!("{top}/{name}"))) {
        let sentence = format!("the name `{name}` is too long for an archive");
        return Err(Complaint::new(sentence).help("rename the record, or add --folder"));
    }
    let is_experiment = is_ended_experiment(record)?;
    // Staged on the file system of the bundle: the final rename then needs no space.
    let staging = TemporaryFolder::new(&folder_of(out), ".assay-publish").map_err(cannot_create)?;
    let folder = staging.path().join(FOLDER);
    fs::create_dir(&folder).map_err(|error| request.cannot_write(&error))?;
    let bundle = Bundle { request, folder: folder.clone(), files: Vec::new() };
    let files = fill_bundle(bundle, is_experiment)?;
    let Some(top) = &request.top else { return move_new(&folder, out).map_err(cannot_create) };
    let archive = staging.path().join(ARCHIVE);
    let file = File::create_new(&archive).map_err(|error| request.cannot_write(&error))?;
    bundle::pack(&folder, &files, top, file).map_err(|error| match error {
        PackError::TooLarge => {
            let limits = bundle::limits_text();
            let sentence = format!("`{}` would be too large: {limits} at most", out.display());
            Complaint::new(sentence).help("add --folder, which has no limit")
        }
        PackError::Failed(error) => request.cannot_write(&error),
    })?;
    link_or_move_new(&archive, out).map_err(cannot_create)
}

/// Gives a file its final name. A file that exists is not replaced. Without hard links, this is
/// only checked before the move.
fn link_or_move_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        // Some file systems have no hard links.
        Err(error)
            if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied) =>
        {
            move_new(from, to)
        }
        other => other,
    }
}

/// Moves a file or a folder to a path that does not exist; fails if the path exists.
fn move_new(from: &Path, to: &Path) -> io::Result<()> {
    match to.symlink_metadata() {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Returns true if a record belongs to an experiment, and refuses one that has not ended. Called
/// before the record is copied, because a copy blocks a process that writes the record.
fn is_ended_experiment(record: &Path) -> Result<bool, Complaint> {
    let shown = record.display();
    match Archive::open(record) {
        Ok(archive) if archive.end().is_some() => Ok(false),
        Ok(_) => {
            let sentence = format!("the run of `{shown}` has not ended, or was killed");
            Err(Complaint::new(sentence).help("wait for its end, or run it again"))
        }
        Err(error) if *error.kind() == RecordErrorKind::Experiment => {
            let content = ExperimentContent::read(record);
            let content = content.map_err(|error| Complaint::of(&error))?;
            if experiment::state_of(content.fact(STATE)) != ExperimentState::Interrupted {
                return Ok(true);
            }
            let sentence = format!("the experiment of `{shown}` has not ended");
            Err(Complaint::new(sentence).help("complete it first: `assay run … --resume`"))
        }
        Err(error) => Err(Complaint::of(&error)),
    }
}

/// The folder of a bundle that is being filled.
struct Bundle<'a> {
    request: &'a BundleRequest<'a>,
    folder: PathBuf,
    /// Paths of the bundle's files below the folder.
    files: Vec<String>,
}

impl Bundle<'_> {
    fn add(&mut self, name: &str, text: &str) -> Result<(), Complaint> {
        self.write(name, text).map_err(|error| self.request.cannot_write(&error))
    }

    fn write(&mut self, name: &str, text: &str) -> io::Result<()> {
        let path = self.folder.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        File::create_new(&path)?.write_all(text.as_bytes())?;
        self.files.push(name.to_owned());
        Ok(())
    }

    /// Adds a file that was read before the runs, if the record has its text and the bundle can
    /// hold it.
    fn add_input(&mut self, input: InputFile) -> Result<BundledInput, Complaint> {
        let is_below = input.is_inside() && is_plain_name(&input.path);
        let InputFile { path, bytes, sha256, text } = input;
        let name = format!("{INPUTS}/{path}");
        let top = self.request.top.as_ref();
        let fits = top.is_none_or(|top| bundle::fits(&format!("{top}/{name}")));
        let omission = match text {
            _ if !is_below => Some(InputOmission::Outside),
            None if bytes > LONGEST_KEPT_TEXT => Some(InputOmission::Large),
            None => Some(InputOmission::NotStored),
            Some(_) if !fits => Some(InputOmission::LongName),
            Some(text) => match self.write(&name, &text) {
                Ok(()) => None,
                Err(error) if is_taken(&error) => Some(InputOmission::TakenName),
                Err(error) => return Err(self.request.cannot_write(&error)),
            },
        };
        Ok(BundledInput { path, sha256, omission })
    }

    /// Writes the checksums, in the format of `sha256sum`, and returns the files.
    fn finish(mut self) -> Result<Vec<String>, Complaint> {
        self.files.sort();
        let line = |name: &String| {
            let path = self.folder.join(name);
            let hash =
                input_files::sha256(&path).map_err(|error| self.request.cannot_write(&error))?;
            Ok(format!("{hash}  {name}\n"))
        };
        let lines = self.files.iter().map(line).collect::<Result<String, Complaint>>()?;
        self.add(CHECKSUMS, &lines)?;
        Ok(self.files)
    }
}

/// Fills a bundle, and returns its files. The original record is only copied here; the answer is
/// computed from the copy.
fn fill_bundle(mut bundle: Bundle<'_>, is_experiment: bool) -> Result<Vec<String>, Complaint> {
    let BundleRequest { record, name, out, .. } = *bundle.request;
    let copy = bundle.folder.join(name);
    archive::copy_record(record, &copy)
        .map_err(|error| Complaint::of(&error).replacing_path(&copy, out))?;
    bundle.files.push(name.to_owned());
    let content = match is_experiment {
        true => content_of_experiment(&copy, name),
        false => content_of_run(&copy, name),
    };
    let content = content.map_err(|complaint| complaint.replacing_path(&copy, record))?;
    let BundleContent { forms, mut view, runs, inputs } = content;
    bundle.add("page.html", &forms.page)?;
    bundle.add("answer.txt", &forms.text)?;
    bundle.add("answer.json", &forms.json)?;
    bundle.add("settings.csv", &bundle_settings(&runs))?;
    if view.omitted_folder_of.is_some() {
        archive::remove_fact(&copy, PATH)
            .map_err(|error| Complaint::of(&error).replacing_path(&copy, out))?;
    }
    view.inputs =
        inputs.into_iter().map(|input| bundle.add_input(input)).collect::<Result<_, _>>()?;
    bundle.add("UNDISCLOSED.md", &bundle_undisclosed(&view, &runs))?;
    bundle.add("README.md", &bundle_readme(&view, &runs))?;
    bundle.finish()
}

/// The content of a bundle besides the record.
struct BundleContent {
    forms: AnswerForms,
    view: BundleView,
    /// The runs, in their order.
    runs: Vec<BundledRun>,
    inputs: Vec<InputFile>,
}

/// An answer as a page, as text and as JSON.
struct AnswerForms {
    page: String,
    text: String,
    json: String,
}

fn content_of_run(copy: &Path, name: &str) -> Result<BundleContent, Complaint> {
    let failed = |error: archive::RecordError| Complaint::of(&error);
    let mut run = answer::read(copy, None).map_err(failed)?;
    let inputs = run.inputs().map_err(failed)?;
    // For a reader of the bundle, the record is in the same folder as the answer.
    run.view.about.record = PathBuf::from(name);
    let page = Page::of(&run.view);
    let forms = AnswerForms {
        page: figures::page_of_run(&run).map_err(failed)?,
        text: report::full_text(&page, &Style::PLAIN),
        json: answer::document_text(&report::json(&page))?,
    };
    let about = &run.view.about;
    let view = BundleView {
        title: about.title(),
        answer: report::markdown(&page),
        record: name.to_owned(),
        command: about.command.clone(),
        version: about.version.clone(),
        commit: about.commit.clone(),
        repeat: about.repeat_from_record(),
        inputs: Vec::new(),
        secrets: secret_names(&about.command, [about.plan.as_str()]),
        op_log_rows: about.op_log.as_ref().map(|log| log.rows),
        omitted_folder_of: None,
    };
    let facts = about.settings.clone();
    let runs = vec![BundledRun { run: None, arm: String::new(), facts }];
    Ok(BundleContent { forms, view, runs, inputs })
}

fn content_of_experiment(copy: &Path, name: &str) -> Result<BundleContent, Complaint> {
    let recorded = RecordedExperiment::read(copy)?;
    let mut shown = experiment::view_of(&recorded, Path::new(name));
    // The author's folder is of no use to others.
    shown.command_with_path.clone_from(&shown.command);
    let forms = AnswerForms {
        page: report::experiment_html(&shown),
        text: report::experiment_full_text(&shown, &Style::PLAIN),
        json: answer::document_text(&report::experiment_json(&shown))?,
    };
    let first = shown.runs.first().map(|run| answer::open(copy, Some(run.number))).transpose();
    let first = first.map_err(|error| Complaint::of(&error))?;
    let header = first.as_ref().map(Archive::header);
    let plans = [shown.plan.experiment.as_str(), recorded.fact(PLANS).unwrap_or_default()];
    let view = BundleView {
        title: shown.question.clone(),
        answer: report::experiment_markdown(&shown),
        record: name.to_owned(),
        command: shown.command.clone(),
        version: header.map(|header| header.assay.clone()).unwrap_or_default(),
        commit: header.and_then(|header| header.commit.clone()),
        repeat: shown.repeat_in_its_folder(),
        inputs: Vec::new(),
        secrets: secret_names(&shown.command, plans),
        op_log_rows: None,
        omitted_folder_of: recorded.fact(PATH).and_then(name_without_folder),
    };
    let (runs, inputs) = (bundled_runs(&recorded), recorded.files().to_vec());
    Ok(BundleContent { forms, view, runs, inputs })
}

/// Returns the name of a file without its folder; `None` if the path has no folder.
fn name_without_folder(path: &str) -> Option<String> {
    let name = file_name(Path::new(path));
    (name != path).then_some(name)
}

/// Returns the facts of all runs of an experiment, in the order of the runs.
fn bundled_runs(recorded: &RecordedExperiment) -> Vec<BundledRun> {
    let results = &recorded.results;
    let run = |one: &lab::experiment::RecordedRun| BundledRun {
        run: Some(one.row.run),
        arm: one.row.arm.clone(),
        facts: one.figures.facts.clone(),
    };
    let mut runs: Vec<BundledRun> = results.steps.iter().chain(&results.runs).map(run).collect();
    runs.sort_by_key(|run| run.run);
    runs
}

/// Returns true if a list of checksums can hold a name as it is.
fn is_plain_name(name: &str) -> bool {
    !name.contains('\\') && !name.contains(is_terminal_control)
}

/// Returns true if a file cannot be created because its path exists, as a file or a folder, or
/// because a part of the path is not a folder.
fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory)
}

impl BundleRequest<'_> {
    /// Returns the complaint about an archive or a folder that cannot be created.
    fn cannot_create(&self, error: &io::Error) -> Complaint {
        let kind = if self.top.is_some() { "archive" } else { "folder" };
        let shown = self.out.display();
        match error.kind() {
            ErrorKind::AlreadyExists => Complaint::new(format!("`{shown}` exists already"))
                .help(format!("nothing is overwritten: name a new {kind} with --out")),
            _ => Complaint::new(format!("cannot create the {kind} `{shown}`: {error}")).help(
                format!(
                    "name a new {kind} with --out, in a folder that exists and that you may write \
                     to"
                ),
            ),
        }
    }

    fn cannot_write(&self, error: &io::Error) -> Complaint {
        Complaint::new(format!("cannot write `{}`: {error}", self.out.display()))
            .help("name a file or a folder on another disk with --out")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_valid_in_a_list_of_checksums_are_written() {
        assert!(["a.ini", "data/rows.csv", "a b.sql"].into_iter().all(is_plain_name));
        assert!(!["a\\b", "a\nb"].into_iter().any(is_plain_name));
    }

    #[test]
    fn file_whose_name_is_taken_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let (record, out) = (Path::new("r.assay"), Path::new("out"));
        let request = BundleRequest { record, name: "r.assay", top: None, out };
        let folder = folder.path().to_owned();
        let mut bundle = Bundle { request: &request, folder, files: Vec::new() };
        for (path, expected) in [
            ("a", None),
            ("a/b", Some(InputOmission::TakenName)),
            ("a", Some(InputOmission::TakenName)),
            ("c/d", None),
            ("c", Some(InputOmission::TakenName)),
        ] {
            let (sha256, text) = (String::new(), Some(String::new()));
            let input = InputFile { path: path.to_owned(), bytes: 0, sha256, text };
            assert_eq!(bundle.add_input(input).unwrap().omission, expected, "{path}");
        }
        assert_eq!(bundle.files, ["files/a", "files/c/d"]);
    }

    #[test]
    fn bundle_replaces_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for place in [link_or_move_new, move_new] {
            fs::write(at("old"), "old").unwrap();
            fs::write(at("new"), "new").unwrap();
            let error = place(&at("new"), &at("old")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(at("old")).unwrap(), "old");
            fs::remove_file(at("old")).unwrap();
            place(&at("new"), &at("old")).unwrap();
            assert_eq!(fs::read_to_string(at("old")).unwrap(), "new");
            // After a hard link, both names belong to one file.
            fs::remove_file(at("old")).unwrap();
        }
    }

    #[test]
    fn name_of_the_record_differs_from_all_other_files() {
        for (name, expected) in [
            ("r.assay", "r.assay"),
            ("README.md", "README.md.assay"),
            (CHECKSUMS, "SHA256SUMS.assay"),
            (INPUTS, "files.assay"),
        ] {
            assert_eq!(record_name(name).ok().as_deref(), Some(expected));
        }
        assert!(record_name("a\nb").is_err());
    }
}
