//! Findings of the limiter: the facts behind a named component.
//!
//! The crate `report` turns them into sentences. Shares are fractions, 0 to 1. Unless stated
//! otherwise, numbers of sessions, clients and processors are means over the window.

use record::{MeasuredSide, ObservedComponent};

use super::utilised::UtilisedComponent;
use crate::finding::CeilingUse;
use crate::other_programs::OtherPrograms;

/// The facts from which a limiter, or a candidate, was concluded.
#[derive(Clone, Debug, PartialEq)]
pub enum LimiterFinding {
    /// The requests of every job with a schedule were answered at the rate at which they arrived,
    /// and the other jobs sent few requests.
    Satisfied,
    /// The limiter cannot be determined from the run or the load.
    Inconclusive(Inconclusive),
    /// Nothing that was observed explains the result, although there must be a limiter.
    NothingSaturated {
        /// Reason why there must be a limiter.
        why: Saturation,
        /// True if processes or sessions of the database were observed.
        sees_server: bool,
        /// Saturated components for which no request was found to wait, each with its used
        /// fraction.
        saturated: Vec<(UtilisedComponent, f64)>,
    },
    /// Requests that are sent one after another, while nothing is saturated.
    Concurrency(Concurrency),
    /// Limit of connections.
    Connections(ConnectionLimit),
    /// The load generator.
    Generator(GeneratorLimit),
    /// An observed program.
    Program(ProgramLimit),
    /// The network.
    Network(NetworkLimit),
    /// Processors of the database, or a quota.
    Processors(ProcessorLimit),
    /// Waits of the database's sessions.
    Waits(Waits),
    /// Memory of the database.
    Memory(MemoryLimit),
    /// Work that no request caused.
    Background(BackgroundWork),
    /// Programs other than the load generator and the database.
    OtherPrograms(OtherPrograms),
}

/// The reason why the limiter of a run or a load cannot be determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inconclusive {
    /// Tables were loaded, and there were no jobs.
    LoadsOnly,
    /// There were no requests.
    NoRequests,
    /// Too many requests failed.
    FailingRequests,
    /// Some requests were never sent.
    UnsentRequests,
    /// Requests piled up in a run whose target was unreachable at its end.
    TargetLost,
    /// The window is too short for a trend of the backlog.
    ShortWindow,
    /// Time was simulated during the load.
    VirtualTime,
    /// The load was too short.
    ShortLoad,
    /// Nothing was observed during the load.
    NothingObserved,
}

/// The reason why there must be a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saturation {
    /// An observed program chooses its own load.
    Program,
    /// Requests arrive faster than they are answered.
    Overload,
    /// A closed job sends as fast as it is answered.
    ClosedJob,
    /// A load sends as fast as it is answered.
    Load,
}

/// Requests that are sent one after another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Concurrency {
    /// Kind of the clients.
    pub requesters: Requesters,
    /// Number of clients.
    pub clients: f64,
    /// Mean service time, in seconds.
    pub service_s: f64,
    /// Answers per second.
    pub per_s: f64,
    /// Mean number of requests in flight.
    pub in_flight: f64,
}

/// The clients of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requesters {
    /// Clients of jobs, with one request at a time.
    Clients,
    /// Clients of jobs. Each pauses after an answer.
    ThinkingClients,
    /// Workers of a queue that grows, with one request at a time.
    Workers,
    /// Writers of a load, with one batch at a time.
    Writers,
}

