//! Tests of the protocol in both roles: each role reads the bytes of the other, whole or in pieces,
//! and both read recorded bytes of real servers.

mod allocation;
mod fixtures;
mod log;
mod replies;
mod requests;
mod round_trip;
mod startup;
