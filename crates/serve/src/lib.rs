//! Pages over HTTP/1.1 for browsers: connections, access, limits and routes.
//!
//! A [`Server`] listens on a [`ListenAddress`] and gets the answer to a [`Route`] from its
//! [`Pages`]. This crate knows nothing of records and databases. `httparse` reads the headers of
//! requests; each connection has a plain thread ([decision
//! 48](../../../docs/decisions/0048-pages-over-http.md)).
//!
//! The invariant: a request reaches [`Pages`] only if its `Host` can only mean this machine, it is
//! not a fetch by a page of another site (a visit through a link there is allowed), and its path
//! begins with the [`Token`], if the server has one. A form must also say that it comes from this
//! site, and the server must take forms. [`Limits`] bounds the number of connections, and the time
//! for a request, for an answer and for each event of a stream.

mod access;
mod address;
mod busy;
mod connection;
mod deadline;
mod decode;
mod events;
mod head;
mod policy;
mod response;
mod route;
mod server;
mod site;
mod token;

pub use address::{AddressError, ListenAddress};
pub use events::{Event, EventSource};
pub use policy::{Policy, Script};
pub use response::{Answer, Response, Status};
pub use route::{Fields, Pages, Route};
pub use server::{Server, Settings, Viewers};
pub use site::Limits;
pub use token::Token;
