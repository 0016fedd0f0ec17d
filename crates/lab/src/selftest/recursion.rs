//! The expected scatter of independent replications of a queue.
//!
//! The responses of a queue are correlated: an estimate from n of them scatters like an estimate
//! from n/I independent ones. For M/M/1 at the utilisations of the oracles, the inflation I is 15
//! to 20 for the median, 45 to 60 for p99, and 30 to 80 for the mean. The inflation has a closed
//! form for only a few queues and estimates. The recursions of Lindley (1952) and of Kiefer and
//! Wolfowitz (1955) give the scatter for all of them: an arrival is served by the server that is
//! free first, and nothing else is needed to go from one response to the next. The recursions share
//! no code with the engine or the simulated server and draw their own random numbers. Only the
//! scatter of their estimates is used; closed forms give the exact values.

use base::{Draw, Nanos, Seed, Stream};
use sim::{Config, Service};
use workload::{Pacing, Plan, Schedule};

use super::oracle_run::JOB;
use super::replication::Replication;
use crate::run_concurrently;

/// Number of replications. A hundred replications give the standard deviation to within 7 %.
const RECURSIONS: u64 = 100;

/// The arrival process of a recursion.
#[derive(Clone, Copy)]
enum ArrivalSource {
    /// Arrivals at independent exponential intervals, with this rate per second.
    Poisson(f64),
    /// Arrivals at equal intervals, with this rate per second.
    Even(f64),
    /// Closed clients with an exponential think time, whose mean is given in seconds.
    Thinking { clients: u32, mean_s: f64 },
}

/// A queueing system with one queue, first come first served. Times are in seconds.
struct QueueingSystem {
    source: ArrivalSource,
    service: Service,
    servers: u32,
    /// Maximum number of requests in the system; the next is refused. `None` means no limit.
    capacity: Option<usize>,
    timeout_s: f64,
    warmup_s: f64,
    length_s: f64,
}

/// Returns independent replications of a plan's run against a server; `think_s` is the mean think
/// time of the plan's closed clients.
pub(super) fn replicate(plan: &Plan, config: &Config, think_s: f64) -> Vec<Replication> {
    let system = QueueingSystem::new(plan, config, think_s);
    run_concurrently(RECURSIONS, |seed| system.replicate(Seed(seed)))
}

impl QueueingSystem {
    fn new(plan: &Plan, config: &Config, think_s: f64) -> QueueingSystem {
        let job = plan.account(JOB).job();
        let (source, workers) = match &job.pacing {
            Pacing::Open { schedule, .. } => (source_of(schedule), None),
            Pacing::Queue { schedule, workers, .. } => (source_of(schedule), Some(*workers)),
            Pacing::Closed { clients, .. } => {
                (ArrivalSource::Thinking { clients: *clients, mean_s: think_s }, None)
            }
            Pacing::Timetable { .. } | Pacing::Replay => {
                unreachable!("no oracle has a timetable or a log")
            }
        };
        QueueingSystem {
            source,
            service: config.service,
            servers: workers.or(config.servers).expect("something limits the requests in service"),
            capacity: config.capacity.map(|places| places as usize),
            timeout_s: job.requests.timeout.unwrap_or(Nanos::MAX).as_secs_f64(),
            warmup_s: plan.warmup.known().as_secs_f64(),
            length_s: plan.duration.expect("an oracle ends").as_secs_f64(),
        }
    }

    fn replicate(&self, seed: Seed) -> Replication {
        let randomness = Stream::new(seed, "recursion", "all");
        let mut replication = Replication::empty(self.length_s - self.warmup_s);
        let mut sources = vec![0.0; self.source.sources()];
        let mut servers = vec![0.0; self.servers as usize];
        let mut inside = Vec::new();
        for number in 0.. {
            let mut draw = randomness.draw(number);
            let source = earliest(&mut sources);
            let arrival = *source + self.source.gap_before(&mut draw);
            if arrival >= self.length_s {
                break;
            }
            if self.is_full(&mut inside, arrival) {
                *source = arrival;
                self.note_refusal(&mut replication, arrival);
                continue;
            }
            let server = earliest(&mut servers);
            let end = server.max(arrival) + service_s(self.service, &mut draw);
            *server = end;
            if self.capacity.is_some() {
                inside.push(end);
            }
            *source = arrival.max(self.source.next_after(arrival, end, &mut draw));
            self.note(&mut replication, arrival, end);
        }
        replication
    }

    /// Returns true if the system is full at an arrival. `inside` has the end times of the requests
    /// in the system; those that have ended are removed.
    fn is_full(&self, inside: &mut Vec<f64>, arrival: f64) -> bool {
        inside.retain(|end| *end > arrival);
        self.capacity.is_some_and(|capacity| inside.len() >= capacity)
    }

    /// Counts a refused request as the engine would.
    fn note_refusal(&self, replication: &mut Replication, arrival: f64) {
        if (self.warmup_s..self.length_s).contains(&arrival) {
            replication.arrivals += 1;
            replication.scheduled += 1;
            replication.refused += 1;
        }
    }

    /// Counts a request as the engine would: its arrival at the time of the arrival, and its
    /// completion at the time of its end.
    fn note(&self, replication: &mut Replication, arrival: f64, end: f64) {
        let window = self.warmup_s..self.length_s;
        let response = (end - arrival).min(self.timeout_s);
        if window.contains(&arrival) {
            replication.arrivals += 1;
            replication.scheduled += 1;
            replication.timeouts += u64::from(end - arrival > self.timeout_s);
            replication.responses.saturating_record(Nanos::from_secs_f64(response).0);
        }
        replication.completed += u64::from(window.contains(&end));
    }
}

