//! The rows that the statements of a job return, in a file of their own.
//!
//! Nothing is lost: a client who finds no room waits for it, after its request has ended.

use std::fs::File;
use std::io;
use std::path::Path;
use std::task::{Context, Poll};

use base::Rows;

use super::sink::{FileHealth, Sink, Written, create};
use super::{Block, Hand, Room, Spool, csv};
use crate::facts::Pace;

/// How much may be on its way to a file: the rows of some requests, and not many times the answer
/// of one that is very large.
pub(super) const ROOM: Room = Room { blocks: 64, weight: 8 << 20 };

/// A results file that is being written.
pub struct ResultsFile {
    spool: Spool<Rows>,
}

/// A client's hand on a results file, which is closed when the last of them is gone.
#[derive(Clone)]
pub struct ResultsHand {
    hand: Hand<Rows>,
    pace: Pace,
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
    /// Creates the file, or empties one that exists. A pipe is opened without a wait for its
    /// reader.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn create(
        path: &Path,
        pace: Pace,
        health: FileHealth,
    ) -> io::Result<(ResultsFile, ResultsHand)> {
        ResultsFile::start(create(path)?, pace, health)
    }

    /// Writes to a file that was opened.
    ///
    /// # Errors
    /// The system grants no thread.
    pub fn start(
        file: File,
        pace: Pace,
        health: FileHealth,
    ) -> io::Result<(ResultsFile, ResultsHand)> {
        let sink = Sink::new(Box::new(file), health);
        let (spool, hand) = Spool::start(sink, ROOM, Rows::wanted, csv::rows)?;
        Ok((ResultsFile { spool }, ResultsHand { hand, pace }))
    }

    /// Waits until every hand has gone and everything is written, but not for a pipe whose reader
    /// takes nothing, and only while `waits` says so.
    pub fn finish(self, waits: impl FnMut() -> bool) -> Written {
        self.spool.finish(waits)
    }
}

impl ResultsHand {
    /// Hands over the rows of a request and leaves an empty buffer, if that takes no waiting. In
    /// virtual time it takes none: no time passes in which the thread writes.
    pub fn try_give(&self, rows: &mut Rows) -> bool {
        match self.pace {
            Pace::Real => self.hand.try_swap(rows),
            Pace::Virtual => {
                self.hand.swap(rows);
                true
            }
        }
    }

    /// The same for a task that waits until there is room.
    pub fn poll_give(&self, rows: &mut Rows, context: &mut Context<'_>) -> Poll<()> {
        self.hand.poll_swap(rows, context)
    }

    /// Throws rows away that were not taken in time: the file will count as failed.
    pub fn lose(&self, rows: &mut Rows) {
        self.hand.lose(rows);
    }
}
