//! Resource use of the processes of both sides: of the load generator or the observed program, and
//! of the database on this machine.
//!
//! [`find`] identifies the database's processes, [`process_tree`] their descendants, and [`group`]
//! adds up the use of all processes of a side as they begin and end. [`upstream`] finds the
//! database behind a proxy. [`lanes`] reports each thread of this process that sends requests, and
//! [`others`] the programs that belong to neither side.

mod files;
mod find;
mod group;
pub(crate) mod lanes;
mod other_targets;
mod others;
#[allow(clippy::module_inception, reason = "one process, of all that are watched here")]
mod process;
mod process_tree;
pub(crate) mod proxies;
mod resource_use;
mod roles;
mod socket_holder;
mod stat;
mod thread;
mod units;
mod upstream;

use std::collections::BTreeSet;

use base::{Clock, Monotonic, Stamp};
use record::metric::{self, generator, host, processes, role, server};
use record::{ComponentKind, MeasuredSide, ObservedComponent, ObservedMetric};

use self::files::Files;
pub(crate) use self::find::is_same_path;
use self::group::{Group, GroupSample};
use self::other_targets::OtherTargets;
use self::others::{OtherPrograms, Sides};
use self::process_tree::ProcessTree;
use self::resource_use::{Pair, ResourceUse};
pub(crate) use self::socket_holder::SocketHolder;
use self::thread::CountedFrom;
use self::units::ids;
pub(crate) use self::upstream::FindServers;
use self::upstream::{Proxies, Upstream, is_database};
use crate::cgroup::Cgroup;
use crate::environment::Root;
use crate::sample::{Sample, Sampler};
use crate::scope::{Scope, ServerLocation, ServerOption};

/// Maximum number of samples between two searches for a server that was not found. A search reads
/// the open files of all processes.
const LONGEST_PAUSE: u32 = 16;

/// Reason why threads are not read one by one. The number is [`group::MAX_THREADS_READ`].
const THREADS_NOT_READ_REASON: &str = "if there are more than 128 of them, or if the kernel does \
                                       not report the run time of each thread (CONFIG_SCHED_INFO)";

/// A location of the database, and the processes found there.
#[derive(Debug)]
struct LocatedServer {
    location: ServerLocation,
    found: Vec<u32>,
}

/// Sampler of the processes of both sides.
#[derive(Debug)]
pub(crate) struct Processes {
    /// Root process of the observed program; `None` if this process sends the requests.
    observed_root: Option<u32>,
    located_servers: Vec<LocatedServer>,
    /// The user's means to name a server.
    server_option: ServerOption,
    /// Name prefix of those threads of this process that belong to the database.
    threads: Option<&'static str>,
    generator: Group,
    server: Group,
    /// The database behind the proxies, if proxies accept the target's connections.
    upstream: Upstream,
    /// The group of this process if another program is observed; this process then only observes.
    observer: Group,
    process_tree: ProcessTree,
    /// The databases of further targets on this machine.
    other_targets: OtherTargets,
    others: OtherPrograms,
    cgroups: [Cgroup; 2],
    last: Option<Stamp>,
    /// Number of samples until the next search for servers, and number of samples between that
    /// search and the one after it.
    search: (u32, u32),
}

impl Processes {
    /// Creates the sampler for a scope.
    pub(crate) fn of(scope: &Scope) -> Processes {
        let threads = scope.servers.iter().find_map(|place| match place {
            ServerLocation::Threads(begin) => Some(*begin),
            ServerLocation::Port(_)
            | ServerLocation::Elsewhere(_)
            | ServerLocation::Socket(_)
            | ServerLocation::Process(_) => None,
        });
        let place = |place: &ServerLocation| match place {
            ServerLocation::Port(_) | ServerLocation::Socket(_) | ServerLocation::Process(_) => {
                Some(LocatedServer { location: place.clone(), found: Vec::new() })
            }
            ServerLocation::Elsewhere(_) | ServerLocation::Threads(_) => None,
        };
        Processes {
            observed_root: scope.generator,
            located_servers: scope.servers.iter().filter_map(place).collect(),
            server_option: scope.server_option,
            threads,
            generator: Group::default(),
            server: Group::default(),
            upstream: Upstream::of(None),
            observer: Group::default(),
            process_tree: ProcessTree::default(),
            other_targets: OtherTargets::of(&scope.other_targets),
            others: OtherPrograms::default(),
            cgroups: MeasuredSide::ALL.map(Cgroup::of),
            last: None,
            search: (0, 1),
        }
    }

