//! Arguments of `json(name: value, …)`.

use super::arguments::{AllowedIn, Arguments, ColonPart, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::{Family, Node};
use crate::generate::Json;
use crate::value::Type;
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "json",
    parameters: &[],
    rest: Variadic::Named,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "a JSON object (RFC 8259) as a text: numbers as numbers, texts and timestamps as strings, \
          durations as numbers of seconds, NULL as null, and a `json()` as an object inside",
    example: "json(id: row(), name: text(5), tags: json())",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let mut json = Json::new();
    for given in arguments.all() {
        let Some(ColonPart::Name(name, place)) = &given.partner else {
            continue;
        };
        if json.members().any(|member| member.name == *name) {
            let message = format!("the name {} occurs twice", quoted(place.text()));
            return Err(place.error(message).into());
        }
        let value = given.value.clone().into_node();
        let nested = is_document(&value);
        json.push(name, value, nested);
    }
    Ok((Family::Json(json), Type::Text))
}

/// Returns true if the value of an expression is always a JSON object or NULL.
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
    use crate::expr::call::golden::{check, error, family, values};
    use crate::expr::node::{Family, Node};

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
        error("json(a: 1, 'a': 2)", "the name `'a'` occurs twice");
        error("json(1: 2)", "`1` is not a name");
        error("json(a = 1)", "`1` has no name");
        error("json(a: b)", "unknown name `b`");
    }
}
