//! A lexer for statements, used to detect placeholders, files to load and returned rows without the
//! server.
//!
//! It separates words, strings and other characters as the server does (MySQL manual, "Language
//! Structure"): a question mark in a string is not a placeholder, and a comment names no file.

use base::executed_comment_mark;

/// A token of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Word(&'a str),
    /// A quoted string or identifier, unescaped.
    Text(String),
    /// Any other character.
    Sign(char),
}

impl Piece<'_> {
    /// Returns true for one of these words, in upper or lower case.
    fn is_one_of(&self, words: &[&str]) -> bool {
        let Piece::Word(found) = self else { return false };
        words.iter().any(|word| found.eq_ignore_ascii_case(word))
    }
}

/// Returns true if the statement has placeholders.
pub(super) fn has_placeholders(sql: &str) -> bool {
    Pieces::of(sql).any(|piece| piece == Piece::Sign('?'))
}

/// Returns the name of the file that the statement loads from the client, as in `… LOCAL INFILE
/// 'name'`; `None` if it loads none.
pub(super) fn loaded_file(sql: &str) -> Option<String> {
    let mut last = [Piece::Sign(' '), Piece::Sign(' ')];
    for piece in Pieces::of(sql) {
        if let ([Piece::Word(local), Piece::Word(infile)], Piece::Text(name)) = (&last, &piece)
            && local.eq_ignore_ascii_case("local")
            && infile.eq_ignore_ascii_case("infile")
        {
            return Some(name.clone());
        }
        let [_, before] = last;
        last = [before, piece];
    }
    None
}

/// First words of the statements that cannot succeed without a result.
const ALWAYS_WITH_RESULT: [&str; 5] = ["select", "with", "values", "table", "show"];

/// Returns true if the statement, for which the server has described result columns, cannot succeed
/// without a result.
///
/// False for data-changing statements with `returning`: MariaDB answers a `delete` with an OK if it
/// finds, without reading the table, that no row matches. False for `select … into`: a server may
/// describe the columns that this statement stores.
pub(super) fn returns_rows(sql: &str) -> bool {
    let mut pieces = Pieces::of(sql).skip_while(|piece| *piece == Piece::Sign('('));
    pieces.next().is_some_and(|first| first.is_one_of(&ALWAYS_WITH_RESULT))
        && !pieces.any(|piece| piece.is_one_of(&["into"]))
}

/// Returns true if the statement may load a file. A quick check with false positives.
pub(super) fn may_load(sql: &str) -> bool {
    sql.as_bytes().windows(INFILE.len()).any(|word| word.eq_ignore_ascii_case(INFILE))
}

const INFILE: &[u8] = b"infile";

struct Pieces<'a> {
    rest: &'a str,
    /// True within a comment whose text the server executes.
    is_in_executed_comment: bool,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        self.skip_comments();
        let first = self.rest.chars().next()?;
        Some(match first {
            '\'' | '"' => Piece::Text(self.text(first, true)),
            '`' => Piece::Text(self.text(first, false)),
            _ if is_of_word(first) => {
                let end = self.rest.find(|c| !is_of_word(c)).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                Piece::Word(word)
            }
            _ => {
                self.rest = &self.rest[first.len_utf8()..];
                Piece::Sign(first)
            }
        })
    }
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

impl<'a> Pieces<'a> {
    fn of(sql: &'a str) -> Pieces<'a> {
        Pieces { rest: sql, is_in_executed_comment: false }
    }

    /// Skips white space and comments, but not the text of `/*! … */`.
    fn skip_comments(&mut self) {
        loop {
            self.rest = behind_comments(self.rest);
            let mark = match executed_comment_mark(self.rest) {
                Some(mark) => mark,
                None if self.is_in_executed_comment && self.rest.starts_with("*/") => 2,
                None => return,
            };
            self.is_in_executed_comment = self.rest.starts_with('/');
            self.rest = &self.rest[mark..];
        }
    }

    /// Reads a quoted text up to its closing quote, or to the end if there is none.
    fn text(&mut self, quote: char, has_escapes: bool) -> String {
        let mut text = String::new();
        let mut characters = self.rest[quote.len_utf8()..].chars();
        while let Some(character) = characters.next() {
            if character == '\\' && has_escapes {
                text.extend(characters.next().map(unescaped));
            } else if character != quote {
                text.push(character);
            } else if characters.as_str().starts_with(quote) {
                characters.next();
                text.push(quote);
            } else {
                break;
            }
        }
        self.rest = characters.as_str();
        text
    }
}

/// Returns the character for an escape sequence (MySQL manual, "String Literals").
fn unescaped(character: char) -> char {
    match character {
        '0' => '\0',
        'b' => '\u{8}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'Z' => '\u{1A}',
        other => other,
    }
}

/// Returns the text after white space and comments, without skipping a comment whose text the
/// server executes.
fn behind_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let is_line = rest.starts_with('#')
            || rest.strip_prefix("--").is_some_and(|after| {
                after.is_empty() || after.starts_with(|c: char| c.is_whitespace())
            });
        let after = if is_line {
            rest.split_once('\n').map_or("", |(_, after)| after)
        } else if executed_comment_mark(rest).is_some() {
            return rest;
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, after)| after)
        } else {
            return rest;
        };
        rest = after.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_standalone_question_marks_are_placeholders() {
        for (sql, expected) in [
            ("select ?", true),
            ("select '?', \"?\", `?`", false),
            ("select 'a''?', 'b\\'?'", false),
            ("select 1 -- ?\n# ?\n/* ? */ + 2", false),
            ("select 1 /*/ ? */", false),
            ("select 1 /*! + ? */", true),
            ("select 1 /*!50000 + 1 */ /* ? */", false),
            ("select 1--?", true),
            ("select `\\`, ?", true),
            ("select 'unfinished ?", false),
            ("", false),
        ] {
            assert_eq!(has_placeholders(sql), expected, "{sql}");
        }
    }

    #[test]
    fn statements_that_always_have_a_result_are_recognised() {
        for sql in [
            "SELECT 1",
            "/* a */ (( select 'into'))",
            "/*!50000 select */ 1 /* into @a */",
            "show tables",
            "-- a\nTable t",
        ] {
            assert!(returns_rows(sql), "{sql}");
        }
        for sql in [
            "delete from t returning a",
            "insert into t values (1) returning a",
            "select 1 into @a",
            "select 1 /*! into @a */",
            "call p()",
            "`select`",
            "selected",
            "(",
            "",
        ] {
            assert!(!returns_rows(sql), "{sql}");
        }
    }

    #[test]
    fn statements_that_may_load_a_file_are_recognised() {
        assert!(may_load("LOAD DATA LOCAL InFile 'x'") && may_load("select 'infile'"));
        assert!(!may_load("select file from t") && !may_load(""));
    }

    #[test]
    fn a_statement_names_the_file_that_it_loads() {
        for (sql, expected) in [
            ("load data local infile 'a.csv' into table t", Some("a.csv")),
            ("LOAD DATA CONCURRENT LOCAL\nINFILE \"it''s \\\\ \\t\" ignore", Some("it''s \\ \t")),
            ("load xml local /* no */ infile 'it''s.xml'", Some("it's.xml")),
            ("/*!50000 load data local infile 'a.csv' into table t */", Some("a.csv")),
            ("load data infile 'a.csv' into table t", None),
            ("select 1 /* local infile 'a.csv' */", None),
            ("select 'local infile', 'a.csv'", None),
            ("load data local infile ? into table t", None),
        ] {
            assert_eq!(loaded_file(sql).as_deref(), expected, "{sql}");
        }
    }
}
