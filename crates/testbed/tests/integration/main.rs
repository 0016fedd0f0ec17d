//! Real servers, started and ended.

mod logins;
mod poolers;
mod relays;
mod remains;
mod servers;
mod simulated;
mod support;
