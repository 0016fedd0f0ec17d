//! `pick(a, b, …)`: one of several values.

use base::Draw;

/// Returns a value chosen at random.
#[inline]
pub(crate) fn choice<'v, E>(values: &'v [E], draw: &mut Draw) -> &'v E {
    &values[draw.below(values.len() as u64) as usize]
}
