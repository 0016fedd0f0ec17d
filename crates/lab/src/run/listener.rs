//! The listener of a run: writes its events into the record, and starts and ends its observers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use archive::RecordFacts;
use base::{Clock, Monotonic, Nanos, Stamp, WallTime};
use driver::Count;
use engine::{Listener, RunEvent};
use observe::{DatabaseWatch, Scope};
use record::component_name::DATABASE;
use record::environment::{database, generator};
use record::{Load, Reading};
use rt::Processors;
use workload::Observe;

use super::order::Order;
use crate::observation::{self, MachineObservers, ObservationSink};
use crate::server_counters::metric_of;

/// The observers that are running while a table is filled, or from time zero on.
struct RunObservers {
    /// Starts the observer of the database, if it is to be observed.
    begin: Option<observation::DatabaseWatchStarter>,
    machines: Option<MachineObservers>,
    /// The observer of the database. After time zero, it ends together with the measured phase, so
    /// all of its queries in that phase lie between the two readings of the server's statistics.
    database: Option<DatabaseWatch>,
}

/// A listener that writes the run's events into the record and passes them on to another listener.
pub(super) struct RecordingListener {
    facts: RecordFacts,
    next: Arc<dyn Listener>,
    started: WallTime,
    is_virtual: bool,
    /// True if the plan has a job to measure.
    measures: bool,
    /// The sink of the observers.
    observations: ObservationSink,
    /// The processes to observe during a long load, and from time zero to the end.
    scope: Scope,
    /// The other hosts to observe, and the sampling interval.
    observe: Observe,
    /// The processors on which the observers run.
    observer_processors: Processors,
    observers: Mutex<RunObservers>,
    zero: Mutex<Option<Stamp>>,
    /// The names of the targets that have answered; `None` stands for the main target.
    answered: Mutex<BTreeSet<Option<String>>>,
}

impl RecordingListener {
    /// Creates the listener of a run, which passes events on to `next`. `observations` receives the
    /// samples of the processes in `scope`, and the samples of the database if `database` starts an
    /// observer.
    pub(super) fn new(
        order: &Order,
        facts: RecordFacts,
        next: Arc<dyn Listener>,
        observations: ObservationSink,
        scope: Scope,
        database: Option<observation::DatabaseWatchStarter>,
    ) -> RecordingListener {
        RecordingListener {
            facts,
            next,
            started: order.options.started,
            is_virtual: order.options.is_virtual,
            measures: !order.plan.jobs.is_empty(),
            observations,
            scope,
            observe: order.plan.observe.clone(),
            observer_processors: order.options.unbound_processors(),
            observers: Mutex::new(RunObservers { begin: database, machines: None, database: None }),
            zero: Mutex::new(None),
            answered: Mutex::new(BTreeSet::new()),
        }
    }

    /// Returns true if a target has answered; `None` stands for the main target.
    pub(super) fn was_reached(&self, target: Option<&str>) -> bool {
        let answered = self.answered.lock().expect("nothing panics here");
        answered.contains(&target.map(str::to_owned))
    }

    /// Starts the observers, unless time is simulated.
    fn begin_observers(&self, zero: Stamp, observations: &ObservationSink) {
        if self.is_virtual {
            return;
        }
        let begin = || {
            self.observer_processors.bind_this_thread();
            let mut observers = self.observers.lock().expect("nothing panics here");
            observers.machines =
                Some(MachineObservers::begin(zero, &self.scope, &self.observe, observations));
            observers.database =
                observers.begin.as_ref().and_then(|begin| begin(zero, observations));
        };
        // The threads of the observers inherit the processors of the thread that starts them. The
        // current thread may be a lane that is bound to its own processor.
        std::thread::scope(|threads| {
            // If this thread cannot be started, neither could the threads of the observers.
            let _ = std::thread::Builder::new().spawn_scoped(threads, begin);
        });
    }

    fn end_database(&self) {
        let watch = self.observers.lock().expect("nothing panics here").database.take();
        watch.into_iter().for_each(DatabaseWatch::end);
    }

    /// Ends all observers. The observers of other machines may take the longest to end, so they
    /// come last: if they came first, the observers of this machine and of the database would
    /// sample idle components meanwhile.
    pub(super) fn end_observers(&self) {
        let mut machines = self.observers.lock().expect("nothing panics here").machines.take();
        machines.iter_mut().for_each(MachineObservers::end_local);
        self.end_database();
        machines.into_iter().for_each(MachineObservers::end);
    }

    /// Records the server's counters, or the reason why they cannot be read. A reading before time
    /// zero is recorded as a reading at time zero.
    fn note_counters(&self, counters: &Result<Vec<Count>, String>) {
        let zero = *self.zero.lock().expect("nothing panics here");
        let at = zero.map_or(Nanos::ZERO, |zero| Monotonic.now().since(zero));
        match counters {
            Ok(counts) => {
                let reading = |count: &Count| {
                    let metric = metric_of(count.counter);
                    Reading::of(DATABASE, metric.name, count.unit, count.value)
                };
                self.facts.readings(at, counts.iter().map(reading).collect());
            }
            Err(why) => self.facts.setting(database::ACCOUNT, why.as_str()),
        }
    }

    /// Returns the calendar time. In virtual time, this is always the calendar time of the start.
    fn now(&self) -> WallTime {
        if self.is_virtual { self.started } else { WallTime::now() }
    }
}

impl Listener for RecordingListener {
    fn on_event(&self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Settings { target, settings } => {
                // Settings are the first data that are read from a target, so the target has
                // answered.
                let name = target.map(str::to_owned);
                self.answered.lock().expect("nothing panics here").insert(name);
                for (name, value) in settings {
                    match target {
                        None => self.facts.setting(name, value),
                        Some(target) => self.facts.setting(format!("{target}.{name}"), value),
                    }
                }
            }
            RunEvent::LongLoad { table, began, elapsed } => {
                self.begin_observers(
                    *began + *elapsed,
                    &self.observations.of_load(table, *elapsed),
                );
            }
            RunEvent::LoadFallback { table, why } => {
                self.facts.setting(format!("{}{table}", generator::INSERTS), why.to_string());
            }
            RunEvent::Excerpt(excerpt) => self.facts.excerpt(excerpt.clone()),
            RunEvent::LoadEnded => self.end_observers(),
            RunEvent::Loading { table, rows, of: _, bytes, elapsed } => self.facts.load(Load {
                table: (*table).to_owned(),
                started: self.now().plus(-(elapsed.0 as i64)),
                length: *elapsed,
                rows: *rows,
                bytes: *bytes,
            }),
            RunEvent::TimeZero { zero, time_left } => {
                *self.zero.lock().expect("nothing panics here") = Some(*zero);
                self.facts.time_zero(self.now().after(*time_left));
                if self.measures {
                    self.begin_observers(*zero, &self.observations);
                }
            }
            RunEvent::ServerStatistics(account) => self.note_counters(account),
            RunEvent::Ended => self.end_database(),
            RunEvent::Setup { .. }
            | RunEvent::SetupDone
            | RunEvent::Counting { .. }
            | RunEvent::AwaitingWriter { .. }
            | RunEvent::WriterConnected { .. }
            | RunEvent::Opening
            | RunEvent::Teardown { .. }
            | RunEvent::TeardownFailed(_)
            | RunEvent::TeardownSkipped { .. } => {}
        }
        self.next.on_event(event);
    }
}