/// A limit of connections or sessions.
#[derive(Clone, Debug, PartialEq)]
pub enum ConnectionLimit {
    /// Requests of jobs with a schedule wait for a connection.
    RequestsWait {
        /// Text of the event that reports the limit.
        text: String,
    },
    /// Clients have no connection because the server refuses one, from the beginning or since they
    /// lost their first connection.
    UnconnectedClients {
        /// Number of configured clients.
        clients: f64,
        /// Smallest number of connected clients after the first refused connection.
        connections: f64,
        /// Text of the event that reports the limit.
        text: String,
    },
    /// A pool shares few sessions among the requests.
    Pool {
        /// Mean number of requests in flight.
        in_flight: f64,
        /// Mean number of sessions of the database.
        sessions: f64,
    },
    /// A pool shares few sessions among the connections of an observed program.
    PoolOfProgram {
        /// Largest number of connections of the program.
        connections: f64,
        /// Estimated number of those connections whose request has no answer yet: the largest
        /// number of connections times the mean fraction of waiting connections; `None` if that
        /// fraction is not known.
        waiting: Option<f64>,
        /// Name of the pooler; `None` if it was not found.
        pooler: Option<String>,
        /// Largest number of the pooler's connections to the database, or the mean number of
        /// sessions of the database if the pooler was not found.
        sessions: f64,
        /// Fraction of the time in which these sessions are at work; `None` if it was not observed.
        active_share: Option<f64>,
    },
}

/// A limit of the load generator.
#[derive(Clone, Debug, PartialEq)]
pub enum GeneratorLimit {
    /// A runnable thread lacks a processor.
    ThreadWaits {
        /// Name of the thread.
        thread: String,
        /// Fraction of the window in which the thread ran.
        ran: f64,
        /// Fraction of the window in which it waited for a processor.
        waited: f64,
    },
    /// A thread runs all the time.
    ThreadFull {
        /// Evidence that the thread runs all the time.
        use_of_thread: FullThread,
        /// Number of threads that ran for less than 0.4 of the window.
        underused: usize,
        /// Number of all threads.
        threads: usize,
    },
    /// Clients wait for the file or pipe that supplies their requests.
    SlowFeed {
        /// Number of clients that read their requests from a file or a pipe.
        clients: f64,
        /// Fraction of the clients' time in which they have nothing to send.
        idle_share: f64,
    },
    /// The thread that generates and sends the rows of a load runs all the time.
    LoaderFull {
        /// Fraction of a processor that the thread used.
        ran: f64,
    },
    /// The thread that generates and sends the rows of a load lacks a processor.
    LoaderWaits {
        /// Fraction of the time in which the thread ran.
        ran: f64,
        /// Fraction of the time in which it waited for a processor.
        waited: f64,
    },
}

/// Evidence that a thread of the load generator runs all the time.
#[derive(Clone, Debug, PartialEq)]
pub enum FullThread {
    /// The threads have reached their calibrated maximum.
    Ceiling(CeilingUse),
    /// A thread used nearly all of a processor.
    Processor {
        /// Name of the thread.
        thread: String,
        /// Fraction of a processor that it used.
        share: f64,
    },
}

/// A limit in an observed program, or in its sessions of the database.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramLimit {
    /// The program has no session for most of the time.
    Absent {
        /// Mean number of its sessions, at most 0.5; the fraction of the time with a session if the
        /// program opens one at a time.
        sessions: f64,
        /// Mean number of processors that the program used.
        processors: f64,
        /// True if its processes were busy between two sessions.
        is_busy: bool,
    },
    /// A thread of the program runs all the time.
    ThreadFull {
        /// Fraction of a processor that the thread used.
        share: f64,
    },
    /// Threads of the program lack a processor.
    Waits {
        /// Mean number of processors that the program's threads used.
        ran: f64,
        /// Mean number of threads that waited for a processor.
        waited: f64,
    },
    /// Sessions of the database wait for the program, or for the network between database and
    /// program.
    Pauses {
        /// Mean number of sessions of the program.
        sessions: f64,
        /// Mean number of these sessions that wait.
        waiting: f64,
        /// Cause of the wait.
        pause: Pause,
    },
    /// One session is at work for most of the time.
    OneSession {
        /// Fraction of the time in which the session is at work.
        at_work: f64,
        /// Fraction of the time in which it waits for the program.
        waiting: f64,
    },
    /// The program has too few sessions.
    FewSessions {
        /// Mean number of sessions of the program.
        sessions: f64,
        /// Mean number of sessions at work.
        at_work: f64,
        /// Mean number of sessions that wait for the next request.
        waiting: f64,
        /// Mean time from an answer to the next request, in seconds; `None` if it is unknown.
        pause_s: Option<f64>,
    },
    /// The processors are saturated, and one side waits for them.
    Starved {
        /// Side that waits more.
        side: MeasuredSide,
        /// Mean number of threads of that side that wait.
        waited: f64,
    },
}

