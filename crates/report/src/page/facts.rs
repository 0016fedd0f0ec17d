//! The settings and facts of a record as tables: settings that differ from the default first, and
//! values in the unit that suits them.

use std::collections::BTreeMap;

use record::environment::{CALIBRATION, DATABASE, UNKNOWN, assay, database, database_rest};

use super::datum::Datum;
use super::fact_group::{FactGroup, group_facts};
use super::table::{Align, Cell, Table};
use crate::number::{bytes, time};

/// Sentence that replaces the facts of a calibration if there was none.
const NOT_CALIBRATED: &str = "not calibrated: `assay calibrate` measures the generator's own cost";

/// The facts about one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct FactTable {
    /// Name of the subject.
    pub heading: String,
    /// Names and values; for settings that differ from their defaults, also the defaults, if the
    /// server reported any.
    pub table: Table,
    /// Sentence that replaces facts that are all unknown.
    pub note: Option<&'static str>,
}

/// Returns the tables of all facts except the plan. The default of a setting is shown only next to
/// a value that differs from it.
pub(super) fn tables(facts: &[(String, String)]) -> Vec<FactTable> {
    let (differing, others) = divide_facts(facts);
    let differing = differing.into_iter().map(|(target, settings)| FactTable {
        heading: match target {
            "" => "Settings that differ from the default".to_owned(),
            target => format!("Settings of [target {target}] that differ from the default"),
        },
        table: table_of_settings(facts, target, &settings),
        note: None,
    });
    differing.chain(group_facts(others).into_iter().map(FactTable::of)).collect()
}

/// Names and values of settings.
type Settings<'f> = Vec<(&'f str, &'f str)>;

/// Divides facts into the settings that differ from the default, by the name of their target, and
/// all other facts except the plan and the defaults. The name of the main target is empty. No
/// setting is in both.
fn divide_facts(
    facts: &[(String, String)],
) -> (BTreeMap<&str, Settings<'_>>, Vec<(String, String)>) {
    let mut differing: BTreeMap<&str, Settings<'_>> = BTreeMap::new();
    for (name, value) in facts {
        if let Some((target, setting)) = target_and_setting(name)
            && default_of(facts, target, setting) != Some(value)
        {
            differing.entry(target).or_default().push((setting, value));
        }
    }
    let is_other = |(name, value): &&(String, String)| {
        // Some settings are facts of every run of a server, changed or not, and have a second name
        // without the prefix: `fsync` besides `database.setting.fsync`.
        let (target, setting) = name.split_once('.').unwrap_or(("", name));
        let again = differing.get(target).is_some_and(|it| it.contains(&(setting, value)));
        let is_listed = target_and_setting(name)
            .is_some_and(|(target, setting)| default_of(facts, target, setting) != Some(value));
        !is_listed && !is_default(name) && name != assay::PLAN && !again
    };
    let others = facts.iter().filter(is_other).cloned().collect();
    (differing, others)
}

/// Returns the target and the name of a setting that a server reported as changed; `None` for any
/// other fact. The value of such a setting may still equal its default.
fn target_and_setting(name: &str) -> Option<(&str, &str)> {
    let target = target_of(name);
    Some((target, database_rest(name, database::SETTING)?))
}

/// Returns the target of a fact about a server; the name of the main target is empty.
fn target_of(name: &str) -> &str {
    match name.starts_with(DATABASE) {
        true => "",
        false => name.split_once('.').map_or("", |(target, _)| target),
    }
}

/// Returns the default of a setting of a target; `None` if the server did not report it.
fn default_of<'f>(
    facts: &'f [(String, String)],
    target: &str,
    setting: &str,
) -> Option<&'f String> {
    let is_it = |(name, _): &&(String, String)| {
        database_rest(name, database::DEFAULT) == Some(setting) && target_of(name) == target
    };
    facts.iter().find(is_it).map(|(_, value)| value)
}

/// Returns true if a fact is the default of a setting.
pub(crate) fn is_default(name: &str) -> bool {
    database_rest(name, database::DEFAULT).is_some()
}

/// Returns the table of the settings of a target, with their defaults if the server reported any.
fn table_of_settings(facts: &[(String, String)], target: &str, settings: &Settings<'_>) -> Table {
    let defaults = settings.iter().map(|(name, _)| default_of(facts, target, name));
    let defaults: Vec<Option<&String>> = defaults.collect();
    if defaults.iter().all(Option::is_none) {
        return table_of(settings.iter().map(|(name, value)| (*name, Cell::from(*value))));
    }
    let columns = ["name", "value", "default"].map(|title| (title, Align::Left));
    let mut table = Table::new(columns);
    for ((name, value), default) in settings.iter().zip(defaults) {
        let default = default.map_or(Cell::Missing, |it| Cell::Text(it.clone()));
        table.row([Cell::from(*name), Cell::from(*value), default]);
    }
    table
}

fn table_of<'f>(facts: impl IntoIterator<Item = (&'f str, Cell)>) -> Table {
    let mut table = Table::new([("name", Align::Left), ("value", Align::Left)]);
    for (name, value) in facts {
        table.row([Cell::from(name), value]);
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
        let cell = |name: &str, value: &str| {
            // Exported files have the unconverted value. Its unit is the end of the fact's name.
            Cell::Text(in_words(name, value)).with_data([Datum::text("", value)])
        };
        let table = table_of(shown.map(|(name, value)| (name.as_str(), cell(name, value))));
        FactTable { heading, table, note: (!is_calibrated).then_some(NOT_CALIBRATED) }
    }
}

/// Returns the value of a fact in a readable unit, if it is a number and the last part of the
/// fact's name is its unit; otherwise the value unchanged.
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
    fn settings_have_a_column_of_defaults_where_the_server_reported_them() {
        let tables = tables(&facts(&[
            ("copy.database.default.work_mem", "8MB"),
            ("copy.database.setting.fsync", "off"),
            ("database.default.max_wal_size", "1GB"),
            ("database.default.work_mem", "4MB"),
            ("database.setting.fsync", "off"),
            ("database.setting.max_wal_size", "1GB"),
            ("database.setting.work_mem", "64MB"),
        ]));
        assert_eq!(tables.len(), 3, "{tables:?}");
        let of_main = [["fsync", "off", "–"], ["work_mem", "64MB", "4MB"]];
        assert_eq!(texts(&tables[0].table), of_main);
        assert_eq!(texts(&tables[1].table), [["fsync", "off"]], "of another target");
        let same = [["database.setting.max_wal_size", "1GB"]];
        assert_eq!(texts(&tables[2].table), same, "it was set to its default");
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
