//! Remedies for a statement that the database rejects before anything was measured.

use base::{Class, Code};
use engine::Location;
use workload::keys::SETUP_TIMEOUT;

/// A statement, or rows of a load, that the database rejected.
pub(crate) struct RejectedStatement<'a> {
    pub(crate) place: &'a Location,
    pub(crate) class: Class,
    /// The database's error code.
    pub(crate) code: Code,
    /// The database's error message.
    pub(crate) words: &'a str,
    pub(crate) command: LoadingCommand,
}

/// A command that runs setup and loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadingCommand {
    /// A run of a workload, which may use tables that exist (`--loaded`).
    Run,
    /// A load or a new experiment, which needs new tables.
    Load,
    /// The continuation of an interrupted experiment, which cannot have other files, options or
    /// targets.
    Resumption,
}

impl LoadingCommand {
    /// Returns the remedy for a table that `[setup]` would create, but that already exists.
    fn of_table(self) -> &'static str {
        match self {
            LoadingCommand::Run => {
                "an earlier run or load left it: run with `--loaded` to use it as it is, or drop it"
            }
            LoadingCommand::Load => {
                "an earlier run or load left it: drop it first, or name another database with --url"
            }
            LoadingCommand::Resumption => {
                "the interrupted experiment may have left it: drop it first, as a [teardown] would"
            }
        }
    }

    /// Returns the remedy for rows that a load would insert, but that already exist.
    fn of_rows(self) -> &'static str {
        match self {
            LoadingCommand::Run | LoadingCommand::Load => {
                "the table may have these rows already: empty it first, or write \
                 `on-duplicate = ignore`"
            }
            LoadingCommand::Resumption => LEFT_ROWS,
        }
    }
}

/// The remedy for rows that an interrupted experiment has left.
pub(crate) const LEFT_ROWS: &str =
    "the interrupted experiment may have left rows: delete them first, as a [teardown] would";

/// Returns the remedy for a statement that was not answered in time; `limit` is the key that limits
/// its time.
pub(crate) fn of_unanswered(limit: &str) -> String {
    format!(
        "end what blocks the statement, such as a lock of another session; if it only takes long, \
         write a longer `{limit}` above the first section of the workload, and begin anew"
    )
}

/// Returns a remedy, if one is known.
pub(crate) fn of(refused: RejectedStatement<'_>) -> Option<String> {
    let RejectedStatement { place, class, code, words, command } = refused;
    let is_load = place.statement.is_none();
    if class == Class::Timeout {
        return Some(of_unanswered(SETUP_TIMEOUT));
    }
    let remedy = if words.contains("already exists") && place.section == "setup" {
        command.of_table()
    } else if let Some(missing) = MissingObject::of(code.as_str(), words) {
        missing.remedy(is_load)
    } else if is_load && class == Class::Constraint {
        command.of_rows()
    } else if class == Class::Conflict {
        "another process holds a lock on the database: let it finish first"
    } else {
        return None;
    };
    Some(remedy.to_owned())
}

/// A kind of object that a statement names and the database does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MissingObject {
    Table,
    /// A table or view that the statement would drop.
    Dropped,
    /// A table that qualifies a column, although the statement does not read that table.
    Qualifier,
    Column,
    Function,
    Operator,
    Type,
    /// A schema; in MySQL, that is a database.
    Schema,
    /// The session has no database, and the statement names none.
    NoDatabase,
}