    /// Adds the observation of the database behind a proxy; `find_servers` finds its locations.
    pub(crate) fn with_upstream(self, find_servers: FindServers) -> Processes {
        Processes { upstream: Upstream::of(Some(find_servers)), ..self }
    }
}

impl Sampler for Processes {
    fn sample(&mut self, root: &Root, sample: &mut Sample) {
        let mut files = Files::of(root);
        let is_first = self.last.is_none();
        self.update_processes(&mut files, sample);
        let now = Monotonic.now();
        files.read_at = Some(now);
        let since_s = self.last.map(|last| now.since(last).as_secs_f64());
        self.last = Some(now);
        let moment = self.generator.sample(&mut files, self.threads);
        let usage = SideUsage { side: MeasuredSide::Generator, used: self.generator.used, since_s };
        match moment.processes {
            // A program that has ended is not missing data.
            0 if !is_first => {}
            0 => sample.missing("generator", self.missing_generator_reason()),
            _ => usage.report(&files, &moment, sample),
        }
        self.report_observing(&mut files, sample);
        if self.threads.is_some() && moment.busiest.is_none() {
            let why = format!("its threads are not read one by one {THREADS_NOT_READ_REASON}");
            sample.missing(MeasuredSide::Server.name(), why);
        } else if self.threads.is_some() {
            let used = self.generator.other_side_used;
            let usage = SideUsage { side: MeasuredSide::Server, used, since_s };
            usage.report_used(true, sample);
            usage.report_busiest(moment.busiest.map(|Pair(_, other_side)| other_side), sample);
            usage.report_io(moment.has_io_bytes, sample);
            // The threads that send requests have started the database's threads, so these may run
            // on the same processors.
            usage.report_processors(&files, &moment, sample);
        } else if !self.server.pids().is_empty() {
            let moment = self.server.sample(&mut files, None);
            let usage = SideUsage { side: MeasuredSide::Server, used: self.server.used, since_s };
            match moment.processes {
                // The database has ended since the last sample, so its number of processes is the
                // only figure to report.
                0 => usage.read(sample, processes::PROCESSES, 0.0),
                _ => usage.report(&files, &moment, sample),
            }
            let listeners: Vec<u32> =
                self.located_servers.iter().flat_map(|place| place.found.iter().copied()).collect();
            self.report_proxies(&mut files, listeners, sample);
            self.report_roles(sample);
        }
        if let Some(count) = self.other_targets.update(&mut files) {
            sample.read(&ComponentKind::Host, host::UNIDENTIFIED_TARGETS, count as f64);
        }
        self.report_others(&mut files, now, sample);
        self.report_cgroups(root, sample);
    }
}

impl Processes {
    /// Updates the lists of processes of both sides.
    fn update_processes(&mut self, files: &mut Files<'_>, sample: &mut Sample) {
        let own = own_pid(files.root);
        let is_first = self.last.is_none();
        if is_first {
            self.generator.add(files, [self.observed_root.unwrap_or(own)], CountedFrom::Now);
            if self.observed_root.is_some() {
                self.observer.add(files, [own], CountedFrom::Now);
            }
        }
        let is_new = self.find_servers(files, sample);
        let servers = self.server.pids();
        if self.observed_root.is_none() && servers.is_empty() {
            return;
        }
        self.process_tree.update(files);
        let counted_from =
            |is_new: bool| if is_new { CountedFrom::Now } else { CountedFrom::Start };
        let generators = self.generator.pids();
        let mut found = self.process_tree.descendants(&servers);
        found.retain(|number| !generators.contains(number));
        self.server.add(files, found, counted_from(is_new));
        if self.observed_root.is_some() {
            let servers = self.server.pids();
            let mut found = self.process_tree.descendants(&generators);
            found.retain(|number| !servers.contains(number) && *number != own);
            self.generator.add(files, found, counted_from(is_first));
        }
    }

