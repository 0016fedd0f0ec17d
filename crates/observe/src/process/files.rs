//! Reading of files of processes under `/proc` into a reused buffer.

use std::borrow::Cow;
use std::fmt::{Arguments, Write};

use base::Stamp;

use crate::environment::Root;

/// Size of the read buffer in bytes. The needed part of each file is shorter; the rest of a longer
/// file is not read.
const MAX_FILE_BYTES: usize = 8 << 10;

/// A reader for files of processes.
pub(super) struct Files<'a> {
    /// Root folder, `/` except in tests.
    pub(super) root: &'a Root,
    /// Time at which the files are read; `None` if it does not matter.
    pub(super) read_at: Option<Stamp>,
    memory: Vec<u8>,
    path: String,
}

impl<'a> Files<'a> {
    /// Creates a reader for files below a root folder.
    pub(super) fn of(root: &'a Root) -> Files<'a> {
        Files { root, read_at: None, memory: vec![0; MAX_FILE_BYTES], path: String::new() }
    }

    /// Returns the content of a file, at most [`MAX_FILE_BYTES`] from its beginning; `None` if it
    /// cannot be read.
    pub(super) fn read(&mut self, path: Arguments<'_>) -> Option<Cow<'_, str>> {
        self.path.clear();
        self.path.write_fmt(path).ok()?;
        self.root.read_once(&self.path, &mut self.memory)
    }
}
