//! Tests of records through the public interface: deliveries of lanes, reading, and the effects of
//! a killed process, a full disk or a damaged file; and exports.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may, as tests do")]

mod damaged;
mod documented;
mod export_hlog;
mod export_tables;
mod full;
mod killed;
mod opened;
mod recorded;
/// The schemas of the repository. Reports are validated with the same schemas.
#[path = "../../../report/tests/integration/schema.rs"]
mod schema;
mod single;
mod support;
mod table_record;
mod thinned;
