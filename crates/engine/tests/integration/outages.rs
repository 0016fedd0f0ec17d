//! Servers that stop answering.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use base::{AccountId, Class, Clock, Code, Dialect, Nanos, Seed, Stamp};
use driver::{Connection, Driver, Error, PreparedId, Simulated, Table, Work};
use engine::{
    LaneOutlet, Listener, NoListener, Options, Prepare, RunEvent, RunFailure, RunOutcome, Stop,
    Unreachable, run,
};
use record::{EndKind, EventKind, Grid, MemoryOutlet, Totals};
use rt::Rt;
use workload::{JobTarget, OnOutage, Pacing, Plan};

use crate::support::{
    JOB, constant, delegate_to_inner, even, only, plan, plan_of, run_on, virtually,
};

/// A server that answers no request for a while.
#[derive(Clone)]
struct SilentServer {
    inner: Simulated,
    silent: Range<Stamp>,
    /// True if the server accepts connections during the silence.
    lets_in: bool,
}

struct SilentConnection {
    inner: <Simulated as Driver>::Connection,
    silent: Range<Stamp>,
    rt: Rt,
}

impl SilentConnection {
    async fn outlast_silence(&self) {
        if self.silent.contains(&self.rt.now()) {
            self.rt.sleep_until(Stamp::NEVER).await;
        }
    }
}

/// Connect timeout of the driver.
const CONNECT_TIMEOUT: Nanos = Nanos::from_secs(5);

impl Driver for SilentServer {
    type Connection = SilentConnection;

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn stores_data(&self) -> bool {
        true
    }

    async fn connect(&self, rt: &Rt) -> Result<SilentConnection, Error> {
        let end = self.silent.end;
        if self.silent.contains(&rt.now()) && !self.lets_in {
            let gives_up = rt.now() + CONNECT_TIMEOUT;
            rt.sleep_until(gives_up.min(end)).await;
            if rt.now() < end {
                return Err(Error::disconnect("no answer"));
            }
        }
        let inner = self.inner.connect(rt).await?;
        Ok(SilentConnection { inner, silent: self.silent.clone(), rt: rt.clone() })
    }

    fn time_zero(&self, zero: Stamp) {
        self.inner.time_zero(zero);
    }
}

impl Connection for SilentConnection {
    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        self.outlast_silence().await;
        self.inner.run(work).await
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        if sql.contains("silent") {
            self.outlast_silence().await;
        }
        self.inner.query_text(sql).await
    }

    delegate_to_inner!(prepare, settings, close, abandon);
}

/// Returns the seconds at which events of the given kind happened.
fn seconds_of(totals: &Totals, kind: EventKind) -> Vec<f64> {
    let events = totals.events.iter().filter(|event| event.kind == kind);
    events.map(|event| event.at.as_secs_f64()).collect()
}

/// Returns the seconds at which outages began and ended.
fn outages_of(totals: &Totals) -> [Vec<f64>; 2] {
    [EventKind::OutageBegan, EventKind::OutageEnded].map(|kind| seconds_of(totals, kind))
}

#[test]
fn silent_outage_begins_with_the_first_request_without_an_answer() {
    for (pacing, on_outage) in [
        (even(100), OnOutage::Fail),
        (even(100), OnOutage::Wait),
        (Pacing::Closed { clients: 4, think: None }, OnOutage::Fail),
    ] {
        let mut plan = plan(pacing, 0.0, 20.0, 4);
        plan.jobs[0].requests.timeout = Some(Nanos::from_secs(2));
        plan.jobs[0].on_outage = on_outage;
        let inner = Simulated::new(constant(1_000, None), plan.seed);
        // A network that drops all packets.
        let silent = Stamp(5_000_000_000)..Stamp(15_000_000_000);
        let server = SilentServer { inner, silent, lets_in: false };
        let (totals, _) = run_on(&plan, server, &virtually(1), &Stop::default());
        let [began, ended] = outages_of(&totals);
        assert_eq!((began.len(), ended.len()), (1, 1), "{:?}", totals.events);
        // Time zero is slightly later than the clock's origin.
        assert!((4.9..5.1).contains(&began[0]), "{began:?}");
        assert!((14.9..16.1).contains(&ended[0]), "{ended:?}");
    }
}

