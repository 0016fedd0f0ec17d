//! The figures of a run, which comparisons use.

use analyze::compare::{Missing, RunFigures};
use analyze::{CheckKind, Domain, Evidence, NodeEvidence, Observed, Status, summarize};
use base::{Class, Code, Nanos};
use record::{EndKind, EventKind, Kind};
use workload::question::{CpuOwner, RunMetric};

use crate::support::{MIXED, OPEN, event, set_times, steady};

fn figures(evidence: &Evidence) -> RunFigures {
    RunFigures::of(evidence, &summarize(evidence), Vec::new())
}

fn get(figures: &RunFigures, metric: &str) -> Result<f64, Missing> {
    figures.get(&RunMetric::parse(metric).unwrap())
}

#[test]
fn closed_job_has_every_figure_of_its_requests() {
    let figures = figures(&steady(MIXED));
    assert_eq!(get(&figures, "throughput(write)"), Ok(1_000.0));
    assert_eq!(get(&figures, "response.p50(write)").map(f64::round), Ok(1.0));
    assert_eq!(get(&figures, "response.p99(write)").map(f64::round), Ok(4.0));
    assert_eq!(get(&figures, "service.mean(write)").map(|ms| (ms * 10.0).round()), Ok(16.0));
    assert_eq!(get(&figures, "failed(write)"), Ok(0.0));
    assert_eq!(figures.jobs, ["read", "write"]);
}

#[test]
fn delay_of_the_generator_is_a_figure() {
    let mut evidence = steady(MIXED);
    set_times(&mut evidence, 1, Kind::SendLag, 0.25, 1_000);
    let lag = |evidence: &Evidence| get(&figures(evidence), "send-lag.p99(write)");
    assert_eq!(lag(&evidence).map(|ms| (ms * 100.0).round()), Ok(25.0));
    evidence.jobs[1].window.retain(|(kind, _)| *kind != Kind::SendLag);
    assert_eq!(lag(&evidence), Err(Missing::NotMeasured));
}

#[test]
fn throughput_of_an_open_job_that_keeps_up_is_its_rate() {
    let figures = figures(&steady(OPEN));
    assert_eq!(get(&figures, "throughput"), Err(Missing::OfferedRate));
    assert_eq!(get(&figures, "rows(read)"), Err(Missing::OfferedRate));
    assert_eq!(get(&figures, "response.p50").map(f64::round), Ok(1.0));
}

#[test]
fn each_second_of_the_window_has_a_rate() {
    let mut evidence = steady(OPEN);
    let seconds = evidence.steps.window().len();
    // The generator stalled for a second, and sent the missing requests in the next one.
    let [still, next] = [5, 6].map(|second| evidence.steps.window().start + second);
    let completed = evidence.jobs[0].steps[still].ends.completed;
    evidence.jobs[0].steps[still].ends.completed = 0;
    evidence.jobs[0].steps[next].ends.completed *= 2;
    let rates = &figures(&evidence).rates[0];
    assert_eq!((rates.job.as_str(), rates.completed_per_s.len()), ("read", seconds));
    let per_s = completed as f64;
    assert_eq!(rates.completed_per_s[4..8], [per_s, 0.0, 2.0 * per_s, per_s]);
    assert_eq!(rates.offered_per_s.map(f64::round), Some(per_s));
    assert_eq!(rates.part_s, 1.0);
    assert_eq!(figures(&steady(MIXED)).rates[1].offered_per_s, None);
}

#[test]
fn long_window_has_rates_of_longer_parts() {
    let figures = figures(&steady(&OPEN.replace("60s", "250s")));
    let rates = &figures.rates[0];
    assert_eq!((rates.completed_per_s.len(), rates.part_s), (120, 2.0));
}

#[test]
fn metric_without_a_name_needs_a_single_job() {
    let figures = figures(&steady(MIXED));
    assert_eq!(get(&figures, "response.p99"), Err(Missing::Ambiguous));
    assert_eq!(get(&figures, "throughput"), Err(Missing::Ambiguous));
    assert_eq!(get(&figures, "throughput(other)"), Err(Missing::NotMeasured));
    assert_eq!(get(&figures, "size(orders)"), Err(Missing::NotMeasured));
}

