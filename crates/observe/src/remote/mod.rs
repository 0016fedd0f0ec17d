//! Observation of another machine by an `assay` that runs there.
//!
//! [`RemoteWatch`] starts `assay observe --stdio` there over the user's own ssh, measures the
//! offset between the two clocks, and reports the remote samples at times of this machine, with the
//! name of the other machine before the names of components. No port is opened on either machine.
//! The remote program ends when its input ends, so it ends with this process in every case.
//! [`serve()`] is the remote side.
//!
//! A failure is reported once as missing data, with a remedy if there is one, and the run
//! continues.

mod clock;
mod host;
mod protocol;
mod serve;
mod ssh;

use std::ffi::OsStr;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use base::{Clock, Monotonic, Nanos, Stamp};
use record::metric;
use record::{ComponentKind, ObservedComponent};

use self::clock::{ClockExchange, ClockReference};
pub use self::host::RemoteHost;
use self::protocol::{RemoteMessage, RemoteRequest, VERSION, sanitised};
pub use self::serve::{scope, serve};
use self::ssh::{Connection, Event, RemoteFailure, SshExit};
use crate::sample::{ReportedMissing, Sample, SeriesLimit};
use crate::scope::Scope;

/// Name of the ssh program, which is found in the `PATH`.
const SSH: &str = "ssh";

/// Maximum number of lines that are queued. Few, because each may have 4 MiB.
const QUEUED_LINES: usize = 8;

/// Maximum number of lines that a login may write before the remote program starts.
const MAX_LOGIN_LINES: usize = 64;

/// Maximum number of lines that are read after the watch is over. Usually there are two or three.
const MAX_LAST_LINES: usize = 256;

/// Number of requests to the remote clock. The answer with the shortest round trip is used.
const CLOCK_REQUESTS: u64 = 8;

/// Time after which the remote clock is read again, because two clocks drift apart by up to 0.1 ms
/// per second.
const CLOCK_PERIOD: Nanos = Nanos::from_secs(30);

/// A new answer of the remote clock is not used if its round trip takes longer than this multiple
/// of the fastest one, because an older answer is then more accurate.
const MAX_DELAY_FACTOR: u64 = 2;

/// Clock offset, in seconds, above which a warning is reported as missing data.
const MIN_REPORTED_OFFSET_S: f64 = 1.0;

/// Time limits for the messages of the remote program.
#[derive(Clone, Copy, Debug)]
struct Timeouts {
    /// Time limit for the remote program's greeting, and for each answer of its clock.
    greeting: Nanos,
    /// Time without a message after which missing data are reported.
    silence: Nanos,
    /// Time limit for the last sample, once the watch is over.
    last_sample: Nanos,
    /// Minimum time between two samples, by their own times. Readings that follow sooner are left
    /// out, because the remote program decides how many samples it sends.
    between_samples: Nanos,
}

impl Timeouts {
    fn with(every: Nanos) -> Timeouts {
        Timeouts {
            greeting: Nanos::from_secs(15),
            silence: (every * 3).max(Nanos::from_secs(5)),
            last_sample: Nanos::from_secs(2),
            between_samples: Nanos(every.0 / 4),
        }
    }
}

/// The thread that observes another machine during a run.
pub struct RemoteWatch {
    events: SyncSender<Event>,
    thread: JoinHandle<()>,
}

impl RemoteWatch {
    /// Starts the thread, and does not wait for ssh. The thread calls `on_sample` with each remote
    /// sample and its time since `zero`. The scope sets the sampling interval, and the ports on
    /// which the database may listen on the remote machine.
    ///
    /// # Errors
    /// The operating system cannot start a thread.
    pub fn begin(
        zero: Stamp,
        host: RemoteHost,
        scope: Scope,
        on_sample: impl Fn(Nanos, Sample) + Send + 'static,
    ) -> io::Result<RemoteWatch> {
        let timeouts = Timeouts::with(scope.every);
        RemoteWatch::begin_with_program(OsStr::new(SSH), zero, host, scope, timeouts, on_sample)
    }

