//! Arguments of `field(n)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::value::Type;

pub(super) static SPEC: Spec = Spec {
    name: "field",
    parameters: &[Parameter::required("n", "a constant integer from 1")],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "the n-th field, from 1, of the record that the request takes from `query-args-file`",
    example: "field(1)",
};

/// The largest number of a field that an expression can use. Records may have more fields.
const MOST_FIELDS: i64 = 65_535;

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let number = arguments.constant_int(0, 1)?;
    if !(1..=MOST_FIELDS).contains(&number) {
        let place = arguments.required(0)?.place;
        return Err(place.error("fields are numbered from 1 to 65,535").into());
    }
    Ok((Family::Field(number as usize - 1), Type::Text))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error};

    #[test]
    fn field_is_null_without_a_record() {
        check("field(2)", "NULL NULL NULL NULL NULL NULL NULL NULL");
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("field()", "`field` has no `n`");
        error("field(0)", "fields are numbered from 1 to 65,535");
    }
}
