//! The database behind a proxy that accepts the target's connections.
//!
//! The proxy's own connections lead to the locations at which the database listens on this machine.
//! Only the owner of the proxy and root can see these connections.

use std::collections::{BTreeSet, HashSet};

use record::component_name::DATABASE_PROGRAMS;

use super::files::Files;
use super::find::find;
use super::group::{Group, GroupSample};
use super::process_tree::ProcessTree;
use super::proxies;
use super::socket_holder::sockets_of;
use super::thread::CountedFrom;
use crate::scope::{ServerLocation, ServerOption};

/// A function that returns the locations on this machine to which sockets are connected. The first
/// argument holds the inodes of the sockets. Sockets that were accepted at one of the ports in the
/// second argument lead to clients, and are ignored.
pub(crate) type FindServers = fn(&HashSet<u32>, &[u16]) -> Vec<ServerLocation>;

/// Maximum number of samples between two searches. A search reads all connections of the machine.
const LONGEST_PAUSE: u32 = 16;

/// The reason why the databases behind a proxy are not searched for.
const NOT_VISIBLE: &str =
    "the connections of the proxy are not visible: run Assay as its user or as root";

/// Processes of the databases behind proxies.
#[derive(Debug)]
pub(super) struct Upstream {
    /// The function that finds the locations of the databases; `None` if these are not observed.
    find_servers: Option<FindServers>,
    pub(super) group: Group,
    /// True once connections of the proxies led to a database or to another proxy.
    pub(super) was_reached: bool,
    /// Number of samples until the next search, and number of samples between that search and the
    /// one after it.
    search: (u32, u32),
}

/// Proxies that accept the target's connections.
pub(super) struct Proxies {
    /// Ids of the proxies' processes.
    pub(super) pids: Vec<u32>,
    /// Ports at which the proxies accept connections.
    pub(super) ports: Vec<u16>,
}

impl Upstream {
    /// Creates the group, which is empty until the database is found.
    pub(super) fn of(find_servers: Option<FindServers>) -> Upstream {
        Upstream { find_servers, group: Group::default(), was_reached: false, search: (0, 1) }
    }

    /// Samples the databases behind some proxies; `None` if none has been found yet.
    ///
    /// # Errors
    /// The connections of the proxies are not visible, and no database was found before.
    pub(super) fn sample(
        &mut self,
        files: &mut Files<'_>,
        process_tree: &ProcessTree,
        proxies: &Proxies,
    ) -> Result<Option<GroupSample>, &'static str> {
        let found = self.find(files, process_tree, proxies);
        let known = self.group.pids();
        if known.is_empty() && found.as_ref().map_or(true, BTreeSet::is_empty) {
            return found.map(|_| None);
        }
        self.group.add(files, found.unwrap_or_default(), CountedFrom::Now);
        self.group.add(files, process_tree.descendants(&known), CountedFrom::Start);
        Ok(Some(self.group.sample(files, None)))
    }

    /// Searches for the databases and returns their processes. If the last search was too recent,
    /// returns an empty set without a search. The search is repeated because a proxy may connect to
    /// another database later.
    fn find(
        &mut self,
        files: &mut Files<'_>,
        process_tree: &ProcessTree,
        proxies: &Proxies,
    ) -> Result<BTreeSet<u32>, &'static str> {
        let (left, next) = self.search;
        if left > 0 {
            self.search.0 = left - 1;
            return Ok(BTreeSet::new());
        }
        let found = self.servers(files, process_tree, proxies);
        let is_found = found.as_ref().is_ok_and(|found| !found.is_empty());
        let next = if is_found { LONGEST_PAUSE } else { next };
        self.search = (next, (next * 2).min(LONGEST_PAUSE));
        found
    }

    /// Returns the processes of the databases that accept the proxies' connections.
    fn servers(
        &mut self,
        files: &mut Files<'_>,
        process_tree: &ProcessTree,
        proxies: &Proxies,
    ) -> Result<BTreeSet<u32>, &'static str> {
        let Some(find_servers) = self.find_servers else { return Ok(BTreeSet::new()) };
        let first = proxies.pids.iter().copied().collect();
        let family = &process_tree.descendants(&first) | &first;
        let held = sockets_of(files.root, &family).ok_or(NOT_VISIBLE)?;
        let locations = find_servers(&held, &proxies.ports);
        let found =
            locations.iter().filter_map(|location| find(files, location, ServerOption::None)?.ok());
        let mut found: BTreeSet<u32> = found.flatten().collect();
        // A database that the proxy has started is observed as one of the proxy's processes.
        found.retain(|number| !family.contains(number));
        let further_proxies = proxies::count(files, found.iter().copied());
        found.retain(|number| is_database(files, *number));
        self.was_reached |= further_proxies > 0 || !found.is_empty();
        Ok(&process_tree.descendants(&found) | &found)
    }
}

/// Returns true if a process has the name of a database. A process with another name may be a
/// second proxy.
pub(super) fn is_database(files: &mut Files<'_>, number: u32) -> bool {
    let name = files.read(format_args!("proc/{number}/comm"));
    name.is_some_and(|name| DATABASE_PROGRAMS.contains(&name.trim()))
}

