//! `assay run` of an experiment file, and the answer of its record.

use std::path::{Path, PathBuf};

use analyze::capacity::{self, CapacityOrder};
use analyze::compare::{ArmId, RunFigures};
use archive::{ExperimentContent, Phase, RecordError, RecordErrorKind, RunState};
use base::units::grouped;
use base::{Class, Diagnostic, Nanos, Seed, WallTime, shell_word};
use engine::{Options, Stop};
use lab::calibrate::Calibration;
use lab::experiment::{
    ArmEffect, DataStep, DifferenceScope, ExperimentEnd, ExperimentError, ExperimentOrder,
    INVALID_ARM, Problem, RUNNING, RecordedSearch, RecordedTrial, RunMaker, STATE,
    UndeclaredDifference, canary_length, design, number_of_runs, records_leftovers, run_experiment,
    search_facts, search_order,
};
use lab::{Order, RecordPlace};
use record::environment::assay;
use report::{
    ArmFacts, ArmLimiter, ArmView, CapacityView, DifferenceView, DifferingRuns, EffectView,
    ExperimentState, ExperimentView, JobRemarks, LoadFallback, PlanTexts, RunPhase, RunView,
    SaturationStepView, SaturationView, SweepView, TestSuite, TrialView,
};
use workload::Overrides;
use workload::keys::{SETUP_TIMEOUT, STALL_TIMEOUT};
use workload::question::{
    Arm, HookStatement, Restore, SERVER_KEY, SaturateQuestion, Saturated, StatementKey,
};

use crate::args::{AnswerArgs, RunArgs};
use crate::commands::answer::{Measurement, TextForm};
use crate::commands::experiment_progress::Progress;
use crate::commands::remedy::LoadingCommand;
use crate::commands::{answer, calibrate, false_alarms, order, remedy};
use crate::complain::Complaint;
use crate::display::Interruption;
use crate::exit::Exit;
use crate::experiment_file::{ExperimentFile, is_url_typed};
use crate::reading;
use crate::recorded_experiment::{EXPERIMENT, LABEL, PATH, PLANS, RecordedExperiment, VERSION};
use crate::workload_folder::WorkloadFolder;
use crate::{input_files, outputs, signals, stderr, trust};

/// Name of the fact with the command line.
const COMMAND: &str = "command";

/// Runs an experiment, or continues an interrupted one, and prints the answer.
pub(crate) fn run(args: &RunArgs, file: &ExperimentFile) -> Result<Exit, Complaint> {
    let executed = match execute(args, file)? {
        Ok(executed) => executed,
        Err(exit) => return Ok(exit),
    };
    let view = executed.view(args, file)?;
    print_answer(&view, &args.answer, TextForm::of(args.full))?;
    Ok(executed.exit(&view, &args.answer))
}

/// An experiment that has left a record.
pub(crate) struct ExecutedExperiment {
    record: PathBuf,
    end: ExperimentEnd,
}

