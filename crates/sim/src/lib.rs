//! Simulated servers whose response times are known exactly.
//!
//! A [`Server`] is a queueing system whose behaviour is known in closed form: at the arrival of a
//! request it returns the time and the kind of the answer. It performs no I/O and reads no clock,
//! so it works in virtual time, in real time and in tests. [`closed_form`] holds the exact
//! distributions of response time; a measurement of a simulated server that disagrees with them is
//! a measurement error.

pub mod closed_form;
mod config;
mod server;
mod stalls;
mod variation;

pub use config::{Config, ConfigError, Service, Slowdown};
pub use server::{Answer, AnswerKind, Hints, Refusal, Server, Session};
pub use variation::Variation;
