//! `json(name: value, …)`: a JSON object.

use std::ops::Range;
use std::sync::Arc;

use base::Values;

use super::datum::write_real;
use super::{Arguments, ColonPart, Datum, EvalContext, Family, Rest, Spec, Stage, write_int};
use crate::expr::{Node, Refused, Type};
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "json",
    parameters: &[],
    rest: Rest::Named,
    stage: Stage::Anywhere,
    build,
    doc: "a JSON object (RFC 8259) as a text: numbers as numbers, texts and timestamps as strings, \
          durations as numbers of seconds, NULL as null, and a `json()` as an object inside",
    example: "json(id: row(), name: text(5), tags: json())",
};

/// A JSON object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Json {
    members: Vec<Member>,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    /// Its name.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: Node,
    /// The text before its value: comma, name and colon.
    head: Arc<str>,
    /// True if the value is itself a JSON object.
    nested: bool,
}

/// The largest size of a number's text, in bytes.
const LONGEST_NUMBER: u64 = 400;

/// The largest size of an escaped byte, in bytes: `\u001f`.
const LONGEST_ESCAPE: u64 = 6;

impl Json {
    /// Returns the members in order.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.iter()
    }

    /// Returns the largest size of the object in bytes, given that of a value's text.
    pub(crate) fn longest(&self, longest: impl Fn(&Node) -> u64) -> u64 {
        let member = |member: &Member| {
            let text = longest(&member.value).saturating_mul(LONGEST_ESCAPE);
            text.max(LONGEST_NUMBER).saturating_add(member.head.len() as u64 + 2)
        };
        self.members.iter().map(member).fold(2, u64::saturating_add)
    }

    /// Evaluates the object to its text.
    ///
    /// The text of each value is appended to the buffer, then replaced by its JSON form; that of a
    /// nested object stays.
    pub(super) fn value(&self, moment: EvalContext<'_>, out: &mut Values) -> Datum {
        let start = out.text_bytes();
        out.text(|out| out.push('{'));
        for member in &self.members {
            out.text(|out| out.push_str(&member.head));
            let scrap = out.text_bytes();
            let datum = member.value.eval(moment, out);
            match datum {
                Datum::Text(_) if member.nested => {}
                Datum::Text(text) => quote(out, scrap, text.bytes()),
                _ => bare(out, scrap, datum),
            }
        }
        out.text(|out| out.push('}'));
        Datum::Text(out.text_since(start))
    }
}

/// Replaces everything after `scrap` by a text as a JSON string; the text may be in that part
/// itself.
fn quote(out: &mut Values, scrap: usize, text: Range<usize>) {
    replace(out, scrap, |out| {
        out.push('"');
        let (mut at, end) = (text.start, text.end);
        while at < end {
            let plain = out.as_bytes()[at..end].iter().take_while(|byte| is_plain(**byte)).count();
            out.extend_from_within(at..at + plain);
            at += plain;
            if at < end {
                escape(out.as_bytes()[at], out);
                at += 1;
            }
        }
        out.push('"');
    });
}

/// Replaces everything after `scrap` by a value that is not a text.
fn bare(out: &mut Values, scrap: usize, datum: Datum) {
    replace(out, scrap, |out| match datum {
        Datum::Int(number) => write_int(number, out),
        Datum::Real(number) => write_real(number, out),
        Datum::Duration(nanos) => write_seconds(nanos, out),
        Datum::Timestamp(time) => {
            out.push('"');
            time.write_sql(out);
            out.push('"');
        }
        Datum::Null | Datum::Text(_) => out.push_str("null"),
    });
}

/// Calls `write` to append, then removes the part from `scrap` to the former end.
fn replace(out: &mut Values, scrap: usize, write: impl FnOnce(&mut String)) {
    out.text(|out| {
        let end = out.len();
        write(out);
        out.drain(scrap..end);
    });
}

/// Returns true if a byte needs no escape in a string.
fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

fn escape(byte: u8, out: &mut String) {
    let short = match byte {
        b'"' | b'\\' => char::from(byte),
        b'\n' => 'n',
        b'\r' => 'r',
        b'\t' => 't',
        _ => {
            out.push_str("\\u00");
            for digit in [byte >> 4, byte & 15] {
                out.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
            }
            return;
        }
    };
    out.push('\\');
    out.push(short);
}

/// Writes a duration as an exact number of seconds: `1.5`.
fn write_seconds(nanos: i64, out: &mut String) {
    let (seconds, mut rest) =
        (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    if nanos < 0 {
        out.push('-');
    }
    write_int(seconds as i64, out);
    let mut unit = 100_000_000;
    while rest > 0 {
        if unit == 100_000_000 {
            out.push('.');
        }
        out.push(char::from(b'0' + (rest / unit) as u8));
        (rest, unit) = (rest % unit, unit / 10);
    }
}

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), Refused> {
    let mut members: Vec<Member> = Vec::new();
    for given in arguments.all() {
        let Some(ColonPart::Name(name, place)) = &given.partner else {
            continue;
        };
        if members.iter().any(|member| member.name == *name) {
            let message = format!("the name {} stands twice", quoted(place.text()));
            return Err(place.error(message).into());
        }
        let value = given.value.clone().into_node();
        let nested = is_document(&value);
        let head = head(name, members.is_empty());
        members.push(Member { name: name.clone(), value, head, nested });
    }
    Ok((Family::Json(Json { members }), Type::Text))
}

