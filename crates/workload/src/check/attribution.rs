//! Attribution of a mistake to the file or to a `--set` option.
//!
//! A value from `--set` replaces the file's value. If the value is wrong, the error is found at the
//! line that uses it, but that line is not the cause. Therefore a mistake that the file does not
//! have without the option is reported for the option.

use base::{Diagnostic, Severity};

use super::overrides::{Override, Overrides};
use crate::wording::words;

/// Attributes errors of a file to the options that caused them. `own` are the errors of the file
/// without the options: an error that is not among them is reported at its option. Only the first
/// error of each option is reported, because the others usually follow from it.
pub(super) fn attribute_errors(
    text: &str,
    overrides: &Overrides,
    own: &[Diagnostic],
    found: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut blamed: Vec<String> = Vec::new();
    let mut settled = Vec::with_capacity(found.len());
    for diagnostic in found {
        if diagnostic.severity == Severity::Warning
            || diagnostic.span.is_none()
            || own.contains(&diagnostic)
        {
            settled.push(diagnostic);
            continue;
        }
        let causing_options = causing_options(text, overrides, &diagnostic);
        if !blamed.contains(&causing_options) {
            settled.push(attribute_to_options(&causing_options, diagnostic));
            blamed.push(causing_options);
        }
    }
    settled
}

fn attribute_to_options(causing_options: &str, diagnostic: Diagnostic) -> Diagnostic {
    Diagnostic {
        option: Some(causing_options.into()),
        label: "it is used here".to_owned(),
        help: Some("give the option another value, or leave it out".to_owned()),
        ..diagnostic
    }
}

/// Returns the options that cause an error: the options whose parameters are named in the error's
/// span, or all options if no parameter is named there.
fn causing_options(text: &str, overrides: &Overrides, diagnostic: &Diagnostic) -> String {
    let span = diagnostic.span.unwrap_or_default();
    let place = text.get(span.start..span.end).unwrap_or_default();
    let stands_there = |name: &str| words(place).any(|word| word == name);
    let options = |wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
        overrides.params().filter(|one| wanted(&one.key)).map(Override::option).collect()
    };
    let mut there = options(&stands_there);
    if there.is_empty() {
        there = options(&|_| true);
    }
    there.join(" or ")
}
