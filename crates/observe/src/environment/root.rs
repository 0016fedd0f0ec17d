//! The folder under which facts are read.
//!
//! No file is read further than a limit, and none has a fault that is told: what cannot be read is
//! not known.

use std::borrow::Cow;
use std::fs::{DirEntry, File};
use std::io::Read;
use std::path::PathBuf;

/// The folder that stands for `/`. Paths below it are written without a slash in front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(PathBuf);

/// How much of a file is read at most: mounts and limits of large machines fit.
const LONGEST_FILE: u64 = 1 << 20;

/// How much of a file is read that should be one line.
const LONGEST_LINE: u64 = 4 << 10;

/// How many entries of a folder are looked at: more than there are processors anywhere.
const MOST_ENTRIES: usize = 16_384;

impl Root {
    /// Another folder, for tests.
    pub fn new(folder: impl Into<PathBuf>) -> Root {
        Root(folder.into())
    }

    /// That of this machine.
    pub fn system() -> Root {
        Root::new("/")
    }

    /// The content of a file, with a mark for each character that is none.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.beginning(path, LONGEST_FILE)
    }

    /// So many bytes of a file. The kernel makes long files while they are read.
    pub(crate) fn beginning(&self, path: &str, bytes: u64) -> Option<String> {
        let mut content = Vec::new();
        let file = File::open(self.0.join(path)).ok()?;
        file.take(bytes).read_to_end(&mut content).ok()?;
        Some(String::from_utf8_lossy(&content).into_owned())
    }

    /// The first line of a file, if there is something in it.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        let text = self.beginning(path, LONGEST_LINE)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// The number that a file consists of.
    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        self.line(path)?.parse().ok()
    }

    /// The names in a folder, in alphabetical order; none if it cannot be read.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = self.0.join(path).read_dir() else { return Vec::new() };
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.take(MOST_ENTRIES).collect();
        names.sort();
        names
    }

    /// The beginning of a file, as far as one reading brings it and `memory` holds it: for short
    /// files that are read again and again. The kernel makes those of `/proc` in one piece.
    pub(crate) fn brief<'a>(&self, path: &str, memory: &'a mut [u8]) -> Option<Cow<'a, str>> {
        let mut file = File::open(self.0.join(path)).ok()?;
        let length = file.read(memory).ok()?;
        Some(String::from_utf8_lossy(memory.get(..length)?))
    }

    /// The numbers among the names in a folder, as of processes and threads; none if it cannot be
    /// read.
    pub(crate) fn numbers(&self, path: &str) -> Vec<u32> {
        let Ok(entries) = self.0.join(path).read_dir() else { return Vec::new() };
        let number = |entry: DirEntry| entry.file_name().to_str()?.parse().ok();
        entries.flatten().take(MOST_ENTRIES).filter_map(number).collect()
    }

    /// What a link points to.
    pub(crate) fn link(&self, path: &str) -> Option<String> {
        let target = self.0.join(path).read_link().ok()?;
        Some(target.to_string_lossy().into_owned())
    }

    /// Whether there is such a file or folder.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }
}

#[cfg(test)]
mod tests {
    use crate::environment::tests::Planted;

    #[test]
    fn a_line_is_what_there_is_in_it() {
        let planted = Planted::new().with("a", " x y \nz").with("b", "\n").with("c", b"\xff1");
        assert_eq!(planted.root.line("a").as_deref(), Some("x y"));
        assert_eq!(planted.root.line("b"), None);
        assert_eq!(planted.root.line("c").as_deref(), Some("\u{fffd}1"));
        assert_eq!(planted.root.line("d"), None);
        assert_eq!((planted.root.number("a"), planted.root.number("c")), (None, None));
        assert_eq!(planted.root.names(""), ["a", "b", "c"]);
        assert_eq!(planted.root.names("a"), [""; 0]);
        assert_eq!(planted.root.beginning("a", 2).as_deref(), Some(" x"));
    }

    #[test]
    fn a_brief_file_is_read_as_far_as_there_is_room() {
        let planted = Planted::new().with("a", b"12\xff4").with("7/x", "").with("x8", "");
        let mut memory = [0; 3];
        assert_eq!(planted.root.brief("a", &mut memory).as_deref(), Some("12\u{fffd}"));
        assert_eq!(planted.root.brief("b", &mut memory), None);
        assert_eq!(planted.root.brief("7", &mut memory), None);
        assert_eq!(planted.root.numbers(""), [7]);
        assert_eq!((planted.root.numbers("none"), planted.root.link("a")), (vec![], None));
    }
}
