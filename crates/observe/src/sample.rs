//! What the sources say at one look.

use std::collections::BTreeSet;

use record::{Component, Part, Reading};

use crate::environment::Root;

/// What was read at one look, and what could not be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// What was read.
    pub readings: Vec<Reading>,
    /// What could not be read.
    pub missing: Vec<Missing>,
}

/// Something that cannot be read here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// What: the component, and the metric if it is one of several.
    pub what: String,
    /// Why, in words.
    pub why: String,
}

/// Something that is looked at again and again.
///
/// A counter is told as it stands, in the unit of its metric: whoever judges takes the difference
/// of two looks, and knows by a value below the last that it was reset.
pub trait Source: Send {
    /// Looks once.
    fn look(&mut self, root: &Root, sample: &mut Sample);
}

impl Sample {
    /// A metric of a part was so much.
    pub fn read(&mut self, part: &Part, metric: &str, unit: &str, value: f64) {
        let component = Component::here(part.clone()).to_string();
        self.readings.push(Reading::of(&component, metric, unit, value));
    }

    /// Something could not be read.
    pub fn missing(&mut self, what: impl ToString, why: impl ToString) {
        self.missing.push(Missing { what: what.to_string(), why: why.to_string() });
    }
}

/// What was said to be missing. It is said once.
#[derive(Debug, Default)]
pub(crate) struct Known(BTreeSet<String>);

impl Known {
    /// Leaves what is new in a sample.
    pub(crate) fn keep_new(&mut self, sample: &mut Sample) {
        sample.missing.retain(|missing| self.0.insert(missing.what.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_once() {
        let mut known = Known::default();
        let look = || {
            let mut sample = Sample::default();
            sample.missing("disk sda", "no permission");
            sample
        };
        let mut first = look();
        known.keep_new(&mut first);
        assert_eq!(first.missing.len(), 1);
        let mut second = look();
        known.keep_new(&mut second);
        assert_eq!(second.missing, []);
    }
}
