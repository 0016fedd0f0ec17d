//! The requests of a client, one after the other. This is the measured path.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use base::{AccountId, Class, Clock, Nanos, Stamp};
use driver::{Connection, Driver, Error};
use record::{MAX_ROWS, Outcome, Request, RequestEnd, UNANSWERED};
use rt::{unless_fired, yield_now};
use workload::feed::Group;
use workload::{Flow, PartId};

use crate::client_handle::{DueRequest, Instruction};
use crate::feed::{self, Input};
use crate::gate::FILE_RETRY;
use crate::link::LinkChange;

use super::own_connection::OwnConnection;
use super::state::{Attempt, Client, RequestProgress};

/// Number of requests after which a client yields to the other tasks of its thread. Otherwise, with
/// a driver that always answers at once, the client would never yield.
const REQUESTS_PER_TURN: u32 = 64;

/// The source of the next request of a closed client.
enum RequestSource {
    /// The next number of the client; the request takes nothing from a file.
    Schedule(u64),
    /// The next record of this part's file. The request gets this number or, if the number is
    /// `None`, the record's own number.
    File(PartId, Option<u64>),
    /// The client makes no more requests.
    End,
}

/// The next request of a closed client.
struct NextRequest {
    number: u64,
    input: Option<Input>,
    /// True if the client had to wait for the input.
    was_awaited: bool,
}

impl<D: Driver> Client<D> {
    /// Serves the arrivals of the gate until none is left, or until the client can get no
    /// connection.
    pub(crate) async fn serve_arrivals(mut self) {
        let mut now = self.lane.rt.now();
        loop {
            if self.lacks_connection() {
                if !self.wait_for_connection().await {
                    break;
                }
                now = self.lane.rt.now();
            }
            let (due, assigned) = match self.next_arrival(now) {
                Some(due) => (due, now),
                None => match self.handle.instructions.take().await {
                    Instruction::Serve(due, assigned) => (due, assigned),
                    Instruction::Leave => break,
                },
            };
            now = self.serve_request(due, assigned).await;
        }
        self.leave().await;
    }

    /// Takes the request that has waited longest. If none waits, registers the client as idle and
    /// returns `None`.
    #[inline]
    fn next_arrival(&mut self, now: Stamp) -> Option<DueRequest> {
        let mut gate = self.job_state.gate.as_ref()?.borrow_mut();
        gate.notice(now, &mut self.lane.ledger.borrow_mut());
        let waiting = gate.take();
        if waiting.is_none() {
            gate.add_idle(Rc::clone(&self.handle));
        }
        gate.assign(now);
        // Only the dispatcher adds clients and ends a run whose queue overflowed. Wake it at once
        // if requests wait and the job may have more clients, or if the queue overflowed. Wake it
        // also when the schedule is over, since a timer that is never due would not wake it.
        let crowded = gate.waiting() > 0 && self.job_state.clients.may_grow();
        let at_once = crowded || gate.has_overflowed() || gate.has_ended();
        let due = if at_once { now } else { gate.next_due() };
        self.job_state.due_timer.arm(due);
        waiting
    }

    /// Runs the requests of one client of a closed job, one after the other.
    pub(crate) async fn serve_closed(mut self, client: u32, clients: u32) {
        let mut ready = self.lane.zero + self.job_state.job.start;
        let mut now = self.lane.rt.now();
        let mut numbers = self.job_state.numbers(client, clients);
        loop {
            if ready > now {
                now = self.pause_until(ready).await;
            }
            if ready >= self.job_state.end.get() {
                break;
            }
            let next = match self.next_source(&mut numbers) {
                RequestSource::Schedule(number) => {
                    Some(NextRequest { number, input: None, was_awaited: false })
                }
                RequestSource::File(part, number) => self.await_input(part, number).await,
                RequestSource::End => None,
            };
            let Some(next) = next else { break };
            if next.was_awaited {
                // A client without input is not ready.
                now = self.lane.rt.now();
                ready = now;
            }
            let number = next.number;
            let due = self.open_request(next, ready, now);
            if self.lacks_connection() {
                if !self.wait_for_connection().await {
                    self.give_up(due.request);
                    break;
                }
                now = self.lane.rt.now();
            }
            now = self.serve_request(due, now).await;
            let pauses = self.generators.last_mut();
            let think = pauses.map_or(Nanos::ZERO, |generator| generator.think(number, 0));
            ready = now + think.max(self.back_off.pause());
        }
        self.leave().await;
    }

