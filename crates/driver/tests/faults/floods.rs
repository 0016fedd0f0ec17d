//! Tests of servers that send excessive or unexpected data.

use base::{Class, Nanos, RowMemory, RowPart, Rows, Target};
use driver::{Connection, Driver, Mysql, Postgres, PreparedId, Step, Table, Work};
use rt::{Rt, within};
use wire_mysql::{
    Answers, Capabilities, ColumnDefinition, ColumnType, Handshake, Negotiated, OkPacket, Prepared,
    StatementId as ServerId, Status, WANTED, packet,
};
use wire_postgres::backend::{self, Column, ParameterStatus};
use wire_postgres::{Format, Oid, TransactionStatus};

use crate::impostor::{ScriptedConnection, ScriptedServer};
use crate::{check, in_real_time, text};

/// Minimum size of the pieces that a flooding server sends, in bytes.
const PIECE: usize = 256 << 10;

/// Returns one message repeated to a length of at least [`PIECE`] bytes.
fn flood(write: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < PIECE {
        write(&mut out);
    }
    out
}

/// Sends a piece repeatedly until the other side closes the connection.
fn send_for_ever(connection: &mut ScriptedConnection, piece: &[u8]) {
    while connection.send_if_open(piece) {}
}

/// A function that appends a message.
type Message<'m> = &'m dyn Fn(&mut Vec<u8>);

/// Plays a PostgreSQL session up to the execution of the first statement.
fn begin_postgres(connection: &mut ScriptedConnection) {
    let mut out = Vec::new();
    backend::authentication_ok(&mut out);
    backend::ready_for_query(&mut out, TransactionStatus::Idle);
    connection.receive();
    connection.send(&out);
    connection.receive();
    out.clear();
    backend::parse_complete(&mut out);
    backend::parameter_description(&mut out, []).expect("no parameters");
    backend::row_description(&mut out, [column("n")]).expect("a column");
    backend::ready_for_query(&mut out, TransactionStatus::Idle);
    connection.send(&out);
    connection.receive();
}

fn column(name: &str) -> Column<'_> {
    Column {
        name: name.as_bytes(),
        table: Oid(0),
        number: 0,
        type_oid: Oid::TEXT,
        type_size: -1,
        modifier: -1,
        format: Format::Text,
    }
}

fn postgres(impostor: &ScriptedServer) -> Postgres {
    let url = format!("postgres://ann:hunter2@127.0.0.1:{}/shop", impostor.port());
    Postgres::open(&Target::parse(&url).expect("a URL")).expect("a URL of ours")
}

/// Starts a PostgreSQL server that sends `answer` to the first execution, and then `flood` forever.
fn flooding_postgres(answer: Vec<u8>, flood: Vec<u8>) -> ScriptedServer {
    ScriptedServer::playing(move |connection| {
        begin_postgres(connection);
        connection.send(&answer);
        send_for_ever(connection, &flood);
    })
}

/// Builds the execution of a prepared statement without values.
fn execution() -> Work {
    let mut work = Work::default();
    work.steps.push(Step::Execute { statement: PreparedId(0), first: 0, count: 0 });
    work
}

/// Prepares a statement and runs it for a while alongside a task that needs the same thread.
async fn run_for_a_while<D: Driver>(driver: &D, rt: &Rt, work: &mut Work) {
    let mut connection = driver.connect(rt).await.expect("a session");
    connection.prepare("select 1").await.expect("a statement");
    let beside = rt.spawn({
        let rt = rt.clone();
        async move {
            for _ in 0..20 {
                rt.sleep(Nanos::from_millis(1)).await;
            }
        }
    });
    let run = within(rt, Nanos::from_millis(200), connection.run(work)).await;
    assert!(run.is_none(), "the answer ends: {run:?}");
    // The other task completes only if it got its turns.
    beside.await;
    connection.abandon();
}

#[test]
fn endless_postgres_messages_are_given_up_in_time() {
    let bound = || {
        let mut out = Vec::new();
        backend::bind_complete(&mut out);
        out
    };
    let floods = [
        flood(|out| backend::notice_response(out, [(b'M', "careful")]).expect("a notice")),
        flood(|out| {
            let status = ParameterStatus { name: b"TimeZone", value: b"UTC" };
            backend::parameter_status(out, status).expect("a setting");
        }),
        flood(|out| backend::data_row(out, [Some(&b"1"[..])]).expect("a row")),
    ];
    for flood in floods {
        for capture in [Rows::default(), RowMemory::default().buffer()] {
            let server = flooding_postgres(bound(), flood.clone());
            in_real_time(async |rt| {
                let mut work = Work { capture, ..execution() };
                run_for_a_while(&postgres(&server), &rt, &mut work).await;
                assert!(work.capture.weight() <= Rows::LIMIT);
            });
        }
    }
}

