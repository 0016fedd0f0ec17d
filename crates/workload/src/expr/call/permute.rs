//! Arguments of `permute(n)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::generate::Permute;
use crate::value::Type;
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "permute",
    parameters: &[Parameter::required("n", "a constant integer, at least 1")],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "each integer from 1 to n once in n requests or rows, shuffled, then the same again",
    example: "permute(1000)",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let n = arguments.constant_int(0, 1)?;
    match u64::try_from(n) {
        Ok(limit) if limit > 0 => {
            let permute = Permute::new(limit, arguments.stream);
            Ok((Family::Permute(permute), Type::Int))
        }
        _ => {
            let place = arguments.required(0)?.place;
            let message = format!("there are no numbers from 1 to {}", quoted(place.text()));
            Err(place.error(message).help("give a number of at least 1").into())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error};

    #[test]
    fn golden_values_never_change() {
        check("permute(8)", "4 6 8 2 5 7 1 3");
        check("permute(1000)", "651 708 829 819 360 964 275 474");
        check(
            "permute(9223372036854775807)",
            "8951030999003824731 1190724522790311901 1575994436866242665 \
             4985435293874041357 7991502543438753029 8831596592768257237 \
             7122264805609237903 508617045777915325",
        );
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("permute(0)", "there are no numbers from 1 to `0`");
        error("permute(-3)", "there are no numbers from 1 to `-3`");
        error(
            "permute(row())",
            "`row()` differs from request to request, but `permute` needs a constant",
        );
    }
}