/// A server that answers each request with an error. From the instant `from` on, it accepts no more
/// clients, and it then ends one of its sessions.
#[derive(Clone)]
struct RefusingServer {
    inner: Simulated,
    from: Stamp,
    has_ended_session: Arc<AtomicBool>,
}

struct RefusingConnection {
    inner: <Simulated as Driver>::Connection,
    rt: Rt,
    server: RefusingServer,
}

impl Driver for RefusingServer {
    type Connection = RefusingConnection;

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn stores_data(&self) -> bool {
        true
    }

    async fn connect(&self, rt: &Rt) -> Result<RefusingConnection, Error> {
        if rt.now() >= self.from {
            return Err(Error::new(Class::Statement, Code::new("28000"), "no login"));
        }
        let inner = self.inner.connect(rt).await?;
        Ok(RefusingConnection { inner, rt: rt.clone(), server: self.clone() })
    }
}

impl Connection for RefusingConnection {
    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        self.inner.run(work).await?;
        let RefusingServer { from, has_ended_session, .. } = &self.server;
        if self.rt.now() >= *from && !has_ended_session.swap(true, Ordering::Relaxed) {
            return Err(Error::disconnect("terminating connection"));
        }
        Err(Error::new(Class::Constraint, Code::new("23505"), "duplicate key"))
    }

    delegate_to_inner!(prepare, query_text, settings, close, abandon);
}

/// Expects the target not to be lost: the server's other sessions still get answers, even if the
/// answers are errors.
#[test]
fn server_that_refuses_a_client_and_answers_others_with_errors_is_not_lost() {
    let plan = plan(Pacing::Closed { clients: 2, think: None }, 0.0, 10.0, 2);
    let inner = Simulated::new(constant(1_000, None), plan.seed);
    let server =
        RefusingServer { inner, from: Stamp(5_000_000_000), has_ended_session: Arc::default() };
    let (totals, finished) = run_on(&plan, server, &virtually(1), &Stop::default());
    let began = totals.events.iter().filter(|event| event.kind == EventKind::OutageBegan);
    assert_eq!(began.count(), 1, "{:?}", totals.events);
    assert_eq!(finished.measured.expect("it was measured").lost, []);
}

/// Runs a file against a server that accepts clients and answers none of their requests.
fn run_against_silence(
    file: &str,
    stop: &Stop,
    listener: Arc<dyn Listener>,
) -> Result<RunOutcome, RunFailure> {
    run_prepared_against_silence(file, Prepare::Fresh, stop, listener)
}

fn run_prepared_against_silence(
    file: &str,
    prepare: Prepare,
    stop: &Stop,
    listener: Arc<dyn Listener>,
) -> Result<RunOutcome, RunFailure> {
    let inner = Simulated::new(constant(1_000, None), Seed(1));
    let server = SilentServer { inner, silent: Stamp::ZERO..Stamp::NEVER, lets_in: true };
    run_prepared(file, server, prepare, stop, listener)
}

fn run_prepared(
    file: &str,
    server: impl Driver,
    prepare: Prepare,
    stop: &Stop,
    listener: Arc<dyn Listener>,
) -> Result<RunOutcome, RunFailure> {
    let plan = plan_of(file);
    let memory = MemoryOutlet::new(Totals::new(Grid::new(Nanos::ZERO, plan.duration), &[1]));
    let outlet = |_| Box::new(memory.clone()) as LaneOutlet;
    let options = Options { prepare, ..virtually(1) };
    run(&plan, only(server), &options, outlet, stop, listener)
}

const LOAD: &str = "duration = 1s\nstall-timeout = 30s\n[load t]\nrows = 3k\nwriters = 2\n\
                    columns = id: row()\n[a]\nquery = select 1\n";

#[test]
fn stalled_load_is_given_up() {
    let failed = run_against_silence(LOAD, &Stop::default(), Arc::new(NoListener)).unwrap_err();
    let RunFailure::Unreachable(Unreachable { error, .. }) = failed else { panic!("{failed}") };
    let expected = "[load t]: nothing was answered within `stall-timeout = 30s`: 0 of 3000 rows \
                    are committed, and the database takes no more";
    assert_eq!(error.message(), expected);
}