#[test]
fn metric_without_a_name_is_that_of_a_mix_and_not_of_its_parts() {
    let mix = "duration = 60s\nwarmup = 10s\n[all]\nmix = a: 1, b: 1\nconcurrency = 4\n\
               [a]\nquery = select 1\n[b]\nquery = select 2\n";
    let figures = figures(&steady(mix));
    for metric in ["throughput", "response.p99", "failed"] {
        let name = format!("{metric}(all)");
        let value = get(&figures, &name);
        assert!(value.is_ok(), "{name}: {value:?}");
        assert_eq!(get(&figures, metric), value, "{metric}");
        let resolved = figures.resolve(&RunMetric::parse(metric).unwrap());
        assert_eq!(resolved.to_string(), name);
    }
    assert_eq!(get(&figures, "throughput(all/a)"), Ok(1_000.0));
}

/// The accounts are the mix, then its parts.
#[test]
fn errors_of_a_mix_are_those_of_its_parts() {
    let mix = "duration = 60s\nwarmup = 10s\n[all]\nmix = a: 1, b: 1\nrate = 1000\n\
               [a]\nquery = select 1\n[b]\nquery = select 2\n";
    let mut evidence = steady(mix);
    for (job, count) in evidence.jobs.iter_mut().zip([5, 2, 3]) {
        job.failures = vec![(Class::Constraint, Code::new("23505"), count)];
    }
    let errors = figures(&evidence).errors;
    let counts: Vec<_> = errors.iter().map(|(job, error)| (job.as_str(), error.count)).collect();
    assert_eq!(counts, [("all/a", 2), ("all/b", 3)]);
}

/// In each second, for 2,000 requests, the load generator uses 40 ms of processor time, three
/// quarters of it in the kernel; the database uses 300 ms in user mode and 100 ms in the kernel.
#[test]
fn processor_time_is_per_completed_request() {
    let mut evidence = steady(MIXED);
    for (metric, per_s) in [("user", 0.3), ("system", 0.1)] {
        evidence.observed.push(Observed {
            component: "server".to_owned(),
            metric: metric.to_owned(),
            points: (0..=60).map(|s| (Nanos::from_secs(s), per_s * s as f64)).collect(),
            ranges: Vec::new(),
        });
    }
    let figures = figures(&evidence);
    let us = |metric| get(&figures, metric).map(|us| (us * 10.0).round() / 10.0);
    assert_eq!(us("cpu.database"), Ok(200.0));
    assert_eq!(us("cpu.database.user"), Ok(150.0));
    assert_eq!(us("cpu.database.system"), Ok(50.0));
    let parts = us("cpu.generator.user").unwrap() + us("cpu.generator.system").unwrap();
    assert_eq!(us("cpu.generator"), Ok(20.0));
    assert!((parts - 20.0).abs() < 0.2, "{parts}");
    assert_eq!(us("cpu.proxy"), Err(Missing::NotMeasured));
}

/// The server is bound to one of the machine's processors, and its control group may use half of
/// that processor.
#[test]
fn processor_time_is_a_share_of_the_usable_processors() {
    let mut evidence = steady(MIXED);
    evidence.observed.push(observed("server", "user", |second| 0.3 * second as f64));
    evidence.observed.push(observed("server", "system", |second| 0.1 * second as f64));
    let share = |evidence: &Evidence| figures(evidence).cpu_share(CpuOwner::Database);
    assert_eq!(share(&evidence), None, "its processors are not known");
    evidence.observed.push(observed("server", "processors", |_| 1.0));
    let of_one = share(&evidence).unwrap();
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value}");
    near(of_one.user, 0.3);
    near(of_one.system, 0.1);
    near(of_one.used(), 0.4);
    near(of_one.idle(), 0.6);
    evidence.observed.push(observed("cgroup server", "quota", |_| 0.5));
    let of_half = share(&evidence).unwrap();
    near(of_half.used(), 0.8);
    near(of_half.processors, 0.5);
    evidence.observed.push(observed("server", "proxies", |_| 1.0));
    assert_eq!(share(&evidence), None);
    near(figures(&evidence).cpu_share(CpuOwner::Proxy).unwrap().used(), 0.8);
}

fn observed(component: &str, metric: &str, value: impl Fn(u64) -> f64) -> Observed {
    Observed {
        component: component.to_owned(),
        metric: metric.to_owned(),
        points: (0..=60).map(|second| (Nanos::from_secs(second), value(second))).collect(),
        ranges: Vec::new(),
    }
}

