//! The first file of a published bundle: the question and its answer, the other files, and how to
//! check and repeat the record.

use base::{printable, shell_word};

use super::settings::{BundledRun, versions};
use crate::markdown::{code, escaped};

/// A bundle of a record and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleView {
    /// Question of an experiment, or workload and target of a run.
    pub title: String,
    /// Answer as Markdown.
    pub answer: String,
    /// File name of the record.
    pub record: String,
    /// Command line of the record.
    pub command: String,
    /// Version of the program that made the record.
    pub version: String,
    /// Commit from which that program was built, if it is known.
    pub commit: Option<String>,
    /// Command that repeats the record, for use in the folder of the record; `None` if the record
    /// cannot be repeated.
    pub repeat: Option<String>,
    /// Files that were read before the runs.
    pub inputs: Vec<BundledInput>,
    /// Names of the parameters and keys whose values are secret.
    pub secrets: Vec<String>,
    /// Number of requests in the op-log of the run, if it had one.
    pub op_log_rows: Option<u64>,
    /// Name of the experiment file, if the path of its folder was removed from the record; `None`
    /// if the record has no such path.
    pub omitted_folder_of: Option<String>,
}

/// A file that was read before the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledInput {
    /// Path of the file.
    pub path: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Reason why the bundle does not contain the file; `None` if it does.
    pub omission: Option<InputOmission>,
}

/// A reason why a bundle does not contain a file that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputOmission {
    /// The file is larger than the limit for files stored in a record.
    Large,
    /// The file contains a password, or is not UTF-8 text.
    NotStored,
    /// The file lies outside of the folder of the workload, or its name is not valid on every
    /// system.
    Outside,
    /// The file's name is longer than an archive can hold.
    LongName,
    /// Another file has the same name, or has the name of this file's folder. This version of Assay
    /// writes no record with such names.
    TakenName,
}

impl InputOmission {
    pub(super) fn reason(self) -> &'static str {
        match self {
            InputOmission::Large => "it is larger than 1 MB",
            InputOmission::NotStored => "it contains a password, or is not UTF-8 text",
            InputOmission::Outside => "it lies outside of the folder of the workload file",
            InputOmission::LongName => "its name is too long for an archive",
            InputOmission::TakenName => "another file has its name, or that of its folder",
        }
    }
}

/// Formats the `README.md` of a bundle. `runs` are the runs whose settings the bundle contains.
pub fn bundle_readme(view: &BundleView, runs: &[BundledRun]) -> String {
    let BundleView { title, answer, record, command, .. } = view;
    let version = escaped(&match &view.commit {
        Some(commit) => format!("{} (commit {commit})", view.version),
        None => view.version.clone(),
    });
    let (title, record) = (escaped(title), cell(record));
    let report = code_block(&format!("assay report {}", shell_word(&view.record)));
    let repeat = repetition_paragraph(view);
    let command = printable(command);
    let (inputs, versions) = (input_rows(view), versions_table(runs));
    format!(
        "# {title}\n\n{answer}\n## Files\n\n| file | content |\n| --- | --- |\n\
         | `page.html` | the answer with figures, complete in itself |\n\
         | `answer.txt`, `answer.json` | the answer as text, and for programs |\n\
         | {record} | all measurements, an SQLite database |\n\
         | `settings.csv` | settings and facts of every system, with the runs that have them |\n\
         | `UNDISCLOSED.md` | what is left out, and why |\n\
         {inputs}\
         | `SHA256SUMS` | checksums of all other files |\n\n{versions}\
         ## Check it\n\n    sha256sum --check SHA256SUMS\n{report}\n\
         The second command computes the answer again from the measurements.\n\n\
         ## Repeat it\n\nThe record was made by assay {version}:\n\n    {command}\n\n\
         {repeat}\n\
         Passwords of targets and secret parameters are in none of these files (see [what is left \
         out](UNDISCLOSED.md)). Statements, texts of errors, the names of hosts, users and paths \
         in commands and URLs, the columns and indexes of the tables, and five rows of each table \
         that the run filled are: read them before you pass the bundle on.\n"
    )
}

