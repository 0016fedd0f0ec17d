//! The output side of a file's thread: bytes written so far, and the failure that stopped it.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use base::{Clock, Monotonic, Stamp};

/// The number of bytes collected before a write.
const BUFFER: usize = 1 << 16;

/// A flag, shared by all clones, that is set when a file of a run has failed.
#[derive(Clone, Debug, Default)]
pub struct FileHealth(Arc<AtomicBool>);

impl FileHealth {
    /// Records that a file has failed.
    pub fn fail(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if a file has failed.
    pub fn is_broken(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The result of writing a file.
#[derive(Debug)]
pub struct WriteResult {
    /// Number of bytes written.
    pub bytes: u64,
    /// Number of complete lines written.
    pub lines: u64,
    /// Failure that prevented the rest from being written.
    pub failure: Option<WriteFailure>,
}

/// The failure that ended the writing of a file.
#[derive(Debug)]
pub struct WriteFailure {
    /// Time of the failure on the monotonic clock; `None` if it was noticed only at the end.
    pub at: Option<Stamp>,
    /// Error of the operating system.
    pub cause: io::Error,
}

/// The number of bytes and lines written, readable by other threads.
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

    fn result(&self, failure: Option<WriteFailure>) -> WriteResult {
        WriteResult { bytes: self.bytes(), lines: self.lines.load(Ordering::Relaxed), failure }
    }

    /// Returns the result for a file whose reader did not accept the data in time.
    pub(super) fn timed_out(&self) -> WriteResult {
        let words = "its reader did not accept the data in time";
        let cause = io::Error::new(ErrorKind::TimedOut, words);
        self.result(Some(WriteFailure { at: None, cause }))
    }

    /// Returns the result for a file whose thread panicked.
    pub(super) fn crashed(&self) -> WriteResult {
        let cause = io::Error::other("the writer thread panicked");
        self.result(Some(WriteFailure { at: None, cause }))
    }
}

/// Opens an output file for writing.
///
/// The file is created, or emptied if it exists. A pipe is opened for reading and writing, which
/// does not wait for its reader.
///
/// # Errors
/// Fails if the file cannot be opened.
pub(super) fn create(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(true).open(path)
}

/// A buffered output of a file's thread. After an error nothing more is written.
pub(crate) struct Sink {
    file: Box<dyn Write + Send>,
    buffer: Vec<u8>,
    progress: Arc<Progress>,
    failure: Option<WriteFailure>,
    health: FileHealth,
}

impl Sink {
    /// Creates the output to `file`, which reports failures to `health`.
    pub(crate) fn new(file: Box<dyn Write + Send>, health: FileHealth) -> Sink {
        let buffer = Vec::with_capacity(2 * BUFFER);
        Sink { file, buffer, progress: Arc::default(), failure: None, health }
    }

    /// Returns the shared counters of bytes and lines written.
    pub(super) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Returns the buffer for the bytes of a line, which [`Sink::end_line`] ends.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Ends a line.
    pub(super) fn end_line(&mut self) {
        self.buffer.push(b'\n');
        self.flush_if_full();
    }

    /// Writes the buffer to the file if it is full, even in the middle of a line.
    pub(super) fn flush_if_full(&mut self) {
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    /// Writes the buffer to the file.
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
        self.failure = Some(WriteFailure { at: Some(Monotonic.now()), cause });
        self.health.fail();
    }

    /// Writes the rest of the buffer and closes the file.
    pub(super) fn finish(mut self) -> WriteResult {
        self.flush();
        self.progress.result(self.failure)
    }
}
