//! Whether something of the database is what limits.

use record::{Part, Side};
use workload::Piece;

use super::suspect::{number, percent};
use super::{Component, Scene, Suspect};
use crate::surroundings::Place;

/// The part of the requests' time that is spent in a wait, from which on that decides.
const WAIT_DECIDES: f64 = 0.4;

/// The part of the processors from which on they are full. The rest is what the kernel's scheduler
/// leaves between two tasks.
const CPU_FULL: f64 = 0.85;

/// The part of its processors below which it has some to spare.
const HAS_TIME: f64 = 0.8;

/// How waits begin that say of themselves why they are: for the client, or for a time to pass.
const KNOWN_WAITS: [&str; 3] = ["Client:", "Timeout:", "state: User sleep"];

/// What a session waits for that does not wait.
const RUNNING: &str = "cpu";

/// The part of one processor from which on a thread has no time left.
const THREAD_FULL: f64 = 0.85;

/// The part of the time that a group may be kept from running.
const THROTTLED: f64 = 0.1;

/// The part of its quota from which on a group uses all of it, if it was kept from running at all.
const USES_ALL: f64 = 0.9;

/// The part of the time in which some task lacked memory, from which on that decides.
const MEMORY_LACKED: f64 = 0.1;

/// The time of a disk's operations, of both kinds.
const TIMES: [&str; 2] = ["read-time", "write-time"];

/// The part of the time in which one that holds the only lock of SQLite runs or wants to, if it is
/// its statements that the others wait for.
const HOLDER_RUNS: f64 = 0.6;

/// How many reads InnoDB has asked for and not got at a moment.
const PENDING_READS: &str = "status.innodb_data_pending_reads";

/// What sessions wait for, as databases name it, by what would help.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Lock,
    Flush,
    Disk,
    Other,
}

/// What a wait of PostgreSQL (its manual, tables 28.5 to 28.13) or of the MySQL family is about.
fn kind(name: &str) -> Wait {
    let lower = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["bufferio"]) {
        Wait::Disk
    } else if has(&[
        "semi-sync",
        "wsrep",
        "walsync",
        "walwrite",
        "walinit",
        "io:commit",
        "syncrep",
        "binlog",
        "redo",
    ]) {
        Wait::Flush
    } else if lower.starts_with("lock:") || has(&["lwlock:", "bufferpin"]) {
        Wait::Lock
    } else if lower.starts_with("io:") {
        Wait::Disk
    } else {
        Wait::Other
    }
}

impl Scene<'_, '_> {
    /// What of the database has no more to give, or takes the time.
    pub(super) fn database(&self) -> Vec<Suspect> {
        let found = [
            self.throttled(Side::Server),
            self.throttled(Side::Generator),
            self.processors().or_else(|| self.starved()),
            self.one_processor(),
            self.locks(),
            self.flush(),
            self.disk(),
            self.memory(),
            self.embedded(),
        ];
        found.into_iter().flatten().collect()
    }

    /// Sessions of clients that were at work, on average.
    pub(super) fn active(&self) -> Option<f64> {
        self.signals.per_look(&Part::Sessions, "active")
    }

    /// Those that had nothing to do, within a transaction or not.
    pub(super) fn idle_sessions(&self) -> Option<f64> {
        let of = |metric| self.signals.per_look(&Part::Sessions, metric);
        Some(of("idle")? + of("idle-in-transaction").unwrap_or(0.0))
    }

    /// How many processors the database used.
    pub(super) fn database_cpu(&self) -> Option<f64> {
        let part = Part::Processes(Side::Server);
        Some(self.signals.rate(&part, "user")? + self.signals.rate(&part, "system")?)
    }

    /// How many it may use.
    pub(super) fn database_processors(&self) -> Option<f64> {
        let may = self.signals.mean(&Part::Processes(Side::Server), "processors")?;
        let quota = self.signals.mean(&Part::Cgroup(Side::Server), "quota");
        Some(may.min(quota.unwrap_or(may))).filter(|may| *may > 0.0)
    }

    /// The part of its processors that the database used; `None` if they were not seen.
    pub(super) fn database_share(&self) -> Option<f64> {
        Some(self.database_cpu()? / self.database_processors()?)
    }

    /// The part of its processors' time that a hypervisor did not give to others: nobody has more.
    fn given(&self) -> f64 {
        let of = |metric| self.signals.rate_at_server(&Part::Host, metric);
        let stolen = of("stolen").zip(of("processors").filter(|all| *all > 0.0));
        1.0 - stolen.map_or(0.0, |(stolen, all)| (stolen / all).clamp(0.0, 0.5))
    }

