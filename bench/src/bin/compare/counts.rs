//! System calls and instructions per request, counted by other programs.

use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cells::{Cell, Database, USUAL_CONNECTIONS};
use crate::child::{self, ProgramRun};
use crate::options::Options;
use crate::output::{Failure, print_to_stderr};
use crate::parse;
use crate::publish::{Extent, Publication};
use crate::runner::Runner;
use crate::runners::Length;
use crate::servers::Servers;

/// Length of a counted run, in seconds of the program's own clock. One short run is enough: counts
/// scatter less than times, and the tools slow a program down.
const COUNTED_S: u32 = 5;

/// Longest permitted run of a program under a tool that slows it down.
const PATIENCE: Duration = Duration::from_secs(300);

/// The count per request of one program.
#[derive(Serialize, Deserialize)]
pub(crate) struct Count {
    pub(crate) database: Database,
    pub(crate) runner: Runner,
    /// The counting tool.
    tool: Tool,
    requests: u64,
    events: u64,
    pub(crate) per_request: f64,
}

/// A tool that counts the events of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Tool {
    /// The kernel's tracepoint, which hardly slows the program down.
    #[serde(rename = "perf stat of calls")]
    PerfCalls,
    #[serde(rename = "strace -c")]
    Strace,
    #[serde(rename = "perf stat")]
    Perf,
    #[serde(rename = "callgrind")]
    Callgrind,
}

/// Names of perf's events: for system calls, and below for instructions in user mode.
const CALLS: &str = "raw_syscalls:sys_enter";
const INSTRUCTIONS: &str = "instructions:u";

