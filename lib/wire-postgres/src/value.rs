//! The values of a statement's parameters, and their transfer formats.

use std::fmt;
use std::io::Write;

use crate::{Oid, temporal};

/// A value for a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'v> {
    /// SQL's NULL.
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A double-precision float.
    Real(f64),
    /// A text. For a type of fixed width, the text must be a number, a Boolean, … in a form that
    /// the server accepts.
    Text(&'v str),
}

/// The transfer form of a parameter's values: types of fixed width in binary, all others as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// `boolean`, one byte.
    Bool,
    /// `smallint`, two bytes.
    Int2,
    /// `integer`, four bytes.
    Int4,
    /// `bigint`, eight bytes.
    Int8,
    /// `oid`, four bytes, unsigned.
    Oid,
    /// `real`, four bytes.
    Float4,
    /// `double precision`, eight bytes.
    Float8,
    /// `date`, four bytes: days since 2000-01-01.
    Date,
    /// `time`, eight bytes: microseconds since midnight.
    Time,
    /// `timestamp`, eight bytes: microseconds since 2000-01-01.
    Timestamp,
    /// `timestamptz`, eight bytes: microseconds since 2000-01-01 UTC.
    TimestampTz,
    /// `uuid`, sixteen bytes.
    Uuid,
    /// Every other type: its values are sent as text, which the server converts.
    Text,
}

impl ParameterType {
    /// Returns the transfer form for the type with this object id.
    pub fn of(oid: Oid) -> ParameterType {
        match oid {
            Oid::BOOL => ParameterType::Bool,
            Oid::INT2 => ParameterType::Int2,
            Oid::INT4 => ParameterType::Int4,
            Oid::INT8 => ParameterType::Int8,
            Oid::OID => ParameterType::Oid,
            Oid::FLOAT4 => ParameterType::Float4,
            Oid::FLOAT8 => ParameterType::Float8,
            Oid::DATE => ParameterType::Date,
            Oid::TIME => ParameterType::Time,
            Oid::TIMESTAMP => ParameterType::Timestamp,
            Oid::TIMESTAMPTZ => ParameterType::TimestampTz,
            Oid::UUID => ParameterType::Uuid,
            Oid(_) => ParameterType::Text,
        }
    }

    /// Returns the width of the binary form in bytes; `None` if values are sent as text.
    pub fn width(self) -> Option<u8> {
        match self {
            ParameterType::Bool => Some(1),
            ParameterType::Int2 => Some(2),
            ParameterType::Int4
            | ParameterType::Oid
            | ParameterType::Float4
            | ParameterType::Date => Some(4),
            ParameterType::Int8
            | ParameterType::Float8
            | ParameterType::Time
            | ParameterType::Timestamp
            | ParameterType::TimestampTz => Some(8),
            ParameterType::Uuid => Some(16),
            ParameterType::Text => None,
        }
    }

    /// Returns its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            ParameterType::Bool => "boolean",
            ParameterType::Int2 => "smallint",
            ParameterType::Int4 => "integer",
            ParameterType::Int8 => "bigint",
            ParameterType::Oid => "oid",
            ParameterType::Float4 => "real",
            ParameterType::Float8 => "double precision",
            ParameterType::Date => "date",
            ParameterType::Time => "time",
            ParameterType::Timestamp => "timestamp",
            ParameterType::TimestampTz => "timestamp with time zone",
            ParameterType::Uuid => "uuid",
            ParameterType::Text => "text",
        }
    }
}

/// An error for a value that cannot be encoded in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// Index of the value in the request, from 0.
    pub parameter: usize,
    /// Kind of the error.
    pub kind: ValueErrorKind,
}

/// The kind of an error in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueErrorKind {
    /// The value cannot be converted to its parameter's type.
    NotOfType(ParameterType),
    /// The value is outside the range of its parameter's type.
    OutOfRange(ParameterType),
    /// The value is missing: the statements take more values than were given.
    Missing,
    /// The value is surplus: more values were given than the statements take.
    Surplus,
    /// The message with the value would exceed 2 GiB.
    TooLong,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "value {} ", self.parameter.saturating_add(1))?;
        match self.kind {
            ValueErrorKind::NotOfType(kind) => {
                write!(f, "cannot be of its parameter's type {}", kind.name())
            }
            ValueErrorKind::OutOfRange(kind) => {
                write!(f, "is out of the range of its parameter's type {}", kind.name())
            }
            ValueErrorKind::Missing => f.write_str("is missing"),
            ValueErrorKind::Surplus => f.write_str("is one too many"),
            ValueErrorKind::TooLong => f.write_str("is too long"),
        }
    }
}

