//! The limiter of the load of a table: evidence for each component, made by hand.

use analyze::limiting::{
    EmbeddedWait, GeneratorLimit, Inconclusive, LimiterFinding as F, NetworkLimit, ProcessorLimit,
    Requesters, Saturation, Waits,
};
use analyze::{Candidate, Component, Evidence, LoadEvidence, Route, UsedTarget, summarize};
use base::Nanos;

use crate::support::{is_explained, near, nothing, replace_readings};

/// Four writers, 1,000 rows in a commit.
const LOADED: &str = "
[load t]
rows = 1000000
columns = id: row()
writers = 4
[read]
query = select 1
rate = 1
";

/// Duration of the load; the last sample is at its end, between whole seconds.
const TOOK: Nanos = Nanos::from_millis(8_300);

/// Returns a load by four writers that wait for a database which mostly sleeps.
fn loading() -> Evidence {
    loading_as(LOADED)
}

fn loading_as(workload: &str) -> Evidence {
    let mut evidence = nothing(workload);
    evidence.loads = vec![LoadEvidence {
        table: "t".to_owned(),
        rows: 1_000_000,
        bytes: 8_000_000,
        took: TOOK,
        points: Vec::new(),
        observed: Vec::new(),
        unseen: Vec::new(),
        fallback: None,
    }];
    for (component, metric, per_s) in [
        ("generator", "user", 0.2),
        ("generator", "system", 0.11),
        ("generator", "observing", 0.01),
        ("generator", "waited", 0.01),
        ("server", "user", 0.1),
        ("server", "system", 0.1),
        ("server", "waited", 0.01),
        ("cpu 0", "busy", 0.2),
        ("cpu 1", "busy", 0.2),
        ("sessions", "looks", 10.0),
        ("sessions", "active", 36.0),
        ("sessions", "idle", 14.0),
        ("waits", "cpu", 2.0),
        ("waits", "Timeout:PgSleep", 34.0),
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

fn plant(evidence: &mut Evidence, component: &str, metric: &str, per_s: f64) {
    reading(evidence, component, metric, |s| per_s * s);
}

fn hold(evidence: &mut Evidence, component: &str, metric: &str, value: f64) {
    reading(evidence, component, metric, |_| value);
}

fn reading(evidence: &mut Evidence, component: &str, metric: &str, value: impl Fn(f64) -> f64) {
    let load = &mut evidence.loads[0];
    let took = load.took;
    let looks = (0..=8).map(Nanos::from_secs).filter(|at| *at < took).chain([took]);
    replace_readings(&mut load.observed, component, metric, looks, value);
}

fn limiter(evidence: &Evidence) -> Candidate {
    summarize(evidence).loads.remove(0).limiter
}

#[track_caller]
fn names(evidence: &Evidence, component: Component, is_it: impl Fn(&F) -> bool) {
    let limiter = limiter(evidence);
    assert_eq!(limiter.component, component, "{limiter:?}");
    assert!(is_it(&limiter.finding), "{:?}", limiter.finding);
    assert!(!limiter.evidence.is_empty());
    for number in &limiter.evidence {
        let name = number.kind.name();
        assert!(is_explained(&name), "the guide does not say what {name} is made of");
    }
}

#[test]
fn waiting_writers_limit_the_load_if_nothing_is_saturated() {
    names!(
        &loading(),
        Component::Concurrency,
        F::Concurrency(it) if it.requesters == Requesters::Writers && it.clients == 4.0
    );
    // If all rows are one batch, the other writers have nothing to do.
    let all_at_once = LOADED.replace("writers = 4", "writers = 4\nbatch = 1000000");
    names(&loading_as(&all_at_once), Component::Concurrency, |finding| match finding {
        F::Concurrency(it) => {
            it.requesters == Requesters::Writers
                && it.clients == 1.0
                && near(it.service_s, 8.3)
                && near(it.per_s, 0.1205)
        }
        _ => false,
    });
}

#[test]
fn saturated_row_generating_thread_limits_the_load() {
    let mut evidence = loading();
    plant(&mut evidence, "generator", "user", 0.85);
    names!(
        &evidence,
        Component::GeneratorThread,
        F::Generator(GeneratorLimit::LoaderFull { ran }) if near(*ran, 0.95)
    );
    // The cost of observing is not the thread's work.
    plant(&mut evidence, "generator", "observing", 0.5);
    assert_ne!(limiter(&evidence).component, Component::GeneratorThread);
    // The thread lacks a processor that something else uses.
    let mut evidence = loading();
    plant(&mut evidence, "generator", "waited", 0.6);
    names!(
        &evidence,
        Component::GeneratorCpu,
        F::Generator(GeneratorLimit::LoaderWaits { waited, .. }) if near(*waited, 0.6)
    );
}

#[test]
fn saturated_database_resource_limits_the_load() {
    let mut evidence = loading();
    plant(&mut evidence, "server", "user", 1.8);
    names!(
        &evidence,
        Component::DatabaseCpu,
        F::Processors(ProcessorLimit::Full { used, may_use, .. })
            if near(*used, 1.9) && near(*may_use, 2.0)
    );
    let mut evidence = loading();
    plant(&mut evidence, "server", "user", 0.9);
    hold(&mut evidence, "server", "busiest", 0.97);
    names!(
        &evidence,
        Component::DatabaseSingleCore,
        F::Processors(ProcessorLimit::OneThread { share, .. }) if near(*share, 0.97)
    );
    let mut evidence = loading();
    plant(&mut evidence, "waits", "Timeout:PgSleep", 4.0);
    plant(&mut evidence, "waits", "IO:WALSync", 30.0);
    names!(&evidence, Component::DatabaseFlush, F::Waits(Waits::Flush(_)));
}

#[test]
fn slow_or_distant_network_limits_the_load() {
    let mut narrow = loading();
    hold(&mut narrow, "sockets generator", "with-send-queue", 3.6);
    hold(&mut narrow, "sockets server", "with-receive-queue", 3.6);
    // If sessions are at work, rows do not wait for the network.
    assert_ne!(limiter(&narrow).component, Component::NetworkBandwidth);
    // If the sessions wait for rows, the rows in the generator's sockets wait for the network.
    plant(&mut narrow, "waits", "Timeout:PgSleep", 4.0);
    plant(&mut narrow, "waits", "Client:ClientRead", 30.0);
    names!(&narrow, Component::NetworkBandwidth, F::Network(NetworkLimit::RowsWait { .. }));
    // A closed TCP window is evidence of waiting rows, as a send queue is.
    hold(&mut narrow, "sockets generator", "with-send-queue", 0.4);
    assert_ne!(limiter(&narrow).component, Component::NetworkBandwidth);
    plant(&mut narrow, "sockets generator", "receiver-limited", 3.2);
    names!(
        &narrow,
        Component::NetworkBandwidth,
        F::Network(NetworkLimit::RowsWait { waiting, .. }) if near(*waiting, 3.2)
    );
    // If the sessions are not seen, the unread rows of the database are the evidence.
    narrow.loads[0].observed.retain(|it| !["sessions", "waits"].contains(&&*it.component));
    assert_ne!(limiter(&narrow).component, Component::NetworkBandwidth);
    hold(&mut narrow, "sockets server", "with-receive-queue", 0.2);
    names!(&narrow, Component::NetworkBandwidth, F::Network(NetworkLimit::RowsWait { .. }));
    // 1,000 batches by four writers take 33 ms each.
    let mut long = loading();
    plant(&mut long, "sessions", "active", 5.0);
    plant(&mut long, "sessions", "idle", 35.0);
    plant(&mut long, "waits", "Timeout:PgSleep", 0.0);
    hold(&mut long, "sockets generator", "round-trip-least", 0.02);
    names!(
        &long,
        Component::NetworkLatency,
        F::Network(NetworkLimit::RoundTrips { round_trip_s, service_s, .. })
            if near(*round_trip_s, 0.02) && near(*service_s, 0.033_2)
    );
}

#[test]
fn row_generation_is_not_network_time() {
    let mut evidence = loading_as(&LOADED.replace("writers = 4", "writers = 1"));
    plant(&mut evidence, "sessions", "active", 2.5);
    plant(&mut evidence, "sessions", "idle", 17.5);
    plant(&mut evidence, "waits", "Timeout:PgSleep", 0.5);
    // Neither the session nor the thread is at work, so the rows are on the network.
    names!(&evidence, Component::NetworkLatency, F::Network(NetworkLimit::OnTheWay { .. }));
    // The thread lacks a processor.
    plant(&mut evidence, "generator", "waited", 0.35);
    assert_ne!(limiter(&evidence).component, Component::NetworkLatency);
    // The thread generates rows for half of the time.
    let mut evidence = loading_as(&LOADED.replace("writers = 4", "writers = 1"));
    plant(&mut evidence, "generator", "user", 0.39);
    plant(&mut evidence, "sessions", "active", 4.8);
    plant(&mut evidence, "sessions", "idle", 15.2);
    plant(&mut evidence, "waits", "Timeout:PgSleep", 2.8);
    assert_ne!(limiter(&evidence).component, Component::NetworkLatency);
}

#[test]
fn embedded_database_is_limited_by_flushes() {
    let mut evidence = loading();
    let sqlite = UsedTarget { route: Some(Route::Sqlite), ..UsedTarget::default() };
    evidence.surroundings.main = sqlite;
    evidence.loads[0].observed.retain(|it| ["generator", "server"].contains(&&*it.component));
    hold(&mut evidence, "server", "busiest", 0.1);
    names!(
        &evidence,
        Component::DatabaseFlush,
        F::Waits(Waits::Embedded { wait: EmbeddedWait::Flush, .. })
    );
    // The active one of four writers keeps the others waiting.
    plant(&mut evidence, "server", "user", 0.7);
    names!(
        &evidence,
        Component::DatabaseLocks,
        F::Waits(Waits::Embedded { wait: EmbeddedWait::Writer, .. })
    );
    // If the database is busy half of the time and its waits are short, more writers would not
    // help.
    plant(&mut evidence, "server", "user", 0.5);
    plant(&mut evidence, "server", "waited", 2.3);
    hold(&mut evidence, "server", "processors", 9.0);
    assert_eq!(limiter(&evidence).component, Component::Unknown);
}

#[test]
fn limiter_of_unobserved_or_brief_load_is_unknown() {
    let is_unknown = |evidence: &Evidence, expected: F| {
        let limiter = limiter(evidence);
        assert_eq!((limiter.component, limiter.finding), (Component::Unknown, expected));
    };
    let mut evidence = loading();
    evidence.loads[0].took = Nanos::from_millis(999);
    is_unknown(&evidence, F::Inconclusive(Inconclusive::ShortLoad));
    let mut evidence = loading();
    evidence.is_virtual = true;
    is_unknown(&evidence, F::Inconclusive(Inconclusive::VirtualTime));
    let mut evidence = loading();
    evidence.loads[0].observed.retain(|it| it.component == "generator");
    is_unknown(
        &evidence,
        F::NothingSaturated { why: Saturation::Load, sees_server: false, saturated: Vec::new() },
    );
    evidence.loads[0].observed.clear();
    is_unknown(&evidence, F::Inconclusive(Inconclusive::NothingObserved));
}

#[test]
fn observing_share_covers_loads_without_a_run() {
    let mut evidence = loading();
    evidence.observed.clear();
    let share = summarize(&evidence).observing_share.unwrap();
    assert!((share - 0.01).abs() < 1e-6, "{share}");
    evidence.loads[0].observed.clear();
    assert_eq!(summarize(&evidence).observing_share, None);
}

#[test]
fn load_reports_processor_time_of_the_database() {
    let load = summarize(&loading()).loads.remove(0);
    let s = load.server_cpu.unwrap().as_secs_f64();
    assert!((s - 0.2 * TOOK.as_secs_f64()).abs() < 0.01, "{s}");
    let mut evidence = loading();
    evidence.loads[0].observed.clear();
    assert_eq!(summarize(&evidence).loads[0].server_cpu, None);
}