    /// Searches for servers that were not found before or have ended. Returns true if one was
    /// found.
    fn find_servers(&mut self, files: &mut Files<'_>, sample: &mut Sample) -> bool {
        let here = self.server.pids();
        let is_lost =
            |place: &LocatedServer| !place.found.iter().any(|number| here.contains(number));
        if !self.located_servers.iter().any(is_lost) {
            return false;
        }
        let (left, next) = self.search;
        if left > 0 {
            self.search.0 = left - 1;
            return false;
        }
        let is_remote = self.server_option == ServerOption::None;
        let (mut is_new, mut reasons, mut remote_reasons) = (false, Vec::new(), Vec::new());
        for place in self.located_servers.iter_mut().filter(|place| is_lost(place)) {
            match find::find(files, &place.location, self.server_option) {
                Some(Ok(found)) => {
                    self.server.add(files, found.iter().copied(), CountedFrom::Now);
                    place.found = found;
                    is_new = true;
                }
                Some(Err(why)) if is_remote && !find::has_listener(files, &place.location) => {
                    remote_reasons.push(why);
                }
                Some(Err(why)) => reasons.push(why),
                None => {}
            }
        }
        // An `assay` on another machine is given the ports of all hosts of the URL. Ports without a
        // listener are those of other hosts if a server was found.
        if self.server.pids().is_empty() {
            reasons.append(&mut remote_reasons);
        }
        // If a process that the user named is observed, a port without a visible process is not
        // reported as missing: the port may belong to the named process.
        if !self.has_named_server() {
            reasons.into_iter().for_each(|why| sample.missing(MeasuredSide::Server.name(), why));
        }
        let later = (next, (next * 2).min(LONGEST_PAUSE));
        self.search = if is_new { (0, 1) } else { later };
        is_new
    }

    /// Returns true if a process that the user named is observed.
    fn has_named_server(&self) -> bool {
        let here = self.server.pids();
        self.located_servers.iter().any(|place| match place.location {
            ServerLocation::Process(number) => here.contains(&number),
            ServerLocation::Port(_)
            | ServerLocation::Elsewhere(_)
            | ServerLocation::Socket(_)
            | ServerLocation::Threads(_) => false,
        })
    }

    fn missing_generator_reason(&self) -> String {
        match self.observed_root {
            Some(number) => format!("process {number} has ended, or is not visible"),
            None => "/proc does not show this process".to_owned(),
        }
    }

    /// Reports the cost of observing, which is the processor time of the observing threads of this
    /// process.
    fn report_observing(&mut self, files: &mut Files<'_>, sample: &mut Sample) {
        let group = match self.observed_root {
            Some(_) => {
                self.observer.sample(files, None);
                &self.observer
            }
            None => &self.generator,
        };
        if !group.pids().is_empty() {
            let s = seconds(group.observing);
            sample.read(
                &ComponentKind::Processes(MeasuredSide::Generator),
                generator::OBSERVING,
                s,
            );
        }
    }

