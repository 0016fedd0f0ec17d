//! Tests of the analysis on evidence made by hand, with planted faults.

#![allow(clippy::unwrap_used, reason = "helpers of tests may, as tests do")]

/// Asserts that the analysis names this component as the limiter, with a finding that matches the
/// pattern.
macro_rules! names {
    ($evidence:expr, $component:expr, $finding:pat $(if $guard:expr)? $(,)?) => {
        names($evidence, $component, |finding| matches!(finding, $finding $(if $guard)?))
    };
}

mod calibrated;
mod capacity;
mod checks;
mod figures;
mod limiter;
mod loads;
mod numbers;
mod observed;
mod overload;
mod programs;
mod quiet;
mod server;
mod side_effects;
mod slos;
mod steady_state;
mod support;
mod thinned;
mod watched;
