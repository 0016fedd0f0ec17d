//! How punctual are open loops, what do they cost, and how far do they go?

use serde::Serialize;

use crate::cells::{Cell, Database, USUAL_CONNECTIONS};
use crate::figures::Spread;
use crate::options::Options;
use crate::publish::{Extent, Publication};
use crate::runners::{self, Length, Runner};
use crate::servers::Servers;
use crate::{Failure, complain};

/// The rates at which the send lag is looked at, per second.
const RATES: [u32; 4] = [1_000, 10_000, 50_000, 100_000];

/// The highest rate is looked for in this many halvings, between a tenth and one and a half of
/// what the bare loop makes.
const HALVINGS: usize = 6;

/// What part of a rate must be answered for it to count as kept.
const KEPT: f64 = 0.99;

/// The send lag at the 99th percentile up to which a rate counts as kept, in milliseconds.
const PUNCTUAL_MS: f64 = 10.0;

/// A run of an open loop.
#[derive(Serialize)]
struct OpenRun {
    database: &'static str,
    round: usize,
    rate_per_s: u32,
    answered_per_s: f64,
    lag_p50_us: f64,
    lag_p99_us: f64,
    lag_p99_9_us: f64,
    /// Of the whole run, connecting included.
    processor_us: f64,
    /// The part of the machine's time that was stolen.
    steal: f64,
}

impl OpenRun {
    fn take(
        database: Database,
        round: usize,
        rate: u32,
        options: &Options,
        servers: &Servers,
    ) -> Result<OpenRun, Failure> {
        let cell = Cell::prepared(database, USUAL_CONNECTIONS, false);
        let file = runners::job(&cell, &format!("rate = {rate}\n"));
        let (ran, summary) = runners::summary_of_assay(&cell, servers, &file, options.seconds)?;
        let job = &summary["jobs"][0];
        let lag = |name: &str| job["send_lag_ms"][name].as_f64().unwrap_or(f64::NAN) * 1e3;
        let completed = job["completed"].as_u64().unwrap_or(0).max(1);
        Ok(OpenRun {
            database: database.word(),
            round,
            rate_per_s: rate,
            answered_per_s: job["throughput_per_s"].as_f64().unwrap_or(0.0),
            lag_p50_us: lag("p50"),
            lag_p99_us: lag("p99"),
            lag_p99_9_us: lag("p99_9"),
            processor_us: (ran.user + ran.system).as_secs_f64() * 1e6 / completed as f64,
            steal: ran.steal,
        })
    }

    fn is_kept(&self) -> bool {
        let part = self.answered_per_s / f64::from(self.rate_per_s);
        part >= KEPT && self.lag_p99_us <= PUNCTUAL_MS * 1e3
    }
}

/// Send lag, processor time and the highest rate of open loops, against a server that answers at
/// once.
pub(crate) fn measure(options: &Options, servers: &Servers) -> Result<(), Failure> {
    let publication = Publication::begin(options)?;
    let mut raws = Vec::new();
    let mut text = String::from(
        "| database | rate /s | send lag p50 µs | p99 | p99 lowest | p99 highest | p99.9 | CPU \
         µs/request | limit, closed |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for database in options.databases() {
        match open_of(database, options, servers, &mut raws) {
            Ok(rows) => text.push_str(&rows),
            Err(failure) => {
                let name = database.name();
                text.push_str(&format!("| {name} | not measured: {failure} | | | | | | | |\n"));
            }
        }
    }
    let Options { rounds, seconds, .. } = *options;
    publication.publish(&Extent::Rounds { rounds, seconds }, text.trim_end(), &raws)
}

fn open_of(
    database: Database,
    options: &Options,
    servers: &Servers,
    raws: &mut Vec<OpenRun>,
) -> Result<String, Failure> {
    let cell = Cell::prepared(database, USUAL_CONNECTIONS, false);
    let length = Length::Long { seconds: options.seconds, queries_per_s: 0.0 };
    let (mut costs, mut closed) = (Vec::new(), Vec::new());
    let first = raws.len();
    for round in 1..=options.rounds {
        let limit = Runner::Limit.run(&cell, servers, length)?;
        costs.push((limit.user_s + limit.system_s) * 1e6 / limit.queries.max(1) as f64);
        closed.push(limit.queries as f64 / f64::from(options.seconds));
        for rate in RATES {
            raws.push(OpenRun::take(database, round, rate, options, servers)?);
        }
        complain(format!("{}: round {round} of {}", database.word(), options.rounds));
    }
    let runs = &raws[first..];
    let limit = Spread::of(costs).map_or(0.0, |cost| cost.median);
    let mut text = String::new();
    for rate in RATES {
        let of = |figure: fn(&OpenRun) -> f64| {
            let runs = runs.iter().filter(|run| run.rate_per_s == rate);
            Spread::of(runs.map(figure)).ok_or("no round was measured")
        };
        let p99 = of(|run| run.lag_p99_us)?;
        text.push_str(&format!(
            "| {} | {rate} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} | {limit:.2} |\n",
            database.name(),
            of(|run| run.lag_p50_us)?.median,
            p99.median,
            p99.lowest,
            p99.highest,
            of(|run| run.lag_p99_9_us)?.median,
            of(|run| run.processor_us)?.median,
        ));
    }
    let closed = Spread::of(closed).map_or(0.0, |closed| closed.median);
    let highest = highest_rate(database, closed, options, servers)?;
    text.push_str(&format!(
        "| {} | highest: {highest:.0}, {:.2} of the {closed:.0} that limit makes | | | | | | | |\n",
        database.name(),
        highest / closed.max(1.0)
    ));
    Ok(text)
}

/// The highest rate that is kept on one thread.
fn highest_rate(
    database: Database,
    closed_per_s: f64,
    options: &Options,
    servers: &Servers,
) -> Result<f64, Failure> {
    let (mut kept, mut missed) = (0.1 * closed_per_s, 1.5 * closed_per_s);
    for _ in 0..HALVINGS {
        let rate = (kept + missed) / 2.0;
        match OpenRun::take(database, 0, rate as u32, options, servers)?.is_kept() {
            true => kept = rate,
            false => missed = rate,
        }
    }
    Ok(kept)
}
