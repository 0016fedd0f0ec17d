//! The send lag, the cost and the highest rate of open loops.
//!
//! The cost and the highest rate are compared with those of the *bare loop*: the program `limit`, a
//! closed loop that measures nothing but its own total cost.

use serde::{Deserialize, Serialize};

use crate::cells::{Cell, Database, USUAL_CONNECTIONS};
use crate::figures::{Raw, Spread};
use crate::options::Options;
use crate::output::{Failure, print_to_stderr};
use crate::publish::{Extent, Publication};
use crate::runner::Runner;
use crate::runners::{self, Length};
use crate::servers::Servers;

/// The rates at which the send lag is measured, in requests per second.
const RATES: [u32; 4] = [1_000, 10_000, 50_000, 100_000];

/// Number of bisection steps of a search for the highest rate, between 0 and [`CEILING`]. Six steps
/// resolve 2.3 % of the throughput of the bare loop.
const HALVINGS: usize = 6;

/// Upper end of the search, as a multiple of the throughput of the bare loop.
const CEILING: f64 = 1.5;

/// Largest number of searches for the highest rate, one per round. A single run that is delayed by
/// something else can halve the result of a search.
const MOST_SEARCHES: usize = 3;

/// Minimum fraction of the arrivals that must be answered for their rate to count as sustained.
const LEAST_ANSWERED: f64 = 0.99;

/// Largest p99 of the send lag at which a rate counts as sustained, in milliseconds.
const PUNCTUAL_MS: f64 = 10.0;

/// Number of stolen ticks up to which a run counts as undisturbed. The kernel reports whole ticks,
/// mostly of 10 ms, and most of the time of the first tick may have been stolen before the run.
const TOLERATED_TICKS: u64 = 1;

/// A run of an open loop.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OpenRun {
    rate_per_s: u32,
    answered_per_s: f64,
    lag_p50_us: f64,
    lag_p99_us: f64,
    lag_p99_9_us: f64,
    /// Time that other virtual machines stole, in ticks, summed over all processors.
    stolen_ticks: u64,
    #[serde(flatten)]
    raw: Raw,
}

/// A raw result that is stored with the tables.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum OpenRaw {
    Run(OpenRun),
    /// A run of the bare loop.
    Limit(Raw),
    /// A run within a search for the highest rate.
    #[serde(rename = "probe")]
    SearchRun(OpenRun),
    Search(Search),
}

/// The result of one search for the highest rate on one thread.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Search {
    database: Database,
    /// The highest rate that was sustained, in requests per second.
    #[serde(rename = "kept_per_s")]
    sustained_per_s: f64,
    /// The lowest rate that was not sustained, in requests per second. If every tried rate was
    /// sustained, it is the upper end of the search, which is never tried.
    #[serde(rename = "missed_per_s")]
    failed_per_s: f64,
    /// Throughput of the bare loop in the same round, in requests per second.
    limit_per_s: f64,
}

impl Search {
    fn of_limit(&self) -> f64 {
        self.sustained_per_s / self.limit_per_s.max(1.0)
    }
}

/// Bounds of the highest sustained rate.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RateBounds {
    sustained: f64,
    failed: f64,
}

impl RateBounds {
    /// Bisects the bounds `times` times.
    fn bisect(
        mut self,
        times: usize,
        mut is_sustained: impl FnMut(f64) -> Result<bool, Failure>,
    ) -> Result<RateBounds, Failure> {
        for _ in 0..times {
            let rate = f64::midpoint(self.sustained, self.failed);
            match is_sustained(rate)? {
                true => self.sustained = rate,
                false => self.failed = rate,
            }
        }
        Ok(self)
    }
}

