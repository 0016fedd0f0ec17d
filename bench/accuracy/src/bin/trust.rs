//! Prints the tables of `docs/checks.md` (false alarms, detected faults, coverage of intervals), of
//! `docs/comparing.md` (error rates of comparisons and sweeps, and of planted mistakes in them), of
//! `docs/capacity.md` (errors of capacity searches), and of `docs/history.md` (error rates of
//! histories).
//!
//! `trust [RUNS]` executes about RUNS valid runs in virtual time (1,000 by default). The numbers of
//! runs with faults and of runs for the coverage of intervals are proportional to RUNS; those of
//! comparisons, searches, sweeps and histories are fixed. It takes minutes. `trust real [RUNS]`
//! executes RUNS valid runs in real time (100 by default), a fifth as many runs with a fault, and
//! the searches of `trust loopback`. It takes an hour and a half on an otherwise idle machine.
//! Single tables:
//!
//! * `trust comparisons [NAME]`: the rows and mistakes whose name contains NAME.
//! * `trust curves`: sweeps and histories.
//! * `trust history [N]`: alarms of a job that checks a history every night, in N series (400 by
//!   default). The table shows what to expect; it has no required values.
//! * `trust capacity [N [NAME [MINUTES]]]`: N searches (40 by default) on each system whose name
//!   contains NAME. The NAME `drift` selects the systems that become slower or seem to. Errors are
//!   judged only with the default budget of 25 minutes, and costs only if, in addition, all systems
//!   are searched.
//! * `trust loopback [PROTOCOL]`: a search in real time, of up to 25 minutes, in each protocol
//!   whose name contains PROTOCOL.
//!
//! Every command except `trust history` fails if a table is worse than the page allows, or if no
//! name contains the given NAME or PROTOCOL.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use accuracy::trust::alarms::{Alarms, Judgement, SHAPES, alarms};
use accuracy::trust::capacity::{
    ASSAY, BUDGET, Costs, ResultCounts, SearchErrors, count_expected_results, drifts, errors,
};
use accuracy::trust::comparison::{ComparisonRate, Mutation, mutations, rates, rates_of_runs};
use accuracy::trust::coverage::coverage;
use accuracy::trust::curves::{CurveCounts, curve_rates};
use accuracy::trust::idle::{idle, stalls};
use accuracy::trust::loopback::{self, PROTOCOLS, TRUTH_PER_S};
use accuracy::trust::nights::nights;
use accuracy::trust::sensitivity::{Sensitivity, sensitivity};
use base::Nanos;

/// Default number of valid runs in virtual time.
const VIRTUAL_RUNS: u64 = 1_000;
const REAL_RUNS: u64 = 100;

/// Number of comparisons of each kind; a fifth of this number if runs are executed, not drawn.
const COMPARISONS: u32 = 2_000;

/// Number of capacity searches on each system.
const SEARCHES: u32 = 40;

/// Numbers of fits, sweeps and histories.
const CURVES: CurveCounts = CurveCounts { fits: 200, sweeps: 100, p99_sweeps: 100, histories: 200 };

/// Number of series of nightly values without a step; as many series have a step.
const NIGHTLY: u32 = 400;

/// Ratio of the number of valid runs to the number of runs with each fault.
const FAULTY: u64 = 10;

/// Number of requests in each run of the coverage table; enough for a p99.
const REQUESTS: u64 = 400_000;

const USAGE: &str = "usage: trust [RUNS | comparisons [NAME] | capacity [N [NAME [MINUTES]]] | \
                     curves | history [N] | loopback [PROTOCOL] | real [RUNS]]";

