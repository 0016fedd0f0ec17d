//! `assay report`: prints the answer of a record, or its environment.

use crate::args::ReportArgs;
use crate::commands::answer;
use crate::complain::Complaint;
use crate::exit::Exit;

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Complaint> {
    match args.environment {
        true => answer::environment(&args.record, args.answer.json),
        false => answer::of_record(&args.record, args.answer),
    }
}
