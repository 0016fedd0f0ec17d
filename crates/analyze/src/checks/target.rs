//! Was the target there, and with as many connections as were asked for?

use std::ops::Range;

use base::Nanos;
use record::{Event, EventKind};
use workload::{JobTarget, Pacing, Reconnect};

use super::Findings;
use crate::check::{Check, Status};

/// The part of its connections that a job may lack on average, as the rate may differ: one that is
/// made again at once is hardly ever missing at the end of a second.
const MISSING_ALLOWED: f64 = 0.01;

/// The connections of a job, on average.
struct Connections<'a> {
    job: &'a str,
    asked: u32,
    open: f64,
}

impl Connections<'_> {
    /// The part of them that was not open.
    fn missing(&self) -> f64 {
        1.0 - self.open / f64::from(self.asked)
    }
}

impl<'a> Findings<'a> {
    /// Was the target there all the time?
    pub(super) fn outage(&self) -> Check {
        let outages = self.outages();
        let away: Nanos =
            outages.iter().map(|outage| outage.end.saturating_sub(outage.start)).sum();
        let check = Check::new("outage", "s", away.as_secs_f64(), 0.0);
        let Some(first) = outages.first() else {
            return check.found(Status::Pass, "the target was reachable all the time");
        };
        let began = |event: &&Event| event.kind == EventKind::OutageBegan;
        let reason = self.evidence.events.iter().filter(began).min_by_key(|event| event.at);
        let sentence = format!(
            "for up to {:.1} s, first {:.1} s after time zero, {}",
            away.as_secs_f64(),
            first.start.as_secs_f64(),
            reason.map_or("the target refused connections", |event| event.text.as_str())
        );
        check.found(Status::Suspect, sentence)
    }

    /// Times in which the target was away. Each lane says so for itself, and for each server of the
    /// target; here the target is away while one of its servers is for any lane, and until the end
    /// of the run if no lane says that it came back.
    fn outages(&self) -> Vec<Range<Nanos>> {
        let mut outages: Vec<Range<Nanos>> = Vec::new();
        let mut away = 0u32;
        let mut changes: Vec<(Nanos, EventKind)> = self
            .evidence
            .events
            .iter()
            .filter(|event| matches!(event.kind, EventKind::OutageBegan | EventKind::OutageEnded))
            .map(|event| (event.at, event.kind))
            .collect();
        changes.sort_by_key(|(at, _)| *at);
        for (at, kind) in changes {
            if kind == EventKind::OutageBegan {
                away += 1;
                if away == 1 {
                    outages.push(at..self.evidence.end().max(at));
                }
            } else {
                away = away.saturating_sub(1);
                if let (0, Some(last)) = (away, outages.last_mut()) {
                    last.end = at;
                }
            }
        }
        outages
    }

    /// Were as many connections open as were asked for? In jobs whose number of them is fixed they
    /// are counted at the end of each second.
    pub(super) fn connections(&self) -> Check {
        let jobs = self.places().filter_map(|place| self.connections_of(place));
        let fewest = jobs.max_by(|a, b| a.missing().total_cmp(&b.missing()));
        let missing = fewest.as_ref().map_or(0.0, Connections::missing);
        let events = self.evidence.events.iter();
        let limits: Vec<_> = events.filter(|e| e.kind == EventKind::ConnectionLimit).collect();
        if let Some(event) = limits.first() {
            let check = Check::new("connections", "limits", limits.len() as f64, 0.0);
            return check.found(Status::Suspect, event.text.clone());
        }
        let check = Check::new("connections", "%", missing * 100.0, MISSING_ALLOWED * 100.0);
        match fewest {
            Some(Connections { job, asked, open }) if missing > MISSING_ALLOWED => check.found(
                Status::Suspect,
                format!("of the {asked} connections of [{job}] {open:.1} were open on average"),
            ),
            Some(_) => check.found(Status::Pass, "as many connections were open as were asked for"),
            None => check.found(Status::Pass, "the target accepted every connection"),
        }
    }

    /// The connections of a job that keeps a fixed number of them as long as it lasts. The last
    /// second is left out: in it the job goes. So do workers when nothing will come any more.
    fn connections_of(&self, place: usize) -> Option<Connections<'a>> {
        let job = &self.evidence.plan.jobs[place];
        let known = &self.evidence.jobs[place].steps;
        let last_arrival = || known.iter().rposition(|step| step.counts.arrivals > 0);
        let (asked, goes_at) = match job.pacing {
            Pacing::Closed { clients, .. } => (clients, known.len()),
            Pacing::Queue { workers, .. } => (workers, last_arrival().unwrap_or_default()),
            Pacing::Open { .. }
            | Pacing::Timetable { .. }
            | Pacing::Replay
            | Pacing::Part { .. } => return None,
        };
        let ends_early = self.evidence.plan.ends_with_its_requests(place);
        let keeps_them = job.reconnect == Reconnect::No && job.target != JobTarget::Programs;
        if asked == 0 || ends_early || !keeps_them {
            return None;
        }
        let steps = &self.evidence.steps;
        let end = job.stop.map_or(self.evidence.end(), |stop| stop.min(self.evidence.end()));
        let open: Vec<u64> = steps
            .window()
            .filter(|step| *step < goes_at && steps.start(step + 1) < end)
            .filter_map(|step| known.get(step)?.connections)
            .collect();
        let sum: u64 = open.iter().sum();
        let open = (!open.is_empty()).then(|| sum as f64 / open.len() as f64)?;
        Some(Connections { job: &job.name, asked, open })
    }
}
