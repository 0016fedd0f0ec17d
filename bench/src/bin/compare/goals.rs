//! The performance goals and their verdicts, computed from the stored results.

use std::fmt;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::cells::{Cell, Database, USUAL_CONNECTIONS};
use crate::counts::Count;
use crate::figures::{Raw, Spread};
use crate::load::{self, LoadKey, LoadRun, Loader};
use crate::memory::Memory;
use crate::open::{self, OpenRaw, RateKey};
use crate::options::{Measure, Options};
use crate::output::{Failure, print_line};
use crate::publish::{self, RESULTS};
use crate::runner::Runner;
use crate::tables;

/// Prints the table of goals, and writes it into the document if requested.
pub(crate) fn measure(options: &Options) -> Result<(), Failure> {
    if !Path::new(RESULTS).is_dir() {
        return Err(format!("{RESULTS} is not here: run it in the project's folder").into());
    }
    print_line(table(Path::new(RESULTS)));
    if options.write { refresh() } else { Ok(()) }
}

/// Writes the table of goals into the document.
pub(crate) fn refresh() -> Result<(), Failure> {
    publish::replace(Measure::Goals, &table(Path::new(RESULTS)))
}

/// Returns a row for each goal, and a remark for each result in the folder that is missing or
/// unreadable.
fn table(folder: &Path) -> String {
    let results = Results::read(folder);
    let rows: String = goals(&results).iter().map(row).collect();
    let remarks: Vec<String> = results.remarks.iter().map(|line| format!("\n* {line}.")).collect();
    let remarks = if remarks.is_empty() { String::new() } else { remarks.concat() + "\n" };
    format!("{HEAD}{rows}{remarks}").trim_end().to_owned()
}

const HEAD: &str = "| goal | bound | PostgreSQL | MariaDB | reached |\n\
                    | --- | --: | --- | --- | --- |\n";

/// All stored results.
#[derive(Default)]
struct Results {
    rounds: Vec<Raw>,
    syscalls: Vec<Count>,
    open: Vec<OpenRaw>,
    memory: Vec<Memory>,
    load: Vec<LoadRun>,
    /// Remarks on results that are missing or unreadable.
    remarks: Vec<String>,
}

/// A file of results, without the members that are only for human readers.
#[derive(Deserialize)]
struct StoredResults<R> {
    runs: Vec<R>,
}

impl Results {
    fn read(folder: &Path) -> Results {
        let mut remarks = Vec::new();
        Results {
            rounds: runs(folder, Measure::Rounds, &mut remarks),
            syscalls: runs(folder, Measure::Syscalls, &mut remarks),
            open: runs(folder, Measure::Open, &mut remarks),
            memory: runs(folder, Measure::Memory, &mut remarks),
            load: runs(folder, Measure::Load, &mut remarks),
            remarks,
        }
    }
}

/// Returns the stored runs of a measure. If the file is missing or has an earlier format, adds a
/// remark and returns no runs.
fn runs<R: DeserializeOwned>(folder: &Path, measure: Measure, remarks: &mut Vec<String>) -> Vec<R> {
    let word = measure.word();
    let Ok(text) = fs::read_to_string(folder.join(format!("{word}.json"))) else {
        remarks.push(format!("`{word}` has no results"));
        return Vec::new();
    };
    match serde_json::from_str::<StoredResults<R>>(&text) {
        Ok(stored) => stored.runs,
        Err(error) => {
            let remedy = format!("`compare {word} --write` makes new ones");
            remarks.push(format!("the results of `{word}` cannot be read ({error}): {remedy}"));
            Vec::new()
        }
    }
}

/// The bound of a goal.
#[derive(Clone, Copy)]
enum Bound {
    AtMost(f64),
    Below(f64),
    AtLeast(f64),
}

/// Relative difference below which two numbers count as equal. A search by bisection may end
/// exactly on its goal, and parsers of the file may differ in the last bit of a number.
const ROUNDING: f64 = 1e-9;

impl Bound {
    fn is_met(self, value: f64) -> bool {
        match self {
            Bound::AtMost(most) => value <= most * (1.0 + ROUNDING),
            Bound::Below(limit) => value < limit * (1.0 - ROUNDING),
            Bound::AtLeast(least) => value >= least * (1.0 - ROUNDING),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::AtMost(most) => write!(f, "≤ {most}"),
            Bound::Below(limit) => write!(f, "< {limit}"),
            Bound::AtLeast(least) => write!(f, "≥ {least}"),
        }
    }
}

/// The measured value of a goal under one condition.
struct Figure {
    /// The condition or extent of the measurement, such as a number of connections; empty if the
    /// goal needs none.
    label: String,
    value: Option<f64>,
}

