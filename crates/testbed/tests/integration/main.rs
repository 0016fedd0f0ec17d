//! Real servers, started and ended.

mod logins;
mod poolers;
mod remains;
mod servers;
mod support;
