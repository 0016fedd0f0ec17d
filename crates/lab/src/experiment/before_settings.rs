//! Reads back, from the server, the settings that the statements before a run have set.
//!
//! The spelling of a value does not matter: PostgreSQL reports a number in the unit of its setting.
//! A value that this module cannot interpret, such as a list of names, is neither confirmed nor
//! contradicted.

use base::{Class, Clock, Dialect, Monotonic, Nanos};
use engine::Stop;
use workload::JobTarget;
use workload::question::{Arm, ServerSetting, SettingValue, StatementKey};

use super::error::{ContradictingState, NotInEffect, Problem};
use super::settings::{self, InspectedServer};
use crate::pause::wait_while;

/// Maximum number of readings of a setting; the last reading decides. PostgreSQL applies a changed
/// configuration in the background, so the first readings may still show the old value.
const MAX_READINGS: u32 = 20;

/// Time between two readings of a setting.
const READING_INTERVAL: Nanos = Nanos::from_millis(50);

/// The value of a setting on a server, compared with the value that a statement gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reading {
    Equal,
    /// The values cannot be compared, or the server shows no value.
    Unknown,
    Other {
        effective: String,
        /// The origin of the value; `None` if the server does not report it.
        origin: Option<String>,
    },
}

/// Reads back the settings that the statements before a run of an arm have set. Returns true if the
/// statements changed nothing else and every setting is in effect; false if this is not known.
///
/// # Errors
/// A different value is in effect, or the server does not answer.
pub(super) fn read_back(arm: &Arm, server: InspectedServer<'_>) -> Result<bool, Problem> {
    let set = arm.server_settings();
    // Statements without settings may still have an effect: they may reload a configuration that a
    // program has changed.
    let mut is_confirmed = set.is_complete && !set.settings.is_empty();
    for setting in &set.settings {
        match last_reading(arm, server, setting)? {
            Reading::Equal => {}
            Reading::Unknown => is_confirmed = false,
            // The setting may belong to the user or the database of a named target.
            Reading::Other { .. } if !arm.plan.targets.is_empty() => is_confirmed = false,
            Reading::Other { effective, origin } => {
                let key = StatementKey::Before.name().to_owned();
                let value = setting.statement.clone();
                let server = settings::product_of(server, arm)?;
                let found = ContradictingState::OtherSetting { server, effective, origin };
                return Err(Problem::NotInEffect(NotInEffect { key, value, found }));
            }
        }
    }
    Ok(is_confirmed)
}

/// Returns the first statement of an arm if all settings of its statements are in effect on a
/// server before the statements are executed. An earlier run has then left the settings, or the
/// statements change nothing. `None` if one of [`MAX_READINGS`] readings does not show every
/// setting in effect, if the statements change anything else, if there are named targets, or if the
/// user ends the experiment.
///
/// # Errors
/// The server does not answer.
pub(super) fn find_leftover_settings(
    arm: &Arm,
    server: InspectedServer<'_>,
) -> Result<Option<String>, Problem> {
    let set = arm.server_settings();
    // The user or the database of a named target may have settings of its own.
    let is_known = set.is_complete && arm.plan.targets.is_empty();
    let Some(first) = set.settings.first().filter(|_| is_known) else { return Ok(None) };
    for _ in 0..MAX_READINGS {
        for setting in &set.settings {
            if read(arm, server, setting)? != Reading::Equal {
                return Ok(None);
            }
        }
        if !pause(server.stop) {
            return Ok(None);
        }
    }
    Ok(Some(first.statement.clone()))
}

/// Reads a setting until it does not contradict the declared value, at most [`MAX_READINGS`] times.
/// Returns the last reading; [`Reading::Unknown`] if the user ends the experiment.
fn last_reading(
    arm: &Arm,
    server: InspectedServer<'_>,
    setting: &ServerSetting,
) -> Result<Reading, Problem> {
    for _ in 1..MAX_READINGS {
        let reading = read(arm, server, setting)?;
        if !matches!(reading, Reading::Other { .. }) {
            return Ok(reading);
        }
        if !pause(server.stop) {
            return Ok(Reading::Unknown);
        }
    }
    read(arm, server, setting)
}

