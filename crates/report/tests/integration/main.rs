//! Tests of reports: runs of many kinds with hand-made evidence, and their texts and documents.

#![allow(clippy::unwrap_used, reason = "helpers of tests may, as tests do")]

mod captions;
mod cases;
mod documents;
mod hostile;
mod hour;
mod large;
mod observed;
mod overlay;
mod page_tables;
mod schema;
mod short_texts;
mod support;
mod texts;