impl ArrivalSource {
    /// Returns the number of independent arrival streams.
    fn sources(self) -> usize {
        match self {
            ArrivalSource::Poisson(_) | ArrivalSource::Even(_) => 1,
            ArrivalSource::Thinking { clients, .. } => clients as usize,
        }
    }

    /// Returns the time in seconds from a source's last event to its next arrival.
    fn gap_before(self, draw: &mut Draw) -> f64 {
        match self {
            ArrivalSource::Poisson(per_s) => draw.exponential() / per_s,
            ArrivalSource::Even(per_s) => 1.0 / per_s,
            ArrivalSource::Thinking { .. } => 0.0,
        }
    }

    /// Returns the time at which a source is ready for its next arrival.
    fn next_after(self, arrival: f64, end: f64, draw: &mut Draw) -> f64 {
        match self {
            ArrivalSource::Poisson(_) | ArrivalSource::Even(_) => arrival,
            ArrivalSource::Thinking { mean_s, .. } => end + mean_s * draw.exponential(),
        }
    }
}

fn source_of(schedule: &Schedule) -> ArrivalSource {
    match schedule {
        Schedule::Poisson(rate) => ArrivalSource::Poisson(rate.as_f64()),
        Schedule::Uniform(_) | Schedule::Every(_) => ArrivalSource::Even(schedule.highest_per_s()),
        Schedule::Varying { .. } | Schedule::Recorded(_) => {
            panic!("the recursion knows constant rates only")
        }
    }
}

fn earliest(times: &mut [f64]) -> &mut f64 {
    times.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("there is at least one")
}

fn service_s(service: Service, draw: &mut Draw) -> f64 {
    match service {
        Service::Constant(time) => time.as_secs_f64(),
        Service::Exponential(mean) => mean.as_secs_f64() * draw.exponential(),
        Service::Bimodal { fast, slow, slow_share } => {
            let mean = if draw.unit() < slow_share { slow } else { fast };
            mean.as_secs_f64() * draw.exponential()
        }
        Service::Scaling(_) => unreachable!("its service depends on how many requests there are"),
    }
}

#[cfg(test)]
mod tests {
    use sim::closed_form::MMc;

    use super::*;
    use crate::selftest::finding::standard_deviation;
    use crate::selftest::oracle_run::{Span, plan, server};
    use crate::selftest::quantity::{Estimate, Quantity};

    /// Returns the relative standard deviation of the mean of n response times of M/M/1 at a
    /// utilisation ρ, multiplied by √n. The deviation for waiting times is from Blomqvist ("The
    /// covariance function of the M/G/1 queuing system", 1967). A response time is a wait plus a
    /// service time; the covariances of the service time with all later waits add up to the
    /// derivative of the mean wait with respect to the mean service time.
    fn deviation_of_the_mean(load: f64) -> f64 {
        let spare = 1.0 - load;
        let waits = load * (2.0 + load * (5.0 + load * (load - 4.0))) / spare.powi(4);
        let covariances = load * (2.0 - load) / spare.powi(2);
        (waits + 2.0 * covariances + 1.0).sqrt() * spare
    }

    /// Returns the relative standard deviation of a quantile, multiplied by √n; `inflation` is the
    /// factor by which correlation raises its variance. The response time is exponential, so the
    /// result for independent response times is √(q/(1 − q)) / −ln(1 − q).
    fn deviation_of_a_quantile(q: f64, inflation: f64) -> f64 {
        (q / (1.0 - q) * inflation).sqrt() / -(1.0 - q).ln()
    }

    #[test]
    fn the_recursion_scatters_as_theory_says_of_one_exponential_server() {
        // The inflations of the median and of p99 come from long simulations and are accurate to
        // ±50 %.
        for (per_s, inflations) in [(700, [15.0, 46.0]), (800, [20.0, 58.0])] {
            let exact = MMc { servers: 1, service_rate: 1_000.0, arrival_rate: per_s as f64 };
            let workload = format!("[read]\nquery = select 1\nrate = {per_s}\n");
            let plan = plan(&workload, Span { warmup_s: 10.0, window_s: 470.0 }, 0);
            let replications = replicate(&plan, &server("sim:mm1?service=1ms"), 0.0);
            let mean = deviation_of_the_mean(per_s as f64 / 1e3);
            let [median, p99] = inflations;
            for (estimate, relative, factor) in [
                (Estimate::Mean, mean, 1.3),
                (Estimate::Quantile(0.5), deviation_of_a_quantile(0.5, median), 1.5),
                (Estimate::Quantile(0.99), deviation_of_a_quantile(0.99, p99), 1.5),
            ] {
                let requests = per_s as f64 * replications[0].window_s;
                let expected = estimate.exactly(&exact) * relative / requests.sqrt();
                let quantity = Quantity::response(estimate);
                let estimates: Vec<f64> =
                    replications.iter().map(|run| run.estimate(quantity)).collect();
                let ratio = standard_deviation(&estimates) / expected;
                assert!(
                    (1.0 / factor..factor).contains(&ratio),
                    "{per_s}/s, {estimate:?}: {ratio}"
                );
            }
        }
    }
}
