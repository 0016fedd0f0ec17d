//! The secret word of a server's addresses.

use std::fmt::{self, Write as _};
use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// Number of random bytes, enough to prevent guessing.
const BYTES: usize = 16;

/// A random word with which the path of every request begins.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Draws a token of 128 bits from the kernel.
    ///
    /// # Errors
    /// The kernel has no random numbers.
    pub fn random() -> io::Result<Token> {
        let mut bytes = [0u8; BYTES];
        let mut filled = 0;
        while filled < BYTES {
            filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
        }
        let mut text = String::with_capacity(2 * BYTES);
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Token(text))
    }

    /// Returns the word.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if a word is this token. The time of the comparison may depend on the length of
    /// the word, but not on its characters.
    pub(crate) fn matches(&self, word: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), word.as_bytes());
        let differences = own.iter().zip(other).fold(0, |found, (one, two)| found | (one ^ two));
        own.len() == other.len() && std::hint::black_box(differences) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_are_recognised() {
        let [one, other] = [Token::random().unwrap(), Token::random().unwrap()];
        assert_ne!(one, other);
        assert!(one.matches(one.as_str()));
        let part = &one.as_str()[..31];
        for word in ["", other.as_str(), part, &format!("{part}g"), &format!("{}0", one.as_str())] {
            assert!(!one.matches(word), "{word}");
        }
    }

    #[test]
    fn token_shows_nothing_when_debugged() {
        assert_eq!(format!("{:?}", Token::random().unwrap()), "Token(…)");
    }
}
