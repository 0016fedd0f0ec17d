//! `weighted(a: 3, b: 1, …)`: one of several values, chosen by weight.

use base::Draw;

/// Values with whole weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weighted<E> {
    values: Vec<E>,
    /// The sum of the weights up to each value.
    ends: Vec<u64>,
}

impl<E> Weighted<E> {
    /// Creates values with weights, given the sum of the weights up to each.
    pub(crate) fn new(values: Vec<E>, ends: Vec<u64>) -> Weighted<E> {
        Weighted { values, ends }
    }

    /// Returns the values.
    pub(crate) fn values(&self) -> &[E] {
        &self.values
    }

    /// Returns the values with their weights, the smallest whole numbers with the same proportions.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&E, u64)> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let weights = self.ends.iter().zip(starts).map(|(end, start)| end - start);
        self.values.iter().zip(weights)
    }

    /// Returns a value chosen at random by weight.
    pub(crate) fn choice(&self, draw: &mut Draw) -> &E {
        let total = self.ends.last().copied().unwrap_or(1);
        let point = draw.below(total);
        let place = self.ends.partition_point(|end| *end <= point);
        &self.values[place]
    }
}
