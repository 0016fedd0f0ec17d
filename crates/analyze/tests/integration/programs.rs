//! The limiter of an observed program, found from the waits of its sessions and the contents of
//! both sides' sockets.

use analyze::limiting::{
    BackgroundWork, ConnectionLimit, LimiterFinding as F, Pause, ProcessorLimit, ProgramLimit,
    Sockets, Waits,
};
use analyze::{Component, Evidence, RequestsUnseen, summarize};
use record::MeasuredSide;

use crate::observed::{hold, names, plant, reading, watched};
use crate::support::near;

/// Returns the evidence of an observed program: there are no jobs.
fn observed_program() -> Evidence {
    let mut evidence = watched();
    evidence.jobs.clear();
    evidence.plan.jobs.clear();
    hold(&mut evidence, "generator", "busiest", 0.1);
    plant(&mut evidence, "statistics", "pg_stat_database.all.xact_commit", 20.0);
    evidence
}

/// Numbers of the program's sessions by activity, summed over ten samples.
struct Seen {
    active: f64,
    idle: f64,
    nothing_waits: f64,
    unread_request: f64,
    unread_answer: f64,
    paused: f64,
}

/// Plants sessions that are distinguished from sessions of others, with the contents of their
/// sockets.
fn seen(evidence: &mut Evidence, seen: Seen) {
    evidence.observed.retain(|it| it.component != "waits");
    for (metric, per_s) in [
        ("active", seen.active),
        ("idle", seen.idle),
        ("identified", seen.active + seen.idle),
        ("nothing-waits", seen.nothing_waits),
        ("unread-request", seen.unread_request),
        ("unread-answer", seen.unread_answer),
        ("paused", seen.paused),
    ] {
        plant(evidence, "sessions", metric, per_s);
    }
    plant(evidence, "waits", "cpu", 0.0);
    plant(evidence, "generator", "waited", 0.01);
}

/// Plants two busy processors, of which other programs use this many.
fn crowd(evidence: &mut Evidence, used: f64) {
    plant(evidence, "host", "processors", 2.0);
    plant(evidence, "host", "other-programs", used);
    plant(evidence, "cpu 0", "busy", 0.99);
    plant(evidence, "cpu 1", "busy", 0.99);
}

/// Returns a recorded loader that sleeps between its rows: 9.8 of 10 samples saw its session wait.
fn self_throttling_loader(wait: &str) -> Evidence {
    let mut evidence = observed_program();
    let looks = Seen {
        active: 10.0,
        idle: 0.0,
        nothing_waits: 9.7,
        unread_request: 0.1,
        unread_answer: 0.0,
        paused: 9.7,
    };
    seen(&mut evidence, looks);
    plant(&mut evidence, "waits", wait, 9.8);
    plant(&mut evidence, "waits", "cpu", 0.2);
    plant(&mut evidence, "sockets generator", "data-sent", 32.0);
    plant(&mut evidence, "sockets generator", "data-received", 0.0);
    evidence
}

/// The main connection of `mariadb-slap` is idle while its other connections work. A pool of
/// connections that were idle before the observation has no part in the idle time.
#[test]
fn sessions_that_a_program_does_not_use_are_no_pauses() {
    let mut evidence = observed_program();
    let looks = Seen {
        active: 4.0,
        idle: 11.4,
        nothing_waits: 5.8,
        unread_request: 5.3,
        unread_answer: 0.3,
        paused: 5.4,
    };
    seen(&mut evidence, looks);
    plant(&mut evidence, "generator", "waited", 0.12);
    plant(&mut evidence, "server", "waited", 0.75);
    crowd(&mut evidence, 1.77);
    assert_eq!(summarize(&evidence).limiter.component, Component::GeneratorInput);
    plant(&mut evidence, "sessions", "spare", 60.0);
    assert_eq!(summarize(&evidence).limiter.component, Component::GeneratorInput);
    reading(&mut evidence, "sessions", "spare", |s| 66.0 * (s - 15.0).max(0.0));
    assert_eq!(summarize(&evidence).limiter.component, Component::OtherPrograms);
}

#[test]
fn full_link_of_a_program_is_named() {
    let mut evidence = observed_program();
    plant(&mut evidence, "sessions", "active", 6.0);
    hold(&mut evidence, "interface eth0", "speed", 125e6);
    plant(&mut evidence, "interface eth0", "sent-bytes", 1e6);
    plant(&mut evidence, "interface eth0", "received-bytes", 118e6);
    assert_eq!(summarize(&evidence).limiter.component, Component::NetworkBandwidth);
    plant(&mut evidence, "interface eth0", "received-bytes", 60e6);
    assert_ne!(summarize(&evidence).limiter.component, Component::NetworkBandwidth);
}

