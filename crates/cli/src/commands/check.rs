//! `assay check`: the plan of a workload file.

use crate::args::CheckArgs;
use crate::commands::answer::print;
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::workload_file;

pub(crate) fn check(args: &CheckArgs) -> Result<Exit, Complaint> {
    let file = workload_file::read(&args.file, false)?;
    print(&file.plan.to_text())?;
    Ok(Exit::Success)
}
