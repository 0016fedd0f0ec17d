//! The table of the trials of a capacity search.

use analyze::Status;
use analyze::capacity::{CapacityOrder, Measure, Trial};
use workload::Metric;
use workload::question::Condition;

use super::capacity::{CapacityView, TrialView};
use crate::number;
use crate::page::{Align, Cell, Datum, FRACTION, Table};

impl CapacityView {
    /// Returns the columns of the table of trials.
    pub(super) fn columns(&self) -> [(&'static str, Align); 6] {
        [
            ("run", Align::Right),
            (self.order.vary.key(), Align::Right),
            ("phase", Align::Left),
            ("length", Align::Right),
            ("outcome", Align::Left),
            ("reason", Align::Left),
        ]
    }

    /// Returns the table of all trials.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(self.columns());
        self.trials.iter().for_each(|trial| table.row(trial.row(self)));
        table
    }
}

impl TrialView {
    /// Returns the cells of the trial, one for each of [`CapacityView::columns`].
    pub(super) fn row(&self, view: &CapacityView) -> [Cell; 6] {
        let phase = match self.trial.phase.number() {
            Some(number) => format!("{} {number}", self.trial.phase.name()),
            None => self.trial.phase.name().to_owned(),
        };
        let Trial { value, window, .. } = self.trial;
        let unit = if view.is_rate() { "1/s" } else { "clients" };
        [
            Cell::from(self.run.to_string()),
            Cell::formatted(view.value(value), value, unit),
            Cell::from(phase),
            Cell::formatted(number::span(window), window.as_secs_f64(), "s"),
            Cell::from(self.outcome_in_words()).with_data(self.outcome_data()),
            Cell::from(self.reason(&view.order)).with_data(self.reason_data(&view.order)),
        ]
    }

    /// Returns the outcome, and the verdict if it is SUSPECT, for exported files.
    fn outcome_data(&self) -> [Datum; 2] {
        let verdict = if self.doubts().is_empty() { "" } else { Status::Suspect.verdict() };
        [Datum::text("", self.outcome.name()), Datum::text("verdict", verdict)]
    }

    /// Returns the reason for the outcome, and the measure of each condition, for exported files.
    fn reason_data(&self, order: &CapacityOrder) -> Vec<Datum> {
        let reason = Datum::text("", self.reason(order));
        let conditions = order.conditions.iter().zip(&self.trial.measures);
        let measures =
            conditions.filter_map(|(condition, measure)| measure_data(condition, *measure));
        [reason].into_iter().chain(measures).collect()
    }
}

/// Returns the measure of a condition for exported files; `None` if nothing was measured.
fn measure_data(condition: &Condition, measure: Measure) -> Option<Datum> {
    let (value, unit) = match (measure, condition.slo.metric) {
        (Measure::Count(counted), _) => {
            let name = format!("share against {condition}");
            return Some(Datum::number(name, counted.share(), FRACTION));
        }
        (Measure::Value { value, .. }, Metric::Response(_) | Metric::Service(_)) => {
            (value / 1e6, "ms")
        }
        (Measure::Value { value, .. }, Metric::Throughput) => (value, "1/s"),
        (Measure::Value { value, .. }, Metric::Failed) => (value, FRACTION),
        (Measure::Missing, _) => return None,
    };
    Some(Datum::number(format!("measured for {condition}"), value, unit))
}

#[cfg(test)]
mod tests {
    use super::super::capacity::tests::search;
    use crate::html::table_csv;

    #[test]
    fn file_of_trials_has_plain_values_and_lengths() {
        let file = table_csv(&search().table());
        let lines: Vec<&str> = file.lines().collect();
        let share = "reason share against p99(read) < 20ms (fraction)";
        assert_eq!(
            lines[0],
            format!("run,rate (1/s),phase,length (s),outcome,outcome verdict,reason,{share}")
        );
        assert!(lines[1].starts_with("1,100,bracket,10,pass,,"), "{file}");
        assert_eq!(lines[2], "2,1600,bracket,10,fail,,the backlog grew,");
        assert!(lines[3].starts_with("3,820,round 1,10,fail,,"), "{file}");
        assert!(lines[3].ends_with(" allowed),0.04"), "{file}");
    }
}
