//! The comparison of all load generators in all cells, in turn.

use std::collections::HashMap;

use crate::cells::Cell;
use crate::figures::{Raw, Sample};
use crate::options::Options;
use crate::output::{Failure, print_to_stderr};
use crate::publish::{Extent, Publication};
use crate::runner::Runner;
use crate::runners::Length;
use crate::servers::Servers;
use crate::tables::{self, Gap};

/// The results so far.
#[derive(Default)]
struct Progress {
    /// Speed of load generators that take a number of queries, by cell and name, in queries per
    /// second.
    speeds: HashMap<(String, &'static str), f64>,
    raws: Vec<Raw>,
    gaps: Vec<Gap>,
}

/// Runs all rounds and publishes the tables.
pub(crate) fn measure(options: &Options, servers: &Servers) -> Result<(), Failure> {
    let publication = Publication::begin(options)?;
    let (cells, seconds) = (options.cells(), options.seconds);
    let mut progress = Progress::default();
    for round in 1..=options.rounds {
        for cell in &cells {
            let able = Runner::ALL.into_iter().filter(|runner| runner.supports(cell));
            let mut able: Vec<Runner> =
                able.filter(|runner| options.wants_runner(*runner)).collect();
            // Rotate the order; otherwise one load generator would always run right after the most
            // demanding one.
            let turn = round % able.len().max(1);
            able.rotate_left(turn);
            for runner in able {
                progress.measure(options, servers, cell, runner, round);
            }
        }
        print_to_stderr(format!("round {round} of {}", options.rounds));
        publication.store_draft(&Extent::Rounds { rounds: round, seconds }, &progress.raws)?;
    }
    let text = tables::rounds(&cells, &progress.raws, &progress.gaps);
    publication.publish(&Extent::Rounds { rounds: options.rounds, seconds }, &text, &progress.raws)
}

impl Progress {
    /// Measures one load generator in one cell, unless it failed there before.
    fn measure(
        &mut self,
        options: &Options,
        servers: &Servers,
        cell: &Cell,
        runner: Runner,
        round: usize,
    ) {
        if self.gaps.iter().any(|gap| gap.cell == *cell && gap.runner == runner) {
            return;
        }
        match self.sample(options, servers, cell, runner) {
            Ok((long, start)) => {
                let raw = Raw::new(cell, runner, round, &long, &start);
                let (user, system) = raw.processor_us();
                print_to_stderr(format!(
                    "{cell} {}: {:.2} µs/query ({user:.2} user), {:.0} queries/s",
                    runner.word(),
                    user + system,
                    raw.queries_per_s()
                ));
                self.raws.push(raw);
            }
            Err(failure) => {
                print_to_stderr(format!("{cell} {}: {failure}", runner.word()));
                self.gaps.push(Gap { cell: *cell, runner, reason: failure.to_string() });
            }
        }
    }

    /// Measures a start-up run and then a run. Returns the run, then the start-up run.
    ///
    /// Between the two runs, the first call for a cell and a load generator that takes a number of
    /// queries measures the speed of the generator.
    fn sample(
        &mut self,
        options: &Options,
        servers: &Servers,
        cell: &Cell,
        runner: Runner,
    ) -> Result<(Sample, Sample), Failure> {
        let start = runner.run(cell, servers, Length::Start)?;
        let queries_per_s = match runner.takes_query_count() {
            true => self.speed(servers, cell, runner)?,
            false => 0.0,
        };
        let length = Length::Long { seconds: options.seconds, queries_per_s };
        Ok((runner.run(cell, servers, length)?, start))
    }

    /// Returns the queries per second of a load generator that takes a number of queries.
    fn speed(&mut self, servers: &Servers, cell: &Cell, runner: Runner) -> Result<f64, Failure> {
        let key = (cell.to_string(), runner.word());
        if let Some(speed) = self.speeds.get(&key) {
            return Ok(*speed);
        }
        let trial = runner.run(cell, servers, Length::Trial)?;
        let speed = trial.queries as f64 / trial.elapsed_s.max(1e-3);
        self.speeds.insert(key, speed);
        Ok(speed)
    }
}