/// Runs an experiment, or continues an interrupted one. Returns an exit code if a lost server, a
/// full disk or a lost record ended the experiment; the error has then been printed, with the
/// answer so far if there is a record.
pub(crate) fn execute(
    args: &RunArgs,
    file: &ExperimentFile,
) -> Result<Result<ExecutedExperiment, Exit>, Complaint> {
    refuse_unsupported(args, file)?;
    let place = record_place(args);
    check_new_files(args, file, &place)?;
    answer::check_cases(&args.answer)?;
    let overrides = reading::overrides(&args.file)?;
    let command = command(args, file);
    let options = order::options(args, &file.workload_of(file.experiment.arms[0].plan.clone()))?;
    // Read once: a damaged file causes one warning, and all runs have the same calibration.
    let calibration = if args.is_virtual { None } else { calibrate::stored_calibration() };
    let stop = Stop::default();
    let progress = Progress::start(args, file)?;
    let runs = OrderSource {
        file,
        progress: &progress,
        overrides: &overrides,
        options,
        calibration: calibration.as_ref(),
        command: &command,
        stop: &stop,
    };
    let search = capacity_order(args, file, calibration.as_ref());
    if !args.quiet {
        stderr::line(&match &search {
            Some(order) => forecast_of_search(order),
            None => forecast(file, args.is_virtual),
        });
    }
    signals::listen(stop.clone(), |ending| {
        stderr::line(match ending {
            Interruption::Finishing | Interruption::Cancelling => {
                "ending the experiment; the run in progress is not recorded (Ctrl-C again: at once)"
            }
            Interruption::AtOnce => "ending at once",
        });
    })?;
    let facts = facts(file, command.clone());
    let files = input_files::of_experiment(file)?;
    let mut origin = origin_facts(args, file);
    origin.extend(search.iter().flat_map(search_facts));
    let (record, ended) = place.create_with(
        |record| {
            let order = ExperimentOrder {
                experiment: &file.experiment,
                runs: &runs,
                record,
                facts: &facts,
                files: &files,
                origin: &origin,
                is_resumed: args.resume.is_some(),
                keeps_record_if_unreachable: args.answer.json,
                stop: stop.clone(),
            };
            (record.to_owned(), run_experiment(&order, &progress))
        },
        |(_, ended)| is_record_taken(ended),
    );
    let is_own = !is_record_taken(&ended) && record.exists();
    progress.finish(is_own.then_some(record.as_path()));
    match ended {
        Ok(end) => Ok(Ok(ExecutedExperiment { record, end })),
        Err(error) => print_failure(&error, args, file, &record).map(Err),
    }
}

/// Returns true if an experiment did not begin because the file of its record exists.
fn is_record_taken(ended: &Result<ExperimentEnd, ExperimentError>) -> bool {
    let exists = |error: &RecordError| *error.kind() == RecordErrorKind::Exists;
    let problem = ended.as_ref().err().map(|error| &*error.problem);
    matches!(problem, Some(Problem::Record(error)) if exists(error))
}

/// Prints the error that ended an experiment, with the answer so far if there is a record.
///
/// # Errors
/// A file or a statement is wrong: the caller prints the error.
fn print_failure(
    error: &ExperimentError,
    args: &RunArgs,
    file: &ExperimentFile,
    record: &Path,
) -> Result<Exit, Complaint> {
    let command = match &args.resume {
        Some(_) => LoadingCommand::Resumption,
        None => LoadingCommand::Load,
    };
    let complaint =
        complaint(error, file, record, command).without_secrets(&file.experiment.secrets());
    let Some(exit) = exit_of(error, record) else { return Err(complaint) };
    complaint.print();
    if record.exists() {
        match read_after_runs(record) {
            Ok(recorded) => {
                let view = view_of(&recorded, record);
                print_answer(&view, &args.answer, TextForm::of(args.full))?;
            }
            Err(_) if is_about_record(error, record) => {}
            Err(complaint) => complaint.print(),
        }
    }
    Ok(exit)
}

/// Returns true if an error says that the record of an experiment was deleted or damaged.
fn is_about_record(error: &ExperimentError, record: &Path) -> bool {
    let is_it = |cause: &RecordError| cause.kind().is_unreadable() && cause.path() == record;
    matches!(&*error.problem, Problem::LostRecord(cause) if is_it(cause))
}

/// Reads the record of an experiment that has made runs. If it was deleted or damaged, the exit
/// code is that of an invalid experiment.
fn read_after_runs(record: &Path) -> Result<RecordedExperiment, Complaint> {
    RecordedExperiment::read(record).map_err(|error| match ExperimentContent::read(record) {
        Err(lost) => answer::lost_record(&lost, Measurement::Experiment),
        Ok(_) => Complaint::from(error).with_exit(Exit::Invalid),
    })
}

impl ExecutedExperiment {
    /// Reads the record.
    pub(crate) fn read(&self) -> Result<RecordedExperiment, Complaint> {
        read_after_runs(&self.record)
    }

    /// Returns the view of the experiment, and adds its false alarms to the counts of this machine
    /// unless time was simulated.
    pub(crate) fn view(
        &self,
        args: &RunArgs,
        file: &ExperimentFile,
    ) -> Result<ExperimentView, Complaint> {
        let view = view_of(&self.read()?, &self.record);
        if !args.is_virtual {
            false_alarms::add_result(&view, file);
        }
        Ok(view)
    }

