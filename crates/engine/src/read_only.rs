//! The rule for statements that may be executed before a run to show their results.
//!
//! A statement qualifies if its text shows that it only reads, that it names only tables that the
//! run has filled, and that it calls only functions without effects. The text is not parsed: words
//! within quotes count as words of the statement, so no quoting can hide a word. A doubtful text is
//! refused.

use std::fmt;

use base::HIDDEN;

/// First words of statements that change data.
const WRITING_WORDS: [&str; 6] = ["insert", "update", "delete", "merge", "replace", "truncate"];

/// Words of statements that lock, write, call, or name tables in a way that this module does not
/// recognise.
const REFUSED_WORDS: [&str; 18] = [
    "call",
    "copy",
    "create",
    "delete",
    "dumpfile",
    "exec",
    "execute",
    "for",
    "insert",
    "into",
    "lock",
    "merge",
    "outfile",
    "procedure",
    "share",
    "table",
    "update",
    "with",
];

/// Characters that begin comments, assignments and further statements.
const SYNTAX: [&str; 5] = ["--", "/*", "#", ";", "@"];

/// Words that precede the name of a table.
const BEFORE_TABLE: [&str; 3] = ["from", "join", "straight_join"];

/// Words that end a list of tables.
const AFTER_TABLES: [&str; 8] =
    ["where", "group", "order", "having", "limit", "offset", "union", "window"];

/// Words that may precede a parenthesis although they are not functions.
const KEYWORDS: [&str; 22] = [
    "all",
    "and",
    "any",
    "as",
    "between",
    "by",
    "case",
    "distinct",
    "else",
    "except",
    "exists",
    "filter",
    "having",
    "in",
    "intersect",
    "not",
    "on",
    "or",
    "over",
    "some",
    "union",
    "using",
];

/// Further words that may precede a parenthesis although they are not functions, because an
/// expression follows them.
const EXPRESSION_KEYWORDS: [&str; 6] = ["select", "then", "values", "when", "where", "like"];

/// Functions without effects.
const FUNCTIONS: [&str; 41] = [
    "abs",
    "avg",
    "cast",
    "ceil",
    "ceiling",
    "char_length",
    "coalesce",
    "concat",
    "count",
    "date",
    "date_trunc",
    "dense_rank",
    "floor",
    "greatest",
    "ifnull",
    "lag",
    "lead",
    "least",
    "left",
    "length",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nullif",
    "power",
    "rank",
    "right",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sqrt",
    "substr",
    "substring",
    "sum",
    "total",
    "trim",
    "upper",
    "year",
];

/// The reason why a statement is not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The statement changes data.
    Writes,
    /// The statement is not a plain `select`, or has words that may change something.
    NotPlain,
    /// The statement reads, or may read, a table that the run has not filled.
    OtherTable,
    /// The statement calls a function that is not known to be without effects.
    Function,
    /// The statement would need the value of a secret parameter.
    Secret,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Writes => "writes",
            Refusal::NotPlain => "not executed: not a plain select",
            Refusal::OtherTable => "not executed: may read tables that the run has not filled",
            Refusal::Function => "not executed: calls a function that may have effects",
            Refusal::Secret => "not executed: has a secret parameter",
        })
    }
}

/// Returns the reason why a statement may not be executed to show its result; `None` if it may be
/// executed. `filled` are the names of the tables that the run has filled.
pub(crate) fn refusal(text: &str, filled: &[&str]) -> Option<Refusal> {
    let text = text.trim().trim_end_matches(';');
    let words = tokens(text);
    match words.first() {
        Some(first) if is_one_of(first, &WRITING_WORDS) => return Some(Refusal::Writes),
        Some(first) if is_one_of(first, &["select"]) => {}
        Some(_) | None => return Some(Refusal::NotPlain),
    }
    if text.contains(HIDDEN) {
        Some(Refusal::Secret)
    } else if SYNTAX.iter().any(|part| text.contains(part))
        || words.iter().any(|word| is_one_of(word, &REFUSED_WORDS))
    {
        Some(Refusal::NotPlain)
    } else if !reads_filled_tables(&words, filled) {
        Some(Refusal::OtherTable)
    } else {
        calls_unknown_function(&words).then_some(Refusal::Function)
    }
}

