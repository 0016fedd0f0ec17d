//! Sentences about the findings of the limiter.

use analyze::UtilisedComponent;
use analyze::limiting::{
    BackgroundWork, Concurrency, ConnectionLimit, EmbeddedWait, FullThread, GeneratorLimit,
    Inconclusive, LimiterFinding, MemoryLimit, NetworkLimit, Pause, ProcessorLimit, ProgramLimit,
    Requesters, Saturation, Sockets, WaitingSessions, Waits,
};
use record::MeasuredSide;

use super::check::ceiling_use;
use super::component::utilised_name;
use super::digits::{number, percent};
use super::obstacle::TARGET_LOST;
use super::programs::other_programs;
use crate::number::{fixed, plain, processors as processors_in_words};

/// Returns the reason for a limiter or a possible limiter in one sentence.
pub(crate) fn limiter_reason(finding: &LimiterFinding) -> String {
    match finding {
        LimiterFinding::Satisfied => {
            // Single requests may be slow although the database keeps up with all arrivals.
            "open jobs kept up with arrivals; this says nothing about response times".to_owned()
        }
        LimiterFinding::Inconclusive(reason) => inconclusive(*reason).to_owned(),
        LimiterFinding::NothingSaturated { why, sees_server, saturated } => {
            let seen = match (sees_server, saturated.as_slice()) {
                (false, _) => "no component of the database was observed".to_owned(),
                (true, []) => "no observed component is saturated".to_owned(),
                (true, saturated) => format!(
                    "of what was observed only {}: requests were not found to wait for it",
                    saturated_components(saturated)
                ),
            };
            format!("{}, and {seen}", saturation(*why))
        }
        LimiterFinding::Concurrency(finding) => concurrency(*finding),
        LimiterFinding::Connections(finding) => connections(finding),
        LimiterFinding::Generator(finding) => generator(finding),
        LimiterFinding::Program(finding) => program(finding),
        LimiterFinding::Network(finding) => network(finding),
        LimiterFinding::Processors(finding) => processors(*finding),
        LimiterFinding::Waits(finding) => waits(finding),
        LimiterFinding::Memory(finding) => memory(*finding),
        LimiterFinding::Background(finding) => background(finding),
        LimiterFinding::OtherPrograms(others) => {
            format!("{}, and requests lacked them", other_programs(others))
        }
    }
}

fn inconclusive(reason: Inconclusive) -> &'static str {
    match reason {
        Inconclusive::LoadsOnly => "no requests were made: each load names its own limiter",
        Inconclusive::NoRequests => "there were no requests",
        Inconclusive::FailingRequests => "failing requests do not show the capacity of the target",
        Inconclusive::UnsentRequests => "some requests were never sent",
        Inconclusive::TargetLost => TARGET_LOST,
        Inconclusive::ShortWindow => {
            "the window is too short to tell whether requests arrive faster than they are answered"
        }
        Inconclusive::VirtualTime => "time was simulated",
        Inconclusive::ShortLoad => "it was too short to tell",
        Inconclusive::NothingObserved => "nothing was observed meanwhile",
    }
}

/// Lists saturated components, such as "the processors of the machine (97 %) are saturated".
fn saturated_components(saturated: &[(UtilisedComponent, f64)]) -> String {
    let listed = saturated.iter();
    let listed = listed.map(|(it, share)| format!("{} ({})", utilised_name(it), percent(*share)));
    let listed: Vec<String> = listed.collect();
    let verb = match saturated {
        [(UtilisedComponent::Processors { .. } | UtilisedComponent::DatabaseProcessors, _)] => {
            "are"
        }
        [_] => "is",
        _ => "are",
    };
    format!("{} {verb} saturated", listed.join(" and "))
}

fn saturation(why: Saturation) -> &'static str {
    match why {
        Saturation::Program => "another program chose its own load",
        Saturation::Overload => "requests arrive faster than they are answered",
        Saturation::ClosedJob => "a closed job sends as fast as it is answered",
        Saturation::Load => "a load sends as fast as it is answered",
    }
}

