//! `assay report`: prints the answer, the environment or the figures of a record or of one of its
//! runs, and writes its page.

use crate::args::ReportArgs;
use crate::commands::answer::TextForm;
use crate::commands::{answer, experiment, figures, stored_runs};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::record_file::RecordFile;

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Complaint> {
    let record = RecordFile::open(&args.record)?;
    print_report(args, &record).map_err(|complaint| record.complaint(complaint))
}

fn print_report(args: &ReportArgs, record: &RecordFile) -> Result<Exit, Complaint> {
    if let Some(exit) = figures::print_for_report(args, record)? {
        return Ok(exit);
    }
    match (args.environment, args.run) {
        (true, run) => answer::print_environment(record.path(), run, args.answer.json),
        (false, None) if record.is_experiment() => {
            let form = TextForm::of(args.full);
            match record.experiment() {
                Ok(view) => experiment::print_record(&view, &args.answer, form),
                Err(error) => {
                    if let Some(view) = stored_runs::of_record(record)? {
                        stored_runs::print_runs(&view, &args.answer, form)?;
                    }
                    Err(error)
                }
            }
        }
        (false, run) => {
            let form = TextForm::of(args.full);
            answer::print_record(&record.read(run)?.view, &args.answer, form)
        }
    }
}
