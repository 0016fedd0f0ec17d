//! The runs of the tests: one of each kind that reports distinguish.

use base::{AccountId, Class, Code, Nanos};
use record::{Balance, EndKind, Event, EventError, EventKind, Kind};
use report::View;

use crate::support::{Case, Traffic, histogram};

/// Returns every run, by the name of its snapshot.
pub(crate) fn all() -> Vec<(&'static str, View)> {
    let cases = [
        ("open", open()),
        ("closed", closed()),
        ("limited", limited()),
        ("unknown", unknown()),
        ("mixed", mixed()),
        ("beside", intermittent()),
        ("suspect", suspect()),
        ("invalid", invalid()),
        ("exceeds", exceeds()),
        ("interrupted", interrupted()),
        ("killed", killed()),
        ("lost", lost()),
        ("loads", loads()),
        ("partial-load", partial_load()),
        ("virtual", virtual_time()),
        ("empty", empty()),
    ];
    cases.into_iter().map(|(name, case)| (name, case.view())).collect()
}

const OPEN: &str = "
duration = 60s
warmup = 10s
[read]
query = select balance from accounts where id = ${uniform(1, 100000)}
rate = 300
arrival = uniform
slo = p99 < 30ms
";

/// Returns a valid run of one open job.
pub(crate) fn open() -> Case {
    Case::new(OPEN).serving(0, Traffic::of(300))
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
slo = p99 < 30ms, failed < 0.1%
";

/// Returns a run of a closed job with errors and two statements.
pub(crate) fn closed() -> Case {
    let mut case = Case::new(CLOSED).serving(0, Traffic { connections: 4, ..Traffic::of(120) });
    let job = &mut case.evidence.jobs[0];
    let counts = &mut job.steps[7].counts;
    counts.balance = Balance::of(114, 6, 0, 0);
    (counts.timeouts, counts.accepted_errors, counts.retries, counts.busy_waits) =
        (1, 4, 13, 1_204);
    job.failures = vec![
        (Class::Conflict, Code::new("40001"), 4),
        (Class::Timeout, Code::TIMEOUT, 1),
        (Class::Statement, Code::new("42P01"), 1),
    ];
    job.window[4].1 = histogram(Kind::Error, (1..=5).map(Nanos::from_millis));
    let text = "relation \"accounts\"\ndoes not exist (42P01)".to_owned();
    let at = Nanos::from_millis(7_250);
    let (job, kind) = (Some(AccountId(0)), EventKind::FirstError);
    let error = Some(EventError { class: Class::Statement, code: Code::new("42P01") });
    case.evidence.events.push(Event { at, account: job, kind, error, text });
    case
}

const LIMITED: &str = "
duration = 30s
[pay]
query = update acct set v = v + 1 where id = 1
concurrency = 8
";

/// Returns a run of a closed job with an observed server: most sessions wait for locks, many for
/// flushes.
pub(crate) fn limited() -> Case {
    let traffic = Traffic { connections: 8, ..Traffic::of(4_000) };
    let mut case = Case::new(LIMITED).serving(0, traffic).at(analyze::DatabaseLocation::ThisHost);
    for (component, metric, per_s) in [
        ("server", "user", 0.2),
        ("server", "system", 0.1),
        ("generator", "observing", 0.008),
        ("sessions", "looks", 10.0),
        ("sessions", "active", 76.0),
        ("sessions", "idle", 4.0),
        ("waits", "Lock:transactionid", 42.0),
        ("waits", "IO:WalSync", 33.0),
        ("waits", "cpu", 1.0),
        ("locks", "acct", 42.0),
        ("statements", "update acct set v = v + ? where id = ?", 42.0),
    ] {
        case.grow(component, metric, per_s);
    }
    let why = "user `ann` sees nothing of the server's own processes; grant pg_monitor to ann";
    case.evidence.unseen.push(("background".to_owned(), why.to_owned()));
    case.evidence.unseen.push(("host frequency".to_owned(), "the system has none".to_owned()));
    case
}

/// Returns the run of [`limited`], but without a saturated component: sessions seem to run but are
/// not on a processor, while other programs use a part of the processors.
pub(crate) fn unknown() -> Case {
    let mut case = limited();
    case.evidence.observed.retain(|it| !["waits", "locks"].contains(&it.component.as_str()));
    for (component, metric, per_s) in [
        ("waits", "cpu", 76.0),
        ("host", "processors", 2.0),
        ("host", "busy", 0.8),
        ("host", "other-programs", 0.4),
        ("program cc1plus", "used", 0.3),
        ("program \u{1b}[2J", "used", 0.1),
        ("disk vda", "busy", 0.03),
    ] {
        case.grow(component, metric, per_s);
    }
    case
}

const MIXED: &str = "
duration = 60s
[insert]
query = insert into t (value) values (${uniform(0, 1000)})
rate = 100
arrival = uniform
slo = p99 < 5ms, failed < 0.1%
[clean-up]
query = delete from t where insert_date < now() - interval 1 hour
every = 10s
[count]
query = select count(*) from t where value between 900 and 1000
concurrency = 8
slo = throughput > 100
";

/// Returns a run of three jobs, one of which missed its SLO.
pub(crate) fn mixed() -> Case {
    let slow = [Nanos::from_millis(60), Nanos::from_millis(15)];
    let mut case = Case::new(MIXED)
        .serving(0, Traffic { connections: 4, ..Traffic::of(100) })
        .serving(2, Traffic { connections: 8, service: slow, ..Traffic::of(110) });
    let clean_up = &mut case.evidence.jobs[1];
    for second in 0..60 {
        let mut step = analyze::Step { connections: Some(1), ..Default::default() };
        if second % 10 == 0 && second > 0 {
            step.counts.arrivals = 1;
            step.counts.balance = Balance::of(1, 0, 0, 0);
            step.counts.rows = 36_000;
            (step.ends.completed, step.ends.rows) = (1, 36_000);
        }
        clean_up.steps.push(step);
    }
    let times = || [812, 790, 1_034, 822, 845].map(Nanos::from_millis);
    clean_up.window[0].1 = histogram(Kind::Response, times());
    clean_up.window[1].1 = histogram(Kind::Service, times());
    clean_up.window[2].1 = histogram(Kind::Wait, [Nanos::ZERO; 5]);
    clean_up.window[3].1 = histogram(Kind::SendLag, [Nanos::from_micros(31); 5]);
    case
}

const INTERMITTENT: &str = "
duration = 60s
[read]
query = select 1
rate = 100
arrival = uniform
[count]
query = select count(*) from t
concurrency = 8
think = 154ms
[clean-up]
query = delete from t where insert_date < now() - interval 1 hour
count = 1
start = 20s
";

/// Returns a run with a clean-up from 20 s to 40 s, during which one of two other jobs is slower.
pub(crate) fn intermittent() -> Case {
    let slow = [Nanos::from_millis(2), Nanos::from_millis(3)];
    let read = |second| match second {
        20..40 => Traffic { service: slow, ..Traffic::of(100) },
        _ => Traffic::of(100),
    };
    let mut case = Case::new(INTERMITTENT)
        .serving_by_second(0, read)
        .serving(1, Traffic { connections: 8, ..Traffic::of(50) });
    let clean_up = &mut case.evidence.jobs[2];
    clean_up.steps = vec![analyze::Step::default(); 60];
    clean_up.steps[20].counts.arrivals = 1;
    clean_up.steps[20].counts.balance = Balance::of(1, 0, 0, 0);
    clean_up.steps[39].ends.completed = 1;
    clean_up.window[0].1 = histogram(Kind::Response, [Nanos::from_millis(19_400)]);
    case
}

/// Returns a run whose server accepts fewer connections than configured.
pub(crate) fn suspect() -> Case {
    let lag = Nanos::from_micros(60);
    let mut case = Case::new(OPEN).serving(0, Traffic { lag, ..Traffic::of(300) });
    let text = "12 connections are the limit: too many connections (53300)".to_owned();
    let at = Nanos::from_millis(1_500);
    let job = Some(AccountId(0));
    case.evidence.events.push(Event {
        at,
        account: job,
        kind: EventKind::ConnectionLimit,
        error: None,
        text,
    });
    case
}

/// Returns a run whose requests were so late that the numbers say nothing about the database.
pub(crate) fn invalid() -> Case {
    let lag = Nanos::from_millis(3);
    Case::new(OPEN).serving(0, Traffic { lag, ..Traffic::of(300) })
}

const QUEUE: &str = "
duration = 60s
[arrivals]
query = select 1
rate = 3000
arrival = uniform
concurrency = 16
queue-limit = 100000
slo = p99 < 30ms
";

/// Returns a run in which requests arrive faster than they are answered.
pub(crate) fn exceeds() -> Case {
    let traffic = Traffic {
        served_per_s: 2_400,
        wait: Nanos::from_secs(4),
        service: [Nanos::from_millis(4), Nanos::from_millis(2)],
        ..Traffic::of(3_000)
    };
    Case::new(QUEUE).serving(0, traffic)
}

/// Returns a run that the user ended.
pub(crate) fn interrupted() -> Case {
    Case::new(OPEN).ended(Some(EndKind::Interrupted), 24, "").serving(0, Traffic::of(300))
}

/// Returns a killed run, whose record is complete up to some second.
pub(crate) fn killed() -> Case {
    Case::new(OPEN).ended(None, 24, "").serving(0, Traffic::of(300))
}

/// Returns a run whose target went away and did not come back.
pub(crate) fn lost() -> Case {
    let why = "the target refuses connections";
    Case::new(OPEN).ended(Some(EndKind::TargetLost), 24, why).serving(0, Traffic::of(300))
}

const LOADS: &str = "
[load accounts]
rows = 100000
columns = id: row(), owner: text(12, 40)
[load orders]
rows = 3
columns = id: row()
";

/// Returns a run that only fills tables.
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
        observed: Vec::new(),
        unseen: Vec::new(),
        fallback: None,
    };
    let points = vec![point(1, 36_000), point(2, 69_000), point(3, 95_000)];
    let grows = |component: &str, metric: &str, per_s: f64| analyze::Observed {
        component: component.to_owned(),
        metric: metric.to_owned(),
        points: (0..=3).map(|s| (Nanos::from_secs(s), per_s * s as f64)).collect(),
        ranges: Vec::new(),
    };
    case.evidence.loads = vec![
        load("accounts", 100_000, Nanos::from_millis(3_140), points),
        load("orders", 3, Nanos::ZERO, Vec::new()),
    ];
    case.evidence.loads[0].observed = vec![
        grows("generator", "user", 0.9),
        grows("generator", "system", 0.05),
        grows("server", "user", 0.3),
        grows("server", "system", 0.1),
    ];
    case.evidence.loads[0].unseen = vec![
        ("sessions".to_owned(), "the user may not see those of others".to_owned()),
        ("disk sda".to_owned(), "it is not reported".to_owned()),
    ];
    case.evidence.loads[1].fallback = Some(
        "Loading local data is disabled; `set global local_infile = on` at the server allows it \
         (3948)"
            .to_owned(),
    );
    case
}

/// Returns a run that the user ended while the first table was being filled.
pub(crate) fn partial_load() -> Case {
    let mut case = loads().ended(Some(EndKind::Interrupted), 0, "");
    case.evidence.loads.truncate(1);
    case.evidence.loads[0].rows = 96_000;
    case.evidence.loads[0].bytes = 96_000 * 34;
    case.evidence.loads[0].took = Nanos::from_secs(3);
    case
}

/// Returns a run in virtual time.
pub(crate) fn virtual_time() -> Case {
    Case::new(OPEN).in_virtual_time().serving(0, Traffic::of(300))
}

/// Returns a run that ended before anything was measured.
pub(crate) fn empty() -> Case {
    Case::new(OPEN).ended(Some(EndKind::Interrupted), 4, "")
}
