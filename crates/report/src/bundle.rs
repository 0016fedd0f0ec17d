//! The first file of a published bundle: what was asked and answered, the other files, and how to
//! check and repeat it.

use base::{printable, shell_word};

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
    /// Commit that it was built from, if that is known.
    pub commit: Option<String>,
    /// Files that were read before the runs.
    pub inputs: Vec<BundledInput>,
}

/// A file that was read before the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledInput {
    /// Its path.
    pub path: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// True if the bundle has it.
    pub is_included: bool,
}

/// Formats the first file of a bundle as Markdown.
pub fn bundle_readme(view: &BundleView) -> String {
    let BundleView { title, answer, record, command, .. } = view;
    let version = escaped(&match &view.commit {
        Some(commit) => format!("{} (commit {commit})", view.version),
        None => view.version.clone(),
    });
    let (title, record) = (escaped(title), cell(record));
    let (report, repeat) = (block("report", view), block("repeat", view));
    let command = printable(command);
    let inputs = inputs(view);
    format!(
        "# {title}\n\n{answer}\n## Files\n\n| file | content |\n| --- | --- |\n\
         | `page.html` | the answer with figures, complete in itself |\n\
         | `answer.txt`, `answer.json` | the answer as text, and for programs |\n\
         | {record} | all measurements, an SQLite database |\n\
         {inputs}\
         | `SHA256SUMS` | checksums of all other files |\n\n\
         ## Check it\n\n    sha256sum --check SHA256SUMS\n{report}\n\
         The second command computes the answer again from the measurements.\n\n\
         ## Repeat it\n\nThe record was made by assay {version}:\n\n    {command}\n\n\
         This repeats it from the files that the record keeps, and compares both answers:\n\n\
         {repeat}\n\
         Passwords are in none of these files. Names of hosts, users and paths, statements and \
         texts of errors are: read them before you pass the bundle on.\n"
    )
}

/// Returns a text in a table, as code unless it has a character that would end its cell.
fn cell(text: &str) -> String {
    if text.contains('|') { escaped(text) } else { code(text) }
}

/// Returns a command about the record as a block of code.
fn block(command: &str, view: &BundleView) -> String {
    format!("    assay {command} {}\n", printable(&shell_word(&view.record)))
}

/// Returns the rows of the files that were read.
fn inputs(view: &BundleView) -> String {
    let row = |input: &BundledInput| {
        let path = &input.path;
        match input.is_included {
            true => {
                let path = cell(&format!("files/{path}"));
                format!("| {path} | read before the runs |\n")
            }
            false => {
                let (path, hash) = (cell(path), cell(&input.sha256));
                format!(
                    "| {path} | **not included**: too large, a password, no text, or another \
                     folder; its SHA-256 is {hash} |\n"
                )
            }
        }
    };
    view.inputs.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_record_are_no_markup_of_the_first_file() {
        let input = |path: &str, is_included| BundledInput {
            path: path.to_owned(),
            sha256: "ab".to_owned(),
            is_included,
        };
        let view = BundleView {
            title: "<img> [x](http://x)".to_owned(),
            answer: "**VALID**: all\n".to_owned(),
            record: "it's.assay".to_owned(),
            command: "assay run a.ini\n\n<script>".to_owned(),
            version: "0.1.0".to_owned(),
            commit: None,
            inputs: vec![input("a.ini", true), input("b|`c`.csv", false)],
        };
        let text = bundle_readme(&view);
        assert!(text.starts_with("# &lt;img&gt; \\[x\\](http\\://x)\n\n**VALID**"), "{text}");
        assert!(text.contains("\n    assay run a.ini  <script>\n"), "{text}");
        assert!(text.contains("\n    assay repeat 'it'\\''s.assay'\n"), "{text}");
        assert!(text.contains("| `files/a.ini` | read"), "{text}");
        assert!(text.contains("| b\\|\\`c\\`.csv | **not included**"), "{text}");
    }
}
