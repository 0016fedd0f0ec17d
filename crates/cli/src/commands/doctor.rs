//! `assay doctor`: checks machine and server for problems that would distort a run.

use lab::OpenError;

use crate::args::DoctorArgs;
use crate::commands::answer::{print, print_document, style};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::reading::target_of;

/// Examines the machine and an optional server; findings are not a failure.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Complaint> {
    let target = target_of(args.url.as_ref())?;
    let examined = match lab::examine(target.as_ref()) {
        Ok(examined) => examined,
        Err(OpenError::Refused(error)) => return Err(Complaint::of(&error)),
        Err(OpenError::Unreachable(error)) => {
            Complaint::new(format!("the target could not be reached: {error}")).print();
            return Ok(Exit::Unreachable);
        }
    };
    if args.json {
        let target = target.map(|target| target.to_string());
        print_document(&report::diagnosis_json(
            target.as_deref(),
            &examined.input,
            &examined.diagnosis,
        ))?;
    } else {
        print(&report::diagnosis(&examined.diagnosis, &style()))?;
    }
    Ok(Exit::Success)
}
