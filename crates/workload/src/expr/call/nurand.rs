//! Arguments of `nurand(a, lo, hi)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::expr::scope::ExprContext;
use crate::generate::Nurand;
use crate::value::{Constant, Type};
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "nurand",
    parameters: &[
        Parameter::required("a", "a constant integer, not negative"),
        Parameter::required("lo", "a constant integer, not negative"),
        Parameter::required("hi", "a constant integer"),
    ],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "NURand of TPC-C (clause 2.1.6): ((uniform(0, a) | uniform(lo, hi)) + C) mod \
          (hi - lo + 1) + lo; C is drawn from 0 to a by the seed and a alone, and is the same \
          in all places of a file",
    example: "nurand(255, 0, 999)",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let a = arguments.constant_int(0, 0)?;
    let ends = arguments.constant_range(1)?;
    for place in [0, 1] {
        let given = arguments.required(place)?;
        if given.value.constant().is_some_and(Constant::is_negative) {
            let shown = quoted(given.place.text());
            let error =
                given.place.error(format!("`nurand` combines bits, but {shown} is negative"));
            return Err(error.help("add the offset after it: `nurand(255, 0, 99) - 50`").into());
        }
    }
    let seed = match arguments.scope.context {
        ExprContext::Request(position, _) | ExprContext::Row(position) => position.seed,
        // Generators are not allowed there.
        ExprContext::Fixed(_) => return Err(InvalidExpr(None)),
    };
    Ok((Family::Nurand(Nurand::new(a, ends, seed)), Type::Int))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error};

    #[test]
    fn golden_values_never_change() {
        check("nurand(255, 0, 999)", "30 326 58 274 774 233 758 358");
        check("nurand(8191, 1, 100000)", "2628 31324 4044 14435 76762 23020 62939 34408");
        check("nurand(0, 5, 5)", "5 5 5 5 5 5 5 5");
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("nurand(255, 2, 1)", "the range is empty: `2` is above `1`");
        error("nurand(-1, 0, 1)", "`nurand` combines bits, but `-1` is negative");
        error("nurand(1, -5, 1)", "`nurand` combines bits, but `-5` is negative");
        error("nurand(1.5, 0, 1)", "`nurand` needs an integer, but `1.5` is a number with a point");
        error("nurand(255, 1)", "`nurand` has no `hi`");
    }
}