    /// Whether the database has processors to spare; `None` if that is not known. Where they are
    /// not seen its sessions tell that less than one of them ran.
    pub(super) fn database_has_time(&self) -> Option<bool> {
        match self.database_share() {
            Some(share) => {
                // What seems to be the database may only lead to it, as a tunnel does.
                let (used, waited) = (self.database_cpu()?, self.database_waited());
                let running = self.signals.per_look(&Part::Waits, RUNNING);
                let elsewhere = running.unwrap_or(0.0) - used - waited.unwrap_or(0.0);
                if share < HAS_TIME && elsewhere >= HAS_TIME {
                    return None;
                }
                let gets_it = self.database_wants().is_none_or(|wants| wants < 1.0);
                Some(share < HAS_TIME * self.given() && gets_it && !self.is_host_full())
            }
            None => {
                let running = self.signals.per_look(&Part::Waits, RUNNING)?;
                (running < HAS_TIME).then_some(true)
            }
        }
    }

    /// The part of its processors that the database used and would have used. Requests that come
    /// in bursts want more of them for a moment than they do on average.
    pub(super) fn database_wants(&self) -> Option<f64> {
        let waited = self.database_waited()?;
        Some((self.database_cpu()? + waited) / self.database_processors()?)
    }

    /// How many of its threads waited for a processor; `None` if that is not known.
    fn database_waited(&self) -> Option<f64> {
        self.signals.rate(&Part::Processes(Side::Server), "waited")
    }

    /// A group that its quota keeps from running.
    fn throttled(&self, side: Side) -> Option<Suspect> {
        let part = Part::Cgroup(side);
        let quota = self.signals.mean(&part, "quota")?;
        // The kernel adds up what each processor was kept from.
        let may = self.signals.mean(&Part::Processes(side), "processors").unwrap_or(1.0);
        let throttled = self.signals.rate(&part, "throttled")? / may.max(1.0);
        let used = self.signals.rate(&Part::Processes(side), "user").unwrap_or(0.0)
            + self.signals.rate(&Part::Processes(side), "system").unwrap_or(0.0);
        let share = throttled.min(1.0).max(used / quota.max(f64::MIN_POSITIVE));
        // Of many processors only those are counted on which it had something to run.
        let uses_all = used >= USES_ALL * quota && throttled > 0.0;
        if throttled < THROTTLED && !uses_all {
            return None;
        }
        let because = format!(
            "the control group of the {} was kept from running {} s in every second: it may use {} \
             processors, and used {}",
            side.name(),
            number(throttled),
            number(quota),
            number(used)
        );
        let suspect = Suspect::new(Component::Cgroup, share, because)
            .with("throttled_s_per_s", throttled)
            .with("quota_processors", quota)
            .with("used_processors", used);
        Some(suspect)
    }

    /// Processors that are full of the database's work.
    pub(super) fn processors(&self) -> Option<Suspect> {
        let (used, may) = (self.database_cpu()?, self.database_processors()?);
        let share = used / may;
        let wants = self.database_wants();
        // Which processors these are is not known, unless they are all.
        let all = self.signals.busy_processors().filter(|all| all.len() as f64 <= may);
        let busy = all.map(|all| all.iter().sum::<f64>() / all.len() as f64);
        let is_busy = busy.is_some_and(|busy| busy >= CPU_FULL);
        let is_crowded = is_busy && wants.is_none_or(|wants| wants >= 1.0);
        let wants = wants.unwrap_or(share);
        // On a host that it shares it cannot have all, and yet it is what lacks them.
        let generator = self.generator_cpu().unwrap_or(0.0);
        let rest = busy.map_or(0.0, |busy| busy * may - used - generator);
        let is_largest = used >= generator && used >= rest;
        let is_full =
            share >= CPU_FULL * self.given() || (is_crowded && is_largest && share >= 0.4);
        if !is_full {
            return None;
        }
        let because = format!(
            "its processes used {} of the {} processors that they may use, and would have used {}",
            number(used),
            number(may),
            number(wants * may)
        );
        let share = if is_crowded { share.max(CPU_FULL) } else { share };
        let component = self.or_proxy(Component::DatabaseCpu);
        let suspect = Suspect::new(component, share, because)
            .with("used_processors", used)
            .with("processors", may)
            .with("wanted_processors", wants * may)
            .with_any("busy_processors_share", busy)
            .with_any("sessions_active", self.active());
        Some(suspect)
    }