    /// Returns the exit code.
    pub(crate) fn exit(&self, view: &ExperimentView, args: &AnswerArgs) -> Exit {
        match self.end {
            ExperimentEnd::Interrupted => Exit::Interrupted,
            ExperimentEnd::Complete
            | ExperimentEnd::InstrumentFailed
            | ExperimentEnd::NotInEffect
            | ExperimentEnd::NotObserved => Exit::of_experiment(view, args.strict),
        }
    }
}

/// Prints the answer of a recorded experiment.
pub(crate) fn print_record(
    view: &ExperimentView,
    args: &AnswerArgs,
    form: TextForm,
) -> Result<Exit, Complaint> {
    print_answer(view, args, form)?;
    Ok(Exit::of_experiment(view, args.strict))
}

/// Prints the view of an experiment, and writes its test cases.
pub(crate) fn print_answer(
    view: &ExperimentView,
    args: &AnswerArgs,
    form: TextForm,
) -> Result<(), Complaint> {
    match (args.json, args.markdown) {
        (true, _) => answer::print_document(&report::experiment_json(view))?,
        (false, true) => answer::print(&report::experiment_markdown(view))?,
        (false, false) => answer::print(&match form {
            TextForm::Short => report::experiment_text(view, &answer::short_style()),
            TextForm::Full => report::experiment_full_text(view, &answer::unwrapped_style()),
        })?,
    }
    answer::write_cases(args, || TestSuite::of_experiment(view, args.strict))
}

/// Returns the state of an experiment from the value of its fact `state`. A missing or unknown
/// value means that it was interrupted.
pub(crate) fn state_of(fact: Option<&str>) -> ExperimentState {
    match fact {
        Some("complete") => ExperimentState::Complete,
        Some("instrument-failed") => ExperimentState::InstrumentFailed,
        Some("not-in-effect") => ExperimentState::NotInEffect,
        Some("not-observed") => ExperimentState::NotObserved,
        _ => ExperimentState::Interrupted,
    }
}

/// Returns the view of an experiment's record.
pub(crate) fn view(path: &Path) -> Result<ExperimentView, Complaint> {
    Ok(view_of(&RecordedExperiment::read(path)?, path))
}

/// Returns the view of a recorded experiment.
pub(crate) fn view_of(recorded: &RecordedExperiment, path: &Path) -> ExperimentView {
    let RecordedExperiment { outline, design, names, results, .. } = recorded;
    let fact = |key: &'static str| recorded.fact(key).map(str::to_owned);
    let comparison = results.comparison.as_ref();
    let false_alarms = false_alarms::of_record(outline, design, comparison, fact);
    let arm = |(name, arm): (&String, ArmId)| ArmView {
        name: name.clone(),
        differences: recorded.differences(arm),
        effect: effect_view(recorded.effect(arm)),
        validity: results.validity[arm.index()].clone(),
        slos: results.slos[arm.index()].clone(),
        limiter: ArmLimiter::of(
            results.runs.iter().filter_map(counted_run).filter(|it| it.0 == arm).map(|it| it.1),
        ),
    };
    let run = |run: &lab::experiment::RecordedRun| RunView {
        number: run.row.run,
        round: run.row.round,
        arm: run.arm,
        point: run.row.point.clone(),
        phase: run_phase(run.row.phase),
        attempt: run.row.attempt,
        state: run.row.state.name(),
        seed: run.row.seed,
        verdict: run.figures.verdict.status(),
        objections: run.figures.verdict.objections.clone(),
        checks: run.figures.verdict.checks.clone(),
        limiter: run.figures.limiter,
        limiter_finding: run.figures.limiter_finding.clone(),
    };
    let differences = |is_suspect: bool| {
        let all = recorded.undeclared.iter().filter(|one| one.is_suspect() == is_suspect);
        all.map(|one| difference_view(ArmId::BASELINE, one)).collect()
    };
    ExperimentView {
        question: outline.ask.clone(),
        workload: outline.workload.clone(),
        command: recorded.fact(COMMAND).unwrap_or_default().to_owned(),
        command_with_path: command_with_path(recorded),
        record: path.display().to_string(),
        label: recorded.label().map(str::to_owned),
        state: state_of(recorded.fact(STATE)),
        may_be_running: recorded.fact(STATE) == Some(RUNNING),
        invalid_arm: recorded.fact(INVALID_ARM).map(str::to_owned),
        has_several_differences: outline.has_several_differences,
        bets: outline.bets.clone(),
        arms: names.iter().zip((0..).map(ArmId)).map(arm).collect(),
        runs: results.steps.iter().chain(&results.runs).map(run).collect(),
        looks: results.looks.clone(),
        rounds: rounds(recorded),
        comparison: results.comparison.clone(),
        saturation: saturation_view(recorded),
        capacity: recorded.search.as_ref().map(capacity_view),
        machine: results.machine.clone(),
        undeclared: differences(true),
        differences: differences(false),
        false_alarms,
        remarks: JobRemarks::of(results.runs.iter().filter_map(counted_run)),
        load_fallbacks: LoadFallback::of_runs(facts_of_counted_runs(recorded)),
        notes: recorded.notes().to_vec(),
        facts: facts_of_arms(recorded),
        plan: PlanTexts {
            experiment: recorded.fact(EXPERIMENT).unwrap_or_default().to_owned(),
            workload: results.plan.clone().map(|plan| (plan.run, plan.text)),
        },
        excerpts: recorded.excerpts().to_vec(),
        sweep: sweep_view(recorded),
        repetition: None,
    }
}

