//! The limiter of a run, found from observations. The evidence for each component is made by hand.

use analyze::limiting::{
    BackgroundWork, ConnectionLimit, Contradiction, EmbeddedWait, GeneratorLimit,
    LimiterFinding as F, MemoryLimit, NetworkLimit, ProcessorLimit, Requesters, UnobservedSource,
    Waits,
};
use analyze::{
    Component, DatabaseLocation, Evidence, EvidenceKind, Route, Surroundings, UsedTarget,
    UtilisedComponent, summarize,
};
use base::Nanos;
use record::{Kind, MeasuredSide};

use crate::support::{
    OPEN, answer_only, grow, is_explained, near, replace_readings, set_times, steady,
};

const CLOSED: &str = "duration = 60s\nwarmup = 10s\n[read]\nquery = select 1\nconcurrency = 2\n";

/// Plants a counter with this growth per second.
pub(crate) fn plant(evidence: &mut Evidence, component: &str, metric: &str, per_s: f64) {
    reading(evidence, component, metric, |s| per_s * s);
}

/// Plants a gauge with a constant value.
pub(crate) fn hold(evidence: &mut Evidence, component: &str, metric: &str, value: f64) {
    reading(evidence, component, metric, |_| value);
}

/// Plants a metric with a value for each second.
pub(crate) fn reading(
    evidence: &mut Evidence,
    component: &str,
    metric: &str,
    value: impl Fn(f64) -> f64,
) {
    let looks = (0..=60).map(Nanos::from_secs);
    replace_readings(&mut evidence.observed, component, metric, looks, value);
}

/// Returns a closed job of two clients with an observed, nearly idle server. 1.6 requests are in
/// flight; each takes 1.6 ms, for most of which the server sleeps.
pub(crate) fn watched() -> Evidence {
    watched_with(CLOSED)
}

/// Returns the run of [`watched`] with another workload.
fn watched_with(workload: &str) -> Evidence {
    let mut evidence = steady(workload);
    evidence.surroundings = Surroundings::default();
    for (component, metric, per_s) in [
        ("server", "user", 0.1),
        ("server", "system", 0.1),
        ("server", "waited", 0.01),
        ("generator", "user", 0.04),
        ("generator", "system", 0.03),
        ("cpu 0", "busy", 0.2),
        ("cpu 1", "busy", 0.2),
        ("sessions", "looks", 10.0),
        ("sessions", "active", 14.0),
        ("sessions", "idle", 6.0),
        ("waits", "cpu", 2.0),
        ("waits", "Timeout:PgSleep", 12.0),
        ("host", "pressure-memory", 0.0),
    ] {
        plant(&mut evidence, component, metric, per_s);
    }
    for (component, metric, value) in
        [("server", "processes", 9.0), ("server", "processors", 2.0), ("server", "busiest", 0.1)]
    {
        hold(&mut evidence, component, metric, value);
    }
    evidence
}

/// Asserts that a component is named, with a finding that `is_it` accepts.
#[track_caller]
pub(crate) fn names(evidence: &Evidence, component: Component, is_it: impl Fn(&F) -> bool) {
    let limiter = summarize(evidence).limiter;
    assert_eq!(limiter.component, component, "{limiter:?}");
    assert!(is_it(&limiter.finding), "{:?}", limiter.finding);
    assert_eq!(limiter.ranked[0].component, component);
    assert!(!limiter.evidence.is_empty());
    for number in limiter.ranked.iter().flat_map(|candidate| &candidate.evidence) {
        let name = number.kind.name();
        assert!(is_explained(&name), "the guide does not say what {name} is made of");
    }
}

/// Returns the wait or counter that a finding names.
fn event_of(finding: &F) -> Option<&str> {
    match finding {
        F::Waits(
            Waits::Locks { sessions, .. } | Waits::Flush(sessions) | Waits::Disk(sessions),
        ) => Some(&sessions.event),
        _ => None,
    }
}

#[test]
fn waiting_clients_limit_the_job_if_nothing_is_saturated() {
    names!(
        &watched(),
        Component::Concurrency,
        F::Concurrency(it) if it.requesters == Requesters::Clients && it.clients == 2.0
    );
    // If the processes of a database are not seen, its sessions show whether they run.
    let mut far = watched();
    far.observed.retain(|it| it.component != "server");
    plant(&mut far, "waits", "cpu", 14.0);
    assert_eq!(summarize(&far).limiter.component, Component::Unknown);
    plant(&mut far, "waits", "cpu", 2.0);
    names!(
        &far,
        Component::Concurrency,
        F::Concurrency(it) if it.requesters == Requesters::Clients && it.clients == 2.0
    );
    // The process that accepts the connections is idle while sessions run: it is only a tunnel.
    let mut tunnel = watched();
    plant(&mut tunnel, "waits", "cpu", 14.0);
    assert_eq!(summarize(&tunnel).limiter.component, Component::Unknown);
    // Nothing is named while most sessions are in an unknown wait.
    let mut odd = watched();
    plant(&mut odd, "waits", "state: Waiting for the moon", 9.0);
    assert_eq!(summarize(&odd).limiter.component, Component::Unknown);
    // Without samples of the database, it is not known if the database is saturated.
    let mut blind = watched();
    blind.observed.retain(|it| !it.component.starts_with("se"));
    assert_eq!(summarize(&blind).limiter.component, Component::Unknown);
}

