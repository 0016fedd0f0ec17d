//! Histograms as bytes: HdrHistogram's V2 format, uncompressed.
//!
//! A record is untrusted input: the header must be the one of the [`Kind`], its numbers never
//! determine an allocation, and counts are added directly to the resulting histogram. Because no
//! histogram is created for a row, a merge of thousands of rows takes only a few microseconds per
//! row.
//!
//! A V2 histogram is a header of forty bytes (all integers big-endian: cookie, length of the rest,
//! offset, digits, lowest and highest value, a ratio as a double) and numbers in LEB128 and zigzag
//! code: n ≥ 0 counts the next bucket, n < 0 skips −n buckets. A single empty bucket is written
//! as 0.

use hdrhistogram::Histogram;
use record::{HIGHEST, Kind, Scale, Times, TimesSum};

use crate::error::RowError;

const COOKIE: u32 = 0x1c84_9313;
const HEADER: usize = 40;

/// An encoder of histograms with a reusable buffer.
#[derive(Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    /// Returns the bytes of a histogram; only the header if it is empty.
    pub(crate) fn encode(&mut self, times: &Times, kind: Kind) -> &[u8] {
        self.bytes.clear();
        self.bytes.resize(HEADER, 0);
        let (first, counts) = times.filled();
        let mut zeros = first as i64;
        for &count in counts {
            if count == 0 {
                zeros += 1;
                continue;
            }
            if zeros > 0 {
                write_number(&mut self.bytes, if zeros == 1 { 0 } else { -zeros });
                zeros = 0;
            }
            write_number(&mut self.bytes, i64::from(count));
        }
        let length = self.bytes.len() - HEADER;
        self.bytes[..HEADER].copy_from_slice(&header(kind, length as u32));
        &self.bytes
    }
}

/// Writes a number in zigzag and LEB128 code.
fn write_number(to: &mut Vec<u8>, number: i64) {
    let mut code = (number << 1 ^ number >> 63) as u64;
    while code >= 0x80 {
        to.push(code as u8 | 0x80);
        code >>= 7;
    }
    to.push(code as u8);
}

/// Returns the header of a histogram of this kind with a payload of `length` bytes.
fn header(kind: Kind, length: u32) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let words = [COOKIE, length, 0, u32::from(kind.digits())].map(u32::to_be_bytes);
    header[..16].copy_from_slice(words.as_flattened());
    let doubles = [1u64, HIGHEST.0, 1f64.to_bits()].map(u64::to_be_bytes);
    header[16..].copy_from_slice(doubles.as_flattened());
    header
}

/// The summary of an encoded histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistogramSummary {
    /// Number of measured times.
    pub(crate) count: u64,
    /// Upper edge of the last nonempty bucket, in nanoseconds; 0 if all buckets are empty.
    pub(crate) max: u64,
}

/// Adds the histogram in `bytes` to `histogram`, which must be of the same kind.
pub(crate) fn add_to(
    histogram: &mut Histogram<u64>,
    bytes: &[u8],
    kind: Kind,
) -> Result<HistogramSummary, RowError> {
    let scale = Scale::of(kind);
    decode(bytes, kind, |index, count| {
        histogram.saturating_record_n(scale.bucket(index).lowest, count);
        Ok(())
    })
}

/// Adds the histogram in `bytes` to times of the same kind.
pub(crate) fn add_to_times(
    times: &mut Times,
    bytes: &[u8],
    kind: Kind,
) -> Result<HistogramSummary, RowError> {
    decode(bytes, kind, |index, count| {
        let count =
            u32::try_from(count).map_err(|_| broken("counts more than there is room for"))?;
        times.add_at(index, count);
        Ok(())
    })
}

/// Adds the histogram in `bytes` to a sum of the same kind, by index, which is several times faster
/// than by value.
pub(crate) fn add_to_sum(
    sum: &mut TimesSum,
    bytes: &[u8],
    kind: Kind,
) -> Result<HistogramSummary, RowError> {
    decode(bytes, kind, |index, count| {
        sum.add_at(index, count);
        Ok(())
    })
}

/// Calls `show` with the index and the count of each nonzero counter. Every index is valid for a
/// histogram of this kind.
fn decode(
    bytes: &[u8],
    kind: Kind,
    mut show: impl FnMut(usize, u64) -> Result<(), RowError>,
) -> Result<HistogramSummary, RowError> {
    let scale = Scale::of(kind);
    let buckets = scale.buckets();
    let mut numbers = Numbers { bytes: payload(bytes, kind)? };
    let mut held = HistogramSummary { count: 0, max: 0 };
    let (mut index, mut last) = (0, 0);
    while let Some(Number { count, passed }) = numbers.next()? {
        if passed > (buckets - index) as u64 {
            return Err(broken("has more buckets than its range"));
        }
        if count > 0 {
            show(index, count)?;
            held.count = held.count.saturating_add(count);
            last = index;
        }
        index += passed as usize;
    }
    if held.count > 0 {
        held.max = scale.bucket(last).highest;
    }
    Ok(held)
}