impl Tool {
    fn word(self) -> &'static str {
        match self {
            Tool::PerfCalls => "perf stat of calls",
            Tool::Strace => "strace -c",
            Tool::Perf => "perf stat",
            Tool::Callgrind => "callgrind",
        }
    }

    /// Returns the reason why the tool cannot count the events of a load generator, or `None` if it
    /// can.
    fn refuses(self, runner: Runner) -> Option<&'static str> {
        match (self, runner) {
            (Tool::Callgrind, Runner::Dbbench) => Some("valgrind does not run programs of Go"),
            (
                Tool::Callgrind,
                Runner::Limit | Runner::Assay | Runner::Pgbench | Runner::Sysbench | Runner::Slap,
            )
            | (Tool::PerfCalls | Tool::Strace | Tool::Perf, _) => None,
        }
    }

    /// Returns the command that runs `command` under this tool.
    fn around(self, command: &Command) -> Command {
        let words: &[&str] = match self {
            Tool::Strace => &["strace", "-c", "-f", "-o", "calls.txt"],
            Tool::PerfCalls => &["perf", "stat", "-x,", "-e", CALLS],
            Tool::Perf => &["perf", "stat", "-x,", "-e", INSTRUCTIONS],
            // Debian's pgbench is a script that starts the program: its children are counted too.
            Tool::Callgrind => &[
                "valgrind",
                "--tool=callgrind",
                "--callgrind-out-file=/dev/null",
                "--trace-children=yes",
            ],
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

    /// Returns the number of events that the tool counted.
    fn events(self, ran: &ProgramRun, servers: &Servers) -> Result<u64, Failure> {
        match self {
            Tool::Strace => {
                parse::strace(&std::fs::read_to_string(servers.folder().join("calls.txt"))?)
            }
            Tool::PerfCalls => parse::perf(&ran.stderr, CALLS),
            Tool::Perf => parse::perf(&ran.stderr, INSTRUCTIONS),
            Tool::Callgrind => parse::callgrind(&ran.stderr),
        }
    }

    /// Counts the events of a long run and of a start-up run, and takes the difference, which
    /// excludes the cost of connecting.
    fn count(self, runner: Runner, cell: &Cell, servers: &Servers) -> Result<Count, Failure> {
        if let Some(reason) = self.refuses(runner) {
            return Err(reason.into());
        }
        let run = |length: Length| -> Result<(u64, u64), Failure> {
            let command = self.around(&runner.command(cell, servers, length)?);
            let ran = child::run(command, PATIENCE)?;
            Ok((runner.queries(&ran, cell, length)?, self.events(&ran, servers)?))
        };
        let (few, before) = run(Length::Start)?;
        let (many, after) = run(Length::Long { seconds: COUNTED_S, queries_per_s: 0.0 })?;
        let (requests, events) = (many.saturating_sub(few).max(1), after.saturating_sub(before));
        Ok(Count {
            database: cell.database,
            runner,
            tool: self,
            requests,
            events,
            per_request: events as f64 / requests as f64,
        })
    }
}

/// Measures system calls per request: with perf, or with strace if the kernel denies perf.
pub(crate) fn syscalls(options: &Options, servers: &Servers) -> Result<(), Failure> {
    counts(options, servers, &[Tool::PerfCalls, Tool::Strace], "system calls")
}

/// Measures instructions per request in user mode: with perf, or with callgrind if perf cannot
/// count, for example because the processor has no counter.
pub(crate) fn instructions(options: &Options, servers: &Servers) -> Result<(), Failure> {
    counts(options, servers, &[Tool::Perf, Tool::Callgrind], "instructions in user mode")
}

fn counts(options: &Options, servers: &Servers, tools: &[Tool], what: &str) -> Result<(), Failure> {
    let publication = Publication::begin(options)?;
    let mut raws = Vec::new();
    let mut text = format!(
        "| database | client | {what} per request | counted by |\n| --- | --- | --: | --- |\n"
    );
    for database in options.databases() {
        let cell = Cell::prepared(database, USUAL_CONNECTIONS, false);
        for runner in Runner::ALL.into_iter().filter(|runner| options.wants_runner(*runner)) {
            let counted = match runner.unsupported_reason(&cell) {
                None => first_count(tools, runner, &cell, servers),
                Some(reason) => Err(reason.into()),
            };
            text.push_str(&row(&cell, runner, &counted));
            raws.extend(counted);
        }
        print_to_stderr(format!("{}: counted", database.word()));
    }
    let extent = Extent::Once { seconds: COUNTED_S };
    publication.publish(&extent, text.trim_end(), &raws)
}

/// Returns the count of the first tool that works, or the failure of the last one.
fn first_count(
    tools: &[Tool],
    runner: Runner,
    cell: &Cell,
    servers: &Servers,
) -> Result<Count, Failure> {
    let mut counted = Err("no tool".into());
    for tool in tools {
        counted = tool.count(runner, cell, servers);
        if counted.is_ok() {
            break;
        }
    }
    counted
}

fn row(cell: &Cell, runner: Runner, counted: &Result<Count, Failure>) -> String {
    let (name, word) = (cell.database.name(), runner.word());
    match counted {
        Ok(count) => {
            format!("| {name} | {word} | {:.2} | {} |\n", count.per_request, count.tool.word())
        }
        Err(failure) => format!("| {name} | {word} | not measured: {failure} | |\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncounted_runner_has_a_row_with_the_reason() {
        let cell = Cell::prepared(Database::Mariadb, USUAL_CONNECTIONS, false);
        let check = |runner: Runner, counted, expected: &str| {
            assert_eq!(row(&cell, runner, &counted), expected);
        };
        let reason = Tool::Callgrind.refuses(Runner::Dbbench).expect("a reason");
        check(
            Runner::Dbbench,
            Err(reason.into()),
            "| MariaDB | dbbench | not measured: valgrind does not run programs of Go | |\n",
        );
        let count = Count {
            database: cell.database,
            runner: Runner::Sysbench,
            tool: Tool::Strace,
            requests: 100,
            events: 425,
            per_request: 4.25,
        };
        check(Runner::Sysbench, Ok(count), "| MariaDB | sysbench | 4.25 | strace -c |\n");
        for tool in [Tool::PerfCalls, Tool::Strace, Tool::Perf, Tool::Callgrind] {
            let written = serde_json::to_string(&tool).expect("a word");
            assert_eq!(written, format!("\"{}\"", tool.word()));
        }
        assert_eq!(Tool::Strace.refuses(Runner::Dbbench), None);
        assert_eq!(Tool::Callgrind.refuses(Runner::Sysbench), None);
    }
}
