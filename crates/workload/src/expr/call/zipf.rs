//! Arguments of `zipf(lo, hi, s=0.99)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::generate::Zipf;
use crate::value::Type;
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "zipf",
    parameters: &[
        Parameter::required("lo", "a constant integer"),
        Parameter::required("hi", "a constant integer"),
        Parameter::optional("s", "0.99", "a constant number from 0 to 20"),
    ],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "integers from lo to hi, the r-th of them with a probability proportional to 1/r^s: \
          lo is the most frequent; s = 0 is uniform",
    example: "zipf(1, 1000)",
};

/// The largest exponent: beyond it, fewer than one value in a million would differ from the first.
const STEEPEST: f64 = 20.0;

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let (lo, hi) = arguments.constant_range(0)?;
    let s = arguments.constant_real(2, 0.99)?;
    if !(0.0..=STEEPEST).contains(&s) {
        let place = arguments.get(2).map_or(arguments.call(), |given| given.place);
        return Err(place
            .error(format!("the exponent {} is not between 0 and 20", quoted(place.text())))
            .help("0 is uniform, 0.99 the usual skew, and above 2 almost only `lo` comes")
            .into());
    }
    Ok((Family::Zipf(Zipf::new(lo, hi, s)), Type::Int))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error};

    #[test]
    fn golden_values_never_change() {
        check("zipf(1, 1000)", "20 6 453 3 21 377 20 468");
        check("zipf(1, 1000, 0)", "472 299 891 217 473 866 472 896");
        check("zipf(-10, 10, s=1)", "-8 -9 3 -10 -8 2 -8 4");
        check("zipf(1, 1000000000, s=1.2)", "13 3 21022 2 13 8282 13 25140");
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("zipf(2, 1)", "the range is empty: `2` is above `1`");
        error("zipf(1, 2, -1)", "the exponent `-1` is not between 0 and 20");
        error("zipf(1, 2, s=21)", "the exponent `21` is not between 0 and 20");
        error("zipf(1.5, 2)", "`zipf` needs an integer, but `1.5` is a number with a point");
        error(
            "zipf(1, uniform(2, 3))",
            "`uniform(2, 3)` differs from request to request, but `zipf` needs a constant",
        );
        error("zipf(1)", "`zipf` has no `hi`");
        error("zipf(1, 2, z=3)", "`zipf` has no argument `z`");
        error("zipf(1, 2, 3, 4)", "`zipf` takes at most 3 arguments");
        error("zipf(1, 2, lo=3)", "the argument `lo` is given twice");
    }
}
