//! The servers, each with the one table that all load generators select from.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bench::SimulatedServer;

use crate::cells::Database;
use crate::child;
use crate::options::Options;
use crate::output::Failure;

/// Name of the user and of the database with the table. The user has no password, because some load
/// generators take the password on the command line, which the list of processes shows.
pub(crate) const ACCOUNT: &str = "bench";

/// Number of rows of the table.
pub(crate) const ROWS: u32 = 100_000;

/// Number of ids in the file of arguments: more than any run uses.
const ARGUMENTS: u32 = 3_000_000;

/// Number of statements that `mariadb-slap` executes in turn.
const STATEMENTS: u32 = 1_000;

/// Names of the files that `sysbench` expects: the authority's certificate, the client's
/// certificate and the client's key.
const CERTIFICATES: [&str; 3] = ["cacert.pem", "client-cert.pem", "client-key.pem"];

/// Longest time to fill a table.
const PATIENCE: Duration = Duration::from_secs(600);

/// Largest number of connections of a private server: the largest number that `memory` opens to a
/// real server, and some for administration.
const MOST_CONNECTIONS: u32 = 1_100;

/// A server that accepts connections.
pub(crate) struct Server {
    pub(crate) host: String,
    pub(crate) port: u16,
    source: Source,
}

/// The origin of a server.
enum Source {
    /// Named on the command line.
    Given,
    /// Started privately; stopped on drop.
    Private(Box<testbed::Server>),
    /// Simulated, with immediate answers, in a separate process that ends on drop.
    Simulated { _server: SimulatedServer },
}

/// The servers, and a scratch folder for the load generators.
pub(crate) struct Servers {
    postgres: Option<Server>,
    mariadb: Option<Server>,
    scratch: tempfile::TempDir,
}

impl Servers {
    /// Starts private servers of the selected databases, or takes those named on the command line,
    /// with the shared table if the measure needs it.
    pub(crate) fn real(options: &Options) -> Result<Servers, Failure> {
        Servers::of_kind(options, Server::start)
    }

    /// Starts simulated servers that answer every request at once; takes servers named on the
    /// command line in their place.
    pub(crate) fn simulated(options: &Options) -> Result<Servers, Failure> {
        Servers::of_kind(options, Server::simulate)
    }

    fn of_kind(
        options: &Options,
        start: impl Fn(Database) -> Result<Server, Failure>,
    ) -> Result<Servers, Failure> {
        let mut servers = Servers { postgres: None, mariadb: None, scratch: tempfile::tempdir()? };
        if options.measure.needs_table() {
            servers.write_inputs()?;
        }
        for database in options.databases() {
            let (given, option) = match database {
                Database::Postgres => (&options.postgres, "--postgres"),
                Database::Mariadb => (&options.mariadb, "--mariadb"),
            };
            let server = match given {
                Some(given) => Server::parse(given, option)?,
                None => start(database)?,
            };
            if options.measure.needs_table() && !matches!(server.source, Source::Simulated { .. }) {
                server.fill(database)?;
            }
            if let (Database::Mariadb, Source::Private(private)) = (database, &server.source) {
                servers.take_certificates(private)?;
            }
            match database {
                Database::Postgres => servers.postgres = Some(server),
                Database::Mariadb => servers.mariadb = Some(server),
            }
        }
        if let Some(folder) = &options.certificates {
            for name in CERTIFICATES {
                servers.take_certificate(&folder.join(name), name)?;
            }
        }
        Ok(servers)
    }

    /// Copies a server's certificates to the fixed names that `sysbench` expects, even if the
    /// server does not verify clients.
    fn take_certificates(&self, server: &testbed::Server) -> Result<(), Failure> {
        let Some(files) = server.certificates() else { return Ok(()) };
        let paths = [&files.authority, &files.client, &files.client_key];
        let named = paths.into_iter().zip(CERTIFICATES);
        named.into_iter().try_for_each(|(path, name)| self.take_certificate(path, name))
    }

    fn take_certificate(&self, path: &Path, name: &str) -> Result<(), Failure> {
        fs::copy(path, self.folder().join(name))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(())
    }

    /// Returns the server of a selected database.
    pub(crate) fn of(&self, database: Database) -> Result<&Server, Failure> {
        let server = match database {
            Database::Postgres => &self.postgres,
            Database::Mariadb => &self.mariadb,
        };
        Ok(server.as_ref().ok_or_else(|| format!("{} is not wanted", database.word()))?)
    }

    /// Returns the working directory of the load generators.
    pub(crate) fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// Returns the path of the script of `pgbench`.
    pub(crate) fn script(&self) -> PathBuf {
        self.folder().join("point.pgbench")
    }

    /// Returns the path of the statements of `mariadb-slap`.
    pub(crate) fn statements(&self) -> PathBuf {
        self.folder().join("point.sql")
    }

    fn write_inputs(&self) -> Result<(), Failure> {
        let script = format!("\\set id random(1, {ROWS})\nselect c from sbtest1 where id = :id;\n");
        fs::write(self.script(), script)?;
        let mut ids = Ids(1);
        let statements: Vec<String> = (0..STATEMENTS)
            .map(|_| format!("select c from sbtest1 where id = {}", ids.next()))
            .collect();
        fs::write(self.statements(), statements.join(";"))?;
        let mut file = BufWriter::new(File::create(self.folder().join("arguments.csv"))?);
        for _ in 0..ARGUMENTS {
            writeln!(file, "{}", ids.next())?;
        }
        Ok(file.flush()?)
    }
}

