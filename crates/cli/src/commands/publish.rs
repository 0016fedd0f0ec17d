//! `assay publish`: a folder with a record, its answer in all forms, the files that were read, and
//! checksums.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use base::{is_terminal_control, printable};
use record::InputFile;
use report::{BundleView, BundledInput, ExperimentState, Page, Style, bundle_readme};

use crate::args::PublishArgs;
use crate::commands::{answer, experiment, figures};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::read_files;
use crate::recorded_experiment::RecordedExperiment;
use crate::workload_file::file_name;

/// The file with the checksums. It is written last: a bundle without it is incomplete.
const SUMS: &str = "SHA256SUMS";

/// The folder of the files that were read before the runs.
const INPUTS: &str = "files";

pub(crate) fn publish(args: &PublishArgs) -> Result<Exit, Complaint> {
    let name = file_name(&args.record);
    check_finished(&args.record)?;
    let stem = name.strip_suffix(".assay").unwrap_or(&name);
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{stem}-published")));
    fs::create_dir(&folder).map_err(|error| uncreated(&folder, &error))?;
    let bundle = Bundle { folder, files: Vec::new() };
    let folder = bundle.folder.clone();
    if let Err(complaint) = fill(bundle, &args.record, &name) {
        // Part of a bundle could be mistaken for all of it. The folder was made above.
        let _ = fs::remove_dir_all(&folder);
        return Err(complaint);
    }
    answer::print(&format!("{}\n", printable(&folder.display().to_string())))?;
    Ok(Exit::Success)
}

/// Refuses the record of a run or an experiment that has no end.
fn check_finished(record: &Path) -> Result<(), Complaint> {
    let shown = record.display();
    if experiment::is_record(record) {
        let view = experiment::view(record)?;
        return match view.state {
            ExperimentState::Interrupted => {
                let sentence = format!("the experiment of `{shown}` has not ended");
                Err(Complaint::new(sentence).help("complete it first: `assay run … --resume`"))
            }
            ExperimentState::Complete
            | ExperimentState::InstrumentFailed
            | ExperimentState::NotInEffect
            | ExperimentState::NotObserved => Ok(()),
        };
    }
    let archive = answer::open(record, None).map_err(|error| Complaint::of(&error))?;
    match archive.end() {
        Some(_) => Ok(()),
        None => {
            let sentence = format!("the run of `{shown}` has not ended, or was killed");
            Err(Complaint::new(sentence).help("wait for its end, or run it again"))
        }
    }
}

/// A folder that is being filled.
struct Bundle {
    folder: PathBuf,
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

    fn copy(&mut self, from: &Path, name: &str) -> Result<PathBuf, Complaint> {
        let path = self.folder.join(name);
        fs::copy(from, &path).map_err(|error| unwritten(&path, &error))?;
        self.files.push(name.to_owned());
        Ok(path)
    }

    /// Writes the checksums, in the format of `sha256sum`.
    fn finish(mut self) -> Result<(), Complaint> {
        self.files.sort();
        let line = |name: &String| {
            let path = self.folder.join(name);
            let hash = read_files::sha256(&path).map_err(|error| unwritten(&path, &error))?;
            Ok(format!("{hash}  {name}\n"))
        };
        let lines = self.files.iter().map(line).collect::<Result<String, Complaint>>()?;
        self.add(SUMS, &lines)
    }
}

/// Fills a bundle. The answer is that of the copy, which opening checks: a record that changes
/// meanwhile is noticed.
fn fill(mut bundle: Bundle, record: &Path, name: &str) -> Result<(), Complaint> {
    if !is_plain(name) {
        let sentence = format!("the name `{name}` has characters that lists of checksums lack");
        return Err(Complaint::new(sentence).help("rename the record"));
    }
    let copy = bundle.copy(record, name)?;
    let (forms, mut view, inputs) = match experiment::is_record(&copy) {
        true => of_experiment(&copy, name)?,
        false => of_run(&copy, name)?,
    };
    bundle.add("page.html", &forms.page)?;
    bundle.add("answer.txt", &forms.text)?;
    bundle.add("answer.json", &forms.json)?;
    for input in inputs {
        let text = input.text.as_ref().filter(|_| is_below(&input.path));
        if let Some(text) = text {
            bundle.add(&format!("{INPUTS}/{}", input.path), text)?;
        }
        let is_included = text.is_some();
        view.inputs.push(BundledInput { path: input.path, sha256: input.sha256, is_included });
    }
    bundle.add("README.md", &bundle_readme(&view))?;
    bundle.finish()
}

/// An answer in its forms.
struct Forms {
    page: String,
    text: String,
    json: String,
}

fn of_run(copy: &Path, name: &str) -> Result<(Forms, BundleView, Vec<InputFile>), Complaint> {
    let failed = |error: archive::RecordError| Complaint::of(&error);
    let mut run = answer::read(copy, None).map_err(failed)?;
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
    };
    Ok((forms, view, inputs))
}

fn of_experiment(
    copy: &Path,
    name: &str,
) -> Result<(Forms, BundleView, Vec<InputFile>), Complaint> {
    let recorded = RecordedExperiment::read(copy)?;
    let of_copy = experiment::view_of(&recorded, copy);
    let shown = report::ExperimentView { record: name.to_owned(), ..of_copy };
    let forms = Forms {
        page: report::experiment_html(&shown),
        text: report::experiment_text(&shown, &Style::PLAIN),
        json: answer::document_text(&report::experiment_json(&shown))?,
    };
    let first = shown.runs.first().map(|run| answer::open(copy, Some(run.number))).transpose();
    let first = first.map_err(|error| Complaint::of(&error))?;
    let header = first.as_ref().map(archive::Archive::header);
    let view = BundleView {
        title: shown.ask.clone(),
        answer: report::experiment_markdown(&shown),
        record: name.to_owned(),
        command: shown.command.clone(),
        version: header.map(|header| header.assay.clone()).unwrap_or_default(),
        commit: header.and_then(|header| header.commit.clone()),
        inputs: Vec::new(),
    };
    Ok((forms, view, recorded.files().to_vec()))
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

fn uncreated(folder: &Path, error: &io::Error) -> Complaint {
    let shown = folder.display();
    match error.kind() {
        io::ErrorKind::AlreadyExists => Complaint::new(format!("`{shown}` exists already"))
            .help("nothing is overwritten: name a new folder with --out"),
        _ => Complaint::new(format!("cannot create the folder `{shown}`: {error}"))
            .help("name a new folder with --out, in one that exists and that you may write to"),
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Complaint {
    Complaint::new(format!("cannot write `{}`: {error}", path.display()))
        .help("name a folder on another disk with --out")
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
}
