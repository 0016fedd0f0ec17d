//! The root folder below which facts are read.
//!
//! Every file is read only up to a limit. Errors are not reported: a fact whose file cannot be read
//! is unknown.

use std::borrow::Cow;
use std::fs::{DirEntry, File};
use std::io::Read;
use std::path::PathBuf;

/// Root folder, `/` except in tests. Paths below it have no leading slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(PathBuf);

/// Maximum number of bytes that are read from a file. It is enough for the list of mounts, and for
/// the limits, of a large machine.
const LONGEST_FILE: u64 = 1 << 20;

/// Maximum number of bytes that are read from a file that should have one line.
const LONGEST_LINE: u64 = 4 << 10;

/// Maximum number of entries of a folder that are read; no machine has as many processors.
const MOST_ENTRIES: usize = 16_384;

impl Root {
    /// Creates a root in another folder, for tests.
    pub fn new(folder: impl Into<PathBuf>) -> Root {
        Root(folder.into())
    }

    /// Returns the root of this machine.
    pub fn system() -> Root {
        Root::new("/")
    }

    /// Returns the content of a file, with a replacement character for invalid UTF-8; `None` if it
    /// cannot be read.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.text_prefix(path, LONGEST_FILE)
    }

    /// Returns the first bytes of a file; `None` if it cannot be read. Further bytes are not read,
    /// because the kernel generates such files while they are read, and some are long.
    pub(crate) fn text_prefix(&self, path: &str, bytes: u64) -> Option<String> {
        let mut content = Vec::new();
        let file = File::open(self.0.join(path)).ok()?;
        file.take(bytes).read_to_end(&mut content).ok()?;
        Some(String::from_utf8_lossy(&content).into_owned())
    }

    /// Returns the first line of a file, unless it is empty.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        let text = self.text_prefix(path, LONGEST_LINE)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// Returns the content of a file as a number; `None` if it is not a number.
    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        self.line(path)?.parse().ok()
    }

    /// Returns the names in a folder, in alphabetical order; an empty list if the folder cannot be
    /// read.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = self.0.join(path).read_dir() else { return Vec::new() };
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.take(MOST_ENTRIES).collect();
        names.sort();
        names
    }

    /// Returns the beginning of a file, from a single read into `memory`. It is meant for short
    /// files that are read repeatedly: the kernel returns a short file of `/proc` in a single read.
    pub(crate) fn read_once<'a>(&self, path: &str, memory: &'a mut [u8]) -> Option<Cow<'a, str>> {
        let mut file = File::open(self.0.join(path)).ok()?;
        let length = file.read(memory).ok()?;
        Some(String::from_utf8_lossy(memory.get(..length)?))
    }

    /// Returns the numeric names in a folder, such as those of processes and threads; an empty list
    /// if the folder cannot be read.
    pub(crate) fn numbers(&self, path: &str) -> Vec<u32> {
        let Ok(entries) = self.0.join(path).read_dir() else { return Vec::new() };
        let number = |entry: DirEntry| entry.file_name().to_str()?.parse().ok();
        entries.flatten().take(MOST_ENTRIES).filter_map(number).collect()
    }

    /// Returns the target of a link; `None` if it cannot be read.
    pub(crate) fn link(&self, path: &str) -> Option<String> {
        let target = self.0.join(path).read_link().ok()?;
        Some(target.to_string_lossy().into_owned())
    }

    /// Returns true if a file or folder exists at a path below the root.
    pub(crate) fn exists(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }
}

#[cfg(test)]
mod tests {
    use crate::environment::tests::TestRoot;

    #[test]
    fn first_line_of_a_file_is_trimmed() {
        let planted = TestRoot::new().with("a", " x y \nz").with("b", "\n").with("c", b"\xff1");
        assert_eq!(planted.root.line("a").as_deref(), Some("x y"));
        assert_eq!(planted.root.line("b"), None);
        assert_eq!(planted.root.line("c").as_deref(), Some("\u{fffd}1"));
        assert_eq!(planted.root.line("d"), None);
        assert_eq!((planted.root.number("a"), planted.root.number("c")), (None, None));
        assert_eq!(planted.root.names(""), ["a", "b", "c"]);
        assert_eq!(planted.root.names("a"), [""; 0]);
        assert_eq!(planted.root.text_prefix("a", 2).as_deref(), Some(" x"));
    }

    #[test]
    fn brief_read_stops_at_its_limit() {
        let planted = TestRoot::new().with("a", b"12\xff4").with("7/x", "").with("x8", "");
        let mut memory = [0; 3];
        assert_eq!(planted.root.read_once("a", &mut memory).as_deref(), Some("12\u{fffd}"));
        assert_eq!(planted.root.read_once("b", &mut memory), None);
        assert_eq!(planted.root.read_once("7", &mut memory), None);
        assert_eq!(planted.root.numbers(""), [7]);
        assert_eq!((planted.root.numbers("none"), planted.root.link("a")), (vec![], None));
    }
}
