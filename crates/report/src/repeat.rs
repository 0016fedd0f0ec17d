//! The command that repeats a record.

use base::shell_word;

/// Returns the command that repeats a record from the files that it keeps, with the permissions of
/// its own command: they are not taken from a record. The URL of a private server needs one too.
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