    /// Reports the number of proxies among the processes that accept the target's connections, and
    /// the database behind them.
    ///
    /// Proxies count only if all listeners are proxies; otherwise the database itself may be among
    /// them. A single listener that has neither the name of a proxy nor that of a database counts
    /// as a proxy if its connections lead to a database or to another proxy.
    fn report_proxies(&mut self, files: &mut Files<'_>, listeners: Vec<u32>, sample: &mut Sample) {
        let count = listeners.len();
        let are_named = proxies::count(files, listeners.iter().copied()) == count;
        let has_database = listeners.iter().any(|number| is_database(files, *number));
        let mut upstream = Sample::default();
        if count > 0 && !has_database {
            self.report_upstream(files, listeners, &mut upstream);
        }
        let leads_on = count == 1 && !has_database && self.upstream.was_reached;
        let are_proxies = are_named || leads_on;
        let proxies = if are_proxies { count } else { 0 };
        let kind = ComponentKind::Processes(MeasuredSide::Server);
        sample.read(&kind, server::PROXIES, proxies as f64);
        if are_proxies {
            sample.readings.extend(upstream.readings);
            sample.missing.extend(upstream.missing);
        }
    }

    /// Reports the database behind proxies. `proxies` are the ids of the proxies' processes.
    fn report_upstream(&mut self, files: &mut Files<'_>, proxies: Vec<u32>, sample: &mut Sample) {
        let port = |place: &LocatedServer| match place.location {
            ServerLocation::Port(port) => Some(port),
            ServerLocation::Elsewhere(_)
            | ServerLocation::Socket(_)
            | ServerLocation::Process(_)
            | ServerLocation::Threads(_) => None,
        };
        let ports = self.located_servers.iter().filter_map(port).collect();
        let proxies = Proxies { pids: proxies, ports };
        let moment = match self.upstream.sample(files, &self.process_tree, &proxies) {
            Ok(Some(moment)) => moment,
            Ok(None) => return,
            Err(why) => {
                return sample.missing(ObservedComponent::here(ComponentKind::Upstream), why);
            }
        };
        let mut read = |metric, value| sample.read(&ComponentKind::Upstream, metric, value);
        read(metric::upstream::PROCESSES, moment.processes as f64);
        read(metric::upstream::USER, seconds(self.upstream.group.used.user));
        read(metric::upstream::SYSTEM, seconds(self.upstream.group.used.system));
        match processors(files.root, &moment.allowed_processors) {
            0 => {}
            count => read(metric::upstream::PROCESSORS, count as f64),
        }
    }

    fn report_roles(&self, sample: &mut Sample) {
        for (role, used) in &self.server.roles {
            let kind = ComponentKind::Role((*role).to_owned());
            sample.read(&kind, role::USER, seconds(used.user));
            sample.read(&kind, role::SYSTEM, seconds(used.system));
            sample.read(&kind, role::READ_BYTES, used.read as f64);
            sample.read(&kind, role::WRITTEN_BYTES, used.written as f64);
        }
    }

    /// Reports the use of programs other than the load generator and the database. Nothing is
    /// reported while a lost server is being searched for, because the server would count as one of
    /// these programs.
    fn report_others(&mut self, files: &mut Files<'_>, now: Stamp, sample: &mut Sample) {
        let here = self.server.pids();
        let is_lost = |place: &LocatedServer| {
            !place.found.is_empty() && !place.found.iter().any(|number| here.contains(number))
        };
        if self.located_servers.iter().any(is_lost) {
            return;
        }
        let groups = [&self.generator, &self.server, &self.upstream.group, &self.observer];
        let pids = groups.iter().flat_map(|group| group.pids());
        let pids = pids.chain(self.other_targets.pids()).collect();
        let used =
            groups.map(|group| group.used).into_iter().chain([self.generator.other_side_used]);
        let used_s = used.map(|used| seconds(used.user) + seconds(used.system)).sum();
        let sides = Sides { own: own_pid(files.root), pids, used_s };
        self.others.sample(files, &sides, now, sample);
    }

    fn report_cgroups(&mut self, root: &Root, sample: &mut Sample) {
        let [generator, server] = &mut self.cgroups;
        let own = self.observed_root.unwrap_or_else(|| own_pid(root));
        generator.sample(root, own, sample);
        let listeners = self.located_servers.iter().flat_map(|place| &place.found);
        if let Some(number) = listeners.copied().next() {
            server.sample(root, number, sample);
        }
    }
}

