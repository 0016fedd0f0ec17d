//! Values that differ, in words.

use crate::text::{columns, cut, one_line};

/// Maximum width of a value, in columns.
const WIDEST: usize = 60;

/// Number of characters at the beginning of a value that stay if the difference is far behind it.
const BEGINNING: usize = 20;

/// Number of characters before a difference that stay.
const BEFORE: usize = 10;

/// Returns two values that differ, each on one line, and cut if it is long. If their difference
/// would be cut off, the text before it is left out.
pub(crate) fn differing(values: [Option<&str>; 2]) -> [Option<String>; 2] {
    let lines = values.map(|value| value.map(one_line));
    let [Some(first), Some(second)] = &lines else {
        return lines.map(|line| line.map(|line| cut(&line, WIDEST)));
    };
    let alike = first.chars().zip(second.chars()).take_while(|(one, other)| one == other).count();
    let shown = |line: &String| match alike + 1 < WIDEST || columns(line) <= WIDEST {
        true => cut(line, WIDEST),
        false => {
            let begin: String = line.chars().take(BEGINNING).collect();
            let end: String = line.chars().skip(alike - BEFORE).collect();
            cut(&format!("{}…{end}", begin.trim_end()), WIDEST)
        }
    };
    [first, second].map(|line| Some(shown(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(first: &str, second: &str) -> [String; 2] {
        differing([Some(first), Some(second)]).map(Option::unwrap)
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
        let is_cut = |line: &String| columns(line) <= WIDEST && line.ends_with('…');
        assert!(both.iter().all(is_cut), "{both:?}");
    }

    #[test]
    fn value_without_another_one_is_cut() {
        let [missing, long] = differing([None, Some(&"word ".repeat(30))]);
        assert_eq!(missing, None);
        let long = long.unwrap();
        assert!(long.starts_with("word word") && long.ends_with("word…"), "{long}");
    }
}
