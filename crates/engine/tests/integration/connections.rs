//! A server that has fewer connections than a run would like.

use std::sync::Arc;

use base::{Class, Clock, Code, Nanos, Placeholders, Stamp};
use driver::{Driver, Error, Insert, Simulated};
use engine::{Failed, Honest, LaneOutlet, Silence, Stop, run};
use record::{EventKind, Grid, MemoryOutlet, Totals};
use rt::Rt;
use sim::Config;
use workload::Pacing;

use crate::support::{JOB, constant, even, plan, run_on, virtually};

/// A thread without a connection could send nothing of its part of the schedule.
#[test]
fn a_server_without_a_connection_for_each_thread_ends_the_run_before_it_begins() {
    let plan = plan(even(1_000), 0.0, 5.0, 4);
    let server =
        Simulated::new(Config { max_connections: Some(3), ..constant(1_000, None) }, plan.seed);
    let memory = MemoryOutlet::new(Totals::new(Grid::new(plan.warmup, plan.duration), &[1]));
    let outlet = |_| Box::new(memory.clone()) as LaneOutlet;
    let (stop, listener) = (Stop::default(), Arc::new(Silence));
    let failed = run(&plan, server, &virtually(4), outlet, &stop, listener).unwrap_err();
    let Failed::Unreachable(error) = failed else { panic!("{failed}") };
    let expected = "no connection is left for [read] on one of 4 threads";
    assert!(error.to_string().contains(expected), "{error}");
}

/// A server whose connections others hold from the second second to the fifth.
#[derive(Clone)]
struct Crowded(Simulated);

impl Driver for Crowded {
    type Connection = <Simulated as Driver>::Connection;

    fn placeholders(&self) -> Placeholders {
        self.0.placeholders()
    }

    fn keeps_data(&self) -> bool {
        self.0.keeps_data()
    }

    fn insert(&self, insert: &Insert<'_>) -> Result<String, Error> {
        self.0.insert(insert)
    }

    async fn connect(&self, rt: &Rt) -> Result<Self::Connection, Error> {
        let crowded = Stamp(Nanos::from_secs(2).0)..Stamp(Nanos::from_secs(5).0);
        if crowded.contains(&rt.now()) {
            let code = Code::new("full");
            return Err(Error::new(Class::TooManyConnections, code, "all of them are taken"));
        }
        self.0.connect(rt).await
    }

    fn time_zero(&self, zero: Stamp) {
        self.0.time_zero(zero);
    }
}

/// Somebody else took the connections while the server was away. They may come back.
#[test]
fn a_job_that_lost_all_its_connections_to_others_waits_for_one() {
    for pacing in [even(100), Pacing::Closed { clients: 1, think: None }] {
        let plan = plan(pacing, 0.0, 10.0, 4);
        let outages = vec![Stamp(2_000_000_000)..Stamp(3_000_000_000)];
        let server = Simulated::new(Config { outages, ..constant(10_000, None) }, plan.seed);
        let (totals, _) =
            run_on::<_, Honest>(&plan, Crowded(server), &virtually(1), &Stop::default());
        let intervals = &totals.job(JOB).intervals;
        assert_eq!(intervals[3].1.completed, 0, "others have all connections");
        assert!(intervals[8].1.completed > 90, "it goes on: {intervals:?}");
        let limits = totals.events.iter().filter(|event| event.kind == EventKind::ConnectionLimit);
        assert_eq!(limits.count(), 0, "nothing is no limit");
    }
}
