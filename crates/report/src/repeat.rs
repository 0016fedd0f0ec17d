//! The command that repeats a record.

use base::shell_word;

/// Returns the command that repeats a record from the files stored in it. The options that permit
/// programs and files are copied from `command`, the command line of the record, because
/// `assay repeat` does not take permissions from a record. The URL of a private server
/// (`testbed:`) needs the permission for programs, too.
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