/// The processor time of a thread that spins says nothing. Requests that are due after a pause show
/// if the thread was late.
#[test]
fn clients_that_pause_limit_their_job_also_if_the_threads_spin() {
    let spinning = |mut evidence: Evidence| {
        evidence.spins = true;
        grow(&mut evidence, "lane-1", "ran", 1.0);
        evidence
    };
    let thinking = watched_with(&format!("{CLOSED}think = 200ms\n"));
    for evidence in [thinking.clone(), spinning(thinking.clone())] {
        names!(
            &evidence,
            Component::Concurrency,
            F::Concurrency(it) if it.requesters == Requesters::ThinkingClients && it.clients == 2.0
        );
    }
    let mut late = spinning(thinking);
    set_times(&mut late, 0, Kind::SendLag, 2.0, 50_000);
    assert_eq!(summarize(&late).limiter.component, Component::Unknown);
    // If the next request is due when the thread reads the answer, nothing shows a late thread.
    assert_eq!(summarize(&spinning(watched())).limiter.component, Component::Unknown);
    let one_without =
        format!("{CLOSED}think = 200ms\n[write]\nquery = select 2\nconcurrency = 1\n");
    let mixed = spinning(watched_with(&one_without));
    assert_eq!(summarize(&mixed).limiter.component, Component::Unknown);
}

/// A thousand requests arrive per second, and take 1.6 ms each.
#[test]
fn busy_workers_limit_the_job_whose_queue_grows() {
    let served = |workers: &str, per_s: u64| {
        let mut evidence = watched_with(&format!("{OPEN}{workers}"));
        answer_only(&mut evidence, 0, 0, per_s);
        evidence
    };
    let busy = served("concurrency = 1\n", 600);
    names!(
        &busy,
        Component::Concurrency,
        F::Concurrency(it) if it.requesters == Requesters::Workers
            && it.clients == 1.0
            && near(it.in_flight, 0.96)
            && near(it.per_s, 600.0)
    );
    // Nothing explains why three workers are idle for most of the time, or why a job that opens as
    // many connections as it needs falls behind.
    for evidence in [served("concurrency = 3\n", 600), served("", 600)] {
        assert_eq!(summarize(&evidence).limiter.component, Component::Unknown);
    }
    // More workers would only wait for the saturated component.
    let mut full = busy.clone();
    plant(&mut full, "server", "user", 1.7);
    assert_eq!(summarize(&full).limiter.component, Component::DatabaseCpu);
    let mut flushing = busy.clone();
    plant(&mut flushing, "waits", "cpu", 1.0);
    plant(&mut flushing, "waits", "IO:WALSync", 9.0);
    assert_eq!(summarize(&flushing).limiter.component, Component::DatabaseFlush);
    let mut odd = busy.clone();
    plant(&mut odd, "waits", "state: Waiting for the moon", 9.0);
    assert_eq!(summarize(&odd).limiter.component, Component::Unknown);
    let mut blind = busy;
    blind.observed.retain(|it| !it.component.starts_with("se"));
    assert_eq!(summarize(&blind).limiter.component, Component::Unknown);
}

/// A thousand requests arrive per second and take 8 ms each: four workers answer 450 per second,
/// and the remaining requests after the window.
#[test]
fn requests_answered_after_the_window_are_not_in_flight_in_it() {
    let mut evidence = watched_with(&format!("{OPEN}concurrency = 4\n"));
    let due = evidence.jobs[0].histogram(Kind::Service).unwrap().len();
    set_times(&mut evidence, 0, Kind::Service, 8.0, due);
    answer_only(&mut evidence, 0, 0, 450);
    plant(&mut evidence, "sessions", "active", 40.0);
    plant(&mut evidence, "sessions", "idle", 0.0);
    plant(&mut evidence, "waits", "Timeout:PgSleep", 38.0);
    names!(
        &evidence,
        Component::Concurrency,
        F::Concurrency(it) if it.requesters == Requesters::Workers && near(it.in_flight, 3.6)
    );
}

#[test]
fn satisfied_open_job_has_no_limiter_despite_busy_components() {
    let mut evidence = steady(OPEN);
    plant(&mut evidence, "server", "user", 1.9);
    hold(&mut evidence, "server", "processors", 2.0);
    assert_eq!(summarize(&evidence).limiter.component, Component::NotSaturated);
}

#[test]
fn full_processors_of_the_database_are_named() {
    let mut evidence = watched();
    plant(&mut evidence, "server", "user", 1.7);
    names!(
        &evidence,
        Component::DatabaseCpu,
        F::Processors(ProcessorLimit::Full { used, may_use, .. })
            if near(*used, 1.8) && near(*may_use, 2.0)
    );
    // One processor is saturated while the other idles.
    plant(&mut evidence, "server", "user", 0.85);
    hold(&mut evidence, "server", "busiest", 0.95);
    names!(
        &evidence,
        Component::DatabaseSingleCore,
        F::Processors(ProcessorLimit::OneThread { share, .. }) if near(*share, 0.95)
    );
    // A proxy that accepts the connections is not the database.
    hold(&mut evidence, "server", "proxies", 1.0);
    names!(
        &evidence,
        Component::Proxy,
        F::Processors(ProcessorLimit::OneThread { share, .. }) if near(*share, 0.95)
    );
    hold(&mut evidence, "server", "proxies", 0.0);
    // If the database may use only that processor, its processors are saturated.
    hold(&mut evidence, "server", "processors", 1.0);
    names!(
        &evidence,
        Component::DatabaseCpu,
        F::Processors(ProcessorLimit::Full { may_use, .. }) if near(*may_use, 1.0)
    );
    hold(&mut evidence, "server", "proxies", 1.0);
    names!(
        &evidence,
        Component::Proxy,
        F::Processors(ProcessorLimit::Full { may_use, .. }) if near(*may_use, 1.0)
    );
    // Stolen time was not available to any program.
    hold(&mut evidence, "server", "proxies", 0.0);
    hold(&mut evidence, "server", "processors", 2.0);
    hold(&mut evidence, "server", "busiest", 0.8);
    assert_ne!(summarize(&evidence).limiter.component, Component::DatabaseSingleCore);
    plant(&mut evidence, "host", "processors", 2.0);
    plant(&mut evidence, "host", "stolen", 0.2);
    names!(
        &evidence,
        Component::DatabaseSingleCore,
        F::Processors(ProcessorLimit::OneThread { share, .. }) if near(*share, 0.8)
    );
}

