//! The report of a comparison for people.

use std::fmt::Write as _;

use super::answer_text::AnswerText;
use super::comparison::ComparisonView;
use super::view::DifferenceView;
use super::{bets, lines, longest_times, objection, sentence, text};
use crate::text::Style;
use analyze::compare::{ArmId, Conclusion, JudgedLimit, RegressionOutcome};

/// Formats a comparison: the sentences first, then groups with their validity, differences, limits,
/// bets, limiters, metrics and pairs.
pub fn comparison_text(view: &ComparisonView, style: &Style) -> String {
    let mut out = AnswerText::new(style);
    for sentence in answer(view) {
        out.sentence(0, &sentence);
    }
    if view.is_unpaired() {
        out.sentence(0, NOT_INTERLEAVED);
    }
    if view.has_several_differences {
        out.sentence(0, lines::SEVERAL_DIFFERENCES);
    }
    groups(&mut out, view);
    validity(&mut out, view);
    differences(&mut out, view);
    out.labelled("limit", view.limits.iter().map(|one| limit(view, one)));
    for arm in view.arms() {
        out.labelled("bet", bets::of_arm(arm));
        for write in [text::limiters, text::metrics, text::pairs] {
            write(&mut out, &view.groups, arm);
        }
    }
    out.into_text()
}

/// Remark on runs that were not interleaved.
pub(super) const NOT_INTERLEAVED: &str = "Not interleaved: the changes contain the drift of \
                                          the machine between the groups; an experiment with both \
                                          as arms excludes it";

/// Returns the sentences of the answer.
pub(super) fn answer(view: &ComparisonView) -> Vec<String> {
    if view.is_refused() {
        let refused = view.objections.iter().filter(|one| !one.is_accepted);
        let sentence = |one: &super::ObjectionView| {
            let group = &view.groups[one.objection.group].name;
            format!("Not compared: {}", objection::reason(&one.objection, group))
        };
        return refused.map(sentence).collect();
    }
    let repetitions = view.repetitions.iter().flat_map(|(record, repetition)| {
        let sentence = format!("{record}: {}", repetition.sentence());
        let lines = repetition.lines().into_iter().map(|line| format!("  {line}"));
        std::iter::once(sentence).chain(lines)
    });
    let changes = view.arms().flat_map(|arm| {
        let declared = arm.changes.iter().filter(|change| !change.is_exploratory);
        declared.map(move |change| {
            let [baseline, name] = [arm.baseline, arm.arm].map(|of| &view.groups[of.index()].name);
            sentence::answer(name, baseline, change)
        })
    });
    let single = view.is_without_conclusion().then(|| REPEAT_RUNS.to_owned());
    let are_single = view.groups.iter().all(|group| group.validity.runs == 1);
    let unquoted = (are_single && view.groups.len() > 2).then(|| QUOTE_PATTERNS.to_owned());
    let longest = longest_times::sentences(view.declared_changes());
    repetitions.chain(changes).chain(longest).chain(single).chain(unquoted).collect()
}

/// Remedy for many groups of one run each.
const QUOTE_PATTERNS: &str = "Each record is a group of its own: to compare groups of runs, quote \
                              their patterns, as in `assay compare 'main-*.assay' 'pr-*.assay'`";

/// Remedy for a group of one run.
const REPEAT_RUNS: &str =
    "Repeat the runs, at least 6 of each, or run an experiment with both as arms";

fn groups(out: &mut AnswerText, view: &ComparisonView) {
    let _ = writeln!(out);
    for (place, group) in view.groups.iter().enumerate() {
        let role = if view.baselines[place] == ArmId(place) { "baseline" } else { "group" };
        let differences = lines::differences(group);
        let differences = match group.differences.is_empty() {
            true => String::new(),
            false => format!(": {differences}"),
        };
        out.entry(role, &format!("{}{differences}", group.name));
    }
}

fn validity(out: &mut AnswerText, view: &ComparisonView) {
    let _ = writeln!(out, "\n{}", view.verdict_in_words());
    for group in &view.groups {
        out.sentence(2, &format!("{}: {}", group.name, lines::counts(group)));
    }
    for one in &view.objections {
        let kind = one.objection.kind();
        let reason = objection::reason(&one.objection, &view.groups[one.objection.group].name);
        match one.is_accepted {
            true => out.sentence(2, &format!("accepted ({}): {reason}", kind.name())),
            false => {
                out.sentence(2, &format!("{}: {reason}", kind.name()));
                let remedy = objection::remedy(&one.objection.problem);
                out.sentence(4, &format!("{remedy}; or accept it: --despite {}", kind.name()));
            }
        }
    }
    lines::effects(&view.groups).iter().for_each(|sentence| out.sentence(2, sentence));
    for one in &view.undeclared {
        out.sentence(2, &lines::undeclared(&view.groups, one));
    }
    for sentence in view.machine_lines() {
        out.sentence(2, &sentence);
    }
}

fn differences(out: &mut AnswerText, view: &ComparisonView) {
    let named = view.differences.iter().map(|one| lines::difference(&view.groups, one));
    out.labelled("differs", named);
    let is_of = |one: &&DifferenceView, arm: ArmId| one.arm == arm && one.cause.is_none();
    let of_one = |arm: ArmId| view.differences.iter().filter(|one| is_of(one, arm)).count();
    if view.differences.iter().any(|one| of_one(one.arm) > 1) {
        out.entry("", "Several things differ: the cause of a change is unknown");
    }
}

/// Returns a limit with its outcome: `throughput < -3%: exceeded in pr.assay (−16.8 %, 95 % CI …)`.
pub(super) fn limit(view: &ComparisonView, one: &JudgedLimit) -> String {
    let name = sentence::name_as_code(&view.groups[one.arm.index()].name);
    let compared = one.change.as_ref().and_then(|change| change.compared.as_ref().ok());
    let outcome = match one.outcome {
        Ok(RegressionOutcome::Exceeded) => format!("exceeded in {name}"),
        Ok(RegressionOutcome::Within) => format!("not exceeded in {name}"),
        Ok(RegressionOutcome::Undecided) => {
            let reason = undecided_reason(compared.map(|compared| compared.conclusion));
            format!("undecided in {name}: {reason}")
        }
        Err(reason) => {
            return format!("{}: not judged: {}", one.limit, sentence::not_compared(reason));
        }
    };
    let change = one.change.as_ref();
    let change = change.and_then(|change| Some((change.compared.as_ref().ok()?, change.alpha)));
    let scale = one.limit.metric.quantity.scale();
    let measured = change.map(|(compared, alpha)| {
        let interval = compared.interval.map(|interval| {
            format!(", {} CI {}", sentence::level(alpha), sentence::range(interval, scale))
        });
        format!(" ({}{})", sentence::signed(compared.change, scale), interval.unwrap_or_default())
    });
    format!("{}: {outcome}{}", one.limit, measured.unwrap_or_default())
}

/// Returns the reason why a limit is undecided.
fn undecided_reason(conclusion: Option<Conclusion>) -> &'static str {
    match conclusion {
        Some(Conclusion::NoScatter) => sentence::NO_SCATTER,
        Some(Conclusion::SingleRun) => {
            "a single run has no scatter, so there is no interval; more runs may decide"
        }
        Some(
            Conclusion::Better
            | Conclusion::Worse
            | Conclusion::Equivalent
            | Conclusion::Undecided { .. },
        )
        | None => "the interval contains the limit; more runs may decide",
    }
}
