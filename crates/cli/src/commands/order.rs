//! Converts arguments of the command line into the parameters of a run.

use std::path::{Path, PathBuf};

use base::{Diagnostic, HIDDEN, Nanos, Target, WallTime, shell_word};
use engine::{Location, Options, Prepare, Rules, RunFailure, Stop};
use lab::{Error, Order, RecordPlace};
use workload::{Plan, Warmup};

use crate::args::{ArrivalArg, FileArgs, RunArgs};
use crate::commands::remedy::{self, LoadingCommand, RejectedStatement};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::workload_file::{WorkloadFile, file_name};

/// Returns the parameters of a run of a workload file.
pub(crate) fn order(
    file: &WorkloadFile,
    path: &Path,
    options: Options,
    record: RecordPlace,
    command: String,
    stop: Stop,
) -> Order {
    Order {
        workload: file_name(path),
        command,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("ASSAY_COMMIT").map(str::to_owned),
        stop,
        ..Order::new(file.plan.clone(), file.target(), options, record)
    }
}

/// Returns the engine's options for the arguments of `assay run`.
///
/// # Errors
/// A requested processor does not exist or may not be used.
pub(crate) fn options(args: &RunArgs, file: &WorkloadFile) -> Result<Options, Complaint> {
    let cpus = args.cpus.as_ref().map(|cpus| cpus.0.clone()).unwrap_or_default();
    check_processors(&cpus)?;
    Ok(Options {
        threads: args.threads,
        cpus,
        spin: args.spin,
        is_virtual: args.is_virtual,
        prepare: if args.loaded { Prepare::Verify } else { Prepare::Fresh },
        shows_tables: true,
        examples: Vec::new(),
        teardown: true,
        started: if args.is_virtual { WallTime::EPOCH } else { WallTime::now() },
        files: file.files.clone(),
        rules: Rules::STANDARD,
    })
}

/// Checks that this process may use every requested processor; otherwise, an invalid processor
/// would be ignored silently if there is no thread for it.
fn check_processors(asked: &[usize]) -> Result<(), Complaint> {
    // If the system does not list the processors, binding a thread will fail instead.
    let Ok(allowed) = engine::processors() else { return Ok(()) };
    match asked.iter().find(|cpu| !allowed.contains(cpu)) {
        None => Ok(()),
        Some(cpu) => Err(Complaint::new(format!(
            "--cpus: cannot use processor {cpu}; available: {}",
            ranges(&allowed)
        ))),
    }
}

