//! The report of a history for people.

use analyze::history::{FEWEST_VALUES, MachineShift, MetricChange, MetricHistory};
use workload::question::Scale;

use super::view::{HistoryView, SeriesChange, SeriesView};
use crate::difference::shorten_pair;
use crate::experiment::{interval, signed_change, value};
use crate::number::{NONE, count, significant};
use crate::page::{Align, Cell, Line, Table, Tone};
use crate::sparkline::{SparklineBottom, sparkline};
use crate::text::{Canvas, Style, one_line};

/// Maximum width of a page, in columns: the width of an ordinary terminal.
const WIDEST: usize = 80;

/// Maximum width of a sparkline, in columns.
const WIDEST_SPARKLINE: usize = 24;

/// Maximum number of labels that a series shows: the newest ones.
const MOST_LABELS: usize = 12;

/// Maximum number of INVALID records that a series names: the newest ones.
const MOST_LEFT_OUT: usize = 8;

/// Formats a history: the number of changes first, then each series with its metrics and changes.
pub fn history_text(view: &HistoryView, style: &Style) -> String {
    let mut canvas = Canvas::new(Style { width: style.width.min(WIDEST), ..*style });
    let changes: usize = view.series.iter().map(|series| series.changes.len()).sum();
    let tone = if changes == 0 { Tone::Good } else { Tone::Doubtful };
    let lead = match changes {
        0 => "No change".to_owned(),
        some => count(some as u64, "change"),
    };
    let records = count(view.records() as u64, "record");
    let series = match view.series.len() {
        1 => "1 series".to_owned(),
        some => format!("{some} series"),
    };
    canvas.sentence(tone, &lead, &format!(" in {records} of {series} in {}", view.folder));
    if let Some((within, recent)) = view.fail_within.zip(view.recent_changes()) {
        let tone = if recent == 0 { Tone::Good } else { Tone::Doubtful };
        let lead = match recent {
            0 => "No recent change".to_owned(),
            some => count(some as u64, "recent change"),
        };
        let rest = format!(", within the newest {within} values of a metric");
        canvas.sentence(tone, &lead, &rest);
    }
    let skipped = view.skipped.iter().map(|file| {
        let details = if file.details.is_empty() { "" } else { ": " };
        let reason = file.reason.replace('-', " ");
        Line::new("skipped", format!("{}: {reason}{details}{}", file.file, file.details))
    });
    canvas.lines(0, &skipped.collect::<Vec<Line>>());
    view.series.iter().for_each(|series| write_series(&mut canvas, series));
    canvas.into_text()
}

fn write_series(canvas: &mut Canvas, series: &SeriesView) {
    canvas.gap();
    let servers = match series.servers.is_empty() {
        true => String::new(),
        false => format!(" on {}", series.servers.join(", ")),
    };
    let arm = series.arm.as_ref().map(|arm| format!(", arm {}", arm.name)).unwrap_or_default();
    let point = series.point.as_ref().map(|point| format!(", {} = {}", point.vary, point.value));
    let records = count(series.records.len() as u64, "record");
    let lead = format!("{}{servers}{arm}{}", series.workload, point.unwrap_or_default());
    canvas.sentence(Tone::Strong, &lead, &format!(": {records}{}", days(series)));
    canvas.lines(2, &remarks(series));
    let values = series.metrics.iter().map(|metric| metric.points.len()).max().unwrap_or(0);
    if values < FEWEST_VALUES {
        let values = count(values as u64, "value");
        let few = format!("{values}; a change can be found in {FEWEST_VALUES} or more");
        canvas.lines(2, &[Line::new("too few", few)]);
    }
    canvas.part(&metrics(series));
    series.changes.iter().for_each(|change| write_change(canvas, series, change));
}

/// Returns the days of the first and the last record.
fn days(series: &SeriesView) -> String {
    let day = |record: Option<&super::RecordView>| {
        record.and_then(super::RecordView::day).map(str::to_owned)
    };
    match (day(series.records.first()), day(series.records.last())) {
        (Some(first), Some(last)) if first != last => format!(", {first} … {last}"),
        (Some(first), _) => format!(", {first}"),
        (None, _) => String::new(),
    }
}

