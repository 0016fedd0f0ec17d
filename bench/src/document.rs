//! Where does a measured table stand in the guide? Between two marks that nobody sees.

/// The document with another body between the marks of that word, or which marks are missing.
///
/// # Errors
/// It does not have both marks.
pub fn between_marks(document: &str, word: &str, body: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- {word}: begin -->"), format!("<!-- {word}: end -->"));
    let missing = || format!("the marks `{begin}` and `{end}` are not there");
    let (before, rest) = document.split_once(&begin).ok_or_else(missing)?;
    let (_, behind) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{before}{begin}\n\n{body}\n\n{end}{behind}"))
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
