//! Checks of the server to be measured.

use record::environment::{UNKNOWN, host, known};

use super::diagnosis::{BufferSetting, Check, CheckOutcome, DurableSetting, MissingFact, Problem};
use super::input::{DoctorInput, Server};

/// All checks of the server.
pub(super) const CHECKS: [Check<Server>; 9] = [
    ("same-processors", |_, server| same_processors(server)),
    ("fsync", |_, server| durable(server, DurableSetting::Fsync)),
    ("synchronous-commit", |_, server| durable(server, DurableSetting::SynchronousCommit)),
    ("full-page-writes", |_, server| durable(server, DurableSetting::FullPageWrites)),
    ("flush-log", |_, server| durable(server, DurableSetting::FlushLog)),
    ("double-write", |_, server| durable(server, DurableSetting::DoubleWrite)),
    ("sync-binlog", |_, server| sync_binlog(server)),
    ("sqlite-synchronous", |_, server| durable(server, DurableSetting::SqliteSynchronous)),
    ("buffer-pool", buffer_pool),
];

/// Name of the check that every host of a target can be reached.
pub(super) const HOSTS: &str = "hosts";

/// Checks that every host of a target with several hosts can be reached.
pub(super) fn hosts(input: &DoctorInput) -> Vec<(Option<String>, CheckOutcome)> {
    let reached = input.servers.iter().filter(|server| server.host.is_some());
    let reached = reached.map(|server| (server.host.clone(), CheckOutcome::Fine));
    let unreached = input.unreached.iter().map(|server| {
        let problem = Problem::Unreached { reason: server.reason.clone() };
        (server.host.clone(), CheckOutcome::Found(problem))
    });
    reached.chain(unreached).collect()
}

/// Checks a setting that decides whether commits or pages survive a power failure.
fn durable(server: &Server, durable: DurableSetting) -> CheckOutcome {
    match setting(server, durable.name()) {
        None => CheckOutcome::NotAsked,
        Some(UNKNOWN) => CheckOutcome::NotPossible(MissingFact::Setting(durable.name())),
        Some(value) if durable.is_safe(value) => CheckOutcome::Fine,
        Some(value) => {
            CheckOutcome::Found(Problem::NotDurable { setting: durable, value: value.to_owned() })
        }
    }
}

/// Checks `sync_binlog`, which applies only if there is a binary log.
fn sync_binlog(server: &Server) -> CheckOutcome {
    match setting(server, "log_bin").map(str::to_ascii_lowercase).as_deref() {
        Some("on" | "1") => durable(server, DurableSetting::SyncBinlog),
        Some(_) | None => CheckOutcome::NotAsked,
    }
}

fn setting<'a>(server: &'a Server, name: &str) -> Option<&'a str> {
    let (_, value) = server.settings.iter().find(|(known, _)| known == name)?;
    Some(value.as_str())
}

fn same_processors(server: &Server) -> CheckOutcome {
    if server.network.is_empty() {
        return CheckOutcome::NotAsked;
    }
    match server.is_here() {
        None => CheckOutcome::NotPossible(MissingFact::ServerAddress),
        Some(false) => CheckOutcome::Fine,
        Some(true) => CheckOutcome::Found(Problem::SameProcessors),
    }
}

/// Size in bytes up to which a buffer may be the unconfigured default of a server.
const SMALL_POOL: u64 = 128 << 20;

/// A small buffer is adequate if its size is at least the machine's memory divided by this number.
const ADEQUATE_PART: u64 = 8;

fn buffer_pool(all: &DoctorInput, server: &Server) -> CheckOutcome {
    let found =
        BufferSetting::ALL.into_iter().find_map(|it| Some((it, setting(server, it.name())?)));
    let Some((buffer, value)) = found else { return CheckOutcome::NotAsked };
    let Some(size_bytes) = bytes(value) else {
        return CheckOutcome::NotPossible(MissingFact::Setting(buffer.name()));
    };
    // The memory of another machine is unknown.
    let memory_bytes = match server.is_here() {
        Some(true) => known(&all.host, host::MEMORY_TOTAL).and_then(|n| n.parse().ok()),
        Some(false) | None => None,
    };
    let is_fair = memory_bytes.is_some_and(|memory: u64| size_bytes >= memory / ADEQUATE_PART);
    match size_bytes > SMALL_POOL || is_fair {
        true => CheckOutcome::Fine,
        false => {
            CheckOutcome::Found(Problem::BufferPool { setting: buffer, size_bytes, memory_bytes })
        }
    }
}

