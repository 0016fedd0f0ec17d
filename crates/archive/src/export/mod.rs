//! Exports of a record's measurements in open formats, without judgement: [`csv()`] for
//! spreadsheets and scripts, [`json()`] for programs, [`write_hlog()`] for the tools of
//! HdrHistogram; and [`single_run()`], which copies a run of an experiment to a record of its own.
//!
//! Intervals and histograms are written as they are read, so they are never all in memory. The
//! file's own name is not in an export, so equal records give equal bytes.

mod csv;
mod hlog;
mod json;
mod single;

pub use csv::csv;
pub use hlog::{hlog_tag, write_hlog};
pub use json::json;
pub use single::single_run;