fn remarks(series: &SeriesView) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(arm) = series.arm.as_ref().filter(|arm| !arm.differences.is_empty()) {
        let pairs = arm.differences.iter().map(|(key, value)| format!("{key} = {value}"));
        lines.push(Line::new("arm", pairs.collect::<Vec<String>>().join("; ")));
    }
    if let Some(difference) = &series.difference {
        lines.push(Line::new("differs", one_line(difference)));
    }
    lines.extend(labels(series));
    let left_out: Vec<String> = series.left_out().map(super::RecordView::name).collect();
    if !left_out.is_empty() {
        let number = count(left_out.len() as u64, "INVALID record");
        let newest = &left_out[left_out.len().saturating_sub(MOST_LEFT_OUT)..];
        let which = if newest.len() < left_out.len() { ", the newest" } else { "" };
        lines.push(Line::new("left out", format!("{number}{which}: {}", newest.join(", "))));
    }
    lines
}

/// Returns the labels of the records in the order of time, with equal adjacent labels counted
/// together; `None` if no record has a label. A record without a label is named by its file.
fn labels(series: &SeriesView) -> Option<Line> {
    series.records.iter().find(|record| record.label.is_some())?;
    let mut groups: Vec<(&str, u64)> = Vec::new();
    for record in &series.records {
        let name = record.label.as_deref().unwrap_or(&record.file);
        match groups.last_mut() {
            Some((last, records)) if *last == name => *records += 1,
            _ => groups.push((name, 1)),
        }
    }
    let newest = groups.split_off(groups.len().saturating_sub(MOST_LABELS));
    let earlier: u64 = groups.iter().map(|(_, records)| records).sum();
    let earlier = (earlier > 0).then(|| count(earlier, "earlier record"));
    let named = newest.into_iter().map(|(name, records)| match records {
        1 => name.to_owned(),
        more => format!("{name} ({})", count(more, "record")),
    });
    let all: Vec<String> = earlier.into_iter().chain(named).collect();
    Some(Line::new("labels", all.join(", ")))
}

/// Returns the table of the metrics, with a sparkline for each.
fn metrics(series: &SeriesView) -> Table {
    let mut table = Table::new([
        ("metric", Align::Left),
        ("values", Align::Right),
        ("newest", Align::Right),
        ("changes", Align::Right),
        ("", Align::Left),
    ])
    .with_optional_columns(["values", "changes"]);
    for history in &series.metrics {
        let unit = history.metric.unit();
        let newest = history.points.last().map(|(_, newest)| value(*newest, unit));
        let values: Vec<f64> = history.points.iter().map(|(_, value)| *value).collect();
        table.row([
            Cell::Text(history.metric.to_string()),
            Cell::Text(values.len().to_string()),
            Cell::Text(newest.unwrap_or_else(|| NONE.to_owned())),
            Cell::Text(history.changes.len().to_string()),
            Cell::Text(sparkline(&values, SparklineBottom::Least, WIDEST_SPARKLINE)),
        ]);
    }
    table
}

fn write_change(canvas: &mut Canvas, series: &SeriesView, change: &SeriesChange) {
    canvas.gap();
    let [before, after] = [change.before, change.after].map(|record| &series.records[record]);
    let day = after.day().map(|day| format!(", {day}")).unwrap_or_default();
    let rest = format!(" after {}, in {}{day}", before.name(), after.name());
    canvas.sentence(Tone::Doubtful, "Change", &rest);
    let changed: Vec<(&MetricHistory, &MetricChange)> = series.metrics_of(change).collect();
    canvas.table(&changes_table(&changed));
    let mut lines = Vec::new();
    if let Some(shift) = changed.iter().find_map(|(_, change)| change.machine) {
        lines.push(Line::new("canary", canary(&shift)));
    }
    let fact = |fact: &super::FactChange| {
        let values = fact.values.each_ref().map(|value| Some(value.as_str()));
        let [before, after] = shorten_pair(values).map(Option::unwrap_or_default);
        Line::new("differs", format!("{}: {before} → {after}", fact.name))
    };
    lines.extend(change.differences.iter().map(fact));
    canvas.lines(2, &lines);
}

