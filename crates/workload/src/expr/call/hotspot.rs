//! Arguments of `hotspot(lo, hi, hot=0.2, share=0.8)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::generate::Hotspot;
use crate::value::Type;

pub(super) static SPEC: Spec = Spec {
    name: "hotspot",
    parameters: &[
        Parameter::required("lo", "a constant integer"),
        Parameter::required("hi", "a constant integer"),
        Parameter::optional("hot", "0.2", "a constant fraction from 0 to 1"),
        Parameter::optional("share", "0.8", "a constant fraction from 0 to 1"),
    ],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "integers from lo to hi: the share of the draws falls into the hot fraction at the \
          beginning of the range (rounded to whole values, at least one, and not all), the others \
          fall into the rest; equally likely inside each",
    example: "hotspot(1, 1000)",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let ends = arguments.constant_range(0)?;
    let hot = arguments.constant_between(2, 0.2, (0.0, 1.0), "hot fraction")?;
    let share = arguments.constant_between(3, 0.8, (0.0, 1.0), "share")?;
    Ok((Family::Hotspot(Hotspot::new(ends, hot, share)), Type::Int))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error};

    #[test]
    fn golden_values_never_change() {
        check("hotspot(1, 1000)", "192 48 193 16 140 33 112 54");
        check("hotspot(-5, 5, hot=0.1, share=0.5)", "5 -2 -5 -4 2 -5 1 -5");
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("hotspot(2, 1)", "the range is empty: `2` is above `1`");
        error("hotspot(1, 2, hot=1.5)", "the hot fraction `1.5` is not between 0 and 1");
        error("hotspot(1, 2, share=-1)", "the share `-1` is not between 0 and 1");
        error("hotspot(1, 2.5)", "`hotspot` needs an integer, but `2.5` is a number with a point");
        error("hotspot(1)", "`hotspot` has no `hi`");
        error("hotspot(1, 2, 0.1, 0.2, 3)", "`hotspot` takes at most 4 arguments");
    }
}
