//! Arguments of `row()` and `sequence(start)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::value::Type;

pub(super) static ROW: Spec = Spec {
    name: "row",
    parameters: &[],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Rows,
    build: build_row,
    doc: "the number of the row, from 1; only in [load TABLE]",
    example: "row()",
};

pub(super) static SEQUENCE: Spec = Spec {
    name: "sequence",
    parameters: &[Parameter::optional("start", "1", "a constant integer")],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build: build_sequence,
    doc: "start for the first request or row, one more for each further one",
    example: "sequence(100)",
};

fn build_row(_: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    Ok((Family::Row, Type::Int))
}

fn build_sequence(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let start = arguments.constant_int(0, 1)?;
    Ok((Family::Sequence(start), Type::Int))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error};

    #[test]
    fn golden_values_never_change() {
        check("row()", "1 2 3 4 5 6 7 8");
        check("sequence()", "1 2 3 4 5 6 7 8");
        check("sequence(start=-2)", "-2 -1 0 1 2 3 4 5");
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("row(1)", "`row` takes no arguments");
        error("sequence(1, 2)", "`sequence` takes one argument");
        error("sequence('a')", "`sequence` needs an integer, but `'a'` is a text");
    }
}
