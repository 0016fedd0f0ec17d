//! Checks of a server's own counters, with planted faults.

use analyze::finding::{
    Checkpoints, Commits, ComparedCounter, CounterComparison, CounterObstacle, Coverage, Cycles,
};
use analyze::{
    Check, Evidence, Finding, JobAnswers, Observed, Obstacle, ServerCounters, Status, Unit,
};
use base::Nanos;
use record::{Balance, Counts, EndKind};

use crate::support::{check, only, steady};

/// One statement that commits by itself.
const READ: &str = "duration = 60s\nwarmup = 10s\n[read]\nquery = select 1\nrate = 1000\narrival \
                    = uniform\n";

/// Number of requests in a run of [`READ`].
const ALL: u64 = 60_000;

/// Counters of a server: name, value before the run, value after it.
type Counted<'a> = &'a [(&'a str, f64, f64)];

/// Returns a run of this workload with these answers by job and these counters.
fn account(workload: &str, jobs: Vec<JobAnswers>, counted: Counted<'_>) -> Evidence {
    let mut evidence = steady(workload);
    let count = |(metric, before, after): &(&str, f64, f64)| Observed {
        component: "database".to_owned(),
        metric: (*metric).to_owned(),
        points: vec![(Nanos::ZERO, *before), (Nanos::from_secs(60), *after)],
        ranges: Vec::new(),
    };
    let counts = counted.iter().map(count).collect();
    evidence.server_counters = ServerCounters { refused: None, counts, jobs };
    evidence
}

/// Returns a job whose requests were all answered, each statement once.
fn answered(requests: u64, statements: usize) -> JobAnswers {
    reported(Balance::of(requests, 0, 0, 0), 0, vec![requests; statements])
}

fn reported(balance: Balance, retries: u64, statements: Vec<u64>) -> JobAnswers {
    let counts = Counts { balance, retries, ..Counts::default() };
    JobAnswers { counts, statements, wrong_rows: 0 }
}

/// Returns a run on PostgreSQL, which counted this many commits; seven of them are Assay's own.
fn postgres(workload: &str, jobs: Vec<JobAnswers>, commits: u64) -> Evidence {
    let counted = [
        ("commits", 100.0, 100.0 + commits as f64),
        ("commits-of-assay", 20.0, 27.0),
        ("counted-since", 5.0, 5.0),
    ];
    account(workload, jobs, &counted)
}

/// Returns a run on MariaDB with its counts of statements and `commit`s; three statements are
/// Assay's own.
fn mariadb(workload: &str, jobs: Vec<JobAnswers>, statements: u64, commits: u64) -> Evidence {
    let counted = [
        ("commits", 100.0, 100.0 + commits as f64),
        ("commits-of-assay", 0.0, 0.0),
        ("statements", 50.0, 50.0 + statements as f64),
        ("statements-of-assay", 10.0, 13.0),
        ("statements-of-assay-at-most", 10.0, 13.0),
        ("counted-for", 30.0, 91.0),
    ];
    account(workload, jobs, &counted)
}

#[test]
fn one_lost_commit_is_enough() {
    for (commits, status) in [
        (ALL + 7, Status::Pass),
        (ALL + 6, Status::Invalid),
        (0, Status::NotPossible),
        // 0.5 % of the server's count, which here equals 5 per second.
        (ALL + 7 + 301, Status::Pass),
        (ALL + 7 + 302, Status::Suspect),
    ] {
        only("commits", status, &postgres(READ, vec![answered(ALL, 1)], commits));
    }
    let found = check("commits", &postgres(READ, vec![answered(ALL, 1)], ALL + 6));
    let compared = CounterComparison {
        counter: ComparedCounter::Commits,
        server: 60_006.0,
        own: [7.0, 7.0],
        requests: [60_000.0, 60_000.0],
    };
    assert_eq!(found.finding, Finding::Commits(Commits::Missing(compared)));
    assert_eq!((found.value, found.unit), (Some(-1.0), Unit::Counted(ComparedCounter::Commits)));
}

#[test]
fn commits_of_parallel_workers_are_not_foreign() {
    let seen = |commits, workers: f64| {
        let mut evidence = postgres(READ, vec![answered(ALL, 1)], commits);
        evidence.observed.push(Observed {
            component: "sessions".to_owned(),
            metric: "parallel-workers".to_owned(),
            points: vec![(Nanos::ZERO, 0.0), (Nanos::from_secs(60), workers)],
            ranges: Vec::new(),
        });
        evidence
    };
    only("commits", Status::Suspect, &seen(2 * ALL, 0.0));
    only("commits", Status::NotPossible, &seen(2 * ALL, 3.0));
    let found = check("commits", &seen(2 * ALL, 3.0));
    let is_it = |obstacle: &Obstacle| {
        matches!(obstacle, Obstacle::Counters(CounterObstacle::ParallelWorkers(_)))
    };
    assert!(matches!(&found.finding, Finding::NotPossible(it) if is_it(it)), "{found:?}");
    only("commits", Status::Pass, &seen(ALL + 7, 3.0));
    only("commits", Status::Invalid, &seen(ALL + 6, 3.0));
}

#[test]
fn short_run_tolerates_five_foreign_commits_per_second() {
    let few = |commits| postgres(READ, vec![answered(1_000, 1)], commits);
    only("commits", Status::Pass, &few(1_007 + 300));
    only("commits", Status::Suspect, &few(1_007 + 301));
}

#[test]
fn transaction_counts_as_one_commit() {
    let workload = READ.replace("rate", "query = select 2\ntransaction = yes\nrate");
    let jobs = || vec![answered(ALL, 2)];
    only("commits", Status::Pass, &postgres(&workload, jobs(), ALL + 7));
    only("commits", Status::Invalid, &postgres(&workload, jobs(), ALL + 6));
    // MariaDB counts each statement as one, including the statements that begin and end the
    // transaction.
    only("commits", Status::Pass, &mariadb(&workload, jobs(), 4 * ALL + 3, ALL));
    only("commits", Status::Invalid, &mariadb(&workload, jobs(), 4 * ALL + 2, ALL));
    only("commits", Status::Invalid, &mariadb(&workload, jobs(), 4 * ALL + 3, ALL - 1));
    only("commits", Status::Suspect, &mariadb(&workload, jobs(), 4 * ALL + 3, ALL + 303));
}

#[test]
fn statements_outside_a_transaction_count_as_one_commit_each() {
    let workload = READ.replace("rate", "query = select 2\nrate");
    let jobs = || vec![answered(ALL, 2)];
    only("commits", Status::Pass, &postgres(&workload, jobs(), 2 * ALL + 7));
    only("commits", Status::Invalid, &postgres(&workload, jobs(), 2 * ALL + 6));
    only("commits", Status::Pass, &mariadb(&workload, jobs(), 2 * ALL + 3, 0));
    only("commits", Status::Invalid, &mariadb(&workload, jobs(), 2 * ALL + 2, 0));
}

#[test]
fn the_parts_of_a_mix_are_counted_once() {
    let workload = "duration = 60s\nwarmup = 10s\n[all]\nmix = a: 1, b: 1\nrate = 1000\narrival = \
                    uniform\n[a]\nquery = select 1\n[b]\nquery = select 2\ntransaction = yes\n";
    let mut evidence = steady(workload);
    let jobs = evidence.plan.jobs_and_parts().map(|either| match either.is_mix() {
        false => answered(ALL / 2, 1),
        true => answered(ALL, 0),
    });
    evidence.server_counters = postgres(READ, jobs.collect(), ALL + 7).server_counters;
    assert_eq!(check("commits", &evidence).status, Status::Pass);
    evidence.server_counters =
        postgres(READ, evidence.server_counters.jobs, ALL + 6).server_counters;
    assert_eq!(check("commits", &evidence).status, Status::Invalid);
}

#[test]
fn failed_requests_widen_the_expected_commits() {
    let jobs = || vec![reported(Balance::of(ALL - 1_000, 1_000, 0, 0), 0, vec![ALL - 1_000])];
    let found = |commits| check("commits", &postgres(READ, jobs(), commits));
    assert_eq!(found(ALL - 1_000 + 7).status, Status::Pass);
    assert_eq!(found(ALL + 7).status, Status::Pass);
    assert_eq!(found(ALL - 1_000 + 6).status, Status::Invalid);
    let Finding::Commits(Commits::Agree(compared)) = found(ALL + 7).finding else {
        panic!("{:?}", found(ALL + 7));
    };
    assert_eq!(compared.requests[0], 59_000.0);
    assert!(compared.requests[1] > 59_000.0, "{compared:?}");
    // An attempt that was retried has failed as well.
    let retried = vec![reported(Balance::of(ALL, 0, 0, 0), 400, vec![ALL])];
    assert_eq!(check("commits", &postgres(READ, retried, ALL + 7 + 500)).status, Status::Pass);
    // Requests that returned an unexpected number of rows were executed.
    let transaction = READ.replace("rate", "transaction = yes\nrate");
    let mut wrong = reported(Balance::of(ALL - 10, 10, 0, 0), 0, vec![ALL]);
    wrong.wrong_rows = 10;
    let found = |commits| check("commits", &postgres(&transaction, vec![wrong.clone()], commits));
    assert_eq!(found(ALL + 7).status, Status::Pass);
    assert_eq!(found(ALL + 6).status, Status::Invalid);
}

#[test]
fn pipelined_transactions_commit_without_a_commit_statement() {
    let workload = READ.replace("rate", "transaction = yes\npipeline = yes\nrate");
    let jobs = || vec![answered(ALL, 1)];
    only("commits", Status::Pass, &mariadb(&workload, jobs(), 3 * ALL + 3, 0));
    only("commits", Status::Invalid, &mariadb(&workload, jobs(), 3 * ALL + 2, 0));
}

/// Asserts that the check is not possible, for this reason.
#[track_caller]
fn is_not_possible(evidence: &Evidence, why: CounterObstacle) {
    let expected = Finding::NotPossible(Obstacle::Counters(why));
    for name in ["commits", "checkpoints"] {
        assert_eq!(check(name, evidence).finding, expected);
    }
}

#[test]
fn missing_server_counters_are_reported() {
    let right = || postgres(READ, vec![answered(ALL, 1)], ALL + 7);
    let mut simulated = right();
    simulated.is_virtual = true;
    let virtual_time = Finding::NotPossible(Obstacle::VirtualTime);
    assert_eq!(check("commits", &simulated).finding, virtual_time);
    assert_eq!(check("checkpoints", &simulated).finding, virtual_time);
    is_not_possible(&steady(READ), CounterObstacle::NoAccount);
    let mut refused = steady(READ);
    let why = "permission denied".to_owned();
    refused.server_counters.refused = Some(why.clone());
    is_not_possible(&refused, CounterObstacle::AccountRefused(why));
    let mut once = right();
    once.server_counters.counts.iter_mut().for_each(|count| count.points.truncate(1));
    is_not_possible(&once, CounterObstacle::AccountNotRead);
    let mut killed = right();
    killed.ended = None;
    is_not_possible(&killed, CounterObstacle::CutOff);
    killed.ended = Some(EndKind::InternalError);
    is_not_possible(&killed, CounterObstacle::CutOff);
    let two = format!(
        "{READ}target = other\n[target other]\nurl = postgres://h/d\n[more]\nquery = select 2\n\
         rate = 1000\narrival = uniform\n"
    );
    let mut several = steady(&two);
    several.server_counters = right().server_counters;
    is_not_possible(&several, CounterObstacle::SeveralTargets);
}

#[test]
fn server_with_reset_counters_is_not_judged() {
    let mut shrunk = postgres(READ, vec![answered(ALL, 1)], ALL + 7);
    shrunk.server_counters.counts[0].points[1].1 = 99.0;
    is_not_possible(&shrunk, CounterObstacle::CountersReset);
    let mut restarted = postgres(READ, vec![answered(ALL, 1)], 100);
    restarted.server_counters.counts[2].points[1].1 = 35.0;
    is_not_possible(&restarted, CounterObstacle::CountersReset);
    let mut younger = mariadb(READ, vec![answered(ALL, 1)], 100, 0);
    younger.server_counters.counts[5].points[1].1 = 50.0;
    is_not_possible(&younger, CounterObstacle::CountersReset);
}

#[test]
fn statements_with_unknown_commits_are_not_judged() {
    for statement in
        ["call p()", "xa start x", "do $$ begin commit; end $$", "vacuum t", "select ${raw(x)}"]
    {
        let workload = READ.replace("select 1", statement);
        let workload = workload.replace("rate", "let = x: text(1, 5)\nrate");
        let mut evidence = steady(&workload);
        evidence.server_counters = postgres(READ, vec![answered(ALL, 1)], 2 * ALL).server_counters;
        let found = check("commits", &evidence);
        let is_unknown = |it: &CounterObstacle| match it {
            CounterObstacle::UnknownCommits { job, .. } => job == "read",
            _ => false,
        };
        let Finding::NotPossible(Obstacle::Counters(obstacle)) = &found.finding else {
            panic!("{statement}: {found:?}");
        };
        assert!(is_unknown(obstacle), "{statement}: {found:?}");
        // MariaDB counts statements that were sent, independently of their effect.
        evidence.server_counters =
            mariadb(READ, vec![answered(ALL, 1)], ALL + 3, 2 * ALL).server_counters;
        assert_eq!(check("commits", &evidence).status, Status::Pass, "{statement}");
        evidence.server_counters =
            mariadb(READ, vec![answered(ALL, 1)], ALL + 2, 2 * ALL).server_counters;
        assert_eq!(check("commits", &evidence).status, Status::Invalid, "{statement}");
    }
}

/// Returns the check of a run with these numbers of timed and requested checkpoints.
fn checkpoints(timed: f64, requested: f64, written: f64) -> Check {
    let mut evidence = postgres(READ, vec![answered(ALL, 1)], ALL + 7);
    let counted = [
        ("checkpoints-timed", 3.0, 3.0 + timed),
        ("checkpoints-requested", 4.0, 4.0 + requested),
        ("log-written", 1e9, 1e9 + written),
    ];
    let more = account(READ, Vec::new(), &counted).server_counters.counts;
    evidence.server_counters.counts.extend(more);
    only("checkpoints", Status::Pass, &evidence)
}

#[test]
fn missing_checkpoint_is_reported_and_not_suspect() {
    let none = checkpoints(0.0, 0.0, 50e6);
    assert_eq!((none.value, none.limit), (Some(0.0), Some(2.0)));
    for (timed, requested, written_bytes, coverage) in [
        (0.0, 0.0, 50e6, Coverage::FewCycles),
        (1.0, 0.0, 50e6, Coverage::FewCycles),
        (1.0, 2.0, 50e6, Coverage::Representative),
        (0.0, 0.0, 1e5, Coverage::NothingToWrite),
    ] {
        let cycles = Cycles::Checkpoints { timed, requested };
        let expected = Checkpoints { cycles, written_bytes, coverage };
        let found = checkpoints(timed, requested, written_bytes);
        assert_eq!(found.finding, Finding::Checkpoints(expected));
    }
}

#[test]
fn log_wraps_are_counted_without_checkpoints() {
    let mut evidence = mariadb(READ, vec![answered(ALL, 1)], ALL + 3, 0);
    let unknown = only("checkpoints", Status::NotPossible, &evidence);
    let why = Obstacle::Counters(CounterObstacle::NoLogWritten);
    assert_eq!(unknown.finding, Finding::NotPossible(why));
    let counted = [("log-written", 0.0, 250e6), ("log-capacity", 100e6, 100e6)];
    evidence
        .server_counters
        .counts
        .extend(account(READ, Vec::new(), &counted).server_counters.counts);
    let found = only("checkpoints", Status::Pass, &evidence);
    assert_eq!(found.value, Some(2.5));
    let cycles = Cycles::Turns(2.5);
    let coverage = Coverage::Representative;
    let expected = Checkpoints { cycles, written_bytes: 250e6, coverage };
    assert_eq!(found.finding, Finding::Checkpoints(expected));
}
