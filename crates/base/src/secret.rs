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

#[cfg(test)]
mod tests {
    use super::*;

    /// Invariant 8: a secret has a type that cannot be printed or serialized.
    #[test]
    fn invariant_8_a_secret_shows_nothing_when_debugged() {
        let shown = format!("{:?}", Secret::new("hunter2"));
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_eq!(Secret::new("hunter2").expose(), "hunter2");
    }
}
