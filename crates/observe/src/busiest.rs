//! The component that is nearest to saturation during a run.

use std::collections::BTreeMap;

use base::Nanos;
use record::metric::{disk, host, processes, sessions};
use record::{
    ComponentKind, ComponentUtilization, MeasuredSide, ObservedComponent, ObservedMetric, Series,
};

use crate::sample::Sample;

/// Minimum share of the time for which a component must be in use to be reported.
const MIN_SHARE: f64 = 0.01;

/// Age at which a reading expires, as a multiple of the time between the component's last two
/// readings. If readings did not expire, a database that has ended would still appear busy.
const EXPIRY_INTERVALS: f64 = 2.5;

/// Minimum age at which a reading expires.
const MIN_EXPIRY: Nanos = Nanos::from_secs(3);

/// The last readings, and the share of the time for which each component was in use.
#[derive(Debug, Default)]
pub struct Busiest {
    last_readings: BTreeMap<Series, (Nanos, f64)>,
    shares: BTreeMap<String, UtilizationReading>,
}

/// Share of the time for which a component was in use, time of the reading, and time since the
/// previous reading.
#[derive(Clone, Copy, Debug)]
struct UtilizationReading {
    share: f64,
    at: Nanos,
    every: Nanos,
}

impl UtilizationReading {
    fn is_expired(self, now: Nanos) -> bool {
        let span = Nanos::from_secs_f64(self.every.as_secs_f64() * EXPIRY_INTERVALS);
        now.saturating_sub(self.at) > span.max(MIN_EXPIRY)
    }
}

impl Busiest {
    /// Adds a sample that was taken at the given time, and returns the component that was the
    /// busiest then; `None` if all were almost idle.
    pub fn add_sample(&mut self, at: Nanos, sample: &Sample) -> Option<ComponentUtilization> {
        let mut readings = BTreeMap::new();
        for reading in &sample.readings {
            let Some(component) = ObservedComponent::parse(&reading.series.component) else {
                continue;
            };
            let before = self.last_readings.insert(reading.series.clone(), (at, reading.value));
            let per_s = before.and_then(|(then, value)| {
                let span = at.saturating_sub(then).as_secs_f64();
                (span > 0.0 && reading.value >= value).then(|| (reading.value - value) / span)
            });
            let metric = reading.series.metric.clone();
            readings.insert((component, metric), (reading.value, per_s));
        }
        for (name, share) in shares(&readings) {
            let share = share.clamp(0.0, 1.0);
            let before = self.shares.get(&name).map_or(at, |reported| reported.at);
            self.shares
                .insert(name, UtilizationReading { share, at, every: at.saturating_sub(before) });
        }
        self.shares.retain(|_, reported| !reported.is_expired(at));
        let busiest = self.shares.iter().max_by(|a, b| a.1.share.total_cmp(&b.1.share))?;
        let (name, share) = (busiest.0.clone(), busiest.1.share);
        (share >= MIN_SHARE).then_some(ComponentUtilization { name, share })
    }
}

/// The value of each metric of each component, and its growth per second.
type LatestReadings = BTreeMap<(ObservedComponent, String), (f64, Option<f64>)>;

/// Returns the share of the time for which each component was in use. Because of measurement
/// errors, a share may exceed 1.
fn shares(readings: &LatestReadings) -> Vec<(String, f64)> {
    let mut shares = Vec::new();
    for ((component, name), (value, per_s)) in readings {
        let of =
            |metric: ObservedMetric| readings.get(&(component.clone(), metric.name.to_owned()));
        let rate = |metric: ObservedMetric| of(metric).and_then(|(_, per_s)| *per_s);
        let is = |metric: ObservedMetric| metric.name == name;
        let place = component.place.as_ref().map_or(String::new(), |place| format!(" of {place}"));
        let found = match &component.kind {
            ComponentKind::Processes(MeasuredSide::Generator) if is(processes::BUSIEST) => {
                Some(("the load generator's busiest thread".to_owned(), *value))
            }
            ComponentKind::Processes(MeasuredSide::Server) if is(processes::BUSIEST) => {
                Some(("the database's busiest thread".to_owned(), *value))
            }
            ComponentKind::Processes(MeasuredSide::Server) if is(processes::PROCESSORS) => {
                let used =
                    rate(processes::USER).unwrap_or(0.0) + rate(processes::SYSTEM).unwrap_or(0.0);
                Some(("the database's processors".to_owned(), used / value.max(1.0)))
            }
            ComponentKind::Host if is(host::BUSY) => {
                let all = rate(host::PROCESSORS).filter(|all| *all > 0.0);
                all.zip(*per_s).map(|(all, busy)| ("the processors".to_owned(), busy / all))
            }
            ComponentKind::Disk(name) if is(disk::BUSY) => {
                per_s.map(|share| (format!("disk {name}"), share))
            }
            _ => None,
        };
        shares.extend(found.map(|(name, share)| (format!("{name}{place}"), share)));
    }
    shares.extend(lock_wait_share(readings));
    shares
}

