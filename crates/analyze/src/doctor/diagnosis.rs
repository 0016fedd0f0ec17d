//! The findings of checks before a run: typed numbers and names, without words.

use super::input::{DoctorInput, Lateness};

/// A problem that would spoil a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Name of the check.
    pub check: &'static str,
    /// Host and port of the server; `None` for the machine, and for the only server of a target.
    pub host: Option<String>,
    /// The problem.
    pub problem: Problem,
}

/// The problem that a check found.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The processors have a governor other than `performance`, which may lower their clock rate.
    Governor {
        /// Governors in use, as the system lists them.
        governor: String,
    },
    /// Memory is in swap.
    Swap {
        /// Number of bytes in swap.
        used_bytes: u64,
    },
    /// This process may open too few files.
    OpenFiles {
        /// Hard limit, as the system shows it.
        limit: String,
    },
    /// A control group allows fewer processors than there are.
    CpuQuota {
        /// Allowed number of processors, as the system shows it.
        quota: String,
        /// Number of processors.
        processors: f64,
    },
    /// The clock is slow to read.
    ClockSource {
        /// Name of the clock source.
        source: String,
    },
    /// Other programs use the processors, or did in the last minute.
    BusyMachine {
        /// Fraction of the processors at work, 0 to 1.
        busy: f64,
        /// Load average of the last minute; `None` if the system does not show it.
        load: Option<f64>,
    },
    /// A hypervisor takes processor time.
    StolenTime {
        /// Stolen fraction of the processors' time, 0 to 1.
        share: f64,
    },
    /// Sleeps end late.
    Timer {
        /// Lateness of the sleeps.
        late: Lateness,
        /// Condition that decides the remedy.
        condition: SleepCondition,
    },
    /// One of several servers cannot be reached.
    Unreached {
        /// The reason, without secrets.
        reason: String,
    },
    /// The server is on the machine of the load generator.
    SameProcessors,
    /// A setting lets commits or pages be lost in a power failure.
    NotDurable {
        /// The setting.
        setting: DurableSetting,
        /// Value of the setting on the server.
        value: String,
    },
    /// The buffer has no more than the default size of an unconfigured server.
    BufferPool {
        /// The setting with the size.
        setting: BufferSetting,
        /// Size in bytes.
        size_bytes: u64,
        /// Memory of the server's machine in bytes; `None` if that is a different machine.
        memory_bytes: Option<u64>,
    },
}

/// The condition of the processors that decides the remedy for late sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SleepCondition {
    /// Other programs keep the processors busy.
    BusyMachine,
    /// A hypervisor takes processor time.
    StolenTime,
    /// A control group limits this process.
    CpuQuota,
    /// The machine has one processor, or their number is unknown.
    SingleProcessor,
    /// The use of the processors is unknown.
    UseUnknown,
    /// None of the other conditions holds: a processor is idle.
    Idle,
}

impl SleepCondition {
    /// All conditions.
    pub const ALL: [SleepCondition; 6] = [
        SleepCondition::BusyMachine,
        SleepCondition::StolenTime,
        SleepCondition::CpuQuota,
        SleepCondition::SingleProcessor,
        SleepCondition::UseUnknown,
        SleepCondition::Idle,
    ];
}

/// A setting that decides whether commits or pages survive a power failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurableSetting {
    /// `fsync` of PostgreSQL.
    Fsync,
    /// `synchronous_commit` of PostgreSQL.
    SynchronousCommit,
    /// `full_page_writes` of PostgreSQL.
    FullPageWrites,
    /// `innodb_flush_log_at_trx_commit` of MySQL and MariaDB.
    FlushLog,
    /// `innodb_doublewrite` of MySQL and MariaDB.
    DoubleWrite,
    /// `sync_binlog` of MySQL and MariaDB.
    SyncBinlog,
    /// `synchronous` of SQLite.
    SqliteSynchronous,
}

impl DurableSetting {
    /// All settings.
    pub const ALL: [DurableSetting; 7] = [
        DurableSetting::Fsync,
        DurableSetting::SynchronousCommit,
        DurableSetting::FullPageWrites,
        DurableSetting::FlushLog,
        DurableSetting::DoubleWrite,
        DurableSetting::SyncBinlog,
        DurableSetting::SqliteSynchronous,
    ];

