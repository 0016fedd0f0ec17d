//! Login to PostgreSQL, and the request to repeat.

use std::io::{Read as _, Write as _};

use wire_postgres::{
    Channel, Completion, Cycle, Format, Login, Oid, Replies, Report, Sink, SslAnswer, Startup,
    Template, TransactionStatus, Value, frontend, ssl_answer,
};

use crate::link::Link;
use crate::options::{Options, Statement};
use crate::request::{Id, MARK, Request};
use limit::arguments::Failure;

/// Logs in, prepares the statement and learns the reply of the request.
pub(crate) fn begin(options: &Options) -> Result<(Link, Request), Failure> {
    let mut link = Link::connect(options)?;
    if options.tls {
        link = encrypt(link, &options.host)?;
    }
    login(&mut link, options)?;
    let (bytes, id, cycle) = match options.statement {
        Statement::Prepared => {
            (prepare(&mut link, &options.query)?, Id::BigEndian32, Cycle::STATEMENT)
        }
        Statement::Text => {
            let mut bytes = Vec::new();
            frontend::query(&mut bytes, format!("{}{MARK}", options.query))?;
            (bytes, Id::Digits6, Cycle::QUERY)
        }
    };
    // Learn the reply from row 1: no row has the id `MARK`, and all rows have the same length.
    let mut first = Request::new(bytes.clone(), id, b"not known so far")?;
    let (reply, rows) = exchange(&mut link, first.for_row(1), cycle)?;
    match rows {
        1 => Ok((link, Request::new(bytes, id, &reply)?)),
        _ => Err(format!("`{}1` returned {rows} rows in place of one", options.query).into()),
    }
}

fn encrypt(mut link: Link, host: &str) -> Result<Link, Failure> {
    let mut out = Vec::new();
    frontend::ssl_request(&mut out);
    link.write_all(&out)?;
    let mut answer = [0; 1];
    link.read_exact(&mut answer)?;
    match ssl_answer(&answer)? {
        Some(SslAnswer::Accepted) => link.encrypt(host),
        Some(SslAnswer::Refused) | None => Err("the server does not offer TLS".into()),
    }
}

fn login(link: &mut Link, options: &Options) -> Result<(), Failure> {
    let login = Login {
        user: &options.user,
        database: Some(&options.database),
        password: Some(options.password.as_bytes()),
        settings: &[("application_name", "limit")],
        channel: Channel::Plain,
    };
    let mut out = Vec::new();
    let mut startup = Startup::begin(login, &mut out)?;
    let mut given = Vec::new();
    while !startup.is_ready() {
        link.write_all(&out)?;
        out.clear();
        link.read_more(&mut given)?;
        let used = startup.read(&given, &mut out).map_err(with_cause)?;
        given.drain(..used);
    }
    Ok(())
}

/// Prepares the statement. Returns the request with the placeholder id.
fn prepare(link: &mut Link, query: &str) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    frontend::parse(&mut out, "s1", format!("{query}$1"), [Oid::INT4])?;
    frontend::sync(&mut out);
    exchange(link, &out, Cycle::SYNC.parse())?;
    let mut template = Template::new(Format::Text);
    template.statement("s1", &[Oid::INT4])?;
    template.sync();
    let mut request = Vec::new();
    template.fill(&mut request, [Value::Int(MARK.into())].into_iter())?;
    Ok(request)
}

/// Sends a request and reads its reply to the end. Returns the reply and its number of rows.
fn exchange(link: &mut Link, request: &[u8], cycle: Cycle) -> Result<(Vec<u8>, u64), Failure> {
    link.write_all(request)?;
    let (mut replies, mut summary) = (Replies::new(), ReplySummary::default());
    replies.expect(cycle);
    let (mut reply, mut used) = (Vec::new(), 0);
    while !replies.is_idle() {
        link.read_more(&mut reply)?;
        used += replies.read(&reply[used..], &mut summary)?;
    }
    match summary.error {
        Some(error) => Err(error.into()),
        None => Ok((reply, summary.rows)),
    }
}

fn with_cause(error: wire_postgres::StartupError) -> Failure {
    match std::error::Error::source(&error) {
        Some(cause) => format!("{error}: {cause}").into(),
        None => error.into(),
    }
}

/// A summary of the replies that were read.
#[derive(Default)]
struct ReplySummary {
    rows: u64,
    error: Option<String>,
}

impl Sink for ReplySummary {
    fn complete(&mut self, completion: Completion<'_>) {
        self.rows += completion.rows();
    }

    fn error(&mut self, report: Report<'_>) {
        self.error = Some(report.to_owned().to_string());
    }

    fn ready(&mut self, _status: TransactionStatus) {}
}
