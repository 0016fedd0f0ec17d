//! `assay selftest`: checks the program's measurements against known values.

use lab::selftest::{self, Depth};

use crate::args::SelftestArgs;
use crate::commands::answer::{print, print_document, style};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::findings::{SelftestFindings, SelftestResult};
use crate::stderr;

pub(crate) fn selftest(args: &SelftestArgs) -> Result<Exit, Complaint> {
    let depth = if args.quick { Depth::Quick } else { Depth::Standard };
    let mut show_step = |name: &str| {
        if !args.quiet {
            stderr::line(&format!("{name} …"));
        }
    };
    let tested = if args.real {
        let found = selftest::over_the_wire(depth, &mut show_step);
        let found = found.map_err(|error| Complaint::of(&error))?;
        SelftestResult { depth: None, found: SelftestFindings::Oracles(found) }
    } else if args.mutations {
        let found = selftest::mutations(depth, &mut show_step);
        SelftestResult { depth: Some(depth), found: SelftestFindings::Mutations(found) }
    } else {
        let found = selftest::oracles(depth, &mut show_step);
        SelftestResult { depth: Some(depth), found: SelftestFindings::Oracles(found) }
    };
    if args.json {
        print_document(&tested.json())?;
    } else {
        print(&tested.text(&style()))?;
    }
    Ok(if tested.has_passed() { Exit::Success } else { Exit::Invalid })
}
