//! What the answer of a run says to people.

use base::{Class, Code, Nanos};
use record::{Balance, EndKind, Event, EventKind, JobIndex, Kind};
use report::{Style, View, text};

use crate::support::{Case, Traffic, check as compare, histogram};

pub(crate) const OPEN: &str = "
duration = 60s
warmup = 10s
[read]
query = select balance from accounts where id = ${uniform(1, 100000)}
rate = 300
slo = p99 < 30ms
";

fn check(name: &str, view: &View) {
    let text = text(view, &Style::PLAIN);
    for line in text.lines().filter(|line| !line.contains("assay")) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    compare(&format!("{name}.txt"), &text);
}

#[test]
fn a_valid_run_of_an_open_job() {
    check("open", &Case::new(OPEN).serving(0, Traffic::of(300)).view());
}

const CLOSED: &str = "
duration = 30s
[transfer]
let = a: uniform(1, 1000)
transaction = yes
query = update accounts set balance = balance - 1 where id = ${a}
query = update accounts set balance = balance + 1 where id = ${a + 1}
concurrency = 4
think = exp(20ms)
error = 40001
retry = 3 on 40001
";

#[test]
fn a_closed_job_with_errors_and_two_statements() {
    let mut case = Case::new(CLOSED).serving(0, Traffic { connections: 4, ..Traffic::of(120) });
    let job = &mut case.evidence.jobs[0];
    let counts = &mut job.intervals[7].counts;
    counts.balance = Balance::of(114, 6, 0, 0);
    (counts.timeouts, counts.accepted_errors, counts.retries, counts.busy_waits) =
        (1, 4, 13, 1_204);
    job.failures = vec![
        (Class::Conflict, Code::new("40001"), 4),
        (Class::Timeout, Code::TIMEOUT, 1),
        (Class::Statement, Code::new("42P01"), 1),
    ];
    job.window[4].1 = histogram(Kind::Error, (1..=5).map(Nanos::from_millis));
    let text = "relation \"accounts\"\ndoes not exist".to_owned();
    let at = Nanos::from_millis(7_250);
    let job = Some(JobIndex(0));
    case.evidence.events.push(Event { at, job, kind: EventKind::FirstError, text });
    check("closed", &case.view());
}

const MIXED: &str = "
duration = 60s
[insert]
query = insert into t (value) values (${uniform(0, 1000)})
rate = 100
slo = p99 < 5ms, failed < 0.1%
[clean-up]
query = delete from t where insert_date < now() - interval 1 hour
every = 10s
[count]
query = select count(*) from t where value between 900 and 1000
concurrency = 8
slo = throughput > 100
";

#[test]
fn three_jobs_of_which_one_missed_its_slo() {
    let slow = [Nanos::from_millis(60), Nanos::from_millis(15)];
    let mut case = Case::new(MIXED)
        .serving(0, Traffic { connections: 4, ..Traffic::of(100) })
        .serving(2, Traffic { connections: 8, service: slow, ..Traffic::of(110) });
    let clean_up = &mut case.evidence.jobs[1];
    for second in 0..60 {
        let mut interval = analyze::Interval::default();
        interval.gauge.connections = 1;
        if second % 10 == 0 && second > 0 {
            interval.counts.arrivals = 1;
            interval.counts.balance = Balance::of(1, 0, 0, 0);
            interval.counts.rows = 36_000;
            (interval.ends.completed, interval.ends.rows) = (1, 36_000);
        }
        clean_up.intervals.push(interval);
    }
    let times = || [812, 790, 1_034, 822, 845].map(Nanos::from_millis);
    clean_up.window[0].1 = histogram(Kind::Response, times());
    clean_up.window[1].1 = histogram(Kind::Service, times());
    clean_up.window[2].1 = histogram(Kind::Wait, [Nanos::ZERO; 5]);
    clean_up.window[3].1 = histogram(Kind::SendLag, [Nanos::from_micros(31); 5]);
    check("mixed", &case.view());
}

