//! `hex(n)` and `uuid()`: identifiers in hexadecimal digits.

use base::{Draw, Values};

use super::text::LONGEST_TEXT;
use crate::value::Datum;

/// The length of a UUID's text, in bytes.
pub(crate) const UUID_LENGTH: u64 = 36;

/// The number of digits from one random word.
const PER_WORD: usize = 16;

/// Returns a text of `length` digits.
pub(crate) fn value(length: Datum, draw: &mut Draw, out: &mut Values) -> Datum {
    let Datum::Int(length) = length else {
        return Datum::Null;
    };
    let length = length.clamp(0, LONGEST_TEXT) as usize;
    Datum::Text(out.text(|out| {
        out.reserve(length);
        let mut left = length;
        while left > 0 {
            let wanted = left.min(PER_WORD);
            append(&digits(draw.bits())[..wanted], out);
            left -= wanted;
        }
    }))
}

/// Returns a UUID of version 4.
///
/// The version is in the four bits of the 13th digit, the variant in the highest two of the 17th
/// (RFC 9562, section 5.4).
pub(crate) fn uuid(draw: &mut Draw, out: &mut Values) -> Datum {
    let high = digits(draw.bits() & !0xf000 | 0x4000);
    let low = digits(draw.bits() >> 2 | 0x8000_0000_0000_0000);
    Datum::Text(out.text(|out| {
        append(&high[..8], out);
        for part in [&high[8..12], &high[12..], &low[..4], &low[4..]] {
            out.push('-');
            append(part, out);
        }
    }))
}

/// Returns the digits of a word, the most significant first.
fn digits(word: u64) -> [u8; PER_WORD] {
    std::array::from_fn(|at| b"0123456789abcdef"[(word >> (60 - 4 * at) & 15) as usize])
}

fn append(digits: &[u8], out: &mut String) {
    out.push_str(std::str::from_utf8(digits).unwrap_or_default());
}
