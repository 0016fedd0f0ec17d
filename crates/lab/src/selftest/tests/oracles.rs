//! Tests that the engine's measurements of the simulated servers agree with their closed forms, up
//! to p99.9.

use base::Nanos;
use engine::Rules;
use sim::closed_form::loss_probability;
use workload::Plan;

use super::assert_all_pass;
use crate::selftest::Depth;
use crate::selftest::finding::Finding;
use crate::selftest::oracle_run::Span;
use crate::selftest::oracles::{ONE_SERVER, ORACLES, Oracle};
use crate::selftest::quantity::Quantity;
use crate::selftest::scaling;

#[track_caller]
fn check(name: &str) {
    let oracle = ORACLES.iter().find(|oracle| oracle.name == name).unwrap();
    assert_all_pass(&oracle.findings(Rules::STANDARD, Depth::Thorough));
}

#[test]
fn o1_poisson_arrivals_at_one_exponential_server() {
    check("O1 M/M/1");
}

#[test]
fn o2_poisson_arrivals_at_four_exponential_servers() {
    check("O2 M/M/4");
}

#[test]
fn o2_in_the_queue_model_with_four_workers() {
    check("O2 M/M/4 queue");
}

#[test]
fn o3_poisson_arrivals_at_one_constant_server() {
    check("O3 M/D/1");
}

#[test]
fn o3_with_two_constant_servers() {
    check("O3 M/D/2");
}

#[test]
fn o4_poisson_arrivals_at_a_server_with_hits_and_misses() {
    check("O4 M/H2/1");
}

#[test]
fn o5_even_arrivals_at_one_exponential_server() {
    check("O5 D/M/1");
}

#[test]
fn o5_prime_poisson_arrivals_at_the_same_load() {
    check("O5' M/M/1");
}

#[test]
fn o6_closed_clients_that_think() {
    check("O6 closed");
}

#[test]
fn o7_poisson_arrivals_at_sixteen_exponential_servers() {
    check("O7 M/M/16");
}

#[test]
fn o8_poisson_arrivals_at_a_server_with_ten_places() {
    check("O8 M/M/1/10");
}

#[test]
fn o8_with_fifty_places_and_more_arrivals_than_it_can_serve() {
    check("O8 M/M/1/50");
}

#[test]
fn a_timeout_has_a_latency_too() {
    check("M/M/1 timeout");
}

/// If the queue had room for one request fewer, 5.9 % of the requests would be refused instead of
/// 5.1 %.
#[test]
fn a_server_with_another_number_of_places_is_noticed() {
    let ten = ORACLES.into_iter().find(|oracle| oracle.name == "O8 M/M/1/10").unwrap();
    let oracle = Oracle { exact: || vec![(Quantity::Loss, loss_probability(9, 0.9))], ..ten };
    let findings = oracle.findings(Rules::STANDARD, Depth::Thorough);
    let judged = findings.iter().find(|finding| finding.quantity == Quantity::Loss).unwrap();
    assert!(!judged.is_close(), "{findings:#?}");
}

/// Checks that, with altered plans, no judged quantity scatters over its replications as it should
/// in four minutes of M/M/1.
#[track_caller]
fn assert_no_column_scatters_as_expected(alter: impl Fn(Plan) -> Plan + Sync) {
    let oracle = Oracle { span: Span { warmup_s: 10.0, window_s: 240.0 }, ..ONE_SERVER };
    let findings = oracle.findings_of(Rules::STANDARD, Depth::Thorough, alter);
    let judged: Vec<&Finding> = findings.iter().filter(|found| found.scatter.is_some()).collect();
    assert!(judged.iter().all(|finding| !finding.scatters_as_expected()), "{judged:#?}");
}

#[test]
fn replications_that_are_not_independent_are_noticed() {
    assert_no_column_scatters_as_expected(|plan| Plan { seed: base::Seed(7), ..plan });
}

#[test]
fn runs_that_are_shorter_than_they_should_be_are_noticed() {
    assert_no_column_scatters_as_expected(|plan| {
        let window = Nanos(Nanos::from_secs(240).0 / 16);
        Plan { duration: Some(plan.warmup.known() + window), ..plan }
    });
}

#[test]
fn contended_server_is_measured_below_at_and_beyond_its_peak() {
    assert_all_pass(&scaling::findings(Rules::STANDARD));
}
