//! A calibration for tests.

use analyze::Route;
use base::Nanos;
use record::environment::host;

use super::figures::{
    Calibration, Ceiling, ClockFigures, Floor, HandOff, Lateness, Quantiles, RouteFigures,
};
use super::machine::Machine;

/// Returns a calibration with different values for all figures of a route.
pub(super) fn calibration() -> Calibration {
    let quantiles = |us: u64| Quantiles {
        p50: Nanos::from_micros(us),
        p99: Nanos::from_micros(2 * us),
        p99_9: Nanos::from_micros(5 * us),
    };
    let figures = |route: Route| RouteFigures {
        route,
        floor: Floor { count: 20_000, response: quantiles(30), service: quantiles(25) },
        ceilings: vec![
            Ceiling { connections: 16, per_s: 60_123.5 },
            Ceiling { connections: 64, per_s: 55_000.0 },
        ],
    };
    Calibration {
        assay: "0.1.0".to_owned(),
        taken: "2026-11-21T20:15:02Z".to_owned(),
        is_quick: false,
        machine: Machine::of(&[(host::CPU_MODEL.to_owned(), "A".to_owned())]),
        clock: ClockFigures { cost_ns: 24.5, resolution: Nanos(20) },
        timer: Lateness { count: 1_000, quantiles: quantiles(6), max: Nanos(300_001) },
        routes: Route::ALL.map(figures).to_vec(),
        hand_off: HandOff { p50: Nanos(7_001), p99: Nanos(20_000), mean: Nanos(15_000) },
    }
}