    /// Returns the source of the next request of a closed client. A job with a file of its own
    /// gives the next record to the next ready client. A mix draws a part for the number of the
    /// request, and takes a record from the part's file, if it has one.
    #[inline]
    fn next_source(&self, numbers: &mut impl Iterator<Item = u64>) -> RequestSource {
        if self.job_state.job.requests.feed.is_some() {
            return RequestSource::File(PartId::FIRST, None);
        }
        let Some(number) = numbers.next() else { return RequestSource::End };
        let part = self.job_state.parts.choose(number);
        match self.job_state.parts.part(part).requests.feed {
            None => RequestSource::Schedule(number),
            Some(_) => RequestSource::File(part, Some(number)),
        }
    }

    /// Waits for the next record of a part's file. The request gets `number` or, if `number` is
    /// `None`, the record's own number. Returns `None` at the end of the file or of the job, or
    /// when the job's `count` is reached.
    async fn await_input(&self, part: PartId, number: Option<u64>) -> Option<NextRequest> {
        let mut was_awaited = false;
        loop {
            let next = self.job_state.feeds.borrow_mut().next(part);
            match next {
                feed::Next::Input(input) => {
                    let own = || {
                        let is_counted =
                            |own: &u64| self.job_state.job.count.is_none_or(|n| *own < n);
                        Some(input.number()).filter(is_counted)
                    };
                    let number = number.or_else(own)?;
                    return Some(NextRequest { number, input: Some(input), was_awaited });
                }
                feed::Next::Pending if self.lane.rt.now() < self.job_state.end.get() => {
                    was_awaited = true;
                    self.lane.rt.sleep(FILE_RETRY).await;
                }
                feed::Next::Pending => {
                    self.lane.note_empty_file(&self.job_state, part);
                    return None;
                }
                feed::Next::End => {
                    self.lane.check_files(&self.job_state);
                    return None;
                }
            }
        }
    }

    /// Opens a request in the ledger: `ready` is its intended start, and `now` the time at which it
    /// was noticed.
    fn open_request(&self, next: NextRequest, ready: Stamp, now: Stamp) -> DueRequest {
        let mut ledger = self.lane.ledger.borrow_mut();
        let request = ledger.arrive(self.job_state.account, next.number, ready, now);
        let (request, part) = self.job_state.parts.assign(request, &mut ledger);
        DueRequest { request, part, input: next.input }
    }

    /// Waits until `ready` or until the end of the job, whichever comes first. Returns the current
    /// time.
    async fn pause_until(&self, ready: Stamp) -> Stamp {
        self.handle.pause_until(ready.min(self.job_state.end.get())).await;
        self.lane.rt.now()
    }

    /// Settles a request as unsent, because its client got no connection.
    fn give_up(&self, request: Request) {
        let ending = RequestEnd::without_sending(Outcome::Unsent, self.lane.rt.now());
        self.lane.ledger.borrow_mut().settle(request, ending);
    }

