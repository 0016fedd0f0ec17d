//! Arguments of `pareto(min, shape)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::generate::Pareto;
use crate::value::{Constant, Type};
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "pareto",
    parameters: &[
        Parameter::required("min", "a number or duration above zero"),
        Parameter::required("shape", "a constant number from 0.1 to 1000"),
    ],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "Pareto's distribution: above x with the probability (min/x)^shape: a duration or a \
          number with a point; the mean is min * shape / (shape - 1), and infinite for shapes up \
          to 1",
    example: "pareto(10.0, 1.5)",
};

/// The allowed shapes. With a smaller shape, values could exceed the range of a double; with a
/// larger one, all values would be close to the minimum.
const SHAPES: (f64, f64) = (0.1, 1_000.0);

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let kind = match arguments.numeric_type(1)? {
        Type::Duration => Type::Duration,
        Type::Int | Type::Real | Type::Text | Type::Timestamp => Type::Real,
    };
    let given = arguments.required(0)?;
    let above_zero = |minimum: &Constant| !minimum.is_negative() && !minimum.is_zero();
    if given.value.constant().is_some_and(|minimum| !above_zero(minimum)) {
        let shown = quoted(given.place.text());
        let error = given.place.error(format!("the minimum {shown} is not above zero"));
        return Err(error.help("every value is a multiple of the minimum").into());
    }
    let shape = arguments.constant_between(1, 1.0, SHAPES, "shape")?;
    Ok((Family::Pareto(Pareto { minimum: arguments.node(0)?, shape }), kind))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error, reals};
    use crate::generate::statistics::{assert_mean, kolmogorov_smirnov};

    #[test]
    fn golden_values_never_change() {
        check(
            "pareto(10, 1.5)",
            "16.50133089233328 22.365470832465114 10.801049463556001 27.717843625594917 \
             16.481412508831898 11.010403302396512 16.511759798421316 10.766104404590497",
        );
        check(
            "pareto(1ms, 3) / 1ms",
            "1.284575 1.495508 1.03928 1.664867 1.283799 1.049304 1.28498 1.037598",
        );
        check(
            "pareto(1s, 0.1) / 1s",
            "1831.405844633 175255.105658708 3.176795977 4379167.979367232 1798.524839956 \
             4.236901883 1848.844700185 3.026068858",
        );
    }

    #[test]
    fn values_follow_the_distribution() {
        for shape in [0.1, 1.0, 1.5, 20.0] {
            let drawn = reals(&format!("pareto(10, {shape})"), 50_000);
            kolmogorov_smirnov(&drawn, |x| 1.0 - (10.0 / x).powf(shape));
        }
        // Mean 10·3/2 and variance 10²·3/(2²·1).
        assert_mean(&reals("pareto(10, 3)", 100_000), 15.0, 75.0_f64.sqrt());
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("pareto(0, 1)", "the minimum `0` is not above zero");
        error("pareto(-1s, 1)", "the minimum `-1s` is not above zero");
        error("pareto(1, 0)", "the shape `0` is not between 0.1 and 1000");
        error("pareto(1, 1s)", "`pareto` needs a number, but `1s` is a duration");
        error("pareto('a', 1)", "`pareto` needs numbers or durations, but `'a'` is a text");
        error("pareto(1)", "`pareto` has no `shape`");
    }
}
