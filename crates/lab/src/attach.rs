//! Observation of another program, with the observers and the record of a run, but without jobs.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};

use archive::RecordError;
use base::{Clock, Monotonic, Nanos, Target, WallTime};
use driver::AnyDriver;
use engine::{Options, Prepare, Stop};
use observe::{DatabaseWatch, ObservedSessions, Scope, ServerOption};
use record::component_name::{DATABASE, SESSIONS, SESSIONS_OF_OTHERS};
use record::environment::observe::{COMMAND, COMMAND_ENDED, MISSING};
use record::{End, EndKind, Header, MeasuredSide, Pace, TargetText};
use workload::{Observe, Overrides, Plan};

use crate::error::Error;
use crate::observation::{self, MachineObservers, MissingListener, ObservationSink};
use crate::pause::wait_while;
use crate::record_place::RecordPlace;
use crate::stage::{OpenError, Stage, passwords};
use crate::surroundings;
use crate::target::{ResolvedTarget, SimulatedRun};

/// The workload text in the record of an observation, which has no jobs.
const OBSERVE_WORKLOAD: &str = "[observe]\n";

/// The subject of an observation.
pub enum Subject {
    /// A command, which is started and observed until it ends.
    Command(Command),
    /// An existing process, which is observed until it ends.
    Process(u32),
    /// Only the machine and the database.
    NoProgram,
}

/// The parameters of an observation: program, target, limits and record.
pub struct AttachOrder {
    /// The program to observe.
    pub subject: Subject,
    /// A description of the program for the record, without secrets; empty without a program.
    pub description: String,
    /// The database that the program is expected to use.
    pub target: Option<Target>,
    /// Maximum duration of the observation; `None` for no limit.
    pub duration: Option<Nanos>,
    /// The hosts and processes to observe, and the sampling interval.
    pub observe: Observe,
    /// The path of the record.
    pub record: RecordPlace,
    /// The command line of Assay, rebuilt from the parsed arguments.
    pub command: String,
    /// The version of Assay.
    pub version: String,
    /// The commit that Assay was built from, if known.
    pub commit: Option<String>,
    /// A request to end the observation; the program itself continues.
    pub stop: Stop,
    /// Called with a warning if there is no target, and as soon as an important component of the
    /// database cannot be observed, once for each component.
    pub warn: Box<dyn Fn(&str) + Send + Sync>,
}

/// The components that are needed to distinguish a limit of the database from a limit of the
/// program. Each has the warning that is issued if the component cannot be observed.
const NEEDED_COMPONENTS: [(&str, &str); 4] = [
    (DATABASE, "cannot observe the database"),
    (MeasuredSide::Server.name(), "cannot observe the processes of the database"),
    (SESSIONS, "cannot observe the sessions of the database"),
    (SESSIONS_OF_OTHERS, "cannot observe all sessions of the database"),
];

/// Returns the warning for a missing component; `None` if it needs no warning.
fn warning_text(what: &str, why: &str) -> Option<String> {
    let (_, words) = NEEDED_COMPONENTS.iter().find(|(needed, _)| *needed == what)?;
    Some(format!("{words}: {why}"))
}

/// The result of an observation that left a record.
#[derive(Debug)]
pub struct AttachResult {
    /// The path of the record.
    pub record: std::path::PathBuf,
    /// The reason why the observation ended.
    pub end: EndKind,
    /// The exit status of the command, if there was one.
    pub status: Option<ExitStatus>,
    /// The error that cut the record short, if there was one.
    pub record_error: Option<RecordError>,
}

/// A reason why nothing was observed.
#[derive(Debug)]
pub enum AttachError {
    /// The record or the driver for the URL cannot be created.
    Run(Error),
    /// The program cannot be started.
    Start(io::Error),
    /// There is no process with this id.
    NoProcess(u32),
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttachError::Run(error) => error.fmt(f),
            AttachError::Start(error) => write!(f, "the program cannot be started: {error}"),
            AttachError::NoProcess(number) => write!(f, "there is no process {number}"),
        }
    }
}

impl std::error::Error for AttachError {}

