//! Observation of the database over a separate session.
//!
//! A [`DatabaseWatch`] is a thread with one session that queries the database during a run. Ten
//! times a second it samples the activity of all sessions and counts it ([`Tally`]): an activity
//! that is seen in a tenth of the samples took a tenth of the time. At the sampling interval of the
//! other sources, it also reads the database's own statistics. [`Postgres`], [`Mysql`] and
//! [`Sqlite`] hold the queries for each dialect.
//!
//! The queries use the same driver as requests do; the driver counts queries and requests
//! separately.

mod mysql;
mod postgres;
mod session;
mod session_filter;
mod sizes;
mod sqlite;
mod tally;
mod text;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use base::{Class, Clock, Dialect, Nanos, Stamp};
use driver::{Connection, Driver, Error, SessionId};
use record::ComponentKind;
use rt::Rt;

use crate::sample::{ReportedMissing, Sample, SeriesLimit};
use crate::sockets::SocketPairs;
use mysql::Mysql;
use postgres::Postgres;
use session::{BoundedWait, QueryFailure, SampledSession, SessionEnd};
use session_filter::SessionFilter;
pub use session_filter::{OwnSessions, TargetSessions};
use sqlite::Sqlite;
pub use tally::ObservedSessions;
use tally::Tally;

/// Mean time between two samples of the sessions.
const SESSION_SAMPLE_INTERVAL: Nanos = Nanos::from_millis(100);

/// Fractional part of the golden ratio, in thousandths. Each sample is offset within its tenth of a
/// second, and the offset advances by this fraction. The samples therefore do not synchronise with
/// an evenly paced load.
const SAMPLE_STRIDE: u64 = 618;

/// Pause before the next attempt to connect, after the first failure. The pause doubles with each
/// further failure, up to the longest pause.
const FIRST_PAUSE: Nanos = Nanos::from_secs(1);

const LONGEST_PAUSE: Nanos = Nanos::from_secs(10);

/// Name of the thread that observes the database.
const THREAD: &str = "watch-database";

/// Name reported as missing if the database cannot be observed, at all or for a while.
const DATABASE: &str = "database";

/// The thread that observes the database during a run.
pub struct DatabaseWatch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl DatabaseWatch {
    /// Starts to observe: connects immediately, and samples the sessions from `zero` on.
    /// `on_sample` is called periodically with the readings since the previous call and the time
    /// since `zero`.
    ///
    /// # Errors
    /// The operating system cannot start a thread.
    pub fn begin<D: Driver>(
        zero: Stamp,
        driver: D,
        observed: ObservedSessions,
        every: Nanos,
        on_sample: impl Fn(Nanos, Sample) + Send + 'static,
    ) -> io::Result<DatabaseWatch> {
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let thread = std::thread::Builder::new().name(THREAD.to_owned()).spawn(move || {
            let watching = rt::run_real(&rt::Options::default(), |rt| async move {
                let bounds = BoundedWait::new(rt.clone(), until);
                DatabaseObserver::new(zero, every, rt, bounds, observed, on_sample)
                    .watch(&driver)
                    .await;
            });
            // Without a timer, nothing is reported, and the checks report that there are no data.
            let _ = watching;
        })?;
        Ok(DatabaseWatch { is_over, thread })
    }

    /// Stops the thread. When this function returns, everything observed before has been reported,
    /// and the session is closed. A session that does not answer within two seconds is abandoned.
    pub fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        // A panic in the thread has been printed already and does not affect the run.
        let _ = self.thread.join();
    }
}

/// The sampler for the dialect of the database.
enum DialectSampler {
    Postgres(Box<Postgres>),
    Mysql(Box<Mysql>),
    Sqlite(Sqlite),
}

impl DialectSampler {
    /// Queries the version of the server and the statistics that it offers.
    async fn open<C: Connection>(
        dialect: Dialect,
        session: &mut SampledSession<C>,
        sample: &mut Sample,
    ) -> Result<DialectSampler, SessionEnd> {
        Ok(match dialect {
            Dialect::Postgres => {
                DialectSampler::Postgres(Box::new(Postgres::open(session, sample).await?))
            }
            Dialect::Mysql => DialectSampler::Mysql(Box::new(Mysql::open(session, sample).await?)),
            Dialect::Sqlite => DialectSampler::Sqlite(Sqlite::open(session).await?),
        })
    }

