//! A parsed experiment file.

use std::path::PathBuf;

use analyze::capacity::forecast;
use base::{Diagnostic, SourceText, Span, holds_password};
use confine::{Files, Reach};
use lab::TargetProblem;
use lab::experiment::{UnobservedCpu, unobserved_cpu};
use workload::question::{
    Arm, CpuOwner, Difference, Experiment, Quantity, RunMetric, Saturated, StatementKey, Vary,
    experiment_in, line_of,
};
use workload::{Job, Overrides, Plan};

use crate::args::{FileArgs, UnpackedRecord};
use crate::complain::Complaint;
use crate::inputs::{self, InputSummaries};
use crate::trust;
use crate::workload_file::WorkloadFile;
use crate::workload_folder::{WorkloadFolder, folder_of};

/// A parsed experiment file.
pub(crate) struct ExperimentFile {
    /// The text of the file.
    pub(crate) source: SourceText,
    /// The path of the file.
    pub(crate) path: PathBuf,
    /// Access to files: those below the folder of this file or, with `--allow-files`, all files.
    pub(crate) files: Files,
    /// The other files that were read with this one.
    pub(crate) parts: Vec<PathBuf>,
    /// The experiment.
    pub(crate) experiment: Experiment,
    /// The record that holds the files, if they were unpacked from one.
    unpacked: Option<UnpackedRecord>,
}

/// Checks the text of an experiment file, its workload file and the targets of its arms, and prints
/// warnings.
///
/// # Errors
/// The file or its workload has an error, or an arm asks for something impossible.
pub(crate) fn read(
    args: &FileArgs,
    source: SourceText,
    path: PathBuf,
    overrides: &Overrides,
    is_virtual: bool,
) -> Result<ExperimentFile, Complaint> {
    let reach = if args.allow_files { Reach::Anywhere } else { Reach::Folder };
    let files = Files { inputs: folder_of(&path), outputs: PathBuf::from("."), reach };
    let folder = WorkloadFolder::new(files);
    let (experiment, found) = experiment_in(&source.text, overrides, &folder);
    let Some(experiment) = experiment else { return Err(Complaint::about(&source, &found)) };
    if !found.is_empty() {
        Complaint::about(&source, &found).print();
    }
    let WorkloadFolder { files, read } = folder;
    let (parts, unpacked) = (read.into_inner(), args.unpacked.clone());
    let file = ExperimentFile { source, path, files, parts, experiment, unpacked };
    if let Some(arm) = file.experiment.arms.first() {
        trust::warn_of_secret_settings(args, &arm.plan);
    }
    let mut known = InputSummaries::default();
    for arm in file.experiment.arm_points() {
        check_arm(&file, arm, args, is_virtual, &mut known)?;
    }
    let plans = file.experiment.arm_points().iter().map(|arm| &arm.plan);
    trust::warn_of_ignored_password_files(plans.flat_map(trust::used_targets));
    check_saturation(&file, is_virtual)?;
    warn_of_unused_url(args, &file.experiment);
    warn_of_unobserved_metrics(&file, is_virtual);
    if let Some(order) = lab::experiment::search_order(&file.experiment, is_virtual, None) {
        let possible = forecast(&order, order.first);
        possible.map_err(|error| {
            let span = line_of(&file.source.text, "capacity", error.keys());
            file.complaint(span, error.to_string(), Some(error.remedy()))
        })?;
    }
    Ok(file)
}

impl ExperimentFile {
    /// Returns the path of the file with the workload.
    pub(crate) fn workload_path(&self) -> PathBuf {
        match &self.experiment.workload {
            Some(name) => folder_of(&self.path).join(name),
            None => self.path.clone(),
        }
    }

    /// Returns the workload file of an arm, with the given plan.
    pub(crate) fn workload_of(&self, plan: Plan) -> WorkloadFile {
        let path = self.workload_path();
        let name = match &self.unpacked {
            Some(unpacked) => unpacked.name(&path),
            None => path.display().to_string(),
        };
        let source = SourceText { name, text: self.experiment.source.clone() };
        let files = Files { inputs: folder_of(&path), ..self.files.clone() };
        WorkloadFile { source, path, files, parts: self.parts.clone(), plan }
    }
}

impl ExperimentFile {
    /// Returns an error about a line of the experiment file.
    fn complaint(&self, span: Option<Span>, message: String, help: Option<&str>) -> Complaint {
        let error = Diagnostic { span, ..Diagnostic::error(Span::default(), message) };
        let error = Diagnostic { help: help.map(str::to_owned), ..error };
        Complaint::about(&self.source, &[error])
    }

