//! `assay publish`: an archive or a folder with a record, its answer in all forms, the files that
//! were read, the settings of every system, and checksums.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use base::{is_terminal_control, printable};
use guardian::TemporaryFolder;
use record::{InputFile, LONGEST_KEPT_TEXT};
use report::{
    BundleView, BundledInput, BundledRun, ExperimentState, InputOmission, Page, Style,
    bundle_readme, bundle_settings, bundle_undisclosed, secret_names,
};

use crate::args::PublishArgs;
use crate::beside::folder_of;
use crate::bundle;
use crate::commands::{answer, experiment, figures};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::read_files;
use crate::recorded_experiment::{EXPERIMENT, RecordedExperiment};
use crate::workload_file::file_name;

/// The file with the checksums. It is written last: a bundle without it is incomplete.
const SUMS: &str = "SHA256SUMS";

/// The folder of the files that were read before the runs.
const INPUTS: &str = "files";

pub(crate) fn publish(args: &PublishArgs) -> Result<Exit, Complaint> {
    let name = record_name(&file_name(&args.record))?;
    let stem = name.strip_suffix(bundle::RECORD_ENDING).unwrap_or(&name);
    let folder = format!("{stem}-published");
    let out = match (&args.out, args.folder) {
        (Some(out), _) => out.clone(),
        (None, true) => PathBuf::from(&folder),
        (None, false) => PathBuf::from(format!("{stem}{}", bundle::ENDING)),
    };
    match args.folder {
        true => write_folder(&args.record, &name, &out)?,
        false => write_archive(&args.record, &name, &folder, &out)?,
    }
    answer::print(&format!("{}\n", printable(&out.display().to_string())))?;
    Ok(Exit::Success)
}

/// Returns the name of the record in the bundle. No other file of the bundle has its ending.
fn record_name(name: &str) -> Result<String, Complaint> {
    if !is_plain(name) {
        let sentence = format!("the name `{name}` has characters that lists of checksums lack");
        return Err(Complaint::new(sentence).help("rename the record"));
    }
    match name.ends_with(bundle::RECORD_ENDING) {
        true => Ok(name.to_owned()),
        false => Ok(format!("{name}{}", bundle::RECORD_ENDING)),
    }
}

fn write_folder(record: &Path, name: &str, out: &Path) -> Result<(), Complaint> {
    fs::create_dir(out).map_err(|error| uncreated("folder", out, &error))?;
    let bundle = Bundle { folder: out.to_owned(), top: None, files: Vec::new() };
    let filled = fill(bundle, record, name);
    if filled.is_err() {
        // Part of a bundle could be mistaken for all of it. The folder was made above.
        let _ = fs::remove_dir_all(out);
    }
    filled.map(|_| ())
}

/// Writes an archive whose files are below the folder `top`.
fn write_archive(record: &Path, name: &str, top: &str, out: &Path) -> Result<(), Complaint> {
    if !bundle::fits(&format!("{top}/{name}")) {
        let sentence = format!("the name `{name}` is too long for an archive");
        return Err(Complaint::new(sentence).help("rename the record, or add --folder"));
    }
    let file = File::create_new(out).map_err(|error| uncreated("archive", out, &error))?;
    let written = fill_archive(record, name, top, out, file);
    if written.is_err() {
        // As above.
        let _ = fs::remove_file(out);
    }
    written
}

fn fill_archive(
    record: &Path,
    name: &str,
    top: &str,
    out: &Path,
    file: File,
) -> Result<(), Complaint> {
    // The folder of the archive has room for the files, or not for the archive either.
    let staging = TemporaryFolder::new(&folder_of(out), ".assay-publish");
    let staging = staging.map_err(|error| uncreated("archive", out, &error))?;
    let folder = staging.path().to_owned();
    let bundle = Bundle { folder, top: Some(top.to_owned()), files: Vec::new() };
    let files = fill(bundle, record, name)?;
    bundle::pack(staging.path(), &files, top, file).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => {
            Complaint::new(format!("cannot write `{}`: {error}", out.display()))
                .help("add --folder, which has no limit")
        }
        _ => unwritten(out, &error),
    })
}