/// The processes that accept the connections belong to a pooler.
#[test]
fn processor_time_of_a_pooler_does_not_count_for_the_database() {
    let mut evidence = steady(MIXED);
    evidence.observed.push(observed("server", "user", |second| 0.3 * second as f64));
    evidence.observed.push(observed("server", "system", |second| 0.1 * second as f64));
    evidence.observed.push(observed("server", "proxies", |_| 1.0));
    let figures = figures(&evidence);
    let us = |metric| get(&figures, metric).map(f64::round);
    assert_eq!((us("cpu.proxy"), us("cpu.proxy.user")), (Ok(200.0), Ok(150.0)));
    assert_eq!(us("cpu.database"), Err(Missing::NotMeasured));
}

/// The pooler may use one processor, of which its control group allows half; the database behind
/// the pooler may use two processors.
#[test]
fn database_behind_a_pooler_has_processor_time_of_its_own() {
    let mut evidence = steady(MIXED);
    evidence.observed.extend([
        observed("server", "user", |second| 0.3 * second as f64),
        observed("server", "system", |second| 0.1 * second as f64),
        observed("server", "processors", |_| 1.0),
        observed("cgroup server", "quota", |_| 0.5),
        observed("server", "proxies", |_| 1.0),
        observed("upstream", "user", |second| 0.8 * second as f64),
        observed("upstream", "system", |second| 0.2 * second as f64),
        observed("upstream", "processors", |_| 2.0),
    ]);
    let found = figures(&evidence);
    let us = |metric| get(&found, metric).map(f64::round);
    assert_eq!((us("cpu.proxy"), us("cpu.database")), (Ok(200.0), Ok(500.0)));
    assert_eq!(us("cpu.database.user"), Ok(400.0));
    let percent = |owner| {
        let share = found.cpu_share(owner).unwrap();
        [share.user, share.system, share.idle()].map(|it| (it * 100.0).round())
    };
    assert_eq!(percent(CpuOwner::Proxy), [60.0, 20.0, 20.0]);
    assert_eq!(percent(CpuOwner::Database), [40.0, 10.0, 50.0]);
    // Without a proxy the database itself accepts the connections.
    evidence.observed.retain(|it| it.metric != "proxies");
    let found = figures(&evidence);
    assert_eq!(get(&found, "cpu.database").map(f64::round), Ok(200.0));
    assert_eq!(found.cpu_share(CpuOwner::Proxy), None);
}

/// Adds the observations of a server on another machine, whose control group limits it to half of
/// the processors.
fn add_server_elsewhere(evidence: &mut Evidence, host: &str) {
    let of = |name: &str| format!("{host}/{name}");
    evidence.observed.extend([
        observed(&of("server"), "processes", |_| 5.0),
        observed(&of("server"), "user", |second| 0.3 * second as f64),
        observed(&of("server"), "system", |second| 0.1 * second as f64),
        observed(&of("server"), "processors", |_| 4.0),
        observed(&of("cgroup server"), "quota", |_| 2.0),
    ]);
}

/// On this machine only a tunnel accepts the connections.
#[test]
fn processor_time_of_a_database_on_another_observed_machine_counts() {
    let mut evidence = steady(MIXED);
    evidence.observed.push(observed("server", "processes", |_| 1.0));
    evidence.observed.push(observed("server", "user", |second| 0.01 * second as f64));
    evidence.observed.push(observed("server", "system", |second| 0.01 * second as f64));
    evidence.observed.push(observed("server", "processors", |_| 8.0));
    add_server_elsewhere(&mut evidence, "db1");
    let found = figures(&evidence);
    let share = found.cpu_share(CpuOwner::Database).unwrap();
    let parts = [share.user, share.system, share.processors].map(|it| (it * 100.0).round());
    assert_eq!(parts, [15.0, 5.0, 200.0]);
    assert_eq!(get(&found, "cpu.database").map(f64::round), Ok(200.0));
    evidence.observed.push(observed("db1/server", "proxies", |_| 1.0));
    let found = figures(&evidence);
    assert_eq!(found.cpu_share(CpuOwner::Database), None);
    assert_eq!(found.cpu_share(CpuOwner::Proxy).map(|it| (it.used() * 100.0).round()), Some(20.0));
}

