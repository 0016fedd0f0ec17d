//! A single run and its record.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use archive::{
    LiveView, Logged, Notes, OpLog, OpLogError, OpLogPlan, RecordError, RecordErrorKind, Recorder,
};
use base::{Clock, Monotonic, Nanos, Stamp, Target, WallTime};
use driver::{Count, Driver};
use engine::{
    Drivers, Failed, Finished, LaneOutlet, Listener, NodeEntry, Options, RunEvent, Stop,
    node_entries,
};
use observe::{DatabaseWatch, Scope, Whose};
use record::{
    End, EndKind, Event, EventKind, Header, INSERT_REASON_PREFIX, JobHeader, Load, Pace, Reading,
    TargetText,
};
use workload::{JobTarget, Observe, Placeholders, Plan, Warmup};

use crate::account::{DATABASE, NO_STATISTICS};
use crate::calibrate::{self, Calibration};
use crate::evidence::{SPIN, YES};
use crate::observation::{self, ObservationSink, Watches};
use crate::open_files::{TooManyFiles, raise_file_limit};
use crate::surroundings;
use crate::target::{Reached, TargetProblem, WithDrivers, with_drivers};
use crate::unread_plan::NODE;

/// The parameters of a run: plan, target, options and output files.
pub struct Order {
    /// The plan.
    pub plan: Plan,
    /// The main target. It is neither opened nor recorded if no job asks it.
    pub target: Target,
    /// Options of the engine.
    pub options: Options,
    /// The path of the record.
    pub record: RecordPlace,
    /// The op-log, a file with one row per request, if one is wanted.
    pub op_log: Option<OpLogPlan>,
    /// The calibration of this machine, if there is one; a run in virtual time ignores it.
    pub calibration: Option<Calibration>,
    /// The name of the workload file.
    pub workload: String,
    /// The command line, rebuilt from the parsed arguments.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// The commit that the program was built from, if known.
    pub commit: Option<String>,
    /// A request to end the run early.
    pub stop: Stop,
}

/// The path of a record. An existing file is never overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordPlace {
    /// This file, which must not exist.
    Exactly(PathBuf),
    /// This file, or one with a number after its name if it exists: two runs that begin in the same
    /// second keep both records.
    Numbered(PathBuf),
}

/// The highest number tried for a record's name.
const MOST_NUMBERED: u32 = 10_000;

impl RecordPlace {
    /// Returns the requested path; the record itself may get a number.
    pub fn path(&self) -> &Path {
        match self {
            RecordPlace::Exactly(path) | RecordPlace::Numbered(path) => path,
        }
    }

    pub(crate) fn create(&self, header: &Header) -> Result<Recorder, RecordError> {
        let path = match self {
            RecordPlace::Exactly(path) => return Recorder::create(path, header),
            RecordPlace::Numbered(path) => path,
        };
        let mut created = Recorder::create(path, header);
        for number in 2..=MOST_NUMBERED {
            let is_taken =
                created.as_ref().is_err_and(|error| *error.kind() == RecordErrorKind::Exists);
            if !is_taken {
                break;
            }
            created = Recorder::create(&numbered(path, number), header);
        }
        created
    }
}

/// Returns a path with a number after its file stem.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let part = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    path.with_file_name(format!("{stem}-{number}.{extension}"))
}

/// A run that left a record.
#[derive(Debug)]
pub struct Done {
    /// The reason why it ended.
    pub end: EndKind,
    /// The reason why the target was never reached, if so; the record then holds nothing else.
    pub unreachable: Option<String>,
    /// The reason why the target was lost before anything was measured, if it had been reached.
    pub lost: Option<String>,
    /// The path of the record.
    pub record: PathBuf,
    /// The error that cut the record short, if there was one.
    pub record_error: Option<RecordError>,
    /// A sentence that says which rows the op-log lacks, if any.
    pub op_log_loss: Option<String>,
    /// The message of the panic that ended the run, if one did.
    pub panic: Option<String>,
}

