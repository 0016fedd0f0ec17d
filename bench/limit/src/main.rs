//! A bare request loop: the lower bound of the cost of a database client.
//!
//! The loop runs many connections on one thread. It encodes the request once, replaces only the id
//! for each execution, and compares only the beginning and the end of each reply. It does not time
//! requests, supports one statement, and fails at the first unexpected reply. Everything beyond its
//! cost is overhead of a load generator; `compare` reports the costs of the loop and of the load
//! generators side by side.
//!
//! ```text
//! limit postgres --port 5432 --user bench --database bench --connections 16 --seconds 15
//! limit mysql --port 3306 --user bench --database bench --statement text --tls
//! ```
//!
//! The password is read from `PGPASSWORD` or `MYSQL_PWD`. Prints one line of JSON with the cost of
//! the loop, without the logins before it.

mod link;
mod mysql;
mod options;
mod postgres;
mod request;
mod rounds;

use std::fmt;
use std::process::ExitCode;

use limit::arguments::Failure;

use crate::link::{Link, Transport};
use crate::options::{Database, Options};
use crate::request::Request;
use crate::rounds::LoopConnection;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = Options::parse(&arguments).and_then(|options| measure(&options));
    match done {
        Ok(line) => {
            print_line(line);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            print_error(format!("limit: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// Logs in all connections, then runs the loop.
fn measure(options: &Options) -> Result<String, Failure> {
    let outcome = match options.tls {
        false => rounds::run(&mut open_connections(options, Link::into_plain)?, options),
        true => rounds::run(&mut open_connections(options, Link::into_tls)?, options),
    }?;
    Ok(outcome.to_string())
}

/// Opens all connections. Each has its own request, because the number of a prepared statement may
/// differ between connections.
fn open_connections<W: Transport>(
    options: &Options,
    into_transport: fn(Link) -> Result<W, Failure>,
) -> Result<Vec<LoopConnection<W>>, Failure> {
    let connection = |_| {
        let (link, request) = begin(options)?;
        Ok(LoopConnection::new(into_transport(link)?, request))
    };
    (0..options.connections).map(connection).collect()
}

/// Opens one connection and returns it with the request that it repeats.
fn begin(options: &Options) -> Result<(Link, Request), Failure> {
    match options.database_kind {
        Database::Postgres => postgres::begin(options),
        Database::Mysql => mysql::begin(options),
    }
}

/// Prints the result.
#[expect(clippy::print_stdout, reason = "the only function that prints to standard output")]
fn print_line(line: impl fmt::Display) {
    println!("{line}");
}

#[expect(clippy::print_stderr, reason = "the only function that prints to standard error")]
fn print_error(line: impl fmt::Display) {
    eprintln!("{line}");
}