/// A folder that is being filled.
struct Bundle {
    folder: PathBuf,
    /// The folder of the files in the archive that they are packed into, if they are.
    top: Option<String>,
    /// Paths of its files below the folder.
    files: Vec<String>,
}

impl Bundle {
    fn add(&mut self, name: &str, text: &str) -> Result<(), Complaint> {
        let path = self.folder.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        let created = made.and_then(|()| File::create_new(&path));
        let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| unwritten(&path, &error))?;
        self.files.push(name.to_owned());
        Ok(())
    }

    /// Adds a file that was read before the runs, if the record has its text and the bundle can
    /// hold it.
    fn add_input(&mut self, input: InputFile) -> Result<BundledInput, Complaint> {
        let InputFile { path, bytes, sha256, text } = input;
        let name = format!("{INPUTS}/{path}");
        let fits = self.top.as_ref().is_none_or(|top| bundle::fits(&format!("{top}/{name}")));
        let omission = match text {
            _ if !is_below(&path) => Some(InputOmission::Outside),
            None if bytes > LONGEST_KEPT_TEXT => Some(InputOmission::Large),
            None => Some(InputOmission::Unkept),
            Some(_) if !fits => Some(InputOmission::LongName),
            Some(text) => {
                self.add(&name, &text)?;
                None
            }
        };
        Ok(BundledInput { path, sha256, omission })
    }

    /// Writes the checksums, in the format of `sha256sum`, and returns the files.
    fn finish(mut self) -> Result<Vec<String>, Complaint> {
        self.files.sort();
        let line = |name: &String| {
            let path = self.folder.join(name);
            let hash = read_files::sha256(&path).map_err(|error| unwritten(&path, &error))?;
            Ok(format!("{hash}  {name}\n"))
        };
        let lines = self.files.iter().map(line).collect::<Result<String, Complaint>>()?;
        self.add(SUMS, &lines)?;
        Ok(self.files)
    }
}

/// Fills a bundle, and returns its files. The answer is that of the copy, which is read once.
fn fill(mut bundle: Bundle, record: &Path, name: &str) -> Result<Vec<String>, Complaint> {
    let copy = bundle.folder.join(name);
    archive::copy_record(record, &copy).map_err(|error| Complaint::of(&error))?;
    bundle.files.push(name.to_owned());
    let content = match archive::is_experiment(&copy) {
        true => of_experiment(&copy, record, name)?,
        false => of_run(&copy, record, name)?,
    };
    let Content { forms, mut view, runs, inputs } = content;
    bundle.add("page.html", &forms.page)?;
    bundle.add("answer.txt", &forms.text)?;
    bundle.add("answer.json", &forms.json)?;
    bundle.add("settings.csv", &bundle_settings(&runs))?;
    view.inputs =
        inputs.into_iter().map(|input| bundle.add_input(input)).collect::<Result<_, _>>()?;
    bundle.add("UNDISCLOSED.md", &bundle_undisclosed(&view, &runs))?;
    bundle.add("README.md", &bundle_readme(&view, &runs))?;
    bundle.finish()
}

/// The content of a bundle besides the record.
struct Content {
    forms: Forms,
    view: BundleView,
    /// The runs, in their order.
    runs: Vec<BundledRun>,
    inputs: Vec<InputFile>,
}

/// An answer in its forms.
struct Forms {
    page: String,
    text: String,
    json: String,
}