fn concurrency(finding: Concurrency) -> String {
    let Concurrency { requesters, clients, service_s, per_s, in_flight } = finding;
    let (who, what) = match requesters {
        Requesters::Writers if clients == 1.0 => {
            ("one writer commits a batch at a time".to_owned(), "batches")
        }
        Requesters::Writers => {
            (format!("{} writers commit a batch at a time", plain(clients)), "batches")
        }
        Requesters::Clients if clients == 1.0 => {
            ("one client sends one request at a time".to_owned(), "requests")
        }
        Requesters::Clients => {
            (format!("{} clients send one request at a time", plain(clients)), "requests")
        }
        Requesters::ThinkingClients if clients == 1.0 => {
            ("one client pauses after each answer".to_owned(), "requests")
        }
        Requesters::ThinkingClients => {
            (format!("{} clients pause after each answer", plain(clients)), "requests")
        }
        Requesters::Workers if clients == 1.0 => {
            ("one worker sends one request at a time".to_owned(), "requests")
        }
        Requesters::Workers => {
            (format!("{} workers send one request at a time", plain(clients)), "requests")
        }
    };
    let more = match requesters {
        Requesters::Workers => ", and more arrive",
        Requesters::Clients | Requesters::ThinkingClients | Requesters::Writers => "",
    };
    let takes = match requesters {
        Requesters::ThinkingClients => "; a request takes",
        Requesters::Clients | Requesters::Workers | Requesters::Writers => ", which takes",
    };
    format!(
        "{who}{takes} {} ms, and no observed component is saturated: {} {what} per second keep {} \
         busy{more}",
        number(service_s * 1e3),
        number(per_s),
        fixed(in_flight, if in_flight < 0.1 { 2 } else { 1 })
    )
}

fn connections(finding: &ConnectionLimit) -> String {
    match finding {
        ConnectionLimit::RequestsWait { text } => format!("requests wait while {text}"),
        ConnectionLimit::UnconnectedClients { clients, connections, text } => {
            let (connections, clients) = (plain(*connections), plain(*clients));
            format!("only {connections} of {clients} clients send requests: {text}")
        }
        ConnectionLimit::Pool { in_flight, sessions } => format!(
            "{} requests in flight share {} {} of the database: a connection pool in between \
             keeps the others waiting",
            fixed(*in_flight, 0),
            fixed(*sessions, 0),
            if *sessions < 1.5 { "session" } else { "sessions" }
        ),
        ConnectionLimit::PoolOfProgram { connections, waiting, pooler, sessions, active_share } => {
            let waiting = waiting.map_or_else(String::new, |waiting| {
                format!(", of which {} wait for the answer to a request,", fixed(waiting, 1))
            });
            let work = active_share.map_or_else(String::new, |share| {
                format!(", which are at work for {} of the time", percent(share))
            });
            let pool = pooler.as_ref().map_or("a connection pool in between", |name| name);
            format!(
                "{} connections of the program{waiting} share {} sessions of the database{work}: \
                 {pool} keeps the others waiting",
                fixed(*connections, 0),
                fixed(*sessions, 1)
            )
        }
    }
}

fn generator(finding: &GeneratorLimit) -> String {
    match finding {
        GeneratorLimit::ThreadWaits { thread, ran, waited } => format!(
            "its thread {thread} ran for {} of the window and waited for a processor for {}: \
             something else used it",
            percent(*ran),
            percent(*waited)
        ),
        GeneratorLimit::ThreadFull { use_of_thread, underused, threads } => {
            let full = match use_of_thread {
                FullThread::Ceiling(used) => ceiling_use(used),
                FullThread::Processor { thread, share } => {
                    format!("its thread {thread} used {} of a processor", percent(*share))
                }
            };
            match underused {
                0 => full,
                some => format!("{full}, while {some} of {threads} threads had time to spare"),
            }
        }
        GeneratorLimit::SlowFeed { clients, idle_share } if *clients == 1.0 => format!(
            "its only client is idle for {} of the time: its input arrives too slowly",
            percent(*idle_share)
        ),
        GeneratorLimit::SlowFeed { clients, idle_share } => format!(
            "its {} clients are idle for {} of the time: their input arrives too slowly",
            plain(*clients),
            percent(*idle_share)
        ),
        GeneratorLimit::LoaderFull { ran } => format!(
            "the thread that makes and sends the rows used {} of a processor",
            percent(*ran)
        ),
        GeneratorLimit::LoaderWaits { ran, waited } => format!(
            "the thread that makes and sends the rows ran for {} of the time and waited for a \
             processor for {}: something else used it",
            percent(*ran),
            percent(*waited)
        ),
    }
}