    /// Returns the error about the target of an arm, with the line that is at fault.
    fn target_complaint(&self, arm: &Arm, problem: &TargetProblem) -> Complaint {
        let message = format!("{}: {problem}", arm.heading());
        let cause = match (problem, &arm.point) {
            (TargetProblem::NoTimePasses { .. }, Some(_)) => arm.differences.last(),
            _ => difference_at_fault(arm, &message),
        };
        let Some(cause) = cause else { return Complaint::new(message) };
        let is_of_point = arm.point.is_some() && arm.differences.last() == Some(cause);
        let span = match is_of_point {
            true => line_of(&self.source.text, "sweep", &["vary"]),
            false => {
                line_of(&self.source.text, &format!("arm {}", arm.name), &[cause.key().as_str()])
            }
        };
        self.complaint(span, message, None)
    }
}

/// Returns the difference that causes a message about the target of its arm: the difference that
/// the message names, or else the one that sets the URL; `None` if the target comes from the
/// workload alone.
fn difference_at_fault<'a>(arm: &'a Arm, message: &str) -> Option<&'a Difference> {
    // In a URL, an option lacks the prefix that its key has in the file.
    let name_in_url = |set: Vary| match set {
        Vary::Option(name) => name,
        other => other.to_string(),
    };
    let names_it = |one: &&Difference| {
        let name = Vary::option_of_target(one).map(name_in_url);
        name.is_some_and(|name| message.contains(&format!("`{name}`")))
    };
    let is_url = |one: &&Difference| matches!(one, Difference::Url(_));
    arm.differences.iter().rfind(names_it).or_else(|| arm.differences.iter().find(is_url))
}

/// Returns true if the URL of an arm's target comes from the command line.
pub(crate) fn is_url_typed(arm: &Arm, args: &FileArgs) -> bool {
    let has_url = arm.differences.iter().any(|one| matches!(one, Difference::Url(_)));
    args.has_typed_url() && !has_url
}

/// Refuses a search for saturation whose condition cannot be observed at the baseline's target.
fn check_saturation(file: &ExperimentFile, is_virtual: bool) -> Result<(), Complaint> {
    let (Some(question), Some(arm)) = (&file.experiment.saturate, file.experiment.arms.first())
    else {
        return Ok(());
    };
    let Saturated::Cpu { owner, .. } = question.until else { return Ok(()) };
    match reason_unobserved(file, arm, owner, is_virtual) {
        None => Ok(()),
        Some(reason) => {
            let name = owner.name();
            let sentence = format!("cpu({name}) of [saturate] cannot be observed: {reason}");
            let help = match reason {
                UnobservedCpu::Elsewhere => {
                    "name the machine in the workload file, such as `host = ssh://postgres@db1` in \
                     [observe], or write `until = throughput gains < 2%`"
                }
                UnobservedCpu::VirtualTime | UnobservedCpu::Simulated | UnobservedCpu::NoProxy => {
                    "write `until = throughput gains < 2%`"
                }
            };
            let span = line_of(&file.source.text, "saturate", &["until"]);
            Err(file.complaint(span, sentence, Some(help)))
        }
    }
}

/// Returns the reason why the processor time of a component cannot be observed in the runs of an
/// arm; `None` if it can.
fn reason_unobserved(
    file: &ExperimentFile,
    arm: &Arm,
    owner: CpuOwner,
    is_virtual: bool,
) -> Option<UnobservedCpu> {
    let target = file.workload_of(arm.plan.clone()).target();
    unobserved_cpu(owner, &target, &arm.plan.observe, is_virtual)
}

/// Warns of bets on processor time, and of a best point that is chosen by processor time, if this
/// time cannot be observed in an arm. Neither would be judged.
fn warn_of_unobserved_metrics(file: &ExperimentFile, is_virtual: bool) {
    let reason = |metric: &RunMetric| {
        let Quantity::Cpu(owner, _) = metric.quantity else { return None };
        let mut arms = file.experiment.arms.iter();
        arms.find_map(|arm| reason_unobserved(file, arm, owner, is_virtual))
    };
    for bet in &file.experiment.bets {
        if let Some(reason) = reason(&bet.metric) {
            let sentence = format!("the bet on {} cannot be judged: {reason}", bet.metric);
            Complaint::warning(sentence).help("bet on a metric that every arm has").print();
        }
    }
    let best = file.experiment.sweep.as_ref().and_then(|sweep| sweep.best.as_ref());
    if let Some(rule) = best
        && let Some(reason) = reason(&rule.metric)
    {
        let sentence = format!("no point can be the one with the {rule}: {reason}");
        Complaint::warning(sentence).help("write a metric that every run has into `best`").print();
    }
}

/// Warns of a URL on the command line that no arm uses.
fn warn_of_unused_url(args: &FileArgs, experiment: &Experiment) {
    let uses_it = |arm: &Arm| is_url_typed(arm, args) && arm.uses_main();
    if args.has_typed_url() && !experiment.arm_points().iter().any(uses_it) {
        let sentence = "no arm uses the target of the command line: each has a `url` of its own, \
                        or all of its jobs have a [target NAME] or run programs";
        Complaint::warning(sentence).print();
    }
}

