//! Poolers, proxies and tunnels among the processes that accept a target's connections. They
//! forward to a database and are recognised by their names in `/proc/PID/comm`
//! (`proc_pid_comm(5)`).

use super::files::Files;

/// Names of proxies. The kernel keeps 15 characters.
const PROXIES: [&str; 15] = [
    "docker-proxy",
    "envoy",
    "haproxy",
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
];

/// Counts the proxies among some processes.
pub(super) fn count(files: &mut Files<'_>, numbers: impl Iterator<Item = u32>) -> usize {
    let is_proxy = |number: &u32| {
        let name = files.read(format_args!("proc/{number}/comm"));
        name.is_some_and(|name| PROXIES.contains(&name.trim()))
    };
    numbers.filter(is_proxy).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::Planted;

    #[test]
    fn proxies_are_known_by_their_names() {
        let planted = Planted::new()
            .with("proc/1/comm", "pgbouncer\n")
            .with("proc/2/comm", "postgres\n")
            .with("proc/3/comm", "pgbouncer-exporter\n");
        assert_eq!(count(&mut Files::of(&planted.root), 1..=4), 1);
        assert!(PROXIES.iter().all(|name| name.len() <= 15));
    }
}
