//! The parts of an experiment.

use std::fmt;

use base::{Nanos, Secrets, TargetKind};

use super::best::BestRule;
use super::bet::Bet;
use super::capacity::{CapacityQuestion, VariedLoad};
use super::delta::Deltas;
use super::difference::Difference;
use super::saturate::SaturateQuestion;
use super::server_setting::ServerSettings;
use super::statement_key::StatementKey;
use super::vary::Vary;
use crate::check::Overrides;
use crate::plan::{FixedStatement, JobTarget, Plan};

/// An experiment: a question about a workload, and the arms whose comparison answers it.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The question.
    pub ask: String,
    /// Name of the workload file, relative to the folder of the experiment file; `None` if the
    /// other sections of the experiment file are the workload.
    pub workload: Option<String>,
    /// Text of the file with the workload.
    pub source: String,
    /// The expected changes.
    pub bets: Vec<Bet>,
    /// Number of rounds.
    pub rounds: Rounds,
    /// Action before each run that brings the data back to its state after the load.
    pub restore: Restore,
    /// True if an arm may change several things.
    pub has_several_differences: bool,
    /// Runs of a round.
    pub design: Design,
    /// The smallest changes that matter.
    pub deltas: Deltas,
    /// The arms; the first is the baseline. A sweep whose file declares no arms has a single arm,
    /// the unchanged workload. A capacity search has a single arm too: the workload at the first
    /// value of the load.
    pub arms: Vec<Arm>,
    /// The values of a key at which each arm runs, if there is a sweep.
    pub sweep: Option<Sweep>,
    /// The search for the load at which the arms are compared, if there is one.
    pub saturate: Option<SaturateQuestion>,
    /// The capacity search, in place of a comparison.
    pub capacity: Option<CapacityQuestion>,
}

/// The values of a key at which each arm of an experiment runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The key that takes the values.
    pub vary: Vary,
    /// Its values, as a file writes them: the points.
    pub values: Vec<String>,
    /// Runs of each arm at each point.
    pub repeats: u32,
    /// The rule for the best point.
    pub best: Option<BestRule>,
    /// The arms at each point: all points of the first arm, then all points of the next, and so on.
    pub arm_points: Vec<Arm>,
}

/// An arm of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// The value of the varied key, if the arm is at a point of a sweep, or in a trial of a search.
    pub point: Option<String>,
    /// The differences from the workload file, in the order of the experiment file. If the arm has
    /// a `point`, the last difference sets its value.
    pub differences: Vec<Difference>,
    /// The plan of its runs, with the seed of the workload file.
    pub plan: Plan,
    /// Statements before each run that bring the data back to its state after the load.
    pub restore: Vec<FixedStatement>,
    /// Statements before each run, after the statements that restore the data.
    pub before: Vec<FixedStatement>,
    /// Statements after each run.
    pub after: Vec<FixedStatement>,
}

/// The number of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// Up to 20, with planned looks at 8, 12 and 20 pairs.
    Auto,
    /// This many, with one look at the end.
    Exactly(u32),
}

/// An action that brings the data back to its state after the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restore {
    /// No action.
    None,
    /// Teardown, setup and loads again.
    Reload,
    /// SQL statements.
    Statements(Vec<String>),
}

/// The runs of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// One run of each arm.
    Arms,
    /// Two runs of the only arm, to measure how often the comparison finds a difference although
    /// there is none.
    Aa,
}

impl Restore {
    /// Returns the statements, as written in the file.
    pub fn statements(&self) -> impl Iterator<Item = &str> {
        let all = match self {
            Restore::Statements(all) => all.as_slice(),
            Restore::None | Restore::Reload => &[],
        };
        all.iter().map(String::as_str)
    }
}

impl Rounds {
    /// Lowest number of rounds: the smallest number of pairs that can be significant at 5 %.
    pub const LEAST: u32 = 6;

    /// Maximum number of rounds.
    pub const MOST: u32 = 1_000;

    /// Returns the highest number of rounds that are run.
    pub fn most(self) -> u32 {
        match self {
            Rounds::Auto => 20,
            Rounds::Exactly(number) => number,
        }
    }
}

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rounds::Auto => f.write_str("auto"),
            Rounds::Exactly(number) => number.fmt(f),
        }
    }
}

impl Experiment {
    /// Name of the only arm of an experiment without `[arm NAME]`.
    pub const WORKLOAD: &str = "workload";

    /// Returns the arms that the file declares; empty for a sweep without arms and for a search.
    pub fn file_arms(&self) -> &[Arm] {
        let has_none = self.sweep.is_some() && self.arms.len() == 1;
        if has_none || self.capacity.is_some() { &[] } else { &self.arms }
    }

