//! Checks of the server to be measured.

use record::environment::{UNKNOWN, known};

use super::diagnosis::{Check, Outcome};
use super::host::mebibytes;
use super::surroundings::{Server, Surroundings};

/// All checks of the server.
pub(super) const CHECKS: [Check<Server>; 9] = [
    ("same-processors", |_, server| same_processors(server)),
    ("fsync", |_, server| FSYNC.check(server)),
    ("synchronous-commit", |_, server| SYNCHRONOUS_COMMIT.check(server)),
    ("full-page-writes", |_, server| FULL_PAGE_WRITES.check(server)),
    ("flush-log", |_, server| FLUSH_LOG.check(server)),
    ("double-write", |_, server| DOUBLE_WRITE.check(server)),
    ("sync-binlog", |_, server| sync_binlog(server)),
    ("sqlite-synchronous", |_, server| SQLITE_SYNCHRONOUS.check(server)),
    ("buffer-pool", buffer_pool),
];

/// A setting that decides whether commits survive a failure.
struct Durable {
    setting: &'static str,
    is_safe: fn(&str) -> bool,
    reason: &'static str,
    remedy: &'static str,
}

const FSYNC: Durable = Durable {
    setting: "fsync",
    is_safe: |value| value == "on",
    reason: "nothing waits for the disk, and a power failure destroys the database: no production \
             server is as fast",
    remedy: "psql -c 'alter system set fsync = on' -c 'select pg_reload_conf()'",
};

const SYNCHRONOUS_COMMIT: Durable = Durable {
    setting: "synchronous_commit",
    is_safe: |value| value != "off",
    reason: "commits do not wait for the disk, and the last ones are lost in a power failure",
    remedy: "psql -c 'alter system set synchronous_commit = on' -c 'select pg_reload_conf()'",
};

const FULL_PAGE_WRITES: Durable = Durable {
    setting: "full_page_writes",
    is_safe: |value| value == "on",
    reason: "the log is shorter than that of production servers, which must survive a torn page",
    remedy: "psql -c 'alter system set full_page_writes = on' -c 'select pg_reload_conf()'",
};

const FLUSH_LOG: Durable = Durable {
    setting: "innodb_flush_log_at_trx_commit",
    is_safe: |value| value == "1",
    reason: "commits do not wait for the disk, and those of the last second are lost in a power \
             failure",
    remedy: "mysql -e 'set global innodb_flush_log_at_trx_commit = 1'",
};

const DOUBLE_WRITE: Durable = Durable {
    setting: "innodb_doublewrite",
    is_safe: |value| !["off", "0", "false"].contains(&value.to_ascii_lowercase().as_str()),
    reason: "pages are written once, and one that is torn in a power failure is lost",
    remedy: "write innodb_doublewrite = ON into the server's configuration and restart it",
};

const SYNC_BINLOG: Durable = Durable {
    setting: "sync_binlog",
    is_safe: |value| value == "1",
    reason: "the binary log does not wait for the disk as commits do, and replicas may lose some",
    remedy: "mysql -e 'set global sync_binlog = 1'",
};

const SQLITE_SYNCHRONOUS: Durable = Durable {
    setting: "synchronous",
    is_safe: |value| !["off", "0"].contains(&value),
    reason: "nothing waits for the disk, and a power failure destroys the database",
    remedy: "leave synchronous=off out of the URL",
};

impl Durable {
    fn check(&self, server: &Server) -> Outcome {
        let name = self.setting;
        match setting(server, name) {
            None => Outcome::NotAsked,
            Some(UNKNOWN) => Outcome::not_possible(format!("the server does not show {name}")),
            Some(value) if (self.is_safe)(value) => Outcome::Fine,
            Some(value) => Outcome::Found {
                found: format!("{name} is {value}"),
                reason: self.reason.to_owned(),
                remedy: self.remedy.to_owned(),
            },
        }
    }
}

/// Checks `sync_binlog`, which applies only if there is a binary log.
fn sync_binlog(server: &Server) -> Outcome {
    match setting(server, "log_bin").map(str::to_ascii_lowercase).as_deref() {
        Some("on" | "1") => SYNC_BINLOG.check(server),
        Some(_) | None => Outcome::NotAsked,
    }
}

fn setting<'a>(server: &'a Server, name: &str) -> Option<&'a str> {
    let (_, value) = server.settings.iter().find(|(known, _)| known == name)?;
    Some(value.as_str())
}

fn same_processors(server: &Server) -> Outcome {
    if server.network.is_empty() {
        return Outcome::NotAsked;
    }
    match server.is_here() {
        None => Outcome::not_possible("the server's name has no address"),
        Some(false) => Outcome::Fine,
        Some(true) => Outcome::Found {
            found: "the server is on this machine".to_owned(),
            reason: "it competes with the load generator for the processors, more at higher rates"
                .to_owned(),
            remedy:
                "run assay on another machine, or give both their own processors: taskset -apc \
                     0-3 PID for the server, assay run FILE --cpus 4"
                    .to_owned(),
        },
    }
}

/// Size in bytes up to which a buffer may be the unconfigured default of a server.
const SMALL_POOL: u64 = 128 << 20;

