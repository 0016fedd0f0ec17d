//! SQLite's statement counters (SQLite documentation, "Status Parameters for prepared statements").
//! Each connection counts separately and adds to the shared sums once a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Statement, StatementStatus};

/// The counters, with the names of `sqlite3_stmt_status` in lower case.
const COUNTED: [(StatementStatus, &str); 7] = [
    (StatementStatus::FullscanStep, "fullscan_step"),
    (StatementStatus::Sort, "sort"),
    (StatementStatus::AutoIndex, "autoindex"),
    (StatementStatus::VmStep, "vm_step"),
    (StatementStatus::RePrepare, "reprepare"),
    (StatementStatus::FilterMiss, "filter_miss"),
    (StatementStatus::FilterHit, "filter_hit"),
];

/// Sums over all connections of a driver.
#[derive(Debug, Default)]
pub(super) struct Counters([AtomicU64; COUNTED.len()]);

impl Counters {
    /// Returns the name and the sum of each counter.
    pub(super) fn read(&self) -> Vec<(&'static str, u64)> {
        let sums = self.0.iter().map(|sum| sum.load(Ordering::Relaxed));
        COUNTED.iter().map(|(_, name)| *name).zip(sums).collect()
    }
}

/// Counts of one connection that are not yet in the shared sums. They are added when this is
/// dropped, at the latest.
#[derive(Debug)]
pub(super) struct ConnectionCounts {
    counts: [u64; COUNTED.len()],
    counters: Arc<Counters>,
}

impl ConnectionCounts {
    /// Creates counts of zero.
    pub(super) fn new(counters: &Arc<Counters>) -> ConnectionCounts {
        ConnectionCounts { counts: [0; COUNTED.len()], counters: Arc::clone(counters) }
    }

    /// Adds the counts of a statement since the previous call for it.
    pub(super) fn add(&mut self, statement: &Statement<'_>) {
        for (count, (status, _)) in self.counts.iter_mut().zip(COUNTED) {
            *count += u64::try_from(statement.reset_status(status)).unwrap_or(0);
        }
    }

    /// Adds the counts to the shared sums.
    pub(super) fn report(&mut self) {
        for (count, sum) in self.counts.iter_mut().zip(&self.counters.0) {
            sum.fetch_add(std::mem::take(count), Ordering::Relaxed);
        }
    }
}

impl Drop for ConnectionCounts {
    fn drop(&mut self) {
        self.report();
    }
}

#[cfg(test)]
mod tests {
    use crate::sqlite::tests::{execute, open, real, work};
    use crate::{AnyDriver, Connection, Driver};

    #[test]
    fn work_of_statements_is_counted_over_all_connections() {
        // The type of driver that a run uses.
        let driver = AnyDriver::from(open("sqlite:").unwrap());
        let count = |name: &str| {
            let found = driver.counters().into_iter().find(|(it, _)| *it == name);
            found.unwrap_or_else(|| panic!("{name} is not counted")).1
        };
        assert!(driver.counters().iter().all(|(_, sum)| *sum == 0));
        real(async |rt| {
            for _ in 0..2 {
                let mut connection = driver.connect(&rt).await.unwrap();
                connection.query_text("create table if not exists t (a)").await.unwrap();
                connection.query_text("insert into t values (1), (2), (3)").await.unwrap();
                let sorted = connection.prepare("select a from t order by a").await.unwrap();
                for _ in 0..2 {
                    connection.run(&mut work([execute(sorted, 0, 0)], &[])).await.unwrap();
                }
                connection.close().await;
            }
        });
        // Three rows for the first connection and six for the second, each scanned twice; a scan of
        // n rows takes n - 1 steps.
        assert_eq!((count("sort"), count("fullscan_step")), (4, 2 * 2 + 2 * 5));
        assert!(count("vm_step") > 18);
        // Texts of the observer and of the setup are not requests, so they are not counted.
        assert_eq!(count("reprepare"), 0);
    }
}
