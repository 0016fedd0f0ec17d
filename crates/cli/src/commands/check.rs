//! `assay check`: the plan of a workload file, or an experiment with its defaults.

use std::io::IsTerminal;

use base::printable;

use crate::args::CheckArgs;
use crate::commands::answer::print;
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::reading::{self, AnyFile, ReadPurpose};
use crate::workload_folder::WorkloadFolder;

pub(crate) fn check(args: &CheckArgs) -> Result<Exit, Complaint> {
    let reading = ReadPurpose { is_virtual: args.is_virtual, record: None };
    let text = match reading::read_any(&args.file, reading)? {
        AnyFile::Workload(file) => file.plan.to_text(),
        AnyFile::Experiment(file) => {
            let folder = WorkloadFolder::new(file.files);
            file.experiment.to_whole_text(&reading::overrides(&args.file)?, &folder)
        }
    };
    // A terminal gets printable text; a file gets the plan unchanged.
    match std::io::stdout().is_terminal() {
        true => text.lines().try_for_each(|line| print(&format!("{}\n", printable(line))))?,
        false => print(&text)?,
    }
    Ok(Exit::Success)
}
