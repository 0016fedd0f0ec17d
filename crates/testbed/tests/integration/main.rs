//! Integration tests that start and end real servers.

mod logins;
mod poolers;
mod relays;
mod remains;
mod servers;
mod simulated;
mod support;
mod templates;
