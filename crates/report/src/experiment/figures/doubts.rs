//! The runs of a figure that are not VALID: a slash through a dot marks a SUSPECT run, and a cross
//! an INVALID one, in every figure of an experiment.

use analyze::compare::RunVerdict;
use analyze::{CheckKind, Status};

use crate::figure::{Ink, LegendEntry, Mark, Point, Swatch, Symbol};

/// The positions of the runs that are not VALID.
#[derive(Default)]
pub(super) struct Doubts {
    suspect: Vec<Point>,
    invalid: Vec<Point>,
}

impl Doubts {
    /// Adds a run with this verdict, or a point that represents several runs.
    pub(super) fn add(&mut self, at: Point, verdict: Status) {
        match verdict {
            Status::Suspect => self.suspect.push(at),
            Status::Invalid => self.invalid.push(at),
            Status::Pass | Status::NotPossible => {}
        }
    }

    /// Returns the marks and the legend entry of the SUSPECT runs, and those of the INVALID runs;
    /// `None` for a verdict that no run has.
    pub(super) fn marks(self) -> [Option<(Mark, LegendEntry)>; 2] {
        let mark = |points: Vec<Point>, ink, symbol, text: &str| {
            let entry = LegendEntry::new(ink, Swatch::Symbol(symbol), text);
            (!points.is_empty()).then_some((Mark::Symbols { ink, symbol, points }, entry))
        };
        [
            mark(self.suspect, Ink::Plain, Symbol::Slash, "a run is SUSPECT"),
            mark(self.invalid, Ink::Bad, Symbol::Cross, "a run is INVALID"),
        ]
    }

    /// Draws the marks above all others, and adds them to the legend.
    pub(super) fn write(self, marks: &mut Vec<Mark>, legend: &mut Vec<LegendEntry>) {
        let (above, entries): (Vec<Mark>, Vec<LegendEntry>) =
            self.marks().into_iter().flatten().unzip();
        marks.extend(above);
        legend.extend(entries);
    }
}

/// Returns the names of the checks with this status, in parentheses; empty if no check has it.
pub(super) fn checks<'v>(
    verdicts: impl IntoIterator<Item = &'v RunVerdict>,
    status: Status,
) -> String {
    let found: Vec<CheckKind> = verdicts.into_iter().flat_map(|it| it.with(status)).collect();
    in_parentheses(&found)
}

/// Returns the names of checks in parentheses, each once; empty if there is no check.
pub(super) fn in_parentheses(found: &[CheckKind]) -> String {
    let names = CheckKind::ALL.into_iter().filter(|kind| found.contains(kind));
    let names: Vec<&str> = names.map(CheckKind::name).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}
