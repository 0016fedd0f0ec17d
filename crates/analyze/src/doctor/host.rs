//! Checks of this machine.

use base::Nanos;

use super::diagnosis::{Check, Outcome};
use super::surroundings::Surroundings;

/// All checks of the machine.
pub(super) const CHECKS: [Check<()>; 8] = [
    ("governor", |all, ()| governor(all)),
    ("swap", |all, ()| swap(all)),
    ("open-files", |all, ()| open_files(all)),
    ("cpu-quota", |all, ()| cpu_quota(all)),
    ("clock-source", |all, ()| clock_source(all)),
    ("busy-machine", |all, ()| busy_machine(all)),
    ("stolen-time", |all, ()| stolen_time(all)),
    ("timer", |all, ()| timer(all)),
];

/// Most bytes of swap that may be in use: pages that have not been needed for long.
const SWAPPED: u64 = 16 << 20;

/// Fewest open files that suffice for a growing run. A run raises the soft limit by itself, so the
/// hard limit counts.
const FEWEST_FILES: u64 = 4_096;

/// Largest share of the processors that other programs may use.
const BUSY: f64 = 0.10;

/// Largest load average per processor: above it, half of them were busy for a minute.
const LOAD_PER_PROCESSOR: f64 = 0.5;

/// Largest share of processor time that a hypervisor may steal.
const STOLEN: f64 = 0.005;

/// Largest lateness of 99 of 100 sleeps: the limit of the check `send-lag` of a run.
const LATE: Nanos = Nanos::from_micros(200);

/// Clock sources that are read without a system call.
const FAST_CLOCKS: [&str; 5] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "riscv_clocksource"];

fn governor(all: &Surroundings) -> Outcome {
    match all.fact("host.cpu.governor") {
        Some("performance") => Outcome::Fine,
        Some(governor) => Outcome::Found {
            found: format!("the governor of the processors is {governor}"),
            reason: "their clock rate follows the load with a delay, so that the same request \
                     takes longer at a low rate than at a high one"
                .to_owned(),
            remedy: "sudo cpupower frequency-set -g performance".to_owned(),
        },
        None => Outcome::not_possible(
            "the system shows no governor; in a virtual machine its host controls it",
        ),
    }
}

fn swap(all: &Surroundings) -> Outcome {
    match all.number::<u64>("host.swap.used_bytes") {
        None => Outcome::not_possible("the system does not show the used swap"),
        Some(used) if used <= SWAPPED => Outcome::Fine,
        Some(used) => Outcome::Found {
            found: format!("{} of memory are in swap", mebibytes(used)),
            reason: "a program that needs them waits for the disk, during a measurement".to_owned(),
            remedy: "sudo swapoff -a && sudo swapon -a".to_owned(),
        },
    }
}

fn open_files(all: &Surroundings) -> Outcome {
    match all.fact("host.open_files.hard") {
        None => Outcome::not_possible("the system does not show the limit of open files"),
        Some("unlimited") => Outcome::Fine,
        Some(limit) if limit.parse().is_ok_and(|limit: u64| limit >= FEWEST_FILES) => Outcome::Fine,
        Some(limit) => Outcome::Found {
            found: format!("this process may open {limit} files"),
            reason: "each connection is one: a job that needs more connections does not get them"
                .to_owned(),
            remedy: "ulimit -n 65536, which an administrator may have to allow".to_owned(),
        },
    }
}

fn cpu_quota(all: &Surroundings) -> Outcome {
    let quota = all.fact("host.cgroup.cpu_quota");
    let processors = all.number::<f64>("host.cpu.logical");
    match (quota, processors) {
        (Some("none"), _) => Outcome::Fine,
        (None, _) => Outcome::not_possible("the control groups of this process cannot be read"),
        (Some(_), None) => Outcome::not_possible("the number of processors cannot be read"),
        (Some(quota), Some(processors)) => match quota.parse::<f64>() {
            Ok(number) if number >= processors => Outcome::Fine,
            Ok(_) | Err(_) => Outcome::Found {
                found: format!("a control group allows {quota} of {processors} processors"),
                reason:
                    "a process that has used it up stalls until the next period, for up to 0.1 \
                         s"
                    .to_owned(),
                remedy: format!(
                    "docker update --cpus={processors} CONTAINER, or systemctl set-property UNIT \
                     CPUQuota="
                ),
            },
        },
    }
}

