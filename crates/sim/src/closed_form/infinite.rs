//! Open systems with an unlimited queue.

use super::{ClosedForm, bisect};

/// M/M/c: Poisson arrivals, exponential service, `servers` servers.
#[derive(Clone, Copy, Debug)]
pub struct MMc {
    /// Number of servers.
    pub servers: u32,
    /// Services per second of one server.
    pub service_rate: f64,
    /// Arrivals per second, below `servers · service_rate`.
    pub arrival_rate: f64,
}

impl MMc {
    /// Returns Erlang's C, the probability that an arrival waits.
    pub fn wait_probability(&self) -> f64 {
        let load = self.arrival_rate / self.service_rate;
        let blocked = (1..=self.servers).fold(1.0, |b, k| load * b / (f64::from(k) + load * b));
        let utilisation = load / f64::from(self.servers);
        blocked / (1.0 - utilisation * (1.0 - blocked))
    }

    /// Returns the rate at which requests leave minus the rate at which they arrive, while all
    /// servers are busy.
    fn spare_rate(&self) -> f64 {
        f64::from(self.servers) * self.service_rate - self.arrival_rate
    }
}

impl ClosedForm for MMc {
    fn exceeds(&self, t: f64) -> f64 {
        let (mu, theta, c) = (self.service_rate, self.spare_rate(), self.wait_probability());
        let served = libm::exp(-mu * t);
        if (theta - mu).abs() < 1e-9 * mu {
            return served * (1.0 + c * mu * t);
        }
        let queued = (theta * served - mu * libm::exp(-theta * t)) / (theta - mu);
        (1.0 - c) * served + c * queued
    }

    fn mean(&self) -> f64 {
        1.0 / self.service_rate + self.wait_probability() / self.spare_rate()
    }
}

/// M/D/c: Poisson arrivals, constant service, `c` servers.
///
/// The waiting time follows Franx ("A simple solution for the M/D/c waiting time distribution",
/// Operations Research Letters 29, 2001): a sum of positive terms, which keeps its precision where
/// the textbook's alternating series needs 80 digits.
#[derive(Clone, Debug)]
pub struct MDc {
    servers: usize,
    service_s: f64,
    arrival_rate: f64,
    /// Probabilities that at most j requests wait, for j = 0, 1, ….
    waiting_at_most: Vec<f64>,
}

impl MDc {
    /// Creates a system with `servers` servers, `service_s` seconds of service and `arrival_rate`
    /// arrivals per second, which must be below `servers / service_s`.
    pub fn new(servers: u32, service_s: f64, arrival_rate: f64) -> MDc {
        let servers = servers as usize;
        let in_system = states_of_mdc(servers, arrival_rate * service_s);
        let mut at_most: f64 = in_system[..servers].iter().sum();
        let waiting_at_most = in_system[servers..]
            .iter()
            .map(|p| {
                at_most += p;
                at_most
            })
            .collect();
        MDc { servers, service_s, arrival_rate, waiting_at_most }
    }

    /// Returns P(W ≤ t), the probability that a request waits for at most `t` seconds.
    fn waits_at_most(&self, t: f64) -> f64 {
        if t < 0.0 {
            return 0.0;
        }
        let steps = (t / self.service_s).floor() as usize + 1;
        let mean = self.arrival_rate * (steps as f64 * self.service_s - t);
        let mut poisson = libm::exp(-mean);
        let mut sum = 0.0;
        for j in 0..steps * self.servers {
            let waiting = steps * self.servers - 1 - j;
            sum += poisson * self.waiting_at_most.get(waiting).copied().unwrap_or(1.0);
            poisson *= mean / (j + 1) as f64;
        }
        sum.min(1.0)
    }
}

impl ClosedForm for MDc {
    fn exceeds(&self, t: f64) -> f64 {
        1.0 - self.waits_at_most(t - self.service_s)
    }

    /// Derives the mean from the mean number of waiting requests by Little's law.
    fn mean(&self) -> f64 {
        let waiting: f64 = self.waiting_at_most.iter().map(|at_most| 1.0 - at_most).sum();
        self.service_s + waiting / self.arrival_rate
    }
}

