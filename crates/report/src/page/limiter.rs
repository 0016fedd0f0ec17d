//! The limiter with its evidence, other possible limiters, and the sources that were not observed.

use analyze::limiting::UnobservedSource;
use analyze::{Candidate, Component, EvidenceNumber, Limiter, ObservedComponents};

use super::remark::{Remark, Tone};
use crate::figures::figures_with_evidence;
use crate::number::{fixed, percent};
use crate::view::View;
use crate::words;

/// Maximum number of other possible limiters that are listed.
const MOST_CANDIDATES: usize = 2;

/// Prefixes of the names of sources without which a limiter cannot be found.
const NEEDED_SOURCES: [&str; 6] =
    ["server", "sessions", "database", "background", "generator", "counters"];

/// The limiter of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct LimiterSection {
    /// Component that limited the result.
    pub component: Component,
    /// Beginning of a sentence that names the component.
    pub lead: &'static str,
    /// Reason in one sentence.
    pub because: String,
    /// Numbers behind the reason: names and values.
    pub evidence: Vec<EvidenceNumber>,
    /// Prefixes of the names of the figures that show the reason, the best first.
    pub figures: &'static [&'static str],
    /// Action that would raise the limit.
    pub relief: Option<&'static str>,
    /// All possible limiters, the likeliest first.
    pub ranked: Vec<CandidateRow>,
    /// Observations of all components.
    pub seen: ObservedComponents,
    /// Sources that could not be observed.
    pub unseen: Vec<UnseenSource>,
    /// Answer in words: the limiter, the advice for it, other possible limiters, and the sources of
    /// evidence that are missing.
    pub remarks: Vec<Remark>,
    /// Answer in words, without the other possible limiters.
    pub short_remarks: Vec<Remark>,
}

/// A possible limiter: a component that takes the time of requests, or has no capacity left.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateRow {
    /// The component.
    pub component: Component,
    /// Weight of the suspicion, 0 to 1: depending on the component, the used fraction of its
    /// capacity, or the fraction of the requests' time that was spent in it.
    pub share: f64,
    /// Reason in one sentence.
    pub because: String,
    /// Numbers behind the reason: names and values.
    pub evidence: Vec<EvidenceNumber>,
    /// Action that would raise the limit.
    pub relief: Option<&'static str>,
}

/// A source that could not be observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnseenSource {
    /// Name of the source.
    pub source: String,
    /// Reason.
    pub reason: String,
}

impl LimiterSection {
    pub(super) fn of(view: &View) -> LimiterSection {
        let limiter = &view.summary.limiter;
        LimiterSection {
            component: limiter.component,
            lead: words::limiter_lead(limiter.component),
            because: words::limiter_reason(&limiter.finding),
            evidence: limiter.evidence.clone(),
            figures: figures_with_evidence(limiter.component),
            relief: view.relief(limiter.component),
            ranked: limiter.ranked.iter().map(|it| CandidateRow::of(it, view)).collect(),
            seen: limiter.seen.clone(),
            unseen: limiter.unseen.iter().map(UnseenSource::of).collect(),
            remarks: remarks(view, limiter),
            short_remarks: short_remarks(view, limiter),
        }
    }
}

impl CandidateRow {
    fn of(candidate: &Candidate, view: &View) -> CandidateRow {
        CandidateRow {
            component: candidate.component,
            share: candidate.share,
            because: words::limiter_reason(&candidate.finding),
            evidence: candidate.evidence.clone(),
            relief: view.relief(candidate.component),
        }
    }
}

impl UnseenSource {
    pub(super) fn of(unseen: &UnobservedSource) -> UnseenSource {
        UnseenSource {
            source: words::unseen_source(unseen).to_owned(),
            reason: words::reason(unseen).into_owned(),
        }
    }
}

fn remarks(view: &View, limiter: &Limiter) -> Vec<Remark> {
    let mut remarks = answer(view, limiter);
    for candidate in limiter.ranked.iter().skip(1).take(MOST_CANDIDATES) {
        let share = percent(candidate.share);
        let because = words::limiter_reason(&candidate.finding);
        let name = candidate.component.name();
        remarks.push(Remark::note(format!("Also, {share}: {because} ({name}).")));
    }
    if limiter.component == Component::Unknown {
        remarks.extend(observations(&limiter.seen));
    }
    remarks.extend(missing_sources(view, limiter));
    remarks
}

fn short_remarks(view: &View, limiter: &Limiter) -> Vec<Remark> {
    let mut remarks = answer(view, limiter);
    if limiter.component == Component::Unknown {
        remarks.extend(observations(&limiter.seen));
    }
    remarks.extend(missing_sources(view, limiter));
    remarks
}

/// Returns the limiter with its reason and the advice for it.
fn answer(view: &View, limiter: &Limiter) -> Vec<Remark> {
    let because = words::limiter_reason(&limiter.finding);
    let lead = words::limiter_lead(limiter.component);
    let mut remarks = vec![Remark::sentence(Tone::Strong, lead, format!(": {because}"))];
    if let Some(relief) = view.relief(limiter.component) {
        remarks.push(Remark::note(format!("What would help: {relief}.")));
    }
    remarks
}

/// Returns remarks on the sources that were not observed. Sources whose loss is not always reported
/// are named only if no limiter was found.
fn missing_sources(view: &View, limiter: &Limiter) -> Vec<Remark> {
    let (needed, others): (Vec<_>, Vec<_>) =
        limiter.unseen.iter().partition(|it| is_always_reported(view, words::unseen_source(it)));
    let note = |it: &UnobservedSource| {
        let (source, reason) = (words::unseen_source(it), words::reason(it));
        Remark::note(format!("Incomplete data for {source}: {reason}."))
    };
    let mut remarks: Vec<Remark> = needed.into_iter().map(note).collect();
    let names: Vec<&str> = others.into_iter().map(words::unseen_source).collect();
    if limiter.component == Component::Unknown && !names.is_empty() {
        remarks.push(Remark::note(format!("Not seen: {}.", names.join(", "))));
    }
    remarks
}

/// Returns true if the loss of this source is always reported. The loss of any other is reported
/// only if no limiter was found.
pub(super) fn is_always_reported(view: &View, what: &str) -> bool {
    view.names_host(what) || NEEDED_SOURCES.iter().any(|needed| what.starts_with(needed))
}

/// Returns the observations for an unknown limiter: a note on utilisations, one on waits and one on
/// other programs, as far as there are any.
pub(super) fn observations(seen: &ObservedComponents) -> impl Iterator<Item = Remark> {
    let utilisations = seen.utilisations.iter();
    let utilisations = utilisations
        .map(|(it, share)| format!("{} {:.0} %", words::utilised_name(it), share * 100.0));
    let waits = seen.waits.iter().map(|(name, sessions)| format!("{name} {}", fixed(*sessions, 1)));
    let programs = seen.programs.iter().map(|program| match &program.host {
        Some(host) => format!("{} on {host}", words::other_program(program)),
        None => words::other_program(program),
    });
    let all = [
        ("Utilisation", utilisations.collect::<Vec<_>>()),
        ("Waits of the active sessions, by their mean number", waits.collect()),
        ("Other programs, by the processors that they used", programs.collect()),
    ];
    let all = all.into_iter().filter(|(_, words)| !words.is_empty());
    all.map(|(lead, words)| Remark::note(format!("{lead}: {}.", words.join(", "))))
}
