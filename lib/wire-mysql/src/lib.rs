//! The client/server protocol of MySQL and MariaDB, in both roles and without I/O.
//!
//! Encoders append to the caller's buffer, decoders borrow from the caller's bytes. No bytes from
//! the other side make them panic, allocate memory that was only announced, or read past a packet.
//!
//! ```text
//!        client                                      server
//!                            ◀── Handshake ────────
//!        SslRequest, TLS ──────▶                          only with TLS
//!        HandshakeResponse ────▶
//!                            ◀── AuthSwitchRequest ─      if another method is wanted
//!        auth response ────────▶
//!                            ◀── AuthMoreData ─────       some methods exchange more data
//!                            ◀── OK | ERR ─────────
//!        Command::Prepare ─────▶
//!                            ◀── Prepared, definitions
//!        Execute, Execute … ───▶                          several in one send
//!                            ◀── result | OK | ERR ─      one reply for each, in order
//!        Command::Quit ────────▶
//! ```
//!
//! * A client logs in with [`Login`], which reads the server's packets and appends the client's.
//!   The result includes the [negotiated capabilities](Negotiated), on which later messages depend.
//! * A request is one or more of [`Command`], [`Execute`] and [`BulkExecute`], appended to one
//!   buffer. Each returns the sequence number at which its reply begins.
//! * [`Replies`] is told which replies to expect and reads them: it counts rows, skips unwanted
//!   data, and passes the rest to a [`Sink`].
//! * A server reads with [`Payloads`] and [`Command::decode`] and replies with [`Answers`].
//!
//! "Protocol manual" stands for the documentation of MySQL's source ("Client/Server Protocol");
//! chapters of MariaDB are those of its knowledge base.

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
mod opcode;
mod partial;
mod prepared;
mod put;
mod replies;
mod reply_kind;
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
pub use frame::{HEADER, Header, MAX_JOINED, MAX_PAYLOAD, NextPayload, Payloads, packet};
pub use handshake::{
    Attribute, AuthMoreData, AuthSwitchRequest, ClientHello, Handshake, HandshakeResponse, Nonce,
    SslRequest,
};
pub use login::{Login, LoginOptions, LoginStep, Refusal, Session};
pub use prepared::Prepared;
pub use replies::{MAX_EXPECTED, Replies};
pub use reply_kind::ReplyKind;
pub use row::{BinaryRow, Field, Row, TextRow};
pub use server_key::Seed;
pub use sink::{ResultEnd, Sink};
