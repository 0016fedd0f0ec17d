//! The report of an experiment for people.

use std::fmt::Write as _;

use analyze::compare::{ArmComparison, MetricChange, PairOrder};
use base::printable;

use super::sentence;
use super::view::{ArmView, ExperimentState, ExperimentView};

/// Formats the answer of an experiment: the sentence first, then bets, validity, limiters, metrics
/// and pairs.
pub fn experiment_text(view: &ExperimentView) -> String {
    let mut out = String::new();
    answer(&mut out, view);
    let _ = writeln!(out, "\nquestion   {}", printable(&view.ask));
    arms(&mut out, view);
    validity(&mut out, view);
    if let Some(comparison) = &view.comparison {
        for arm in &comparison.arms {
            bets(&mut out, arm);
            limiters(&mut out, view, arm);
            metrics(&mut out, view, arm);
            pairs(&mut out, view, arm);
        }
    }
    let _ = writeln!(out, "\nrepeat     {}", printable(&view.command));
    let _ = writeln!(out, "record     {}", printable(&view.record));
    out
}

fn answer(out: &mut String, view: &ExperimentView) {
    match view.state {
        ExperimentState::Complete => {}
        ExperimentState::Interrupted => {
            let _ =
                writeln!(out, "No answer: the experiment was interrupted. --resume continues it");
        }
        ExperimentState::InstrumentFailed => {
            let _ = writeln!(
                out,
                "No answer: the load generator or the machine failed in too many rounds"
            );
        }
    }
    let Some(comparison) =
        view.comparison.as_ref().filter(|_| view.state == ExperimentState::Complete)
    else {
        return;
    };
    let baseline = &view.arms[0].name;
    for arm in &comparison.arms {
        for change in arm.changes.iter().filter(|change| !change.is_exploratory) {
            let name = &view.arms[arm.arm].name;
            let text = sentence::answer(name, baseline, change, comparison.alpha);
            let _ = writeln!(out, "{}", printable(&capitalized(&text, name)));
        }
    }
}

/// Returns a sentence with a capital letter, unless it begins with the name of an arm.
fn capitalized(text: &str, name: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if !text.starts_with(name) => first.to_uppercase().chain(characters).collect(),
        _ => text.to_owned(),
    }
}

fn arms(out: &mut String, view: &ExperimentView) {
    let _ = writeln!(out, "workload   {}", printable(&view.workload));
    for (place, arm) in view.arms.iter().enumerate() {
        let role = if place == 0 { "baseline" } else { "arm" };
        let differences: Vec<String> =
            arm.differences.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let differences = match differences.is_empty() {
            true => "the workload as it is".to_owned(),
            false => differences.join("; "),
        };
        let _ = writeln!(out, "{role:<9}  {}: {}", printable(&arm.name), printable(&differences));
    }
    if view.has_several_differences {
        let _ = writeln!(
            out,
            "           The arms may differ in several things: the cause of a change is unknown"
        );
    }
}

fn validity(out: &mut String, view: &ExperimentView) {
    let _ = writeln!(out, "\n{}", view.verdict().verdict());
    for arm in &view.arms {
        let _ = writeln!(out, "  {}: {}", printable(&arm.name), counts(arm));
    }
    for one in &view.settings {
        let _ = writeln!(
            out,
            "  undeclared difference: {} is `{}` in {}, `{}` in {}",
            printable(&one.name),
            printable(&one.baseline),
            printable(&view.arms[0].name),
            printable(&one.value),
            printable(&view.arms[one.arm].name),
        );
    }
}

fn counts(arm: &ArmView) -> String {
    let validity = &arm.validity;
    let mut text = format!("{} runs", validity.runs);
    for (word, runs) in [("INVALID", &validity.invalid), ("SUSPECT", &validity.suspect)] {
        let mut checks: Vec<&str> =
            runs.iter().flat_map(|(_, checks)| checks.iter().map(|check| check.name())).collect();
        checks.sort_unstable();
        checks.dedup();
        if !runs.is_empty() {
            let _ = write!(text, ", {} {word} ({})", runs.len(), checks.join(", "));
        }
    }
    if validity.repeated > 0 {
        let _ = write!(text, ", {} repeated", validity.repeated);
    }
    text
}

