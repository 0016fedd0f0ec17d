//! Checks of this machine.

use base::Nanos;
use record::environment::{NONE, host};

use super::diagnosis::{Check, CheckOutcome, MissingFact, Problem, SleepCondition};
use super::input::DoctorInput;

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

/// Largest number of bytes in swap that is accepted. So few bytes may be pages that were not needed
/// for a long time.
const SWAP_ALLOWED: u64 = 16 << 20;

/// Minimum number of open files for a run whose connections grow in number. A run raises the soft
/// limit by itself, so the hard limit counts.
const FEWEST_FILES: u64 = 4_096;

/// Largest share of the processors that other programs may use.
const BUSY_ALLOWED: f64 = 0.10;

/// Largest load average of the last minute, per processor. A larger one means that more than half
/// of the processors were busy.
const LOAD_PER_PROCESSOR: f64 = 0.5;

/// Largest share of processor time that a hypervisor may steal.
const STOLEN_ALLOWED: f64 = 0.005;

/// Lateness that 99 of 100 sleeps must not exceed: the p99 of the send lag that the check
/// `send-lag` of a run allows at any response time.
const LATENESS_ALLOWED: Nanos = Nanos::from_micros(200);

/// Clock sources that are read without a system call.
const FAST_CLOCKS: [&str; 5] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "riscv_clocksource"];

fn governor(all: &DoctorInput) -> CheckOutcome {
    match all.fact(host::CPU_GOVERNOR) {
        Some("performance") => CheckOutcome::Fine,
        Some(governor) => CheckOutcome::Found(Problem::Governor { governor: governor.to_owned() }),
        None => CheckOutcome::NotPossible(MissingFact::Governor),
    }
}

fn swap(all: &DoctorInput) -> CheckOutcome {
    match all.number::<u64>(host::SWAP_USED) {
        None => CheckOutcome::NotPossible(MissingFact::UsedSwap),
        Some(used) if used <= SWAP_ALLOWED => CheckOutcome::Fine,
        Some(used_bytes) => CheckOutcome::Found(Problem::Swap { used_bytes }),
    }
}

fn open_files(all: &DoctorInput) -> CheckOutcome {
    match all.fact(host::OPEN_FILES_HARD) {
        None => CheckOutcome::NotPossible(MissingFact::OpenFiles),
        Some("unlimited") => CheckOutcome::Fine,
        Some(limit) if limit.parse().is_ok_and(|limit: u64| limit >= FEWEST_FILES) => {
            CheckOutcome::Fine
        }
        Some(limit) => CheckOutcome::Found(Problem::OpenFiles { limit: limit.to_owned() }),
    }
}

fn cpu_quota(all: &DoctorInput) -> CheckOutcome {
    let quota = all.fact(host::CGROUP_CPU_QUOTA);
    let processors = all.number::<f64>(host::CPU_LOGICAL);
    match (quota, processors) {
        (Some(NONE), _) => CheckOutcome::Fine,
        (None, _) => CheckOutcome::NotPossible(MissingFact::ControlGroups),
        (Some(_), None) => CheckOutcome::NotPossible(MissingFact::ProcessorCount),
        (Some(quota), Some(processors)) => match quota.parse::<f64>() {
            Ok(number) if number >= processors => CheckOutcome::Fine,
            Ok(_) | Err(_) => {
                CheckOutcome::Found(Problem::CpuQuota { quota: quota.to_owned(), processors })
            }
        },
    }
}

fn clock_source(all: &DoctorInput) -> CheckOutcome {
    match all.fact(host::CLOCK_SOURCE) {
        None => CheckOutcome::NotPossible(MissingFact::ClockSource),
        Some(source) if FAST_CLOCKS.contains(&source) => CheckOutcome::Fine,
        Some(source) => CheckOutcome::Found(Problem::ClockSource { source: source.to_owned() }),
    }
}

fn busy_machine(all: &DoctorInput) -> CheckOutcome {
    let Some(now) = all.processors else {
        return CheckOutcome::NotPossible(MissingFact::ProcessorUse);
    };
    let load = all.number::<f64>(host::LOAD_1M);
    let per_processor =
        load.zip(all.number(host::CPU_LOGICAL)).map(|(load, n): (f64, f64)| load / n);
    let was_busy = per_processor.is_some_and(|load| load > LOAD_PER_PROCESSOR);
    match now.busy <= BUSY_ALLOWED && !was_busy {
        true => CheckOutcome::Fine,
        false => CheckOutcome::Found(Problem::BusyMachine { busy: now.busy, load }),
    }
}

fn stolen_time(all: &DoctorInput) -> CheckOutcome {
    match all.processors {
        None => CheckOutcome::NotPossible(MissingFact::ProcessorUse),
        Some(now) if now.stolen <= STOLEN_ALLOWED => CheckOutcome::Fine,
        Some(now) => CheckOutcome::Found(Problem::StolenTime { share: now.stolen }),
    }
}

fn timer(all: &DoctorInput) -> CheckOutcome {
    match all.timer {
        None => CheckOutcome::NotPossible(MissingFact::Timer),
        Some(late) if late.p99 <= LATENESS_ALLOWED => CheckOutcome::Fine,
        Some(late) => CheckOutcome::Found(Problem::Timer { late, condition: sleep_condition(all) }),
    }
}