#[test]
fn self_throttling_loader_is_named_with_its_session_and_both_sockets() {
    for wait in ["Client:ClientRead", "Client:read"] {
        let evidence = self_throttling_loader(wait);
        names(&evidence, Component::GeneratorInput, |finding| {
            let F::Program(ProgramLimit::Pauses { sessions, waiting, pause }) = finding else {
                return false;
            };
            let Pause::NoFurtherRequests { rows, sockets: Sockets::Empty { share } } = *pause
            else {
                return false;
            };
            near(*sessions, 1.0) && near(*waiting, 0.98) && rows == Some(wait) && near(share, 0.99)
        });
    }
}

#[test]
fn self_throttling_loader_is_named_while_others_take_the_processors() {
    let mut evidence = self_throttling_loader("Client:ClientRead");
    plant(&mut evidence, "cpu 0", "busy", 0.99);
    plant(&mut evidence, "cpu 1", "busy", 0.99);
    names!(
        &evidence,
        Component::GeneratorInput,
        F::Program(ProgramLimit::Pauses { pause: Pause::NoFurtherRequests { .. }, .. })
    );
    // A program does not throttle itself if it has no processor for most of the time for which its
    // session waits.
    plant(&mut evidence, "generator", "waited", 0.7);
    names!(
        &evidence,
        Component::GeneratorCpu,
        F::Program(ProgramLimit::Waits { waited, .. }) if near(*waited, 0.7)
    );
}

/// Other programs leave the program hardly any processor time. Its pauses seem to take a third of
/// the time, and it waits for a processor for as long as it seems to pause.
#[test]
fn program_that_waits_for_a_processor_does_not_pause() {
    let mut evidence = observed_program();
    let looks = Seen {
        active: 3.5,
        idle: 11.3,
        nothing_waits: 5.0,
        unread_request: 4.0,
        unread_answer: 2.0,
        paused: 5.0,
    };
    seen(&mut evidence, looks);
    crowd(&mut evidence, 1.4);
    plant(&mut evidence, "server", "waited", 0.4);
    plant(&mut evidence, "generator", "waited", 0.4);
    plant(&mut evidence, "waits", "cpu", 3.5);
    names!(&evidence, Component::OtherPrograms, F::OtherPrograms(_));
    // A program that gets a processor at once does pause.
    plant(&mut evidence, "generator", "waited", 0.1);
    assert_eq!(summarize(&evidence).limiter.component, Component::GeneratorInput);
}

#[test]
fn loader_whose_rows_wait_for_the_network_does_not_throttle_itself() {
    let mut evidence = self_throttling_loader("Client:ClientRead");
    plant(&mut evidence, "sessions", "nothing-waits", 0.5);
    plant(&mut evidence, "sessions", "paused", 0.5);
    hold(&mut evidence, "sockets generator", "with-send-queue", 0.9);
    names!(
        &evidence,
        Component::NetworkBandwidth,
        F::Program(ProgramLimit::Pauses { pause: Pause::RowsOnTheWay, .. })
    );
}

/// Returns a loader that sleeps 50 ms after every 200 inserts: 0.31 ms between an answer and the
/// next request on average.
fn batches() -> Evidence {
    let mut evidence = observed_program();
    let looks = Seen {
        active: 2.0,
        idle: 8.0,
        nothing_waits: 7.8,
        unread_request: 0.1,
        unread_answer: 0.1,
        paused: 6.8,
    };
    seen(&mut evidence, looks);
    plant(&mut evidence, "waits", "cpu", 2.0);
    plant(&mut evidence, "sockets generator", "data-sent", 2_580.0);
    plant(&mut evidence, "sockets generator", "data-received", 2_580.0);
    evidence
}