#[test]
fn endless_postgres_login_is_given_up_in_time() {
    let server = ScriptedServer::playing(|connection| {
        connection.receive();
        let notice = |out: &mut Vec<u8>| {
            backend::notice_response(out, [(b'M', "wait")]).expect("a notice");
        };
        send_for_ever(connection, &flood(notice));
    });
    let url = format!("postgres://a:b@127.0.0.1:{}/c?connect-timeout=100ms", server.port());
    let driver = Postgres::open(&Target::parse(&url).expect("a URL")).expect("a URL of ours");
    let error = in_real_time(async |rt| driver.connect(&rt).await.err().expect("no session"));
    check(&error, Class::Disconnect, "disconnect", &["did not complete a login within 100ms"]);
}

/// The client must read while it sends: the server reads nothing before the client has read 64 MiB.
#[test]
fn answers_during_a_long_send_are_discarded() {
    let server = ScriptedServer::playing(|connection| {
        let mut out = Vec::new();
        backend::authentication_ok(&mut out);
        backend::ready_for_query(&mut out, TransactionStatus::Idle);
        connection.receive();
        connection.send(&out);
        let notice = |out: &mut Vec<u8>| {
            backend::notice_response(out, [(b'M', "careful")]).expect("a notice");
        };
        let piece = flood(notice);
        // More data than a connection may hold, all sent before the server reads.
        for _ in 0..(64 << 20) / piece.len() {
            assert!(connection.send_if_open(&piece), "the client goes on reading");
        }
        let mut received = 0;
        while received < 8 << 20 {
            received += connection.receive().len();
        }
        out.clear();
        backend::command_complete(&mut out, "SET").expect("a tag");
        backend::ready_for_query(&mut out, TransactionStatus::Idle);
        connection.send(&out);
        connection.wait();
    });
    in_real_time(async |rt| {
        let mut connection = postgres(&server).connect(&rt).await.expect("a session");
        let long = "x".repeat(8 << 20);
        connection.run(&mut text(&format!("set a = '{long}'"))).await.expect("an answer");
        connection.close().await;
    });
}

#[test]
fn postgres_answer_that_breaks_the_grammar_ends_the_session() {
    let ready = |out: &mut Vec<u8>| backend::ready_for_query(out, TransactionStatus::Idle);
    let done = |out: &mut Vec<u8>| backend::command_complete(out, "SELECT 0").expect("a tag");
    let many = |out: &mut Vec<u8>| backend::command_complete(out, "SELECT 7").expect("a tag");
    let minus = |out: &mut Vec<u8>| backend::command_complete(out, "UPDATE -5").expect("a tag");
    let wide = |out: &mut Vec<u8>| backend::data_row(out, [None, None]).expect("a row");
    let cut = |out: &mut Vec<u8>| out.extend_from_slice(b"D\0\0\0\x08\0\x01\0\0");
    let empty = |out: &mut Vec<u8>| backend::empty_query_response(out);
    let suspended = |out: &mut Vec<u8>| backend::portal_suspended(out);
    let row = |out: &mut Vec<u8>| backend::data_row(out, [Some(&b"1"[..])]).expect("a row");
    let bound = |out: &mut Vec<u8>| backend::bind_complete(out);
    let written = |parts: &[Message<'_>]| {
        let mut out = Vec::new();
        parts.iter().for_each(|part| part(&mut out));
        out
    };
    for (answer, words) in [
        (written(&[&ready]), "ReadyForQuery before all answers"),
        (written(&[&bound, &ready]), "ReadyForQuery without CommandComplete"),
        (written(&[&bound, &row, &ready]), "ReadyForQuery without CommandComplete"),
        (written(&[&row, &done, &ready]), "DataRow without BindComplete"),
        (written(&[&done, &ready]), "CommandComplete without BindComplete"),
        (written(&[&bound, &done, &ready, &ready]), "ReadyForQuery without a request"),
        (written(&[&bound, &row, &suspended, &ready]), "PortalSuspended without a row limit"),
        (written(&[&bound, &empty, &ready]), "EmptyQueryResponse to a command"),
        (written(&[&bound, &wide, &done, &ready]), "DataRow, number of columns"),
        (written(&[&bound, &cut, &done, &ready]), "DataRow, values"),
        (written(&[&bound, &row, &row, &many, &ready]), "CommandComplete, number of rows"),
        (written(&[&bound, &many, &ready]), "CommandComplete, number of rows"),
        (written(&[&bound, &minus, &ready]), "CommandComplete, number of rows"),
    ] {
        let server = ScriptedServer::playing(move |connection| {
            begin_postgres(connection);
            connection.send(&answer);
            connection.wait();
        });
        let error = in_real_time(async |rt| {
            let mut connection = postgres(&server).connect(&rt).await.expect("a session");
            connection.prepare("select 1").await.expect("a statement");
            connection.run(&mut execution()).await.expect_err("no answer")
        });
        let address = format!("127.0.0.1:{}", server.port());
        let words = [words, "does not speak PostgreSQL's protocol", address.as_str()];
        check(&error, Class::Disconnect, "disconnect", &words);
    }
}