/// No processor time is reported, because that of one machine is not that of the whole database.
#[test]
fn processor_time_of_several_servers_on_several_machines_is_unknown() {
    let mut evidence = steady(MIXED);
    let (job, _) = evidence.plan.jobs_by_id().next().unwrap();
    let requests = evidence.jobs[0].clone();
    let node = |address: &str| NodeEvidence {
        job,
        address: address.to_owned(),
        requests: requests.clone(),
    };
    add_server_elsewhere(&mut evidence, "db1");
    let on_one_machine = vec![node("10.0.0.1:5432"), node("10.0.0.1:5433")];
    evidence.nodes = on_one_machine.clone();
    assert!(figures(&evidence).cpu_share(CpuOwner::Database).is_some());
    // The second machine is not observed.
    evidence.nodes = vec![node("10.0.0.1:5432"), node("10.0.0.2:5432")];
    assert_eq!(figures(&evidence).cpu_share(CpuOwner::Database), None);
    add_server_elsewhere(&mut evidence, "db2");
    evidence.nodes = on_one_machine;
    let found = figures(&evidence);
    assert_eq!(found.cpu_share(CpuOwner::Database), None);
    assert_eq!(get(&found, "cpu.database"), Err(Missing::NotMeasured));
    evidence.nodes.clear();
    assert!(figures(&evidence).cpu_share(CpuOwner::Database).is_some());
}

/// In a short run, all ticks of the system's clock may fall into one mode. The time in the other
/// mode is then missing, but the total is not.
#[test]
fn processor_time_without_a_tick_in_one_mode_has_a_total() {
    let mut evidence = steady(MIXED);
    evidence.observed.push(observed("server", "user", |_| 0.2));
    evidence.observed.push(observed("server", "system", |second| 0.1 * second as f64));
    let figures = figures(&evidence);
    let us = |metric| get(&figures, metric).map(f64::round);
    assert_eq!((us("cpu.database"), us("cpu.database.system")), (Ok(50.0), Ok(50.0)));
    assert_eq!(us("cpu.database.user"), Err(Missing::NotMeasured));
}

#[test]
fn sizes_are_those_on_the_disk_and_by_the_server_when_the_jobs_have_ended() {
    let mut evidence = steady(&format!("{MIXED}[load orders]\nrows = 10\ncolumns = id: row()\n"));
    for (part, logical, allocated) in [("table orders", 100.0, 40.0), ("storage", 900.0, 500.0)] {
        let grown = |bytes: f64| move |second: u64| bytes * second as f64 / 60.0;
        evidence.observed.push(observed(part, "logical-bytes", grown(logical)));
        evidence.observed.push(observed(part, "allocated-bytes", grown(allocated)));
    }
    let figures = figures(&evidence);
    assert_eq!(get(&figures, "size(orders)"), Ok(40.0));
    assert_eq!(get(&figures, "size"), Ok(500.0));
    assert_eq!(get(&figures, "size.logical(orders)"), Ok(100.0));
    assert_eq!(get(&figures, "size.logical"), Ok(900.0));
    for name in ["size", "size.logical"] {
        let size = RunMetric::parse(name).unwrap();
        assert_eq!(figures.resolve(&size), size);
    }
}

#[test]
fn verdict_is_divided_between_instrument_and_system() {
    let mut evidence = steady(OPEN);
    let sound = figures(&evidence).verdict;
    assert_eq!((sound.instrument, sound.system), (Status::Pass, Status::Pass));
    evidence.events.push(event(5_000, None, EventKind::RecorderFailed, "disk full"));
    let broken = figures(&evidence).verdict;
    assert_eq!((broken.instrument, broken.system), (Status::Invalid, Status::Pass));
    assert_eq!(broken.with(Status::Invalid).collect::<Vec<_>>(), [CheckKind::Complete]);
}

#[test]
fn run_that_a_full_queue_ended_is_the_fault_of_the_system() {
    let mut evidence = steady(OPEN);
    evidence.ended = Some(EndKind::QueueFull);
    let verdict = figures(&evidence).verdict;
    assert_eq!((verdict.instrument, verdict.system), (Status::Pass, Status::Invalid));
    evidence.ended = Some(EndKind::InternalError);
    let verdict = figures(&evidence).verdict;
    assert_eq!((verdict.instrument, verdict.system), (Status::Invalid, Status::Pass));
}

/// The table of the guide has the checks of each part, in order.
#[test]
fn guide_lists_the_checks_of_instrument_and_system() {
    let guide = include_str!("../../../../docs/checks.md");
    for domain in [Domain::Instrument, Domain::System] {
        let begin = format!("| {} | ", domain.name());
        let row = guide.lines().find_map(|line| line.strip_prefix(&begin)).expect("a row");
        let of_it = CheckKind::ALL.iter().filter(|kind| kind.judged_domain() == domain);
        let names: Vec<String> = of_it.map(|kind| format!("`{}`", kind.name())).collect();
        assert_eq!(row, format!("{} |", names.join(", ")));
    }
}
