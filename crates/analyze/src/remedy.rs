//! Remedies for the findings of the checks, one for each check.
//!
//! The answer prints them below a finding, and `docs/checks.md` begins its advice with them: a test
//! of the guide compares the two.

/// The remedy for a fault that no database can cause.
const REPORT: &str = "report this with the record: it is a mistake of the load generator, which no \
                      database can cause";

/// The checks in the order of the verdict, each with its remedy: an imperative without a period.
const REMEDIES: [(&str, &str); 32] = [
    (
        "complete",
        "run it again to its end, after removing what cut it off, such as an error, a full queue \
         or disk, or a lost target",
    ),
    ("window", "make `duration` longer, or `warmup` or `every` shorter"),
    ("balance", REPORT),
    ("rate", REPORT),
    ("each-second", REPORT),
    ("achieved", "give it a longer `drain` or more connections, or offer less"),
    ("arrivals", REPORT),
    ("gaps", "end other programs on this machine, or use `--spin` if a processor is idle"),
    (
        "send-lag",
        "end other programs on this machine first; then try fewer connections or a lower rate, or \
         `--spin` if a processor is idle",
    ),
    (
        "stall",
        "find what stopped the process (a suspended machine, swapped memory, a CPU quota), and run \
         again",
    ),
    (
        "processor-wait",
        "run the load generator on another machine, or give it processors of its own (`--cpus`, \
         `taskset`)",
    ),
    ("generator-cpu", "use more threads (`--threads 2`), or a lower rate"),
    ("stolen-time", "measure on a machine that is your own, or several times, and compare"),
    (
        "other-programs",
        "end these programs, or keep them off the processors of the benchmark (`taskset`, \
         `--cpus`), and run again",
    ),
    (
        "ceiling",
        "use more threads (`--threads 2`) or a lower rate; calibrate again if the machine was busy \
         when it was calibrated",
    ),
    (
        "floor",
        "compare differences with the floor, not with the whole, or ask for more work in a \
         statement",
    ),
    (
        "clock",
        "choose a clock that is read without a system call; `assay doctor` says which one this is",
    ),
    (
        "wall-clock",
        "let the clock be slewed and not set (`chronyc`), keep the machine awake, and run again",
    ),
    (
        "frequency",
        "run `cpupower frequency-set -g performance`, or use a longer `warmup` if the processors \
         become warm and slower",
    ),
    ("backlog", "offer less, or accept that you have found the capacity: the throughput is right"),
    (
        "warm-up",
        "measure longer, find what changes all the time, or give a length that you know, as in \
         `warmup = 30s`",
    ),
    (
        "drift",
        "use a longer `warmup` if the change fades, or a longer `duration` if a cycle begins",
    ),
    ("step", "look for what happened then: a checkpoint, a backup, another user of the machine"),
    ("little", REPORT),
    (
        "errors",
        "read the first text of each error; accept a code that belongs to the workload, as in \
         `error = 40001`, or `retry` it",
    ),
    ("wrong-results", "load the tables anew, or correct `expect-rows`"),
    ("outage", "look in the server's log for why it refused connections, and run again"),
    (
        "connections",
        "raise the server's limit of connections, or lower `concurrency` or `max-connections`",
    ),
    ("overflow", "give the job a `timeout` of less than an hour"),
    (
        "files",
        "make room on the disk, correct the file, or let the program at the other end of the pipe \
         finish",
    ),
    (
        "commits",
        "if the server counted fewer, look at what stands between Assay and it; if more, look for \
         other sessions and scheduled jobs",
    ),
    (
        "checkpoints",
        "make the run several times as long as the time between checkpoints, or shorten that time \
         in both of two servers that you compare",
    ),
];

/// Returns the remedy for a finding of the check with this name; `None` if there is no such check.
pub fn remedy(check: &str) -> Option<&'static str> {
    REMEDIES.into_iter().find(|(name, _)| *name == check).map(|(_, remedy)| remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maximum length of a remedy in characters: two lines of an answer.
    const LONGEST: usize = 160;

    #[test]
    fn remedies_are_short_imperatives_in_plain_text() {
        for (check, remedy) in REMEDIES {
            assert!(remedy.chars().count() <= LONGEST, "{check}: {}", remedy.chars().count());
            assert!(remedy.starts_with(|first: char| first.is_lowercase()), "{check}: {remedy}");
            assert!(!remedy.ends_with(['.', ' ']) && !remedy.contains("]("), "{check}: {remedy}");
        }
    }

    #[test]
    fn check_without_a_name_of_ours_has_no_remedy() {
        assert_eq!(remedy("windows"), None);
        assert!(remedy("window").is_some_and(|remedy| remedy.contains("duration")));
    }
}
