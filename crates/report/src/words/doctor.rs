//! Sentences about the findings of checks before a run.

use std::borrow::Cow;
use std::fmt;

use analyze::doctor::{
    BufferSetting, Diagnosis, DoctorInput, DurableSetting, MissingFact, Problem, SleepCondition,
};

use base::units::grouped;
use record::environment::{host, known};

use crate::number::count;

/// Heading of the checks that were not possible.
pub(crate) const NOT_POSSIBLE: &str = "Not possible here";

/// Label of the checks that found no problem.
pub(crate) const PASSED: &str = "in order";

/// Returns the result of all checks: the emphasized part of the sentence, and the rest.
pub(crate) fn answer(diagnosis: &Diagnosis) -> (Cow<'static, str>, &'static str) {
    match diagnosis.findings.len() {
        0 => (Cow::Borrowed("nothing would spoil a run"), ""),
        n => (Cow::Owned(count(n as u64, "thing")), " here would spoil a run"),
    }
}

/// Returns a text about a server, after the name of its host if the target has several hosts.
pub(crate) fn at_host(host: Option<&str>, text: impl fmt::Display) -> String {
    match host {
        Some(host) => format!("{host}: {text}"),
        None => text.to_string(),
    }
}

/// Returns the problem in words.
pub(crate) fn problem(problem: &Problem) -> String {
    match problem {
        Problem::Governor { governor } => format!("the governor of the processors is {governor}"),
        Problem::Swap { used_bytes } => format!("{} of memory are in swap", mebibytes(*used_bytes)),
        Problem::OpenFiles { limit } => {
            // The system may report a word instead of a number.
            let limit = limit.parse().map_or_else(|_| limit.clone(), grouped);
            format!("this process may open {limit} files")
        }
        Problem::CpuQuota { quota, processors } => {
            format!("a control group allows {quota} of {processors} processors")
        }
        Problem::ClockSource { source } => format!("the clock source is {source}"),
        Problem::BusyMachine { busy, load } => {
            let busy = format!("{:.0} % of the processors are at work", busy * 100.0);
            match load {
                Some(load) => {
                    format!("{busy}, and the load average of the last minute is {load:.2}")
                }
                None => busy,
            }
        }
        Problem::StolenTime { share } => {
            format!("{:.1} % of the processors' time is stolen", share * 100.0)
        }
        Problem::Timer { late, condition: _ } => format!(
            "one in a hundred of {} sleeps of 1 ms ends more than {} µs late, the latest {} µs",
            grouped(late.count as u64),
            grouped(late.p99.0 / 1_000),
            grouped(late.max.0 / 1_000)
        ),
        Problem::Unreached { reason } => format!("the server cannot be reached: {reason}"),
        Problem::SameProcessors => "the server is on this machine".to_owned(),
        Problem::NotDurable { setting, value } => format!("{} is {value}", setting.name()),
        Problem::BufferPool { setting, size_bytes, memory_bytes } => {
            let of = memory_bytes.map(|memory| format!(" of {} of memory", mebibytes(memory)));
            format!("{} is {}{}", setting.name(), mebibytes(*size_bytes), of.unwrap_or_default())
        }
    }
}

/// Returns the reason why the problem matters.
pub(crate) fn importance(problem: &Problem) -> &'static str {
    match problem {
        Problem::Governor { .. } => {
            "their clock rate follows the load with a delay: the same request takes longer at a \
             low arrival rate than at a high one"
        }
        Problem::Swap { .. } => {
            "a program that needs them waits for the disk, during a measurement"
        }
        Problem::OpenFiles { .. } => {
            "each connection is one: a job that needs more connections does not get them"
        }
        Problem::CpuQuota { .. } => {
            "a process that has used it up stalls until the next period, for up to 0.1 s"
        }
        Problem::ClockSource { .. } => {
            "reading it takes a system call or a slow device, several times per request"
        }
        Problem::BusyMachine { .. } => {
            "other programs take a varying share of the processors from the run"
        }
        Problem::StolenTime { .. } => {
            "the hypervisor runs other machines on the same processors, and this one stalls while \
             they run"
        }
        Problem::Timer { .. } => {
            "requests are sent late by this time, which the check send-lag of a run judges"
        }
        Problem::Unreached { .. } => {
            "a run connects to every host of its target, and does not begin without one of them"
        }
        Problem::SameProcessors => {
            "it competes with the load generator for the processors, more at higher rates"
        }
        Problem::NotDurable { setting, .. } => risked_loss(*setting),
        Problem::BufferPool { .. } => {
            "this is the default of a server that was not configured: more data than that is read \
             again and again"
        }
    }
}

