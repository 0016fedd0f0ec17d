//! The universal scalability law.

/// Growth of throughput with the number of clients that always have a request in the system
/// (Gunther, *Guerrilla Capacity Planning*, 2007, chapter 4). Contention is the serial fraction of
/// the work, coherency the cost of each pair of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// Service time of a request that is alone in the system, in seconds.
    pub service_s: f64,
    /// Contention, σ.
    pub contention: f64,
    /// Coherency, κ.
    pub coherency: f64,
}

impl Scalability {
    /// Returns the response time in seconds with this many requests in the system.
    pub fn response_s(&self, requests: f64) -> f64 {
        let others = requests - 1.0;
        let slowed = 1.0 + self.contention * others + self.coherency * requests * others;
        self.service_s * slowed
    }

    /// Returns the requests per second with this many clients: X(N) = γN / (1 + σ(N−1) + κN(N−1)),
    /// γ = 1/service.
    pub fn throughput(&self, clients: f64) -> f64 {
        clients / self.response_s(clients)
    }

    /// Returns the number of clients with the highest throughput: √((1−σ)/κ).
    pub fn peak_clients(&self) -> f64 {
        ((1.0 - self.contention) / self.coherency).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_values_of_the_scalability_law() {
        let law = Scalability { service_s: 1e-3, contention: 0.03, coherency: 0.0002 };
        assert!((law.peak_clients() - 69.64).abs() < 0.01, "{}", law.peak_clients());
        assert!((law.throughput(70.0) - 17_344.0).abs() < 1.0, "{}", law.throughput(70.0));
        assert!((law.throughput(1.0) - 1_000.0).abs() < 1e-9);
    }
}
