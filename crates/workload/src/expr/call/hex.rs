//! Arguments of `hex(n)` and `uuid()`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use super::text::checked_length;
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::value::Type;

pub(super) static HEX: Spec = Spec {
    name: "hex",
    parameters: &[Parameter::required("n", "an integer")],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build: build_hex,
    doc: "n random hexadecimal digits in lower case; at most 1,000,000",
    example: "hex(16)",
};

pub(super) static UUID: Spec = Spec {
    name: "uuid",
    parameters: &[],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build: build_uuid,
    doc: "a universally unique identifier of version 4 (RFC 9562), which is 122 random bits, as 36 \
          characters in lower case",
    example: "uuid()",
};

fn build_hex(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    checked_length(arguments.required(0)?, arguments)?;
    Ok((Family::Hex(arguments.node(0)?), Type::Text))
}

fn build_uuid(_: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    Ok((Family::Uuid, Type::Text))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error, values};
    use crate::generate::statistics::chi_square;

    #[test]
    fn golden_values_never_change() {
        check(
            "hex(20)",
            "873ab4d296d7035ff4d3 b3767647f9e36efa3d0a 1bf1ba27082e37e0f6b0 \
             c8864926a233600c1343 8702a474b097a48eb288 226aec6d3a494f2d291c \
             8757fe33c5f741a68ee0 1ad53f4eda07ddcc4510",
        );
        check("hex(uniform(0, 3))", "87 b37 1b c88 870 2 87 1ad");
        check(
            "uuid()",
            "873ab4d2-96d7-435f-bd34-db26ddccd754 b3767647-f9e3-4efa-8f42-af77581ad802 \
             1bf1ba27-082e-47e0-bdac-11449b32bf0d c8864926-a233-400c-84d0-fff99351e3fe \
             8702a474-b097-448e-aca2-33ebe8c8b0d9 226aec6d-3a49-4f2d-8a47-1ab674c4043c \
             8757fe33-c5f7-41a6-a3b8-245e2b4bd454 1ad53f4e-da07-4dcc-9144-384da15b9d91",
        );
    }

    /// Counts each digit at each position of texts of one length.
    fn counts(call: &str) -> Vec<Vec<u32>> {
        let texts = values(call, 16_000);
        let mut counts = vec![vec![0; 16]; texts[0].len()];
        for text in texts {
            assert_eq!(text.len(), counts.len());
            for (place, digit) in text.chars().enumerate().filter(|(_, digit)| *digit != '-') {
                assert!(!digit.is_ascii_uppercase());
                counts[place][digit.to_digit(16).unwrap() as usize] += 1;
            }
        }
        counts
    }

    #[test]
    fn every_digit_comes_equally_often_at_every_place() {
        counts("hex(40)").iter().for_each(|counts| chi_square(counts, &[1.0 / 16.0; 16]));
        assert_eq!(values("hex(1M)", 1)[0].len(), 1_000_000);
        assert_eq!(values("hex(0)", 1)[0], "");
    }

    #[test]
    fn uuids_have_their_version_and_variant_and_are_random_elsewhere() {
        for (place, counts) in counts("uuid()").iter().enumerate() {
            match place {
                8 | 13 | 18 | 23 => assert_eq!(counts.iter().sum::<u32>(), 0),
                14 => assert_eq!(counts[4], 16_000),
                19 => chi_square(&counts[8..12], &[0.25; 4]),
                _ => chi_square(counts, &[1.0 / 16.0; 16]),
            }
        }
        let mut all = values("uuid()", 10_000);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 10_000);
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("hex(-1)", "the length `-1` is not between 0 and 1,000,000");
        error("hex(2M)", "the length `2M` is not between 0 and 1,000,000");
        error("hex('a')", "`hex` needs an integer, but `'a'` is a text");
        error("hex()", "`hex` has no `n`");
        error("uuid(4)", "`uuid` takes no arguments");
    }
}
