//! The report of a sweep for people: tables, and a chart of bars of at most 80 columns.

use std::fmt::Write as _;

use analyze::curve::{ArmCurve, PointSummary, ResponseModel};
use base::printable;
use workload::question::TimeStatistic;

use super::answer_text::AnswerText;
use super::bets;
use super::lines;
use super::sentence;
use super::sweep::{self, SweepView};
use super::sweep_table::{
    MODEL_COLUMNS, SHARES, comparison_rows, comparison_table, completed_at, model_row, owners,
    response_at, shares,
};
use super::terms::has_undecided_change;
use super::view::ExperimentView;
use crate::number::{NONE, significant};
use crate::page::{Align, Cell, Table};
use crate::text::{bar, columns, cut_line};

/// The quantiles in the table of points.
const QUANTILES: [TimeStatistic; 3] = [TimeStatistic::P50, TimeStatistic::P95, TimeStatistic::P99];

/// Maximum width of a line of the chart, in columns.
const PAGE_WIDTH: usize = 80;

/// Maximum width of a bar of a chart, in columns.
const WIDEST_BAR: usize = 40;

/// Minimum width of the longest bar, in columns. On a narrow page, labels are cut to make room for
/// it.
const SHORTEST_BAR: usize = 4;

/// Number of blanks in a line of the chart: before the label, the bar, the number and the rank.
const CHART_BLANKS: usize = 2 + 2 + 1 + 2;

/// Maximum width of the label of a point, in columns.
const LABEL_WIDTH: usize = 20;

