//! Sentences about the findings of checks before a run.

use analyze::doctor::{
    BufferSetting, DoctorInput, DurableSetting, Lateness, MissingFact, Problem, SleepCondition,
};
use base::Nanos;
use record::environment::{UNKNOWN, host};

use super::assert_complete;
use crate::words::doctor::{self, importance, not_possible, problem};

/// A problem with its sentence and the beginning of its remedy.
type ExpectedSentence = (Problem, &'static str, &'static str);

/// Number of problems, by their innermost variants.
const ALL: usize = 18;

fn place(problem: &Problem) -> usize {
    match problem {
        Problem::Governor { .. } => 0,
        Problem::Swap { .. } => 1,
        Problem::OpenFiles { .. } => 2,
        Problem::CpuQuota { .. } => 3,
        Problem::ClockSource { .. } => 4,
        Problem::BusyMachine { .. } => 5,
        Problem::StolenTime { .. } => 6,
        Problem::Timer { .. } => 7,
        Problem::SameProcessors => 8,
        Problem::NotDurable { setting, .. } => {
            9 + DurableSetting::ALL.iter().position(|it| it == setting).unwrap()
        }
        Problem::BufferPool { .. } => 16,
        Problem::Unreached { .. } => 17,
    }
}

/// Returns the remedy on a machine without known facts.
fn remedy(problem: &Problem) -> String {
    doctor::remedy(problem, &DoctorInput::default()).into_owned()
}

fn timer(condition: SleepCondition) -> Problem {
    let [p99, max] = [450, 1_200].map(Nanos::from_micros);
    Problem::Timer { late: Lateness { count: 300, p99, max }, condition }
}

fn durable(setting: DurableSetting, value: &str) -> Problem {
    Problem::NotDurable { setting, value: value.to_owned() }
}

fn of_machine() -> Vec<ExpectedSentence> {
    vec![
        (
            Problem::Governor { governor: "powersave".to_owned() },
            "the governor of the processors is powersave",
            "sudo cpupower frequency-set",
        ),
        (Problem::Swap { used_bytes: 100 << 20 }, "100 MiB of memory are in swap", "sudo swapoff"),
        (
            Problem::OpenFiles { limit: "1024".to_owned() },
            "this process may open 1,024 files",
            "ulimit -n 65536",
        ),
        (
            Problem::CpuQuota { quota: "1.5".to_owned(), processors: 8.0 },
            "a control group allows 1.5 of 8 processors",
            "docker update --cpus=8 CONTAINER",
        ),
        (
            Problem::ClockSource { source: "hpet".to_owned() },
            "the clock source is hpet",
            "echo tsc | sudo tee",
        ),
        (
            Problem::BusyMachine { busy: 0.5, load: None },
            "50 % of the processors are at work",
            "top -o %CPU",
        ),
        (
            Problem::BusyMachine { busy: 0.5, load: Some(4.1) },
            "50 % of the processors are at work, and the load average of the last minute is 4.10",
            "top -o %CPU",
        ),
        (
            Problem::StolenTime { share: 0.02 },
            "2.0 % of the processors' time is stolen",
            "use a machine with dedicated processors",
        ),
        (
            timer(SleepCondition::Idle),
            "one in a hundred of 300 sleeps of 1 ms ends more than 450 µs late, the latest 1,200 \
             µs",
            "assay run FILE --spin, which keeps",
        ),
    ]
}

fn of_server() -> Vec<ExpectedSentence> {
    let pool = |setting, memory_bytes| Problem::BufferPool {
        setting,
        size_bytes: 128 << 20,
        memory_bytes,
    };
    vec![
        (
            Problem::Unreached { reason: "db2:5432 refused".to_owned() },
            "the server cannot be reached: db2:5432 refused",
            "make it accept connections",
        ),
        (Problem::SameProcessors, "the server is on this machine", "run assay on another machine"),
        (durable(DurableSetting::Fsync, "off"), "fsync is off", "psql -c 'alter system set fsync"),
        (
            durable(DurableSetting::SynchronousCommit, "off"),
            "synchronous_commit is off",
            "psql -c 'alter system set synchronous_commit",
        ),
        (
            durable(DurableSetting::FullPageWrites, "off"),
            "full_page_writes is off",
            "psql -c 'alter system set full_page_writes",
        ),
        (
            durable(DurableSetting::FlushLog, "2"),
            "innodb_flush_log_at_trx_commit is 2",
            "mysql -e 'set global innodb_flush_log_at_trx_commit = 1'",
        ),
        (
            durable(DurableSetting::DoubleWrite, "OFF"),
            "innodb_doublewrite is OFF",
            "write innodb_doublewrite = ON",
        ),
        (
            durable(DurableSetting::SyncBinlog, "0"),
            "sync_binlog is 0",
            "mysql -e 'set global sync_binlog = 1'",
        ),
        (
            durable(DurableSetting::SqliteSynchronous, "0"),
            "synchronous is 0",
            "leave synchronous=off out of the URL",
        ),
        (
            pool(BufferSetting::SharedBuffers, Some(16 << 30)),
            "shared_buffers is 128 MiB of 16 GiB of memory",
            "psql -c \"alter system set shared_buffers = '4096MB'\", and restart the server",
        ),
        (
            pool(BufferSetting::InnodbBufferPool, Some(16 << 30)),
            "innodb_buffer_pool_size is 128 MiB of 16 GiB of memory",
            "mysql -e 'set global innodb_buffer_pool_size = 4294967296'",
        ),
        (
            pool(BufferSetting::SharedBuffers, None),
            "shared_buffers is 128 MiB",
            "set shared_buffers to a quarter of the server's memory, and restart the server",
        ),
        (
            pool(BufferSetting::InnodbBufferPool, None),
            "innodb_buffer_pool_size is 128 MiB",
            "set innodb_buffer_pool_size to a quarter of the server's memory",
        ),
    ]
}

