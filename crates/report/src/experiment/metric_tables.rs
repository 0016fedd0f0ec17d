//! Tables of a comparison: the metrics of an arm, and the pairs behind the first metric. The short
//! text has only the metrics; the page and the full text have both.

use std::iter::repeat_n;

use analyze::Status;
use analyze::compare::{ArmComparison, MetricChange, NotCompared, Pair, PairOrder, RunVerdict};
use workload::question::{Quantity, Scale};

use super::cells::change_cell;
use super::view::ArmView;
use super::{lines, sentence, shown_changes};
use crate::page::{self, Align, Cell, Datum, FRACTION, Table};

/// Title of the column of intervals.
pub(super) const INTERVAL: &str = "interval";

/// Title of the column of conclusions in text: empty, because text has no room for one.
pub(super) const CONCLUSION: &str = "";

/// The titles of a table of metrics, apart from the names of the arms.
const TITLES: [&str; 3] = ["metric", "change", INTERVAL];

/// Maximum length of the name of an arm as the title of a column, in characters.
const LONGEST_TITLE: usize = 16;

/// A form of the tables of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricForm {
    /// Page: columns are named after the arms. If a metric is not compared, a cell gives the
    /// reason. The comparisons of a sweep have such cells in text, too.
    Page,
    /// Full text: reasons are notes below the table, and so are conclusions that do not fit.
    FullText,
    /// Short text: reasons are notes below the table, and values have short units.
    ShortText,
}

impl MetricForm {
    fn value(self) -> fn(f64, &str) -> String {
        match self {
            MetricForm::Page | MetricForm::FullText => sentence::value,
            MetricForm::ShortText => sentence::short_value,
        }
    }

    /// Returns the columns that are dropped if the page is narrow. The first one is dropped first;
    /// `values` are the titles of the two columns of values. A full text then states the
    /// conclusions in a note below the table. A short text has few metrics, and states their
    /// intervals in its answer.
    fn optional(self, values: &[String; 2]) -> Vec<String> {
        let [baseline, value] = values.clone();
        let interval = INTERVAL.to_owned();
        match self {
            MetricForm::Page => Vec::new(),
            MetricForm::FullText => vec![CONCLUSION.to_owned(), baseline, value, interval],
            MetricForm::ShortText => vec![interval, baseline, value],
        }
    }
}

/// Returns the metrics of an arm.
pub(super) fn metrics(arms: &[ArmView], arm: &ArmComparison, form: MetricForm) -> Table {
    let names = [arm.baseline, arm.arm].map(|of| arms[of.index()].name.clone());
    let titles = match form {
        MetricForm::Page => names,
        MetricForm::FullText | MetricForm::ShortText => titles_of_values(names),
    };
    let mut table = without_rows(titles, false, form);
    let shown: Vec<&MetricChange> = shown_changes::table_changes(arm).collect();
    for change in &shown {
        table.row(cells(change, &shown, form));
    }
    table
}

/// Returns a table of metrics without rows; `has_arms` adds a column with the arm of each metric.
pub(super) fn without_rows(titles: [String; 2], has_arms: bool, form: MetricForm) -> Table {
    let optional = form.optional(&titles);
    let [metric, change, interval] = TITLES.map(str::to_owned);
    let [baseline, value] = titles;
    let mut columns = vec![(metric, Align::Left)];
    columns.extend(has_arms.then(|| ("arm".to_owned(), Align::Left)));
    let numbers = [baseline, value, change, interval];
    columns.extend(numbers.map(|title| (title, Align::Right)));
    let conclusion = match form {
        MetricForm::Page => "conclusion",
        MetricForm::FullText | MetricForm::ShortText => CONCLUSION,
    };
    columns.push((conclusion.to_owned(), Align::Left));
    let before = if has_arms { 4 } else { 3 };
    let [change, interval] = change_cells();
    let values = repeat_n(Cell::Empty, before).chain([change, interval]);
    Table::new(columns).with_values_of(values).with_optional_columns(optional)
}

/// Returns the titles of the columns of values: the names of the arms if both are short and differ
/// from the other titles; otherwise `baseline` and `value`.
pub(super) fn titles_of_values(names: [String; 2]) -> [String; 2] {
    let is_title =
        |name: &String| name.chars().count() <= LONGEST_TITLE && !TITLES.contains(&name.as_str());
    match names.iter().all(is_title) {
        true => names,
        false => ["baseline", "value"].map(str::to_owned),
    }
}