#[test]
fn crowded_shared_processors_limit_the_database() {
    let mut evidence = watched();
    plant(&mut evidence, "server", "user", 1.0);
    plant(&mut evidence, "server", "waited", 1.5);
    plant(&mut evidence, "cpu 0", "busy", 0.98);
    plant(&mut evidence, "cpu 1", "busy", 0.99);
    names!(
        &evidence,
        Component::DatabaseCpu,
        F::Processors(ProcessorLimit::Full { wanted, is_starved: false, .. }) if near(*wanted, 2.6)
    );
    // The load generator, not the database, uses most of the processor time.
    plant(&mut evidence, "generator", "user", 1.2);
    assert_ne!(summarize(&evidence).limiter.component, Component::DatabaseCpu);
    // Programs other than the database and the generator use the processors, so the database lacks
    // them.
    plant(&mut evidence, "generator", "user", 0.04);
    plant(&mut evidence, "server", "user", 0.4);
    names!(
        &evidence,
        Component::DatabaseCpu,
        F::Processors(ProcessorLimit::Full { is_starved: true, .. })
    );
    hold(&mut evidence, "server", "proxies", 1.0);
    names!(
        &evidence,
        Component::Proxy,
        F::Processors(ProcessorLimit::Full { is_starved: true, .. })
    );
    hold(&mut evidence, "server", "proxies", 0.0);
    plant(&mut evidence, "server", "waited", 0.2);
    assert_eq!(summarize(&evidence).limiter.component, Component::Unknown);
}

#[test]
fn generator_thread_without_a_processor_limits() {
    let mut evidence = watched();
    grow(&mut evidence, "lane-0", "ran", 0.5);
    grow(&mut evidence, "lane-0", "waited", 0.45);
    names!(
        &evidence,
        Component::GeneratorCpu,
        F::Generator(GeneratorLimit::ThreadWaits { waited, .. }) if near(*waited, 0.45)
    );
    // The thread does not want a whole processor, but the requests are not in the database either.
    grow(&mut evidence, "lane-0", "ran", 0.2);
    assert_eq!(summarize(&evidence).limiter.component, Component::Concurrency);
    plant(&mut evidence, "sessions", "active", 4.0);
    plant(&mut evidence, "sessions", "idle", 16.0);
    names!(
        &evidence,
        Component::GeneratorCpu,
        F::Generator(GeneratorLimit::ThreadWaits { ran, .. }) if near(*ran, 0.2)
    );
    plant(&mut evidence, "sessions", "active", 14.0);
    grow(&mut evidence, "lane-0", "ran", 0.5);
    // The database wants all of the processors, and they are saturated: it lacks processors.
    plant(&mut evidence, "server", "user", 1.0);
    plant(&mut evidence, "server", "waited", 1.6);
    plant(&mut evidence, "cpu 0", "busy", 0.98);
    plant(&mut evidence, "cpu 1", "busy", 0.99);
    assert_ne!(summarize(&evidence).limiter.component, Component::GeneratorCpu);
}

#[test]
fn locks_are_named_with_their_table() {
    let mut evidence = watched();
    plant(&mut evidence, "waits", "cpu", 1.0);
    plant(&mut evidence, "waits", "Lock:tuple", 12.0);
    plant(&mut evidence, "locks", "public.account", 12.0);
    plant(&mut evidence, "statements", "update account set", 12.0);
    names!(
        &evidence,
        Component::DatabaseLocks,
        F::Waits(Waits::Locks { sessions, table: Some(table), statement: Some(statement) })
            if sessions.event == "Lock:tuple"
                && table == "public.account"
                && statement == "update account set"
    );
    plant(&mut evidence, "waits", "Lock:tuple", 6.0);
    assert_ne!(summarize(&evidence).limiter.component, Component::DatabaseLocks);
}

#[test]
fn flush_waits_and_disk_waits_are_distinguished() {
    let mut evidence = watched();
    plant(&mut evidence, "waits", "cpu", 1.0);
    plant(&mut evidence, "waits", "IO:WALSync", 6.0);
    plant(&mut evidence, "waits", "LWLock:WALWrite", 6.0);
    plant(&mut evidence, "disk vda", "busy", 0.9);
    names!(&evidence, Component::DatabaseFlush, F::Waits(Waits::Flush(_)));
    plant(&mut evidence, "waits", "IO:WALSync", 0.0);
    plant(&mut evidence, "waits", "LWLock:WALWrite", 0.0);
    plant(&mut evidence, "waits", "IO:DataFileRead", 12.0);
    names!(
        &evidence,
        Component::DatabaseDisk,
        F::Waits(Waits::Disk(sessions)) if sessions.event == "IO:DataFileRead"
    );
    for (metric, per_s) in [
        ("busy", 0.9),
        ("reads", 390.0),
        ("writes", 10.0),
        ("read-bytes", 3e6),
        ("written-bytes", 1e6),
        ("read-time", 1.6),
        ("write-time", 0.4),
    ] {
        plant(&mut evidence, "disk vda", metric, per_s);
    }
    plant(&mut evidence, "disk sdb", "busy", 0.1);
    let reported = summarize(&evidence).limiter.evidence;
    for (kind, value) in [
        (EvidenceKind::BusiestDiskShare, 0.9),
        (EvidenceKind::ItsBytesPerS, 4e6),
        (EvidenceKind::ItsOperationsPerS, 400.0),
        (EvidenceKind::ItsMsPerOperation, 5.0),
    ] {
        let found =
            reported.iter().find(|number| number.kind == kind).expect("a number of the disk");
        assert!((found.value - value).abs() < 1e-9 * value, "{found:?}");
    }
}

