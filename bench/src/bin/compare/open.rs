//! How punctual are open loops, what do they cost, and how far do they go?

use serde::Serialize;

use crate::cells::{Cell, Database, USUAL_CONNECTIONS};
use crate::figures::{Raw, Spread};
use crate::options::Options;
use crate::publish::{Extent, Publication};
use crate::runners::{self, Length, Runner};
use crate::servers::Servers;
use crate::{Failure, complain};

/// The rates at which the send lag is looked at, per second.
const RATES: [u32; 4] = [1_000, 10_000, 50_000, 100_000];

/// The highest rate is looked for in this many halvings below [`CEILING`], so to 2.3 % of what the
/// bare loop makes.
const HALVINGS: usize = 6;

/// Up to which multiple of what the bare loop makes closed the highest rate is looked for.
const CEILING: f64 = 1.5;

/// The highest rate is looked for once in each round, in so many rounds at most. A single run that
/// something else delays can halve what a search finds.
const MOST_SEARCHES: usize = 3;

/// What part of a rate must be answered for it to count as kept.
const KEPT: f64 = 0.99;

/// The send lag at the 99th percentile up to which a rate counts as kept, in milliseconds.
const PUNCTUAL_MS: f64 = 10.0;

/// How many ticks of the machine may be stolen from a run that counts as without stolen time. The
/// kernel tells whole ticks, mostly of 10 ms, and the first may have been stolen almost entirely
/// before the run.
const TOLERATED_TICKS: u64 = 1;

/// A run of an open loop.
#[derive(Debug, Serialize)]
struct OpenRun {
    rate_per_s: u32,
    answered_per_s: f64,
    lag_p50_us: f64,
    lag_p99_us: f64,
    lag_p99_9_us: f64,
    /// What was stolen of the machine's time, in ticks of all processors.
    stolen_ticks: u64,
    #[serde(flatten)]
    raw: Raw,
}

/// What is kept beside the tables.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum OpenRaw {
    Run(OpenRun),
    /// The bare loop, closed.
    Limit(Raw),
    /// A run while the highest rate was looked for.
    Probe(OpenRun),
    Search(Search),
}

/// What one search for the highest rate on one thread found.
#[derive(Debug, Serialize)]
struct Search {
    database: &'static str,
    /// The highest rate that was kept, and the lowest beyond it that was not.
    kept_per_s: f64,
    missed_per_s: f64,
    /// What the bare loop made closed in the same round.
    limit_per_s: f64,
}

impl Search {
    fn of_limit(&self) -> f64 {
        self.kept_per_s / self.limit_per_s.max(1.0)
    }
}

/// Rates between which the highest one that is kept lies.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Between {
    kept: f64,
    missed: f64,
}

impl Between {
    /// Halves the distance so many times.
    fn halved(
        mut self,
        times: usize,
        mut is_kept: impl FnMut(f64) -> Result<bool, Failure>,
    ) -> Result<Between, Failure> {
        for _ in 0..times {
            let rate = f64::midpoint(self.kept, self.missed);
            match is_kept(rate)? {
                true => self.kept = rate,
                false => self.missed = rate,
            }
        }
        Ok(self)
    }
}

impl OpenRun {
    /// A run, and one that only begins and ends, right before it.
    fn take(task: &Task<'_>, round: usize, rate: u32) -> Result<OpenRun, Failure> {
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

    /// Whether its send lag is its own, and not that of a processor that was elsewhere.
    fn is_undisturbed(&self) -> bool {
        self.stolen_ticks <= TOLERATED_TICKS
    }

    fn is_kept(&self) -> bool {
        let part = self.answered_per_s / f64::from(self.rate_per_s);
        part >= KEPT && self.lag_p99_us <= PUNCTUAL_MS * 1e3
    }
}

/// One database, asked by so many connections.
#[derive(Clone, Copy)]
struct Task<'t> {
    cell: Cell,
    options: &'t Options,
    servers: &'t Servers,
}

