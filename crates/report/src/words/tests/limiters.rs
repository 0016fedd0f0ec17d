//! Sentences of the findings of the limiter, and of sources that were not observed.

use analyze::finding::{CeilingUse, Headroom};
use analyze::limiting::{
    BackgroundWork as B, Concurrency, ConnectionLimit as C, Contradiction, EmbeddedWait,
    FullThread, GeneratorLimit as G, Inconclusive as I, LimiterFinding as F, MemoryLimit as M,
    NetworkLimit as N, Pause, ProcessorLimit as P, ProgramLimit as R, Requesters, Saturation,
    Sockets, UnobservedSource, WaitingSessions, Waits as W,
};
use analyze::{OtherProgram, OtherPrograms, UtilisedComponent};
use record::{ComponentKind, MeasuredSide, ObservedComponent};

use super::assert_complete;
use crate::words::{limiter_reason, reason, unseen_source};

/// Number of findings, by their innermost variants.
const ALL: usize = 59;

fn place(finding: &F) -> usize {
    match finding {
        F::Satisfied => 0,
        F::Inconclusive(reason) => 1 + place_of_inconclusive(*reason),
        F::NothingSaturated { why, .. } => 10 + place_of_saturation(*why),
        F::Concurrency(Concurrency { requesters: Requesters::Clients, .. }) => 14,
        F::Concurrency(Concurrency { requesters: Requesters::Writers, .. }) => 15,
        F::Connections(C::RequestsWait { .. }) => 16,
        F::Connections(C::UnconnectedClients { .. }) => 17,
        F::Connections(C::Pool { .. }) => 18,
        F::Connections(C::PoolOfProgram { .. }) => 19,
        F::Generator(G::ThreadWaits { .. }) => 20,
        F::Generator(G::ThreadFull { use_of_thread: FullThread::Ceiling(_), .. }) => 21,
        F::Generator(G::ThreadFull { use_of_thread: FullThread::Processor { .. }, .. }) => 22,
        F::Generator(G::SlowFeed { .. }) => 23,
        F::Generator(G::LoaderFull { .. }) => 24,
        F::Generator(G::LoaderWaits { .. }) => 25,
        F::Program(limit) => 26 + place_of_program(limit),
        F::Network(N::Link { .. }) => 39,
        F::Network(N::AnswersWait { .. }) => 40,
        F::Network(N::AnswersQueue { .. }) => 41,
        F::Network(N::RoundTrips { .. }) => 42,
        F::Network(N::OnTheWay { .. }) => 43,
        F::Network(N::RowsWait { .. }) => 44,
        F::Processors(P::Throttled { .. }) => 45,
        F::Processors(P::Full { .. }) => 46,
        F::Processors(P::OneThread { .. }) => 47,
        F::Waits(W::Locks { .. }) => 48,
        F::Waits(W::Flush(_)) => 49,
        F::Waits(W::Disk(_)) => 50,
        F::Waits(W::Embedded { wait: EmbeddedWait::Writer, .. }) => 51,
        F::Waits(W::Embedded { wait: EmbeddedWait::Flush | EmbeddedWait::Disk, .. }) => 52,
        F::Memory(M::Group { .. } | M::Host { .. }) => 53,
        F::Background(B::OtherSessions { .. }) => 54,
        F::Background(B::Named { .. } | B::Intermittent { .. }) => 55,
        F::OtherPrograms(_) => 56,
        F::Concurrency(Concurrency { requesters: Requesters::Workers, .. }) => 57,
        F::Concurrency(Concurrency { requesters: Requesters::ThinkingClients, .. }) => 58,
    }
}

fn place_of_inconclusive(reason: I) -> usize {
    match reason {
        I::LoadsOnly => 0,
        I::NoRequests => 1,
        I::FailingRequests => 2,
        I::UnsentRequests => 3,
        I::ShortWindow => 4,
        I::VirtualTime => 5,
        I::ShortLoad => 6,
        I::NothingObserved => 7,
        I::TargetLost => 8,
    }
}

fn place_of_saturation(why: Saturation) -> usize {
    match why {
        Saturation::Program => 0,
        Saturation::Overload => 1,
        Saturation::ClosedJob => 2,
        Saturation::Load => 3,
    }
}

