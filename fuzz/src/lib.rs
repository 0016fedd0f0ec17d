//! Fuzz targets: parsers of external input must neither panic nor hang.
//!
//! Each target takes arbitrary bytes. `make test` runs the same functions over a corpus and seeded
//! mutations of it ([`run`]), for which a stable toolchain is enough. `make fuzz` lets libFuzzer
//! search, guided by coverage, and stores its findings in `fuzz/corpus` ([`corpus`]), which `make
//! test` runs too.

mod cells;
pub mod corpus;
pub mod files;
pub mod mysql;
pub mod postgres;
pub mod recorded;
pub mod seeds;

use base::{Draw, Seed, Stream};

/// Runs a target over its stored corpus, over `corpus`, and over `mutations` mutations of `corpus`.
///
/// # Panics
/// Panics if the target does, if the stored corpus cannot be read, or if `corpus` is empty.
pub fn run_kept(name: &str, corpus: &[Vec<u8>], target: fn(&[u8]), mutations: u64) {
    let kept = corpus::read(name).expect("a corpus that can be read");
    kept.iter().for_each(|data| target(data));
    run(corpus, target, mutations);
}

/// Runs a target over a corpus and over `mutations` mutations of it.
///
/// # Panics
/// Panics if the target does or the corpus is empty.
pub fn run(corpus: &[Vec<u8>], target: fn(&[u8]), mutations: u64) {
    assert!(!corpus.is_empty(), "there is nothing to mutate");
    corpus.iter().for_each(|data| target(data));
    for number in 0..mutations {
        let original = &corpus[number as usize % corpus.len()];
        target(&mutate(original, corpus, number));
    }
}

/// Returns a mutation of some bytes, determined by its number: a few bytes are changed, removed,
/// doubled or replaced by others of the corpus.
fn mutate(original: &[u8], corpus: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut draw = Stream::new(Seed(7), "fuzz", "mutation").draw(number);
    let mut data = original.to_vec();
    for _ in 0..=draw.below(8) {
        mutate_once(&mut data, corpus, &mut draw);
    }
    data
}

/// Length in bytes that the piece moved by one mutation stays below.
const PIECE: u64 = 64;

fn mutate_once(data: &mut Vec<u8>, corpus: &[Vec<u8>], draw: &mut Draw) {
    let at = draw.below(data.len() as u64 + 1) as usize;
    let end = (at + draw.below(PIECE) as usize).min(data.len());
    match draw.below(6) {
        0 if at < data.len() => data[at] ^= 1 << draw.below(8),
        1 if at < data.len() => data[at] = draw.bits() as u8,
        2 => drop(data.drain(at..end)),
        3 => {
            let piece = data[at..end].to_vec();
            data.splice(at..at, piece);
        }
        4 => data.truncate(at),
        _ => {
            let other = &corpus[draw.below(corpus.len() as u64) as usize];
            let from = draw.below(other.len() as u64 + 1) as usize;
            let to = (from + draw.below(PIECE) as usize).min(other.len());
            data.splice(at..end, other[from..to].iter().copied());
        }
    }
}
