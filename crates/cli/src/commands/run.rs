//! `assay run`: a workload file, an answer.

use std::sync::Arc;

use base::Endpoint;
use engine::Stop;
use lab::Done;

use crate::args::{AnswerArgs, RunArgs, Url};
use crate::commands::{answer, order};
use crate::complain::Complaint;
use crate::display::Display;
use crate::exit::Exit;
use crate::{signals, workload_file};

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Complaint> {
    let file = workload_file::read(&args.file)?;
    if file.plan.jobs.is_empty() {
        let sentence = "the file has no job, so there is nothing to measure: `assay load` only \
                        fills its tables";
        return Err(Complaint::new(sentence));
    }
    warn_of_password(args.file.url.as_ref());
    let stop = Stop::default();
    signals::listen(stop.clone()).map_err(|error| Complaint::of(&error))?;
    let place = order::record(args.out.as_ref(), "run");
    let order =
        order::order(&file, &args.file.file, order::options(args), place, command(args), stop);
    let display = Arc::new(Display::new(args.quiet, &order));
    let watching = Arc::clone(&display);
    let done = lab::run(order, Arc::clone(&display) as _, |live| watching.watch(live));
    display.finish();
    let done = done.map_err(|error| order::complaint(&file, &error))?;
    conclude(&done, args.answer)
}

/// Prints the answer of a run that has ended, and what went wrong on the way.
pub(crate) fn conclude(done: &Done, args: AnswerArgs) -> Result<Exit, Complaint> {
    if let Some(reason) = &done.unreachable {
        Complaint::new(format!("the target could not be reached: {reason}")).print();
    }
    if let Some(error) = &done.record_error {
        Complaint::of(error).print();
    }
    answer::of_run(&done.record, args)
}

/// The command line as the record shows it. The record's own place says nothing of the result.
fn command(args: &RunArgs) -> String {
    let flag = |set: bool| set.then(String::new);
    let cpus = args
        .cpus
        .as_ref()
        .map(|cpus| cpus.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
    order::command(
        "run",
        &args.file,
        &[
            ("threads", (args.threads > 1).then(|| args.threads.to_string())),
            ("cpus", cpus),
            ("spin", flag(args.spin)),
            ("loaded", flag(args.loaded)),
            ("virtual", flag(args.is_virtual)),
            ("strict", flag(args.answer.strict)),
        ],
    )
}

/// A password on a command line is in every list of processes.
pub(crate) fn warn_of_password(url: Option<&Url>) {
    let has_password = url.and_then(|url| url.as_ref().ok()).is_some_and(|target| {
        matches!(&target.endpoint, Endpoint::Network { password: Some(_), .. })
    });
    if has_password {
        Complaint::warning(
            "the password in --url can be seen in the list of processes: better use \
             ASSAY_PASSWORD, ~/.pgpass or ~/.my.cnf",
        )
        .print();
    }
}
