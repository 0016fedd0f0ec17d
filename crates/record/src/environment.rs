//! Names of the settings and facts that a record holds about the surroundings of a run.
//!
//! A fact is a name, such as `host.cpu.governor`, and a value. The names are constants by subject
//! ([`host`], [`network`], [`database`], …). Writers (`observe`, `driver`, `lab`) and all readers
//! use the same constants, so a misspelt name does not compile; `xtask tidy` finds names that are
//! written out elsewhere. Functions build the names that have a variable part.
//!
//! The names of facts about a named target contain the name of the target:
//! `TARGET.database.size_bytes`, `network.TARGET.path`. [`is_fact`] recognises these names too.

use std::net::IpAddr;

/// Value of a fact that cannot be read.
pub const UNKNOWN: &str = "unknown";

/// Value of a fact that does not apply, such as a limit that is not set, or the hypervisor of a
/// physical machine.
pub const NONE: &str = "none";

/// Text that a record holds in place of the value of a server's setting that may be a secret.
pub const HIDDEN_SETTING: &str = "hidden";

/// Value that a comparison of records uses for a server's setting that nobody has set. A record
/// itself lists only the settings that somebody has set.
pub const DEFAULT_SETTING: &str = "default";

/// Name of the setting that holds the product and version of a server. Every driver reports it.
pub const SERVER: &str = "server";

/// Value of [`SERVER`] for a simulated server.
pub const SIMULATED_SERVER: &str = "simulated";

/// Prefix of the names of facts about this program and its arguments.
pub const ASSAY: &str = "assay.";

/// Prefix of the names of facts about the configuration of the load generator.
pub const GENERATOR: &str = "generator.";

/// Prefix of the names of settings about the observed components.
pub const OBSERVE: &str = "observe.";

/// Prefix of the names of facts about the machine.
pub const HOST: &str = "host.";

/// Prefix of the names of facts about the path to a server.
pub const NETWORK: &str = "network.";

/// Prefix of the names of facts about the load generator's own cost on this machine, as measured by
/// `assay calibrate`.
pub const CALIBRATION: &str = "calibration.";

/// Prefix of the names of facts about a server. For a named target, the name of the target and a
/// dot come before this prefix.
pub const DATABASE: &str = "database.";

