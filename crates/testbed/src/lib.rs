//! How do I get a private real server?
//!
//! [`Server::start`] makes one from the programs of the distribution's packages: in a temporary
//! folder of its own, on a free loopback port, with the settings that were asked for, ready when it
//! returns. Each server has a guardian, a small shell that waits until the server is dropped or
//! this process has ended in whichever way, and then leaves nothing behind.
//!
//! Servers are ended by their process numbers alone. They inherit nothing of our environment, and
//! their password is never part of a command line. Servers refuse to run as root:
//! root starts them as the users that their packages bring.

mod certificates;
mod folder;
mod launch;
mod mariadb;
mod mysql;
mod options;
mod pooler;
mod postgres;
mod problem;
mod process;
mod programs;
mod relay;
mod server;
mod url;
pub mod wire_server;

pub use certificates::Certificates;
pub use options::{Auth, Cache, Kind, Options, Rights, Tls, Via};
pub use problem::Problem;
pub use relay::{Direction, Relay};
pub use server::{Server, shared, shared_with_tls};
pub use url::{check, start, start_with};