    /// Runs one request from its assignment to its entry in the ledger. Returns the instant at
    /// which the client is free for the next request: the end of this request, or of the waits
    /// after it (for its connection to close, for room for its rows).
    ///
    /// `assigned` may be the end of the previous request, stamped on another thread before this
    /// request was noticed. The recorded assignment is never earlier than the time of noticing.
    async fn serve_request(&mut self, due: DueRequest, assigned: Stamp) -> Stamp {
        let DueRequest { request, part, input } = due;
        let mut progress = RequestProgress::assigned_at(assigned.max(request.noticed()));
        self.job_state.in_flight.set(self.job_state.in_flight.get() + 1);
        if part != self.part {
            self.report_with_rows();
            self.part = part;
        }
        self.work.values.clear();
        let records = input.as_ref().map_or(Group::NONE, Input::group);
        self.generators[part.index()].fill(request.number(), records, &mut self.work.values);
        drop(input);
        let unconnected = match self.job_state.keeps_connections() {
            true => None,
            // Boxed: as a part of this future, the large future of `connect_first` would slow down
            // requests that do not connect.
            false => Box::pin(self.connect_first(&mut progress)).await,
        };
        let outcome = match unconnected {
            Some(outcome) => outcome,
            // The request is sent until it is answered, its retries are used up or its time is
            // over. In a future of its own, this loop would cost each request 60 instructions.
            None => loop {
                let attempt = self.attempt(request.number(), progress.start()).await;
                if let Some(outcome) = self.conclude(attempt, &mut progress) {
                    break outcome;
                }
            },
        };
        let done = self.settle(request, outcome, &progress);
        self.with_rows.merge(self.work.reply.with_rows);
        let closed = match self.job_state.keeps_connections() {
            true => done,
            false => self.close_own(done).await,
        };
        let free = match self.results[part].is_some() {
            true => self.hand_over_rows(closed).await,
            false => closed,
        };
        self.served = self.served.wrapping_add(1);
        if self.served.is_multiple_of(REQUESTS_PER_TURN) {
            yield_now().await;
        }
        free
    }

    /// Records a request that has ended in the ledger. Returns the end of the request.
    #[inline]
    fn settle(&self, request: Request, outcome: Outcome, progress: &RequestProgress) -> Stamp {
        let (sent, done) = (progress.dispatch(), progress.done);
        if sent.is_some() && outcome.is_answer() {
            self.lane.link(&self.job_state).note_answer(self.node, done);
        }
        let request = match self.lane.context.rules.recorded {
            None => request,
            Some(recorded) => recorded(request, sent),
        };
        let reply = &self.work.reply;
        let node = sent.and_then(|_| self.node_account());
        let ending = RequestEnd {
            outcome,
            sent,
            done,
            work: progress.work,
            statements: &reply.statements,
            node,
        };
        self.lane.ledger.borrow_mut().settle(request, ending);
        self.job_state.in_flight.set(self.job_state.in_flight.get() - 1);
        self.lane.rt.tick(done);
        done
    }

    /// Returns the account of the job at the server of the last connection; `None` if the target
    /// has only one server.
    #[inline]
    fn node_account(&self) -> Option<AccountId> {
        self.job_state.first_node.map(|first| AccountId(first.0 + self.node.0))
    }

    /// Gives the rows of a request to the results file of its part, and waits if there is no room.
    /// A file that accepts nothing for the plan's `stall-timeout` ends the run. At the end of the
    /// drain, rows that still wait for room are discarded.
    ///
    /// `done` is the instant at which the client is free if it need not wait. Returns the instant
    /// at which it is free.
    async fn hand_over_rows(&mut self, done: Stamp) -> Stamp {
        let Some(results) = &self.results[self.part] else { return done };
        let rows = &mut self.work.capture;
        if rows.is_empty() {
            // A client that waits for its next request keeps no memory with rows of a failed
            // request.
            rows.clear();
            return done;
        }
        if results.try_send(rows) {
            return done;
        }
        let stalls_at = self.lane.rt.now() + self.lane.stall_timeout();
        self.handle.expire_at(stalls_at.min(self.lane.give_up_at.get()));
        let given = poll_fn(|context| results.poll_send(rows, context));
        if unless_fired(given, &self.handle.expiry).await.is_none() {
            results.discard(rows);
            if self.lane.rt.now() >= stalls_at {
                self.lane.note_stalled_file();
            }
        }
        self.lane.rt.now()
    }

