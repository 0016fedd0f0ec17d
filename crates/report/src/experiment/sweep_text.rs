//! The report of a sweep for people: tables of at most 80 columns, and a chart of bars.

use std::fmt::Write as _;

use analyze::curve::{ArmCurve, PointSummary, ResponseModel};
use base::printable;
use workload::question::TimeStatistic;

use super::answer_text::AnswerText;
use super::sweep::{self, SweepView};
use super::sweep_table::{
    COMPARISON_COLUMNS, MODEL_COLUMNS, SHARES, bets, comparison_rows, model_row, owners, shares,
};
use super::view::ExperimentView;
use crate::number::{NONE, significant};
use crate::page::Align;
use crate::text::bar;

/// The quantiles in the table of points.
const QUANTILES: [TimeStatistic; 3] = [TimeStatistic::P50, TimeStatistic::P95, TimeStatistic::P99];

/// The width of a terminal.
const WIDTH: usize = 80;

/// The widest bar of a chart.
const WIDEST: usize = 40;

/// The widest label of a point.
const LABEL: usize = 20;

/// Writes the results of a sweep.
pub(super) fn results(out: &mut AnswerText, view: &ExperimentView) {
    let Some(sweep) = &view.sweep else { return };
    for (arm, curve) in view.arms.iter().zip(&sweep.curves) {
        let of_arm = match view.arms.len() {
            1 => String::new(),
            _ => format!(" with {}", arm.name),
        };
        points(out, sweep, curve, &of_arm);
        components(out, curve);
        chart(out, sweep, curve);
        paragraph(out, "not best", sweep::excluded(sweep, curve));
        paragraph(out, "USL", curve.usl.iter().flat_map(sweep::usl));
        paragraph(out, "model", curve.model.iter().flat_map(sweep::model));
        if let Some(Ok(model)) = &curve.model {
            predictions(out, sweep, model);
        }
    }
    comparisons(out, view, sweep);
}

/// Writes texts with a label before the first one.
fn paragraph(out: &mut AnswerText, label: &str, texts: impl IntoIterator<Item = String>) {
    for (number, text) in texts.into_iter().enumerate() {
        if number == 0 {
            let _ = writeln!(out);
        }
        out.entry(if number == 0 { label } else { "" }, &text);
    }
}

fn points(out: &mut AnswerText, sweep: &SweepView, curve: &ArmCurve, of_arm: &str) {
    let job = sweep.job_name().unwrap_or_default();
    let title = format!("{job} by {}{of_arm} (± half of the 95 % interval)", sweep.vary);
    let _ = writeln!(out, "\n{}", printable(&title));
    let titles = ["", "requests/s", "p50", "p95", "p99"].map(str::to_owned);
    let mut rows = vec![titles.to_vec()];
    for point in &curve.points {
        let job = sweep.job_at(point);
        let completed = job.and_then(|job| job.completed_per_s.as_ref().ok());
        let mut row = vec![label(&point.value), sweep::cell(completed, "")];
        for quantile in QUANTILES {
            row.push(sweep::cell(job.and_then(|job| job.response(quantile)), " ms"));
        }
        rows.push(row);
    }
    table(out, &rows, &[]);
}

/// Writes verdict, processor time and limiter of each point.
fn components(out: &mut AnswerText, curve: &ArmCurve) {
    let owners = owners(&[curve]);
    let mut titles = vec![String::new(), "verdict".to_owned()];
    titles.extend(owners.iter().map(|owner| owner.name().to_owned()));
    titles.push("limiter".to_owned());
    let mut rows = vec![titles];
    for point in &curve.points {
        let mut row = vec![label(&point.value), sweep::verdict(point).to_owned()];
        row.extend(owners.iter().map(|owner| shares(point, *owner)));
        row.push(sweep::limiters(point));
        rows.push(row);
    }
    let _ = writeln!(out);
    let last = rows[0].len() - 1;
    table(out, &rows, &[1, last]);
    if !owners.is_empty() {
        let _ = writeln!(out, "  {SHARES}");
    }
}

