//! Values that count as not set. Dbbench treats a zero, or a duration below zero, as if the line
//! were absent. Such a line is ignored with a warning.

use base::units::{UnitError, parse_decimal, parse_duration};
use base::{Rate, RateError};

use super::checker::Checker;
use super::fields::Fields;
use super::value::resolve;
use crate::read::Entry;
use crate::wording::quoted;

/// Keys of a job that count as not set if they are zero, with the consequence.
const ZERO: &[(&str, &str)] = &[
    (
        "rate",
        "without a rate the job has no arrivals: its clients send one request after the other",
    ),
    ("concurrency", "without it a rate has no queue, and a job without a rate has one client"),
    ("batch-size", "each arrival is one request"),
    ("count", "there is no limit"),
];

/// Keys whose durations count as not set if they are negative, with the consequence.
const NEGATIVE: &[(&str, &str)] = &[
    ("duration", "it sets no limit: leave the key out"),
    ("start", "the job begins at once: leave the key out"),
    ("stop", "the job does not end before the run: leave the key out"),
];

/// The consequence in a section that does not run alone: its pacing is that of the mix.
const ONLY_IN_MIX: &str = "the section runs only as a part of the mix";

impl<'f> Checker<'f> {
    /// Removes lines that set nothing. `runs_alone` is false for a section that runs only as a part
    /// of a mix.
    pub(super) fn drop_unset(&mut self, fields: &mut Fields<'f>, runs_alone: bool) {
        let in_role = |consequence| if runs_alone { consequence } else { ONLY_IN_MIX };
        for &(name, consequence) in ZERO {
            let consequence = in_role(consequence);
            let is_zero = |text: &str| is_zero(name, text);
            self.drop_where(fields, name, is_zero, "is zero, which counts as not set", consequence);
        }
        for &(name, consequence) in NEGATIVE {
            let consequence = in_role(consequence);
            let is_negative = |text: &str| parse_duration(text) == Err(UnitError::Negative);
            self.drop_where(
                fields,
                name,
                is_negative,
                "is negative, which counts as 0",
                consequence,
            );
        }
    }

    /// Returns true if a line of a job counts as not set because its value is zero.
    pub(super) fn is_unset(&self, name: &str, entry: &'f Entry<'f>) -> bool {
        ZERO.iter().any(|(key, _)| *key == name)
            && self.value_matches(entry, |text| is_zero(name, text))
    }

    fn drop_where(
        &mut self,
        fields: &mut Fields<'f>,
        name: &str,
        is_unset: impl Fn(&str) -> bool,
        why: &str,
        consequence: &str,
    ) {
        let Some(entry) = fields.one(name).filter(|entry| self.value_matches(entry, is_unset))
        else {
            return;
        };
        fields.remove(entry);
        self.sink.warning(|| {
            let value = entry.value();
            value.warning(format!("{} {why}", quoted(value.text()))).help(consequence)
        });
    }

    /// Returns true if `predicate` holds for the value of a key; a malformed value is reported
    /// where it is used.
    fn value_matches(&self, entry: &'f Entry<'f>, predicate: impl Fn(&str) -> bool) -> bool {
        let scope = self.fixed_scope("a value");
        resolve(entry.value(), scope).is_ok_and(|resolved| predicate(resolved.excerpt().text()))
    }
}

/// Returns true if the value of a key in [`ZERO`] is zero.
fn is_zero(name: &str, text: &str) -> bool {
    match name {
        "rate" => Rate::parse(text) == Err(RateError::Zero),
        _ => parse_decimal(text).is_ok_and(|number| number.digits == 0),
    }
}
