//! Effects of the statements that an arm executes before each of its runs (`before`): on the jobs
//! of these runs, and on the runs of other arms.

use base::Dialect;

use super::pragma;
use super::sql::{Token, TokenKind, elements, tokens};
use crate::plan::FixedStatement;

/// Scopes that a `set` names before a variable to change the variable beyond the current session.
pub(super) const SHARED_SCOPES: [&str; 3] = ["global", "persist", "persist_only"];

/// Names of the function that sets a variable of a session in PostgreSQL.
const SET_CONFIG: [&str; 2] = ["set_config", "pg_catalog.set_config"];

/// First words of statements whose effect lasts after their session.
const LASTING_STATEMENTS: [&str; 12] = [
    "alter", "create", "delete", "drop", "grant", "insert", "merge", "rename", "replace", "revoke",
    "truncate", "update",
];

/// Returns true if there are statements, and each of them only changes variables of its own
/// session. Such changes do not affect the jobs of a run, which have other sessions.
pub(super) fn change_session_only(statements: &[FixedStatement], dialect: Dialect) -> bool {
    let is_one = |one: &FixedStatement| is_of_session(&tokens(&one.text, dialect));
    !statements.is_empty() && statements.iter().all(is_one)
}

/// Returns true if a statement changes tables, settings or users for the sessions after it.
pub(super) fn have_lasting_effect(statements: &[FixedStatement], dialect: Dialect) -> bool {
    statements.iter().any(|one| {
        let all = tokens(&one.text, dialect);
        match executed_statement(&all).split_first() {
            Some((first, rest)) if first.is_word("set") => is_shared(rest),
            Some((first, _)) => {
                first.is_any(&LASTING_STATEMENTS) || pragma::setting_of_file(&all).is_some()
            }
            None => false,
        }
    })
}

/// Returns true if a statement changes variables of its own session only. Returns false for a
/// statement that also reads a table or calls a function other than [`SET_CONFIG`], because it may
/// fill a cache or take a lock.
pub(super) fn is_of_session(statement: &[Token<'_>]) -> bool {
    let Some((first, rest)) = executed_statement(statement).split_first() else { return false };
    if first.is_word("set") {
        !is_shared(rest) && !runs_code(rest)
    } else if first.is_word("select") {
        elements(rest).into_iter().all(sets_variable)
    } else {
        pragma::is_of_connection(statement)
    }
}

/// Returns the statement after the `for` of MariaDB's `set statement … for …`; any other statement
/// is returned unchanged.
fn executed_statement<'t, 's>(statement: &'t [Token<'s>]) -> &'t [Token<'s>] {
    match statement {
        [set, word, rest @ ..] if set.is_word("set") && word.is_word("statement") => {
            let inner = rest.iter().position(|token| token.is_word("for"));
            inner.map_or(&[], |at| &rest[at + 1..])
        }
        _ => statement,
    }
}

/// Returns true if a `set` with these tokens changes a user, or variables beyond its session.
fn is_shared(rest: &[Token<'_>]) -> bool {
    match rest {
        [first, ..] if first.is_word("password") => true,
        [first, second, ..] if first.is_word("default") && second.is_word("role") => true,
        _ => elements(rest).into_iter().any(is_shared_assignment),
    }
}

fn is_shared_assignment(assignment: &[Token<'_>]) -> bool {
    match assignment {
        [first, second, variable, ..] if first.is_symbol("@") && second.is_symbol("@") => {
            shared_name(variable).is_some()
        }
        [first, ..] => first.is_any(&SHARED_SCOPES),
        [] => false,
    }
}

/// Returns the name of a variable after one of [`SHARED_SCOPES`] and a dot: `x` of `global.x`.
pub(super) fn shared_name<'s>(variable: &Token<'s>) -> Option<&'s str> {
    let (scope, name) = variable.text.split_once('.')?;
    SHARED_SCOPES.iter().any(|shared| scope.eq_ignore_ascii_case(shared)).then_some(name)
}

