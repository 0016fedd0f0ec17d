//! Cells of CSV files that a spreadsheet opens.

use std::borrow::Cow;

/// Returns the text of a cell as `show` converts it. A text that a spreadsheet would run as a
/// formula gets an apostrophe in front, so it is shown as text.
pub fn spreadsheet_cell<'t>(text: &'t str, show: impl Fn(&'t str) -> Cow<'t, str>) -> Cow<'t, str> {
    let shown = show(text);
    match is_formula(text) {
        true => Cow::Owned(format!("'{shown}")),
        false => shown,
    }
}

/// Returns true if a spreadsheet may evaluate a text: it begins as a formula does and is neither a
/// number nor a range of two numbers. Some spreadsheets skip blanks before a formula, or accept
/// full-width forms of its first character.
fn is_formula(text: &str) -> bool {
    if text.starts_with(['\t', '\r', '\n']) {
        return true;
    }
    let is_number = |text: &str| {
        let digits = text.trim_start_matches(['+', '-', '−']);
        let signs = text.chars().count() - digits.chars().count();
        signs <= 1 && digits.starts_with(|c: char| c.is_ascii_digit()) && is_digits(digits)
    };
    let text = text.trim_start();
    match text.chars().next() {
        Some('=' | '@' | '＝' | '＋' | '－' | '＠') => true,
        Some('+' | '-') => !without_unit(text).splitn(2, " … ").all(is_number),
        Some(_) | None => false,
    }
}

fn is_digits(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.'))
}

/// Returns a number without its unit: a percent sign or a word, with or without a blank before it.
fn without_unit(text: &str) -> &str {
    let percent = text.strip_suffix('%');
    let number = percent.unwrap_or_else(|| text.trim_end_matches(char::is_alphabetic));
    number.strip_suffix(' ').unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printable;

    #[test]
    fn formula_gets_an_apostrophe_and_a_number_does_not() {
        for text in [
            "=HYPERLINK(1)",
            "@x",
            "+cmd",
            "-1+cmd|' /C calc'!A0",
            "-1 … +cmd|x!A0",
            "-1%A1",
            "-1 %A",
            "--1",
            "+ 1",
            "-",
            "＝1",
            "＋1",
            "－1",
            "＠x",
        ] {
            assert_eq!(spreadsheet_cell(text, printable), format!("'{text}"));
        }
        for text in ["plain", "+4.1 %", "−5.2 %", "-5", "-1,234.5 points", "+7.00 … +9.20 %", ""]
        {
            assert_eq!(spreadsheet_cell(text, printable), text);
        }
        for (text, expected) in [("\t1", "' 1"), ("\r=1", "' =1"), (" =1", "' =1")] {
            assert_eq!(spreadsheet_cell(text, printable), expected);
        }
    }
}
