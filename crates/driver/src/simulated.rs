//! The driver of the simulated server, in virtual and in real time.

use std::sync::{Arc, Mutex, MutexGuard};

use base::units::{parse_count, parse_duration};
use base::{Class, Clock, Code, Dialect, Seed, Stamp};
use record::environment::{SERVER, SIMULATED_SERVER};
use rt::{Rt, Timer};
use sim::{AnswerKind, Config, Hints, Refusal, Server, Session};

use crate::{Connection, Driver, Error, PreparedId, Step, Table, Work};

/// The driver of `sim:` targets. All connections of all lanes share one simulated server.
#[derive(Clone, Debug)]
pub struct Simulated {
    server: Arc<Mutex<Server>>,
}

impl Simulated {
    /// Creates a server whose randomness depends on `seed` alone.
    pub fn new(config: Config, seed: Seed) -> Simulated {
        Simulated { server: Arc::new(Mutex::new(Server::new(config, seed))) }
    }

    fn server(&self) -> MutexGuard<'_, Server> {
        self.server.lock().expect("the simulation does not panic")
    }
}

/// A connection to the simulated server.
pub struct SimulatedConnection {
    driver: Simulated,
    session: Session,
    rt: Rt,
    timer: Timer,
    statements: Vec<Hints>,
}

impl Driver for Simulated {
    type Connection = SimulatedConnection;

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn stores_data(&self) -> bool {
        false
    }

    /// Returns 0: no connection uses a file.
    fn files(&self) -> u32 {
        0
    }

    async fn connect(&self, rt: &Rt) -> Result<SimulatedConnection, Error> {
        let connect_time = self.server().connect_time();
        if connect_time > base::Nanos::ZERO {
            rt.sleep(connect_time).await;
        }
        let session = self.server().connect(rt.now()).map_err(refused)?;
        Ok(SimulatedConnection {
            driver: self.clone(),
            session,
            timer: rt.timer(),
            rt: rt.clone(),
            statements: Vec::new(),
        })
    }

    fn time_zero(&self, zero: Stamp) {
        self.server().time_zero(zero);
    }
}

fn refused(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Unreachable => Error::disconnect("the simulated server is unavailable"),
        Refusal::Denied(code) => {
            Error::new(Class::Statement, code, "the simulated server refuses the login")
        }
        Refusal::TooMany => Error::new(
            Class::TooManyConnections,
            Code::new("too-many-connections"),
            "the simulated server accepts no further connection",
        ),
    }
}

impl SimulatedConnection {
    /// Sends one statement. The server decides at once when and how it will answer.
    fn send(&self, hints: &Hints, now: Stamp) -> AnswerKind {
        let answer = self.driver.server().arrive(self.session, now, hints);
        self.timer.arm(answer.at);
        answer.kind
    }

    fn send_step(&self, step: Step, work: &Work, now: Stamp) -> Result<AnswerKind, Error> {
        match step {
            Step::Execute { statement, .. } => {
                Ok(self.send(&self.statements[statement.index()], now))
            }
            Step::ExecuteText { text } => {
                let hints = parse_hints(work.values.text_at(text))?;
                Ok(self.send(&hints, now))
            }
            Step::Begin | Step::Commit => unreachable!("transactions are free"),
        }
    }
}

/// Converts the server's answer into its number of rows or an error.
fn into_result(answer: AnswerKind) -> Result<u64, Error> {
    match answer {
        AnswerKind::Completed { rows } => Ok(rows),
        AnswerKind::Failed(class, code) => {
            Err(Error::new(class, code, "the simulated server returned an error"))
        }
        AnswerKind::Disconnected => Err(Error::disconnect(
            "the simulated server closed the \
                                                           connection",
        )),
    }
}

impl Connection for SimulatedConnection {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        let id = PreparedId::nth(self.statements.len())?;
        self.statements.push(parse_hints(text)?);
        Ok(id)
    }

    /// Runs the steps. Transactions are free: begin and commit take no time, and there is nothing
    /// to roll back.
    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        for place in 0..work.steps.len() {
            let step = work.steps[place];
            if matches!(step, Step::Begin | Step::Commit) {
                continue;
            }
            let sent = self.rt.now();
            let answer = self.send_step(step, work, sent)?;
            work.reply.sent.get_or_insert(sent);
            self.timer.fired().await;
            let done = self.rt.now();
            work.reply.done = done;
            work.reply.add_statement(done.since(sent), into_result(answer)?);
        }
        Ok(())
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        let answer = self.send(&parse_hints(sql)?, self.rt.now());
        self.timer.fired().await;
        into_result(answer).map(|_| Table::default())
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        vec![(SERVER.to_owned(), SIMULATED_SERVER.to_owned())]
    }

    async fn close(self) {}

    fn abandon(self) {}
}

impl Drop for SimulatedConnection {
    fn drop(&mut self) {
        self.driver.server().close(self.session);
    }
}

/// Parses a statement's hints for the simulation, from a comment such as `/* sim: service=5ms
/// rows=10 */`.
///
/// The words are `service=D`, `rows=N`, `error=CODE` and `disconnect`, each at most once; the
/// server rejects a statement with any other word, such as `reject`.
fn parse_hints(text: &str) -> Result<Hints, Error> {
    let mut hints = Hints::default();
    let Some((_, after)) = text.split_once("/* sim:") else {
        return Ok(hints);
    };
    let (words, _) = after.split_once("*/").unwrap_or((after, ""));
    for word in words.split_whitespace() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let understood = match name {
            "service" => {
                parse_duration(value).is_ok_and(|time| hints.service.replace(time).is_none())
            }
            "rows" => parse_count(value).is_ok_and(|rows| hints.rows.replace(rows).is_none()),
            "error" => !value.is_empty() && hints.error.replace(Code::new(value)).is_none(),
            "disconnect" => !std::mem::replace(&mut hints.disconnect, true),
            _ => false,
        };
        if !understood {
            return Err(Error::new(
                Class::Statement,
                Code::new("syntax"),
                format!("the simulated server does not understand `{word}`"),
            ));
        }
    }
    Ok(hints)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Nanos;

    #[test]
    fn hints_are_read_from_a_comment() {
        assert_eq!(parse_hints("select 1").unwrap(), Hints::default());
        let hints = parse_hints("select 1 /* sim: service=5ms rows=2k error=1213 */").unwrap();
        assert_eq!(hints.service, Some(Nanos::from_millis(5)));
        assert_eq!(hints.rows, Some(2_000));
        assert_eq!(hints.error, Some(Code::new("1213")));
        assert!(parse_hints("/* sim: disconnect */").unwrap().disconnect);
    }

    #[test]
    fn invalid_hint_is_a_rejected_statement() {
        for text in ["/* sim: reject */", "/* sim: service=5 */", "/* sim: rows */"] {
            assert_eq!(parse_hints(text).unwrap_err().class(), Class::Statement, "{text}");
        }
    }

    #[test]
    fn repeated_hint_is_a_rejected_statement() {
        for words in
            ["service=5ms service=6ms", "rows=1 rows=1", "error=1 error=2", "disconnect disconnect"]
        {
            let error = parse_hints(&format!("/* sim: {words} */")).unwrap_err();
            assert_eq!(error.class(), Class::Statement, "{words}");
        }
    }
}
