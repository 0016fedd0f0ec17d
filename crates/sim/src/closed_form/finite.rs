//! Systems with a limited number of requests.

use super::ClosedForm;

/// The closed loop M/M/1//N: clients with exponential think times and one exponential server.
#[derive(Clone, Copy, Debug)]
pub struct ClosedLoop {
    /// Number of clients.
    pub clients: u32,
    /// Mean service time in seconds.
    pub service_s: f64,
    /// Mean think time in seconds.
    pub think_s: f64,
}

impl ClosedLoop {
    /// Returns the probabilities of 0, 1, … `clients` requests at the server.
    fn states(&self, clients: u32) -> Vec<f64> {
        let ratio = self.service_s / self.think_s;
        let mut states = vec![1.0];
        for j in 0..clients {
            states.push(states[j as usize] * f64::from(clients - j) * ratio);
        }
        let total: f64 = states.iter().sum();
        states.iter().map(|p| p / total).collect()
    }

    /// Returns the completions per second.
    pub fn throughput(&self) -> f64 {
        (1.0 - self.states(self.clients)[0]) / self.service_s
    }
}

impl ClosedForm for ClosedLoop {
    /// Follows from the arrival theorem: an arriving client finds the system in the state that it
    /// would have if only the other clients existed.
    fn exceeds(&self, t: f64) -> f64 {
        let x = t / self.service_s;
        let mut term = libm::exp(-x);
        let mut erlang = 0.0;
        let mut sum = 0.0;
        for (found, p) in self.states(self.clients - 1).iter().enumerate() {
            erlang += term;
            sum += p * erlang;
            term *= x / (found + 1) as f64;
        }
        sum
    }

    fn mean(&self) -> f64 {
        f64::from(self.clients) / self.throughput() - self.think_s
    }
}

/// Returns the fraction of arrivals that M/M/1/K rejects, with at most `capacity` requests waiting
/// or in service. `load` is the arrival rate times the mean service time, and may exceed 1.
pub fn loss_probability(capacity: u32, load: f64) -> f64 {
    let states: Vec<f64> = (0..=capacity).map(|n| load.powi(n as i32)).collect();
    states[capacity as usize] / states.iter().sum::<f64>()
}
