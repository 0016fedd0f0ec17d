//! Check of prose: length of Markdown lines and of the README, sections of the changelog, first
//! words of doc comments.

/// Longest line of a Markdown file, in characters.
const LONGEST_LINE: usize = 100;

/// Maximum number of lines of the README.
const README_LINES: usize = 150;

/// The sections of a version in Keep a Changelog.
const SECTIONS: [&str; 6] = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

/// First words that make a doc comment a relative clause instead of a noun phrase or a verb.
const RELATIVE: [&str; 8] = ["What", "How", "Whether", "Where", "Which", "Why", "When", "Who"];

pub(crate) fn check(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    // Inputs of tests may have any form.
    let is_quoted = path.contains("/corpus/");
    if path.ends_with(".md") && !is_quoted {
        complaints.extend(check_width(path, text));
    }
    let lines = text.lines().count();
    if path == "README.md" && lines > README_LINES {
        complaints.push(format!("{path}: {lines} lines, {README_LINES} are enough"));
    }
    if path == "CHANGELOG.md" {
        complaints.extend(check_changelog(path, text));
    }
    if path.ends_with(".rs") {
        complaints.extend(check_doc_comments(path, text));
    }
    complaints
}

/// Returns a complaint for each long line outside of tables and code.
fn check_width(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut is_code = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let may_be_long = is_code || line.starts_with("    ") || line.starts_with('|');
        let length = line.chars().count();
        if length > LONGEST_LINE && !may_be_long && !is_one_link(line) {
            let place = format!("{path}:{}", number + 1);
            complaints.push(format!("{place}: {length} characters in a line, wrap it at 100"));
        }
    }
    complaints
}

/// Returns true if a line, apart from a list marker, is one link that cannot be wrapped.
fn is_one_link(line: &str) -> bool {
    let line = line.trim().trim_start_matches("* ").trim_end_matches(['.', ',']);
    let is_url = !line.contains(' ') && line.contains("://");
    let is_link = (line.starts_with('[') || line.starts_with("!["))
        && line.ends_with(')')
        && line.matches("](").count() == 1;
    is_url || is_link
}

fn check_changelog(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut versions = 0;
    for (number, line) in text.lines().enumerate() {
        let place = format!("{path}:{}", number + 1);
        if let Some(version) = line.strip_prefix("## ") {
            let is_first = versions == 0;
            versions += 1;
            seen.clear();
            if is_first && version != "[Unreleased]" {
                complaints.push(format!("{place}: the first version is not `[Unreleased]`"));
            } else if !is_first && !is_release(version) {
                complaints.push(format!("{place}: write `## [X.Y.Z] - YYYY-MM-DD`"));
            }
        } else if let Some(section) = line.strip_prefix("### ") {
            if !SECTIONS.contains(&section) {
                let expected = SECTIONS.join(", ");
                complaints
                    .push(format!("{place}: unknown section `{section}`; expected {expected}"));
            }
            if seen.contains(&section) {
                complaints.push(format!("{place}: section `{section}` occurs twice"));
            }
            seen.push(section);
        } else if seen.is_empty() && line.starts_with("* ") {
            complaints.push(format!("{place}: an entry outside of a section"));
        }
    }
    complaints
}

/// Returns true for the heading of a released version: `[1.2.3] - 2026-11-25`.
fn is_release(heading: &str) -> bool {
    let parts = heading.strip_prefix('[').and_then(|rest| rest.split_once("] - "));
    let numbers = |text: &str, separator: char, count: usize| {
        let mut parts = text.split(separator);
        text.split(separator).count() == count && parts.all(|part| part.parse::<u32>().is_ok())
    };
    parts.is_some_and(|(version, date)| numbers(version, '.', 3) && numbers(date, '-', 3))
}

/// Returns a complaint for each doc comment that opens with a relative clause.
fn check_doc_comments(path: &str, text: &str) -> Vec<String> {
    let relative = doc_comments(text).filter(|comment| comment.is_relative());
    let complaint = |DocComment { line, first }: DocComment<'_>| {
        let instead = "write a noun phrase or a verb";
        format!("{path}:{line}: doc comment opens with `{first}`: {instead}")
    };
    relative.map(complaint).collect()
}

/// The beginning of a doc comment.
pub(super) struct DocComment<'t> {
    /// Number of its first line, from 1.
    line: usize,
    /// Its first word.
    first: &'t str,
}

