//! Files of the rows that the statements of a job return.
//!
//! A client waits for room after its request has ended. If it gives up waiting, its rows are
//! discarded, and the file counts as failed.

use std::fs::File;
use std::io;
use std::path::Path;
use std::task::{Context, Poll};

use base::{RowMemory, Rows};
use record::Pace;

use super::csv;
use super::sink::{FileHealth, Sink, WriteResult, create};
use super::thread::{Block, PendingLimits, Spool, SpoolHandle};

/// The limits of pending data for a file: a number of blocks, and a number of bytes because single
/// answers may be very large.
pub(super) const PENDING_LIMITS: PendingLimits = PendingLimits { blocks: 64, weight: 8 << 20 };

/// A results file that is being written.
pub struct ResultsFile {
    spool: Spool<Rows>,
}

/// A client's handle to a results file. The file is closed when the last handle is dropped.
#[derive(Clone)]
pub struct ResultsHandle {
    handle: SpoolHandle<Rows>,
    pace: Pace,
    memory: RowMemory,
}

impl Block for Rows {
    fn weight(&self) -> usize {
        Rows::weight(self)
    }

    fn clear(&mut self) {
        Rows::clear(self);
    }
}

impl ResultsFile {
    /// Creates the file, or empties an existing one. A pipe is opened without waiting for its
    /// reader. `memory` holds the rows that are not written yet.
    ///
    /// # Errors
    /// Fails if the file cannot be opened, or if no thread can be started.
    pub fn create(
        path: &Path,
        pace: Pace,
        health: FileHealth,
        memory: &RowMemory,
    ) -> io::Result<(ResultsFile, ResultsHandle)> {
        ResultsFile::start(create(path)?, pace, health, memory)
    }

    /// Starts writing to an open file.
    ///
    /// # Errors
    /// Fails if no thread can be started.
    pub fn start(
        file: File,
        pace: Pace,
        health: FileHealth,
        memory: &RowMemory,
    ) -> io::Result<(ResultsFile, ResultsHandle)> {
        let sink = Sink::of_file(file, health);
        let (spool, handle) = Spool::start(sink, PENDING_LIMITS, || memory.buffer(), csv::rows)?;
        Ok((ResultsFile { spool }, ResultsHandle { handle, pace, memory: memory.clone() }))
    }

    /// Waits until every handle has been dropped and everything is written.
    ///
    /// Stops waiting if a pipe's reader does not read for about ten seconds, or if `waits`, which
    /// is called at least every 50 ms, returns false.
    pub fn finish(self, waits: impl FnMut() -> bool) -> WriteResult {
        self.spool.finish(waits)
    }
}

impl ResultsHandle {
    /// Makes an empty buffer for the rows of requests.
    pub fn buffer(&self) -> Rows {
        self.memory.buffer()
    }

    /// Hands over the rows of a request and leaves an empty buffer; returns false if there is no
    /// room.
    ///
    /// In virtual time this function blocks until there is room, because no simulated time passes
    /// while the thread writes.
    pub fn try_send(&self, rows: &mut Rows) -> bool {
        match self.pace {
            Pace::Real => self.handle.try_swap(rows),
            Pace::Virtual => {
                self.handle.swap(rows);
                true
            }
        }
    }

    /// Hands over the rows of a request; pending until there is room.
    pub fn poll_send(&self, rows: &mut Rows, context: &mut Context<'_>) -> Poll<()> {
        self.handle.poll_swap(rows, context)
    }

    /// Discards rows that were not accepted in time. The file then counts as failed.
    pub fn discard(&self, rows: &mut Rows) {
        self.handle.discard(rows);
    }
}