/// A listener that ends the run while a table is being filled, and keeps the events of the run's
/// teardown.
#[derive(Default)]
struct InterruptingListener {
    stop: Stop,
    said: Mutex<Vec<String>>,
}

impl Listener for InterruptingListener {
    fn on_event(&self, event: &RunEvent<'_>) {
        match event {
            RunEvent::LongLoad { .. } => self.stop.interrupt(),
            RunEvent::TeardownFailed(failed) => {
                self.said.lock().expect("nothing panics").push(failed.to_string());
            }
            RunEvent::TeardownSkipped { from, of } => {
                let words = format!("{from} of {of} were run");
                self.said.lock().expect("nothing panics").push(words);
            }
            _ => {}
        }
    }
}

#[test]
fn first_interrupt_ends_a_stalled_load() {
    let listener = Arc::new(InterruptingListener::default());
    let finished = run_against_silence(LOAD, &listener.stop, Arc::clone(&listener) as _).unwrap();
    assert_eq!((finished.end, &finished.measured), (EndKind::Interrupted, &None));
    assert_eq!(finished.loaded[0].rows, 0);
    assert!(finished.loaded[0].took < Nanos::from_secs(30), "{finished:?}");
}

#[test]
fn unanswered_setup_is_given_up_at_its_limit() {
    for (limit, line) in [("2h", ""), ("30s", "setup-timeout = 30s\n")] {
        let file = format!(
            "duration = 1s\n{line}[setup]\nquery = create it\nquery = index silent\n\
             [a]\nquery = select 1\n"
        );
        let stop = Stop::default();
        let failed = run_against_silence(&file, &stop, Arc::new(NoListener)).unwrap_err();
        assert_eq!(failed.to_string(), "there is no answer to statement 2 of [setup]");
        let RunFailure::Statement { error, .. } = failed else { panic!("{failed}") };
        assert_eq!(
            error.message(),
            format!("nothing was answered within `setup-timeout = {limit}`")
        );
    }
}

#[test]
fn unanswered_count_is_given_up_at_the_limit_of_a_statement() {
    let file = "duration = 1s\nsetup-timeout = 30s\n[load silent]\nrows = 3k\n\
                columns = id: row()\n[a]\nquery = select 1\n";
    let (prepare, stop) = (Prepare::Verify, Stop::default());
    let failed =
        run_prepared_against_silence(file, prepare, &stop, Arc::new(NoListener)).unwrap_err();
    assert_eq!(failed.to_string(), "there is no answer to a count of the rows of [load silent]");
    let RunFailure::Statement { error, .. } = failed else { panic!("{failed}") };
    assert_eq!(error.message(), "nothing was answered within `setup-timeout = 30s`");
}

#[test]
fn unanswered_teardown_is_given_up_and_continues_with_its_next_statement() {
    let listener = Arc::new(InterruptingListener::default());
    let file = "duration = 1s\ndrain = 0s\n[a]\nquery = select 1\n[teardown]\n\
                query = drop silent\nquery = drop it\nquery = /* sim: reject */\n";
    let finished = run_against_silence(file, &listener.stop, Arc::clone(&listener) as _).unwrap();
    assert_eq!(finished.end, EndKind::Completed);
    let said = listener.said.lock().expect("nothing panics");
    let expected = [
        "there is no answer to statement 1 of [teardown]",
        "the database rejects statement 3 of [teardown]",
    ];
    assert_eq!(*said, expected);
}

/// Expects the teardown to take two time limits. Ten statements with a limit each would take ten.
#[test]
fn teardown_of_a_silent_server_takes_two_limits_and_reports_what_is_left() {
    let listener = Arc::new(InterruptingListener::default());
    let statements = "query = drop silent\n".repeat(10);
    let file = format!(
        "duration = 1s\ndrain = 0s\nstall-timeout = 30s\n[a]\nquery = select 1\n\
         [teardown]\n{statements}"
    );
    let finished = run_against_silence(&file, &listener.stop, Arc::clone(&listener) as _).unwrap();
    assert_eq!(finished.end, EndKind::Completed);
    let said = listener.said.lock().expect("nothing panics");
    let expected = [
        "there is no answer to statement 1 of [teardown]",
        "there is no answer to statement 2 of [teardown]",
        "2 of 10 were run",
    ];
    assert_eq!(*said, expected);
}