    /// What is said of processes that take the target's connections, if they are no database.
    fn or_proxy(&self, component: Component) -> Component {
        match self.signals.mean(&Part::Processes(Side::Server), "proxies") {
            Some(proxies) if proxies > 0.0 => Component::Proxy,
            Some(_) | None => component,
        }
    }

    /// Processors that the database lacks, because something that is neither it nor the load
    /// generator has them.
    fn starved(&self) -> Option<Suspect> {
        let waited = self.signals.rate(&Part::Processes(Side::Server), "waited")?;
        let (used, may) = (self.database_cpu()?, self.database_processors()?);
        let under_way = self.demand.in_flight.max(self.active().unwrap_or(0.0)).max(1.0);
        let share = waited / under_way;
        if share < WAIT_DECIDES || used + waited < may || used / may >= CPU_FULL * self.given() {
            return None;
        }
        let generator = self.generator_cpu().unwrap_or(0.0);
        let all = self.signals.busy_processors().map(|all| all.iter().sum::<f64>());
        if all.is_some_and(|all| all - used - generator < generator) {
            return None;
        }
        let because = format!(
            "its processes used {} of the {} processors that they may use, and would have used \
             {}: something else had them",
            number(used),
            number(may),
            number(used + waited)
        );
        let suspect = Suspect::new(Component::DatabaseCpu, share, because)
            .with("used_processors", used)
            .with("processors", may)
            .with("wanted_processors", used + waited)
            .with_any("busy_processors_share", self.busy_share());
        Some(suspect.with_any("sessions_active", self.active()))
    }