/// Returns the command line with the path of the file. Older records and repetitions lack the path;
/// for these, returns the command line with the name of the file only.
fn command_with_path(recorded: &RecordedExperiment) -> String {
    let command = recorded.fact(COMMAND).unwrap_or_default();
    let with_path = recorded.fact(PATH).and_then(|path| order::with_path(command, path));
    with_path.unwrap_or_else(|| command.to_owned())
}

/// Returns the numbers of rounds after which looks are taken; none for a search.
fn rounds(recorded: &RecordedExperiment) -> Vec<u32> {
    match recorded.search {
        Some(_) => Vec::new(),
        None => recorded.design.looks.looks().to_vec(),
    }
}

/// Returns the arm and the figures of a run that counts; `None` for any other run.
fn counted_run(run: &lab::experiment::RecordedRun) -> Option<(ArmId, &RunFigures)> {
    (run.row.state == RunState::Counts).then_some((run.arm, &run.figures))
}

/// Returns the facts of each run that counts, with its arm.
fn facts_of_counted_runs(
    recorded: &RecordedExperiment,
) -> impl Iterator<Item = (ArmId, &[(String, String)])> {
    let counted = recorded.results.runs.iter().filter_map(counted_run);
    counted.map(|(arm, figures)| (arm, figures.facts.as_slice()))
}

/// Returns the facts of the runs that count by arm, with the version of the program.
fn facts_of_arms(recorded: &RecordedExperiment) -> ArmFacts {
    let mut facts = ArmFacts::of(recorded.names.len(), facts_of_counted_runs(recorded));
    let version = recorded.fact(VERSION).into_iter();
    version.for_each(|version| facts.add_to_all(assay::VERSION, version));
    facts
}

fn run_phase(phase: Phase) -> RunPhase {
    match phase {
        Phase::Compare => RunPhase::Compare,
        Phase::Sweep => RunPhase::Sweep,
        Phase::Saturate => RunPhase::Saturate,
        Phase::Capacity => RunPhase::Capacity,
    }
}

/// Returns the view of the facts about the differences of an arm.
pub(crate) fn effect_view(one: ArmEffect) -> EffectView {
    let ended = one.terminated_tls.map(|ended| [ended.client, ended.fact.to_owned(), ended.server]);
    EffectView {
        not_read_back: one.not_read_back,
        ended_tls: ended,
        shares_server: one.shares_server,
    }
}

/// Returns the view of a capacity search.
fn capacity_view(search: &RecordedSearch) -> CapacityView {
    let trial = |one: &RecordedTrial| TrialView {
        run: one.run,
        trial: one.trial.clone(),
        outcome: one.outcome.clone(),
        verdict: one.figures.verdict.clone(),
        limiter: one.figures.limiter,
    };
    CapacityView {
        order: search.order.clone(),
        trials: search.trials.iter().map(trial).collect(),
        found: search.capacity.clone(),
        server_starts: search.server_starts(),
        stored_method: search.stored_method,
    }
}

