//! The record itself in open formats, whole and unjudged: [`csv()`] for spreadsheets and scripts,
//! [`json()`] for programs. The log of HdrHistogram is [`record::write_hlog`].
//!
//! Rows are written as they are read, so that a long run needs no more memory than a short one. The
//! file's own name is not in an export: the same rows are the same bytes.

mod csv;
mod json;

pub use csv::csv;
pub use json::json;
