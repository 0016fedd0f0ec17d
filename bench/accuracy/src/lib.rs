//! Measurements of how often Assay's answers are wrong.
//!
//! [`trust`] counts the errors of checks, intervals, comparisons and searches, nearly all in
//! virtual time. [`limiter`] counts the limiters that are identified, nearly all on real servers.

pub mod limiter;
pub mod trust;
