//! Programs in place of statements: each request runs a command with `/bin/sh`.
//!
//! To the engine this is a driver like any other: a connection runs one program at a time. Each
//! connection has a thread that starts the program and waits for it; the handoff is the same as for
//! SQLite's connections. The thread stamps the beginning of the request just before it starts the
//! program, and the end of the request when the program has ended.
//!
//! A program runs in the folder of the workload file with the environment of this process, without
//! its [secrets](confine::without_secrets) and with the variables of a [`ProgramEnvironment`]. Its
//! stdin and stdout are `/dev/null`; the end of its stderr becomes the message of its error. With
//! exit code 0 a request is completed; any other end is an error of the class `server` with the
//! code `exit-N` or `signal-N`. The code for a program that cannot be started is `not-started`.
//!
//! A program is the leader of a process group. When its request is abandoned, the whole group gets
//! SIGTERM and, after a second, SIGKILL. Dropping the last clone of the driver waits until that is
//! done, for at most five seconds: no abandoned program outlives the run, unless it is stuck in the
//! kernel. When this process is killed, a [`guardian`] sends the same signals, SIGKILL after five
//! seconds; no command runs before the guardian knows its group. Background processes of a program
//! that ends by itself are left alone.

mod child;
mod environment;
mod program_guardian;
#[cfg(test)]
mod tests;
mod thread_count;
mod worker;

use std::future::poll_fn;
use std::io::PipeWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use base::{Class, Code, Dialect};
use record::environment::SERVER;
use rt::{Processors, Rt};

pub use self::child::Variable;
use self::child::{Cancellation, Script};
pub use self::environment::ProgramEnvironment;
use self::program_guardian::ProgramGuardian;
use self::thread_count::ThreadCount;
use self::worker::{Command, ConnectionMailbox, Response};
use crate::{Connection, Driver, Error, PreparedId, Table, Work};

/// A command that the shell would reject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedCommand {
    /// The reason, in words.
    pub reason: String,
    /// The change that helps.
    pub help: &'static str,
}

/// The driver of jobs with a command.
#[derive(Clone, Debug)]
pub struct Programs {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    environment: Arc<ProgramEnvironment>,
    processors: Processors,
    threads: Arc<ThreadCount>,
    guardian: Arc<ProgramGuardian>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.threads.wait_for_all();
    }
}

/// A slot that runs one program at a time. Dropping it is the same as [`Connection::abandon`].
pub struct ProgramConnection {
    mailbox: Arc<ConnectionMailbox>,
    /// The caller's end of a pipe. Closing it tells the thread, which waits for a program, that the
    /// caller has gone.
    _line: PipeWriter,
    /// The thread; `None` once its end has been seen.
    thread: Option<JoinHandle<()>>,
    prepared: usize,
    /// Declared after `_line`: the line must be closed before a last reference to the driver waits
    /// for the running programs.
    _shared: Arc<Shared>,
}

impl Programs {
    /// Creates a driver whose programs run in `folder`. `environment` is the environment of the
    /// programs that requests run.
    pub fn new(folder: PathBuf, environment: Arc<ProgramEnvironment>) -> Programs {
        let (processors, threads) = (Processors::of_this_thread(), Arc::default());
        let guardian = Arc::default();
        let shared = Shared { folder, environment, processors, threads, guardian };
        Programs { shared: Arc::new(shared) }
    }

    /// Checks a command without running it; `first_word` is the first word of the text, if it is
    /// known. Blocks while the shell parses it.
    ///
    /// # Errors
    /// The shell rejects the syntax, or finds no such program.
    pub fn check(
        &self,
        text: Option<&str>,
        first_word: Option<&str>,
    ) -> Result<(), RejectedCommand> {
        if let Some(words) = text.and_then(|text| child::syntax_error(text, &self.shared.folder)) {
            let reason = format!("the shell does not understand the command ({words})");
            return Err(RejectedCommand { reason, help: "correct it" });
        }
        let missing = first_word.filter(|word| !child::is_found(word, &self.shared.folder));
        match missing {
            None => Ok(()),
            Some(word) => Err(RejectedCommand {
                reason: format!(
                    "the shell finds no program `{word}` from `{}`",
                    self.shared.folder.display()
                ),
                help: "install it, or write where it is",
            }),
        }
    }

