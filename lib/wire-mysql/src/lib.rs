//! What do these bytes mean?
//!
//! The client/server protocol of MySQL and MariaDB, in both roles and without I/O: encoders append
//! to the caller's buffer, decoders borrow from the caller's bytes. No bytes from the other side
//! make them panic, allocate what was only announced, or read past a packet.
//!
//! ```text
//!        client                                      server
//!                            ◀── Handshake ────────
//!        SslRequest, TLS ──────▶                          only with TLS
//!        HandshakeResponse ────▶
//!                            ◀── AuthSwitchRequest ─      if another method is wanted
//!        its answer ───────────▶
//!                            ◀── AuthMoreData ─────       some methods talk more
//!                            ◀── OK | ERR ─────────
//!        Command::Prepare ─────▶
//!                            ◀── Prepared, definitions
//!        Execute, Execute … ───▶                          several in one send
//!                            ◀── result | OK | ERR ─      one reply for each, in order
//!        Command::Quit ────────▶
//! ```
//!
//! * A client logs in with [`Login`], which takes what the server sends and appends what is to be
//!   sent. It ends with what both sides [agreed on](Negotiated), the context of what follows.
//! * A request is one or more of [`Command`], [`Execute`] and [`BulkExecute`], appended to one
//!   buffer. Each says with which number its reply begins.
//! * [`Replies`] is told which replies to expect and walks over them: it counts, skips what nobody
//!   wants, and tells a [`Sink`] the rest.
//! * A server reads with [`Payloads`] and [`Command::decode`] and answers with [`Answers`].
//!
//! Chapters are those of the manual of MySQL's source ("Client/Server Protocol") and, where said,
//! of MariaDB's knowledge base.

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

mod answer;
mod answers;
mod auth;
mod capabilities;
mod column;
mod command;
mod error;
mod execute;
mod file;
mod frame;
mod handshake;
mod login;
mod prepared;
mod put;
mod replies;
mod row;
mod server_key;
mod sink;
mod take;

pub use answer::{EofPacket, ErrPacket, OkKind, OkPacket, Status};
pub use answers::Answers;
pub use auth::{Channel, Method, Password, ServerKey, native_answer, sha2_answer};
pub use capabilities::{Capabilities, Negotiated, WANTED};
pub use column::{ColumnDefinition, ColumnKind, ColumnType};
pub use command::Command;
pub use error::{ErrorKind, WireError};
pub use execute::{
    BoundTypes, BulkExecute, BulkExecuteCommand, Execute, ExecuteCommand, Parameter, ParameterType,
    StatementId,
};
pub use file::{FILE_PACKET, file_data, file_end};
pub use frame::{HEADER, Header, MAX_JOINED, MAX_PAYLOAD, Payloads, Taken, packet};
pub use handshake::{
    Attribute, AuthMoreData, AuthSwitchRequest, ClientHello, Handshake, HandshakeResponse, Nonce,
    SslRequest,
};
pub use login::{Login, LoginOptions, LoginStep, Refusal, Session};
pub use prepared::Prepared;
pub use replies::{MAX_EXPECTED, Replies, ReplyKind};
pub use row::{BinaryRow, Field, Row, TextRow};
pub use server_key::Seed;
pub use sink::{ResultEnd, Sink};
