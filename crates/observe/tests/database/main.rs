//! Tests of the observer against real databases.

mod faults;
mod locks;
mod others;
mod rights;
mod sizes;
mod sqlite;

use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use base::{Clock, Endpoint, Monotonic, Nanos, Secret, Target};
use driver::{Connection, Driver, Mysql, Postgres, Table};
use observe::{DatabaseWatch, ObservedSessions, OwnSessions, Sample, TargetSessions};
use rt::{Options, Rt, run_real};

/// Period of the observer's reports.
const EVERY: Nanos = Nanos::from_millis(200);

/// Maximum number of samples that are buffered; no test needs as many.
const SAMPLES: usize = 10_000;

/// Longest time that a test waits.
const TEST_TIMEOUT: Nanos = Nanos::from_secs(60);

/// Samples that an observer has reported so far.
struct Readings {
    receiver: Receiver<(Nanos, Sample)>,
    samples: Vec<(Nanos, Sample)>,
}

impl Readings {
    /// Starts to observe a run with a single target.
    fn begin<D: Driver>(driver: &D) -> (DatabaseWatch, Readings) {
        Readings::begin_with(driver, None)
    }

    /// Starts to observe a run with a main target and, if another driver is given, a second target.
    fn begin_with<D: Driver>(driver: &D, other: Option<&D>) -> (DatabaseWatch, Readings) {
        let own = sessions(driver).map(|main| OwnSessions::of(main, other.and_then(sessions)));
        let (sender, receiver) = sync_channel(SAMPLES);
        let watch = DatabaseWatch::begin(
            Monotonic.now(),
            driver.clone(),
            ObservedSessions::Ours(own),
            EVERY,
            move |at, sample| {
                let _ = sender.send((at, sample));
            },
        );
        (watch.expect("a thread"), Readings { receiver, samples: Vec::new() })
    }

    /// Receives the samples that were reported since the last call.
    fn receive_pending(&mut self) {
        self.samples.extend(self.receiver.try_iter());
    }

    /// Returns the last value of the metric whose name begins with `metric`; 0 if there is none.
    fn last(&self, component: &str, metric: &str) -> f64 {
        let readings = self.samples.iter().rev().flat_map(|(_, sample)| &sample.readings);
        let mut matching = readings
            .filter(|r| r.series.component == component && r.series.metric.starts_with(metric));
        matching.next().map_or(0.0, |reading| reading.value)
    }

    /// Returns the reasons for which a component was reported as missing, in order.
    fn missing(&self, what: &str) -> Vec<&str> {
        let missing = self.samples.iter().flat_map(|(_, sample)| &sample.missing);
        missing.filter(|missing| missing.what == what).map(|missing| missing.why.as_str()).collect()
    }

    /// Waits until the reports meet a condition, while other tasks of this thread run.
    async fn wait(&mut self, rt: &Rt, is_reached: impl Fn(&Readings) -> bool) {
        let late = rt.now() + TEST_TIMEOUT;
        while !is_reached(self) {
            assert!(rt.now() < late, "it never came: {:?}", self.samples.last());
            rt.sleep(Nanos::from_millis(10)).await;
            self.receive_pending();
        }
    }

    /// Waits until the reports meet a condition, and blocks the thread meanwhile.
    #[track_caller]
    fn wait_blocking(&mut self, is_reached: impl Fn(&Readings) -> bool) {
        let late = Monotonic.now() + TEST_TIMEOUT;
        while !is_reached(self) {
            let left = late.since(Monotonic.now());
            match self.receiver.recv_timeout(Duration::from_nanos(left.0)) {
                Ok(sample) => self.samples.push(sample),
                Err(_) => panic!("it never came: {:?}", self.samples.last()),
            }
        }
    }
}

/// Returns the sessions of a driver; `None` if the database has no sessions.
fn sessions<D: Driver>(driver: &D) -> Option<TargetSessions> {
    let name = driver.session_name()?.to_owned();
    Some(TargetSessions { name, ids: Some(driver.session_ids()) })
}

/// Runs a task in real time.
fn in_real_time<T>(task: impl AsyncFnOnce(Rt) -> T) -> T {
    run_real(&Options::default(), |rt| task(rt)).expect("the system grants a runtime")
}

/// Connects, executes statements, and returns the last answer.
fn ask<D: Driver>(driver: &D, texts: &[&str]) -> Table {
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let mut last = Table::default();
        for text in texts {
            last = connection.query_text(text).await.expect("an answer");
        }
        connection.close().await;
        last
    })
}

/// Opens the driver of a PostgreSQL URL.
fn postgres(target: &Target) -> Postgres {
    Postgres::open(target).expect("a URL")
}

/// Opens the driver of a MariaDB URL.
fn mariadb(target: &Target) -> Mysql {
    Mysql::open(target, std::env::temp_dir()).expect("a URL")
}

/// Returns the URL for another user, whose password is its name.
fn for_user(target: &Target, name: &str) -> Target {
    let mut target = target.clone();
    if let Endpoint::Network { user, password, .. } = &mut target.endpoint {
        *user = Some(name.to_owned());
        *password = Some(Secret::new(name));
    }
    target
}