/// Send lag, processor time and the highest rate of open loops, against a server that answers at
/// once.
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
    /// Measures all rounds; the rows of the table.
    fn rows(&self, raws: &mut Vec<OpenRaw>) -> Result<String, Failure> {
        let first = raws.len();
        for round in 1..=self.options.rounds {
            let limit = self.limit(round)?;
            let limit_per_s = limit.queries_per_s();
            raws.push(OpenRaw::Limit(limit));
            for rate in RATES {
                raws.push(OpenRaw::Run(OpenRun::take(self, round, rate)?));
            }
            if round <= MOST_SEARCHES {
                self.search(round, limit_per_s, raws)?;
            }
            let word = self.cell.database.word();
            complain(format!("{word}: round {round} of {}", self.options.rounds));
        }
        let limit = Limit::of(&raws[first..]).ok_or("no round was measured")?;
        let mut text = limit_row(self.cell.database, limit);
        for rate in RATES {
            text.push_str(&row(self.cell.database, rate, limit, &raws[first..])?);
        }
        text.push_str(&highest_row(self.cell.database, &raws[first..])?);
        Ok(text)
    }

    /// The bare loop, closed.
    fn limit(&self, round: usize) -> Result<Raw, Failure> {
        let long = Length::Long { seconds: self.options.seconds, queries_per_s: 0.0 };
        let start = Runner::Limit.run(&self.cell, self.servers, Length::Start)?;
        let long = Runner::Limit.run(&self.cell, self.servers, long)?;
        Ok(Raw::new(&self.cell, Runner::Limit, round, &long, &start))
    }

    /// Looks for the highest rate that is kept on one thread.
    fn search(
        &self,
        round: usize,
        limit_per_s: f64,
        raws: &mut Vec<OpenRaw>,
    ) -> Result<(), Failure> {
        let between = Between { kept: 0.0, missed: CEILING * limit_per_s };
        let Between { kept, missed } = between.halved(HALVINGS, |rate| {
            let run = OpenRun::take(self, round, (rate as u32).max(1))?;
            let is_kept = run.is_kept();
            raws.push(OpenRaw::Probe(run));
            Ok(is_kept)
        })?;
        let (database, kept_per_s, missed_per_s) = (self.cell.database.word(), kept, missed);
        raws.push(OpenRaw::Search(Search { database, kept_per_s, missed_per_s, limit_per_s }));
        Ok(())
    }
}

/// What the bare loop makes closed: medians.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limit {
    per_s: f64,
    processor_us: f64,
}

impl Limit {
    fn of(raws: &[OpenRaw]) -> Option<Limit> {
        let limits = || {
            raws.iter().filter_map(|raw| match raw {
                OpenRaw::Limit(raw) => Some(raw),
                OpenRaw::Run(_) | OpenRaw::Probe(_) | OpenRaw::Search(_) => None,
            })
        };
        Some(Limit {
            per_s: Spread::of(limits().map(Raw::queries_per_s))?.median,
            processor_us: Spread::of(limits().map(Raw::total_us))?.median,
        })
    }
}

fn limit_row(database: Database, Limit { per_s, processor_us }: Limit) -> String {
    let name = database.name();
    format!("| {name} | limit, closed: {per_s:.0} | | | | | | | {processor_us:.2} | |\n")
}

/// The row of the highest rate: the median of the searches and their extremes.
fn highest_row(database: Database, raws: &[OpenRaw]) -> Result<String, Failure> {
    let searches = || {
        raws.iter().filter_map(|raw| match raw {
            OpenRaw::Search(search) => Some(search),
            OpenRaw::Run(_) | OpenRaw::Limit(_) | OpenRaw::Probe(_) => None,
        })
    };
    let missing = "the highest rate was not looked for";
    let kept = Spread::of(searches().map(|search| search.kept_per_s)).ok_or(missing)?;
    let part = Spread::of(searches().map(Search::of_limit)).ok_or(missing)?;
    Ok(format!(
        "| {} | highest: {:.0} ({:.0} to {:.0} in {} searches), {:.2} ({:.2} to {:.2}) of what \
         limit makes | | | | | | | | |\n",
        database.name(),
        kept.median,
        kept.lowest,
        kept.highest,
        searches().count(),
        part.median,
        part.lowest,
        part.highest,
    ))
}