/// Returns the cells of a metric: its name, both values, the change, its interval and the
/// conclusion. `among` are all metrics of the table. In text, a reason not to compare the metric is
/// a note.
pub(super) fn cells(change: &MetricChange, among: &[&MetricChange], form: MetricForm) -> [Cell; 6] {
    let [metric, baseline, own, size, interval, conclusion] = lines::row_with(change, form.value());
    let conclusion = match (form, &change.compared) {
        (MetricForm::Page, _) | (_, Ok(_)) => conclusion,
        (MetricForm::FullText | MetricForm::ShortText, Err(_)) => String::new(),
    };
    let short = |format: fn(f64, &str) -> String| {
        let values = change.compared.as_ref().ok();
        values.map(|compared| sentence::values(compared, &change.metric, format))
    };
    let [short_baseline, _] = short(sentence::bare_value).unwrap_or_default();
    let [_, short_own] = short(sentence::short_value).unwrap_or_default();
    let mark = if change.is_exploratory { " *" } else { "" };
    let short_metric = short_name(&change.metric.to_string(), names_subject(change, among)) + mark;
    let range = change.compared.as_ref().ok().and_then(|compared| compared.interval);
    let short_interval =
        range.and_then(|it| sentence::short_range(it, change.metric.quantity.scale()));
    let [baseline_data, own_data, size_data, interval_data] = value_data(change);
    [
        Cell::abbreviated(metric, short_metric).with_data(name_data(change)),
        Cell::abbreviated(baseline, short_baseline).with_data(baseline_data),
        Cell::abbreviated(own, short_own).with_data(own_data),
        Cell::from(size).with_data(size_data),
        Cell::abbreviated(interval, short_interval.unwrap_or_default()).with_data(interval_data),
        Cell::from(conclusion),
    ]
}

/// Returns an empty change cell and an empty interval cell, with the data columns that these cells
/// have in an exported file.
pub(super) fn change_cells() -> [Cell; 2] {
    let interval = Datum::interval([0.0; 2], FRACTION);
    [Cell::Empty.with_data([Datum::number("", 0.0, FRACTION)]), Cell::Empty.with_data(interval)]
}

/// Returns the name of a metric and its `exploratory` flag, for exported files.
fn name_data(change: &MetricChange) -> [Datum; 2] {
    let is_exploratory = if change.is_exploratory { "yes" } else { "no" };
    [Datum::text("", change.metric.to_string()), Datum::text("exploratory", is_exploratory)]
}

/// Returns both values of a metric, the change and the ends of its interval, for exported files;
/// without numbers if the metric is not compared.
fn value_data(change: &MetricChange) -> [Vec<Datum>; 4] {
    let unit = unit_of(change.metric.quantity);
    let value = |number: f64| vec![Datum::number("", number, unit)];
    let Ok(compared) = &change.compared else {
        return [value(f64::NAN), value(f64::NAN), Vec::new(), Vec::new()];
    };
    let [baseline, own] = sentence::means(compared, &change.metric);
    let size = Datum::number("", compared.change, FRACTION);
    let interval = compared.interval.map(|it| Datum::interval([it.low, it.high], FRACTION));
    let interval = interval.into_iter().flatten().collect();
    [value(baseline), value(own), vec![size], interval]
}

/// Returns the name of the unit of a metric, for exported files.
fn unit_of(quantity: Quantity) -> &'static str {
    match quantity.unit() {
        "" => FRACTION,
        unit => unit,
    }
}

/// Returns true if the short name of a metric needs the name of its job, because `among` has a
/// metric of a different job; likewise for tables.
fn names_subject(change: &MetricChange, among: &[&MetricChange]) -> bool {
    let own = &change.metric;
    among.iter().any(|other| {
        other.metric.quantity.subject() == own.quantity.subject() && other.metric.of != own.of
    })
}

/// Returns the name of a metric for a narrow page: `p99` for `response.p99(read)`.
pub(super) fn short_name(metric: &str, names_subject: bool) -> String {
    let short = metric.strip_prefix("response.").unwrap_or(metric);
    match short.split_once('(') {
        Some((quantity, _)) if !names_subject => quantity.to_owned(),
        _ => short.to_owned(),
    }
}