impl Done {
    /// Removes the record, for callers that have no use for an empty one.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn discard(self) -> std::io::Result<()> {
        std::fs::remove_file(self.record)
    }
}

/// A reason why a run left no record.
#[derive(Debug)]
pub enum Error {
    /// There is no driver for the target.
    Target(TargetProblem),
    /// The record cannot be created.
    Record(RecordError),
    /// The op-log cannot be created.
    OpLog(OpLogError),
    /// The run needs more open files than this process may have.
    Files(TooManyFiles),
    /// The run failed before anything was measured.
    Failed(Failed),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Target(problem) => problem.fmt(f),
            Error::Record(error) => error.fmt(f),
            Error::OpLog(error) => error.fmt(f),
            Error::Files(error) => error.fmt(f),
            Error::Failed(failed) => failed.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Target(problem) => problem.source(),
            Error::Record(error) => error.source(),
            Error::OpLog(error) => error.source(),
            Error::Files(error) => error.source(),
            Error::Failed(failed) => failed.source(),
        }
    }
}

/// Runs a plan once and records it; `watch` gets a live view before the run begins, and `listener`
/// its events.
///
/// A plan without jobs is set up, loaded and torn down; nothing is measured.
///
/// # Errors
/// Nothing was measured and there is no record. An unreachable target is not an error: its record
/// says so.
pub fn run(
    mut order: Order,
    listener: Arc<dyn Listener>,
    watch: impl FnOnce(LiveView),
) -> Result<Done, Error> {
    if order.plan.jobs.is_empty() {
        // Without a job, nothing takes time.
        order.plan.warmup = Warmup::default();
        order.plan.duration = Some(Nanos::ZERO);
    }
    let (plan, target) = (order.plan.clone(), order.target.clone());
    let options = order.options.clone();
    with_drivers(&plan, &target, &options, Recording { order, listener, watch })?
}

/// Sets up a plan and fills its tables, without measurement or teardown; the record holds the
/// loads.
///
/// # Errors
/// As [`run`].
pub fn load(mut order: Order, listener: Arc<dyn Listener>) -> Result<Done, Error> {
    order.plan.jobs.clear();
    order.plan.teardown.clear();
    run(order, listener, |_| {})
}

struct Recording<W> {
    order: Order,
    listener: Arc<dyn Listener>,
    watch: W,
}

impl<W: FnOnce(LiveView)> WithDrivers for Recording<W> {
    type Output = Result<Done, Error>;

    fn call<D: Driver>(self, drivers: Drivers<D>, reached: Vec<Reached>) -> Self::Output {
        let Recording { order, listener, watch } = self;
        // Read the facts before changing anything, such as the limit of open files.
        let facts = match order.options.is_virtual {
            true => Vec::new(),
            false => {
                let mut facts = surroundings::read(order.record.path(), &reached);
                facts.extend(calibrate::facts_of(order.calibration.as_ref()));
                facts
            }
        };
        let lanes = order.options.threads.max(1);
        raise_file_limit(&order.plan, &drivers, lanes).map_err(Error::Files)?;
        let header = header(&order, node_entries(&order.plan, &drivers));
        let recorder = order.record.create(&header).map_err(Error::Record)?;
        recorder.notes().hide(order.plan.secrets());
        let op_log = match op_log(&order, header.pace) {
            Ok(op_log) => op_log,
            Err(error) => {
                recorder.discard().map_err(Error::Record)?;
                return Err(Error::OpLog(error));
            }
        };
        for (name, value) in facts {
            recorder.notes().setting(name, value);
        }
        watch(recorder.live());
        let observations = ObservationSink::of(&recorder);
        let main = drivers.main.as_ref();
        let database = observation::of_database(&order.plan, main, Whose::Ours, &observations);
        if !order.options.is_virtual {
            observation::note_other_targets(&order.plan, &observations);
        }
        let recording_listener = Arc::new(RecordingListener {
            notes: recorder.notes(),
            next: listener,
            started: order.options.started,
            is_virtual: order.options.is_virtual,
            measures: !order.plan.jobs.is_empty(),
            observations,
            scope: observation::scope(&order.plan, &reached),
            observe: order.plan.observe.clone(),
            watched: Mutex::new(Watched { begin: database, machines: None, database: None }),
            zero: Mutex::new(None),
            was_reached: AtomicBool::new(false),
        });
        let outlet = |lane| -> LaneOutlet {
            match &op_log {
                Some(op_log) => Box::new(Logged::new(recorder.outlet(), op_log.lane(lane))),
                None => Box::new(recorder.outlet()),
            }
        };
        if order.options.spin {
            recording_listener.notes.setting(SPIN, YES);
        }
        let listener = Arc::clone(&recording_listener) as Arc<dyn Listener>;
        let finished =
            engine::run(&order.plan, drivers, &order.options, outlet, &order.stop, listener);
        recording_listener.end_watches();
        let op_log_loss = op_log
            .and_then(|op_log| close(op_log, &finished, &recording_listener.notes, &order.stop));
        let done = conclude(
            &order.plan,
            recorder,
            finished,
            recording_listener.was_reached.load(Ordering::Relaxed),
        )?;
        Ok(Done { op_log_loss, ..done })
    }