/// Defines, for each subject, a module with the names of its facts as constants.
macro_rules! facts {
    ($(
        $(#[$doc:meta])*
        $module:ident {
            $($constant:ident $name:literal $meaning:literal;)+
        }
    )+) => {
        $(
            $(#[$doc])*
            pub mod $module {
                $(
                    #[doc = concat!("`", $name, "`: ", $meaning, ".")]
                    pub const $constant: &str = $name;
                )+

                /// All names of this subject.
                pub const ALL: &[&str] = &[$($constant),+];
            }
        )+
    };
}

facts! {
    /// Facts about this program and its arguments. Of these, only the label is in the record's
    /// table of settings; the header of the record has the others.
    assay {
        COMMAND "assay.command" "command line";
        COMMIT "assay.commit" "commit that the program was built from";
        LABEL "assay.label" "label of the run, as given on the command line";
        PLAN "assay.plan" "plan of the run, as printed";
        SEED "assay.seed" "seed of the random numbers";
        STARTED "assay.started" "instant of the start";
        TARGET "assay.target" "URL of the main target";
        VERSION "assay.version" "version of the program";
        WORKLOAD "assay.workload" "path of the workload file";
    }

    /// Facts about the configuration of the load generator.
    generator {
        BEFORE_READ_BACK "generator.before_read_back"
            "`yes` if every change by the statements before a run of an experiment is in effect";
        BEFORE_TRIAL "generator.before_trial_ns"
            "time between the end of the previous trial of a capacity search and this one, in \
             nanoseconds";
        CANARY "generator.canary_ns"
            "mean time of a request to the null server just before the run, in nanoseconds";
        INSERTS "generator.inserts."
            "prefix of the reasons why the rows of a table, whose name follows, were inserted \
             although the server has a faster method";
        SPIN "generator.spin" "`yes` if the threads spin instead of sleeping";
        VARIES_SERVERS "generator.varies_servers"
            "`yes` in a sweep over the number of hosts of the URL";
    }

    /// Settings about the observed components.
    observe {
        COMMAND "observe.command"
            "command of the observed program, or the number and name of its process";
        COMMAND_ENDED "observe.command.ended" "end of the observed program, in words";
        LOAD_MISSING "observe.load.missing."
            "prefix of such reasons while a table, whose name and a dot follow, was filled";
        MISSING "observe.missing."
            "prefix of the reasons why a component, whose name follows, could not be observed";
    }

    /// Facts about the machine.
    host {
        ARCHITECTURE "host.architecture" "processor architecture that Assay was built for";
        CGROUP_CPU_QUOTA "host.cgroup.cpu_quota" "lowest limit of processors of the groups around";
        CGROUP_MEMORY_LIMIT "host.cgroup.memory_limit_bytes" "lowest limit of memory, in bytes";
        CGROUP_VERSION "host.cgroup.version" "version of the control groups: `v1`, `v2`";
        CLOCK_AVAILABLE "host.clock.available" "available clock sources of the kernel";
        CLOCK_SOURCE "host.clock.source" "clock source in use";
        CLOCK_TIMER_SLACK "host.clock.timer_slack_ns"
            "delay that the kernel may add to most waits of this process, in nanoseconds";
        CPU_ALLOWED "host.cpu.allowed" "list of the processors that this process may use";
        CPU_DRIVER "host.cpu.driver" "driver of the clock rate";
        CPU_GOVERNOR "host.cpu.governor" "governor of the clock rate";
        CPU_LOGICAL "host.cpu.logical" "number of logical processors";
        CPU_MAX_KHZ "host.cpu.max_khz" "highest clock rate that the driver reports, in kHz";
        CPU_MICROCODE "host.cpu.microcode" "version of the microcode";
        CPU_MITIGATIONS "host.cpu.mitigations" "mitigations of processor flaws, summarised";
        CPU_MODEL "host.cpu.model" "model of the processors";
        CPU_PHYSICAL "host.cpu.physical" "number of cores";
        CPU_SMT "host.cpu.smt" "simultaneous multithreading: `on`, `off`";
        CPU_SOCKETS "host.cpu.sockets" "number of sockets";
        CPU_TURBO "host.cpu.turbo" "clock rates above the nominal one: `on`, `off`";
        DISTRIBUTION "host.distribution" "name of the operating system";
        HUGE_PAGES_RESERVED "host.huge_pages.reserved" "number of reserved huge pages";
        HUGE_PAGES_SIZE "host.huge_pages.size_bytes" "size of a huge page, in bytes";
        HUGE_PAGES_TRANSPARENT "host.huge_pages.transparent" "`always`, `madvise` or `never`";
        KERNEL "host.kernel" "name and version of the kernel";
        KERNEL_BUILD "host.kernel.build" "build of the kernel";
        LOAD_1M "host.load.1m" "load average of the last minute";
        LOAD_5M "host.load.5m" "load average of the last 5 minutes";
        LOAD_15M "host.load.15m" "load average of the last 15 minutes";
        MEMORY_AVAILABLE "host.memory.available_bytes" "available memory, in bytes";
        MEMORY_TOTAL "host.memory.total_bytes" "memory of the machine, in bytes";
        NUMA_NODES "host.numa.nodes" "number of memory nodes";
        OPEN_FILES_HARD "host.open_files.hard" "limit to which the soft limit may be raised";
        OPEN_FILES_SOFT "host.open_files.soft" "limit of the open files of this process";
        PORTS_EPHEMERAL "host.ports.ephemeral" "local ports of outgoing connections";
        STORAGE_DEVICE "host.storage.device" "device of the folder that holds the record";
        STORAGE_FILE_SYSTEM "host.storage.file_system" "file system of this folder";
        STORAGE_MEDIUM "host.storage.medium" "`solid-state` or `rotating`";
        STORAGE_OPTIONS "host.storage.options" "options of the mount";
        STORAGE_SCHEDULER "host.storage.scheduler" "I/O scheduler of the device";
        SWAP_SWAPPINESS "host.swap.swappiness" "tendency of the kernel to swap";
        SWAP_TOTAL "host.swap.total_bytes" "size of the swap space, in bytes";
        SWAP_USED "host.swap.used_bytes" "swap in use, in bytes";
        TCP_CONGESTION_CONTROL "host.tcp.congestion_control" "congestion control of TCP";
        TCP_REUSE_WAITING_PORTS "host.tcp.reuse_waiting_ports" "setting `tcp_tw_reuse`";
        VIRTUALISATION_CONTAINER "host.virtualisation.container" "container around this process";
        VIRTUALISATION_HYPERVISOR "host.virtualisation.hypervisor" "hypervisor below the system";
    }

    /// Facts about the path to the servers of a target.
    network {
        PATH "network.path" "[kind of path](super::NetworkPath) to each server";
        ROUND_TRIP "network.round_trip_us" "round trip time to each server, in microseconds";
    }

    /// Facts about the load generator's own cost.
    calibration {
        ASSAY "calibration.assay" "version of the program that measured it";
        CLOCK_COST "calibration.clock.cost_ns" "time of a clock reading, in nanoseconds";
        CLOCK_RESOLUTION "calibration.clock.resolution_ns" "step of the clock, in nanoseconds";
        SQLITE_HAND_OFF "calibration.sqlite.hand_off_us"
            "time to SQLite's thread and back, in microseconds";
        TAKEN "calibration.taken" "instant of the calibration";
        TIMER_MAX "calibration.timer.max_us" "largest lateness of the timer, in microseconds";
        TIMER_P50 "calibration.timer.p50_us" "median lateness of the timer, in microseconds";
        TIMER_P99 "calibration.timer.p99_us" "99th percentile of it, in microseconds";
    }

    /// Facts about a server.
    database {
        ACCOUNT "database.account" "reason why the server's own statistics could not be read";
        BUFFER "database.buffer_bytes" "size of the server's own buffer, in bytes";
        DEFAULT "database.default."
            "prefix of the defaults of settings that somebody has set, whose names follow";
        REPLICATION_REPLICAS "database.replication.replicas" "MySQL: number of replicas";
        REPLICATION_ROLE "database.replication.role" "PostgreSQL: `primary` or `standby`";
        REPLICATION_SOURCES "database.replication.sources"
            "MySQL: states of the servers that it replicates from";
        REPLICATION_STANDBYS "database.replication.standbys"
            "PostgreSQL: state and kind of each standby";
        REPLICATION_SYNCHRONOUS "database.replication.synchronous"
            "PostgreSQL: setting `synchronous_standby_names`";
        SERVER_ID "database.server_id"
            "hash that identifies the server and its database without revealing its location";
        SETTING "database.setting."
            "prefix of the settings that somebody has set, whose names follow";
        SETTINGS "database.settings" "number of these settings";
        SIZE "database.size_bytes" "size of the database, in bytes";
        SIZE_PER_BUFFER "database.size_per_buffer" "size of the database in buffers";
        TABLE "database.table." "prefix of the sizes of a table, whose name follows";
        TABLES "database.tables" "number of tables whose sizes are reported";
    }
}

/// Returns the name of the fact about a server setting that somebody has set.
pub fn database_setting(name: &str) -> String {
    format!("{}{name}", database::SETTING)
}

/// Returns the name of the fact that holds the default value of a server's setting.
pub fn database_default(name: &str) -> String {
    format!("{}{name}", database::DEFAULT)
}

/// Returns the names of two facts: the size of a table and the size of its indexes, in bytes.
pub fn database_table(name: &str) -> [String; 2] {
    ["bytes", "index_bytes"].map(|size| format!("{}{name}.{size}", database::TABLE))
}

/// Returns the name of a fact of [`network`] for a named target: `network.TARGET.path`.
pub fn network_of_target(fact: &str, target: &str) -> String {
    let rest = fact.strip_prefix(NETWORK).unwrap_or(fact);
    format!("{NETWORK}{target}.{rest}")
}

/// Returns the name of the fact about a figure that a calibration measured with a kind of server.
pub fn calibration_of_server(server: &str, figure: &str) -> String {
    format!("{CALIBRATION}{server}.{figure}")
}

/// Returns true if a name in a record's table of settings is a fact about the environment of the
/// run: the machine, the network, the calibration, or a server (prefix [`DATABASE`]). Server
/// settings without this prefix, such as [`SERVER`], do not count, nor do facts about the program,
/// the load generator and the observation.
pub fn is_environment_fact(name: &str) -> bool {
    [HOST, NETWORK, CALIBRATION].iter().any(|begin| name.starts_with(begin))
        || of_database(name).is_some()
}

/// Removes [`DATABASE`], and the name of the target before it, from the name of a fact about a
/// server. Returns the rest; `None` if the fact is not about a server.
pub fn of_database(name: &str) -> Option<&str> {
    let of_named = || name.split_once('.')?.1.strip_prefix(DATABASE);
    name.strip_prefix(DATABASE).or_else(of_named)
}

/// Removes `prefix`, one of the prefixes in [`database`], from the name of a fact about a server of
/// any target. Returns the rest, such as the name of a setting; `None` if the name does not have
/// this prefix.
pub fn database_rest<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    of_database(name)?.strip_prefix(prefix.strip_prefix(DATABASE)?)
}

/// Returns true if `name` is the name of `fact`, for the main target or for a named target.
pub fn is_fact(name: &str, fact: &str) -> bool {
    let of_network = || name.strip_prefix(NETWORK)?.split_once('.').map(|(_, rest)| rest);
    match (fact.strip_prefix(DATABASE), fact.strip_prefix(NETWORK)) {
        _ if name == fact => true,
        (Some(rest), _) => of_database(name) == Some(rest),
        (None, Some(rest)) => of_network() == Some(rest),
        (None, None) => false,
    }
}

/// Returns true if a fact is a size of the database or of its tables, or the number of tables.
pub fn is_data_size(name: &str) -> bool {
    use database::{SIZE, SIZE_PER_BUFFER, TABLE, TABLES};
    [SIZE, SIZE_PER_BUFFER, TABLES].into_iter().any(|fact| is_fact(name, fact))
        || database_rest(name, TABLE).is_some()
}

/// Returns the value of a fact by its name; `None` if the value is unknown or the fact is missing.
pub fn known<'a>(facts: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let (_, value) = facts.iter().find(|(known, _)| known == name)?;
    (value != UNKNOWN).then_some(value.as_str())
}