fn program(finding: &ProgramLimit) -> String {
    match finding {
        ProgramLimit::Absent { sessions, processors, is_busy } => {
            let what = match is_busy {
                true => "its processes were busy in between",
                false => "it sends no more requests",
            };
            format!(
                "the program used a session of the database for {} of the time, and {} \
                 processors: {what}",
                percent(*sessions),
                number(*processors)
            )
        }
        ProgramLimit::ThreadFull { share } => {
            format!("a thread of the program used {} of a processor", percent(*share))
        }
        ProgramLimit::Waits { ran, waited } => format!(
            "the program ran for {} of the time and waited for a processor for {}",
            percent(*ran),
            percent(*waited)
        ),
        ProgramLimit::Pauses { sessions, waiting, pause: cause } => format!(
            "{} of {} sessions of the database {}",
            number(*waiting),
            number(*sessions),
            pause(*cause)
        ),
        ProgramLimit::OneSession { at_work, waiting } => format!(
            "one session of the database was at work for {} of the time, and waited for the \
             program for {}",
            percent(*at_work),
            percent(*waiting)
        ),
        ProgramLimit::FewSessions { sessions, at_work, waiting, pause_s } => {
            let pause = pause_s.map_or_else(String::new, |pause_s| {
                format!(", which comes {} ms after the last answer", number(pause_s * 1e3))
            });
            format!(
                "{} of {} sessions of the database are at work and {} wait for the next \
                 request{pause}: the program has no more in flight",
                number(*at_work),
                number(*sessions),
                number(*waiting),
            )
        }
        ProgramLimit::Starved { side, waited } => {
            let who = match side {
                MeasuredSide::Server => "the database",
                MeasuredSide::Generator => "the program",
            };
            format!(
                "the processors are saturated, and threads of {who} waited for one for {} s in \
                 every second",
                number(*waited)
            )
        }
    }
}

/// Describes the wait of the sessions of a program, as the rest of a sentence about these sessions.
fn pause(pause: Pause) -> String {
    match pause {
        Pause::UnreadAnswers => "wait for the program to read its answers".to_owned(),
        Pause::AnswersOnTheWay => "have answers that are queued in the network".to_owned(),
        Pause::RowsOnTheWay => "wait for rows that are queued in the network".to_owned(),
        Pause::RoundTrip { pause_s, round_trip_s } => format!(
            "wait for the next request, which comes {} ms after the last answer: a round trip \
             takes {} ms",
            number(pause_s * 1e3),
            number(round_trip_s * 1e3)
        ),
        Pause::NoFurtherRequests { rows, sockets } => {
            let what = match rows {
                Some(event) => {
                    format!("wait within a statement for the program's rows ({event})")
                }
                None => "have nothing to do".to_owned(),
            };
            let sockets = match sockets {
                Sockets::Empty { share } => format!(
                    ", and for {} of that time their sockets are empty, without a request at the \
                     server or an answer at the program",
                    percent(share)
                ),
                Sockets::Holding { requests, answers } => format!(
                    ", while {} requests wait in sockets of the server and {} answers in those of \
                     the program",
                    number(requests),
                    number(answers)
                ),
                Sockets::Unseen => String::new(),
            };
            format!("{what}{sockets}: the program sends no more requests")
        }
    }
}

fn network(finding: &NetworkLimit) -> String {
    match finding {
        NetworkLimit::Link { interface, bytes_per_s, share } => format!(
            "{interface} carried {} MB/s, {} of the capacity of its link",
            number(bytes_per_s / 1e6),
            percent(*share)
        ),
        NetworkLimit::AnswersWait { in_flight, waiting } => format!(
            "{} of {} requests in flight have an answer that is queued in the network",
            fixed(*waiting, 1),
            fixed(*in_flight, 1)
        ),
        NetworkLimit::AnswersQueue { mean_s, least_s } => format!(
            "data of the server takes {} ms to be acknowledged, and {} ms on an idle path: answers \
             are queued in the network",
            number(mean_s * 1e3),
            number(least_s * 1e3)
        ),
        NetworkLimit::RoundTrips { trips, round_trip_s, service_s } => {
            let what = match *trips {
                trips if trips < 1.5 => "a round trip takes".to_owned(),
                trips => format!("{} round trips take", fixed(trips, 0)),
            };
            format!(
                "{what} {} ms of the {} ms of a request",
                number(round_trip_s * trips * 1e3),
                number(service_s * 1e3)
            )
        }
        NetworkLimit::OnTheWay { in_flight, missing, service_s } => format!(
            "{} of {} requests in flight are not at the database, whose sessions are idle, and \
             each takes {} ms: they are in the network, or at a program in between",
            number(*missing),
            number(*in_flight),
            number(service_s * 1e3)
        ),
        NetworkLimit::RowsWait { connections, waiting } => format!(
            "{} of {} connections that carry rows have rows that are queued in the network, and \
             the database waits for them",
            number(*waiting),
            number(*connections)
        ),
    }
}

