//! JUnit XML: test cases in the form that CI systems read.

use std::fmt::Write as _;

use base::printable;

use crate::cases::{TestCase, TestResult, TestSuite};

/// Returns the XML document of test cases.
pub fn junit(suite: &TestSuite) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        suite.cases.len(),
        suite.count(TestResult::Failure),
        suite.count(TestResult::Error),
        suite.count(TestResult::Skipped),
    );
    let _ = writeln!(out, "<testsuites name=\"assay\" {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"{}\" {counts}>", escaped(&suite.name));
    suite.cases.iter().for_each(|case| write_case(&mut out, case));
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn write_case(out: &mut String, case: &TestCase) {
    let (group, name, text) = (case.group.name(), escaped(&case.name), escaped(&case.text));
    let begin = format!("    <testcase classname=\"assay.{group}\" name=\"{name}\"");
    let _ = match case.result {
        TestResult::Passed if text.is_empty() => writeln!(out, "{begin}/>"),
        TestResult::Passed => {
            writeln!(out, "{begin}><system-out>{text}</system-out></testcase>")
        }
        TestResult::Failure => {
            writeln!(out, "{begin}><failure message=\"{text}\" type=\"{group}\"/></testcase>")
        }
        TestResult::Error => {
            writeln!(out, "{begin}><error message=\"{text}\" type=\"{group}\"/></testcase>")
        }
        TestResult::Skipped => writeln!(out, "{begin}><skipped message=\"{text}\"/></testcase>"),
    };
}

/// Escapes a text for XML. Characters that XML 1.0 cannot hold, and all others that [`printable`]
/// replaces, are replaced.
fn escaped(text: &str) -> String {
    let text = printable(text);
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::TestGroup;

    fn case(name: &str, result: TestResult, text: &str) -> TestCase {
        TestCase { group: TestGroup::Bet, name: name.to_owned(), result, text: text.to_owned() }
    }

    #[test]
    fn every_result_has_its_element() {
        let cases = vec![
            case("a", TestResult::Passed, ""),
            case("b", TestResult::Passed, "held"),
            case("c", TestResult::Failure, "failed"),
            case("d", TestResult::Error, "INVALID"),
            case("e", TestResult::Skipped, "undecided"),
        ];
        let text = junit(&TestSuite { name: "what?".to_owned(), cases });
        let case = |rest: &str| format!("    <testcase classname=\"assay.bet\" name={rest}");
        let expected = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>".to_owned(),
            "<testsuites name=\"assay\" tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"1\">"
                .to_owned(),
            "  <testsuite name=\"what?\" tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"1\">"
                .to_owned(),
            case("\"a\"/>"),
            case("\"b\"><system-out>held</system-out></testcase>"),
            case("\"c\"><failure message=\"failed\" type=\"bet\"/></testcase>"),
            case("\"d\"><error message=\"INVALID\" type=\"bet\"/></testcase>"),
            case("\"e\"><skipped message=\"undecided\"/></testcase>"),
            "  </testsuite>".to_owned(),
            "</testsuites>".to_owned(),
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn external_texts_are_escaped_and_stripped_of_control_characters() {
        let name = "\"/><failure/>\u{0}\u{1b}[1m\u{ffff}\n]]>&'";
        let text = junit(&TestSuite {
            name: name.to_owned(),
            cases: vec![case(name, TestResult::Failure, name)],
        });
        assert_eq!(text.matches("<failure").count(), 1);
        assert!(text.contains("&quot;/&gt;&lt;failure/&gt;"), "{text}");
        assert!(text.contains("]]&gt;&amp;&apos;"), "{text}");
        let is_allowed = |c: char| c == '\n' || !c.is_control() && c != '\u{ffff}';
        assert!(text.chars().all(is_allowed), "{text}");
    }
}
