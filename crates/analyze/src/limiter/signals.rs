//! Observations in the window, by component and metric.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use base::Nanos;
use record::metric::{host, processes, processor, role, server, sessions, upstream};
use record::statistic::{pg_stat_database, status};
use record::{ComponentKind, MeasuredSide, ObservedComponent, ObservedMetric, ServerStatistic};

use crate::evidence::{Evidence, LoadEvidence};
use crate::observed::{Observed, counter_growth};

/// The readings in the window of a run, or during the load of a table.
pub(super) struct Signals<'a> {
    window: Range<Nanos>,
    series: Vec<(ObservedComponent, &'a Observed)>,
    /// Host of the database's processes; `None` for the load generator's host, or if no process of
    /// the database was seen.
    server: Option<String>,
    /// Number of hosts on which processes of the database were seen.
    server_hosts: usize,
}

/// Use of the processors of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HostProcessors {
    /// Mean number of busy processors.
    pub(super) busy: f64,
    /// Number of all processors.
    pub(super) count: f64,
}

impl HostProcessors {
    /// Returns the busy fraction of all processors.
    pub(super) fn share(self) -> f64 {
        self.busy / self.count
    }
}

impl<'a> Signals<'a> {
    /// Collects the readings in the window of a run.
    pub(super) fn of(evidence: &'a Evidence) -> Signals<'a> {
        Signals::within(evidence.window(), &evidence.observed)
    }

    /// Collects the readings of the load of a table, from the time when all machines were observed
    /// to the end of the load. Another machine whose observation began in the second half of the
    /// load is left out.
    pub(super) fn of_load(load: &'a LoadEvidence) -> Signals<'a> {
        let latest = Nanos(load.took.0 / 2);
        let mut begins: BTreeMap<Option<String>, Nanos> = BTreeMap::new();
        let mut end = Nanos::ZERO;
        for observed in &load.observed {
            let place = ObservedComponent::parse(&observed.component).and_then(|it| it.place);
            let (Some(first), Some(last)) = (observed.points.first(), observed.points.last())
            else {
                continue;
            };
            let begin = begins.entry(place).or_insert(first.0);
            *begin = first.0.min(*begin);
            end = end.max(last.0);
        }
        begins.retain(|place, begin| place.is_none() || *begin <= latest);
        let begin = begins.values().copied().max().unwrap_or_default();
        let window = begin..end + Nanos(1);
        let mut signals = Signals::within(window, &load.observed);
        signals.series.retain(|(component, _)| begins.contains_key(&component.place));
        signals
    }

    fn within(window: Range<Nanos>, observed: &'a [Observed]) -> Signals<'a> {
        let known = observed.iter().filter_map(|observed| {
            Some((ObservedComponent::parse(&observed.component)?, observed))
        });
        let series: Vec<(ObservedComponent, &Observed)> = known.collect();
        let is_present = |(component, observed): &&(ObservedComponent, &Observed)| {
            component.kind == ComponentKind::Processes(MeasuredSide::Server)
                && observed.has_metric(processes::PROCESSES)
                && observed.points.iter().any(|(_, number)| *number > 0.0)
        };
        // If there are processes on several hosts, the host with the most processor time counts.
        let used = |place: &Option<String>| -> f64 {
            let is_match = |(component, observed): &&(ObservedComponent, &Observed)| {
                component.kind == ComponentKind::Processes(MeasuredSide::Server)
                    && component.place == *place
                    && (observed.has_metric(processes::USER)
                        || observed.has_metric(processes::SYSTEM))
            };
            series.iter().filter(is_match).filter_map(|(_, observed)| rate(observed, &window)).sum()
        };
        let places: BTreeSet<&Option<String>> =
            series.iter().filter(is_present).map(|(component, _)| &component.place).collect();
        let busiest = places.iter().copied().max_by(|a, b| used(a).total_cmp(&used(b)));
        let (server, server_hosts) = (busiest.cloned().flatten(), places.len());
        Signals { window, series, server, server_hosts }
    }

    /// Returns the number of hosts on which processes of the database were seen.
    pub(super) fn server_hosts(&self) -> usize {
        self.server_hosts
    }

    /// Returns the host of the database's processes; `None` if it is the load generator's host, or
    /// if no process of the database was seen.
    pub(super) fn server_host(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// Returns every host with observations.
    pub(super) fn hosts(&self) -> BTreeSet<Option<String>> {
        let of_hosts =
            self.series.iter().filter(|(component, _)| component.kind == ComponentKind::Host);
        of_hosts.map(|(component, _)| component.place.clone()).collect()
    }

    /// Returns true if the processes of the database were seen.
    pub(super) fn sees_processes(&self) -> bool {
        self.server_hosts > 0
    }

    /// Returns true if a program in front of a database, such as a pooler, accepts the target's
    /// connections.
    pub(super) fn sees_proxy(&self) -> bool {
        let proxies = self.mean(&ComponentKind::Processes(MeasuredSide::Server), server::PROXIES);
        proxies.is_some_and(|proxies| proxies > 0.0)
    }

    /// Returns true if the database behind a proxy was found on the proxy's machine.
    pub(super) fn sees_upstream(&self) -> bool {
        let processes = self.mean(&ComponentKind::Upstream, upstream::PROCESSES);
        processes.is_some_and(|processes| processes > 0.0)
    }

    /// Returns the host whose observations of this kind are read unless a method names another
    /// host; `None` for the load generator's host.
    fn host_of(&self, kind: &ComponentKind) -> Option<&str> {
        match kind {
            ComponentKind::Processes(MeasuredSide::Server)
            | ComponentKind::Upstream
            | ComponentKind::Role(_)
            | ComponentKind::Program(_)
            | ComponentKind::Sockets(MeasuredSide::Server)
            | ComponentKind::Cgroup(MeasuredSide::Server)
            | ComponentKind::Disk(_) => self.server.as_deref(),
            ComponentKind::Host
            | ComponentKind::Processor(_)
            | ComponentKind::Interface(_)
            | ComponentKind::Processes(MeasuredSide::Generator)
            | ComponentKind::Sockets(MeasuredSide::Generator)
            | ComponentKind::Cgroup(MeasuredSide::Generator)
            | ComponentKind::Pooler(_)
            | ComponentKind::Lane(_)
            | ComponentKind::Database
            | ComponentKind::Storage
            | ComponentKind::Table(_)
            | ComponentKind::Sessions
            | ComponentKind::Waits
            | ComponentKind::Locks
            | ComponentKind::Statements
            | ComponentKind::Background
            | ComponentKind::Statistics => None,
        }
    }

    fn find(
        &self,
        place: Option<&str>,
        kind: &ComponentKind,
        metric: ObservedMetric,
    ) -> Option<&'a Observed> {
        debug_assert!(metric.belongs_to(kind), "`{}` is not a metric of `{kind}`", metric.name);
        self.find_named(place, kind, metric.name)
    }

    fn find_named(
        &self,
        place: Option<&str>,
        kind: &ComponentKind,
        name: &str,
    ) -> Option<&'a Observed> {
        let is_match = |(component, observed): &&(ObservedComponent, &'a Observed)| {
            observed.metric == name
                && component.kind == *kind
                && component.place.as_deref() == place
        };
        self.series.iter().find(is_match).map(|(_, observed)| *observed)
    }

    fn series(&self, kind: &ComponentKind, metric: ObservedMetric) -> Option<&'a Observed> {
        self.find(self.host_of(kind), kind, metric)
    }

    fn series_named(&self, kind: &ComponentKind, name: &str) -> Option<&'a Observed> {
        self.find_named(self.host_of(kind), kind, name)
    }