fn clock_source(all: &Surroundings) -> Outcome {
    match all.fact("host.clock.source") {
        None => Outcome::not_possible("the system does not show its clock source"),
        Some(source) if FAST_CLOCKS.contains(&source) => Outcome::Fine,
        Some(source) => Outcome::Found {
            found: format!("the clock source is {source}"),
            reason: "reading it takes a system call or a slow device, several times per request"
                .to_owned(),
            remedy: "echo tsc | sudo tee \
                     /sys/devices/system/clocksource/clocksource0/current_clocksource"
                .to_owned(),
        },
    }
}

fn busy_machine(all: &Surroundings) -> Outcome {
    let Some(now) = all.processors else {
        return Outcome::not_possible("the system does not show the use of its processors");
    };
    let load = all.number::<f64>("host.load.1m");
    let per_processor =
        load.zip(all.number("host.cpu.logical")).map(|(load, n): (f64, f64)| load / n);
    let was_busy = per_processor.is_some_and(|load| load > LOAD_PER_PROCESSOR);
    if now.busy <= BUSY && !was_busy {
        return Outcome::Fine;
    }
    let busy = format!("{:.0} % of the processors are at work", now.busy * 100.0);
    let found = match load {
        Some(load) => format!("{busy}, and the load average of the last minute is {load:.2}"),
        None => busy,
    };
    Outcome::Found {
        found,
        reason: "other programs take a varying share of the processors from the run".to_owned(),
        remedy: "top -o %CPU".to_owned(),
    }
}

fn stolen_time(all: &Surroundings) -> Outcome {
    match all.processors {
        None => Outcome::not_possible("the system does not show the use of its processors"),
        Some(now) if now.stolen <= STOLEN => Outcome::Fine,
        Some(now) => Outcome::Found {
            found: format!("{:.1} % of the processors' time is stolen", now.stolen * 100.0),
            reason: "the hypervisor runs other machines on the same processors, and this one \
                     stalls meanwhile"
                .to_owned(),
            remedy: "use a machine with dedicated processors".to_owned(),
        },
    }
}

fn timer(all: &Surroundings) -> Outcome {
    match all.timer {
        None => Outcome::not_possible("the system provides no timer"),
        Some(late) if late.p99 <= LATE => Outcome::Fine,
        Some(late) => Outcome::Found {
            found: format!(
                "one in a hundred of {} sleeps of 1 ms ends more than {} µs late, the latest {} µs",
                late.count,
                late.p99.0 / 1_000,
                late.max.0 / 1_000
            ),
            reason: "requests are sent late by as much, which the check send-lag of a run judges"
                .to_owned(),
            remedy: punctuality(all),
        },
    }
}

/// Returns the remedy for late sleeps. A spinning thread needs a processor of its own: where other
/// programs, a quota or the hypervisor take the processors, it competes with them and is even
/// later.
fn punctuality(all: &Surroundings) -> String {
    let is_found = |outcome: Outcome| matches!(outcome, Outcome::Found { .. });
    let remedy = if is_found(busy_machine(all)) {
        "end or move the programs that top -o %CPU shows, then run assay doctor again"
    } else if is_found(stolen_time(all)) {
        "use a machine with dedicated processors"
    } else if is_found(cpu_quota(all)) {
        "raise the quota that cpu-quota names, then run assay doctor again"
    } else if all.number::<f64>("host.cpu.logical").is_none_or(|processors| processors < 2.0) {
        "use a machine with two processors or more, where assay run FILE --spin can keep one busy"
    } else if all.processors.is_none() {
        "assay run FILE --spin, if top shows that a processor is idle"
    } else {
        "assay run FILE --spin, which keeps one of the idle processors busy"
    };
    remedy.to_owned()
}

