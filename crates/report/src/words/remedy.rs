//! Remedies for the findings of the checks, one for each check.
//!
//! The answer prints them below a finding, and `docs/checks.md` begins its advice with them: a test
//! of the guide compares the two.

use analyze::{Check, CheckKind};

/// The remedy for a fault that no database can cause.
const REPORT: &str = "report this with the record: it is a mistake of the load generator, which no \
                      database can cause";

/// The checks in the order of the verdict, each with its remedy: an imperative without a period.
const REMEDIES: [(CheckKind, &str); 32] = [
    (
        CheckKind::Complete,
        "run it again to its end, after removing what cut it off, such as an error, a full queue \
         or disk, or a lost target",
    ),
    (CheckKind::Window, "make `duration` longer, or `warmup` or `every` shorter"),
    (CheckKind::Balance, REPORT),
    (CheckKind::Rate, REPORT),
    (CheckKind::EachSecond, REPORT),
    (CheckKind::Achieved, "give it a longer `drain` or more connections, or offer less"),
    (CheckKind::Arrivals, REPORT),
    (CheckKind::Gaps, "end other programs on this machine, or use `--spin` if a processor is idle"),
    (
        CheckKind::SendLag,
        "end other programs on this machine first; then try fewer connections or a lower rate, or \
         `--spin` if a processor is idle",
    ),
    (
        CheckKind::Stall,
        "find what stopped the process (a suspended machine, swapped memory, a CPU quota), and run \
         again",
    ),
    (
        CheckKind::ProcessorWait,
        "run the load generator on another machine, or give it processors of its own (`--cpus`, \
         `taskset`)",
    ),
    (CheckKind::GeneratorCpu, "use more threads (`--threads 2`), or a lower rate"),
    (CheckKind::StolenTime, "measure on a machine that is your own, or several times, and compare"),
    (
        CheckKind::OtherPrograms,
        "end these programs, or keep them off the processors of the benchmark (`taskset`, \
         `--cpus`), and run again",
    ),
    (
        CheckKind::Ceiling,
        "use more threads (`--threads 2`) or a lower rate; calibrate again if the machine was busy \
         when it was calibrated",
    ),
    (
        CheckKind::Floor,
        "compare differences with the floor, not with the whole, or ask for more work in a \
         statement",
    ),
    (
        CheckKind::Clock,
        "choose a clock that is read without a system call; `assay doctor` says which one this is",
    ),
    (
        CheckKind::WallClock,
        "let the clock be slewed and not set (`chronyc`), keep the machine awake, and run again",
    ),
    (
        CheckKind::Frequency,
        "run `cpupower frequency-set -g performance`, or use a longer `warmup` if the processors \
         become warm and slower",
    ),
    (
        CheckKind::Backlog,
        "offer less, or accept that you have found the capacity: the throughput is right",
    ),
    (
        CheckKind::WarmUp,
        "measure longer, find what changes all the time, or give a length that you know, as in \
         `warmup = 30s`",
    ),
    (
        CheckKind::Drift,
        "use a longer `warmup` if the change fades, or a longer `duration` if a cycle begins",
    ),
    (
        CheckKind::Step,
        "look for what happened then: a checkpoint, a backup, another user of the machine",
    ),
    (CheckKind::Little, REPORT),
    (
        CheckKind::Errors,
        "read the first text of each error; accept a code that belongs to the workload, as in \
         `error = 40001`, or `retry` it",
    ),
    (CheckKind::WrongResults, "load the tables anew, or correct `expect-rows`"),
    (CheckKind::Outage, "look in the server's log for why it refused connections, and run again"),
    (
        CheckKind::Connections,
        "raise the server's limit of connections, or lower `concurrency` or `max-connections`",
    ),
    (CheckKind::Overflow, "give the job a `timeout` of less than an hour"),
    (
        CheckKind::Files,
        "make room on the disk, correct the file, or let the program at the other end of the pipe \
         finish",
    ),
    (
        CheckKind::Commits,
        "if the server counted fewer, look at what stands between Assay and it; if more, look for \
         other sessions and scheduled jobs",
    ),
    (
        CheckKind::Checkpoints,
        "make the run several times as long as the time between checkpoints, or shorten that time \
         in both of two servers that you compare",
    ),
];

/// Returns the remedy for an objection of a check: an imperative without a period.
///
/// # Panics
/// Panics if the table lacks the check.
pub fn remedy(check: CheckKind) -> &'static str {
    let found = REMEDIES.into_iter().find(|(kind, _)| *kind == check);
    found.map(|(_, remedy)| remedy).expect("every check has a remedy")
}

/// Returns the remedy if a check objects.
pub(crate) fn remedy_of(check: &Check) -> Option<&'static str> {
    check.status.objects().then(|| remedy(check.kind))
}

#[cfg(test)]
mod tests {
    use analyze::{Finding, Status, Unit};

    use super::*;

    /// Maximum length of a remedy in characters: two lines of an answer.
    const LONGEST: usize = 160;

    #[test]
    fn remedies_are_short_imperatives_in_plain_text() {
        for check in CheckKind::ALL {
            let remedy = remedy(check);
            assert!(remedy.chars().count() <= LONGEST, "{check:?}: {}", remedy.chars().count());
            assert!(remedy.starts_with(|first: char| first.is_lowercase()), "{check:?}: {remedy}");
            assert!(!remedy.ends_with(['.', ' ']) && !remedy.contains("]("), "{check:?}: {remedy}");
        }
    }

    #[test]
    fn only_a_check_that_objects_has_a_remedy() {
        let check = |status| Check {
            kind: CheckKind::Overflow,
            status,
            value: None,
            limit: None,
            unit: Unit::Times,
            finding: Finding::Overflow { times: 2 },
        };
        let has_remedy = |status| remedy_of(&check(status)).is_some();
        assert!(has_remedy(Status::Suspect) && has_remedy(Status::Invalid));
        assert!(!has_remedy(Status::Pass) && !has_remedy(Status::NotPossible));
    }
}