/// The values that are reported for one side.
struct SideUsage {
    side: MeasuredSide,
    used: ResourceUse,
    /// Time since the last sample, in seconds.
    since_s: Option<f64>,
}

impl SideUsage {
    fn read(&self, sample: &mut Sample, metric: ObservedMetric, value: f64) {
        sample.read(&ComponentKind::Processes(self.side), metric, value);
    }

    fn report(&self, files: &Files<'_>, moment: &GroupSample, sample: &mut Sample) {
        self.read(sample, processes::PROCESSES, moment.processes as f64);
        self.read(sample, processes::THREADS, moment.threads as f64);
        let bytes = moment.resident as f64 * rustix::param::page_size() as f64;
        self.read(sample, processes::RESIDENT, bytes);
        self.report_used(moment.busiest.is_some(), sample);
        self.read(sample, processes::MAJOR_FAULTS, self.used.major_faults as f64);
        self.report_busiest(moment.busiest.map(|Pair(own, _)| own), sample);
        self.report_io(moment.has_io_bytes, sample);
        self.report_processors(files, moment, sample);
    }

    fn report_processors(&self, files: &Files<'_>, moment: &GroupSample, sample: &mut Sample) {
        match processors(files.root, &moment.allowed_processors) {
            0 => {}
            count => self.read(sample, processes::PROCESSORS, count as f64),
        }
    }

    /// Reports the used resources. The time for which threads waited for a processor is known only
    /// if threads are read one by one.
    fn report_used(&self, has_threads: bool, sample: &mut Sample) {
        let ResourceUse { user, system, waited, voluntary, involuntary, .. } = self.used;
        self.read(sample, processes::USER, seconds(user));
        self.read(sample, processes::SYSTEM, seconds(system));
        if has_threads {
            self.read(sample, processes::WAITED, seconds(waited));
        }
        self.read(sample, processes::VOLUNTARY_SWITCHES, voluntary as f64);
        self.read(sample, processes::INVOLUNTARY_SWITCHES, involuntary as f64);
    }

    /// Reports the share of a processor that the busiest thread used.
    fn report_busiest(&self, busiest: Option<u64>, sample: &mut Sample) {
        let Some(since_s) = self.since_s.filter(|since_s| *since_s > 0.0) else { return };
        match busiest {
            Some(nanos) => {
                let share = (seconds(nanos) / since_s).min(1.0);
                self.read(sample, processes::BUSIEST, share);
            }
            None => sample.missing(
                format!("{} busiest and waited", self.side.name()),
                format!("threads are not read one by one {THREADS_NOT_READ_REASON}"),
            ),
        }
    }