#[test]
fn pauses_between_batches_are_added_up_and_not_averaged() {
    names!(
        &batches(),
        Component::GeneratorInput,
        F::Program(ProgramLimit::Pauses {
            pause: Pause::NoFurtherRequests { rows: None, sockets: Sockets::Empty { share } },
            ..
        })
            if near(*share, 0.975)
    );
    // A program with the same mean that works between its statements does not pause.
    let mut quick = batches();
    plant(&mut quick, "sessions", "paused", 0.2);
    plant(&mut quick, "generator", "user", 0.6);
    hold(&mut quick, "generator", "busiest", 0.6);
    names!(
        &quick,
        Component::Concurrency,
        F::Program(ProgramLimit::FewSessions { pause_s: Some(pause_s), .. })
            if near(*pause_s, 0.000_31)
    );
    // If pauses take longer than the requests, they limit the program more than a wait within the
    // requests does.
    let short = |paused| {
        let mut evidence = batches();
        plant(&mut evidence, "generator", "user", 0.3);
        hold(&mut evidence, "generator", "busiest", 0.3);
        for (metric, looks) in
            [("active", 3.7), ("idle", 6.2), ("nothing-waits", 6.0), ("paused", paused)]
        {
            plant(&mut evidence, "sessions", metric, looks);
        }
        plant(&mut evidence, "waits", "IO:commit", 2.0);
        summarize(&evidence).limiter.component
    };
    assert_eq!(short(4.3), Component::GeneratorInput);
    assert_eq!(short(3.5), Component::DatabaseFlush);
}

/// Unread requests and answers are not a pause of the program.
#[test]
fn database_or_proxy_of_a_program_that_lacks_processors_is_named() {
    let mut evidence = batches();
    for (metric, looks) in [("unread-request", 4.5), ("unread-answer", 3.0), ("paused", 0.1)] {
        plant(&mut evidence, "sessions", metric, looks);
    }
    plant(&mut evidence, "sessions", "nothing-waits", 0.5);
    plant(&mut evidence, "server", "waited", 0.6);
    plant(&mut evidence, "cpu 0", "busy", 0.99);
    plant(&mut evidence, "cpu 1", "busy", 0.99);
    for (proxies, component) in [(0.0, Component::DatabaseCpu), (1.0, Component::Proxy)] {
        hold(&mut evidence, "server", "proxies", proxies);
        names!(
            &evidence,
            component,
            F::Program(ProgramLimit::Starved { side: MeasuredSide::Server, waited })
                if near(*waited, 0.6)
        );
    }
}

/// A loader that sleeps 3 to 5 ms after each of its batches: the database shows few pauses of 4 ms,
/// and 0.3 ms between two statements on average.
#[test]
fn short_pauses_of_a_program_that_sleeps_are_added_up() {
    let mut evidence = batches();
    plant(&mut evidence, "sessions", "paused", 1.2);
    names!(
        &evidence,
        Component::GeneratorInput,
        F::Program(ProgramLimit::Pauses {
            waiting,
            pause: Pause::NoFurtherRequests { rows: None, sockets: Sockets::Empty { .. } },
            ..
        })
            if near(*waiting, 0.8)
    );
    let others = |change: &dyn Fn(&mut Evidence)| {
        let mut evidence = evidence.clone();
        change(&mut evidence);
        summarize(&evidence).limiter.component
    };
    // Pauses for a third of the time are enough if requests take less of the time.
    let shares = |active: f64, idle: f64, nothing: f64| {
        others(&|evidence| {
            let looks = [("active", active), ("idle", idle), ("nothing-waits", nothing)];
            looks.iter().for_each(|(metric, it)| plant(evidence, "sessions", metric, *it));
        })
    };
    assert_eq!(shares(3.0, 7.0, 4.5), Component::GeneratorInput);
    assert_eq!(shares(3.0, 7.0, 3.5), Component::Concurrency);
    // A program that works, or waits for a processor, does not sleep.
    let works = |thread: f64| {
        others(&|evidence| {
            plant(evidence, "generator", "user", 0.6);
            hold(evidence, "generator", "busiest", thread);
        })
    };
    assert_ne!(works(0.6), Component::GeneratorInput);
    let waits = others(&|evidence| plant(evidence, "generator", "waited", 0.6));
    assert_ne!(waits, Component::GeneratorInput);
    // The programs that a loader starts, such as `sleep`, do not work for the loader's session.
    assert_eq!(works(0.1), Component::GeneratorInput);
    // Requests and answers that are on their way are in no socket.
    let far = others(&|evidence| hold(evidence, "sockets generator", "round-trip-least", 0.000_2));
    assert_ne!(far, Component::GeneratorInput);
    // The server's sockets on another machine are not visible.
    let remote = others(&|evidence| plant(evidence, "sessions", "unread-request", 0.0));
    assert_ne!(remote, Component::GeneratorInput);
}