/// A server that ends a session at a text with the word `end`, and gives a code of its own.
#[derive(Clone)]
struct EndingServer(Simulated);

struct EndingSession {
    inner: <Simulated as Driver>::Connection,
    has_ended: bool,
}

impl EndingServer {
    fn new() -> EndingServer {
        EndingServer(Simulated::new(constant(1_000, None), Seed(1)))
    }
}

impl EndingSession {
    fn pass(&mut self, text: &str) -> Result<(), Error> {
        self.has_ended |= text.contains("end");
        match self.has_ended {
            true => Err(Error::new(Class::Disconnect, Code::new("57P01"), "terminated")),
            false => Ok(()),
        }
    }
}

impl Driver for EndingServer {
    type Connection = EndingSession;

    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    fn stores_data(&self) -> bool {
        true
    }

    async fn connect(&self, rt: &Rt) -> Result<EndingSession, Error> {
        Ok(EndingSession { inner: self.0.connect(rt).await?, has_ended: false })
    }
}

impl Connection for EndingSession {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        self.pass(text)?;
        self.inner.prepare(text).await
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        self.inner.run(work).await
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        self.pass(sql)?;
        self.inner.query_text(sql).await
    }

    delegate_to_inner!(settings, close, abandon);
}

#[test]
fn server_that_ends_a_session_before_the_jobs_counts_as_unreachable() {
    let load = "[load ended]\nrows = 10\ncolumns = id: row()\n";
    let setup = "[setup]\nquery = create it\nquery = end it\n";
    for (prepare, section, place) in [
        (Prepare::Fresh, setup, "statement 2 of [setup]"),
        (Prepare::Fresh, load, "the rows of [load ended]"),
        (Prepare::Verify, load, "the rows of [load ended]"),
    ] {
        let file = format!("duration = 1s\n{section}[a]\nquery = select 1\n");
        let (stop, listener) = (Stop::default(), Arc::new(NoListener));
        let failed =
            run_prepared(&file, EndingServer::new(), prepare, &stop, listener).unwrap_err();
        let RunFailure::Unreachable(unreachable) = failed else { panic!("{failed}") };
        assert_eq!(unreachable.error.code(), Code::new("57P01"), "{prepare:?}: {section}");
        assert_eq!(unreachable.to_string(), format!("{place}: terminated (57P01)"));
    }
}

#[test]
fn teardown_continues_on_a_new_connection_if_the_server_ends_the_session() {
    let listener = Arc::new(InterruptingListener::default());
    let file = "duration = 1s\n[a]\nquery = select 1\n[teardown]\nquery = drop it\n\
                query = end it\nquery = drop it\nquery = /* sim: reject */\n";
    let (server, prepare) = (EndingServer::new(), Prepare::Fresh);
    run_prepared(file, server, prepare, &listener.stop, Arc::clone(&listener) as _).unwrap();
    let said = listener.said.lock().expect("nothing panics");
    let expected = [
        "the connection broke during statement 2 of [teardown]",
        "the database rejects statement 4 of [teardown]",
    ];
    assert_eq!(*said, expected);
}

/// A server that refuses clients from 3 s on, as after a change of the password or of the limit of
/// connections. From then on, it also ends its sessions one after another: the first at 3.0 s, the
/// second at 3.2 s.
#[derive(Clone)]
struct ClosingServer {
    inner: Simulated,
    sessions: Arc<AtomicU64>,
    /// Class of the refusals.
    class: Class,
    /// Instant from which clients are accepted again.
    opens: Stamp,
    /// True if the server leaves every second session open.
    spares: bool,
}

impl ClosingServer {
    /// Returns a server that never accepts clients again.
    fn new(plan: &Plan, class: Class) -> ClosingServer {
        let inner = Simulated::new(constant(10_000, None), plan.seed);
        ClosingServer { inner, sessions: Arc::default(), class, opens: Stamp::NEVER, spares: false }
    }
}

struct ClosingSession {
    inner: <Simulated as Driver>::Connection,
    end: Stamp,
    rt: Rt,
}