/// Row counts greater than those of any table must not overflow a sum.
#[test]
fn postgres_row_count_may_be_any_number() {
    for count in [u64::MAX, i64::MAX as u64] {
        let server = ScriptedServer::playing(move |connection| {
            begin_postgres(connection);
            for _ in 0..3 {
                let mut out = Vec::new();
                backend::bind_complete(&mut out);
                backend::command_complete(&mut out, format!("UPDATE {count}")).expect("a tag");
                backend::ready_for_query(&mut out, TransactionStatus::Idle);
                connection.send(&out);
                connection.receive();
            }
        });
        in_real_time(async |rt| {
            let mut connection = postgres(&server).connect(&rt).await.expect("a session");
            connection.prepare("select 1").await.expect("a statement");
            let mut work = execution();
            work.steps = vec![work.steps[0]; 3];
            connection.run(&mut work).await.expect("an answer");
            assert_eq!(work.reply.rows, count.saturating_mul(3));
        });
    }
}

#[test]
fn postgres_answer_to_a_control_statement_is_held_up_to_a_limit() {
    let rows = 80;
    let server = ScriptedServer::playing(move |connection| {
        let mut out = Vec::new();
        backend::authentication_ok(&mut out);
        backend::ready_for_query(&mut out, TransactionStatus::Idle);
        connection.receive();
        connection.send(&out);
        connection.receive();
        out.clear();
        backend::row_description(&mut out, [column("n")]).expect("a column");
        connection.send(&out);
        let long = vec![b'x'; 1 << 20];
        for _ in 0..rows {
            out.clear();
            backend::data_row(&mut out, [Some(&long[..])]).expect("a row");
            connection.send(&out);
        }
        out.clear();
        backend::command_complete(&mut out, format!("SELECT {rows}")).expect("a tag");
        backend::ready_for_query(&mut out, TransactionStatus::Idle);
        connection.send(&out);
        connection.wait();
    });
    let table = in_real_time(async |rt| {
        let mut connection = postgres(&server).connect(&rt).await.expect("a session");
        let table = connection.query_text("select everything").await.expect("an answer");
        connection.close().await;
        table
    });
    assert!(table.is_cut);
    assert_eq!(table.rows.len(), Table::LIMIT / (1 << 20) - 1);
}

/// Starts a PostgreSQL server that sends an error of 12 MiB without its last byte.
fn long_error() -> ScriptedServer {
    ScriptedServer::playing(|connection| {
        begin_postgres(connection);
        let mut out = Vec::new();
        let message = "x".repeat(12 << 20);
        let fields = [(b'S', "ERROR"), (b'C', "P0001"), (b'M', message.as_str())];
        backend::error_response(&mut out, fields).expect("an error");
        connection.send(&out[..out.len() - 1]);
        connection.wait();
    })
}

#[test]
fn incomplete_answers_of_all_sessions_have_one_limit() {
    let servers = [long_error(), long_error()];
    let [first, second] = servers.each_ref().map(ScriptedServer::port);
    let url = format!("postgres://ann:hunter2@127.0.0.1:{first},127.0.0.1:{second}/shop");
    let driver = Postgres::open(&Target::parse(&url).expect("a URL")).expect("a URL of ours");
    let error = in_real_time(async |rt| {
        let mut first = driver.connect(&rt).await.expect("a session");
        first.prepare("select 1").await.expect("a statement");
        let mut work = execution();
        let run = within(&rt, Nanos::from_millis(500), first.run(&mut work)).await;
        assert!(run.is_none(), "the error is complete: {run:?}");
        // The first session still holds its part of an answer.
        let mut second = driver.connect(&rt).await.expect("a session");
        second.prepare("select 1").await.expect("a statement");
        let mut work = execution();
        let run = within(&rt, Nanos::from_secs(10), second.run(&mut work)).await;
        first.abandon();
        run.expect("the second session waits for the rest").expect_err("too little memory")
    });
    let words = ["the incomplete answers of all connections take more than 20 MiB"];
    check(&error, Class::Disconnect, "disconnect", &words);
}

/// Returns the capabilities that the client and the simulated server of MySQL agree on.
fn agreed() -> Negotiated {
    Negotiated::of(WANTED | Capabilities::CONNECT_WITH_DB, WANTED)
}

fn number() -> ColumnDefinition<'static> {
    ColumnDefinition::computed(b"n", ColumnType::VAR_STRING, 45)
}

