//! Arguments of `timestamp(offset)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::{Family, Node};
use crate::value::Type;

pub(super) static SPEC: Spec = Spec {
    name: "timestamp",
    parameters: &[Parameter::optional("offset", "0s", "a duration")],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "the start of the run in UTC plus a duration, which may be negative, \
          as `YYYY-MM-DD HH:MM:SS.ffffff`",
    example: "timestamp(-uniform(0s, 1h))",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let offset = match arguments.get(0) {
        None => Node::Duration(0),
        Some(given) if given.value.kind() == Type::Duration => arguments.node(0)?,
        Some(given) => {
            let error = given.mismatch(arguments.name(), "a duration");
            return Err(error.help("give the number a unit, such as `-1h`").into());
        }
    };
    Ok((Family::Timestamp(offset), Type::Timestamp))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error, values};
    use crate::generate::statistics::chi_square;

    #[test]
    fn golden_values_never_change() {
        check(
            "timestamp(-uniform(0s, 1h))",
            "1969-12-31 23:26:24.469607 1969-12-31 23:12:07.767493 1969-12-31 \
             23:29:34.449507 1969-12-31 23:09:15.812174 1969-12-31 23:06:15.053744 \
             1969-12-31 23:43:07.991356 1969-12-31 23:23:29.014282 1969-12-31 \
             23:12:44.767707",
        );
        check(
            "timestamp()",
            "1970-01-01 00:00:00.000000 1970-01-01 00:00:00.000000 1970-01-01 \
             00:00:00.000000 1970-01-01 00:00:00.000000 1970-01-01 00:00:00.000000 \
             1970-01-01 00:00:00.000000 1970-01-01 00:00:00.000000 1970-01-01 \
             00:00:00.000000",
        );
    }

    #[test]
    fn offsets_follow_their_distribution() {
        let mut counts = [0; 24];
        for time in values("timestamp(uniform(0s, 86399s))", 48_000) {
            counts[time["1970-01-01 ".len()..][..2].parse::<usize>().unwrap()] += 1;
        }
        chi_square(&counts, &[1.0 / 24.0; 24]);
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("timestamp(5)", "`timestamp` needs a duration, but `5` is an integer");
        error("timestamp(1s, 2s)", "`timestamp` takes one argument");
    }
}
