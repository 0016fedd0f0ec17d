//! Files that a run writes besides its record, off the measured path.
//!
//! A [spool](thread::Spool) is a thread that writes one file. Its producers fill their own blocks,
//! and swap a full one for an empty one through a [handle](thread::SpoolHandle). The blocks
//! circulate, and their number limits the amount of pending data. A producer that finds no empty
//! block either drops its data and counts the loss ([`OpLog`] in real time) or waits ([`OpLog`] in
//! virtual time, and the results of a job).
//!
//! The lock of the queue is held only to move a block, never while data are processed or written.
//!
//! The invariants: data that were accepted and not reported as missing are in the file when the
//! spool [has finished](thread::Spool::finish); a file that cannot be written blocks no producer.

mod csv;
mod op_log;
mod results;
mod sink;
#[cfg(test)]
mod tests;
mod thread;

pub use op_log::{OpLog, OpLogError, OpLogHandle, OpLogOutlet, OpLogPlan};
pub use results::{ResultsFile, ResultsHandle};
pub use sink::{FileHealth, WriteFailure, WriteResult};
