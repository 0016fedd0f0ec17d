//! Command tags: the kind of a statement and its number of rows. Message CommandComplete.

use std::borrow::Cow;
use std::fmt;

/// The tag of a completed command, such as `SELECT 7`, `INSERT 0 5` or `BEGIN`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CommandTag<'a> {
    bytes: &'a [u8],
}

impl<'a> CommandTag<'a> {
    /// Creates a tag from its bytes.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> CommandTag<'a> {
        CommandTag { bytes }
    }

    /// Returns the bytes of the tag.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the tag as text.
    pub fn text(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes)
    }

    /// Returns the tag without its numbers: `SELECT`, `INSERT`, `CREATE TABLE`.
    pub fn command(self) -> &'a [u8] {
        let mut words = self.bytes;
        while let Some((before, _)) = last_number(words) {
            words = before;
        }
        words
    }

    /// Returns the number of rows that the command returned or changed: the number at the end of
    /// the tags SELECT (also of CREATE TABLE AS), INSERT, UPDATE, DELETE, MERGE, FETCH, MOVE and
    /// COPY; `None` for other tags, and for a number that does not fit 64 bits.
    #[inline]
    pub fn rows(self) -> Option<u64> {
        last_number(self.bytes).map(|(_, number)| number)
    }

    /// Returns true if the tag ends with a space and this digit.
    #[inline]
    pub(crate) fn ends_with_digit(self, digit: u64) -> bool {
        matches!(self.bytes, [.., b' ', last] if u64::from(last.wrapping_sub(b'0')) == digit)
    }

    /// Returns true if the last word cannot be a count: it begins with neither a digit nor a sign.
    pub(crate) fn is_without_count(self) -> bool {
        let last = self.bytes.rsplit(|byte| *byte == b' ').next().and_then(|word| word.first());
        last.is_none_or(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+'))
    }
}

impl fmt::Debug for CommandTag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text())
    }
}

/// Returns the number after the last space, and the bytes before that space; `None` if there is no
/// space, or the last word is not a number or does not fit 64 bits.
#[inline]
fn last_number(bytes: &[u8]) -> Option<(&[u8], u64)> {
    let mut rest = bytes;
    let mut number: u64 = 0;
    let mut unit: u64 = 1;
    while let Some((last, before)) = rest.split_last() {
        if *last == b' ' {
            return (rest.len() < bytes.len()).then_some((before, number));
        }
        let digit = last.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_add(u64::from(digit).checked_mul(unit)?)?;
        unit = unit.saturating_mul(10);
        rest = before;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tag: &str, command: &str, rows: Option<u64>) {
        let parsed = CommandTag::new(tag.as_bytes());
        assert_eq!((parsed.command(), parsed.rows()), (command.as_bytes(), rows), "{tag:?}");
    }

    #[test]
    fn tags_are_parsed_to_counts() {
        check("INSERT 0 5", "INSERT", Some(5));
        check("INSERT 16401 1", "INSERT", Some(1));
        check("UPDATE 3", "UPDATE", Some(3));
        check("SELECT 7", "SELECT", Some(7));
        check("COPY 10", "COPY", Some(10));
        check("MERGE 0", "MERGE", Some(0));
        check("SELECT 18446744073709551615", "SELECT", Some(u64::MAX));
        check("BEGIN", "BEGIN", None);
        check("CREATE TABLE", "CREATE TABLE", None);
    }

    #[test]
    fn tags_whose_last_word_is_not_a_number_have_no_count() {
        let has_none = |tag: &str| CommandTag::new(tag.as_bytes()).is_without_count();
        assert!(["BEGIN", "CREATE TABLE", "SELECT", ""].into_iter().all(has_none));
        assert!(!["UPDATE -5", "UPDATE +5", "SELECT 7x", "INSERT 0 -1"].into_iter().any(has_none));
    }

    #[test]
    fn tag_without_a_count_has_no_row_count() {
        check("", "", None);
        check("7", "7", None);
        check("SELECT ", "SELECT ", None);
        check("SELECT -7", "SELECT -7", None);
        check("SELECT 7x", "SELECT 7x", None);
        check("SELECT 18446744073709551616", "SELECT 18446744073709551616", None);
        check("SELECT 99999999999999999999999", "SELECT 99999999999999999999999", None);
    }
}
