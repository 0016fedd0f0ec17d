//! Calls of generators.
//!
//! Each generator has a file with its entry in the [table](ALL), the checks of its arguments and
//! its golden values. The values themselves are computed in [`generate`](crate::generate).

mod arguments;
mod client;
mod csv;
mod digits;
mod exponential;
mod field;
mod hex;
mod hotspot;
mod json;
mod latest;
mod normal;
mod null;
mod numbered;
mod nurand;
mod pareto;
mod permute;
mod pick;
mod point;
mod polygon;
mod table;
mod text;
mod timestamp;
mod uniform;
mod weighted;
mod zipf;

#[cfg(test)]
pub(crate) mod golden;

pub(crate) use arguments::{AllowedIn, Arguments, ColonPart, CompiledArgument, Spec, Variadic};
pub(crate) use table::{ALL, assay_name_of, find, names};