#[test]
fn one_session_that_waits_for_flushes_is_named() {
    let mut evidence = observed_program();
    let looks = Seen {
        active: 6.0,
        idle: 4.0,
        nothing_waits: 3.0,
        unread_request: 0.5,
        unread_answer: 0.5,
        paused: 0.0,
    };
    seen(&mut evidence, looks);
    plant(&mut evidence, "waits", "cpu", 2.2);
    plant(&mut evidence, "waits", "IO:WALSync", 3.8);
    plant(&mut evidence, "sockets generator", "data-sent", 900.0);
    plant(&mut evidence, "sockets generator", "data-received", 900.0);
    names!(
        &evidence,
        Component::DatabaseFlush,
        F::Waits(Waits::Flush(sessions)) if sessions.event == "IO:WALSync"
    );
    // If most of the time passes between the requests, a flush that takes a tenth is not a limiter.
    plant(&mut evidence, "sessions", "active", 2.0);
    plant(&mut evidence, "sessions", "idle", 8.0);
    plant(&mut evidence, "waits", "cpu", 1.0);
    plant(&mut evidence, "waits", "IO:WALSync", 1.0);
    names!(&evidence, Component::Concurrency, F::Program(ProgramLimit::FewSessions { .. }));
}

#[test]
fn program_that_connects_for_each_statement_is_named_by_the_time_in_between() {
    let mut evidence = observed_program();
    let looks = Seen {
        active: 0.6,
        idle: 0.1,
        nothing_waits: 0.0,
        unread_request: 0.0,
        unread_answer: 0.0,
        paused: 0.0,
    };
    seen(&mut evidence, looks);
    plant(&mut evidence, "waits", "IO:WALSync", 0.5);
    names!(
        &evidence,
        Component::GeneratorInput,
        F::Program(ProgramLimit::Absent { sessions, is_busy: false, .. }) if near(*sessions, 0.07)
    );
    plant(&mut evidence, "generator", "user", 0.85);
    names!(
        &evidence,
        Component::GeneratorThread,
        F::Program(ProgramLimit::Absent { is_busy: true, .. })
    );
    // There may be hidden sessions.
    evidence.unseen = vec![("sessions of others".to_owned(), "no permission".to_owned())];
    assert_ne!(summarize(&evidence).limiter.component, Component::GeneratorThread);
}

#[test]
fn program_behind_a_pool_without_a_free_session_lacks_connections() {
    let mut evidence = observed_program();
    plant(&mut evidence, "sessions", "active", 18.0);
    plant(&mut evidence, "sessions", "idle", 2.0);
    hold(&mut evidence, "sockets generator", "connections", 24.0);
    names!(
        &evidence,
        Component::Connections,
        F::Connections(ConnectionLimit::PoolOfProgram { connections, sessions, .. })
            if near(*connections, 24.0) && near(*sessions, 2.0)
    );
    // A pool with sessions to spare is not the limiter.
    plant(&mut evidence, "sessions", "active", 10.0);
    plant(&mut evidence, "sessions", "idle", 10.0);
    assert_ne!(summarize(&evidence).limiter.component, Component::Connections);
}

/// Returns a program with 16 connections to a pooler that has two connections to the server.
fn pooled_program() -> Evidence {
    let mut evidence = observed_program();
    hold(&mut evidence, "sockets generator", "connections", 16.0);
    hold(&mut evidence, "sockets generator", "awaiting", 15.2);
    hold(&mut evidence, "pooler pgbouncer", "sessions", 2.0);
    evidence
}

#[test]
fn requests_that_wait_at_a_pooler_name_it() {
    // An observer at the URL of the database sees both sessions of the pooler at work. At the URL
    // of the pooler, it uses one of them itself, and sees the other one or none.
    for [active, idle, identified] in [[20.0, 0.0, 0.0], [7.0, 3.0, 0.0], [0.0, 0.0, 0.0]] {
        let mut evidence = pooled_program();
        plant(&mut evidence, "sessions", "active", active);
        plant(&mut evidence, "sessions", "idle", idle);
        plant(&mut evidence, "sessions", "identified", identified);
        names!(
            &evidence,
            Component::Connections,
            F::Connections(ConnectionLimit::PoolOfProgram {
                connections,
                waiting: Some(waiting),
                sessions,
                pooler: Some(pooler),
                ..
            }) if near(*connections, 16.0) && near(*waiting, 15.2) && near(*sessions, 2.0)
                && pooler == "pgbouncer"
        );
    }
}