/// Returns the conclusions about the declared metrics as a note: `throughput(read) worse`; `None`
/// if no declared metric was compared.
pub(super) fn conclusions(arm: &ArmComparison) -> Option<String> {
    let declared = shown_changes::table_changes(arm).filter(|change| !change.is_exploratory);
    let concluded = declared.filter_map(|change| {
        let compared = change.compared.as_ref().ok()?;
        Some(format!("{} {}", change.metric, compared.conclusion.name()))
    });
    let concluded: Vec<String> = concluded.collect();
    (!concluded.is_empty()).then(|| format!("conclusions: {}", concluded.join("; ")))
}

/// Returns notes with the reasons why some metrics are not compared, one note for each reason. A
/// note names the arm of each metric for which the arm is given.
pub(super) fn reasons<'c>(
    changes: impl IntoIterator<Item = (Option<&'c str>, &'c MetricChange)>,
) -> Vec<String> {
    let mut reasons: Vec<(NotCompared, Vec<String>)> = Vec::new();
    for (arm, change) in changes {
        let Err(reason) = change.compared else { continue };
        let name = match arm {
            Some(arm) => format!("{} of {arm}", change.metric),
            None => change.metric.to_string(),
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    let note = |(reason, names): (NotCompared, Vec<String>)| {
        format!("{}: {}", names.join(", "), sentence::not_compared(reason))
    };
    reasons.into_iter().map(note).collect()
}

/// The pairs behind the first metric of an arm.
pub(super) struct PairTable {
    /// Name of the metric.
    pub(super) metric: String,
    /// Unit of the values; empty if each value is written with its own unit.
    pub(super) unit: &'static str,
    /// A row for each pair.
    pub(super) table: Table,
    /// The Hodges-Lehmann estimate of the change.
    pub(super) estimate: String,
}

/// Returns the pairs of the first metric; `None` if the runs were not interleaved, or if this
/// metric was not compared.
pub(super) fn pairs(arms: &[ArmView], arm: &ArmComparison, form: MetricForm) -> Option<PairTable> {
    let change = arm.changes.first()?;
    let compared = change.compared.as_ref().ok()?;
    let pairs = compared.values.pairs();
    if pairs.is_empty() {
        return None;
    }
    let names = [arm.baseline, arm.arm].map(|of| arms[of.index()].name.clone());
    let titles = match form {
        MetricForm::Page => names.clone(),
        MetricForm::FullText | MetricForm::ShortText => titles_of_values(names.clone()),
    };
    let [baseline, value] = titles.map(|title| (title, Align::Right));
    let [pair, change_title] = ["pair", "change"].map(|title| (title.to_owned(), Align::Right));
    let first = ("first".to_owned(), Align::Left);
    let verdict = ("verdict".to_owned(), Align::Left);
    let mut table = Table::new([pair, baseline, value, change_title, first, verdict])
        .with_optional_columns(["first"]);
    let quantity = change.metric.quantity;
    for ((number, pair), verdicts) in (1u64..).zip(pairs).zip(&arm.verdicts) {
        let value = |it: f64| {
            Cell::formatted(sentence::bare_value(it, quantity.unit()), it, unit_of(quantity))
        };
        let name = match pair.order {
            PairOrder::BaselineFirst => &names[0],
            PairOrder::ArmFirst => &names[1],
        };
        let (first, second) = (value(pair.baseline), value(pair.arm));
        let number = Cell::from(page::Quantity::Count(number));
        let difference = change_cell(difference(pair, quantity.scale()), quantity.scale());
        let verdict = Cell::from(gravest(verdicts).verdict());
        table.row([number, first, second, difference, Cell::from(name.as_str()), verdict]);
    }
    let unit = match quantity.unit() {
        "bytes" => "",
        unit => unit,
    };
    let estimate = sentence::signed(compared.hodges_lehmann, quantity.scale());
    Some(PairTable { metric: change.metric.to_string(), unit, table, estimate })
}

/// Returns the graver verdict of the two runs of a pair.
pub(super) fn gravest(verdicts: &[RunVerdict; 2]) -> Status {
    let [baseline, arm] = verdicts.each_ref().map(RunVerdict::status);
    baseline.max(arm)
}

/// Returns the change within a pair.
fn difference(pair: &Pair, scale: Scale) -> f64 {
    match scale {
        Scale::Ratio => pair.arm / pair.baseline - 1.0,
        Scale::Difference => pair.arm - pair.baseline,
    }
}

#[cfg(test)]
mod tests {
    use analyze::compare::{Missing, SampleValues};
    use workload::question::RunMetric;

    use super::super::fixtures::{comparison, experiment};
    use super::super::html::experiment_html;
    use super::super::text::answer_text;
    use super::super::view::ExperimentView;
    use super::*;
    use crate::html::table_csv;
    use crate::text::Style;

    const METRICS: [&str; 10] = [
        "throughput(read)",
        "response.p50(read)",
        "response.p99_9(read)",
        "service.p99_9(read)",
        "rows(read)",
        "failed(read)",
        "cpu.generator",
        "cpu.database.system",
        "load(terrain_points)",
        "size(terrain_points)",
    ];

    /// Returns an experiment that compares these metrics; the first two are declared. The values
    /// and intervals are as wide as they usually are.
    fn with_metrics(metrics: &[&str]) -> ExperimentView {
        let mut comparison = comparison(-0.1);
        let first = comparison.arms[0].changes[0].clone();
        let change = |(place, metric): (usize, &&str)| {
            let mut change = first.clone();
            change.metric = RunMetric::parse(metric).unwrap();
            change.is_exploratory = place > 1;
            let compared = change.compared.as_mut().unwrap();
            compared.interval = Some(analyze::compare::ChangeInterval { low: -0.138, high: 0.126 });
            let SampleValues::Pairs(pairs) = &mut compared.values else { panic!("pairs") };
            let factor = match change.metric.quantity {
                Quantity::Throughput | Quantity::Rows | Quantity::Load => 8_855.0,
                Quantity::Service(_) => 1.5,
                _ => 1.68,
            };
            for pair in pairs {
                (pair.baseline, pair.arm) = (pair.baseline * factor, pair.arm * factor);
            }
            change
        };
        comparison.arms[0].changes = metrics.iter().enumerate().map(change).collect();
        ExperimentView { comparison: Some(comparison), ..experiment() }
    }

    fn text(view: &ExperimentView, width: usize) -> String {
        answer_text(view, &Style { color: false, width })
    }

    #[track_caller]
    fn check_fits(view: &ExperimentView, width: usize) -> String {
        let shown = text(view, width);
        let commands = ["command  ", "repeat  ", "record  ", "why  "];
        let lines = shown.lines().filter(|line| !commands.iter().any(|it| line.starts_with(it)));
        let widest = lines.map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width, "{widest}: {shown}");
        shown
    }

    #[test]
    fn metrics_of_a_full_text_fit_a_terminal_and_lose_no_interval() {
        let view = with_metrics(&METRICS);
        for width in [80, 100] {
            let shown = check_fits(&view, width);
            for metric in METRICS {
                let name = RunMetric::parse(metric).unwrap().quantity.name();
                let name = name.strip_prefix("response.").unwrap_or(name);
                assert!(shown.contains(name), "{name}: {shown}");
            }
            assert_eq!(shown.matches("−13.8 … +12.6").count(), METRICS.len(), "{shown}");
            assert!(
                shown.contains("  conclusions: throughput(read) worse; ") || width > 80,
                "{shown}"
            );
        }
        for width in [40, 60] {
            check_fits(&view, width);
        }
    }

    #[test]
    fn metrics_of_two_jobs_keep_their_names_on_a_narrow_page() {
        let view = with_metrics(&["throughput(read)", "throughput(write)", "cpu.generator"]);
        let narrow = text(&view, 50);
        for name in ["  throughput(read) ", "  throughput(write) ", "  cpu.generator * "] {
            assert!(narrow.contains(name), "{name}: {narrow}");
        }
    }

    #[test]
    fn long_names_of_arms_are_in_the_heading_of_their_tables() {
        let mut view = with_metrics(&METRICS);
        view.arms[1].name = "an arm with a long name".to_owned();
        let whole = text(&view, usize::MAX);
        let heading = "\nmetrics of `an arm with a long name` against `plain`\n";
        assert!(whole.contains(heading), "{whole}");
        assert!(!text(&with_metrics(&METRICS), usize::MAX).contains("metrics of "));
        assert!(
            experiment_html(&view).contains("<th scope=\"col\" class=\"number\">an arm with a")
        );
    }

    #[test]
    fn reason_not_to_compare_is_a_note_of_the_text_and_a_cell_of_the_page() {
        let mut view = with_metrics(&METRICS);
        let reason = NotCompared::Missing(Missing::OfferedRate);
        view.comparison.as_mut().unwrap().arms[0].changes[1].compared = Err(reason);
        let note = "\n  response.p50(read): it is the rate that is offered\n";
        assert!(text(&view, 80).contains(note), "{}", text(&view, 80));
        let page = experiment_html(&view);
        assert!(page.contains("<bdi>it is the rate that is offered</bdi></td>"), "{page}");
    }

    #[test]
    fn file_of_metrics_has_plain_numbers_with_their_units() {
        let mut view = with_metrics(&["throughput(read)", "response.p99_9(read)", "failed(read)"]);
        let arms = &mut view.comparison.as_mut().unwrap().arms;
        arms[0].changes[1].compared = Err(NotCompared::Missing(Missing::ExceedsCapacity));
        let file = table_csv(&metrics(&view.arms, &arms[0], MetricForm::Page));
        let rows: Vec<Vec<&str>> = file.lines().map(|line| line.split(',').collect()).collect();
        let titles = "metric,metric exploratory,plain,plain unit,tls,tls unit,change (fraction),\
                      interval from (fraction),interval to (fraction),conclusion";
        assert_eq!(rows[0].join(","), titles);
        assert_eq!(rows[1][..2], ["throughput(read)", "no"]);
        assert_eq!([rows[1][3], rows[1][5]], ["requests/s"; 2]);
        assert_eq!(rows[1][6..], ["-0.1", "-0.138", "0.126", "worse"]);
        for (value, expected) in [(rows[1][2], 885_500.0), (rows[3][2], 100.0)] {
            let value: f64 = value.parse().unwrap();
            assert!((value / expected - 1.0).abs() < 1e-9, "{value}: {file}");
        }
        let none = ["response.p99_9(read)", "no", "", "ms", "", "ms", "", "", ""];
        assert_eq!(rows[2][..9], none, "{file}");
        assert_eq!((rows[3][1], rows[3][3]), ("yes", "fraction"));
        for change in &mut arms[0].changes {
            change.compared = Err(NotCompared::Missing(Missing::ExceedsCapacity));
        }
        let refused = table_csv(&metrics(&view.arms, &arms[0], MetricForm::Page));
        assert_eq!(refused.lines().next(), Some(titles));
    }

    #[test]
    fn file_of_pairs_has_the_unit_in_its_titles() {
        let view = with_metrics(&["response.p50(read)"]);
        let arm = &view.comparison.as_ref().unwrap().arms[0];
        let table = pairs(&view.arms, arm, MetricForm::Page).unwrap().table;
        let file = table_csv(&table);
        let mut lines = file.lines();
        assert_eq!(lines.next(), Some("pair,plain (ms),tls (ms),change (fraction),first,verdict"));
        let first: Vec<&str> = lines.next().unwrap().split(',').collect();
        assert_eq!([first[0], first[1], first[4], first[5]], ["1", "168", "plain", "VALID"]);
        let change: f64 = first[3].parse().unwrap();
        assert!((change + 0.102).abs() < 1e-9, "{file}");
    }

    #[test]
    fn pairs_have_the_unit_of_their_values() {
        let view = with_metrics(&["response.p50(read)"]);
        let shown = text(&view, 80);
        assert!(shown.contains("\npairs of response.p50(read), in ms\n"), "{shown}");
        assert!(shown.contains("\n  pair  plain  tls   change  first  verdict\n"), "{shown}");
        assert!(experiment_html(&view).contains(">Pairs of response.p50(read): in ms <a"));
        let failed = text(&with_metrics(&["failed(read)"]), 80);
        assert!(failed.contains("\npairs of failed(read)\n") && failed.contains("  16,800 %  "));
    }

    #[test]
    fn short_name_keeps_the_job_if_there_are_several() {
        assert_eq!(short_name("response.p99(read)", false), "p99");
        assert_eq!(short_name("response.p99(read)", true), "p99(read)");
        assert_eq!(short_name("service.p99(read)", false), "service.p99");
        assert_eq!(short_name("throughput", false), "throughput");
    }
}