#[test]
fn pending_reads_are_disk_waits() {
    let mut evidence = watched();
    plant(&mut evidence, "waits", "cpu", 9.0);
    hold(&mut evidence, "statistics", "status.innodb_data_pending_reads", 1.5);
    names!(
        &evidence,
        Component::DatabaseDisk,
        F::Waits(Waits::Disk(sessions)) if sessions.event == "status.innodb_data_pending_reads"
    );
    hold(&mut evidence, "statistics", "status.innodb_data_pending_reads", 0.3);
    names!(&evidence, Component::Concurrency, F::Concurrency(_));
    // Read-ahead for a running session is not a wait of the session.
    hold(&mut evidence, "statistics", "status.innodb_data_pending_reads", 20.0);
    plant(&mut evidence, "server", "user", 0.9);
    assert_ne!(summarize(&evidence).limiter.component, Component::DatabaseDisk);
}

#[test]
fn accumulated_wait_times_reveal_waits_missed_by_samples() {
    let millis = 1_200.0;
    for (metric, per_s, component) in [
        ("status.innodb_row_lock_time", millis, Component::DatabaseLocks),
        ("pg_stat_wal.wal_sync_time", millis, Component::DatabaseFlush),
        ("pg_stat_io.client backend/normal/wal.fsync_time", millis, Component::DatabaseFlush),
        ("performance_schema.wait/io/file/sql/binlog.waited", 1.2, Component::DatabaseFlush),
        ("pg_stat_database.blk_read_time", millis, Component::DatabaseDisk),
        (
            "performance_schema.wait/io/file/innodb/innodb_data_file/read.waited",
            1.2,
            Component::DatabaseDisk,
        ),
    ] {
        let mut evidence = watched();
        plant(&mut evidence, "waits", "Timeout:PgSleep", 0.0);
        plant(&mut evidence, "waits", "cpu", 14.0);
        assert_eq!(summarize(&evidence).limiter.component, Component::Unknown);
        plant(&mut evidence, "statistics", metric, per_s);
        names(&evidence, component, |finding| event_of(finding) == Some(metric));
        // Sessions that really run do not wait: the counters include others' waits.
        plant(&mut evidence, "server", "user", 1.2);
        assert_ne!(summarize(&evidence).limiter.component, component, "{metric}");
        // If the processes are not seen, the counter is trusted.
        evidence.observed.retain(|it| it.component != "server");
        names(&evidence, component, |finding| event_of(finding) == Some(metric));
    }
    // An unfinished wait is not yet in the counter of time.
    let mut evidence = watched();
    plant(&mut evidence, "waits", "cpu", 14.0);
    hold(&mut evidence, "statistics", "status.innodb_row_lock_current_waits", 1.2);
    names!(
        &evidence,
        Component::DatabaseLocks,
        F::Waits(Waits::Locks { sessions, .. })
            if near(sessions.waiting, 1.19) && near(sessions.active, 1.4)
    );
    // Waits that samples show are not counted twice.
    plant(&mut evidence, "waits", "cpu", 4.0);
    plant(&mut evidence, "waits", "Lock:row", 10.0);
    names!(
        &evidence,
        Component::DatabaseLocks,
        F::Waits(Waits::Locks { sessions, .. })
            if sessions.event == "Lock:row" && (sessions.waiting - 1.2).abs() < 0.05
    );
}

#[test]
fn waits_from_counters_do_not_exceed_the_running_sessions() {
    let mut evidence = watched();
    plant(&mut evidence, "waits", "Timeout:PgSleep", 0.0);
    plant(&mut evidence, "waits", "cpu", 14.0);
    plant(&mut evidence, "statistics", "status.innodb_row_lock_time", 3_000.0);
    hold(&mut evidence, "statistics", "status.innodb_data_pending_reads", 1.0);
    let waits = summarize(&evidence).limiter.seen.waits;
    let sum: f64 = waits.iter().map(|(_, sessions)| sessions).sum();
    assert!((sum - 1.4).abs() < 1e-6, "{waits:?}");
    assert_eq!(waits[0].0, "status.innodb_row_lock_time");
    assert!((waits[0].1 - 1.19 * 0.75).abs() < 1e-6, "{waits:?}");
}

#[test]
fn sessions_that_seem_to_run_without_a_processor_are_reported() {
    let mut evidence = watched();
    plant(&mut evidence, "waits", "Timeout:PgSleep", 0.0);
    plant(&mut evidence, "waits", "cpu", 14.0);
    let limiter = summarize(&evidence).limiter;
    let reported = |limiter: &analyze::Limiter| {
        limiter.unseen.iter().find_map(|unseen| match unseen {
            UnobservedSource::Contradiction(contradiction) => Some(*contradiction),
            UnobservedSource::Reported { .. } | UnobservedSource::CountersReset => None,
        })
    };
    let Contradiction { running, active, used, waited, unexplained } = reported(&limiter).unwrap();
    assert!(near(running, 1.4) && near(active, 1.4) && near(used, 0.2), "{limiter:?}");
    assert!(near(waited, 0.01) && near(unexplained, 1.19), "{limiter:?}");
    let unexplained = limiter.seen.waits.iter().find(|(name, _)| name == "unexplained");
    assert!(unexplained.is_some_and(|(_, sessions)| (sessions - 1.19).abs() < 1e-6));
    // Sessions that a counter explains, or that lacked a processor, do not count as unexplained.
    let mut counted = evidence.clone();
    plant(&mut counted, "statistics", "status.innodb_row_lock_time", 1_200.0);
    assert_eq!(reported(&summarize(&counted).limiter), None);
    plant(&mut evidence, "server", "waited", 1.1);
    assert_eq!(reported(&summarize(&evidence).limiter), None);
}

/// Returns a run during which two busy loops of another program use most of both processors.
fn crowded() -> Evidence {
    let mut evidence = watched();
    for (component, metric, per_s) in [
        ("cpu 0", "busy", 0.99),
        ("cpu 1", "busy", 0.99),
        ("host", "processors", 2.0),
        ("host", "busy", 1.98),
        ("host", "other-programs", 1.6),
        ("program stress", "used", 1.5),
        ("server", "waited", 0.5),
    ] {
        plant(&mut evidence, component, metric, per_s);
    }
    hold(&mut evidence, "program stress", "pid", 4_711.0);
    hold(&mut evidence, "program stress", "processes", 2.0);
    evidence
}

