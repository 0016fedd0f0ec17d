//! The limiter and the observations of each component in `assay.summary/1`.

use analyze::{EvidenceNumber, ObservedComponents, OtherProgram};
use serde::Serialize;

use super::finite::finite;
use crate::page::{CandidateRow, LimiterSection, UnseenSource};
use crate::words::utilised_name;

#[derive(Serialize)]
pub(super) struct LimiterJson {
    component: &'static str,
    because: String,
    evidence: Vec<Number>,
    relief: Option<&'static str>,
    ranked: Vec<CandidateJson>,
    seen: ObservedJson,
    unseen: Vec<Unseen>,
}

#[derive(Serialize)]
struct CandidateJson {
    component: &'static str,
    share: f64,
    because: String,
    evidence: Vec<Number>,
    relief: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct ObservedJson {
    utilisations: Vec<Number>,
    waits: Vec<Number>,
    programs: Vec<OtherProgramJson>,
}

#[derive(Serialize)]
struct OtherProgramJson {
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

impl LimiterJson {
    pub(super) fn of(limiter: &LimiterSection) -> LimiterJson {
        LimiterJson {
            component: limiter.component.name(),
            because: limiter.because.clone(),
            evidence: numbers(&limiter.evidence),
            relief: limiter.relief,
            ranked: limiter.ranked.iter().map(CandidateJson::of).collect(),
            seen: ObservedJson::of(&limiter.seen),
            unseen: unseen(&limiter.unseen),
        }
    }
}

impl CandidateJson {
    fn of(candidate: &CandidateRow) -> CandidateJson {
        CandidateJson {
            component: candidate.component.name(),
            share: candidate.share,
            because: candidate.because.clone(),
            evidence: numbers(&candidate.evidence),
            relief: candidate.relief,
        }
    }
}

impl ObservedJson {
    pub(super) fn of(seen: &ObservedComponents) -> ObservedJson {
        let utilisations = seen.utilisations.iter().map(|(it, share)| (utilised_name(it), *share));
        ObservedJson {
            utilisations: named_numbers(utilisations),
            waits: named_numbers(seen.waits.iter().cloned()),
            programs: seen.programs.iter().map(OtherProgramJson::of).collect(),
        }
    }
}

impl OtherProgramJson {
    fn of(program: &OtherProgram) -> OtherProgramJson {
        let OtherProgram { name, host, processors, processes, pid } = program.clone();
        OtherProgramJson { name, host, processors, processes, pid }
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

fn named_numbers(means: impl Iterator<Item = (String, f64)>) -> Vec<Number> {
    means.map(|(name, value)| Number { name, value: finite(value) }).collect()
}
