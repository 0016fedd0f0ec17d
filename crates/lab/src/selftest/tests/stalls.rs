//! Tests of the deterministic oracles of coordinated omission.

use engine::Rules;

use super::assert_all_pass;
use crate::selftest::oracle_run::{JOB, Span, plan, server, simulate};
use crate::selftest::oracles::TIMEOUTS;
use crate::selftest::stall::{STALLS, backlog};

#[test]
fn a_stall_shows_in_the_response_time_and_not_in_the_service_time() {
    for stall in STALLS {
        assert_all_pass(&stall.findings(Rules::STANDARD));
    }
}

#[test]
fn a_backlog_of_the_warm_up_is_measured_in_the_window() {
    assert_all_pass(&backlog(Rules::STANDARD));
}

#[test]
fn timeout_is_the_only_error() {
    let plan = plan(TIMEOUTS.workload, Span { warmup_s: 0.0, window_s: 20.0 }, 1);
    let totals = simulate(Rules::STANDARD, &plan, &server(TIMEOUTS.server));
    let counts = &totals.account(JOB).window.counts;
    assert!(counts.timeouts > 0, "{counts:?}");
    assert_eq!(counts.timeouts, counts.balance.errors());
}
