//! What is the database doing, as it shows itself to a session of its own?
//!
//! A [`DatabaseWatch`] is a thread with one session that asks beside a run. Ten times a second it
//! looks at what all sessions are doing just then, and counts it ([`Tally`]): what a tenth of the
//! looks saw took a tenth of the time. As often as the other sources it also reads what the
//! database counts by itself. [`Postgres`], [`Mysql`] and [`Sqlite`] name what they ask.
//!
//! What it asks goes through the driver, which counts it as asked beside requests.

mod mysql;
mod postgres;
mod session;
mod sqlite;
mod tally;
mod text;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use base::{Class, Clock, Dialect, Nanos, Stamp};
use driver::{Connection, Driver, Error};
use record::Part;
use rt::Rt;

use crate::sample::{Known, Sample};
use crate::sockets::Pairs;
use mysql::Mysql;
use postgres::Postgres;
use session::{Patience, Session, Trouble};
use sqlite::Sqlite;
use tally::Tally;
pub use tally::Whose;

/// How often the sessions are looked at, on average.
const LOOK_EVERY: Nanos = Nanos::from_millis(100);

/// The golden ratio's part behind the point, in thousandths. The place of a look within its tenth
/// of a second moves on by so much of it, so that looks keep step with no load that is paced
/// evenly.
const STRIDE: u64 = 618;

/// How long nobody tries to connect again after the first failure; twice as long each time.
const FIRST_PAUSE: Nanos = Nanos::from_secs(1);

const LONGEST_PAUSE: Nanos = Nanos::from_secs(10);

/// The name of its thread.
const THREAD: &str = "watch-database";

/// Under which name it is missing if nothing can be seen of the database at all.
const DATABASE: &str = "database";

/// Somebody who asks the database what it is doing while a run goes.
pub struct DatabaseWatch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl DatabaseWatch {
    /// Begins to watch: connects at once, and looks at these sessions from `zero` on. `tell` is
    /// told every so often what was seen and counted until then, after `zero`.
    ///
    /// # Errors
    /// The operating system grants no thread.
    pub fn begin<D: Driver>(
        zero: Stamp,
        driver: D,
        whose: Whose,
        every: Nanos,
        tell: impl Fn(Nanos, Sample) + Send + 'static,
    ) -> io::Result<DatabaseWatch> {
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let thread = std::thread::Builder::new().name(THREAD.to_owned()).spawn(move || {
            let watching = rt::run_real(&rt::Options::default(), |rt| async move {
                let patience = Patience::new(rt.clone(), until);
                Watching::new(zero, every, rt, patience, whose, tell).watch(&driver).await;
            });
            // Without a timer nothing is told, and the judgement says that it has nothing to judge.
            let _ = watching;
        })?;
        Ok(DatabaseWatch { is_over, thread })
    }

    /// Ends it. When this returns, what was seen until now has been told, and the session is
    /// closed; one that does not answer within two seconds is given up.
    pub fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        // A panic there has been printed; the run itself is none the worse for it.
        let _ = self.thread.join();
    }
}

/// How a session ended.
enum End {
    /// The watch is over.
    Over,
    /// It broke, and another may be had later: why.
    Broken(String),
    /// No session can be of use: why.
    Useless(String),
}

impl From<Trouble> for End {
    fn from(trouble: Trouble) -> End {
        match trouble {
            Trouble::Over => End::Over,
            Trouble::Refused(error) => End::Useless(error.to_string()),
            Trouble::Broken(why) => End::Broken(why),
        }
    }
}

/// What is known of the database that answers.
enum Eye {
    Postgres(Box<Postgres>),
    Mysql(Box<Mysql>),
    Sqlite(Sqlite),
}

impl Eye {
    /// Asks what it is, and what may be asked there.
    async fn open<C: Connection>(
        dialect: Dialect,
        session: &mut Session<C>,
        sample: &mut Sample,
    ) -> Result<Eye, End> {
        Ok(match dialect {
            Dialect::Postgres => Eye::Postgres(Box::new(Postgres::open(session, sample).await?)),
            Dialect::Mysql => Eye::Mysql(Box::new(Mysql::open(session, sample).await?)),
            Dialect::Sqlite => Eye::Sqlite(Sqlite::open(session).await?),
        })
    }

