//! The flag grammar of Go programs.
//!
//! `-x` and `--x` mean the same. A flag takes its value as `-x=v` or `-x v`; a switch takes a value
//! only after `=`, as in `-x=false`. The first word that is not a flag ends the flags, and so does
//! `--`. If a flag is given several times, its last value applies. No message repeats a value,
//! because it may be a password.

use std::ffi::{OsStr, OsString};

use base::closest;

/// A flag of a program.
#[derive(Debug)]
pub(crate) struct Flag {
    /// Name of the flag, without dashes.
    pub(crate) name: &'static str,
    pub(crate) argument: FlagArgument,
    /// Description of the flag in the program's help.
    pub(crate) help: &'static str,
}

/// The argument of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagArgument {
    /// No argument, `=true` or `=false`.
    Switch,
    /// A value; the string is the name of the value in the help.
    Value(&'static str),
}

/// The parsed command line.
#[derive(Debug, Default)]
pub(crate) struct ParsedFlags {
    /// Flags by name, each with its value, in order.
    pub(crate) flags: Vec<(&'static str, String)>,
    /// The words after the flags.
    pub(crate) rest: Vec<OsString>,
    /// True if help was requested.
    pub(crate) wants_help: bool,
}

/// Parses the words of a command line.
///
/// # Errors
/// A flag is unknown, or its value is missing or invalid; the error is a sentence that says so.
pub(crate) fn parse(flags: &'static [Flag], words: &[OsString]) -> Result<ParsedFlags, String> {
    let mut typed = ParsedFlags::default();
    let mut words = words.iter();
    while let Some(word) = words.as_slice().first() {
        let Some(flag) = flag_text(word)? else { break };
        words.next();
        if flag.is_empty() {
            break;
        }
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (flag, None),
        };
        let Some(flag) = flags.iter().find(|flag| flag.name == name) else {
            if name == "h" || name == "help" {
                typed.wants_help = true;
                return Ok(typed);
            }
            return Err(unknown_flag(flags, word, name));
        };
        let value = match (flag.argument, value) {
            (FlagArgument::Switch, value) => {
                parse_switch(name, value.as_deref().unwrap_or("true"))?.to_string()
            }
            (FlagArgument::Value(_), Some(value)) => value,
            (FlagArgument::Value(what), None) => parse_value(name, what, words.next())?,
        };
        typed.flags.push((flag.name, value));
    }
    typed.rest = words.cloned().collect();
    Ok(typed)
}

/// Returns a flag without its dashes: empty for `--`, which ends the flags, and `None` for a word
/// that is not a flag.
fn flag_text(word: &OsStr) -> Result<Option<&str>, String> {
    if !word.as_encoded_bytes().starts_with(b"-") || word == "-" {
        return Ok(None);
    }
    let text = word.to_str().ok_or("a flag is not valid UTF-8")?;
    let flag = text.strip_prefix("--").or_else(|| text.strip_prefix('-')).unwrap_or_default();
    if flag.starts_with(['-', '=']) {
        return Err("a flag has one or two dashes and a name: write `--driver sqlite`".to_owned());
    }
    Ok(Some(flag))
}

fn parse_value(name: &str, what: &str, word: Option<&OsString>) -> Result<String, String> {
    let word = word.ok_or_else(|| format!("--{name} has no value: write `--{name} {what}`"))?;
    word.to_str()
        .map(str::to_owned)
        .ok_or_else(|| format!("--{name}: the value is not valid UTF-8"))
}

/// Parses a boolean as Go writes it.
fn parse_switch(name: &str, text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("--{name} is a switch: write `--{name}` or `--{name}=false`")),
    }
}

fn unknown_flag(flags: &[Flag], word: &OsStr, name: &str) -> String {
    let shown = shown_flag(word, name);
    match closest(name, flags.iter().map(|flag| flag.name)) {
        Some(near) => format!("unknown flag {shown}; did you mean --{near}?"),
        None => format!("unknown flag {shown}: `assay dbbench --help` lists all flags"),
    }
}

/// Returns an unknown flag as messages show it. A value may follow the name without a space: after
/// one dash, only the first character is shown, as in `-p…` for `-pPASSWORD`; after two dashes, a
/// name of more than 40 bytes is not shown.
fn shown_flag(word: &OsStr, name: &str) -> String {
    if word.as_encoded_bytes().starts_with(b"--") {
        return format!("--{}", if name.len() <= 40 { name } else { "…" });
    }
    match name.char_indices().nth(1) {
        Some((end, _)) => format!("-{}…", &name[..end]),
        None => format!("-{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: &[Flag] = &[
        Flag { name: "host", argument: FlagArgument::Value("HOST"), help: "" },
        Flag { name: "stats", argument: FlagArgument::Switch, help: "" },
    ];

    /// Flags with their values, and the words after them.
    type Words = (Vec<(&'static str, String)>, Vec<String>);

    fn typed(line: &str) -> Result<Words, String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let typed = parse(FLAGS, &words)?;
        let rest = typed.rest.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        Ok((typed.flags, rest))
    }

    #[test]
    fn flag_value_follows_a_blank_or_an_equals_sign() {
        for line in ["-host h a", "--host h a", "-host=h a", "--host=h a"] {
            let expected = (vec![("host", "h".to_owned())], vec!["a".to_owned()]);
            assert_eq!(typed(line), Ok(expected), "{line}");
        }
        assert_eq!(typed("--host=").unwrap().0, [("host", String::new())]);
        assert_eq!(typed("--host=a=b").unwrap().0, [("host", "a=b".to_owned())]);
        assert_eq!(typed("--host --stats").unwrap().0, [("host", "--stats".to_owned())]);
    }

    #[test]
    fn switch_does_not_consume_the_next_word() {
        for (line, expected) in [
            ("--stats a", "true"),
            ("-stats=T a", "true"),
            ("--stats=0 a", "false"),
            ("--stats=False a", "false"),
        ] {
            let (flags, rest) = typed(line).unwrap();
            assert_eq!(flags, [("stats", expected.to_owned())], "{line}");
            assert_eq!(rest, ["a"], "{line}");
        }
        assert_eq!(typed("--stats false").unwrap().1, ["false"]);
    }

    #[test]
    fn first_word_without_a_dash_ends_the_flags() {
        assert_eq!(typed("a --host h").unwrap().1, ["a", "--host", "h"]);
        assert_eq!(typed("-- --host").unwrap().1, ["--host"]);
        assert_eq!(typed("- a").unwrap().1, ["-", "a"]);
        assert_eq!(typed(""), Ok((Vec::new(), Vec::new())));
    }

    #[test]
    fn help_is_a_flag_unless_the_program_defines_it() {
        for line in ["-h", "--h", "-help", "--help a", "--host x -h"] {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            assert!(parse(FLAGS, &words).unwrap().wants_help, "{line}");
        }
    }

    #[test]
    fn unknown_flag_is_refused_without_showing_its_value() {
        for (line, words) in [
            ("--hots=secret a", "did you mean --host?"),
            ("-hots=secret a", "unknown flag -h…; did you mean --host?"),
            ("--password=secret a", "unknown flag --password:"),
            ("-psecret a", "unknown flag -p…:"),
            ("-p secret", "unknown flag -p:"),
            ("---host h", "one or two dashes"),
            ("-=secret", "one or two dashes"),
            ("--host", "write `--host HOST`"),
            ("--stats=secret", "write `--stats` or `--stats=false`"),
        ] {
            let message = typed(line).unwrap_err();
            assert!(message.contains(words) && !message.contains("secret"), "{line}: {message}");
        }
    }
}
