//! Checks of the section `[saturate]`.

use base::{Diagnostic, Span};

use super::arm::ArmDraft;
use super::capacity::VariedLoad;
use super::capacity_section::{check_load_grows, load_number, parse_varied_load, too_many_clients};
use super::experiment::Arm;
use super::fields::Fields;
use super::metric::CpuOwner;
use super::percent;
use super::range::Range;
use super::saturate::{SaturateQuestion, Saturated};
use super::vary::Vary;
use crate::keys::SectionKind;
use crate::plan::Plan;
use crate::read::{Excerpt, File, Section};
use crate::sink::Sink;
use crate::wording::{enumeration, nearest, quoted};

/// First default value of a rate, in requests per second. Each further value is twice the value
/// before it.
const FIRST_RATE: f64 = 100.0;

/// Largest default number of clients, if `max-connections` allows as many.
const MOST_CLIENTS: f64 = 512.0;

/// Number of default values of a rate.
const RATES: usize = 11;

const HELP: &str = "write for example `until = cpu(database) >= 95%` or `until = throughput gains \
                    < 2%`";

/// A search for saturation that is read but not yet checked against the workload.
pub(super) struct SaturateDraft<'f> {
    vary: Option<(VariedLoad, Excerpt<'f>)>,
    /// The values with their place; `None` for the defaults.
    values: Option<(Vec<f64>, Excerpt<'f>)>,
    until: Option<Saturated>,
    /// Position of the header.
    span: Span,
}

/// Reads the keys of `[saturate]`.
pub(super) fn read<'f>(
    file: &File<'_>,
    section: &'f Section<'f>,
    sink: &mut Sink,
) -> SaturateDraft<'f> {
    let fields = Fields::of(file, section, SectionKind::Saturate, sink);
    for (key, example) in
        [("vary", "vary = concurrency(read)"), ("until", "until = cpu(database) >= 95%")]
    {
        if !section.entries.iter().any(|entry| entry.key().text() == key) {
            sink.error(|| {
                Diagnostic::error(section.span, format!("[saturate] has no `{key}`"))
                    .help(format!("write for example `{example}`"))
            });
        }
    }
    let vary = fields.one("vary").and_then(|value| {
        let load = ok_or_report(parse_varied_load(value), sink)?;
        Some((load, value))
    });
    let is_whole = vary.as_ref().is_some_and(|(load, _)| load.is_whole());
    let values = fields.one("values").and_then(|value| {
        let values = ok_or_report(values(value, is_whole).map_err(|error| *error), sink)?;
        Some((values, value))
    });
    let until = fields.one("until").and_then(|value| ok_or_report(parse_until(value), sink));
    SaturateDraft { vary, values, until, span: section.span }
}

/// Returns the value of a result; reports an error, and then returns `None`.
fn ok_or_report<T>(result: Result<T, Diagnostic>, sink: &mut Sink) -> Option<T> {
    result.map_err(|error| sink.error(|| error)).ok()
}

/// Returns the search of a printed experiment, which names all values.
pub(super) fn outline(draft: &SaturateDraft<'_>) -> Option<SaturateQuestion> {
    let ((vary, _), (values, _)) = (draft.vary.as_ref()?, draft.values.as_ref()?);
    Some(SaturateQuestion { vary: vary.clone(), values: values.clone(), until: draft.until? })
}

impl<'f> SaturateDraft<'f> {
    /// Returns the load that varies.
    pub(super) fn load(&self) -> Option<VariedLoad> {
        self.vary.as_ref().map(|(load, _)| load.clone())
    }

    /// Returns the key that varies, if the workload has it; reports a key that the workload lacks.
    pub(super) fn vary(&self, workload: &File<'_>, sink: &mut Sink) -> Option<Vary> {
        let (_, place) = self.vary.as_ref()?;
        ok_or_report(Vary::parse(*place, workload).map_err(|error| *error), sink)
    }

    /// Returns the search on a baseline with this plan; reports values that the plan does not
    /// allow.
    pub(super) fn question(&self, baseline: &Plan, sink: &mut Sink) -> Option<SaturateQuestion> {
        let (vary, _) = self.vary.as_ref()?;
        let most = f64::from(baseline.max_connections);
        let values = match &self.values {
            Some((values, _)) => values.clone(),
            None => defaults(vary, most),
        };
        if let (Some((_, place)), Some(last), true) = (&self.values, values.last(), vary.is_whole())
            && *last > most
        {
            sink.error(|| too_many_clients(*place, *last, most));
        }
        if values.len() < 2 {
            sink.error(|| {
                let message = format!("`max-connections` = {most} leaves one number of clients");
                Diagnostic::error(self.span, message)
                    .help("raise `max-connections` in the workload file: the load must grow")
            });
        }
        Some(SaturateQuestion { vary: vary.clone(), values, until: self.until? })
    }