#[test]
fn requests_that_wait_at_a_pooler_hardly_lack_processors() {
    let mut evidence = pooled_program();
    plant(&mut evidence, "sessions", "active", 20.0);
    plant(&mut evidence, "sessions", "idle", 0.0);
    crowd(&mut evidence, 1.9);
    plant(&mut evidence, "server", "waited", 0.4);
    assert_eq!(summarize(&evidence).limiter.component, Component::Connections);
    plant(&mut evidence, "server", "waited", 2.4);
    assert_eq!(summarize(&evidence).limiter.component, Component::OtherPrograms);
}

#[test]
fn pooled_program_that_sends_little_does_not_wait_for_the_pool() {
    let mut evidence = pooled_program();
    hold(&mut evidence, "sockets generator", "awaiting", 1.0);
    plant(&mut evidence, "sessions", "active", 5.0);
    plant(&mut evidence, "sessions", "idle", 15.0);
    assert_ne!(summarize(&evidence).limiter.component, Component::Connections);
    // A database without spare processor time would not answer more requests in further sessions.
    let mut evidence = pooled_program();
    plant(&mut evidence, "sessions", "active", 20.0);
    plant(&mut evidence, "server", "user", 1.9);
    assert_eq!(summarize(&evidence).limiter.component, Component::DatabaseCpu);
}

#[test]
fn next_request_in_the_tick_of_an_answer_waits_at_a_busy_pool() {
    let asks_at_once = |active, idle| {
        let mut evidence = pooled_program();
        hold(&mut evidence, "sockets generator", "awaiting", 0.5);
        hold(&mut evidence, "sockets generator", "in-one-tick", 14.5);
        plant(&mut evidence, "sockets generator", "data-sent", 8.0);
        plant(&mut evidence, "sockets generator", "data-received", 8.0);
        plant(&mut evidence, "sessions", "active", active);
        plant(&mut evidence, "sessions", "idle", idle);
        evidence
    };
    names!(
        &asks_at_once(19.0, 1.0),
        Component::Connections,
        F::Connections(ConnectionLimit::PoolOfProgram { waiting: Some(waiting), .. })
            if near(*waiting, 15.0)
    );
    // Short requests wait at the pool as well if its sessions are hardly ever idle, or if hardly
    // any answer came in a later tick than its request. Answers in a later tick would show a pause
    // of the program.
    let short = |active, idle, in_one_tick| {
        let mut evidence = asks_at_once(active, idle);
        hold(&mut evidence, "sockets generator", "in-one-tick", in_one_tick);
        plant(&mut evidence, "sockets generator", "data-sent", 370.0);
        plant(&mut evidence, "sockets generator", "data-received", 370.0);
        summarize(&evidence).limiter.component
    };
    assert_eq!(short(19.0, 1.0, 11.0), Component::Connections);
    assert_ne!(short(13.0, 7.0, 11.0), Component::Connections);
    assert_eq!(short(13.0, 7.0, 15.0), Component::Connections);
    assert_ne!(short(9.0, 11.0, 15.0), Component::Connections);
    // Idle sessions may have answered the requests at once.
    let idle = asks_at_once(1.0, 19.0);
    assert_ne!(summarize(&idle).limiter.component, Component::Connections);
    // An observer that itself waits for the pool sees no sessions at work.
    let mut behind_proxy = asks_at_once(0.9, 1.1);
    plant(&mut behind_proxy, "sessions", "looks", 1.0);
    assert_ne!(summarize(&behind_proxy).limiter.component, Component::Connections);
    hold(&mut behind_proxy, "server", "proxies", 1.0);
    assert_eq!(summarize(&behind_proxy).limiter.component, Component::Connections);
    plant(&mut behind_proxy, "sockets generator", "data-sent", 210.0);
    plant(&mut behind_proxy, "sockets generator", "data-received", 210.0);
    assert_eq!(summarize(&behind_proxy).limiter.component, Component::Connections);
}

#[test]
fn requests_at_a_pool_do_not_count_as_long_without_their_number() {
    let mut evidence = pooled_program();
    hold(&mut evidence, "sockets generator", "awaiting", 0.5);
    hold(&mut evidence, "sockets generator", "in-one-tick", 14.5);
    plant(&mut evidence, "sessions", "active", 15.0);
    plant(&mut evidence, "sessions", "idle", 5.0);
    assert_eq!(summarize(&evidence).limiter.component, Component::Connections);
    evidence.observed.retain(|observed| observed.component != "statistics");
    assert_ne!(summarize(&evidence).limiter.component, Component::Connections);
}