    fn unreachable(self, error: driver::Error) -> Result<Done, Error> {
        let Recording { order, watch, .. } = self;
        // The nodes behind an unreached target are unknown, and nothing was sent to them.
        let recorder = order.record.create(&header(&order, Vec::new())).map_err(Error::Record)?;
        let secrets = order.plan.secrets();
        recorder.notes().hide(secrets.clone());
        let error = driver::Error::new(error.class(), error.code(), secrets.hide(error.message()));
        watch(recorder.live());
        conclude(&order.plan, recorder, Err(Failed::Unreachable(error)), false)
    }
}

fn op_log(order: &Order, pace: Pace) -> Result<Option<OpLog>, OpLogError> {
    let jobs: Vec<&str> = order.plan.jobs.iter().map(|job| job.name.as_str()).collect();
    order.op_log.as_ref().map(|plan| OpLog::create(plan, &jobs, pace)).transpose()
}

/// Closes the op-log, notes its result in the record and returns a description of missing rows;
/// discards the op-log of a run that measured nothing.
fn close(
    op_log: OpLog,
    finished: &Result<Finished, Failed>,
    notes: &Notes,
    stop: &Stop,
) -> Option<String> {
    let Some(measured) = finished.as_ref().ok().and_then(|finished| finished.measured.as_ref())
    else {
        op_log.discard();
        return None;
    };
    let told = op_log.finish(|| !stop.is_at_once());
    let loss = told.loss();
    if let Some(text) = loss.clone() {
        let kind = EventKind::OpLogIncomplete;
        notes.event(Event { at: measured.length, job: None, kind, text });
    }
    notes.op_log(told);
    loss
}

/// Notes failed files of jobs, and the remarks about jobs.
fn note_faults(finished: &Finished, notes: &Notes) {
    let Some(measured) = &finished.measured else { return };
    for fault in &finished.faults {
        let at = fault.at.map_or(measured.length, |at| at.since(measured.zero));
        let (job, kind, text) = (Some(fault.job), EventKind::FileFailed, fault.text.clone());
        notes.event(Event { at: at.min(measured.length), job, kind, text });
    }
    for remark in &finished.remarks {
        let (job, text) = (Some(remark.job), remark.text.clone());
        notes.event(Event { at: measured.length, job, kind: remark.kind, text });
    }
}

