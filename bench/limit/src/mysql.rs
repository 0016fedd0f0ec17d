//! Login to MySQL or MariaDB, and the request to repeat.

use std::io::Write as _;

use wire_mysql::{
    Channel, Command, ErrPacket, Execute, Login, LoginOptions, LoginStep, Negotiated, Parameter,
    Password, Prepared, Replies, ReplyKind, ResultEnd, ServerKey, Sink, WANTED,
};

use crate::link::Link;
use crate::options::{Options, Statement};
use crate::request::{Id, MARK, Request};
use limit::arguments::Failure;

/// Number of trial executions; the last reply is the pattern. MariaDB sends the column definitions
/// only with the first reply of a prepared statement, so later replies are shorter.
const TRIES: usize = 3;

/// Logs in, prepares the statement and learns the reply of the request.
pub(crate) fn begin(options: &Options) -> Result<(Link, Request), Failure> {
    let mut session = login(options)?;
    let (bytes, kind, id) = match options.statement {
        Statement::Prepared => {
            (session.prepare(&options.query)?, ReplyKind::Binary, Id::LittleEndian64)
        }
        Statement::Text => {
            let mut bytes = Vec::new();
            Command::Query(format!("{}{MARK}", options.query).as_bytes()).append(&mut bytes);
            (bytes, ReplyKind::Text, Id::Digits6)
        }
    };
    // Learn the reply from row 1: no row has the id `MARK`, and all rows have the same length.
    let mut first = Request::new(bytes.clone(), id, b"not known so far")?;
    let mut reply = Vec::new();
    for _ in 0..TRIES {
        let (found, rows) = session.exchange(first.for_row(1), kind)?;
        reply = found;
        if rows != 1 {
            let query = &options.query;
            return Err(format!("`{query}1` returned {rows} rows in place of one").into());
        }
    }
    Ok((session.link, Request::new(bytes, id, &reply)?))
}

/// A connection that is logged in.
struct Session {
    link: Link,
    replies: Replies,
    summary: ReplySummary,
}

fn login(options: &Options) -> Result<Session, Failure> {
    let mut link = Link::connect(options)?;
    let mut login = Login::new(LoginOptions {
        user: options.user.as_bytes(),
        password: Password(options.password.as_bytes()),
        database: Some(options.database.as_bytes()),
        wanted: WANTED,
        channel: if options.tls { Channel::Tls } else { Channel::Open },
        server_key: ServerKey::Refuse,
        seed: [0; 20],
        collation: 45,
        attributes: &[],
    });
    let (mut given, mut out) = (Vec::new(), Vec::new());
    loop {
        link.read_more(&mut given)?;
        let (used, step) = login.read(&given, &mut out)?;
        given.drain(..used);
        link.write_all(&out)?;
        out.clear();
        match step {
            LoginStep::NeedBytes => {}
            LoginStep::StartTls => {
                link = link.encrypt(&options.host)?;
                login.tls_started(&mut out)?;
                link.write_all(&out)?;
                out.clear();
            }
            LoginStep::Done(session) => return Ok(Session::new(link, session.agreed)),
            LoginStep::Refused(refusal) => {
                let message = String::from_utf8_lossy(&refusal.message).into_owned();
                return Err(format!("error {}: {message}", refusal.code).into());
            }
        }
    }
}

impl Session {
    fn new(link: Link, agreed: Negotiated) -> Session {
        Session { link, replies: Replies::new(agreed), summary: ReplySummary::default() }
    }

    /// Prepares the statement and executes it once, because only the first execution must send the
    /// types of the values. Returns the request of every later execution, with [`MARK`] in place of
    /// the id.
    fn prepare(&mut self, query: &str) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        Command::Prepare(format!("{query}?").as_bytes()).append(&mut out);
        self.exchange(&out, ReplyKind::Prepared)?;
        let prepared = self.summary.prepared.ok_or("the server has prepared nothing")?;
        let mut execute = Execute::new(prepared.id, prepared.parameters);
        let mut append = |out: &mut Vec<u8>| {
            out.clear();
            execute.append(out, [Parameter::Int(MARK.into())].into_iter()).map(|_| ())
        };
        append(&mut out)?;
        self.exchange(&out, ReplyKind::Binary)?;
        append(&mut out)?;
        Ok(out)
    }

    /// Sends a request and reads its reply to the end. Returns the reply and its number of rows.
    fn exchange(&mut self, request: &[u8], kind: ReplyKind) -> Result<(Vec<u8>, u64), Failure> {
        self.summary.rows = 0;
        self.replies.expect(kind, 1)?;
        self.link.write_all(request)?;
        let (mut reply, mut used) = (Vec::new(), 0);
        while !self.replies.is_idle() {
            self.link.read_more(&mut reply)?;
            used += self.replies.read(&reply[used..], &mut self.summary)?;
        }
        match self.summary.error.take() {
            Some(error) => Err(error.into()),
            None => Ok((reply, self.summary.rows)),
        }
    }
}

/// A summary of the replies that were read.
#[derive(Default)]
struct ReplySummary {
    rows: u64,
    prepared: Option<Prepared>,
    error: Option<String>,
}

impl Sink for ReplySummary {
    fn result(&mut self, result: ResultEnd) {
        self.rows += result.rows;
    }

    fn error(&mut self, error: &ErrPacket<'_>) {
        let message = String::from_utf8_lossy(error.message);
        self.error = Some(format!("error {}: {message}", error.code));
    }

    fn prepared(&mut self, prepared: Prepared) {
        self.prepared = Some(prepared);
    }
}