impl MissingObject {
    /// Recognises the kind by the error code of PostgreSQL (manual, appendix "PostgreSQL Error
    /// Codes") or of MySQL and MariaDB ("Server Error Message Reference"). SQLite has a single code
    /// for these errors, and its messages are always in English.
    fn of(code: &str, words: &str) -> Option<MissingObject> {
        let says = |part: &str| words.contains(part);
        let begins = |kinds: &[&str]| kinds.iter().any(|kind| words.starts_with(kind));
        match code {
            // "missing FROM-clause entry for table".
            "42P01" if says("FROM") => Some(MissingObject::Qualifier),
            "42P01" | "42704" if begins(&["table \"", "view \"", "index \""]) => {
                Some(MissingObject::Dropped)
            }
            "42P01" | "1146" => Some(MissingObject::Table),
            "1051" => Some(MissingObject::Dropped),
            "1109" => Some(MissingObject::Qualifier),
            "42703" | "1054" | "1072" => Some(MissingObject::Column),
            "42883" if says("operator") => Some(MissingObject::Operator),
            "42883" | "1128" | "1630" => Some(MissingObject::Function),
            "1305" if begins(&["FUNCTION", "PROCEDURE"]) => Some(MissingObject::Function),
            "42704" if begins(&["type \""]) => Some(MissingObject::Type),
            "3F000" | "1049" => Some(MissingObject::Schema),
            "1046" => Some(MissingObject::NoDatabase),
            _ if says("no such table") || says("table not found") => Some(MissingObject::Table),
            _ if says("no such column") || says("has no column named") => {
                Some(MissingObject::Column)
            }
            _ if says("no such function") => Some(MissingObject::Function),
            _ => None,
        }
    }

