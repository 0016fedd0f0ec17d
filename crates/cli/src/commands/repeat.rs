//! `assay repeat`: runs the experiment or the plan of a record again.

use std::path::Path;

use analyze::Status;
use analyze::compare::{RepetitionOutcome, RunFigures};
use archive::{Archive, RecordError};
use base::HIDDEN;
use clap::Parser;
use lab::comparison::differing_work;
use record::InputFile;
use report::{ExperimentState, ExperimentView, RepetitionView};

use crate::args::{Args, Command, RepeatArgs, RunArgs};
use crate::commands::answer::TextForm;
use crate::commands::run::{AnsweredRun, RunMode};
use crate::commands::{answer, experiment, run};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::experiment_file::ExperimentFile;
use crate::reading::{self, AnyFile, ReadPurpose};
use crate::record_file::RecordFile;
use crate::recorded_experiment::{EXPERIMENT, PLANS, RecordedExperiment};
use crate::unpacked_files::UnpackedFiles;

pub(crate) fn repeat(args: &RepeatArgs) -> Result<Exit, Complaint> {
    let record = RecordFile::open(&args.record)?;
    match record.is_experiment() {
        true => repeat_experiment(args, record),
        false => repeat_run(args, record),
    }
}

/// Runs the experiment of a record again, and compares both answers.
fn repeat_experiment(args: &RepeatArgs, record: RecordFile) -> Result<Exit, Complaint> {
    let recorded = RecordedExperiment::read(record.path());
    let recorded = recorded.map_err(|error| record.complaint(error.into()))?;
    let first = record.view_of(&recorded);
    // Removes the copy that was unpacked from a bundle: it would take room during the runs.
    drop(record);
    refuse_unanswered(&first)?;
    if args.url.is_some() && recorded.arms_have_urls() {
        let sentence = "every arm of the experiment has a `url` of its own: --url would have no \
                        effect";
        return Err(Complaint::new(sentence).help("leave it out"));
    }
    let mut run = run_args(args, &first.command)?;
    let unpacked = UnpackedFiles::unpack(recorded.files(), &run.file.file)?;
    unpacked.replace_file(&mut run.file, &args.record);
    let file = read_experiment(&run, recorded.fact(EXPERIMENT).unwrap_or_default())?;
    let executed = match experiment::execute(&run, &file)? {
        Ok(executed) => executed,
        Err(exit) => return Ok(exit),
    };
    let mut second = executed.view(&run, &file)?;
    if second.sweep.as_ref().is_some_and(|sweep| sweep.best.is_none()) {
        // The answer of a sweep without `best` is a curve, which a repetition neither confirms nor
        // contradicts.
        experiment::print_answer(&second, &args.answer, TextForm::of(args.full))?;
        return Ok(executed.exit(&second, &args.answer));
    }
    let deltas = &file.experiment.deltas;
    let repetition = RepetitionView::of(&first, &second, |metric| deltas.of(metric));
    let (before, now) = (recorded.fact(PLANS).unwrap_or_default(), experiment::plans(&file));
    let repetition = match differing_work(before, &now) {
        // A different version of the program may have printed the same plan in other lines.
        Some(lines) if !args.set.is_empty() => repetition.with_different_workload(lines),
        Some(_) | None => repetition,
    };
    // In real time, the same seed gives different figures in each execution.
    let has_same_runs = run.is_virtual && executed.read()?.has_runs_of(&recorded);
    let repetition = if has_same_runs { repetition.with_same_runs() } else { repetition };
    let outcome = repetition.outcome();
    // An INVALID result neither confirms nor contradicts.
    second.repetition = (second.verdict() != Status::Invalid).then_some(repetition);
    experiment::print_answer(&second, &args.answer, TextForm::of(args.full))?;
    Ok(match (executed.exit(&second, &args.answer), outcome) {
        (Exit::Success, RepetitionOutcome::Contradicts) => Exit::Missed,
        (exit, _) => exit,
    })
}

/// Refuses a first experiment without an answer that a repetition could confirm.
fn refuse_unanswered(first: &ExperimentView) -> Result<(), Complaint> {
    let record = &first.record;
    if first.is_answered() {
        return Ok(());
    }
    if first.state == ExperimentState::Interrupted {
        let sentence = format!("the experiment of `{record}` has no answer yet");
        return Err(Complaint::new(sentence).help("complete it first: `assay run … --resume`"));
    }
    let sentence = format!("the answer of `{record}` is INVALID: there is nothing to confirm");
    Err(Complaint::new(sentence).help(format!("run it again: `{}`", first.command_with_path)))
}

