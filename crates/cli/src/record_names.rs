//! Names of records on the command line: a file, an arm of an experiment, or a glob.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::complain::Complaint;

/// An argument that names records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RecordName {
    /// A record.
    File(PathBuf),
    /// An arm of an experiment: `R.assay#ARM`.
    Arm(PathBuf, String),
    /// The records that match a glob, in alphabetical order.
    Glob(Vec<PathBuf>),
}

impl RecordName {
    /// Parses an argument. A file with exactly this name takes precedence over the other meanings.
    ///
    /// # Errors
    /// No file matches a glob, or a folder cannot be read.
    pub(crate) fn parse(text: &str) -> Result<RecordName, Complaint> {
        let path = PathBuf::from(text);
        if path.exists() {
            return Ok(RecordName::File(path));
        }
        match split_arm(text) {
            Some((file, arm)) => Ok(RecordName::Arm(PathBuf::from(file), arm.to_owned())),
            None if text.contains(['*', '?']) => glob(text).map(RecordName::Glob),
            None => Ok(RecordName::File(path)),
        }
    }
}

/// Splits the name of an arm, `R.assay#ARM`, into file and arm; `None` for the name of an existing
/// file, and for a text without a `#`. File and arm may contain a `#`: the longest name of an
/// existing file is taken. If there is none, the arm is the text after the last `#`.
pub(crate) fn split_arm(text: &str) -> Option<(&str, &str)> {
    if Path::new(text).exists() {
        return None;
    }
    let mut splits =
        text.rmatch_indices('#').map(|(place, _)| (&text[..place], &text[place + 1..]));
    let existing = splits.find(|(file, _)| Path::new(file).is_file());
    existing.or_else(|| text.rsplit_once('#'))
}

/// Returns the files that match a glob: `*` matches any characters of a name, and `?` matches one.
/// Neither matches a leading dot, nor a name that is not UTF-8.
fn glob(text: &str) -> Result<Vec<PathBuf>, Complaint> {
    let mut found = vec![PathBuf::from(if text.starts_with('/') { "/" } else { "" })];
    for pattern in text.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for folder in &found {
            match pattern.contains(['*', '?']) {
                true => next.extend(entries(folder, pattern)?),
                false => next.push(folder.join(pattern)),
            }
        }
        found = next;
    }
    found.retain(|path| path.is_file());
    found.sort();
    match found.is_empty() {
        false => Ok(found),
        true => Err(Complaint::new(format!("no file matches `{text}`"))
            .help("name records, as `assay run` printed them at their end")),
    }
}

/// Returns the entries of a folder that match a pattern; none if there is no such folder.
fn entries(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, Complaint> {
    let named = if folder == Path::new("") { Path::new(".") } else { folder };
    if !named.is_dir() {
        return Ok(Vec::new());
    }
    let cannot_read = |error: std::io::Error| {
        Complaint::new(format!("cannot read the folder `{}`: {error}", named.display()))
            .help("give yourself the right to read it, or name the records one by one")
    };
    let mut all = Vec::new();
    for entry in fs::read_dir(named).map_err(cannot_read)? {
        let name = entry.map_err(cannot_read)?.file_name();
        if is_match(pattern, &name) {
            all.push(folder.join(name));
        }
    }
    Ok(all)
}

fn is_match(pattern: &str, name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let is_hidden = name.starts_with('.') && !pattern.starts_with('.');
    !is_hidden && matches(pattern, name)
}

/// Returns true if a name matches a pattern. It is enough to backtrack to the last `*`; the time is
/// at most proportional to the product of both lengths.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while place < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(one) if *one == '?' || *one == name[place] => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some((after, taken)) = star else { return false };
                star = Some((after, taken + 1));
                (at, place) = (after + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_matches_whole_names() {
        for (pattern, name) in [
            ("*", "a"),
            ("a*", "a"),
            ("*-1.a", "x-1-1.a"),
            ("a?c", "abc"),
            ("**", ""),
            ("é*", "éa"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a", "ab"), ("?", ""), ("a*b", "abc"), ("*a", "b"), ("", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        assert!(!is_match("*", OsStr::new(".hidden")) && is_match(".*", OsStr::new(".hidden")));
        assert!(!matches(&"*a".repeat(50), &"a".repeat(5_000).replace("aa", "ab")));
    }

    #[test]
    fn file_goes_before_arm_and_glob() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a", "a#b", "x-2.assay", "x-1.assay", "y.assay"] {
            fs::write(at(name), "").unwrap();
        }
        let parse = |name: &str| RecordName::parse(at(name).to_str().unwrap());
        assert_eq!(parse("a#b").unwrap(), RecordName::File(at("a#b")));
        assert_eq!(parse("a#c").unwrap(), RecordName::Arm(at("a"), "c".to_owned()));
        let arm = |file: &str, arm: &str| RecordName::Arm(at(file), arm.to_owned());
        assert_eq!(parse("y.assay#c#2").unwrap(), arm("y.assay", "c#2"));
        assert_eq!(parse("a#b#c").unwrap(), arm("a#b", "c"));
        assert_eq!(parse("no#1.assay#c").unwrap(), arm("no#1.assay", "c"));
        let two = vec![at("x-1.assay"), at("x-2.assay")];
        assert_eq!(parse("x-?.assay").unwrap(), RecordName::Glob(two));
        assert_eq!(parse("no.assay").unwrap(), RecordName::File(at("no.assay")));
        assert!(parse("no-*.assay").is_err());
    }
}
