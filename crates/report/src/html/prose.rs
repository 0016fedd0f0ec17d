//! Sentences as HTML: commands, options and other code between backticks become elements, and a
//! number stays on one line with its unit.

use super::cut::cut;
use crate::no_break::with_no_break_spaces;
use crate::svg::escaped;

/// Returns a sentence for HTML: escaped, shortened if it is very long, and with an element in place
/// of each pair of backticks. A backtick without a partner stays.
pub(super) fn prose(text: &str) -> String {
    let text = cut(text);
    let mut out = String::with_capacity(text.len());
    let mut rest: &str = &text;
    while let Some((before, code, after)) = code_span(rest) {
        out.push_str(&escaped(&with_no_break_spaces(before)));
        out.push_str(element(code));
        out.push_str(&escaped(code));
        out.push_str("</code>");
        rest = after;
    }
    out.push_str(&escaped(&with_no_break_spaces(rest)));
    out
}

/// Returns the start tag of the element for a code span. An option stays on one line: a browser
/// would otherwise break it after one of its hyphens.
fn element(code: &str) -> &'static str {
    match code.starts_with('-') && !code.contains(' ') {
        true => "<code class=\"option\">",
        false => "<code>",
    }
}

/// Returns the text before the first code span that is not empty, its code, and the text after it.
fn code_span(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let begin = from + text[from..].find('`')?;
        let code = begin + 1;
        let end = code + text[code..].find('`')?;
        if end > code {
            return Some((&text[..begin], &text[code..end], &text[end + 1..]));
        }
        from = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_between_backticks_is_an_element() {
        for (text, expected) in [
            ("run `assay doctor`", "run <code>assay doctor</code>"),
            ("7 % of `5 % 3`", "7\u{a0}% of <code>5 % 3</code>"),
            ("`a` or `b < 1`, then", "<code>a</code> or <code>b &lt; 1</code>, then"),
            ("`<b>`", "<code>&lt;b&gt;</code>"),
            ("or `--spin`", "or <code class=\"option\">--spin</code>"),
            ("`--cpus 0 --spin`", "<code>--cpus 0 --spin</code>"),
            ("a lone ` stays", "a lone ` stays"),
            ("`a` and `", "<code>a</code> and `"),
            ("`` is not a percentage", "`` is not a percentage"),
            ("`` in a, `x` in b", "`` in a, <code>x</code> in b"),
            ("<code>x</code>", "&lt;code&gt;x&lt;/code&gt;"),
        ] {
            assert_eq!(prose(text), expected, "{text}");
        }
    }

    #[test]
    fn span_that_is_cut_is_not_an_element() {
        let text = format!("`{}`", "x".repeat(10_000));
        assert!(!prose(&text).contains("<code>"));
    }
}
