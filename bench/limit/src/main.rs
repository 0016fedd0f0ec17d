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
use crate::rounds::Lane;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = Options::parse(&arguments).and_then(|options| measure(&options));
    match done {
        Ok(line) => {
            say(line);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            complain(format!("limit: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// Logs in all connections, then runs the loop.
fn measure(options: &Options) -> Result<String, Failure> {
    let outcome = match options.tls {
        false => rounds::run(&mut lanes(options, Link::into_plain)?, options),
        true => rounds::run(&mut lanes(options, Link::into_tls)?, options),
    }?;
    Ok(outcome.to_string())
}

/// Opens all connections. Each has its own request, because the number of a prepared statement may
/// differ between connections.
fn lanes<W: Transport>(
    options: &Options,
    into_way: fn(Link) -> Result<W, Failure>,
) -> Result<Vec<Lane<W>>, Failure> {
    let lane = |_| {
        let (link, request) = begin(options)?;
        Ok(Lane::new(into_way(link)?, request))
    };
    (0..options.connections).map(lane).collect()
}

/// Opens one connection and returns it with the request that it repeats.
fn begin(options: &Options) -> Result<(Link, Request), Failure> {
    match options.database_kind {
        Database::Postgres => postgres::begin(options),
        Database::Mysql => mysql::begin(options),
    }
}

/// Prints the result.
#[expect(clippy::print_stdout, reason = "this is the program's one way to speak")]
fn say(line: impl fmt::Display) {
    println!("{line}");
}

#[expect(clippy::print_stderr, reason = "this is the program's one way to complain")]
fn complain(line: impl fmt::Display) {
    eprintln!("{line}");
}
