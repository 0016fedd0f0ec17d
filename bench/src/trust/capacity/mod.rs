//! The errors of capacity searches.
//!
//! Every trial is a run of the engine in virtual time against a simulated server whose capacity is
//! known in closed form ([`mod@system`]).

mod errors;
mod rivals;
mod runs;
mod system;

pub use errors::{OURS, SearchErrors, Special, errors, errors_of, specials};
pub use rivals::{Rival, bisection, isotonic};
pub use runs::{Searched, search};
pub use system::{ALWAYS, NEVER, STEP, SYSTEMS, System};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "explores"]
    fn explore() {
        let which: usize = std::env::var("WHICH").unwrap().parse().unwrap();
        let n: u64 = std::env::var("N").unwrap().parse().unwrap();
        let all: Vec<System> = SYSTEMS.into_iter().chain([STEP, NEVER, ALWAYS]).collect();
        let system = &all[which];
        for seed in 1..=n {
            let begun = std::time::Instant::now();
            let Searched { capacity, requests, of_confirmation } = search(system, seed).unwrap();
            let rel = |v: Option<f64>| v.map_or(f64::NAN, |v| 100.0 * (v / system.truth - 1.0));
            let half = capacity.interval.map(|i| (i.high / i.low - 1.0) * 50.0);
            println!(
                "{seed} est {:+.2} iso {:+.2} half {:.2} sust {:+.2} fails {:+.2} req {requests} conf {of_confirmation} trials {} {:?} {:?} t {:.0} cpu {:?}",
                rel(capacity.estimate),
                rel(capacity.isotonic),
                half.unwrap_or(f64::NAN),
                rel(capacity.sustained),
                rel(capacity.fails),
                capacity.trials.len(),
                capacity.boundary,
                capacity.irregular,
                capacity.took.as_secs_f64(),
                begun.elapsed()
            );
            if std::env::var("V").is_ok() {
                for it in &capacity.trials {
                    println!("    {:?} {} {:?}", it.phase, it.value, it.outcome);
                }
            }
        }
    }
}
