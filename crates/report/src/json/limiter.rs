//! The limiter and the observations of each component in `assay.summary/1`.

use analyze::limiting;
use analyze::{OtherProgram, Seen, Suspect};
use serde::Serialize;

use super::finite::finite;
use crate::view::View;
use crate::words;

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
    pub(super) fn of(view: &View) -> LimiterOf {
        let limiter = &view.summary.limiter;
        LimiterOf {
            component: limiter.component.name(),
            because: words::because(&limiter.finding),
            evidence: numbers(&limiter.evidence),
            relief: view.relief(limiter.component),
            ranked: limiter.ranked.iter().map(|it| SuspectOf::of(it, view)).collect(),
            seen: SeenOf::of(&limiter.seen),
            unseen: unseen(&limiter.unseen),
        }
    }
}

impl SuspectOf {
    fn of(suspect: &Suspect, view: &View) -> SuspectOf {
        SuspectOf {
            component: suspect.component.name(),
            share: suspect.share,
            because: words::because(&suspect.finding),
            evidence: numbers(&suspect.evidence),
            relief: view.relief(suspect.component),
        }
    }
}

impl SeenOf {
    pub(super) fn of(seen: &Seen) -> SeenOf {
        SeenOf {
            utilisations: numbers(&seen.utilisations),
            waits: numbers(&seen.waits),
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

pub(super) fn unseen(unseen: &[limiting::Unseen]) -> Vec<Unseen> {
    let one = |unseen: &limiting::Unseen| Unseen {
        what: words::source(unseen).to_owned(),
        why: words::reason(unseen).into_owned(),
    };
    unseen.iter().map(one).collect()
}

pub(super) fn numbers(evidence: &[(String, f64)]) -> Vec<Number> {
    let number =
        |(name, value): &(String, f64)| Number { name: name.clone(), value: finite(*value) };
    evidence.iter().map(number).collect()
}