/// Random ids for load generators that cannot draw ids themselves, from a linear congruential
/// generator of 64 bits.
struct Ids(u64);

impl Ids {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % u64::from(ROWS) + 1
    }
}

impl Server {
    /// Starts a private server with default settings, except for the number of connections, TLS
    /// and, with PostgreSQL, the authentication. Only `load` writes to it during a measurement.
    fn start(database: Database) -> Result<Server, Failure> {
        let (options, statements) = match database {
            Database::Postgres => (
                testbed::Options::postgres().auth(testbed::Auth::Trust),
                [format!("create user {ACCOUNT} superuser"), format!("create database {ACCOUNT}")],
            ),
            Database::Mariadb => (
                testbed::Options::mariadb(),
                [
                    format!("create user {ACCOUNT}@'%'; grant all on *.* to {ACCOUNT}@'%'"),
                    format!("create database {ACCOUNT}"),
                ],
            ),
        };
        let server = testbed::Server::start(
            &options.max_connections(MOST_CONNECTIONS).tls(testbed::Tls::Server),
        )?;
        for statement in &statements {
            server.sql(statement)?;
        }
        let (host, port) = ("127.0.0.1".to_owned(), server.port());
        Ok(Server { host, port, source: Source::Private(Box::new(server)) })
    }

    /// Starts a simulated server, in a process of its own, that speaks the protocol of the database
    /// and answers at once.
    fn simulate(database: Database) -> Result<Server, Failure> {
        let server = SimulatedServer::start("sim:null", database.word())?;
        let (host, port) = (server.host.clone(), server.port);
        Ok(Server { host, port, source: Source::Simulated { _server: server } })
    }

    fn parse(given: &str, option: &str) -> Result<Server, Failure> {
        let parsed = given.rsplit_once(':').and_then(|(host, port)| {
            Some(Server { host: host.to_owned(), port: port.parse().ok()?, source: Source::Given })
        });
        Ok(parsed.ok_or_else(|| format!("{option} {given}: give HOST:PORT"))?)
    }

    /// Creates the table `sbtest1` of `sysbench`, with texts of equal length to make all replies
    /// equally long.
    fn fill(&self, database: Database) -> Result<(), Failure> {
        let table = "drop table if exists sbtest1; \
            create table sbtest1 (id int primary key, k int not null, c char(120) not null, \
            pad char(60) not null);";
        let sql = match database {
            Database::Postgres => format!(
                "{table} insert into sbtest1 select n, n % 1000, \
                 repeat(md5(n::text), 3) || 'abcdefghijklmnopqrstuvw', md5(n::text) \
                 from generate_series(1, {ROWS}) n"
            ),
            Database::Mariadb => format!(
                "{table} insert into sbtest1 select seq, seq % 1000, \
                 concat(repeat(md5(seq), 3), 'abcdefghijklmnopqrstuvw'), md5(seq) \
                 from seq_1_to_{ROWS}"
            ),
        };
        self.execute(database, &sql)?;
        let analyze = match database {
            Database::Postgres => "vacuum analyze sbtest1",
            Database::Mariadb => "analyze table sbtest1",
        };
        self.execute(database, analyze)
    }

    /// Executes statements with the database's own client.
    pub(crate) fn execute(&self, database: Database, sql: &str) -> Result<(), Failure> {
        let ran = child::run(self.client(database, sql), PATIENCE)?;
        match ran.status.success() {
            true => Ok(()),
            false => Err(format!("{}: {}", database.name(), ran.stderr.trim()).into()),
        }
    }

    /// Returns the command that executes statements with the database's own client.
    pub(crate) fn client(&self, database: Database, sql: &str) -> Command {
        let port = self.port.to_string();
        let mut command;
        match database {
            Database::Postgres => {
                command = Command::new("psql");
                command.args(["-h", &self.host, "-p", &port, "-U", ACCOUNT, "-d", ACCOUNT]);
                command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql]);
            }
            Database::Mariadb => {
                command = Command::new("mariadb");
                command.args(["--no-defaults", "-h", &self.host, "-P", &port, "-u", ACCOUNT]);
                command.args(["--protocol=tcp", "--skip-ssl", "--local-infile=1"]);
                command.args(["-D", ACCOUNT, "-e", sql]);
            }
        }
        command
    }

    /// Returns the URL of the server for Assay.
    pub(crate) fn url(&self, database: Database, tls: bool) -> String {
        let scheme = match database {
            Database::Postgres => "postgres",
            Database::Mariadb => "mysql",
        };
        let tls = if tls { "require" } else { "off" };
        format!("{scheme}://{ACCOUNT}@{}:{}/{ACCOUNT}?tls={tls}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_host_and_port() {
        let server = Server::parse("127.0.0.1:5432", "--postgres").expect("an address");
        assert_eq!(
            server.url(Database::Postgres, true),
            "postgres://bench@127.0.0.1:5432/bench?tls=require"
        );
        let error = Server::parse("localhost", "--postgres").err().expect("no port");
        assert_eq!(error.to_string(), "--postgres localhost: give HOST:PORT");
    }

    #[test]
    fn ids_agree_with_the_table() {
        let mut ids = Ids(1);
        assert!((0..10_000).all(|_| (1..=u64::from(ROWS)).contains(&ids.next())));
    }
}
