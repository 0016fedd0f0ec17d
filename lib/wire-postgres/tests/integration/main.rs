//! Tests of the whole protocol: both roles against each other, and against bytes of real servers.

mod allocation;
mod fixtures;
mod replies;
mod round_trip;
mod scram;
mod startup;
mod template;