/// Waits until the next reading is due; returns false if the user has ended the experiment, or if
/// the wait failed.
fn pause(stop: &Stop) -> bool {
    let until = Monotonic.now() + READING_INTERVAL;
    let waited = wait_while(stop, |now| now < until);
    waited.is_ok() && !stop.is_requested()
}

/// Compares a setting with the row that the server returned for its query.
type Compare = fn(&ServerSetting, &[String]) -> Reading;

fn read(
    arm: &Arm,
    server: InspectedServer<'_>,
    setting: &ServerSetting,
) -> Result<Reading, Problem> {
    let (query, compare): (String, Compare) = match arm.plan.dialect(JobTarget::Main) {
        Dialect::Postgres => (query_of_postgres(&setting.name), compare_in_postgres),
        Dialect::Mysql => (query_of_mysql(setting), compare_in_mysql),
        Dialect::Sqlite => (format!("pragma {}", setting.name), compare_in_sqlite),
    };
    let table = match server.stage.rows(&arm.plan, &query, server.stop) {
        Ok(table) => table,
        Err(error) if matches!(error.class(), Class::Statement | Class::Server) => {
            return Ok(Reading::Unknown);
        }
        Err(error) => return Err(Problem::ReadBack(error)),
    };
    let row = table.and_then(|table| table.rows.into_iter().next()).unwrap_or_default();
    let row: Option<Vec<String>> = row.into_iter().collect();
    Ok(row.map_or(Reading::Unknown, |row| compare(setting, &row)))
}

fn query_of_postgres(name: &str) -> String {
    format!(
        "select setting, current_setting(name), source, vartype, coalesce(unit, ''), \
         coalesce(array_to_string(enumvals, ','), '') from pg_settings where lower(name) = '{name}'"
    )
}

fn query_of_mysql(setting: &ServerSetting) -> String {
    let name = &setting.name;
    match &setting.value {
        SettingValue::Constant(_) => format!("select @@global.{name}"),
        SettingValue::Expression(value) => format!("select @@global.{name}, {value}"),
    }
}

fn compare_in_postgres(setting: &ServerSetting, row: &[String]) -> Reading {
    let [stored, shown, source, kind, unit, words] = row else { return Reading::Unknown };
    let (SettingValue::Constant(declared) | SettingValue::Expression(declared)) = &setting.value;
    let is_same = |other: &str| declared.eq_ignore_ascii_case(other);
    let equal = match kind.as_str() {
        _ if is_same(stored) || is_same(shown) => Some(true),
        "bool" => parse_flag(declared).zip(parse_flag(stored)).map(|(one, other)| one == other),
        "integer" | "real" => {
            let numbers = quantity(declared, unit).zip(stored.parse::<f64>().ok());
            let rounding = if kind == "integer" { 0.5 } else { 0.0 };
            numbers.and_then(|numbers| is_same_number(&setting.name, numbers, rounding))
        }
        "enum" if words.split(',').any(is_same) => Some(false),
        // A synonym, such as `1` for `on`.
        _ => parse_flag(declared)
            .zip(parse_flag(stored))
            .filter(|(one, other)| one == other)
            .map(|_| true),
    };
    to_reading(equal, shown, Some(source))
}

/// Compares the declared number of a setting of PostgreSQL with the stored one, which may be
/// rounded. `None` if the two differ and the declared number is a special one, such as -1, that
/// lets the server choose the value.
fn is_same_number(name: &str, (declared, stored): (f64, f64), rounding: f64) -> Option<bool> {
    let is_same = (declared - stored).abs() <= rounding + 1e-6 * stored.abs();
    let is_chosen = declared == -1.0 || (declared == 0.0 && name.ends_with("_buffers"));
    (is_same || !is_chosen).then_some(is_same)
}

/// Converts a number with a unit, such as `64MB`, to a different unit, such as `8kB`. A number
/// without a unit is already in the other unit.
fn quantity(text: &str, unit: &str) -> Option<f64> {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let end = text.find(|c: char| !is_of_number(c)).unwrap_or(text.len());
    let (number, own) = text.split_at(end);
    let number = number.parse::<f64>().ok().filter(|number| number.is_finite())?;
    if own.is_empty() {
        return Some(number);
    }
    let digits = unit.find(|c: char| !c.is_ascii_digit()).unwrap_or(unit.len());
    let (count, base) = unit.split_at(digits);
    let count = if count.is_empty() { 1.0 } else { count.parse::<f64>().ok()? };
    let (of_number, of_unit) = (unit_scale(own.trim())?, unit_scale(base)?);
    (of_number.0 == of_unit.0).then(|| number * of_number.1 / (of_unit.1 * count))
}