/// The cause of waiting sessions of an observed program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pause {
    /// The program does not read its answers.
    UnreadAnswers,
    /// Answers wait to be sent over the network.
    AnswersOnTheWay,
    /// Rows wait to be sent over the network.
    RowsOnTheWay,
    /// The time from an answer to the next request is mainly a round trip.
    RoundTrip {
        /// Mean time from an answer to the next request, in seconds.
        pause_s: f64,
        /// Shortest round trip, in seconds.
        round_trip_s: f64,
    },
    /// The program sends no further requests.
    NoFurtherRequests {
        /// Name of the wait for the rest of a statement, if more sessions wait for rows than for a
        /// statement.
        rows: Option<&'static str>,
        /// Contents of the sockets during these waits.
        sockets: Sockets,
    },
}

/// Contents of the sockets of waiting sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sockets {
    /// The sockets of each waiting session were seen.
    Empty {
        /// Fraction of the waiting time in which the sockets hold nothing.
        share: f64,
    },
    /// The sockets of both sides were seen, but not those of each session.
    Holding {
        /// Mean number of connections with an unread request at the server.
        requests: f64,
        /// Mean number of connections with an unread answer at the program.
        answers: f64,
    },
    /// The sockets of one side or of both sides were not seen.
    Unseen,
}

/// A limit of the network.
#[derive(Clone, Debug, PartialEq)]
pub enum NetworkLimit {
    /// A link carries nearly all that it can.
    Link {
        /// Interface of the link.
        interface: ObservedComponent,
        /// Bytes per second that the link carried.
        bytes_per_s: f64,
        /// Used fraction of the link's speed.
        share: f64,
    },
    /// Answers wait to be sent over the network.
    AnswersWait {
        /// Mean number of requests in flight.
        in_flight: f64,
        /// Mean number of answers that wait.
        waiting: f64,
    },
    /// Answers queue in the network.
    AnswersQueue {
        /// Mean time until data of the server is acknowledged, in seconds.
        mean_s: f64,
        /// Shortest time until data of the server is acknowledged, in seconds.
        least_s: f64,
    },
    /// Round trips take much of a request.
    RoundTrips {
        /// Number of round trips of a request, taken as one per statement.
        trips: f64,
        /// Shortest time of a round trip, in seconds.
        round_trip_s: f64,
        /// Mean service time, in seconds.
        service_s: f64,
    },
    /// Requests are neither in the database nor in the load generator.
    OnTheWay {
        /// Mean number of requests in flight.
        in_flight: f64,
        /// Mean number of requests in flight that are not in the database.
        missing: f64,
        /// Mean service time, in seconds.
        service_s: f64,
    },
    /// Rows of a load wait to be sent over the network.
    RowsWait {
        /// Number of connections to which rows are written.
        connections: f64,
        /// Mean number of connections with rows that wait.
        waiting: f64,
    },
}

/// A limit of processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProcessorLimit {
    /// A control group is throttled by its quota.
    Throttled {
        /// Side of the group.
        side: MeasuredSide,
        /// Time for which it was throttled, in seconds per second, averaged over its processors.
        throttled: f64,
        /// Number of processors that the group may use.
        quota: f64,
        /// Mean number of processors that the group used.
        used: f64,
    },
    /// The processors of the database are saturated.
    Full {
        /// Processors that the database used.
        used: f64,
        /// Processors that the database may use.
        may_use: f64,
        /// Processors that the database would have used if it had not waited for any.
        wanted: f64,
        /// Processors that the load generator used, if it is on the same machine.
        generator: Option<f64>,
        /// True if something other than the database and the load generator used the processors
        /// that the database lacked.
        is_starved: bool,
    },
    /// A thread of the database runs all the time.
    OneThread {
        /// Fraction of a processor that the thread used.
        share: f64,
        /// Processors that the database may use.
        may_use: f64,
        /// Processors that the database used.
        used: f64,
    },
}

