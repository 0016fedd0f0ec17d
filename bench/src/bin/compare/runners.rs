//! The load generators, and the command line with which each of them runs the same work.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::cells::{Cell, Database, Statement};
use crate::child::{self, ProgramRun};
use crate::figures::Sample;
use crate::machine;
use crate::output::Failure;
use crate::parse;
use crate::runner::Runner;
use crate::servers::{ACCOUNT, ROWS, Server, Servers};

/// The amount of work of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    /// One query per connection; its cost is subtracted from the cost of the long run.
    Start,
    /// Enough queries to measure the speed of a load generator that takes a number of queries.
    Trial,
    /// A number of seconds. A load generator that takes a number of queries executes `seconds`
    /// × `queries_per_s` queries.
    Long { seconds: u32, queries_per_s: f64 },
}

/// Number of queries of a trial.
const TRIAL_QUERIES: u64 = 20_000;

/// Time that a run may take beyond its length, in seconds.
const PATIENCE_S: u32 = 60;

impl Runner {
    /// Returns the path of the load generator's program.
    ///
    /// # Errors
    /// Fails if the program does not exist; the message says how to install it.
    pub(crate) fn program(self) -> Result<PathBuf, Failure> {
        let own = std::env::current_exe()?;
        let folder = own.parent().ok_or("a program lies in a folder")?;
        let (path, remedy) = match self {
            Runner::Limit => (folder.join("limit"), "cargo build --profile dist -p limit"),
            Runner::Assay => (folder.join("assay"), "cargo build --profile dist -p cli"),
            Runner::Dbbench => {
                let path = folder.with_file_name("dbbench").join("bin/dbbench");
                (path, "scripts/setup bench, with Go")
            }
            Runner::Pgbench | Runner::Sysbench | Runner::Slap => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let found = std::env::split_paths(&path).map(|folder| folder.join(self.word()));
                let found = found.into_iter().find(|path| path.is_file());
                (found.unwrap_or_default(), "scripts/setup bench")
            }
        };
        match path.is_file() {
            true => Ok(path),
            false => Err(format!("is not there: {remedy}").into()),
        }
    }

    /// Runs the load generator once.
    pub(crate) fn run(
        self,
        cell: &Cell,
        servers: &Servers,
        length: Length,
    ) -> Result<Sample, Failure> {
        let load = machine::load();
        let command = self.command(cell, servers, length)?;
        let ran = child::run(command, Duration::from_secs((length.seconds() + PATIENCE_S).into()))?;
        Ok(Sample::new(self.queries(&ran, cell, length)?, &ran, load))
    }

    /// Returns the number of queries that a run executed: parsed from its output or, for
    /// `mariadb-slap`, the requested number.
    pub(crate) fn queries(
        self,
        ran: &ProgramRun,
        cell: &Cell,
        length: Length,
    ) -> Result<u64, Failure> {
        // Assay's exit code also reports its verdict, for example on a run on a busy machine.
        let is_judged = self == Runner::Assay && matches!(ran.status.code(), Some(1 | 3));
        if !ran.status.success() && !is_judged {
            let said = ran.stderr.lines().chain(ran.stdout.lines());
            let line = said.map(str::trim).find(|line| !line.is_empty()).unwrap_or("no message");
            return Err(format!("{}: {line}", ran.status).into());
        }
        match self {
            Runner::Limit => parse::limit(&ran.stdout),
            Runner::Assay => parse::assay(&ran.stdout),
            Runner::Pgbench => parse::pgbench(&ran.stdout),
            Runner::Sysbench => parse::sysbench(&ran.stdout),
            Runner::Slap => Ok(length.queries(cell)),
            Runner::Dbbench => parse::dbbench(&ran.stderr),
        }
    }

    /// Returns the command line of the load generator.
    pub(crate) fn command(
        self,
        cell: &Cell,
        servers: &Servers,
        length: Length,
    ) -> Result<Command, Failure> {
        let mut command = Command::new(self.program()?);
        command.current_dir(servers.folder());
        command.env("PGSSLMODE", if cell.tls { "require" } else { "disable" });
        let server = servers.of(cell.database)?;
        match self {
            Runner::Limit => limit(&mut command, cell, server, length),
            Runner::Assay => assay(&mut command, cell, servers, length)?,
            Runner::Pgbench => pgbench(&mut command, cell, servers, length)?,
            Runner::Sysbench => sysbench(&mut command, cell, server, length),
            Runner::Slap => slap(&mut command, cell, servers, length)?,
            Runner::Dbbench => dbbench(&mut command, cell, servers, length)?,
        }
        Ok(command)
    }
}

impl Length {
    /// Returns the duration in seconds; 0 if the run ends after a number of queries.
    fn seconds(self) -> u32 {
        match self {
            Length::Start | Length::Trial => 0,
            Length::Long { seconds, .. } => seconds,
        }
    }

