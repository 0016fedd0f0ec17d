//! `assay report`: the answer of a record.

use crate::args::ReportArgs;
use crate::commands::answer;
use crate::complain::Complaint;
use crate::exit::Exit;

/// Prints the answer. The exit code says whether there was one; a record of an interrupted run is
/// one too.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Complaint> {
    Ok(match answer::give(&args.record, args.answer)? {
        Exit::Interrupted | Exit::Unreachable => Exit::Success,
        exit => exit,
    })
}
