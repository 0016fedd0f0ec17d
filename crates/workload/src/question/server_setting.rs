//! Settings of a server that the statements before a run set, and that can be read back.
//!
//! These statements are recognised: `alter system`, `alter database`, `alter role` and `alter user`
//! of PostgreSQL, `set global` and `set persist` of MariaDB and MySQL, and pragmas that the file of
//! SQLite keeps. They must give a setting a constant value or, in MariaDB and MySQL, an arithmetic
//! expression. Changes by other statements cannot be read back.

use base::Dialect;

use super::effect_of_statements::{SHARED_SCOPES, is_of_session, runs_code, shared_name};
use super::pragma;
use super::sql::{Token, TokenKind, elements, text_of, tokens};
use crate::plan::FixedStatement;

/// The settings of the server that the statements before a run set for later sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// The settings, each with its last value.
    pub settings: Vec<ServerSetting>,
    /// True if the statements change nothing else, apart from variables of their own session.
    pub is_complete: bool,
}

/// A setting of a server that a statement sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSetting {
    /// Its name, in lower case.
    pub name: String,
    /// Its value.
    pub value: SettingValue,
    /// The statement.
    pub statement: String,
}

/// The value that a statement gives to a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// A constant without its quotes. A list of several constants is as written, with quotes.
    Constant(String),
    /// An arithmetic expression, such as `64 * 1024`, which the server evaluates.
    Expression(String),
}

impl ServerSettings {
    /// Returns the settings that statements set on a server with this dialect.
    pub(super) fn of(statements: &[FixedStatement], dialect: Dialect) -> ServerSettings {
        let none = ServerSettings { settings: Vec::new(), is_complete: true };
        statements.iter().fold(none, |mut all, statement| {
            match settings_of(&statement.text, dialect) {
                Some(settings) => settings.into_iter().for_each(|one| all.set(one)),
                None => all.is_complete = false,
            }
            all
        })
    }

    /// Returns the names of the settings that a statement sets, in any dialect.
    pub fn names_in(statement: &str) -> Vec<String> {
        let found = Dialect::ALL.into_iter().filter_map(|it| settings_of(statement, it));
        found.flatten().map(|setting| setting.name).collect()
    }

    fn set(&mut self, setting: ServerSetting) {
        self.settings.retain(|other| other.name != setting.name);
        self.settings.push(setting);
    }
}

/// Returns the settings that a statement sets for later sessions; an empty list if it only changes
/// its own session. Returns `None` for a statement that may change anything else.
fn settings_of(statement: &str, dialect: Dialect) -> Option<Vec<ServerSetting>> {
    let all = tokens(statement, dialect);
    if is_of_session(&all) {
        return Some(Vec::new());
    }
    let found = match dialect {
        Dialect::Postgres if is_reload(&all) => Some(Vec::new()),
        Dialect::Postgres => Some(vec![of_alter(statement, &all)?]),
        Dialect::Mysql => of_set(statement, &all),
        Dialect::Sqlite => {
            let (name, value) = pragma::setting_of_file(&all)?;
            Some(vec![(name.to_owned(), SettingValue::Constant(value))])
        }
    };
    let named = |(name, value): (String, SettingValue)| ServerSetting {
        name,
        value,
        statement: statement.to_owned(),
    };
    Some(found?.into_iter().map(named).collect())
}

