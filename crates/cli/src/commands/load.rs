//! `assay load`: fills the tables of a workload file, and runs no jobs.

use std::sync::Arc;

use base::WallTime;
use engine::{Options, Stop};
use lab::Order;
use workload::Plan;

use crate::args::LoadArgs;
use crate::commands::answer::TextForm;
use crate::commands::remedy::LoadingCommand;
use crate::commands::run::conclude;
use crate::commands::{answer, order};
use crate::complain::Complaint;
use crate::display::{Display, ProgressStyle};
use crate::exit::Exit;
use crate::reading::{self, ReadPurpose};
use crate::{input_files, outputs, signals, trust};

pub(crate) fn load(args: &LoadArgs) -> Result<Exit, Complaint> {
    let reading = ReadPurpose { record: args.out.as_deref(), ..ReadPurpose::default() };
    let file = reading::read(&args.file, reading)?;
    if !args.allow_commands {
        trust::refuse_programs(&file, args.file.url.is_some())?;
    }
    if file.plan.setup.is_empty() && file.plan.loads.is_empty() {
        let sentence = "the file has neither [setup] nor [load TABLE]: there is nothing to load";
        let help = "add a [load TABLE], or run the file with `assay run`";
        return Err(Complaint::new(sentence).help(help));
    }
    let stop = Stop::default();
    let (started, files) = (WallTime::now(), file.files.clone());
    let options = Options { started, files, ..Options::in_real_time() };
    let place = order::record(args.out.as_ref(), "load");
    outputs::check_new_files(&file, Some(place.path()), args.answer.junit.as_deref())?;
    answer::check_cases(&args.answer)?;
    let command = command(args, &file.plan);
    let order = order::order(&file, &args.file.file, options, place, command, stop.clone());
    let order = Order { inputs: input_files::of_workload(&file)?, ..order };
    let shown = if args.quiet { ProgressStyle::Silent } else { ProgressStyle::Automatic };
    let display = Arc::new(Display::of_load(shown, &order));
    let shown = Arc::clone(&display);
    signals::listen(stop, move |ending| shown.announce_end(ending))?;
    let done = lab::load(order, Arc::clone(&display) as _);
    display.finish();
    let done = done.map_err(|error| order::complaint(&file, &error, LoadingCommand::Load))?;
    conclude(done, &args.answer, TextForm::of(args.full))
}

/// Returns the command line for the record, without the path of the record, which does not affect
/// the result.
fn command(args: &LoadArgs, plan: &Plan) -> String {
    let flag = |set: bool| set.then(String::new);
    let more =
        [("allow-commands", flag(args.allow_commands)), ("strict", flag(args.answer.strict))];
    order::command("load", &args.file, plan, &more)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use workload::Overrides;

    use super::*;
    use crate::args;

    #[test]
    fn recorded_command_has_every_option_that_affects_the_load() {
        let (plan, _) = workload::plan("[setup]\nquery = select 1\n", &Overrides::default());
        let plan = plan.unwrap();
        for line in [
            "assay load w.ini",
            "assay load w.ini --url sqlite:t.db --seed 7 --allow-files --allow-commands --strict",
        ] {
            let parsed = args::Args::try_parse_from(line.split(' ')).unwrap().command;
            let args::Command::Load(args) = parsed else { panic!("another command") };
            assert_eq!(command(&args, &plan), line);
        }
    }
}
