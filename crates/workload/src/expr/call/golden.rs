//! Test helpers that evaluate expressions.

use std::collections::BTreeMap;

use base::{Seed, Values, WallTime};

use crate::expr::{
    Compiled, EvalContext, ExprContext, Family, InvalidExpr, NO_VARIABLES, Node, Position, Scope,
    compile, parse_all,
};
use crate::generate::{Points, Tables};
use crate::read::LocatedText;
use crate::value::Datum;

/// Returns the files that examples read.
fn files() -> BTreeMap<String, Vec<u8>> {
    let files = [
        crate::reference::STREETS,
        ("one.csv", "a\r\nb"),
        ("twice.csv", "a,a\n1,2\n"),
        ("empty.csv", ""),
        ("header.csv", "a\n"),
        ("broken.csv", "a,b\nc\n"),
    ];
    files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into()
}

/// Checks the first eight values of an expression, which must stay the same across versions.
pub(crate) fn check(text: &str, expected: &str) {
    assert_eq!(values(text, 8).join(" "), expected, "{text}");
}

/// Checks the message of an invalid expression.
pub(crate) fn error(text: &str, expected: &str) {
    let InvalidExpr(diagnostic) = compiled(text).expect_err(text);
    assert_eq!(diagnostic.expect("a diagnostic").message, expected, "{text}");
}

/// Returns the first values of an expression as text.
pub(crate) fn values(text: &str, count: usize) -> Vec<String> {
    let written = |(datum, texts): (Datum, Values)| {
        let mut out = String::new();
        datum.splice(&texts, &mut out);
        out
    };
    drawn(text, count).map(written).collect()
}

/// Returns the first values of an integer expression.
pub(crate) fn ints(text: &str, count: usize) -> Vec<i64> {
    let int = |(datum, _)| match datum {
        Datum::Int(number) => number,
        other => panic!("an integer, not {other:?}"),
    };
    drawn(text, count).map(int).collect()
}

/// Returns the first values of a real expression.
pub(crate) fn reals(text: &str, count: usize) -> Vec<f64> {
    let real = |(datum, _)| match datum {
        Datum::Real(number) => number,
        other => panic!("a real, not {other:?}"),
    };
    drawn(text, count).map(real).collect()
}

/// Returns the generator of an expression that is a single call.
pub(crate) fn family(text: &str) -> Family {
    match compiled(text).expect(text).into_node() {
        Node::Generate(generate) => generate.family,
        other => panic!("a generator, not {other:?}"),
    }
}

fn drawn(text: &str, count: usize) -> impl Iterator<Item = (Datum, Values)> {
    let node = compiled(text).expect(text).into_node();
    (0..count as u64).map(move |number| {
        let mut texts = Values::new();
        let context = EvalContext {
            number,
            draw: number,
            started: WallTime::EPOCH,
            variables: &[],
            texts: None,
            record: None,
        };
        let datum = node.eval(context, &mut texts);
        (datum, texts)
    })
}

fn compiled(text: &str) -> Result<Compiled, InvalidExpr> {
    let located = LocatedText::whole(text, 0);
    let ast = parse_all(located.excerpt())?;
    let position = Position { seed: Seed(42), job: "load golden", place: "column value" };
    let files = files();
    let tables = Tables::new(&files);
    let scope = Scope {
        params: &BTreeMap::new(),
        variables: &NO_VARIABLES,
        context: ExprContext::Row(position),
        points: Points::NoTable,
        tables: Some(&tables),
        inserted: None,
    };
    compile(&ast, located.excerpt(), scope)
}
