//! Varying rates: the number of arrivals expected by an instant, and its inverse.
//!
//! A schedule of a varying rate is the inverse of its cumulative rate Λ, taken at sums of unit
//! exponentials (a Poisson process whose rate varies; Çinlar, "Introduction to Stochastic
//! Processes", 1975, chapter 4.7) or at 1, 2, 3, … (uniform arrivals). Numbers of expected arrivals
//! are whole multiples of 10⁻¹⁸, the product of a billionth of an arrival per second and a
//! nanosecond. So only the instant is rounded while the rate is constant.
//!
//! Invariant: Λ never falls, and [`Inverse`] never goes back.

mod inverse;
mod level;
mod rate;
mod recorded;
mod segment;
mod sine;

#[cfg(test)]
mod tests;

pub use inverse::Inverse;
pub use level::{Expected, Level};
pub(crate) use level::{UNIT, in_decimal};
pub use rate::Shape;
pub use recorded::Recorded;
