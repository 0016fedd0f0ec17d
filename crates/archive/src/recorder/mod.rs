//! The recorder: one thread that writes the deliveries of the lanes to a record.
//!
//! A lane delivers through a [`RecorderOutlet`]. In real time the outlet blocks the lane only when
//! it is dropped; in virtual time every delivery may block. The thread ([`recorder_thread`]) adds
//! up the lanes ([`run_sums`]) and writes the sums: in real time in one transaction per second, in
//! virtual time in one per 64 to 1,024 seconds. Other threads add facts through [`RecordFacts`] and
//! read the latest figures through a [`LiveView`].
//!
//! The invariant: when [`Recorder::finish`] returns, the record has all deliveries that were not
//! reported as lost. After a `kill -9` in real time, it has all that the thread received at least
//! 1.5 seconds before the kill, unless a reader or a slow disk delayed the transaction. The samples
//! of bins that were open are missing.

mod barrier;
mod cache;
mod live;
mod outlet;
mod process;
mod recorder_thread;
mod run_sums;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::{fs, io};

use base::{Nanos, Secrets, WallTime};

pub use live::LiveView;
pub use outlet::RecorderOutlet;

use record::{End, Event, Excerpt, Header, InputFile, Load, OpLogReport, Pace, Reading};

use crate::error::{RecordError, RecordErrorKind};
use crate::writer::Writer;
use outlet::{ExternalFact, Lane, Message, PendingLimits, RecordHealth};
use recorder_thread::RecorderThread;

/// The number of messages that may be pending for the recorder in real time. A lane stores further
/// messages itself.
const CHANNEL_CAPACITY: usize = 32;
/// The same number in virtual time, in which a lane waits, and a message has several deliveries.
/// The small number limits the memory for pending cells: a long run needs no more than a short one.
const CHANNEL_CAPACITY_IN_VIRTUAL: usize = 1;

/// A record that is being written. If it is dropped before it is finished, the file looks like the
/// record of a killed run.
pub struct Recorder {
    path: PathBuf,
    pace: Pace,
    limits: PendingLimits,
    sender: SyncSender<Message>,
    health: Arc<RecordHealth>,
    lanes: AtomicU32,
    live: LiveView,
    thread: JoinHandle<Result<(), RecordError>>,
}

/// A handle for adding facts to the record from outside the lanes.
///
/// Adding a fact may wait for the disk, so no fact is added on the measured path. Facts that are
/// added after the record is finished or has failed are ignored.
#[derive(Clone, Debug)]
pub struct RecordFacts(SyncSender<Message>);

impl Recorder {
    /// Creates the file, which must not exist, and starts the recorder.
    ///
    /// # Errors
    /// Fails if the file exists or cannot be created, or if the thread of the recorder cannot be
    /// started.
    pub fn create(path: &Path, header: &Header) -> Result<Recorder, RecordError> {
        Recorder::start(Writer::create(path, header)?, header)
    }

