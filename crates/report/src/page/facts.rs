//! The settings and facts of a record as tables: settings that differ from the default first, and
//! values in the unit that suits them.

use std::collections::BTreeMap;

use record::environment::{CALIBRATION, DATABASE, UNKNOWN};

use super::fact_group::{FactGroup, grouped};
use super::table::{Align, Cell, Table};
use crate::number::{bytes, time};

/// Name of a setting that differs from the default, after [`DATABASE`].
const SETTING: &str = "setting.";

/// Sentence in place of facts that no calibration has made known.
const NOT_CALIBRATED: &str = "not calibrated: `assay calibrate` measures the generator's own cost";

/// The facts about one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct FactTable {
    /// Name of the subject.
    pub heading: String,
    /// Names and values.
    pub table: Table,
    /// Sentence in place of facts that are all unknown.
    pub note: Option<&'static str>,
}

/// Returns the tables of all facts except the plan.
pub(super) fn tables(facts: &[(String, String)]) -> Vec<FactTable> {
    let (differing, others) = divided(facts);
    let differing = differing.into_iter().map(|(target, settings)| FactTable {
        heading: match target {
            "" => "Settings that differ from the default".to_owned(),
            target => format!("Settings of [target {target}] that differ from the default"),
        },
        table: table_of(settings.into_iter().map(|(name, value)| (name, value.to_owned()))),
        note: None,
    });
    differing.chain(grouped(others).into_iter().map(FactTable::of)).collect()
}

/// Names and values of settings.
type Settings<'f> = Vec<(&'f str, &'f str)>;

/// Divides facts into the settings that differ from the default, by the names of their targets (the
/// main one has none), and all others. A setting is in one of them.
fn divided(facts: &[(String, String)]) -> (BTreeMap<&str, Settings<'_>>, Vec<(String, String)>) {
    let mut differing: BTreeMap<&str, Settings<'_>> = BTreeMap::new();
    for (name, value) in facts {
        if let Some((target, setting)) = of_setting(name) {
            differing.entry(target).or_default().push((setting, value));
        }
    }
    let is_other = |(name, value): &&(String, String)| {
        // Every server reports some of its settings, whether they differ from the default or not.
        let (target, setting) = name.split_once('.').unwrap_or(("", name));
        let again = differing.get(target).is_some_and(|it| it.contains(&(setting, value)));
        of_setting(name).is_none() && name != "assay.plan" && !again
    };
    let others = facts.iter().filter(is_other).cloned().collect();
    (differing, others)
}

/// Returns the target and the name of a setting that differs from the default.
fn of_setting(name: &str) -> Option<(&str, &str)> {
    let (target, rest) = match name.strip_prefix(DATABASE) {
        Some(rest) => ("", rest),
        None => {
            let (target, rest) = name.split_once('.')?;
            (target, rest.strip_prefix(DATABASE)?)
        }
    };
    Some((target, rest.strip_prefix(SETTING)?))
}

fn table_of<'f>(facts: impl IntoIterator<Item = (&'f str, String)>) -> Table {
    let mut table = Table::new([("name", Align::Left), ("value", Align::Left)]);
    for (name, value) in facts {
        table.row([Cell::from(name), Cell::Text(value)]);
    }
    table
}

impl FactTable {
    fn of(group: FactGroup<String>) -> FactTable {
        let FactGroup { heading, facts, .. } = group;
        let is_unknown =
            |(name, value): &(String, String)| name.starts_with(CALIBRATION) && value == UNKNOWN;
        let is_calibrated = !facts.iter().all(is_unknown);
        let shown = facts.iter().filter(|_| is_calibrated);
        let table = table_of(shown.map(|(name, value)| (name.as_str(), in_words(name, value))));
        FactTable { heading, table, note: (!is_calibrated).then_some(NOT_CALIBRATED) }
    }
}

/// Returns the value of a fact in the unit that suits it: the end of a name is the unit of its
/// number.
pub(crate) fn in_words(name: &str, value: &str) -> String {
    let unit = name.rsplit(['.', '_']).next();
    match (unit, value.parse::<f64>()) {
        (Some("bytes"), Ok(number)) if number >= 0.0 => bytes(number.round() as u64),
        (Some("ns"), Ok(ns)) if ns.is_finite() => time(ns),
        (Some("us"), Ok(us)) if us.is_finite() => time(us * 1e3),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn texts(table: &Table) -> Vec<Vec<String>> {
        let rows = table.rows.iter();
        rows.map(|row| row.cells.iter().map(ToString::to_string).collect()).collect()
    }

    #[test]
    fn settings_that_differ_from_the_default_come_first_and_once() {
        let tables = tables(&facts(&[
            ("assay.plan", "duration = 1s"),
            ("copy.database.setting.fsync", "off"),
            ("copy.fsync", "off"),
            ("database.setting.log_lock_waits", "on"),
            ("database.setting.shared_buffers", "1GB"),
            ("database.size_bytes", "9867264"),
            ("max_connections", "100"),
            ("shared_buffers", "1GB"),
        ]));
        let headings: Vec<&str> = tables.iter().map(|it| it.heading.as_str()).collect();
        let expected = [
            "Settings that differ from the default",
            "Settings of [target copy] that differ from the default",
            "Server",
        ];
        assert_eq!(headings, expected);
        let settings = [["log_lock_waits", "on"], ["shared_buffers", "1GB"]];
        assert_eq!(texts(&tables[0].table), settings);
        assert_eq!(texts(&tables[1].table), [["fsync", "off"]]);
        let others = [["database.size_bytes", "9.87 MB"], ["max_connections", "100"]];
        assert_eq!(texts(&tables[2].table), others);
    }

    #[test]
    fn facts_have_the_unit_that_suits_them() {
        for (name, value, expected) in [
            ("host.memory.total_bytes", "25276502016", "25.3 GB"),
            ("database.table.t.bytes", "8192", "8.19 kB"),
            ("generator.before_trial_ns", "2000071574", "2.00 s"),
            ("network.round_trip_us", "412.5", "412 µs"),
            ("network.round_trip_us", "none", "none"),
            ("host.memory.total_bytes", "unknown", "unknown"),
            ("host.cpu.logical", "2", "2"),
        ] {
            assert_eq!(in_words(name, value), expected, "{name}");
        }
    }

    #[test]
    fn missing_calibration_is_one_sentence() {
        let unknown = [("calibration.taken", "unknown"), ("calibration.clock_ns", "unknown")];
        let tables = tables(&facts(&unknown));
        assert_eq!((tables[0].table.rows.len(), tables[0].note), (0, Some(NOT_CALIBRATED)));
        let partly = [("calibration.taken", "2026"), ("calibration.mysql.per_s", "unknown")];
        let tables = super::tables(&facts(&partly));
        assert_eq!((tables[0].table.rows.len(), tables[0].note), (2, None));
    }
}