    fn begin_with_program(
        program: &OsStr,
        zero: Stamp,
        host: RemoteHost,
        scope: Scope,
        timeouts: Timeouts,
        on_sample: impl Fn(Nanos, Sample) + Send + 'static,
    ) -> io::Result<RemoteWatch> {
        let (events, received) = sync_channel(QUEUED_LINES);
        let (program, sender) = (program.to_owned(), events.clone());
        let thread = std::thread::Builder::new().name("watch-remote".to_owned());
        let thread = thread.spawn(move || {
            let opened = Connection::open(&program, &host, &scope, sender);
            let opened = opened.map_err(RemoteFailure::NotStarted);
            let (failure, exit) = match opened {
                Err(failure) => (Some(failure), SshExit::default()),
                Ok(connection) => {
                    let name = &host.host;
                    let mut conversation = Conversation {
                        zero,
                        name,
                        timeouts,
                        connection,
                        received,
                        series: SeriesLimit::default(),
                        reported_missing: ReportedMissing::default(),
                        latest: None,
                        on_sample: &on_sample,
                    };
                    let failure = conversation.run().err();
                    // A thread that is still reading finds the channel closed, and ends.
                    drop(conversation.received);
                    (failure, conversation.connection.close())
                }
            };
            if let Some(failure) = failure {
                let mut sample = Sample::default();
                sample.missing(&host.host, ssh::failure_reason(&failure, &host, &exit));
                on_sample(Monotonic.now().since(zero), sample);
            }
        })?;
        Ok(RemoteWatch { events, thread })
    }

    /// Stops all watches and the programs on the other machines. When this function returns,
    /// everything read before has been reported. This takes a few seconds at most, even if no
    /// machine answers.
    pub fn end_all(watches: Vec<RemoteWatch>) {
        // The channel of a watch that has already ended is closed.
        watches.iter().for_each(|watch| drop(watch.events.send(Event::Over)));
        // A panic in a thread has been printed already and does not affect the run.
        watches.into_iter().for_each(|watch| drop(watch.thread.join()));
    }
}

/// Result of waiting for a line.
enum Incoming {
    RemoteMessage(Stamp, RemoteMessage),
    OtherLine(String),
    Timeout,
    Over,
}

/// The exchange of messages with the program on another machine.
struct Conversation<'a, T> {
    zero: Stamp,
    name: &'a str,
    timeouts: Timeouts,
    connection: Connection,
    received: Receiver<Event>,
    series: SeriesLimit,
    reported_missing: ReportedMissing,
    /// Time of the latest sample whose readings were reported.
    latest: Option<Stamp>,
    on_sample: &'a T,
}