    /// Returns the id of the observer's session at the server; `None` if the database has no
    /// sessions.
    fn session_id(&self) -> Option<SessionId> {
        match self {
            DialectSampler::Postgres(sampler) => Some(sampler.session_id()),
            DialectSampler::Mysql(sampler) => Some(sampler.session_id()),
            DialectSampler::Sqlite(_) => None,
        }
    }

    /// Returns the name of the observer's session at the server; empty if the database has no
    /// sessions.
    fn session_name(&self) -> &str {
        match self {
            DialectSampler::Postgres(sampler) => sampler.session_name(),
            DialectSampler::Mysql(sampler) => sampler.session_name(),
            DialectSampler::Sqlite(_) => "",
        }
    }

    /// Prepares the sampler to recognise these sessions.
    fn set_own_sessions(&mut self, own: &OwnSessions) {
        match self {
            DialectSampler::Postgres(sampler) => sampler.set_own_sessions(own),
            DialectSampler::Mysql(_) | DialectSampler::Sqlite(_) => {}
        }
    }

    /// Samples the sessions.
    async fn sample_sessions<C: Connection>(
        &mut self,
        session: &mut SampledSession<C>,
        filter: SessionFilter<'_>,
        tally: &mut Tally,
        sample: &mut Sample,
    ) -> Result<(), QueryFailure> {
        match self {
            DialectSampler::Postgres(sampler) => {
                sampler.sample_sessions(session, filter, tally, sample).await
            }
            DialectSampler::Mysql(sampler) => {
                sampler.sample_sessions(session, filter, tally, sample).await
            }
            // SQLite has no sessions to sample.
            DialectSampler::Sqlite(_) => Ok(()),
        }
    }

    /// Reads the database's own statistics.
    async fn read<C: Connection>(
        &mut self,
        session: &mut SampledSession<C>,
        tally: &mut Tally,
        sample: &mut Sample,
    ) -> Result<(), QueryFailure> {
        match self {
            DialectSampler::Postgres(sampler) => sampler.read(session, sample).await,
            DialectSampler::Mysql(sampler) => sampler.read(session, tally, sample).await,
            DialectSampler::Sqlite(sampler) => sampler.read(session, sample).await,
        }
    }

    /// Reads the sizes of the database and its tables.
    async fn read_sizes<C: Connection>(
        &self,
        session: &mut SampledSession<C>,
        sample: &mut Sample,
    ) -> Result<(), QueryFailure> {
        match self {
            DialectSampler::Postgres(_) => sizes::read_postgres(session, sample).await,
            DialectSampler::Mysql(sampler) => {
                sizes::read_mysql(session, sampler.is_mariadb(), sample).await
            }
            DialectSampler::Sqlite(sampler) => {
                sizes::report_sqlite(sampler.file(), sample);
                Ok(())
            }
        }
    }
}

/// State of a running watch.
struct DatabaseObserver<T> {
    zero: Stamp,
    every: Nanos,
    rt: Rt,
    bounds: BoundedWait,
    on_sample: T,
    tally: Tally,
    /// Connections of an observed program.
    pairs: Option<SocketPairs>,
    /// Sessions of the run.
    own: Option<OwnSessions>,
    reported_missing: ReportedMissing,
    series: SeriesLimit,
    /// Readings that have not been reported yet.
    sample: Sample,
    /// Number of the current sample, including skipped samples.
    sample_number: u64,
    /// Time at which the next reading is due.
    due: Stamp,
    /// Time of the last report, since `zero`.
    reported_at: Nanos,
    /// True if a session has delivered a sample.
    has_sampled: bool,
}

