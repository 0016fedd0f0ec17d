//! Observation of machines and databases during a run. The samples are written into the run's
//! record.

use std::sync::{Arc, Mutex, PoisonError};

use archive::{LiveView, RecordFacts, Recorder};
use base::{Nanos, Stamp, TargetKind};
use driver::{AnyDriver, Driver};
use engine::Drivers;
use observe::environment::network;
use observe::{
    Busiest, DatabaseWatch, Missing, ObservedSessions, OwnSessions, RemoteHost, RemoteWatch,
    Sample, Scope, ServerLocation, ServerOption, TargetSessions, Watch,
};
use record::component_name::DATABASE;
use record::environment::observe::{LOAD_MISSING, MISSING};
use workload::{NamedTarget, Observe, Plan};

use crate::target::ResolvedTarget;

/// The name of the threads on which SQLite runs.
const SQLITE: &str = "sqlite";

/// Returns the scope of the observation of a run: this machine, this process, the processes that
/// the workload file names, and those of the main target. The scope also lists the processes of
/// named targets on this machine; they are not observed, and must not count as other programs.
pub(crate) fn scope(plan: &Plan, reached: &[ResolvedTarget]) -> Scope {
    let Observe { every, processes, .. } = &plan.observe;
    let main = reached.iter().filter(|reached| reached.name.is_none());
    let named = processes.iter().map(|number| ServerLocation::Process(*number));
    let mut servers: Vec<ServerLocation> = named.collect();
    for ResolvedTarget { target, .. } in main {
        match target.kind {
            TargetKind::Sqlite => servers.push(ServerLocation::Threads(SQLITE)),
            TargetKind::Postgres | TargetKind::Mysql => {
                servers.extend(network::server_locations(target))
            }
            TargetKind::Sim | TargetKind::Testbed => {}
        }
    }
    let named = reached.iter().filter(|reached| reached.name.is_some());
    let located = named.flat_map(|reached| network::server_locations(&reached.target));
    let is_here = |place: &ServerLocation| !matches!(place, ServerLocation::Elsewhere(_));
    let other_targets = located.filter(is_here).collect();
    Scope {
        every: *every,
        generator: None,
        servers,
        server_option: ServerOption::Key,
        other_targets,
    }
}

/// The sink of all observers: writes readings into the record and shows the busiest components in
/// the live view.
#[derive(Clone)]
pub(crate) struct ObservationSink {
    facts: RecordFacts,
    live: LiveView,
    busiest: Arc<Mutex<Busiest>>,
    /// While a table is being filled, before time zero: the name of the table, and the time from
    /// the beginning of its load to the beginning of the observation.
    load: Option<(Arc<str>, Nanos)>,
    /// A callback for components that cannot be observed.
    warn: Option<MissingListener>,
}

/// A callback that receives a component that cannot be observed, and the reason.
pub(crate) type MissingListener = Arc<dyn Fn(&str, &str) + Send + Sync>;

impl ObservationSink {
    pub(crate) fn of(recorder: &Recorder) -> ObservationSink {
        let (facts, live) = (recorder.facts(), recorder.live());
        ObservationSink { facts, live, busiest: Arc::default(), load: None, warn: None }
    }

    /// Returns a sink for the load of a table that began `elapsed` ago.
    pub(crate) fn of_load(&self, table: &str, elapsed: Nanos) -> ObservationSink {
        ObservationSink {
            busiest: Arc::default(),
            load: Some((table.into(), elapsed)),
            ..self.clone()
        }
    }

    /// Returns a sink that also reports missing components to `warn` at once.
    pub(crate) fn with_warning(self, warn: MissingListener) -> ObservationSink {
        ObservationSink { warn: Some(warn), ..self }
    }

    /// Takes a sample. `at` is the time since the observation began, which was at time zero or
    /// during a load.
    pub(crate) fn on_sample(&self, at: Nanos, sample: Sample) {
        let busiest =
            self.busiest.lock().unwrap_or_else(PoisonError::into_inner).add_sample(at, &sample);
        self.live.show_busiest(busiest);
        let Sample { readings, missing } = sample;
        for Missing { what, why } in missing {
            if let Some(warn) = &self.warn {
                warn(&what, &why);
            }
            let name = match &self.load {
                None => format!("{MISSING}{what}"),
                // The component may still be observed during the run itself.
                Some((table, _)) => format!("{LOAD_MISSING}{table}.{what}"),
            };
            self.facts.setting(name, why);
        }
        match &self.load {
            _ if readings.is_empty() => {}
            None => self.facts.readings(at, readings),
            Some((table, elapsed)) => self.facts.load_readings(table, *elapsed + at, readings),
        }
    }
}

/// The observers of machines: of this machine, and of other machines over ssh.
pub(crate) struct MachineObservers {
    local: Option<Watch>,
    remotes: Vec<RemoteWatch>,
}