/// Returns the paragraph below the command line of the record, on how to repeat the record.
fn repetition_paragraph(view: &BundleView) -> String {
    if let Some(command) = &view.repeat {
        return format!(
            "This command repeats it from the files stored in the record, and compares both \
             answers:\n\n{}",
            code_block(command)
        );
    }
    let has_files = view.inputs.iter().any(|input| input.omission.is_none());
    let place = if has_files { ", in the folder `files`" } else { "" };
    format!(
        "Run that command again{place}. `assay repeat` takes records of `assay run` that keep \
         their files; an experiment must have an answer.\n"
    )
}

/// Returns the versions of the servers and of the system; an empty text if none is known.
fn versions_table(runs: &[BundledRun]) -> String {
    let versions = versions(runs);
    if versions.is_empty() {
        return String::new();
    }
    let row =
        |(name, value): &(String, String)| format!("| {} | {} |\n", cell(name), escaped(value));
    let rows: String = versions.iter().map(row).collect();
    format!("## Versions\n\n| system | version |\n| --- | --- |\n{rows}\n")
}

/// Formats a text for a cell of a table: as code, unless it has a character that would end the
/// cell.
pub(super) fn cell(text: &str) -> String {
    if text.contains('|') { escaped(text) } else { code(text) }
}

/// Returns a command as a block of code.
fn code_block(command: &str) -> String {
    format!("    {}\n", printable(command))
}

/// Returns the table rows of the files that were read.
fn input_rows(view: &BundleView) -> String {
    let row = |input: &BundledInput| match input.omission {
        None => {
            let path = cell(&format!("files/{}", input.path));
            format!("| {path} | read before the runs |\n")
        }
        Some(_) => {
            let (path, hash) = (cell(&input.path), cell(&input.sha256));
            format!("| {path} | **not included**; its SHA-256 is {hash} |\n")
        }
    };
    view.inputs.iter().map(row).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn view() -> BundleView {
        BundleView {
            title: "<img> [x](http://x)".to_owned(),
            answer: "**VALID**: all\n".to_owned(),
            record: "it's.assay".to_owned(),
            command: "assay run a.ini\n\n<script>".to_owned(),
            version: "0.1.0".to_owned(),
            commit: None,
            repeat: Some("assay repeat r.assay\n<script>".to_owned()),
            inputs: vec![BundledInput {
                path: "a.ini".to_owned(),
                sha256: "ab".to_owned(),
                omission: None,
            }],
            secrets: Vec::new(),
            op_log_rows: None,
            omitted_folder_of: None,
        }
    }

    #[test]
    fn texts_of_a_record_are_escaped_in_the_readme() {
        let mut view = view();
        view.inputs.push(BundledInput {
            path: "b|`c`.csv".to_owned(),
            sha256: "ab".to_owned(),
            omission: Some(InputOmission::NotStored),
        });
        let facts = vec![("server".to_owned(), "<b>|x".to_owned())];
        let run = BundledRun { run: None, arm: String::new(), facts };
        let text = bundle_readme(&view, &[run]);
        assert!(text.starts_with("# \\<img> \\[x\\](http\\://x)\n\n**VALID**"), "{text}");
        assert!(text.contains("\n    assay run a.ini  <script>\n"), "{text}");
        assert!(text.contains("\n    assay repeat r.assay <script>\n"), "{text}");
        assert!(text.contains("| `files/a.ini` | read"), "{text}");
        assert!(text.contains("Passwords of targets and secret parameters are in none"), "{text}");
        assert!(text.contains("five rows of each table that the run filled are"), "{text}");
        assert!(text.contains("| b\\|`c`.csv | **not included**"), "{text}");
        assert!(text.contains("| `server` | \\<b>\\|x |"), "{text}");
    }

    #[test]
    fn unrepeatable_record_names_its_command_and_the_folder_of_its_files() {
        let mut view = BundleView { repeat: None, ..view() };
        let text = bundle_readme(&view, &[]);
        assert!(!text.contains("\n    assay repeat"), "{text}");
        let words = "<script>\n\nRun that command again, in the folder `files`. `assay repeat` ";
        assert!(text.contains(words), "{text}");
        view.inputs[0].omission = Some(InputOmission::NotStored);
        let text = bundle_readme(&view, &[]);
        assert!(text.contains("\n\nRun that command again. `assay repeat` takes"), "{text}");
    }
}