impl OpenRun {
    /// Measures a run at a rate, with a start-up run right before it.
    fn measure(task: &Task<'_>, round: usize, rate: u32) -> Result<OpenRun, Failure> {
        let Task { cell, options, servers } = *task;
        let pace = format!("rate = {rate}\n");
        let first = format!("{pace}count = {}\n", cell.connections);
        let (start, _) = runners::sample_of_assay(&cell, servers, &first, None)?;
        let (long, summary) =
            runners::sample_of_assay(&cell, servers, &pace, Some(options.seconds))?;
        let job = &summary["jobs"][0];
        let lag = |name: &str| job["send_lag_ms"][name].as_f64().unwrap_or(f64::NAN) * 1e3;
        Ok(OpenRun {
            rate_per_s: rate,
            answered_per_s: job["throughput_per_s"].as_f64().unwrap_or(0.0),
            lag_p50_us: lag("p50"),
            lag_p99_us: lag("p99"),
            lag_p99_9_us: lag("p99_9"),
            stolen_ticks: long.stolen_ticks,
            raw: Raw::new(&cell, Runner::Assay, round, &long, &start),
        })
    }

    /// Returns true if hardly any processor time was stolen, so the send lag is the generator's
    /// own.
    fn is_undisturbed(&self) -> bool {
        self.stolen_ticks <= TOLERATED_TICKS
    }

    fn is_sustained(&self) -> bool {
        let part = self.answered_per_s / f64::from(self.rate_per_s);
        part >= LEAST_ANSWERED && self.lag_p99_us <= PUNCTUAL_MS * 1e3
    }
}

/// The measurement of one cell.
#[derive(Clone, Copy)]
struct Task<'t> {
    cell: Cell,
    options: &'t Options,
    servers: &'t Servers,
}

/// Measures send lag, processor time and the highest rate of open loops, against a server that
/// answers at once.
pub(crate) fn measure(options: &Options, servers: &Servers) -> Result<(), Failure> {
    let publication = Publication::begin(options)?;
    let mut raws = Vec::new();
    let mut text = String::from(HEAD);
    for database in options.databases() {
        let cell = Cell::prepared(database, USUAL_CONNECTIONS, false);
        match (Task { cell, options, servers }).rows(&mut raws) {
            Ok(rows) => text.push_str(&rows),
            Err(failure) => {
                let name = database.name();
                text.push_str(&format!("| {name} | not measured: {failure} | | | | | | | | |\n"));
            }
        }
    }
    let Options { rounds, seconds, .. } = *options;
    let (searches, runs) = (rounds.min(MOST_SEARCHES), HALVINGS);
    let extent = Extent::Open { rounds, seconds, searches, runs };
    publication.publish(&extent, text.trim_end(), &raws)
}

const HEAD: &str = "| database | rate /s | send lag p50 µs | p99 | p99 lowest | p99 highest | \
                    p99.9 | lag of rounds | CPU µs/request | above limit |\n\
                    | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n";

impl Task<'_> {
    /// Measures all rounds and returns the rows of the table.
    fn rows(&self, raws: &mut Vec<OpenRaw>) -> Result<String, Failure> {
        for round in 1..=self.options.rounds {
            let limit = self.limit(round)?;
            let limit_per_s = limit.queries_per_s();
            raws.push(OpenRaw::Limit(limit));
            for rate in RATES {
                raws.push(OpenRaw::Run(OpenRun::measure(self, round, rate)?));
            }
            if round <= MOST_SEARCHES {
                self.search(round, limit_per_s, raws)?;
            }
            let word = self.cell.database.word();
            print_to_stderr(format!("{word}: round {round} of {}", self.options.rounds));
        }
        let database = self.cell.database;
        let limit = Limit::of(database, raws).ok_or("no round was measured")?;
        let mut text = limit_row(database, limit);
        for rate in RATES {
            text.push_str(&row(RateKey { database, rate }, limit, raws)?);
        }
        text.push_str(&highest_row(database, raws)?);
        Ok(text)
    }

    /// Measures the bare loop.
    fn limit(&self, round: usize) -> Result<Raw, Failure> {
        let long = Length::Long { seconds: self.options.seconds, queries_per_s: 0.0 };
        let start = Runner::Limit.run(&self.cell, self.servers, Length::Start)?;
        let long = Runner::Limit.run(&self.cell, self.servers, long)?;
        Ok(Raw::new(&self.cell, Runner::Limit, round, &long, &start))
    }

    /// Searches for the highest rate that one thread sustains.
    fn search(
        &self,
        round: usize,
        limit_per_s: f64,
        raws: &mut Vec<OpenRaw>,
    ) -> Result<(), Failure> {
        let between = RateBounds { sustained: 0.0, failed: CEILING * limit_per_s };
        let RateBounds { sustained, failed } = between.bisect(HALVINGS, |rate| {
            let run = OpenRun::measure(self, round, (rate as u32).max(1))?;
            let is_sustained = run.is_sustained();
            raws.push(OpenRaw::SearchRun(run));
            Ok(is_sustained)
        })?;
        let (database, sustained_per_s, failed_per_s) = (self.cell.database, sustained, failed);
        raws.push(OpenRaw::Search(Search { database, sustained_per_s, failed_per_s, limit_per_s }));
        Ok(())
    }
}

