//! Transport of bytes to a server and back.
//!
//! ```text
//!  Target ─▶ Address … Options      location and login
//!                 │ open
//!                 ▼
//!             Channel               byte stream, with or without TLS
//!              │   └─ Socket
//!              └───── Session       TLS
//! ```
//!
//! The protocol gives the bytes their meaning: a driver appends a request to the channel's
//! [`out`](Channel::out), sends it with [`flush`](Channel::flush), and parses
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
pub(crate) use farewell::{CancelService, Cancellation, hung_up};
pub(crate) use known::{Known, UNKNOWN, told, value};
pub(crate) use options::{Options, TlsMode};
pub(crate) use password::{Found, Owner, PasswordFile, file_for_any_host, find_password};
pub(crate) use service::{
    ANSWERING, AwaitedGreeting, Kind, LOGIN, PREPARING, Service, TELLING, owes_an_answer,
};
pub(crate) use tls::Tls;
