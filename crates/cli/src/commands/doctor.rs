//! `assay doctor`: checks machine and server for problems that would distort a run.

use lab::OpenError;

use crate::args::DoctorArgs;
use crate::commands::answer::{print, print_document, style};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::reading::warn_of_password;

/// Examines the machine and an optional server; findings are not a failure.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Complaint> {
    warn_of_password(args.url.as_ref());
    let target = match &args.url {
        None => None,
        Some(Ok(target)) => Some(target),
        Some(Err(error)) => return Err(Complaint::new(format!("the URL: {error}"))),
    };
    let examined = match lab::examine(target) {
        Ok(examined) => examined,
        Err(OpenError::Refused(error)) => return Err(Complaint::of(&error)),
        Err(OpenError::Unreachable(error)) => {
            Complaint::new(format!("the target could not be reached: {error}")).print();
            return Ok(Exit::Unreachable);
        }
    };
    if args.json {
        let target = target.map(ToString::to_string);
        print_document(&report::diagnosis_json(
            target.as_deref(),
            &examined.surroundings,
            &examined.diagnosis,
        ))?;
    } else {
        print(&report::diagnosis(&examined.diagnosis, &style()))?;
    }
    Ok(Exit::Success)
}
