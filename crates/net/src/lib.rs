//! Transport of bytes between a client and a server.
//!
//! ```text
//!  Target ─▶ Address … Options      location and login
//!                 │ connect
//!                 ▼
//!             Channel               buffered byte stream, with or without TLS
//!              │   └─ Socket
//!              └───── Session       TLS, of a client or of a server
//! ```
//!
//! The protocol gives the bytes their meaning: a driver appends a request to the channel's
//! [`out`](Channel::out), sends it with [`flush`](Channel::flush), and parses
//! [`unread`](Channel::unread) after each [`receive`](Channel::receive).
//!
//! * [`Address`], [`Addresses`]: the address of a server, and the addresses of a target in
//!   rotation.
//! * [`Options`]: the options of a URL that all networked servers have.
//! * [`find_password`]: the password of a login whose URL contains none.
//! * [`ClientTls`], [`ServerTls`]: the TLS set-up of either role.
//! * [`ReceiveMemory`]: the memory that the receive buffers of a driver's connections share.
//! * [`CancelService`]: a thread that cancels abandoned statements.

mod address;
mod cancel;
mod channel;
mod error;
mod foreign_options;
mod lookup;
mod options;
mod password;
mod receive_buffer;
mod socket;
mod tls;

pub use address::{Address, Addresses};
pub use cancel::{CancelService, Cancellation, discard_input};
pub use channel::Channel;
pub use error::Error;
pub use options::{Options, TlsMode};
pub use password::{
    FoundPassword, PasswordFile, PasswordOwner, file_for_any_host, find_password,
    reason_for_ignored_file,
};
pub use receive_buffer::ReceiveMemory;
pub use socket::{Host, Socket};
pub use tls::{ClientTls, Encryption, Identity, ServerTls, Trust, client_config};
