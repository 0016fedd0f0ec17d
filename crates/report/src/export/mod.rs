//! Exports of the whole record in open formats, without judgement: [`csv()`] for spreadsheets and
//! scripts, [`json()`] for programs. The log of HdrHistogram is [`record::write_hlog`].
//!
//! Rows are written as they are read, so memory does not grow with the length of the run. The
//! file's own name is not in an export: the same rows are the same bytes.

mod csv;
mod json;

pub use csv::csv;
pub use json::json;