fn main() -> ExitCode {
    match tables() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "trust: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tables() -> Result<bool, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => virtual_tables(&mut out, VIRTUAL_RUNS),
        ["comparisons"] => write_comparisons(&mut out, COMPARISONS, ""),
        ["comparisons", only] => write_comparisons(&mut out, COMPARISONS, only),
        ["curves"] => write_curves(&mut out, CURVES),
        ["history"] => write_nights(&mut out, NIGHTLY),
        ["history", series] => write_nights(&mut out, series.parse()?),
        ["capacity"] => write_searches(&mut out, SEARCHES, "", BUDGET),
        ["capacity", searches] => write_searches(&mut out, searches.parse()?, "", BUDGET),
        ["capacity", searches, only] => write_searches(&mut out, searches.parse()?, only, BUDGET),
        ["capacity", searches, only, minutes] => {
            let budget = Nanos::from_secs(60 * minutes.parse::<u64>()?);
            write_searches(&mut out, searches.parse()?, only, budget)
        }
        ["loopback"] => write_loopback(&mut out, ""),
        ["loopback", protocol] => write_loopback(&mut out, protocol),
        ["real"] => real_tables(&mut out, REAL_RUNS),
        ["real", runs] => real_tables(&mut out, runs.parse()?),
        [runs] => virtual_tables(&mut out, runs.parse()?),
        _ => Err(USAGE.into()),
    }
}

fn virtual_tables(out: &mut impl Write, runs: u64) -> Result<bool, Box<dyn Error>> {
    let silent = write_alarms(out, &alarms(runs.div_ceil(SHAPES.len() as u64))?)?;
    let sharp = write_sensitivity(out, &sensitivity(runs.div_ceil(FAULTY))?)?;
    // The coverage table takes 300 runs per 1,000 valid runs.
    let covered = write_coverage(out, (runs * 3 / 10).max(1))?;
    let compared = write_comparisons(out, COMPARISONS, "")?;
    let searched = write_searches(out, SEARCHES, "", BUDGET)?;
    let curved = write_curves(out, CURVES)?;
    Ok(silent && sharp && covered && compared && searched && curved)
}

fn real_tables(out: &mut impl Write, runs: u64) -> Result<bool, Box<dyn Error>> {
    let silent = write_alarms(out, &idle(runs)?)?;
    let sharp = write_sensitivity(out, &[stalls(runs.div_ceil(5))?])?;
    let searched = write_loopback(out, "")?;
    Ok(silent && sharp && searched)
}

/// Runs a search in each protocol whose name contains `only`, and writes the results.
fn write_loopback(out: &mut impl Write, only: &str) -> Result<bool, Box<dyn Error>> {
    writeln!(
        out,
        "\n| protocol | estimate | confirmed | of the capacity | trials | time | verdict | \
         irregular |\n| --- | --: | --: | --: | --: | --: | --- | --- |"
    )?;
    let protocols: Vec<_> = PROTOCOLS.into_iter().filter(|it| it.name.contains(only)).collect();
    let mut is_good = !protocols.is_empty();
    for protocol in protocols {
        let found = loopback::search(protocol)?;
        let per_s = |rate: Option<f64>| rate.map_or("-".to_owned(), |rate| format!("{rate:.0}/s"));
        let share = found.sustained_per_s.map_or("-".to_owned(), |sustained| {
            format!("{:.1} %", 100.0 * sustained / TRUTH_PER_S)
        });
        writeln!(
            out,
            "| {} | {} | {} | {share} | {} | {:.0} s | {} | {} |",
            protocol.name,
            per_s(found.estimate_per_s),
            per_s(found.sustained_per_s),
            found.trials,
            found.took_s,
            found.verdict,
            found.irregular
        )?;
        out.flush()?;
        is_good &= found.is_good();
    }
    Ok(is_good)
}

fn write_alarms(out: &mut impl Write, alarms: &Alarms) -> Result<bool, Box<dyn Error>> {
    let Alarms { runs, flagged, objections, .. } = alarms;
    for objection in objections {
        writeln!(out, "{objection}")?;
    }
    writeln!(out, "\n| check | possible in | objected to | accepted |")?;
    writeln!(out, "| --- | --: | --: | --: |")?;
    let judgements = alarms.judgements();
    for Judgement { name, counts, accepted } in &judgements {
        writeln!(out, "| {name} | {} | {} | {accepted} |", counts.runs, counts.objections)?;
    }
    writeln!(out, "\nA check objected to {flagged} of {runs} runs.")?;
    out.flush()?;
    Ok(judgements.iter().all(Judgement::is_good))
}