/// The kind of network path between this process and a server: a value of [`network::PATH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkPath {
    /// A Unix domain socket on this machine.
    Socket,
    /// The loopback interface of this machine.
    Loopback,
    /// Another address of this machine.
    SameHost,
    /// An IPv4 network.
    RemoteV4,
    /// An IPv6 network.
    RemoteV6,
    /// Unknown, because no address was found for the server's name.
    Unknown,
}

impl NetworkPath {
    /// All kinds.
    pub const ALL: [NetworkPath; 6] = [
        NetworkPath::Socket,
        NetworkPath::Loopback,
        NetworkPath::SameHost,
        NetworkPath::RemoteV4,
        NetworkPath::RemoteV6,
        NetworkPath::Unknown,
    ];

    /// Returns the name used in records.
    pub fn name(self) -> &'static str {
        match self {
            NetworkPath::Socket => "socket",
            NetworkPath::Loopback => "loopback",
            NetworkPath::SameHost => "same host",
            NetworkPath::RemoteV4 => "remote IPv4",
            NetworkPath::RemoteV6 => "remote IPv6",
            NetworkPath::Unknown => UNKNOWN,
        }
    }

    /// Returns true if the server is known to be on this machine.
    pub fn is_here(self) -> bool {
        match self {
            NetworkPath::Socket | NetworkPath::Loopback | NetworkPath::SameHost => true,
            NetworkPath::RemoteV4 | NetworkPath::RemoteV6 | NetworkPath::Unknown => false,
        }
    }

    /// Returns the path to the address `server`. `local` is the address of this machine from which
    /// packets to the server leave; `None` if it is unknown.
    pub fn between(local: Option<IpAddr>, server: IpAddr) -> NetworkPath {
        let server = server.to_canonical();
        match server {
            // The kernel connects the unspecified address over loopback.
            _ if server.is_loopback() || server.is_unspecified() => NetworkPath::Loopback,
            _ if local.map(|local| local.to_canonical()) == Some(server) => NetworkPath::SameHost,
            IpAddr::V4(_) => NetworkPath::RemoteV4,
            IpAddr::V6(_) => NetworkPath::RemoteV6,
        }
    }
}

