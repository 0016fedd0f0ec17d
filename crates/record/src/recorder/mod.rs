//! The recorder: one thread that puts what the lanes hand over into a record.
//!
//! A lane hands over through a [`RecorderOutlet`], which never makes it wait in real time, and
//! makes it wait in virtual time. The thread ([`keeper`]) adds the lanes' parts up ([`books`]) and
//! writes them in one transaction per second. Everybody else says what there is to say through
//! [`Notes`] and looks at the [`Live`] picture.
//!
//! The invariant: what was handed over and not reported as lost is in the record when
//! [`Recorder::finish`] returns, and what was handed over a second before a `kill -9` is too.

mod books;
mod cache;
mod keeper;
mod live;
mod outlet;
mod process;
mod roll;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use base::{Nanos, Secrets, WallTime};

pub use live::{Busy, Live, LiveJob, LiveView};
pub use outlet::RecorderOutlet;

use crate::archive::{RecordError, RecordErrorKind, Writer};
use crate::delivery::Event;
use crate::facts::{End, Header, Load, Pace, Reading};
use crate::spool::OpLogTold;
use keeper::Keeper;
use outlet::{Health, Lane, Message, Note, Room};

/// How many messages may be on their way to the recorder. In real time a lane keeps what finds no
/// room; in virtual time it waits, and the number bounds the memory of a run: with few cells on the
/// way, a short run touches as much of it as the longest.
const CHANNEL: usize = 32;
const CHANNEL_IN_VIRTUAL: usize = 4;

/// A record that is being made. If it is dropped before it is finished, it looks like that of a
/// killed run.
pub struct Recorder {
    path: PathBuf,
    pace: Pace,
    room: Room,
    sender: SyncSender<Message>,
    health: Arc<Health>,
    lanes: AtomicU32,
    live: LiveView,
    thread: JoinHandle<Result<(), RecordError>>,
}

/// A hand on the record for those who are not lanes: facts that become known on the way. A note may
/// wait for the disk, so none is made on the measured path. Notes made when the record is finished
/// or has failed are forgotten.
#[derive(Clone, Debug)]
pub struct Notes(SyncSender<Message>);

impl Recorder {
    /// Creates the file, which must not exist, and starts the recorder.
    ///
    /// # Errors
    /// There is such a file already, or no record can be made at this place.
    pub fn create(path: &Path, header: &Header) -> Result<Recorder, RecordError> {
        Recorder::start(Writer::create(path, header)?, header)
    }

    /// Starts the recorder of a file that was created.
    pub(crate) fn start(writer: Writer, header: &Header) -> Result<Recorder, RecordError> {
        let path = writer.path().to_owned();
        let (sender, receiver) = sync_channel(match header.pace {
            Pace::Real => CHANNEL,
            Pace::Virtual => CHANNEL_IN_VIRTUAL,
        });
        let health = Arc::new(Health::default());
        let live = LiveView::default();
        let keeper = Keeper::new(writer, header, Arc::clone(&health), live.clone());
        let thread = std::thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || keeper.keep(&receiver))
            .map_err(|error| {
                RecordError::new(&path, RecordErrorKind::CannotCreate).because(error)
            })?;
        let (pace, lanes) = (header.pace, AtomicU32::new(0));
        let room = Room::new(pace, header.jobs.len());
        Ok(Recorder { path, pace, room, sender, health, lanes, live, thread })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The outlet of one more lane. All are made before the first of them is used.
    pub fn outlet(&self) -> RecorderOutlet {
        let lane = Lane(self.lanes.fetch_add(1, Ordering::Relaxed));
        let (sender, health) = (self.sender.clone(), Arc::clone(&self.health));
        RecorderOutlet::open(lane, self.pace, self.room, sender, health)
    }

    /// A hand for facts that become known on the way.
    pub fn notes(&self) -> Notes {
        Notes(self.sender.clone())
    }

    /// The latest picture of the run, for a display.
    pub fn live(&self) -> LiveView {
        self.live.clone()
    }

    /// Whether the record can no longer be kept; [`Recorder::finish`] says why.
    pub fn is_broken(&self) -> bool {
        self.health.is_broken()
    }

    /// Waits until every outlet has been dropped and everything is written, and marks the record as
    /// that of a run that has ended.
    ///
    /// # Errors
    /// The record could not be kept. What was written before that is readable.
    pub fn finish(self, end: End) -> Result<PathBuf, RecordError> {
        let path = self.path.clone();
        self.end(Some(end)).map(|()| path)
    }

    /// Removes the file, for runs that end before anything was measured. Waits until every outlet
    /// has been dropped.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn discard(self) -> Result<(), RecordError> {
        let path = self.path.clone();
        // It does not matter any more whether the record could be kept.
        let _ = self.end(None);
        fs::remove_file(&path)
            .map_err(|error| RecordError::new(&path, RecordErrorKind::CannotWrite).because(error))
    }

    fn end(self, end: Option<End>) -> Result<(), RecordError> {
        // If the thread has ended before its time, joining it says so.
        let _ = self.sender.send(Message::End(end));
        let crashed = || Err(RecordError::new(&self.path, RecordErrorKind::Crashed));
        self.thread.join().unwrap_or_else(|_| crashed())
    }
}

