//! Words of a command line in a message, as a shell reads them.

/// Quotes a word of a command for a POSIX shell, if the shell would read it differently without
/// quotes.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,%+@".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_if_a_shell_would_interpret_them() {
        assert_eq!(shell_word("/tmp/run-1.assay"), "/tmp/run-1.assay");
        assert_eq!(shell_word("sim:mm1?service=1ms"), "'sim:mm1?service=1ms'");
        assert_eq!(shell_word("my run.assay"), "'my run.assay'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
