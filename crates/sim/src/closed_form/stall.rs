//! A server that stalls at the beginning of each period: a fault that coordinated omission hides.

use super::ClosedForm;

/// Evenly spaced arrivals at a server with constant service. The server stops during the first
/// `stall_s` seconds of each `period_s` seconds; the formulas hold for many arrivals per stall.
///
/// The work that queues during a stall is done afterwards at the spare rate. The response time
/// therefore falls linearly. It is stall + service for an arrival at the beginning of a stall, and
/// service for an arrival stall / (1 − ρ) seconds later, with ρ = arrival rate · service.
#[derive(Clone, Copy, Debug)]
pub struct Stall {
    /// Service time in seconds.
    pub service_s: f64,
    /// Length of a stall in seconds.
    pub stall_s: f64,
    /// Time from one stall to the next in seconds.
    pub period_s: f64,
    /// Arrivals per second.
    pub arrival_rate: f64,
}

impl Stall {
    fn spare_fraction(&self) -> f64 {
        1.0 - self.arrival_rate * self.service_s
    }
}

impl ClosedForm for Stall {
    fn exceeds(&self, t: f64) -> f64 {
        let above_service = t - self.service_s;
        if above_service < 0.0 {
            return 1.0;
        }
        let affected = self.stall_s / (self.spare_fraction() * self.period_s);
        (affected * (1.0 - above_service / self.stall_s)).max(0.0)
    }

    fn mean(&self) -> f64 {
        self.service_s + self.stall_s * self.stall_s / (2.0 * self.period_s * self.spare_fraction())
    }
}
