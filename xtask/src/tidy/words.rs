//! Check for banned words, for calls that plant faults outside of tests, for white space at the
//! ends of lines, and for files whose last line has no line break.

/// Banned words, each with its remedy. They are written in two parts to keep this file free of
/// them.
const BANNED: [(&str, &str); 8] = [
    (concat!("FIX", "ME"), "do it, or open an issue"),
    (concat!("XX", "X"), "do it, or open an issue"),
    (concat!("TO", "DO"), "do it, or open an issue"),
    (concat!("dbg", "!("), "remove it"),
    (concat!("todo", "!("), "write it"),
    (concat!("unimplemented", "!("), "write it"),
    (concat!("#[ign", "ore"), "run it or delete it"),
    (concat!("thread::", "sleep"), "wait on an rt timer"),
];

/// The one file that may contain a banned word, and this word: clippy's settings forbid it too.
const ALLOWED: (&str, &str) = ("clippy.toml", concat!("thread::", "sleep"));

/// Name of the method that plants a fault. Only tests and [`SELFTEST_FAULTS_FILE`] may call it.
const PLANTED: &str = concat!("with_intended", "_start");

/// The file with the faults that `assay selftest` plants.
const SELFTEST_FAULTS_FILE: &str = "crates/lab/src/selftest/rules.rs";

pub(crate) fn check(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    // Inputs and expectations of tests may be untidy.
    let is_quoted = path.contains("/corpus/") || path.contains("/tests/");
    for (number, line) in text.lines().enumerate() {
        let place = format!("{path}:{}", number + 1);
        for (word, instead) in BANNED {
            if line.contains(word) && (path, word) != ALLOWED {
                complaints.push(format!("{place}: `{word}` is banned: {instead}"));
            }
        }
        let planted = line.contains(PLANTED) && !line.contains("fn ");
        let may_be = path.contains("/tests/") || path == SELFTEST_FAULTS_FILE;
        if planted && path.ends_with(".rs") && !may_be {
            complaints.push(format!("{place}: `{PLANTED}` is for tests"));
        }
        if line.ends_with([' ', '\t']) && !is_quoted {
            complaints.push(format!("{place}: white space at the end of the line"));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') && !is_quoted {
        complaints.push(format!("{path}: the last line does not end"));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_banned_word_is_noticed_with_the_remedy() {
        for (word, instead) in BANNED {
            let complaints = check("a.rs", &format!("    {word} x\n"));
            assert_eq!(complaints, [format!("a.rs:1: `{word}` is banned: {instead}")]);
        }
        let (path, word) = ALLOWED;
        assert_eq!(check(path, &format!("{word}\n")), [""; 0]);
    }

    #[test]
    fn planted_faults_stay_in_the_tests() {
        let call = format!("request.{PLANTED}(at)\n");
        assert_eq!(check("crates/a/tests/b.rs", &call), [""; 0]);
        assert_eq!(check(SELFTEST_FAULTS_FILE, &call), [""; 0]);
        let complaint = format!("crates/a/src/b.rs:1: `{PLANTED}` is for tests");
        assert_eq!(check("crates/a/src/b.rs", &call), [complaint]);
    }

    #[test]
    fn untidy_text_is_noticed() {
        assert_eq!(check("a.md", "a \n"), ["a.md:1: white space at the end of the line"]);
        assert_eq!(check("a.md", "a"), ["a.md: the last line does not end"]);
    }
}
