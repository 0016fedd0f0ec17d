//! Tests of files that are slow, full, or without a reader.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use base::{AccountId, Class, Code, Field, Nanos, RowMemory, Rows, Stamp};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use record::{
    Failure, OpFormat, OpLogReport, OpRow, OpSink, Outcome, Pace, RequestTimestamps, RequestWork,
    Sample,
};

use super::op_log::{BLOCKS, ROWS};
use super::results::PENDING_LIMITS;
use super::sink::Sink;
use super::thread::{PendingLimits, Spool, SpoolHandle};
use super::*;
use crate::support::TestFolder;

/// A file in memory that blocks while its gate is closed, and has limited room.
#[derive(Clone)]
struct Disk(Arc<(Mutex<Content>, Condvar)>);

struct Content {
    bytes: Vec<u8>,
    room: usize,
    is_open: bool,
    /// True once a write was attempted.
    is_asked: bool,
}

impl Disk {
    fn new(is_open: bool, room: usize) -> Disk {
        let content = Content { bytes: Vec::new(), room, is_open, is_asked: false };
        Disk(Arc::new((Mutex::new(content), Condvar::new())))
    }

    fn open(&self) {
        self.0.0.lock().unwrap().is_open = true;
        self.0.1.notify_all();
    }

    /// Waits until the thread of the file is blocked by the closed gate.
    fn wait_until_asked(&self) {
        let content = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(content, |content| !content.is_asked).unwrap());
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.0.lock().unwrap().bytes.clone()).unwrap()
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut content = self.0.0.lock().unwrap();
        content.is_asked = true;
        self.0.1.notify_all();
        let mut content = self.0.1.wait_while(content, |content| !content.is_open).unwrap();
        let length = bytes.len().min(content.room - content.bytes.len());
        content.bytes.extend_from_slice(&bytes[..length]);
        match length {
            0 => Err(ErrorKind::StorageFull.into()),
            length => Ok(length),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const ZERO: Stamp = Stamp(5_000_000);

fn row(number: u64, outcome: Outcome, sent: bool) -> OpRow {
    let at = |micros: u64| Stamp(ZERO.0 + 1_000_000 * number + 1_000 * micros + 7);
    let timestamps = RequestTimestamps {
        intended: at(0),
        noticed: at(1),
        assigned: at(2),
        sent: at(3),
        done: at(1_500),
    };
    let work = RequestWork { rows: 2, bytes_sent: 3, bytes_received: 4, retries: 1, busy_waits: 9 };
    let failed = u32::from(matches!(outcome, Outcome::Failed(_)));
    let sample = Sample { timestamps, sent, outcome, work };
    OpRow { account: AccountId(0), number, sample, failed }
}

fn op_log(disk: &Disk, format: OpFormat, pace: Pace) -> OpLog {
    op_log_of("a,b", disk, format, pace)
}

fn op_log_of(account: &str, disk: &Disk, format: OpFormat, pace: Pace) -> OpLog {
    let plan = OpLogPlan { path: "ops.csv".into(), format };
    let sink = Sink::new(Box::new(disk.clone()), FileHealth::default());
    OpLog::start(sink, &plan, &[account], pace).unwrap()
}

/// Adds some requests on a lane, and ends the lane.
fn note(log: &OpLog, rows: impl IntoIterator<Item = OpRow>) {
    let mut lane = log.lane(3);
    lane.begin(ZERO);
    rows.into_iter().for_each(|row| lane.push(&row));
}

fn outcomes() -> Vec<OpRow> {
    let failure =
        |class, code, accepted| Outcome::Failed(Failure { class, code: Code::new(code), accepted });
    vec![
        row(0, Outcome::Completed, true),
        row(1, failure(Class::Timeout, "timeout", false), true),
        OpRow { failed: 3, ..row(2, failure(Class::Conflict, "40001", true), true) },
        row(3, failure(Class::Disconnect, "disconnect", false), false),
        row(4, Outcome::Rejected, false),
        row(5, Outcome::Unsent, false),
    ]
}

fn check_format(format: OpFormat, expected: &str) {
    let disk = Disk::new(true, usize::MAX);
    let log = op_log(&disk, format, Pace::Real);
    note(&log, outcomes());
    let rows = log.finish(|| true);
    assert_eq!(disk.text(), expected);
    let lines = expected.lines().filter(|line| line.starts_with('"')).count() as u64;
    assert_eq!(rows, OpLogReport { format, rows: lines, dropped: 0, failure: None });
}

#[test]
fn every_request_has_a_line() {
    check_format(
        OpFormat::Csv,
        "job,number,intended_us,noticed_us,assigned_us,sent_us,done_us,outcome,code,retries,rows,\
         bytes_sent,bytes_received,lane\n\
         \"a,b\",0,0.007,1.007,2.007,3.007,1500.007,completed,,1,2,3,4,3\n\
         \"a,b\",1,1000.007,1001.007,1002.007,1003.007,2500.007,timeout,timeout,1,2,3,4,3\n\
         \"a,b\",2,2000.007,2001.007,2002.007,2003.007,3500.007,accepted-error,40001,1,2,3,4,3\n\
         \"a,b\",3,3000.007,3001.007,,,4500.007,error,disconnect,1,2,3,4,3\n\
         \"a,b\",4,4000.007,4001.007,,,5500.007,rejected,,1,2,3,4,3\n\
         \"a,b\",5,5000.007,5001.007,,,6500.007,unsent,,1,2,3,4,3\n",
    );
}

#[test]
fn dbbench_has_five_columns_for_each_query_that_was_made() {
    check_format(
        OpFormat::DbbenchStats,
        "\"a,b\",0,1500,2,0\n\"a,b\",1000,1500,2,1\n\"a,b\",2000,1500,2,3\n\"a,b\",3000,1500,2,1\n",
    );
}

#[test]
fn job_that_begins_like_a_formula_has_an_apostrophe_except_for_dbbench() {
    for (format, expected) in [(OpFormat::Csv, "'=cmd|calc"), (OpFormat::DbbenchStats, "=cmd|calc")]
    {
        let disk = Disk::new(true, usize::MAX);
        let log = op_log_of("=cmd|calc", &disk, format, Pace::Real);
        note(&log, outcomes());
        log.finish(|| true);
        let text = disk.text();
        let last = text.lines().last().unwrap();
        assert_eq!(last.split(',').next(), Some(expected), "{format:?}");
    }
}

/// While the file blocks, only as many rows are accepted as the blocks hold. The others are dropped
/// and counted.
#[test]
fn slow_writer_drops_and_counts_rows() {
    let disk = Disk::new(false, usize::MAX);
    let log = op_log(&disk, OpFormat::Csv, Pace::Real);
    let mut lane = log.lane(0);
    let room = ((BLOCKS + 1) * ROWS) as u64;
    let rows = room + 5_000;
    (0..rows).for_each(|number| lane.push(&row(number, Outcome::Completed, true)));
    disk.open();
    drop(lane);
    let result = log.finish(|| true);
    assert_eq!(
        result,
        OpLogReport { format: OpFormat::Csv, rows: room, dropped: 5_000, failure: None }
    );
    assert_eq!(disk.text().lines().count() as u64, 1 + room);
    let loss = result.loss().unwrap();
    assert!(loss.starts_with("5,000 of 268,168 requests are missing in the op-log"), "{loss}");
}

#[test]
fn lane_ends_while_the_writer_is_blocked_and_missing_rows_are_counted() {
    let disk = Disk::new(false, usize::MAX);
    let log = op_log(&disk, OpFormat::DbbenchStats, Pace::Real);
    let rows = (300 * ROWS) as u64;
    note(&log, (0..rows).map(|number| row(number, Outcome::Completed, true)));
    note(&log, outcomes());
    let result = log.finish(|| false);
    // Rejected and unsent requests have no line in this format.
    assert_eq!((result.rows, result.dropped), (0, rows + 4));
    let loss = result.loss().unwrap();
    assert!(loss.contains("its reader did not accept the data in time"), "{loss}");
    disk.open();
}

#[test]
fn rows_left_in_a_pipe_without_a_reader_count_as_missing() {
    let place = TestFolder::new("pipe");
    let path = place.path("pipe");
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    let write = || {
        let plan = OpLogPlan { path: path.clone(), format: OpFormat::DbbenchStats };
        let log = OpLog::create(&plan, &["a"], Pace::Real).unwrap();
        note(&log, outcomes());
        log.finish(|| true)
    };
    let result = write();
    assert_eq!((result.rows, result.dropped), (0, 4));
    let loss = result.loss().unwrap();
    assert!(loss.ends_with("no reader took the last rows after 0 bytes"), "{loss}");
    // A pipe opened for both does not wait for its other end, and is a reader.
    let mut reader = File::options().read(true).write(true).open(&path).unwrap();
    let format = OpFormat::DbbenchStats;
    assert_eq!(write(), OpLogReport { format, rows: 4, dropped: 0, failure: None });
    let mut first = [0; 8];
    reader.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"a,0,1500");
}

