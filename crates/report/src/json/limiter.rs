//! The limiter and the observations of each component in `assay.summary/1`.

use analyze::{EvidenceNumber, ObservedComponents, OtherProgram};
use serde::Serialize;

use super::finite::finite;
use crate::page::{LimiterSection, SuspectRow, UnseenSource};
use crate::words::utilised;

#[derive(Serialize)]
pub(super) struct LimiterOf {
    component: &'static str,
    because: String,
    evidence: Vec<Number>,
    relief: Option<&'static str>,
    ranked: Vec<SuspectOf>,
    seen: SeenOf,
    unseen: Vec<Unseen>,
}

#[derive(Serialize)]
struct SuspectOf {
    component: &'static str,
    share: f64,
    because: String,
    evidence: Vec<Number>,
    relief: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct SeenOf {
    utilisations: Vec<Number>,
    waits: Vec<Number>,
    programs: Vec<ProgramOf>,
}

#[derive(Serialize)]
struct ProgramOf {
    name: String,
    host: Option<String>,
    processors: f64,
    processes: u64,
    pid: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct Unseen {
    what: String,
    why: String,
}

#[derive(Serialize)]
pub(super) struct Number {
    name: String,
    value: Option<f64>,
}

impl LimiterOf {
    pub(super) fn of(limiter: &LimiterSection) -> LimiterOf {
        LimiterOf {
            component: limiter.component.name(),
            because: limiter.because.clone(),
            evidence: numbers(&limiter.evidence),
            relief: limiter.relief,
            ranked: limiter.ranked.iter().map(SuspectOf::of).collect(),
            seen: SeenOf::of(&limiter.seen),
            unseen: unseen(&limiter.unseen),
        }
    }
}

impl SuspectOf {
    fn of(suspect: &SuspectRow) -> SuspectOf {
        SuspectOf {
            component: suspect.component.name(),
            share: suspect.share,
            because: suspect.because.clone(),
            evidence: numbers(&suspect.evidence),
            relief: suspect.relief,
        }
    }
}

impl SeenOf {
    pub(super) fn of(seen: &ObservedComponents) -> SeenOf {
        SeenOf {
            utilisations: named(seen.utilisations.iter().map(|(it, share)| (utilised(it), *share))),
            waits: named(seen.waits.iter().cloned()),
            programs: seen.programs.iter().map(ProgramOf::of).collect(),
        }
    }
}

impl ProgramOf {
    fn of(program: &OtherProgram) -> ProgramOf {
        let OtherProgram { name, host, processors, processes, pid } = program.clone();
        ProgramOf { name, host, processors, processes, pid }
    }
}

pub(super) fn unseen(unseen: &[UnseenSource]) -> Vec<Unseen> {
    let one = |it: &UnseenSource| Unseen { what: it.source.clone(), why: it.reason.clone() };
    unseen.iter().map(one).collect()
}

pub(super) fn numbers(evidence: &[EvidenceNumber]) -> Vec<Number> {
    let number = |EvidenceNumber { kind, value }: &EvidenceNumber| Number {
        name: kind.name().into_owned(),
        value: finite(*value),
    };
    evidence.iter().map(number).collect()
}

fn named(means: impl Iterator<Item = (String, f64)>) -> Vec<Number> {
    means.map(|(name, value)| Number { name, value: finite(value) }).collect()
}
