//! Text of two values that differ.

use crate::text::{columns, cut_line, one_line};

/// Maximum width of a value, in columns.
const WIDEST_VALUE: usize = 60;

/// Width of the beginning that a shortened value keeps, in columns, including the `…` after it.
const BEGINNING_WIDTH: usize = 21;

/// Width of the text that a shortened value keeps before the difference, in columns.
const CONTEXT_WIDTH: usize = 10;

/// Returns two values that differ, each on one line and cut to [`WIDEST_VALUE`]. If the cut would
/// remove the difference, most of the text before the difference is left out. Values that differ
/// only in whitespace show line ends and tabs as escapes.
pub(crate) fn shorten_pair(values: [Option<&str>; 2]) -> [Option<String>; 2] {
    let mut lines = values.map(|value| value.map(one_line));
    if lines[0] == lines[1] {
        lines = values.map(|value| value.map(with_visible_blanks));
    }
    let [Some(first), Some(second)] = &lines else {
        return lines.map(|line| line.map(|line| cut_line(&line, WIDEST_VALUE)));
    };
    let both = first.chars().zip(second.chars());
    let alike: String = both.take_while(|(one, other)| one == other).map(|(one, _)| one).collect();
    let is_visible = columns(&alike) + 2 <= WIDEST_VALUE;
    let shown = |line: &String| match is_visible || columns(line) <= WIDEST_VALUE {
        true => cut_line(line, WIDEST_VALUE),
        false => {
            let begin = cut_line(&alike, BEGINNING_WIDTH);
            let before = longest_end(&alike, CONTEXT_WIDTH);
            cut_line(&format!("{begin}{before}{}", &line[alike.len()..]), WIDEST_VALUE)
        }
    };
    [first, second].map(|line| Some(shown(line)))
}

/// Returns the longest end of a text that fits into a width.
fn longest_end(text: &str, width: usize) -> &str {
    let ends = text.char_indices().rev().map(|(at, _)| &text[at..]);
    ends.take_while(|end| columns(end) <= width).last().unwrap_or_default()
}

fn with_visible_blanks(value: &str) -> String {
    value.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(first: &str, second: &str) -> [String; 2] {
        shorten_pair([Some(first), Some(second)]).map(Option::unwrap)
    }

    #[test]
    fn long_values_are_on_one_line_and_cut_behind_their_difference() {
        assert_eq!(shown("select  1\n  from t", "1"), ["select 1 from t", "1"]);
        let list = (1..30).map(|number| format!("c{number},\n    ")).collect::<String>();
        let [first, second] =
            ["7", "8"].map(|id| format!("select {list}x from t\n where id = {id}"));
        let begin = "select c1, c2, c3, c…here id = ";
        assert_eq!(shown(&first, &second), [format!("{begin}7"), format!("{begin}8")]);
        let [first, second] = ["a", "b"].map(|name| format!("select {name}, {list} from t"));
        let both = shown(&first, &second);
        assert!(both[0].starts_with("select a, c1, c2, ") && both[1].starts_with("select b, c1"));
        let is_cut = |line: &String| columns(line) <= WIDEST_VALUE && line.ends_with('…');
        assert!(both.iter().all(is_cut), "{both:?}");
    }

    #[test]
    fn difference_behind_wide_characters_is_shown() {
        let [first, second] = ["7", "8"].map(|id| format!("{}{id}", "表".repeat(40)));
        let begin = format!("{}…{}", "表".repeat(10), "表".repeat(5));
        assert_eq!(shown(&first, &second), [format!("{begin}7"), format!("{begin}8")]);
    }

    #[test]
    fn values_that_differ_only_in_whitespace_show_it() {
        let both = shown("select 1\n  from t", "select 1\n\tfrom t");
        assert_eq!(both, ["select 1\\n  from t", "select 1\\n\\tfrom t"]);
        assert_eq!(shown("'a  b'", "'a b'"), ["'a  b'", "'a b'"]);
    }

    #[test]
    fn value_without_another_one_is_cut() {
        let [missing, long] = shorten_pair([None, Some(&"word ".repeat(30))]);
        assert_eq!(missing, None);
        let long = long.unwrap();
        assert!(long.starts_with("word word") && long.ends_with("word…"), "{long}");
    }
}
