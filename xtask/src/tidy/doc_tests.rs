//! Check that all code in documentation is tested: rustdoc reads the library of a crate only if its
//! manifest does not say `doctest = false`.

/// Returns a complaint for each block of code in the documentation of a crate without documentation
/// tests. `manifests` and `sources` are paths and texts.
pub(crate) fn check(manifests: &[(String, String)], sources: &[(String, String)]) -> Vec<String> {
    let untested = manifests.iter().filter(|(_, text)| text.contains("\ndoctest = false\n"));
    let folders = untested.filter_map(|(path, _)| path.strip_suffix("Cargo.toml"));
    folders.flat_map(|folder| check_crate(folder, sources)).collect()
}

/// Checks the crate in a folder, whose path ends with `/`.
fn check_crate(folder: &str, sources: &[(String, String)]) -> Vec<String> {
    let code = format!("{folder}src/");
    let of_crate = sources.iter().filter(|(path, _)| path.starts_with(&code));
    let complaints = of_crate.flat_map(|(path, text)| {
        let complaint = move |line| {
            format!(
                "{path}:{line}: mark this block as `text`, or test it: remove `doctest = false` \
                 from {folder}Cargo.toml"
            )
        };
        code_blocks(text).into_iter().map(complaint)
    });
    complaints.collect()
}

/// Returns the numbers of the lines that open a block in a doc comment, except blocks of `text`.
fn code_blocks(text: &str) -> Vec<usize> {
    let mut is_open = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.trim_start();
        let comment = code.strip_prefix("///").or_else(|| code.strip_prefix("//!"));
        let Some(info) = comment.and_then(|comment| comment.trim().strip_prefix("```")) else {
            continue;
        };
        is_open = !is_open;
        if is_open && info != "text" {
            found.push(number);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(manifest: &str, source: &str) -> Vec<String> {
        let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        check(&[file("a/Cargo.toml", manifest)], &[file("a/src/b.rs", source)])
    }

    const UNTESTED: &str = "[lib]\ndoctest = false\n";
    const CODE: &str = "//! A.\n\n/// ```\n/// f();\n/// ```\nfn f() {}\n";

    #[test]
    fn code_that_is_not_tested_is_noticed() {
        let complaint = "a/src/b.rs:3: mark this block as `text`, or test it: remove `doctest = \
                         false` from a/Cargo.toml";
        assert_eq!(complaints(UNTESTED, CODE), [complaint]);
        let indented = CODE.replace("/// ```\n/// f", "    /// ```no_run\n/// f");
        assert_eq!(complaints(UNTESTED, &indented), [complaint]);
    }

    #[test]
    fn text_and_code_that_is_tested_are_in_order() {
        assert_eq!(complaints("[lib]\n", CODE), [""; 0]);
        let text = "//! ```text\n//! a\n//! ```\n//! A.\n//! ```text\n//! ```\n";
        assert_eq!(complaints(UNTESTED, text), [""; 0]);
    }
}
