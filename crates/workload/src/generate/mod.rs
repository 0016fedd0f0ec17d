//! Generators of values.
//!
//! A generator is a pure function of (seed of the run, section, place in the section, number of the
//! request or row). `timestamp()` also needs the start of the run, and `field()` the record of the
//! request. A generator has no state, and its values depend neither on threads nor on other jobs
//! nor on the time at which they are computed. Most files have the arithmetic of one generator.
//! Arguments may be expressions of any type `E`, which the caller evaluates.

pub(crate) mod client;
mod csv;
pub(crate) mod digits;
pub(crate) mod exponential;
pub(crate) mod field;
pub(crate) mod hex;
mod hotspot;
mod json;
mod latest;
pub(crate) mod normal;
mod null;
pub(crate) mod numbered;
mod nurand;
mod pareto;
mod permute;
pub(crate) mod pick;
pub(crate) mod point;
mod polygon;
pub(crate) mod sphere;
pub(crate) mod text;
pub(crate) mod timestamp;
mod uniform;
mod weighted;
mod zipf;

#[cfg(test)]
pub(crate) mod statistics;

pub(crate) use csv::{Column, Csv, Table, Tables, Texts};
pub(crate) use hex::UUID_LENGTH;
pub(crate) use hotspot::Hotspot;
pub(crate) use json::Json;
pub(crate) use latest::Latest;
pub(crate) use null::Null;
pub(crate) use nurand::Nurand;
pub(crate) use pareto::Pareto;
pub(crate) use permute::Permute;
pub(crate) use point::LONGEST_POINT;
pub(crate) use polygon::{LONGEST_POLYGON, Points, Polygon, radius};
pub(crate) use text::LONGEST_TEXT;
pub(crate) use uniform::{Ints, Uniform};
pub(crate) use weighted::Weighted;
pub(crate) use zipf::Zipf;
