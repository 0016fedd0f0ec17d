//! "Did you mean …?": the known word nearest to an unknown one.

/// Returns the candidate with the fewest edits from `word`, if the number of edits is small enough
/// for a typing error: at most a third of the word's characters, but one edit is always allowed.
///
/// A difference in case counts as no edit. Ties go to the first candidate.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A word far longer than any key is not a typing error; comparing it would take quadratic time.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase();
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the message about a value that is not one of the known words.
pub fn unknown_value(value: &str, name: &str, known: &[&str]) -> String {
    let message = format!("unknown value `{value}` for `{name}`; expected {}", either(known));
    match closest(value, known.iter().copied()) {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message,
    }
}

/// Lists words as alternatives: `a, b or c`.
pub fn either(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn `a`
/// into `b` (the optimal string alignment distance).
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1; b.len() + 1];
        for (j, &y) in b.iter().enumerate() {
            let substituted = above[j] + usize::from(x != y);
            row[j + 1] = substituted.min(above[j + 1] + 1).min(row[j] + 1);
            let swapped = i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y;
            if swapped {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typo_finds_the_nearest_word() {
        let keys = ["duration", "warmup", "rate", "concurrency", "query"];
        assert_eq!(closest("durration", keys), Some("duration"));
        assert_eq!(closest("qurey", keys), Some("query"));
        assert_eq!(closest("RATE", keys), Some("rate"));
        assert_eq!(closest("concurency", keys), Some("concurrency"));
    }

    #[test]
    fn unknown_value_lists_the_known_words_and_the_nearest() {
        let known = ["none", "pgbouncer", "pgpool"];
        let message = "unknown value `haproxy` for `via`; expected none, pgbouncer or pgpool";
        assert_eq!(unknown_value("haproxy", "via", &known), message);
        let near = unknown_value("pgbounce", "via", &known);
        assert!(near.ends_with("pgpool; did you mean `pgbouncer`?"), "{near}");
        assert_eq!((either(&["a"]).as_str(), either(&["a", "b"]).as_str()), ("a", "a or b"));
    }

    #[test]
    fn different_word_has_no_suggestion() {
        let keys = ["duration", "warmup", "rate"];
        assert_eq!(closest("colour", keys), None);
        assert_eq!(closest("", keys), None);
        assert_eq!(closest(&"x".repeat(10_000_000), keys), None);
    }
}