/// Returns the condition that decides the remedy for late sleeps. A spinning thread needs a
/// processor of its own: where other programs, a quota or the hypervisor take the processors, it
/// competes with them and is even later.
fn sleep_condition(all: &DoctorInput) -> SleepCondition {
    let is_found = |outcome: CheckOutcome| matches!(outcome, CheckOutcome::Found(_));
    if is_found(busy_machine(all)) {
        SleepCondition::BusyMachine
    } else if is_found(stolen_time(all)) {
        SleepCondition::StolenTime
    } else if is_found(cpu_quota(all)) {
        SleepCondition::CpuQuota
    } else if all.number::<f64>(host::CPU_LOGICAL).is_none_or(|processors| processors < 2.0) {
        SleepCondition::SingleProcessor
    } else if all.processors.is_none() {
        SleepCondition::UseUnknown
    } else {
        SleepCondition::Idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::judge;
    use crate::doctor::tests::{healthy, is_not_possible, only_finding, with_host};
    use record::environment::ProcessorShares;

    #[track_caller]
    fn check(fact: &str, value: &str, finding: &str, problem: Problem) {
        assert_eq!(only_finding(&with_host(fact, value), finding).problem, problem);
        is_not_possible(&with_host(fact, "unknown"), finding);
    }

    #[test]
    fn a_governor_that_saves_power_is_found() {
        let governor = "performance, powersave".to_owned();
        let problem = Problem::Governor { governor };
        check("host.cpu.governor", "performance, powersave", "governor", problem);
    }

    #[test]
    fn swap_in_use_is_found() {
        let problem = Problem::Swap { used_bytes: 104_857_600 };
        check("host.swap.used_bytes", "104857600", "swap", problem);
        assert_eq!(judge(&with_host("host.swap.used_bytes", "4096")).findings, []);
    }

    #[test]
    fn a_low_limit_of_open_files_is_found() {
        let problem = Problem::OpenFiles { limit: "1024".to_owned() };
        check("host.open_files.hard", "1024", "open-files", problem);
        assert_eq!(judge(&with_host("host.open_files.hard", "unlimited")).findings, []);
    }

    #[test]
    fn a_quota_below_the_processors_is_found() {
        let problem = Problem::CpuQuota { quota: "1.5".to_owned(), processors: 8.0 };
        check("host.cgroup.cpu_quota", "1.5", "cpu-quota", problem);
        assert_eq!(judge(&with_host("host.cgroup.cpu_quota", "8")).findings, []);
    }

    #[test]
    fn a_slow_clock_is_found() {
        let problem = Problem::ClockSource { source: "hpet".to_owned() };
        check("host.clock.source", "hpet", "clock-source", problem);
        assert_eq!(judge(&with_host("host.clock.source", "kvm-clock")).findings, []);
    }

    #[test]
    fn a_busy_machine_is_found_now_or_a_minute_ago() {
        let mut busy = healthy();
        busy.processors = Some(ProcessorShares { busy: 0.5, stolen: 0.0 });
        let now = only_finding(&busy, "busy-machine").problem;
        assert_eq!(now, Problem::BusyMachine { busy: 0.5, load: Some(0.1) });
        let before = only_finding(&with_host("host.load.1m", "4.10"), "busy-machine").problem;
        assert_eq!(before, Problem::BusyMachine { busy: 0.01, load: Some(4.1) });
    }

    #[test]
    fn stolen_time_is_found() {
        let mut stolen = healthy();
        stolen.processors = Some(ProcessorShares { busy: 0.0, stolen: 0.02 });
        let problem = only_finding(&stolen, "stolen-time").problem;
        assert_eq!(problem, Problem::StolenTime { share: 0.02 });
        stolen.processors = None;
        is_not_possible(&stolen, "stolen-time");
    }

    #[test]
    fn a_late_timer_is_found() {
        let mut late = healthy();
        late.timer.as_mut().unwrap().p99 = Nanos::from_micros(450);
        let problem = only_finding(&late, "timer").problem;
        let condition = SleepCondition::Idle;
        assert_eq!(problem, Problem::Timer { late: late.timer.unwrap(), condition });
        late.timer = None;
        is_not_possible(&late, "timer");
    }

    #[test]
    fn spinning_can_help_only_where_a_processor_is_idle() {
        let with_shares = |busy, stolen| {
            let processors = Some(ProcessorShares { busy, stolen });
            DoctorInput { processors, ..healthy() }
        };
        for (input, condition) in [
            (healthy(), SleepCondition::Idle),
            (DoctorInput { processors: None, ..healthy() }, SleepCondition::UseUnknown),
            (with_host("host.cpu.logical", "1"), SleepCondition::SingleProcessor),
            (with_shares(0.96, 0.0), SleepCondition::BusyMachine),
            (with_host("host.load.1m", "7.90"), SleepCondition::BusyMachine),
            (with_shares(0.0, 0.02), SleepCondition::StolenTime),
            (with_host("host.cgroup.cpu_quota", "1.5"), SleepCondition::CpuQuota),
        ] {
            assert_eq!(sleep_condition(&input), condition);
        }
    }
}