/// Returns the view of a search for saturation; `None` if the experiment has none.
fn saturation_view(recorded: &RecordedExperiment) -> Option<SaturationView> {
    let (question, next) = recorded.outline.saturate.as_ref().zip(recorded.saturation)?;
    let step = |run: &lab::experiment::RecordedRun| {
        let (row, figures) = (&run.row, &run.figures);
        Some(SaturationStepView {
            run: row.run,
            step: row.round,
            attempt: row.attempt,
            value: row.point.as_ref()?.parse().ok()?,
            state: row.state.name(),
            completed_per_s: figures.completed(question.vary.job()),
            cpu: match question.until {
                Saturated::Cpu { owner, .. } => figures.cpu_share(owner),
                Saturated::Gain { .. } => None,
            },
            verdict: figures.verdict.clone(),
            limiter: figures.limiter,
        })
    };
    let steps = recorded.results.steps.iter().filter_map(step).collect();
    // If arms change settings of the server, the server is started anew for each run.
    let mut changed = recorded.outline.arms.iter().flat_map(|arm| &arm.differences);
    let restarts = changed.any(|(key, _)| key.starts_with(SERVER_KEY));
    let server_starts = recorded.results.server_starts_of_steps().filter(|_| !restarts);
    Some(SaturationView { question: question.clone(), steps, next, server_starts })
}

fn sweep_view(recorded: &RecordedExperiment) -> Option<SweepView> {
    let (outline, results) = recorded.outline.sweep.as_ref().zip(recorded.sweep.as_ref())?;
    Some(SweepView {
        vary: outline.vary.clone(),
        values: outline.values.clone(),
        repeats: outline.repeats,
        best: outline.best.clone(),
        job: outline.pacing_key().map(|(_, job)| job.to_owned()),
        curves: results.curves.clone(),
        comparisons: results.comparisons.clone(),
    })
}

/// Returns the view of a difference from a baseline.
pub(crate) fn difference_view(baseline: ArmId, one: &UndeclaredDifference) -> DifferenceView {
    DifferenceView {
        kind: one.kind.name(),
        name: one.name.clone(),
        baseline,
        arm: one.arm,
        between: match one.scope {
            DifferenceScope::Arms | DifferenceScope::Targets => DifferingRuns::Arms,
            DifferenceScope::Rounds(rounds) => DifferingRuns::Rounds(rounds),
            DifferenceScope::Pair(round) => DifferingRuns::Pair(round),
        },
        values: one.values.clone(),
        cause: one.cause.clone(),
    }
}

/// Refuses programs that the user has not allowed, and options that experiments do not have.
fn refuse_unsupported(args: &RunArgs, file: &ExperimentFile) -> Result<(), Complaint> {
    let refuse = |sentence: String, help: &str| Err(Complaint::new(sentence).help(help));
    for arm in file.experiment.arm_points() {
        let plan = &arm.plan;
        if !args.allow_commands {
            let workload = file.workload_of(plan.clone());
            trust::refuse_programs_of_arm(&workload, arm, is_url_typed(arm, &args.file))?;
        }
    }
    let unsupported = [("--loaded", args.loaded), ("--op-log", args.op_log.is_some())];
    if let Some((option, _)) = unsupported.into_iter().find(|(_, is_given)| *is_given) {
        return refuse(format!("an experiment has no {option}"), "leave it out");
    }
    Ok(())
}

/// Checks that the record and the file of test cases are not among the files that an arm needs, at
/// any point of a sweep. The record of a resumed experiment is not checked, because it is not new.
fn check_new_files(
    args: &RunArgs,
    file: &ExperimentFile,
    place: &RecordPlace,
) -> Result<(), Complaint> {
    let record = args.resume.is_none().then(|| place.path());
    file.experiment.arm_points().iter().try_for_each(|arm| {
        let workload = file.workload_of(arm.plan.clone());
        outputs::check_new_files(&workload, record, args.answer.junit.as_deref())
    })
}