/// Returns true for `select pg_reload_conf()`, which puts the changes of `alter system` into
/// effect.
fn is_reload(statement: &[Token<'_>]) -> bool {
    let [select, function, open, close] = statement else { return false };
    select.is_word("select")
        && function.is_any(&["pg_reload_conf", "pg_catalog.pg_reload_conf"])
        && open.is_symbol("(")
        && close.is_symbol(")")
}

/// Returns the setting of `alter system set NAME = VALUE`, `alter database … set NAME to VALUE` or
/// `alter role … set NAME to VALUE`; `None` for any other statement.
fn of_alter(statement: &str, all: &[Token<'_>]) -> Option<(String, SettingValue)> {
    let [alter, kind, rest @ ..] = all else { return None };
    if !alter.is_word("alter") || !kind.is_any(&["system", "database", "role", "user"]) {
        return None;
    }
    let set = rest.iter().position(|token| token.is_word("set"))?;
    let [name, sign, value @ ..] = &rest[set + 1..] else { return None };
    if !sign.is_symbol("=") && !sign.is_word("to") {
        return None;
    }
    let text = match value {
        [] => return None,
        [only] if only.is_word("default") => return None,
        [only] => only.content(),
        _ => text_of(statement, value).to_owned(),
    };
    Some((plain_name(&name.content())?, SettingValue::Constant(text)))
}

/// Returns the settings of `set global NAME = VALUE, …`; `None` if a value is neither a constant
/// nor an arithmetic expression, or if something else is set. An assignment without a scope after
/// one with a scope counts as something else, because the servers do not agree on its scope.
fn of_set(statement: &str, all: &[Token<'_>]) -> Option<Vec<(String, SettingValue)>> {
    let [set, rest @ ..] = all else { return None };
    if !set.is_word("set") || runs_code(rest) {
        return None;
    }
    let mut found = Vec::new();
    for assignment in elements(rest) {
        let (name, value) = match assignment {
            [first, second, variable, value @ ..]
                if first.is_symbol("@") && second.is_symbol("@") =>
            {
                match shared_name(variable) {
                    Some(name) => (name.to_owned(), value),
                    None => continue,
                }
            }
            [scope, ..] if scope.is_symbol("@") || scope.is_any(&["session", "local"]) => continue,
            [scope, name, value @ ..] if scope.is_any(&SHARED_SCOPES) => (name.content(), value),
            _ if found.is_empty() => continue,
            _ => return None,
        };
        found.push((plain_name(&name)?, assigned_value(statement, value)?));
    }
    (!found.is_empty()).then_some(found)
}

/// Returns the value of an assignment; `None` if it is neither a constant nor an arithmetic
/// expression.
fn assigned_value(statement: &str, value: &[Token<'_>]) -> Option<SettingValue> {
    let value = match value {
        [equals, value @ ..] if equals.is_symbol("=") => value,
        [colon, equals, value @ ..] if colon.is_symbol(":") && equals.is_symbol("=") => value,
        _ => return None,
    };
    match value {
        [only] if only.is_word("default") || only.kind == TokenKind::Symbol => None,
        [only] => Some(SettingValue::Constant(only.content())),
        _ if !value.is_empty() && value.iter().all(is_arithmetic) => {
            Some(SettingValue::Expression(text_of(statement, value).to_owned()))
        }
        _ => None,
    }
}

fn is_arithmetic(token: &Token<'_>) -> bool {
    match token.kind {
        TokenKind::Word => token.text.starts_with(|first: char| first.is_ascii_digit()),
        TokenKind::Symbol => matches!(token.text, "+" | "-" | "*" | "/" | "(" | ")"),
        TokenKind::Name | TokenKind::Literal => false,
    }
}

/// Returns a name in lower case; `None` if it is empty or has a character that needs quotes in a
/// query.
fn plain_name(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    (!text.is_empty() && text.chars().all(is_plain)).then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use base::Span;

    use super::*;

    /// Returns the settings that the statements `texts` set, as `NAME=VALUE`, with brackets around
    /// an expression, and `+` if the statements change anything else.
    fn found(dialect: Dialect, texts: &[&str]) -> String {
        let statement = |text: &&str| FixedStatement {
            text: (*text).to_owned(),
            span: Span::default(),
            script: None,
        };
        let statements: Vec<FixedStatement> = texts.iter().map(statement).collect();
        let ServerSettings { settings, is_complete } = ServerSettings::of(&statements, dialect);
        let text = |one: &ServerSetting| match &one.value {
            SettingValue::Constant(value) => format!("{}={value}", one.name),
            SettingValue::Expression(value) => format!("{}=[{value}]", one.name),
        };
        let mut all: Vec<String> = settings.iter().map(text).collect();
        all.extend((!is_complete).then(|| "+".to_owned()));
        all.join(" ")
    }

    fn check(dialect: Dialect, texts: &[&str], expected: &str) {
        assert_eq!(found(dialect, texts), expected, "{texts:?}");
    }

    #[test]
    fn settings_of_postgres_are_recognised() {
        let check = |texts: &[&str], expected: &str| check(Dialect::Postgres, texts, expected);
        check(&[], "");
        check(&["ALTER SYSTEM SET Work_Mem = '64MB';", "select pg_reload_conf()"], "work_mem=64MB");
        check(&["alter database shop set jit to off"], "jit=off");
        check(&["alter role ann in database shop set \"work_mem\" to 65536"], "work_mem=65536");
        check(&["alter user ann set search_path = a, 'b'"], "search_path=a, 'b'");
        check(&["alter system set autovacuum_work_mem = -1"], "autovacuum_work_mem=-1");
        check(
            &["alter role all set jit = on", "set a = 1", "alter role all set jit=off"],
            "jit=off",
        );
        for other in [
            "alter system set jit = default",
            "alter system reset jit",
            "alter role ann set jit from current",
            "alter database shop owner to ann",
            "alter table t set (fillfactor = 50)",
            "alter system set \"a'b\" = 1",
            "create index i on t (a)",
            "select pg_reload_conf(), count(*) from t",
            "set global jit = 1",
            "",
        ] {
            check(&["alter system set jit = off", other], "jit=off +");
        }
    }

    #[test]
    fn settings_of_mysql_are_recognised() {
        let check = |texts: &[&str], expected: &str| check(Dialect::Mysql, texts, expected);
        check(&["set global sync_binlog = 0"], "sync_binlog=0");
        check(&["SET PERSIST Max_Connections := 9"], "max_connections=9");
        check(&["set @@global.a = on, @@b = 1, @@persist.c='x'"], "a=on c=x");
        check(&["set b = 1, global a = 1, session c = 3, @e = 5"], "a=1");
        check(&["set global a = 64 * 1024 * (1 + 1)"], "a=[64 * 1024 * (1 + 1)]");
        check(&["set global a = -1"], "a=[-1]");
        check(&["set persist_only a = 1", "set @x = 1"], "a=1");
        check(&["# b = 2\nset global a = 1, # c = 3,\nglobal d = 4 # , e = 5"], "a=1 d=4");
        for other in [
            "set global a = default",
            "set global b = @@global.c * 2",
            "set global transaction isolation level read committed",
            "set global a = 1, b = 2",
            "set password = 'x'",
            "set @x = (select sum(v) from t)",
            "flush tables",
            "alter system set work_mem = '64MB'",
        ] {
            check(&["set global z = 1", other], "z=1 +");
        }
    }

    #[test]
    fn settings_of_a_statement_are_named_in_any_dialect() {
        let names = |statement| ServerSettings::names_in(statement).join(" ");
        assert_eq!(names("alter system set fsync = off"), "fsync");
        assert_eq!(names("set global sync_binlog = 0, global flush = on"), "sync_binlog flush");
        assert_eq!(names("create index fsync on t (a)"), "");
    }

    #[test]
    fn pragmas_that_a_file_keeps_are_recognised() {
        let check = |texts: &[&str], expected: &str| check(Dialect::Sqlite, texts, expected);
        check(&["PRAGMA Main.Journal_Mode = 'WAL';"], "journal_mode=WAL");
        check(&["pragma page_size(8192)", "pragma cache_size = 9"], "page_size=8192");
        check(&["pragma page_size = 8192", "pragma aux.synchronous = off"], "page_size=8192");
        check(&["pragma user_version = -7"], "user_version=-7");
        check(&["pragma main . user_version(+7)"], "user_version=+7");
        check(&["pragma \"main\".default_cache_size = 500"], "default_cache_size=500");
        for other in [
            "pragma journal_mode",
            "pragma aux.journal_mode = wal",
            "pragma temp.user_version = 8",
            "pragma user_version = 7 - 1",
            "pragma wal_checkpoint(truncate)",
            "vacuum",
            "set global journal_mode = wal",
        ] {
            check(&["pragma user_version = 7", other], "user_version=7 +");
        }
    }
}
