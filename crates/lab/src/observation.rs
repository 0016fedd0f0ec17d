//! What is observed beside a run: into its record.

use std::sync::{Arc, Mutex, PoisonError};

use base::{Nanos, Stamp, TargetKind};
use driver::Driver;
use observe::environment::network;
use observe::{
    Busiest, DatabaseWatch, Missing, RemoteHost, RemoteWatch, Sample, Scope, Watch, Whereabouts,
    Whose,
};
use record::{LiveView, Notes, Recorder};
use workload::{NamedTarget, Observe, Plan};

use crate::account::DATABASE;
use crate::target::Reached;

/// What the names of facts about what cannot be observed begin with.
pub(crate) const MISSING: &str = "observe.missing.";

/// The same of facts about what could not be observed while a table was filled.
const MISSING_IN_LOAD: &str = "observe.load.missing.";

/// How the threads are called on which SQLite runs.
const SQLITE: &str = "sqlite";

/// Whom to look at in a run: this machine, this process, and the processes of the main target, or
/// those that the file names.
pub(crate) fn scope(plan: &Plan, reached: &[Reached]) -> Scope {
    let Observe { every, processes, .. } = &plan.observe;
    let main = reached.iter().filter(|reached| reached.name.is_none());
    let named = processes.iter().map(|number| Whereabouts::Process(*number));
    let mut servers: Vec<Whereabouts> = named.collect();
    for Reached { target, .. } in main {
        match target.kind {
            TargetKind::Sqlite => servers.push(Whereabouts::Threads(SQLITE)),
            TargetKind::Postgres | TargetKind::Mysql => {
                servers.extend(network::whereabouts(target))
            }
            TargetKind::Sim | TargetKind::Testbed => {}
        }
    }
    Scope { every: *every, generator: None, servers }
}

/// Where everything that is observed goes: into the record, and the busiest of it into the live
/// picture. All observers have the same one.
#[derive(Clone)]
pub(crate) struct Ears {
    notes: Notes,
    live: LiveView,
    busiest: Arc<Mutex<Busiest>>,
    /// The table that is being filled, before time zero, and for how long it was then.
    load: Option<(Arc<str>, Nanos)>,
    /// Is told at once what is missing.
    warn: Option<Warn>,
}

/// Is told what cannot be observed, and why.
pub(crate) type Warn = Arc<dyn Fn(&str, &str) + Send + Sync>;

impl Ears {
    pub(crate) fn of(recorder: &Recorder) -> Ears {
        let (notes, live) = (recorder.notes(), recorder.live());
        Ears { notes, live, busiest: Arc::default(), load: None, warn: None }
    }

    /// The same for a table that has been filled for so long.
    pub(crate) fn of_load(&self, table: &str, elapsed: Nanos) -> Ears {
        Ears { busiest: Arc::default(), load: Some((table.into(), elapsed)), ..self.clone() }
    }

    /// The same that tells at once what is missing.
    pub(crate) fn warning(self, warn: Warn) -> Ears {
        Ears { warn: Some(warn), ..self }
    }

    /// Hears what was seen so long after looking began: at time zero, or in the middle of a load.
    pub(crate) fn hear(&self, at: Nanos, sample: Sample) {
        let busiest = self.busiest.lock().unwrap_or_else(PoisonError::into_inner).see(at, &sample);
        self.live.show_busiest(busiest);
        let Sample { readings, missing } = sample;
        for Missing { what, why } in missing {
            if let Some(warn) = &self.warn {
                warn(&what, &why);
            }
            let name = match &self.load {
                None => format!("{MISSING}{what}"),
                // The run may see it.
                Some((table, _)) => format!("{MISSING_IN_LOAD}{table}.{what}"),
            };
            self.notes.setting(name, why);
        }
        match &self.load {
            _ if readings.is_empty() => {}
            None => self.notes.readings(at, readings),
            Some((table, elapsed)) => self.notes.load_readings(table, *elapsed + at, readings),
        }
    }
}

