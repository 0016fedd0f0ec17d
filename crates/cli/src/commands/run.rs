//! `assay run`: runs a workload file and prints the answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::OpLogPlan;
use engine::Stop;
use lab::{MissingTarget, Order, RunResult};
use record::OpFormat;
use workload::Plan;

use crate::args::{AnswerArgs, RunArgs};
use crate::commands::answer::TextForm;
use crate::commands::order;
use crate::commands::remedy::LoadingCommand;
use crate::commands::{answer, calibrate, experiment};
use crate::complain::Complaint;
use crate::display::{Display, ProgressStyle};
use crate::exit::Exit;
use crate::live_pages::LiveServers;
use crate::outputs::{self, Outputs};
use crate::reading::{self, AnyFile, ReadPurpose};
use crate::workload_file::WorkloadFile;
use crate::{input_files, signals, trust};

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Complaint> {
    match reading::read_any(&args.file, reading(args))? {
        AnyFile::Workload(_) if args.resume.is_some() => {
            let sentence = "only experiments can be resumed, and this is a workload file";
            Err(Complaint::new(sentence).help("leave out --resume"))
        }
        AnyFile::Workload(file) => Ok(run_file(args, *file, RunMode::of_run(args))?.exit),
        AnyFile::Experiment(file) => experiment::run(args, &file),
    }
}

/// The differences between the commands that run a workload file.
pub(crate) struct RunMode<'a> {
    /// The form in which the run's progress is shown.
    pub(crate) progress_style: ProgressStyle,
    /// The file with one row per request, if it is written.
    pub(crate) op_log: Option<OpLogPlan>,
    /// A function that returns the command line for the record; the plan says which values are
    /// secret.
    pub(crate) command: Box<dyn FnOnce(&Plan) -> String + 'a>,
    /// True if a file without jobs is refused, because nothing would be measured.
    pub(crate) needs_jobs: bool,
    /// True if the database may be observed with queries that are not in the file.
    pub(crate) observes_database: bool,
}

impl<'a> RunMode<'a> {
    /// Returns the mode of `assay run`.
    pub(crate) fn of_run(args: &'a RunArgs) -> RunMode<'a> {
        RunMode {
            progress_style: match args.quiet {
                true => ProgressStyle::Silent,
                false => ProgressStyle::Automatic,
            },
            op_log: args.op_log.as_deref().map(op_log),
            command: Box::new(|plan| command(args, plan)),
            needs_jobs: true,
            observes_database: true,
        }
    }
}

/// A run whose answer was printed.
pub(crate) struct AnsweredRun {
    /// The exit code.
    pub(crate) exit: Exit,
    /// The path of the record, which may have been removed.
    pub(crate) record: PathBuf,
}

/// Reads a workload file, runs it and prints the answer, for any command.
pub(crate) fn run_workload(
    args: &RunArgs,
    run_mode: RunMode<'_>,
) -> Result<AnsweredRun, Complaint> {
    run_file(args, reading::read(&args.file, reading(args))?, run_mode)
}

fn reading(args: &RunArgs) -> ReadPurpose<'_> {
    ReadPurpose { is_virtual: args.is_virtual, record: args.out.as_deref() }
}

fn run_file(
    args: &RunArgs,
    mut file: WorkloadFile,
    run_mode: RunMode<'_>,
) -> Result<AnsweredRun, Complaint> {
    let RunMode { progress_style, op_log, command, needs_jobs, observes_database } = run_mode;
    if needs_jobs && file.plan.jobs.is_empty() {
        let sentence = "the file has no job to measure: use `assay load` to fill its tables";
        return Err(Complaint::new(sentence));
    }
    file.plan.observe.database &= observes_database;
    if !args.allow_commands {
        trust::refuse_programs(&file, args.file.has_typed_url())?;
    }
    let options = order::options(args, &file)?;
    let stop = Stop::default();
    let place = order::record(args.out.as_ref(), "run");
    let cases = args.answer.junit.as_deref();
    let outputs = Outputs { record: Some(place.path()), op_log: op_log.as_ref(), cases };
    outputs::check_distinct(&file, &outputs)?;
    answer::check_cases(&args.answer)?;
    let servers = LiveServers::bind(args)?;
    let command = command(&file.plan);
    let order = order::order(&file, &args.file.file, options, place, command, stop.clone());
    let calibration = if args.is_virtual { None } else { calibrate::stored_calibration() };
    let inputs = input_files::of_workload(&file)?;
    let order = Order { op_log, calibration, inputs, label: args.label.clone(), ..order };
    let display = Arc::new(Display::new(progress_style, &order));
    let has_metrics = servers.have_metrics();
    let viewers = servers.start(&display)?;
    let shown = Arc::clone(&display);
    signals::listen(stop, move |ending| shown.announce_end(ending))?;
    let watching = Arc::clone(&display);
    let done = lab::run(order, Arc::clone(&display) as _, |live| {
        if has_metrics {
            live.count_times();
        }
        watching.watch(live);
    });
    if let Ok(done) = &done {
        viewers.name_record(&done.record);
    }
    display.finish();
    viewers.wait_for_viewers();
    let done = done.map_err(|error| order::complaint(&file, &error, LoadingCommand::Run))?;
    let record = done.record.clone();
    let exit = conclude(done, &args.answer, TextForm::of(args.full))?;
    Ok(AnsweredRun { exit, record })
}

/// Prints the answer of a run that has ended, and the errors that occurred.
///
/// If the missing target never answered, only the error is printed. The record is removed, because
/// nothing was changed or measured. With `--json`, the record is kept and the document is printed.
pub(crate) fn conclude(
    done: RunResult,
    args: &AnswerArgs,
    form: TextForm,
) -> Result<Exit, Complaint> {
    if let Some(missing) = &done.missing_target {
        no_target(missing).print();
        if !missing.was_reached && !args.json {
            // A record that cannot be removed only repeats the printed message.
            let _ = done.discard();
            return Ok(Exit::Unreachable);
        }
    }
    if let Some(words) = &done.panic {
        let help = "the record holds what was measured up to then; please report this with it";
        Complaint::new(engine::internal_error(words)).help(help).print();
    }
    if let Some(loss) = &done.op_log_loss {
        Complaint::warning(loss).print();
    }
    let error = done.record_error.as_ref();
    let exit = answer::print_run(&done.record, done.end, error, args, form)?;
    // The end of the run takes precedence over the loss of its record.
    Ok(Exit::of_end(done.run_end).unwrap_or(exit))
}

fn op_log(path: &Path) -> OpLogPlan {
    OpLogPlan { path: path.to_owned(), format: OpFormat::Csv }
}

/// Returns the complaint about a missing target; the driver's reason includes the remedy.
fn no_target(MissingTarget { name, was_reached, reason }: &MissingTarget) -> Complaint {
    match (was_reached, name) {
        (true, _) => Complaint::new(format!("the target was lost before the jobs began: {reason}")),
        (false, None) => Complaint::new(format!("the target could not be reached: {reason}")),
        (false, Some(_)) => Complaint::new(format!("a target could not be reached: {reason}"))
            .help("correct the `url` of that section of the file"),
    }
}

/// Returns the command line for the record, without the paths of record and op-log, which do not
/// affect the result.
fn command(args: &RunArgs, plan: &Plan) -> String {
    let flag = |set: bool| set.then(String::new);
    let more = [("loaded", flag(args.loaded)), ("strict", flag(args.answer.strict))];
    order::command("run", &args.file, plan, &[&order::options_of_run(args)[..], &more].concat())
}