fn write_sensitivity(out: &mut impl Write, found: &[Sensitivity]) -> Result<bool, Box<dyn Error>> {
    writeln!(out, "\n| fault | runs | noticed | by |\n| --- | --: | --: | --- |")?;
    for it in found {
        let by: Vec<String> = it.by.iter().map(|(name, count)| format!("{name} {count}")).collect();
        writeln!(out, "| {} | {} | {} | {} |", it.fault, it.runs, it.noticed, by.join(", "))?;
    }
    out.flush()?;
    Ok(found.iter().all(Sensitivity::is_good))
}

fn write_coverage(out: &mut impl Write, runs: u64) -> Result<bool, Box<dyn Error>> {
    let found = coverage(runs, REQUESTS)?;
    writeln!(out, "\n| system | quantile | intervals in {runs} runs | hold the truth |")?;
    writeln!(out, "| --- | --- | --: | --: |")?;
    for it in &found {
        let (given, percent) = (it.given, it.percent());
        writeln!(out, "| {} | {} | {given} | {percent:.1} % |", it.system, it.quantile)?;
    }
    Ok(found.iter().all(|it| it.is_good()))
}

/// Writes the error rates of each kind of comparison whose name contains `only`. Each kind has
/// `comparisons` comparisons, or a fifth of this number if the compared runs are executed in
/// virtual time instead of being drawn.
fn write_comparisons(
    out: &mut impl Write,
    comparisons: u32,
    only: &str,
) -> Result<bool, Box<dyn Error>> {
    let mut found = rates(comparisons, only);
    found.extend(rates_of_runs(comparisons.div_ceil(5), only)?);
    write_rates(out, "comparisons", &found)?;
    let mistakes = mutations(&found, comparisons, only);
    write_mutations(out, &mistakes)?;
    let is_any = !found.is_empty() || !mistakes.is_empty();
    let are_good = found.iter().all(ComparisonRate::is_good);
    Ok(is_any && are_good && mistakes.iter().all(Mutation::is_noticed))
}

/// Writes the error rates of sweeps and histories, and of planted mistakes in them.
fn write_curves(out: &mut impl Write, counts: CurveCounts) -> Result<bool, Box<dyn Error>> {
    let found = curve_rates(counts)?;
    write_rates(out, "sweeps and histories", &found.rates)?;
    write_mutations(out, &found.mutations)?;
    out.flush()?;
    Ok(found.is_good())
}

/// Writes the alarms of a job that checks a history every night.
fn write_nights(out: &mut impl Write, series: u32) -> Result<bool, Box<dyn Error>> {
    writeln!(
        out,
        "\n| gate | series | years with an alarm | alarms per year | nights that fail | step \
         found | nights that a step fails |\n| --- | --: | --: | --: | --: | --: | --: |"
    )?;
    for it in nights(series) {
        let gate = match it.within {
            usize::MAX => "any change".to_owned(),
            values => format!("`--fail-within {values}`"),
        };
        let per_series = |number: u32| f64::from(number) / f64::from(it.series.max(1));
        writeln!(
            out,
            "| {gate} | {series} | {:.1} % | {:.2} | {:.2} % | {:.1} % | {:.1} |",
            100.0 * per_series(it.with_alarm),
            per_series(it.alarms),
            it.percent_of_nights(),
            100.0 * per_series(it.found),
            per_series(it.failed_by_step)
        )?;
    }
    Ok(true)
}

fn write_rates(out: &mut impl Write, title: &str, rates: &[ComparisonRate]) -> io::Result<()> {
    writeln!(out, "\n| {title} | number | rate | accepted |\n| --- | --: | --: | --: |")?;
    for it in rates {
        let (low, high) = (it.accepted.start(), it.accepted.end());
        let (number, percent) = (it.comparisons, it.percent());
        writeln!(out, "| {} | {number} | {percent:.1} % | {low} … {high} % |", it.name)?;
    }
    Ok(())
}

