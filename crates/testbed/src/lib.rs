//! Private database servers for tests and measurements.
//!
//! [`Server::start`] starts a server in a temporary folder of its own, on a free loopback port and
//! with the requested settings; the server is ready when the function returns. Its programs come
//! from the packages of the distribution, or from the installation that an environment variable
//! names (`ASSAY_POSTGRES`, `ASSAY_MARIADBD` or `ASSAY_MYSQLD`). Each server has a guardian, a
//! small shell that waits until the server is dropped or this process has ended in any way, and
//! then cleans up.
//!
//! Servers are ended by their process ids alone. They inherit no environment but `PATH`, and their
//! password is never part of a command line. Servers refuse to run as root: root starts them as the
//! users that their packages create, or as `nobody`.

mod certificates;
mod cpus;
mod folder;
mod instance;
mod launch;
mod mariadb;
mod mysql;
mod mysql_family;
mod options;
mod pooler;
mod postgres;
mod problem;
mod process;
mod programs;
mod relay;
mod server;
mod template;
mod url;
pub mod wire_server;

pub use certificates::Certificates;
pub use cpus::Cpus;
pub use options::{Auth, Cache, Kind, Options, Rights, Tls, Via};
pub use problem::Problem;
pub use relay::{Direction, Relay};
pub use server::{Server, shared, shared_with_tls};
pub use url::{check, start, start_with};
