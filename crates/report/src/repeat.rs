//! The command that repeats a record.

use base::shell_word;

/// Returns the command that repeats a record from the files stored in it. It has the permissions of
/// the record's own command line, because `assay repeat` does not take them from the record. The
/// URL of a private server needs a permission, too.
pub(crate) fn repeat_command(record: &str, command: &str) -> String {
    let mut repeat = format!("assay repeat {}", shell_word(record));
    let has = |word: &str| command.contains(word);
    if has(" --allow-commands") || has("testbed:") {
        repeat += " --allow-commands";
    }
    if has(" --allow-files") {
        repeat += " --allow-files";
    }
    repeat
}