/// Divisor of the machine's memory that gives the size from which a small buffer is adequate.
const FAIR_PART: u64 = 8;

/// Buffer settings of the servers, each with the command that enlarges it.
const POOLS: [(&str, &str); 2] = [
    ("shared_buffers", "psql -c \"alter system set shared_buffers = 'SIZE'\", and start it again"),
    ("innodb_buffer_pool_size", "mysql -e 'set global innodb_buffer_pool_size = SIZE'"),
];

fn buffer_pool(all: &Surroundings, server: &Server) -> Outcome {
    let found =
        POOLS.iter().find_map(|(name, remedy)| Some((name, remedy, setting(server, name)?)));
    let Some((name, remedy, value)) = found else { return Outcome::NotAsked };
    let Some(size) = bytes(value) else {
        return Outcome::not_possible(format!("the server does not show {name}"));
    };
    // The memory of another machine is unknown.
    let memory = match server.is_here() {
        Some(true) => known(&all.host, "host.memory.total_bytes").and_then(|n| n.parse().ok()),
        Some(false) | None => None,
    };
    let is_fair = memory.is_some_and(|memory: u64| size >= memory / FAIR_PART);
    if size > SMALL_POOL || is_fair {
        return Outcome::Fine;
    }
    let of = memory.map(|memory| format!(" of {} of memory", mebibytes(memory)));
    let quarter = memory
        .map_or("a quarter of its memory".to_owned(), |memory| format!("{}MB", (memory / 4) >> 20));
    let quarter = match (*name, memory) {
        ("innodb_buffer_pool_size", Some(memory)) => (memory / 4).to_string(),
        (_, _) => quarter,
    };
    Outcome::Found {
        found: format!("{name} is {}{}", mebibytes(size), of.unwrap_or_default()),
        reason: "this is the default of a server that was not configured: more data than that is \
                 read again and again"
            .to_owned(),
        remedy: remedy.replace("SIZE", &quarter),
    }
}

/// Parses a size as servers write it: bytes, or a number with the unit of `pg_settings`.
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
    fn check(setting: &str, value: &str, finding: &str) {
        let found = only_finding(&with_settings(&[(setting, value)]), finding);
        assert!(found.found.starts_with(&format!("{setting} is ")), "{found:?}");
        assert!(!found.reason.is_empty() && !found.remedy.is_empty());
        is_not_possible(&with_settings(&[(setting, "unknown")]), finding);
    }

    #[test]
    fn each_way_not_to_wait_for_the_disk_is_found() {
        check("fsync", "off", "fsync");
        check("synchronous_commit", "off", "synchronous-commit");
        check("full_page_writes", "off", "full-page-writes");
        check("innodb_flush_log_at_trx_commit", "2", "flush-log");
        check("innodb_flush_log_at_trx_commit", "0", "flush-log");
        check("innodb_doublewrite", "OFF", "double-write");
        check("synchronous", "off", "sqlite-synchronous");
        for (setting, value) in [
            ("synchronous_commit", "remote_apply"),
            ("innodb_doublewrite", "DETECT_AND_RECOVER"),
            ("synchronous", "normal"),
        ] {
            assert_eq!(judge(&with_settings(&[(setting, value)])).findings, [], "{setting}");
        }
    }

    #[test]
    fn a_binary_log_that_is_not_flushed_is_found_where_there_is_one() {
        let with = |log_bin: &str| with_settings(&[("log_bin", log_bin), ("sync_binlog", "0")]);
        assert_eq!(only_finding(&with("ON"), "sync-binlog").found, "sync_binlog is 0");
        assert_eq!(judge(&with("OFF")).findings, []);
    }

    #[test]
    fn a_server_on_this_machine_is_found() {
        for path in ["loopback", "socket", "same host", "remote IPv4, loopback"] {
            let mut here = healthy();
            here.server.as_mut().unwrap().network[0].1 = path.to_owned();
            only_finding(&here, "same-processors");
        }
        let mut unknown = healthy();
        unknown.server.as_mut().unwrap().network[0].1 = UNKNOWN.to_owned();
        is_not_possible(&unknown, "same-processors");
    }

    #[test]
    fn a_buffer_that_nobody_has_enlarged_is_found() {
        check("shared_buffers", "128MB", "buffer-pool");
        check("innodb_buffer_pool_size", "134217728", "buffer-pool");
        assert_eq!(judge(&with_settings(&[("shared_buffers", "129MB")])).findings, []);
    }

    #[test]
    fn a_small_buffer_is_fair_on_a_small_machine() {
        let local = |memory: &str| {
            let mut local = with_settings(&[("innodb_buffer_pool_size", "134217728")]);
            local.server.as_mut().unwrap().network[0].1 = "loopback".to_owned();
            let fact = local.host.iter_mut().find(|(name, _)| name == "host.memory.total_bytes");
            fact.unwrap().1 = memory.to_owned();
            judge(&local).findings.into_iter().find(|finding| finding.check == "buffer-pool")
        };
        assert_eq!(local("1073741824"), None);
        let found = local("17179869184").unwrap();
        assert_eq!(found.found, "innodb_buffer_pool_size is 128 MiB of 16 GiB of memory");
        assert!(found.remedy.contains("= 4294967296'"), "{found:?}");
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