/// Waits of the database's sessions.
#[derive(Clone, Debug, PartialEq)]
pub enum Waits {
    /// Sessions wait for locks.
    Locks {
        /// Sessions that wait for locks.
        sessions: WaitingSessions,
        /// Table of most of these locks, if the database names it.
        table: Option<String>,
        /// Statement of most of these sessions, if the database names it.
        statement: Option<String>,
    },
    /// Sessions wait until their commits are safe.
    Flush(WaitingSessions),
    /// Sessions wait for the disk.
    Disk(WaitingSessions),
    /// Requests to an embedded database neither run nor wait for a processor.
    Embedded {
        /// Mean number of requests in flight.
        in_flight: f64,
        /// Mean number of requests that neither run nor wait for a processor.
        stalled: f64,
        /// Event that the stalled requests wait for.
        wait: EmbeddedWait,
    },
}

/// Sessions in one kind of wait.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingSessions {
    /// Mean number of waiting sessions.
    pub waiting: f64,
    /// Mean number of active sessions.
    pub active: f64,
    /// Name of the wait or counter that shows most of the waiting sessions.
    pub event: String,
}

/// The event that requests to an embedded database wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddedWait {
    /// Another request that writes.
    Writer,
    /// A flush to the disk.
    Flush,
    /// The disk.
    Disk,
}

/// Lack of memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MemoryLimit {
    /// The server's control group lacks memory.
    Group {
        /// Fraction of the time in which tasks lacked memory.
        lacked: f64,
        /// Limit of the group, in bytes.
        limit_bytes: f64,
    },
    /// The host of the database lacks memory.
    Host {
        /// Fraction of the time in which tasks lacked memory.
        lacked: f64,
        /// Pages per second that came back from swap.
        swapped_per_s: f64,
    },
}

/// Work that no request caused.
#[derive(Clone, Debug, PartialEq)]
pub enum BackgroundWork {
    /// Sessions of other clients keep the processors busy.
    OtherSessions {
        /// Mean number of sessions of other clients that are at work.
        sessions: f64,
        /// Processors of the database.
        processors: f64,
        /// Name of the most frequent background work, and the fraction of the window in which it
        /// ran; `None` if that fraction is small.
        work: Option<(String, f64)>,
    },
    /// Background work that the database names.
    Named {
        /// Name of the work.
        name: String,
        /// Fraction of the window in which it ran.
        share: f64,
        /// Fraction of the database's processor time that the work took.
        cpu_share: f64,
        /// Fraction of the database's bytes from and to disks that the work took.
        bytes_share: f64,
    },
    /// An intermittent activity that reduces the throughput of a closed job.
    Intermittent {
        /// Name of the job, or of the database's work.
        cause: String,
        /// True if the cause is work of the database.
        is_background: bool,
        /// Name of the closed job.
        job: String,
        /// Answers per second of the closed job during the activity.
        with_per_s: f64,
        /// Answers per second without the activity.
        without_per_s: f64,
    },
}

/// A source that could not be observed, or not in full.
#[derive(Clone, Debug, PartialEq)]
pub enum UnobservedSource {
    /// A source that was reported as missing during the run.
    Reported {
        /// Name of the source.
        what: String,
        /// Reason, as it was recorded.
        why: String,
    },
    /// Counters of the server were reset in the window.
    CountersReset,
    /// The database shows sessions as running that cannot have run.
    Contradiction(Contradiction),
}

/// A contradiction between the sessions that the database shows as running and the processors that
/// it used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contradiction {
    /// Mean number of sessions that samples show as running and no counter shows as waiting.
    pub running: f64,
    /// Mean number of active sessions.
    pub active: f64,
    /// Mean number of processors that the database used.
    pub used: f64,
    /// Mean number of the database's threads that waited for a processor.
    pub waited: f64,
    /// Mean number of sessions that wait for something unknown.
    pub unexplained: f64,
}

impl UnobservedSource {
    /// Returns the sources that were reported as missing, with the reasons.
    pub(crate) fn reported(missing: &[(String, String)]) -> Vec<UnobservedSource> {
        let one = |(what, why): &(String, String)| UnobservedSource::Reported {
            what: what.clone(),
            why: why.clone(),
        };
        missing.iter().map(one).collect()
    }
}