#[test]
fn in_virtual_time_a_lane_waits_for_a_slow_writer() {
    let disk = Disk::new(false, usize::MAX);
    let log = op_log(&disk, OpFormat::DbbenchStats, Pace::Virtual);
    let rows = ((BLOCKS + 3) * ROWS) as u64;
    std::thread::scope(|scope| {
        scope.spawn(|| note(&log, (0..rows).map(|number| row(number, Outcome::Completed, true))));
        disk.open();
    });
    assert_eq!(
        log.finish(|| true),
        OpLogReport { format: OpFormat::DbbenchStats, rows, dropped: 0, failure: None }
    );
}

#[test]
fn rows_refused_by_a_full_disk_count_as_dropped() {
    let disk = Disk::new(true, 100_000);
    let log = op_log(&disk, OpFormat::DbbenchStats, Pace::Real);
    note(&log, (0..10_000).map(|number| row(number, Outcome::Completed, true)));
    let result = log.finish(|| true);
    let whole = disk.text().matches('\n').count() as u64;
    assert_eq!((result.rows, result.dropped), (whole, 10_000 - whole));
    let loss = result.loss().unwrap();
    assert!(loss.contains("missing in the file of --query-stats-file"), "{loss}");
    assert!(loss.contains("no longer be written: no storage space after 100000 bytes"), "{loss}");
}