/// The row of one rate.
fn row(database: Database, rate: u32, limit: Limit, raws: &[OpenRaw]) -> Result<String, Failure> {
    let runs: Vec<&OpenRun> = raws
        .iter()
        .filter_map(|raw| match raw {
            OpenRaw::Run(run) => Some(run).filter(|run| run.rate_per_s == rate),
            OpenRaw::Limit(_) | OpenRaw::Probe(_) | OpenRaw::Search(_) => None,
        })
        .collect();
    let cost = Spread::of(runs.iter().map(|run| run.raw.total_us()));
    let cost = cost.ok_or("no round was measured")?.median;
    Ok(format!(
        "| {} | {rate} | {} | {cost:.2} | {:+.2} |\n",
        database.name(),
        lag_cells(&Lag::of(&runs), runs.len()),
        cost - limit.processor_us,
    ))
}

/// The send lag of the rounds without stolen time, in microseconds.
struct Lag {
    p50: Spread,
    p99: Spread,
    p99_9: Spread,
    rounds: usize,
}

impl Lag {
    /// `None` if time was stolen from every round.
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

/// The five cells of the send lag, of so many rounds in all.
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
mod tests {
    use super::*;
    use crate::figures::Sample;

    /// Half a second of connecting with 0.2 s of processor time, then so much per request.
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

    fn rounds() -> Vec<OpenRaw> {
        let limits = [limit(5.0), limit(7.0), limit(6.0)].into_iter();
        let stolen = [run(1_000, 90.0, 2), run(1_000, 80.0, 40)];
        let rounds = [run(50_000, 90.0, 0), run(50_000, 9_000.0, 2), run(50_000, 110.0, 1)];
        limits.chain(stolen).chain(rounds).collect()
    }

    #[test]
    fn what_a_request_takes_is_set_beside_the_bare_loop_without_connecting() {
        let limit = Limit::of(&rounds()).expect("three rounds");
        assert!((limit.per_s - 50_000.0).abs() < 1e-6, "{limit:?}");
        assert!((limit.processor_us - 6.0).abs() < 1e-9, "{limit:?}");
        let row = row(Database::Postgres, 50_000, limit, &rounds()).expect("three rounds");
        assert!(row.ends_with(" | 8.50 | +2.50 |\n"), "{row}");
        assert_eq!(Limit::of(&rounds()[3..]), None);
    }

    #[test]
    fn the_send_lag_is_that_of_rounds_without_stolen_time() {
        let limit = Limit::of(&rounds()).expect("three rounds");
        let check = |rate: u32, expected: &str| {
            let row = row(Database::Postgres, rate, limit, &rounds()).expect("rounds");
            assert!(row.starts_with(&format!("| PostgreSQL | {rate} | {expected} |")), "{row}");
        };
        check(50_000, "10 | 100 | 90 | 110 | 400 | 2 of 3");
        check(1_000, "time was stolen from every round | | | | | 0 of 2");
    }

    #[test]
    fn halving_ends_beside_the_highest_rate_that_is_kept() {
        let mut tried = Vec::new();
        let between = Between { kept: 0.0, missed: 64.0 }.halved(6, |rate| {
            tried.push(rate);
            Ok(rate <= 41.5)
        });
        assert_eq!(between.ok(), Some(Between { kept: 41.0, missed: 42.0 }));
        assert_eq!(tried, [32.0, 48.0, 40.0, 44.0, 42.0, 41.0]);
        let failed = Between { kept: 0.0, missed: 1.0 }.halved(6, |_| Err("no server".into()));
        assert!(failed.is_err());
    }

    #[test]
    fn the_highest_rate_has_the_spread_of_its_searches() {
        let search = |kept_per_s, limit_per_s| {
            let (database, missed_per_s) = (Database::Postgres.word(), kept_per_s + 1.0);
            OpenRaw::Search(Search { database, kept_per_s, missed_per_s, limit_per_s })
        };
        let raws = [search(90.0, 100.0), search(40.0, 80.0), limit(5.0), search(80.0, 100.0)];
        let row = highest_row(Database::Postgres, &raws).expect("three searches");
        let expected =
            "| PostgreSQL | highest: 80 (40 to 90 in 3 searches), 0.80 (0.50 to 0.90) of";
        assert!(row.starts_with(expected), "{row}");
        assert!(highest_row(Database::Postgres, &raws[2..3]).is_err());
    }
}