#[test]
fn a_run_whose_requests_were_sent_late_is_suspect() {
    let lag = Nanos::from_micros(60);
    let mut case = Case::new(OPEN).serving(0, Traffic { lag, ..Traffic::of(300) });
    let text = "12 connections are the limit: too many connections (53300)".to_owned();
    let at = Nanos::from_millis(1_500);
    let job = Some(JobIndex(0));
    case.evidence.events.push(Event { at, job, kind: EventKind::ConnectionLimit, text });
    check("suspect", &case.view());
}

#[test]
fn an_invalid_run_says_so_before_any_number() {
    let lag = Nanos::from_millis(3);
    let view = Case::new(OPEN).serving(0, Traffic { lag, ..Traffic::of(300) }).view();
    check("invalid", &view);
    let text = text(&view, &Style::PLAIN);
    assert_eq!(text.lines().next(), Some("INVALID"));
}

const QUEUE: &str = "
duration = 60s
[arrivals]
query = select 1
rate = 3000
concurrency = 16
queue-limit = 100000
slo = p99 < 30ms
";

#[test]
fn a_run_beyond_the_capacity_withholds_what_would_mislead() {
    let traffic = Traffic {
        served_per_s: 2_400,
        wait: Nanos::from_secs(4),
        service: [Nanos::from_millis(4), Nanos::from_millis(2)],
        ..Traffic::of(3_000)
    };
    let view = Case::new(QUEUE).serving(0, traffic).view();
    assert!(view.summary.jobs[0].exceeds_capacity);
    check("exceeds", &view);
}

#[test]
fn an_interrupted_run_says_so_first() {
    let case = Case::new(OPEN).ended(Some(EndKind::Interrupted), 24, "");
    check("interrupted", &case.serving(0, Traffic::of(300)).view());
}

#[test]
fn a_killed_run_says_so_first() {
    let case = Case::new(OPEN).ended(None, 24, "");
    check("killed", &case.serving(0, Traffic::of(300)).view());
}

#[test]
fn a_lost_target_says_so_first() {
    let why = "the target refuses connections";
    let case = Case::new(OPEN).ended(Some(EndKind::TargetLost), 24, why);
    check("lost", &case.serving(0, Traffic::of(300)).view());
}

const LOADS: &str = "
[load accounts]
rows = 100000
columns = id: row(), owner: text(12, 40)
[load orders]
rows = 3
columns = id: row()
";

#[test]
fn a_run_that_only_loads_prints_loads() {
    check("loads", &loads().view());
}

/// Two tables that were filled, one of them in no time.
pub(crate) fn loads() -> Case {
    let mut case = Case::new(LOADS).ended(Some(EndKind::Completed), 0, "");
    let point = |second: u64, rows| analyze::LoadPoint {
        rows,
        at: Nanos::from_secs(second),
        client_cpu: Some(Nanos::from_millis(310 * second)),
    };
    let load = |table: &str, rows, took, points| analyze::LoadEvidence {
        table: table.to_owned(),
        rows,
        bytes: rows * 34,
        took,
        points,
    };
    let points = vec![point(1, 36_000), point(2, 69_000), point(3, 96_000)];
    case.evidence.loads = vec![
        load("accounts", 100_000, Nanos::from_millis(3_140), points),
        load("orders", 3, Nanos::ZERO, Vec::new()),
    ];
    case
}

#[test]
fn virtual_time_is_called_that() {
    let case = Case::new(OPEN).virtually();
    check("virtual", &case.serving(0, Traffic::of(300)).view());
}

#[test]
fn an_empty_window_is_no_result() {
    check("empty", &Case::new(OPEN).ended(Some(EndKind::Interrupted), 4, "").view());
}

#[test]
fn colours_mark_the_verdict_and_change_no_word() {
    let view = Case::new(OPEN).serving(0, Traffic::of(300)).view();
    let coloured = text(&view, &Style { color: true, ..Style::PLAIN });
    assert!(coloured.contains("\x1b[1;32mVALID\x1b[0m: 9 checks passed\n"), "{coloured}");
    let mut parts = coloured.split("\x1b[");
    let mut plain = parts.next().unwrap().to_owned();
    parts.for_each(|part| plain.push_str(part.split_once('m').unwrap().1));
    assert_eq!(plain, text(&view, &Style::PLAIN));
}