/// Returns the place of the record.
fn record_place(args: &RunArgs) -> RecordPlace {
    match &args.resume {
        Some(path) => RecordPlace::Exactly(path.clone()),
        None => order::record(args.out.as_ref(), "experiment"),
    }
}

/// Returns the printed plans of all arms, at all points.
pub(crate) fn plans(file: &ExperimentFile) -> String {
    let plans = file.experiment.arm_points().iter().map(|arm| arm.plan.to_text());
    plans.collect::<Vec<String>>().join("\n")
}

/// Returns the facts of the record that a resumed experiment must have as well.
fn facts(file: &ExperimentFile, command: String) -> Vec<(&'static str, String)> {
    vec![
        (VERSION, env!("CARGO_PKG_VERSION").to_owned()),
        (EXPERIMENT, file.experiment.to_text()),
        (PLANS, plans(file)),
        (COMMAND, command),
    ]
}

/// Returns the facts about the origin of an experiment: the machine's rate of false alarms, the
/// label, and the path of the file.
fn origin_facts(args: &RunArgs, file: &ExperimentFile) -> Vec<(&'static str, String)> {
    let rate = if args.is_virtual { None } else { false_alarms::rate_fact(file) };
    let label = args.label.clone().map(|label| (LABEL, label));
    rate.into_iter().chain(label).chain(path_fact(args)).collect()
}

/// Returns the fact about the path of the file; `None` for a repetition, whose file is in a
/// temporary folder.
fn path_fact(args: &RunArgs) -> Option<(&'static str, String)> {
    let file = &args.file;
    file.unpacked.is_none().then(|| (PATH, file.file.display().to_string()))
}

/// Returns the command line for the record.
fn command(args: &RunArgs, file: &ExperimentFile) -> String {
    let plan = &file.experiment.arms[0].plan;
    order::command("run", &args.file, plan, &order::options_of_run(args))
}

/// Returns a line with the number of runs and, in real time, the least time that they take.
fn forecast(file: &ExperimentFile, is_virtual: bool) -> String {
    let experiment = &file.experiment;
    let arm_points = experiment.outline().arm_points().len() as u32;
    let looks = design(&experiment.outline(), experiment.writes()).looks;
    let rounds = [looks.looks().first().copied().unwrap_or_default(), looks.most_pairs()];
    let [fewest, most] = rounds.map(|rounds| rounds.saturating_mul(arm_points));
    let steps = experiment.saturate.as_ref().map(fewest_and_most_steps);
    let longest = experiment.arm_points().iter().filter_map(|arm| arm.plan.duration).max();
    let time = |runs: u32| {
        let each = longest.unwrap_or_default() + canary_length(longest);
        Nanos(each.0.saturating_mul(runs.into()))
    };
    let number = match fewest == most {
        true => format!("{} runs", grouped(most.into())),
        false => format!("{} to {} runs", grouped(fewest.into()), grouped(most.into())),
    };
    let [before_fewest, before_most] = steps.unwrap_or_default();
    let ends = [fewest.saturating_add(before_fewest), most.saturating_add(before_most)];
    let length = match (longest, is_virtual, ends) {
        (None, ..) | (_, true, _) => String::new(),
        (Some(_), false, [least, most]) if least == most => format!(", at least {}", time(most)),
        (Some(_), false, [least, most]) => {
            format!(", at least {} to {}", time(least), time(most))
        }
    };
    let steps = steps.map_or_else(String::new, |[fewest, most]| {
        format!("{fewest} to {most} steps to find the load, then ")
    });
    let beside = match (experiment.restarts(), &experiment.restore) {
        (true, Restore::None) => "setup, loads and the restart of the server before each run",
        (true, _) => "setup, loads, and restart, restoring and settling before each run",
        (false, Restore::None) => "setup and loads",
        (false, _) => "setup, loads, and restoring and settling before each run",
    };
    let cases = match &experiment.sweep {
        None => format!("{arm_points} arms"),
        Some(sweep) => match experiment.file_arms().len() {
            0 => format!("{} points", sweep.values.len()),
            arms => format!("{arms} arms at {} points", sweep.values.len()),
        },
    };
    format!("experiment: {steps}{cases}, {number}{length}, without {beside}")
}

