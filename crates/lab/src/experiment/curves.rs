//! The curves of a sweep, from the runs of its record.

use analyze::compare::{ArmId, Comparison, CountedRun, Design, LookPlan, compare};
use analyze::curve::{ArmCurve, SweepRun, VariedKey};
use archive::RunState;
use workload::keys::{self, SectionKind};
use workload::question::{SweepOutline, numeric_value};

use super::differences::UndeclaredDifference;
use super::results::{ExperimentResults, RecordedRun, mark_invalid_incomparable};

/// The results of a sweep.
#[derive(Clone, Debug)]
pub struct SweepResults {
    /// The curve of each arm.
    pub curves: Vec<ArmCurve>,
    /// The comparison of the arms at each point; empty with one arm.
    pub comparisons: Vec<Comparison>,
}

impl ExperimentResults {
    /// Returns the results of a sweep. `design` is the statistical design, by which the arms are
    /// compared at each point.
    pub fn sweep(&self, sweep: &SweepOutline, design: &Design) -> SweepResults {
        let values: Vec<(String, Option<f64>)> =
            sweep.values.iter().map(|value| (value.clone(), numeric_value(value))).collect();
        let counts = self.runs.iter().filter(|run| run.row.state == RunState::Counts);
        let counted: Vec<(usize, &RecordedRun)> = counts
            .filter_map(|run| {
                let value = run.row.point.as_ref()?;
                Some((sweep.values.iter().position(|known| known == value)?, run))
            })
            .collect();
        let runs: Vec<SweepRun<'_>> = counted.iter().map(sweep_run).collect();
        let varied = varied_quantity(sweep);
        let rule = sweep.best.as_ref().map(|rule| (rule, &design.deltas));
        let curve = |arm| ArmCurve::of(arm, &values, &runs, &varied, rule);
        let looks = LookPlan::Fixed(sweep.repeats);
        let at_point = |point| {
            let own = counted.iter().filter(|(other, _)| *other == point).map(|(_, run)| *run);
            let own: Vec<&RecordedRun> = own.collect();
            let design = Design { looks, ..design.clone() };
            let mut comparison = compare(&design, &counted_runs(&own), sweep.repeats);
            mark_invalid_incomparable(&mut comparison, &own);
            comparison
        };
        let points = if design.arms > 1 { sweep.values.len() } else { 0 };
        SweepResults {
            curves: (0..design.arms).map(ArmId).map(curve).collect(),
            comparisons: (0..points).map(at_point).collect(),
        }
    }

    /// Returns the undeclared differences of an arm of a sweep. Does the same as
    /// [`undeclared_differences`](ExperimentResults::undeclared_differences), but compares only
    /// runs at the same point.
    pub fn undeclared_differences_of_sweep(
        &self,
        sweep: &SweepOutline,
        baseline: ArmId,
        arm: ArmId,
        keys: &[String],
    ) -> Vec<UndeclaredDifference> {
        let mut all: Vec<UndeclaredDifference> = Vec::new();
        for value in &sweep.values {
            for one in self.undeclared_differences_at(Some(value), baseline, arm, keys) {
                if !all.iter().any(|known| (known.kind, &known.name) == (one.kind, &one.name)) {
                    all.push(one);
                }
            }
        }
        all
    }
}

fn sweep_run<'a>((point, run): &(usize, &'a RecordedRun)) -> SweepRun<'a> {
    SweepRun { arm: run.arm, point: *point, repeat: run.row.round, figures: &run.figures }
}

fn counted_runs<'a>(runs: &[&'a RecordedRun]) -> Vec<CountedRun<'a>> {
    let counted = |run: &&'a RecordedRun| CountedRun {
        round: run.row.round,
        arm: run.arm,
        position: run.row.position,
        figures: &run.figures,
    };
    runs.iter().map(counted).collect()
}

/// Returns the quantity that a sweep varies, from the text of its key.
fn varied_quantity(sweep: &SweepOutline) -> VariedKey {
    let Some((key, job)) = sweep.pacing_key() else { return VariedKey::Other };
    let job = job.to_owned();
    match keys::find(SectionKind::Job, key).map(|key| key.name) {
        Some("concurrency") => VariedKey::Clients { job },
        Some("rate") => VariedKey::Rate { job },
        _ => VariedKey::Other,
    }
}