#[test]
fn other_programs_that_take_the_processors_are_named() {
    let mut evidence = crowded();
    names!(
        &evidence,
        Component::OtherPrograms,
        F::OtherPrograms(others)
            if near(others.used, 1.6) && near(others.processors, 2.0) && others.host.is_none()
    );
    let program = &summarize(&evidence).limiter.seen.programs[0];
    assert_eq!((program.name.as_str(), program.processes, program.pid), ("stress", 2, Some(4_711)));
    // Nothing lacks a processor.
    plant(&mut evidence, "server", "waited", 0.1);
    let limiter = summarize(&evidence).limiter;
    assert_eq!(limiter.component, Component::Unknown);
    let processors = UtilisedComponent::Processors { host: None };
    assert!(limiter.seen.utilisations.contains(&(processors, 0.99)));
    plant(&mut evidence, "server", "waited", 0.5);
    // The programs use less than the limit.
    plant(&mut evidence, "host", "other-programs", 0.6);
    assert_ne!(summarize(&evidence).limiter.component, Component::OtherPrograms);
    plant(&mut evidence, "host", "other-programs", 1.6);
    // Both sides have processors to spare.
    plant(&mut evidence, "cpu 1", "busy", 0.6);
    assert_ne!(summarize(&evidence).limiter.component, Component::OtherPrograms);
}

/// Of a machine with many processors, only the first ones are reported one by one.
#[test]
fn use_of_processors_that_are_not_reported_one_by_one_counts() {
    let busy = |reported: f64, all: f64| {
        let mut evidence = crowded();
        hold(&mut evidence, "server", "processors", 4.0);
        plant(&mut evidence, "cpu 0", "busy", reported);
        plant(&mut evidence, "cpu 1", "busy", reported);
        plant(&mut evidence, "host", "processors", 4.0);
        plant(&mut evidence, "host", "busy", all);
        plant(&mut evidence, "host", "other-programs", 3.4);
        summarize(&evidence).limiter.component
    };
    assert_eq!(busy(0.2, 3.96), Component::OtherPrograms);
    assert_ne!(busy(0.99, 2.2), Component::OtherPrograms);
}

#[test]
fn a_database_behind_a_proxy_is_not_another_program() {
    let mut evidence = crowded();
    plant(&mut evidence, "program postgres", "used", 1.3);
    names!(
        &evidence,
        Component::OtherPrograms,
        F::OtherPrograms(others)
            if others.programs[0].name == "stress" && near(others.programs[0].processors, 1.5)
    );
    hold(&mut evidence, "server", "proxies", 1.0);
    assert_ne!(summarize(&evidence).limiter.component, Component::OtherPrograms);
}

/// A program is recorded only once it has used processor time; until then its use was zero.
#[test]
fn program_started_in_the_window_counts_from_its_start() {
    let mut evidence = crowded();
    let looks = (31..=60).map(Nanos::from_secs);
    let used = |s: f64| 2.0 * (s - 30.0);
    replace_readings(&mut evidence.observed, "program stress", "used", looks, used);
    let program = &summarize(&evidence).limiter.seen.programs[0];
    assert!((program.processors - 1.2).abs() < 0.05, "{program:?}");
}

#[test]
fn throttled_cgroup_ranks_before_its_symptoms() {
    let mut evidence = watched();
    hold(&mut evidence, "cgroup server", "quota", 0.5);
    plant(&mut evidence, "cgroup server", "throttled", 0.4);
    plant(&mut evidence, "server", "user", 0.4);
    plant(&mut evidence, "server", "waited", 2.0);
    names!(
        &evidence,
        Component::Cgroup,
        F::Processors(ProcessorLimit::Throttled { side: MeasuredSide::Server, quota, .. })
            if near(*quota, 0.5)
    );
    // The quota is a small part of very many processors, and yet the group uses all of it.
    hold(&mut evidence, "server", "processors", 64.0);
    names!(
        &evidence,
        Component::Cgroup,
        F::Processors(ProcessorLimit::Throttled { side: MeasuredSide::Server, quota, .. })
            if near(*quota, 0.5)
    );
    plant(&mut evidence, "cgroup server", "throttled", 0.05);
    plant(&mut evidence, "server", "user", 0.3);
    assert_ne!(summarize(&evidence).limiter.component, Component::Cgroup);
}

/// Adds the sockets of a database on another machine; each request takes 1.6 ms.
fn far_away(evidence: &mut Evidence, round_trip_ms: f64, least_ms: f64) {
    let elsewhere =
        UsedTarget { route: Some(Route::Postgres), location: DatabaseLocation::Elsewhere };
    evidence.surroundings = Surroundings { main: elsewhere, ..Surroundings::default() };
    hold(evidence, "sockets generator", "round-trip", round_trip_ms / 1e3);
    hold(evidence, "sockets generator", "round-trip-least", least_ms / 1e3);
    plant(evidence, "sessions", "active", 1.0);
}

/// Sets the size of each answer in bytes.
fn answers(evidence: &mut Evidence, bytes: u64) {
    for step in &mut evidence.jobs[0].steps {
        step.counts.bytes_received = step.counts.balance.completed() * bytes;
    }
}