#[test]
fn connections_that_wait_for_nothing_are_not_pooled() {
    // Fourteen of sixteen connections have been idle for long, and are not counted as sessions.
    let mut evidence = observed_program();
    plant(&mut evidence, "sessions", "active", 20.0);
    plant(&mut evidence, "sessions", "idle", 0.0);
    hold(&mut evidence, "sockets generator", "connections", 16.0);
    hold(&mut evidence, "sockets generator", "awaiting", 2.0);
    assert_ne!(summarize(&evidence).limiter.component, Component::Connections);
}

#[test]
fn fast_copy_is_limited_by_the_session_that_takes_its_rows() {
    let mut evidence = observed_program();
    let looks = Seen {
        active: 10.0,
        idle: 0.0,
        nothing_waits: 1.5,
        unread_request: 0.5,
        unread_answer: 0.0,
        paused: 1.5,
    };
    seen(&mut evidence, looks);
    plant(&mut evidence, "waits", "cpu", 7.0);
    plant(&mut evidence, "waits", "Client:ClientRead", 2.0);
    plant(&mut evidence, "waits", "IO:DataFileExtend", 1.0);
    plant(&mut evidence, "server", "user", 0.6);
    hold(&mut evidence, "server", "busiest", 0.7);
    names!(&evidence, Component::DatabaseSingleCore, F::Program(ProgramLimit::OneSession { .. }));
    // A session that lacks a processor would gain nothing from a faster one.
    plant(&mut evidence, "server", "waited", 0.5);
    assert_ne!(summarize(&evidence).limiter.component, Component::DatabaseSingleCore);
}

#[test]
fn queries_of_others_limit_a_program_only_if_it_asks() {
    let mut busy = observed_program();
    let looks = Seen {
        active: 36.0,
        idle: 4.0,
        nothing_waits: 1.0,
        unread_request: 2.0,
        unread_answer: 1.0,
        paused: 0.0,
    };
    seen(&mut busy, looks);
    plant(&mut busy, "waits", "cpu", 36.0);
    plant(&mut busy, "server", "user", 1.8);
    plant(&mut busy, "server", "waited", 3.0);
    plant(&mut busy, "sessions", "others", 27.0);
    names!(
        &busy,
        Component::BackgroundTask,
        F::Background(BackgroundWork::OtherSessions { sessions, .. }) if near(*sessions, 2.7)
    );
    let mut throttled = self_throttling_loader("Client:ClientRead");
    plant(&mut throttled, "sessions", "others", 27.0);
    plant(&mut throttled, "server", "user", 1.8);
    plant(&mut throttled, "server", "waited", 0.3);
    hold(&mut throttled, "server", "busiest", 0.95);
    names!(
        &throttled,
        Component::GeneratorInput,
        F::Program(ProgramLimit::Pauses { pause: Pause::NoFurtherRequests { .. }, .. })
    );
    // Pauses in 6 of 10 samples are enough while the sessions of others saturate the processors.
    plant(&mut throttled, "sessions", "paused", 6.0);
    names!(
        &throttled,
        Component::GeneratorInput,
        F::Program(ProgramLimit::Pauses { pause: Pause::NoFurtherRequests { .. }, .. })
    );
}

#[test]
fn throughput_of_a_program_agrees_with_its_sockets_and_the_database() {
    assert_eq!(summarize(&watched()).program, None, "a run of jobs");
    let mut evidence = observed_program();
    for (component, metric, per_s) in [
        ("sockets generator", "data-sent", 90.0),
        ("sockets generator", "data-received", 60.0),
        ("sockets generator", "bytes-sent", 5_000.0),
        ("statistics", "pg_stat_database.xact_commit", 20.0),
        ("statistics", "pg_stat_database.xact_rollback", 1.0),
        ("statistics", "pg_stat_database.tup_inserted", 0.0),
        ("statistics", "pg_stat_progress_copy.tuples_processed", 750.0),
    ] {
        plant(&mut evidence, component, metric, per_s);
    }
    let program = summarize(&evidence).program.unwrap();
    assert_eq!((program.requests_per_s, program.sent_bytes_per_s), (Some(60.0), Some(5_000.0)));
    assert_eq!((program.transactions_per_s, program.rows_per_s), (Some(21.0), Some(750.0)));
    assert_eq!((program.statements_per_s, program.received_bytes_per_s), (None, None));
}