/// Observes a program and, if a target is given, the database that it uses.
///
/// If the database cannot be reached, the program is observed nevertheless; the record lists the
/// missing components.
///
/// # Errors
/// Nothing was observed, and there is no record.
pub fn attach(mut order: AttachOrder) -> Result<AttachResult, AttachError> {
    if let Subject::Process(number) = order.subject
        && !process_exists(number)
    {
        return Err(AttachError::NoProcess(number));
    }
    let Some(target) = &order.target else {
        (order.warn)(
            "no URL: the database is not observed; name it as `assay observe postgres://… -- …` \
             or `mysql://…`",
        );
        return watch(order, None, &[], None);
    };
    let options = Options { prepare: Prepare::Keep, ..Options::in_real_time() };
    let plan = driver_plan();
    match Stage::open(&plan, target, &options) {
        Ok(stage) => {
            let main = stage.drivers(&plan, SimulatedRun::only(&plan)).main;
            watch(order, main, stage.resolved_targets(), None)
        }
        Err(OpenError::Unreachable(error)) => {
            // The database file may not exist yet, for example. The record lists the missing
            // components.
            order.observe.database = false;
            watch(order, None, &[], Some(error.to_string()))
        }
        Err(OpenError::Refused(error)) => Err(AttachError::Run(error)),
    }
}

/// Returns a plan that uses the main target. It is never run; it only serves to create a driver.
fn driver_plan() -> Plan {
    let (plan, _) = workload::plan("[asked]\nquery = select 1\n", &Overrides::default());
    plan.expect("a plan of one statement")
}

/// Returns the plan of the record.
fn record_plan(observe: &Observe) -> Plan {
    let (plan, _) = workload::plan(OBSERVE_WORKLOAD, &Overrides::default());
    let plan = plan.expect("a plan that observes");
    Plan { observe: observe.clone(), ..plan }
}

/// Starts the program and records the observations until the program ends, the maximum duration has
/// passed, or a stop is requested. `missing` is the reason why the database cannot be observed.
fn watch(
    order: AttachOrder,
    main: Option<AnyDriver>,
    reached: &[ResolvedTarget],
    missing: Option<String>,
) -> Result<AttachResult, AttachError> {
    let plan = record_plan(&order.observe);
    let recorder = order.record.create(&header(&order, &plan)).map_err(record_error_of)?;
    let notes = recorder.facts();
    notes.hide(passwords(main.as_ref()));
    for (name, value) in surroundings::read(order.record.path(), reached) {
        notes.setting(name, value);
    }
    notes.setting(COMMAND, order.description.as_str());
    let AttachOrder { subject, duration, stop, warn, .. } = order;
    if let Some(why) = missing {
        warning_text(DATABASE, &why).iter().for_each(|text| warn(text));
        notes.setting(format!("{MISSING}{DATABASE}"), why);
    }
    let mut program = match Program::start(subject) {
        Ok(program) => program,
        Err(error) => {
            recorder.discard().map_err(record_error_of)?;
            return Err(AttachError::Start(error));
        }
    };
    let observations = ObservationSink::of(&recorder).with_warning(warn_once(warn));
    let zero = Monotonic.now();
    notes.time_zero(WallTime::now());
    let scope = Scope {
        generator: program.number(),
        server_option: ServerOption::Argument,
        ..observation::scope(&plan, reached)
    };
    // A component that cannot be observed is noted as missing. The program does not wait until the
    // observers have started.
    let observers = MachineObservers::begin(zero, &scope, &plan.observe, &observations);
    let observed_sessions = match program.number() {
        Some(_) => ObservedSessions::Program(scope),
        None => ObservedSessions::AllClients,
    };
    let database =
        observation::database_watch_starter(&plan, main.as_ref(), observed_sessions, &observations);
    let database = database.and_then(|begin| begin(zero, &observations));
    let until = duration.map(|duration| zero + duration);
    let continues = |now| program.is_running() && until.is_none_or(|until| now < until);
    let waited = wait_while(&stop, continues);
    // If the system provides no timer, the observation ends at once and is recorded as interrupted.
    let was_stopped = stop.is_requested() || waited.is_err();
    let at = Monotonic.now().since(zero);
    database.into_iter().for_each(DatabaseWatch::end);
    observers.end();
    notes.setting(COMMAND_ENDED, program.status_text());
    let end = if was_stopped { EndKind::Interrupted } else { EndKind::Completed };
    let record = recorder.path().to_owned();
    let record_error = recorder.finish(End { at, kind: end, text: String::new() }).err();
    Ok(AttachResult { record, end, status: program.status(), record_error })
}

/// Returns a callback that calls `warn` once for each missing component that needs a warning.
fn warn_once(warn: Box<dyn Fn(&str) + Send + Sync>) -> MissingListener {
    let reported = Mutex::new(BTreeSet::new());
    Arc::new(move |what, why| {
        let text = warning_text(what, why);
        let is_new = reported.lock().is_ok_and(|mut reported| reported.insert(what.to_owned()));
        text.filter(|_| is_new).iter().for_each(|text| warn(text));
    })
}

