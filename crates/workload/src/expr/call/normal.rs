//! Arguments of `normal(mean, sd)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic, not_negative};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::value::Type;

pub(super) static SPEC: Spec = Spec {
    name: "normal",
    parameters: &[
        Parameter::required("mean", "a number or duration"),
        Parameter::required("sd", "as the mean, not negative"),
    ],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "normally distributed with this mean and standard deviation: durations, which are never \
          below 0, or numbers with a point",
    example: "normal(100.0, 15.0)",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let kind = match arguments.numeric_type(2)? {
        Type::Duration => Type::Duration,
        Type::Int | Type::Real | Type::Text | Type::Timestamp => Type::Real,
    };
    not_negative(arguments.required(1)?, "standard deviation")?;
    Ok((Family::Normal(arguments.node(0)?, arguments.node(1)?), kind))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error, reals};
    use crate::generate::statistics::kolmogorov_smirnov;

    #[test]
    fn golden_values_never_change() {
        check(
            "normal(100, 15)",
            "117.6997257193931 101.69080770602397 107.02457047198304 123.35432987683585 \
             94.04044377704692 104.293804996018 82.81447061720442 99.12458904030188",
        );
        check(
            "normal(1ms, 1ms) / 1ms",
            "2.179981 1.11272 1.468304 2.556955 0.602696 1.286253 0.0 0.941639",
        );
    }

    #[test]
    fn mean_and_deviation_follow_the_distribution() {
        let n = 100_000;
        let drawn = reals("normal(100, 15)", n);
        let mean = drawn.iter().sum::<f64>() / n as f64;
        let variance = drawn.iter().map(|value| (value - 100.0).powi(2)).sum::<f64>() / n as f64;
        // Five standard errors.
        let error = 5.0 / (n as f64).sqrt();
        assert!((mean - 100.0).abs() < error * 15.0, "{mean}");
        assert!((variance - 225.0).abs() < error * 225.0 * 2.0_f64.sqrt(), "{variance}");
    }

    #[test]
    fn values_follow_the_distribution() {
        let law = |x: f64| 1.0 - libm::erfc((x - 100.0) / 15.0 / 2.0_f64.sqrt()) / 2.0;
        for call in ["normal(100, 15)", "normal(100ms, 15ms) / 1ms"] {
            kolmogorov_smirnov(&reals(call, 50_000), law);
        }
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("normal(1, -1)", "the standard deviation `-1` is negative");
        error("normal(1s, 1)", "`normal` needs durations on both sides, but `1` is an integer");
        error("normal(1)", "`normal` has no `sd`");
    }
}