    /// Starts the recorder of a file that has been created.
    pub(crate) fn start(writer: Writer, header: &Header) -> Result<Recorder, RecordError> {
        let path = writer.path().to_owned();
        let (sender, receiver) = sync_channel(match header.pace {
            Pace::Real => CHANNEL_CAPACITY,
            Pace::Virtual => CHANNEL_CAPACITY_IN_VIRTUAL,
        });
        let health = Arc::new(RecordHealth::default());
        let live = LiveView::default();
        let worker = RecorderThread::new(writer, header, Arc::clone(&health), live.clone());
        let thread = std::thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || worker.run(&receiver))
            .map_err(|error| {
                RecordError::new(&path, RecordErrorKind::CannotCreate).with_cause(error)
            })?;
        let (pace, lanes) = (header.pace, AtomicU32::new(0));
        let limits = PendingLimits::new(pace, header.jobs.len());
        Ok(Recorder { path, pace, limits, sender, health, lanes, live, thread })
    }

    /// Returns the path of the record, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the outlet of one more lane. All outlets are created before the first is used.
    pub fn outlet(&self) -> RecorderOutlet {
        let lane = Lane(self.lanes.fetch_add(1, Ordering::Relaxed));
        let (sender, health) = (self.sender.clone(), Arc::clone(&self.health));
        RecorderOutlet::open(lane, self.pace, self.limits, sender, health)
    }

    /// Returns a handle for adding facts.
    pub fn facts(&self) -> RecordFacts {
        RecordFacts(self.sender.clone())
    }

    /// Returns the view of the run's latest state, for a display.
    pub fn live(&self) -> LiveView {
        self.live.clone()
    }

    /// Returns true if the record has failed; [`Recorder::finish`] returns the reason.
    pub fn is_broken(&self) -> bool {
        self.health.is_broken()
    }

    /// Waits until every outlet has been dropped and everything is written, then writes the end of
    /// the run and its seal.
    ///
    /// # Errors
    /// Fails if the record could not be written to its end. The part before the failure is
    /// readable.
    pub fn finish(self, end: End) -> Result<PathBuf, RecordError> {
        let path = self.path.clone();
        self.end(Some(end)).map(|()| path)
    }

    /// Removes the file, for runs that end before anything is measured. Waits until every outlet
    /// has been dropped.
    ///
    /// # Errors
    /// Fails if the file exists and cannot be removed.
    pub fn discard(self) -> Result<(), RecordError> {
        let path = self.path.clone();
        // The file is removed; a failure to write it does not matter.
        let _ = self.end(None);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(RecordError::new(&path, RecordErrorKind::CannotRemove).with_cause(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn end(self, end: Option<End>) -> Result<(), RecordError> {
        // If the thread has already ended, joining it returns the reason.
        let _ = self.sender.send(Message::End(end));
        let crashed = || Err(RecordError::new(&self.path, RecordErrorKind::Crashed));
        self.thread.join().unwrap_or_else(|_| crashed())
    }
}

impl RecordFacts {
    /// Removes these secrets from later events, settings, excerpts, names of observed metrics and
    /// tables, and the text of the end: a server may repeat a secret in a message. They replace the
    /// secrets of an earlier call.
    pub fn hide(&self, secrets: Secrets) {
        self.note(ExternalFact::Hide(secrets));
    }

    /// Records the wall-clock time at which the jobs start.
    pub fn time_zero(&self, zero: WallTime) {
        self.note(ExternalFact::TimeZero(zero));
    }

    /// Records a setting of the server, or a fact about the environment. A later value replaces an
    /// earlier one.
    pub fn setting(&self, name: impl Into<String>, value: impl Into<String>) {
        self.note(ExternalFact::Setting(name.into(), value.into()));
    }

    /// Records a file that was read before the run.
    pub fn file(&self, file: InputFile) {
        self.note(ExternalFact::File(file));
    }

    /// Records an excerpt, without secrets and cut to its limits. A later one of the same subject
    /// and kind replaces an earlier one.
    pub fn excerpt(&self, excerpt: Excerpt) {
        self.note(ExternalFact::Excerpt(excerpt));
    }

    /// Records the progress of filling a table; called repeatedly and at the end of the load. The
    /// record keeps the last progress of each second.
    pub fn load(&self, load: Load) {
        self.note(ExternalFact::Load(load));
    }

    /// Records an event that was noticed outside the lanes.
    pub fn event(&self, event: Event) {
        self.note(ExternalFact::Event(event));
    }

    /// Records observations at an instant after time zero.
    pub fn readings(&self, at: Nanos, readings: Vec<Reading>) {
        self.note(ExternalFact::Readings(at, readings));
    }

    /// Records observations made while a table is filled; `at` is the time since the filling began.
    pub fn load_readings(&self, table: &str, at: Nanos, readings: Vec<Reading>) {
        self.note(ExternalFact::LoadReadings { table: table.to_owned(), at, readings });
    }

    /// Records the result of the op-log.
    pub fn op_log(&self, outcome: OpLogReport) {
        self.note(ExternalFact::OpLog(outcome));
    }

    fn note(&self, note: ExternalFact) {
        // Without the recorder's thread, the record has already failed.
        let _ = self.0.send(Message::Noted(note));
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use base::{AccountId, Nanos};

    use record::{Cell, Delivery, EndKind, Gauge, LiveState, Outlet, Tally};

    use super::*;
    use crate::reader::Archive;
    use crate::support::{TestFolder, header};

    fn gauges(interval: u32) -> Delivery {
        Delivery::Gauges { lane: 0, interval, gauges: vec![Gauge::default()] }
    }

    #[test]
    fn a_full_disk_breaks_the_record_and_leaves_what_was_written() {
        let place = TestFolder::new("full");
        let writer = Writer::create(&place.path("run.assay"), &header()).unwrap();
        let pages = "pragma page_count";
        let pages: i64 = writer.connection().query_row(pages, [], |row| row.get(0)).unwrap();
        writer.connection().pragma_update(None, "max_page_count", pages + 3).unwrap();
        let recorder = Recorder::start(writer, &header()).unwrap();
        let (mut outlet, live) = (recorder.outlet(), recorder.live());
        let mut interval = 0;
        while !outlet.is_broken() {
            let is_written = |live: Arc<LiveState>| live.interval + 1 >= interval;
            if interval == 0 || live.latest().is_some_and(is_written) {
                outlet.deliver(gauges(interval));
                interval += 1;
            }
        }
        // Deliveries to a failed recorder are returned empty: the lane can end normally.
        let mut tally = Tally::new(1);
        tally.counts.arrivals = 7;
        outlet.deliver(Delivery::Cell(Box::new(Cell { account: AccountId(0), interval, tally })));
        let returned = loop {
            if let Some(returned) = outlet.take_returned() {
                break returned;
            }
        };
        let record::Returned::Cell(cell) = returned else { panic!("{returned:?}") };
        assert!(cell.tally.is_empty());
        drop(outlet);

        let end = End { at: Nanos::ZERO, kind: EndKind::Completed, text: String::new() };
        let error = recorder.finish(end).unwrap_err();
        assert_eq!(error.kind(), &RecordErrorKind::CannotWrite);
        assert_eq!(error.source().unwrap().to_string(), "database or disk is full");
        let archive = Archive::open(error.path()).unwrap();
        let rows = archive.intervals(AccountId(0)).unwrap().len();
        assert!((10..interval as usize).contains(&rows), "{rows} of {interval}");
        let end = archive.end().unwrap();
        assert_eq!(end.kind, EndKind::RecorderFailed);
        assert_eq!(end.text, "database or disk is full");
    }

    #[test]
    fn a_run_that_is_not_finished_leaves_the_record_of_a_killed_one() {
        let place = TestFolder::new("dropped");
        let path = place.path("run.assay");
        let recorder = Recorder::create(&path, &header()).unwrap();
        let mut outlet = recorder.outlet();
        outlet.deliver(gauges(0));
        drop(outlet);
        let Recorder { sender, thread, .. } = recorder;
        drop(sender);
        thread.join().unwrap().unwrap();
        let archive = Archive::open(&path).unwrap();
        assert_eq!(archive.end(), None);
        assert_eq!(archive.intervals(AccountId(0)).unwrap().len(), 1);
    }

    #[test]
    fn crashed_recorder_is_reported() {
        let place = TestFolder::new("crashed");
        let recorder = Recorder::create(&place.path("run.assay"), &header()).unwrap();
        let mut outlet = recorder.outlet();
        let cell = Cell { account: AccountId(99), interval: 0, tally: Tally::new(0) };
        outlet.deliver(Delivery::Cell(Box::new(cell)));
        while !outlet.is_broken() {
            outlet.deliver(gauges(0));
        }
        drop(outlet);
        let end = End { at: Nanos::ZERO, kind: EndKind::Completed, text: String::new() };
        assert_eq!(recorder.finish(end).unwrap_err().kind(), &RecordErrorKind::Crashed);
    }
}
