//! Samples, and the sources from which they are read.

use std::collections::BTreeSet;

use record::{ComponentKind, ObservedComponent, ObservedMetric, Reading, Series};

use crate::environment::Root;

/// Maximum length, in bytes, of a metric's name that comes from a server.
pub(crate) const LONGEST_NAME: usize = 1_000;

/// Maximum number of series of a database, or of another machine. A busy server has a few hundred.
pub(crate) const MOST_SERIES: usize = 10_000;

/// Maximum number of missing items that an observer reports. A large machine has a few dozen.
const MOST_REPORTED_MISSING: usize = 1_000;

/// Readings of one sampling round, and the metrics that could not be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Metrics that were read.
    pub readings: Vec<Reading>,
    /// Metrics that could not be read.
    pub missing: Vec<Missing>,
}

/// A component or metric that cannot be read here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// Name of the component, followed by the name of the metric if not all metrics of the
    /// component are missing.
    pub what: String,
    /// Reason, in words.
    pub why: String,
}

/// A source that is sampled repeatedly.
///
/// A counter is reported with its current value, in the unit of its metric. The analysis uses the
/// difference between two samples. A value below the previous one means that the counter was reset.
pub trait Sampler: Send {
    /// Adds the current readings to a sample.
    fn sample(&mut self, root: &Root, sample: &mut Sample);
}

impl Sample {
    /// Adds a reading: the value of one metric of a component.
    pub fn read(&mut self, kind: &ComponentKind, metric: ObservedMetric, value: f64) {
        debug_assert!(metric.belongs_to(kind), "`{}` is not a metric of `{kind}`", metric.name);
        self.push(kind, metric.name, metric.unit, value);
    }

    /// Adds a reading of a component whose metrics have names that come from a server.
    pub fn read_named(&mut self, kind: &ComponentKind, name: &str, unit: &str, value: f64) {
        debug_assert!(kind.has_own_names(), "`{name}` of `{kind}` has no name from a server");
        self.push(kind, name, unit, value);
    }

    /// Adds a reading by its names in the record.
    pub(crate) fn push(&mut self, kind: &ComponentKind, metric: &str, unit: &str, value: f64) {
        let component = ObservedComponent::here(kind.clone()).to_string();
        self.readings.push(Reading::of(&component, metric, unit, value));
    }

    /// Notes that something could not be read.
    pub fn missing(&mut self, what: impl ToString, why: impl ToString) {
        self.missing.push(Missing { what: what.to_string(), why: why.to_string() });
    }
}

/// Names that have already been reported as missing. Each name is reported only once. Some names
/// come from servers and from other machines, so their number is limited.
#[derive(Debug, Default)]
pub(crate) struct ReportedMissing {
    names: BTreeSet<String>,
    /// True if the omission of further names has been reported.
    is_cut: bool,
}

impl ReportedMissing {
    /// Removes from a sample the missing items that were reported before and, once
    /// [`MOST_REPORTED_MISSING`] names have been reported, all new items too. The first time that
    /// new items are removed, the sample reports it as missing data.
    pub(crate) fn keep_new(&mut self, sample: &mut Sample) {
        let (names, mut has_more) = (&mut self.names, false);
        sample.missing.retain(|missing| {
            let is_new = !names.contains(&missing.what);
            let has_room = names.len() < MOST_REPORTED_MISSING;
            has_more |= is_new && !has_room;
            is_new && has_room && names.insert(missing.what.clone())
        });
        if has_more && !self.is_cut {
            self.is_cut = true;
            let why = format!("only the first {MOST_REPORTED_MISSING} missing items are reported");
            sample.missing("further missing data", why);
        }
    }
}

/// The series that a database, or another machine, has reported so far. The other side determines
/// their number and their names, so both are limited to bound the memory that they take.
#[derive(Debug, Default)]
pub(crate) struct SeriesLimit {
    known: BTreeSet<Series>,
    /// True if the removal of readings has been reported.
    is_reported: bool,
}

impl SeriesLimit {
    /// Removes the readings of new series from a sample once there are [`MOST_SERIES`], and always
    /// those of series whose name is longer than [`LONGEST_NAME`]. The first removal is reported in
    /// the sample as missing data.
    pub(crate) fn apply(&mut self, sample: &mut Sample) {
        let all = sample.readings.len();
        sample.readings.retain(|reading| self.admits(&reading.series));
        if sample.readings.len() < all && !self.is_reported {
            self.is_reported = true;
            let why = format!(
                "the names of more than {MOST_SERIES} statistics were sent, or one of more than \
                 {LONGEST_NAME} bytes"
            );
            sample.missing("further statistics", why);
        }
    }

    fn admits(&mut self, series: &Series) -> bool {
        let has_room = self.known.len() < MOST_SERIES && series.metric.len() <= LONGEST_NAME;
        self.known.contains(series) || has_room && self.known.insert(series.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_source_is_reported_once() {
        let mut known = ReportedMissing::default();
        let take_sample = || {
            let mut sample = Sample::default();
            sample.missing("disk sda", "no permission");
            sample
        };
        let mut first = take_sample();
        known.keep_new(&mut first);
        assert_eq!(first.missing.len(), 1);
        let mut second = take_sample();
        known.keep_new(&mut second);
        assert_eq!(second.missing, []);
    }

    #[test]
    fn names_of_missing_data_are_limited_in_number() {
        let mut known = ReportedMissing::default();
        let mut report = |numbers: std::ops::Range<usize>| {
            let mut sample = Sample::default();
            numbers.for_each(|number| sample.missing(format!("disk {number}"), "no permission"));
            known.keep_new(&mut sample);
            let last = sample.missing.last().map(|missing| missing.what.clone());
            (sample.missing.len(), last.unwrap_or_default())
        };
        assert_eq!(report(0..MOST_REPORTED_MISSING - 1).0, MOST_REPORTED_MISSING - 1);
        let cut = "further missing data".to_owned();
        assert_eq!(report(0..MOST_REPORTED_MISSING + 7), (2, cut));
        assert_eq!(report(0..2 * MOST_REPORTED_MISSING), (0, String::new()));
    }

    #[test]
    fn names_from_a_server_are_limited_in_number_and_length_and_reported_once() {
        let mut limit = SeriesLimit::default();
        let mut read = |names: &[String]| {
            let mut sample = Sample::default();
            for name in names {
                sample.read_named(&ComponentKind::Statistics, name, "", 1.0);
            }
            limit.apply(&mut sample);
            (sample.readings.len(), sample.missing.len())
        };
        assert_eq!(read(&["a".repeat(LONGEST_NAME), "a".repeat(LONGEST_NAME + 1)]), (1, 1));
        let names: Vec<String> = (0..MOST_SERIES + 7).map(|number| number.to_string()).collect();
        assert_eq!(read(&names), (MOST_SERIES - 1, 0));
        // The values of known series are still accepted.
        assert_eq!(read(&names[..5]), (5, 0));
        assert_eq!(read(&["a".repeat(LONGEST_NAME)]), (1, 0));
    }
}