fn of_run(copy: &Path, record: &Path, name: &str) -> Result<Content, Complaint> {
    let failed = |error: archive::RecordError| Complaint::of(&error);
    let mut run = answer::read(copy, None).map_err(failed)?;
    if run.view.about.ended.is_none() {
        let shown = record.display();
        let sentence = format!("the run of `{shown}` has not ended, or was killed");
        return Err(Complaint::new(sentence).help("wait for its end, or run it again"));
    }
    let inputs = run.inputs().map_err(failed)?;
    // A reader has the record in the folder of its answer.
    run.view.about.record = PathBuf::from(name);
    let page = Page::of(&run.view);
    let forms = Forms {
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
        inputs: Vec::new(),
        secrets: secret_names([about.command.as_str(), about.plan.as_str()]),
        op_log_rows: about.op_log.as_ref().map(|log| log.rows),
    };
    let facts = about.settings.clone();
    let runs = vec![BundledRun { run: None, arm: String::new(), facts }];
    Ok(Content { forms, view, runs, inputs })
}

fn of_experiment(copy: &Path, record: &Path, name: &str) -> Result<Content, Complaint> {
    let recorded = RecordedExperiment::read(copy)?;
    let of_copy = experiment::view_of(&recorded, copy);
    if of_copy.state == ExperimentState::Interrupted {
        let sentence = format!("the experiment of `{}` has not ended", record.display());
        return Err(Complaint::new(sentence).help("complete it first: `assay run … --resume`"));
    }
    let shown = report::ExperimentView { record: name.to_owned(), ..of_copy };
    let forms = Forms {
        page: report::experiment_html(&shown),
        text: report::experiment_text(&shown, &Style::PLAIN),
        json: answer::document_text(&report::experiment_json(&shown))?,
    };
    let first = shown.runs.first().map(|run| answer::open(copy, Some(run.number))).transpose();
    let first = first.map_err(|error| Complaint::of(&error))?;
    let header = first.as_ref().map(archive::Archive::header);
    let printed = [shown.command.as_str(), recorded.fact(EXPERIMENT).unwrap_or_default()];
    let view = BundleView {
        title: shown.ask.clone(),
        answer: report::experiment_markdown(&shown),
        record: name.to_owned(),
        command: shown.command.clone(),
        version: header.map(|header| header.assay.clone()).unwrap_or_default(),
        commit: header.and_then(|header| header.commit.clone()),
        inputs: Vec::new(),
        secrets: secret_names(printed),
        op_log_rows: None,
    };
    let (runs, inputs) = (bundled_runs(&recorded), recorded.files().to_vec());
    Ok(Content { forms, view, runs, inputs })
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

/// Returns true if a path leads to a file below a folder. The record may be that of a stranger.
fn is_below(path: &str) -> bool {
    let is_normal = |part: Component<'_>| matches!(part, Component::Normal(_));
    is_plain(path) && !path.is_empty() && Path::new(path).components().all(is_normal)
}

/// Returns true if a list of checksums can hold a name as it is.
fn is_plain(name: &str) -> bool {
    !name.contains('\\') && !name.contains(is_terminal_control)
}

/// Returns the complaint about an archive or a folder that cannot be created.
fn uncreated(kind: &str, path: &Path, error: &io::Error) -> Complaint {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::AlreadyExists => Complaint::new(format!("`{shown}` exists already"))
            .help(format!("nothing is overwritten: name a new {kind} with --out")),
        _ => Complaint::new(format!("cannot create the {kind} `{shown}`: {error}")).help(format!(
            "name a new {kind} with --out, in a folder that exists and that you may write to"
        )),
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Complaint {
    Complaint::new(format!("cannot write `{}`: {error}", path.display()))
        .help("name a file or a folder on another disk with --out")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_below_the_folder_are_written() {
        for path in ["a.ini", "data/rows.csv", "a b.sql"] {
            assert!(is_below(path), "{path}");
        }
        for path in ["", "/etc/passwd", "../a", "a/../../b", "./a", "a\\b", "a\nb"] {
            assert!(!is_below(path), "{path:?}");
        }
    }

    #[test]
    fn record_has_the_name_of_no_other_file() {
        for (name, expected) in [
            ("r.assay", "r.assay"),
            ("README.md", "README.md.assay"),
            (SUMS, "SHA256SUMS.assay"),
            (INPUTS, "files.assay"),
        ] {
            assert_eq!(record_name(name).ok().as_deref(), Some(expected));
        }
        assert!(record_name("a\nb").is_err());
    }
}
