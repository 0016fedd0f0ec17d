//! `assay history`: changes of metrics over the records of a folder.

use analyze::compare::ArmId;
use analyze::history::{
    HistoryMetric, HistoryRun, MetricHistory, MetricName, SHORTEST_SEGMENT, history as history_of,
};
use base::{SourceText, closest};
use lab::comparison::{ComparedRun, differing_facts};
use report::{
    FactChange, HistoryView, LeftOutFile, RecordView, SeriesArm, SeriesChange, SeriesPoint,
    SeriesView,
};

use crate::args::HistoryArgs;
use crate::commands::answer;
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::record_folder::{HistoryRecord, RecordFolder};

/// Finds the changes over the records of a folder, and prints them.
pub(crate) fn history(args: &HistoryArgs) -> Result<Exit, Complaint> {
    check_values(args.fail_within)?;
    let named = metrics(&args.metric)?;
    let folder = RecordFolder::read(&args.folder)?;
    let series = series(&folder.records);
    check_metrics(&named, &folder.records)?;
    let view = view(args, &folder, &series, &named);
    match args.json {
        true => answer::print_document(&report::history_json(&view))?,
        false => answer::print(&report::history_text(&view, &answer::style()))?,
    }
    Ok(match view.recent_changes() {
        Some(1..) => Exit::Missed,
        Some(0) | None => Exit::Success,
    })
}

/// Refuses a number of newest values in which no change can be found, because they are too few.
fn check_values(fail_within: Option<usize>) -> Result<(), Complaint> {
    match fail_within {
        Some(values) if values < SHORTEST_SEGMENT => {
            let sentence = format!(
                "--fail-within {values} never fails: a change has {SHORTEST_SEGMENT} values or \
                 more after it"
            );
            Err(Complaint::new(sentence).help("write a larger number, such as 10"))
        }
        Some(_) | None => Ok(()),
    }
}

fn metrics(names: &[String]) -> Result<Vec<MetricName>, Complaint> {
    let metric = |name: &String| {
        MetricName::parse(name).map_err(|error| {
            let source = SourceText { name: "--metric".to_owned(), text: name.clone() };
            Complaint::about(&source, &[error])
        })
    };
    names.iter().map(metric).collect()
}

/// Refuses a metric that no record has. Without any metric, as before the first record of a
/// pipeline, there is nothing to compare with, and no metric is refused.
fn check_metrics(named: &[MetricName], records: &[HistoryRecord]) -> Result<(), Complaint> {
    let measured: Vec<HistoryMetric> =
        records.iter().flat_map(|record| record.result.metrics()).collect();
    if measured.is_empty() {
        return Ok(());
    }
    for name in named {
        if measured.iter().any(|known| name.matches(known)) {
            continue;
        }
        let complaint = Complaint::new(format!("--metric: no record has `{name}`"));
        let same = measured.iter().filter(|known| known.name() == name.name);
        let others = same.filter_map(HistoryMetric::of);
        let near = name.of.as_deref().and_then(|of| closest(of, others));
        return Err(match near {
            Some(near) => complaint.help(format!("did you mean `{}({near})`?", name.name)),
            None => complaint.help("leave out --metric, and the usual ones are shown"),
        });
    }
    Ok(())
}

/// Divides records into series. All records of a series have the same work on the same servers and,
/// for experiments, the same arm and point. The order of time is kept.
fn series(records: &[HistoryRecord]) -> Vec<Vec<&HistoryRecord>> {
    let mut all: Vec<Vec<&HistoryRecord>> = Vec::new();
    for record in records {
        let is_same = |one: &HistoryRecord| {
            (&one.key, &one.arm, &one.point) == (&record.key, &record.arm, &record.point)
        };
        match all.iter_mut().find(|series| is_same(series[0])) {
            Some(series) => series.push(record),
            None => all.push(vec![record]),
        }
    }
    all
}