/// Records how the run ended, or removes the record of a run that never began.
fn conclude(
    plan: &Plan,
    recorder: Recorder,
    finished: Result<Finished, Failed>,
    was_reached: bool,
) -> Result<Done, Error> {
    let (mut unreachable, mut lost, mut panic) = (None, None, None);
    let secrets = plan.secrets();
    let end = match finished {
        Ok(finished) => {
            note_faults(&finished, &recorder.notes());
            panic.clone_from(&finished.panic);
            end_of(plan, &finished)
        }
        Err(Failed::Unreachable(error)) => {
            // The server's message may quote a statement with its password.
            let text = secrets.hide(&error.to_string());
            match was_reached {
                true => lost = Some(text.clone()),
                false => unreachable = Some(text.clone()),
            }
            End { at: Nanos::ZERO, kind: EndKind::TargetLost, text }
        }
        Err(failed) => {
            recorder.discard().map_err(Error::Record)?;
            return Err(Error::Failed(failed));
        }
    };
    let record = recorder.path().to_owned();
    let kind = end.kind;
    let record_error = recorder.finish(end).err();
    let end = if record_error.is_some() { EndKind::RecorderFailed } else { kind };
    Ok(Done { end, unreachable, lost, record, record_error, op_log_loss: None, panic })
}

fn end_of(plan: &Plan, finished: &Finished) -> End {
    let at = finished.measured.as_ref().map_or(Nanos::ZERO, |measured| measured.length);
    let lost = finished.measured.as_ref().map_or(&[][..], |measured| &measured.lost);
    let kind = finished.end;
    let text = match (kind, finished.faults.first(), &finished.panic) {
        (EndKind::InternalError, _, Some(panic)) => panic.clone(),
        (EndKind::FileFailed, Some(fault), _) => fault.text.clone(),
        (_, _, _) => refusals(plan, lost),
    };
    End { at, kind, text }
}

/// Returns a text that names the targets that refuse connections; empty if none does.
fn refusals(plan: &Plan, lost: &[JobTarget]) -> String {
    let name = |target: &JobTarget| match plan.name_of(*target) {
        Some(name) => format!("[target {name}]"),
        None => "the target".to_owned(),
    };
    let names: Vec<String> = lost.iter().map(name).collect();
    match names.as_slice() {
        [] => String::new(),
        [name] => format!("{name} refuses connections"),
        names => format!("{} refuse connections", names.join(" and ")),
    }
}

/// Builds the record's header; `nodes` are the per-node statistics of jobs.
fn header(order: &Order, nodes: Vec<NodeEntry>) -> Header {
    let Order { plan, options, .. } = order;
    let plan = &*plan.shown();
    let job = |(place, job): (usize, &workload::Job)| JobHeader {
        name: job.name.clone(),
        model: plan.leader(place).model().to_owned(),
        arrival: plan.leader(place).arrival().map(str::to_owned),
        offered_per_s: plan.offered_per_s(place, plan.warmup.known(), plan.duration),
        connections_asked: Some(engine::connections_asked(plan, job)),
        statements: job.statements.iter().map(|s| s.text(Placeholders::Question)).collect(),
    };
    let account = |NodeEntry { job, address }: NodeEntry| JobHeader {
        name: format!("{}@{address}", plan.jobs[job].name),
        model: NODE.to_owned(),
        arrival: None,
        offered_per_s: None,
        connections_asked: None,
        statements: Vec::new(),
    };
    Header {
        assay: order.version.clone(),
        commit: order.commit.clone(),
        started: options.started,
        pace: if options.is_virtual { Pace::Virtual } else { Pace::Real },
        lanes: options.threads,
        seed: plan.seed,
        target: match plan.asks(JobTarget::Main) {
            true => (&order.target).into(),
            false => TargetText::none(),
        },
        command: order.command.clone(),
        workload: order.workload.clone(),
        plan: plan.to_text(),
        warmup: plan.warmup.known(),
        duration: plan.duration,
        jobs: plan.jobs.iter().enumerate().map(job).chain(nodes.into_iter().map(account)).collect(),
    }
}

/// The observers that are running: while a table is filled, or from time zero on.
struct Watched {
    /// Starts the observer of the database, if it is to be observed.
    begin: Option<observation::Begin>,
    machines: Option<Watches>,
    /// The observer of the database. It ends with the measured phase, which keeps its own queries
    /// between the two readings of the server's statistics.
    database: Option<DatabaseWatch>,
}

