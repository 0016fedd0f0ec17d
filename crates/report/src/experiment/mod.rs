//! Reports of experiments, for people and programs.
//!
//! An [`ExperimentView`] has the content of a record: the question, the comparison, and the
//! validity of the runs. [`experiment_text`], [`experiment_full_text`], [`experiment_markdown`],
//! [`experiment_html`] and [`experiment_json`] format it, and a [`TestSuite`](crate::TestSuite) has
//! its test cases; none of them decides anything. A [`ComparisonView`] has recorded groups of runs
//! and no question.

mod alarms;
mod answer_text;
mod appendix;
mod appendix_html;
mod appendix_json;
mod arm_facts;
mod bets;
mod capacity;
mod capacity_json;
mod capacity_outcomes;
mod capacity_sentence;
mod cases;
mod cells;
mod comparison;
mod comparison_cases;
mod comparison_html;
mod comparison_json;
mod comparison_markdown;
mod comparison_text;
mod evidence;
mod figures;
#[cfg(test)]
mod fixtures;
mod full_text;
#[cfg(test)]
mod hostile;
mod html;
mod irregular_words;
mod json;
mod lines;
mod load_fallbacks;
mod longest_times;
mod markdown;
mod metric_tables;
mod objection;
mod remarks;
mod repeat;
mod repeated_capacity;
mod repetition;
mod saturation;
mod saturation_json;
mod sentence;
mod short;
mod short_tables;
mod short_text;
mod shown_changes;
mod stored_runs;
mod sweep;
mod sweep_html;
mod sweep_json;
mod sweep_markdown;
mod sweep_table;
mod sweep_text;
mod terms;
mod text;
mod trial_rows;
mod two_runs;
mod value_list;
mod view;

pub use alarms::FalseAlarms;
pub use arm_facts::{ArmFacts, PlanTexts};
pub use capacity::{CapacityView, TrialView};
pub use comparison::{ComparisonView, MachineView, ObjectionView};
pub use comparison_html::{comparison_html, served_comparison_html};
pub use comparison_json::comparison_json;
pub use comparison_markdown::comparison_markdown;
pub use comparison_text::comparison_text;
pub use figures::{comparison_figures, experiment_figures};
pub use full_text::experiment_full_text;
pub use html::experiment_html;
pub(crate) use json::ends as interval_percent;
pub use json::experiment_json;
pub use lines::first_answers as first_experiment_answers;
pub use load_fallbacks::LoadFallback;
pub use markdown::experiment_markdown;
pub use remarks::JobRemarks;
pub use repeated_capacity::RepeatedCapacity;
pub use repetition::{LoadDifference, RepeatedLoads, RepeatedMetric, RepetitionView};
pub use saturation::{SaturationStepView, SaturationView};
pub(crate) use sentence::{range as interval, signed as signed_change, value};
pub use short_text::experiment_text;
pub use stored_runs::{
    StoredMetric, StoredRun, StoredRunsView, stored_runs_html, stored_runs_json,
    stored_runs_markdown, stored_runs_text,
};
pub use sweep::SweepView;
pub use two_runs::two_runs;
pub use view::{
    ArmLimiter, ArmView, DifferenceView, DifferingRuns, EffectView, ExperimentState,
    ExperimentView, RunPhase, RunView,
};