fn rows(text: &str) -> Rows {
    let mut rows = RowMemory::default().buffer();
    rows.push(Field::Bytes(text.as_bytes()));
    rows.end_row();
    rows
}

fn results(disk: &Disk, health: &FileHealth) -> (Spool<Rows>, SpoolHandle<Rows>) {
    let sink = Sink::new(Box::new(disk.clone()), health.clone());
    Spool::start(sink, PENDING_LIMITS, || RowMemory::default().buffer(), csv::rows).unwrap()
}

struct WakeSignal(SyncSender<()>);

impl Wake for WakeSignal {
    fn wake(self: Arc<Self>) {
        let _ = self.0.try_send(());
    }
}

/// A producer that waits for room is woken when there is some, and the data arrive in order.
#[test]
fn waiting_producer_is_woken_and_loses_no_rows() {
    let (disk, health) = (Disk::new(false, usize::MAX), FileHealth::default());
    let (spool, handle) = results(&disk, &health);
    let (bell, wakeups) = sync_channel(1);
    let waker = Waker::from(Arc::new(WakeSignal(bell)));
    let mut context = Context::from_waker(&waker);
    assert!(handle.try_swap(&mut rows("0")));
    disk.wait_until_asked();
    let mut given = 1;
    loop {
        let mut next = rows(&given.to_string());
        if handle.poll_swap(&mut next, &mut context).is_pending() {
            assert!(!handle.try_swap(&mut next), "there is no room");
            break;
        }
        assert!(next.is_empty());
        given += 1;
    }
    assert_eq!(given, 1 + PENDING_LIMITS.blocks);
    disk.open();
    wakeups.recv_timeout(Duration::from_secs(60)).unwrap();
    let mut last = rows("last");
    while handle.poll_swap(&mut last, &mut context) == Poll::Pending {
        wakeups.recv_timeout(Duration::from_secs(60)).unwrap();
    }
    drop(handle);
    let written = spool.finish(|| true);
    assert!(written.failure.is_none() && !health.is_broken());
    let expected: String = (0..given).map(|number| format!("{number}\n")).collect();
    assert_eq!(disk.text(), format!("{expected}last\n"));
    assert_eq!((written.lines, written.bytes), (66, disk.text().len() as u64));
}

/// Very large answers are not accumulated: above the byte limit, producers wait.
#[test]
fn spool_limits_the_weight_of_its_blocks() {
    let disk = Disk::new(false, usize::MAX);
    let (spool, handle) = results(&disk, &FileHealth::default());
    let large = "x".repeat(PENDING_LIMITS.weight + 1);
    // The thread is blocked by the closed gate with the first block.
    assert!(handle.try_swap(&mut rows(&large)));
    assert!(!handle.try_swap(&mut rows("more")));
    for _ in 0..2 * PENDING_LIMITS.blocks {
        let mut context = Context::from_waker(Waker::noop());
        assert!(handle.poll_swap(&mut rows("more"), &mut context).is_pending());
    }
    let empty = handle.empty_blocks();
    assert_eq!(empty, PENDING_LIMITS.blocks - 1, "asking costs no block");
    disk.open();
    handle.swap(&mut rows("more"));
    drop(handle);
    assert_eq!(spool.finish(|| true).lines, 2);
}