    fn report_io(&self, is_known: bool, sample: &mut Sample) {
        if is_known {
            self.read(sample, processes::READ_BYTES, self.used.read as f64);
            self.read(sample, processes::WRITTEN_BYTES, self.used.written as f64);
        } else {
            sample.missing(
                format!("{} read-bytes", self.side.name()),
                "/proc/PID/io is visible only to the user of the process and to root",
            );
        }
    }
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// Returns the number of this process as `/proc` shows it.
fn own_pid(root: &Root) -> u32 {
    let number = root.link("proc/self").and_then(|number| number.parse().ok());
    number.unwrap_or_else(std::process::id)
}

/// Returns the number of the allowed processors that are online; if the list of online processors
/// cannot be read, the number of all allowed ones.
fn processors(root: &Root, allowed_processors: &BTreeSet<u32>) -> usize {
    match root.line("sys/devices/system/cpu/online") {
        Some(online) => {
            ids(&online).into_iter().filter(|id| allowed_processors.contains(id)).count()
        }
        None => allowed_processors.len(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::stat::Stat;
    use super::stat::tests::line;
    use super::*;
    use crate::environment::tests::TestRoot;

    fn value(sample: &Sample, component: &str, metric: &str) -> Option<f64> {
        let of =
            |r: &&record::Reading| r.series.component == component && r.series.metric == metric;
        sample.readings.iter().find(of).map(|reading| reading.value)
    }

    fn take_sample(processes: &mut Processes, root: &Root) -> Sample {
        let mut sample = Sample::default();
        processes.sample(root, &mut sample);
        sample
    }

    #[test]
    fn own_process_usage_is_sampled() {
        let mut processes = Processes::of(&Scope::default());
        let root = Root::system();
        let first = take_sample(&mut processes, &root);
        let used = |sample: &Sample| -> f64 {
            let of = |metric| value(sample, "generator", metric).unwrap();
            of("user") + of("system")
        };
        // Other tests may use the processors for a while.
        let until = Monotonic.now() + base::Nanos::from_secs(10);
        let second = loop {
            let pause = Monotonic.now() + base::Nanos::from_millis(30);
            while Monotonic.now() < pause {}
            let sample = take_sample(&mut processes, &root);
            if used(&sample) > used(&first) || Monotonic.now() >= until {
                break sample;
            }
        };
        assert!(used(&second) > used(&first), "{second:?}");
        assert!(value(&second, "generator", "busiest").is_some_and(|share| share > 0.0));
        assert!(value(&second, "generator", "resident").is_some_and(|bytes| bytes > 1e5));
        assert!(value(&second, "generator", "processors").is_some_and(|count| count >= 1.0));
        assert_eq!(value(&second, "generator", "processes"), Some(1.0));
    }

    #[test]
    fn embedded_database_threads_are_separated() {
        let (sender, receiver) = std::sync::mpsc::sync_channel::<()>(0);
        let thread = std::thread::Builder::new().name("apart".to_owned());
        let thread = thread.spawn(move || while receiver.recv().is_ok() {}).unwrap();
        sender.send(()).unwrap();
        let servers = vec![ServerLocation::Threads("apart")];
        let mut processes = Processes::of(&Scope { servers, ..Scope::default() });
        let first = take_sample(&mut processes, &Root::system());
        for _ in 0..10_000 {
            sender.send(()).unwrap();
        }
        let second = take_sample(&mut processes, &Root::system());
        drop(sender);
        thread.join().unwrap();
        let used = |sample| {
            value(sample, "server", "user").unwrap() + value(sample, "server", "system").unwrap()
        };
        assert!(used(&second) > used(&first), "{second:?}");
        assert!(value(&second, "server", "busiest").is_some_and(|share| share > 0.0));
        assert!(value(&second, "server", "processors").is_some_and(|count| count >= 1.0));
    }

    #[test]
    fn a_server_is_found_by_its_port_and_by_its_number() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for place in [ServerLocation::Port(port), ServerLocation::Process(std::process::id())] {
            let servers = vec![place];
            let mut processes = Processes::of(&Scope { servers, ..Scope::default() });
            let sample = take_sample(&mut processes, &Root::system());
            assert_eq!(value(&sample, "server", "processes"), Some(1.0), "{sample:?}");
        }
    }

    #[test]
    fn children_of_a_watched_process_count_with_it() {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "cat; true"]).stdin(std::process::Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut processes =
            Processes::of(&Scope { generator: Some(shell.id()), ..Scope::default() });
        let until = Monotonic.now() + base::Nanos::from_secs(10);
        let mut count = None;
        while count != Some(2.0) && Monotonic.now() < until {
            count = value(&take_sample(&mut processes, &Root::system()), "generator", "processes");
        }
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!(count, Some(2.0));
        // If a program has ended, this is not missing data; if it never existed, it is.
        let number = shell.id();
        let after = take_sample(&mut processes, &Root::system());
        assert_eq!(after.missing, []);
        let mut late = Processes::of(&Scope { generator: Some(number), ..Scope::default() });
        assert_eq!(take_sample(&mut late, &Root::system()).missing[0].what, "generator");
        assert!(value(&after, "generator", "observing").is_some());
    }

    #[test]
    fn missing_server_is_reported_and_searched_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let servers = vec![ServerLocation::Port(port)];
        let mut processes = Processes::of(&Scope { servers, ..Scope::default() });
        let sample = take_sample(&mut processes, &Root::system());
        assert_eq!(sample.missing[0].what, "server");
        let _listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let mut found = (0..LONGEST_PAUSE).map(|_| take_sample(&mut processes, &Root::system()));
        assert!(found.any(|sample| value(&sample, "server", "processes") == Some(1.0)));
    }