#[test]
fn network_latency_and_bandwidth_are_distinguished() {
    let mut evidence = watched();
    far_away(&mut evidence, 1.3, 1.2);
    names!(
        &evidence,
        Component::NetworkLatency,
        F::Network(NetworkLimit::RoundTrips { trips, round_trip_s, service_s })
            if near(*trips, 1.0) && near(*round_trip_s, 0.001_2) && near(*service_s, 0.001_6)
    );
    // The mean round trip alone means nothing: acknowledgements are sent with answers.
    far_away(&mut evidence, 1.3, 0.1);
    plant(&mut evidence, "sessions", "idle", 1.0);
    assert_eq!(summarize(&evidence).limiter.component, Component::Concurrency);
    hold(&mut evidence, "sockets server", "with-send-queue", 1.2);
    names!(
        &evidence,
        Component::NetworkBandwidth,
        F::Network(NetworkLimit::AnswersWait { waiting, .. }) if near(*waiting, 1.2)
    );
    // The client does not read the answers.
    hold(&mut evidence, "sockets generator", "with-receive-queue", 1.2);
    assert_ne!(summarize(&evidence).limiter.component, Component::NetworkBandwidth);
    // No socket shows waiting data, and yet the database's sessions idle with requests in flight.
    hold(&mut evidence, "sockets server", "with-send-queue", 0.0);
    plant(&mut evidence, "sessions", "idle", 16.0);
    names!(&evidence, Component::NetworkLatency, F::Network(NetworkLimit::OnTheWay { .. }));
    // The answers are in a queue between the two ends.
    hold(&mut evidence, "sockets server", "round-trip-least", 0.000_1);
    hold(&mut evidence, "sockets server", "round-trip", 0.000_9);
    // Short answers are acknowledged with the next request.
    answers(&mut evidence, 1_000);
    names!(&evidence, Component::NetworkLatency, F::Network(NetworkLimit::OnTheWay { .. }));
    answers(&mut evidence, 50_000);
    names!(
        &evidence,
        Component::NetworkBandwidth,
        F::Network(NetworkLimit::AnswersQueue { mean_s, .. }) if near(*mean_s, 0.000_9)
    );
    grow(&mut evidence, "lane-0", "waited", 0.6);
    assert_ne!(summarize(&evidence).limiter.component, Component::NetworkBandwidth);
    grow(&mut evidence, "lane-0", "waited", 0.0);
    hold(&mut evidence, "sockets server", "round-trip", 0.000_3);
    names!(&evidence, Component::NetworkLatency, F::Network(NetworkLimit::OnTheWay { .. }));
    hold(&mut evidence, "sockets server", "round-trip", 0.001_6);
    hold(&mut evidence, "sockets server", "round-trip-least", 0.001_5);
    names!(&evidence, Component::NetworkLatency, F::Network(NetworkLimit::OnTheWay { .. }));
    hold(&mut evidence, "sockets server", "round-trip", 0.0);
    // Requests that arrived and are unread are in the database, which lacks a processor.
    hold(&mut evidence, "sockets server", "with-receive-queue", 1.5);
    assert_eq!(summarize(&evidence).limiter.component, Component::Concurrency);
    hold(&mut evidence, "sockets server", "with-receive-queue", 0.0);
    // The requests are in the database, not on the network.
    plant(&mut evidence, "sessions", "active", 15.0);
    assert_eq!(summarize(&evidence).limiter.component, Component::Concurrency);
}

#[test]
fn a_full_link_is_named() {
    let mut evidence = watched();
    plant(&mut evidence, "sessions", "active", 6.0);
    hold(&mut evidence, "interface eth0", "speed", 125e6);
    plant(&mut evidence, "interface eth0", "sent-bytes", 1e6);
    plant(&mut evidence, "interface eth0", "received-bytes", 118e6);
    names!(
        &evidence,
        Component::NetworkBandwidth,
        F::Network(NetworkLimit::Link { interface, bytes_per_s, share })
            if interface.to_string() == "interface eth0"
                && near(*bytes_per_s, 118e6)
                && near(*share, 0.944)
    );
    // A tunnel's speed is made up; and requests in the database are not on a link.
    hold(&mut evidence, "interface eth0", "speed", 1.25e6);
    assert_ne!(summarize(&evidence).limiter.component, Component::NetworkBandwidth);
    hold(&mut evidence, "interface eth0", "speed", 125e6);
    evidence.surroundings.main.location = DatabaseLocation::ThisHost;
    assert_ne!(summarize(&evidence).limiter.component, Component::NetworkBandwidth);
    evidence.surroundings.main.location = DatabaseLocation::Elsewhere;
    plant(&mut evidence, "sessions", "active", 14.0);
    assert_ne!(summarize(&evidence).limiter.component, Component::NetworkBandwidth);
}

#[test]
fn fewer_sessions_than_requests_indicate_a_pool() {
    let mut evidence = watched();
    // 16 requests are under way instead of 1.6.
    let times = evidence.jobs[0].window.iter_mut().find(|(kind, _)| *kind == Kind::Service);
    let (_, service) = times.unwrap();
    let more = service.clone();
    (0..9).for_each(|_| service.add(&more).unwrap());
    plant(&mut evidence, "sessions", "active", 19.0);
    plant(&mut evidence, "sessions", "idle", 1.0);
    names!(
        &evidence,
        Component::Connections,
        F::Connections(ConnectionLimit::Pool { in_flight, sessions })
            if near(*in_flight, 16.0) && near(*sessions, 2.0)
    );
    // A request that first connects has no session for a part of its time.
    evidence.plan.jobs[0].reconnect = workload::Reconnect::PerTransaction;
    assert_ne!(summarize(&evidence).limiter.component, Component::Connections);
}

#[test]
fn a_round_trip_counts_once_for_each_statement() {
    let mut evidence = watched();
    far_away(&mut evidence, 0.3, 0.25);
    hold(&mut evidence, "sockets server", "with-receive-queue", 1.5);
    plant(&mut evidence, "sessions", "idle", 1.0);
    assert_eq!(summarize(&evidence).limiter.component, Component::Concurrency);
    hold(&mut evidence, "sockets server", "with-receive-queue", 0.0);
    let (_, service) = evidence.jobs[0].window[1].clone();
    (0..4).for_each(|number| {
        evidence.jobs[0]
            .window
            .push((record::Kind::Statement(base::StatementId(number)), service.clone()));
    });
    names!(
        &evidence,
        Component::NetworkLatency,
        F::Network(NetworkLimit::RoundTrips { trips, round_trip_s, service_s })
            if near(*trips, 4.0) && near(*round_trip_s, 0.000_25) && near(*service_s, 0.001_6)
    );
}

