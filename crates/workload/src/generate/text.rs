//! `text(lo, hi)`: random letters and digits.

use base::{Draw, Values};

use super::uniform::Ints;
use super::{Arguments, Datum, Family, Given, Parameter, Rest, Spec, Stage};
use crate::expr::{Compiled, Constant, Refused, Type};
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "text",
    parameters: &[
        Parameter::required("lo", "an integer"),
        Parameter::optional("hi", "lo", "an integer"),
    ],
    rest: Rest::Nothing,
    stage: Stage::Anywhere,
    build,
    doc: "random letters and digits, from lo to hi of them, each length equally likely; \
          at most 1,000,000",
    example: "text(8, 12)",
};

/// The longest generated text, in bytes.
pub(crate) const LONGEST_TEXT: i64 = 1_000_000;

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// All pairs of characters, from which one multiplication picks one.
static PAIRS: [[u8; 2]; 62 * 62] = pairs();

const fn pairs() -> [[u8; 2]; 62 * 62] {
    let mut pairs = [[0; 2]; 62 * 62];
    let mut at = 0;
    while at < pairs.len() {
        pairs[at] = [ALPHABET[at / 62], ALPHABET[at % 62]];
        at += 1;
    }
    pairs
}

/// The number of characters from one random word: 48 of its 64 bits. The probabilities of
/// characters differ by at most one part in 60,000.
const PER_WORD: usize = 8;

/// The number of characters that are appended at once.
const CHUNK: usize = 128;

/// Returns a text with a length between two bounds.
pub(super) fn value(ends: (Datum, Datum), draw: &mut Draw, out: &mut Values) -> Datum {
    let (Datum::Int(lo), Datum::Int(hi)) = ends else {
        return Datum::Null;
    };
    let (lo, hi) = (lo.clamp(0, LONGEST_TEXT), hi.clamp(0, LONGEST_TEXT));
    let length = if lo == hi { lo } else { Ints::between(lo, hi).draw(draw) };
    Datum::Text(out.text(|out| append(length as usize, draw, out)))
}

fn append(length: usize, draw: &mut Draw, out: &mut String) {
    out.reserve(length);
    let mut left = length;
    while left > 0 {
        let mut chunk = [0_u8; CHUNK];
        let wanted = left.min(CHUNK);
        for word in chunk[..wanted.next_multiple_of(PER_WORD)].chunks_exact_mut(PER_WORD) {
            fill(word, draw.bits());
        }
        out.push_str(std::str::from_utf8(&chunk[..wanted]).unwrap_or_default());
        left -= wanted;
    }
}

/// Fills pairs of characters from a random word.
///
/// The word is a fraction of 2⁶⁴; each multiplication yields its next digit in the base of the
/// number of pairs.
#[inline]
fn fill(characters: &mut [u8], mut word: u64) {
    for pair in characters.chunks_exact_mut(2) {
        let product = u128::from(word) * PAIRS.len() as u128;
        pair.copy_from_slice(&PAIRS[(product >> 64) as usize]);
        word = product as u64;
    }
}

/// Refuses an argument that is not a valid length of a text.
pub(super) fn checked_length(given: &Given<'_>, arguments: &Arguments<'_>) -> Result<(), Refused> {
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

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), Refused> {
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
    use super::*;
    use crate::generate::golden::{check, error, values};
    use crate::generate::statistics::chi_square;

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
    fn lengths_reach_both_ends() {
        let lengths: Vec<usize> = values("text(2, 5)", 400).iter().map(String::len).collect();
        assert_eq!(lengths.iter().min(), Some(&2));
        assert_eq!(lengths.iter().max(), Some(&5));
        assert_eq!(values("text(1000000)", 1)[0].len(), 1_000_000);
        assert_eq!(values("text(0)", 1)[0], "");
    }

    #[test]
    fn every_length_comes_equally_often() {
        let mut counts = [0; 6];
        values("text(0, 5)", 30_000).iter().for_each(|text| counts[text.len()] += 1);
        chi_square(&counts, &[1.0 / 6.0; 6]);
    }

    #[test]
    fn every_character_comes_equally_often_at_every_place() {
        let n = 31_000_u64;
        let mut counts = [[0_u32; 62]; PER_WORD];
        let stream = base::Stream::new(base::Seed(42), "text", "test");
        for number in 0..n {
            let mut characters = [0; PER_WORD];
            fill(&mut characters, stream.draw(number).bits());
            for (place, character) in characters.iter().enumerate() {
                let at = ALPHABET.iter().position(|known| known == character).unwrap();
                counts[place][at] += 1;
            }
        }
        let deviation = (n as f64 * (1.0 / 62.0) * (61.0 / 62.0)).sqrt();
        for count in counts.iter().flatten() {
            assert!((f64::from(*count) - n as f64 / 62.0).abs() < 5.0 * deviation, "{count}");
        }
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