/// A goal and its measured values.
struct Goal {
    text: &'static str,
    bound: Bound,
    /// Values of each database, in the order of [`Database::ALL`].
    figures: [Vec<Figure>; 2],
}

impl Goal {
    fn of(text: &'static str, bound: Bound, of: impl Fn(Database) -> Vec<Figure>) -> Goal {
        Goal { text, bound, figures: Database::ALL.map(of) }
    }
}

/// The outcome of a goal.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    NotMeasured,
    Met,
    /// Met, but some figures are missing.
    MetWhereMeasured,
    Missed {
        missed: usize,
        of: usize,
    },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::NotMeasured => f.write_str("not measured"),
            Verdict::Met => f.write_str("met"),
            Verdict::MetWhereMeasured => f.write_str("met where measured"),
            Verdict::Missed { missed, of } => write!(f, "missed, {missed} of {of}"),
        }
    }
}

fn verdict(goal: &Goal) -> Verdict {
    let figures = || goal.figures.iter().flatten();
    let values: Vec<f64> = figures().filter_map(|figure| figure.value).collect();
    let missed = values.iter().filter(|value| !goal.bound.is_met(**value)).count();
    match (values.len(), missed) {
        (0, _) => Verdict::NotMeasured,
        (of, 0) if of == figures().count() => Verdict::Met,
        (_, 0) => Verdict::MetWhereMeasured,
        (of, missed) => Verdict::Missed { missed, of },
    }
}

fn row(goal: &Goal) -> String {
    let [postgres, mariadb] = &goal.figures;
    let cell = |figures: &[Figure]| {
        let said: Vec<String> =
            figures.iter().map(|figure| format_figure(figure, goal.bound)).collect();
        said.join(", ")
    };
    let (postgres, mariadb) = (cell(postgres), cell(mariadb));
    format!("| {} | {} | {postgres} | {mariadb} | {} |\n", goal.text, goal.bound, verdict(goal))
}

/// Formats a figure with its label; bold if the goal is missed.
fn format_figure(figure: &Figure, bound: Bound) -> String {
    let label = match figure.label.as_str() {
        "" => String::new(),
        label => format!("{label}: "),
    };
    match figure.value {
        None => format!("{label}not measured"),
        Some(value) if bound.is_met(value) => format!("{label}{}", number(value)),
        Some(value) => format!("{label}**{}**", number(value)),
    }
}

/// Formats a number with about three digits.
fn number(value: f64) -> String {
    let decimals = if value.abs() < 10.0 { 2 } else { 1 };
    format!("{value:.decimals$}")
}

/// Returns all goals, in the order of the table.
fn goals(results: &Results) -> Vec<Goal> {
    let Results { rounds, syscalls, open, memory, load, remarks: _ } = results;
    let [to_limit, limit_to_pgbench, to_rivals @ ..] = RATIOS.map(|ratio| ratio.goal(rounds));
    let mut goals = vec![to_limit, limit_to_pgbench, user_time(rounds), system_calls(syscalls)];
    goals.extend(to_rivals);
    goals.push(cheapest_goal(rounds));
    goals.extend(open_loops(open));
    goals.extend(memory_goals(memory));
    goals.extend(load_goals(load));
    goals
}

/// The numbers of connections at which the cost of a query is judged.
const JUDGED_CONNECTIONS: [u32; 2] = [16, 64];

/// The numbers of connections at which Assay must cost less than every other load generator.
const EXTREME_CONNECTIONS: [u32; 2] = [1, 256];

/// A goal for the processor time per query of one load generator, relative to the time of another
/// generator.
#[derive(Clone, Copy)]
struct Ratio {
    text: &'static str,
    of: Runner,
    to: Runner,
    most: f64,
}

const RATIOS: [Ratio; 5] = [
    Ratio { text: "CPU/query, Assay to limit", of: Runner::Assay, to: Runner::Limit, most: 1.15 },
    Ratio {
        text: "CPU/query, limit to pgbench",
        of: Runner::Limit,
        to: Runner::Pgbench,
        most: 0.8,
    },
    Ratio {
        text: "CPU/query, Assay to pgbench",
        of: Runner::Assay,
        to: Runner::Pgbench,
        most: 0.85,
    },
    Ratio {
        text: "CPU/query, Assay to sysbench",
        of: Runner::Assay,
        to: Runner::Sysbench,
        most: 0.75,
    },
    Ratio {
        text: "CPU/query, Assay to dbbench",
        of: Runner::Assay,
        to: Runner::Dbbench,
        most: 0.3,
    },
];

