//! The driver of SQLite in this process: `sqlite:FILE`, or `sqlite:` for a temporary file.
//!
//! SQLite is a library whose calls block, so each connection has its own thread. A request is
//! handed to the thread as a whole, and handed back when it has ended (module `mailbox`). The
//! thread stamps the start and the end, so the service time contains SQLite's work without the
//! handoffs, which count as the generator's own lag. The service time contains waits for
//! another connection's lock; their number is counted.
//!
//! # Options of the URL
//!
//! * `busy-timeout=D`: maximum time that a statement waits for a lock before it fails (5s).
//! * `journal=wal|delete|truncate|persist|memory|off`: journal mode. The default for a new file is
//!   `wal`; an existing file keeps its mode.
//! * `synchronous=off|normal|full|extra`, `cache-size=N` (pages, or KiB if negative) and
//!   `mmap-size=N` (bytes): SQLite's own defaults.
//!
//! Settings that SQLite does not grant are refused when the driver is opened. Foreign keys follow
//! SQLite's own default: not enforced. SQLite has no NaN: as a value it becomes NULL.
//!
//! # State shared by the measured connections
//!
//! The recorder writes its own SQLite file from the same process. To prevent contention between the
//! recorder and the measured connections, `.cargo/config.toml` compiles SQLite
//!
//! * with `SQLITE_DEFAULT_MEMSTATUS=0`, without which each allocation of SQLite takes a
//!   process-wide mutex to keep statistics, and
//! * with `SQLITE_DISABLE_PAGECACHE_OVERFLOW_STATS`, without which each page that enters or leaves
//!   a cache takes such a mutex too.
//!
//! `SQLITE_ENABLE_MEMORY_MANAGEMENT`, which would put all page caches under one mutex, stays off,
//! and a connection is opened without a mutex of its own. Of the process-wide locks in SQLite's
//! source (3.54) these remain, each held for some nanoseconds, and no option removes them:
//!
//! * the lock of the random number generator, taken when a rollback journal's header is written (by
//!   the recorder, once a second), when a write-ahead log restarts, and when `random()` is called;
//! * the lock of the file layer, taken when a database file is opened or closed, and when a
//!   transaction begins to read or commits in a database with a write-ahead log. The recorder has a
//!   rollback journal and takes this lock only to open and to close its file.
//!
//! Connections to one file also share the locks of that file: they are part of the measurement.

mod busy_timeout;
mod confined;
mod counters;
mod database_file;
mod faults;
mod messages;
mod options;
mod session;
#[cfg(test)]
pub(crate) mod tests;
mod thread;

use std::future::poll_fn;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use base::{Class, Clock, Code, Dialect, Monotonic, Nanos, Target};
use record::environment::{SERVER, UNKNOWN};
use rt::{Processors, Rt};
use rusqlite::InterruptHandle;

use self::counters::{ConnectionCounts, Counters};
use self::database_file::DatabaseFile;
use self::messages::{Command, ConnectionMailbox, Response};
use self::options::Options;
use self::thread::Creation;
use crate::connection::insert_rows;
use crate::load::InsertSyntax;
use crate::{
    Batches, Connection, Driver, Duplicates, Error, Insert, Method, PreparedId, Table, Work,
};

