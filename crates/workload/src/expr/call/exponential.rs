//! Arguments of `exp(mean)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic, not_negative};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::value::Type;

pub(super) static SPEC: Spec = Spec {
    name: "exp",
    parameters: &[Parameter::required("mean", "a number or duration, not negative")],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "exponentially distributed with this mean: a duration or a number with a point",
    example: "exp(20.0)",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let kind = match arguments.numeric_type(1)? {
        Type::Duration => Type::Duration,
        Type::Int | Type::Real | Type::Text | Type::Timestamp => Type::Real,
    };
    not_negative(arguments.required(0)?, "mean")?;
    Ok((Family::Exponential(arguments.node(0)?), kind))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error, reals};
    use crate::generate::statistics::kolmogorov_smirnov;

    #[test]
    fn golden_values_never_change() {
        check(
            "exp(20)",
            "15.025678344031375 24.147995876091386 2.3117462689998964 30.584738610519096 \
             14.989444149051554 2.8876646287015673 15.04463247322693 2.214528741568782",
        );
        check(
            "exp(20ms) / 1ms",
            "15.025678 24.147995 2.311746 30.584738 14.989444 2.887664 15.044632 2.214528",
        );
    }

    #[test]
    fn mean_and_variance_follow_the_distribution() {
        let n = 100_000;
        let drawn = reals("exp(20)", n);
        let mean = drawn.iter().sum::<f64>() / n as f64;
        let square = drawn.iter().map(|value| value * value).sum::<f64>() / n as f64;
        // Five standard errors: the standard deviation of the values is 20, and of their squares
        // 400·√20.
        let error = 5.0 / (n as f64).sqrt();
        assert!((mean - 20.0).abs() < error * 20.0, "{mean}");
        assert!((square - 800.0).abs() < error * 400.0 * 20.0_f64.sqrt(), "{square}");
        assert!(drawn.iter().all(|value| *value >= 0.0));
    }

    #[test]
    fn values_follow_the_distribution() {
        for call in ["exp(20)", "exp(20ms) / 1ms"] {
            kolmogorov_smirnov(&reals(call, 50_000), |x| 1.0 - (-x / 20.0).exp());
        }
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("exp(-1)", "the mean `-1` is negative");
        error("exp('a')", "`exp` needs numbers or durations, but `'a'` is a text");
        error("exp()", "`exp` has no `mean`");
    }
}
