//! Measures of Assay and the bare loop alone: system calls, instructions, open loops, memory.

use std::process::Command;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::Failure;
use crate::cells::{Cell, Database, Statement};
use crate::child::{self, Ran};
use crate::figures::Spread;
use crate::options::Options;
use crate::publish::Publication;
use crate::runners::{self, Length, Runner};
use crate::servers::Servers;
use crate::{complain, parse, say};

/// The two that these measures are about.
const RUNNERS: [Runner; 2] = [Runner::Limit, Runner::Assay];

/// How long a program may take under a tool that slows it down.
const PATIENCE: Duration = Duration::from_secs(300);

/// How many connections these measures use, unless they say otherwise.
const CONNECTIONS: u32 = 64;

fn cell(database: Database, connections: u32, tls: bool) -> Cell {
    Cell { database, statement: Statement::Prepared, tls, connections }
}

/// A count per request of one program.
#[derive(Serialize)]
struct Count {
    database: &'static str,
    runner: &'static str,
    /// What counted.
    tool: &'static str,
    requests: u64,
    events: u64,
    per_request: f64,
}

/// A program that counts what another one does.
#[derive(Clone, Copy)]
enum Tool {
    Strace,
    Perf,
    Callgrind,
}

impl Tool {
    fn word(self) -> &'static str {
        match self {
            Tool::Strace => "strace -c",
            Tool::Perf => "perf stat",
            Tool::Callgrind => "callgrind",
        }
    }

    /// Puts itself in front of a command.
    fn around(self, command: &Command) -> Command {
        let words: &[&str] = match self {
            Tool::Strace => &["strace", "-c", "-f", "-o", "calls.txt"],
            Tool::Perf => &["perf", "stat", "-x,", "-e", "instructions:u"],
            Tool::Callgrind => &["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"],
        };
        let mut around = Command::new(words[0]);
        around.args(&words[1..]).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => around.env(name, value),
                None => around.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            around.current_dir(folder);
        }
        around
    }

    /// What it counted.
    fn events(self, ran: &Ran, servers: &Servers) -> Result<u64, Failure> {
        match self {
            Tool::Strace => {
                parse::strace(&std::fs::read_to_string(servers.folder().join("calls.txt"))?)
            }
            Tool::Perf => parse::perf(&ran.stderr).ok_or_else(|| "not permitted here".into()),
            Tool::Callgrind => parse::callgrind(&ran.stderr),
        }
    }

    /// Counts a run and one that only begins and ends; what connecting takes is in both.
    fn count(self, runner: Runner, cell: &Cell, servers: &Servers) -> Result<Count, Failure> {
        let run = |length: Length| -> Result<(u64, u64), Failure> {
            let command = self.around(&runner.command(cell, servers, length)?);
            let ran = child::run(command, PATIENCE)?;
            Ok((runner.queries(&ran, cell, length)?, self.events(&ran, servers)?))
        };
        let (few, before) = run(Length::Start)?;
        let (many, after) = run(Length::Long { seconds: 5, queries_per_s: 0.0 })?;
        let (requests, events) = (many.saturating_sub(few).max(1), after.saturating_sub(before));
        Ok(Count {
            database: cell.database.word(),
            runner: runner.word(),
            tool: self.word(),
            requests,
            events,
            per_request: events as f64 / requests as f64,
        })
    }
}

/// System calls per request.
pub(crate) fn syscalls(options: &Options, servers: &Servers) -> Result<(), Failure> {
    counts(options, servers, &[Tool::Strace], "system calls")
}

/// Instructions per request in user mode. Where the processor does not count, callgrind does.
pub(crate) fn instructions(options: &Options, servers: &Servers) -> Result<(), Failure> {
    counts(options, servers, &[Tool::Perf, Tool::Callgrind], "instructions in user mode")
}

fn counts(options: &Options, servers: &Servers, tools: &[Tool], what: &str) -> Result<(), Failure> {
    let publication = Publication::begin(options)?;
    let mut raws = Vec::new();
    let mut text = format!(
        "| database | client | {what} per request | counted by |\n| --- | --- | --: | --- |\n"
    );
    for database in wanted(options) {
        let cell = cell(database, CONNECTIONS, false);
        for runner in RUNNERS.into_iter().filter(|runner| options.wants_runner(*runner)) {
            let mut counted = Err("no tool".into());
            for tool in tools {
                counted = tool.count(runner, &cell, servers);
                if counted.is_ok() {
                    break;
                }
            }
            let (name, word) = (database.name(), runner.word());
            let row = match counted {
                Ok(count) => {
                    let row = format!("| {:.2} | {} |", count.per_request, count.tool);
                    raws.push(count);
                    row
                }
                Err(failure) => format!("| not measured: {failure} | |"),
            };
            text.push_str(&format!("| {name} | {word} {row}\n"));
        }
    }
    finish(&publication, &text, &raws)
}