/// The driver of `sqlite:` targets.
///
/// A temporary database lasts as long as a clone of its driver or a connection to it.
#[derive(Clone, Debug)]
pub struct Sqlite {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    file: DatabaseFile,
    options: Options,
    processors: Processors,
    counters: Arc<Counters>,
    /// Threads of dropped connections that are still closing the database.
    closing_threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Longest wait for the threads of dropped connections.
const CLOSE_TIMEOUT: Nanos = Nanos::from_secs(2);

/// Interval between checks whether the threads of dropped connections have ended.
const CLOSE_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The last connection writes the log back to the file, so the program must not end before the
/// threads.
impl Drop for Shared {
    fn drop(&mut self) {
        let closing_threads =
            self.closing_threads.get_mut().unwrap_or_else(PoisonError::into_inner);
        let begin = Monotonic.now();
        while closing_threads.iter().any(|thread| !thread.is_finished())
            && Monotonic.now().since(begin) < CLOSE_TIMEOUT
        {
            std::thread::park_timeout(CLOSE_POLL_INTERVAL);
        }
    }
}

/// A connection to an SQLite database, with the thread that works for it.
///
/// Dropping it is the same as [`Connection::abandon`].
pub struct SqliteConnection {
    driver: Sqlite,
    mailbox: Arc<ConnectionMailbox>,
    /// The thread; `None` once its end has been seen.
    thread: Option<JoinHandle<()>>,
    /// Handle that interrupts the running statement; set once the database is open.
    interrupt: Option<InterruptHandle>,
    /// Number of placeholders of each prepared statement.
    placeholders: Vec<usize>,
}

impl Sqlite {
    /// Opens or creates the database file of a target. Blocks on file access.
    ///
    /// A new file gets a write-ahead log unless the URL says otherwise; an existing one keeps its
    /// journal mode.
    ///
    /// # Errors
    /// Class `Statement` for a URL that cannot be used as written, `TooManyConnections` if no file
    /// descriptor is left, `Disconnect` for a file that cannot be opened or is not a database.
    /// Messages name the option or the path.
    ///
    /// # Panics
    /// If the target is not a `sqlite:` target.
    pub fn open(target: &Target) -> Result<Sqlite, Error> {
        let mut options = Options::parse(&target.options)?;
        let file = DatabaseFile::find(&target.endpoint)?;
        let creation = if file.is_new {
            options.journal.get_or_insert("wal");
            Creation::Allowed
        } else {
            Creation::Refused
        };
        thread::check_options(&file.path, creation, &options)?;
        Ok(Sqlite {
            shared: Arc::new(Shared {
                file,
                options,
                processors: Processors::of_this_thread(),
                counters: Arc::default(),
                closing_threads: Mutex::default(),
            }),
        })
    }

    /// Restricts statements to the database file and the files that SQLite itself keeps next to it:
    /// `attach`, `vacuum into` and extensions are refused.
    ///
    /// # Panics
    /// If the driver was cloned or has connections already.
    pub fn confined(mut self) -> Sqlite {
        let shared = Arc::get_mut(&mut self.shared).expect("the driver was just opened");
        shared.options.is_confined = true;
        self
    }

    /// Opens the database file of a target, but does not create it.
    ///
    /// # Errors
    /// As for [`Sqlite::open`], and class `Disconnect` if the file does not exist, or `Statement`
    /// if the target is a temporary database.
    ///
    /// # Panics
    /// If the target is not a `sqlite:` target.
    pub fn open_existing(target: &Target) -> Result<Sqlite, Error> {
        DatabaseFile::find(&target.endpoint)?.must_exist()?;
        Sqlite::open(target)
    }

    /// Checks a URL as [`Sqlite::open`] does, without accessing files.
    ///
    /// # Errors
    /// Class `Statement` for a URL that cannot be used as written.
    pub fn check(target: &Target) -> Result<(), Error> {
        Options::parse(&target.options)?;
        DatabaseFile::check(&target.endpoint)
    }

    /// Returns the path of the database file.
    pub fn path(&self) -> &Path {
        &self.shared.file.path
    }

    /// Starts the thread of a connection, which opens the database.
    fn start(&self) -> Result<SqliteConnection, Error> {
        let mailbox = Arc::new(ConnectionMailbox::new());
        let body = {
            let (path, options) = (self.path().to_owned(), self.shared.options.clone());
            let mailbox = Arc::clone(&mailbox);
            let counted = ConnectionCounts::new(&self.shared.counters);
            let processors = self.shared.processors.without(Processors::of_this_thread());
            move || {
                processors.bind_this_thread();
                thread::run_thread(&path, &options, &mailbox, counted)
            }
        };
        let thread =
            std::thread::Builder::new().name("sqlite".to_owned()).spawn(body).map_err(no_thread)?;
        Ok(SqliteConnection {
            driver: self.clone(),
            mailbox,
            thread: Some(thread),
            interrupt: None,
            placeholders: Vec::new(),
        })
    }
}

fn no_thread(cause: std::io::Error) -> Error {
    Error::new(
        Class::TooManyConnections,
        Code::new("no-thread"),
        format!("each SQLite connection needs a thread, and there is none left: {cause}"),
    )
}

impl Driver for Sqlite {
    type Connection = SqliteConnection;

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn stores_data(&self) -> bool {
        true
    }