/// Parses a size as servers write it: bytes, or a number with a unit of PostgreSQL, as in `128MB`.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit {
        "" | "B" => 0,
        "kB" => 10,
        "MB" => 20,
        "GB" => 30,
        "TB" => 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::judge;
    use crate::doctor::tests::{healthy, is_not_possible, only_finding, with_settings};

    #[track_caller]
    fn check(setting: DurableSetting, value: &str, finding: &str) {
        let found = only_finding(&with_settings(&[(setting.name(), value)]), finding);
        assert_eq!(found.problem, Problem::NotDurable { setting, value: value.to_owned() });
        is_not_possible(&with_settings(&[(setting.name(), "unknown")]), finding);
    }

    #[test]
    fn each_setting_that_skips_waiting_for_the_disk_is_found() {
        check(DurableSetting::Fsync, "off", "fsync");
        check(DurableSetting::SynchronousCommit, "off", "synchronous-commit");
        check(DurableSetting::FullPageWrites, "off", "full-page-writes");
        check(DurableSetting::FlushLog, "2", "flush-log");
        check(DurableSetting::FlushLog, "0", "flush-log");
        check(DurableSetting::DoubleWrite, "OFF", "double-write");
        check(DurableSetting::DoubleWrite, "DETECT_ONLY", "double-write");
        check(DurableSetting::SqliteSynchronous, "off", "sqlite-synchronous");
        for (setting, value) in [
            ("synchronous_commit", "remote_apply"),
            ("innodb_flush_log_at_trx_commit", "3"),
            ("innodb_doublewrite", "DETECT_AND_RECOVER"),
            ("synchronous", "normal"),
        ] {
            assert_eq!(judge(&with_settings(&[(setting, value)])).findings, [], "{setting}");
        }
    }

    #[test]
    fn unflushed_binary_log_is_found_if_enabled() {
        let with = |log_bin: &str| with_settings(&[("log_bin", log_bin), ("sync_binlog", "0")]);
        let setting = DurableSetting::SyncBinlog;
        let problem = Problem::NotDurable { setting, value: "0".to_owned() };
        assert_eq!(only_finding(&with("ON"), "sync-binlog").problem, problem);
        assert_eq!(judge(&with("OFF")).findings, []);
    }

    #[test]
    fn a_server_on_this_machine_is_found() {
        for path in ["loopback", "socket", "same host", "remote IPv4, loopback"] {
            let mut here = healthy();
            here.servers[0].network[0].1 = path.to_owned();
            only_finding(&here, "same-processors");
        }
        let mut unknown = healthy();
        unknown.servers[0].network[0].1 = UNKNOWN.to_owned();
        is_not_possible(&unknown, "same-processors");
    }

    #[test]
    fn a_buffer_of_the_default_size_is_found() {
        for (setting, value) in [
            (BufferSetting::SharedBuffers, "128MB"),
            (BufferSetting::InnodbBufferPool, "134217728"),
        ] {
            let found = only_finding(&with_settings(&[(setting.name(), value)]), "buffer-pool");
            let problem =
                Problem::BufferPool { setting, size_bytes: SMALL_POOL, memory_bytes: None };
            assert_eq!(found.problem, problem);
            is_not_possible(&with_settings(&[(setting.name(), "unknown")]), "buffer-pool");
        }
        assert_eq!(judge(&with_settings(&[("shared_buffers", "129MB")])).findings, []);
    }

    #[test]
    fn small_buffer_is_accepted_on_a_small_machine() {
        let local = |memory: &str| {
            let mut local = with_settings(&[("innodb_buffer_pool_size", "134217728")]);
            local.servers[0].network[0].1 = "loopback".to_owned();
            let fact = local.host.iter_mut().find(|(name, _)| name == "host.memory.total_bytes");
            fact.unwrap().1 = memory.to_owned();
            judge(&local).findings.into_iter().find(|finding| finding.check == "buffer-pool")
        };
        assert_eq!(local("1073741824"), None);
        let problem = Problem::BufferPool {
            setting: BufferSetting::InnodbBufferPool,
            size_bytes: SMALL_POOL,
            memory_bytes: Some(16 << 30),
        };
        assert_eq!(local("17179869184").unwrap().problem, problem);
    }

    #[test]
    fn sizes_are_read_as_servers_write_them() {
        for (text, size) in [("8192", 8_192), ("16kB", 16_384), ("1GB", 1 << 30)] {
            assert_eq!(bytes(text), Some(size), "{text}");
        }
        for odd in ["", "MB", "-1", "1 GB", "1XB", "18446744073709551615kB", "empty"] {
            assert_eq!(bytes(odd), None, "{odd}");
        }
    }
}