/// Returns the kind of a unit of PostgreSQL's settings, and its size in bytes or microseconds.
fn unit_scale(unit: &str) -> Option<(&'static str, f64)> {
    let bytes = |power: i32| Some(("bytes", 1024_f64.powi(power)));
    let microseconds = |number: f64| Some(("time", number));
    match unit {
        "B" => bytes(0),
        "kB" => bytes(1),
        "MB" => bytes(2),
        "GB" => bytes(3),
        "TB" => bytes(4),
        "us" => microseconds(1.0),
        "ms" => microseconds(1e3),
        "s" => microseconds(1e6),
        "min" => microseconds(60e6),
        "h" => microseconds(3_600e6),
        "d" => microseconds(86_400e6),
        _ => None,
    }
}

fn compare_in_mysql(setting: &ServerSetting, row: &[String]) -> Reading {
    let (declared, effective) = match (&setting.value, row) {
        (SettingValue::Constant(declared), [effective]) => (declared, effective),
        (SettingValue::Expression(_), [effective, declared]) => (declared, effective),
        _ => return Reading::Unknown,
    };
    let number = |text: &str| match parse_flag(text) {
        Some(is_on) => Some(f64::from(u8::from(is_on))),
        None => text.parse::<f64>().ok().filter(|number| number.is_finite()),
    };
    let equal = match (number(declared), number(effective)) {
        _ if declared.eq_ignore_ascii_case(effective) => Some(true),
        (Some(one), Some(other)) => Some((one - other).abs() <= 1e-9 * other.abs()),
        // A list of words, or a word on one side and a number on the other.
        _ => None,
    };
    to_reading(equal, effective, None)
}

/// Words for the numbers of SQLite's `auto_vacuum`, in their order.
const AUTO_VACUUM: [&str; 3] = ["none", "full", "incremental"];

fn compare_in_sqlite(setting: &ServerSetting, row: &[String]) -> Reading {
    let (SettingValue::Constant(declared) | SettingValue::Expression(declared)) = &setting.value;
    let [effective] = row else { return Reading::Unknown };
    let number = |text: &str| {
        let word = AUTO_VACUUM.iter().position(|word| text.eq_ignore_ascii_case(word));
        word.and_then(|at| i64::try_from(at).ok()).or_else(|| text.parse().ok())
    };
    let equal = match number(declared).zip(number(effective)) {
        _ if declared.eq_ignore_ascii_case(effective) => Some(true),
        // The database file stores the size without its sign.
        Some((declared, effective)) if setting.name == "default_cache_size" => {
            Some(declared.unsigned_abs() == effective.unsigned_abs())
        }
        Some((declared, effective)) => Some(declared == effective),
        // SQLite ignores an unknown journal mode and keeps the current one.
        None => (setting.name == "journal_mode").then_some(false),
    };
    to_reading(equal, effective, None)
}

fn to_reading(equal: Option<bool>, effective: &str, origin: Option<&String>) -> Reading {
    match equal {
        Some(true) => Reading::Equal,
        Some(false) => Reading::Other { effective: effective.to_owned(), origin: origin.cloned() },
        None => Reading::Unknown,
    }
}