impl std::error::Error for ValueError {}

/// The form in which a value is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EncodedForm {
    /// The value was written in binary.
    Binary,
    /// The value is NULL, which has no width.
    Null,
    /// The value must be sent as text: its type has no binary form here, or only the server can
    /// parse the text.
    Text,
}

/// Writes a value to the beginning of `place` in the binary form of its parameter's type, if it has
/// such a form. Returns the form in which the value must be sent.
#[inline]
pub(crate) fn patch(
    place: &mut [u8],
    kind: ParameterType,
    value: Value<'_>,
) -> Result<EncodedForm, ValueErrorKind> {
    match (kind, value) {
        (ParameterType::Int8, Value::Int(int)) => Ok(put(place, int.to_be_bytes())),
        (ParameterType::Int4, Value::Int(int)) => match i32::try_from(int) {
            Ok(int) => Ok(put(place, int.to_be_bytes())),
            Err(_) => Err(ValueErrorKind::OutOfRange(kind)),
        },
        (ParameterType::Float8, Value::Real(real)) => Ok(put(place, real.to_be_bytes())),
        (_, Value::Null) => Ok(EncodedForm::Null),
        (_, Value::Int(int)) => patch_int(place, kind, int),
        (_, Value::Real(real)) => patch_real(place, kind, real),
        (_, Value::Text(text)) => patch_text(place, kind, text),
    }
}

#[inline]
fn put<const N: usize>(place: &mut [u8], bytes: [u8; N]) -> EncodedForm {
    match place.first_chunk_mut::<N>() {
        Some(place) => {
            *place = bytes;
            EncodedForm::Binary
        }
        // There is too little room. This does not happen, as a template reserves the width of the
        // type; a text would always be correct.
        None => EncodedForm::Text,
    }
}

fn patch_int(
    place: &mut [u8],
    kind: ParameterType,
    int: i64,
) -> Result<EncodedForm, ValueErrorKind> {
    let far = |_| ValueErrorKind::OutOfRange(kind);
    Ok(match kind {
        ParameterType::Int8 => put(place, int.to_be_bytes()),
        ParameterType::Int4 => put(place, i32::try_from(int).map_err(far)?.to_be_bytes()),
        ParameterType::Int2 => put(place, i16::try_from(int).map_err(far)?.to_be_bytes()),
        ParameterType::Oid => put(place, u32::try_from(int).map_err(far)?.to_be_bytes()),
        ParameterType::Float8 => put(place, (int as f64).to_be_bytes()),
        ParameterType::Float4 => put(place, (int as f32).to_be_bytes()),
        ParameterType::Bool => match int {
            0 | 1 => put(place, [u8::from(int == 1)]),
            _ => return Err(ValueErrorKind::NotOfType(kind)),
        },
        ParameterType::Date
        | ParameterType::Time
        | ParameterType::Timestamp
        | ParameterType::TimestampTz
        | ParameterType::Uuid => return Err(ValueErrorKind::NotOfType(kind)),
        ParameterType::Text => EncodedForm::Text,
    })
}

/// Bound of doubles that fit a 64-bit integer: 2^63. Larger values and 2^63 itself do not fit, nor
/// do values below -2^63.
const BEYOND_INT8: f64 = 9_223_372_036_854_775_808.0;