/// Formats ascending numbers as an option lists them: `0-1,4`.
fn ranges(numbers: &[usize]) -> String {
    let parts = numbers.chunk_by(|a, b| a + 1 == *b).map(|part| match part {
        [only] => only.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    parts.collect::<Vec<_>>().join(",")
}

/// Returns the path of the record: the requested one, or a generated name in the current folder,
/// which gets a number if the file exists.
pub(crate) fn record(asked: Option<&PathBuf>, prefix: &str) -> RecordPlace {
    match asked {
        Some(path) => RecordPlace::Exactly(path.clone()),
        None => {
            let now = WallTime::now().compact();
            RecordPlace::Numbered(PathBuf::from(format!("{prefix}-{now}.assay")))
        }
    }
}

/// Returns the options that runs of workloads and of experiments have in common, for the command
/// line in the record.
pub(crate) fn options_of_run(args: &RunArgs) -> [(&'static str, Option<String>); 5] {
    let flag = |set: bool| set.then(String::new);
    let numbers = |cpus: &Vec<usize>| cpus.iter().map(ToString::to_string).collect::<Vec<_>>();
    [
        ("threads", (args.threads > 1).then(|| args.threads.to_string())),
        ("cpus", args.cpus.as_ref().map(|cpus| numbers(&cpus.0).join(","))),
        ("spin", flag(args.spin)),
        ("allow-commands", flag(args.allow_commands)),
        ("virtual", flag(args.is_virtual)),
    ]
}

/// Returns the command line for the record, rebuilt from the parsed arguments: without passwords
/// and secrets of the plan, and without details that do not affect the result, such as the folder
/// of the file.
pub(crate) fn command(
    name: &str,
    args: &FileArgs,
    plan: &Plan,
    more: &[(&str, Option<String>)],
) -> String {
    let file = file_name(args.unpacked.as_ref().map_or(&args.file, |unpacked| &unpacked.file));
    let mut words = vec!["assay".to_owned(), name.to_owned(), shell_word(&file)];
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.push(format!("--{name}"));
            if !value.is_empty() {
                words.push(shell_word(&value));
            }
        }
    };
    option("url", args.url.as_ref().and_then(|url| url.as_ref().ok()).map(Target::to_string));
    for (name, value) in &args.set {
        let value = if plan.is_secret(name) { HIDDEN } else { value };
        option("set", Some(format!("{name}={value}")));
    }
    option("duration", args.duration.as_ref().map(Nanos::to_string));
    option("warmup", args.warmup.as_ref().map(Warmup::to_string));
    option(
        "arrival",
        args.arrival.map(|arrival| match arrival {
            ArrivalArg::Poisson => "poisson".to_owned(),
            ArrivalArg::Uniform => "uniform".to_owned(),
        }),
    );
    option("seed", args.seed.map(|seed| seed.0.to_string()));
    option("allow-files", args.allow_files.then(String::new));
    for (name, value) in more {
        option(name, value.clone());
    }
    words.join(" ")
}

/// Returns the command line of a record with `path` in place of the name of its file, for use in
/// the folder in which the command was started; `None` if the command runs no file of this name.
pub(crate) fn with_path(command: &str, path: &str) -> Option<String> {
    let name = shell_word(&file_name(Path::new(path)));
    let options = command.strip_prefix("assay run ")?.strip_prefix(&name)?;
    Some(format!("assay run {}{options}", shell_word(path)))
}

/// Returns the complaint about a run that failed to start, without secrets that the database
/// repeats. `command` decides the remedy for tables that exist already.
pub(crate) fn complaint(file: &WorkloadFile, error: &Error, command: LoadingCommand) -> Complaint {
    let complaint =
        complaint_with_secrets(file, error, command).without_secrets(&file.plan.secrets());
    match error.is_unanswered() {
        true => complaint.with_exit(Exit::Unreachable),
        false => complaint,
    }
}

/// Returns the complaint with the whole message of the database, secrets included.
fn complaint_with_secrets(
    file: &WorkloadFile,
    error: &Error,
    command: LoadingCommand,
) -> Complaint {
    let at = |place: &Location| Diagnostic::error(place.span, error.to_string());
    match error {
        Error::Failed(RunFailure::Statement { place, error: refusal }) => {
            let remedy = remedy::of(RejectedStatement {
                place,
                class: refusal.class(),
                code: refusal.code(),
                words: refusal.message(),
                command,
            });
            let diagnostic = at(place).label(refusal.to_string());
            file.complain(Diagnostic { help: remedy, ..diagnostic })
        }
        Error::Failed(RunFailure::Unsupported { place, reason, help }) => {
            let fault = format!("[{}]: {reason}", place.section);
            file.complain(Diagnostic::error(place.span, fault).help(help))
        }
        Error::Failed(RunFailure::File { place, path: _, error: cause }) => {
            let help = "name a file that can be opened, in a folder that exists";
            file.complain(at(place).label(cause.to_string()).help(help))
        }
        Error::Files(files) => Complaint::of(error).help(files.remedy()),
        Error::Memory(memory) => Complaint::of(error).help(memory.remedy()),
        _ => Complaint::of(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_of_a_record_has_the_path_that_was_given() {
        for (command, path, expected) in [
            ("assay run a.ini --spin", "in/a.ini", Some("assay run in/a.ini --spin")),
            ("assay run 'a b'", "../it's/a b", Some(r"assay run '../it'\''s/a b'")),
            ("assay run a.ini", "in/b.ini", None),
            ("assay observe", "in/a.ini", None),
        ] {
            assert_eq!(with_path(command, path).as_deref(), expected);
        }
    }

    #[test]
    fn consecutive_numbers_are_shown_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 4, 6, 7]), "0-2,4,6-7");
        assert_eq!(ranges(&[3]), "3");
    }
}