/// Formats a number of bytes in the units used for memory settings.
pub(super) fn mebibytes(bytes: u64) -> String {
    match bytes >> 20 {
        small @ 0..10_240 => format!("{small} MiB"),
        large => format!("{} GiB", large >> 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::judge;
    use crate::doctor::tests::{healthy, is_not_possible, only_finding, with_host};
    use record::environment::ProcessorShares;

    #[track_caller]
    fn check(fact: &str, value: &str, finding: &str, words: &str) {
        let found = only_finding(&with_host(fact, value), finding);
        assert!(found.found.contains(words), "{found:?}");
        assert!(!found.reason.is_empty() && !found.remedy.is_empty());
        is_not_possible(&with_host(fact, "unknown"), finding);
    }

    #[test]
    fn a_governor_that_saves_power_is_found() {
        check("host.cpu.governor", "performance, powersave", "governor", "powersave");
    }

    #[test]
    fn swap_in_use_is_found() {
        check("host.swap.used_bytes", "104857600", "swap", "100 MiB");
        assert_eq!(judge(&with_host("host.swap.used_bytes", "4096")).findings, []);
    }

    #[test]
    fn a_low_limit_of_open_files_is_found() {
        check("host.open_files.hard", "1024", "open-files", "may open 1024 files");
        assert_eq!(judge(&with_host("host.open_files.hard", "unlimited")).findings, []);
    }

    #[test]
    fn a_quota_below_the_processors_is_found() {
        check("host.cgroup.cpu_quota", "1.5", "cpu-quota", "1.5 of 8 processors");
        assert_eq!(judge(&with_host("host.cgroup.cpu_quota", "8")).findings, []);
    }

    #[test]
    fn a_slow_clock_is_found() {
        check("host.clock.source", "hpet", "clock-source", "hpet");
        assert_eq!(judge(&with_host("host.clock.source", "kvm-clock")).findings, []);
    }

    #[test]
    fn a_busy_machine_is_found_now_or_a_minute_ago() {
        let mut busy = healthy();
        busy.processors = Some(ProcessorShares { busy: 0.5, stolen: 0.0 });
        assert!(only_finding(&busy, "busy-machine").found.starts_with("50 %"));
        let before = only_finding(&with_host("host.load.1m", "4.10"), "busy-machine");
        assert!(before.found.contains("4.10"), "{before:?}");
    }

    #[test]
    fn stolen_time_is_found() {
        let mut stolen = healthy();
        stolen.processors = Some(ProcessorShares { busy: 0.0, stolen: 0.02 });
        assert!(only_finding(&stolen, "stolen-time").found.starts_with("2.0 %"));
        stolen.processors = None;
        is_not_possible(&stolen, "stolen-time");
    }

    #[test]
    fn a_late_timer_is_found() {
        let mut late = healthy();
        late.timer.as_mut().unwrap().p99 = Nanos::from_micros(450);
        assert!(only_finding(&late, "timer").found.contains("more than 450 µs late"));
        late.timer = None;
        is_not_possible(&late, "timer");
    }

    /// Returns the remedy for late sleeps in this environment.
    fn remedy_for_late_sleeps(mut surroundings: Surroundings) -> String {
        surroundings.timer.as_mut().unwrap().p99 = Nanos::from_micros(450);
        let found = judge(&surroundings).findings;
        found.into_iter().find(|finding| finding.check == "timer").unwrap().remedy
    }

    #[test]
    fn spinning_is_recommended_only_where_a_processor_is_idle() {
        let with_shares = |busy, stolen| {
            let processors = Some(ProcessorShares { busy, stolen });
            Surroundings { processors, ..healthy() }
        };
        for (surroundings, words) in [
            (healthy(), "--spin, which keeps"),
            (Surroundings { processors: None, ..healthy() }, "--spin, if top shows"),
            (with_host("host.cpu.logical", "1"), "two processors or more"),
            (with_shares(0.96, 0.0), "end or move the programs"),
            (with_host("host.load.1m", "7.90"), "end or move the programs"),
            (with_shares(0.0, 0.02), "dedicated processors"),
            (with_host("host.cgroup.cpu_quota", "1.5"), "raise the quota"),
        ] {
            let remedy = remedy_for_late_sleeps(surroundings);
            assert!(remedy.contains(words), "{words}: {remedy}");
            let recommends = remedy.starts_with("assay run FILE --spin");
            assert_eq!(recommends, words.starts_with("--spin"), "{remedy}");
        }
    }
}