fn place_of_program(limit: &R) -> usize {
    match limit {
        R::Absent { .. } => 0,
        R::ThreadFull { .. } => 1,
        R::Waits { .. } => 2,
        R::Pauses { pause: Pause::UnreadAnswers, .. } => 3,
        R::Pauses { pause: Pause::AnswersOnTheWay, .. } => 4,
        R::Pauses { pause: Pause::RowsOnTheWay, .. } => 5,
        R::Pauses { pause: Pause::RoundTrip { .. }, .. } => 6,
        R::Pauses {
            pause: Pause::NoFurtherRequests { sockets: Sockets::Empty { .. }, .. },
            ..
        } => 7,
        R::Pauses {
            pause: Pause::NoFurtherRequests { sockets: Sockets::Holding { .. }, .. },
            ..
        } => 8,
        R::Pauses { pause: Pause::NoFurtherRequests { sockets: Sockets::Unseen, .. }, .. } => 9,
        R::OneSession { .. } => 10,
        R::FewSessions { .. } => 11,
        R::Starved { .. } => 12,
    }
}

type ExpectedSentence = (F, &'static str);

fn of_runs() -> Vec<ExpectedSentence> {
    let unsaturated =
        |why, sees_server| F::NothingSaturated { why, sees_server, saturated: Vec::new() };
    let only_saturated = |component| F::NothingSaturated {
        why: Saturation::Program,
        sees_server: true,
        saturated: vec![(component, 0.97)],
    };
    let concurrency = |requesters, clients| {
        let (service_s, per_s, in_flight) = (0.001_6, 1_000.0, 1.6);
        F::Concurrency(Concurrency { requesters, clients, service_s, per_s, in_flight })
    };
    vec![
        (F::Satisfied, "open jobs kept up with arrivals; this says nothing about response times"),
        (F::Inconclusive(I::LoadsOnly), "no requests were made: each load names its own limiter"),
        (F::Inconclusive(I::NoRequests), "there were no requests"),
        (
            F::Inconclusive(I::FailingRequests),
            "failing requests do not show the capacity of the target",
        ),
        (F::Inconclusive(I::UnsentRequests), "some requests were never sent"),
        (
            F::Inconclusive(I::TargetLost),
            "requests piled up, but the target was unreachable at the end of the run",
        ),
        (
            F::Inconclusive(I::ShortWindow),
            "the window is too short to tell whether requests arrive faster than they are answered",
        ),
        (F::Inconclusive(I::VirtualTime), "time was simulated"),
        (F::Inconclusive(I::ShortLoad), "it was too short to tell"),
        (F::Inconclusive(I::NothingObserved), "nothing was observed meanwhile"),
        (
            unsaturated(Saturation::Program, true),
            "another program chose its own load, and no observed component is saturated",
        ),
        (
            only_saturated(UtilisedComponent::Processors { host: None }),
            "another program chose its own load, and of what was observed only processors of the \
             machine (97 %) are saturated: requests were not found to wait for it",
        ),
        (
            only_saturated(UtilisedComponent::Disk(ObservedComponent::here(ComponentKind::Disk(
                "vda".to_owned(),
            )))),
            "another program chose its own load, and of what was observed only disk vda (97 %) \
             is saturated: requests were not found to wait for it",
        ),
        (
            unsaturated(Saturation::Overload, false),
            "requests arrive faster than they are answered, and no component of the database was \
             observed",
        ),
        (
            unsaturated(Saturation::ClosedJob, true),
            "a closed job sends as fast as it is answered, and no observed component is saturated",
        ),
        (
            unsaturated(Saturation::Load, true),
            "a load sends as fast as it is answered, and no observed component is saturated",
        ),
        (
            concurrency(Requesters::Clients, 1.0),
            "one client sends one request at a time, which takes 1.60 ms, and no observed \
             component is saturated: 1,000 requests per second keep 1.6 busy",
        ),
        (
            concurrency(Requesters::Clients, 2.0),
            "2 clients send one request at a time, which takes 1.60 ms, and no observed component \
             is saturated: 1,000 requests per second keep 1.6 busy",
        ),
        (
            concurrency(Requesters::ThinkingClients, 1.0),
            "one client pauses after each answer; a request takes 1.60 ms, and no observed \
             component is saturated: 1,000 requests per second keep 1.6 busy",
        ),
        (
            F::Concurrency(Concurrency {
                requesters: Requesters::ThinkingClients,
                clients: 1.0,
                service_s: 0.004,
                per_s: 4.9,
                in_flight: 0.019_6,
            }),
            "one client pauses after each answer; a request takes 4.00 ms, and no observed \
             component is saturated: 4.90 requests per second keep 0.02 busy",
        ),
        (
            concurrency(Requesters::ThinkingClients, 2.0),
            "2 clients pause after each answer; a request takes 1.60 ms, and no observed component \
             is saturated: 1,000 requests per second keep 1.6 busy",
        ),
        (
            concurrency(Requesters::Workers, 1.0),
            "one worker sends one request at a time, which takes 1.60 ms, and no observed \
             component is saturated: 1,000 requests per second keep 1.6 busy, and more arrive",
        ),
        (
            concurrency(Requesters::Workers, 2.0),
            "2 workers send one request at a time, which takes 1.60 ms, and no observed component \
             is saturated: 1,000 requests per second keep 1.6 busy, and more arrive",
        ),
        (
            concurrency(Requesters::Writers, 1.0),
            "one writer commits a batch at a time, which takes 1.60 ms, and no observed component \
             is saturated: 1,000 batches per second keep 1.6 busy",
        ),
        (
            concurrency(Requesters::Writers, 4.0),
            "4 writers commit a batch at a time, which takes 1.60 ms, and no observed component is \
             saturated: 1,000 batches per second keep 1.6 busy",
        ),
    ]
}

fn of_generator() -> Vec<ExpectedSentence> {
    let text = || "8 connections are the limit".to_owned();
    let thread = || "lane-1".to_owned();
    let processor = FullThread::Processor { thread: thread(), share: 0.97 };
    let used = CeilingUse { per_s: 1_000.0, share: 0.81, threads: 2, headroom: Headroom::Enough };
    let full = |use_of_thread, underused| {
        F::Generator(G::ThreadFull { use_of_thread, underused, threads: 2 })
    };
    vec![
        (
            F::Connections(C::RequestsWait { text: text() }),
            "requests wait while 8 connections are the limit",
        ),
        (
            F::Connections(C::UnconnectedClients { clients: 20.0, connections: 8.0, text: text() }),
            "only 8 of 20 clients send requests: 8 connections are the limit",
        ),
        (
            F::Connections(C::Pool { in_flight: 16.0, sessions: 1.0 }),
            "16 requests in flight share 1 session of the database: a connection pool in between \
             keeps the others waiting",
        ),
        (
            F::Connections(C::Pool { in_flight: 16.0, sessions: 2.0 }),
            "16 requests in flight share 2 sessions of the database: a connection pool in between \
             keeps the others waiting",
        ),
        (
            F::Connections(C::PoolOfProgram {
                connections: 24.0,
                waiting: None,
                pooler: None,
                sessions: 2.0,
                active_share: Some(0.9),
            }),
            "24 connections of the program share 2.0 sessions of the database, which are at work \
             for 90 % of the time: a connection pool in between keeps the others waiting",
        ),
        (
            F::Connections(C::PoolOfProgram {
                connections: 16.0,
                waiting: Some(15.2),
                pooler: Some("pgbouncer".to_owned()),
                sessions: 2.0,
                active_share: None,
            }),
            "16 connections of the program, of which 15.2 wait for the answer to a request, share \
             2.0 sessions of the database: pgbouncer keeps the others waiting",
        ),
        (
            F::Generator(G::ThreadWaits { thread: thread(), ran: 0.5, waited: 0.45 }),
            "its thread lane-1 ran for 50 % of the window and waited for a processor for 45 %: \
             something else used it",
        ),
        (
            full(FullThread::Ceiling(used), 0),
            "1,000 statements/s are 81 % of the calibrated maximum of 2 threads of the load \
             generator",
        ),
        (
            full(processor, 1),
            "its thread lane-1 used 97 % of a processor, while 1 of 2 threads had time to spare",
        ),
        (
            F::Generator(G::SlowFeed { clients: 8.0, idle_share: 0.8 }),
            "its 8 clients are idle for 80 % of the time: their input arrives too slowly",
        ),
        (
            F::Generator(G::SlowFeed { clients: 1.0, idle_share: 0.8 }),
            "its only client is idle for 80 % of the time: its input arrives too slowly",
        ),
        (
            F::Generator(G::LoaderFull { ran: 0.95 }),
            "the thread that makes and sends the rows used 95 % of a processor",
        ),
        (
            F::Generator(G::LoaderWaits { ran: 0.3, waited: 0.6 }),
            "the thread that makes and sends the rows ran for 30 % of the time and waited for a \
             processor for 60 %: something else used it",
        ),
    ]
}

fn of_program() -> Vec<ExpectedSentence> {
    let absent = |is_busy| F::Program(R::Absent { sessions: 0.07, processors: 0.85, is_busy });
    let few =
        |pause_s| F::Program(R::FewSessions { sessions: 2.0, at_work: 0.5, waiting: 1.5, pause_s });
    let starved = |side| F::Program(R::Starved { side, waited: 0.7 });
    vec![
        (
            absent(true),
            "the program used a session of the database for 7 % of the time, and 0.85 processors: \
             its processes were busy in between",
        ),
        (
            absent(false),
            "the program used a session of the database for 7 % of the time, and 0.85 processors: \
             it sends no more requests",
        ),
        (
            F::Program(R::ThreadFull { share: 0.97 }),
            "a thread of the program used 97 % of a processor",
        ),
        (
            F::Program(R::Waits { ran: 0.2, waited: 0.7 }),
            "the program ran for 20 % of the time and waited for a processor for 70 %",
        ),
        (
            F::Program(R::OneSession { at_work: 0.8, waiting: 0.2 }),
            "one session of the database was at work for 80 % of the time, and waited for the \
             program for 20 %",
        ),
        (
            few(Some(0.000_31)),
            "0.50 of 2.00 sessions of the database are at work and 1.50 wait for the next request, \
             which comes 0.31 ms after the last answer: the program has no more in flight",
        ),
        (
            few(None),
            "0.50 of 2.00 sessions of the database are at work and 1.50 wait for the next request: \
             the program has no more in flight",
        ),
        (
            starved(MeasuredSide::Server),
            "the processors are saturated, and threads of the database waited for one for 0.70 s \
             in every second",
        ),
        (
            starved(MeasuredSide::Generator),
            "the processors are saturated, and threads of the program waited for one for 0.70 s \
             in every second",
        ),
    ]
}

fn of_pauses() -> Vec<ExpectedSentence> {
    let pauses = |pause| F::Program(R::Pauses { sessions: 1.0, waiting: 0.98, pause });
    let nothing = |rows, sockets| pauses(Pause::NoFurtherRequests { rows, sockets });
    vec![
        (
            pauses(Pause::UnreadAnswers),
            "0.98 of 1.00 sessions of the database wait for the program to read its answers",
        ),
        (
            pauses(Pause::AnswersOnTheWay),
            "0.98 of 1.00 sessions of the database have answers that are queued in the network",
        ),
        (
            pauses(Pause::RowsOnTheWay),
            "0.98 of 1.00 sessions of the database wait for rows that are queued in the network",
        ),
        (
            pauses(Pause::RoundTrip { pause_s: 0.01, round_trip_s: 0.005 }),
            "0.98 of 1.00 sessions of the database wait for the next request, which comes 10.0 ms \
             after the last answer: a round trip takes 5.00 ms",
        ),
        (
            nothing(Some("Client:ClientRead"), Sockets::Empty { share: 0.99 }),
            "0.98 of 1.00 sessions of the database wait within a statement for the program's rows \
             (Client:ClientRead), and for 99 % of that time their sockets are empty, without a \
             request at the server or an answer at the program: the program sends no more requests",
        ),
        (
            nothing(None, Sockets::Holding { requests: 0.2, answers: 0.1 }),
            "0.98 of 1.00 sessions of the database have nothing to do, while 0.20 requests wait in \
             sockets of the server and 0.10 answers in those of the program: the program sends no \
             more requests",
        ),
        (
            nothing(None, Sockets::Unseen),
            "0.98 of 1.00 sessions of the database have nothing to do: the program sends no more \
             requests",
        ),
    ]
}

fn of_network() -> Vec<ExpectedSentence> {
    let interface = ObservedComponent::parse("interface eth0").expect("a component");
    let trips =
        |trips| F::Network(N::RoundTrips { trips, round_trip_s: 0.000_25, service_s: 0.001_6 });
    vec![
        (
            F::Network(N::Link { interface, bytes_per_s: 118e6, share: 0.944 }),
            "interface eth0 carried 118 MB/s, 94 % of the capacity of its link",
        ),
        (
            F::Network(N::AnswersWait { in_flight: 1.6, waiting: 1.2 }),
            "1.2 of 1.6 requests in flight have an answer that is queued in the network",
        ),
        (
            F::Network(N::AnswersQueue { mean_s: 0.000_9, least_s: 0.000_1 }),
            "data of the server takes 0.90 ms to be acknowledged, and 0.10 ms on an idle path: \
             answers are queued in the network",
        ),
        (trips(1.0), "a round trip takes 0.25 ms of the 1.60 ms of a request"),
        (trips(4.0), "4 round trips take 1.00 ms of the 1.60 ms of a request"),
        (
            F::Network(N::OnTheWay { in_flight: 1.6, missing: 1.2, service_s: 0.001_6 }),
            "1.20 of 1.60 requests in flight are not at the database, whose sessions are idle, and \
             each takes 1.60 ms: they are in the network, or at a program in between",
        ),
        (
            F::Network(N::RowsWait { connections: 4.0, waiting: 3.2 }),
            "3.20 of 4.00 connections that carry rows have rows that are queued in the network, \
             and the database waits for them",
        ),
    ]
}

fn of_processors() -> Vec<ExpectedSentence> {
    let full = |wanted, generator, is_starved| {
        F::Processors(P::Full { used: 1.28, may_use: 2.0, wanted, generator, is_starved })
    };
    let side = MeasuredSide::Server;
    vec![
        (
            F::Processors(P::Throttled { side, throttled: 0.4, quota: 0.5, used: 0.45 }),
            "the control group of the server was throttled for 0.40 s in every second: it may use \
             0.50 processors, and used 0.45",
        ),
        (full(1.28, None, false), "its processes used 1.28 of 2 processors"),
        (
            full(5.59, Some(0.42), false),
            "its processes used 1.28 of 2 processors, and on average 4.31 threads waited for one; \
             the load generator used 0.42",
        ),
        (
            full(5.59, None, true),
            "its processes used 1.28 of 2 processors, and on average 4.31 threads waited for one; \
             other programs used the rest",
        ),
        (
            F::Processors(P::OneThread { share: 0.95, may_use: 2.0, used: 0.9 }),
            "one of its threads used 95 % of a processor, and all of them 0.90 of 2 processors",
        ),
    ]
}

fn of_waits() -> Vec<ExpectedSentence> {
    let sessions =
        |event: &str| WaitingSessions { waiting: 1.2, active: 1.4, event: event.to_owned() };
    let locks = |name: Option<&str>, text: Option<&str>| {
        let (table, statement) = (name.map(str::to_owned), text.map(str::to_owned));
        F::Waits(W::Locks { sessions: sessions("Lock:tuple"), table, statement })
    };
    let embedded = |wait| F::Waits(W::Embedded { in_flight: 2.0, stalled: 1.5, wait });
    vec![
        (
            locks(Some("acct"), Some("update acct set v = ?")),
            "1.2 of 1.4 active sessions wait for locks of table acct (Lock:tuple), most with \
             `update acct set v = ?`",
        ),
        (locks(None, None), "1.2 of 1.4 active sessions wait for locks (Lock:tuple)"),
        (
            F::Waits(W::Flush(sessions("IO:WALSync"))),
            "1.2 of 1.4 active sessions wait for their commits to be flushed (IO:WALSync)",
        ),
        (
            F::Waits(W::Disk(sessions("IO:DataFileRead"))),
            "1.2 of 1.4 active sessions wait for the disk (IO:DataFileRead)",
        ),
        (
            embedded(EmbeddedWait::Writer),
            "1.50 of 2.00 requests in flight neither run nor wait for a processor: they wait for \
             the writer",
        ),
        (
            embedded(EmbeddedWait::Flush),
            "1.50 of 2.00 requests in flight neither run nor wait for a processor: they wait for a \
             flush",
        ),
        (
            embedded(EmbeddedWait::Disk),
            "1.50 of 2.00 requests in flight neither run nor wait for a processor: they wait for \
             the disk",
        ),
        (
            F::Memory(M::Group { lacked: 0.25, limit_bytes: 512e6 }),
            "tasks of the control group of the server lacked memory for 25 % of the time: its \
             limit is 512 MB",
        ),
        (
            F::Memory(M::Host { lacked: 0.3, swapped_per_s: 12.0 }),
            "tasks lacked memory for 30 % of the time; 12.0 pages per second came back from swap",
        ),
    ]
}

fn of_others() -> Vec<ExpectedSentence> {
    let sessions = |work: Option<(&str, f64)>| {
        let work = work.map(|(name, share)| (name.to_owned(), share));
        F::Background(B::OtherSessions { sessions: 1.5, processors: 2.0, work })
    };
    let intermittent = |is_background| {
        let (cause, job) = ("purge".to_owned(), "read".to_owned());
        let (with_per_s, without_per_s) = (10.0, 100.0);
        F::Background(B::Intermittent { cause, is_background, job, with_per_s, without_per_s })
    };
    let stress = OtherProgram {
        name: "stress".to_owned(),
        host: None,
        processors: 1.5,
        processes: 2,
        pid: Some(4_711),
    };
    let programs = vec![stress];
    let others = OtherPrograms { host: None, used: 1.6, processors: 2.0, programs };
    vec![
        (
            sessions(None),
            "1.5 other sessions were always active, on 2.00 processors of the database, which are \
             saturated",
        ),
        (
            sessions(Some(("vacuum: old", 0.9))),
            "1.5 other sessions were always active, on 2.00 processors of the database, which are \
             saturated; `vacuum: old` ran for 90 % of the window",
        ),
        (
            F::Background(B::Named {
                name: "checkpoint".to_owned(),
                share: 0.8,
                cpu_share: 0.1,
                bytes_share: 0.6,
            }),
            "`checkpoint` ran for 80 % of the window; work in the background took 10 % of the \
             processor time of the database and 60 % of its bytes from and to disks",
        ),
        (
            intermittent(true),
            "while the database's purge was at work, [read] had 10.0 instead of 100 answers per \
             second",
        ),
        (
            intermittent(false),
            "while [purge] was at work, [read] had 10.0 instead of 100 answers per second",
        ),
        (
            F::OtherPrograms(others),
            "other programs used 1.60 of the 2.00 processors of the machine: `stress` 1.50 (2 \
             processes, most by pid 4711), and requests lacked them",
        ),
    ]
}

#[test]
fn every_finding_of_the_limiter_has_a_sentence() {
    let tables = [
        of_runs(),
        of_generator(),
        of_program(),
        of_pauses(),
        of_network(),
        of_processors(),
        of_waits(),
        of_others(),
    ];
    let all: Vec<ExpectedSentence> = tables.into_iter().flatten().collect();
    for (finding, words) in &all {
        assert_eq!(limiter_reason(finding), *words);
    }
    let sentences: Vec<String> = all.iter().map(|(_, words)| (*words).to_owned()).collect();
    assert_complete(all.iter().map(|(finding, _)| place(finding)), ALL, &sentences);
}

#[test]
fn every_source_that_was_not_observed_has_a_name_and_a_reason() {
    let contradiction =
        Contradiction { running: 1.4, active: 1.4, used: 0.2, waited: 0.01, unexplained: 1.19 };
    let reported =
        UnobservedSource::Reported { what: "sessions".to_owned(), why: "no permission".to_owned() };
    for (unseen, what, why) in [
        (reported, "sessions", "no permission"),
        (
            UnobservedSource::CountersReset,
            "counters",
            "they were reset in the window: the server was restarted, or its statistics were \
             cleared",
        ),
        (
            UnobservedSource::Contradiction(contradiction),
            "sessions that seem to run",
            "the database shows 1.4 of 1.4 active sessions as running, and its processes used 0.2 \
             processors and waited for 0.0: 1.2 sessions wait for an unknown event or run on \
             another host",
        ),
    ] {
        assert_eq!((unseen_source(&unseen), &*reason(&unseen)), (what, why));
    }
}