    /// Returns the arms of a round, at each point if there is a sweep. Each runs once, or twice
    /// with `design = aa`.
    pub fn arm_points(&self) -> &[Arm] {
        self.sweep.as_ref().map_or(&self.arms, |sweep| &sweep.arm_points)
    }

    /// Returns the values of the secret parameters of all arms, which are removed from the texts of
    /// servers, like the values of [`Plan::secrets`].
    pub fn secrets(&self) -> Secrets {
        Secrets::of_all(self.arm_points().iter().map(|arm| arm.plan.secrets()))
    }

    /// Returns true if an arm changes a setting of a private server; the servers then restart
    /// before each run.
    pub fn restarts(&self) -> bool {
        let differences = self.arm_points().iter().flat_map(|arm| &arm.differences);
        differences.into_iter().any(|one| matches!(one, Difference::Server { .. }))
    }
}

impl fmt::Display for Arm {
    /// Writes the arm's name and, for an arm at a point of a sweep, the point: `tls at rate(read) =
    /// 500`. In a sweep without arms, the point alone is the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.at_point(&self.name))
    }
}

impl Arm {
    /// Returns the arm for a trial at this load, with this warm-up and this length of the window in
    /// place of the workload's own. The warm-up, the duration and the load are added to the
    /// differences of the arm; the field `plan` does not change.
    #[must_use]
    pub fn at(&self, load: &VariedLoad, value: f64, warmup: Nanos, window: Nanos) -> Arm {
        let global = |key: &str, value: Nanos| Difference::Key {
            section: Overrides::GLOBAL.to_owned(),
            key: key.to_owned(),
            value: value.to_string(),
        };
        let mut arm = self.clone();
        arm.differences.push(global("warmup", warmup));
        arm.differences.push(global("duration", warmup + window));
        // The load comes last, because the last difference names the point of an arm.
        Arm { point: Some(value.to_string()), ..arm.with_load(load, value) }
    }

    /// Returns the arm for a run at this load. The load is added to the differences of the arm; the
    /// field `plan` does not change.
    #[must_use]
    pub fn with_load(&self, load: &VariedLoad, value: f64) -> Arm {
        let mut differences = self.differences.clone();
        differences.push(load.difference(value));
        Arm { differences, ..self.clone() }
    }

    /// Returns true if the arm uses the main target: in its runs, or in the statements before or
    /// after them.
    pub fn uses_main(&self) -> bool {
        let mut around = [&self.restore, &self.before, &self.after].into_iter();
        self.plan.uses(JobTarget::Main) || around.any(|statements| !statements.is_empty())
    }

    /// Returns true if the arm's server is simulated.
    pub fn is_simulated(&self) -> bool {
        self.plan.target.as_ref().is_some_and(|target| target.kind == TargetKind::Sim)
    }

    /// Returns the statements of this key, which run before or after each run of the arm.
    pub fn statements(&self, key: StatementKey) -> &[FixedStatement] {
        match key {
            StatementKey::Restore => &self.restore,
            StatementKey::Before => &self.before,
            StatementKey::After => &self.after,
        }
    }

    /// Returns true if the arm differs from the workload file only in statements before or after
    /// its runs, and has statements before them.
    pub fn has_only_statements(&self) -> bool {
        let is_statement =
            |one: &Difference| matches!(one, Difference::Before(_) | Difference::After(_));
        self.differences.iter().all(is_statement) && !self.before.is_empty()
    }

    /// Returns the settings that the statements before each run set on the server.
    pub fn server_settings(&self) -> ServerSettings {
        ServerSettings::of(&self.before, self.plan.dialect(JobTarget::Main))
    }

    /// Returns the arm as a heading of messages: `[arm tls]`, `[arm tls] at rate(read) = 500`, or
    /// the line of its point alone.
    pub fn heading(&self) -> String {
        self.at_point(&format!("[arm {}]", self.name))
    }

    fn at_point(&self, name: &str) -> String {
        let of_point = self.differences.last().filter(|_| self.point.is_some());
        let line = of_point.map(|point| format!("{} = {}", point.key(), point.value()));
        match line {
            None => name.to_owned(),
            Some(line) if self.name == Experiment::WORKLOAD => line,
            Some(line) => format!("{name} at {line}"),
        }
    }

    /// Returns the commands that run before each run of the arm or, if `is_before` is false, after
    /// it.
    pub fn commands(&self, is_before: bool) -> impl Iterator<Item = &str> {
        self.differences.iter().filter_map(move |one| match one {
            Difference::BeforeCommand(text) if is_before => Some(text.as_str()),
            Difference::AfterCommand(text) if !is_before => Some(text.as_str()),
            _ => None,
        })
    }
}
