//! Tests of the simulated server with the databases' own clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use base::{Clock, Monotonic, Nanos};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sim::{Config, Service};
use testbed::Kind;
use testbed::wire_server::{Simulation, WireServer};

use crate::support::output_of;

fn start(simulation: Simulation) -> WireServer {
    WireServer::start(simulation).expect("a server")
}

/// Runs psql with these arguments.
fn psql(server: &WireServer, arguments: &[&str]) -> Result<String, String> {
    output_of(psql_client(server, arguments))
}

fn psql_client(server: &WireServer, arguments: &[&str]) -> Command {
    let mut psql = Command::new("psql");
    psql.args(["-X", "-A", "-t", "-h", "127.0.0.1", "-p", &server.address().port().to_string()]);
    psql.args(["-U", "anybody", "-d", "any"]).args(arguments);
    psql
}

/// Runs a statement with the mariadb client.
fn mariadb(server: &WireServer, sql: &str) -> Result<String, String> {
    output_of(mariadb_client(server, sql))
}

fn mariadb_client(server: &WireServer, sql: &str) -> Command {
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "-N", "-B", "-h", "127.0.0.1"]);
    client.args(["-P", &server.address().port().to_string(), "-u", "anybody", "any", "-e", sql]);
    client
}

#[test]
fn psql_is_answered() {
    let server = start(Simulation::at_once(Kind::Postgres));
    let sql = "select 7; begin; insert into t values (';'); commit; show x; set a = 1";
    let answers = psql(&server, &["-c", sql]);
    assert_eq!(answers, Ok("1\nBEGIN\nINSERT 0 1\nCOMMIT\nSET".to_owned()));
    assert_eq!(psql(&server, &["-c", "  "]), Ok(String::new()));
    assert_eq!(psql(&server, &["-c", "update t set a = 1"]), Ok("UPDATE 1".to_owned()));
}

#[test]
fn mariadb_is_answered() {
    let server = start(Simulation::at_once(Kind::Mariadb));
    let sql = "select 7; begin; insert into t values (1); commit; select 8; select @@version";
    assert_eq!(mariadb(&server, sql), Ok("1\n1".to_owned()));
    assert!(mariadb(&server, "show tables").is_ok());
}

#[test]
fn pgbench_is_answered_in_each_of_its_modes() {
    let server = start(Simulation::at_once(Kind::Postgres));
    let folder = std::env::temp_dir().join(format!("assay-pgbench-{}", std::process::id()));
    let script = "\\set id random(1, 9)\nselect a from t where id = :id;\n";
    std::fs::write(&folder, script).expect("a file");
    for mode in ["simple", "extended", "prepared"] {
        let mut pgbench = Command::new("pgbench");
        pgbench.args(["-n", "-c", "3", "-t", "20", "-M", mode, "-h", "127.0.0.1", "-U", "anybody"]);
        pgbench.args(["-p", &server.address().port().to_string(), "-f"]).arg(&folder).arg("any");
        let answer = output_of(pgbench).expect("pgbench ends well");
        assert!(answer.contains("actually processed: 60/60"), "{mode}: {answer}");
    }
    std::fs::remove_file(&folder).expect("the file");
}

#[test]
fn statements_take_the_time_that_is_simulated() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let service = Service::Constant(Nanos::from_millis(30));
        let config = Config::new(service, Some(1));
        let server = start(Simulation { config, ..Simulation::at_once(kind) });
        let sql = "select 1; select 2";
        let start = Monotonic.now();
        let answer = match kind {
            Kind::Postgres => psql(&server, &["-c", sql]),
            Kind::Mariadb | Kind::Mysql => mariadb(&server, sql),
        };
        assert_eq!(answer, Ok("1\n1".to_owned()));
        let took = Monotonic.now().since(start);
        assert!(took >= Nanos::from_millis(60), "{took}");
    }
}

#[test]
fn a_statement_that_is_refused_leaves_the_session_alive() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let at_once = Service::Constant(Nanos::ZERO);
        let config = Config { errors: 1.0, ..Config::new(at_once, None) };
        let server = start(Simulation { config, ..Simulation::at_once(kind) });
        let mut client = match kind {
            Kind::Postgres => psql_client(&server, &["-c", "select 1", "-c", "select 2"]),
            Kind::Mariadb | Kind::Mysql => mariadb_client(&server, "select 1; select 2"),
        };
        if kind == Kind::Mariadb {
            client.arg("--force");
        }
        let output = client.output().expect("the program runs");
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(words.matches("the simulated server returned an error").count(), 2, "{words}");
    }
}

