//! `digits("###-###")`: numbers in a pattern.

use base::{Draw, Values};

use crate::value::Datum;

/// The number of digits taken from one random word; ten digits use about 33 of its 64 bits. The
/// probabilities of digits differ by at most one part in 10⁸.
const PER_WORD: usize = 10;

/// Returns the pattern filled with random digits.
pub(crate) fn value(pattern: &str, draw: &mut Draw, out: &mut Values) -> Datum {
    Datum::Text(out.text(|out| append(pattern, draw, out)))
}

/// Appends the pattern piece by piece.
///
/// The random word is a fraction of 2⁶⁴; each multiplication by ten yields its next decimal digit.
fn append(pattern: &str, draw: &mut Draw, out: &mut String) {
    let (mut word, mut left) = (0_u64, 0);
    let mut pieces = pattern.split('#');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        if left == 0 {
            (word, left) = (draw.bits(), PER_WORD);
        }
        left -= 1;
        let product = u128::from(word) * 10;
        out.push(char::from(b'0' + (product >> 64) as u8));
        word = product as u64;
        out.push_str(piece);
    }
}