/// Returns the smallest and the largest number of steps of a search for saturation, if no step is
/// repeated.
fn fewest_and_most_steps(question: &SaturateQuestion) -> [u32; 2] {
    let fewest = match question.until {
        Saturated::Cpu { .. } => 1,
        Saturated::Gain { .. } => 2,
    };
    [fewest, question.values.len() as u32]
}

/// Returns the order of a capacity search; `None` for other experiments.
fn capacity_order(
    args: &RunArgs,
    file: &ExperimentFile,
    calibration: Option<&Calibration>,
) -> Option<CapacityOrder> {
    let ceiling = calibration.and_then(Calibration::ceiling_per_s);
    let ceiling = ceiling.map(|per_s| per_s * args.threads.max(1) as f64);
    search_order(&file.experiment, args.is_virtual, ceiling)
}

/// Returns a line with the maximum number of trials and the time that they take. If a rate is
/// varied, the line also has the approximate number of requests for each 1,000/s of the capacity.
fn forecast_of_search(order: &CapacityOrder) -> String {
    let CapacityOrder { vary, first, .. } = order;
    // The order was checked when the file was read, so this does not fail.
    let Ok(forecast) = capacity::forecast(order, *first) else { return String::new() };
    let requests = capacity::forecast(order, 1_000.0).ok().and_then(|it| it.requests);
    let requests = requests.map_or_else(String::new, |requests| {
        format!(", about {} requests for each 1,000/s of the capacity", grouped(requests))
    });
    // The budget covers repeated trials, but not a repeated hold.
    let hold = match order.hold {
        Some(_) => "; a hold in which the load generator fails runs again, twice at most",
        None => "",
    };
    format!(
        "capacity search over {vary}: at most {} trials in {}{requests}, without setup and \
         loads{hold}",
        forecast.trials, forecast.time
    )
}

/// Returns the exit code of an experiment that ended with an error; `None` for errors of the user,
/// such as a wrong file or statement.
fn exit_of(error: &ExperimentError, record: &Path) -> Option<Exit> {
    match &*error.problem {
        _ if error.is_unreachable() => Some(Exit::Unreachable),
        // If there is a record, the server has started with these settings before.
        Problem::Settings { .. } => record.exists().then_some(Exit::Unreachable),
        Problem::LostRecord(_) => Some(Exit::Invalid),
        Problem::Record(error) if *error.kind() == RecordErrorKind::CannotWrite => {
            record.exists().then_some(Exit::Invalid)
        }
        _ => None,
    }
}

/// Returns the complaint about an experiment that ended with an error, with a remedy.
fn complaint(
    error: &ExperimentError,
    file: &ExperimentFile,
    record: &Path,
    command: LoadingCommand,
) -> Complaint {
    match &*error.problem {
        Problem::Changed { .. }
        | Problem::FileChanged(_)
        | Problem::FileAdded(_)
        | Problem::FileMissing(_)
        | Problem::OtherServer { .. } => {
            return Complaint::of(error).help(
                "continue it with the same files, options and server, or begin a new record",
            );
        }
        Problem::AlreadyComplete => {
            return Complaint::of(error).help("print its answer with `assay report`");
        }
        Problem::NotObserved => {
            return Complaint::of(error)
                .help("write another condition, or find the cause with `assay doctor`");
        }
        Problem::InstrumentFailed => {
            return Complaint::of(error).help("find the cause with `assay doctor`, and begin anew");
        }
        Problem::Record(error) if *error.kind() == RecordErrorKind::SingleRun => {
            let sentence = format!("`{}` is the record of a single run", record.display());
            return Complaint::new(sentence).help("name the record of an experiment with --resume");
        }
        Problem::Record(error) if *error.kind() != RecordErrorKind::CannotWrite => {
            return Complaint::of(error);
        }
        _ => {}
    }
    let specific = complaint_about_run(error, file, command)
        .or_else(|| complaint_about_statement(error, file))
        .or_else(|| complaint_about_lost_record(error));
    let complaint = specific.unwrap_or_else(|| Complaint::of(error));
    let complaint = match &*error.problem {
        Problem::Unsettled { .. } => complaint.help(remedy::of_unanswered(SETUP_TIMEOUT)),
        Problem::WrongRows { after: DataStep::Load, .. } => match command {
            LoadingCommand::Resumption => complaint.help(remedy::LEFT_ROWS),
            LoadingCommand::Run | LoadingCommand::Load => complaint,
        },
        _ => complaint,
    };
    let path = record.display().to_string();
    let continues = match number_of_runs(record) {
        None | Some(0) if records_leftovers(record) => {
            "the changes before the run may still be there; undo them and continue".to_owned()
        }
        None | Some(0) => return complaint,
        Some(_) => format!("the runs so far are in `{path}`; continue"),
    };
    let quoted = shell_word(&path);
    complaint.help(match &*error.problem {
        Problem::Statement { key, .. } => {
            format!("{continues} with --resume {quoted} if the statement of `{key}` works then")
        }
        _ => format!("{continues} with --resume {quoted}"),
    })
}

