//! Records on disk, written by the recorder, for the tests of exports.

use std::path::Path;

use archive::{Archive, Recorder, RecorderOutlet};
use base::{AccountId, Class, Code, Nanos, Stamp, WallTime};
use record::{
    Dispatch, End, EndKind, EventKind, Failure, Gauge, Header, Ledger, Load, Outcome, Pace,
    Request, RequestEnd, RequestWork,
};

use crate::support::{self, READ, WRITE, job};

/// Names of the jobs: one that CSV must quote, and one that a spreadsheet would read as a formula.
pub(crate) const NAMES: [&str; 2] = ["read, \"all\"", "=größe"];

/// Time zero on the clock of the lane.
const ZERO: Stamp = Stamp(7_000_000_000);

/// Length of the run.
const SECONDS: u64 = 6;

/// Writes a record of a few seconds: two jobs, one with errors of many kinds.
pub(crate) fn record(path: &Path, pace: Pace) -> Archive {
    let header = header(pace);
    let recorder = Recorder::create(path, &header).unwrap();
    let facts = recorder.facts();
    facts.setting("journal_mode", "wal \"quoted\"");
    for (length, rows) in [(400, 900), (1_400, 2_000), (1_900, 3_000)] {
        let length = Nanos::from_millis(length);
        let started = WallTime(1_795_292_103_000_000_000);
        let table = "accounts".to_owned();
        facts.load(Load { table, started, length, rows, bytes: 34 * rows });
    }
    facts.time_zero(WallTime(1_795_292_110_250_000_000));
    let ledger = Ledger::new(0, ZERO, header.grid(), &[2, 1], recorder.outlet());
    serve(ledger);
    let text = "it was \"enough\"\nfor today".to_owned();
    let end = End { at: Nanos::from_secs(SECONDS), kind: EndKind::Interrupted, text };
    recorder.finish(end).unwrap();
    Archive::open(path).unwrap()
}

fn header(pace: Pace) -> Header {
    Header {
        lanes: 1,
        warmup: Nanos::from_millis(1_500),
        duration: Some(Nanos::from_secs(SECONDS)),
        jobs: vec![
            job(NAMES[0], "open", &["select 1", "select \"a\" from t"]),
            job(NAMES[1], "closed", &["update t set a = 1"]),
        ],
        ..support::header(pace)
    }
}

/// Records forty requests a second, one after the other. Of these, number 81 takes three seconds,
/// and the last is answered after the end.
fn serve(mut ledger: Ledger<RecorderOutlet>) {
    let text = "relation \"t\" does not exist".to_owned();
    ledger.event(ZERO + Nanos::from_millis(900), Some(WRITE), EventKind::FirstError, text);
    ledger.event(ZERO + Nanos::from_secs(2), None, EventKind::OutageBegan, String::new());
    let mut slow: Option<Request> = None;
    for number in 0..40 * SECONDS {
        let at = ZERO + Nanos::from_millis(25 * number);
        let (job, statements) = if number % 4 == 0 { (WRITE, 1) } else { (READ, 2) };
        let request = ledger.arrive(job, number, at, at + Nanos::from_micros(30));
        ledger.record_gap(job, Nanos::from_millis(25));
        // The last request is answered after the schedule has ended.
        let late = if number + 1 == 40 * SECONDS { 1_000_000 } else { 0 };
        let done = at + Nanos::from_micros(400 + 70 * number + late);
        if number == 81 {
            slow = Some(request);
        } else {
            settle(&mut ledger, request, outcome(job, number), done, statements);
        }
        if let (201, Some(request)) = (number, slow.take_if(|_| number == 201)) {
            settle(&mut ledger, request, Outcome::Completed, done, 2);
        }
        if number % 40 == 39 {
            let gauge = Gauge { in_flight: 1, queued: 0, connections: 4 };
            ledger.close_interval(ZERO + Nanos::from_secs(number / 40 + 1), || vec![gauge; 2]);
        }
    }
    ledger.finish();
}

fn outcome(job: AccountId, number: u64) -> Outcome {
    let failed =
        |class, code, accepted| Outcome::Failed(Failure { class, code: Code::new(code), accepted });
    match number % 28 {
        _ if job == READ => Outcome::Completed,
        0 => failed(Class::Conflict, "40001", true),
        4 => failed(Class::Timeout, "timeout", false),
        8 => Outcome::Rejected,
        12 => Outcome::Unsent,
        16 => failed(Class::Statement, "42P01", false),
        _ => Outcome::Completed,
    }
}

fn settle(
    ledger: &mut Ledger<RecorderOutlet>,
    request: Request,
    outcome: Outcome,
    done: Stamp,
    statements: u64,
) {
    let dispatch = Dispatch {
        assigned: request.noticed() + Nanos::from_micros(5),
        sent: request.noticed() + Nanos::from_micros(9),
    };
    let part = Nanos(done.since(dispatch.sent).0 / statements);
    let parts = vec![part; statements as usize];
    let work =
        RequestWork { rows: 2, bytes_sent: 41, bytes_received: 97, ..RequestWork::default() };
    let _ = ledger.settle(
        request,
        match outcome {
            Outcome::Rejected | Outcome::Unsent => RequestEnd::without_sending(outcome, done),
            Outcome::Completed | Outcome::Failed(_) => RequestEnd {
                outcome,
                sent: Some(dispatch),
                done,
                work,
                statements: &parts,
                node: None,
            },
        },
    );
}
