//! The metrics of observed components: one table with the name, unit and kind of each.
//!
//! Samplers write the metrics and checks look them up by these constants, so a misspelt name does
//! not compile. Metrics whose names come from a server, such as waits and the server's own
//! statistics, are not in the table. [`ComponentKind::has_own_names`] lists their components, and
//! [`crate::statistic`] has the statistics that checks use. The list in `docs/record.md` is
//! generated from [`GROUPS`].

use crate::component::{ComponentKind, MeasuredSide};

/// A metric of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedMetric {
    /// Name of the metric in records.
    pub name: &'static str,
    /// Unit of the values, such as `s` or `connections`; empty for a fraction or an identifier.
    pub unit: &'static str,
    /// Behaviour of the values over time.
    pub kind: MetricKind,
    /// Meaning of the values, for the documentation.
    pub meaning: &'static str,
}

/// The behaviour of a metric's values over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A sum that only grows, unless it is reset.
    Counter,
    /// A value at an instant.
    Gauge,
}

impl MetricKind {
    /// Returns the name of this kind in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
        }
    }
}

/// The metrics of one kind of component.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Names of the components, as Markdown.
    pub components: &'static str,
    /// The metrics of these components.
    pub metrics: &'static [ObservedMetric],
}

/// Defines a module of constants for each kind of component, and the table of all metrics.
macro_rules! metrics {
    ($(
        $(#[$doc:meta])*
        $module:ident $components:literal {
            $($constant:ident $kind:ident $name:literal $unit:literal $meaning:literal;)+
        }
    )+) => {
        $(
            $(#[$doc])*
            pub mod $module {
                use super::{ObservedMetric, MetricKind};

                $(
                    #[doc = concat!("`", $name, "`: ", $meaning, ".")]
                    pub const $constant: ObservedMetric = ObservedMetric {
                        name: $name,
                        unit: $unit,
                        kind: MetricKind::$kind,
                        meaning: $meaning,
                    };
                )+

                /// All metrics of these components.
                pub const ALL: &[ObservedMetric] = &[$($constant),+];
            }
        )+

        /// All metrics by component, in the order of the documentation.
        pub const GROUPS: &[Group] =
            &[$(Group { components: $components, metrics: $module::ALL }),+];
    };
}

metrics! {
    /// Metrics of a thread that sends requests.
    lane "`lane-0`, `lane-1`, …" {
        RAN Counter "ran" "s" "time for which this thread has run";
        WAITED Counter "waited" "s" "time for which it was ready to run and had no processor";
    }

    /// Metrics of a whole machine.
    host "`host`" {
        PROCESSORS Counter "processors" "s" "time of all processors";
        USER Counter "user" "s" "time of all processors in programs";
        SYSTEM Counter "system" "s" "time in the kernel";
        BUSY Counter "busy" "s" "time in which processors worked";
        STOLEN Counter "stolen" "s" "time that a hypervisor gave to others";
        IOWAIT Counter "iowait" "s" "idle time in which a task waited for a disk";
        SOFTIRQ Counter "softirq" "s" "time in soft interrupts";
        FREQUENCY Gauge "frequency" "MHz" "mean frequency of the processors, if known";
        WALL_CLOCK Gauge "wall-clock" "s" "drift of the wall clock against the monotonic one";
        RUN_QUEUE Gauge "run-queue" "tasks" "tasks that run or are ready to";
        BLOCKED Gauge "blocked" "tasks" "tasks that wait for a disk";
        CONTEXT_SWITCHES Counter "context-switches" "switches" "context switches";
        PRESSURE_CPU Counter "pressure-cpu" "s"
            "time in which some task lacked a processor (`/proc/pressure`)";
        PRESSURE_MEMORY Counter "pressure-memory" "s" "time in which some task lacked memory";
        PRESSURE_MEMORY_FULL Counter "pressure-memory-full" "s"
            "time in which all tasks lacked memory";
        PRESSURE_IO Counter "pressure-io" "s" "time in which some task waited for I/O";
        PRESSURE_IO_FULL Counter "pressure-io-full" "s" "time in which all tasks waited for I/O";
        MEMORY Gauge "memory" "bytes" "memory of the machine";
        AVAILABLE Gauge "available" "bytes" "memory available to programs";
        SWAP_USED Gauge "swap-used" "bytes" "swap in use";
        DIRTY Gauge "dirty" "bytes" "memory that waits to be written to disks";
        SWAPPED_IN Counter "swapped-in" "pages" "pages read from swap";
        SWAPPED_OUT Counter "swapped-out" "pages" "pages written to swap";
        MAJOR_FAULTS Counter "major-faults" "faults" "page faults that read from a disk";
        TCP_SEGMENTS Counter "tcp-segments" "segments" "TCP segments sent";
        TCP_RETRANSMITS Counter "tcp-retransmits" "segments" "TCP segments retransmitted";
        OTHER_PROGRAMS Counter "other-programs" "s"
            "processor time of the programs that are neither the load generator nor the database, \
             since the first sample";
        UNIDENTIFIED_TARGETS Gauge "unidentified-targets" "servers"
            "servers of named targets on this machine whose processes are not identified and may \
             count as other programs; only if there are named targets on this machine";
        CLOCK_OFFSET Gauge "clock-offset" "s"
            "lead of the clock of [another machine](observe.md#other-machines) over the load \
             generator's; times of its samples are converted to the load generator's clock";
    }

    /// Metrics of one processor.
    processor "`cpu 0`, `cpu 1`, …" {
        TOTAL Counter "total" "s" "time of this processor";
        USER Counter "user" "s" "time in programs";
        SYSTEM Counter "system" "s" "time in the kernel";
        BUSY Counter "busy" "s" "time in which it worked";
        STOLEN Counter "stolen" "s" "time that a hypervisor gave to others";
        IOWAIT Counter "iowait" "s" "idle time in which a task waited for a disk";
        SOFTIRQ Counter "softirq" "s" "time in soft interrupts";
    }

    /// Metrics of a disk.
    disk "`disk sda`, …" {
        READS Counter "reads" "operations" "reads";
        WRITES Counter "writes" "operations" "writes";
        FLUSHES Counter "flushes" "operations" "flushes, which kernels report from 5.5 on";
        READ_BYTES Counter "read-bytes" "bytes" "bytes read";
        WRITTEN_BYTES Counter "written-bytes" "bytes" "bytes written";
        READ_TIME Counter "read-time" "s" "times of all reads, added up";
        WRITE_TIME Counter "write-time" "s" "times of all writes, added up";
        FLUSH_TIME Counter "flush-time" "s" "times of all flushes, added up";
        BUSY Counter "busy" "s" "time with at least one operation in flight";
        QUEUE_TIME Counter "queue-time" "s" "times of all operations in flight, added up";
    }

    /// Metrics of a network interface.
    interface "`interface eth0`, …" {
        RECEIVED_BYTES Counter "received-bytes" "bytes" "bytes received";
        SENT_BYTES Counter "sent-bytes" "bytes" "bytes sent";
        RECEIVED_PACKETS Counter "received-packets" "packets" "packets received";
        SENT_PACKETS Counter "sent-packets" "packets" "packets sent";
        DROPPED Counter "dropped" "packets" "packets dropped, in either direction";
        ERRORS Counter "errors" "packets" "packets with errors, in either direction";
        SPEED Gauge "speed" "bytes/s" "speed of the link, if known";
    }

    /// Metrics of the processes of either side. One side is this process or the observed program;
    /// the other is all processes of the database on this host.
    processes "`generator`, `server`" {
        PROCESSES Gauge "processes" "processes"
            "processes of the load generator (or of the observed program), or of the database on \
             this host";
        THREADS Gauge "threads" "threads" "their threads";
        USER Counter "user" "s"
            "processor time in programs of all of them, including those that ended since the first \
             sample";
        SYSTEM Counter "system" "s" "the same in the kernel";
        WAITED Counter "waited" "s" "time for which they were ready to run and had no processor";
        BUSIEST Gauge "busiest" ""
            "fraction of one processor that the busiest thread has had since the previous sample, \
             0 to 1";
        PROCESSORS Gauge "processors" "processors" "processors on which they may run";
        RESIDENT Gauge "resident" "bytes" "memory in use";
        READ_BYTES Counter "read-bytes" "bytes" "bytes read from disks";
        WRITTEN_BYTES Counter "written-bytes" "bytes" "bytes written to disks";
        VOLUNTARY_SWITCHES Counter "voluntary-switches" "switches"
            "context switches of threads that began to wait";
        INVOLUNTARY_SWITCHES Counter "involuntary-switches" "switches"
            "context switches of threads that lost their processor";
        MAJOR_FAULTS Counter "major-faults" "faults" "page faults that read from a disk";
    }

    /// Metrics of the load generator alone.
    generator "`generator`" {
        STALL Gauge "stall" "s"
            "length of a stall of the process, from `at_s` on; only stalls of 10 ms or more";
        OBSERVING Counter "observing" "s" "processor time of the sampling threads";
    }

    /// Metrics of the database's processes alone.
    server "`server`" {
        PROXIES Gauge "proxies" "processes"
            "processes that accept the target's connections, if they are proxies: either all have \
             the name of a proxy (pgbouncer, pgpool, odyssey, pgcat, ProxySQL, MaxScale, MySQL \
             Router, HAProxy, Envoy, nginx, Toxiproxy) or of a tunnel (ssh, socat, stunnel, \
             kubectl, docker-proxy, rootlessport), or there is only one process, and it is \
             connected to a database or to such a proxy on this host";
    }

    /// Metrics of the database's processes behind a proxy.
    upstream "`upstream`" {
        PROCESSES Gauge "processes" "processes"
            "processes of the database on this host that the proxy's connections lead to";
        USER Counter "user" "s"
            "processor time in programs of all of them, including those that ended since they were \
             found";
        SYSTEM Counter "system" "s" "the same in the kernel";
        PROCESSORS Gauge "processors" "processors" "processors on which they may run";
    }

    /// Metrics of the server's processes that do one kind of background work.
    role "`server checkpointer`, …" {
        USER Counter "user" "s"
            "processor time in programs of the processes that do one kind of background work";
        SYSTEM Counter "system" "s" "the same in the kernel";
        READ_BYTES Counter "read-bytes" "bytes" "bytes that they read from disks";
        WRITTEN_BYTES Counter "written-bytes" "bytes" "bytes that they wrote to disks";
    }

    /// Metrics of the programs of one name that belong to neither side.
    program "`program cc1plus`, …" {
        USED Counter "used" "s"
            "processor time of all processes of this name, including ended children, since the \
             first sample; reported from 0.1 s and 1 % of a processor on, for at most 16 programs";
        PROCESSES Gauge "processes" "processes" "number of them";
        PID Gauge "pid" "" "the process that has used most";
    }

    /// Metrics of the connections between the two sides, from the view of one side.
    sockets "`sockets generator`, `sockets server`" {
        CONNECTIONS Gauge "connections" "connections"
            "connections between the two, as that side sees them";
        RECEIVE_QUEUE Gauge "receive-queue" "bytes" "unread bytes in all of them";
        SEND_QUEUE Gauge "send-queue" "bytes" "unsent bytes in all of them";
        WITH_RECEIVE_QUEUE Gauge "with-receive-queue" "connections"
            "connections with unread bytes";
        WITH_SEND_QUEUE Gauge "with-send-queue" "connections" "connections with unsent bytes";
        AWAITING Gauge "awaiting" "connections"
            "of `sockets generator`: connections whose last data was sent and has no answer yet";
        IN_ONE_TICK Gauge "in-one-tick" "connections"
            "of `sockets generator`: connections in use whose last data was sent and received in \
             one tick of the kernel, as of a request at once after an answer";
        BUSY Counter "busy" "s"
            "time in which a connection had unsent or unacknowledged data (`TCP_INFO`), added up";
        RECEIVER_LIMITED Counter "receiver-limited" "s"
            "time in which the other side's window limited it, added up";
        BUFFER_LIMITED Counter "buffer-limited" "s"
            "time in which its own buffer limited it, added up";
        ROUND_TRIP Gauge "round-trip" "s" "mean of the connections' smoothed round trips";
        ROUND_TRIP_LEAST Gauge "round-trip-least" "s" "shortest round trip of any connection";
        RETRANSMITS Counter "retransmits" "segments" "segments retransmitted";
        DATA_SENT Counter "data-sent" "segments" "segments with data, sent";
        DATA_RECEIVED Counter "data-received" "segments" "segments with data, received";
        BYTES_SENT Counter "bytes-sent" "bytes" "bytes acknowledged by the other side";
        BYTES_RECEIVED Counter "bytes-received" "bytes" "bytes received from the other side";
    }

    /// Metrics of a pooler between an observed program and the database.
    pooler "`pooler pgbouncer`, …" {
        SESSIONS Gauge "sessions" "connections" "its connections to servers";
        WORKING Gauge "working" "connections"
            "those of them that wait for an answer, if all of them use TCP";
    }

    /// Metrics of the control group of one side.
    cgroup "`cgroup generator`, `cgroup server`" {
        QUOTA Gauge "quota" "processors" "processors that the group may use, if limited";
        THROTTLED Counter "throttled" "s" "time for which it was throttled";
        MEMORY Gauge "memory" "bytes" "memory in use, if limited";
        MEMORY_LIMIT Gauge "memory-limit" "bytes" "memory that it may use, if limited";
        PRESSURE_MEMORY Counter "pressure-memory" "s"
            "time in which some task of the group lacked memory, if that is limited (version 2)";
    }

    /// Metrics of the database's sessions. The counters are sums over all samples of the sessions.
    sessions "`sessions`" {
        SAMPLES Counter "looks" "looks"
            "samples of the database's sessions (10 per second); other counters divided by this \
             one are means";
        ACTIVE Counter "active" "sessions"
            "sessions of this load generator that run a statement (of all clients, if none of them \
             is its own, as when another program is observed)";
        IDLE Counter "idle" "sessions" "those that wait for their client outside of a transaction";
        IDLE_IN_TRANSACTION Counter "idle-in-transaction" "sessions"
            "those that wait for their client within a transaction";
        PARALLEL_WORKERS Counter "parallel-workers" "sessions"
            "parallel workers of these sessions (PostgreSQL)";
        OTHERS Counter "others" "sessions"
            "sessions of clients that are not this load generator's ([how they are \
             recognised](observe.md#sessions-of-others)) and that run a statement without waiting, \
             and their parallel workers (PostgreSQL)";
        IDENTIFIED Counter "identified" "sessions"
            "sessions whose client socket belongs to the observed program";
        NOTHING_WAITS Counter "nothing-waits" "sessions"
            "those of them that wait for the program with both sockets empty";
        UNREAD_REQUEST Counter "unread-request" "sessions"
            "those with a request in the server's socket";
        UNREAD_ANSWER Counter "unread-answer" "sessions"
            "those with an answer in the program's socket";
        SPARE Counter "spare" "sessions"
            "sessions that have been idle for 5 s; they are in no other count";
        PAUSED Counter "paused" "sessions"
            "sessions with both sockets empty, in the middle of a statement or for 4 to 8 ms since \
             the last byte in either direction";
        MOST Gauge "most" "sessions"
            "largest number that the server admits (`max_connections`)";
    }

    /// Metrics that the server itself counted. They are read before the connections of the jobs are
    /// opened, and again when these connections are closed.
    database "`database`" {
        COMMITS Counter "commits" "transactions or statements"
            "commits by the server's own count, before the connections of the jobs were opened (at \
             0) and when they were closed: PostgreSQL's transactions, the statements `commit` of \
             MySQL and MariaDB";
        ROLLBACKS Counter "rollbacks" "transactions" "PostgreSQL: transactions rolled back";
        STATEMENTS Counter "statements" "statements" "MySQL and MariaDB: all statements";
        COMMITS_OF_ASSAY Counter "commits-of-assay" "transactions or statements"
            "Assay's own commits, other than requests, until then; only differences are meaningful";
        STATEMENTS_OF_ASSAY Counter "statements-of-assay" "statements"
            "Assay's own statements, other than requests, at least";
        STATEMENTS_OF_ASSAY_AT_MOST Counter "statements-of-assay-at-most" "statements"
            "the same, at most";
        COUNTED_SINCE Gauge "counted-since" "s" "start of the server's counters, since 1970";
        COUNTED_FOR Gauge "counted-for" "s" "age of the server's counters";
        CHECKPOINTS_TIMED Counter "checkpoints-timed" "checkpoints"
            "PostgreSQL: checkpoints that were due";
        CHECKPOINTS_REQUESTED Counter "checkpoints-requested" "checkpoints"
            "PostgreSQL: checkpoints that were requested";
        LOG_WRITTEN Counter "log-written" "bytes" "log written by the server";
        LOG_CAPACITY Gauge "log-capacity" "bytes" "the server's capacity for the log";
        PURGE_BACKLOG Gauge "purge-backlog" "transactions" "length of InnoDB's history list";
    }

    /// Sizes of the database and of its largest tables, read once when the jobs have ended.
    storage "`storage`, `table orders`, …" {
        LOGICAL Gauge "logical-bytes" "bytes"
            "size of the database, or of a table with its indexes, by the server's account: \
             PostgreSQL `pg_database_size` and `pg_total_relation_size`, MySQL and MariaDB \
             `FILE_SIZE` of the tablespace, SQLite the length of the file";
        ALLOCATED Gauge "allocated-bytes" "bytes"
            "bytes that its files occupy on the disk: their blocks, if the files can be seen from \
             here; else `ALLOCATED_SIZE` of MySQL and MariaDB, and of PostgreSQL the logical size";
    }
}

/// Metric of [`ComponentKind::Waits`] for active sessions that do not wait.
pub const RUNNING: &str = "cpu";

/// Metrics of [`ComponentKind::Waits`] for active sessions that wait for data from their clients:
/// the first for PostgreSQL, the second for MySQL and MariaDB.
pub const CLIENT_READ: [&str; 2] = ["Client:ClientRead", "Client:read"];

/// Metrics of [`ComponentKind::Waits`] for active sessions whose answers wait until the client
/// reads them: the first for PostgreSQL, the second for MySQL and MariaDB.
pub const CLIENT_WRITE: [&str; 2] = ["Client:ClientWrite", "Client:write"];

/// Metric of [`ComponentKind::Background`] for the work of a checkpoint.
pub const CHECKPOINT: &str = "checkpoint";

/// Metric of [`ComponentKind::Background`] for a base backup.
pub const BASE_BACKUP: &str = "base backup";

/// First words of the metrics of [`ComponentKind::Background`] for maintenance of a table that
/// PostgreSQL starts on its own.
pub const AUTOVACUUM: [&str; 2] = ["autovacuum", "autoanalyze"];

/// Returns the metrics of a kind of component, in two lists. The second has the metrics that only
/// one side of a measurement has, and is empty for most kinds. Both lists are empty for a kind
/// whose metrics have names that come from a server.
pub fn metrics_of(kind: &ComponentKind) -> [&'static [ObservedMetric]; 2] {
    match kind {
        ComponentKind::Lane(_) => [lane::ALL, &[]],
        ComponentKind::Host => [host::ALL, &[]],
        ComponentKind::Processor(_) => [processor::ALL, &[]],
        ComponentKind::Disk(_) => [disk::ALL, &[]],
        ComponentKind::Interface(_) => [interface::ALL, &[]],
        ComponentKind::Processes(MeasuredSide::Generator) => [processes::ALL, generator::ALL],
        ComponentKind::Processes(MeasuredSide::Server) => [processes::ALL, server::ALL],
        ComponentKind::Upstream => [upstream::ALL, &[]],
        ComponentKind::Role(_) => [role::ALL, &[]],
        ComponentKind::Program(_) => [program::ALL, &[]],
        ComponentKind::Pooler(_) => [pooler::ALL, &[]],
        ComponentKind::Sockets(_) => [sockets::ALL, &[]],
        ComponentKind::Cgroup(_) => [cgroup::ALL, &[]],
        ComponentKind::Sessions => [sessions::ALL, &[]],
        ComponentKind::Database => [database::ALL, &[]],
        ComponentKind::Storage | ComponentKind::Table(_) => [storage::ALL, &[]],
        ComponentKind::Waits
        | ComponentKind::Locks
        | ComponentKind::Statements
        | ComponentKind::Background
        | ComponentKind::Statistics => [&[], &[]],
    }
}

impl ObservedMetric {
    /// Returns true if the given kind of component has a metric of this name.
    pub fn belongs_to(self, kind: &ComponentKind) -> bool {
        metrics_of(kind).into_iter().flatten().any(|metric| metric.name == self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_component_are_distinct() {
        for kind in [
            ComponentKind::Lane(0),
            ComponentKind::Host,
            ComponentKind::Processor(0),
            ComponentKind::Disk(String::new()),
            ComponentKind::Interface(String::new()),
            ComponentKind::Processes(MeasuredSide::Generator),
            ComponentKind::Processes(MeasuredSide::Server),
            ComponentKind::Upstream,
            ComponentKind::Role(String::new()),
            ComponentKind::Program(String::new()),
            ComponentKind::Pooler(String::new()),
            ComponentKind::Sockets(MeasuredSide::Server),
            ComponentKind::Cgroup(MeasuredSide::Server),
            ComponentKind::Sessions,
            ComponentKind::Database,
            ComponentKind::Storage,
            ComponentKind::Table(String::new()),
        ] {
            let all: Vec<&str> =
                metrics_of(&kind).into_iter().flatten().map(|metric| metric.name).collect();
            let mut names = all.clone();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all.len(), "{kind}: {all:?}");
            assert!(!all.is_empty(), "{kind}");
        }
    }

    #[test]
    fn metric_belongs_to_its_components_only() {
        assert!(disk::QUEUE_TIME.belongs_to(&ComponentKind::Disk("sda".to_owned())));
        assert!(generator::STALL.belongs_to(&ComponentKind::Processes(MeasuredSide::Generator)));
        assert!(!generator::STALL.belongs_to(&ComponentKind::Processes(MeasuredSide::Server)));
        assert!(!disk::QUEUE_TIME.belongs_to(&ComponentKind::Statistics));
    }

    #[test]
    fn metric_meanings_fit_a_table_cell() {
        for metric in GROUPS.iter().flat_map(|group| group.metrics) {
            assert!(!metric.meaning.contains(['|', '\n']), "{}", metric.name);
            assert!(!metric.meaning.ends_with('.'), "{}", metric.name);
        }
    }
}
