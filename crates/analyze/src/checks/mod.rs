//! The checks of every run. Each is a function of the evidence alone.

mod calibrated;
mod complete;
mod gaps;
mod generator;
pub(crate) mod input;
mod little;
mod machine;
mod offered;
mod others;
mod overload;
mod punctual;
mod requests;
mod server;
mod steady;
mod target;

use crate::check::{Check, Verdict};
use crate::finding::Obstacle;
use input::CheckInput;

/// Runs all checks, and returns the verdict. Without jobs, only the check `complete` is possible.
pub(crate) fn verdict(input: &CheckInput<'_>) -> Verdict {
    let is_idle = input.evidence.plan.jobs.is_empty();
    let of_requests = |check: Check| match is_idle {
        true => check.kind.not_possible(Obstacle::NoJob),
        false => check,
    };
    let checks = vec![
        input.complete(),
        of_requests(input.window()),
        of_requests(input.balance()),
        of_requests(input.rate()),
        of_requests(input.each_second()),
        of_requests(input.achieved()),
        of_requests(input.arrivals()),
        of_requests(input.gaps()),
        of_requests(input.send_lag()),
        of_requests(input.stall()),
        of_requests(input.processor_wait()),
        of_requests(input.generator_cpu()),
        of_requests(input.stolen_time()),
        of_requests(input.other_programs()),
        of_requests(input.ceiling()),
        of_requests(input.floor()),
        of_requests(input.clock()),
        of_requests(input.wall_clock()),
        of_requests(input.frequency()),
        of_requests(input.backlog_check()),
        of_requests(input.warm_up()),
        of_requests(input.drift()),
        of_requests(input.step()),
        of_requests(input.little()),
        of_requests(input.errors()),
        of_requests(input.wrong_results()),
        of_requests(input.outage()),
        of_requests(input.connections()),
        of_requests(input.overflow()),
        of_requests(input.files()),
        of_requests(input.commits()),
        of_requests(input.checkpoints()),
    ];
    Verdict { checks }
}