    #[test]
    fn unreadable_processes_are_reported_as_missing() {
        let servers = vec![ServerLocation::Port(1), ServerLocation::Socket("/none".into())];
        let mut processes = Processes::of(&Scope { servers, ..Scope::default() });
        let sample = take_sample(&mut processes, &TestRoot::new().root);
        let whats: BTreeSet<&str> = sample.missing.iter().map(|m| m.what.as_str()).collect();
        assert!(whats.contains("generator") && whats.contains("server"), "{whats:?}");
    }

    /// Expects a port without a server to be reported as missing, unless a process that the user
    /// named is running: the port may belong to that process.
    #[test]
    fn port_of_a_named_server_is_not_missing() {
        let missing = |servers| {
            let mut processes = Processes::of(&Scope { servers, ..Scope::default() });
            take_sample(&mut processes, &Root::system()).missing
        };
        let (port, named) = (ServerLocation::Port(1), ServerLocation::Process(std::process::id()));
        let ended = ServerLocation::Process(u32::MAX);
        assert!(missing(vec![port.clone()]).iter().any(|it| it.what == "server"));
        assert!(missing(vec![ended, port.clone()]).iter().any(|it| it.what == "server"));
        assert!(missing(vec![named, port]).iter().all(|it| it.what != "server"));
    }

