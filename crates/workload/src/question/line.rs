//! Positions of lines in an experiment file, for errors that are found after its check.

use base::{Span, passwords_in};

use crate::read::{Section, parse};

/// Returns the position of a line in a section such as `arm tls`; `None` if the file has no such
/// section.
///
/// The line sets the first of `keys` that the section contains. If the section contains none of
/// them, or if this line contains a password, returns the position of the section's header.
pub fn line_of(source: &str, section: &str, keys: &[&str]) -> Option<Span> {
    let (file, _) = parse(source);
    let is_it = |one: &&Section<'_>| one.name.split_whitespace().eq(section.split_whitespace());
    let section = file.sections.iter().find(is_it)?;
    let of_key = |key: &&str| section.entries.iter().find(|entry| entry.key().text() == *key);
    let entry = keys.iter().find_map(of_key).map(|entry| entry.whole());
    let shown = entry.filter(|whole| passwords_in(whole.text()).is_empty());
    shown.and_then(|whole| whole.span()).or(Some(section.span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_a_key_is_found_in_its_section() {
        let text = "[arm  a]\noption.x = 1\nurl = mysql://u:hush@h/d\n[capacity]\nbudget = 5s\n";
        let found = |section: &str, keys: &[&str]| {
            line_of(text, section, keys).map(|span| &text[span.start..span.end])
        };
        assert_eq!(found("arm a", &["option.x"]), Some("option.x = 1"));
        assert_eq!(found("arm a", &["url"]), Some("[arm  a]"));
        assert_eq!(found("arm b", &["url"]), None);
        assert_eq!(found("capacity", &["first", "budget"]), Some("budget = 5s"));
        assert_eq!(found("capacity", &["trial"]), Some("[capacity]"));
    }
}
