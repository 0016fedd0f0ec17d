//! Tests of closed jobs, from the workload file to the verdict, in virtual time.

use crate::support::{check, simulate};

/// A server that stalls for the first 2 s of every 10 s.
const STALLING: &str = "sim:md1?service=2ms&servers=unlimited&stall=2s&stall-every=10s";

#[test]
fn stall_at_a_window_edge_is_not_missing_time() {
    for span in ["duration = 35s\nwarmup = 11s\n", "duration = 41s\nwarmup = 5s\n"] {
        let workload = format!("{span}drain = 1m\n[read]\nquery = select 1\nconcurrency = 4\n");
        let (_, summary) = simulate(&workload, 1, STALLING);
        let (status, finding) = check(&summary, "little");
        assert_eq!(status, "pass", "{span}: {finding:?}");
    }
}
