//! A session as the [`Connection`] of its driver.

use std::sync::Arc;

use base::NodeId;
use wire_postgres::frontend;

use super::login::Cancel;
use super::session::PostgresConnection;
use super::settings;
use crate::activity_counters::Count;
use crate::server_facts::ServerFacts;
use crate::service::{ANSWERING, REPORTING_SETTINGS};
use crate::session_ids::KnownSession;
use crate::table::TableReader;
use crate::{Batches, Connection, Error, Insert, Method, PreparedId, SessionId, Table, Work};

impl Connection for PostgresConnection {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        self.prepare_named(text).await
    }

    fn parameters(&self, statement: PreparedId) -> Option<usize> {
        self.statements.get(statement.index()).map(|known| known.template.values())
    }

    fn node(&self) -> NodeId {
        self.node
    }

    fn session_id(&self) -> Option<SessionId> {
        self.known_session.as_ref().map(KnownSession::id)
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        if work.capture.is_wanted() && self.shared.results == wire_postgres::Format::Binary {
            return Err(Error::url(
                "returned rows are written as text: leave out `results=binary`",
            ));
        }
        let taken = match work.is_pipelined {
            false => self.run_steps(work).await,
            true => self.run_chain(work).await,
        };
        match taken {
            Ok(()) => Ok(()),
            Err(error) => {
                let error = self.roll_back(error, &mut work.reply).await;
                Err(error.with_server(self.channel.address()))
            }
        }
    }

    async fn await_session(&mut self) -> Result<(), Error> {
        let (shared, rt, node) = (self.shared.clone(), self.rt.clone(), self.node);
        let answer = self.query_short("select 1");
        shared.service.session_in_time(&rt, node, ANSWERING, answer).await.map(|_| ())
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
        let (shared, rt, node) = (self.shared.clone(), self.rt.clone(), self.node);
        let asked = async {
            self.note_server().await;
            Ok(())
        };
        // Without an answer in time, the server stays unknown.
        let _ = shared.service.in_time(&rt, node, REPORTING_SETTINGS, asked).await;
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        let (shared, rt, node) = (self.shared.clone(), self.rt.clone(), self.node);
        let asked = async {
            let found = self.query_short(&settings::query()).await.ok();
            Ok((found, self.query_short(settings::tls_query()).await.ok()))
        };
        let answered = shared.service.in_time(&rt, node, REPORTING_SETTINGS, asked).await;
        let (found, tls_status) = answered.unwrap_or_default();
        let tls = self.shared.service.options.tls_mode_for(self.channel.address());
        settings::list(&ServerFacts {
            // Secrets are hidden in free texts only: many settings have the value `on`, which may
            // also be a password.
            version: &shared.service.secrets.hide(&self.version),
            tls: tls.word(),
            encryption: self.channel.encryption(),
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
        frontend::terminate(self.channel.out());
        self.channel.flush().await;
    }

    fn abandon(self) {
        if let (false, Some(key)) = (self.replies.is_idle(), self.key) {
            let (service, node) = (Arc::clone(&self.shared.service), self.node);
            let (peer, socket) = (self.channel.peer(), self.channel.into_socket());
            let session = self.known_session;
            self.shared.cancels.send(Cancel { service, node, peer, key, socket, session });
        }
    }
}
