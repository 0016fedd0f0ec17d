//! `assay report`: the answer of a record.

use crate::args::ReportArgs;
use crate::commands::answer;
use crate::complain::Complaint;
use crate::exit::Exit;

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Complaint> {
    answer::of_record(&args.record, args.answer)
}
