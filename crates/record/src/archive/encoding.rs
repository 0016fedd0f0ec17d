//! Histograms as bytes: HdrHistogram's V2 format, uncompressed.
//!
//! Writing is the `hdrhistogram` crate's; reading is done here, because a record is a file from
//! outside: the header must be the one that [`Kind`] writes, nothing is allocated by its word, and
//! the counts go straight into the histogram that they are added to. That also makes a merge over
//! thousands of rows cost a few microseconds a row.
//!
//! A V2 histogram is a header of forty bytes (all integers big-endian: cookie, length of the rest,
//! offset, digits, lowest and highest value, a ratio as a double) and numbers in LEB128 and zigzag
//! code: n ≥ 0 counts the next bucket, n < 0 skips −n buckets.

use hdrhistogram::serialization::{Serializer, V2Serializer};
use hdrhistogram::{Counter, Histogram};

use super::error::Trouble;
use crate::histogram::{HIGHEST, Kind};

const COOKIE: u32 = 0x1c84_9313;
const HEADER: usize = 40;

/// Turns histograms into bytes, in a buffer that is used again.
pub(crate) struct Encoder {
    serializer: V2Serializer,
    bytes: Vec<u8>,
}

impl Encoder {
    pub(crate) fn new() -> Encoder {
        Encoder { serializer: V2Serializer::new(), bytes: Vec::new() }
    }

    /// The bytes of a histogram.
    pub(crate) fn encode<C: Counter>(&mut self, histogram: &Histogram<C>) -> &[u8] {
        self.bytes.clear();
        self.serializer
            .serialize(histogram, &mut self.bytes)
            .expect("counts of 32 bits fit, and a vector takes all bytes");
        &self.bytes
    }
}

/// What the bytes of a histogram held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// How many times.
    pub(crate) count: u64,
    /// The upper edge of the last filled bucket.
    pub(crate) max: u64,
}

/// Adds the histogram in `bytes` to `histogram`, which is of the same kind.
pub(crate) fn add_to<C: Counter>(
    histogram: &mut Histogram<C>,
    bytes: &[u8],
    kind: Kind,
) -> Result<Held, Trouble> {
    let half = half_of_a_bucket(kind);
    decode(bytes, kind, |place, count| {
        if count == 0 {
            return Ok(());
        }
        let count =
            C::from_u64(count).ok_or_else(|| broken("counts more than there is room for"))?;
        let value = Bucket::at(place, half).lowest;
        histogram.record_n(value, count).map_err(|_| broken("has a value beyond its range"))
    })
}

/// Many histograms of one kind added up: by place, which is several times faster than by value.
pub(crate) struct Sum {
    kind: Kind,
    counts: Vec<u64>,
}

impl Sum {
    /// No histogram yet.
    pub(crate) fn new(kind: Kind) -> Sum {
        Sum { kind, counts: vec![0; places(half_of_a_bucket(kind)) as usize] }
    }

    /// Adds the histogram in `bytes`.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<Held, Trouble> {
        decode(bytes, self.kind, |place, count| {
            let counter = &mut self.counts[place as usize];
            *counter = counter.saturating_add(count);
            Ok(())
        })
    }

    /// All of them as one.
    pub(crate) fn histogram(&self) -> Histogram<u64> {
        let half = half_of_a_bucket(self.kind);
        let mut histogram = self.kind.histogram();
        for (place, &count) in (0..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            histogram.saturating_record_n(Bucket::at(place, half).lowest, count);
        }
        histogram
    }
}

/// The times that one counter counts.
struct Bucket {
    lowest: u64,
    highest: u64,
}

impl Bucket {
    /// The bucket at a place in the array of counters: the first 2 × `half` are a nanosecond wide,
    /// the next `half` are two, the next four, ….
    fn at(place: u64, half: u64) -> Bucket {
        let power = (place / half).saturating_sub(1);
        let lowest = (place - power * half) << power;
        Bucket { lowest, highest: lowest + (1 << power) - 1 }
    }
}

/// Shows the places and counts of all counters that are not zero, and of some that are. A place is
/// always one that a histogram of this kind has.
fn decode(
    bytes: &[u8],
    kind: Kind,
    mut show: impl FnMut(u64, u64) -> Result<(), Trouble>,
) -> Result<Held, Trouble> {
    let half = half_of_a_bucket(kind);
    let places = places(half);
    let mut numbers = Numbers { bytes: payload(bytes, kind)? };
    let mut held = Held { count: 0, max: 0 };
    let (mut place, mut last) = (0, 0);
    while let Some(Number { count, passed }) = numbers.next()? {
        if passed > places - place {
            return Err(broken("has more buckets than its range"));
        }
        show(place, count)?;
        held.count = held.count.saturating_add(count);
        last = if count > 0 { place } else { last };
        place += passed;
    }
    if held.count > 0 {
        held.max = Bucket::at(last, half).highest;
    }
    Ok(held)
}

