//! Real servers, started and ended.

mod servers;