/// Returns the text before a member's value.
fn head(name: &str, first: bool) -> Arc<str> {
    let mut values = Values::new();
    let text = values.text(|out| out.push_str(name)).bytes();
    quote(&mut values, 0, text);
    let name = values.text_since(0);
    let comma = if first { "" } else { "," };
    Arc::from(format!("{comma}{}:", values.resolve(name)))
}

/// Returns true if the value of an expression is always a JSON object.
fn is_document(value: &Node) -> bool {
    let Node::Generate(generate) = value else {
        return false;
    };
    match &generate.family {
        Family::Json(_) => true,
        Family::Null(null) => is_document(&null.value),
        Family::Pick(values) => values.iter().all(is_document),
        Family::Weighted(weighted) => weighted.values().iter().all(is_document),
        Family::Uniform(_)
        | Family::Zipf(_)
        | Family::Pareto(_)
        | Family::Hotspot(_)
        | Family::Latest(_)
        | Family::Nurand(_)
        | Family::Client(_)
        | Family::Exponential(_)
        | Family::Normal(..)
        | Family::Row
        | Family::Sequence(_)
        | Family::Permute(_)
        | Family::Text(..)
        | Family::Digits(_)
        | Family::Hex(_)
        | Family::Uuid
        | Family::Timestamp(_)
        | Family::Point
        | Family::Csv(_)
        | Family::Polygon(_)
        | Family::Field(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::golden::{check, error, family, values};

    fn first(text: &str, expected: &str) {
        assert_eq!(values(text, 1), [expected], "{text}");
    }

    #[test]
    fn golden_values_never_change() {
        check(
            "json(id: row(), t: text(3))",
            "{\"id\":1,\"t\":\"mTc\"} {\"id\":2,\"t\":\"uj8\"} {\"id\":3,\"t\":\"hib\"} \
             {\"id\":4,\"t\":\"Vib\"} {\"id\":5,\"t\":\"RwO\"} {\"id\":6,\"t\":\"2e0\"} \
             {\"id\":7,\"t\":\"2TY\"} {\"id\":8,\"t\":\"jl1\"}",
        );
        first("json()", "{}");
    }

    #[test]
    fn every_type_has_its_form() {
        first(
            "json(i: -5, r: 0.5, w: 2.0, t: 'a', d: 1500ms, e: -2s, f: 1ns, at: timestamp(1h), \
             n: null(1, 'x'))",
            "{\"i\":-5,\"r\":0.5,\"w\":2.0,\"t\":\"a\",\"d\":1.5,\"e\":-2,\"f\":0.000000001,\
             \"at\":\"1970-01-01 01:00:00.000000\",\"n\":null}",
        );
    }

    #[test]
    fn texts_and_names_are_escaped() {
        first(
            r#"json('it''s "a"': "\"\\\n\r\t\u{1}\u{1f}é/\u{7f}", b: '')"#,
            "{\"it's \\\"a\\\"\":\"\\\"\\\\\\n\\r\\t\\u0001\\u001fé/\u{7f}\",\"b\":\"\"}",
        );
    }

    #[test]
    fn a_document_inside_is_an_object_and_a_text_that_looks_like_one_is_a_text() {
        first("json(a: json(b: json()), c: '{}')", "{\"a\":{\"b\":{}},\"c\":\"{}\"}");
        first("json(a: pick(json(x: 1), json(x: 1)))", "{\"a\":{\"x\":1}}");
        first("json(a: null(0, json()), b: null(1, json()))", "{\"a\":{},\"b\":null}");
        first("json(a: weighted(json(): 1), b: pick('', ''))", "{\"a\":{},\"b\":\"\"}");
    }

    #[test]
    fn object_never_exceeds_its_computed_length() {
        let call = format!(
            "json('a\"': \"{}\", b: -0.{}1, c: json())",
            "\\u{1}".repeat(500),
            "0".repeat(17)
        );
        let Family::Json(json) = family(&call) else {
            panic!("{call}");
        };
        let longest = json.longest(|value| match value {
            Node::Text(text) => text.len() as u64,
            _ => 2,
        });
        let length = values(&call, 1)[0].len() as u64;
        assert!(length > 3_000 && length <= longest, "{length} {longest}");
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("json(1)", "`1` has no name");
        error("json(a: 1, b)", "`b` has no name");
        error("json(a: 1, 'a': 2)", "the name `'a'` stands twice");
        error("json(1: 2)", "`1` is not a name");
        error("json(a = 1)", "`1` has no name");
        error("json(a: b)", "unknown name `b`");
    }
}
