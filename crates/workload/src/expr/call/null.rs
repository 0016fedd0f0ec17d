//! Arguments of `null(p, expr)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::generate::Null;
use crate::value::Type;

pub(super) static SPEC: Spec = Spec {
    name: "null",
    parameters: &[
        Parameter::required("p", "a constant number from 0 to 1"),
        Parameter::required("value", "a value of any type"),
    ],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "NULL with the probability p, otherwise the value",
    example: "null(0.25, row())",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let probability = arguments.constant_between(0, 0.0, (0.0, 1.0), "probability")?;
    let kind = arguments.required(1)?.value.kind();
    Ok((Family::Null(Null { probability, value: arguments.node(1)? }), kind))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error, values};
    use crate::generate::statistics::chi_square;

    #[test]
    fn golden_values_never_change() {
        check("null(0.25, row())", "1 2 NULL 4 5 NULL 7 NULL");
        check("null(0.5, text(3))", "isI xc4 NULL 0af 3hg NULL lte NULL");
        check("null(1, 5)", "NULL NULL NULL NULL NULL NULL NULL NULL");
        check("null(0, row())", "1 2 3 4 5 6 7 8");
    }

    #[test]
    fn nulls_have_their_frequency() {
        for p in [0.01, 0.25, 0.9] {
            let drawn = values(&format!("null({p}, 1)"), 40_000);
            let nulls = drawn.iter().filter(|value| *value == "NULL").count() as u32;
            chi_square(&[nulls, 40_000 - nulls], &[p, 1.0 - p]);
        }
    }

    #[test]
    fn arithmetic_with_null_is_null() {
        for call in ["null(1, 5) + 1", "-null(1, 2.5)", "text(null(1, 3))", "exp(null(1, 2s)) / 1s"]
        {
            assert_eq!(values(call, 1), ["NULL"], "{call}");
        }
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("null(1.5, 1)", "the probability `1.5` is not between 0 and 1");
        error("null(-0.5, 1)", "the probability `-0.5` is not between 0 and 1");
        error("null('a', 1)", "`null` needs a number, but `'a'` is a text");
        error("null(0.5)", "`null` has no `value`");
        error(
            "null(0.5, 'a') + 1",
            "`+` cannot combine `null(0.5, 'a')`, a text, with `1`, an integer",
        );
    }
}