/// Who looks at machines: this one, and others by way of ssh.
pub(crate) struct Watches {
    here: Option<Watch>,
    there: Vec<RemoteWatch>,
}

impl Watches {
    /// Begins to look at time zero. A run that nobody looks at is no worse: the checks say what
    /// they could not see.
    pub(crate) fn begin(zero: Stamp, scope: &Scope, observe: &Observe, ears: &Ears) -> Watches {
        let heard = ears.clone();
        let here = Watch::begin(zero, scope.clone(), move |at, sample| heard.hear(at, sample));
        let there = observe.hosts.iter().filter_map(|host| {
            let (host, heard) = (remote(host), ears.clone());
            let tell = move |at, sample| heard.hear(at, sample);
            RemoteWatch::begin(zero, host, scope.clone(), tell).ok()
        });
        Watches { here: here.ok(), there: there.collect() }
    }

    /// Ends it on this machine. What was seen here until now is in the record's queue.
    pub(crate) fn end_here(&mut self) {
        self.here.take().into_iter().for_each(Watch::end);
    }

    /// Ends it everywhere, which may take as long as another machine lets itself be waited for.
    pub(crate) fn end(mut self) {
        self.end_here();
        RemoteWatch::end_all(self.there);
    }
}

fn remote(host: &workload::RemoteHost) -> RemoteHost {
    let workload::RemoteHost { user, host, port } = host.clone();
    RemoteHost { user, port, ..RemoteHost::named(&host) }
}

/// Begins to watch the database from an instant on.
pub(crate) type Begin = Box<dyn Fn(Stamp, &Ears) -> Option<DatabaseWatch> + Send>;

/// How the main target is watched; `None` if that is not wanted, or it is no database. What is
/// missing from the first is told to `ears`.
pub(crate) fn of_database<D: Driver>(
    plan: &Plan,
    main: Option<&D>,
    whose: Whose,
    ears: &Ears,
) -> Option<Begin> {
    let driver = main.filter(|driver| plan.observe.database && driver.keeps_data())?.clone();
    let every = plan.observe.every;
    if driver.nodes().len() > 1 {
        let mut sample = Sample::default();
        sample.missing(DATABASE, "the URL names several servers, and only one can be watched");
        ears.hear(Nanos::ZERO, sample);
        return None;
    }
    // A run that nobody looks at is no worse: the answer says what was not seen.
    Some(Box::new(move |zero, ears| {
        let (driver, ears, whose) = (driver.clone(), ears.clone(), whose.clone());
        DatabaseWatch::begin(zero, driver, whose, every, move |at, sample| ears.hear(at, sample))
            .ok()
    }))
}

/// Says of the other targets that nobody looks at them.
pub(crate) fn note_other_targets(plan: &Plan, ears: &Ears) {
    let is_real = |named: &&NamedTarget| named.target.kind != TargetKind::Sim;
    for named in plan.named_targets().filter(is_real) {
        let mut sample = Sample::default();
        let what = format!("{DATABASE} of target {}", named.name);
        sample.missing(what, "only the main target's database and processes are looked at");
        ears.hear(Nanos::ZERO, sample);
    }
}

/// What could not be observed in a run, and why.
pub(crate) fn unseen(settings: &[(String, String)]) -> Vec<(String, String)> {
    missing(settings, MISSING)
}

/// The same of what could not be observed while a table was filled.
pub(crate) fn unseen_in_load(settings: &[(String, String)], table: &str) -> Vec<(String, String)> {
    missing(settings, &format!("{MISSING_IN_LOAD}{table}."))
}

fn missing(settings: &[(String, String)], prefix: &str) -> Vec<(String, String)> {
    let begins =
        |(name, why): &(String, String)| Some((name.strip_prefix(prefix)?.to_owned(), why.clone()));
    settings.iter().filter_map(begins).collect()
}