/// Returns the truth value that a word or digit stands for.
fn parse_flag(text: &str) -> Option<bool> {
    let is_any = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match text {
        _ if is_any(&["on", "true", "yes", "1"]) => Some(true),
        _ if is_any(&["off", "false", "no", "0"]) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, value: SettingValue) -> ServerSetting {
        ServerSetting { name: name.to_owned(), value, statement: String::new() }
    }

    /// Compares a value with a row of `pg_settings`: stored and shown value, type, unit,
    /// enumeration values.
    #[track_caller]
    fn check_postgres(declared: &str, row: [&str; 5], expected: Option<bool>) {
        let [stored, shown, kind, unit, words] = row;
        let row = [stored, shown, "database", kind, unit, words].map(str::to_owned);
        let name = if declared == "0" { "commit_timestamp_buffers" } else { "x" };
        let read =
            compare_in_postgres(&setting(name, SettingValue::Constant(declared.to_owned())), &row);
        assert_eq!(read, to_reading(expected, shown, Some(&"database".to_owned())), "{declared}");
    }

    #[test]
    fn value_of_postgres_is_compared_in_the_unit_of_its_setting() {
        let memory = ["65536", "64MB", "integer", "kB", ""];
        for declared in ["64MB", "65536", "65536kB", "0.0625GB"] {
            check_postgres(declared, memory, Some(true));
        }
        check_postgres("4MB", memory, Some(false));
        check_postgres("64 parsecs", memory, None);
        check_postgres("5min", memory, None);
        let buffers = ["12", "96kB", "integer", "8kB", ""];
        check_postgres("100kB", buffers, Some(true));
        check_postgres("200kB", buffers, Some(false));
        check_postgres("-1", buffers, None);
        check_postgres("0", buffers, None);
        check_postgres("1.5s", ["1500", "1500ms", "integer", "ms", ""], Some(true));
        check_postgres("1.1", ["4", "4", "real", "", ""], Some(false));
        check_postgres("2", ["3", "3", "integer", "", ""], Some(false));
    }

    #[test]
    fn words_of_postgres_are_compared_by_their_meaning() {
        let jit = ["off", "off", "bool", "", ""];
        check_postgres("no", jit, Some(true));
        check_postgres("ON", jit, Some(false));
        check_postgres("of", jit, None);
        let commit = ["on", "on", "enum", "", "local,remote_write,remote_apply,on,off"];
        check_postgres("1", commit, Some(true));
        check_postgres("Local", commit, Some(false));
        check_postgres("someday", commit, None);
        let zone = ["UTC", "UTC", "string", "", ""];
        check_postgres("utc", zone, Some(true));
        check_postgres("Europe/Rome", zone, None);
    }

    #[test]
    fn value_of_mysql_is_compared_as_a_number_if_it_is_one() {
        let check = |value: SettingValue, row: &[&str], expected: Option<bool>| {
            let row: Vec<String> = row.iter().map(|text| (*text).to_owned()).collect();
            let read = compare_in_mysql(&setting("x", value.clone()), &row);
            assert_eq!(read, to_reading(expected, &row[0], None), "{value:?} {row:?}");
        };
        let constant = |text: &str| SettingValue::Constant(text.to_owned());
        check(constant("ON"), &["1"], Some(true));
        check(constant("off"), &["ON"], Some(false));
        check(constant("0.1"), &["0.100000"], Some(true));
        check(constant("1000001"), &["999424"], Some(false));
        check(constant("row"), &["ROW"], Some(true));
        check(constant("2"), &["ROW"], None);
        check(constant("TRADITIONAL"), &["STRICT_TRANS_TABLES,TRADITIONAL"], None);
        let expression = SettingValue::Expression("64 * 1024".to_owned());
        check(expression.clone(), &["65536", "65536"], Some(true));
        check(expression, &["1024", "65536"], Some(false));
    }

    #[test]
    fn value_of_sqlite_is_compared_as_a_number_or_as_a_word() {
        let check = |name: &str, declared: &str, effective: &str, expected: Option<bool>| {
            let setting = setting(name, SettingValue::Constant(declared.to_owned()));
            let read = compare_in_sqlite(&setting, &[effective.to_owned()]);
            assert_eq!(read, to_reading(expected, effective, None), "{name} {declared}");
        };
        check("journal_mode", "WAL", "wal", Some(true));
        check("journal_mode", "memory", "delete", Some(false));
        check("journal_mode", "wall", "wal", Some(false));
        check("page_size", "8192", "8192", Some(true));
        check("page_size", "8192", "4096", Some(false));
        check("auto_vacuum", "Incremental", "2", Some(true));
        check("auto_vacuum", "1", "0", Some(false));
        check("encoding", "utf8", "UTF-8", None);
        check("user_version", "-7", "-7", Some(true));
        check("user_version", "+7", "7", Some(true));
        check("user_version", "-7", "7", Some(false));
        check("default_cache_size", "-500", "500", Some(true));
        check("default_cache_size", "500", "-2000", Some(false));
    }
}
