//! What must a client of a database cost at least?
//!
//! A bare loop: so many connections on one thread, a request that was encoded once and gets another
//! id each time, and a look at both ends of each reply. It keeps no time of any request, knows one
//! statement, and gives up at the first surprise. What a load generator needs beyond it is what the
//! load generator costs; `compare`, beside it, sets both side by side.
//!
//! ```text
//! limit postgres --port 5432 --user bench --database bench --connections 16 --seconds 15
//! limit mysql --port 3306 --user bench --database bench --statement text --tls
//! ```
//!
//! The password is taken from `PGPASSWORD` or `MYSQL_PWD`. Prints one line of JSON, which tells
//! what the loop took without the logins before it.

mod link;
mod mysql;
mod options;
mod postgres;
mod request;
mod rounds;

use std::fmt;
use std::process::ExitCode;

use limit::arguments::Failure;

use crate::link::{Link, Way};
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

/// Logs all connections in, then runs the loop.
fn measure(options: &Options) -> Result<String, Failure> {
    let outcome = match options.tls {
        false => rounds::run(&mut lanes(options, Link::into_plain)?, options),
        true => rounds::run(&mut lanes(options, Link::into_tls)?, options),
    }?;
    Ok(outcome.to_string())
}

/// All connections, each with its request: a server numbers its statements, perhaps across all
/// connections.
fn lanes<W: Way>(
    options: &Options,
    into_way: fn(Link) -> Result<W, Failure>,
) -> Result<Vec<Lane<W>>, Failure> {
    let lane = |_| {
        let (link, request) = begin(options)?;
        Ok(Lane::new(into_way(link)?, request))
    };
    (0..options.connections).map(lane).collect()
}

/// One connection that is ready, and the request that it repeats.
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
