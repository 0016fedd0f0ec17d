//! Limit on the length of a text in a document.

use std::borrow::Cow;

/// Maximum number of characters of a text; longer texts are cut.
const MOST_CHARACTERS: usize = 4_000;

/// Returns a text, cut if it is very long.
pub(super) fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
