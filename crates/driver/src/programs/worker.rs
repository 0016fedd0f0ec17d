//! The thread of one connection: runs one program after another until its caller has gone.

use std::io::PipeReader;
use std::path::PathBuf;
use std::sync::Arc;

use base::Clock;
use base::{Monotonic, Stamp, Values};

use super::child::{self, Cancellation, ProgramEnd, Script};
use super::environment::ProgramEnvironment;
use super::program_guardian::ProgramGuardian;
use crate::mailbox::Mailbox;
use crate::{Error, Reply, Step, Work};

/// The mailbox that a task shares with the thread of its connection.
pub(super) type ConnectionMailbox = Mailbox<Command, Response>;

/// A command to the thread.
#[expect(clippy::large_enum_variant, reason = "there is one per connection")]
pub(super) enum Command {
    /// Run a request. The work is moved to the thread and back, with its memory.
    Run(Work),
    /// Store a command.
    Prepare(Box<str>),
}

/// The thread's answer to a command.
#[expect(clippy::large_enum_variant, reason = "there is one per connection")]
pub(super) enum Response {
    /// The work with its reply, and the outcome.
    Finished(Work, Result<(), Error>),
    /// The thread is ready for the next command. Sent when the thread starts, and in answer to
    /// [`Command::Prepare`].
    Ready,
}

/// The folder, the environment and the guardian of the programs of one driver.
pub(super) struct ProgramContext {
    /// The folder in which the programs run.
    pub(super) folder: PathBuf,
    pub(super) environment: Arc<ProgramEnvironment>,
    pub(super) guardian: Arc<ProgramGuardian>,
}

/// Runs the thread until its caller has gone. A caller that leaves closes the other end of `line`.
pub(super) fn run_thread(
    programs: &ProgramContext,
    line: &PipeReader,
    mailbox: &ConnectionMailbox,
) {
    let _exit_guard = ExitGuard(mailbox);
    mailbox.answer(Response::Ready);
    let mut worker = Worker { programs, line, texts: Vec::new() };
    while let Some(command) = mailbox.next_command() {
        mailbox.answer(worker.execute(command));
    }
}

/// A guard that reports the end of the thread to the caller, even after a panic.
struct ExitGuard<'a>(&'a ConnectionMailbox);

impl Drop for ExitGuard<'_> {
    fn drop(&mut self) {
        self.0.thread_exited();
    }
}

struct Worker<'a> {
    programs: &'a ProgramContext,
    line: &'a PipeReader,
    texts: Vec<Box<str>>,
}

impl Worker<'_> {
    fn execute(&mut self, command: Command) -> Response {
        match command {
            Command::Run(mut work) => {
                let outcome = self.run(&mut work);
                Response::Finished(work, outcome)
            }
            Command::Prepare(text) => {
                self.texts.push(text);
                Response::Ready
            }
        }
    }

    fn run(&self, work: &mut Work) -> Result<(), Error> {
        let Work { steps, values, reply, .. } = work;
        for &step in steps.iter() {
            let Some(text) = self.text(step, values) else { continue };
            let sent = Monotonic.now();
            reply.sent.get_or_insert(sent);
            self.run_one(text, sent, reply)?;
        }
        Ok(())
    }

    /// Returns the command of a step; `None` for the begin and the end of a transaction, which
    /// programs do not have.
    fn text<'t>(&'t self, step: Step, values: &'t Values) -> Option<&'t str> {
        match step {
            Step::Execute { statement, .. } => Some(&self.texts[statement.index()]),
            Step::ExecuteText { text } => Some(values.text_at(text)),
            Step::Begin | Step::Commit => None,
        }
    }

    fn run_one(&self, text: &str, sent: Stamp, reply: &mut Reply) -> Result<(), Error> {
        let ProgramContext { folder, environment, guardian } = self.programs;
        let script = Script { text, folder, variables: &environment.variables };
        let ended = child::run(&script, &Cancellation::Pipe(self.line), guardian);
        let ProgramEnd { at, outcome } = ended.unwrap_or_else(|cause| ProgramEnd {
            at: Monotonic.now(),
            outcome: Err(child::not_started(&cause)),
        });
        reply.done = at;
        outcome.map_err(|error| environment.without_secrets(&error))?;
        reply.add_statement(at.since(sent), 0);
        Ok(())
    }
}
