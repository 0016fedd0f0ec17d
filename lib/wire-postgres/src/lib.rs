//! PostgreSQL's frontend/backend protocol 3.0, in both roles and without I/O.
//!
//! No sockets, no clock, no tasks: encoders append to a `Vec<u8>`, decoders borrow from a `&[u8]`
//! and return the number of bytes consumed. Whatever the bytes are, a decoder does not panic, read
//! past their end, or allocate by a length that the other side wrote. The chapters that comments
//! name are sections of "Frontend/Backend Protocol" in the PostgreSQL manual, unless the comment
//! names another place.
//!
//! ```text
//!  client                                                          server
//!    │  frontend::ssl_request ──────────────────────────────────────▶ │ ServerLogin
//!    │  ssl_answer ◀──────────────────────────── answer_ssl, then TLS │
//!    │  Startup ─── StartupMessage, passwords ──────────────────────▶ │ ServerLogin
//!    │          ◀── Authentication…, ParameterStatus, ReadyForQuery ─ │
//!    │                                                                │
//!    │  frontend::parse, describe, sync ────────────────────────────▶ │ frontend::Message
//!    │  Replies ◀── ParameterDescription, RowDescription ──────────── │ backend::…
//!    │                                                                │
//!    │  Template::fill ── Bind Execute Sync ────────────────────────▶ │ frontend::Message
//!    │  Replies ◀── BindComplete DataRow… CommandComplete Ready ───── │ backend::…
//!    │    ⋮                                                           │
//!    │  frontend::terminate ────────────────────────────────────────▶ │
//! ```
//!
//! Two types are on the path of every request: [`Template`], which is encoded once and then copied
//! and patched, and [`Replies`], which counts rows and skips them.
//!
//! ```
//! use wire_postgres::{
//!     Completion, Format, Oid, Replies, Report, Sink, Template, TransactionStatus, Value,
//! };
//!
//! #[derive(Default)]
//! struct Count {
//!     rows: u64,
//! }
//!
//! impl Sink for Count {
//!     fn complete(&mut self, completion: Completion<'_>) {
//!         self.rows += completion.rows();
//!     }
//!     fn error(&mut self, _report: Report<'_>) {}
//!     fn ready(&mut self, _status: TransactionStatus) {}
//! }
//!
//! // Once per statement: the types are those that the server described.
//! let mut template = Template::new(Format::Text);
//! template.statement("s1", &[Oid::INT4])?;
//! template.sync();
//!
//! // Once per request.
//! let (mut out, mut replies, mut count) = (Vec::new(), Replies::new(), Count::default());
//! template.fill(&mut out, [Value::Int(7)].into_iter())?;
//! template.expect(&mut replies);
//!
//! // The bytes that a server would send.
//! let answer = b"2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x01xC\0\0\0\rSELECT 1\0Z\0\0\0\x05I";
//! assert_eq!(replies.read(answer, &mut count)?, answer.len());
//! assert!(replies.is_idle());
//! assert_eq!(count.rows, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not supported, because Assay does not need them: function calls, replication, GSSAPI, and
//! version 3.2 of the protocol.
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

pub mod backend;
mod command;
mod copy;
mod cursor;
mod cycle;
mod error;
mod frame;
pub mod frontend;
mod list;
mod replies;
mod report;
mod server_login;
mod startup;
mod tags;
mod template;
mod temporal;
mod tls;
mod types;
mod value;

pub use command::CommandTag;
pub use copy::{CopyText, copy_text_fields};
pub use cycle::Cycle;
pub use error::{ErrorKind, WireError};
pub use list::{Item, Items, List};
pub use replies::{Completion, Replies, Sink};
pub use report::{OwnedReport, Report, ReportField, Severity, SqlState};
pub use server_login::{LoginProgress, ServerAuth, ServerLogin};
pub use startup::{Channel, Login, Session, Startup, StartupError};
pub use template::Template;
pub use tls::{SslAnswer, answer_ssl, ssl_answer};
pub use types::{BackendKey, Format, Object, Oid, TransactionStatus};
pub use value::{ParameterType, Value, ValueError, ValueErrorKind};
