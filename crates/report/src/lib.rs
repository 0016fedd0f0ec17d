//! Reports of runs, for people and programs.
//!
//! A [`View`] is a run with its judgement and summary. [`Page::of`] decides the content of the
//! report; [`text()`] formats the part of the page that fits a screen, [`full_text()`] the whole
//! page, [`markdown()`] the page for pull requests, and [`json()`] the page for programs. A
//! [`TestSuite`] presents the same content as test cases, which [`junit()`] formats. An
//! [`ExperimentView`] and a [`ComparisonView`] have formatting functions of their own. A
//! [`HistoryView`] has the changes of metrics over many runs, and a [`FolderView`] the records of a
//! folder, which [`folder_html`] formats. [`environment()`] describes the environment of a run, and
//! [`diagnosis()`] the problems that would spoil a run. All are functions from data to text: they
//! do not open a file, read a clock or depend on a terminal, and the same record gives the same
//! bytes.
//!
//! The invariant: each number comes with the facts needed to believe it. Quantiles come from merged
//! histograms and are shown with their count, numbers of an invalid run appear below the word
//! INVALID, and numbers that would mislead are withheld with the reason.

mod bundle;
mod cases;
mod difference;
mod excerpt;
mod experiment;
pub mod figure;
mod figures;
mod folder;
mod history;
mod html;
mod json;
mod junit;
mod live;
mod markdown;
mod metrics;
mod no_break;
mod note;
mod number;
pub mod page;
mod png;
mod repeat;
mod sparkline;
mod svg;
mod text;
mod view;
mod words;

pub use bundle::{
    BundleView, BundledInput, BundledRun, InputOmission, bundle_readme, bundle_settings,
    bundle_undisclosed, secret_names,
};
pub use cases::{TestCase, TestGroup, TestResult, TestSuite};
pub use experiment::{
    ArmFacts, ArmLimiter, ArmView, CapacityView, ComparisonView, DifferenceView, DifferingRuns,
    EffectView, ExperimentState, ExperimentView, FalseAlarms, JobRemarks, LoadDifference,
    LoadFallback, MachineView, ObjectionView, PlanTexts, RepeatedCapacity, RepeatedLoads,
    RepeatedMetric, RepetitionView, RunPhase, RunView, SaturationStepView, SaturationView,
    StoredMetric, StoredRun, StoredRunsView, SweepView, TrialView, comparison_figures,
    comparison_html, comparison_json, comparison_markdown, comparison_text, experiment_figures,
    experiment_full_text, experiment_html, experiment_json, experiment_markdown, experiment_text,
    first_experiment_answers, served_comparison_html, stored_runs_html, stored_runs_json,
    stored_runs_markdown, stored_runs_text, two_runs,
};
pub use figures::{OverlaidRun, figures, overlay_figures};
pub use folder::{FolderRow, FolderView, LinkedPage, NoteForm, NotesView, RefusalView, RowState};
pub use history::{
    FactChange, HistoryView, LeftOutFile, RecordView, SeriesArm, SeriesChange, SeriesPoint,
    SeriesView, history_json, history_text,
};
pub use html::{
    FIGURES_SCRIPT_SOURCE, LIVE_SCRIPT_SOURCE, STYLE_SOURCE, folder_html, html, live_html,
    live_json, notes_html, refusal_html,
};
pub use json::{diagnosis_json, environment_json, json};
pub use junit::junit;
pub use live::{LiveRunView, LiveSeries};
pub use markdown::{MOST_LINES, markdown};
pub use metrics::metrics;
pub use note::listed_notes;
pub use page::{Environment, Page};
pub use png::png;
pub use sparkline::{SparklineBottom, sparkline};
pub use svg::svg;
pub use text::{Style, diagnosis, environment, full_text, text};
pub use view::{RunDetails, View};
pub use words::{remedy, remedy_of};