impl Driver for ClosingServer {
    type Connection = ClosingSession;

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn stores_data(&self) -> bool {
        false
    }

    async fn connect(&self, rt: &Rt) -> Result<ClosingSession, Error> {
        let closing = Stamp(3_000_000_000);
        if (closing..self.opens).contains(&rt.now()) {
            return Err(Error::new(self.class, Code::new("refused"), "no client is accepted"));
        }
        let inner = self.inner.connect(rt).await?;
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        let is_spared = rt.now() > closing || (self.spares && number.is_multiple_of(2));
        let ends_at = closing + Nanos::from_millis(200) * number;
        let end = if is_spared { Stamp::NEVER } else { ends_at };
        Ok(ClosingSession { inner, end, rt: rt.clone() })
    }

    fn time_zero(&self, zero: Stamp) {
        self.inner.time_zero(zero);
    }
}

impl Connection for ClosingSession {
    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        if self.rt.now() >= self.end {
            let text = "the administrator ended the session";
            return Err(Error::new(Class::Disconnect, Code::new("57P01"), text));
        }
        self.inner.run(work).await
    }

    delegate_to_inner!(prepare, query_text, settings, close, abandon);
}

/// The classes of a login that is refused and of a server that is full.
const REFUSALS: [Class; 2] = [Class::Disconnect, Class::TooManyConnections];

#[test]
fn target_whose_sessions_end_one_after_another_is_lost() {
    let lost = |pacing: Pacing, class, spares, threads| {
        let plan = plan(pacing, 0.0, 8.0, 4);
        let server = ClosingServer { spares, ..ClosingServer::new(&plan, class) };
        let ends = run_on(&plan, server, &virtually(threads), &Stop::default());
        ends.1.measured.expect("it was measured").lost
    };
    for (class, threads) in REFUSALS.into_iter().flat_map(|class| [(class, 1), (class, 2)]) {
        for pacing in [even(300), Pacing::Closed { clients: 4, think: None }] {
            let lost = |spares| lost(pacing.clone(), class, spares, threads);
            assert_eq!(lost(false), [JobTarget::Main], "{class:?}: {pacing:?}");
            assert_eq!(lost(true), [], "{class:?}: {pacing:?}: some answer");
        }
    }
}

/// A pooler that has no server for a while. It still accepts clients, and ends their sessions at
/// the first statement.
#[derive(Clone)]
struct Pooler {
    inner: Simulated,
    without_server: Range<Stamp>,
    logins: Arc<AtomicU64>,
}

struct PoolerSession {
    inner: <Simulated as Driver>::Connection,
    pooler: Pooler,
    rt: Rt,
}

impl PoolerSession {
    async fn expect_server(&self) -> Result<(), Error> {
        if !self.pooler.without_server.contains(&self.rt.now()) {
            return Ok(());
        }
        self.rt.sleep(Nanos::from_millis(1)).await;
        let text = "server login has been failing";
        Err(Error::new(Class::Disconnect, Code::new("08P01"), text))
    }
}

impl Driver for Pooler {
    type Connection = PoolerSession;

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn stores_data(&self) -> bool {
        false
    }

    async fn connect(&self, rt: &Rt) -> Result<PoolerSession, Error> {
        self.logins.fetch_add(1, Ordering::Relaxed);
        let inner = self.inner.connect(rt).await?;
        Ok(PoolerSession { inner, pooler: self.clone(), rt: rt.clone() })
    }

    fn time_zero(&self, zero: Stamp) {
        self.inner.time_zero(zero);
    }
}

impl Connection for PoolerSession {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        self.expect_server().await?;
        self.inner.prepare(text).await
    }

    async fn await_session(&mut self) -> Result<(), Error> {
        self.expect_server().await
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        self.expect_server().await?;
        self.inner.run(work).await
    }

    delegate_to_inner!(query_text, settings, close, abandon);
}