/// Shares of the time of all processors in a period, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorShares {
    /// Share of the time in which processors were busy.
    pub busy: f64,
    /// Share of the time that the hypervisor gave to other virtual machines.
    pub stolen: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_depends_on_local_and_remote_address() {
        let check = |local: Option<&str>, server: &str, expected: NetworkPath| {
            let local = local.map(|local| local.parse().unwrap());
            let found = NetworkPath::between(local, server.parse().unwrap());
            assert_eq!(found, expected, "{server}");
        };
        check(None, "127.8.8.8", NetworkPath::Loopback);
        check(Some("127.0.0.1"), "0.0.0.0", NetworkPath::Loopback);
        check(Some("::1"), "::", NetworkPath::Loopback);
        check(Some("10.0.0.1"), "::ffff:127.0.0.1", NetworkPath::Loopback);
        check(Some("10.0.0.1"), "10.0.0.1", NetworkPath::SameHost);
        check(Some("10.0.0.1"), "10.0.0.2", NetworkPath::RemoteV4);
        check(None, "2001:db8::1", NetworkPath::RemoteV6);
    }

    #[test]
    fn names_are_distinct_and_begin_with_their_subject() {
        for (prefix, names) in [
            (ASSAY, assay::ALL),
            (GENERATOR, generator::ALL),
            (OBSERVE, observe::ALL),
            (HOST, host::ALL),
            (NETWORK, network::ALL),
            (CALIBRATION, calibration::ALL),
            (DATABASE, database::ALL),
        ] {
            for (index, name) in names.iter().enumerate() {
                assert!(name.len() > prefix.len() && name.starts_with(prefix), "{name}");
                assert!(!names[..index].contains(name), "{name} occurs twice");
            }
        }
    }

    #[test]
    fn names_have_their_target_or_their_table() {
        assert_eq!(network_of_target(network::PATH, "copy"), "network.copy.path");
        assert_eq!(database_table("t"), ["database.table.t.bytes", "database.table.t.index_bytes"]);
        assert_eq!(database_rest("copy.database.setting.fsync", database::SETTING), Some("fsync"));
        assert_eq!(database_rest("database.settings", database::SETTING), None);
        assert_eq!(database_rest("fsync", database::SETTING), None);
    }

    #[test]
    fn fact_of_any_target_is_recognised() {
        let check = |name: &str, fact: &str, expected: bool| {
            assert_eq!(is_fact(name, fact), expected, "{name} {fact}");
        };
        check("host.kernel", host::KERNEL, true);
        check("host.kernel.build", host::KERNEL, false);
        check("database.size_bytes", database::SIZE, true);
        check("copy.database.size_bytes", database::SIZE, true);
        check("copy.database.size_per_buffer", database::SIZE, false);
        check("network.path", network::PATH, true);
        check("network.copy.path", network::PATH, true);
        check("network.copy.round_trip_us", network::PATH, false);
        check("copy.path", network::PATH, false);
    }

    #[test]
    fn sizes_of_data_are_recognised() {
        for size in ["copy.database.size_per_buffer", "database.tables", "database.table.t.bytes"] {
            assert!(is_data_size(size), "{size}");
        }
        for other in ["database.buffer_bytes", "database.settings", "copy.size_bytes"] {
            assert!(!is_data_size(other), "{other}");
        }
    }

    #[test]
    fn settings_of_servers_are_not_facts_of_the_environment() {
        for fact in ["host.kernel", "network.copy.path", "calibration.taken", "a.database.size"] {
            assert!(is_environment_fact(fact), "{fact}");
        }
        for setting in ["fsync", "copy.fsync", "generator.spin", "observe.command"] {
            assert!(!is_environment_fact(setting), "{setting}");
        }
    }
}
