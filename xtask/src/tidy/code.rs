//! The code of a source file without the tests that it contains.

/// Returns the text of a source file before its tests. A declaration such as `mod tests;` does not
/// end this text, because its tests are in another file.
pub(super) fn without_tests(text: &str) -> &str {
    let tests = text.match_indices("\n#[cfg(test)]").find(|(at, attribute)| {
        let item = text[at + attribute.len()..].trim_start().lines().next().unwrap_or_default();
        !(item.starts_with("mod ") && item.ends_with(';'))
    });
    tests.map_or(text, |(at, _)| &text[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_in_the_file_are_left_out_and_those_in_another_are_not_its_end() {
        let code = "mod a;\n#[cfg(test)]\nmod tests;\n\nfn f() {}\n";
        assert_eq!(without_tests(code), code);
        let both = format!("{code}\n#[cfg(test)]\nmod more {{\n    fn g() {{}}\n}}\n");
        assert_eq!(without_tests(&both), format!("{code}\n"));
    }
}
