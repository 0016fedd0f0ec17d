//! Arguments of `pick(a, b, …)`.

use base::Diagnostic;

use super::arguments::{AllowedIn, Arguments, CompiledArgument, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::{Family, Node};
use crate::value::Type;
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "pick",
    parameters: &[Parameter::required("a", "a value of any type, as all that follow")],
    rest: Variadic::Values,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "one of the values, each equally likely; they have one type",
    example: "pick('new', 'paid', 'sent')",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let (values, kind) = values(arguments)?;
    Ok((Family::Pick(values), kind))
}

/// Returns all arguments as values of one type.
pub(super) fn values(arguments: &Arguments<'_>) -> Result<(Vec<Node>, Type), InvalidExpr> {
    let kind = common_type(arguments)?;
    let mut values = Vec::new();
    for given in arguments.all() {
        values.push(
            match given.value.constant() {
                Some(constant) if kind == Type::Real => constant.widened(),
                _ if given.value.kind() == kind => Some(given.value.clone().into_node()),
                _ => None,
            }
            .ok_or_else(|| mixed_types(given, arguments, kind))?,
        );
    }
    Ok((values, kind))
}

/// Returns the common type of the values: real if all are numbers and one is real, otherwise the
/// type of the first value.
fn common_type(arguments: &Arguments<'_>) -> Result<Type, InvalidExpr> {
    let mut kinds = arguments.all().map(|given| given.value.kind());
    let numbers = kinds.clone().all(Type::is_number);
    if numbers && kinds.any(|kind| kind == Type::Real) {
        return Ok(Type::Real);
    }
    Ok(arguments.required(0)?.value.kind())
}

fn mixed_types(given: &CompiledArgument<'_>, arguments: &Arguments<'_>, kind: Type) -> Diagnostic {
    let other = arguments.all().find(|given| given.value.kind() == kind).unwrap_or(given);
    let describe = |given: &CompiledArgument<'_>| {
        format!("{} is {}", quoted(given.place.text()), given.value.kind().article())
    };
    given
        .place
        .error(format!("{}, but {}", describe(given), describe(other)))
        .help(format!("all values of `{}` have one type", arguments.name()))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error, values};
    use crate::generate::statistics::chi_square;

    #[test]
    fn golden_values_never_change() {
        check("pick('new', 'paid', 'sent')", "paid sent new sent paid new paid new");
        check("pick(1, 2.5)", "2.5 2.5 1.0 2.5 2.5 1.0 2.5 1.0");
        check("pick(sequence(), -sequence())", "-1 -2 3 -4 -5 6 -7 8");
    }

    #[test]
    fn every_value_comes_equally_often() {
        let mut counts = [0; 7];
        for value in values("pick(0, 1, 2, 3, 4, 5, 6)", 70_000) {
            counts[value.parse::<usize>().unwrap()] += 1;
        }
        chi_square(&counts, &[1.0 / 7.0; 7]);
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