    /// Returns the name that the server gives to the setting.
    pub fn name(self) -> &'static str {
        match self {
            DurableSetting::Fsync => "fsync",
            DurableSetting::SynchronousCommit => "synchronous_commit",
            DurableSetting::FullPageWrites => "full_page_writes",
            DurableSetting::FlushLog => "innodb_flush_log_at_trx_commit",
            DurableSetting::DoubleWrite => "innodb_doublewrite",
            DurableSetting::SyncBinlog => "sync_binlog",
            DurableSetting::SqliteSynchronous => "synchronous",
        }
    }

    /// Returns true if commits and pages survive a power failure with this value. SQLite's `normal`
    /// is accepted, although it can lose commits with a write-ahead log.
    pub(super) fn is_safe(self, value: &str) -> bool {
        match self {
            DurableSetting::Fsync | DurableSetting::FullPageWrites => value == "on",
            DurableSetting::SynchronousCommit => value != "off",
            // With 3, MariaDB flushes the log twice at each commit.
            DurableSetting::FlushLog => ["1", "3"].contains(&value),
            DurableSetting::SyncBinlog => value == "1",
            // With `DETECT_ONLY`, MySQL notices a torn page but has no copy of it.
            DurableSetting::DoubleWrite => {
                !["off", "0", "false", "detect_only"].contains(&value.to_ascii_lowercase().as_str())
            }
            DurableSetting::SqliteSynchronous => !["off", "0"].contains(&value),
        }
    }
}

/// The setting with the size of a server's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSetting {
    /// `shared_buffers` of PostgreSQL.
    SharedBuffers,
    /// `innodb_buffer_pool_size` of MySQL and MariaDB.
    InnodbBufferPool,
}

impl BufferSetting {
    /// All settings.
    pub const ALL: [BufferSetting; 2] =
        [BufferSetting::SharedBuffers, BufferSetting::InnodbBufferPool];

    /// Returns the name that the server gives to the setting.
    pub fn name(self) -> &'static str {
        match self {
            BufferSetting::SharedBuffers => "shared_buffers",
            BufferSetting::InnodbBufferPool => "innodb_buffer_pool_size",
        }
    }
}

/// A check that was not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotPossible {
    /// Name of the check.
    pub check: &'static str,
    /// Host and port of the server; `None` for the machine, and for the only server of a target.
    pub host: Option<String>,
    /// The unknown fact that the check needs.
    pub missing: MissingFact,
}

/// An unknown fact that a check needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFact {
    /// Governor of the processors.
    Governor,
    /// Used swap.
    UsedSwap,
    /// Limit of open files.
    OpenFiles,
    /// Control groups of this process.
    ControlGroups,
    /// Number of processors.
    ProcessorCount,
    /// Clock source of the system.
    ClockSource,
    /// Use of the processors.
    ProcessorUse,
    /// A timer.
    Timer,
    /// Address of the server.
    ServerAddress,
    /// Value of a setting of the server, by its name.
    Setting(&'static str),
}

/// Result of all checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// Problems that would spoil a run.
    pub findings: Vec<Finding>,
    /// Checks that were not possible.
    pub not_possible: Vec<NotPossible>,
    /// Checks that passed; a check of servers only if it passed on every server.
    pub passed: Vec<&'static str>,
}

/// Result of a check.
pub(super) enum CheckOutcome {
    Fine,
    Found(Problem),
    NotPossible(MissingFact),
    /// The check does not apply.
    NotAsked,
}

/// A check with its name.
pub(super) type Check<T> = (&'static str, fn(&DoctorInput, &T) -> CheckOutcome);

impl Diagnosis {
    /// Adds the outcomes of a check, each with the host of its server.
    pub(super) fn add(
        &mut self,
        check: &'static str,
        outcomes: impl IntoIterator<Item = (Option<String>, CheckOutcome)>,
    ) {
        let (mut has_passed, mut has_objection) = (false, false);
        for (host, outcome) in outcomes {
            match outcome {
                CheckOutcome::Fine => has_passed = true,
                CheckOutcome::Found(problem) => {
                    has_objection = true;
                    self.findings.push(Finding { check, host, problem });
                }
                CheckOutcome::NotPossible(missing) => {
                    has_objection = true;
                    self.not_possible.push(NotPossible { check, host, missing });
                }
                CheckOutcome::NotAsked => {}
            }
        }
        if has_passed && !has_objection {
            self.passed.push(check);
        }
    }
}