    #[test]
    fn port_of_another_host_is_missing_only_if_no_server_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_missing = |ports: [u16; 2], server_option| {
            let servers = ports.map(ServerLocation::Port).to_vec();
            let scope = Scope { servers, server_option, ..Scope::default() };
            let sample = take_sample(&mut Processes::of(&scope), &Root::system());
            sample.missing.iter().any(|it| it.what == "server")
        };
        assert!(!is_missing([1, port], ServerOption::None));
        assert!(is_missing([1, 2], ServerOption::None));
        assert!(is_missing([1, port], ServerOption::Key));
    }

    /// Samples a machine twice, on which the database of a further target (process 40) has a child
    /// (41). Meanwhile, the child and another program (50) each use one second. Returns the
    /// readings of other programs and of unidentified targets.
    fn beside_another_target(
        name: &str,
        other_targets: Vec<ServerLocation>,
    ) -> (Option<f64>, Option<f64>) {
        let plant = |planted: TestRoot, number: u32, parent: u32, name: &str, user: u64| {
            let stat = Stat { parent, user, threads: 1, started: 1, ..Stat::default() };
            let line = line(&stat).replacen("a) b", name, 1);
            let planted = planted.with(&format!("proc/{number}/stat"), line);
            planted.with(&format!("proc/{number}/comm"), format!("{name}\n"))
        };
        let listening = "head\n0: 0100007F:1538 00000000:0000 0A 0:0 0:0 0 101 0 77 1\n";
        let mut planted = TestRoot::new()
            .with("proc/net/tcp", listening)
            .with_link("proc/40/fd/3", "socket:[77]")
            .with_link("proc/self", "100");
        let mut processes = Processes::of(&Scope { other_targets, ..Scope::default() });
        let mut sample = Sample::default();
        for (busy_s, ticks) in [(0.0, 0), (10.0, 100)] {
            planted = plant(planted, 40, 1, name, 0);
            planted = plant(planted, 41, 40, name, ticks);
            planted = plant(planted, 50, 1, "stress", ticks);
            sample = Sample::default();
            sample.read(&ComponentKind::Host, host::BUSY, busy_s);
            processes.sample(&planted.root, &mut sample);
        }
        let of_host = |metric: ObservedMetric| value(&sample, "host", metric.name);
        (of_host(host::OTHER_PROGRAMS), of_host(host::UNIDENTIFIED_TARGETS))
    }

    #[test]
    fn database_of_a_further_target_is_not_another_program() {
        let located = || vec![ServerLocation::Port(5_432)];
        assert_eq!(beside_another_target("postgres", located()), (Some(1.0), Some(0.0)));
        assert_eq!(beside_another_target("pgbouncer", located()), (Some(2.0), Some(1.0)));
        assert_eq!(beside_another_target("postgres", Vec::new()), (Some(2.0), None));
    }

    /// Samples a machine with a target at port 6432, where a process of this name listens. If it is
    /// `connected`, its other socket leads to port 5432, where a process of the name `behind` with
    /// this parent listens. Returns the numbers of proxies and of processes of the database behind
    /// them, and the names of missing components.
    fn behind_a_listener(
        name: &str,
        connected: bool,
        behind: (&str, u32),
    ) -> (Option<f64>, Option<f64>, Vec<String>) {
        let plant = |planted: TestRoot, number: u32, parent: u32, name: &str| {
            let stat = Stat { parent, threads: 1, started: 1, ..Stat::default() };
            let planted = planted.with(&format!("proc/{number}/stat"), line(&stat));
            planted.with(&format!("proc/{number}/comm"), format!("{name}\n"))
        };
        let listening = "head\n0: 0100007F:1920 00000000:0000 0A 0:0 0:0 0 101 0 70 1\n\
            1: 0100007F:1538 00000000:0000 0A 0:0 0:0 0 101 0 77 1\n";
        let planted = plant(plant(TestRoot::new(), 40, 1, name), 50, behind.1, behind.0)
            .with("proc/net/tcp", listening)
            .with_link("proc/40/fd/3", "socket:[70]")
            .with_link("proc/40/fd/4", if connected { "socket:[2]" } else { "pipe:[2]" })
            .with_link("proc/50/fd/3", "socket:[77]")
            .with_link("proc/self", "100");
        let find_servers: FindServers = |sockets, ports| {
            let leads = sockets.contains(&2) && ports == [6_432];
            leads.then_some(ServerLocation::Port(5_432)).into_iter().collect()
        };
        let servers = vec![ServerLocation::Port(6_432)];
        let processes = Processes::of(&Scope { servers, ..Scope::default() });
        let sample = take_sample(&mut processes.with_upstream(find_servers), &planted.root);
        let missing = sample.missing.iter().map(|it| it.what.clone());
        let missing = missing.filter(|what| what.starts_with("upstream")).collect();
        let of = |component, metric| value(&sample, component, metric);
        (of("server", "proxies"), of("upstream", "processes"), missing)
    }

    #[test]
    fn program_that_leads_to_a_database_is_a_proxy() {
        let check = |name, connected, behind, expected: (f64, Option<f64>)| {
            let (proxies, upstream, missing) = behind_a_listener(name, connected, behind);
            assert_eq!((proxies, upstream), (Some(expected.0), expected.1), "{name} {behind:?}");
            assert_eq!(missing, [""; 0], "{name}");
        };
        check("own-relay", true, ("postgres", 1), (1.0, Some(1.0)));
        check("own-relay", true, ("docker-proxy", 1), (1.0, None));
        check("toxiproxy-serve", false, ("postgres", 1), (1.0, None));
        // A database of another kind, which need not have the name of one.
        check("own-database", false, ("postgres", 1), (0.0, None));
        check("own-database", true, ("metrics", 1), (0.0, None));
        // A database that the listener has started counts with it.
        check("own-database", true, ("postgres", 40), (0.0, None));
        check("postgres", true, ("postgres", 1), (0.0, None));
    }

    #[test]
    fn allowed_processors_that_are_offline_do_not_count() {
        let planted = TestRoot::new().with("sys/devices/system/cpu/online", "0-1\n");
        assert_eq!(processors(&planted.root, &[1, 2, 3].into()), 1);
        assert_eq!(processors(&TestRoot::new().root, &[1, 2, 3].into()), 3);
    }
}