    /// Returns the growth of a counter per second in the window; `None` if there are fewer than two
    /// readings in the window and next to its edges.
    pub(super) fn rate(&self, kind: &ComponentKind, metric: ObservedMetric) -> Option<f64> {
        rate(self.series(kind, metric)?, &self.window)
    }

    /// Returns the growth per second of a counter under a name that the server gives.
    pub(super) fn rate_named(&self, kind: &ComponentKind, name: &str) -> Option<f64> {
        rate(self.series_named(kind, name)?, &self.window)
    }

    /// Returns the growth per second of a statistic of the database.
    pub(super) fn rate_of_statistic(&self, statistic: ServerStatistic) -> Option<f64> {
        self.rate_named(&ComponentKind::Statistics, statistic.name)
    }

    /// Returns the mean in the window of a statistic that is a gauge.
    pub(super) fn mean_of_statistic(&self, statistic: ServerStatistic) -> Option<f64> {
        self.series_named(&ComponentKind::Statistics, statistic.name)?.mean(&self.window)
    }

    /// Returns the largest sample of a gauge in the window.
    pub(super) fn most(&self, kind: &ComponentKind, metric: ObservedMetric) -> Option<f64> {
        self.series(kind, metric)?.most(&self.window)
    }

    /// Returns the growth of a counter in the window, between its readings there.
    pub(super) fn grown(&self, kind: &ComponentKind, metric: ObservedMetric) -> Option<f64> {
        growth(self.series(kind, metric)?, &self.window).map(|(by, _)| by)
    }