/// Writes the results of a sweep.
pub(super) fn results(out: &mut AnswerText, view: &ExperimentView) {
    let Some(sweep) = &view.sweep else { return };
    for (arm, curve) in view.arms.iter().zip(&sweep.curves) {
        let of_arm = match view.arms.len() {
            1 => String::new(),
            _ => format!(" with {}", sentence::name_as_code(&arm.name)),
        };
        points(out, sweep, curve, &of_arm);
        components(out, curve);
        chart(out, sweep, curve);
        paragraph(out, "best", sweep::reservation(curve));
        paragraph(out, "not best", sweep::excluded_points(sweep, curve));
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
    let titles = ["", "requests/s", "p50", "p95", "p99"].map(|title| (title, Align::Right));
    let mut table = Table::new(titles).with_optional_columns(["p95", "p50"]);
    for point in &curve.points {
        let head = [Cell::from(label(&point.value)), completed_at(sweep, point)];
        let times = QUANTILES.map(|quantile| response_at(sweep, point, quantile));
        table.row(head.into_iter().chain(times));
    }
    out.table(&table);
}

/// Writes the verdict, the processor time and the limiter of each point.
fn components(out: &mut AnswerText, curve: &ArmCurve) {
    let owners = owners(&[curve]);
    let mut titles = vec![("", Align::Right), ("verdict", Align::Left)];
    titles.extend(owners.iter().map(|owner| (owner.name(), Align::Right)));
    titles.push(("limiter", Align::Left));
    let mut table = Table::new(titles);
    for point in &curve.points {
        let head = [Cell::from(label(&point.value)), Cell::from(sweep::verdict(point))];
        let cells = head.into_iter().chain(owners.iter().map(|owner| shares(point, *owner)));
        table.row(cells.chain([Cell::from(sweep::limiters(point))]));
    }
    let _ = writeln!(out);
    out.table(&table);
    if !owners.is_empty() {
        out.sentence(2, SHARES);
    }
}

/// Draws the metric that decides the best point, or the throughput, as a bar for each point.
fn chart(out: &mut AnswerText, sweep: &SweepView, curve: &ArmCurve) {
    let (title, values) = chart_values(sweep, curve);
    let highest = values.iter().flatten().copied().fold(0.0, f64::max);
    if highest <= 0.0 {
        return;
    }
    let number = |value: &Option<f64>| value.map(significant).unwrap_or_default();
    let numbers: Vec<String> = values.iter().map(number).collect();
    let ranks: Vec<&str> = (0..values.len()).map(|place| sweep::rank(curve, place)).collect();
    let around = CHART_BLANKS + widest(&numbers) + widest(&ranks);
    let page = PAGE_WIDTH.min(out.width());
    let longest_label = page.saturating_sub(around + SHORTEST_BAR);
    let labels = curve.points.iter().map(|point| cut_line(&label(&point.value), longest_label));
    let labels: Vec<String> = labels.collect();
    let label_width = widest(&labels);
    let room = WIDEST_BAR.min(page.saturating_sub(around + label_width));
    let _ = writeln!(out);
    out.sentence(0, &printable(&title));
    for (place, (label, value)) in labels.iter().zip(&values).enumerate() {
        let pad = " ".repeat(label_width - columns(label));
        let drawn = match value {
            Some(value) => {
                // A bar is drawn in eighths of a column, which are coarser than thousandths of the
                // longest bar.
                let thousandths = (value / highest * 1_000.0).round().max(1.0) as u64;
                format!("{} {}", bar(thousandths, 1_000, room), numbers[place])
            }
            None => NONE.to_owned(),
        };
        let line = format!("  {pad}{label}  {drawn}  {}", ranks[place]);
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// Returns the width of the widest text, in columns.
fn widest(texts: &[impl AsRef<str>]) -> usize {
    texts.iter().map(|text| columns(text.as_ref())).max().unwrap_or_default()
}

/// Returns the values of a chart with its title.
fn chart_values(sweep: &SweepView, curve: &ArmCurve) -> (String, Vec<Option<f64>>) {
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
    let mut table = Table::new([("", Align::Right)].into_iter().chain(MODEL_COLUMNS));
    for point in &model.points {
        let value = Cell::from(label(&sweep.values[point.point]));
        table.row([value].into_iter().chain(model_row(point)));
    }
    out.table(&table);
}

/// Writes the comparison of the declared metrics of the arms at each point.
fn comparisons(out: &mut AnswerText, view: &ExperimentView, sweep: &SweepView) {
    let compared = comparison_table(["", ""], comparison_rows(view, sweep));
    if !compared.is_empty() {
        let baseline = sentence::name_as_code(&view.arms[0].name);
        let title = format!("arms against {baseline} at each point");
        let _ = writeln!(out, "\n{}", printable(&title));
        out.table(&compared);
    }
    if has_undecided_change(sweep) {
        out.sentence(2, lines::UNDECIDED);
    }
    paragraph(out, "bet", bets::at_points(view));
}

/// Returns the label of a point: its value, cut to [`LABEL_WIDTH`] columns.
fn label(value: &str) -> String {
    cut_line(&printable(value), LABEL_WIDTH)
}

#[cfg(test)]
mod tests {
    use analyze::compare::{CpuShare, RunVerdict};
    use analyze::curve::{
        BestPoint, Interval, JobAtPoint, OtherPoint, PointMean, Ranking, Unusable,
    };
    use analyze::{CheckKind, Status};
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
            verdicts: vec![RunVerdict::new([(CheckKind::Drift, Status::Suspect)]); 3],
            limiters: vec![analyze::Component::DatabaseCpu],
            jobs: vec![JobAtPoint {
                job: "read".to_owned(),
                completed_per_s: Ok(mean(per_s)),
                over_time_per_s: Vec::new(),
                parts_s: Vec::new(),
                offered_per_s: None,
                response_ms: QUANTILES.map(|one| (one, Ok(mean(123.0)))).to_vec(),
            }],
            cpu: [CpuOwner::Generator, CpuOwner::Proxy, CpuOwner::Database].map(share).to_vec(),
        }
    }

    fn sweep() -> SweepView {
        let others = [(0, Ranking::Worse), (2, Ranking::Tie)];
        let other = |(point, ranking)| OtherPoint { point, change: None, interval: None, ranking };
        let values = ["1", "a value that is longer than its column", "3", "4"];
        let rates = [1_000.0, 20_000.0, 19_000.0];
        let points = values.iter().zip(rates).map(|(value, rate)| point(value, rate));
        let unmeasured = PointSummary { verdicts: Vec::new(), jobs: Vec::new(), ..point("4", 1.0) };
        let metric = RunMetric::parse("throughput(read)").unwrap();
        let curve = ArmCurve {
            points: points.chain([unmeasured]).collect(),
            best: Some(BestPoint {
                best: Some(1),
                others: others.map(other).to_vec(),
                unusable: vec![(3, Unusable::NoRun)],
                delta: 0.01,
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
    fn points_of_a_narrow_page_lose_quantiles_and_keep_the_highest() {
        let (sweep, mut out) = (sweep(), AnswerText::new(&Style { color: false, width: 60 }));
        points(&mut out, &sweep, &sweep.curves[0], "");
        let out = out.into_text();
        let is_wide = |line: &str| line.chars().count() > 60;
        assert!(out.contains("p99") && !out.contains("p95") && !out.lines().any(is_wide), "{out}");
    }

    #[test]
    fn chart_of_a_narrow_page_has_shorter_bars() {
        for width in [40, 60] {
            let (sweep, mut out) = (sweep(), AnswerText::new(&Style { color: false, width }));
            chart(&mut out, &sweep, &sweep.curves[0]);
            let out = out.into_text();
            let is_wide = |line: &str| line.chars().count() > width;
            assert!(out.contains("████ 20,000  best") && !out.lines().any(is_wide), "{out}");
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
        assert!(lines[2].ends_with("19,000  tie"), "{out}");
        assert!(lines[0].ends_with(" 1,000") && lines[3].ends_with(NONE), "{out}");
        assert_eq!((length(lines[0]) * 20).abs_diff(length(lines[1])) / 20, 0, "{out}");
        assert!(length(lines[2]) < length(lines[1]), "{out}");
    }

    /// Twelve wide characters take 24 columns of a terminal.
    #[test]
    fn label_of_wide_characters_has_twenty_columns_at_most() {
        assert_eq!(label("shop"), "shop");
        assert_eq!(label(&"日".repeat(12)), format!("{}…", "日".repeat(9)));
        assert_eq!(label(&"x".repeat(21)), format!("{}…", "x".repeat(19)));
    }
}
