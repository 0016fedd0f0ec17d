//! Numbers in sentences about findings.

/// Formats a number, with as many digits as needed.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Formats a share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Formats a change in percent, with its sign and this number of decimals: `−5.0 %`.
pub(super) fn signed(by: f64, decimals: usize) -> String {
    let sign = if by < 0.0 { "−" } else { "+" };
    format!("{sign}{:.decimals$} %", by.abs() * 100.0)
}

/// Formats a share in percent; a small one is not rounded to zero.
pub(super) fn percent_or_less(share: f64) -> String {
    match share * 100.0 {
        small if small < 1.0 => "less than 1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}