/// Returns a description of the loss that a setting risks.
fn risked_loss(setting: DurableSetting) -> &'static str {
    match setting {
        DurableSetting::Fsync => {
            "nothing waits for the disk, and a power failure destroys the database: no production \
             server is as fast"
        }
        DurableSetting::SynchronousCommit => {
            "commits do not wait for the disk, and the last ones are lost in a power failure"
        }
        DurableSetting::FullPageWrites => {
            "the log is shorter than that of production servers, which must survive a torn page"
        }
        DurableSetting::FlushLog => {
            "commits do not wait for the disk, and those of the last second are lost in a power \
             failure"
        }
        DurableSetting::DoubleWrite => {
            "pages are written once, and one that is torn in a power failure is lost"
        }
        DurableSetting::SyncBinlog => {
            "the binary log does not wait for the disk as commits do, and replicas may lose some"
        }
        DurableSetting::SqliteSynchronous => {
            "nothing waits for the disk, and a power failure destroys the database"
        }
    }
}

/// Returns the command that fixes the problem, or advice. `input` has the facts of this machine.
pub(crate) fn remedy(problem: &Problem, input: &DoctorInput) -> Cow<'static, str> {
    let text = match problem {
        Problem::Governor { .. } => "sudo cpupower frequency-set -g performance",
        Problem::Swap { .. } => "sudo swapoff -a && sudo swapon -a",
        Problem::OpenFiles { .. } => "ulimit -n 65536, which an administrator may have to allow",
        Problem::CpuQuota { processors, .. } => {
            return Cow::Owned(format!(
                "docker update --cpus={processors} CONTAINER, or systemctl set-property UNIT \
                 CPUQuota="
            ));
        }
        Problem::ClockSource { .. } => {
            "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"
        }
        Problem::BusyMachine { .. } => "top -o %CPU",
        Problem::StolenTime { .. } => "use a machine with dedicated processors",
        Problem::Timer { late: _, condition } => remedy_of_late_sleeps(*condition),
        Problem::Unreached { .. } => "make it accept connections, or leave it out of the URL",
        Problem::SameProcessors => {
            return separate_processors(known(&input.host, host::CPU_ALLOWED));
        }
        Problem::NotDurable { setting, .. } => safe_setting(*setting),
        Problem::BufferPool { setting, memory_bytes, .. } => {
            return Cow::Owned(larger_buffer(*setting, *memory_bytes));
        }
    };
    Cow::Borrowed(text)
}

/// Returns the remedy for a server that shares this machine's processors with the load generator.
/// `usable` is the list of the processors that this process may use, such as `0-3,6`; `None` if it
/// is unknown.
fn separate_processors(usable: Option<&str>) -> Cow<'static, str> {
    const ELSEWHERE: &str = "run assay on another machine";
    match usable.and_then(without_last_processor) {
        None => Cow::Borrowed(ELSEWHERE),
        Some((server, generator)) => Cow::Owned(format!(
            "{ELSEWHERE}, or give both their own processors: taskset -apc {server} PID for the \
             server, assay run FILE --cpus {generator}"
        )),
    }
}

/// Splits an ascending list of processors into the list without the last one, and the last one;
/// `None` if there is only one.
fn without_last_processor(list: &str) -> Option<(String, u32)> {
    let (before, range) = match list.rsplit_once(',') {
        Some((before, range)) => (Some(before), range),
        None => (None, list),
    };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    let shorter = match last.checked_sub(first)? {
        0 => None,
        1 => Some(first.to_string()),
        _ => Some(format!("{first}-{}", last - 1)),
    };
    let others: Vec<&str> = before.into_iter().chain(shorter.as_deref()).collect();
    (!others.is_empty()).then(|| (others.join(","), last))
}