/// Returns a name for the database's locks, and the share of the active sessions that wait for
/// locks, by the waits whose names begin with `Lock:`. `None` if no sessions are active.
fn lock_wait_share(readings: &LatestReadings) -> Option<(String, f64)> {
    let per_s = |kind: ComponentKind, metric: ObservedMetric| {
        readings
            .get(&(ObservedComponent::here(kind), metric.name.to_owned()))
            .and_then(|(_, per_s)| *per_s)
    };
    let active = per_s(ComponentKind::Sessions, sessions::ACTIVE).filter(|active| *active > 0.0)?;
    let locks = readings.iter().filter(|((component, metric), _)| {
        component.kind == ComponentKind::Waits && metric.starts_with("Lock:")
    });
    let waiting: f64 = locks.filter_map(|(_, (_, per_s))| *per_s).sum();
    Some(("the database's locks".to_owned(), waiting / active))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(readings: &[(ComponentKind, &str, f64)]) -> Sample {
        let mut sample = Sample::default();
        readings.iter().for_each(|(kind, metric, value)| sample.push(kind, metric, "s", *value));
        sample
    }

    fn at(s: u64) -> Nanos {
        Nanos::from_secs(s)
    }

    #[test]
    fn component_with_the_least_spare_time_is_reported() {
        let generator = ComponentKind::Processes(MeasuredSide::Generator);
        let server = ComponentKind::Processes(MeasuredSide::Server);
        let mut busiest = Busiest::default();
        let first = [
            (generator.clone(), "busiest", 0.3),
            (server.clone(), "user", 5.0),
            (server.clone(), "system", 1.0),
            (server.clone(), "processors", 2.0),
            (ComponentKind::Disk("vda".to_owned()), "busy", 7.0),
        ];
        let found = busiest.add_sample(at(1), &sample(&first)).unwrap();
        assert_eq!(
            (found.name.as_str(), found.share),
            ("the load generator's busiest thread", 0.3)
        );
        let then = [
            (generator, "busiest", 0.3),
            (server.clone(), "user", 7.0),
            (server.clone(), "system", 2.0),
            (server, "processors", 2.0),
            (ComponentKind::Disk("vda".to_owned()), "busy", 7.5),
        ];
        let found = busiest.add_sample(at(3), &sample(&then)).unwrap();
        assert_eq!((found.name.as_str(), found.share), ("the database's processors", 0.75));
    }

    #[test]
    fn lock_waits_are_a_share_of_the_active_sessions() {
        let session_sample = |active, locks| {
            sample(&[
                (ComponentKind::Sessions, "active", active),
                (ComponentKind::Waits, "Lock:tuple", locks),
                (ComponentKind::Waits, "cpu", 1.0),
            ])
        };
        let mut busiest = Busiest::default();
        assert_eq!(busiest.add_sample(at(1), &session_sample(10.0, 5.0)), None);
        let found = busiest.add_sample(at(2), &session_sample(20.0, 14.0)).unwrap();
        assert_eq!((found.name.as_str(), found.share), ("the database's locks", 0.9));
        // A counter that was reset has no rate.
        let found = busiest.add_sample(at(3), &session_sample(1.0, 1.0)).unwrap();
        assert_eq!(found.share, 0.9);
    }

    #[test]
    fn component_without_new_samples_is_no_longer_busiest() {
        let busy = |kind: ComponentKind, share| sample(&[(kind, "busiest", share)]);
        let server = || ComponentKind::Processes(MeasuredSide::Server);
        let generator = || ComponentKind::Processes(MeasuredSide::Generator);
        let mut busiest = Busiest::default();
        for second in [0, 10] {
            busiest.add_sample(at(second), &busy(server(), 0.9));
        }
        let mut later = |second| {
            let found =
                busiest.add_sample(at(second), &busy(generator(), 0.2)).expect("a component");
            found.share
        };
        // The server is sampled every ten seconds, and was sampled last at 10 s: its reading
        // expires at 35 s.
        assert_eq!((later(34), later(36)), (0.9, 0.2));
    }

    #[test]
    fn idle_component_is_not_reported() {
        let mut busiest = Busiest::default();
        assert_eq!(busiest.add_sample(at(1), &Sample::default()), None);
        let idle = sample(&[(ComponentKind::Processes(MeasuredSide::Generator), "busiest", 0.001)]);
        assert_eq!(busiest.add_sample(at(2), &idle), None);
    }
}