impl MachineObservers {
    /// Starts observing at `zero`, which is time zero or, during a load, the beginning of the
    /// observation. A run continues without an observer that cannot be started; the checks report
    /// the missing components.
    pub(crate) fn begin(
        zero: Stamp,
        scope: &Scope,
        observe: &Observe,
        observations: &ObservationSink,
    ) -> MachineObservers {
        let sink = observations.clone();
        let local = Watch::begin(zero, scope.clone(), move |at, sample| sink.on_sample(at, sample));
        let remotes = observe.hosts.iter().filter_map(|host| {
            let (host, sink) = (remote_host(host), observations.clone());
            let on_sample = move |at, sample| sink.on_sample(at, sample);
            RemoteWatch::begin(zero, host, scope.clone(), on_sample).ok()
        });
        MachineObservers { local: local.ok(), remotes: remotes.collect() }
    }

    /// Ends the observation of this machine. All samples up to now are then in the record's queue.
    pub(crate) fn end_local(&mut self) {
        self.local.take().into_iter().for_each(Watch::end);
    }

    /// Ends the observation of all machines. This may have to wait for a remote machine.
    pub(crate) fn end(mut self) {
        self.end_local();
        RemoteWatch::end_all(self.remotes);
    }
}

fn remote_host(host: &workload::RemoteHost) -> RemoteHost {
    let workload::RemoteHost { user, host, port } = host.clone();
    RemoteHost { user, port, ..RemoteHost::named(&host) }
}

/// A function that starts to observe the database at an instant.
pub(crate) type DatabaseWatchStarter =
    Box<dyn Fn(Stamp, &ObservationSink) -> Option<DatabaseWatch> + Send>;

/// Returns a function that starts to observe the main target. Returns `None` if this observation is
/// switched off, if the target is not a database, or if its URL names several servers. The last
/// case is reported to `observations`.
pub(crate) fn database_watch_starter(
    plan: &Plan,
    main: Option<&AnyDriver>,
    observed_sessions: ObservedSessions,
    observations: &ObservationSink,
) -> Option<DatabaseWatchStarter> {
    let driver = main.filter(|driver| plan.observe.database && driver.stores_data())?.clone();
    let every = plan.observe.every;
    if driver.nodes().len() > 1 {
        let mut sample = Sample::default();
        sample.missing(DATABASE, "the URL names several servers, and only one can be observed");
        observations.on_sample(Nanos::ZERO, sample);
        return None;
    }
    // A run continues without an observer that cannot be started; the report lists the missing
    // components.
    Some(Box::new(move |zero, observations| {
        let (driver, observations, observed_sessions) =
            (driver.clone(), observations.clone(), observed_sessions.clone());
        DatabaseWatch::begin(zero, driver, observed_sessions, every, move |at, sample| {
            observations.on_sample(at, sample)
        })
        .ok()
    }))
}

/// Returns the sessions of a run at the server of its main target; `None` if the target has no
/// named sessions. The sessions of other targets of the same kind are included, because they may be
/// on the same server. If programs of jobs may open further sessions, whose ids are unknown,
/// sessions are recognised by name alone.
pub(crate) fn own_sessions(drivers: &Drivers<AnyDriver>) -> Option<OwnSessions> {
    let main = drivers.main.as_ref()?;
    let sessions = |driver: &AnyDriver| {
        let (name, ids) = (driver.session_name()?.to_owned(), driver.session_ids());
        Some(TargetSessions { name, ids: drivers.programs.is_none().then_some(ids) })
    };
    let alike = drivers.named.iter().flatten().filter(|it| it.dialect() == main.dialect());
    Some(OwnSessions::of(sessions(main)?, alike.filter_map(sessions)))
}

/// Notes in the record that targets other than the main target are not observed.
pub(crate) fn note_other_targets(plan: &Plan, observations: &ObservationSink) {
    let is_real = |named: &&NamedTarget| named.target.kind != TargetKind::Sim;
    for named in plan.named_targets().filter(is_real) {
        let mut sample = Sample::default();
        let what = format!("{DATABASE} of target {}", named.name);
        sample.missing(what, "only the main target's database and processes are observed");
        observations.on_sample(Nanos::ZERO, sample);
    }
}

/// Returns the components that could not be observed in a run, with the reasons.
pub(crate) fn unobserved(settings: &[(String, String)]) -> Vec<(String, String)> {
    with_prefix(settings, MISSING)
}

/// Returns the components that could not be observed while a table was filled, with the reasons.
pub(crate) fn unobserved_in_load(
    settings: &[(String, String)],
    table: &str,
) -> Vec<(String, String)> {
    with_prefix(settings, &format!("{LOAD_MISSING}{table}."))
}

fn with_prefix(settings: &[(String, String)], prefix: &str) -> Vec<(String, String)> {
    let without_prefix =
        |(name, why): &(String, String)| Some((name.strip_prefix(prefix)?.to_owned(), why.clone()));
    settings.iter().filter_map(without_prefix).collect()
}