/// Draws the metric of the rule, or the throughput, as a bar for each point.
fn chart(out: &mut AnswerText, sweep: &SweepView, curve: &ArmCurve) {
    let (title, values) = charted(sweep, curve);
    let highest = values.iter().flatten().copied().fold(0.0, f64::max);
    if highest <= 0.0 {
        return;
    }
    let labels: Vec<String> = curve.points.iter().map(|point| label(&point.value)).collect();
    let widest = labels.iter().map(|label| width(label)).max().unwrap_or_default();
    let room = WIDEST.min(WIDTH.saturating_sub(widest + 30));
    let _ = writeln!(out, "\n{}", printable(&title));
    for (place, (label, value)) in labels.iter().zip(&values).enumerate() {
        let pad = " ".repeat(widest - width(label));
        let standing = sweep::standing(curve, place);
        let drawn = match value {
            Some(value) => {
                // A thousandth of the longest bar is finer than its eighths.
                let thousandths = (value / highest * 1_000.0).round().max(1.0) as u64;
                format!("{} {}", bar(thousandths, 1_000, room), significant(*value))
            }
            None => NONE.to_owned(),
        };
        let line = format!("  {pad}{label}  {drawn}  {standing}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// Returns the values of a chart with its title.
fn charted(sweep: &SweepView, curve: &ArmCurve) -> (String, Vec<Option<f64>>) {
    if let Some(rule) = &sweep.best {
        let values = curve.judged.iter().map(|mean| mean.as_ref().ok().map(|mean| mean.mean));
        let unit = rule.metric.quantity.unit();
        return (format!("{}, {unit}", rule.metric), values.collect());
    }
    let completed = |point: &PointSummary| {
        let job = sweep.job_at(point)?;
        job.completed_per_s.as_ref().ok().map(|mean| mean.mean)
    };
    let job = sweep.job_name().unwrap_or_default();
    let title = format!("throughput({job}), requests/s");
    (title, curve.points.iter().map(completed).collect())
}

/// Writes the predictions of the response-time model next to the measured times.
fn predictions(out: &mut AnswerText, sweep: &SweepView, model: &ResponseModel) {
    let mut rows = vec![titled(&MODEL_COLUMNS)];
    rows.extend(
        model
            .points
            .iter()
            .map(|point| [&[label(&sweep.values[point.point])][..], &model_row(point)].concat()),
    );
    table(out, &rows, &[]);
}

/// Returns the titles of the columns, of which the first names the points and has no title.
fn titled(columns: &[(&str, Align)]) -> Vec<String> {
    std::iter::once("").chain(columns.iter().map(|(title, _)| *title)).map(str::to_owned).collect()
}

/// Writes the comparison of the arms at each point, of the metrics that were declared.
fn comparisons(out: &mut AnswerText, view: &ExperimentView, sweep: &SweepView) {
    let mut rows = vec![titled(&COMPARISON_COLUMNS)];
    let all = comparison_rows(view, sweep).into_iter();
    rows.extend(all.map(|(value, cells)| [&[label(value)][..], &cells].concat()));
    if rows.len() > 1 {
        let title = format!("arms against {} at each point", view.arms[0].name);
        let _ = writeln!(out, "\n{}", printable(&title));
        table(out, &rows, &[1, 2, 5]);
    }
    paragraph(out, "bet", bets(view, sweep));
}

/// Returns a value that is short enough for a column.
fn label(value: &str) -> String {
    let value = printable(value);
    match value.chars().count() > LABEL {
        true => value.chars().take(LABEL - 1).chain(['…']).collect(),
        false => value.into_owned(),
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Writes rows with aligned columns: the columns of `left` to the left, the others to the right.
fn table(out: &mut AnswerText, rows: &[Vec<String>], left: &[usize]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width(&printable(cell))).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    for row in rows {
        let mut line = String::from("  ");
        for (column, cell) in row.iter().enumerate() {
            let (cell, width) = (printable(cell), widths[column]);
            let _ = match left.contains(&column) {
                true => write!(line, "{cell:<width$}  "),
                false => write!(line, "{cell:>width$}  "),
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use analyze::Status;
    use analyze::compare::CpuShare;
    use analyze::curve::{
        BestPoint, Interval, JobAtPoint, OtherPoint, PointMean, Ranking, Unusable,
    };
    use workload::question::{BestRule, CpuOwner, Direction, RunMetric};

    use super::*;
    use crate::text::Style;

    fn mean(mean: f64) -> PointMean {
        let interval = Some(Interval { low: mean * 0.55, high: mean * 1.45 });
        PointMean { values: vec![mean; 3], mean, interval }
    }

    fn point(value: &str, per_s: f64) -> PointSummary {
        let share = |owner| CpuShare { owner, user: 1.0, system: 0.0, processors: 2.0 };
        PointSummary {
            value: value.to_owned(),
            x: value.parse().ok(),
            runs: 3,
            verdict: Status::Suspect,
            objections: Vec::new(),
            limiters: vec![analyze::Component::DatabaseCpu],
            jobs: vec![JobAtPoint {
                job: "read".to_owned(),
                completed_per_s: Ok(mean(per_s)),
                over_time_per_s: Vec::new(),
                offered_per_s: None,
                response_ms: QUANTILES.map(|one| (one, Ok(mean(123.0)))).to_vec(),
            }],
            cpu: [CpuOwner::Generator, CpuOwner::Proxy, CpuOwner::Database].map(share).to_vec(),
        }
    }

    fn sweep() -> SweepView {
        let others = [(0, Ranking::Worse), (2, Ranking::NotWorse)];
        let other =
            |(point, standing)| OtherPoint { point, change: None, interval: None, standing };
        let values = ["1", "a value that is longer than its column", "3", "4"];
        let rates = [1_000.0, 20_000.0, 19_000.0];
        let points = values.iter().zip(rates).map(|(value, rate)| point(value, rate));
        let unmeasured = PointSummary { runs: 0, jobs: Vec::new(), ..point("4", 1.0) };
        let metric = RunMetric::parse("throughput(read)").unwrap();
        let curve = ArmCurve {
            points: points.chain([unmeasured]).collect(),
            best: Some(BestPoint {
                best: Some(1),
                others: others.map(other).to_vec(),
                unusable: vec![(3, Unusable::NoRun)],
            }),
            judged: rates
                .map(|rate| Ok(mean(rate)))
                .into_iter()
                .chain([Err(Unusable::NoRun)])
                .collect(),
            usl: None,
            model: None,
        };
        SweepView {
            vary: "set.word".to_owned(),
            values: values.map(str::to_owned).to_vec(),
            repeats: 3,
            best: Some(BestRule { better: Direction::Higher, metric }),
            job: None,
            curves: vec![curve],
            comparisons: Vec::new(),
        }
    }

    #[test]
    fn tables_and_chart_fit_a_terminal() {
        let (sweep, mut out) = (sweep(), AnswerText::new(&Style::PLAIN));
        points(&mut out, &sweep, &sweep.curves[0], "");
        components(&mut out, &sweep.curves[0]);
        chart(&mut out, &sweep, &sweep.curves[0]);
        for line in out.into_text().lines() {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
    }

    #[test]
    fn bars_are_in_proportion_and_name_the_best() {
        let (sweep, mut out) = (sweep(), AnswerText::new(&Style::PLAIN));
        chart(&mut out, &sweep, &sweep.curves[0]);
        let out = out.into_text();
        let lines: Vec<&str> = out.lines().skip(2).collect();
        let length = |line: &str| line.chars().filter(|c| *c == '█').count();
        assert!(lines[1].ends_with("20,000  best"), "{out}");
        assert!(lines[2].ends_with("19,000  not worse"), "{out}");
        assert!(lines[0].ends_with(" 1,000") && lines[3].ends_with(NONE), "{out}");
        assert_eq!((length(lines[0]) * 20).abs_diff(length(lines[1])) / 20, 0, "{out}");
        assert!(length(lines[2]) < length(lines[1]), "{out}");
    }
}
