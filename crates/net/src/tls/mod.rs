//! TLS between a client and a server, in both roles.

mod client;
mod end_point;
mod failure;
mod files;
mod server;
mod session;

pub use client::{ClientTls, Trust, client_config};
pub(crate) use failure::{accept_failed, handshake_failed};
pub use files::Identity;
pub use server::ServerTls;
pub use session::Encryption;
pub(crate) use session::TlsSession;