/// Returns true if every table that the words may name is one of `filled`.
fn reads_filled_tables(words: &[&str], filled: &[&str]) -> bool {
    let tables: Vec<Vec<&str>> = filled.iter().map(|table| tokens(table)).collect();
    let is_loaded = |rest: &[&str]| {
        tables.iter().any(|table| {
            rest.strip_prefix(table.as_slice()).is_some_and(|rest| rest.first() != Some(&"."))
        })
    };
    let mut is_in_list = false;
    for (index, word) in words.iter().enumerate() {
        let rest = &words[index + 1..];
        if is_one_of(word, &BEFORE_TABLE) {
            is_in_list = true;
            if !is_loaded(rest) {
                return false;
            }
        } else if is_one_of(word, &AFTER_TABLES) {
            is_in_list = false;
        } else if *word == "," && is_in_list {
            // A comma may be followed by a table, or by an argument.
            return false;
        } else if is_one_of(word, &["in"]) && rest.first() != Some(&"(") {
            // SQLite accepts the name of a table after `in`.
            return false;
        } else if word.starts_with(|first: char| first.is_ascii_digit())
            && BEFORE_TABLE.iter().any(|before| word.to_lowercase().contains(before))
        {
            // Some servers end a number where a letter follows, so `1from t` names a table.
            return false;
        }
    }
    true
}

/// Returns true if the words may call a function that is not in the list.
fn calls_unknown_function(words: &[&str]) -> bool {
    words.windows(2).enumerate().any(|(index, pair)| {
        let is_name = pair[0].starts_with(is_word_character) || matches!(pair[0], "\"" | "`" | "]");
        let is_qualified = index > 0 && words[index - 1] == ".";
        let is_known = [KEYWORDS.as_slice(), &EXPRESSION_KEYWORDS, &FUNCTIONS]
            .iter()
            .any(|known| is_one_of(pair[0], known));
        pair[1] == "(" && is_name && (is_qualified || !is_known)
    })
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|one| one.eq_ignore_ascii_case(word))
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the words of a text, and each other character by itself; white space is left out.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match is_word_character(first) {
            true => rest.find(|c| !is_word_character(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[&str], expected: Option<Refusal>) {
        for text in texts {
            assert_eq!(refusal(text, &["accounts", "shop.items"]), expected, "{text}");
        }
    }

    #[test]
    fn plain_selects_of_loaded_tables_may_be_executed() {
        let texts = [
            "select 1",
            "SELECT id, balance FROM accounts WHERE id = 5 ;",
            "select count(*), round(avg(balance), 2) from accounts a join shop.items as i \
             on i.id = a.id where a.id in (1, 2) group by a.id, i.id order by 1, 2 limit 5",
            "select id from accounts where exists (select 1 from shop.items where id > 7)",
            "select id from accounts union all select id from shop.items",
            "select 'it''s' from accounts where name like 'a%'",
        ];
        check(&texts, None);
    }

    #[test]
    fn statements_that_write_are_distinguished() {
        let texts = ["insert into accounts values (1)", " UPDATE accounts set id = 2", "delete"];
        check(&texts, Some(Refusal::Writes));
    }

    #[test]
    fn words_and_syntax_with_effects_are_refused_wherever_they_stand() {
        let texts = [
            "",
            "vacuum",
            "explain analyze select 1",
            "with gone as (delete from accounts returning id) select id from gone",
            "select 1 from accounts; drop table accounts",
            "select * from accounts for update",
            "select * from accounts lock in share mode",
            "select * into copy from accounts",
            "select 1 into outfile '/tmp/x'",
            "select @x := 1",
            "select 1 /*! into outfile '/tmp/x' */",
            "select 'a' -- '",
        ];
        check(&texts, Some(Refusal::NotPlain));
        check(&["select 1 where '(secret)' = 'x'"], Some(Refusal::Secret));
    }

    #[test]
    fn tables_that_the_run_has_not_filled_are_not_read() {
        let texts = [
            "select * from people",
            "select * from accounts.people",
            "select * from Accounts",
            "select * from items",
            "select * from \"accounts\"",
            "select * from accounts, people",
            "select * from accounts a join shop.items i on (a.id = i.id), people",
            "select * from accounts join people on true",
            "select * from accounts where id = (select max(id)from people)",
            "select (select 1 from accounts), name from people",
            "select * from (select * from accounts) a, people",
            "select * from only people",
            "select 1 where 1 in people",
            "select 1from people",
            "select 1e5from people",
            "select * from accounts union select * from people",
            "select \"'\" from people where \"'\" = ''",
        ];
        check(&texts, Some(Refusal::OtherTable));
    }

    #[test]
    fn functions_that_may_have_effects_are_not_called() {
        let texts = [
            "select pg_sleep(10)",
            "select pg_terminate_backend (5)",
            "select nextval('s') from accounts",
            "select my.count(1)",
            "select \"f\"(1)",
            "select load_file('/etc/passwd')",
            "select get_lock('a', 1)",
        ];
        check(&texts, Some(Refusal::Function));
    }
}