/// Returns true if an element of a `select` sets a variable, and does nothing else.
fn sets_variable(element: &[Token<'_>]) -> bool {
    match element {
        [at, _, colon, equals, value @ ..]
            if at.is_symbol("@") && colon.is_symbol(":") && equals.is_symbol("=") =>
        {
            !runs_code(value)
        }
        [function, open, arguments @ ..] if function.is_any(&SET_CONFIG) && open.is_symbol("(") => {
            !runs_code(arguments)
        }
        _ => false,
    }
}

/// Returns true if an expression calls a function or reads a table.
pub(super) fn runs_code(expression: &[Token<'_>]) -> bool {
    let is_call = |pair: &[Token<'_>]| pair[0].kind == TokenKind::Word && pair[1].is_symbol("(");
    expression.windows(2).any(is_call)
        || expression.iter().any(|token| token.is_any(&["select", "from"]))
}

#[cfg(test)]
mod tests {
    use base::Span;

    use super::*;

    fn statements(texts: &[&str]) -> Vec<FixedStatement> {
        let statement = |text: &&str| FixedStatement {
            text: (*text).to_owned(),
            span: Span::default(),
            script: None,
        };
        texts.iter().map(statement).collect()
    }

    #[test]
    fn variables_of_a_session_are_distinguished_from_settings_of_the_server() {
        let of_session = |texts: &[&str]| change_session_only(&statements(texts), Dialect::Mysql);
        for text in [
            "SET work_mem = '64MB'",
            "set work_mem to default",
            "set application_name = 'global'",
            "set session characteristics as transaction read only",
            "set session sort_buffer_size = 1, @x = 2",
            "set @@sort_buffer_size=1",
            "set @@session.sort_buffer_size = 1",
            "set @global = 1",
            "set @x := 1",
            "select set_config('work_mem', '64MB', false)",
            "SELECT pg_catalog.SET_CONFIG ('work_mem', '64MB', true) as x;",
            "select set_config('a', '1', false), set_config('b', '2', false)",
            "select @x := 1, @y := 'from'",
            "pragma cache_size = -2000",
            "PRAGMA main.synchronous=off",
            "pragma wal_autocheckpoint(0)",
            "pragma temp.cache_size = 9",
            "pragma aux.synchronous = off",
            "set x = 1 # global, y = 2",
        ] {
            assert!(of_session(&[text]), "{text}");
        }
        for text in [
            "set global sync_binlog = 0",
            "SET @@GLOBAL.sync_binlog=0",
            "set @x = 1, @@persist.sync_binlog = 0",
            "set sort_buffer_size = 1, global sync_binlog = 0",
            "set persist max_connections = 9",
            "set password for 'a' = 'b'",
            "set default role all to 'a'",
            "set statement lock_wait_timeout = 1 for create index i on t (a)",
            "set @x = (select sum(v) from t)",
            "alter system set work_mem = '64MB'",
            "pragma journal_mode = wal",
            "pragma table_info(threads)",
            "pragma aux.table_info(threads)",
            "pragma main.user_version = -7",
            "select set_config('work_mem', pg_sleep(1)::text, false)",
            "select set_config('work_mem', v, false) from t",
            "select set_config('work_mem', '1', false), pg_reload_conf()",
            "select @x := count(*) from t",
            "select 1",
            "select",
        ] {
            assert!(!of_session(&[text]), "{text}");
        }
        assert!(!of_session(&["set lock_timeout = '5s'", "create index i on t (a)"]));
        assert!(!of_session(&[]));
    }

    #[test]
    fn effect_that_lasts_is_found_in_the_statement_that_is_executed() {
        let lasting = |text: &str| have_lasting_effect(&statements(&[text]), Dialect::Mysql);
        for text in [
            "/* 1 */ create index i on t (a)",
            "set @x = 1, global y = 2",
            "set statement lock_wait_timeout = 1 for drop table t",
            "set password for 'a' = 'b'",
            "# 1\ndrop table t",
            "/*!40101 set global y = 2 */",
            "pragma journal_mode = wal",
            "pragma user_version = -7",
            "pragma default_cache_size = 500",
        ] {
            assert!(lasting(text), "{text}");
        }
        for text in [
            "set x = 'global'",
            "set statement x = 1 for analyze table t",
            "select 'drop'",
            "pragma journal_mode",
            "pragma wal_checkpoint(truncate)",
        ] {
            assert!(!lasting(text), "{text}");
        }
    }
}