impl DocComment<'_> {
    /// Returns true if the comment opens with a relative clause.
    pub(super) fn is_relative(&self) -> bool {
        RELATIVE.contains(&self.first)
    }
}

/// Returns the beginnings of the doc comments of a source file.
pub(super) fn doc_comments(text: &str) -> impl Iterator<Item = DocComment<'_>> {
    let mut is_inside = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let is_first = !std::mem::replace(&mut is_inside, comment.is_some());
        let first = comment?.split_whitespace().next().unwrap_or_default();
        is_first.then_some(DocComment { line: number + 1, first })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_markdown_line_is_noticed_outside_of_tables_and_code() {
        let long = "word ".repeat(21).trim().to_owned();
        let complaint = "a.md:1: 104 characters in a line, wrap it at 100";
        assert_eq!(check("a.md", &long), [complaint]);
        let allowed = [
            format!("| {long} |"),
            format!("    {long}"),
            format!("```text\n{long}\n```"),
            format!("* [{long}](docs/a.md)"),
            format!("https://example.org/{}", "x".repeat(100)),
        ];
        for text in allowed {
            assert_eq!(check("a.md", &text), [""; 0], "{text}");
        }
        let after = format!("```text\n```\n{long}");
        assert_eq!(check("a.md", &after), [complaint.replace(":1:", ":3:")]);
        assert_eq!(check("fuzz/corpus/a.md", &long), [""; 0]);
        assert_eq!(check("a.txt", &long), [""; 0]);
    }

    #[test]
    fn readme_that_grows_is_noticed() {
        assert_eq!(check("README.md", &"line\n".repeat(150)), [""; 0]);
        let complaint = "README.md: 151 lines, 150 are enough";
        assert_eq!(check("README.md", &"line\n".repeat(151)), [complaint]);
        assert_eq!(check("docs/a.md", &"line\n".repeat(151)), [""; 0]);
    }

    #[test]
    fn changelog_with_other_sections_is_noticed() {
        let good = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n* A.\n\n\
                    ## [0.1.0] - 2026-11-25\n\n### Added\n\n* B.\n\n### Fixed\n\n* C.\n";
        let complaints = |from: &str, to: &str| check("CHANGELOG.md", &good.replace(from, to));
        assert_eq!(complaints("", ""), [""; 0]);
        let unknown = "CHANGELOG.md:15: unknown section `Mended`; \
                       expected Added, Changed, Deprecated, Removed, Fixed, Security";
        assert_eq!(complaints("### Fixed", "### Mended"), [unknown]);
        let twice = "CHANGELOG.md:15: section `Added` occurs twice";
        assert_eq!(complaints("### Fixed", "### Added"), [twice]);
        let outside = "CHANGELOG.md:4: an entry outside of a section";
        assert_eq!(complaints("\n\n### Added\n\n* A", "\n* A"), [outside]);
        let first = "CHANGELOG.md:3: the first version is not `[Unreleased]`";
        assert_eq!(complaints("[Unreleased]", "Unreleased"), [first]);
        let version = "CHANGELOG.md:9: write `## [X.Y.Z] - YYYY-MM-DD`";
        assert_eq!(complaints(" - 2026-11-25", ""), [version]);
        assert_eq!(complaints("0.1.0", "0.1"), [version]);
    }

    #[test]
    fn doc_comment_that_opens_with_a_relative_clause_is_noticed() {
        for word in RELATIVE {
            let complaint =
                format!("doc comment opens with `{word}`: write a noun phrase or a verb");
            let text = format!("//! A module.\n\n    /// {word} it is.\n    field: u8,\n");
            assert_eq!(check("a.rs", &text), [format!("a.rs:3: {complaint}")]);
            let module = format!("//! {word} it is.\n");
            assert_eq!(check("a.rs", &module), [format!("a.rs:1: {complaint}")]);
        }
        let text = "//! A module.\n\n/// How it is.\n/// Why.\nfn a() {}\n/// The end.\n";
        assert_eq!(doc_comments(text).count(), 3);
        assert_eq!(doc_comments(text).filter(DocComment::is_relative).count(), 1);
        let text =
            "//! A module.\n\n/// The rate.\n/// When it is 0, nothing starts.\n// Why not?\n";
        assert_eq!(check("a.rs", text), [""; 0]);
    }
}