    /// Returns the number of queries, rounded up to a multiple of the number of clients.
    fn queries(self, cell: &Cell) -> u64 {
        let queries = match self {
            Length::Start => 1,
            Length::Trial => TRIAL_QUERIES,
            Length::Long { seconds, queries_per_s } => (f64::from(seconds) * queries_per_s) as u64,
        };
        let clients = u64::from(cell.connections);
        queries.div_ceil(clients).max(1) * clients
    }
}

fn limit(command: &mut Command, cell: &Cell, server: &Server, length: Length) {
    let protocol = match cell.database {
        Database::Postgres => "postgres",
        Database::Mariadb => "mysql",
    };
    command.arg(protocol).args(["--host", &server.host, "--user", ACCOUNT]);
    command.args(["--database", ACCOUNT, "--statement", cell.statement.word()]);
    let numbers = [
        ("--port", u32::from(server.port)),
        ("--connections", cell.connections),
        ("--seconds", length.seconds()),
        ("--rows", ROWS),
    ];
    for (name, number) in numbers {
        command.args([name, &number.to_string()]);
    }
    if cell.tls {
        command.arg("--tls");
    }
}

/// Returns a job of Assay with the same statement as the other load generators.
fn job(cell: &Cell, pace: &str) -> String {
    let prepare = match cell.statement {
        Statement::Prepared => "yes",
        Statement::Text => "no",
    };
    format!(
        "[point]\nquery = select c from sbtest1 where id = ${{uniform(1, {ROWS})}}\n\
         prepare = {prepare}\nconcurrency = {}\n{pace}",
        cell.connections
    )
}

fn assay(
    command: &mut Command,
    cell: &Cell,
    servers: &Servers,
    length: Length,
) -> Result<(), Failure> {
    match length {
        Length::Long { seconds, .. } => {
            run_of_assay(command, cell, servers, &job(cell, ""), Some(seconds))
        }
        Length::Start | Length::Trial => {
            let pace = format!("count = {}\n", length.queries(cell));
            run_of_assay(command, cell, servers, &job(cell, &pace), None)
        }
    }
}

/// Completes the command that runs a file with Assay, for `seconds` or until its jobs have ended.
fn run_of_assay(
    command: &mut Command,
    cell: &Cell,
    servers: &Servers,
    file: &str,
    seconds: Option<u32>,
) -> Result<(), Failure> {
    let (path, record) = (servers.folder().join("point.ini"), servers.folder().join("point.assay"));
    fs::write(&path, file)?;
    if record.exists() {
        fs::remove_file(&record)?;
    }
    command.arg("run").arg(path).arg("--out").arg(record).args(["--json", "--quiet"]);
    command.args(["--url", &servers.of(cell.database)?.url(cell.database, cell.tls)]);
    if let Some(seconds) = seconds {
        command.args(["--duration", &format!("{seconds}s")]);
    }
    Ok(())
}

/// Runs Assay's job with additional keys, for `seconds` or until it has ended. Returns the sample
/// and the JSON summary.
pub(crate) fn sample_of_assay(
    cell: &Cell,
    servers: &Servers,
    pace: &str,
    seconds: Option<u32>,
) -> Result<(Sample, Value), Failure> {
    let load = machine::load();
    let mut command = Command::new(Runner::Assay.program()?);
    command.current_dir(servers.folder());
    run_of_assay(&mut command, cell, servers, &job(cell, pace), seconds)?;
    let ran = child::run(command, ASSAY_PATIENCE)?;
    let queries = Runner::Assay.queries(&ran, cell, Length::Start)?;
    Ok((Sample::new(queries, &ran, load), serde_json::from_str(&ran.stdout)?))
}

/// Longest time of a run of Assay, even with ten thousand connections.
const ASSAY_PATIENCE: Duration = Duration::from_secs(300);

fn pgbench(
    command: &mut Command,
    cell: &Cell,
    servers: &Servers,
    length: Length,
) -> Result<(), Failure> {
    let server = servers.of(cell.database)?;
    let mode = match cell.statement {
        Statement::Prepared => "prepared",
        Statement::Text => "simple",
    };
    command.args(["-h", &server.host, "-p", &server.port.to_string(), "-U", ACCOUNT]);
    command.args(["-n", "-M", mode, "-j", "1", "-c", &cell.connections.to_string()]);
    match length {
        Length::Long { seconds, .. } => command.args(["-T", &seconds.to_string()]),
        Length::Start | Length::Trial => {
            let each = length.queries(cell) / u64::from(cell.connections);
            command.args(["-t", &each.to_string()])
        }
    };
    command.arg("-f").arg(servers.script()).arg(ACCOUNT);
    Ok(())
}

