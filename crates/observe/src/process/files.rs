//! The files of processes under `/proc`, read into memory that is used again.

use std::borrow::Cow;
use std::fmt::{Arguments, Write};

use crate::environment::Root;

/// Longer than any of the files that are read so.
const LONGEST: usize = 8 << 10;

/// A place to read files of processes from.
pub(super) struct Files<'a> {
    /// What stands for `/`.
    pub(super) root: &'a Root,
    memory: Vec<u8>,
    path: String,
}

impl<'a> Files<'a> {
    /// Those below a folder that stands for `/`.
    pub(super) fn of(root: &'a Root) -> Files<'a> {
        Files { root, memory: vec![0; LONGEST], path: String::new() }
    }

    /// The content of a file; `None` if it cannot be read.
    pub(super) fn read(&mut self, path: Arguments<'_>) -> Option<Cow<'_, str>> {
        self.path.clear();
        self.path.write_fmt(path).ok()?;
        self.root.brief(&self.path, &mut self.memory)
    }
}