/// A long value is written in pieces: the output does not keep a copy of the whole value.
#[test]
fn output_of_a_long_value_stays_small() {
    for (letter, written) in [("x", "x"), ("\"", "\"\"")] {
        let disk = Disk::new(true, usize::MAX);
        let mut sink = Sink::new(Box::new(disk.clone()), FileHealth::default());
        let before = sink.buffer().capacity();
        csv::rows(&rows(&letter.repeat(1 << 20)), &mut sink);
        assert_eq!(sink.buffer().capacity(), before);
        assert!(sink.finish().failure.is_none());
        let text = disk.text();
        assert_eq!(text.trim_matches(['\n', 'x', '"']), "");
        assert_eq!(text.matches(written).count(), (1 << 20) + usize::from(letter == "\""));
    }
}

#[test]
fn failed_file_reports_and_does_not_block() {
    let (disk, health) = (Disk::new(true, 5), FileHealth::default());
    let (spool, handle) = results(&disk, &health);
    for _ in 0..4 * PENDING_LIMITS.blocks {
        handle.swap(&mut rows("12"));
    }
    drop(handle);
    let written = spool.finish(|| true);
    assert_eq!((written.lines, written.bytes), (1, 5));
    let failure = written.failure.unwrap();
    assert_eq!(failure.cause.kind(), ErrorKind::StorageFull);
    assert!(failure.at.is_some() && health.is_broken());
}

#[test]
fn finish_gives_up_on_a_stalled_file() {
    let disk = Disk::new(false, usize::MAX);
    let (spool, handle) = results(&disk, &FileHealth::default());
    handle.swap(&mut rows("1"));
    drop(handle);
    let mut looks = 3;
    let written = spool.finish(|| {
        looks -= 1;
        looks > 0
    });
    assert_eq!(written.failure.unwrap().cause.kind(), ErrorKind::TimedOut);
    disk.open();
}

#[test]
fn lost_rows_mark_a_complete_file_as_failed() {
    let disk = Disk::new(true, usize::MAX);
    let (spool, handle) = results(&disk, &FileHealth::default());
    handle.discard(&mut rows("1"));
    drop(handle);
    assert_eq!(spool.finish(|| true).failure.unwrap().cause.kind(), ErrorKind::TimedOut);
}

#[test]
fn returned_blocks_are_progress_of_a_file() {
    const BLOCKS: u32 = 300;
    let (polls, mut appended) = (Arc::new(AtomicU32::new(0)), 0);
    let seen = Arc::clone(&polls);
    // Each block is returned while `finish` waits, and writes no byte.
    let append = move |_: &Rows, _: &mut Sink| {
        appended += 1;
        while seen.load(Ordering::Relaxed) < appended {
            std::thread::yield_now();
        }
    };
    let sink = Sink::new(Box::new(Disk::new(true, usize::MAX)), FileHealth::default());
    let room = PendingLimits { blocks: BLOCKS as usize, weight: usize::MAX };
    let make = || RowMemory::default().buffer();
    let (spool, handle) = Spool::start(sink, room, make, append).unwrap();
    (0..BLOCKS).for_each(|_| handle.swap(&mut rows("1")));
    drop(handle);
    let written = spool.finish(|| {
        polls.fetch_add(1, Ordering::Relaxed);
        true
    });
    assert!(written.failure.is_none(), "{written:?}");
}

#[test]
fn panicking_writer_reports_its_failure() {
    let sink = Sink::new(Box::new(Disk::new(true, usize::MAX)), FileHealth::default());
    let broken = |_: &Rows, _: &mut Sink| panic!("on purpose");
    let make = || RowMemory::default().buffer();
    let (spool, handle) = Spool::start(sink, PENDING_LIMITS, make, broken).unwrap();
    for _ in 0..4 * PENDING_LIMITS.blocks {
        handle.swap(&mut rows("1"));
    }
    drop(handle);
    let failure = spool.finish(|| true).failure.unwrap();
    assert_eq!(failure.cause.to_string(), "the writer thread panicked");
}

#[test]
fn times_are_written_to_the_nanosecond() {
    let mut out = Vec::new();
    for nanos in [0, 1, 999, 1_000, 1_234_567] {
        op_log::write_micros(Nanos(nanos), &mut out);
        out.push(b' ');
    }
    assert_eq!(String::from_utf8(out).unwrap(), "0.000 0.001 0.999 1.000 1234.567 ");
}