impl<T: Fn(Nanos, Sample)> DatabaseObserver<T> {
    fn new(
        zero: Stamp,
        every: Nanos,
        rt: Rt,
        bounds: BoundedWait,
        observed: ObservedSessions,
        on_sample: T,
    ) -> DatabaseObserver<T> {
        let (pairs, own) = match &observed {
            ObservedSessions::Program(scope) => (SocketPairs::of(scope), None),
            ObservedSessions::Ours(own) => (None, own.clone()),
            ObservedSessions::AllClients => (None, None),
        };
        DatabaseObserver {
            zero,
            every,
            rt,
            bounds,
            on_sample,
            tally: Tally::of(observed),
            pairs,
            own,
            reported_missing: ReportedMissing::default(),
            series: SeriesLimit::default(),
            sample: Sample::default(),
            sample_number: 0,
            due: zero,
            reported_at: Nanos::ZERO,
            has_sampled: false,
        }
    }

    /// Opens a new session whenever the previous one has broken, until the watch is over or no
    /// session can be used.
    async fn watch<D: Driver>(&mut self, driver: &D) {
        let mut pause = FIRST_PAUSE;
        while !self.bounds.is_over() {
            let begun = self.rt.now();
            match self.run_session(driver).await {
                SessionEnd::Over => {
                    // A watch that ends normally takes a last sample, however short it was.
                    if !self.has_sampled {
                        self.sample.missing(DATABASE, "no answer to the observer before the end");
                    }
                    break;
                }
                SessionEnd::Unusable(why) => {
                    self.sample.missing(DATABASE, why);
                    break;
                }
                SessionEnd::Broken(why) => {
                    self.sample.missing(DATABASE, format!("for a while: {why}"));
                    self.report_missing();
                    if self.rt.now().since(begun) > LONGEST_PAUSE {
                        pause = FIRST_PAUSE;
                    }
                    self.bounds.pause_until(self.rt.now() + pause).await;
                    pause = LONGEST_PAUSE.min(pause + pause);
                }
            }
        }
        self.report_missing();
    }

    /// Runs one session from beginning to end.
    async fn run_session<D: Driver>(&mut self, driver: &D) -> SessionEnd {
        let connecting = driver.connect(&self.rt);
        let mut connection = match self.bounds.wait_for(connecting).await {
            Err(failure) => return failure.into(),
            Ok(Err(error)) => return end_after_failed_connect(&error),
            Ok(Ok(connection)) => connection,
        };
        // The server is identified here, because the jobs may use only other servers, or this
        // server may have been replaced.
        if self.own.is_some()
            && let Err(failure) = self.bounds.wait_for(connection.identify()).await
        {
            connection.abandon();
            return failure.into();
        }
        let mut session = SampledSession::new(connection, self.bounds.clone());
        let end = match DialectSampler::open(driver.dialect(), &mut session, &mut self.sample).await
        {
            Ok(sampler) => self.sample_until_end(driver, sampler, &mut session).await,
            Err(end) => end,
        };
        session.finish(matches!(end, SessionEnd::Broken(_))).await;
        end
    }

    /// Samples until the watch is over or the session breaks.
    async fn sample_until_end<D: Driver>(
        &mut self,
        driver: &D,
        mut sampler: DialectSampler,
        session: &mut SampledSession<D::Connection>,
    ) -> SessionEnd {
        self.due = self.due.max(self.zero);
        // A proxy gives its clients its own session ids, and may change the names of sessions.
        let (is_direct, name) = (session.id() == sampler.session_id(), sampler.session_name());
        let own = match &self.own {
            Some(own) => own.at_observed_server(name, is_direct, session.node()),
            None => OwnSessions::named(name),
        };
        sampler.set_own_sessions(&own);
        if own.are_identified() {
            self.tally.set_ours_identified();
        }
        loop {
            let next = self.next_sample_time();
            self.bounds.pause_until(next).await;
            let is_over = self.bounds.is_over();
            let (tally, sample) = (&mut self.tally, &mut self.sample);
            let filter = match &mut self.pairs {
                Some(pairs) => SessionFilter::Sockets(pairs),
                None => SessionFilter::Own(&own),
            };
            let sampled = sampler.sample_sessions(session, filter, tally, sample);
            if let Err(failure) = sampled.await {
                return failure.into();
            }
            if is_over || self.rt.now() >= self.due {
                let mut read = sampler.read(session, &mut self.tally, &mut self.sample).await;
                if is_over && read.is_ok() {
                    read = sampler.read_sizes(session, &mut self.sample).await;
                }
                for (name, sum) in driver.counters() {
                    let metric = format!("sqlite3_stmt_status.{name}");
                    self.sample.read_named(&ComponentKind::Statistics, &metric, "", sum as f64);
                }
                self.report_all();
                if let Err(failure) = read {
                    return failure.into();
                }
                self.due = self.rt.now().max(self.due + self.every);
            }
            if is_over {
                return SessionEnd::Over;
            }
        }
    }