/// A login at a pooler does not show that there is a server, even if nothing is prepared after it.
#[test]
fn server_lost_behind_a_pooler_is_an_outage_with_and_without_prepared_statements() {
    let pacings = [even(300), Pacing::Closed { clients: 4, think: None }];
    for (pacing, prepare) in pacings.iter().flat_map(|it| [(it, true), (it, false)]) {
        let mut plan = plan(pacing.clone(), 0.0, 8.0, 4);
        plan.jobs[0].requests.prepare = prepare;
        let said = format!("{pacing:?}, prepare: {prepare}");
        let run_until = |returns| {
            let inner = Simulated::new(constant(10_000, None), plan.seed);
            let without_server = Stamp(3_000_000_000)..returns;
            let server = Pooler { inner, without_server, logins: Arc::default() };
            let logins = Arc::clone(&server.logins);
            let (totals, finished) = run_on(&plan, server, &virtually(1), &Stop::default());
            let logins = logins.load(Ordering::Relaxed);
            assert!(logins < 600, "the attempts back off: {said}: {logins}");
            (outages_of(&totals), finished.measured.expect("it was measured").lost)
        };
        let ([began, ended], lost) = run_until(Stamp(6_000_000_000));
        assert_eq!((began.len(), ended.len(), lost.len()), (1, 1, 0), "{said}: {began:?}");
        assert!((2.9..3.3).contains(&began[0]) && (6.0..7.1).contains(&ended[0]), "{ended:?}");
        let (_, lost) = run_until(Stamp::NEVER);
        assert_eq!(lost, [JobTarget::Main], "{said}");
    }
}

/// A full server limits a job that still has a connection. For a job without one, it is an outage.
#[test]
fn server_that_is_full_is_an_outage_only_for_a_job_without_a_connection() {
    for pacing in [even(300), Pacing::Closed { clients: 4, think: None }] {
        let plan = plan(pacing.clone(), 0.0, 12.0, 4);
        let run_with = |spares| {
            let full = ClosingServer::new(&plan, Class::TooManyConnections);
            let server = ClosingServer { spares, opens: Stamp(6_000_000_000), ..full };
            let (totals, finished) = run_on(&plan, server, &virtually(1), &Stop::default());
            assert_eq!(finished.measured.expect("it was measured").lost, [], "{pacing:?}");
            let ends = &totals.account(JOB).intervals[10].1;
            assert!(ends.completed > 250, "it goes on: {pacing:?}: {ends:?}");
            totals
        };
        let limited = run_with(true);
        assert_eq!(outages_of(&limited)[0].len(), 0, "{pacing:?}: {:?}", limited.events);
        let cut_off = run_with(false);
        let [began, ended] = outages_of(&cut_off);
        assert_eq!((began.len(), ended.len()), (1, 1), "{pacing:?}: {:?}", cut_off.events);
        assert!(began[0] > 3.1 && began[0] < 5.5, "after the last session: {began:?}");
        assert!((6.0..7.1).contains(&ended[0]), "{ended:?}");
        assert_eq!(seconds_of(&cut_off, EventKind::ConnectionLimit).len(), 0, "{pacing:?}");
    }
}

/// Expects arrivals to fail at once. If they waited although the job has no connection, they would
/// look like an overload.
#[test]
fn arrivals_fail_at_once_if_a_full_server_leaves_no_connection() {
    let open = plan(even(300), 0.0, 8.0, 4);
    let server = ClosingServer::new(&open, Class::TooManyConnections);
    let (totals, _) = run_on(&open, server, &virtually(1), &Stop::default());
    let (arrived, ended) = &totals.account(JOB).intervals[7];
    assert!(arrived.balance.errors() >= 299 && ended.completed == 0, "{arrived:?}: {ended:?}");
}

/// Arrivals that accept the code of the ended sessions of a [`ClosingServer`].
const ARRIVALS: &str = "rate = 300\narrival = uniform\nerror = 57P01";

#[test]
fn refused_arrivals_are_judged_by_the_codes_of_their_part() {
    let plan = plan_of(&format!(
        "duration = 8s\n[mix]\nmix = a, b\n{ARRIVALS}\n\
         [a]\nquery = select 1\nerror = disconnect\n[b]\nquery = select 2\n"
    ));
    let server = ClosingServer::new(&plan, Class::Disconnect);
    let (totals, _) = run_on(&plan, server, &virtually(1), &Stop::default());
    let errors = |account| {
        let counts = totals.account(AccountId(account)).window.counts;
        (counts.balance.errors(), counts.accepted_errors)
    };
    let (all, a, b) = (errors(0), errors(1), errors(2));
    assert!(a.0 > 300 && a.0 == a.1, "{a:?}");
    // Only the requests whose session ended are accepted.
    assert!(b.0 > 300 && b.1 < 50, "{b:?}");
    assert_eq!(all, (a.0 + b.0, a.1 + b.1));
}

