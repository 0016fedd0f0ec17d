//! `assay doctor`: checks machine and server for problems that would distort a run.

use analyze::doctor::UnreachedServer;

use crate::args::DoctorArgs;
use crate::commands::answer::{print, print_document, style};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::reading::target_of;

/// Examines the machine and, if a URL is given, the servers of the URL. Only a server that cannot
/// be reached is a failure; findings are not.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Complaint> {
    let target = target_of(args.url.as_ref())?;
    let examined = lab::examine(target.as_ref()).map_err(|error| Complaint::of(&error))?;
    let unreached = &examined.input.unreached;
    if !unreached.is_empty() && examined.input.servers.is_empty() {
        unreached.iter().for_each(|server| complaint(server).print());
        return Ok(Exit::Unreachable);
    }
    if args.json {
        let target = target.map(|target| target.to_string());
        print_document(&report::diagnosis_json(
            target.as_deref(),
            &examined.input,
            &examined.diagnosis,
        ))?;
    } else {
        print(&report::diagnosis(&examined.input, &examined.diagnosis, &style()))?;
    }
    Ok(if unreached.is_empty() { Exit::Success } else { Exit::Unreachable })
}

/// Returns the complaint about a server that cannot be reached.
fn complaint(server: &UnreachedServer) -> Complaint {
    let UnreachedServer { host, reason } = server;
    Complaint::new(match host {
        Some(host) => format!("the host {host} could not be reached: {reason}"),
        None => format!("the target could not be reached: {reason}"),
    })
}
