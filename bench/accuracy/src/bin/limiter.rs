//! Runs the scenarios with known limiters and prints the table of answers.
//!
//! `limiter [--seed N] [--repetitions N] [--only WORDS] [--seconds S] [--write]`. By default, every
//! scenario runs three times for 10 s each, with numbers drawn from the seed; only loads of tables
//! and the scenario `clean-up` have lengths of their own. That takes an hour on an otherwise idle
//! machine with two processors or more. `--only` selects the scenarios whose names contain WORDS.
//! `--write` puts the tables into `docs/limiter.md`.
//!
//! The program fails if fewer than 95 % of the limiters are identified, if a scenario has two
//! repetitions in which the limiter is not identified, or if any limiter is misidentified. Without
//! `--only`, it also fails if too few scenarios can run on the machine.

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use accuracy::limiter::{
    Answer, DrawKey, Order, RepetitionError, Row, Scenario, ScenarioEnv, Table, print_progress,
    scenarios,
};

/// Smallest number of scenarios that must be able to run on the machine.
const FEWEST: usize = 12;

/// The page that contains the tables.
const DOCUMENT: &str = "docs/limiter.md";
/// The word in the marks around the tables.
const MARK: &str = "known";

fn main() -> ExitCode {
    match suite() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            print_progress(format!("limiter: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn suite() -> Result<bool, Box<dyn Error>> {
    let order = Order::parse(std::env::args().skip(1))?;
    let wanted = |scenario: &&Scenario| {
        order.only.as_ref().is_none_or(|words| scenario.name.contains(words.as_str()))
    };
    let all = scenarios();
    let mut table = Table::default();
    for scenario in all.iter().filter(wanted) {
        table.0.push(repeat(scenario, &order)?);
    }
    let text = format!("{}\n{}", heading(&order), table.to_text());
    std::io::stdout().lock().write_all(text.as_bytes())?;
    if order.is_written {
        let document = std::fs::read_to_string(DOCUMENT)?;
        let changed = bench::between_marks(&document, MARK, text.trim_end());
        std::fs::write(DOCUMENT, changed.map_err(|missing| format!("{DOCUMENT}: {missing}"))?)?;
    }
    Ok(table.is_good() && (order.only.is_some() || table.ran().count() >= FEWEST))
}

/// Returns two lines: the seed, the length and the number of the runs; the machine and the commit.
fn heading(order: &Order) -> String {
    let Order { seed, repetitions, seconds, .. } = order;
    let machine = bench::describe().replace('\n', "; ");
    format!("Seed {seed}; runs of {seconds} s for each scenario: {repetitions};\n{machine}.\n")
}

/// Runs all repetitions of a scenario and returns its row. If the scenario cannot run on this
/// machine, the row has the reason.
fn repeat<'s>(scenario: &'s Scenario, order: &Order) -> Result<Row<'s>, Box<dyn Error>> {
    let mut row = Row { scenario, answers: Vec::new(), not_run_reason: None };
    for repetition in 0..order.repetitions {
        let draws = DrawKey { seed: order.seed, scenario: &scenario.name, repetition };
        let stage = ScenarioEnv::new(draws, order.seconds)?;
        match (scenario.run)(&stage) {
            Ok(answer) => {
                let outcome = scenario.judge(&answer);
                print_progress(format!(
                    "{}: {outcome:?}: {}: {}",
                    scenario.name, answer.component, answer.because
                ));
                row.answers.push(answer);
            }
            Err(RepetitionError::Unsupported(why)) => {
                row.not_run_reason = Some(why.to_string());
                return Ok(row);
            }
            Err(RepetitionError::Failed(error)) => {
                print_progress(format!("{}: {error}", scenario.name));
                row.answers.push(Answer::failed(error.to_string()));
            }
        }
    }
    Ok(row)
}
