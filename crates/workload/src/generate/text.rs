//! `text(lo, hi)`: random letters and digits.

use base::{Draw, Values};

use super::uniform::Ints;
use crate::value::Datum;

/// The longest generated text, in bytes.
pub(crate) const LONGEST_TEXT: i64 = 1_000_000;

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// All pairs of characters; one multiplication selects a pair.
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

/// The number of characters taken from one random word; they use 48 of its 64 bits. The
/// probabilities of characters differ by at most one part in 60,000.
const PER_WORD: usize = 8;

/// The number of characters that are appended at once.
const CHUNK: usize = 128;

/// Returns a text with a length between two bounds.
pub(crate) fn value(ends: (Datum, Datum), draw: &mut Draw, out: &mut Values) -> Datum {
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
/// The word is a fraction of 2⁶⁴; each multiplication by the number of pairs yields the index of
/// the next pair.
#[inline]
fn fill(characters: &mut [u8], mut word: u64) {
    for pair in characters.chunks_exact_mut(2) {
        let product = u128::from(word) * PAIRS.len() as u128;
        pair.copy_from_slice(&PAIRS[(product >> 64) as usize]);
        word = product as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::call::golden::values;
    use crate::generate::statistics::chi_square;

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
}
