//! Arguments of `digits("###-###")`.

use std::sync::Arc;

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::value::{Constant, Type};

pub(super) static SPEC: Spec = Spec {
    name: "digits",
    parameters: &[Parameter::required("pattern", "a constant text")],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "the text with a random digit for each `#`; its other characters stay",
    example: "digits('###-####')",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let given = arguments.required(0)?;
    match given.value.constant() {
        Some(Constant::Text(pattern)) if pattern.contains('#') => {
            Ok((Family::Digits(Arc::from(pattern.as_str())), Type::Text))
        }
        Some(Constant::Text(_)) => {
            let error = given.place.error("the pattern has no `#`, so it never changes");
            Err(error.help("write a `#` for each digit: `digits('###-####')`").into())
        }
        Some(_) => Err(given.mismatch(arguments.name(), "a text such as '###-###'").into()),
        None => Err(arguments.not_constant(given).into()),
    }
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error, values};
    use crate::generate::statistics::chi_square;

    #[test]
    fn golden_values_never_change() {
        check(
            "digits('###-####')",
            "528-2395 701-0263 109-1572 783-2990 527-3840 134-4440 528-6864 104-8163",
        );
        check(
            "digits(\"+49 (#) é\")",
            "+49 (5) é +49 (7) é +49 (1) é +49 (7) é +49 (5) é +49 (1) é +49 (5) é +49 (1) é",
        );
        check(
            "digits('############')",
            "528239537695 701026337223 109157213796 783299037807 527384069969 134444023716 \
             528686416255 104816395526",
        );
    }

    #[test]
    fn every_digit_comes_equally_often_at_every_place() {
        let mut counts = vec![vec![0; 10]; 25];
        for text in values(&format!("digits('{}')", "#".repeat(25)), 20_000) {
            for (place, digit) in text.bytes().enumerate() {
                counts[place][usize::from(digit - b'0')] += 1;
            }
        }
        counts.iter().for_each(|counts| chi_square(counts, &[0.1; 10]));
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("digits('abc')", "the pattern has no `#`, so it never changes");
        error("digits(5)", "`digits` needs a text such as '###-###', but `5` is an integer");
        error(
            "digits(text(5))",
            "`text(5)` differs from request to request, but `digits` needs a constant",
        );
        error("digits()", "`digits` has no `pattern`");
        error("digits('#', '#')", "`digits` takes one argument");
    }
}