/// Median throughput and processor time of the bare loop.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limit {
    per_s: f64,
    processor_us: f64,
}

impl Limit {
    fn of(database: Database, raws: &[OpenRaw]) -> Option<Limit> {
        let limits = || {
            raws.iter().filter_map(|raw| match raw {
                OpenRaw::Limit(raw) => Some(raw).filter(|raw| raw.database == database),
                OpenRaw::Run(_) | OpenRaw::SearchRun(_) | OpenRaw::Search(_) => None,
            })
        };
        Some(Limit {
            per_s: Spread::of(limits().map(Raw::queries_per_s))?.median,
            processor_us: Spread::of(limits().map(Raw::total_us))?.median,
        })
    }
}

/// Returns the searches of a database.
fn searches(database: Database, raws: &[OpenRaw]) -> impl Iterator<Item = &Search> + Clone {
    raws.iter().filter_map(move |raw| match raw {
        OpenRaw::Search(search) => Some(search).filter(|search| search.database == database),
        OpenRaw::Run(_) | OpenRaw::Limit(_) | OpenRaw::SearchRun(_) => None,
    })
}

/// Returns the highest rate as a fraction of the throughput of the bare loop, over all searches.
pub(crate) fn highest_of_limit(database: Database, raws: &[OpenRaw]) -> Option<Spread> {
    Spread::of(searches(database, raws).map(Search::of_limit))
}

/// An arrival rate against one database.
#[derive(Clone, Copy)]
pub(crate) struct RateKey {
    pub(crate) database: Database,
    /// Arrival rate, in requests per second.
    pub(crate) rate: u32,
}

impl RateKey {
    /// Returns the rounds at this rate.
    fn runs(self, raws: &[OpenRaw]) -> Vec<&OpenRun> {
        let fits =
            |run: &&OpenRun| run.rate_per_s == self.rate && run.raw.database == self.database;
        raws.iter()
            .filter_map(|raw| match raw {
                OpenRaw::Run(run) => Some(run).filter(fits),
                OpenRaw::Limit(_) | OpenRaw::SearchRun(_) | OpenRaw::Search(_) => None,
            })
            .collect()
    }

    /// Returns the median processor time per request over all rounds, in microseconds.
    fn processor_us(self, raws: &[OpenRaw]) -> Option<f64> {
        Some(Spread::of(self.runs(raws).iter().map(|run| run.raw.total_us()))?.median)
    }

    /// Returns the processor time per request minus that of the bare loop, in microseconds.
    pub(crate) fn above_limit_us(self, raws: &[OpenRaw]) -> Option<f64> {
        Some(self.processor_us(raws)? - Limit::of(self.database, raws)?.processor_us)
    }

    /// Returns the send lag of the undisturbed rounds and the number of all rounds.
    pub(crate) fn lag(self, raws: &[OpenRaw]) -> (Option<Lag>, usize) {
        let runs = self.runs(raws);
        (Lag::of(&runs), runs.len())
    }
}