    /// Opens the request's own connection. Returns the outcome of the request if it gets none.
    async fn connect_first(&mut self, progress: &mut RequestProgress) -> Option<Outcome> {
        match self.connect_own(progress).await {
            OwnConnection::Connected => None,
            OwnConnection::Refused(attempt) => {
                Some(self.conclude(attempt, progress).unwrap_or(Outcome::Unsent))
            }
            OwnConnection::TooLate => Some(self.conclude_unsent(progress)),
        }
    }

    /// Returns the outcome of the request if this attempt is its last; `None` if another attempt
    /// follows.
    #[inline]
    fn conclude(&mut self, attempt: Attempt, progress: &mut RequestProgress) -> Option<Outcome> {
        progress.add_reply(&self.work.reply);
        let error = match attempt {
            Attempt::Answered(Ok(())) => match self.work.capture.overflow() {
                Some(limit) => Some(self.lost_rows(limit)),
                None => self.unexpected_rows(),
            },
            Attempt::Answered(Err(error)) => Some(error),
            Attempt::GivenUp => return Some(self.conclude_given_up(progress)),
        };
        match error {
            None => {
                progress.work.rows = self.work.reply.rows.min(MAX_ROWS);
                progress.done = self.work.reply.done;
                Some(Outcome::Completed)
            }
            Some(error) => self.conclude_failure(&error, progress),
        }
    }

    #[cold]
    fn conclude_failure(
        &mut self,
        error: &Error,
        progress: &mut RequestProgress,
    ) -> Option<Outcome> {
        if self.may_retry(error, progress.work.retries) {
            progress.work.retries += 1;
            return None;
        }
        progress.done = self.end_of_failure();
        Some(self.record_error(error, progress.done))
    }

    #[cold]
    fn conclude_given_up(&mut self, progress: &mut RequestProgress) -> Outcome {
        progress.done = self.lane.rt.now();
        let sent = *progress.sent.get_or_insert(progress.assigned);
        self.lane.link(&self.job_state).note_unanswered(self.node, sent);
        // Rows of an answer that never ended belong to no file, and would keep their memory until
        // the next request.
        self.work.capture.clear();
        self.timed_out(progress.done)
    }

    #[cold]
    fn conclude_unsent(&mut self, progress: &mut RequestProgress) -> Outcome {
        progress.done = self.lane.rt.now();
        Outcome::Unsent
    }

    /// Sends the request once, one exchange with the server after the other. `since` is the instant
    /// from which the timeout of the request runs.
    async fn attempt(&mut self, number: u64, since: Stamp) -> Attempt {
        self.prepare_attempt(since);
        let mut first_error = None;
        let mut exchange = 0;
        loop {
            if exchange > 0 && !self.pause_in_session(number, exchange as u64 - 1).await {
                return self.abandon();
            }
            self.load_exchange(exchange);
            match self.send().await {
                Attempt::Answered(Ok(())) => {}
                Attempt::Answered(Err(error)) if self.continues_after_error() => {
                    self.work.reply.statements.push(UNANSWERED);
                    first_error.get_or_insert(error);
                }
                other => return other,
            }
            exchange += 1;
            if exchange >= self.current_part().exchanges.len() {
                return Attempt::Answered(first_error.map_or(Ok(()), Err));
            }
        }
    }

    /// Returns true if the statements after a failed one are still sent: the statements are
    /// independent of each other, and the client still has its connection.
    fn continues_after_error(&self) -> bool {
        self.current_part().requests.flow == Flow::Separately && self.connection.is_some()
    }

    /// Pauses between two statements of a session. Returns false if the request's time is over.
    async fn pause_in_session(&mut self, number: u64, pause: u64) -> bool {
        let think = self.generators[self.part.index()].think(number, pause);
        if think == Nanos::ZERO {
            return true;
        }
        let until = self.lane.rt.now() + think;
        unless_fired(pin!(self.lane.rt.sleep_until(until)), &self.handle.expiry).await.is_some()
    }