fn sysbench(command: &mut Command, cell: &Cell, server: &Server, length: Length) {
    let (driver, prefix) = match cell.database {
        Database::Postgres => ("pgsql", "--pgsql"),
        Database::Mariadb => ("mysql", "--mysql"),
    };
    let prepare = match cell.statement {
        Statement::Prepared => "auto",
        Statement::Text => "disable",
    };
    command.arg("oltp_point_select").arg(format!("--db-driver={driver}"));
    command.arg(format!("{prefix}-host={}", server.host));
    command.arg(format!("{prefix}-port={}", server.port));
    command.arg(format!("{prefix}-user={ACCOUNT}")).arg(format!("{prefix}-db={ACCOUNT}"));
    command.arg(format!("--db-ps-mode={prepare}")).arg(format!("--table-size={ROWS}"));
    command.arg("--rand-type=uniform").arg(format!("--threads={}", cell.connections));
    command.arg("--point_selects=1").arg(format!("--time={}", length.seconds()));
    let events = match length {
        Length::Long { .. } => 0,
        Length::Start | Length::Trial => length.queries(cell),
    };
    command.arg(format!("--events={events}"));
    if cell.database == Database::Mariadb && cell.tls {
        command.arg("--mysql-ssl=on");
    }
    command.arg("run");
}

fn slap(
    command: &mut Command,
    cell: &Cell,
    servers: &Servers,
    length: Length,
) -> Result<(), Failure> {
    let server = servers.of(cell.database)?;
    command.args(["--no-defaults", "--protocol=tcp", "--no-drop", "--silent"]);
    command.args(["-h", &server.host, "-P", &server.port.to_string(), "-u", ACCOUNT]);
    command.arg(if cell.tls { "--ssl" } else { "--skip-ssl" });
    command.arg(format!("--create-schema={ACCOUNT}"));
    command.arg(format!("--concurrency={}", cell.connections));
    command.arg(format!("--number-of-queries={}", length.queries(cell)));
    command.arg("--delimiter=;").arg(format!("--query={}", servers.statements().display()));
    Ok(())
}

fn dbbench(
    command: &mut Command,
    cell: &Cell,
    servers: &Servers,
    length: Length,
) -> Result<(), Failure> {
    let server = servers.of(cell.database)?;
    let (driver, encryption) = match (cell.database, cell.tls) {
        (Database::Postgres, false) => ("postgres", "sslmode=disable"),
        (Database::Postgres, true) => ("postgres", "sslmode=require"),
        (Database::Mariadb, false) => ("mysql", "interpolateParams=true&tls=false"),
        (Database::Mariadb, true) => ("mysql", "interpolateParams=true&tls=skip-verify"),
    };
    let (place, arguments) = match (cell.database, cell.statement) {
        (Database::Postgres, Statement::Prepared) => ("$1", "query-args-file=arguments.csv\n"),
        (Database::Postgres, Statement::Text) => ("4711", ""),
        (Database::Mariadb, _) => ("?", "query-args-file=arguments.csv\n"),
    };
    let (duration, count) = match length {
        Length::Long { seconds, .. } => (format!("duration={seconds}s\n"), String::new()),
        Length::Start | Length::Trial => {
            (String::new(), format!("count={}\n", length.queries(cell)))
        }
    };
    let file = format!(
        "{duration}[point]\nquery=select c from sbtest1 where id = {place}\n{arguments}{count}\
         concurrency={}\n",
        cell.connections
    );
    let path = servers.folder().join("dbbench.ini");
    fs::write(&path, file)?;
    command.args(["--driver", driver, "--host", &server.host]);
    command.args(["--port", &server.port.to_string(), "--username", ACCOUNT]);
    command.args(["--database", ACCOUNT, "--params", encryption]);
    command.args(["--max-idle-conns", "1000", "--intermediate-stats=false"]).arg(path);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_requests_are_divided_equally_between_clients() {
        let cell = |connections| Cell {
            database: Database::Mariadb,
            statement: Statement::Text,
            tls: false,
            connections,
        };
        assert_eq!(Length::Start.queries(&cell(64)), 64);
        assert_eq!(Length::Trial.queries(&cell(1)), 20_000);
        assert_eq!(Length::Trial.queries(&cell(256)), 79 * 256);
        let long = Length::Long { seconds: 10, queries_per_s: 30_000.0 };
        assert_eq!(long.queries(&cell(16)), 300_000);
    }

    #[test]
    fn runner_has_the_same_name_in_options_and_results() {
        for runner in Runner::ALL {
            let written = serde_json::to_string(&runner).expect("a word");
            assert_eq!(written, format!("\"{}\"", runner.word()));
        }
    }

    #[test]
    fn runners_support_their_own_cells() {
        let able = |cell: &Cell| Runner::ALL.iter().filter(|runner| runner.supports(cell)).count();
        let counts: Vec<usize> = Cell::all().iter().map(able).collect();
        let (postgres, mariadb) = counts.split_at(16);
        assert_eq!(postgres, [5; 16]);
        assert_eq!(mariadb, [[4; 8], [5; 8]].concat());
    }
}