fn limit_row(database: Database, Limit { per_s, processor_us }: Limit) -> String {
    let name = database.name();
    format!("| {name} | limit, closed: {per_s:.0} | | | | | | | {processor_us:.2} | |\n")
}

/// Returns the row of the highest rate: the median and extremes of the searches.
fn highest_row(database: Database, raws: &[OpenRaw]) -> Result<String, Failure> {
    let missing = "the highest rate was not measured";
    let searches = searches(database, raws);
    let count = searches.clone().count();
    let sustained = Spread::of(searches.map(|search| search.sustained_per_s)).ok_or(missing)?;
    let part = highest_of_limit(database, raws).ok_or(missing)?;
    Ok(format!(
        "| {} | highest: {:.0} ({:.0} to {:.0} in {count} searches), {:.2} ({:.2} to {:.2}) of \
         the rate of limit | | | | | | | | |\n",
        database.name(),
        sustained.median,
        sustained.lowest,
        sustained.highest,
        part.median,
        part.lowest,
        part.highest,
    ))
}

/// Returns the row of one rate.
fn row(key: RateKey, limit: Limit, raws: &[OpenRaw]) -> Result<String, Failure> {
    let (lag, rounds) = key.lag(raws);
    let cost = key.processor_us(raws).ok_or("no round was measured")?;
    Ok(format!(
        "| {} | {} | {} | {cost:.2} | {:+.2} |\n",
        key.database.name(),
        key.rate,
        lag_cells(&lag, rounds),
        cost - limit.processor_us,
    ))
}

/// The send lag of the undisturbed rounds, in microseconds.
pub(crate) struct Lag {
    p50: Spread,
    pub(crate) p99: Spread,
    p99_9: Spread,
    /// Number of undisturbed rounds.
    pub(crate) rounds: usize,
}

impl Lag {
    /// Returns the send lag, or `None` if no round was undisturbed.
    fn of(runs: &[&OpenRun]) -> Option<Lag> {
        let undisturbed = || runs.iter().filter(|run| run.is_undisturbed());
        Some(Lag {
            p50: Spread::of(undisturbed().map(|run| run.lag_p50_us))?,
            p99: Spread::of(undisturbed().map(|run| run.lag_p99_us))?,
            p99_9: Spread::of(undisturbed().map(|run| run.lag_p99_9_us))?,
            rounds: undisturbed().count(),
        })
    }
}