fn view(
    args: &HistoryArgs,
    read: &RecordFolder,
    series: &[Vec<&HistoryRecord>],
    named: &[MetricName],
) -> HistoryView {
    let skipped = read.skipped.iter().map(|one| LeftOutFile {
        file: one.file.clone(),
        reason: one.reason.name(),
        details: one.details.clone(),
    });
    let views = series.iter().enumerate().map(|(place, records)| {
        let difference = difference(&series[..place], records[0]);
        SeriesView { difference, ..series_view(records, named) }
    });
    HistoryView {
        folder: args.folder.display().to_string(),
        fail_within: args.fail_within,
        skipped: skipped.collect(),
        series: views.collect(),
    }
}

/// Returns the first difference from the first series of the same name, in words; `None` if no
/// earlier series has this name. The name consists of workload, servers, arm and point.
fn difference(earlier: &[Vec<&HistoryRecord>], record: &HistoryRecord) -> Option<String> {
    let named = |one: &HistoryRecord| {
        let arm = one.arm.as_ref().map(|arm| arm.name.clone());
        (one.workload.clone(), one.key.servers.clone(), arm, one.point.clone())
    };
    let other = earlier.iter().map(|records| records[0]).find(|one| named(one) == named(record))?;
    let (name, values) = other.key.difference(&record.key)?;
    let [before, own] = values.map(|value| value.unwrap_or("missing"));
    Some(format!("{name} is {own}, and {before} in the first series of this name"))
}

fn series_view(records: &[&HistoryRecord], named: &[MetricName]) -> SeriesView {
    let runs: Vec<&HistoryRun> = records.iter().map(|record| &record.result).collect();
    let metrics = history_of(&runs, named);
    let newest = records[records.len() - 1];
    let arm = newest
        .arm
        .as_ref()
        .map(|arm| SeriesArm { name: arm.name.clone(), differences: arm.differences.clone() });
    let point = newest.point.as_ref();
    let changes = changes(&metrics, records);
    SeriesView {
        workload: newest.workload.clone(),
        servers: newest.key.servers.clone(),
        arm,
        point: point.map(|one| SeriesPoint { vary: one.vary.clone(), value: one.value.clone() }),
        difference: None,
        records: records.iter().map(|record| record_view(record)).collect(),
        metrics,
        changes,
    }
}

fn record_view(record: &HistoryRecord) -> RecordView {
    RecordView {
        file: record.file.clone(),
        label: record.label.clone(),
        index: record.place,
        started: (!record.is_virtual).then(|| record.started.to_string()),
        verdict: record.result.status(),
        left_out: record.result.left_out(),
        canary_ns: record.result.canary_ns(),
    }
}

/// Returns the changes of all metrics, grouped by the records between which they lie.
fn changes(metrics: &[MetricHistory], records: &[&HistoryRecord]) -> Vec<SeriesChange> {
    let mut all: Vec<SeriesChange> = Vec::new();
    for (index, metric) in metrics.iter().enumerate() {
        for change in &metric.changes {
            let place = (change.before, change.after);
            match all.iter_mut().find(|known| (known.before, known.after) == place) {
                Some(known) => known.metrics.push(index),
                None => all.push(SeriesChange {
                    before: change.before,
                    after: change.after,
                    metrics: vec![index],
                    differences: differences(place, records),
                }),
            }
        }
    }
    all.sort_by_key(|change| (change.after, change.before));
    all
}

/// Returns the facts that differ between the valid records before and after a change. On each side,
/// at most [`SHORTEST_SEGMENT`] records are compared: those nearest to the change.
fn differences((before, after): (usize, usize), records: &[&HistoryRecord]) -> Vec<FactChange> {
    let valid = |place: &usize| records[*place].result.left_out().is_none();
    let first = |place: usize| &records[place].first;
    let nearest = (0..=before).rev().filter(valid).take(SHORTEST_SEGMENT);
    let mut before: Vec<&ComparedRun> = nearest.map(first).collect();
    before.reverse();
    let next = (after..records.len()).filter(valid).take(SHORTEST_SEGMENT);
    let after: Vec<&ComparedRun> = next.map(first).collect();
    let found = differing_facts(ArmId(1), &before, &after).into_iter();
    let fact = |one: lab::experiment::UndeclaredDifference| FactChange {
        kind: one.kind.name(),
        name: one.name,
        values: one.values,
    };
    found.map(fact).collect()
}