fn write_mutations(out: &mut impl Write, mistakes: &[Mutation]) -> io::Result<()> {
    writeln!(out, "\n| mistake | in | without it | with it |\n| --- | --- | --: | --: |")?;
    for it in mistakes {
        let (without, with) = (it.correct.percent(), it.mutated.percent());
        writeln!(out, "| {} | {} | {without:.1} % | {with:.1} % |", it.mistake, it.correct.name)?;
    }
    Ok(())
}

/// Writes the cost of Assay's searches: their number of requests, as a multiple of the number with
/// which an isotonic search would have the same error.
fn write_costs(out: &mut impl Write, costs: &Costs) -> io::Result<()> {
    writeln!(
        out,
        "\nFor the median size of the isotonic search, Assay needs {:.2} times its requests \
         (median of {} systems, at most {:.2}).",
        costs.median(),
        costs.0.len(),
        costs.most()
    )
}

/// Writes the number of searches with each irregularity. One search may have several.
fn write_irregularities(out: &mut impl Write, all: &[SearchErrors]) -> io::Result<()> {
    let mut sum: BTreeMap<&str, u32> = BTreeMap::new();
    for (name, number) in all.iter().flat_map(|it| &it.irregularities) {
        *sum.entry(name).or_default() += number;
    }
    let (irregular, searches) = all
        .iter()
        .filter(|it| it.method == ASSAY)
        .fold((0, 0), |sum, it| (sum.0 + it.irregular, sum.1 + it.searches()));
    let kinds = sum.iter().map(|(name, number)| format!("; {name} {number}"));
    writeln!(out, "\nIrregular: {irregular} of {searches} searches{}.", kinds.collect::<String>())
}

/// Writes the errors of `searches` capacity searches on each system that `only` selects.
fn write_searches(
    out: &mut impl Write,
    searches: u32,
    only: &str,
    budget: Nanos,
) -> Result<bool, Box<dyn Error>> {
    let all = errors(searches, only, budget)?;
    writeln!(
        out,
        "\n| system | method | median error | median size | within 2 % | published above | \
         published ≥ 0.92 | interval holds | irregular | requests | cost |\n\
         | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
    )?;
    for it in &all {
        let searches = it.searches() as f64;
        let covered = it.covered.map_or("-".to_owned(), |covered| {
            format!("{:.0} %", 100.0 * f64::from(covered) / searches)
        });
        let cost = it.cost(&all).map_or("-".to_owned(), |cost| format!("{cost:.2}"));
        writeln!(
            out,
            "| {} | {} | {:+.2} % | {:.2} % | {:.0} % | {:.0} % | {:.0} % | {covered} | {:.0} % | \
             {:.0} k | {cost} |",
            it.system.name,
            it.method,
            100.0 * it.median(),
            100.0 * it.median_size(),
            100.0 * it.close_share(),
            100.0 * it.above_share(),
            100.0 * it.useful_share(),
            100.0 * f64::from(it.irregular) / searches,
            it.mean_requests() / 1_000.0
        )?;
    }
    let costs = Costs::of(&all);
    if !all.is_empty() {
        write_costs(out, &costs)?;
        write_irregularities(out, &all)?;
    }
    let outcomes = match only {
        "drift" => drifts(searches, "")?,
        only => [count_expected_results(searches, only)?, drifts(searches, only)?].concat(),
    };
    writeln!(out, "\n| server | expected result | searches | found |\n| --- | --- | --: | --: |")?;
    for ResultCounts { name, expected, searches, found, .. } in &outcomes {
        writeln!(out, "| {name} | {expected} | {searches} | {found} |")?;
    }
    out.flush()?;
    let are_good = budget != BUDGET || all.iter().all(SearchErrors::is_good);
    let are_cheap = budget != BUDGET || !only.is_empty() || costs.is_good();
    let were_made = !(all.is_empty() && outcomes.is_empty());
    Ok(are_good && are_cheap && were_made && outcomes.iter().all(ResultCounts::is_good))
}