#[test]
fn a_connection_can_be_lost_in_the_midst_of_a_statement() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let at_once = Service::Constant(Nanos::ZERO);
        let config = Config { disconnects: 1.0, ..Config::new(at_once, None) };
        let server = start(Simulation { config, ..Simulation::at_once(kind) });
        let words = match kind {
            Kind::Postgres => psql(&server, &["-c", "select 1"]),
            Kind::Mariadb | Kind::Mysql => mariadb(&server, "select 1"),
        };
        let words = words.expect_err("no answer").to_lowercase();
        let is_lost = ["server closed the connection", "lost connection", "gone away"];
        assert!(is_lost.iter().any(|printed| words.contains(printed)), "{words}");
    }
}

/// A simulated server in a separate process.
struct Host {
    child: Child,
    address: String,
}

impl Host {
    fn start(protocol: &str) -> Host {
        let mut host = Command::new(env!("CARGO_BIN_EXE_testbed-host"));
        host.args(["sim:null", protocol]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = host.spawn().expect("a host");
        let mut address = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut address).expect("a line");
        Host { child, address: address.trim().to_owned() }
    }

    fn port(&self) -> &str {
        self.address.rsplit_once(':').expect("an address").1
    }

    /// Closes the standard input of the process and waits until the process has ended.
    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("an end").success());
    }
}

#[test]
fn separate_server_process_ends_with_its_input() {
    let host = Host::start("postgres");
    let mut asking = Command::new("psql");
    asking.args(["-X", "-A", "-t", "-h", "127.0.0.1", "-p", host.port(), "-U", "a"]);
    asking.args(["-c", "select 1"]);
    assert_eq!(output_of(asking), Ok("1".to_owned()));
    host.end();
    let host = Host::start("mariadb");
    let mut asking = Command::new("mariadb");
    asking.args(["--no-defaults", "-N", "-B", "-h", "127.0.0.1", "-P", host.port(), "-u", "a"]);
    asking.args(["-e", "select 1"]);
    assert_eq!(output_of(asking), Ok("1".to_owned()));
    host.end();
}

/// Reads until the server reports that it is ready for a query (ReadyForQuery), and returns the
/// bytes read.
fn ready(stream: &mut TcpStream) -> Vec<u8> {
    let (mut said, mut bytes) = (Vec::new(), [0; 1_024]);
    while !said.ends_with(b"Z\0\0\0\x05I") {
        let length = stream.read(&mut bytes).expect("an answer");
        assert!(length > 0, "the server hung up");
        said.extend_from_slice(&bytes[..length]);
    }
    said
}

#[test]
fn ten_thousand_connections_are_held() {
    const CONNECTIONS: usize = 10_000;
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("a limit");
    let enough = limit.maximum.is_none_or(|most| most > CONNECTIONS as u64 + 200);
    assert!(enough, "raise the limit of open files above 10,200: {limit:?}");
    let host = Host::start("postgres");
    let mut streams: Vec<TcpStream> = (0..CONNECTIONS)
        .map(|_| {
            let mut stream = TcpStream::connect(&host.address).expect("a connection");
            stream.write_all(b"\0\0\0\x10\0\x03\0\0user\0a\0\0").expect("sent");
            ready(&mut stream);
            stream
        })
        .collect();
    for stream in &mut streams {
        stream.write_all(b"Q\0\0\0\x0dselect 1\0").expect("sent");
    }
    for stream in &mut streams {
        let said = ready(stream);
        assert!(said.windows(8).any(|part| part == b"SELECT 1"), "{said:?}");
    }
    drop(streams);
    host.end();
}

#[test]
fn bytes_in_any_pieces_are_answered_alike() {
    let server = start(Simulation::at_once(Kind::Postgres));
    let script = [
        b"\0\0\0\x10\0\x03\0\0user\0a\0\0".as_slice(),
        b"P\0\0\0\x17s\0select $1::int\0\0\0D\0\0\0\x07Ss\0",
        b"B\0\0\0\x12\0s\0\0\0\0\x01\0\0\0\x017\0\0E\0\0\0\x09\0\0\0\0\0",
        b"B\0\0\0\x0d\0t\0\0\0\0\0\0\0S\0\0\0\x04",
        b"Q\0\0\0\x0dselect 1\0X\0\0\0\x04",
    ]
    .concat();
    let answers = [1, 3, 7, script.len()].map(|piece| {
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        stream.set_nodelay(true).expect("an option");
        for bytes in script.chunks(piece) {
            stream.write_all(bytes).expect("sent");
        }
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        answer
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    let types: Vec<u8> = messages(&answers[0]);
    // Settings, the prepared statement, its row, an unknown statement, and a query.
    assert_eq!(String::from_utf8_lossy(&types), "RSSSSSSKZ1tT2DCEZTDCZ");
}

/// Returns the types of a server's messages in order.
fn messages(mut bytes: &[u8]) -> Vec<u8> {
    let mut types = Vec::new();
    while let Some((head, _)) = bytes.split_first_chunk::<5>() {
        let [kind, length @ ..] = *head;
        types.push(kind);
        bytes = &bytes[1 + u32::from_be_bytes(length) as usize..];
    }
    types
}
