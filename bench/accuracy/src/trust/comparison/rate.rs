//! A rate, and the rates that are accepted.

use std::ops::RangeInclusive;

/// The rate at which comparisons have a property.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRate {
    /// Name of the property and of the set of comparisons.
    pub name: &'static str,
    /// Number of comparisons.
    pub comparisons: u32,
    /// Number of comparisons with the property.
    pub found: u32,
    /// Accepted percentages.
    pub accepted: RangeInclusive<f64>,
}

impl ComparisonRate {
    /// Counts the seeds whose comparison has the property.
    pub(in crate::trust) fn count(
        name: &'static str,
        comparisons: u32,
        accepted: RangeInclusive<f64>,
        has: impl Fn(u64) -> bool,
    ) -> ComparisonRate {
        let found = (1..=u64::from(comparisons)).filter(|seed| has(*seed)).count() as u32;
        ComparisonRate { name, comparisons, found, accepted }
    }

    /// Returns the rate in percent.
    pub fn percent(&self) -> f64 {
        100.0 * f64::from(self.found) / f64::from(self.comparisons.max(1))
    }

    /// Returns true if the rate is accepted.
    pub fn is_good(&self) -> bool {
        self.accepted.contains(&self.percent())
    }
}
