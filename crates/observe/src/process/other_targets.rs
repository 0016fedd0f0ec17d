//! The databases of further targets on this machine. They are not observed, but they must not count
//! as other programs.

use super::files::Files;
use super::find::find;
use super::upstream::is_database;
use crate::scope::{ServerLocation, ServerOption};

/// Maximum number of samples between two searches for a database that was not found. A search reads
/// the open files of all processes.
const LONGEST_PAUSE: u32 = 16;

/// The databases of further targets.
#[derive(Debug)]
pub(super) struct OtherTargets {
    /// Locations of the databases, each with the processes found there.
    servers: Vec<(ServerLocation, Vec<u32>)>,
    /// Number of samples until the next search, and number of samples between that search and the
    /// one after it.
    search: (u32, u32),
}

impl OtherTargets {
    /// Creates the list of the databases at these locations; no process of them is known yet.
    pub(super) fn of(locations: &[ServerLocation]) -> OtherTargets {
        let servers = locations.iter().map(|location| (location.clone(), Vec::new()));
        OtherTargets { servers: servers.collect(), search: (0, 1) }
    }

    /// Searches for databases that were not found before or have ended. Returns the number of
    /// locations without a known database; `None` if there are no locations.
    ///
    /// A process without the name of a database does not count as one: it may be a proxy, and the
    /// database behind it would be unknown.
    pub(super) fn update(&mut self, files: &mut Files<'_>) -> Option<usize> {
        self.search(files);
        for (_, found) in &mut self.servers {
            found.retain(|number| is_database(files, *number));
        }
        (!self.servers.is_empty()).then(|| self.count_lost())
    }

    /// Returns the number of locations without a known database.
    fn count_lost(&self) -> usize {
        self.servers.iter().filter(|(_, found)| found.is_empty()).count()
    }

    /// Searches for the databases that are not known, unless the last search was too recent.
    fn search(&mut self, files: &mut Files<'_>) {
        if self.count_lost() == 0 {
            return;
        }
        let (left, next) = self.search;
        if left > 0 {
            self.search.0 = left - 1;
            return;
        }
        for (location, found) in self.servers.iter_mut().filter(|(_, found)| found.is_empty()) {
            let result = find(files, location, ServerOption::None);
            *found = result.and_then(Result::ok).unwrap_or_default();
        }
        self.search = (next, (next * 2).min(LONGEST_PAUSE));
    }

    /// Returns the processes of the databases that were found, without their descendants.
    pub(super) fn pids(&self) -> impl Iterator<Item = u32> {
        self.servers.iter().flat_map(|(_, found)| found.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::TestRoot;

    /// Adds a process of this name that listens on port 5432.
    fn listening(planted: TestRoot, number: u32, name: &str) -> TestRoot {
        planted
            .with(&format!("proc/{number}/comm"), format!("{name}\n"))
            .with("proc/net/tcp", "head\n0: 0100007F:1538 00000000:0000 0A 0:0 0:0 0 101 0 77 1\n")
            .with_link(&format!("proc/{number}/fd/3"), "socket:[77]")
    }

    /// Samples until the databases at port 5432 and at a socket that does not exist are searched
    /// for again. Returns the number of locations without a known database, and the processes.
    fn updated(targets: &mut OtherTargets, planted: &TestRoot) -> (Option<usize>, Vec<u32>) {
        let mut files = Files::of(&planted.root);
        let last = (0..=LONGEST_PAUSE).map(|_| targets.update(&mut files)).last();
        (last.flatten(), targets.pids().collect())
    }

    #[test]
    fn databases_are_identified_by_location_and_name() {
        let locations = [ServerLocation::Port(5_432), ServerLocation::Socket("/none".into())];
        let mut both = OtherTargets::of(&locations);
        let mut one = OtherTargets::of(&locations[..1]);
        let planted = TestRoot::new();
        assert_eq!(updated(&mut one, &planted), (Some(1), vec![]));
        let planted = listening(planted, 40, "postgres");
        assert_eq!(updated(&mut one, &planted), (Some(0), vec![40]));
        assert_eq!(updated(&mut both, &planted), (Some(1), vec![40]));
        assert_eq!(updated(&mut OtherTargets::of(&[]), &planted), (None, vec![]));
    }

    /// Expects a proxy not to count as a database, because the database behind it is unknown.
    #[test]
    fn proxy_is_not_a_database() {
        let mut targets = OtherTargets::of(&[ServerLocation::Port(5_432)]);
        let planted = listening(TestRoot::new(), 40, "pgbouncer");
        assert_eq!(updated(&mut targets, &planted), (Some(1), vec![]));
    }

    #[test]
    fn database_that_was_restarted_is_found_again() {
        let mut targets = OtherTargets::of(&[ServerLocation::Port(5_432)]);
        let planted = listening(TestRoot::new(), 40, "postgres");
        assert_eq!(updated(&mut targets, &planted), (Some(0), vec![40]));
        let planted = listening(TestRoot::new(), 50, "postgres");
        assert_eq!(updated(&mut targets, &planted), (Some(0), vec![50]));
    }
}
