//! Programs in place of statements: a request is one run of a command by `/bin/sh`.
//!
//! A driver like the others, so that the engine knows nothing of programs: a connection is a place
//! at which one program runs at a time. Each has a thread that starts the program and waits for it;
//! the hand-off is that of SQLite's connections. S is stamped when the program is started and D
//! when it has ended, both on that thread.
//!
//! A program runs in the folder of the workload file with the environment of this process, apart
//! from its [secrets](confine::without_secrets). It reads nothing and what it writes is discarded,
//! except for the end of what it writes to stderr, which is the message of its error. Exit code 0
//! is completed; all else is an error of the class `server` with the code `exit-N` or `signal-N`.
//!
//! A program is the leader of a process group. When its request is given up, the whole group is
//! asked to end (SIGTERM) and, after a second, made to (SIGKILL). Dropping the last clone of the
//! driver waits until that is done: nothing of a request that was given up outlives the run. A
//! [`guardian`] does the same when this process is killed. What a program leaves behind in the
//! background when it ends by itself is left alone.

mod child;
mod roll;
#[cfg(test)]
mod tests;
mod watch;
mod worker;

use std::future::poll_fn;
use std::io::PipeWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use base::{Class, Code, Dialect};
use rt::Rt;

use self::roll::Roll;
use self::watch::Watch;
use self::worker::{Answer, Mail, Order};
use crate::processors::Processors;
use crate::{Connection, Driver, Error, StatementId, Table, Work};

/// The driver of jobs with a command.
#[derive(Clone, Debug)]
pub struct Programs {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    processors: Processors,
    roll: Arc<Roll>,
    watch: Arc<Watch>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.roll.wait_for_all();
    }
}

/// A place at which programs run, one at a time. Dropping it is the same as
/// [`Connection::abandon`].
pub struct ProgramConnection {
    mail: Arc<Mail>,
    /// Closed, it tells a thread that waits for its program that nobody waits for the thread.
    _line: PipeWriter,
    /// `None` once the thread's end has been seen.
    thread: Option<JoinHandle<()>>,
    prepared: usize,
    /// Behind the line, so that a driver which is dropped with it waits for no living program.
    _shared: Arc<Shared>,
}

impl Programs {
    /// Programs that run in a folder.
    pub fn new(folder: PathBuf) -> Programs {
        let (processors, roll) = (Processors::of_this_thread(), Arc::default());
        let watch = Arc::default();
        Programs { shared: Arc::new(Shared { folder, processors, roll, watch }) }
    }

    /// What can be said against a command without running it; `first_word` is that of the text, if
    /// it is known. Blocks while the shell thinks about it.
    ///
    /// # Errors
    /// The shell does not understand it, or finds no such program; in words that end with what to
    /// do behind a colon.
    pub fn check(&self, text: Option<&str>, first_word: Option<&str>) -> Result<(), String> {
        if let Some(words) = text.and_then(|text| child::syntax_error(text, &self.shared.folder)) {
            return Err(format!("the shell does not understand the command ({words}): correct it"));
        }
        let missing = first_word.filter(|word| !child::is_found(word, &self.shared.folder));
        match missing {
            None => Ok(()),
            Some(word) => Err(format!(
                "the shell finds no program `{word}` from `{}`: install it, or write where it is",
                self.shared.folder.display()
            )),
        }
    }

    fn start(&self) -> std::io::Result<ProgramConnection> {
        let mail = Arc::new(Mail::new());
        let (line, end) = std::io::pipe()?;
        let presence = self.shared.roll.enter();
        // Not within the first request.
        self.shared.watch.begin();
        let body = {
            let (mail, folder) = (Arc::clone(&mail), self.shared.folder.clone());
            let watch = Arc::clone(&self.shared.watch);
            let processors = self.shared.processors.beside(Processors::of_this_thread());
            move || {
                let _presence = presence;
                // The program inherits them.
                processors.adopt();
                worker::live(&folder, &line, &watch, &mail);
            }
        };
        let thread = std::thread::Builder::new().name("program".to_owned()).spawn(body)?;
        Ok(ProgramConnection {
            mail,
            _line: end,
            thread: Some(thread),
            prepared: 0,
            _shared: Arc::clone(&self.shared),
        })
    }
}

impl Driver for Programs {
    type Connection = ProgramConnection;

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn keeps_data(&self) -> bool {
        false
    }

    /// The ends of the line to its worker, the program's handle, and what becomes its streams.
    fn files(&self) -> u32 {
        6
    }

    async fn connect(&self, rt: &Rt) -> Result<ProgramConnection, Error> {
        if rt.is_virtual() {
            return Err(Error::new(
                Class::Statement,
                Code::new("virtual-time"),
                "programs take real time; leave out `--virtual`",
            ));
        }
        let connection = self.start().map_err(|cause| {
            Error::new(
                Class::TooManyConnections,
                Code::new("no-thread"),
                format!("each program needs a thread and a pipe, and there is none left: {cause}"),
            )
        });
        let mut connection = connection?;
        match connection.exchange(None).await? {
            Answer::Ready => Ok(connection),
            Answer::Ran(..) => unreachable!("nothing was asked for"),
        }
    }
}

impl ProgramConnection {
    /// Hands an order to the thread and waits for the answer.
    async fn exchange(&mut self, mut order: Option<Order>) -> Result<Answer, Error> {
        let mail = &self.mail;
        let answer = poll_fn(|context| mail.poll_exchange(&mut order, context)).await;
        answer.ok_or_else(|| self.see_the_end())
    }

    /// What it means that the thread has ended. A panic there goes on here.
    fn see_the_end(&mut self) -> Error {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
        Error::disconnect("the thread that waits for programs has ended")
    }
}

impl Connection for ProgramConnection {
    /// Remembers a command. Whether there is such a program shows when it is run.
    async fn prepare(&mut self, text: &str) -> Result<StatementId, Error> {
        let id = StatementId::nth(self.prepared)?;
        match self.exchange(Some(Order::Prepare(text.into()))).await? {
            Answer::Ready => self.prepared += 1,
            Answer::Ran(..) => unreachable!("a command is only remembered"),
        }
        Ok(id)
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        let order = Order::Run(std::mem::take(work));
        match self.exchange(Some(order)).await? {
            Answer::Ran(done, outcome) => {
                *work = done;
                outcome
            }
            Answer::Ready => unreachable!("a request is answered with its reply"),
        }
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        let statement = self.prepare(sql).await?;
        let steps = vec![crate::Step::Execute { statement, first: 0, count: 0 }];
        self.run(&mut Work { steps, ..Work::default() }).await.map(|()| Table::default())
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        vec![("server".to_owned(), "programs, run by /bin/sh".to_owned())]
    }

    async fn close(mut self) {
        self.mail.hang_up();
        while self.exchange(None).await.is_ok() {}
    }

    fn abandon(self) {}
}

impl Drop for ProgramConnection {
    fn drop(&mut self) {
        self.mail.hang_up();
    }
}
