//! Arguments of `uniform(lo, hi)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::{Compiled, InvalidExpr};
use crate::expr::node::{Family, Node};
use crate::generate::{Ints, Uniform};
use crate::value::{Constant, Type};
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "uniform",
    parameters: &[
        Parameter::required("lo", "a number or duration"),
        Parameter::required("hi", "as lo"),
    ],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "each value from lo to hi equally likely: integers and durations with both ends, \
          numbers with a point without the upper end",
    example: "uniform(1, 1000)",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let kind = arguments.numeric_type(2)?;
    let (lo, hi) = (arguments.required(0)?, arguments.required(1)?);
    let uniform = match (&lo.value, &hi.value) {
        (Compiled::Constant(a), Compiled::Constant(b)) => {
            let (range, ordered) = constant(a, b);
            if !ordered {
                let (a, b) = (quoted(lo.place.text()), quoted(hi.place.text()));
                let call = arguments.call();
                return Err(call
                    .error(format!("the range is empty: {a} is above {b}"))
                    .help("write the lower end first")
                    .into());
            }
            range
        }
        _ => Uniform::Computed(Box::new((arguments.node(0)?, arguments.node(1)?))),
    };
    Ok((Family::Uniform(uniform), kind))
}

/// Returns the range between two constants of one type, and true if they are in ascending order.
fn constant(a: &Constant, b: &Constant) -> (Uniform<Node>, bool) {
    match (a, b) {
        (Constant::Int(a), Constant::Int(b)) => (Uniform::Ints(Ints::between(*a, *b)), a <= b),
        (Constant::Duration(a), Constant::Duration(b)) => {
            (Uniform::Durations(Ints::between(*a, *b)), a <= b)
        }
        (a, b) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            (Uniform::Reals(a, b), a <= b)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error};

    #[test]
    fn golden_values_never_change() {
        check("uniform(1, 1000)", "529 702 110 784 528 135 529 105");
        check("uniform(-5, 5)", "0 2 -4 3 0 -4 0 -4");
        check(
            "uniform(0.0, 1)",
            "0.5282395376333078 0.7010263372157063 0.10915721371582587 0.7832990378685287 \
             0.5273840699088326 0.1344440237683432 0.5286864162826221 0.10481639552202127",
        );
        check("uniform(1, uniform(1, 10))", "4 6 1 8 5 1 4 1");
        check(
            "uniform(1s, 2s) / 1s",
            "1.528239538 1.701026337 1.109157213 1.783299038 1.52738407 1.134444023 \
             1.528686416 1.104816395",
        );
    }

    #[test]
    fn empty_ranges_and_mixed_types_are_refused() {
        error("uniform(2, 1)", "the range is empty: `2` is above `1`");
        error("uniform(1, 2s)", "`uniform` needs numbers on both sides, but `2s` is a duration");
        error("uniform('a', 2)", "`uniform` needs numbers or durations, but `'a'` is a text");
    }
}
