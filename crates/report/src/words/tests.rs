//! Every finding has a sentence: tables of findings with their sentences.
//!
//! Functions named `place` number the variants without a catch-all, so a new variant fails to
//! compile here until it is counted, and fails the test until a table has it.

mod checks;
mod doctor;
mod limiters;
mod obstacles;
mod warnings;

/// Asserts that the tables have each of `all` variants, and that their sentences differ.
#[track_caller]
fn assert_complete(found: impl IntoIterator<Item = usize>, all: usize, sentences: &[String]) {
    let mut found: Vec<usize> = found.into_iter().collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, (0..all).collect::<Vec<_>>(), "variants without a sentence");
    for (place, sentence) in sentences.iter().enumerate() {
        assert!(!sentence.is_empty());
        assert!(!sentences[place + 1..].contains(sentence), "said twice: {sentence}");
    }
}