    /// Takes a glance at the sessions, and at the sockets of a program that is observed.
    async fn glance<C: Connection>(
        &mut self,
        session: &mut Session<C>,
        pairs: Option<&mut Pairs>,
        tally: &mut Tally,
        sample: &mut Sample,
    ) -> Result<(), Trouble> {
        match self {
            Eye::Postgres(eye) => eye.glance(session, pairs, tally, sample).await,
            Eye::Mysql(eye) => eye.glance(session, pairs, tally, sample).await,
            // It has no sessions that could be looked at.
            Eye::Sqlite(_) => Ok(()),
        }
    }

    /// What the database counts.
    async fn read<C: Connection>(
        &mut self,
        session: &mut Session<C>,
        tally: &mut Tally,
        sample: &mut Sample,
    ) -> Result<(), Trouble> {
        match self {
            Eye::Postgres(eye) => eye.read(session, sample).await,
            Eye::Mysql(eye) => eye.read(session, tally, sample).await,
            Eye::Sqlite(eye) => eye.read(session, sample).await,
        }
    }
}

/// A watch at work.
struct Watching<T> {
    zero: Stamp,
    every: Nanos,
    rt: Rt,
    patience: Patience,
    tell: T,
    tally: Tally,
    /// The connections of a program that is observed.
    pairs: Option<Pairs>,
    known: Known,
    /// What could not be read since the last time that something was told.
    sample: Sample,
    /// How many looks there were, or could have been.
    looks: u64,
    /// When the next reading is due.
    due: Stamp,
    /// When something was told last.
    told: Nanos,
}

impl<T: Fn(Nanos, Sample)> Watching<T> {
    fn new(
        zero: Stamp,
        every: Nanos,
        rt: Rt,
        patience: Patience,
        whose: Whose,
        tell: T,
    ) -> Watching<T> {
        let pairs = match &whose {
            Whose::Program(scope) => Pairs::of(scope),
            Whose::Ours | Whose::Everyones => None,
        };
        Watching {
            zero,
            every,
            rt,
            patience,
            tell,
            tally: Tally::of(whose),
            pairs,
            known: Known::default(),
            sample: Sample::default(),
            looks: 0,
            due: zero,
            told: Nanos::ZERO,
        }
    }

    /// One session after the other, until the watch is over or none is of use.
    async fn watch<D: Driver>(&mut self, driver: &D) {
        let mut pause = FIRST_PAUSE;
        while !self.patience.is_over() {
            let begun = self.rt.now();
            match self.live(driver).await {
                End::Over => break,
                End::Useless(why) => {
                    self.sample.missing(DATABASE, why);
                    break;
                }
                End::Broken(why) => {
                    self.sample.missing(DATABASE, format!("for a while: {why}"));
                    self.tell_missing();
                    if self.rt.now().since(begun) > LONGEST_PAUSE {
                        pause = FIRST_PAUSE;
                    }
                    self.patience.pause_until(self.rt.now() + pause).await;
                    pause = LONGEST_PAUSE.min(pause + pause);
                }
            }
        }
        self.tell_missing();
    }

    /// A session from its beginning to its end.
    async fn live<D: Driver>(&mut self, driver: &D) -> End {
        let connecting = driver.connect(&self.rt);
        let connection = match self.patience.wait_for(connecting).await {
            Err(trouble) => return trouble.into(),
            Ok(Err(error)) => return unconnected(&error),
            Ok(Ok(connection)) => connection,
        };
        let nodes = driver.nodes();
        if !nodes.is_empty() {
            let why = "only one of the hosts of the URL is asked what it is doing";
            self.sample.missing("database of the other hosts", why);
        }
        let mut session = Session::new(connection, self.patience.clone());
        let end = match Eye::open(driver.dialect(), &mut session, &mut self.sample).await {
            Ok(eye) => self.look(driver, eye, &mut session).await,
            Err(end) => end,
        };
        session.finish(matches!(end, End::Broken(_))).await;
        end
    }

