//! `assay workloads`: the workload files that come with the program.

use crate::args::WorkloadsArgs;
use crate::builtin::{self, Builtin};
use crate::commands::answer::print;
use crate::complain::Complaint;
use crate::exit::Exit;

pub(crate) fn workloads(args: &WorkloadsArgs) -> Result<Exit, Complaint> {
    match &args.name {
        None => print(&list())?,
        Some(name) => print(builtin::find(name).ok_or_else(|| unknown(name))?.text)?,
    }
    Ok(Exit::Success)
}

/// Returns a line per file with its name and summary.
fn list() -> String {
    let width = builtin::ALL.iter().map(|builtin| builtin.name().len()).max().unwrap_or(0);
    let line = |builtin: &Builtin| {
        let summary = builtin.summary().unwrap_or("(a file that the workload above reads)");
        format!("{:width$}  {summary}\n", builtin.name())
    };
    builtin::ALL.iter().map(line).collect()
}

fn unknown(name: &str) -> Complaint {
    let meant = builtin::nearest(name);
    let meant = meant.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Complaint::new(format!("no workload `{name}` comes with the program{meant}"))
        .help("`assay workloads` lists those that do")
}