/// Returns the complaint about a run of an arm that failed to start; `None` for all other errors.
fn complaint_about_run(
    error: &ExperimentError,
    file: &ExperimentFile,
    command: LoadingCommand,
) -> Option<Complaint> {
    let Problem::Run(cause) = &*error.problem else { return None };
    let name = error.arm.as_ref()?;
    let arm = file.experiment.arm_points().iter().find(|arm| arm.heading() == *name)?;
    let workload = file.workload_of(arm.plan.clone());
    Some(order::complaint(&workload, cause, command))
}

/// Returns the complaint about a record that was deleted or damaged after a run.
fn complaint_about_lost_record(error: &ExperimentError) -> Option<Complaint> {
    let Problem::LostRecord(cause) = &*error.problem else { return None };
    cause.kind().is_unreadable().then(|| answer::lost_record(cause, Measurement::Experiment))
}

/// Returns the complaint about a statement that runs before or after the runs of an arm. The
/// complaint points to the line of the statement.
fn complaint_about_statement(error: &ExperimentError, file: &ExperimentFile) -> Option<Complaint> {
    let Problem::Statement { key, number, error: cause } = &*error.problem else { return None };
    let name = error.arm.as_ref()?;
    let arm = file.experiment.arm_points().iter().find(|arm| arm.heading() == *name)?;
    let statement = HookStatement { arm: &arm.name, key: *key, number: *number };
    let span = statement.span_in(&file.source.text)?;
    let limit = match key {
        StatementKey::After => STALL_TIMEOUT,
        StatementKey::Restore | StatementKey::Before => SETUP_TIMEOUT,
    };
    let is_late = cause.class() == Class::Timeout;
    let help = is_late.then(|| remedy::of_unanswered(limit));
    let diagnostic = Diagnostic::error(span, error.to_string()).label(cause.to_string());
    Some(Complaint::about(&file.source, &[Diagnostic { help, ..diagnostic }]))
}

/// Creates the [`Order`] of each run of an experiment: its plan, files and options.
struct OrderSource<'a> {
    file: &'a ExperimentFile,
    progress: &'a Progress,
    overrides: &'a Overrides,
    options: Options,
    calibration: Option<&'a Calibration>,
    command: &'a str,
    stop: &'a Stop,
}

impl RunMaker for OrderSource<'_> {
    fn order(&self, arm: &Arm, seed: Seed) -> Option<Order> {
        let folder = WorkloadFolder::new(self.file.files.clone());
        let plan = self.file.experiment.plan(arm, seed.0, self.overrides, &folder)?;
        let workload = self.file.workload_of(plan);
        let started = match self.options.is_virtual {
            true => WallTime::EPOCH,
            false => WallTime::now(),
        };
        let options = Options { started, files: workload.files.clone(), ..self.options.clone() };
        let place = RecordPlace::Exactly(PathBuf::new());
        let (path, command) = (workload.path.clone(), self.command.to_owned());
        let order = order::order(&workload, &path, options, place, command, self.stop.clone());
        let order = Order { calibration: self.calibration.cloned(), ..order };
        self.progress.expect_run(&order);
        Some(order)
    }
}
