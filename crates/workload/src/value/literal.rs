//! Values as literals in statements that are sent as text.
//!
//! A literal gives the database the same value as a bound parameter. It has white space at both
//! ends to keep it apart from its neighbours: a minus before a negative number begins no comment,
//! and a letter before a text does not change the kind of literal.

use std::fmt::Write as _;

use base::{Dialect, Values};

use super::datum::{Datum, write_int};

/// The maximum number of bytes that one byte of a text takes in a literal.
pub(crate) const LONGEST_ESCAPE: u64 = 13;

impl Datum {
    /// Writes the value as a literal; `texts` contains its text. Allocates nothing once `out` has
    /// grown.
    pub(crate) fn write_literal(self, dialect: Dialect, texts: &Values, out: &mut String) {
        out.push(' ');
        match self {
            // The absolute value of the smallest integer is not an integer literal.
            Datum::Int(i64::MIN) => out.push_str("(-9223372036854775807-1)"),
            Datum::Int(number) => write_int(number, out),
            Datum::Real(number) => write_real(number, out),
            Datum::Text(text) => write_text(texts.resolve(text), dialect, out),
            Datum::Timestamp(time) => {
                out.push('\'');
                time.write_sql(out);
                out.push('\'');
            }
            // Plans bind no durations: databases have no such type.
            Datum::Null | Datum::Duration(_) => out.push_str("NULL"),
        }
        out.push(' ');
    }
}

/// Writes a double as the shortest text that parses to the same value. The exponent makes it a
/// double, while `1.5` would be an exact decimal.
fn write_real(number: f64, out: &mut String) {
    // Writing into a String cannot fail.
    let _ = write!(out, "{number:e}");
}

/// Writes a text between quotes. Characters that would end the literal are doubled. A NUL
/// character, which ends a statement in some databases, is written as a function call for these.
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
    fn literals_are_separated_and_keep_their_type() {
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
    fn nul_character_is_written_as_an_expression_or_verbatim() {
        check_text("a\0b", Dialect::Sqlite, " ('a'||char(0)||'b') ");
        check_text("a\0b", Dialect::Postgres, " ('a'||chr(0)||'b') ");
        check_text("a\0b", Dialect::Mysql, " 'a\0b' ");
    }
}