#[test]
fn every_problem_of_the_doctor_has_a_sentence() {
    let all = [of_machine(), of_server()].concat();
    let sentences: Vec<String> = all.iter().map(|(it, ..)| problem(it)).collect();
    for ((it, expected, beginning), sentence) in all.iter().zip(&sentences) {
        assert_eq!(sentence, expected);
        assert!(remedy(it).starts_with(beginning), "{}", remedy(it));
        assert!(!importance(it).is_empty());
    }
    assert_complete(all.iter().map(|(it, ..)| place(it)), ALL, &sentences);
}

#[test]
fn remedy_for_a_server_on_this_machine_names_only_processors_of_the_machine() {
    let remedy = |usable: &str| {
        let fact = (host::CPU_ALLOWED.to_owned(), usable.to_owned());
        let input = DoctorInput { host: vec![fact], ..DoctorInput::default() };
        doctor::remedy(&Problem::SameProcessors, &input).into_owned()
    };
    for (usable, server, generator) in [
        ("0-1", "0", "1"),
        ("0-2", "0-1", "2"),
        ("0-7", "0-6", "7"),
        ("0,2", "0", "2"),
        ("2-3,5-6", "2-3,5", "6"),
    ] {
        let commands = format!("taskset -apc {server} PID for the server, ");
        let expected = format!(
            "run assay on another machine, or give both their own processors: {commands}assay run \
             FILE --cpus {generator}"
        );
        assert_eq!(remedy(usable), expected);
    }
    for usable in ["0", "3", UNKNOWN, ""] {
        assert_eq!(remedy(usable), "run assay on another machine");
    }
}

#[test]
fn spinning_is_recommended_only_where_a_processor_is_idle() {
    for condition in SleepCondition::ALL {
        let recommends = remedy(&timer(condition)).starts_with("assay run FILE --spin");
        let may_be_idle = [SleepCondition::Idle, SleepCondition::UseUnknown].contains(&condition);
        assert_eq!(recommends, may_be_idle, "{condition:?}");
    }
}

fn place_of_missing(missing: MissingFact) -> usize {
    match missing {
        MissingFact::Governor => 0,
        MissingFact::UsedSwap => 1,
        MissingFact::OpenFiles => 2,
        MissingFact::ControlGroups => 3,
        MissingFact::ProcessorCount => 4,
        MissingFact::ClockSource => 5,
        MissingFact::ProcessorUse => 6,
        MissingFact::Timer => 7,
        MissingFact::ServerAddress => 8,
        MissingFact::Setting(_) => 9,
    }
}

#[test]
fn every_missing_fact_has_a_sentence() {
    let all = [
        (
            MissingFact::Governor,
            "the system shows no governor; in a virtual machine its host controls it",
        ),
        (MissingFact::UsedSwap, "the system does not show the used swap"),
        (MissingFact::OpenFiles, "the system does not show the limit of open files"),
        (MissingFact::ControlGroups, "the control groups of this process cannot be read"),
        (MissingFact::ProcessorCount, "the number of processors cannot be read"),
        (MissingFact::ClockSource, "the system does not show its clock source"),
        (MissingFact::ProcessorUse, "the system does not show the use of its processors"),
        (MissingFact::Timer, "the system provides no timer"),
        (MissingFact::ServerAddress, "the server's name has no address"),
        (MissingFact::Setting("fsync"), "the server does not show fsync"),
    ];
    let sentences: Vec<String> = all.map(|(missing, _)| not_possible(missing).into()).into();
    for ((_, expected), sentence) in all.iter().zip(&sentences) {
        assert_eq!(sentence, expected);
    }
    assert_complete(all.map(|(missing, _)| place_of_missing(missing)), all.len(), &sentences);
}