impl Notes {
    /// Removes these secrets from events, settings, names of metrics and the text of the end, from
    /// now on: a server may repeat a secret in a message.
    pub fn hide(&self, secrets: Secrets) {
        self.note(Note::Hide(secrets));
    }

    /// Everything is ready: the jobs start when the wall clock shows this.
    pub fn time_zero(&self, zero: WallTime) {
        self.note(Note::TimeZero(zero));
    }

    /// A setting of the server, or a fact about the surroundings. A later value replaces an earlier
    /// one.
    pub fn setting(&self, name: impl Into<String>, value: impl Into<String>) {
        self.note(Note::Setting(name.into(), value.into()));
    }

    /// How far a table has been filled: whenever that is known, and at its end. The record keeps
    /// the last of each second.
    pub fn load(&self, load: Load) {
        self.note(Note::Load(load));
    }

    /// Something that happened to the run, and became known beside its lanes.
    pub fn event(&self, event: Event) {
        self.note(Note::Event(event));
    }

    /// What was read at an instant after time zero of things that are watched beside the requests.
    pub fn readings(&self, at: Nanos, readings: Vec<Reading>) {
        self.note(Note::Readings(at, readings));
    }

    /// The same of a table that is being filled, so long after its filling began.
    pub fn load_readings(&self, table: &str, at: Nanos, readings: Vec<Reading>) {
        self.note(Note::LoadReadings { table: table.to_owned(), at, readings });
    }

    /// What came of the op-log.
    pub fn op_log(&self, told: OpLogTold) {
        self.note(Note::OpLog(told));
    }

    fn note(&self, note: Note) {
        // Without a thread there is no record that could say less than it should.
        let _ = self.0.send(Message::Noted(note));
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use base::Nanos;

    use super::*;
    use crate::archive::Archive;
    use crate::archive::tests::{Place, header};
    use crate::delivery::{Cell, Delivery, Gauge, JobIndex, Outlet};
    use crate::facts::EndKind;
    use crate::tally::Tally;

    fn gauges(interval: u32) -> Delivery {
        Delivery::Gauges { lane: 0, interval, gauges: vec![Gauge::default()] }
    }

    #[test]
    fn a_full_disk_breaks_the_record_and_leaves_what_was_written() {
        let place = Place::new("full");
        let writer = Writer::create(&place.path("run.assay"), &header()).unwrap();
        let pages = "pragma page_count";
        let pages: i64 = writer.connection().query_row(pages, [], |row| row.get(0)).unwrap();
        writer.connection().pragma_update(None, "max_page_count", pages + 3).unwrap();
        let recorder = Recorder::start(writer, &header()).unwrap();
        let (mut outlet, live) = (recorder.outlet(), recorder.live());
        let mut interval = 0;
        while !outlet.is_broken() {
            let is_written = |live: Arc<Live>| live.interval + 1 >= interval;
            if interval == 0 || live.latest().is_some_and(is_written) {
                outlet.deliver(gauges(interval));
                interval += 1;
            }
        }
        // What is handed over now comes back empty, so that the lane can end in peace.
        let mut tally = Tally::new(1);
        tally.counts.arrivals = 7;
        outlet.deliver(Delivery::Cell(Box::new(Cell { job: JobIndex(0), interval, tally })));
        let returned = loop {
            if let Some(returned) = outlet.returned() {
                break returned;
            }
        };
        let crate::Returned::Cell(cell) = returned else { panic!("{returned:?}") };
        assert!(cell.tally.is_empty());
        drop(outlet);

        let end = End { at: Nanos::ZERO, kind: EndKind::Completed, text: String::new() };
        let error = recorder.finish(end).unwrap_err();
        assert_eq!(error.kind(), &RecordErrorKind::CannotWrite);
        assert_eq!(error.source().unwrap().to_string(), "database or disk is full");
        let archive = Archive::open(error.path()).unwrap();
        let rows = archive.intervals(JobIndex(0)).unwrap().len();
        assert!((10..interval as usize).contains(&rows), "{rows} of {interval}");
        let end = archive.end().unwrap();
        assert_eq!(end.kind, EndKind::RecorderFailed);
        assert_eq!(end.text, "database or disk is full");
    }

    #[test]
    fn a_run_that_is_not_finished_leaves_the_record_of_a_killed_one() {
        let place = Place::new("dropped");
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
        assert_eq!(archive.intervals(JobIndex(0)).unwrap().len(), 1);
    }

    #[test]
    fn a_recorder_that_crashed_says_so() {
        let place = Place::new("crashed");
        let recorder = Recorder::create(&place.path("run.assay"), &header()).unwrap();
        let mut outlet = recorder.outlet();
        let cell = Cell { job: JobIndex(99), interval: 0, tally: Tally::new(0) };
        outlet.deliver(Delivery::Cell(Box::new(cell)));
        while !outlet.is_broken() {
            outlet.deliver(gauges(0));
        }
        drop(outlet);
        let end = End { at: Nanos::ZERO, kind: EndKind::Completed, text: String::new() };
        assert_eq!(recorder.finish(end).unwrap_err().kind(), &RecordErrorKind::Crashed);
    }
}