#[cfg(test)]
mod tests {
    use super::super::stat::Stat;
    use super::super::stat::tests::line;
    use super::*;
    use crate::environment::tests::TestRoot;

    /// Returns a machine with pgbouncer (process 40), which holds the sockets 1 and 2, and a
    /// process of this name (50) with a child (51) that listens on port 5432.
    fn planted(name: &str) -> TestRoot {
        let plant = |planted: TestRoot, number: u32, parent: u32, name: &str| {
            let stat = Stat { parent, threads: 1, started: 1, ..Stat::default() };
            planted
                .with(&format!("proc/{number}/stat"), line(&stat))
                .with(&format!("proc/{number}/comm"), format!("{name}\n"))
        };
        let planted = plant(TestRoot::new(), 40, 1, "pgbouncer");
        let planted = plant(planted, 50, 1, name);
        let listening = "head\n0: 0100007F:1538 00000000:0000 0A 0:0 0:0 0 101 0 77 1\n";
        plant(planted, 51, 50, name)
            .with("proc/net/tcp", listening)
            .with_link("proc/40/fd/3", "socket:[1]")
            .with_link("proc/40/fd/4", "socket:[2]")
            .with_link("proc/50/fd/3", "socket:[77]")
    }

    /// Finds a server at port 5432, to which socket 2 of a proxy at port 6432 is connected.
    fn leads_to_5432(sockets: &HashSet<u32>, ports: &[u16]) -> Vec<ServerLocation> {
        let leads = sockets.contains(&2) && ports == [6_432];
        leads.then_some(ServerLocation::Port(5_432)).into_iter().collect()
    }

    /// Returns the ids of the processes that are found behind the proxy.
    fn found(name: &str, find_servers: Option<FindServers>) -> Vec<u32> {
        let planted = planted(name);
        let mut files = Files::of(&planted.root);
        let mut process_tree = ProcessTree::default();
        process_tree.update(&mut files);
        let mut upstream = Upstream::of(find_servers);
        let proxies = Proxies { pids: vec![40], ports: vec![6_432] };
        let sample = upstream.sample(&mut files, &process_tree, &proxies).unwrap();
        let numbers: Vec<u32> = upstream.group.pids().into_iter().collect();
        assert_eq!(sample.map_or(0, |sample| sample.processes), numbers.len());
        numbers
    }

    #[test]
    fn processes_of_the_database_behind_a_proxy_are_found() {
        assert_eq!(found("postgres", Some(leads_to_5432)), [50, 51]);
        assert_eq!(found("haproxy", Some(leads_to_5432)), [0_u32; 0]);
        assert_eq!(found("postgres", Some(|_, _| Vec::new())), [0_u32; 0]);
        assert_eq!(found("postgres", None), [0_u32; 0]);
    }

    /// Expects the search to be repeated until it finds a database, because a pooler may open its
    /// first connection later.
    #[test]
    fn database_that_was_not_found_is_searched_for_again() {
        let planted = planted("postgres");
        let mut files = Files::of(&planted.root);
        let process_tree = ProcessTree::default();
        let mut upstream = Upstream::of(Some(leads_to_5432));
        let without = Proxies { pids: vec![41], ports: vec![6_432] };
        assert_eq!(upstream.sample(&mut files, &process_tree, &without), Err(NOT_VISIBLE));
        let with = Proxies { pids: vec![40], ports: vec![6_432] };
        let samples =
            (0..2).map(|_| upstream.sample(&mut files, &process_tree, &with).unwrap().is_some());
        assert_eq!(samples.collect::<Vec<_>>(), [false, true]);
    }

    /// Expects a later search to find a second database, which appears when a pool for another
    /// database is used, or after a failover.
    #[test]
    fn second_database_is_found_later() {
        let stat = Stat { parent: 1, threads: 1, started: 1, ..Stat::default() };
        let planted = planted("postgres")
            .with("proc/60/stat", line(&stat))
            .with("proc/60/comm", "mariadbd\n")
            .with("proc/net/tcp6", "head\n0: 0:0CEA 0:0 0A 0:0 0:0 0 101 0 78 1\n")
            .with_link("proc/60/fd/3", "socket:[78]")
            .with_link("proc/41/fd/3", "socket:[4]");
        let leads: FindServers = |sockets, _| {
            let ports = [(2, 5_432), (4, 3_306)].into_iter();
            let ports = ports.filter(|(socket, _)| sockets.contains(socket));
            ports.map(|(_, port)| ServerLocation::Port(port)).collect()
        };
        let mut files = Files::of(&planted.root);
        let process_tree = ProcessTree::default();
        let mut upstream = Upstream::of(Some(leads));
        let mut round = |numbers: &[u32]| {
            let proxies = Proxies { pids: numbers.to_vec(), ports: vec![6_432] };
            let sample = upstream.sample(&mut files, &process_tree, &proxies).unwrap();
            sample.map_or(0, |sample| sample.processes)
        };
        assert_eq!(round(&[40]), 1);
        let samples: Vec<usize> = (0..=LONGEST_PAUSE).map(|_| round(&[40, 41])).collect();
        assert_eq!((samples[0], samples.last()), (1, Some(&2)));
    }
}