/// Refuses an arm whose runs would last until an interrupt. A capacity search is never refused,
/// because it gives its trials a length.
fn refuse_endless(file: &ExperimentFile, arm: &Arm) -> Result<(), Complaint> {
    let plan = &arm.plan;
    let ends = plan.duration.is_some() || plan.jobs.iter().all(Job::ends_by_itself);
    match ends || file.experiment.capacity.is_some() {
        true => Ok(()),
        false => {
            let sentence = "the runs of the experiment would never end: the workload has no \
                            `duration`";
            let help = "write for example `duration = 30s` into the workload, or give --duration";
            Err(Complaint::new(sentence).help(help))
        }
    }
}

/// Refuses an arm that sets a secret parameter, or whose statements, programs or settings contain a
/// password: an answer and its record show the differences of arms. Also refuses a password in
/// `restore`.
fn refuse_secrets(file: &ExperimentFile, arm: &Arm) -> Result<(), Complaint> {
    let is_secret = |one: &&Difference| match one {
        Difference::Param { name, .. } if arm.plan.is_secret(name) => true,
        // A URL is shown without its password.
        Difference::Url(_) => false,
        other => holds_password(&other.value()),
    };
    let restores = file.experiment.restore.statements().any(holds_password);
    let (key, help) = match (restores, arm.differences.iter().find(is_secret)) {
        (true, _) => (StatementKey::Restore.name().to_owned(), USE_A_PARAMETER),
        (false, Some(one)) => (one.key(), remedy_of_secret(one)),
        (false, None) => return Ok(()),
    };
    // The heading of the arm is left out: at a point of a sweep it contains the value.
    let sentence = format!("`{key}` sets a password, which the answer and the record would show");
    Err(Complaint::new(sentence).help(help))
}

/// The remedy for a password in a statement.
const USE_A_PARAMETER: &str = "write it as a parameter of the workload, `pw = …` in [params], and \
                               `${pw}` here: its value is shown nowhere";

/// Returns the remedy for a password in a difference of an arm.
fn remedy_of_secret(difference: &Difference) -> &'static str {
    match difference {
        Difference::Before(_) | Difference::After(_) => USE_A_PARAMETER,
        Difference::BeforeCommand(_) | Difference::AfterCommand(_) => {
            "let the program read it from a file, such as the one that ASSAY_PASSWORD_FILE names"
        }
        Difference::Server { .. } => "let the setting name a file with the password, if it can",
        Difference::Option { .. }
        | Difference::Url(_)
        | Difference::Param { .. }
        | Difference::Key { .. }
        | Difference::Nodes(_) => {
            "leave the password out of `url`, and set ASSAY_PASSWORD, or use ~/.pgpass or ~/.my.cnf"
        }
    }
}

/// Checks the target, the inputs and the permissions of an arm. Inputs with a summary in `known`
/// are not read again.
fn check_arm(
    file: &ExperimentFile,
    arm: &Arm,
    args: &FileArgs,
    is_virtual: bool,
    known: &mut InputSummaries,
) -> Result<(), Complaint> {
    let of_arm = |sentence: String| Complaint::new(format!("{}: {sentence}", arm.heading()));
    let workload = file.workload_of(arm.plan.clone());
    let url = args.url.clone().filter(|_| is_url_typed(arm, args));
    refuse_secrets(file, arm)?;
    refuse_endless(file, arm)?;
    trust::check_options(&workload, arm, args)?;
    trust::check_files(&workload, &FileArgs { url, ..args.clone() })?;
    if is_virtual && [true, false].iter().any(|before| arm.commands(*before).next().is_some()) {
        let sentence = "programs before and after its runs take real time".to_owned();
        return Err(of_arm(sentence).help("leave out --virtual"));
    }
    let admitted = lab::check_targets(&workload.plan, &workload.target(), is_virtual);
    admitted.map_err(|problem| file.target_complaint(arm, &problem))?;
    let examined = inputs::check(&workload.plan, &workload.files, is_virtual, known);
    examined.map_err(|wrong| Complaint::about(&workload.source, &wrong))?;
    match workload.plan.jobs.iter().find(|job| job.requests.results.is_some()) {
        Some(job) => {
            let sentence = format!("[{}] has a `query-results-file`", job.name());
            let help = "leave it out: the runs of an experiment would write the same file";
            Err(of_arm(sentence).help(help))
        }
        None if workload.plan.jobs.is_empty() => {
            Err(of_arm("the workload has no job to measure".to_owned()))
        }
        None => Ok(()),
    }
}
