//! Reports of experiments, for people and programs.
//!
//! An [`ExperimentView`] has what a record holds: the question, the comparison, and how valid the
//! runs are. [`experiment_text`] and [`experiment_json`] format it; neither decides anything.

mod json;
mod sentence;
mod text;
mod view;

pub use json::experiment_json;
pub use text::experiment_text;
pub use view::{ArmView, ExperimentState, ExperimentView, RunView, SettingDifference};
