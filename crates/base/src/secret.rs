//! A string that cannot be printed.

use std::fmt;

/// A password or a key. It has no `Display` and no serialization, and its `Debug` says nothing:
/// the only way to the text is [`Secret::expose`], which is easy to search for.
///
/// ```compile_fail
/// println!("{}", base::Secret::new("hunter2"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text that must never be shown.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text itself, for the one place that sends it to a server.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Text that replaces a secret.
pub const HIDDEN: &str = "(secret)";

/// Below this number of bytes a secret is hidden only where it stands as a word of its own: `a`
/// is in most texts.
const LONG: usize = 4;

/// The secrets of a run, by which texts from outside, such as a server's messages, are cleaned
/// before they are shown or recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets(Vec<Secret>);

impl Secrets {
    /// Collects secrets. An empty one hides nothing.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Secrets {
        let mut all: Vec<Secret> =
            secrets.into_iter().filter(|secret| !secret.expose().is_empty()).collect();
        // Longest first: one may be a part of another.
        all.sort_by(|one, other| {
            let order = other.expose().len().cmp(&one.expose().len());
            order.then_with(|| one.expose().cmp(other.expose()))
        });
        all.dedup();
        Secrets(all)
    }

    /// Returns true if there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a text with [`HIDDEN`] in place of each secret.
    pub fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| hide_one(&text, secret.expose()))
    }
}

fn hide_one(text: &str, secret: &str) -> String {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut shown = String::with_capacity(text.len());
    let mut end = 0;
    for (at, _) in text.match_indices(secret) {
        let behind = at + secret.len();
        let is_apart = !text[..at].ends_with(in_word) && !text[behind..].starts_with(in_word);
        if secret.len() >= LONG || is_apart {
            shown.push_str(&text[end..at]);
            shown.push_str(HIDDEN);
            end = behind;
        }
    }
    shown.push_str(&text[end..]);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_of_a_text() {
        let secrets = Secrets::new(["pw", "hunter2", "hunter2-too", ""].map(Secret::new));
        for (text, shown) in [
            ("near 'hunter2' at 1", "near '(secret)' at 1"),
            ("hunter2-too, hunter2hunter2", "(secret), (secret)(secret)"),
            ("pw of pwd is 'pw'", "(secret) of pwd is '(secret)'"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(secrets.hide(text), shown);
        }
        assert!(Secrets::default().is_empty() && !secrets.is_empty());
    }

    /// Invariant 8: a secret has a type that cannot be printed or serialized.
    #[test]
    fn invariant_8_a_secret_shows_nothing_when_debugged() {
        let shown = format!("{:?}", Secret::new("hunter2"));
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_eq!(Secret::new("hunter2").expose(), "hunter2");
    }
}
