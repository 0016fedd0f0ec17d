//! Reports of a history: the changes of metrics over records, for people and programs.
//!
//! A [`HistoryView`] has the series of records with the changes that were found in them.
//! [`history_text`] and [`history_json`] format it; neither decides anything.

mod json;
mod text;
mod view;

pub use json::history_json;
pub use text::history_text;
pub use view::{
    FactChange, HistoryView, LeftOutFile, RecordView, SeriesArm, SeriesChange, SeriesPoint,
    SeriesView,
};