#[test]
fn counts_of_the_database_that_cover_a_moment_are_not_throughput() {
    let mut evidence = observed_program();
    plant(&mut evidence, "statistics", "pg_stat_database.xact_commit", 20.0);
    let transactions =
        |evidence: &Evidence| summarize(evidence).program.unwrap().transactions_per_s;
    assert_eq!(transactions(&evidence), Some(20.0));
    let is_it = |it: &&mut analyze::Observed| it.metric == "pg_stat_database.xact_commit";
    let counted = evidence.observed.iter_mut().find(is_it).unwrap();
    counted.points.drain(..58);
    plant(&mut evidence, "sockets generator", "bytes-sent", 1.0);
    assert_eq!(transactions(&evidence), None);
}

#[test]
fn reset_counts_of_the_database_are_continued() {
    let mut evidence = observed_program();
    plant(&mut evidence, "statistics", "pg_stat_database.xact_commit", 20.0);
    let is_it = |it: &&mut analyze::Observed| it.metric == "pg_stat_database.xact_commit";
    let counted = evidence.observed.iter_mut().find(is_it).unwrap();
    // The statistics are reset at 55 s. The growth of the second before is lost.
    counted.points[55..].iter_mut().for_each(|(_, commits)| *commits -= 55.0 * 20.0);
    let program = summarize(&evidence).program.unwrap();
    assert_eq!(program.transactions_per_s, Some(49.0 * 20.0 / 50.0));
}

/// The sum over running statements falls when one of them ends, and the others go on.
#[test]
fn rows_of_running_copies_are_not_counted_again_when_one_ends() {
    let mut evidence = observed_program();
    let metric = "pg_stat_progress_copy.tuples_processed";
    plant(&mut evidence, "statistics", metric, 100.0);
    let counted = evidence.observed.iter_mut().find(|it| it.metric == metric).unwrap();
    counted.points[55..].iter_mut().for_each(|(_, rows)| *rows -= 2_000.0);
    let program = summarize(&evidence).program.unwrap();
    assert_eq!(program.rows_per_s, Some(60.0));
}

#[test]
fn requests_are_counted_while_all_connections_exist() {
    // Sixteen connections exist from 20 s to 40 s. They log in with 500 messages in each direction,
    // and then make 8 requests per second.
    let mut evidence = observed_program();
    let requests = |s: f64| if s < 20.0 { 0.0 } else { 500.0 + 8.0 * (s.min(40.0) - 20.0) };
    let connections = |s: f64| if (20.0..=40.0).contains(&s) { 16.0 } else { 1.0 };
    for metric in ["data-sent", "data-received", "connections"] {
        hold(&mut evidence, "sockets generator", metric, 0.0);
        let it = evidence.observed.iter_mut().rev().find(|it| it.metric == metric).unwrap();
        let value = |s| if metric == "connections" { connections(s) } else { requests(s) };
        it.points.iter_mut().for_each(|(at, reading)| *reading = value(at.as_secs_f64()));
    }
    assert_eq!(summarize(&evidence).program.unwrap().requests_per_s, Some(8.0));
}

#[test]
fn requests_of_a_program_that_were_not_counted_have_a_reason() {
    let reason = |evidence: &Evidence| summarize(evidence).program.unwrap().requests_unseen;
    let mut evidence = observed_program();
    evidence.observed.retain(|it| it.component != "sockets generator");
    plant(&mut evidence, "statistics", "pg_stat_database.xact_commit", 20.0);
    assert_eq!(reason(&evidence), Some(RequestsUnseen::NotCounted));
    hold(&mut evidence, "sockets generator", "connections", 0.0);
    assert_eq!(reason(&evidence), Some(RequestsUnseen::NoConnection));
    hold(&mut evidence, "sockets generator", "connections", 1.0);
    assert_eq!(reason(&evidence), Some(RequestsUnseen::UnixSocket));
    for metric in ["busy", "data-sent", "data-received"] {
        plant(&mut evidence, "sockets generator", metric, 1.0);
    }
    assert_eq!(reason(&evidence), None);
}

