//! `assay report`: prints the answer of a record or of one of its runs, or the environment.

use crate::args::ReportArgs;
use crate::commands::{answer, experiment};
use crate::complain::Complaint;
use crate::exit::Exit;

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Complaint> {
    match (args.environment, args.run) {
        (true, run) => answer::environment(&args.record, run, args.answer.json),
        (false, None) if experiment::is_record(&args.record) => {
            experiment::of_record(&args.record, &args.answer)
        }
        (false, run) => answer::of_record(&args.record, run, &args.answer),
    }
}