fn patch_real(
    place: &mut [u8],
    kind: ParameterType,
    real: f64,
) -> Result<EncodedForm, ValueErrorKind> {
    match kind {
        ParameterType::Float8 => Ok(put(place, real.to_be_bytes())),
        ParameterType::Float4 => {
            let short = real as f32;
            let is_lost =
                (short.is_infinite() && real.is_finite()) || (short == 0.0 && real != 0.0);
            match is_lost {
                true => Err(ValueErrorKind::OutOfRange(kind)),
                false => Ok(put(place, short.to_be_bytes())),
            }
        }
        // The result of arithmetic is a double, even if its value is an integer.
        ParameterType::Int2 | ParameterType::Int4 | ParameterType::Int8 | ParameterType::Oid => {
            match real {
                _ if real.fract() != 0.0 => Err(ValueErrorKind::NotOfType(kind)),
                _ if (-BEYOND_INT8..BEYOND_INT8).contains(&real) => {
                    patch_int(place, kind, real as i64)
                }
                _ => Err(ValueErrorKind::OutOfRange(kind)),
            }
        }
        ParameterType::Bool
        | ParameterType::Date
        | ParameterType::Time
        | ParameterType::Timestamp
        | ParameterType::TimestampTz
        | ParameterType::Uuid => Err(ValueErrorKind::NotOfType(kind)),
        ParameterType::Text => Ok(EncodedForm::Text),
    }
}

fn patch_text(
    place: &mut [u8],
    kind: ParameterType,
    text: &str,
) -> Result<EncodedForm, ValueErrorKind> {
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
    // A text that is not a plain ISO time may be valid for the server: `now`, another style, a zone
    // name.
    let or_text = |stamp: Option<i64>, place: &mut [u8]| match stamp {
        Some(stamp) => put(place, stamp.to_be_bytes()),
        None => EncodedForm::Text,
    };
    Ok(match kind {
        ParameterType::Int2 | ParameterType::Int4 | ParameterType::Int8 | ParameterType::Oid => {
            return patch_digits(place, kind, text);
        }
        ParameterType::Float4 => put(place, float::<f32>(text, kind)?.to_be_bytes()),
        ParameterType::Float8 => put(place, float::<f64>(text, kind)?.to_be_bytes()),
        ParameterType::Bool => match parse_bool(text) {
            Some(truth) => put(place, [u8::from(truth)]),
            None => return Err(ValueErrorKind::NotOfType(kind)),
        },
        ParameterType::Uuid => match uuid(text.as_bytes()) {
            Some(uuid) => put(place, uuid),
            None => return Err(ValueErrorKind::NotOfType(kind)),
        },
        ParameterType::Date => match temporal::date(text) {
            Some(days) => put(place, days.to_be_bytes()),
            None => EncodedForm::Text,
        },
        ParameterType::Time => or_text(temporal::time(text), place),
        ParameterType::Timestamp => or_text(temporal::timestamp(text), place),
        ParameterType::TimestampTz => or_text(temporal::timestamptz(text), place),
        ParameterType::Text => EncodedForm::Text,
    })
}

fn patch_digits(
    place: &mut [u8],
    kind: ParameterType,
    text: &str,
) -> Result<EncodedForm, ValueErrorKind> {
    if let Ok(int) = text.parse::<i64>() {
        return patch_int(place, kind, int);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit());
    // Servers from version 16 accept 0x1F and 1_000.
    let is_newer = unsigned.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && unsigned.starts_with(|c: char| c.is_ascii_digit());
    match (is_number, is_newer) {
        (true, _) => Err(ValueErrorKind::OutOfRange(kind)),
        (false, true) => Ok(EncodedForm::Text),
        (false, false) => Err(ValueErrorKind::NotOfType(kind)),
    }
}

/// Parses a floating-point number. A number that is too large or too small is an error, as it is
/// for the server.
fn float<F: std::str::FromStr + Into<f64> + Copy>(
    text: &str,
    kind: ParameterType,
) -> Result<F, ValueErrorKind> {
    let number: F = text.parse().map_err(|_| ValueErrorKind::NotOfType(kind))?;
    let value: f64 = number.into();
    let is_infinity = text.bytes().any(|byte| byte.eq_ignore_ascii_case(&b'i'));
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    match (value.is_infinite() && !is_infinity) || (value == 0.0 && !is_zero) {
        true => Err(ValueErrorKind::OutOfRange(kind)),
        false => Ok(number),
    }
}

/// Parses a Boolean by the server's rules. True is `on`, `1`, or a prefix of `true` or `yes`; false
/// is `off`, `of`, `0`, or a prefix of `false` or `no`.
fn parse_bool(text: &str) -> Option<bool> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    let begins = |word: &str| {
        let begin = word.get(..text.len());
        !text.is_empty() && begin.is_some_and(|begin| begin.eq_ignore_ascii_case(text))
    };
    if is("on") || is("1") || begins("true") || begins("yes") {
        Some(true)
    } else if is("of") || is("off") || is("0") || begins("false") || begins("no") {
        Some(false)
    } else {
        None
    }
}