/// Minimum mean number of waiting threads that a sentence mentions.
const LEAST_MISSING: f64 = 0.05;

fn processors(finding: ProcessorLimit) -> String {
    match finding {
        ProcessorLimit::Throttled { side, throttled, quota, used } => format!(
            "the control group of the {} was throttled for {} s in every second: it may use {} \
             processors, and used {}",
            side.name(),
            number(throttled),
            number(quota),
            number(used)
        ),
        ProcessorLimit::Full { used, may_use, wanted, generator, is_starved } => {
            let used_words =
                format!("its processes used {} of {}", number(used), processors_in_words(may_use));
            let missing = wanted - used;
            let missing = (missing >= LEAST_MISSING)
                .then(|| format!(", and on average {} threads waited for one", number(missing)));
            let generator =
                generator.map(|used| format!("; the load generator used {}", number(used)));
            let others = is_starved.then(|| "; other programs used the rest".to_owned());
            let more = [missing, generator, others].into_iter().flatten();
            used_words + &more.collect::<String>()
        }
        ProcessorLimit::OneThread { share, may_use, used } => format!(
            "one of its threads used {} of a processor, and all of them {} of {}",
            percent(share),
            number(used),
            processors_in_words(may_use)
        ),
    }
}

fn waits(finding: &Waits) -> String {
    match finding {
        Waits::Locks { sessions, table, statement } => {
            let WaitingSessions { waiting, active, event } = sessions;
            let table = table.as_ref().map_or(String::new(), |table| format!(" of table {table}"));
            let statement =
                statement.as_ref().map_or(String::new(), |text| format!(", most with `{text}`"));
            format!(
                "{} of {} active sessions wait for locks{table} ({event}){statement}",
                fixed(*waiting, 1),
                fixed(*active, 1)
            )
        }
        Waits::Flush(WaitingSessions { waiting, active, event }) => format!(
            "{} of {} active sessions wait for their commits to be flushed ({event})",
            fixed(*waiting, 1),
            fixed(*active, 1)
        ),
        Waits::Disk(WaitingSessions { waiting, active, event }) => {
            let (waiting, active) = (fixed(*waiting, 1), fixed(*active, 1));
            format!("{waiting} of {active} active sessions wait for the disk ({event})")
        }
        Waits::Embedded { in_flight, stalled, wait } => {
            let what = match wait {
                EmbeddedWait::Writer => "for the writer",
                EmbeddedWait::Flush => "for a flush",
                EmbeddedWait::Disk => "for the disk",
            };
            format!(
                "{} of {} requests in flight neither run nor wait for a processor: they wait \
                 {what}",
                number(*stalled),
                number(*in_flight)
            )
        }
    }
}

fn memory(finding: MemoryLimit) -> String {
    match finding {
        MemoryLimit::Group { lacked, limit_bytes } => format!(
            "tasks of the control group of the server lacked memory for {} of the time: its limit \
             is {} MB",
            percent(lacked),
            number(limit_bytes / 1e6)
        ),
        MemoryLimit::Host { lacked, swapped_per_s } => format!(
            "tasks lacked memory for {} of the time; {} pages per second came back from swap",
            percent(lacked),
            number(swapped_per_s)
        ),
    }
}

fn background(finding: &BackgroundWork) -> String {
    match finding {
        BackgroundWork::OtherSessions { sessions, processors, work } => {
            let work = work.as_ref().map_or(String::new(), |(name, share)| {
                format!("; `{name}` ran for {} of the window", percent(*share))
            });
            format!(
                "{} other sessions were always active, on {} processors of the database, which \
                 are saturated{work}",
                fixed(*sessions, 1),
                number(*processors)
            )
        }
        BackgroundWork::Named { name, share, cpu_share, bytes_share } => format!(
            "`{name}` ran for {} of the window; work in the background took {} of the processor \
             time of the database and {} of its bytes from and to disks",
            percent(*share),
            percent(*cpu_share),
            percent(*bytes_share)
        ),
        BackgroundWork::Intermittent { cause, is_background, job, with_per_s, without_per_s } => {
            let name = match is_background {
                true => format!("the database's {cause}"),
                false => format!("[{cause}]"),
            };
            format!(
                "while {name} was at work, [{job}] had {} instead of {} answers per second",
                number(*with_per_s),
                number(*without_per_s)
            )
        }
    }
}