/// Returns the stationary distribution of the number of requests in M/D/c with offered load `load`.
/// One service time does not change it: all requests that were in service leave, and a
/// Poisson-distributed number of requests arrives.
fn states_of_mdc(servers: usize, load: f64) -> Vec<f64> {
    const STATES: usize = 600;
    let mut arrivals = vec![libm::exp(-load)];
    while arrivals.len() < STATES {
        let j = arrivals.len() as f64;
        arrivals.push(arrivals[arrivals.len() - 1] * load / j);
    }
    let mut states = vec![0.0; STATES];
    states[0] = 1.0;
    loop {
        let next = after_one_service(servers, &states, &arrivals);
        let change: f64 = next.iter().zip(&states).map(|(a, b)| (a - b).abs()).sum();
        states = next;
        if change < 1e-13 {
            return states;
        }
    }
}

fn after_one_service(servers: usize, states: &[f64], arrivals: &[f64]) -> Vec<f64> {
    let mut next = vec![0.0; states.len()];
    for (before, p) in states.iter().enumerate().filter(|(_, p)| **p > 1e-18) {
        let left = before.saturating_sub(servers);
        for (count, arrive) in arrivals[..states.len() - left].iter().enumerate() {
            next[left + count] += p * arrive;
        }
    }
    let total: f64 = next.iter().sum();
    next.iter().map(|p| p / total).collect()
}

/// M/H₂/1: Poisson arrivals, one server, service that is exponential with one of two means.
#[derive(Clone, Copy, Debug)]
pub struct MH21 {
    /// Mean of the fast services, in seconds.
    pub fast_s: f64,
    /// Mean of the slow services, in seconds.
    pub slow_s: f64,
    /// Fraction of slow services.
    pub slow_share: f64,
    /// Arrivals per second.
    pub arrival_rate: f64,
}

impl MH21 {
    /// Returns the two exponents of the response time's tail with their weights. The Laplace
    /// transform of Pollaczek and Khinchine has two poles, and partial fractions give the weights.
    fn exponents(&self) -> [(f64, f64); 2] {
        let (fast, slow) = (1.0 / self.fast_s, 1.0 / self.slow_s);
        let utilisation = self.arrival_rate * self.mean_service();
        let b = fast + slow - self.arrival_rate;
        let c = fast * slow * (1.0 - utilisation);
        let root = libm::sqrt(b * b - 4.0 * c);
        let (r1, r2) = ((b - root) / 2.0, (b + root) / 2.0);
        let m = (1.0 - self.slow_share) * fast + self.slow_share * slow;
        let weight =
            |r: f64, other: f64| (1.0 - utilisation) * (fast * slow - m * r) / (other - r) / r;
        [(r1, weight(r1, r2)), (r2, weight(r2, r1))]
    }

    fn mean_service(&self) -> f64 {
        (1.0 - self.slow_share) * self.fast_s + self.slow_share * self.slow_s
    }
}

impl ClosedForm for MH21 {
    fn exceeds(&self, t: f64) -> f64 {
        self.exponents().iter().map(|(r, weight)| weight * libm::exp(-r * t)).sum()
    }

    fn mean(&self) -> f64 {
        self.exponents().iter().map(|(r, weight)| weight / r).sum()
    }
}

/// D/M/1: evenly spaced arrivals, exponential service, one server.
#[derive(Clone, Copy, Debug)]
pub struct DM1 {
    /// Services per second.
    pub service_rate: f64,
    /// Arrivals per second.
    pub arrival_rate: f64,
}

impl DM1 {
    /// Returns the probability that an arrival finds the server busy: the root below 1 of σ =
    /// e^(−(μ/λ)(1−σ)).
    pub fn busy_probability(&self) -> f64 {
        let ratio = self.service_rate / self.arrival_rate;
        bisect(0.0, 1.0 - 1e-9, |s| s < libm::exp(-ratio * (1.0 - s)))
    }
}

impl ClosedForm for DM1 {
    fn exceeds(&self, t: f64) -> f64 {
        libm::exp(-self.service_rate * (1.0 - self.busy_probability()) * t)
    }

    fn mean(&self) -> f64 {
        1.0 / (self.service_rate * (1.0 - self.busy_probability()))
    }
}