    /// Looks until the watch is over or the session breaks.
    async fn look<D: Driver>(
        &mut self,
        driver: &D,
        mut eye: Eye,
        session: &mut Session<D::Connection>,
    ) -> End {
        self.due = self.due.max(self.zero);
        loop {
            let next = self.next_look();
            self.patience.pause_until(next).await;
            let is_over = self.patience.is_over();
            let (tally, sample) = (&mut self.tally, &mut self.sample);
            let glance = eye.glance(session, self.pairs.as_mut(), tally, sample);
            if let Err(trouble) = glance.await {
                return trouble.into();
            }
            if is_over || self.rt.now() >= self.due {
                let read = eye.read(session, &mut self.tally, &mut self.sample).await;
                for (name, sum) in driver.counters() {
                    let metric = format!("sqlite3_stmt_status.{name}");
                    self.sample.read(&Part::Statistics, &metric, "", sum as f64);
                }
                self.tell_all();
                if let Err(trouble) = read {
                    return trouble.into();
                }
                self.due = self.rt.now().max(self.due + self.every);
            }
            if is_over {
                return End::Over;
            }
        }
    }

    /// When to look next. What is past is left out.
    fn next_look(&mut self) -> Stamp {
        let past = self.rt.now().since(self.zero).0 / LOOK_EVERY.0;
        self.looks = (self.looks + 1).max(past);
        if self.rt.now() < self.zero {
            self.looks = 0;
        }
        self.zero + Nanos(self.looks * LOOK_EVERY.0 + offset(self.looks))
    }

    /// Tells what was counted and read.
    fn tell_all(&mut self) {
        let at = self.rt.now().since(self.zero);
        let begun = self.tally.begun();
        if !begun.readings.is_empty() {
            (self.tell)(self.told, begun);
        }
        self.tally.write(&mut self.sample);
        self.tell_at(at);
        self.told = at;
    }

    /// Tells what is missing.
    fn tell_missing(&mut self) {
        if !self.sample.missing.is_empty() {
            self.tell_at(self.rt.now().since(self.zero));
        }
    }

    fn tell_at(&mut self, at: Nanos) {
        let mut sample = std::mem::take(&mut self.sample);
        self.known.keep_new(&mut sample);
        (self.tell)(at, sample);
    }
}

/// How late in its tenth of a second a look is.
fn offset(look: u64) -> u64 {
    look.wrapping_mul(STRIDE) % 1_000 * (LOOK_EVERY.0 / 1_000)
}

/// What it means that there is no session.
fn unconnected(error: &Error) -> End {
    let why = format!("no session of its own for the observer: {error}");
    match error.class() {
        Class::TooManyConnections => End::Broken(format!("{why}; leave one more connection free")),
        Class::Disconnect | Class::Timeout | Class::Server => End::Broken(why),
        Class::Statement | Class::Constraint | Class::Conflict | Class::WrongResult => {
            End::Useless(why)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_keep_step_with_nothing() {
        let places: Vec<u64> = (0..10).map(|look| offset(look) / 10_000_000).collect();
        let mut tenths = places.clone();
        tenths.sort_unstable();
        tenths.dedup();
        assert!(tenths.len() >= 9, "{places:?}");
        assert!((0..10_000).all(|look| offset(look) < LOOK_EVERY.0));
    }

    #[test]
    fn a_refused_login_is_not_tried_again() {
        let login = Error::new(Class::Statement, base::Code::new("28P01"), "wrong password");
        assert!(matches!(unconnected(&login), End::Useless(why) if why.contains("wrong password")));
        let full = Error::new(Class::TooManyConnections, base::Code::new("53300"), "full");
        assert!(matches!(unconnected(&full), End::Broken(why) if why.contains("leave one")));
    }
}