/// Plays a MySQL session up to the execution of the first statement.
fn begin_mysql(connection: &mut ScriptedConnection) {
    let mut out = Vec::new();
    let greeting = Handshake {
        server_version: b"5.5.5-10.11.0-MariaDB",
        thread_id: 1,
        nonce: [1; 20],
        offered: WANTED | Capabilities::CONNECT_WITH_DB,
        collation: 45,
        status: Status::AUTOCOMMIT,
        method: b"mysql_native_password",
    };
    packet(&mut out, 0, |out| greeting.encode(out));
    connection.send(&out);
    connection.receive();
    out.clear();
    let ok = OkPacket { status: Status::AUTOCOMMIT, ..OkPacket::default() };
    Answers::new(&mut out, agreed(), 2).ok(&ok);
    connection.send(&out);
    connection.receive();
    out.clear();
    let prepared = Prepared { id: ServerId(1), columns: 1, parameters: 0, warnings: 0 };
    Answers::new(&mut out, agreed(), 1).prepared(&prepared, &[], &[number()]);
    connection.send(&out);
    connection.receive();
}

fn mysql(impostor: &ScriptedServer) -> Mysql {
    let url = format!("mysql://ann:hunter2@127.0.0.1:{}/shop", impostor.port());
    Mysql::open(&Target::parse(&url).expect("a URL"), ".").expect("a URL of ours")
}

#[test]
fn endless_mysql_rows_are_given_up_in_time() {
    for capture in [Rows::default(), RowMemory::default().buffer()] {
        let server = ScriptedServer::playing(|connection| {
            begin_mysql(connection);
            let mut out = Vec::new();
            let mut answers = Answers::new(&mut out, agreed(), 1);
            answers.columns(&[number()], true);
            let mut sequence = answers.sequence();
            while connection.send_if_open(&out) {
                out.clear();
                while out.len() < PIECE {
                    let mut answers = Answers::new(&mut out, agreed(), sequence);
                    answers.binary_row([wire_mysql::Field::Bytes(b"1")]);
                    sequence = answers.sequence();
                }
            }
        });
        in_real_time(async |rt| {
            let mut work = Work { capture, ..execution() };
            run_for_a_while(&mysql(&server), &rt, &mut work).await;
            assert!(work.capture.weight() <= Rows::LIMIT);
        });
    }
}

#[test]
fn surplus_mysql_answer_ends_the_session() {
    let server = ScriptedServer::playing(|connection| {
        begin_mysql(connection);
        let mut out = Vec::new();
        let ok = OkPacket { status: Status::AUTOCOMMIT, ..OkPacket::default() };
        for _ in 0..2 {
            Answers::new(&mut out, agreed(), 1).ok(&ok);
        }
        connection.send(&out);
        connection.wait();
    });
    let error = in_real_time(async |rt| {
        let mut connection = mysql(&server).connect(&rt).await.expect("a session");
        connection.prepare("do 1").await.expect("a statement");
        connection.run(&mut execution()).await.expect_err("two answers")
    });
    check(&error, Class::Disconnect, "disconnect", &["packet after the last reply"]);
}

/// If an answer exceeds the buffer's limit, all of its rows are discarded, and the session
/// continues.
#[test]
fn rows_beyond_the_limit_are_given_up_and_the_session_continues() {
    let server = ScriptedServer::playing(|connection| {
        begin_postgres(connection);
        let answer = |rows: usize, length: usize| {
            let mut out = Vec::new();
            let long = vec![b'x'; length];
            backend::bind_complete(&mut out);
            for _ in 0..rows {
                backend::data_row(&mut out, [Some(&long[..])]).expect("a row");
            }
            backend::command_complete(&mut out, format!("SELECT {rows}")).expect("a tag");
            backend::ready_for_query(&mut out, TransactionStatus::Idle);
            out
        };
        for (rows, length) in [(2, 3), (40, 1 << 20), (1, 20 << 20), (2, 3)] {
            connection.send(&answer(rows, length));
            connection.receive();
        }
    });
    in_real_time(async |rt| {
        let mut connection = postgres(&server).connect(&rt).await.expect("a session");
        connection.prepare("select 1").await.expect("a statement");
        let mut work = Work { capture: RowMemory::default().buffer(), ..execution() };
        for (rows, is_overfull) in [(2, false), (40, true), (1, true), (2, false)] {
            work.reply.reset();
            work.capture.clear();
            connection.run(&mut work).await.expect("an answer");
            assert_eq!((work.reply.rows, work.capture.overflow().is_some()), (rows, is_overfull));
            let ends = work.capture.parts().filter(|part| *part == RowPart::End).count();
            assert_eq!(ends, if is_overfull { 0 } else { 2 });
        }
    });
}