impl Ratio {
    fn goal(self, rounds: &[Raw]) -> Goal {
        Goal::of(self.text, Bound::AtMost(self.most), |database| {
            let mut cells = cells(database, JUDGED_CONNECTIONS);
            cells.retain(|cell| self.of.supports(cell) && self.to.supports(cell));
            by_connections(&cells, |cell| {
                Some(total(cell, self.of, rounds)? / total(cell, self.to, rounds)?)
            })
        })
    }
}

/// Returns the judged cells: prepared statements without TLS.
fn cells(database: Database, connections: [u32; 2]) -> Vec<Cell> {
    connections.map(|connections| Cell::prepared(database, connections, false)).to_vec()
}

fn by_connections(cells: &[Cell], value: impl Fn(&Cell) -> Option<f64>) -> Vec<Figure> {
    let figure = |cell: &Cell| Figure { label: cell.connections.to_string(), value: value(cell) };
    cells.iter().map(figure).collect()
}

/// Returns the median processor time per query, in microseconds.
fn total(cell: &Cell, runner: Runner, rounds: &[Raw]) -> Option<f64> {
    Some(tables::total(cell, runner, rounds)?.median)
}

fn user_time(rounds: &[Raw]) -> Goal {
    Goal::of("CPU/query of Assay in user mode, µs", Bound::AtMost(1.0), |database| {
        by_connections(&cells(database, JUDGED_CONNECTIONS), |cell| {
            let user = tables::of(cell, Runner::Assay, rounds).map(|raw| raw.processor_us().0);
            Some(Spread::of(user)?.median)
        })
    })
}

fn system_calls(syscalls: &[Count]) -> Goal {
    Goal::of("system calls of Assay per request", Bound::AtMost(2.2), |database| {
        let is_judged =
            |count: &&Count| count.database == database && count.runner == Runner::Assay;
        let value = syscalls.iter().find(is_judged).map(|count| count.per_request);
        vec![Figure { label: USUAL_CONNECTIONS.to_string(), value }]
    })
}

fn cheapest_goal(rounds: &[Raw]) -> Goal {
    Goal::of("CPU/query, Assay to the cheapest other", Bound::Below(1.0), |database| {
        by_connections(&cells(database, EXTREME_CONNECTIONS), |cell| {
            Some(total(cell, Runner::Assay, rounds)? / cheapest_rival(cell, rounds)?)
        })
    })
}

/// Returns the lowest processor time per query of the other load generators, in microseconds.
/// `None` unless every load generator that supports the cell was measured.
fn cheapest_rival(cell: &Cell, rounds: &[Raw]) -> Option<f64> {
    let rivals = Runner::ALL.into_iter().filter(|runner| match runner {
        Runner::Limit | Runner::Assay => false,
        Runner::Pgbench | Runner::Sysbench | Runner::Slap | Runner::Dbbench => {
            runner.supports(cell)
        }
    });
    let totals: Option<Vec<f64>> = rivals.map(|rival| total(cell, rival, rounds)).collect();
    totals?.into_iter().min_by(f64::total_cmp)
}

/// The rate at which open loops are judged, in requests per second.
const JUDGED_RATE: u32 = 50_000;

fn open_loops(open: &[OpenRaw]) -> [Goal; 3] {
    let alone = |value| vec![Figure { label: String::new(), value }];
    let key = |database| RateKey { database, rate: JUDGED_RATE };
    [
        Goal::of(
            "CPU/request of an open loop of 50,000/s above limit, µs",
            Bound::AtMost(3.0),
            |database| alone(key(database).above_limit_us(open)),
        ),
        Goal::of(
            "send lag p99 of that loop in rounds without stolen time, µs",
            Bound::AtMost(100.0),
            |database| vec![lag_figure(key(database), open)],
        ),
        Goal::of(
            "highest rate of an open loop on one thread, to limit closed",
            Bound::AtLeast(0.75),
            |database| alone(open::highest_of_limit(database, open).map(|spread| spread.median)),
        ),
    ]
}

/// Returns the p99 of the send lag, labelled with the number of undisturbed rounds.
fn lag_figure(key: RateKey, open: &[OpenRaw]) -> Figure {
    match key.lag(open) {
        (_, 0) => Figure { label: String::new(), value: None },
        (None, rounds) => Figure { label: format!("0 of {rounds} rounds"), value: None },
        (Some(lag), rounds) => Figure {
            label: format!("{} of {rounds} rounds", lag.rounds),
            value: Some(lag.p99.median),
        },
    }
}