/// Returns the six table cells of the send lag; `rounds` is the number of all rounds.
fn lag_cells(lag: &Option<Lag>, rounds: usize) -> String {
    match lag {
        Some(Lag { p50, p99, p99_9, rounds: counted }) => format!(
            "{:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {counted} of {rounds}",
            p50.median, p99.median, p99.lowest, p99.highest, p99_9.median,
        ),
        None => format!("time was stolen from every round | | | | | 0 of {rounds}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::figures::Sample;

    /// Returns a result in which connecting takes 0.5 s, with 0.2 s of processor time, and each
    /// request costs `processor_us`.
    fn raw(cell: &Cell, runner: Runner, processor_us: f64) -> Raw {
        let start = Sample {
            queries: 64,
            elapsed_s: 0.5,
            user_s: 0.1,
            system_s: 0.1,
            peak_rss: 0,
            steal: 0.0,
            stolen_ticks: 0,
            load: 0.0,
        };
        let long = Sample {
            queries: 100_064,
            elapsed_s: 2.5,
            user_s: 0.1 + processor_us / 10.0,
            ..start.clone()
        };
        Raw::new(cell, runner, 1, &long, &start)
    }

    fn run(rate_per_s: u32, lag_p99_us: f64, stolen_ticks: u64) -> OpenRaw {
        let cell = Cell::prepared(Database::Postgres, USUAL_CONNECTIONS, false);
        OpenRaw::Run(OpenRun {
            rate_per_s,
            answered_per_s: f64::from(rate_per_s),
            lag_p50_us: 10.0,
            lag_p99_us,
            lag_p99_9_us: 400.0,
            stolen_ticks,
            raw: raw(&cell, Runner::Assay, 8.5),
        })
    }

    fn limit(processor_us: f64) -> OpenRaw {
        let cell = Cell::prepared(Database::Postgres, USUAL_CONNECTIONS, false);
        OpenRaw::Limit(raw(&cell, Runner::Limit, processor_us))
    }

    fn search(sustained_per_s: f64, limit_per_s: f64) -> OpenRaw {
        let (database, failed_per_s) = (Database::Postgres, sustained_per_s + 1.0);
        OpenRaw::Search(Search { database, sustained_per_s, failed_per_s, limit_per_s })
    }

    /// Returns three rounds with PostgreSQL, some of them with stolen time.
    pub(crate) fn rounds() -> Vec<OpenRaw> {
        let limits = [limit(5.0), limit(7.0), limit(6.0)];
        let searches = [search(90.0, 100.0), search(40.0, 80.0), search(80.0, 100.0)];
        let stolen = [run(1_000, 90.0, 2), run(1_000, 80.0, 40)];
        let runs = [run(50_000, 90.0, 0), run(50_000, 9_000.0, 2), run(50_000, 110.0, 1)];
        limits.into_iter().chain(searches).chain(stolen).chain(runs).collect()
    }

    #[test]
    fn request_cost_is_compared_with_the_bare_loop() {
        let limit = Limit::of(Database::Postgres, &rounds()).expect("three rounds");
        assert!((limit.per_s - 50_000.0).abs() < 1e-6, "{limit:?}");
        assert!((limit.processor_us - 6.0).abs() < 1e-9, "{limit:?}");
        let key = RateKey { database: Database::Postgres, rate: 50_000 };
        let row = row(key, limit, &rounds()).expect("three rounds");
        assert!(row.ends_with(" | 8.50 | +2.50 |\n"), "{row}");
        assert_eq!(Limit::of(Database::Postgres, &rounds()[3..]), None);
        assert_eq!(Limit::of(Database::Mariadb, &rounds()), None);
    }

    #[test]
    fn send_lag_excludes_rounds_with_stolen_time() {
        let limit = Limit::of(Database::Postgres, &rounds()).expect("three rounds");
        let check = |rate: u32, expected: &str| {
            let key = RateKey { database: Database::Postgres, rate };
            let row = row(key, limit, &rounds()).expect("rounds");
            assert!(row.starts_with(&format!("| PostgreSQL | {rate} | {expected} |")), "{row}");
        };
        check(50_000, "10 | 100 | 90 | 110 | 400 | 2 of 3");
        check(1_000, "time was stolen from every round | | | | | 0 of 2");
    }

    #[test]
    fn raw_results_round_trip() {
        let written = serde_json::to_string(&rounds()).expect("raw numbers");
        let read: Vec<OpenRaw> = serde_json::from_str(&written).expect("the same");
        assert_eq!(serde_json::to_string(&read).expect("raw numbers"), written);
    }

    #[test]
    fn bisection_converges_to_the_highest_sustained_rate() {
        let mut tried = Vec::new();
        let between = RateBounds { sustained: 0.0, failed: 64.0 }.bisect(6, |rate| {
            tried.push(rate);
            Ok(rate <= 41.5)
        });
        assert_eq!(between.ok(), Some(RateBounds { sustained: 41.0, failed: 42.0 }));
        assert_eq!(tried, [32.0, 48.0, 40.0, 44.0, 42.0, 41.0]);
        let bounds = RateBounds { sustained: 0.0, failed: 1.0 };
        let failed = bounds.bisect(6, |_| Err("no server".into()));
        assert!(failed.is_err());
    }

    #[test]
    fn the_highest_rate_has_the_spread_of_its_searches() {
        let row = highest_row(Database::Postgres, &rounds()).expect("three searches");
        let expected =
            "| PostgreSQL | highest: 80 (40 to 90 in 3 searches), 0.80 (0.50 to 0.90) of";
        assert!(row.starts_with(expected), "{row}");
        assert!(highest_row(Database::Mariadb, &rounds()).is_err());
    }
}
