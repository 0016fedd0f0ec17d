//! False alarms of this machine.
//!
//! An A/A experiment in real time adds its comparisons to the earlier comparisons of the machine,
//! which are stored next to the calibration. Later experiments note the rate of false alarms in
//! their records when they begin, so a record gives the same answer on every machine.

use analyze::Status;
use analyze::compare::{Comparison, Design, FalsePositives};
use base::{Endpoint, WallTime};
use lab::calibrate::{AaResult, Machine, MachineRate};
use report::{ExperimentState, ExperimentView, FalseAlarms};
use workload::question::{Design as QuestionDesign, Outline};

use crate::commands::calibrate;
use crate::complain::Complaint;
use crate::experiment_file::ExperimentFile;
use crate::workload_file::file_name;

/// Name of the fact with the machine's rate of false alarms.
const RATE: &str = "false-positives";

/// Returns this machine's rate of false alarms, as a fact for the record of an experiment in real
/// time; `None` if no A/A experiment on targets of this kind is stored.
pub(crate) fn rate_fact(file: &ExperimentFile) -> Option<(&'static str, String)> {
    let store = calibrate::default_store()?;
    let results = store.aa_results(&Machine::here()).unwrap_or_else(|unusable| {
        let help = "the next experiment with `design = aa` replaces it";
        Complaint::warning(unusable.to_string()).help(help).print();
        Vec::new()
    });
    Some((RATE, MachineRate::of(&results, &target(file))?.to_text()))
}

/// Returns the false alarms of an experiment that compares an arm with itself. For another
/// experiment, returns those of the machine, which are stored in the record.
pub(crate) fn of_record(
    outline: &Outline,
    design: &Design,
    comparison: Option<&Comparison>,
    fact: impl Fn(&'static str) -> Option<String>,
) -> Option<FalseAlarms> {
    if outline.design == QuestionDesign::Arms {
        let MachineRate { experiments, latest, target, counted } =
            MachineRate::of_text(&fact(RATE)?)?;
        return Some(FalseAlarms::OfMachine { experiments, latest, target, counted });
    }
    // Only the first metric counts, because the other metrics come from the same runs.
    let change = comparison?.arms.first()?.changes.first()?;
    let compared = change.compared.as_ref().ok()?;
    let scale = change.metric.quantity.scale();
    Some(FalseAlarms::OfExperiment {
        metric: change.metric.to_string(),
        counted: FalsePositives::of_blocks(compared.values.pairs(), scale, design.order),
        spread: compared.spread?,
        scale,
    })
}

/// Adds the false alarms of a credible experiment in real time to the counts of this machine.
pub(crate) fn add_result(view: &ExperimentView, file: &ExperimentFile) {
    let is_credible = view.state == ExperimentState::Complete && view.verdict() < Status::Invalid;
    let Some(FalseAlarms::OfExperiment { metric, counted, spread, .. }) =
        view.false_alarms.as_ref().filter(|_| is_credible)
    else {
        return;
    };
    let Some(store) = calibrate::default_store() else { return };
    let result = AaResult {
        taken: WallTime::now().to_string(),
        workload: file_name(&file.workload_path()),
        target: target(file),
        metric: metric.clone(),
        spread: *spread,
        counted: *counted,
    };
    if let Err(error) = store.add_aa_result(&Machine::here(), result) {
        let sentence = format!("the false alarms of this machine were not kept: {error}");
        let help = "set XDG_STATE_HOME to a folder that can be written";
        Complaint::warning(sentence).help(help).print();
    }
}

/// Returns the kind of the baseline's target, such as `postgres` or `testbed:mariadb`.
fn target(file: &ExperimentFile) -> String {
    let target = file.workload_of(file.experiment.arms[0].plan.clone()).target();
    let scheme = target.kind.scheme();
    match &target.endpoint {
        Endpoint::Named(name) => format!("{scheme}:{name}"),
        Endpoint::Network { .. } | Endpoint::File(_) | Endpoint::Temporary => scheme.to_owned(),
    }
}