fn wanted(options: &Options) -> impl Iterator<Item = Database> {
    Database::ALL.into_iter().filter(|database| options.wants_database(*database))
}

fn finish<R: Serialize>(publication: &Publication, text: &str, raws: &[R]) -> Result<(), Failure> {
    say(text);
    publication.publish(text.trim_end(), raws)
}

/// The rates at which the send lag is looked at, per second.
const RATES: [u32; 4] = [1_000, 10_000, 50_000, 100_000];

/// The highest rate is looked for in this many halvings, between a tenth and one and a half of
/// what the bare loop makes.
const HALVINGS: usize = 6;

/// What part of a rate must be answered for it to count as kept.
const KEPT: f64 = 0.99;

/// The send lag at the 99th percentile up to which a rate counts as kept, in milliseconds.
const PUNCTUAL_MS: f64 = 10.0;

/// A run of an open loop.
#[derive(Serialize)]
struct OpenRun {
    database: &'static str,
    round: usize,
    rate_per_s: u32,
    answered_per_s: f64,
    lag_p50_us: f64,
    lag_p99_us: f64,
    lag_p99_9_us: f64,
    /// Of the whole run, connecting included.
    processor_us: f64,
    /// The part of the machine's time that was stolen.
    steal: f64,
}

impl OpenRun {
    fn take(
        database: Database,
        round: usize,
        rate: u32,
        options: &Options,
        servers: &Servers,
    ) -> Result<OpenRun, Failure> {
        let cell = cell(database, CONNECTIONS, false);
        let file = runners::job(&cell, &format!("rate = {rate}\n"));
        let (ran, summary) = assay(&cell, servers, &file, options.seconds)?;
        let job = &summary["jobs"][0];
        let lag = |name: &str| job["send_lag_ms"][name].as_f64().unwrap_or(f64::NAN) * 1e3;
        let completed = job["completed"].as_u64().unwrap_or(0).max(1);
        Ok(OpenRun {
            database: database.word(),
            round,
            rate_per_s: rate,
            answered_per_s: job["throughput_per_s"].as_f64().unwrap_or(0.0),
            lag_p50_us: lag("p50"),
            lag_p99_us: lag("p99"),
            lag_p99_9_us: lag("p99_9"),
            processor_us: (ran.user + ran.system).as_secs_f64() * 1e6 / completed as f64,
            steal: ran.steal,
        })
    }

    fn is_kept(&self) -> bool {
        let part = self.answered_per_s / f64::from(self.rate_per_s);
        part >= KEPT && self.lag_p99_us <= PUNCTUAL_MS * 1e3
    }
}

/// Runs Assay on a file. Returns its summary too.
fn assay(
    cell: &Cell,
    servers: &Servers,
    file: &str,
    seconds: u32,
) -> Result<(Ran, Value), Failure> {
    let mut command = Command::new(Runner::Assay.program()?);
    command.current_dir(servers.folder());
    runners::run_of_assay(&mut command, cell, servers, file, Some(seconds))?;
    let ran = child::run(command, PATIENCE)?;
    Runner::Assay.queries(&ran, cell, Length::Start)?;
    let summary = serde_json::from_str(&ran.stdout)?;
    Ok((ran, summary))
}

/// Send lag, processor time and the highest rate of open loops, against a server that answers at
/// once.
pub(crate) fn open(options: &Options, servers: &Servers) -> Result<(), Failure> {
    let publication = Publication::begin(options)?;
    let mut raws = Vec::new();
    let mut text = String::from(
        "| database | rate /s | send lag p50 µs | p99 | p99 lowest | p99 highest | p99.9 | CPU \
         µs/request | limit, closed |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for database in wanted(options) {
        match open_of(database, options, servers, &mut raws) {
            Ok(rows) => text.push_str(&rows),
            Err(failure) => {
                let name = database.name();
                text.push_str(&format!("| {name} | not measured: {failure} | | | | | | | |\n"));
            }
        }
    }
    finish(&publication, &text, &raws)
}

