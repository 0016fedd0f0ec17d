//! Questions about several runs: metrics by which runs are compared, bets on metrics, the changes
//! that matter, and limits of regressions. Experiment files combine these with the arms that are
//! compared.
//!
//! Metrics, bets and limits depend only on [`crate::read`] and on the wording of messages, because
//! both the checks of files and the command line use them. The crate `analyze` judges them. An
//! experiment file is checked with its workload file, once for each arm.

mod arm;
mod best;
mod bet;
mod capacity;
mod capacity_section;
mod check;
mod delta;
mod difference;
mod draft;
mod effect_of_statements;
mod experiment;
mod fields;
mod fixed;
mod judge;
mod line;
mod metric;
mod outline;
mod percent;
mod pragma;
mod print;
mod range;
mod regression;
mod saturate;
mod saturate_section;
mod sections;
mod server_setting;
mod sql;
mod statement_key;
mod sweep;
mod target_options;
mod vary;
mod whole_text;
mod workload_folder;

pub use best::BestRule;
pub use bet::{Bet, ChangeRange};
pub use capacity::{CapacityQuestion, Condition, VariedLoad};
pub use check::{experiment_in, is_experiment};
pub use delta::Deltas;
pub use difference::{Difference, OPTION_KEY, SERVER_KEY, URL_KEY};
pub use experiment::{Arm, Design, Experiment, Restore, Rounds, Sweep};
pub use fixed::HookStatement;
pub use line::line_of;
pub use metric::{
    CpuMode, CpuOwner, Direction, Quantity, RunMetric, Scale, Subject, TimeStatistic,
};
pub use outline::{ArmOutline, ArmPointOutline, Outline};
pub use range::numeric_value;
pub use regression::RegressionLimit;
pub use saturate::{SaturateQuestion, Saturated};
pub use server_setting::{ServerSetting, ServerSettings, SettingValue};
pub use statement_key::StatementKey;
pub use sweep::SweepOutline;
pub use vary::Vary;