    /// Returns the growth of a counter per second on the host of the database.
    pub(super) fn rate_at_server(
        &self,
        kind: &ComponentKind,
        metric: ObservedMetric,
    ) -> Option<f64> {
        rate(self.find(self.server.as_deref(), kind, metric)?, &self.window)
    }

    /// Returns the number of processors that a component used.
    pub(super) fn used_processors(&self, kind: &ComponentKind) -> Option<f64> {
        let [user, system] = match kind {
            ComponentKind::Role(_) => [role::USER, role::SYSTEM],
            _ => [processes::USER, processes::SYSTEM],
        };
        Some(self.rate(kind, user)? + self.rate(kind, system)?)
    }

    /// Returns the mean of a gauge in the window.
    pub(super) fn mean(&self, kind: &ComponentKind, metric: ObservedMetric) -> Option<f64> {
        self.series(kind, metric)?.mean(&self.window)
    }

    /// Returns the mean of a gauge without its last reading, which is taken after the end of the
    /// load.
    pub(super) fn mean_before_the_last(
        &self,
        kind: &ComponentKind,
        metric: ObservedMetric,
    ) -> Option<f64> {
        let observed = self.series(kind, metric)?;
        let (last, _) = observed.points.last()?;
        observed.mean(&(self.window.start..self.window.end.min(*last)))
    }

    /// Returns every metric of a component with its growth per second.
    pub(super) fn rates(&self, kind: &ComponentKind) -> Vec<(&'a str, f64)> {
        let place = self.host_of(kind);
        let of_component = self.series.iter().filter(|(component, _)| {
            component.kind == *kind && component.place.as_deref() == place
        });
        of_component
            .filter_map(|(_, observed)| {
                Some((observed.metric.as_str(), rate(observed, &self.window)?))
            })
            .collect()
    }

    /// Returns the mean number of sessions that a metric counts per sample; `None` if sessions were
    /// not sampled.
    pub(super) fn per_sample(&self, kind: &ComponentKind, metric: ObservedMetric) -> Option<f64> {
        let samples = self
            .rate(&ComponentKind::Sessions, sessions::SAMPLES)
            .filter(|samples| *samples > 0.0)?;
        Some(self.rate(kind, metric).unwrap_or(0.0) / samples)
    }

    /// Returns the mean number of sessions that a metric counts per sample, in the first `length`
    /// of the window.
    pub(super) fn per_early_sample(&self, metric: ObservedMetric, length: Nanos) -> Option<f64> {
        let begin = self.window.start;
        let early = begin..self.window.end.min(begin + length);
        let rate = |metric| rate(self.series(&ComponentKind::Sessions, metric)?, &early);
        let samples = rate(sessions::SAMPLES).filter(|samples| *samples > 0.0)?;
        Some(rate(metric)? / samples)
    }