    /// The part of their time in which the processors of its host were at work, all of them.
    fn busy_share(&self) -> Option<f64> {
        let all = self.signals.busy_processors()?;
        Some(all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Whether nobody on its host gets all the processor time that it wants.
    pub(super) fn is_host_full(&self) -> bool {
        self.busy_share().is_some_and(|busy| busy >= CPU_FULL)
    }

    /// How many processors the load generator used.
    fn generator_cpu(&self) -> Option<f64> {
        let part = Part::Processes(Side::Generator);
        Some(self.signals.rate(&part, "user")? + self.signals.rate(&part, "system")?)
    }

    /// One thread that is busy all the time, while there is room beside it.
    fn one_processor(&self) -> Option<Suspect> {
        let busiest = self.signals.mean(&Part::Processes(Side::Server), "busiest")?;
        let may = self.database_processors()?;
        let used = self.database_cpu()?;
        if self.is_others_thread() {
            return None;
        }
        let given = self.given();
        if busiest < THREAD_FULL * given || may < 1.5 || used / may >= CPU_FULL * given {
            return None;
        }
        let because = format!(
            "one of its threads used {} of a processor, while of {} it used {}",
            percent(busiest),
            number(may),
            number(used)
        );
        let component = self.or_proxy(Component::DatabaseSingleCore);
        let suspect = Suspect::new(component, busiest, because)
            .with("busiest_thread_share", busiest)
            .with("used_processors", used)
            .with("processors", may)
            .with_any("sessions_active", self.active());
        Some(suspect)
    }

    /// Whether the busiest thread may be that of a session of others, or of work in the background.
    fn is_others_thread(&self) -> bool {
        let roles = self.signals.parts(|part| matches!(part, Part::Role(_)));
        let of = |part: &Part| -> f64 {
            ["user", "system"].iter().filter_map(|metric| self.signals.rate(part, metric)).sum()
        };
        let others = self.signals.per_look(&Part::Sessions, "others").unwrap_or(0.0);
        let is_watched = !self.demand.asks;
        (!is_watched && others >= HAS_TIME) || roles.iter().any(|role| of(role) >= HAS_TIME)
    }

    /// How many sessions wait in a kind of wait, on average, and in which most of them.
    fn waiting(&self, wanted: Wait) -> Option<(f64, &str)> {
        let waits = self.signals.all_per_look(&Part::Waits);
        let of_it: Vec<&(&str, f64)> =
            waits.iter().filter(|(name, _)| kind(name) == wanted).collect();
        let most = of_it.first()?.0;
        Some((of_it.iter().map(|(_, mean)| mean).sum(), most))
    }

    /// The part of the requests' time in which so many sessions wait.
    fn share_of_requests(&self, waiting: f64) -> f64 {
        let active = self.active().unwrap_or(0.0);
        waiting / active.max(self.demand.in_flight).max(1.0)
    }

    /// Whether much of the requests' time is spent in waits of which it is not known what would help:
    /// not for the client, and not because the statement asks for it.
    pub(super) fn waits_for_something(&self) -> bool {
        let waits = self.signals.all_per_look(&Part::Waits);
        let is_known =
            |name: &str| name == RUNNING || KNOWN_WAITS.iter().any(|known| name.starts_with(known));
        let unknown = waits.iter().filter(|(name, _)| kind(name) == Wait::Other && !is_known(name));
        self.share_of_requests(unknown.map(|(_, mean)| mean).sum()) >= WAIT_DECIDES
    }

    fn locks(&self) -> Option<Suspect> {
        let (waiting, event) = self.waiting(Wait::Lock)?;
        let share = self.share_of_requests(waiting);
        let tables = self.signals.all_per_look(&Part::Locks);
        let statements = self.signals.all_per_look(&Part::Statements);
        let table = tables.first().map_or(String::new(), |(name, _)| format!(" of table {name}"));
        let statement =
            statements.first().map_or(String::new(), |(text, _)| format!(", most with `{text}`"));
        let because = format!(
            "{waiting:.1} of {:.1} active sessions wait for locks{table} ({event}){statement}",
            self.active().unwrap_or(0.0)
        );
        let suspect = Suspect::new(Component::DatabaseLocks, share, because)
            .with("sessions_that_wait_for_locks", waiting)
            .with_any("sessions_active", self.active());
        let suspect = tables.iter().take(3).fold(suspect, |suspect, (name, mean)| {
            suspect.with(&format!("sessions_that_wait_for_{name}"), *mean)
        });
        (share >= WAIT_DECIDES).then_some(suspect)
    }

    fn flush(&self) -> Option<Suspect> {
        let (waiting, event) = self.waiting(Wait::Flush)?;
        let share = self.share_of_requests(waiting);
        let because = format!(
            "{waiting:.1} of {:.1} active sessions wait until what they commit is safe ({event})",
            self.active().unwrap_or(0.0)
        );
        let suspect = Suspect::new(Component::DatabaseFlush, share, because)
            .with("sessions_that_wait_for_flushes", waiting)
            .with_any("sessions_active", self.active());
        let suspect = self.with_busiest_disk(suspect);
        (share >= WAIT_DECIDES).then_some(suspect)
    }

    fn disk(&self) -> Option<Suspect> {
        let (waiting, event) = self.waiting(Wait::Disk).or_else(|| self.pending_reads())?;
        let share = self.share_of_requests(waiting);
        let because = format!(
            "{waiting:.1} of {:.1} active sessions wait for the disk ({event})",
            self.active().unwrap_or(0.0)
        );
        let suspect = Suspect::new(Component::DatabaseDisk, share, because)
            .with("sessions_that_wait_for_disks", waiting)
            .with_any("sessions_active", self.active());
        let suspect = self.with_busiest_disk(suspect);
        (share >= WAIT_DECIDES).then_some(suspect)
    }

    /// Reads of InnoDB that the disk has not answered: no state of a session tells of them. They
    /// may be made ahead; no more sessions wait for them than seem to run and have no processor.
    fn pending_reads(&self) -> Option<(f64, &str)> {
        let reads = self.signals.mean(&Part::Statistics, PENDING_READS)?;
        let running = self.signals.per_look(&Part::Waits, RUNNING)?;
        let ran = self.database_cpu().unwrap_or(0.0);
        Some((reads.min((running - ran).max(0.0)), PENDING_READS))
    }

    /// The disk of its host with the least time to spare.
    fn with_busiest_disk(&self, suspect: Suspect) -> Suspect {
        if !self.sees_its_host() {
            return suspect;
        }
        let disks = self.signals.parts(|part| matches!(part, Part::Disk(_)));
        let busy = disks.iter().filter_map(|disk| Some((disk, self.signals.rate(disk, "busy")?)));
        let Some((disk, busy)) = busy.max_by(|a, b| a.1.total_cmp(&b.1)) else { return suspect };
        let sum = |metrics: [&str; 2]| {
            let rates = metrics.map(|metric| self.signals.rate(disk, metric));
            Some(rates[0]? + rates[1]?)
        };
        let operations = sum(["reads", "writes"]);
        let took = operations.filter(|operations| *operations > 0.0).zip(sum(TIMES));
        suspect
            .with("busiest_disk_share", busy)
            .with_any("its_bytes_per_s", sum(["read-bytes", "written-bytes"]))
            .with_any("its_operations_per_s", operations)
            .with_any("its_ms_per_operation", took.map(|(operations, s)| s / operations * 1e3))
            .with_any("its_flushes_per_s", self.signals.rate(disk, "flushes"))
    }

    /// Whether the host of the database is looked at: another one's disks and memory say nothing.
    fn sees_its_host(&self) -> bool {
        let place = self.findings.evidence.surroundings.main.place;
        self.signals.sees_processes() || place != Place::Elsewhere
    }

    fn memory(&self) -> Option<Suspect> {
        if !self.sees_its_host() {
            return None;
        }
        let lacked = self.signals.rate_at_server(&Part::Host, "pressure-memory")?;
        let swapped = self.signals.rate_at_server(&Part::Host, "swapped-in").unwrap_or(0.0);
        let faults =
            self.signals.rate(&Part::Processes(Side::Server), "major-faults").unwrap_or(0.0);
        let because = format!(
            "tasks lacked memory for {} of the time; {} pages per second came back from swap",
            percent(lacked),
            number(swapped)
        );
        let suspect = Suspect::new(Component::DatabaseMemory, lacked, because)
            .with("pressure_memory_share", lacked)
            .with("swapped_in_pages_per_s", swapped)
            .with("major_faults_per_s", faults);
        (lacked >= MEMORY_LACKED).then_some(suspect)
    }

    /// A database in the generator's own process shows no sessions: a request that is under way
    /// and neither runs nor waits for a processor waits for the disk, or for another that writes.
    fn embedded(&self) -> Option<Suspect> {
        let is_embedded = self.findings.evidence.plan.jobs.iter().all(|job| {
            let asked = self.findings.evidence.surroundings.asked(job.target);
            asked.route == Some(crate::surroundings::Route::Sqlite)
        });
        if !self.demand.asks || !is_embedded {
            return None;
        }
        let waited = self.signals.rate(&Part::Processes(Side::Server), "waited").unwrap_or(0.0);
        let in_flight = self.demand.in_flight;
        let still = in_flight - self.database_cpu()? - waited;
        let share = still / in_flight.max(f64::MIN_POSITIVE);
        if share < WAIT_DECIDES || in_flight < WAIT_DECIDES {
            return None;
        }
        // Whoever holds the lock runs, unless it waits for its flush itself.
        let one_runs = self.database_cpu()? + waited >= HOLDER_RUNS;
        let (component, what) = match (self.writes(), in_flight >= 1.5 && one_runs) {
            (true, true) => (Component::DatabaseLocks, "for the one that writes"),
            (true, false) => (Component::DatabaseFlush, "until what it wrote is safe"),
            (false, _) => (Component::DatabaseDisk, "for the disk"),
        };
        let because = format!(
            "of {} requests under way {} neither run nor lack a processor: they wait {what}",
            number(in_flight),
            number(still)
        );
        let suspect = Suspect::new(component, share, because)
            .with("requests_in_flight", in_flight)
            .with("requests_that_stand_still", still);
        Some(self.with_busiest_disk(suspect))
    }

    /// Whether a job writes, by the first words of its statements.
    fn writes(&self) -> bool {
        let reads = [
            "select",
            "with",
            "values",
            "explain",
            "pragma",
            "begin",
            "commit",
            "savepoint",
            "release",
            "rollback",
        ];
        let jobs = self.findings.evidence.plan.jobs.iter();
        let mut statements = jobs.flat_map(|job| &job.statements);
        statements.any(|statement| {
            let text = statement.pieces.iter().find_map(|piece| match piece {
                Piece::Text(text) => Some(text.trim_start().to_ascii_lowercase()),
                _ => None,
            });
            text.is_some_and(|text| !reads.iter().any(|word| text.starts_with(word)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_known_by_what_would_help() {
        for (name, expected) in [
            ("Lock:tuple", Wait::Lock),
            ("Lock:transactionid", Wait::Lock),
            ("Lock:row", Wait::Lock),
            ("LWLock:BufferContent", Wait::Lock),
            ("LWLock:WALWrite", Wait::Flush),
            ("IO:WALSync", Wait::Flush),
            ("IO:WalSync", Wait::Flush),
            ("IO:commit", Wait::Flush),
            ("IPC:SyncRep", Wait::Flush),
            ("state: Waiting for semi-sync ACK from slave", Wait::Flush),
            ("IO:DataFileRead", Wait::Disk),
            ("IPC:BufferIO", Wait::Disk),
            ("LWLock:BufferIO", Wait::Disk),
            ("IO:BufFileWrite", Wait::Disk),
            ("Client:ClientWrite", Wait::Other),
            ("cpu", Wait::Other),
            ("", Wait::Other),
        ] {
            assert!(kind(name) == expected, "{name}");
        }
    }
}