/// Returns the remedy for late sleeps.
fn remedy_of_late_sleeps(condition: SleepCondition) -> &'static str {
    match condition {
        SleepCondition::BusyMachine => {
            "end or move the programs that top -o %CPU shows, then run assay doctor again"
        }
        SleepCondition::StolenTime => "use a machine with dedicated processors",
        SleepCondition::CpuQuota => {
            "raise the quota that cpu-quota names, then run assay doctor again"
        }
        SleepCondition::SingleProcessor => {
            "use a machine with two processors or more, where assay run FILE --spin can keep one \
             busy"
        }
        SleepCondition::UseUnknown => {
            "assay run FILE --spin, if top shows that a processor is idle"
        }
        SleepCondition::Idle => {
            "assay run FILE --spin, which keeps one of the idle processors busy"
        }
    }
}

/// Returns the command that makes a setting safe.
fn safe_setting(setting: DurableSetting) -> &'static str {
    match setting {
        DurableSetting::Fsync => {
            "psql -c 'alter system set fsync = on' -c 'select pg_reload_conf()'"
        }
        DurableSetting::SynchronousCommit => {
            "psql -c 'alter system set synchronous_commit = on' -c 'select pg_reload_conf()'"
        }
        DurableSetting::FullPageWrites => {
            "psql -c 'alter system set full_page_writes = on' -c 'select pg_reload_conf()'"
        }
        DurableSetting::FlushLog => "mysql -e 'set global innodb_flush_log_at_trx_commit = 1'",
        DurableSetting::DoubleWrite => {
            "write innodb_doublewrite = ON into the server's configuration and restart it"
        }
        DurableSetting::SyncBinlog => "mysql -e 'set global sync_binlog = 1'",
        DurableSetting::SqliteSynchronous => "leave synchronous=off out of the URL",
    }
}

/// Returns the command that enlarges a buffer to a quarter of the memory, or the advice to do so if
/// the size of the memory is unknown.
fn larger_buffer(setting: BufferSetting, memory_bytes: Option<u64>) -> String {
    match (setting, memory_bytes.map(|memory| memory / 4)) {
        (BufferSetting::SharedBuffers, Some(quarter)) => format!(
            "psql -c \"alter system set shared_buffers = '{}MB'\", and restart the server",
            quarter >> 20
        ),
        (BufferSetting::InnodbBufferPool, Some(quarter)) => {
            format!("mysql -e 'set global innodb_buffer_pool_size = {quarter}'")
        }
        (BufferSetting::SharedBuffers, None) => {
            "set shared_buffers to a quarter of the server's memory, and restart the server"
                .to_owned()
        }
        (BufferSetting::InnodbBufferPool, None) => {
            "set innodb_buffer_pool_size to a quarter of the server's memory".to_owned()
        }
    }
}

/// Returns the reason why a check was not possible.
pub(crate) fn not_possible(missing: MissingFact) -> Cow<'static, str> {
    Cow::Borrowed(match missing {
        MissingFact::Governor => {
            "the system shows no governor; in a virtual machine its host controls it"
        }
        MissingFact::UsedSwap => "the system does not show the used swap",
        MissingFact::OpenFiles => "the system does not show the limit of open files",
        MissingFact::ControlGroups => "the control groups of this process cannot be read",
        MissingFact::ProcessorCount => "the number of processors cannot be read",
        MissingFact::ClockSource => "the system does not show its clock source",
        MissingFact::ProcessorUse => "the system does not show the use of its processors",
        MissingFact::Timer => "the system provides no timer",
        MissingFact::ServerAddress => "the server's name has no address",
        MissingFact::Setting(name) => {
            return Cow::Owned(format!("the server does not show {name}"));
        }
    })
}

/// Formats a number of bytes in the units used for memory settings.
fn mebibytes(bytes: u64) -> String {
    match bytes >> 20 {
        small @ 0..10_240 => format!("{small} MiB"),
        large => format!("{} GiB", large >> 10),
    }
}