    /// Returns the mean number of sessions that the server counts per sample under this name.
    pub(super) fn per_sample_named(&self, kind: &ComponentKind, name: &str) -> Option<f64> {
        let samples = self
            .rate(&ComponentKind::Sessions, sessions::SAMPLES)
            .filter(|samples| *samples > 0.0)?;
        Some(self.rate_named(kind, name).unwrap_or(0.0) / samples)
    }

    /// Returns all metrics of a component per sample, the most frequent first.
    pub(super) fn all_per_sample(&self, kind: &ComponentKind) -> Vec<(&'a str, f64)> {
        let samples =
            self.rate(&ComponentKind::Sessions, sessions::SAMPLES).filter(|samples| *samples > 0.0);
        let Some(samples) = samples else { return Vec::new() };
        let mut all: Vec<(&str, f64)> =
            self.rates(kind).into_iter().map(|(name, rate)| (name, rate / samples)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    /// Returns the wanted kinds of components that were seen on the host of the database.
    pub(super) fn kinds(&self, is_wanted: impl Fn(&ComponentKind) -> bool) -> Vec<ComponentKind> {
        let here = self
            .series
            .iter()
            .filter(|(component, _)| is_wanted(&component.kind) && component.place == self.server);
        let mut kinds: Vec<ComponentKind> =
            here.map(|(component, _)| component.kind.clone()).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// Returns the wanted kinds of components that were seen on the load generator's host.
    pub(super) fn kinds_here(
        &self,
        is_wanted: impl Fn(&ComponentKind) -> bool,
    ) -> Vec<&ComponentKind> {
        let here = self.series.iter().map(|(component, _)| component);
        let here = here.filter(|it| it.place.is_none() && is_wanted(&it.kind));
        let mut kinds: Vec<&ComponentKind> = here.map(|it| &it.kind).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// Returns the network interfaces of all observed hosts.
    pub(super) fn interfaces(&self) -> Vec<ObservedComponent> {
        self.components(|it| matches!(it.kind, ComponentKind::Interface(_)))
    }

    /// Returns the growth per second of a counter of a component, on any host.
    pub(super) fn rate_of(
        &self,
        component: &ObservedComponent,
        metric: ObservedMetric,
    ) -> Option<f64> {
        rate(self.find(component.place.as_deref(), &component.kind, metric)?, &self.window)
    }

    /// Returns the mean of a gauge of a component, on any host.
    pub(super) fn mean_of(
        &self,
        component: &ObservedComponent,
        metric: ObservedMetric,
    ) -> Option<f64> {
        self.find(component.place.as_deref(), &component.kind, metric)?.mean(&self.window)
    }

    /// Returns the growth in the window of a counter that starts at zero and is not recorded while
    /// it is small.
    pub(super) fn grown_from_nothing(
        &self,
        component: &ObservedComponent,
        metric: ObservedMetric,
    ) -> Option<f64> {
        let observed = self.find(component.place.as_deref(), &component.kind, metric)?;
        let points = &observed.points;
        let before = points.iter().rev().find(|(at, _)| *at <= self.window.start);
        let after = points.iter().find(|(at, _)| *at >= self.window.end).or(points.last())?;
        Some((after.1 - before.map_or(0.0, |(_, value)| *value)).max(0.0))
    }

    /// Returns the last reading of a component's metric up to the end of the window; if there is
    /// none, the first reading.
    pub(super) fn last_of(
        &self,
        component: &ObservedComponent,
        metric: ObservedMetric,
    ) -> Option<f64> {
        let observed = self.find(component.place.as_deref(), &component.kind, metric)?;
        let inside = observed.points.iter().rev().find(|(at, _)| *at <= self.window.end);
        inside.or(observed.points.first()).map(|(_, value)| *value)
    }

    /// Returns the growth of a counter of a component, and the seconds in which it grew.
    pub(super) fn growth_of(
        &self,
        component: &ObservedComponent,
        metric: ObservedMetric,
    ) -> Option<(f64, f64)> {
        growth(self.find(component.place.as_deref(), &component.kind, metric)?, &self.window)
    }

    /// Returns the wanted components that were seen, on any host.
    pub(super) fn components(
        &self,
        is_wanted: impl Fn(&ObservedComponent) -> bool,
    ) -> Vec<ObservedComponent> {
        let of_them = self.series.iter().map(|(component, _)| component);
        let mut all: Vec<ObservedComponent> = of_them.filter(|it| is_wanted(it)).cloned().collect();
        all.sort();
        all.dedup();
        all
    }

    /// Returns the use of the processors of the database's host; `None` if it was not observed.
    pub(super) fn host_processors(&self) -> Option<HostProcessors> {
        let each = self.kinds(|kind| matches!(kind, ComponentKind::Processor(_)));
        let busy = each.iter().filter_map(|kind| self.rate_at_server(kind, processor::BUSY));
        let busy: Vec<f64> = busy.collect();
        let count = busy.len() as f64;
        let each = HostProcessors { busy: busy.iter().sum(), count };
        // Of a machine with many processors, only some are reported one by one.
        let of_host = |metric| self.rate_at_server(&ComponentKind::Host, metric);
        let all = of_host(host::BUSY).zip(of_host(host::PROCESSORS));
        let all = all.map(|(busy, all)| HostProcessors { busy, count: all.round() });
        // The count of all processors is then far larger. Otherwise, the two counts may differ a
        // little, because rates are measured.
        all.filter(|all| all.count > 1.02 * count).or(Some(each)).filter(|_| count > 0.0)
    }

    /// Returns the number of counters that were reset in the window, because the counting program
    /// was restarted.
    pub(super) fn resets(&self) -> usize {
        let is_reset = |(_, observed): &&(ObservedComponent, &Observed)| {
            shows_restarts(observed) && falls(observed, &self.window)
        };
        self.series.iter().filter(is_reset).count()
    }

    /// Returns true if processes or sessions of a database were seen.
    pub(super) fn sees_server(&self) -> bool {
        let is_match = |component: &ObservedComponent| {
            matches!(
                component.kind,
                ComponentKind::Processes(MeasuredSide::Server) | ComponentKind::Sessions
            )
        };
        self.series.iter().any(|(component, observed)| {
            is_match(component) && observed.points.iter().any(|(_, value)| *value > 0.0)
        })
    }
}

/// Counters that show the restart of the program that counts.
const RESTARTED: [&str; 4] = [
    sessions::SAMPLES.name,
    pg_stat_database::XACT_COMMIT.name,
    status::QUESTIONS.name,
    processes::USER.name,
];

fn shows_restarts(observed: &Observed) -> bool {
    RESTARTED.contains(&observed.metric.as_str())
}

/// Returns the growth of a counter per second. If a counter is first read within the window, its
/// growth is spread over the time since the window's start, because there was nothing to count
/// before.
fn rate(observed: &Observed, window: &Range<Nanos>) -> Option<f64> {
    growth(observed, window).map(|(by, span_s)| by / span_s)
}

/// Returns the growth of a counter, and the seconds in which it grew.
fn growth(observed: &Observed, window: &Range<Nanos>) -> Option<(f64, f64)> {
    let points = observed.around(window);
    let (first, last) = (points.first()?, points.last()?);
    let since = if points.len() > 1 { first.0.min(window.start) } else { first.0 };
    let span_s = last.0.saturating_sub(since).as_secs_f64();
    (span_s > 0.0).then_some((counter_growth(points), span_s))
}

fn falls(observed: &Observed, window: &Range<Nanos>) -> bool {
    let points = observed.around(window);
    points.iter().zip(points.iter().skip(1)).any(|(a, b)| b.1 < a.1)
}

#[cfg(test)]
mod tests {
    use record::metric::host;

    use super::*;

    fn observed(points: &[(u64, f64)]) -> Observed {
        let points = points.iter().map(|(s, value)| (Nanos::from_secs(*s), *value)).collect();
        Observed {
            component: "host".to_owned(),
            metric: "user".to_owned(),
            points,
            ranges: Vec::new(),
        }
    }

    fn window(from: u64, to: u64) -> Range<Nanos> {
        Nanos::from_secs(from)..Nanos::from_secs(to)
    }

    #[test]
    fn rate_covers_the_window_only() {
        let counter = observed(&[(0, 0.0), (2, 100.0), (4, 120.0), (6, 140.0), (8, 900.0)]);
        assert_eq!(rate(&counter, &window(2, 6)), Some(10.0));
        assert_eq!(rate(&counter, &window(3, 5)), Some(10.0));
        assert_eq!(rate(&observed(&[(3, 1.0)]), &window(0, 9)), None);
        assert_eq!(rate(&observed(&[]), &window(0, 9)), None);
    }

    #[test]
    fn late_counter_is_rated_over_the_whole_window() {
        let late = observed(&[(9, 0.0), (10, 80.0)]);
        assert_eq!(rate(&late, &window(0, 10)), Some(8.0));
        // A counter with long times between its readings is not late: it was read before the
        // window.
        let seldom = observed(&[(0, 0.0), (10, 80.0)]);
        assert_eq!(rate(&seldom, &window(5, 8)), Some(8.0));
    }

    #[test]
    fn reset_counter_is_continued() {
        let counter = observed(&[(0, 100.0), (1, 110.0), (2, 4.0), (3, 14.0)]);
        assert_eq!(rate(&counter, &window(0, 3)), Some(8.0));
        assert!(falls(&counter, &window(0, 3)));
        assert!(!falls(&counter, &window(2, 3)));
    }

    #[test]
    fn reading_is_weighted_by_the_time_since_the_previous_one() {
        let millis = |points: &[(u64, f64)]| {
            let points = points.iter().map(|(ms, value)| (Nanos::from_millis(*ms), *value));
            Observed { points: points.collect(), ..observed(&[]) }
        };
        let at_its_end = millis(&[(1_000, 0.9), (2_000, 0.9), (2_200, 0.1)]);
        let mean_of = |observed: &Observed| (observed.mean(&window(0, 9)).unwrap() * 1e3).round();
        assert_eq!(mean_of(&at_its_end), 827.0);
        assert_eq!(mean_of(&millis(&[(300, 0.5)])), 500.0);
        assert_eq!(mean_of(&millis(&[(10, 9.0), (1_010, 0.4)])), 485.0);
    }

    /// Returns the evidence of a load of four seconds, with another machine that is observed from
    /// the second `begin` on.
    fn loaded(begin: u64) -> LoadEvidence {
        let points = |from| (from..=4).map(|s| (Nanos::from_secs(s), 0.9 * s as f64)).collect();
        let of = |component: &str, from| Observed {
            component: component.to_owned(),
            metric: "user".to_owned(),
            points: points(from),
            ranges: Vec::new(),
        };
        LoadEvidence {
            table: "t".to_owned(),
            rows: 1,
            bytes: 1,
            took: Nanos::from_secs(4),
            points: Vec::new(),
            observed: vec![of("generator", 0), of("db1/host", begin)],
            unseen: Vec::new(),
            fallback: None,
        }
    }

    #[test]
    fn load_is_judged_from_the_first_sample_of_every_machine() {
        let host = ObservedComponent::parse("db1/host").unwrap();
        let share = |load: &LoadEvidence| Signals::of_load(load).rate_of(&host, host::USER);
        let near = |share: Option<f64>| share.is_some_and(|share| (share - 0.9).abs() < 1e-6);
        assert!(near(share(&loaded(0))) && near(share(&loaded(2))), "{:?}", share(&loaded(2)));
        assert_eq!(share(&loaded(3)), None);
        let generator = ComponentKind::Processes(MeasuredSide::Generator);
        for load in [loaded(2), loaded(3)] {
            assert!(near(Signals::of_load(&load).rate(&generator, processes::USER)));
        }
    }

    #[test]
    fn mean_uses_readings_inside_the_window() {
        let gauge = observed(&[(0, 9.0), (1, 1.0), (2, 3.0), (3, 9.0)]);
        assert_eq!(gauge.mean(&window(1, 3)), Some(2.0));
        assert_eq!(gauge.mean(&window(4, 9)), None);
    }
}
