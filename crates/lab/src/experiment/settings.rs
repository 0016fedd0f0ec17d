//! Settings of private servers that arms change.
//!
//! The server itself reports the value of a setting and its origin. An origin on the command line
//! shows that the declared value is in effect, in any spelling (`64MB`, `65536kB`). MariaDB and
//! MySQL may replace a number by another one, so their numbers are compared as well.

use engine::Stop;
use record::environment::{SERVER, known};
use testbed::Kind;
use workload::question::{Arm, Difference, SERVER_KEY};

use super::error::{ContradictingState, NotInEffect, Problem};
use crate::stage::Stage;

/// A server on which the settings of an arm are read back.
#[derive(Clone, Copy)]
pub(super) struct InspectedServer<'a> {
    pub(super) stage: &'a Stage,
    /// A request to end the experiment.
    pub(super) stop: &'a Stop,
}

/// Returns the names of the settings that the arms change, as the server writes them.
pub(super) fn varied_settings<'a>(arms: impl IntoIterator<Item = &'a Arm>) -> Vec<String> {
    let all = arms
        .into_iter()
        .flat_map(|arm| settings_of(arm).map(|(name, _)| server_setting_name(name)));
    let mut names: Vec<String> = all.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the settings that an arm changes, as declared.
pub(super) fn settings_of(arm: &Arm) -> impl Iterator<Item = (&str, &str)> {
    arm.differences.iter().filter_map(|one| match one {
        Difference::Server { name, value } => Some((name.as_str(), value.as_str())),
        _ => None,
    })
}

/// Returns the settings that an arm changes, for messages: `server.fsync = off`.
pub(super) fn describe_settings(arm: &Arm) -> String {
    let all = settings_of(arm).map(|(name, value)| format!("`server.{name} = {value}`"));
    all.collect::<Vec<String>>().join(", ")
}

/// Returns the name of a setting as the server writes it.
pub(super) fn server_setting_name(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// Returns the name of the setting that an option of the URL sets.
pub(super) fn setting_of_option(name: &str) -> String {
    match name {
        "journal" => "journal_mode".to_owned(),
        other => server_setting_name(other),
    }
}

/// Reads back, from the server of an arm, the settings that the arm changes. If the user ends the
/// experiment, the remaining settings are not read.
///
/// # Errors
/// The server has no such setting, uses a different value, or does not answer.
pub(super) fn read_back(server: InspectedServer<'_>, kind: Kind, arm: &Arm) -> Result<(), Problem> {
    for (name, value) in settings_of(arm) {
        let query = query(kind, &server_setting_name(name));
        let rows = server.stage.rows(&arm.plan, &query, server.stop);
        let table = rows.map_err(Problem::ReadBack)?;
        // Either the runs do not use this server, so its settings do not affect them, or the user
        // has ended the experiment.
        let Some(table) = table else { continue };
        let row = table.rows.into_iter().next().unwrap_or_default();
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let (Some(effective), Some(origin)) = (row.next(), row.next()) else {
            return Err(Problem::UnknownSetting(name.to_owned()));
        };
        if !is_in_effect(kind, value, &effective, &origin) {
            let origin = (!COMMAND_LINE.contains(&origin.as_str())).then_some(origin);
            let server = product_of(server, arm)?;
            let found = ContradictingState::OtherSetting { server, effective, origin };
            let (key, value) = (format!("{SERVER_KEY}{name}"), value.to_owned());
            return Err(Problem::NotInEffect(NotInEffect { key, value, found }));
        }
    }
    Ok(())
}

/// Returns the product of an arm's server, as the server reports it to a new session; `the server`
/// if it is unknown.
///
/// # Errors
/// The server cannot be reached, or does not answer.
pub(super) fn product_of(server: InspectedServer<'_>, arm: &Arm) -> Result<String, Problem> {
    let settings = server.stage.settings(&arm.plan, server.stop).map_err(Problem::ReadBack)?;
    let server = settings.as_deref().and_then(|settings| known(settings, SERVER));
    Ok(server.map_or("the server", product).to_owned())
}

/// Returns the product, which is the first word in the description of a server.
pub(super) fn product(server: &str) -> &str {
    server.split(' ').next().unwrap_or(server)
}

/// Returns the query for the value of a setting and its origin.
fn query(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Postgres => format!(
            "select current_setting(name), source from pg_settings where lower(name) = '{name}'"
        ),
        Kind::Mariadb => format!(
            "select global_value, global_value_origin from information_schema.system_variables \
             where variable_name = '{name}' and global_value is not null"
        ),
        Kind::Mysql => format!(
            "select variable_value, variable_source from performance_schema.global_variables \
             join performance_schema.variables_info using (variable_name) \
             where variable_name = '{name}'"
        ),
    }
}

/// Origins that servers report for a value from their command line. `override` and `AUTO` mark a
/// value that the server derives from the command line.
const COMMAND_LINE: [&str; 6] =
    ["command line", "override", "COMMAND-LINE", "CONFIG", "AUTO", "COMMAND_LINE"];

/// Returns true if a declared value is in effect. MariaDB and MySQL replace an unacceptable number
/// by an acceptable one; PostgreSQL refuses to start.
fn is_in_effect(kind: Kind, declared: &str, effective: &str, origin: &str) -> bool {
    let is_same_number = match (number(declared), number(effective)) {
        (Some(declared), Some(effective)) if kind != Kind::Postgres => declared == effective,
        _ => true,
    };
    COMMAND_LINE.contains(&origin) && is_same_number
}

/// Parses a number as it is written on the command line of a server, perhaps with a suffix for a
/// power of 1024.
fn number(text: &str) -> Option<f64> {
    const SUFFIXES: &str = "KMGTPE";
    let power = text.chars().next_back().and_then(|last| SUFFIXES.find(last.to_ascii_uppercase()));
    let digits = if power.is_some() { &text[..text.len() - 1] } else { text };
    let factor = power.map_or(1.0, |power| 1024_f64.powi(power as i32 + 1));
    digits.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Kind, declared: &str, effective_setting: (&str, &str), expected: bool) {
        assert_eq!(
            is_in_effect(kind, declared, effective_setting.0, effective_setting.1),
            expected,
            "{declared} {effective_setting:?}"
        );
    }

    #[test]
    fn value_of_the_command_line_is_in_effect_in_any_spelling() {
        check(Kind::Postgres, "65536kB", ("64MB", "command line"), true);
        check(Kind::Postgres, "1", ("on", "command line"), true);
        check(Kind::Mysql, "1", ("ON", "COMMAND_LINE"), true);
        check(Kind::Mariadb, "64M", ("67108864", "CONFIG"), true);
        check(Kind::Mariadb, "0.5", ("0.500000", "CONFIG"), true);
        check(Kind::Mysql, "O_DIRECT", ("O_DIRECT", "COMMAND_LINE"), true);
    }

    #[test]
    fn value_that_the_server_replaces_is_not_in_effect() {
        check(Kind::Postgres, "64MB", ("4MB", "user"), false);
        check(Kind::Mariadb, "100M", ("134217728", "CONFIG"), false);
        check(Kind::Mysql, "999999", ("100000", "COMMAND_LINE"), false);
        check(Kind::Mysql, "64M", ("67108864", "DYNAMIC"), false);
    }
}
