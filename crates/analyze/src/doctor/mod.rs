//! Checks of the environment before a run.
//!
//! [`judge`] is a function from the data read before a run ([`DoctorInput`]) to findings
//! ([`Diagnosis`]). Each check examines one thing. It passes, reports a [`Problem`], or names the
//! [`MissingFact`] without which it was not possible; `report` writes the sentences about both.
//! Each check that applies either passes or is reported, never both. A check of servers is reported
//! for each server with a problem or a missing fact, and passes only if it passes on every server
//! to which it applies.

mod diagnosis;
mod host;
mod input;
mod server;

pub use diagnosis::{
    BufferSetting, Diagnosis, DurableSetting, Finding, MissingFact, NotPossible, Problem,
    SleepCondition,
};
pub use input::{DoctorInput, Lateness, Server, UnreachedServer};

/// Runs all checks on the data read before a run, and returns their findings.
pub fn judge(input: &DoctorInput) -> Diagnosis {
    let mut diagnosis = Diagnosis::default();
    for (check, look) in host::CHECKS {
        diagnosis.add(check, [(None, look(input, &()))]);
    }
    diagnosis.add(server::HOSTS, server::hosts(input));
    for (check, look) in server::CHECKS {
        let of_server = |server: &Server| (server.host.clone(), look(input, server));
        diagnosis.add(check, input.servers.iter().map(of_server));
    }
    diagnosis
}

#[cfg(test)]
mod tests {
    use base::Nanos;
    use record::environment::ProcessorShares;

    use super::*;

    /// Returns a machine and a server without problems.
    pub(super) fn healthy() -> DoctorInput {
        let facts = |facts: &[(&str, &str)]| -> Vec<(String, String)> {
            facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        DoctorInput {
            host: facts(&[
                ("host.cpu.governor", "performance"),
                ("host.cpu.logical", "8"),
                ("host.swap.used_bytes", "0"),
                ("host.memory.total_bytes", "17179869184"),
                ("host.open_files.hard", "524288"),
                ("host.cgroup.cpu_quota", "none"),
                ("host.clock.source", "tsc"),
                ("host.load.1m", "0.10"),
            ]),
            processors: Some(ProcessorShares { busy: 0.01, stolen: 0.0 }),
            timer: Some(Lateness {
                count: 300,
                p99: Nanos::from_micros(20),
                max: Nanos::from_micros(60),
            }),
            servers: vec![Server {
                host: None,
                network: facts(&[("network.path", "remote IPv4")]),
                settings: facts(&[
                    ("server", "PostgreSQL 15.6"),
                    ("fsync", "on"),
                    ("synchronous_commit", "on"),
                    ("full_page_writes", "on"),
                    ("shared_buffers", "4GB"),
                ]),
            }],
            unreached: Vec::new(),
        }
    }

    /// Returns the healthy input with one changed fact of the machine.
    pub(super) fn with_host(name: &str, value: &str) -> DoctorInput {
        let mut input = healthy();
        let fact = input.host.iter_mut().find(|(known, _)| known == name).unwrap();
        value.clone_into(&mut fact.1);
        input
    }

    /// Returns the healthy input with these settings of the server.
    pub(super) fn with_settings(settings: &[(&str, &str)]) -> DoctorInput {
        let mut input = healthy();
        let settings = settings.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        input.servers[0].settings = settings.collect();
        input
    }

    /// Asserts that one check alone has a finding, and returns it.
    #[track_caller]
    pub(super) fn only_finding(input: &DoctorInput, check: &str) -> Finding {
        let diagnosis = judge(input);
        let checks: Vec<&str> = diagnosis.findings.iter().map(|finding| finding.check).collect();
        assert_eq!(checks, [check]);
        assert!(!diagnosis.passed.contains(&check));
        diagnosis.findings.into_iter().next().unwrap()
    }

    /// Asserts that a check was not possible.
    #[track_caller]
    pub(super) fn is_not_possible(input: &DoctorInput, check: &str) {
        let diagnosis = judge(input);
        assert_eq!(diagnosis.findings, []);
        assert!(diagnosis.not_possible.iter().any(|not| not.check == check), "{diagnosis:?}");
    }

    #[test]
    fn healthy_machine_has_no_findings() {
        let diagnosis = judge(&healthy());
        assert_eq!((diagnosis.findings, diagnosis.not_possible), (vec![], vec![]));
        assert_eq!(diagnosis.passed.len(), 13);
    }

    #[test]
    fn each_server_of_several_is_judged_by_itself() {
        let (mut input, durable) = (healthy(), healthy().servers.remove(0));
        let host = |name: &str| Some(name.to_owned());
        let server = |name: &str, fsync: &str| {
            let mut server = Server { host: host(name), ..durable.clone() };
            server.settings[1].1 = fsync.to_owned();
            server
        };
        input.servers = vec![server("a", "on"), server("b", "off"), server("c", "unknown")];
        let diagnosis = judge(&input);
        let found: Vec<_> =
            diagnosis.findings.iter().map(|one| (one.check, one.host.as_deref())).collect();
        assert_eq!(found, [("fsync", Some("b"))]);
        let not_possible =
            NotPossible { check: "fsync", host: host("c"), missing: MissingFact::Setting("fsync") };
        assert_eq!(diagnosis.not_possible, [not_possible]);
        // The reachability of several hosts is a check of its own.
        let mut expected = judge(&healthy()).passed;
        expected.retain(|check| *check != "fsync");
        expected.insert(8, "hosts");
        assert_eq!(diagnosis.passed, expected);
    }

    #[test]
    fn host_that_is_not_reached_is_found() {
        let mut input = healthy();
        let (host, reason) = (Some("b:5433".to_owned()), "refused".to_owned());
        let unreached = UnreachedServer { host: host.clone(), reason: reason.clone() };
        input.unreached.push(unreached);
        let found = only_finding(&input, "hosts");
        assert_eq!((found.host, found.problem), (host, Problem::Unreached { reason }));
    }

    #[test]
    fn unknown_facts_are_neither_found_nor_passed() {
        let diagnosis = judge(&DoctorInput::default());
        assert_eq!((diagnosis.findings, diagnosis.passed), (vec![], vec![]));
        assert_eq!(diagnosis.not_possible.len(), host::CHECKS.len());
    }

    #[test]
    fn sleeps_are_summed_up_by_rank() {
        let late = Lateness::of((1..=200).rev().map(Nanos).collect()).unwrap();
        assert_eq!(late, Lateness { count: 200, p99: Nanos(198), max: Nanos(200) });
        assert_eq!(Lateness::of(vec![Nanos(7)]).unwrap().p99, Nanos(7));
        assert_eq!(Lateness::of(Vec::new()), None);
    }
}
