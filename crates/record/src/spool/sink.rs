//! A file as its thread writes it: what was written, and why no more was.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use base::{Clock, Monotonic, Stamp};

/// How many bytes are collected before they are written.
const BUFFER: usize = 1 << 16;

/// Whether the files of a run can still be read and written. All clones are one.
#[derive(Clone, Debug, Default)]
pub struct FileHealth(Arc<AtomicBool>);

impl FileHealth {
    /// A file has failed.
    pub fn fail(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a file has failed.
    pub fn is_broken(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What came of a file.
#[derive(Debug)]
pub struct Written {
    /// How many bytes were written.
    pub bytes: u64,
    /// How many whole lines were.
    pub lines: u64,
    /// Why there are no more of them, if that was not all.
    pub failure: Option<Unwritten>,
}

/// Why a file could not be written to its end.
#[derive(Debug)]
pub struct Unwritten {
    /// When that was noticed, by the machine's clock; `None` if it was noticed at the end.
    pub at: Option<Stamp>,
    /// What the system said.
    pub cause: io::Error,
}

/// How much of a file is written, for others than its thread.
#[derive(Debug, Default)]
pub(super) struct Progress {
    bytes: AtomicU64,
    lines: AtomicU64,
}

impl Progress {
    fn add(&self, written: &[u8]) {
        let lines = written.iter().filter(|byte| **byte == b'\n').count();
        self.bytes.fetch_add(written.len() as u64, Ordering::Relaxed);
        self.lines.fetch_add(lines as u64, Ordering::Relaxed);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn with(&self, failure: Option<Unwritten>) -> Written {
        Written { bytes: self.bytes(), lines: self.lines.load(Ordering::Relaxed), failure }
    }

    /// Nobody waits for the file any longer.
    pub(super) fn given_up(&self) -> Written {
        let words = "what is behind it did not take it in time";
        let cause = io::Error::new(ErrorKind::TimedOut, words);
        self.with(Some(Unwritten { at: None, cause }))
    }

    /// The thread of the file broke down.
    pub(super) fn crashed(&self) -> Written {
        let cause = io::Error::other("the thread that wrote it broke down");
        self.with(Some(Unwritten { at: None, cause }))
    }
}

/// Opens a file for writing as it is usual for outputs: created, or emptied if it exists; a pipe is
/// opened for both directions, which does not wait for its reader.
///
/// # Errors
/// The system refuses.
pub(super) fn create(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(true).open(path)
}

/// Where the thread of a file writes to. After an error nothing more is written.
pub(crate) struct Sink {
    file: Box<dyn Write + Send>,
    buffer: Vec<u8>,
    progress: Arc<Progress>,
    failure: Option<Unwritten>,
    health: FileHealth,
}

impl Sink {
    /// Writes to `file` and says so in `health` when that fails.
    pub(crate) fn new(file: Box<dyn Write + Send>, health: FileHealth) -> Sink {
        let buffer = Vec::with_capacity(2 * BUFFER);
        Sink { file, buffer, progress: Arc::default(), failure: None, health }
    }

    /// How much is written.
    pub(super) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Where bytes are put; behind each line comes [`Sink::line`].
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// A line is complete.
    pub(super) fn line(&mut self) {
        self.buffer.push(b'\n');
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    /// Hands everything to the system.
    pub(super) fn flush(&mut self) {
        let mut start = 0;
        while self.failure.is_none() && start < self.buffer.len() {
            match self.file.write(&self.buffer[start..]) {
                Ok(0) => self.fail(ErrorKind::WriteZero.into()),
                Ok(length) => {
                    self.progress.add(&self.buffer[start..start + length]);
                    start += length;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.fail(error),
            }
        }
        self.buffer.clear();
    }

    fn fail(&mut self, cause: io::Error) {
        self.failure = Some(Unwritten { at: Some(Monotonic.now()), cause });
        self.health.fail();
    }

    /// Writes what is left and closes the file.
    pub(super) fn finish(mut self) -> Written {
        self.flush();
        self.progress.with(self.failure)
    }
}
