//! Arguments of `weighted(a: 3, b: 1, …)`.

use base::Diagnostic;

use super::arguments::{AllowedIn, Arguments, ColonPart, Spec, Variadic};
use super::pick;
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::generate::Weighted;
use crate::read::Excerpt;
use crate::value::{Constant, Type, proportions};
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "weighted",
    parameters: &[],
    rest: Variadic::Weighted,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "one of the values, each as likely as the weight after its colon says: a constant number \
          above zero; the values have one type",
    example: "weighted('new': 3, 'paid': 1)",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let mut weights = Vec::new();
    for given in arguments.all() {
        if let Some(ColonPart::Weight(weight, place)) = &given.partner {
            weights.push(check_weight(weight, *place)?);
        }
    }
    if weights.is_empty() {
        let error = arguments.call().error("`weighted` has no values");
        return Err(error.help(arguments.usage()).into());
    }
    let ends = ends(&weights).ok_or_else(|| {
        let error = arguments.call().error("the weights are too far apart");
        error.help("as whole numbers in the same proportions they add up to more than 9e18")
    })?;
    let (values, kind) = pick::values(arguments)?;
    Ok((Family::Weighted(Weighted::new(values, ends)), kind))
}

fn check_weight<'w>(weight: &'w Constant, place: Excerpt<'_>) -> Result<&'w Constant, Diagnostic> {
    let shown = quoted(place.text());
    if !weight.kind().is_number() {
        let kind = weight.kind().article();
        return Err(place.error(format!("a weight is a number, but {shown} is {kind}")));
    }
    if weight.is_negative() || weight.is_zero() {
        let error = place.error(format!("the weight {shown} is not above zero"));
        return Err(error.help("leave out what must not come"));
    }
    Ok(weight)
}

/// Returns the cumulative sums of whole numbers that are proportional to the weights; `None` if a
/// number is too large.
fn ends(weights: &[&Constant]) -> Option<Vec<u64>> {
    let mut sum = 0_i64;
    let mut ends = Vec::new();
    for weight in proportions(weights)? {
        sum = sum.checked_add(i64::try_from(weight).ok()?)?;
        ends.push(sum.unsigned_abs());
    }
    Some(ends)
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error, values};
    use crate::generate::statistics::chi_square;

    #[test]
    fn golden_values_never_change() {
        check("weighted('new': 3, 'paid': 1)", "new new new paid new new new new");
        check("weighted(1: 0.5, 2.5: 0.25, -1: 0.25)", "2.5 2.5 1.0 -1.0 2.5 1.0 2.5 1.0");
        check("weighted(row(): 1, -row(): 1)", "-1 -2 3 -4 -5 6 -7 8");
    }

    fn check_frequencies(weights: &[&str], law: &[f64]) {
        let arguments: Vec<String> =
            weights.iter().enumerate().map(|(at, weight)| format!("{at}: {weight}")).collect();
        let mut counts = vec![0; weights.len()];
        for value in values(&format!("weighted({})", arguments.join(", ")), 40_000) {
            counts[value.parse::<usize>().unwrap()] += 1;
        }
        chi_square(&counts, law);
    }

    #[test]
    fn values_have_their_weighted_frequency() {
        check_frequencies(&["3", "1"], &[0.75, 0.25]);
        check_frequencies(&["0.1", "0.2", "0.7"], &[0.1, 0.2, 0.7]);
        check_frequencies(&["1", "1", "1", "97", "900"], &[0.001, 0.001, 0.001, 0.097, 0.9]);
        check_frequencies(&["1.5", "1M", "500k"], &[1e-6, 2.0 / 3.0, 1.0 / 3.0 - 1e-6]);
        assert_eq!(values("weighted('a': 5)", 2), ["a", "a"]);
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("weighted()", "`weighted` has no values");
        error("weighted('a', 'b')", "`'a'` has no weight");
        error("weighted('a': 1, 'b': 0)", "the weight `0` is not above zero");
        error("weighted('a': -1.5)", "the weight `-1.5` is not above zero");
        error("weighted('a': 1s)", "a weight is a number, but `1s` is a duration");
        error(
            "weighted('a': uniform(1, 2))",
            "`uniform(1, 2)` differs from request to request, but a weight needs a constant",
        );
        error("weighted('a': 1, 2: 1)", "`2` is an integer, but `'a'` is a text");
        error("weighted(1: 1e-18, 2: 1000)", "the weights are too far apart");
        error("pick('a': 3)", "`pick` has no arguments with a `:`");
    }
}
