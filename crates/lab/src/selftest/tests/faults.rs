//! Tests that each planted fault makes the comparison with an oracle fail.

use record::Kind;

use crate::selftest::Depth;
use crate::selftest::mutations::{FAULTS, Mutation};
use crate::selftest::oracles::FOUR_WORKERS;
use crate::selftest::quantity::{Estimate, Quantity};
use crate::selftest::rules::restarting_the_schedule;

const P99: Quantity = Quantity::Time(Kind::Response, Estimate::Quantile(0.99));

/// Plants a fault, and checks that it makes the quantities in `noticed_by` fail.
#[track_caller]
fn plant(name: &str, noticed_by: &[Quantity]) -> Mutation {
    let fault = FAULTS.iter().find(|fault| fault.name == name).unwrap();
    let mutation = fault.plant(Depth::Quick);
    assert!(mutation.is_noticed(), "{mutation:#?}");
    let failing: Vec<Quantity> = mutation.failing().map(|finding| finding.quantity).collect();
    assert!(noticed_by.iter().all(|quantity| failing.contains(quantity)), "{failing:#?}");
    mutation
}

#[test]
fn recording_from_the_actual_send_is_noticed() {
    plant("recording from the actual send", &[P99]);
}

#[test]
fn skipping_missed_ticks_is_noticed() {
    plant("skipping missed ticks", &[P99, Quantity::Completed]);
}

/// The run and its judgement are the same with and without the fault; only the merging differs.
#[test]
fn averaging_percentiles_is_noticed() {
    let mutation = plant("averaging percentiles", &[P99]);
    // Counts are not averaged; only the times are wrong.
    assert!(mutation.failing().all(|found| matches!(found.quantity, Quantity::Time(..))));
}

#[test]
fn dropping_timeouts_is_noticed() {
    plant("dropping timeouts", &[P99]);
}

#[test]
fn emptying_the_queue_when_the_warm_up_ends_is_noticed() {
    plant("emptying the queue when the warm-up ends", &[P99]);
}

#[test]
fn beginning_the_schedule_anew_when_far_behind_is_noticed() {
    plant("restarting the schedule when far behind", &[P99]);
}

/// Only one request in a thousand waits long enough, so only the rarest quantile shows the fault.
#[test]
fn forgiving_the_longest_waits_is_noticed_by_the_rarest_quantile() {
    let findings = FOUR_WORKERS.findings(restarting_the_schedule::<33>(), Depth::Thorough);
    let failing = findings.iter().filter(|finding| !finding.passed());
    let failing: Vec<Quantity> = failing.map(|finding| finding.quantity).collect();
    assert_eq!(failing, [Quantity::response(Estimate::Quantile(0.999))], "{findings:#?}");
}

#[test]
fn a_coarse_timer_and_a_coarse_clock_are_noticed() {
    let median = Quantity::response(Estimate::Quantile(0.5));
    plant("arrivals at the ticks of a 1 ms timer", &[median]);
    plant("stamps of a 1 ms clock", &[median]);
}

#[test]
fn a_rate_that_is_a_little_too_low_is_noticed() {
    plant("a rate 2 % too low", &[Quantity::Arrivals]);
}

#[test]
fn one_lost_request_is_noticed() {
    plant("one lost request", &[Quantity::Unaccounted]);
}