    /// Returns the time of the next sample. Samples whose time has passed are skipped.
    fn next_sample_time(&mut self) -> Stamp {
        let past = self.rt.now().since(self.zero).0 / SESSION_SAMPLE_INTERVAL.0;
        self.sample_number = (self.sample_number + 1).max(past);
        if self.rt.now() < self.zero {
            self.sample_number = 0;
        }
        let begin = self.sample_number * SESSION_SAMPLE_INTERVAL.0;
        self.zero + Nanos(begin + sample_offset(self.sample_number))
    }

    /// Reports everything that was counted and read.
    fn report_all(&mut self) {
        let at = self.rt.now().since(self.zero);
        let mut begun = self.tally.take_initial_values();
        self.series.apply(&mut begun);
        if begun != Sample::default() {
            (self.on_sample)(self.reported_at, begun);
        }
        self.tally.write(&mut self.sample);
        self.report_at(at);
        self.reported_at = at;
        self.has_sampled = true;
    }

    /// Reports the readings so far if some could not be read.
    fn report_missing(&mut self) {
        if !self.sample.missing.is_empty() {
            self.report_at(self.rt.now().since(self.zero));
        }
    }

    fn report_at(&mut self, at: Nanos) {
        let mut sample = std::mem::take(&mut self.sample);
        self.series.apply(&mut sample);
        self.reported_missing.keep_new(&mut sample);
        (self.on_sample)(at, sample);
    }
}

/// Returns the offset of a sample within its tenth of a second.
fn sample_offset(number: u64) -> u64 {
    number.wrapping_mul(SAMPLE_STRIDE) % 1_000 * (SESSION_SAMPLE_INTERVAL.0 / 1_000)
}

