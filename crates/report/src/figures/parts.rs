//! Parts of the response times: service, wait and send lag.

use analyze::{Distribution, TimeColumn};
use base::Class;
use record::Kind;

use super::subject::{FigureTexts, Job, Run, highest, middle};
use super::timeline;
use crate::figure::{Axis, Extent, Figure, Ink, LegendEntry, Mark, Swatch, Unit, with_clause};
use crate::number::{count, percent, time};

/// The parts of the response time from the bottom of the figure up, with their indexes in a
/// [`stack`].
const PARTS: [(&str, usize); 3] = [
    ("service: the database", 0),
    ("wait for a free connection or worker", 1),
    ("send lag of the generator", 2),
];

/// Returns the mean parts of a job's response times over time.
pub(super) fn figure(run: &Run<'_>, job: &Job<'_>) -> Figure {
    let words = FigureTexts {
        name: job.figure_name("time-parts"),
        title: format!("Where the time went: {}", job.summary.name),
        caption: caption(job),
    };
    if let Some(reason) = job.missing() {
        return words.into_empty_figure(reason);
    }
    let stacks: Vec<(f64, [f64; 3])> =
        job.course.columns.iter().map(|it| (middle(it), stack(it))).collect();
    let mut marks = timeline::marks(run);
    for (_, part) in PARTS {
        // The product is NaN in a column without requests, which interrupts the area.
        let extent = |(at, stack): &(f64, [f64; 3])| {
            let low = if part == 0 { 0.0 * stack[0] } else { stack[part - 1] };
            Extent { at: *at, low, high: stack[part] }
        };
        let extents = stacks.iter().map(extent).collect();
        marks.push(Mark::Band { ink: Ink::Series(part), is_solid: true, extents });
    }
    let legend = PARTS.map(|(name, part)| LegendEntry::new(Ink::Series(part), Swatch::Area, name));
    let most = highest(stacks.iter().map(|(_, stack)| stack[2]));
    let y = Axis::from_zero("mean time of a request", Unit::Time, most);
    words.into_figure([run.time(), y], marks, legend.to_vec())
}

/// Times of the requests of a whole run, or of a column of the figure.
struct Times<'a> {
    /// Response times, with the ages of timeouts and of unsent requests. The next field has the
    /// service times. Requests with other errors have neither.
    response: &'a Distribution,
    service: &'a Distribution,
    /// Mean wait and send lag of the requests that were sent, failed ones included.
    wait_ns: f64,
    send_lag_ns: f64,
    /// True if some of the requests ended in an error that is not a timeout.
    has_failures: bool,
}

impl Times<'_> {
    /// Returns the parts of the mean response time: service, wait and send lag; NaN if there are no
    /// responses. If requests failed or were never sent, the waits and send lags of the others are
    /// unknown. The response time minus the service time is then divided in the proportion of all
    /// waits to all send lags.
    fn parts(&self) -> [f64; 3] {
        let Times { response, service, wait_ns, send_lag_ns, .. } = *self;
        if response.count == 0 || service.count == 0 {
            return [f64::NAN; 3];
        }
        if !self.has_failures && response.count == service.count {
            return [service.mean_ns, wait_ns, send_lag_ns];
        }
        // A request that was never sent has a response time, which is its age, and no service time.
        let service_ns = service.mean_ns * service.count as f64 / response.count as f64;
        let rest = (response.mean_ns - service_ns).max(0.0);
        let outside = wait_ns + send_lag_ns;
        let lag = if outside > 0.0 { rest * send_lag_ns / outside } else { 0.0 };
        [service_ns, rest - lag, lag]
    }
}

/// Returns the upper ends of the parts of a column; NaN if there are no requests.
fn stack(column: &TimeColumn) -> [f64; 3] {
    let times = Times {
        response: &column.response,
        service: &column.service,
        wait_ns: column.wait_mean_ns.unwrap_or(0.0),
        send_lag_ns: column.send_lag_mean_ns.unwrap_or(0.0),
        has_failures: column.errors.iter().any(|(class, _)| *class != Class::Timeout),
    };
    let [service, wait, send_lag] = times.parts();
    [service, service + wait, service + wait + send_lag]
}

fn caption(job: &Job<'_>) -> String {
    let summary = job.summary;
    let times = Times {
        response: &summary.response,
        service: &summary.service,
        wait_ns: summary.wait.mean_ns,
        send_lag_ns: summary.send_lag.mean_ns,
        has_failures: summary.error.count > 0,
    };
    let parts = times.parts();
    let whole: f64 = parts.iter().sum();
    if whole.is_nan() || whole <= 0.0 || summary.is_withheld(Kind::Response) {
        return "There is no time to divide.".to_owned();
    }
    let part = |(name, ns): (&str, f64)| format!("{name} {}", percent(ns / whole));
    let named = ["service", "wait", "send lag"].into_iter().zip(parts);
    let parts = named.map(part).collect::<Vec<String>>().join(", ");
    let caption = format!("Of a mean response of about {}: {parts}.", time(whole));
    match summary.error.count {
        0 => caption,
        failed => {
            let failed = count(failed, "request");
            with_clause(&caption, &format!("left out: {failed} that failed"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(count: u64, mean_ms: f64) -> Distribution {
        Distribution { count, mean_ns: mean_ms * 1e6, ..Distribution::default() }
    }

    #[track_caller]
    fn check(response: (u64, f64), service: (u64, f64), has_failures: bool, expected_ms: [f64; 3]) {
        let [response, service] = [response, service].map(|(count, mean)| times(count, mean));
        let (wait_ns, send_lag_ns) = (45e6, 5e6);
        let (response, service) = (&response, &service);
        let times = Times { response, service, wait_ns, send_lag_ns, has_failures };
        let parts = times.parts().map(|ns| ns / 1e6);
        let differences = parts.iter().zip(expected_ms).map(|(part, expected)| part - expected);
        assert!(differences.map(f64::abs).all(|it| it < 1e-9), "{parts:?}, {expected_ms:?}");
    }

    #[test]
    fn parts_add_up_to_the_mean_response() {
        check((100, 54.0), (100, 4.0), false, [4.0, 45.0, 5.0]);
    }

    /// During an outage, requests wait for a connection and are then refused. Such waits do not
    /// count.
    #[test]
    fn waits_of_failed_requests_are_no_part_of_the_mean_response() {
        check((100, 10.0), (100, 4.0), true, [4.0, 5.4, 0.6]);
    }

    /// 20 of 100 requests were still waiting at the end of the run, for 44 ms on average.
    #[test]
    fn ages_of_unsent_requests_are_waits() {
        check((100, 12.0), (80, 4.0), false, [3.2, 7.92, 0.88]);
    }

    #[test]
    fn requests_without_a_service_have_no_parts() {
        let (none, some) = (&times(0, 0.0), &times(5, 9.0));
        let of = |response, service| Times {
            response,
            service,
            wait_ns: 1.0,
            send_lag_ns: 1.0,
            has_failures: true,
        };
        assert!(of(none, none).parts()[0].is_nan() && of(some, none).parts()[0].is_nan());
    }
}
