//! Raw measurements and the figures that are computed from them.

use serde::{Deserialize, Serialize};

use crate::cells::{Cell, Database, Statement};
use crate::child::ProgramRun;
use crate::runner::Runner;

/// One run of one load generator.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) queries: u64,
    pub(crate) elapsed_s: f64,
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
    pub(crate) peak_rss: u64,
    pub(crate) steal: f64,
    pub(crate) stolen_ticks: u64,
    pub(crate) load: f64,
}

impl Sample {
    /// Combines the resources of a program with its number of queries and the load average at its
    /// start.
    pub(crate) fn new(queries: u64, ran: &ProgramRun, load: f64) -> Sample {
        Sample {
            queries,
            elapsed_s: ran.elapsed.as_secs_f64(),
            user_s: ran.user.as_secs_f64(),
            system_s: ran.system.as_secs_f64(),
            peak_rss: ran.peak_rss,
            steal: ran.steal,
            stolen_ticks: ran.stolen_ticks,
            load,
        }
    }
}

/// One round of one load generator in one cell, as stored with the tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Raw {
    pub(crate) runner: Runner,
    pub(crate) database: Database,
    pub(crate) statement: Statement,
    pub(crate) tls: bool,
    pub(crate) connections: u32,
    /// Number of the round, from 1.
    pub(crate) round: usize,
    pub(crate) queries: u64,
    pub(crate) elapsed_s: f64,
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
    pub(crate) peak_rss_bytes: u64,
    /// Fraction of the machine's time that other virtual machines stole.
    pub(crate) steal: f64,
    pub(crate) load_average: f64,
    /// Figures of the start-up run, which are subtracted.
    pub(crate) start_queries: u64,
    pub(crate) start_elapsed_s: f64,
    pub(crate) start_user_s: f64,
    pub(crate) start_system_s: f64,
}

impl Raw {
    /// Combines a long run and the start-up run before it.
    pub(crate) fn new(
        cell: &Cell,
        runner: Runner,
        round: usize,
        long: &Sample,
        start: &Sample,
    ) -> Raw {
        Raw {
            runner,
            database: cell.database,
            statement: cell.statement,
            tls: cell.tls,
            connections: cell.connections,
            round,
            queries: long.queries,
            elapsed_s: long.elapsed_s,
            user_s: long.user_s,
            system_s: long.system_s,
            peak_rss_bytes: long.peak_rss,
            steal: long.steal,
            load_average: long.load,
            start_queries: start.queries,
            start_elapsed_s: start.elapsed_s,
            start_user_s: start.user_s,
            start_system_s: start.system_s,
        }
    }

    fn queries(&self) -> f64 {
        self.queries.saturating_sub(self.start_queries).max(1) as f64
    }

    /// Returns the processor time per query in microseconds, in user mode and in the kernel.
    pub(crate) fn processor_us(&self) -> (f64, f64) {
        let per_query = |long: f64, start: f64| (long - start).max(0.0) * 1e6 / self.queries();
        (per_query(self.user_s, self.start_user_s), per_query(self.system_s, self.start_system_s))
    }

    /// Returns the total processor time per query in microseconds.
    pub(crate) fn total_us(&self) -> f64 {
        let (user, system) = self.processor_us();
        user + system
    }

    /// Returns the queries per second.
    pub(crate) fn queries_per_s(&self) -> f64 {
        self.queries() / (self.elapsed_s - self.start_elapsed_s).max(1e-3)
    }
}

/// The median, minimum and maximum of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
}

impl Spread {
    /// Computes the spread; `None` if there are no values.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (lowest, highest) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            0 => (values[middle - 1] + values[middle]) / 2.0,
            _ => values[middle],
        };
        Some(Spread { median, lowest, highest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_lies_in_the_middle() {
        assert_eq!(Spread::of([]), None);
        let spread = |median, lowest, highest| Some(Spread { median, lowest, highest });
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), spread(2.0, 1.0, 3.0));
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 3.0]), spread(2.5, 1.0, 4.0));
    }

    #[test]
    fn connection_cost_is_subtracted() {
        let cell = Cell {
            database: Database::Postgres,
            statement: Statement::Prepared,
            tls: true,
            connections: 16,
        };
        let sample = |queries, elapsed_s, user_s, system_s| Sample {
            queries,
            elapsed_s,
            user_s,
            system_s,
            peak_rss: 0,
            steal: 0.0,
            stolen_ticks: 0,
            load: 0.0,
        };
        // Connecting takes 0.5 s, with 0.4 s of processor time; a query costs 1 µs in user mode and
        // 5 µs in the kernel.
        let (long, start) = (sample(500_000, 5.5, 0.8, 2.6), sample(100_000, 1.5, 0.4, 0.6));
        let raw = Raw::new(&cell, Runner::Limit, 1, &long, &start);
        let (user, system) = raw.processor_us();
        assert!((user - 1.0).abs() < 1e-9 && (system - 5.0).abs() < 1e-9, "{user} {system}");
        assert!((raw.total_us() - 6.0).abs() < 1e-9);
        assert!((raw.queries_per_s() - 100_000.0).abs() < 1e-6);
    }
}