/// The numbers behind the header, if the header is the one of this kind.
fn payload(bytes: &[u8], kind: Kind) -> Result<&[u8], Trouble> {
    let (header, payload) = bytes.split_at_checked(HEADER).ok_or_else(|| broken("is cut short"))?;
    let mut expected = Vec::with_capacity(HEADER);
    let length = u32::try_from(payload.len()).map_err(|_| broken("is too long"))?;
    for word in [COOKIE, length, 0, u32::from(kind.digits())] {
        expected.extend(word.to_be_bytes());
    }
    expected.extend(1u64.to_be_bytes());
    expected.extend(HIGHEST.0.to_be_bytes());
    expected.extend(1f64.to_be_bytes());
    if header == expected { Ok(payload) } else { Err(broken("has another header than its kind's")) }
}

/// Half the number of counters with which a histogram tells the values of one power of two apart:
/// the power of two that is at least ten to the digits.
fn half_of_a_bucket(kind: Kind) -> u64 {
    10u64.pow(kind.digits().into()).next_power_of_two()
}

/// How many counters reach up to [`HIGHEST`].
fn places(half: u64) -> u64 {
    let powers = u64::from((HIGHEST.0 / (2 * half)).ilog2()) + 2;
    (powers + 1) * half
}

/// Numbers in zigzag and LEB128 code, the ninth byte whole.
struct Numbers<'a> {
    bytes: &'a [u8],
}

/// What a number says.
struct Number {
    /// How many times the next counter counts.
    count: u64,
    /// How many counters it is about: the next one, or so many that are zero.
    passed: u64,
}

impl Number {
    /// Without a branch, as there is no telling what the next number is.
    #[inline]
    fn from_zigzag(code: u64) -> Number {
        let (half, is_negative) = (code >> 1, code & 1);
        let when_negative = is_negative.wrapping_neg();
        Number { count: half & !when_negative, passed: 1 + (half & when_negative) }
    }
}

impl Numbers<'_> {
    #[inline]
    fn next(&mut self) -> Result<Option<Number>, Trouble> {
        match self.bytes {
            [] => Ok(None),
            // Nearly all numbers are of one byte.
            [byte @ ..0x80, rest @ ..] => {
                self.bytes = rest;
                Ok(Some(Number::from_zigzag(u64::from(*byte))))
            }
            [_, ..] => self.next_long().map(Some),
        }
    }

    fn next_long(&mut self) -> Result<Number, Trouble> {
        let mut code = 0;
        for place in 0..9 {
            let (&byte, rest) = self.bytes.split_first().ok_or_else(|| broken("is cut short"))?;
            self.bytes = rest;
            let bits = if place == 8 { byte } else { byte & 0x7f };
            code |= u64::from(bits) << (7 * place);
            if byte < 0x80 {
                break;
            }
        }
        Ok(Number::from_zigzag(code))
    }
}

fn broken(how: &str) -> Trouble {
    Trouble::content(format!("the histogram {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Seed, Stream};
    use hdrhistogram::serialization::Deserializer;
    use proptest::prelude::*;

    fn histogram(kind: Kind, times: &[u64]) -> Histogram<u32> {
        let mut histogram = kind.histogram();
        for &time in times {
            histogram.saturating_record(time);
        }
        histogram
    }

    fn read(kind: Kind, bytes: &[u8]) -> Result<(Histogram<u64>, Held), Trouble> {
        let mut added = kind.histogram();
        let mut sum = Sum::new(kind);
        let held = add_to(&mut added, bytes, kind)?;
        assert_eq!(sum.add(bytes)?, held);
        assert_eq!(sum.histogram(), added);
        Ok((added, held))
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(64)
        })]

        #[test]
        fn what_is_written_is_read(
            times in proptest::collection::vec((0u32..42, any::<u64>()), 0..200),
            kind in proptest::sample::select(vec![Kind::Response, Kind::Wait]),
        ) {
            let times: Vec<u64> = times.iter().map(|(bits, time)| time % (1 << bits)).collect();
            let written = histogram(kind, &times);
            let mut encoder = Encoder::new();
            let (merged, held) = read(kind, encoder.encode(&written)).unwrap();
            let theirs: Histogram<u64> =
                Deserializer::new().deserialize(&mut encoder.encode(&written)).unwrap();
            prop_assert_eq!(&merged, &theirs);
            prop_assert_eq!(held.count, written.len());
            prop_assert_eq!(held.max, written.max());
        }
    }

    #[test]
    fn every_histogram_has_the_places_that_are_read() {
        for kind in Kind::OF_A_JOB {
            let half = half_of_a_bucket(kind);
            let histogram = kind.histogram::<u64>();
            assert_eq!(places(half), histogram.distinct_values() as u64);
            for place in 0..places(half) {
                let Bucket { lowest, highest } = Bucket::at(place, half);
                assert_eq!(histogram.highest_equivalent(lowest), highest);
                assert_eq!(histogram.lowest_equivalent(highest), lowest);
            }
        }
    }

    #[test]
    fn broken_bytes_are_an_error_and_never_a_panic() {
        let times: Vec<u64> = (0..500).map(|n| 1_000 + n * n * 977).collect();
        let bytes = Encoder::new().encode(&histogram(Kind::Response, &times)).to_vec();
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