/// Returns the table of the changes of metrics.
fn changes_table(changed: &[(&MetricHistory, &MetricChange)]) -> Table {
    let has_cause = changed.iter().any(|(_, change)| change.machine.is_some());
    let numbers = ["before", "after", "change", "95 % interval", "p"];
    let titles = [("metric", Align::Left)]
        .into_iter()
        .chain(numbers.map(|title| (title, Align::Right)))
        .chain(has_cause.then_some(("cause", Align::Left)));
    let mut table = Table::new(titles).with_optional_columns(["before", "after", "p"]);
    for (history, change) in changed {
        let metric = &history.metric;
        let scale = metric.scale();
        let mean = |mean: f64| match scale {
            Scale::Ratio => significant(mean),
            Scale::Difference => value(mean, metric.unit()),
        };
        let range = change.interval.map(|it| interval(it, scale));
        let cause = change.machine.map_or(NONE, |shift| shift.cause.name());
        let cells = [
            metric.to_string(),
            mean(change.mean_before),
            mean(change.mean_after),
            signed_change(change.change, scale),
            range.unwrap_or_else(|| NONE.to_owned()),
            format!("{:.3}", change.p_value),
        ];
        let cells = cells.into_iter().chain(has_cause.then(|| cause.to_owned()));
        table.row(cells.map(Cell::Text));
    }
    table
}