    /// Runs a command that is not measured, in this environment, and waits for its end. When
    /// `is_given_up` returns true, the command's whole process group is terminated.
    ///
    /// # Errors
    /// The command cannot be started, was given up (class `Timeout`), or ended with an error. In
    /// the last case, the message is the end of its stderr.
    pub fn run_once(
        &self,
        text: &str,
        environment: &ProgramEnvironment,
        is_given_up: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let variables = &environment.variables;
        let script = Script { text, folder: &self.shared.folder, variables };
        let ended = child::run(&script, &Cancellation::Poll(is_given_up), &self.shared.guardian);
        let outcome = ended.map_err(|cause| child::not_started(&cause))?.outcome;
        outcome.map_err(|error| environment.without_secrets(&error))
    }

    fn start(&self) -> std::io::Result<ProgramConnection> {
        let mailbox = Arc::new(ConnectionMailbox::new());
        let (line, end) = std::io::pipe()?;
        let guard = self.shared.threads.enter();
        // Start the guardian now, not within the first request.
        self.shared.guardian.begin();
        let body = {
            let mailbox = Arc::clone(&mailbox);
            let (folder, guardian) =
                (self.shared.folder.clone(), Arc::clone(&self.shared.guardian));
            let environment = Arc::clone(&self.shared.environment);
            let processors = self.shared.processors.without(Processors::of_this_thread());
            move || {
                let _guard = guard;
                // The program inherits the processors.
                processors.bind_this_thread();
                let programs = worker::ProgramContext { folder, environment, guardian };
                worker::run_thread(&programs, &line, &mailbox);
            }
        };
        let thread = std::thread::Builder::new().name("program".to_owned()).spawn(body)?;
        Ok(ProgramConnection {
            mailbox,
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

    fn stores_data(&self) -> bool {
        false
    }

    /// Counts both ends of the pipe to the connection's thread, and the files that become the
    /// program's streams: a pipe for its stdin, `/dev/null`, and a pipe for its stderr.
    fn files(&self) -> u32 {
        7
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
            Response::Ready => Ok(connection),
            Response::Finished(..) => unreachable!("nothing was asked for"),
        }
    }
}

impl ProgramConnection {
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
        Error::disconnect("the thread that waits for programs has ended")
    }
}

impl Connection for ProgramConnection {
    /// Stores a command. A missing program is reported when the command runs.
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        let id = PreparedId::nth(self.prepared)?;
        match self.exchange(Some(Command::Prepare(text.into()))).await? {
            Response::Ready => self.prepared += 1,
            Response::Finished(..) => unreachable!("a command is only remembered"),
        }
        Ok(id)
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        let command = Command::Run(std::mem::take(work));
        match self.exchange(Some(command)).await? {
            Response::Finished(done, outcome) => {
                *work = done;
                outcome
            }
            Response::Ready => unreachable!("a request is answered with its reply"),
        }
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        let statement = self.prepare(sql).await?;
        let steps = vec![crate::Step::Execute { statement, first: 0, count: 0 }];
        self.run(&mut Work { steps, ..Work::default() }).await.map(|()| Table::default())
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        vec![(SERVER.to_owned(), "programs, run by /bin/sh".to_owned())]
    }

    async fn close(mut self) {
        self.mailbox.hang_up();
        while self.exchange(None).await.is_ok() {}
    }

    fn abandon(self) {}
}

impl Drop for ProgramConnection {
    fn drop(&mut self) {
        self.mailbox.hang_up();
    }
}