fn record_error_of(error: RecordError) -> AttachError {
    AttachError::Run(Error::Record(error))
}

/// The observed program, and its exit status once a started program has ended.
struct Program {
    child: Option<Child>,
    number: Option<u32>,
    status: Option<ExitStatus>,
}

impl Program {
    fn start(subject: Subject) -> io::Result<Program> {
        let (child, number) = match subject {
            Subject::Command(mut command) => {
                let child = command.spawn()?;
                let number = child.id();
                (Some(child), Some(number))
            }
            Subject::Process(number) => (None, Some(number)),
            Subject::NoProgram => (None, None),
        };
        Ok(Program { child, number, status: None })
    }

    fn number(&self) -> Option<u32> {
        self.number
    }

    fn is_running(&mut self) -> bool {
        match (&mut self.child, self.number) {
            (Some(child), _) => {
                // If the program's state cannot be read, its end is not waited for.
                let asked = child.try_wait();
                self.status = asked.as_ref().ok().copied().flatten();
                asked.is_ok() && self.status.is_none()
            }
            (None, Some(number)) => process_exists(number),
            (None, None) => true,
        }
    }

    fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Returns the end of the program in words. Polls the program, because it may have ended since
    /// the last poll: a stop request ends the wait for it at once.
    fn status_text(&mut self) -> String {
        let is_running = self.is_running();
        match (self.status, is_running) {
            (Some(status), _) => status.to_string(),
            (None, false) => "it ended".to_owned(),
            (None, true) if self.number.is_none() => "no program was given".to_owned(),
            (None, true) => "it went on".to_owned(),
        }
    }
}

/// Returns true if the process exists and has not ended. In `/proc/PID/stat`, the state follows the
/// name; `Z` or `X` marks a process that has ended and was not yet waited for (`proc_pid_stat(5)`).
fn process_exists(number: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{number}/stat")) else { return false };
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

fn header(order: &AttachOrder, plan: &Plan) -> Header {
    Header {
        assay: order.version.clone(),
        commit: order.commit.clone(),
        started: WallTime::now(),
        pace: Pace::Real,
        lanes: 0,
        seed: plan.seed,
        target: order.target.as_ref().map_or_else(TargetText::none, TargetText::from),
        command: order.command.clone(),
        workload: "observe".to_owned(),
        plan: plan.to_text(),
        warmup: Nanos::ZERO,
        duration: None,
        jobs: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zombie_process_counts_as_ended() {
        let mut child = Command::new("true").spawn().expect("a program");
        let number = child.id();
        while process_exists(number) {
            std::thread::yield_now();
        }
        assert!(std::path::Path::new(&format!("/proc/{number}")).exists());
        child.wait().expect("its end");
        assert!(!process_exists(number) && process_exists(std::process::id()));
    }

    #[test]
    fn program_that_ended_since_the_last_poll_has_its_exit_status() {
        let subject = Subject::Command(Command::new("true"));
        let mut program = Program::start(subject).expect("a program");
        let number = program.number().expect("its process");
        while process_exists(number) {
            std::thread::yield_now();
        }
        assert_eq!(program.status_text(), "exit status: 0");
        assert!(program.status().is_some_and(|status| status.success()));
    }

    #[test]
    fn observation_without_a_program_has_no_end_of_a_program() {
        let mut none = Program::start(Subject::NoProgram).expect("nothing to start");
        assert_eq!(none.status_text(), "no program was given");
        let mut running = Program::start(Subject::Process(std::process::id())).expect("a process");
        assert_eq!(running.status_text(), "it went on");
    }

    #[test]
    fn unobserved_database_is_a_warning() {
        let text = warning_text("database", "wrong password");
        assert_eq!(text.as_deref(), Some("cannot observe the database: wrong password"));
        let text = warning_text("sessions of others", "hidden");
        assert!(text.is_some_and(|it| it.contains("hidden")));
        let text = warning_text("server", "not visible");
        let expected = "cannot observe the processes of the database: not visible";
        assert_eq!(text.as_deref(), Some(expected));
        assert_eq!(warning_text("disk sda", "no permission"), None);
    }

    #[test]
    fn plan_of_an_observation_round_trips() {
        let plan = record_plan(&Observe::default());
        let (again, diagnostics) = workload::plan(&plan.to_text(), &Overrides::default());
        assert_eq!(again.map(|plan| plan.observe), Some(Observe::default()), "{diagnostics:?}");
    }
}