#[test]
fn refused_arrival_ends_the_run_if_its_part_stops_at_errors() {
    let job = format!("[a]\nquery = select 1\n{ARRIVALS}");
    for (file, stopped) in [
        (format!("{job}\non-error = stop\n"), Some(AccountId(0))),
        (format!("{job}, disconnect\non-error = stop\n"), None),
        (
            format!(
                "[mix]\nmix = a, b\n{ARRIVALS}\non-error = stop\n\
                 [a]\nquery = select 1\nerror = disconnect\n[b]\nquery = select 2\n"
            ),
            Some(AccountId(2)),
        ),
    ] {
        let plan = plan_of(&format!("duration = 8s\n{file}"));
        let server = ClosingServer::new(&plan, Class::Disconnect);
        let (totals, finished) = run_on(&plan, server, &virtually(1), &Stop::default());
        let events = totals.events.iter();
        let events = events.filter(|event| event.kind == EventKind::StoppedByError);
        let accounts: Vec<AccountId> = events.filter_map(|event| event.account).collect();
        assert_eq!(accounts, Vec::from_iter(stopped), "{file}");
        assert_eq!(finished.end == EndKind::StoppedByError, stopped.is_some(), "{file}");
    }
}

/// A job without a connection is limited while the server answers another job. The connection of an
/// idle job may be broken, and says nothing.
#[test]
fn full_server_is_an_outage_only_if_it_answers_no_other_job() {
    for (other, spares, expected) in
        [("rate = 100\nconcurrency = 1", true, 0), ("every = 8s", false, 1)]
    {
        let plan = plan_of(&format!(
            "duration = 9s\ndrain = 1s\n[a]\nquery = select 1\nrate = 100\nconcurrency = 1\n\
             [b]\nquery = select 1\n{other}\n"
        ));
        let server =
            ClosingServer { spares, ..ClosingServer::new(&plan, Class::TooManyConnections) };
        let (totals, finished) = run_on(&plan, server, &virtually(1), &Stop::default());
        let lost = finished.measured.expect("it was measured").lost;
        let [began, _] = outages_of(&totals);
        assert_eq!((began.len(), lost.len()), (expected, expected), "{other}: {began:?}");
        assert!(began.iter().all(|at| (2.9..3.3).contains(at)), "{began:?}");
    }
}

/// The fault of a [`FaultyServer`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The server ends all sessions and accepts no client.
    Crash,
    /// The server accepts clients and answers nothing.
    Stall,
    /// A pooler has no session for further clients, and answers the others.
    Full,
}

/// A server that needs 100 ms to prepare a statement, and has a fault for a while. A crash reaches
/// new sessions first: requests in flight fail when they would have been answered.
#[derive(Clone)]
struct FaultyServer {
    inner: Simulated,
    fault: Fault,
    faulty: Range<Stamp>,
}

struct FaultySession {
    inner: <Simulated as Driver>::Connection,
    server: FaultyServer,
    opened: Stamp,
    rt: Rt,
}

impl FaultyServer {
    /// Returns a server that has a fault from 3 s until `end_s`.
    fn new(plan: &Plan, fault: Fault, end_s: u64) -> FaultyServer {
        let inner = Simulated::new(constant(1_000, None), plan.seed);
        FaultyServer { inner, fault, faulty: Stamp(3_000_000_000)..Stamp(end_s * 1_000_000_000) }
    }
}

impl Driver for FaultyServer {
    type Connection = FaultySession;

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn stores_data(&self) -> bool {
        false
    }

    async fn connect(&self, rt: &Rt) -> Result<FaultySession, Error> {
        if self.fault == Fault::Crash && self.faulty.contains(&rt.now()) {
            return Err(Error::disconnect("connection refused"));
        }
        let inner = self.inner.connect(rt).await?;
        Ok(FaultySession { inner, server: self.clone(), opened: rt.now(), rt: rt.clone() })
    }