/// A listener that writes the run's events into the record and passes them on.
struct RecordingListener {
    notes: Notes,
    next: Arc<dyn Listener>,
    started: WallTime,
    is_virtual: bool,
    /// True if the plan has a job to measure.
    measures: bool,
    /// The sink of the observers.
    observations: ObservationSink,
    /// The processes to observe, from time zero to the end.
    scope: Scope,
    /// The other hosts to observe, and the sampling interval.
    observe: Observe,
    watched: Mutex<Watched>,
    zero: Mutex<Option<Stamp>>,
    /// True once the target has answered.
    was_reached: AtomicBool,
}

impl RecordingListener {
    /// Starts the observers, unless time is simulated.
    fn begin_watches(&self, zero: Stamp, observations: &ObservationSink) {
        if self.is_virtual {
            return;
        }
        let mut watched = self.watched.lock().expect("nothing panics here");
        watched.machines = Some(Watches::begin(zero, &self.scope, &self.observe, observations));
        watched.database = watched.begin.as_ref().and_then(|begin| begin(zero, observations));
    }

    fn end_database(&self) {
        let watch = self.watched.lock().expect("nothing panics here").database.take();
        watch.into_iter().for_each(DatabaseWatch::end);
    }

    /// Ends all observers, the slowest last; those that end first no longer sample idle components.
    fn end_watches(&self) {
        let mut machines = self.watched.lock().expect("nothing panics here").machines.take();
        machines.iter_mut().for_each(Watches::end_here);
        self.end_database();
        machines.into_iter().for_each(Watches::end);
    }

    /// Records the server's counters; a reading before the run is dated to time zero.
    fn note_account(&self, account: &Result<Vec<Count>, String>) {
        let zero = *self.zero.lock().expect("nothing panics here");
        let at = zero.map_or(Nanos::ZERO, |zero| Monotonic.now().since(zero));
        match account {
            Ok(counts) => {
                let reading =
                    |count: &Count| Reading::of(DATABASE, count.metric, count.unit, count.value);
                self.notes.readings(at, counts.iter().map(reading).collect());
            }
            Err(why) => self.notes.setting(NO_STATISTICS, why.as_str()),
        }
    }

    /// Returns the calendar time; in virtual time, that of the start.
    fn now(&self) -> WallTime {
        if self.is_virtual { self.started } else { WallTime::now() }
    }
}

impl Listener for RecordingListener {
    fn on_event(&self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Settings { target, settings } => {
                // Settings are the first thing that is read from a target.
                self.was_reached.store(true, Ordering::Relaxed);
                for (name, value) in settings {
                    match target {
                        None => self.notes.setting(name, value),
                        Some(target) => self.notes.setting(format!("{target}.{name}"), value),
                    }
                }
            }
            RunEvent::LongLoad { table, began, elapsed } => {
                self.begin_watches(*began + *elapsed, &self.observations.of_load(table, *elapsed));
            }
            RunEvent::LoadFallback { table, why } => {
                self.notes.setting(format!("{INSERT_REASON_PREFIX}{table}"), why.to_string());
            }
            RunEvent::LoadEnds => self.end_watches(),
            RunEvent::Loading { table, rows, of: _, bytes, elapsed } => self.notes.load(Load {
                table: (*table).to_owned(),
                started: self.now().plus(-(elapsed.0 as i64)),
                length: *elapsed,
                rows: *rows,
                bytes: *bytes,
            }),
            RunEvent::TimeZero { zero, ahead } => {
                *self.zero.lock().expect("nothing panics here") = Some(*zero);
                self.notes.time_zero(self.now().after(*ahead));
                if self.measures {
                    self.begin_watches(*zero, &self.observations);
                }
            }
            RunEvent::ServerStatistics(account) => self.note_account(account),
            RunEvent::Ended => self.end_database(),
            RunEvent::Setup { .. }
            | RunEvent::Counting { .. }
            | RunEvent::AwaitingWriter { .. }
            | RunEvent::WriterCame { .. }
            | RunEvent::Opening
            | RunEvent::Teardown { .. }
            | RunEvent::TeardownFailed(_)
            | RunEvent::TeardownSkipped { .. } => {}
        }
        self.next.on_event(event);
    }
}