/// Returns the end of a session that could not be opened.
fn end_after_failed_connect(error: &Error) -> SessionEnd {
    let why = format!("no session for the observer: {error}");
    match error.class() {
        Class::TooManyConnections => {
            SessionEnd::Broken(format!("{why}; leave one more connection free"))
        }
        Class::Disconnect | Class::Timeout | Class::Server => SessionEnd::Broken(why),
        Class::Statement | Class::Constraint | Class::Conflict | Class::WrongResult => {
            SessionEnd::Unusable(why)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use driver::{PreparedId, Table, Work};

    use super::*;
    use crate::sample::MOST_SERIES;

    #[test]
    fn sampling_times_do_not_synchronise_with_an_even_load() {
        let places: Vec<u64> = (0..10).map(|number| sample_offset(number) / 10_000_000).collect();
        let mut tenths = places.clone();
        tenths.sort_unstable();
        tenths.dedup();
        assert!(tenths.len() >= 9, "{places:?}");
        assert!((0..10_000).all(|number| sample_offset(number) < SESSION_SAMPLE_INTERVAL.0));
    }

    #[test]
    fn statistics_beyond_the_limit_are_reported_once() {
        let reports = RefCell::new(Vec::new());
        let watched = rt::run_virtual(async |rt| {
            let bounds = BoundedWait::new(rt.clone(), Arc::default());
            let on_sample = |_, sample: Sample| reports.borrow_mut().push(sample);
            let observed = ObservedSessions::AllClients;
            let (zero, every) = (rt.now(), Nanos::from_secs(1));
            let mut observer = DatabaseObserver::new(zero, every, rt, bounds, observed, on_sample);
            for number in 0..MOST_SERIES {
                let name = number.to_string();
                observer.sample.read_named(&ComponentKind::Statistics, &name, "", 1.0);
            }
            observer.report_at(Nanos::ZERO);
            observer.tally.add_named(&ComponentKind::Locks, "t", 1);
            observer.report_all();
            observer.report_all();
        });
        watched.expect("an end");
        let reports = reports.into_inner();
        let missing: Vec<&str> =
            reports.iter().flat_map(|it| &it.missing).map(|it| &*it.what).collect();
        assert_eq!(missing, ["further statistics"]);
    }

    /// A server that ends the watch when a connection is opened, and then answers or is silent.
    #[derive(Clone)]
    struct EndingServer {
        is_over: Arc<AtomicBool>,
        is_silent: bool,
    }

    struct EndingConnection;

    impl Driver for EndingServer {
        type Connection = EndingConnection;

        fn dialect(&self) -> Dialect {
            Dialect::Sqlite
        }

        fn stores_data(&self) -> bool {
            true
        }

        async fn connect(&self, _rt: &Rt) -> Result<EndingConnection, Error> {
            self.is_over.store(true, Ordering::Relaxed);
            if self.is_silent {
                std::future::pending::<()>().await;
            }
            Ok(EndingConnection)
        }
    }

    impl Connection for EndingConnection {
        async fn prepare(&mut self, _text: &str) -> Result<PreparedId, Error> {
            Ok(PreparedId(0))
        }

        async fn run(&mut self, _work: &mut Work) -> Result<(), Error> {
            Ok(())
        }

        async fn query_text(&mut self, _sql: &str) -> Result<Table, Error> {
            let row = ["3.46.0", "/no/such/file.db", "4096", "wal"];
            let row = row.map(|text| Some(text.to_owned()));
            Ok(Table { rows: vec![row.to_vec()], ..Table::default() })
        }

        async fn settings(&mut self) -> Vec<(String, String)> {
            Vec::new()
        }

        async fn close(self) {}

        fn abandon(self) {}
    }

    /// Returns the number of samples and the missing components of a watch that ends when its
    /// session is opened.
    fn watched_to_the_end(is_silent: bool) -> (usize, Vec<String>) {
        let reports = RefCell::new(Vec::new());
        let watched = rt::run_virtual(async |rt| {
            let is_over = Arc::new(AtomicBool::new(false));
            let bounds = BoundedWait::new(rt.clone(), Arc::clone(&is_over));
            let on_sample = |_, sample: Sample| reports.borrow_mut().push(sample);
            let observed = ObservedSessions::AllClients;
            let (zero, every) = (rt.now(), Nanos::from_secs(1));
            let mut observer = DatabaseObserver::new(zero, every, rt, bounds, observed, on_sample);
            observer.watch(&EndingServer { is_over, is_silent }).await;
        });
        watched.expect("an end");
        let reports: Vec<Sample> = reports.into_inner();
        let samples = reports.iter().filter(|sample| !sample.readings.is_empty()).count();
        let missing = reports.into_iter().flat_map(|sample| sample.missing);
        (samples, missing.map(|it| format!("{}: {}", it.what, it.why)).collect())
    }

    #[test]
    fn only_a_server_without_an_answer_until_the_end_is_missing() {
        let missing = "database: no answer to the observer before the end".to_owned();
        assert_eq!(watched_to_the_end(true), (0, vec![missing]));
        let (samples, missing) = watched_to_the_end(false);
        assert_eq!(missing, Vec::<String>::new());
        assert!(samples > 0);
    }

    #[test]
    fn a_refused_login_is_not_tried_again() {
        let login = Error::new(Class::Statement, base::Code::new("28P01"), "wrong password");
        let end = end_after_failed_connect(&login);
        assert!(matches!(end, SessionEnd::Unusable(why) if why.contains("wrong password")));
        let full = Error::new(Class::TooManyConnections, base::Code::new("53300"), "full");
        let end = end_after_failed_connect(&full);
        assert!(matches!(end, SessionEnd::Broken(why) if why.contains("leave one")));
    }
}
