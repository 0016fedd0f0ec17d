//! Poolers, proxies and tunnels among the processes that accept a target's connections. They pass
//! the connections on to a database, and are recognised by their names in `/proc/PID/comm`
//! (`proc_pid_comm(5)`). A program with another name is recognised by its connections
//! ([`upstream`](super::upstream)).

use record::component_name::DATABASE_PROGRAMS;

use super::files::Files;
use super::find::find;
use crate::environment::Root;
use crate::scope::{ServerLocation, ServerOption};

/// Names of proxies, cut to the 15 characters that the kernel stores.
const PROXY_PROGRAMS: [&str; 18] = [
    "docker-proxy",
    "envoy",
    "haproxy",
    "kubectl",
    "maxscale",
    "mysqlrouter",
    "nginx",
    "odyssey",
    "pgbouncer",
    "pgcat",
    "pgpool",
    "proxysql",
    "rootlessport",
    "socat",
    "ssh",
    "stunnel",
    "stunnel4",
    "toxiproxy-serve",
];

/// A process that listens on a port of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listener {
    pub(crate) pid: u32,
    /// Name of the process in `/proc/PID/comm`.
    pub(crate) name: String,
}

/// Returns the process that listens on a port. `None` if it has the name of a database, if it is
/// not visible, or if several processes listen on the port.
pub(crate) fn listener(root: &Root, port: u16) -> Option<Listener> {
    let mut files = Files::of(root);
    let found = find(&mut files, &ServerLocation::Port(port), ServerOption::None)?.ok()?;
    let [number] = found.as_slice() else { return None };
    let name = files.read(format_args!("proc/{number}/comm"))?.trim().to_owned();
    (!DATABASE_PROGRAMS.contains(&name.as_str())).then_some(Listener { pid: *number, name })
}

/// Counts the proxies among the given processes.
pub(super) fn count(files: &mut Files<'_>, numbers: impl Iterator<Item = u32>) -> usize {
    let is_proxy = |number: &u32| {
        let name = files.read(format_args!("proc/{number}/comm"));
        name.is_some_and(|name| PROXY_PROGRAMS.contains(&name.trim()))
    };
    numbers.filter(is_proxy).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::TestRoot;

    #[test]
    fn listener_that_is_not_a_database_may_be_a_pooler() {
        let tcp = |inode: u32| {
            format!("head\n0: 0100007F:1538 00000000:0000 0A 0:0 0:0 0 101 0 {inode} 1\n")
        };
        let stat = super::super::stat::tests::line(&super::super::stat::Stat::default());
        let of = |name: &str| {
            let planted = TestRoot::new()
                .with("proc/net/tcp", tcp(77))
                .with("proc/40/stat", stat.clone())
                .with("proc/40/comm", format!("{name}\n"))
                .with_link("proc/40/fd/3", "socket:[77]");
            listener(&planted.root, 0x1538).map(|it| (it.pid, it.name))
        };
        assert_eq!(of("pgcat"), Some((40, "pgcat".to_owned())));
        assert_eq!(of("postgres"), None);
        assert_eq!(listener(&TestRoot::new().root, 0x1538), None);
    }

    #[test]
    fn proxies_are_known_by_their_names() {
        let planted = TestRoot::new()
            .with("proc/1/comm", "pgbouncer\n")
            .with("proc/2/comm", "postgres\n")
            .with("proc/3/comm", "pgbouncer-exporter\n");
        assert_eq!(count(&mut Files::of(&planted.root), 1..=4), 1);
        assert!(PROXY_PROGRAMS.iter().all(|name| name.len() <= 15));
    }
}
