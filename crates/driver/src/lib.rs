//! Database drivers.
//!
//! A [`Driver`] opens [`Connection`]s. A connection runs [`Work`]: the statements of one request
//! with their values, inside or outside a transaction. The trait is deliberately small: pacing,
//! queueing, retries and timeouts belong to the engine. The drivers of all databases pass the same
//! suite, [`conformance`].
//!
//! The engine is generic over the driver, which saves a boxed future and a task per request. A
//! connection timestamps the first byte it sends and the last byte it reads with the run's clock;
//! any higher layer would measure its own delays as well.

mod activity_counters;
mod any;
pub mod conformance;
mod connection;
mod error;
mod facts;
mod load;
mod mailbox;
mod mysql;
mod null;
mod postgres;
mod programs;
mod server_facts;
mod service;
mod session_ids;
mod simulated;
mod sqlite;
mod table;
mod work;

pub use activity_counters::{Count, Counter};
pub use any::{AnyConnection, AnyDriver};
pub use connection::{Connection, Driver};
pub use error::Error;
pub use load::{Batches, Duplicates, Insert, Method};
pub use mysql::{Mysql, MysqlConnection};
pub use null::Null;
pub use postgres::{Postgres, PostgresConnection};
pub use programs::{ProgramConnection, ProgramEnvironment, Programs, RejectedCommand, Variable};
pub use server_facts::{CLIENT_TLS_CIPHER, CLIENT_TLS_VERSION};
pub use service::Login;
pub use session_ids::{KnownSession, ServerId, SessionId, SessionIds};
pub use simulated::Simulated;
pub use sqlite::{Sqlite, SqliteConnection};
pub use table::Table;
pub use work::{PreparedId, Reply, Step, Work};