    /// Sends the loaded steps on the connection and waits for the answer, or until the time of the
    /// request is over.
    async fn send(&mut self) -> Attempt {
        let Some(connection) = &mut self.connection else {
            return Attempt::Answered(Err(Error::disconnect("there is no connection")));
        };
        let answer = unless_fired(pin!(connection.run(&mut self.work)), &self.handle.expiry).await;
        match answer {
            Some(result) => {
                if result.as_ref().is_err_and(|error| error.class().ends_connection()) {
                    self.connection = None;
                    self.lost_connection();
                    self.restore_steps();
                }
                Attempt::Answered(result)
            }
            None => self.abandon(),
        }
    }

    /// Gives up the attempt, with its connection.
    fn abandon(&mut self) -> Attempt {
        if let Some(connection) = self.connection.take() {
            connection.abandon();
            self.lost_connection();
        }
        self.restore_steps();
        Attempt::GivenUp
    }

    /// Returns an error if the number of rows of a complete answer contradicts `expect-rows`.
    #[inline]
    fn unexpected_rows(&self) -> Option<Error> {
        let rows = self.work.reply.rows;
        let expected = self.current_part().requests.expect_rows?;
        (!expected.contains(rows)).then(|| self.wrong_rows(rows, expected))
    }

    /// Waits until the client has a connection. Returns false if no request is left, if the drain
    /// ends first, or if the server accepts no more connections than the job has.
    async fn wait_for_connection(&mut self) -> bool {
        while self.connection.is_none() {
            if self.has_nothing_left() {
                return false;
            }
            self.handle.expire_at(self.lane.give_up_at.get());
            // Boxed: the future is large, and a client rarely connects.
            let attempt = Box::pin(self.lane.connect(&self.job_state));
            match unless_fired(attempt, &self.handle.expiry).await {
                None => return false,
                Some((Ok(connection), change)) => {
                    self.lane.note_change(change, None, &self.job_state);
                    self.take_connection(connection);
                }
                Some((Err(error), change)) => {
                    self.lane.note_change(change, Some(&error), &self.job_state);
                    // A client that lost its connection may get one again: another client of the
                    // server may have the slot only for a while.
                    let is_full = error.class() == Class::TooManyConnections;
                    if is_full && !self.job_state.clients.has_disconnected() {
                        self.lane.note_connection_limit(&self.job_state, &error);
                        return false;
                    }
                    self.lane.refuse_without_connections(&self.job_state);
                    match change {
                        LinkChange::None | LinkChange::OutageEnded { .. } => {
                            self.lane.pause_after(&error, &self.job_state).await;
                        }
                        // The next attempt waits for the end of the outage's pause, or goes to
                        // another server.
                        LinkChange::StillRefused | LinkChange::OutageBegan { .. } => {}
                    }
                }
            }
        }
        true
    }

    /// Returns true if no request is left that would need a connection, or the drain has ended.
    fn has_nothing_left(&self) -> bool {
        let over = self.job_state.gate.as_ref().is_some_and(|gate| gate.borrow().is_over());
        over || self.lane.rt.now() >= self.lane.give_up_at.get()
    }

    /// Reports to the ledger which statements of the current part have returned or changed a row
    /// since the last report. A report for each request would cost several times as much.
    fn report_with_rows(&mut self) {
        let statements = std::mem::take(&mut self.with_rows);
        let account = self.current_part().account;
        self.lane.ledger.borrow_mut().add_with_rows(account, statements);
    }

    /// Ends the client and closes its connection.
    async fn leave(mut self) {
        self.report_with_rows();
        self.job_state.clients.count_left(self.status());
        let connection = self.connection.take();
        self.results.clear();
        self.job_state.close_results_if_over();
        // A run ends with its requests. Closing the connection may take long, and is not part of
        // the run.
        self.lane.client_left();
        if let Some(connection) = connection {
            connection.close().await;
        }
    }
}