/// Parses thirty-two hexadecimal digits; a hyphen may follow each group of four, and braces may
/// surround them.
fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    let mut rest = match text.split_first() {
        Some((b'{', rest)) => rest.strip_suffix(b"}")?,
        _ => text,
    };
    let mut uuid = [0; 16];
    for (index, byte) in uuid.iter_mut().enumerate() {
        let ([high, low], after) = rest.split_first_chunk::<2>()?;
        *byte = hex(*high)? << 4 | hex(*low)?;
        rest = match after.split_first() {
            Some((b'-', after)) if index % 2 == 1 && index < 15 => after,
            _ => after,
        };
    }
    rest.is_empty().then_some(uuid)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Appends a value as text in a form that the server accepts; nothing for NULL.
pub(crate) fn append_text(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Null => {}
        Value::Int(int) => out.extend_from_slice(itoa::Buffer::new().format(int).as_bytes()),
        Value::Real(real) => append_real(out, real),
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
    }
}

fn append_real(out: &mut Vec<u8>, real: f64) {
    // Writing to memory cannot fail.
    let _ = match is_plain(real) {
        true => write!(out, "{real}"),
        false => write!(out, "{real:e}"),
    };
}

/// Returns true if the number is short when written without an exponent.
fn is_plain(real: f64) -> bool {
    real == 0.0 || (1e-5..1e16).contains(&real.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the binary form of a value; for NULL and texts, a description; or an error.
    fn bytes(kind: ParameterType, value: Value<'_>) -> Result<Vec<u8>, ValueErrorKind> {
        let mut place = vec![0; usize::from(kind.width().unwrap_or(0))];
        match patch(&mut place, kind, value)? {
            EncodedForm::Binary => Ok(place),
            EncodedForm::Null => Ok(b"NULL".to_vec()),
            EncodedForm::Text => {
                let mut text = b"text ".to_vec();
                append_text(&mut text, value);
                Ok(text)
            }
        }
    }

    fn check(kind: ParameterType, value: Value<'_>, expected: &[u8]) {
        assert_eq!(bytes(kind, value).as_deref(), Ok(expected), "{kind:?} {value:?}");
    }

    fn refused(kind: ParameterType, value: Value<'_>) {
        let error = Err(ValueErrorKind::NotOfType(kind));
        assert_eq!(bytes(kind, value), error, "{kind:?} {value:?}");
    }

    fn too_far(kind: ParameterType, value: Value<'_>) {
        let error = Err(ValueErrorKind::OutOfRange(kind));
        assert_eq!(bytes(kind, value), error, "{kind:?} {value:?}");
    }

    #[test]
    fn integers_take_the_width_of_their_type() {
        use ParameterType::{Bool, Date, Float4, Float8, Int2, Int4, Int8, Oid, Text, Uuid};
        check(Int8, Value::Int(-2), &(-2_i64).to_be_bytes());
        check(Int4, Value::Int(7), &[0, 0, 0, 7]);
        check(Int2, Value::Int(-32_768), &[0x80, 0]);
        check(Oid, Value::Int(4_294_967_295), &[0xff; 4]);
        check(Bool, Value::Int(1), &[1]);
        check(Float8, Value::Int(3), &3.0_f64.to_be_bytes());
        check(Float4, Value::Int(3), &3.0_f32.to_be_bytes());
        check(Text, Value::Int(i64::MIN), b"text -9223372036854775808");
        too_far(Int4, Value::Int(1 << 31));
        too_far(Int2, Value::Int(32_768));
        too_far(Oid, Value::Int(-1));
        refused(Bool, Value::Int(2));
        refused(Date, Value::Int(0));
        refused(Uuid, Value::Int(0));
    }

    #[test]
    fn doubles_become_integers_only_if_nothing_is_lost() {
        use ParameterType::{Bool, Float4, Float8, Int4, Int8, Text, Timestamp};
        check(Float8, Value::Real(0.5), &0.5_f64.to_be_bytes());
        check(Float4, Value::Real(0.5), &0.5_f32.to_be_bytes());
        check(Int4, Value::Real(-3.0), &(-3_i32).to_be_bytes());
        check(Int8, Value::Real(-BEYOND_INT8), &i64::MIN.to_be_bytes());
        too_far(Int8, Value::Real(BEYOND_INT8));
        too_far(Int4, Value::Real(3e9));
        too_far(Float4, Value::Real(1e39));
        too_far(Float4, Value::Real(1e-60));
        for real in [0.5, f64::NAN, f64::INFINITY] {
            refused(Int8, Value::Real(real));
        }
        refused(Bool, Value::Real(1.0));
        refused(Timestamp, Value::Real(1.0));
        check(Text, Value::Real(2.5), b"text 2.5");
        check(Text, Value::Real(1e300), b"text 1e300");
        check(Text, Value::Real(-1e-7), b"text -1e-7");
    }

    #[test]
    fn texts_are_parsed_like_the_server_does() {
        use ParameterType::{Bool, Float4, Float8, Int2, Int4, Int8};
        check(Int4, Value::Text(" 42\n"), &[0, 0, 0, 42]);
        check(Int8, Value::Text("+1"), &1_i64.to_be_bytes());
        check(Int8, Value::Text("1_000"), b"text 1_000");
        check(Int8, Value::Text("0x1F"), b"text 0x1F");
        too_far(Int2, Value::Text("40000"));
        too_far(Int8, Value::Text("9223372036854775808"));
        check(Float8, Value::Text("-1.5e3"), &(-1500_f64).to_be_bytes());
        check(Float8, Value::Text("Infinity"), &f64::INFINITY.to_be_bytes());
        check(Float4, Value::Text("0e9"), &[0; 4]);
        too_far(Float8, Value::Text("1e400"));
        too_far(Float4, Value::Text("1e-60"));
        for text in ["", "x", "1.5", "--1", "1 2", "+"] {
            refused(Int8, Value::Text(text));
        }
        refused(Float8, Value::Text("one"));
        for text in ["t", "TRUE", "y", "yes", "on", "1"] {
            check(Bool, Value::Text(text), &[1]);
        }
        for text in ["f", "fal", "n", "no", "off", "of", "0"] {
            check(Bool, Value::Text(text), &[0]);
        }
        for text in ["", "o", "truee", "2", "\u{e9}"] {
            refused(Bool, Value::Text(text));
        }
    }

    #[test]
    fn iso_times_are_binary_and_others_text() {
        use ParameterType::{Date, Time, Timestamp, TimestampTz};
        check(Date, Value::Text("2000-01-02"), &[0, 0, 0, 1]);
        check(Date, Value::Text("tomorrow"), b"text tomorrow");
        check(Time, Value::Text("00:00:01"), &1_000_000_i64.to_be_bytes());
        check(Time, Value::Text("1 pm"), b"text 1 pm");
        check(Timestamp, Value::Text("2000-01-01 00:00"), &[0; 8]);
        check(Timestamp, Value::Text("now"), b"text now");
        check(TimestampTz, Value::Text("2000-01-01 00:00Z"), &[0; 8]);
        check(TimestampTz, Value::Text("2000-01-01"), b"text 2000-01-01");
    }

    #[test]
    fn identifiers_are_read_in_each_of_their_forms() {
        use ParameterType::Uuid;
        let expected: Vec<u8> = (0..16).map(|byte| byte * 16 + byte).collect();
        for text in [
            "00112233-4455-6677-8899-aabbccddeeff",
            "00112233445566778899AABBCCDDEEFF",
            "{0011-2233-4455-6677-8899-aabb-ccdd-eeff}",
        ] {
            check(Uuid, Value::Text(text), &expected);
        }
        for text in [
            "",
            "0011",
            "{00112233445566778899aabbccddeeff",
            "g0112233445566778899aabbccddeeff",
            "00112233445566778899aabbccddeeff0",
            "0-0112233445566778899aabbccddeeff",
        ] {
            refused(Uuid, Value::Text(text));
        }
    }

    #[test]
    fn null_is_of_every_type() {
        check(ParameterType::Int4, Value::Null, b"NULL");
        check(ParameterType::Text, Value::Null, b"NULL");
    }
}