    fn remedy(self, is_load: bool) -> &'static str {
        match self {
            MissingObject::Table => {
                "create it in [setup], or name the database that has it with --url"
            }
            MissingObject::Dropped => "write `if exists` before its name",
            MissingObject::Qualifier => {
                "add the table to the statement's `from`, or correct its alias"
            }
            MissingObject::Column if is_load => {
                "correct its name in `columns`, or add it to the table's definition in [setup]"
            }
            MissingObject::Column => {
                "correct its name in the statement, or add it to the table's definition in [setup]"
            }
            MissingObject::Function => {
                "correct its name and the types of its arguments, or create it in [setup]"
            }
            MissingObject::Operator => {
                "cast one of the two sides to the type of the other, as in `cast(x as integer)`"
            }
            MissingObject::Type => "correct its name, or create it or its extension in [setup]",
            MissingObject::Schema => "correct its name, or create it in [setup]",
            MissingObject::NoDatabase => "name a database in the URL, as in mysql://HOST/DATABASE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Span;

    const IN_SETUP: &str = "create it in [setup], or name the database";

    fn remedy(section: &str, class: Class, code: &str, words: &str) -> String {
        remedy_for(LoadingCommand::Run, section, class, (code, words))
    }

    fn remedy_for(
        command: LoadingCommand,
        section: &str,
        class: Class,
        (code, words): (&str, &str),
    ) -> String {
        let statement = (!section.starts_with("load")).then_some(1);
        let place = Location {
            section: section.to_owned(),
            statement,
            span: Span::default(),
            script: None,
        };
        let code = Code::new(code);
        of(RejectedStatement { place: &place, class, code, words, command }).unwrap_or_default()
    }

    #[test]
    fn known_refusals_have_a_remedy() {
        let statement = Class::Statement;
        for (given, words) in [
            (remedy("setup", statement, "42P07", "relation \"t\" already exists"), "--loaded"),
            (remedy("load t", Class::Constraint, "23505", "UNIQUE"), "on-duplicate"),
            (remedy("setup", Class::Conflict, "SQLITE_BUSY", "database is locked"), "lock"),
            (remedy("setup", Class::Timeout, "timeout", "nothing was"), "longer `setup-timeout`"),
            (remedy("load t", Class::Timeout, "timeout", "nothing was"), "longer `setup-timeout`"),
        ] {
            assert!(given.contains(words), "{given}");
        }
        for unknown in [
            remedy("read", statement, "SQLITE_ERROR", "near \"selct\": syntax error"),
            remedy("read", statement, "42704", "role \"ann\" does not exist"),
            remedy("read", statement, "26000", "prepared statement \"s\" does not exist"),
            remedy("read", statement, "1305", "SAVEPOINT s does not exist"),
            remedy("read", statement, "1176", "Key 'k' doesn't exist in table 't'"),
            remedy("read", Class::Constraint, "23505", "UNIQUE"),
        ] {
            assert_eq!(unknown, "");
        }
    }

    #[test]
    fn remedy_for_tables_and_rows_that_exist_is_possible_for_the_command() {
        let check = |command, of_table: &str, of_rows: &str| {
            let exists = ("42P07", "relation \"t\" already exists");
            let table = remedy_for(command, "setup", Class::Statement, exists);
            assert!(table.contains(of_table), "{table}");
            let unique = ("23505", "duplicate key value violates unique constraint");
            let rows = remedy_for(command, "load t", Class::Constraint, unique);
            assert!(rows.contains(of_rows), "{rows}");
        };
        check(LoadingCommand::Run, "--loaded", "on-duplicate");
        check(LoadingCommand::Load, "another database with --url", "on-duplicate");
        let left = "the interrupted experiment may have left ";
        check(LoadingCommand::Resumption, left, left);
    }

    /// Checks that the remedy for a missing object of a job's statement contains these words.
    #[track_caller]
    fn check(code: &str, message: &str, words: &str) {
        let given = remedy("read", Class::Statement, code, message);
        assert!(given.contains(words), "{code} {message}: {given}");
        assert_eq!(given.contains(IN_SETUP), words == IN_SETUP);
    }

    #[test]
    fn missing_objects_of_postgres_get_the_remedy_of_their_kind() {
        let (table, column) = (IN_SETUP, "name in the statement");
        check("42P01", "relation \"t\" does not exist", table);
        check("42P01", "Relation »t« existiert nicht", table);
        check("42P01", "missing FROM-clause entry for table \"u\"", "`from`");
        check("42P01", "table \"t\" does not exist", "if exists");
        check("42704", "index \"i\" does not exist", "if exists");
        check("42703", "column \"x\" does not exist", column);
        check("42703", "column \"x\" of relation \"t\" does not exist", column);
        check("42883", "function f(integer) does not exist", "types of its arguments");
        check("42883", "operator does not exist: text = integer", "cast");
        check("42704", "type \"vector\" does not exist", "extension");
        check("3F000", "schema \"s\" does not exist", "create it in [setup]");
    }

    #[test]
    fn missing_objects_of_mysql_get_the_remedy_of_their_kind() {
        check("1146", "Table 'd.t' doesn't exist [42S02]", IN_SETUP);
        check("1146", "table not found: t", IN_SETUP);
        check("1051", "Unknown table 'd.t' [42S02]", "if exists");
        check("1109", "Unknown table 'u' in SELECT [42S02]", "`from`");
        check("1054", "Unknown column 'x' in 'field list' [42S22]", "name in the statement");
        check("1072", "Key column 'x' doesn't exist in table [42000]", "name in the statement");
        check("1305", "FUNCTION d.f does not exist [42000]", "types of its arguments");
        check("1049", "Unknown database 's' [42000]", "create it in [setup]");
        check("1046", "No database selected [3D000]", "mysql://HOST/DATABASE");
    }

    #[test]
    fn missing_objects_of_sqlite_get_the_remedy_of_their_kind() {
        check("SQLITE_ERROR", "no such table: t", IN_SETUP);
        check("SQLITE_ERROR", "no such column: x", "name in the statement");
        check("SQLITE_ERROR", "table t has no column named x", "name in the statement");
        check("SQLITE_ERROR", "no such function: f", "types of its arguments");
    }

    #[test]
    fn missing_column_of_a_load_is_corrected_in_its_columns() {
        for (code, words) in [
            ("42703", "column \"x\" of relation \"t\" does not exist"),
            ("1054", "Unknown column 'x' in 'field list' [42S22]"),
            ("SQLITE_ERROR", "table t has no column named x"),
        ] {
            let given = remedy("load t", Class::Statement, code, words);
            assert!(given.contains("in `columns`"), "{words}: {given}");
        }
    }
}
