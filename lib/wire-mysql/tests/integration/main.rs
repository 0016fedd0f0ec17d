//! Tests of the protocol in both roles: each role reads what the other writes, whole or in pieces,
//! and both read recorded bytes of real servers.

mod allocation;
mod fixtures;
mod log;
mod replies;
mod requests;
mod round_trip;
mod startup;