impl<T: Fn(Nanos, Sample)> Conversation<'_, T> {
    /// Exchanges messages with the remote program, from its greeting to its last sample.
    fn run(&mut self) -> Result<(), RemoteFailure> {
        self.greet()?;
        let exchange = self.compare_clocks()?;
        self.connection.send(RemoteRequest::Begin);
        self.report_offset(exchange);
        self.listen(exchange)
    }

    fn receive(&self, until: Stamp) -> Result<Incoming, RemoteFailure> {
        let wait = Duration::from_nanos(until.since(Monotonic.now()).0);
        match self.received.recv_timeout(wait) {
            Ok(Event::Line(at, line)) => Ok(match RemoteMessage::parse(&line) {
                Some(said) => Incoming::RemoteMessage(at, said),
                None => Incoming::OtherLine(sanitised(&String::from_utf8_lossy(&line))),
            }),
            Ok(Event::TooLong) => Err(RemoteFailure::Malformed("a line without an end".to_owned())),
            Ok(Event::Over) => Ok(Incoming::Over),
            Err(RecvTimeoutError::Timeout) => Ok(Incoming::Timeout),
            Ok(Event::Closed) | Err(RecvTimeoutError::Disconnected) => {
                Err(RemoteFailure::Ended(Monotonic.now().since(self.zero)))
            }
        }
    }

    /// Waits for the remote program's greeting. Lines that the login writes before it are skipped.
    fn greet(&mut self) -> Result<(), RemoteFailure> {
        let until = Monotonic.now() + self.timeouts.greeting;
        let mut login_line = String::new();
        for _ in 0..MAX_LOGIN_LINES {
            match self.receive(until) {
                Ok(Incoming::RemoteMessage(
                    _,
                    RemoteMessage::Greeting { version: VERSION, .. },
                )) => return Ok(()),
                Ok(Incoming::RemoteMessage(_, RemoteMessage::Greeting { version, .. })) => {
                    return Err(RemoteFailure::Version(version));
                }
                Ok(Incoming::RemoteMessage(..)) => {}
                Ok(Incoming::OtherLine(line)) => login_line = line,
                Ok(Incoming::Timeout) => return Err(RemoteFailure::Silent(self.timeouts.greeting)),
                Ok(Incoming::Over) => return Err(RemoteFailure::TooLate),
                Err(RemoteFailure::Ended(_)) => return Err(RemoteFailure::NotReached),
                Err(failure) => return Err(failure),
            }
        }
        Err(RemoteFailure::NotAssay(login_line))
    }

    fn compare_clocks(&mut self) -> Result<ClockExchange, RemoteFailure> {
        let mut fastest = self.exchange_clocks(0)?;
        for number in 1..CLOCK_REQUESTS {
            let exchange = self.exchange_clocks(number)?;
            if exchange.delay() < fastest.delay() {
                fastest = exchange;
            }
        }
        Ok(fastest)
    }

    fn exchange_clocks(&mut self, asked: u64) -> Result<ClockExchange, RemoteFailure> {
        let sent = Monotonic.now();
        self.connection.send(RemoteRequest::Ping(asked));
        match self.receive(sent + self.timeouts.greeting)? {
            Incoming::RemoteMessage(received_at, RemoteMessage::Pong { number, clock })
                if number == asked =>
            {
                Ok(ClockExchange { sent, received_at, clock })
            }
            Incoming::RemoteMessage(..) => {
                Err(RemoteFailure::Malformed("an answer to nothing".to_owned()))
            }
            Incoming::OtherLine(line) => Err(RemoteFailure::Malformed(line)),
            Incoming::Timeout => Err(RemoteFailure::Silent(self.timeouts.greeting)),
            Incoming::Over => Err(RemoteFailure::TooLate),
        }
    }

    fn report_offset(&mut self, exchange: ClockExchange) {
        let offset_s = exchange.offset_s(ClockReference::now());
        let mut sample = Sample::default();
        sample.read(&ComponentKind::Host, metric::host::CLOCK_OFFSET, offset_s);
        if offset_s.abs() > MIN_REPORTED_OFFSET_S {
            let side = if offset_s > 0.0 { "ahead of" } else { "behind" };
            let why = format!(
                "it is {:.1} s {side} the clock here; times were corrected by that; use NTP on \
                 both",
                offset_s.abs()
            );
            sample.missing("clock", why);
        }
        self.report_sample(exchange.received_at, sample);
    }

    /// Reports the samples until the watch is over.
    fn listen(&mut self, mut exchange: ClockExchange) -> Result<(), RemoteFailure> {
        let (mut asked, mut was_silent) =
            (ClockRequest { number: CLOCK_REQUESTS, sent: Monotonic.now() }, false);
        let (mut least, mut is_awaited) = (exchange.delay(), false);
        loop {
            match self.receive(Monotonic.now() + self.timeouts.silence)? {
                Incoming::RemoteMessage(at, RemoteMessage::Sample { at: there, sample }) => {
                    self.report_timely(exchange.stamp(there, self.zero, at), sample);
                    if at.since(asked.sent) >= CLOCK_PERIOD {
                        asked = ClockRequest { number: asked.number + 1, sent: Monotonic.now() };
                        is_awaited = true;
                        self.connection.send(RemoteRequest::Ping(asked.number));
                    }
                }
                Incoming::RemoteMessage(received_at, RemoteMessage::Pong { number, clock }) => {
                    let newest = ClockExchange { sent: asked.sent, received_at, clock };
                    if is_awaited
                        && number == asked.number
                        && newest.delay() <= least * MAX_DELAY_FACTOR
                    {
                        least = least.min(newest.delay());
                        exchange = newest;
                        self.report_offset(exchange);
                    }
                    is_awaited = false;
                }
                Incoming::RemoteMessage(_, RemoteMessage::Greeting { .. }) => {
                    return Err(RemoteFailure::Malformed("another greeting".to_owned()));
                }
                Incoming::OtherLine(line) => return Err(RemoteFailure::Malformed(line)),
                Incoming::Timeout if !was_silent => {
                    was_silent = true;
                    self.report_silence();
                }
                Incoming::Timeout => {}
                Incoming::Over => {
                    self.receive_last_sample(exchange);
                    return Ok(());
                }
            }
        }
    }

    fn report_silence(&self) {
        let mut sample = Sample::default();
        let (at, silence) = (Monotonic.now().since(self.zero), self.timeouts.silence);
        let why = format!(
            "nothing came from it for {silence}, until {:.1} s into the run: machine or network \
             were overloaded or away",
            at.as_secs_f64()
        );
        sample.missing(self.name, why);
        (self.on_sample)(at, sample);
    }

    /// Receives the last sample, which the remote program sends when its input ends. The lines are
    /// limited in time and number, because a program that is not `assay` may send them endlessly.
    fn receive_last_sample(&mut self, exchange: ClockExchange) {
        self.connection.close_input();
        let until = Monotonic.now() + self.timeouts.last_sample;
        for _ in 0..MAX_LAST_LINES {
            if Monotonic.now() >= until {
                return;
            }
            match self.receive(until) {
                Ok(Incoming::RemoteMessage(at, RemoteMessage::Sample { at: there, sample })) => {
                    self.report_sample(exchange.stamp(there, self.zero, at), sample);
                }
                Ok(Incoming::RemoteMessage(..) | Incoming::OtherLine(_) | Incoming::Over) => {}
                Ok(Incoming::Timeout) | Err(_) => return,
            }
        }
    }

    /// Reports a remote sample, without its readings if they follow the previous ones too soon.
    /// Missing data are always reported, because `assay` sends each name only once.
    fn report_timely(&mut self, at: Stamp, mut sample: Sample) {
        let earliest = self.latest.map(|latest| latest + self.timeouts.between_samples);
        if earliest.is_some_and(|earliest| at < earliest) {
            sample.readings.clear();
        } else if !sample.readings.is_empty() {
            self.latest = Some(at);
        }
        self.report_sample(at, sample);
    }

    /// Reports a remote sample, with the name of the machine before the names of components and of
    /// missing data.
    fn report_sample(&mut self, at: Stamp, mut sample: Sample) {
        self.series.apply(&mut sample);
        self.reported_missing.keep_new(&mut sample);
        if sample.readings.is_empty() && sample.missing.is_empty() {
            return;
        }
        for reading in &mut sample.readings {
            if let Some(ObservedComponent { kind, .. }) =
                ObservedComponent::parse(&reading.series.component)
            {
                let there = ObservedComponent { place: Some(self.name.to_owned()), kind };
                reading.series.component = there.to_string();
            }
        }
        for missing in &mut sample.missing {
            missing.what = format!("{}/{}", self.name, missing.what);
        }
        (self.on_sample)(at.since(self.zero), sample);
    }
}

/// Last request to the remote clock.
struct ClockRequest {
    number: u64,
    sent: Stamp,
}

#[cfg(test)]
mod tests;
