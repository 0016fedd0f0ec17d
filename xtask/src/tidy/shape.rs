//! Check of the shape of source files: module documentation, length of lines, functions and files.
//!
//! The check expects text that rustfmt has formatted, in which a function ends at the first closing
//! brace with its own indentation.

use super::code::without_tests;

/// Longest line, in characters.
const LONGEST_LINE: usize = 100;

/// Longest function outside of `tests` folders, in lines.
const LONGEST_FUNCTION: usize = 70;

/// Longest file outside of `tests` folders, in lines without the tests in the file.
const LONGEST_FILE: usize = 800;

pub(crate) fn check(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if !text.starts_with("//!") {
        complaints.push(format!("{path}: begins without module documentation (`//!`)"));
    }
    let lines: Vec<&str> = text.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        let length = line.chars().count();
        if length > LONGEST_LINE {
            complaints.push(format!("{path}:{}: {length} characters in a line", number + 1));
        }
    }
    let is_test = path.contains("/tests/");
    let production = without_tests(text).lines().count();
    if production > LONGEST_FILE && !is_test {
        complaints.push(format!("{path}: {production} lines without tests"));
    }
    for (start, length) in functions(&lines) {
        if length > LONGEST_FUNCTION && !is_test {
            complaints.push(format!("{path}:{}: a function of {length} lines", start + 1));
        }
    }
    complaints
}

/// Returns the first line and the number of lines of each function with a body.
fn functions(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        if !begins_function(code) {
            continue;
        }
        let indentation = line.len() - code.len();
        let closes = format!("{}}}", " ".repeat(indentation));
        let end = lines[start..].iter().position(|line| line.starts_with(&closes));
        let one_line = line.ends_with('}') || line.ends_with(';');
        if let (Some(end), false) = (end, one_line) {
            found.push((start, end + 1));
        }
    }
    found
}

fn begins_function(code: &str) -> bool {
    code.split_whitespace().find(|word| !is_qualifier(word)) == Some("fn")
}

fn is_qualifier(word: &str) -> bool {
    matches!(word, "async" | "const" | "unsafe" | "extern" | "\"C\"") || word.starts_with("pub")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(lines: usize) -> String {
        let body = "    step();\n".repeat(lines - 2);
        format!("//! A module.\n\npub async fn long() {{\n{body}}}\n")
    }

    #[test]
    fn tidy_file_has_no_complaints() {
        assert_eq!(check("a.rs", &function(70)), Vec::<String>::new());
    }

    #[test]
    fn each_limit_is_noticed() {
        assert_eq!(check("a.rs", &function(71)), ["a.rs:3: a function of 71 lines"]);
        let undocumented = "fn main() {}\n";
        let complaint = "a.rs: begins without module documentation (`//!`)";
        assert_eq!(check("a.rs", undocumented), [complaint]);
        let long = format!("//! {}\n", "x".repeat(97));
        assert_eq!(check("a.rs", &long), ["a.rs:1: 101 characters in a line"]);
        let file = format!("//! A module.\n{}", "const A: u8 = 1;\n".repeat(800));
        assert_eq!(check("a.rs", &file), ["a.rs: 801 lines without tests"]);
        let tested = format!("//! A.\n#[cfg(test)]\n{}", "const A: u8 = 1;\n".repeat(800));
        assert_eq!(check("a.rs", &tested), Vec::<String>::new());
    }

    #[test]
    fn methods_are_measured_separately() {
        let text = format!(
            "//! A.\nimpl A {{\n    fn a() {{\n    }}\n{}}}\n",
            "    const B: u8 = 1;\n".repeat(100)
        );
        assert_eq!(check("a.rs", &text), Vec::<String>::new());
    }
}
