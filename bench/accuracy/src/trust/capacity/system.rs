//! Simulated systems whose capacity is known.

/// A simulated system, the load on it, and its true capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct System {
    /// Name of the system.
    pub name: &'static str,
    pub(super) url: &'static str,
    /// Lines of the job other than its rate.
    pub(super) job: &'static str,
    /// Quantile of the condition.
    pub(super) quantile: f64,
    /// Bound of the response time, in milliseconds.
    pub(super) bound_ms: f64,
    /// Largest rate at which the condition holds, in requests per second.
    pub truth: f64,
    /// True if errors of every kind are judged; false if the only error that is judged is a
    /// published rate above the capacity.
    pub is_judged: bool,
}

/// Systems with a smooth boundary. The response times of M/M/1 are exponential, so a p99 of X is
/// reached at the rate μ − ln 100 / X. The quantiles of the other systems follow from Erlang's C
/// formula and, for constant service times, from the formula of Pollaczek and Khinchine.
pub const SYSTEMS: [System; 10] = [
    mm1("M/M/1, p99 < 10 ms", 10.0, 539.483_0),
    mm1("M/M/1, p99 < 20 ms", 20.0, 769.741_5),
    mm1("M/M/1, p99 < 50 ms", 50.0, 907.896_6),
    reported(several("M/M/4, p99 < 20 ms", "sim:mmc?service=4ms&servers=4", 20.0, 606.229_6)),
    reported(several("M/M/4, p99 < 40 ms", "sim:mmc?service=4ms&servers=4", 40.0, 875.225_9)),
    several("M/M/16, p99 < 20 ms", "sim:mmc?service=4ms&servers=16", 20.0, 3_492.121_9),
    several("M/M/16, p99 < 40 ms", "sim:mmc?service=4ms&servers=16", 40.0, 3_870.686_8),
    several("M/M/2, p99 < 10 ms", "sim:mmc?service=1ms&servers=2", 10.0, 1_515.952_2),
    several("M/D/1, p99 < 5 ms", "sim:md1?service=1ms", 5.0, 560.783),
    several("M/D/1, p99 < 10 ms", "sim:md1?service=1ms", 10.0, 773.487),
];

/// A server that answers up to 800 requests per second, each after 1 ms, and refuses the others.
pub const STEP: System = System {
    name: "step at 800/s",
    url: "sim:mdc?service=1ms&servers=unlimited&limit=800",
    job: "arrival = uniform\n",
    quantile: 0.99,
    bound_ms: 20.0,
    truth: 800.0,
    is_judged: true,
};

/// An exponential server whose service times grow by 0.3 % from each trial to the next.
pub const DEGRADING: System = System {
    name: "M/M/1, 0.3 % slower in each trial",
    url: "sim:mm1?service=1ms&trend=0.003",
    ..mm1("", 20.0, 769.741_5)
};

/// An exponential server whose service times do not grow, for comparison with [`DEGRADING`].
pub const STATIONARY: System = System { name: "M/M/1", ..mm1("", 20.0, 769.741_5) };

/// The server of [`STEP`] with Poisson arrivals: it refuses some requests even at rates below 800
/// per second.
pub const RANDOM_STEP: System = System { name: "step at 800/s, Poisson arrivals", job: "", ..STEP };

/// An exponential server that is so slow that a search has only about ten thousand requests within
/// its budget, few of them beyond the bound.
pub const FEW_REQUESTS: System = System {
    name: "M/M/1, 10 requests/s at most",
    url: "sim:mm1?service=100ms",
    ..mm1("", 2_000.0, 7.697_4)
};

/// A server that is always fast enough.
pub const NEVER_FAILS: System = System {
    name: "never fails",
    url: "sim:mdc?service=1ms&servers=unlimited",
    job: "",
    quantile: 0.99,
    bound_ms: 20.0,
    truth: f64::INFINITY,
    is_judged: true,
};

/// A server that is always too slow.
pub const ALWAYS_FAILS: System = System {
    name: "always fails",
    url: "sim:mdc?service=30ms&servers=unlimited",
    job: "",
    quantile: 0.99,
    bound_ms: 20.0,
    truth: 0.0,
    is_judged: true,
};

/// A server that answers 13.5 % of the requests (e⁻²) too slowly, at every rate.
pub const ALWAYS_FAILS_AT_RANDOM: System = System {
    name: "always fails, at random",
    url: "sim:mmc?service=10ms&servers=unlimited",
    ..ALWAYS_FAILS
};

const fn mm1(name: &'static str, bound_ms: f64, truth: f64) -> System {
    several(name, "sim:mm1?service=1ms", bound_ms, truth)
}

const fn several(name: &'static str, url: &'static str, bound_ms: f64, truth: f64) -> System {
    System { name, url, job: "", quantile: 0.99, bound_ms, truth, is_judged: true }
}

const fn reported(system: System) -> System {
    System { is_judged: false, ..system }
}
