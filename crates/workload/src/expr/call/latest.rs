//! Arguments of `latest(lo, hi)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::generate::Latest;
use crate::value::Type;

pub(super) static SPEC: Spec = Spec {
    name: "latest",
    parameters: &[
        Parameter::required("lo", "a constant integer"),
        Parameter::required("hi", "a constant integer"),
    ],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "a key of a table that grows: lo to hi exist at the beginning, and each request adds one, \
          counted by schedule, not by answers; the newest is hi plus the number of the request \
          from 0, and the r-th newest comes with a probability proportional to 1/r^0.99, for r up \
          to hi - lo + 1",
    example: "latest(1, 1000)",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    Ok((Family::Latest(Latest::new(arguments.constant_range(0)?)), Type::Int))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error};

    #[test]
    fn golden_values_never_change() {
        check("latest(1, 1000)", "981 996 550 1001 984 629 987 540");
        check("latest(-3, 3)", "2 4 0 6 6 4 8 5");
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("latest(2, 1)", "the range is empty: `2` is above `1`");
        error("latest(1)", "`latest` has no `hi`");
        error(
            "latest(1, row())",
            "`row()` differs from request to request, but `latest` needs a constant",
        );
    }
}
