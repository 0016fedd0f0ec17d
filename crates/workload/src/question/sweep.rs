//! The section `[sweep]`: the values that a key takes, and the rule for the best one.

use base::units::grouped;
use base::{Diagnostic, Nanos, Span};

use super::arm::printable_name;
use super::best::{self, BestRule};
use super::difference::Difference;
use super::experiment::Arm;
use super::fields::Fields;
use super::range::{Range, RangeValue};
use super::vary::Vary;
use crate::keys::SectionKind;
use crate::read::{Excerpt, File, Section};
use crate::sink::Sink;
use crate::wording::quoted;

/// Default number of repeats: the smallest number that gives a useful confidence interval.
const REPEATS: u32 = 3;

/// Maximum number of repeats.
const MOST_REPEATS: u32 = 1_000;

/// Maximum number of points of all arms together.
const MOST_CELLS: u64 = 1_000;

/// The outline of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepOutline {
    /// The key that takes the values, as a file writes it: `concurrency(read)`.
    pub vary: String,
    /// Its values, as a file writes them.
    pub values: Vec<String>,
    /// Runs of each arm at each point.
    pub repeats: u32,
    /// The rule for the best point.
    pub best: Option<BestRule>,
}

impl SweepOutline {
    /// Returns the key and the job if the sweep varies a pacing key, such as `concurrency(read)`.
    pub fn pacing_key(&self) -> Option<(&str, &str)> {
        self.vary.strip_suffix(')')?.split_once('(')
    }
}

/// The keys of `[sweep]`.
pub(super) struct SweepDraft<'f> {
    /// The value of `vary`: `WHAT: RANGE`.
    pub(super) vary: Excerpt<'f>,
    pub(super) repeats: u32,
    /// The rule with its place.
    pub(super) best: Option<(BestRule, Excerpt<'f>)>,
}

/// The key that a sweep varies, with its values.
pub(super) struct SweptValues<'f> {
    pub(super) vary: Vary,
    pub(super) values: Vec<RangeValue<'f>>,
}

impl SweptValues<'_> {
    /// Returns the values as a file writes them.
    pub(super) fn texts(&self) -> Vec<String> {
        self.values.iter().map(|value| value.text.clone()).collect()
    }
}

/// Reads the keys of a section; `None` if it does not name a varied key.
pub(super) fn read<'f>(
    file: &File<'_>,
    section: &'f Section<'f>,
    sink: &mut Sink,
) -> Option<SweepDraft<'f>> {
    let fields = Fields::of(file, section, SectionKind::Sweep, sink);
    let repeats = fields.one("repeats").map_or(REPEATS, |value| repeats(value, sink));
    let best = fields.one("best").and_then(|value| match best::rule(value) {
        Ok(rule) => Some((rule, value)),
        Err(error) => {
            sink.error(|| *error);
            None
        }
    });
    let Some(vary) = fields.one("vary") else {
        if !section.entries.iter().any(|entry| entry.key().text() == "vary") {
            sink.error(|| {
                Diagnostic::error(section.span, "[sweep] has no `vary`")
                    .help("write for example `vary = concurrency(read): 1..128 x2`")
            });
        }
        return None;
    };
    Some(SweepDraft { vary, repeats, best })
}

fn repeats(value: Excerpt<'_>, sink: &mut Sink) -> u32 {
    let text = value.text();
    let message = match text.parse::<u32>() {
        Ok(number @ 1..=MOST_REPEATS) => return number,
        Ok(0) => "a sweep without repeats has no runs".to_owned(),
        Ok(_) => format!("there are at most {MOST_REPEATS} repeats"),
        Err(_) => format!("{} is not a number of repeats", quoted(text)),
    };
    sink.error(|| value.error(message).help("write for example `repeats = 3`"));
    REPEATS
}

impl<'f> SweepDraft<'f> {
    /// Returns the outline of the sweep, which needs no workload; `None` if there are no values.
    pub(super) fn outline(self) -> Option<SweepOutline> {
        let (what, range) = self.vary.split_once(b':')?;
        let values = Range::parse(range).and_then(|range| range.values()).ok()?;
        let values: Vec<String> = values.into_iter().map(|value| value.text).collect();
        let best = self.best.map(|(rule, _)| rule);
        Some(SweepOutline { vary: what.text().to_owned(), values, repeats: self.repeats, best })
    }

    /// Returns the points. `arms` is the number of arms, `run` the longest duration of a run (for
    /// messages), and `workload` the parsed workload file.
    ///
    /// # Errors
    /// The workload does not have the varied key, the range of values is invalid, there are fewer
    /// than two values, or all arms together have more than [`MOST_CELLS`] points.
    pub(super) fn points(
        &self,
        arms: usize,
        run: Option<Nanos>,
        workload: &File<'_>,
    ) -> Result<SweptValues<'f>, Box<Diagnostic>> {
        let (vary, range) = Vary::split(self.vary, workload)?;
        let place = range;
        let range = Range::parse(range)?;
        let arm_points = range.count().saturating_mul(arms as u64);
        if arm_points > MOST_CELLS {
            return Err(Box::new(too_many(place, arm_points, self.repeats, run)));
        }
        let values = range.values()?;
        if values.len() < 2 {
            let error = place.error("a sweep needs at least two values");
            return Err(Box::new(error.help("write for example `1, 2, 4` or `1..128 x2`")));
        }
        Ok(SweptValues { vary, values })
    }
}

fn too_many(place: Excerpt<'_>, arm_points: u64, repeats: u32, run: Option<Nanos>) -> Diagnostic {
    let message = format!(
        "a sweep of {} points is too large: at most {}",
        grouped(arm_points),
        grouped(MOST_CELLS)
    );
    let runs = arm_points.saturating_mul(u64::from(repeats));
    let time = run.map(|run| format!(" and take {}", duration_text(runs, run))).unwrap_or_default();
    let help = format!("it would make {} runs{time}; take larger steps", grouped(runs));
    place.error(message).help(help)
}

/// Returns the duration of runs in the largest unit in which it is at least 2, or else in minutes.
fn duration_text(runs: u64, run: Nanos) -> String {
    let seconds = runs as f64 * run.as_secs_f64();
    let units = [("years", 31_557_600.0), ("days", 86_400.0), ("hours", 3_600.0)];
    match units.into_iter().find(|(_, size)| seconds >= 2.0 * size) {
        Some((unit, size)) => format!("{} {unit}", grouped((seconds / size) as u64)),
        None => format!("{:.0} minutes", seconds / 60.0),
    }
}

/// Reports an arm that sets the key that the section called `section` varies.
pub(super) fn reject_fixed(section: &str, vary: &Vary, arm: &Arm, span: Span, sink: &mut Sink) {
    if let Some(difference) = arm.differences.iter().find(|one| vary.is_set_by(one)) {
        sink.error(|| {
            let key = match difference {
                Difference::Url(_) => format!("{} in its `url`", quoted(&vary.to_string())),
                other => quoted(&other.key()),
            };
            let message =
                format!("[arm {}] sets {key}, which [{section}] varies", printable_name(&arm.name));
            Diagnostic::error(span, message).help("remove it there, or vary another key")
        });
    }
}
