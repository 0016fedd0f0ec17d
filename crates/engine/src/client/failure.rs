//! Failed attempts: their errors, their outcomes, and the events that report them.

use base::{Class, Clock, Code, RowLimit, RowMemory, Rows, Stamp};
use driver::{Driver, Error};
use record::{EndKind, EventError, EventKind, Failure, Outcome};
use workload::OnError;

use super::state::Client;

impl<D: Driver> Client<D> {
    /// Returns the time at which a failed attempt ended: the time that the driver reported or, if
    /// the driver reported none, the current time.
    pub(super) fn end_of_failure(&self) -> Stamp {
        match self.work.reply.sent {
            Some(sent) if self.work.reply.done >= sent => self.work.reply.done,
            _ => self.lane.rt.now(),
        }
    }

    /// Returns true if a request that was retried `retries` times is sent once more after this
    /// error: its section retries this code that often, and the client still has its connection.
    pub(super) fn may_retry(&self, error: &Error, retries: u32) -> bool {
        let retry = self.current_part().requests.retry.as_ref();
        let wanted = retry.is_some_and(|r| retries < r.times && r.codes.contains(&error.code()));
        wanted && self.connection.is_some()
    }

    /// Returns the outcome of a request that ended in this error. Records the error as an event if
    /// its code is new for the request's part. Ends the run if the part has `on-error = stop` and
    /// does not accept the code.
    pub(super) fn record_error(&self, error: &Error, at: Stamp) -> Outcome {
        let (class, code) = (error.class(), error.code());
        let part = self.current_part();
        let accepted = part.requests.accepted.contains(&code);
        let account = Some(part.account);
        let note = |kind| {
            let (reported, text) = (EventError { class, code }, error.to_string());
            self.lane.ledger.borrow_mut().error_event(at, account, kind, reported, text);
        };
        if self.job_state.is_new_error(part.account, code) {
            note(EventKind::FirstError);
        }
        if !accepted && part.requests.on_error == OnError::Stop {
            note(EventKind::StoppedByError);
            self.lane.stop.request(EndKind::StoppedByError);
            self.lane.check_stop();
        }
        Outcome::Failed(Failure { class, code, accepted })
    }

    /// Records the error of a request that was given up, at its timeout or at the end of the drain.
    /// Returns the outcome of the request.
    pub(super) fn timed_out(&self, at: Stamp) -> Outcome {
        let (code, text) = match self.lane.rt.now() >= self.lane.give_up_at.get() {
            true => (Code::DRAIN, "no answer before the end of the drain".to_owned()),
            false => {
                let limit = self.current_part().requests.timeout.unwrap_or_default();
                let words = "the target is slow, stalled or unreachable";
                (Code::TIMEOUT, format!("no answer within `timeout = {limit}`: {words}"))
            }
        };
        let error = Error::new(Class::Timeout, code, text);
        let outcome = self.record_error(&error, at);
        match outcome {
            Outcome::Failed(failure) if !self.lane.context.rules.timeouts_have_latencies => {
                Outcome::Failed(Failure { class: Class::Server, ..failure })
            }
            _ => outcome,
        }
    }

    /// Returns the error for an answer whose rows take more memory than `query-results-file` allows
    /// for one request or for the run. The error has no text if such an error of the part was
    /// already recorded as an event on this lane.
    #[cold]
    pub(super) fn lost_rows(&self, limit: RowLimit) -> Error {
        let text = match (self.has_seen_error(Code::RESULTS), limit) {
            (true, _) => String::new(),
            (false, RowLimit::Request) => format!(
                "the returned rows take more than {} MiB, the limit of `query-results-file` for \
                 one request: return fewer, or leave the key out",
                Rows::LIMIT >> 20
            ),
            (false, RowLimit::Run) => format!(
                "the rows of all requests take more than {} MiB, the limit of \
                 `query-results-file` for one run: return fewer, use fewer clients, or leave the \
                 key out",
                RowMemory::LIMIT >> 20
            ),
        };
        Error::new(Class::Statement, Code::RESULTS, text)
    }

    /// Returns the error for an answer with an unexpected number of rows. The error has no text if
    /// such an error of the part was already recorded as an event on this lane.
    #[cold]
    pub(super) fn wrong_rows(&self, rows: u64, expected: workload::Rows) -> Error {
        let text = match self.has_seen_error(Code::ROWS) {
            true => String::new(),
            false => format!("{rows} rows were returned or changed; expected {expected}"),
        };
        Error::new(Class::WrongResult, Code::ROWS, text)
    }

    /// Returns true if an error of the current part with this code was recorded as an event on this
    /// lane.
    fn has_seen_error(&self, code: Code) -> bool {
        self.job_state.has_seen_error(self.current_part().account, code)
    }
}
