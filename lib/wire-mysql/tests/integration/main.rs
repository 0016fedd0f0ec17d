//! The protocol in both roles: what one writes the other reads, whole or in pieces, and what real
//! servers wrote.

mod allocation;
mod fixtures;
mod log;
mod replies;
mod requests;
mod round_trip;
mod startup;