    /// Counts three files: the database, its rollback journal or write-ahead log (WAL), and the WAL
    /// index (`-shm`).
    fn files(&self) -> u32 {
        3
    }

    /// Returns the sums of `sqlite3_stmt_status` over the statements of requests and of loads. Each
    /// active connection updates the sums once a second.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.shared.counters.read()
    }

    async fn connect(&self, rt: &Rt) -> Result<SqliteConnection, Error> {
        if rt.is_virtual() {
            return Err(Error::new(
                Class::Statement,
                Code::new("virtual-time"),
                "SQLite takes real time; leave out `--virtual` or use a `sim:` target",
            ));
        }
        let mut connection = self.start()?;
        match connection.exchange(None).await? {
            Response::Opened(opened) => connection.interrupt = Some(opened?),
            _ => unreachable!("the first answer is about opening"),
        }
        Ok(connection)
    }
}

impl SqliteConnection {
    /// Hands a command to the thread and waits for the answer.
    async fn exchange(&mut self, mut command: Option<Command>) -> Result<Response, Error> {
        let mailbox = &self.mailbox;
        let answer = poll_fn(|context| mailbox.poll_exchange(&mut command, context)).await;
        answer.ok_or_else(|| self.end_error())
    }

    /// Returns the error of a thread that has ended, or resumes its panic here.
    fn end_error(&mut self) -> Error {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
        Error::disconnect("the thread of this SQLite connection has ended")
    }
}

impl Connection for SqliteConnection {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        let id = PreparedId::nth(self.placeholders.len())?;
        match self.exchange(Some(Command::Prepare(text.into()))).await? {
            Response::Prepared(placeholders) => self.placeholders.push(placeholders?),
            _ => unreachable!("a text is answered with a statement"),
        }
        Ok(id)
    }

    fn parameters(&self, statement: PreparedId) -> Option<usize> {
        self.placeholders.get(statement.index()).copied()
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        let command = Command::Run(std::mem::take(work));
        match self.exchange(Some(command)).await? {
            Response::Finished(done, outcome) => {
                *work = done;
                outcome
            }
            _ => unreachable!("a request is answered with its reply"),
        }
    }

    async fn load(
        &mut self,
        into: &Insert<'_>,
        _method: Method,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        let verb = match into.duplicates {
            Duplicates::Fail => "insert",
            Duplicates::Ignore => "insert or ignore",
            Duplicates::Replace => "insert or replace",
        };
        let text = |rows| into.text(InsertSyntax { verb, ..InsertSyntax::PLAIN }, rows);
        insert_rows(self, into.columns.len(), 1, text, batches).await
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        match self.exchange(Some(Command::Query(sql.into()))).await? {
            Response::Table(table) => table,
            _ => unreachable!("a query is answered with a table"),
        }
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        let mut settings = match self.exchange(Some(Command::Settings)).await {
            Ok(Response::Settings(settings)) => settings,
            Ok(_) => unreachable!("settings are answered with settings"),
            Err(_) => vec![(SERVER.to_owned(), UNKNOWN.to_owned())],
        };
        let timeout = self.driver.shared.options.busy_timeout.to_string();
        settings.push(("busy_timeout".to_owned(), timeout));
        settings.push((
            "threading".to_owned(),
            "one thread per connection, without a mutex".to_owned(),
        ));
        settings
    }

    /// Waits until the database is closed. The last connection writes the log back to the file.
    async fn close(mut self) {
        self.mailbox.hang_up();
        while self.exchange(None).await.is_ok() {}
    }

    fn abandon(self) {}
}

impl Drop for SqliteConnection {
    fn drop(&mut self) {
        let at_work = self.mailbox.hang_up();
        if let Some(interrupt) = &self.interrupt
            && at_work
        {
            interrupt.interrupt();
        }
        let Some(thread) = self.thread.take() else { return };
        let closing_threads = &self.driver.shared.closing_threads;
        let mut closing_threads = closing_threads.lock().unwrap_or_else(PoisonError::into_inner);
        closing_threads.retain(|thread| !thread.is_finished());
        closing_threads.push(thread);
    }
}
