//! The state of a run in progress in the text format of Prometheus (version 0.0.4).

use std::fmt::{Display, Write as _};

use base::printable;
use record::{LiveJob, LiveState};

/// Label that names the job. Prometheus attaches its own label `job`, the name of the scrape
/// configuration, and would rename a label `job` of Assay.
const JOB: &str = "assay_job";

/// Formats the figures of a run. `names` has, for each job of `live`, its name, or `None` for a
/// part of a mix, whose requests are already counted by the mix. Before the first figures, the text
/// has only the workload.
pub fn metrics(workload: &str, names: &[Option<String>], live: Option<&LiveState>) -> String {
    let mut out = Metrics::default();
    out.family("assay_run_info", "gauge", "The run: 1, with its workload as a label.");
    out.sample("assay_run_info", &[("workload", workload)], 1);
    let Some(live) = live else { return out.0 };
    out.family("assay_run_seconds", "gauge", "Time of the figures since time zero.");
    out.sample("assay_run_seconds", &[], live.at.as_secs_f64());
    let jobs = names.iter().zip(&live.jobs).filter_map(|(name, job)| Some((name.as_deref()?, job)));
    let jobs: Vec<(&str, &LiveJob)> = jobs.collect();
    out.family("assay_requests_due_total", "counter", "Requests that came due.");
    for (name, job) in &jobs {
        out.sample("assay_requests_due_total", &[(JOB, name)], job.counts.arrivals);
    }
    outcomes(&mut out, &jobs);
    gauges(&mut out, &jobs);
    let title = "Response time from the intended start, in seconds.";
    out.family("assay_response_seconds", "histogram", title);
    jobs.iter().for_each(|(name, job)| histogram(&mut out, name, job));
    out.0
}

/// A writer of the text format.
#[derive(Default)]
struct Metrics(String);

impl Metrics {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(label, text)| format!("{label}=\"{}\"", escaped(text))).collect();
        let _ = match labels.is_empty() {
            true => writeln!(self.0, "{name} {value}"),
            false => writeln!(self.0, "{name}{{{}}} {value}", labels.join(",")),
        };
    }
}

fn outcomes(out: &mut Metrics, jobs: &[(&str, &LiveJob)]) {
    out.family("assay_requests_total", "counter", "Requests that ended, by their outcome.");
    for (name, job) in jobs {
        let balance = job.counts.balance;
        for (outcome, count) in [
            ("completed", balance.completed()),
            ("error", balance.errors()),
            ("rejected", balance.rejected()),
            ("unsent", balance.unsent()),
        ] {
            out.sample("assay_requests_total", &[(JOB, name), ("outcome", outcome)], count);
        }
    }
}

fn gauges(out: &mut Metrics, jobs: &[(&str, &LiveJob)]) {
    type Value = fn(&record::Gauge) -> u64;
    let gauges: [(&str, &str, Value); 3] = [
        ("assay_requests_in_flight", "Requests that wait for an answer.", |it| it.in_flight),
        ("assay_requests_queued", "Requests that wait for a connection.", |it| it.queued),
        ("assay_connections", "Connections.", |it| it.connections),
    ];
    for (family, help, value) in gauges {
        out.family(family, "gauge", help);
        for (name, job) in jobs {
            if let Some(gauge) = &job.gauge {
                out.sample(family, &[(JOB, name)], value(gauge));
            }
        }
    }
}

fn histogram(out: &mut Metrics, name: &str, job: &LiveJob) {
    let Some(response) = &job.response else { return };
    for (boundary, count) in response.cumulative() {
        let boundary = boundary.to_string();
        out.sample("assay_response_seconds_bucket", &[(JOB, name), ("le", &boundary)], count);
    }
    let all = response.len();
    out.sample("assay_response_seconds_bucket", &[(JOB, name), ("le", "+Inf")], all);
    out.sample("assay_response_seconds_sum", &[(JOB, name)], response.sum().as_secs_f64());
    out.sample("assay_response_seconds_count", &[(JOB, name)], all);
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    printable(text).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use base::Nanos;
    use record::{Balance, Counts, Gauge, TimeBuckets};

    use super::*;

    #[test]
    fn figures_are_counters_gauges_and_a_histogram_of_each_job() {
        let mut response = TimeBuckets::default();
        [1, 2, 500].into_iter().for_each(|ms| response.add_one(Nanos::from_millis(ms)));
        let balance = Balance::of(3, 1, 0, 2);
        let job = LiveJob {
            offered_per_s: 0.0,
            achieved_per_s: 0.0,
            p50: None,
            p99: None,
            errors: 1,
            gauge: Some(Gauge { in_flight: 4, queued: 5, connections: 6 }),
            counts: Counts { arrivals: 10, balance, ..Counts::default() },
            response: Some(Box::new(response)),
        };
        let part = job.clone();
        let live = LiveState { interval: 1, at: Nanos::from_secs(2), jobs: vec![job, part] };
        let names = vec![Some("re\"ad\\\u{9b}31m\n".to_owned()), None];
        let text = metrics("shop.ini", &names, Some(&live));
        let name = "assay_job=\"re\\\"ad\\\\\u{fffd}31m \"";
        for line in [
            "assay_run_info{workload=\"shop.ini\"} 1",
            "assay_run_seconds 2",
            &format!("assay_requests_due_total{{{name}}} 10"),
            &format!("assay_requests_total{{{name},outcome=\"completed\"}} 3"),
            &format!("assay_requests_total{{{name},outcome=\"unsent\"}} 2"),
            &format!("assay_requests_in_flight{{{name}}} 4"),
            &format!("assay_response_seconds_bucket{{{name},le=\"0.0009765625\"}} 0"),
            &format!("assay_response_seconds_bucket{{{name},le=\"0.001953125\"}} 1"),
            &format!("assay_response_seconds_bucket{{{name},le=\"0.5\"}} 3"),
            &format!("assay_response_seconds_bucket{{{name},le=\"+Inf\"}} 3"),
            &format!("assay_response_seconds_sum{{{name}}} 0.503"),
            &format!("assay_response_seconds_count{{{name}}} 3"),
        ] {
            assert!(text.lines().any(|known| known == line), "{line} is not in:\n{text}");
        }
        assert_eq!(text.matches("_due_total{").count(), 1, "a part is counted in its mix: {text}");
        let first = metrics("shop.ini", &names, None);
        assert!(text.starts_with(&first) && !first.contains("assay_job="), "{first}");
    }
}