fn memory_goals(memory: &[Memory]) -> [Goal; 2] {
    let of = |text, tls: bool, most_mb| {
        Goal::of(text, Bound::AtMost(most_mb), |database| {
            let is_judged = |memory: &&Memory| {
                let Memory { connections, tls: has_tls, .. } = **memory;
                (memory.database, connections, has_tls) == (database, 1_000, tls)
            };
            let found = memory.iter().find(is_judged);
            let value = found.map(|memory| memory.peak_rss_bytes as f64 / 1e6);
            vec![Figure { label: String::new(), value }]
        })
    };
    [
        of("memory of 1,000 connections, MB", false, 64.0),
        of("memory of 1,000 connections with TLS, MB", true, 128.0),
    ]
}

fn load_goals(load: &[LoadRun]) -> [Goal; 3] {
    let of = |text, loader, other| {
        Goal::of(text, Bound::AtLeast(0.95), |database| {
            let figure = |writers| Figure {
                label: if writers == 1 { "1 writer".into() } else { format!("{writers} writers") },
                value: LoadKey { database, writers, loader }.relative_to(other, load),
            };
            Vec::from(load::WRITERS.map(figure))
        })
    };
    [
        of(
            "rows/s loaded to `\\copy` and `LOAD DATA`, both with one commit per writer",
            Loader::AssayAtOnce,
            Loader::Own,
        ),
        of("the same, both with one commit per 1,000 rows", Loader::Assay, Loader::OwnInBatches),
        of(
            "the same, Assay with one per 1,000 rows, the others with one per writer",
            Loader::Assay,
            Loader::Own,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Sample;

    fn goal(bound: Bound, values: [Option<f64>; 2]) -> Goal {
        let [postgres, mariadb] =
            values.map(|value| vec![Figure { label: "16".to_owned(), value }]);
        Goal { text: "a goal", bound, figures: [postgres, mariadb] }
    }

    #[test]
    fn goal_is_met_if_all_its_figures_are() {
        let check = |bound: Bound, values, expected: Verdict| {
            assert_eq!(verdict(&goal(bound, values)), expected, "{bound} {values:?}");
        };
        check(Bound::AtMost(1.15), [Some(1.15), Some(0.9)], Verdict::Met);
        check(Bound::AtMost(1.15), [Some(1.16), Some(0.9)], Verdict::Missed { missed: 1, of: 2 });
        check(Bound::Below(1.0), [Some(1.0), None], Verdict::Missed { missed: 1, of: 1 });
        check(Bound::AtLeast(0.75), [Some(0.75), None], Verdict::MetWhereMeasured);
        check(Bound::AtLeast(0.75), [Some(0.74), Some(0.1)], Verdict::Missed { missed: 2, of: 2 });
        check(Bound::AtLeast(0.75), [None, None], Verdict::NotMeasured);
    }

    #[test]
    fn goal_row_has_figures_and_outcome() {
        let row = row(&goal(Bound::AtMost(3.0), [Some(10.04), None]));
        assert_eq!(row, "| a goal | ≤ 3 | 16: **10.0** | 16: not measured | missed, 1 of 1 |\n");
    }

    /// Returns a round with these processor times per query, in microseconds.
    fn round(cell: &Cell, runner: Runner, user_us: f64, system_us: f64) -> Raw {
        let start = Sample {
            queries: 0,
            elapsed_s: 0.0,
            user_s: 0.0,
            system_s: 0.0,
            peak_rss: 0,
            steal: 0.0,
            stolen_ticks: 0,
            load: 0.0,
        };
        let long = Sample {
            queries: 1_000_000,
            elapsed_s: 10.0,
            user_s: user_us,
            system_s: system_us,
            ..start.clone()
        };
        Raw::new(cell, runner, 1, &long, &start)
    }

    fn said(results: &Results, text: &str) -> String {
        let goals = goals(results);
        row(goals.iter().find(|goal| goal.text == text).expect("a goal"))
    }

    #[test]
    fn costs_are_compared_with_the_bare_loop_and_every_capable_runner() {
        let cell = |connections| Cell::prepared(Database::Postgres, connections, false);
        let mut results = Results {
            rounds: vec![
                round(&cell(16), Runner::Limit, 1.0, 4.0),
                round(&cell(16), Runner::Assay, 1.5, 4.0),
                round(&cell(256), Runner::Assay, 1.0, 5.0),
                round(&cell(256), Runner::Pgbench, 2.0, 10.0),
                round(&cell(256), Runner::Sysbench, 1.0, 4.0),
            ],
            ..Results::default()
        };
        let row = said(&results, "CPU/query, Assay to limit");
        assert!(row.contains("| 16: 1.10, 64: not measured | 16: not measured"), "{row}");
        let row = said(&results, "CPU/query of Assay in user mode, µs");
        assert!(row.contains("| ≤ 1 | 16: **1.50**, 64: not measured |"), "{row}");
        let row = said(&results, "CPU/query, Assay to pgbench");
        assert!(
            row.ends_with("| 16: not measured, 64: not measured |  | not measured |\n"),
            "{row}"
        );
        let cheapest = "CPU/query, Assay to the cheapest other";
        assert!(said(&results, cheapest).contains("| 1: not measured, 256: not measured |"));
        results.rounds.push(round(&cell(256), Runner::Dbbench, 9.0, 9.0));
        let row = said(&results, cheapest);
        assert!(row.contains("| 1: not measured, 256: **1.20** |"), "{row}");
    }

    #[test]
    fn memory_and_loading_are_judged_by_their_own_results() {
        let crowd = |tls, peak_rss_bytes| Memory {
            database: Database::Mariadb,
            connections: 1_000,
            tls,
            peak_rss_bytes,
        };
        let key = |loader| LoadKey { database: Database::Postgres, writers: 4, loader };
        let results = Results {
            memory: vec![crowd(false, 64_000_001), crowd(true, 50_000_000)],
            load: vec![
                load::tests::filled(key(Loader::Own), 1, 1.0),
                load::tests::filled(key(Loader::AssayAtOnce), 1, 2.0),
            ],
            ..Results::default()
        };
        let row = said(&results, "memory of 1,000 connections, MB");
        assert!(row.ends_with("| not measured | **64.0** | missed, 1 of 1 |\n"), "{row}");
        let row = said(&results, "memory of 1,000 connections with TLS, MB");
        assert!(row.ends_with("| not measured | 50.0 | met where measured |\n"), "{row}");
        let goal = "rows/s loaded to `\\copy` and `LOAD DATA`, both with one commit per writer";
        let row = said(&results, goal);
        assert!(row.contains("| 1 writer: not measured, 4 writers: **0.50** |"), "{row}");
    }

    #[test]
    fn open_loops_are_judged_at_one_rate() {
        let results = Results { open: open::tests::rounds(), ..Results::default() };
        let row = said(&results, "CPU/request of an open loop of 50,000/s above limit, µs");
        assert!(row.contains("| ≤ 3 | 2.50 | not measured | met where measured |"), "{row}");
        let row = said(&results, "send lag p99 of that loop in rounds without stolen time, µs");
        assert!(row.contains("| ≤ 100 | 2 of 3 rounds: 100.0 | not measured |"), "{row}");
        let row = said(&results, "highest rate of an open loop on one thread, to limit closed");
        assert!(row.contains("| ≥ 0.75 | 0.80 | not measured |"), "{row}");
        let stolen = RateKey { database: Database::Postgres, rate: 1_000 };
        assert_eq!(lag_figure(stolen, &results.open).label, "0 of 2 rounds");
        assert_eq!(lag_figure(stolen, &[]).label, "");
    }

    #[test]
    fn goal_tolerates_the_last_bit_of_rounding() {
        let above = f64::from_bits(0.75_f64.to_bits() + 1);
        let below = f64::from_bits(0.75_f64.to_bits() - 1);
        for value in [below, 0.75, above] {
            assert!(Bound::AtLeast(0.75).is_met(value) && Bound::AtMost(0.75).is_met(value));
            assert!(!Bound::Below(0.75).is_met(value));
        }
        assert!(!Bound::AtLeast(0.75).is_met(0.749) && !Bound::AtMost(0.75).is_met(0.751));
    }

    #[test]
    fn missing_or_malformed_results_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut remarks = Vec::new();
        let none: Vec<Memory> = runs(folder.path(), Measure::Memory, &mut remarks);
        let text = "{\"runs\":[{\"database\":\"oracle\"}]}";
        fs::write(folder.path().join("memory.json"), text).expect("written");
        let misfit: Vec<Memory> = runs(folder.path(), Measure::Memory, &mut remarks);
        assert!(none.is_empty() && misfit.is_empty());
        assert_eq!(remarks[0], "`memory` has no results");
        assert!(remarks[1].starts_with("the results of `memory` cannot be read (unknown variant"));
    }

    #[test]
    fn document_contains_the_current_goal_table() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let document = fs::read_to_string(root.join(publish::DOCUMENT)).expect("the document");
        let block =
            bench::between_marks(&document, Measure::Goals.word(), &table(&root.join(RESULTS)));
        assert!(block.expect("both marks") == document, "stale: `compare goals --write`");
    }
}