/// Reads the experiment file, which must have the same question as the record.
fn read_experiment(run: &RunArgs, printed: &str) -> Result<ExperimentFile, Complaint> {
    let reading = ReadPurpose { is_virtual: run.is_virtual, record: run.out.as_deref() };
    let AnyFile::Experiment(file) = reading::read_any(&run.file, reading)? else {
        return Err(damaged_record("the file of the record is not an experiment file"));
    };
    match file.experiment.to_text() == printed {
        true => Ok(*file),
        false => Err(damaged_record("the files of the record do not make its experiment")),
    }
}

/// Returns the complaint about a record whose own files contradict it.
fn damaged_record(sentence: &str) -> Complaint {
    let help = "the record is damaged, or was made by another version of Assay: use a copy of it, \
                or that version";
    Complaint::new(sentence).help(help)
}

/// Runs the workload of a single run again, and prints both runs side by side.
fn repeat_run(args: &RepeatArgs, record: RecordFile) -> Result<Exit, Complaint> {
    let first = FirstRun::read(record.path());
    let first = first.map_err(|error| record.complaint(Complaint::of(&error)))?;
    // Removes the copy that was unpacked from a bundle: it would take room during the run.
    drop(record);
    let mut run = run_args(args, &first.command)?;
    let unpacked = UnpackedFiles::unpack(&first.files, &run.file.file)?;
    unpacked.replace_file(&mut run.file, &args.record);
    let AnsweredRun { exit, record } = run::run_workload(&run, RunMode::of_run(&run))?;
    if record.exists() && !args.answer.json && !args.answer.markdown {
        print_side_by_side(&first.figures, &record)?;
    }
    Ok(exit)
}

/// The run that is repeated.
struct FirstRun {
    command: String,
    files: Vec<InputFile>,
    figures: RunFigures,
}

impl FirstRun {
    fn read(record: &Path) -> Result<FirstRun, RecordError> {
        let archive = Archive::open(record)?;
        Ok(FirstRun {
            command: archive.header().command.clone(),
            files: archive.files()?,
            figures: lab::experiment::figures(&archive)?,
        })
    }
}

fn print_side_by_side(first: &RunFigures, record: &Path) -> Result<(), Complaint> {
    let second = Archive::open(record).and_then(|second| lab::experiment::figures(&second));
    let text = report::two_runs(first, &second.map_err(|error| Complaint::of(&error))?);
    answer::print(&format!("\n{text}"))
}

fn missing_secret(name: &str) -> Complaint {
    Complaint::new(format!("the record does not hold the value of `{name}`, which is secret"))
        .help(format!("give it with --set {name}=VALUE"))
}

/// Returns the arguments of the first run, with the changes of the command line. Permissions must
/// be given again, because the record may come from an untrusted source.
fn run_args(args: &RepeatArgs, command: &str) -> Result<RunArgs, Complaint> {
    let unreadable = || {
        Complaint::new(format!("the command of the record cannot be repeated: `{command}`"))
            .help("only runs and experiments of `assay run` can be repeated")
    };
    let words = split_words(command).ok_or_else(unreadable)?;
    let Ok(Args { command: Command::Run(mut run) }) = Args::try_parse_from(words) else {
        return Err(unreadable());
    };
    for (name, value) in &args.set {
        run.file.set.retain(|(other, _)| other != name);
        run.file.set.push((name.clone(), value.clone()));
    }
    if let Some((name, _)) = run.file.set.iter().find(|(_, value)| value == HIDDEN) {
        return Err(missing_secret(name));
    }
    run.file.is_url_recorded = args.url.is_none();
    run.file.url = args.url.clone().or(run.file.url);
    run.file.seed = args.seed.or(run.file.seed);
    run.file.allow_files = args.allow_files;
    run.allow_commands = args.allow_commands;
    run.quiet = args.quiet;
    // Assay records no command with these options, but a forged record may contain them.
    (run.op_log, run.resume, run.serve, run.metrics) = (None, None, None, None);
    run.answer = args.answer.clone();
    run.out = args.out.clone();
    Ok(run)
}

/// Splits a command line of a record into words; `None` if a quote is not closed, or if the line
/// ends with a backslash outside of quotes.
fn split_words(command: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match (character, is_quoted) {
            ('\'', _) => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            ('\\', false) => word.get_or_insert_default().push(characters.next()?),
            (' ', false) => words.extend(word.take()),
            (other, _) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    (!is_quoted).then_some(words)
}

#[cfg(test)]
mod tests {
    use base::shell_word;

    use super::*;

    #[test]
    fn command_of_a_record_is_split_as_a_shell_does() {
        for text in ["shop.ini", "it's", "", "a b", "sim:mm1?service=1ms&x='"] {
            let line = format!("assay run {}", shell_word(text));
            assert_eq!(
                split_words(&line),
                Some(vec!["assay".into(), "run".into(), text.to_owned()])
            );
        }
        assert_eq!(split_words("assay 'run"), None);
        assert_eq!(split_words("  a   b "), Some(vec!["a".to_owned(), "b".to_owned()]));
    }
}
