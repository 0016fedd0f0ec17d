//! Arguments of `text(lo, hi)`.

use super::arguments::{AllowedIn, Arguments, CompiledArgument, Parameter, Spec, Variadic};
use crate::expr::compiled::{Compiled, InvalidExpr};
use crate::expr::node::Family;
use crate::generate::LONGEST_TEXT;
use crate::value::{Constant, Type};
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "text",
    parameters: &[
        Parameter::required("lo", "an integer"),
        Parameter::optional("hi", "lo", "an integer"),
    ],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "random letters and digits, from lo to hi of them, each length equally likely; \
          at most 1,000,000",
    example: "text(8, 12)",
};

/// Refuses an argument that is not a valid length of a text.
pub(super) fn checked_length(
    given: &CompiledArgument<'_>,
    arguments: &Arguments<'_>,
) -> Result<(), InvalidExpr> {
    if given.value.kind() != Type::Int {
        return Err(given.mismatch(arguments.name(), "an integer").into());
    }
    if let Compiled::Constant(Constant::Int(length)) = given.value
        && !(0..=LONGEST_TEXT).contains(&length)
    {
        let what = quoted(given.place.text());
        let message = format!("the length {what} is not between 0 and 1,000,000");
        return Err(given.place.error(message).into());
    }
    Ok(())
}

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    for given in arguments.all() {
        checked_length(given, arguments)?;
    }
    let hi = arguments.get(1);
    let ends =
        (arguments.required(0)?.value.constant(), hi.and_then(|given| given.value.constant()));
    if let (Some(Constant::Int(a)), Some(Constant::Int(b))) = ends
        && a > b
    {
        return Err(arguments
            .call()
            .error(format!("the range of lengths is empty: `{a}` is above `{b}`"))
            .help("write the lower length first")
            .into());
    }
    let hi = hi.map(|given| given.value.clone().into_node());
    Ok((Family::Text(arguments.node(0)?, hi), Type::Text))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error};

    #[test]
    fn golden_values_never_change() {
        check(
            "text(10)",
            "guiQ3kWB7S rcuMrmbUOw GvlNpUum7u wjAFv1oeEp grQYNgEWrO IUxwEO38J7 gwQwHw4oil \
             Ge4qRQsaQt",
        );
        check("text(0, 5)", "7SN OwkJ  EpRq rOx  ilY ");
        check("text(uniform(1, 3))", "gu rcu Gv wjA grQ I gw Ge4");
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("text(5, 2)", "the range of lengths is empty: `5` is above `2`");
        error("text(1M + 1)", "the length `1M + 1` is not between 0 and 1,000,000");
        error("text(-1)", "the length `-1` is not between 0 and 1,000,000");
        error("text('a')", "`text` needs an integer, but `'a'` is a text");
        error("text()", "`text` has no `lo`");
    }
}
