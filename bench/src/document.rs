//! Replacement of a measured table between two invisible marks of a Markdown page.

/// Returns the document with `body` between the marks of `word`.
///
/// # Errors
/// Fails with a message that names the marks if one of them is missing.
pub fn between_marks(document: &str, word: &str, body: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- {word}: begin -->"), format!("<!-- {word}: end -->"));
    let missing = || format!("the marks `{begin}` and `{end}` are not there");
    let (before, rest) = document.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{before}{begin}\n\n{body}\n\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let document = "a\n<!-- load: begin -->\nold\n<!-- load: end -->\nb\n";
        let changed = between_marks(document, "load", "new").expect("both marks");
        assert_eq!(changed, "a\n<!-- load: begin -->\n\nnew\n\n<!-- load: end -->\nb\n");
        assert_eq!(between_marks(&changed, "load", "new").expect("both marks"), changed);
        assert!(between_marks("a", "load", "new").is_err());
    }
}
