//! The progress of an experiment, for its pages.

use std::collections::VecDeque;

/// Maximum number of lines that a page shows.
const MOST_LINES: usize = 8;

/// The progress of an experiment: its latest lines, and its current run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ExperimentProgress {
    /// Latest lines, the oldest first.
    lines: VecDeque<String>,
    /// Number of the latest run, from 1, and the maximum number of runs; `None` before the first
    /// run of an arm, and in a capacity search.
    runs: Option<(u32, u32)>,
    /// True while a run is measured.
    pub(super) is_running: bool,
}

/// The texts about an experiment in a snapshot of the display.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExperimentText {
    /// Current activity.
    pub(super) activity: String,
    /// Progress from 0 to 1, if it is known.
    pub(super) progress: Option<f64>,
    /// Earlier lines, the latest first.
    pub(super) earlier: Vec<String>,
}

impl ExperimentProgress {
    pub(super) fn add_line(&mut self, line: String, runs: Option<(u32, u32)>) {
        if self.lines.len() == MOST_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
        self.runs = runs.or(self.runs);
        self.is_running = false;
    }

    /// Returns the texts about the experiment, with the phase and the progress of its run.
    pub(super) fn text(&self, phase: &str, progress: Option<f64>) -> ExperimentText {
        let latest = self.lines.back().cloned().unwrap_or_else(|| "starting".to_owned());
        let activity = match self.is_running {
            true => format!("{latest}; {phase}"),
            false => latest,
        };
        let within = progress.filter(|_| self.is_running).unwrap_or_default();
        let progress = self.runs.map(|(number, most)| {
            let made = f64::from(number.saturating_sub(1)) + within;
            (made / f64::from(most.max(1))).min(1.0)
        });
        let earlier = self.lines.iter().rev().skip(1).cloned().collect();
        ExperimentText { activity, progress, earlier }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_the_run_its_phase_and_earlier_lines() {
        let words = |progress: &ExperimentProgress| progress.text("measuring", Some(0.5));
        let mut progress = ExperimentProgress::default();
        assert_eq!(words(&progress).activity, "starting");
        assert_eq!(words(&progress).progress, None);
        progress.add_line("run 2 of at most 4".to_owned(), Some((2, 4)));
        assert_eq!(words(&progress).progress, Some(0.25));
        progress.is_running = true;
        let now = words(&progress);
        assert_eq!(now.activity, "run 2 of at most 4; measuring");
        assert_eq!(now.progress, Some(0.375));
        progress.add_line("run 2: VALID".to_owned(), None);
        let now = words(&progress);
        assert_eq!((now.activity.as_str(), now.progress), ("run 2: VALID", Some(0.25)));
        assert_eq!(now.earlier, ["run 2 of at most 4"]);
        (0..100).for_each(|n| progress.add_line(n.to_string(), None));
        assert_eq!(words(&progress).earlier.len(), MOST_LINES - 1);
    }
}
