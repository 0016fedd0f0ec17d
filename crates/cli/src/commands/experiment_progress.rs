//! The progress of an experiment on stderr, and in a browser.

use std::cell::Cell;
use std::path::Path;

use analyze::capacity::Phase;
use analyze::compare::RunFigures;
use archive::LiveView;
use base::{Clock, Monotonic, Nanos, Stamp};
use lab::Order;
use lab::experiment::{ExperimentEvent, ExperimentListener};
use workload::question::VariedLoad;

use crate::args::RunArgs;
use crate::complain::Complaint;
use crate::display::Display;
use crate::experiment_file::ExperimentFile;
use crate::live_pages::{LiveServers, LiveViewers};
use crate::stderr;

/// The progress of an experiment: lines on stderr, and its pages.
pub(super) struct Progress {
    is_quiet: bool,
    /// Number of the first run, and the time when it began.
    first_run: Cell<Option<(u32, Stamp)>>,
    display: Display,
    has_metrics: bool,
    viewers: LiveViewers,
}

impl Progress {
    /// Listens at the addresses of the pages, if the options name any.
    ///
    /// # Errors
    /// An address cannot be used, or a thread cannot be started.
    pub(super) fn start(args: &RunArgs, file: &ExperimentFile) -> Result<Progress, Complaint> {
        let servers = LiveServers::bind(args)?;
        let display = Display::of_experiment(&file.experiment.ask);
        let has_metrics = servers.have_metrics();
        let viewers = servers.start(&display)?;
        let is_quiet = args.quiet;
        Ok(Progress { is_quiet, first_run: Cell::default(), display, has_metrics, viewers })
    }

    /// Passes the run that is about to begin to the display.
    pub(super) fn expect_run(&self, order: &Order) {
        self.display.expect_run(order);
    }

    /// Ends the pages, which name the record if there is one, and waits briefly for their viewers.
    pub(super) fn finish(&self, record: Option<&Path>) {
        if let Some(record) = record {
            self.viewers.name_record(record);
        }
        self.display.finish();
        self.viewers.wait_for_viewers();
    }

    /// Returns a text with the time that is left when a run begins, at the pace of the runs so far;
    /// empty when the first run begins.
    fn time_left_text(&self, number: u32, most: u32) -> String {
        let now = Monotonic.now();
        let Some((first, begin)) = self.first_run.get() else {
            self.first_run.set(Some((number, now)));
            return String::new();
        };
        let made = number.saturating_sub(first);
        let coming = most.saturating_sub(number) + 1;
        format!(", at most {} left", time_left(now.since(begin), made, coming))
    }
}

/// Returns the time that further runs will take at the pace of the runs so far, in whole seconds:
/// fractions would suggest too much precision.
fn time_left(passed: Nanos, made: u32, coming: u32) -> Nanos {
    let each = passed.0 / u64::from(made.max(1));
    let left = each.saturating_mul(u64::from(coming));
    Nanos::from_secs(left.div_ceil(1_000_000_000).max(1))
}

impl ExperimentListener for Progress {
    fn on_event(&self, event: &ExperimentEvent<'_>) {
        let runs = match event {
            ExperimentEvent::RunStarted { number, most, .. } => Some((*number, *most)),
            _ => None,
        };
        let line = self.line(event);
        match event {
            ExperimentEvent::Warning { .. } => Complaint::warning(line.as_str()).print(),
            _ if !self.is_quiet => stderr::line(&line),
            _ => {}
        }
        self.display.add_line(line, runs);
    }

    fn watch(&self, live: LiveView) {
        if self.has_metrics {
            live.count_times();
        }
        self.display.watch_run(live);
    }
}

impl Progress {
    /// Returns the line about an event.
    fn line(&self, event: &ExperimentEvent<'_>) -> String {
        match event {
            ExperimentEvent::ServersStarting => "starting servers".to_owned(),
            ExperimentEvent::TryingSettings { arm } => {
                format!("restarting the server with the settings of [arm {arm}]")
            }
            ExperimentEvent::Preparing { arm } => format!("preparing the data for [arm {arm}]"),
            ExperimentEvent::RunStarted { number, most, round, arm } => {
                let left = self.time_left_text(*number, *most);
                format!("run {number} of at most {most}: round {}, {arm}{left}", round + 1)
            }
            ExperimentEvent::StepStarted { number, step, most, attempt, vary, value } => {
                let again = if *attempt > 0 { ", again" } else { "" };
                let step = step + 1;
                format!("run {number}: step {step} of at most {most}, {vary} = {value}{again}")
            }
            ExperimentEvent::LoadFound { vary, value } => {
                format!("all arms run at {vary} = {value}")
            }
            ExperimentEvent::RunFinished { number, figures } => {
                format!("run {number}: {}", verdict_text(figures))
            }
            ExperimentEvent::TrialStarted { number, vary, value, phase, window, left } => {
                let value = value_of_trial(vary, *value);
                let time = match phase {
                    Phase::Hold => format!(" for {window}"),
                    Phase::Bracket | Phase::Shrink | Phase::Round(_) | Phase::Confirm(_) => {
                        let seconds = Nanos::from_secs(left.0 / 1_000_000_000);
                        format!(", {seconds} of the budget left")
                    }
                };
                format!("trial {number}: {value}, {}{time}", phase.name())
            }
            ExperimentEvent::TrialFinished { number, outcome } => {
                format!("trial {number}: {}", outcome.name())
            }
            ExperimentEvent::Warning { sentence } => (*sentence).to_owned(),
            ExperimentEvent::RoundRepeated { round, lost_server } => {
                let why = match lost_server {
                    Some(lost) => format!("a server was lost in {lost}"),
                    None => "the load generator or the machine failed".to_owned(),
                };
                format!("round {} is repeated: {why}", round + 1)
            }
            ExperimentEvent::LookTaken { pairs, is_decided } => {
                let word = if *is_decided { "decided" } else { "not decided yet" };
                format!("look at {pairs} pairs: {word}")
            }
        }
    }
}

fn value_of_trial(vary: &VariedLoad, value: f64) -> String {
    match vary {
        VariedLoad::Rate { .. } => format!("{value:.1}/s"),
        VariedLoad::Concurrency { .. } => format!("{value} clients"),
    }
}

fn verdict_text(figures: &RunFigures) -> String {
    let checks: Vec<&str> =
        figures.verdict.objections.iter().map(|(kind, _)| kind.name()).collect();
    let word = figures.verdict.status().verdict();
    match checks.is_empty() {
        true => word.to_owned(),
        false => format!("{word} ({})", checks.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_time_extrapolates_the_pace_so_far() {
        for (passed, made, coming, expected) in [
            (Nanos::from_secs(60), 2, 10, "5m"),
            (Nanos::from_millis(2_500), 1, 1, "3s"),
            (Nanos::from_millis(10), 4, 2, "1s"),
            (Nanos(0), 0, 5, "1s"),
        ] {
            assert_eq!(time_left(passed, made, coming).to_string(), expected, "{passed}");
        }
    }
}
