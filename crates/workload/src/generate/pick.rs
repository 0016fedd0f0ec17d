//! `pick(a, b, …)`: one of several values.

use base::{Diagnostic, Draw};

use super::{Arguments, Family, Given, Parameter, Spec};
use crate::expr::{Node, Refused, Type};
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "pick",
    parameters: &[Parameter::required("a")],
    variadic: true,
    rows_only: false,
    build,
    doc: "one of the values, each equally likely; they have one type",
    example: "pick('new', 'paid', 'sent')",
};

/// The value that is drawn.
#[inline]
pub(super) fn choice<'v>(values: &'v [Node], draw: &mut Draw) -> &'v Node {
    &values[draw.below(values.len() as u64) as usize]
}

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), Refused> {
    let kind = common_type(arguments)?;
    let mut values = Vec::new();
    for given in arguments.all() {
        values.push(
            match given.value.constant() {
                Some(constant) if kind == Type::Real => constant.widened(),
                _ if given.value.kind() == kind => Some(given.value.clone().into_node()),
                _ => None,
            }
            .ok_or_else(|| mixed(given, arguments, kind))?,
        );
    }
    Ok((Family::Pick(values), kind))
}

/// The type of the values: that of the first, or numbers with a point if there is one among
/// numbers.
fn common_type(arguments: &Arguments<'_>) -> Result<Type, Refused> {
    let mut kinds = arguments.all().map(|given| given.value.kind());
    let numbers = kinds.clone().all(Type::is_number);
    if numbers && kinds.any(|kind| kind == Type::Real) {
        return Ok(Type::Real);
    }
    Ok(arguments.required(0)?.value.kind())
}

fn mixed(given: &Given<'_>, arguments: &Arguments<'_>, kind: Type) -> Diagnostic {
    let other = arguments.all().find(|given| given.value.kind() == kind).unwrap_or(given);
    let describe = |given: &Given<'_>| {
        format!("{} is {}", quoted(given.place.text()), given.value.kind().article())
    };
    given
        .place
        .error(format!("{}, but {}", describe(given), describe(other)))
        .help("all values of `pick` have one type")
}

#[cfg(test)]
mod tests {
    use crate::generate::golden::{check, error, values};

    #[test]
    fn golden_values_never_change() {
        check("pick('new', 'paid', 'sent')", "paid sent new sent paid new paid new");
        check("pick(1, 2.5)", "2.5 2.5 1.0 2.5 2.5 1.0 2.5 1.0");
        check("pick(sequence(), -sequence())", "-1 -2 3 -4 -5 6 -7 8");
    }

    #[test]
    fn every_value_comes() {
        let drawn = values("pick('a', 'b', 'c')", 100);
        for value in ["a", "b", "c"] {
            assert!(drawn.iter().any(|drawn| drawn == value), "{value}");
        }
        assert_eq!(values("pick(7)", 2), ["7", "7"]);
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("pick()", "`pick` has no `a`");
        error("pick(1, 'a')", "`'a'` is a text, but `1` is an integer");
        error("pick('a', 1)", "`1` is an integer, but `'a'` is a text");
        error(
            "pick(uniform(1, 2), 0.5)",
            "`uniform(1, 2)` is an integer, but `0.5` is a number with a point",
        );
    }
}