/// Returns the bytes after the header, which must be the one of this kind.
fn payload(bytes: &[u8], kind: Kind) -> Result<&[u8], RowError> {
    let (start, payload) = bytes.split_at_checked(HEADER).ok_or_else(|| broken("is cut short"))?;
    let length = u32::try_from(payload.len()).map_err(|_| broken("is too long"))?;
    match start == header(kind, length) {
        true => Ok(payload),
        false => Err(broken("has another header than its kind's")),
    }
}

/// A reader of numbers in zigzag and LEB128 code. All eight bits of a ninth byte belong to its
/// number.
struct Numbers<'a> {
    bytes: &'a [u8],
}

/// A decoded number.
struct Number {
    /// Count of the next counter.
    count: u64,
    /// Number of counters that this number covers: one with a count, or one or more that are zero.
    passed: u64,
}

impl Number {
    /// Decodes a number without a branch, which would be unpredictable.
    #[inline]
    fn from_zigzag(code: u64) -> Number {
        let (half, is_negative) = (code >> 1, code & 1);
        let when_negative = is_negative.wrapping_neg();
        Number { count: half & !when_negative, passed: 1 + (half & when_negative) }
    }
}

impl Numbers<'_> {
    #[inline]
    fn next(&mut self) -> Result<Option<Number>, RowError> {
        match self.bytes {
            [] => Ok(None),
            // Nearly all numbers have one byte.
            [byte @ ..0x80, rest @ ..] => {
                self.bytes = rest;
                Ok(Some(Number::from_zigzag(u64::from(*byte))))
            }
            [_, ..] => self.next_long().map(Some),
        }
    }

    fn next_long(&mut self) -> Result<Number, RowError> {
        let mut code = 0;
        for index in 0..9 {
            let (&byte, rest) = self.bytes.split_first().ok_or_else(|| broken("is cut short"))?;
            self.bytes = rest;
            let bits = if index == 8 { byte } else { byte & 0x7f };
            code |= u64::from(bits) << (7 * index);
            if byte < 0x80 {
                break;
            }
        }
        Ok(Number::from_zigzag(code))
    }
}

fn broken(how: &str) -> RowError {
    RowError::content(format!("the histogram {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Seed, Stream};
    use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
    use proptest::prelude::*;

    fn times_of(kind: Kind, of: &[u64]) -> Times {
        let mut times = Times::new(kind);
        of.iter().for_each(|time| times.record(*time));
        times
    }

    fn read(kind: Kind, bytes: &[u8]) -> Result<(Histogram<u64>, HistogramSummary), RowError> {
        let mut added = kind.histogram();
        let mut sum = TimesSum::new(kind);
        let held = add_to(&mut added, bytes, kind)?;
        for _ in 0..2 {
            sum.clear();
            assert_eq!(add_to_sum(&mut sum, bytes, kind)?, held);
            let mut summed = kind.histogram();
            sum.add_to(&mut summed);
            assert_eq!(summed, added);
        }
        let mut times = Times::new(kind);
        if let Ok(same) = add_to_times(&mut times, bytes, kind) {
            assert_eq!(same, held);
            assert_eq!(times.len(), held.count);
        }
        Ok((added, held))
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(64)
        })]

        #[test]
        fn encoded_messages_round_trip(
            times in proptest::collection::vec((0u32..42, any::<u64>()), 0..200),
            kind in proptest::sample::select(vec![Kind::Response, Kind::Wait]),
        ) {
            let times: Vec<u64> = times.iter().map(|(bits, time)| time % (1 << bits)).collect();
            let written = times_of(kind, &times);
            let mut encoder = Encoder::default();
            let bytes = encoder.encode(&written, kind);
            let mut theirs = Vec::new();
            V2Serializer::new().serialize(&written.to_histogram(kind), &mut theirs).unwrap();
            match times.is_empty() {
                // The crate `hdrhistogram` also writes a count for the empty first bucket.
                true => prop_assert_eq!(&bytes[8..], &theirs[8..HEADER]),
                false => prop_assert_eq!(bytes, &theirs),
            }
            let (merged, held) = read(kind, bytes).unwrap();
            let theirs: Histogram<u64> = Deserializer::new().deserialize(&mut &*bytes).unwrap();
            prop_assert_eq!(&merged, &theirs);
            prop_assert_eq!(held.count, written.len());
            prop_assert_eq!(held.max, written.max());
        }
    }

    #[test]
    fn broken_bytes_are_an_error_and_never_a_panic() {
        let times: Vec<u64> = (0..500).map(|n| 1_000 + n * n * 977).collect();
        let bytes =
            Encoder::default().encode(&times_of(Kind::Response, &times), Kind::Response).to_vec();
        let (whole, held) = read(Kind::Response, &bytes).unwrap();
        let mut draw = Stream::new(Seed(7), "flip", "byte").draw(0);
        for _ in 0..20_000 {
            let mut flipped = bytes.clone();
            let at = draw.below(bytes.len() as u64) as usize;
            flipped[at] ^= 1 << draw.below(8);
            flipped.truncate(bytes.len() - draw.below(3) as usize / 2);
            if let Ok((other, claims)) = read(Kind::Response, &flipped) {
                let shows = claims != held;
                assert!(shows || other == whole, "a flip at {at} shows in count or maximum");
            }
        }
        for end in 0..HEADER {
            assert!(read(Kind::Response, &bytes[..end]).is_err());
        }
        assert!(read(Kind::Wait, &bytes).is_err(), "digits of another kind");
    }
}
