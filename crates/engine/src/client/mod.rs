//! A client: the long-lived task that sends requests, one at a time.
//!
//! A client owns its connection, its generators of values, its buffers and its handle. It touches
//! state that it shares with other tasks of its lane only between awaits. `serve` is the measured
//! path and `state` has its data; `own_connection` is for requests that open their own connection,
//! and `failure` is for attempts that fail.

mod failure;
mod own_connection;
mod serve;
mod state;

pub(crate) use state::Client;
