//! The thread of one connection: runs one program after another until its caller has gone.

use std::io::PipeReader;
use std::path::Path;

use base::Clock;
use base::{Monotonic, Stamp, Values};

use super::child::{self, Ended, Patience, Script};
use super::watch::ProgramGuardian;
use crate::mailbox::Mailbox;
use crate::{Error, Reply, Step, Work};

/// The mailbox that a task shares with the thread of its connection.
pub(super) type ConnectionMailbox = Mailbox<Order, Answer>;

/// An order to the thread.
pub(super) enum Order {
    /// Carry out a request. The work travels with its memory, there and back.
    Run(Work),
    /// Store a command.
    Prepare(Box<str>),
}

/// The thread's answer to an order.
#[expect(clippy::large_enum_variant, reason = "there is one per connection")]
pub(super) enum Answer {
    /// The work with its reply, and the outcome.
    Ran(Work, Result<(), Error>),
    /// Ready for the next order: the first answer, and the answer to [`Order::Prepare`].
    Ready,
}

/// Runs the thread until its caller has gone, which closes the other end of `line`.
pub(super) fn live(
    folder: &Path,
    line: &PipeReader,
    watch: &ProgramGuardian,
    mail: &ConnectionMailbox,
) {
    let _end = End(mail);
    mail.answer(Answer::Ready);
    let mut worker = Worker { folder, line, watch, texts: Vec::new() };
    while let Some(order) = mail.next_order() {
        mail.answer(worker.carry_out(order));
    }
}

/// A guard that reports the end of the thread to the caller, even after a panic.
struct End<'a>(&'a ConnectionMailbox);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.thread_has_gone();
    }
}

struct Worker<'a> {
    folder: &'a Path,
    line: &'a PipeReader,
    watch: &'a ProgramGuardian,
    texts: Vec<Box<str>>,
}

impl Worker<'_> {
    fn carry_out(&mut self, order: Order) -> Answer {
        match order {
            Order::Run(mut work) => {
                let outcome = self.run(&mut work);
                Answer::Ran(work, outcome)
            }
            Order::Prepare(text) => {
                self.texts.push(text);
                Answer::Ready
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

    /// Returns the command of a step; programs have no transactions.
    fn text<'t>(&'t self, step: Step, values: &'t Values) -> Option<&'t str> {
        match step {
            Step::Execute { statement, .. } => Some(&self.texts[usize::from(statement.0)]),
            Step::ExecuteText { text } => Some(values.text_at(text)),
            Step::Begin | Step::Commit => None,
        }
    }

    fn run_one(&self, text: &str, sent: Stamp, reply: &mut Reply) -> Result<(), Error> {
        let script = Script { text, folder: self.folder, variables: &[] };
        let ended = child::run(&script, &Patience::Line(self.line), self.watch);
        let Ended { at, outcome } = ended.unwrap_or_else(|cause| Ended {
            at: Monotonic.now(),
            outcome: Err(child::not_started(&cause)),
        });
        reply.done = at;
        outcome?;
        reply.statements.push(at.since(sent));
        Ok(())
    }
}
