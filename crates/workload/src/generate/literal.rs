//! How is a value written into a statement that is sent as text?
//!
//! As a literal that gives the database the value that it would have been bound to. White space
//! stands at both of its ends, so that nothing beside it becomes a part of it: a minus before a
//! negative number begins no comment, and a letter before a text makes no other kind of literal.

use std::fmt::Write as _;

use base::{Dialect, Values};

use super::{Datum, write_int};

/// How many bytes one byte of a text may need in a literal.
pub(crate) const LONGEST_ESCAPE: u64 = 13;

impl Datum {
    /// Writes the value as a literal; `texts` is where texts lie. Allocates nothing once `out` has
    /// grown to its size.
    pub(crate) fn write_literal(self, dialect: Dialect, texts: &Values, out: &mut String) {
        out.push(' ');
        match self {
            // Without its sign the lowest integer is none.
            Datum::Int(i64::MIN) => out.push_str("(-9223372036854775807-1)"),
            Datum::Int(number) => write_int(number, out),
            Datum::Real(number) => write_real(number, out),
            Datum::Text(text) => write_text(texts.resolve(text), dialect, out),
            Datum::Timestamp(time) => {
                out.push('\'');
                time.write_sql(out);
                out.push('\'');
            }
            // A plan binds no duration: databases have no such value.
            Datum::Null | Datum::Duration(_) => out.push_str("NULL"),
        }
        out.push(' ');
    }
}

/// Writes a double as the shortest text that reads back. The exponent makes it a double where
/// `1.5` would be an exact decimal.
fn write_real(number: f64, out: &mut String) {
    // Writing into a String cannot fail.
    let _ = write!(out, "{number:e}");
}

/// Writes a text between quotes. What would end the literal before its end is doubled; a zero
/// character, which ends a statement in some databases, is made by a function there.
fn write_text(text: &str, dialect: Dialect, out: &mut String) {
    let zero = match dialect {
        Dialect::Mysql => None,
        Dialect::Postgres => Some("'||chr(0)||'"),
        Dialect::Sqlite => Some("'||char(0)||'"),
    };
    let zero = zero.filter(|_| text.contains('\0'));
    out.push_str(if zero.is_some() { "('" } else { "'" });
    for character in text.chars() {
        match (character, dialect, zero) {
            ('\'', ..) => out.push_str("''"),
            ('\\', Dialect::Mysql, _) => out.push_str("\\\\"),
            ('\0', _, Some(zero)) => out.push_str(zero),
            _ => out.push(character),
        }
    }
    out.push_str(if zero.is_some() { "')" } else { "'" });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(datum: Datum, dialect: Dialect, expected: &str) {
        let mut out = String::new();
        datum.write_literal(dialect, &Values::new(), &mut out);
        assert_eq!(out, expected);
    }

    fn check_text(text: &str, dialect: Dialect, expected: &str) {
        let mut values = Values::new();
        let datum = Datum::Text(values.text(|out| out.push_str(text)));
        let mut out = String::new();
        datum.write_literal(dialect, &values, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn numbers_stand_apart_and_keep_their_kind() {
        for dialect in Dialect::ALL {
            check(Datum::Int(-1), dialect, " -1 ");
            check(Datum::Int(i64::MIN), dialect, " (-9223372036854775807-1) ");
            check(Datum::Int(i64::MAX), dialect, " 9223372036854775807 ");
            check(Datum::Real(2.0), dialect, " 2e0 ");
            check(Datum::Real(-0.1), dialect, " -1e-1 ");
            check(Datum::Real(f64::MAX), dialect, " 1.7976931348623157e308 ");
            check(Datum::Null, dialect, " NULL ");
            check(Datum::Duration(5), dialect, " NULL ");
            check(
                Datum::Timestamp(base::WallTime::EPOCH),
                dialect,
                " '1970-01-01 00:00:00.000000' ",
            );
        }
    }

    #[test]
    fn a_text_cannot_end_its_literal() {
        let text = "a'b\\'; -- \n\"`";
        check_text(text, Dialect::Sqlite, " 'a''b\\''; -- \n\"`' ");
        check_text(text, Dialect::Postgres, " 'a''b\\''; -- \n\"`' ");
        check_text(text, Dialect::Mysql, " 'a''b\\\\''; -- \n\"`' ");
        check_text("", Dialect::Mysql, " '' ");
    }

    #[test]
    fn a_zero_character_ends_no_statement() {
        check_text("a\0b", Dialect::Sqlite, " ('a'||char(0)||'b') ");
        check_text("a\0b", Dialect::Postgres, " ('a'||chr(0)||'b') ");
        check_text("a\0b", Dialect::Mysql, " 'a\0b' ");
    }
}