/// Returns the sentence about a change of the machine that the canaries show.
fn canary(shift: &MachineShift) -> String {
    let change = signed_change(shift.change, Scale::Ratio);
    let interval = shift.interval.map(|it| format!(" ({})", interval(it, Scale::Ratio)));
    format!("{change}{} per request to the null server", interval.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use analyze::compare::ChangeInterval;
    use analyze::history::{Cause, ExclusionReason, HistoryMetric};
    use analyze::{CheckKind, Status};
    use workload::question::RunMetric;

    use super::*;
    use crate::history::{FactChange, RecordView, SeriesArm, SeriesPoint, SeriesView};

    fn record(number: usize) -> RecordView {
        RecordView {
            file: format!("{number:02}.assay"),
            label: None,
            index: number,
            started: Some(format!("2026-11-{:02}T03:00:00Z", number + 1)),
            verdict: Status::Pass,
            left_out: None,
            canary_ns: Some(300.0),
        }
    }

    /// Returns twelve records whose throughput falls by a tenth in the seventh record.
    fn series(cause: Cause) -> SeriesView {
        let interval = ChangeInterval { low: -0.112, high: -0.091 };
        let change = MetricChange {
            before: 5,
            after: 6,
            mean_before: 12_003.0,
            mean_after: 10_799.0,
            change: -0.1003,
            interval: Some(interval),
            p_value: 0.004,
            machine: Some(MachineShift { change: 0.002, interval: Some(interval), cause }),
        };
        let throughput = |number: usize| if number < 6 { 12_003.0 } else { 10_799.0 };
        let values = vec!["PostgreSQL 18.1".to_owned(), "x".repeat(70)];
        SeriesView {
            workload: "read.ini".to_owned(),
            servers: vec!["postgres://db1/shop".to_owned()],
            arm: None,
            point: None,
            difference: None,
            records: (0..12).map(record).collect(),
            metrics: vec![MetricHistory {
                metric: HistoryMetric::Run(RunMetric::parse("throughput(read)").unwrap()),
                points: (0..12).map(|number| (number, throughput(number))).collect(),
                changes: vec![change],
            }],
            changes: vec![SeriesChange {
                before: 5,
                after: 6,
                metrics: vec![0],
                differences: vec![FactChange {
                    kind: "environment",
                    name: "server".to_owned(),
                    values: values.try_into().unwrap(),
                }],
            }],
        }
    }

    fn view(series: Vec<SeriesView>) -> HistoryView {
        let folder = "nightly".to_owned();
        HistoryView { folder, skipped: Vec::new(), series, fail_within: None }
    }

    fn text(cause: Cause) -> String {
        history_text(&view(vec![series(cause)]), &Style::PLAIN)
    }

    #[test]
    fn recent_changes_are_counted_if_they_fail_the_command() {
        let shown = |within| {
            let fail_within = Some(within);
            let view = HistoryView { fail_within, ..view(vec![series(Cause::Unclear)]) };
            history_text(&view, &Style::PLAIN).lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(shown(6), "1 recent change, within the newest 6 values of a metric");
        assert_eq!(shown(5), "No recent change, within the newest 5 values of a metric");
    }

    #[test]
    fn change_names_records_sizes_canary_and_facts_on_eighty_columns() {
        let text = text(Cause::Database);
        for words in [
            "1 change in 12 records of 1 series in nightly\n",
            "read.ini on postgres://db1/shop: 12 records, 2026-11-01 … 2026-11-12\n",
            "  throughput(read)      12  10,799 requests/s        1  ██████▁▁▁▁▁▁\n",
            "Change after 05.assay, in 06.assay, 2026-11-07\n",
            "  throughput(read)  12,003  10,799  −10.0 %  −11.2 … −9.10 %  0.004  database\n",
            "  canary   +0.20 % (−11.2 … −9.10 %) per request to the null server\n",
            "  differs  server: PostgreSQL 18.1 →\n",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(self::text(Cause::Machine).contains("0.004  machine\n"));
    }

    #[test]
    fn labels_are_listed_in_the_order_of_time() {
        let listed = |labels: &[Option<&str>]| {
            let mut labelled = series(Cause::Unclear);
            for (record, label) in labelled.records.iter_mut().zip(labels) {
                record.label = label.map(str::to_owned);
            }
            let series = vec![labelled];
            let view = view(series);
            let text = history_text(&view, &Style::PLAIN);
            let line = text.lines().find(|line| line.starts_with("  labels  "));
            line.map(str::to_owned).unwrap_or_default()
        };
        assert_eq!(listed(&[]), "");
        let mut labels = [Some("v2"); 12];
        labels[..3].fill(Some("v1"));
        assert_eq!(listed(&labels), "  labels  v1 (3 records), v2 (9 records)");
        labels[3] = None;
        assert_eq!(listed(&labels), "  labels  v1 (3 records), 03.assay, v2 (8 records)");
    }

    #[test]
    fn newest_labels_are_listed() {
        let mut long = series(Cause::Unclear);
        let labelled =
            |number: usize| RecordView { label: Some(format!("v{number}")), ..record(number) };
        long.records = (0..MOST_LABELS + 3).map(labelled).collect();
        let line = labels(&long).unwrap().text;
        assert!(line.starts_with("3 earlier records, v3, v4, "), "{line}");
        assert!(line.ends_with(", v14"), "{line}");
    }

    #[test]
    fn newest_records_that_are_left_out_are_named() {
        let listed = |records: usize| {
            let invalid = |number: usize| {
                let left_out = Some(ExclusionReason::Invalid(vec![CheckKind::SendLag]));
                RecordView { left_out, ..record(number) }
            };
            let mut series = series(Cause::Unclear);
            series.records = (0..records).map(invalid).collect();
            let lines = remarks(&series);
            lines.iter().find(|line| line.label == "left out").unwrap().text.clone()
        };
        assert_eq!(listed(2), "2 INVALID records: 00.assay, 01.assay");
        let many = listed(300);
        assert!(many.starts_with("300 INVALID records, the newest: 292.assay, "), "{many}");
        assert!(many.ends_with(", 299.assay"), "{many}");
    }

    #[test]
    fn short_series_says_how_many_values_it_needs() {
        let check = |values: usize, words: &str| {
            let mut short = series(Cause::Unclear);
            short.records.truncate(values);
            short.metrics[0].points.truncate(values);
            short.metrics[0].changes.clear();
            short.changes.clear();
            let view = view(vec![short]);
            let text = history_text(&view, &Style::PLAIN);
            assert!(text.contains(&format!("  too few  {words}\n")), "{text}");
            assert!(text.starts_with(&format!("No change in {values} record")), "{text}");
        };
        check(5, "5 values; a change can be found in 12 or more");
        check(1, "1 value; a change can be found in 12 or more");
    }

    #[test]
    fn points_of_a_sweep_are_named_and_their_records_counted_once() {
        let at_point = |value: &str| {
            let arm = SeriesArm { name: "tls".to_owned(), differences: Vec::new() };
            let (vary, value) = ("concurrency(read)".to_owned(), value.to_owned());
            let point = Some(SeriesPoint { vary, value });
            SeriesView { arm: Some(arm), point, ..series(Cause::Unclear) }
        };
        let series = vec![at_point("2"), at_point("16")];
        let view = view(series);
        let text = history_text(&view, &Style::PLAIN);
        assert!(text.starts_with("2 changes in 12 records of 2 series in nightly\n"), "{text}");
        let lead = "read.ini on postgres://db1/shop, arm tls, concurrency(read) = 16: 12 records";
        assert!(text.replace('\n', " ").contains(lead), "{text}");
    }
}