    /// Returns the draft of an arm at the largest load.
    pub(super) fn at_largest(&self, arm: &Arm, question: &SaturateQuestion) -> ArmDraft {
        let span =
            self.values.as_ref().map_or(self.span, |(_, place)| place.span().unwrap_or(self.span));
        let value = question.values.last().copied().unwrap_or_default();
        let Arm { name, differences, .. } = arm.with_load(&question.vary, value);
        let spans = vec![Some(span); differences.len()];
        ArmDraft { name, span, differences, spans, is_sound: true }
    }

    /// Reports a load that does not fit the plan of an arm.
    pub(super) fn check(&self, plan: &Plan, sink: &mut Sink) {
        if let Some((load, place)) = &self.vary
            && let Err(error) = check_load_grows(load, *place, plan)
        {
            sink.error_once(error);
        }
    }
}

/// Returns the default values, each twice the one before, for a file that names none.
fn defaults(vary: &VariedLoad, most_clients: f64) -> Vec<f64> {
    match vary {
        VariedLoad::Rate { .. } => doubling(FIRST_RATE).take(RATES).collect(),
        VariedLoad::Concurrency { .. } => {
            let most = most_clients.min(MOST_CLIENTS);
            doubling(1.0).take_while(|clients| *clients <= most).collect()
        }
    }
}

fn doubling(first: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(first), |value| Some(value * 2.0))
}

/// Parses the values of the steps.
fn values(item: Excerpt<'_>, is_whole: bool) -> Result<Vec<f64>, Box<Diagnostic>> {
    let mut values: Vec<f64> = Vec::new();
    for value in Range::parse(item)?.values()? {
        let example = "write for example `values = 1..128 x2`";
        let number = load_number(&value.text, is_whole)
            .map_err(|refused| Box::new(value.place.error(refused).help(example)))?;
        if let Some(last) = values.last().filter(|last| number <= **last) {
            let message = format!("{} does not exceed the value before it, {last}", value.text);
            let help = "write the smallest value first: the load grows until the condition holds";
            return Err(Box::new(value.place.error(message).help(help)));
        }
        values.push(number);
    }
    if values.len() < 2 {
        let error = item.error("a search for saturation needs at least two values");
        return Err(Box::new(error.help("write for example `1, 2, 4` or `1..128 x2`")));
    }
    Ok(values)
}

/// Parses `cpu(OWNER) >= N%` or `throughput gains < N%`.
fn parse_until(value: Excerpt<'_>) -> Result<Saturated, Diagnostic> {
    let text = value.text();
    if let Some((left, right)) = text.split_once(">=")
        && let Some(owner) = left.trim().strip_prefix("cpu(").and_then(|it| it.strip_suffix(')'))
    {
        let owner = parse_owner(value, owner.trim())?;
        return Ok(Saturated::Cpu { owner, least: bound(value, right)? });
    }
    if let Some((left, right)) = text.split_once('<')
        && left.split_whitespace().eq(["throughput", "gains"])
    {
        return Ok(Saturated::Gain { least: bound(value, right)? });
    }
    let message = format!(
        "unknown value {} for `until`; expected cpu(OWNER) >= N% or throughput gains < N%",
        quoted(text)
    );
    Err(value.error(message).help(HELP))
}

/// Returns the component with a name.
fn parse_owner(value: Excerpt<'_>, name: &str) -> Result<CpuOwner, Diagnostic> {
    let names = CpuOwner::ALL.map(CpuOwner::name);
    let found = CpuOwner::ALL.into_iter().find(|owner| owner.name() == name);
    found.ok_or_else(|| {
        let expected = enumeration(&names, "or");
        let message = format!("unknown component {} of cpu(); expected {expected}", quoted(name));
        match nearest(name, names) {
            Some(near) => value.error(message).help(format!("did you mean `cpu({near})`?")),
            None => value.error(message).help(HELP),
        }
    })
}

/// Parses the bound of a condition: a percentage above 0 and at most 100.
fn bound(value: Excerpt<'_>, text: &str) -> Result<f64, Diagnostic> {
    let text = text.trim();
    match percent::share(value, text) {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        Ok(_) => {
            let message = format!("{} is not above 0 % and at most 100 %", quoted(text));
            Err(value.error(message).help(HELP))
        }
        Err(error) => Err(error.help(HELP)),
    }
}