fn bets(out: &mut String, arm: &ArmComparison) {
    let mut all = arm.changes.iter().flat_map(|change| {
        change.bets.iter().map(move |(bet, outcome)| sentence::bet(bet, *outcome, change))
    });
    if let Some(first) = all.next() {
        let _ = writeln!(out, "\nbet        {}", printable(&first));
        for bet in all {
            let _ = writeln!(out, "bet        {}", printable(&bet));
        }
    }
}

fn limiters(out: &mut String, view: &ExperimentView, arm: &ArmComparison) {
    let [baseline, own] = arm.limiters.map(|component| component.name());
    let (first, name) = (&view.arms[0].name, &view.arms[arm.arm].name);
    let _ =
        writeln!(out, "\nlimiter    {}: {baseline}; {}: {own}", printable(first), printable(name));
    if baseline != own {
        let _ = writeln!(
            out,
            "           The arms have different limiters: the change is not the cost of one thing"
        );
    }
}

fn metrics(out: &mut String, view: &ExperimentView, arm: &ArmComparison) {
    let (baseline, name) = (&view.arms[0].name, &view.arms[arm.arm].name);
    let mut rows = vec![[
        "metric".to_owned(),
        baseline.clone(),
        name.clone(),
        "change".to_owned(),
        "interval".to_owned(),
        String::new(),
    ]];
    for change in &arm.changes {
        rows.push(row(change));
    }
    let _ = writeln!(out);
    table(out, &rows);
    if arm.changes.iter().any(|change| change.is_exploratory) {
        let _ = writeln!(out, "  * exploratory: not declared before; no claim follows from it");
    }
}

fn row(change: &MetricChange) -> [String; 6] {
    let mark = if change.is_exploratory { " *" } else { "" };
    let metric = format!("{}{mark}", change.metric);
    let scale = change.metric.quantity.scale();
    match &change.compared {
        Ok(compared) => {
            let [baseline, own] = sentence::values(compared, change.metric.quantity.unit());
            let interval = compared.interval.map(|interval| sentence::range(interval, scale));
            let conclusion = match change.is_exploratory {
                true => String::new(),
                false => compared.conclusion.name().to_owned(),
            };
            let size = sentence::signed(compared.change, scale);
            [metric, baseline, own, size, interval.unwrap_or_default(), conclusion]
        }
        Err(reason) => {
            let none = crate::number::NONE.to_owned();
            let why = sentence::not_compared(*reason);
            [metric, none.clone(), none, String::new(), String::new(), why]
        }
    }
}

fn pairs(out: &mut String, view: &ExperimentView, arm: &ArmComparison) {
    let Some(change) = arm.changes.first() else { return };
    let Ok(compared) = &change.compared else { return };
    let mut rows = vec![[
        "pair".to_owned(),
        view.arms[0].name.clone(),
        view.arms[arm.arm].name.clone(),
        "change".to_owned(),
        "first".to_owned(),
        String::new(),
    ]];
    for (number, pair) in (1..).zip(&compared.values) {
        let first = match pair.order {
            PairOrder::BaselineFirst => view.arms[0].name.clone(),
            PairOrder::ArmFirst => view.arms[arm.arm].name.clone(),
        };
        let scale = change.metric.quantity.scale();
        let difference = match scale {
            workload::question::Scale::Ratio => pair.arm / pair.baseline - 1.0,
            workload::question::Scale::Difference => pair.arm - pair.baseline,
        };
        rows.push([
            format!("{number}"),
            crate::number::significant(pair.baseline),
            crate::number::significant(pair.arm),
            sentence::signed(difference, scale),
            first,
            String::new(),
        ]);
    }
    let _ = writeln!(out, "\n{}", printable(&format!("pairs of {}", change.metric)));
    table(out, &rows);
}

/// Writes rows with aligned columns.
fn table(out: &mut String, rows: &[[String; 6]]) {
    let width = |column: usize| {
        rows.iter().map(|row| printable(&row[column]).chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..6).map(width).collect();
    for row in rows {
        let mut line = String::from("  ");
        for (column, cell) in row.iter().enumerate() {
            let (cell, width) = (printable(cell), widths[column]);
            let _ = match column {
                0 | 5 => write!(line, "{cell:<width$}  "),
                _ => write!(line, "{cell:>width$}  "),
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}
