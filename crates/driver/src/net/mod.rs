//! How do bytes get to a server and back?
//!
//! ```text
//!  Target ─▶ Address … Options      where, and how to get in
//!                 │ open
//!                 ▼
//!             Channel               bytes in order, with or without TLS
//!              │   └─ Socket
//!              └───── Session       TLS
//! ```
//!
//! What the bytes mean is the protocol's: a driver appends a request to the channel's
//! [`out`](Channel::out), sends it by [`flush`](Channel::flush), and looks at
//! [`unread`](Channel::unread) after each [`receive`](Channel::receive).

mod address;
mod channel;
mod end_point;
mod farewell;
mod foreign;
mod known;
mod options;
mod password;
mod service;
mod tls;

pub(crate) use address::{Address, Addresses, Host};
pub(crate) use channel::Channel;
pub(crate) use farewell::{Farewell, Farewells, hung_up};
pub(crate) use known::{Known, UNKNOWN, told, value};
pub(crate) use options::{Options, TlsMode};
pub(crate) use password::{Found, Owner, PasswordFile, file_for_any_host, find_password};
pub(crate) use service::{
    ANSWERING, Kind, LOGIN, PREPARING, Service, Silence, TELLING, owes_an_answer,
};
pub(crate) use tls::Tls;
