//! The output side of a file's thread: bytes written so far, and the failure that stopped it.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use base::{Clock, Monotonic, Stamp};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

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
        self.bytes.fetch_add(written.len() as u64, Ordering::Relaxed);
        self.lines.fetch_add(line_ends(written), Ordering::Relaxed);
    }

    /// Takes back bytes that were written to a pipe and never read.
    fn take_back(&self, lost: &[u8]) {
        let lines = self.lines.load(Ordering::Relaxed).saturating_sub(line_ends(lost));
        self.bytes.store(self.bytes().saturating_sub(lost.len() as u64), Ordering::Relaxed);
        self.lines.store(lines, Ordering::Relaxed);
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

/// Returns the number of line ends in a text.
fn line_ends(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// A buffered output of a file's thread. After an error nothing more is written.
pub(crate) struct Sink {
    file: Box<dyn Write + Send>,
    /// For a pipe, a second descriptor, for writing only.
    pipe: Option<File>,
    buffer: Vec<u8>,
    progress: Arc<Progress>,
    failure: Option<WriteFailure>,
    health: FileHealth,
}

impl Sink {
    /// Creates the output to `file`, which reports failures to `health`.
    pub(crate) fn new(file: Box<dyn Write + Send>, health: FileHealth) -> Sink {
        let buffer = Vec::with_capacity(2 * BUFFER);
        Sink { file, pipe: None, buffer, progress: Arc::default(), failure: None, health }
    }

    /// Creates the output to an open file. The data that a pipe still contains at the end, without
    /// a reader, count as not written.
    pub(super) fn of_file(file: File, health: FileHealth) -> Sink {
        let is_pipe = file.metadata().is_ok_and(|data| data.file_type().is_fifo());
        let pipe = is_pipe.then(|| reopen(&file, File::options().write(true)).ok()).flatten();
        Sink { pipe, ..Sink::new(Box::new(file), health) }
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
        let Sink { file, pipe, buffer: _, progress, mut failure, health: _ } = self;
        // This descriptor of a pipe counts as a reader.
        drop(file);
        let lost = pipe.map(unread).unwrap_or_default();
        if !lost.is_empty() {
            progress.take_back(&lost);
            let cause = io::Error::new(ErrorKind::BrokenPipe, "no reader took the last rows");
            failure = failure.or(Some(WriteFailure { at: None, cause }));
        }
        progress.result(failure)
    }
}

/// Opens a pipe once more, without waiting for its other end.
fn reopen(pipe: &File, options: &mut OpenOptions) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    options.custom_flags(libc::O_NONBLOCK).open(path)
}

/// Returns the data in a pipe that has no reader. They would be lost with its last
/// descriptor.
fn unread(pipe: File) -> Vec<u8> {
    let mut end = [PollFd::new(pipe.as_fd(), PollFlags::POLLOUT)];
    let found = poll(&mut end, PollTimeout::ZERO).ok().and_then(|_| end[0].revents());
    let has_reader = !found.is_some_and(|found| found.contains(PollFlags::POLLERR));
    let mut lost = Vec::new();
    if !has_reader && let Ok(mut reader) = reopen(&pipe, File::options().read(true)) {
        // Reading ends with an error when the pipe is empty, because `pipe` could still write.
        let _ = reader.read_to_end(&mut lost);
    }
    lost
}
