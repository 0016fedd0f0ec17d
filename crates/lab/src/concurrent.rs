//! Parallel work on all processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};

/// Calls `work` with each number from 0 to `count` - 1, on as many threads as there are processors,
/// and returns the results in the order of the numbers.
///
/// # Panics
/// If `work` panics.
pub fn run_concurrently<T: Send>(count: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(0);
    let take = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let mine = numbers.take_while(|number| *number < count);
        mine.map(|number| (number, work(number))).collect::<Vec<_>>()
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut done: Vec<(u64, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("the work ends")).collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let squares: Vec<u64> = (0..1_000).map(|number| number * number).collect();
        assert_eq!(run_concurrently(1_000, |number| number * number), squares);
    }
}