/// Sessions of a database on another machine are idle because they lack a processor, while requests
/// wait in its sockets, which are not seen.
#[test]
fn network_is_not_blamed_for_an_unobserved_remote_database() {
    let mut evidence = watched();
    evidence.observed.retain(|it| it.component != "server");
    far_away(&mut evidence, 1.3, 0.1);
    plant(&mut evidence, "sessions", "idle", 16.0);
    plant(&mut evidence, "waits", "cpu", 40.0);
    assert_eq!(summarize(&evidence).limiter.component, Component::Unknown);
    plant(&mut evidence, "waits", "cpu", 1.0);
    names!(&evidence, Component::NetworkLatency, F::Network(NetworkLimit::OnTheWay { .. }));
}

#[test]
fn busiest_of_several_database_hosts_is_reported() {
    let mut evidence = watched();
    evidence.observed.retain(|it| it.component != "server");
    for (host, user) in [("db1", 0.1), ("db2", 1.8), ("db3", 0.2)] {
        plant(&mut evidence, &format!("{host}/server"), "user", user);
        plant(&mut evidence, &format!("{host}/server"), "system", 0.05);
        hold(&mut evidence, &format!("{host}/server"), "processes", 9.0);
        hold(&mut evidence, &format!("{host}/server"), "processors", 2.0);
    }
    names!(
        &evidence,
        Component::DatabaseCpu,
        F::Processors(ProcessorLimit::Full { used, .. }) if near(*used, 1.85)
    );
}

/// If there are too many threads to read their waits for processors, busy processors are evidence
/// enough.
#[test]
fn saturated_host_limits_without_scheduler_statistics() {
    let mut evidence = watched();
    evidence.observed.retain(|it| it.component != "server" || it.metric != "waited");
    plant(&mut evidence, "server", "user", 1.4);
    plant(&mut evidence, "cpu 0", "busy", 0.95);
    plant(&mut evidence, "cpu 1", "busy", 0.95);
    names!(
        &evidence,
        Component::DatabaseCpu,
        F::Processors(ProcessorLimit::Full { used, .. }) if near(*used, 1.5)
    );
    plant(&mut evidence, "cpu 0", "busy", 0.8);
    plant(&mut evidence, "cpu 1", "busy", 0.8);
    assert_ne!(summarize(&evidence).limiter.component, Component::DatabaseCpu);
}

#[test]
fn busy_thread_of_others_is_not_the_limiter() {
    let single = |component: &str, metric: &str, per_s: f64| {
        let mut evidence = watched();
        plant(&mut evidence, "server", "user", 0.9);
        hold(&mut evidence, "server", "busiest", 0.95);
        plant(&mut evidence, component, metric, per_s);
        plant(&mut evidence, component, "system", 0.0);
        summarize(&evidence).limiter.component
    };
    assert_eq!(single("sessions", "others", 2.0), Component::DatabaseSingleCore);
    assert_ne!(single("sessions", "others", 9.0), Component::DatabaseSingleCore);
    assert_ne!(single("server autovacuum worker", "user", 0.9), Component::DatabaseSingleCore);
}

#[test]
fn sessions_of_others_and_work_of_the_server_are_named() {
    let mut evidence = watched();
    plant(&mut evidence, "server", "user", 1.8);
    plant(&mut evidence, "server", "waited", 0.8);
    names!(&evidence, Component::DatabaseCpu, F::Processors(ProcessorLimit::Full { .. }));
    plant(&mut evidence, "sessions", "others", 15.0);
    names!(
        &evidence,
        Component::BackgroundTask,
        F::Background(BackgroundWork::OtherSessions { sessions, work: None, .. })
            if near(*sessions, 1.5)
    );
    plant(&mut evidence, "background", "vacuum: old", 9.0);
    names!(
        &evidence,
        Component::BackgroundTask,
        F::Background(BackgroundWork::OtherSessions { work: Some((name, share)), .. })
            if name == "vacuum: old" && near(*share, 0.9)
    );
    plant(&mut evidence, "background", "vacuum: old", 0.0);
    plant(&mut evidence, "sessions", "others", 1.0);
    plant(&mut evidence, "background", "autovacuum: account", 8.0);
    plant(&mut evidence, "server", "written-bytes", 1e6);
    plant(&mut evidence, "server", "read-bytes", 1e6);
    plant(&mut evidence, "server autovacuum worker", "user", 0.9);
    names!(
        &evidence,
        Component::BackgroundTask,
        F::Background(BackgroundWork::Named { name, share, .. })
            if name == "autovacuum: account" && near(*share, 0.8)
    );
    // Time of the vacuum's worker does not count for other background work.
    plant(&mut evidence, "background", "autovacuum: account", 0.0);
    plant(&mut evidence, "background", "checkpoint", 9.0);
    names!(&evidence, Component::DatabaseCpu, F::Processors(ProcessorLimit::Full { .. }));
    plant(&mut evidence, "background", "checkpoint", 0.0);
    plant(&mut evidence, "background", "autovacuum: account", 8.0);
    // The vacuum is present but uses hardly any processor time.
    plant(&mut evidence, "server autovacuum worker", "user", 0.1);
    names!(&evidence, Component::DatabaseCpu, F::Processors(ProcessorLimit::Full { .. }));
}

#[test]
fn memory_shortage_limits() {
    let mut evidence = watched();
    plant(&mut evidence, "host", "pressure-memory", 0.3);
    names!(
        &evidence,
        Component::DatabaseMemory,
        F::Memory(MemoryLimit::Host { lacked, .. }) if near(*lacked, 0.3)
    );
    // If the database's host is not observed, its memory is not the limiter.
    evidence.surroundings.main.location = DatabaseLocation::Elsewhere;
    names!(
        &evidence,
        Component::DatabaseMemory,
        F::Memory(MemoryLimit::Host { lacked, .. }) if near(*lacked, 0.3)
    );
    evidence.observed.retain(|it| it.component != "server");
    assert_ne!(summarize(&evidence).limiter.component, Component::DatabaseMemory);
}