fn open_of(
    database: Database,
    options: &Options,
    servers: &Servers,
    raws: &mut Vec<OpenRun>,
) -> Result<String, Failure> {
    let cell = cell(database, CONNECTIONS, false);
    let length = Length::Long { seconds: options.seconds, queries_per_s: 0.0 };
    let (mut costs, mut closed) = (Vec::new(), Vec::new());
    let first = raws.len();
    for round in 1..=options.rounds {
        let limit = Runner::Limit.run(&cell, servers, length)?;
        costs.push((limit.user_s + limit.system_s) * 1e6 / limit.queries.max(1) as f64);
        closed.push(limit.queries as f64 / f64::from(options.seconds));
        for rate in RATES {
            raws.push(OpenRun::take(database, round, rate, options, servers)?);
        }
        complain(format!("{}: round {round} of {}", database.word(), options.rounds));
    }
    let runs = &raws[first..];
    let limit = Spread::of(costs).map_or(0.0, |cost| cost.median);
    let mut text = String::new();
    for rate in RATES {
        let of = |figure: fn(&OpenRun) -> f64| {
            let runs = runs.iter().filter(|run| run.rate_per_s == rate);
            Spread::of(runs.map(figure)).ok_or("no round was measured")
        };
        let p99 = of(|run| run.lag_p99_us)?;
        text.push_str(&format!(
            "| {} | {rate} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} | {limit:.2} |\n",
            database.name(),
            of(|run| run.lag_p50_us)?.median,
            p99.median,
            p99.lowest,
            p99.highest,
            of(|run| run.lag_p99_9_us)?.median,
            of(|run| run.processor_us)?.median,
        ));
    }
    let closed = Spread::of(closed).map_or(0.0, |closed| closed.median);
    let highest = highest_rate(database, closed, options, servers)?;
    text.push_str(&format!(
        "| {} | highest: {highest:.0}, {:.2} of the {closed:.0} that limit makes | | | | | | | |\n",
        database.name(),
        highest / closed.max(1.0)
    ));
    Ok(text)
}

/// The highest rate that is kept on one thread.
fn highest_rate(
    database: Database,
    closed_per_s: f64,
    options: &Options,
    servers: &Servers,
) -> Result<f64, Failure> {
    let (mut kept, mut missed) = (0.1 * closed_per_s, 1.5 * closed_per_s);
    for _ in 0..HALVINGS {
        let rate = (kept + missed) / 2.0;
        match OpenRun::take(database, 0, rate as u32, options, servers)?.is_kept() {
            true => kept = rate,
            false => missed = rate,
        }
    }
    Ok(kept)
}

/// Peak memory with many connections.
#[derive(Serialize)]
struct Memory {
    database: &'static str,
    connections: u32,
    tls: bool,
    peak_rss_bytes: u64,
}

/// How many connections, and whether with TLS. More than a thousand are not for a real server with
/// a process or a thread for each: they go to a simulated one.
const CROWDS: [(u32, bool); 3] = [(1_000, false), (1_000, true), (10_000, false)];

/// The largest crowd of a real server.
const LARGEST_REAL: u32 = 1_000;

/// Peak memory of Assay with many connections.
pub(crate) fn memory(options: &Options, servers: &Servers) -> Result<(), Failure> {
    let simulated = Servers::simulated(options)?;
    let publication = Publication::begin(options)?;
    let mut raws = Vec::new();
    let mut text = String::from(
        "| database | connections | TLS | peak memory MB |\n| --- | --: | --- | --: |\n",
    );
    for database in wanted(options) {
        for (connections, tls) in CROWDS {
            let cell = cell(database, connections, tls);
            let servers = if connections > LARGEST_REAL { &simulated } else { servers };
            let measured = match assay(&cell, servers, &runners::job(&cell, ""), options.seconds) {
                Ok((ran, _)) => {
                    raws.push(Memory {
                        database: database.word(),
                        connections,
                        tls,
                        peak_rss_bytes: ran.peak_rss,
                    });
                    format!("{:.1}", ran.peak_rss as f64 / 1e6)
                }
                Err(failure) => format!("not measured: {failure}"),
            };
            let (name, tls) = (database.name(), if tls { "on" } else { "off" });
            text.push_str(&format!("| {name} | {connections} | {tls} | {measured} |\n"));
        }
    }
    finish(&publication, &text, &raws)
}