    fn time_zero(&self, zero: Stamp) {
        self.inner.time_zero(zero);
    }
}

impl Connection for FaultySession {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        let FaultyServer { fault, faulty, .. } = &self.server;
        let ready = self.rt.now() + Nanos::from_millis(100);
        if ready < faulty.start || self.rt.now() >= faulty.end {
            self.rt.sleep_until(ready).await;
            return self.inner.prepare(text).await;
        }
        match fault {
            Fault::Crash => {
                self.rt.sleep_until(faulty.start).await;
                Err(Error::disconnect("closed the connection"))
            }
            Fault::Stall | Fault::Full => {
                self.rt.sleep(CONNECT_TIMEOUT).await;
                Err(Error::unanswered("did not prepare a statement"))
            }
        }
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        let FaultyServer { fault, faulty, .. } = &self.server;
        let answer = self.inner.run(work).await;
        let is_affected = self.opened < faulty.start && self.rt.now() >= faulty.start;
        match fault {
            Fault::Crash if is_affected => Err(Error::disconnect("closed the connection")),
            Fault::Stall if is_affected => {
                self.rt.sleep_until(Stamp::NEVER).await;
                answer
            }
            Fault::Crash | Fault::Stall | Fault::Full => answer,
        }
    }

    delegate_to_inner!(query_text, settings, close, abandon);
}

/// A job needs more connections while another job gets answers. After the attempts to connect have
/// begun, each server still answers. Expects only the pooler, which goes on answering, to limit the
/// job.
#[test]
fn crash_or_stall_is_an_outage_and_a_full_pooler_limits_a_growing_job() {
    for (fault, end_s, (began, ended), limits) in [
        (Fault::Crash, 4, (1, 1), 0),
        (Fault::Stall, 1_000, (1, 0), 0),
        (Fault::Full, 1_000, (0, 0), 1),
    ] {
        let plan = plan_of(
            "duration = 12s\ndrain = 1s\n\
             [a]\nquery = select 1\nrate = 100\narrival = uniform\nconcurrency = 1\n\
             [b]\nquery = select 1 /* sim: service=2s */\nrate = 20\narrival = uniform\n\
             start = 2s\n",
        );
        let server = FaultyServer::new(&plan, fault, end_s);
        let (totals, _) = run_on(&plan, server, &virtually(1), &Stop::default());
        let outages = outages_of(&totals);
        assert_eq!(outages.each_ref().map(Vec::len), [began, ended], "{fault:?}: {outages:?}");
        assert!(outages[0].iter().all(|at| (2.0..3.1).contains(at)), "{fault:?}: {outages:?}");
        let events = totals.events.iter();
        let limited = events.filter(|event| event.kind == EventKind::ConnectionLimit);
        let texts: Vec<&str> = limited.map(|event| event.text.as_str()).collect();
        assert_eq!(texts.len(), limits, "{fault:?}: {texts:?}");
        let end = "limit: did not prepare a statement (no-session)";
        assert!(texts.iter().all(|text| text.ends_with(end)), "{fault:?}: {texts:?}");
    }
}

/// Requests that connect get answers until the server crashes. Expects no request that was
/// connecting then to be counted as refused by a full server. With `outage = wait`, the requests
/// wait.
#[test]
fn crash_is_no_full_server_for_requests_that_connect() {
    for (outage, errors) in [("fail", 50..=150), ("wait", 0..=2)] {
        let plan = plan_of(&format!(
            "duration = 8s\n[a]\nquery = select 1\nrate = 100\narrival = uniform\n\
             reconnect = per-transaction\noutage = {outage}\n"
        ));
        let server = FaultyServer::new(&plan, Fault::Crash, 4);
        let (totals, _) = run_on(&plan, server, &virtually(1), &Stop::default());
        let failures = &totals.account(JOB).window.failures;
        let is_lost = failures.iter().all(|(class, _, _)| class == Class::Disconnect);
        assert!(is_lost, "{outage}: {failures:?}");
        let failed = failures.iter().map(|(_, _, count)| count).sum::<u64>();
        assert!(errors.contains(&failed), "{outage}: {failures:?}");
        assert_eq!(outages_of(&totals).map(|of| of.len()), [1, 1], "{outage}: {:?}", totals.events);
    }
}
