//! A session as the [`Connection`] of its driver.

use std::sync::Arc;

use base::NodeId;
use wire_mysql::{Command, Execute, ReplyKind};

use super::answer::FullReply;
use super::login::KillRequest;
use super::session::{MysqlConnection, Statement};
use super::{faults, script, settings};
use crate::activity_counters::Count;
use crate::server_facts::ServerFacts;
use crate::service::{ANSWERING, PREPARING, REPORTING_SETTINGS};
use crate::table::TableReader;
use crate::{
    Batches, Connection, Error, Insert, Method, PreparedId, Reply, SessionId, Table, Work,
};

impl Connection for MysqlConnection {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        let id = PreparedId::nth(self.statements.len())?;
        let sequence = Command::Prepare(text.as_bytes()).append(self.line.channel.out());
        self.line.expect(ReplyKind::Prepared, sequence)?;
        let (config, rt, node) = (Arc::clone(&self.shared.config), self.line.rt.clone(), self.node);
        let mut reply = Reply::default();
        let prepared = self.ask("", &mut reply);
        let statement = match config.service.session_in_time(&rt, node, PREPARING, prepared).await {
            Ok((_, FullReply { prepared: Some(prepared), columns, .. })) => Statement::Prepared {
                execute: Execute::new(prepared.id, prepared.parameters),
                kind: match prepared.columns > 0 && script::returns_rows(text) {
                    true => ReplyKind::Rows,
                    false => ReplyKind::Binary,
                },
                columns,
                loads: script::loaded_file(text).map_or("", |_| text).into(),
            },
            Ok(_) => {
                return Err(faults::protocol_violation(
                    self.line.channel.address(),
                    "nothing is prepared",
                ));
            }
            Err(error)
                if faults::can_be_sent_as_text(&error) && !script::has_placeholders(text) =>
            {
                Statement::Text(text.into())
            }
            Err(error) => return Err(error),
        };
        self.statements.push(statement);
        Ok(id)
    }

    fn parameters(&self, statement: PreparedId) -> Option<usize> {
        self.statements.get(statement.index()).map(Statement::values)
    }

    fn node(&self) -> NodeId {
        self.node
    }

    fn session_id(&self) -> Option<SessionId> {
        Some(self.known_session.id())
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        let taken = match self.is_pipelined_transaction(work) {
            false => self.run_steps(work).await,
            true => self.run_chain(work).await,
        };
        let Err(error) = taken else { return Ok(()) };
        let ended = match self.is_autocommit_off {
            false => self.roll_back(error, &mut work.reply).await,
            true => self.roll_chain_back(error, &mut work.reply).await,
        };
        Err(ended.with_server(self.line.channel.address()))
    }

    async fn await_session(&mut self) -> Result<(), Error> {
        let (config, rt, node) = (Arc::clone(&self.shared.config), self.line.rt.clone(), self.node);
        let answer = self.query_short("select 1");
        config.service.session_in_time(&rt, node, ANSWERING, answer).await.map(|_| ())
    }

    async fn load(
        &mut self,
        into: &Insert<'_>,
        method: Method,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        self.load_rows(into, method, batches).await
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        self.query(sql, TableReader::default()).await
    }

    async fn identify(&mut self) {
        let (config, rt, node) = (Arc::clone(&self.shared.config), self.line.rt.clone(), self.node);
        let asked = async {
            self.note_server().await;
            Ok(())
        };
        // Without an answer in time, the server stays unknown.
        let _ = config.service.in_time(&rt, node, REPORTING_SETTINGS, asked).await;
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        let (config, rt, node) = (Arc::clone(&self.shared.config), self.line.rt.clone(), self.node);
        let asked = async {
            let found = self.query_short(&settings::query()).await.ok();
            Ok((found, self.query_short(&settings::tls_query()).await.ok()))
        };
        let answered = config.service.in_time(&rt, node, REPORTING_SETTINGS, asked).await;
        let (found, tls_status) = answered.unwrap_or_default();
        let tls = self.shared.config.service.options.tls_mode_for(self.line.channel.address());
        settings::list(&ServerFacts {
            // Secrets are hidden in free texts only: many settings have the value `on`, which may
            // also be a password.
            version: &config.service.secrets.hide(&self.version),
            tls: tls.word(),
            encryption: self.line.channel.encryption(),
            settings: found.as_ref(),
            tls_status: tls_status.as_ref(),
        })
    }

    async fn facts(&mut self) -> Vec<(String, String)> {
        self.read_facts().await
    }

    async fn activity_counters(&mut self) -> Result<Vec<Count>, String> {
        self.read_account().await
    }

    async fn close(mut self) {
        // The server sends something to an idle session only when it ends the session, because the
        // session was killed, or idle for too long. The server then counts no further command of
        // this session.
        if self.line.replies.is_idle() && self.line.channel.has_input().await {
            return;
        }
        self.own_traffic().sent_termination();
        Command::Quit.append(self.line.channel.out());
        self.line.channel.flush().await;
    }

    fn abandon(self) {
        if !self.line.replies.is_idle() {
            let (config, node) = (Arc::clone(&self.shared.config), self.node);
            let (peer, session) = (self.line.channel.peer(), self.known_session);
            self.shared.cancels.send(KillRequest { config, node, peer, session });
        }
    }
}