#[test]
fn program_that_sends_at_once_is_not_self_throttling() {
    let mut evidence = observed_program();
    plant(&mut evidence, "sessions", "active", 1.0);
    plant(&mut evidence, "sessions", "idle", 9.0);
    // The program's sockets say more than the statistics of a database that counts transactions.
    let commits = "pg_stat_database.all.xact_commit";
    plant(&mut evidence, "statistics", commits, 9_000.0);
    names!(
        &evidence,
        Component::Concurrency,
        F::Program(ProgramLimit::FewSessions { pause_s: Some(pause_s), .. })
            if near(*pause_s, 0.000_1)
    );
    plant(&mut evidence, "statistics", commits, 20.0);
    let (sent, received) = ("data-sent", "data-received");
    let program = "sockets generator";
    plant(&mut evidence, program, sent, 9_000.0);
    plant(&mut evidence, program, received, 90.0);
    names!(
        &evidence,
        Component::GeneratorInput,
        F::Program(ProgramLimit::Pauses { pause: Pause::NoFurtherRequests { .. }, .. })
    );
    plant(&mut evidence, program, received, 12_000.0);
    // A request that is under way in each sample is not a wait for the program.
    hold(&mut evidence, "sockets server", "with-receive-queue", 0.6);
    names!(
        &evidence,
        Component::Concurrency,
        F::Program(ProgramLimit::FewSessions { pause_s: Some(pause_s), .. })
            if near(*pause_s, 0.000_1)
    );
    // Ten milliseconds are a pause, unless round trips take most of them.
    hold(&mut evidence, "sockets server", "with-receive-queue", 0.0);
    plant(&mut evidence, program, sent, 90.0);
    names!(
        &evidence,
        Component::GeneratorInput,
        F::Program(ProgramLimit::Pauses { pause: Pause::NoFurtherRequests { .. }, .. })
    );
    hold(&mut evidence, "sockets generator", "round-trip-least", 0.005);
    names!(
        &evidence,
        Component::NetworkLatency,
        F::Program(ProgramLimit::Pauses { pause: Pause::RoundTrip { pause_s, .. }, .. })
            if near(*pause_s, 0.01)
    );
    hold(&mut evidence, "sockets generator", "round-trip-least", 0.003);
    names!(
        &evidence,
        Component::GeneratorInput,
        F::Program(ProgramLimit::Pauses { pause: Pause::NoFurtherRequests { .. }, .. })
    );
    // The program would send more if it had a processor.
    let mut crowded = evidence.clone();
    plant(&mut crowded, "cpu 0", "busy", 0.9);
    plant(&mut crowded, "cpu 1", "busy", 0.9);
    assert_eq!(summarize(&crowded).limiter.component, Component::Unknown);
    // A full thread has nothing to spare, independently of idle sessions.
    hold(&mut evidence, "generator", "busiest", 0.81);
    names!(
        &evidence,
        Component::GeneratorThread,
        F::Program(ProgramLimit::ThreadFull { share }) if near(*share, 0.81)
    );
}

#[test]
fn idle_database_reveals_a_self_throttling_program() {
    let mut evidence = observed_program();
    plant(&mut evidence, "sessions", "active", 2.0);
    plant(&mut evidence, "sessions", "idle", 18.0);
    hold(&mut evidence, "sockets server", "with-receive-queue", 0.0);
    names!(
        &evidence,
        Component::GeneratorInput,
        F::Program(ProgramLimit::Pauses { pause: Pause::NoFurtherRequests { rows: None, .. }, .. })
    );
    plant(&mut evidence, "waits", "Client:ClientWrite", 18.0);
    plant(&mut evidence, "sessions", "active", 19.0);
    plant(&mut evidence, "sessions", "idle", 1.0);
    names!(
        &evidence,
        Component::GeneratorInput,
        F::Program(ProgramLimit::Pauses { pause: Pause::UnreadAnswers, .. })
    );
    evidence.observed.retain(|it| it.component != "waits");
    plant(&mut evidence, "waits", "Client:write", 18.0);
    names!(
        &evidence,
        Component::GeneratorInput,
        F::Program(ProgramLimit::Pauses { pause: Pause::UnreadAnswers, .. })
    );
    hold(&mut evidence, "generator", "busiest", 0.97);
    names!(
        &evidence,
        Component::GeneratorThread,
        F::Program(ProgramLimit::ThreadFull { share }) if near(*share, 0.97)
    );
    // The sessions of others say nothing about the program's.
    let mut beside = observed_program();
    plant(&mut beside, "sessions", "active", 20.0);
    plant(&mut beside, "sessions", "idle", 900.0);
    assert_eq!(summarize(&beside).limiter.component, Component::GeneratorInput);
    hold(&mut beside, "sockets generator", "connections", 2.0);
    names!(
        &beside,
        Component::Concurrency,
        F::Program(ProgramLimit::FewSessions { sessions, at_work, .. })
            if near(*sessions, 2.0) && near(*at_work, 2.0)
    );
    let mut busy = observed_program();
    plant(&mut busy, "server", "user", 1.8);
    names!(&busy, Component::DatabaseCpu, F::Processors(ProcessorLimit::Full { .. }));
}