#[test]
fn memory_shortage_in_a_cgroup_limits() {
    let mut evidence = watched();
    hold(&mut evidence, "cgroup server", "memory-limit", 512e6);
    hold(&mut evidence, "cgroup server", "memory", 511e6);
    plant(&mut evidence, "cgroup server", "pressure-memory", 0.25);
    names!(
        &evidence,
        Component::DatabaseMemory,
        F::Memory(MemoryLimit::Group { lacked, limit_bytes })
            if near(*lacked, 0.25) && near(*limit_bytes, 512e6)
    );
    // A full memory limit alone means nothing: the kernel uses free memory as a file cache.
    plant(&mut evidence, "cgroup server", "pressure-memory", 0.05);
    assert_ne!(summarize(&evidence).limiter.component, Component::DatabaseMemory);
}

fn embedded(workload: &str, cpu: f64) -> Evidence {
    let mut evidence = steady(workload);
    let sqlite = UsedTarget { route: Some(Route::Sqlite), location: DatabaseLocation::Inside };
    evidence.surroundings = Surroundings { main: sqlite, ..Surroundings::default() };
    plant(&mut evidence, "server", "user", cpu);
    plant(&mut evidence, "server", "system", 0.05);
    hold(&mut evidence, "server", "processes", 1.0);
    hold(&mut evidence, "server", "processors", 2.0);
    hold(&mut evidence, "server", "busiest", cpu);
    evidence
}

#[test]
fn idle_embedded_database_waits_for_its_disk_or_its_writer() {
    let reads = "duration = 60s\nwarmup = 10s\n[a]\nquery = select 1\nconcurrency = 2\n";
    names!(
        &embedded(reads, 0.2),
        Component::DatabaseDisk,
        F::Waits(Waits::Embedded { wait: EmbeddedWait::Disk, .. })
    );
    let writes = "duration = 60s\nwarmup = 10s\n[a]\nquery = insert into t values (1)\n\
                  concurrency = 2\n";
    names!(
        &embedded(writes, 0.7),
        Component::DatabaseLocks,
        F::Waits(Waits::Embedded { wait: EmbeddedWait::Writer, .. })
    );
    // The holder of the lock does not run either.
    names!(
        &embedded(writes, 0.2),
        Component::DatabaseFlush,
        F::Waits(Waits::Embedded { wait: EmbeddedWait::Flush, .. })
    );
    names!(
        &embedded(reads, 0.93),
        Component::DatabaseSingleCore,
        F::Processors(ProcessorLimit::OneThread { share, .. }) if near(*share, 0.93)
    );
}

#[test]
fn slow_input_limits() {
    let fed = "duration = 60s\nwarmup = 10s\n[a]\nquery = select ?\nquery-args-file = /dev/stdin\n\
               concurrency = 8\n";
    let mut evidence = watched();
    evidence.plan = steady(fed).plan;
    names!(&evidence, Component::GeneratorInput, F::Generator(GeneratorLimit::SlowFeed { .. }));
    // Thinking clients idle intentionally, not because they lack input.
    evidence.plan = steady(&format!("{fed}think = 5ms\n")).plan;
    assert_ne!(summarize(&evidence).limiter.component, Component::GeneratorInput);
}

/// The requests spend little of the clients' time in the database, as with SQLite, where a thread
/// hands them over.
#[test]
fn clients_that_always_have_input_are_not_limited_by_it() {
    let fed = "duration = 60s\nwarmup = 10s\n[a]\nquery = select ?\nquery-args-file = a.csv\n\
               concurrency = 8\n";
    let limiter = |response_ms| {
        let mut evidence = watched_with(fed);
        set_times(&mut evidence, 0, Kind::Response, response_ms, 50_000);
        summarize(&evidence).limiter.component
    };
    // Each of eight clients gets an answer every 8 ms. The service time is 1.6 ms.
    assert_ne!(limiter(7.9), Component::GeneratorInput);
    assert_eq!(limiter(2.4), Component::GeneratorInput);
}

/// The clients leave after the end of a file or of their job, and that time does not count. Clients
/// whose pipe stalls keep their connections, unless each request opens its own.
#[test]
fn clients_wait_for_a_stalled_pipe_but_not_after_the_end_of_a_file() {
    let fed = "duration = 60s\nwarmup = 10s\n[a]\nquery = select ?\nquery-args-file = a.csv\n\
               concurrency = 8\n";
    let limiter = |workload: &str, connections| {
        let mut evidence = watched_with(workload);
        set_times(&mut evidence, 0, Kind::Response, 7.9, 10_000);
        for step in &mut evidence.jobs[0].steps[21..] {
            step.counts.arrivals = 0;
            step.connections = connections;
        }
        summarize(&evidence).limiter.component
    };
    assert_ne!(limiter(fed, Some(0)), Component::GeneratorInput);
    assert_eq!(limiter(fed, Some(8)), Component::GeneratorInput);
    assert_eq!(limiter(fed, None), Component::GeneratorInput);
    let reconnecting = format!("{fed}reconnect = per-transaction\n");
    assert_eq!(limiter(&reconnecting, Some(0)), Component::GeneratorInput);
    let stopping = format!("{reconnecting}stop = 21s\n");
    assert_ne!(limiter(&stopping, Some(0)), Component::GeneratorInput);
}

#[test]
fn unobserved_sources_and_server_restarts_are_reported() {
    let mut evidence = watched();
    evidence.unseen = vec![("sessions".to_owned(), "no permission".to_owned())];
    let limiter = summarize(&evidence).limiter;
    let (what, why) = ("sessions".to_owned(), "no permission".to_owned());
    assert_eq!(limiter.unseen, [UnobservedSource::Reported { what, why }]);
    reading(&mut evidence, "sessions", "looks", |s| if s < 30.0 { 100.0 + s } else { s });
    let limiter = summarize(&evidence).limiter;
    assert!(limiter.unseen.contains(&UnobservedSource::CountersReset));
}
