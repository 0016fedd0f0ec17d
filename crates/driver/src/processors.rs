//! Processor affinity of the threads of connections.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// A set of processors; `None` if the system does not report it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Processors(Option<CpuSet>);

impl Processors {
    /// Returns the processors that the calling thread may run on.
    pub(crate) fn of_this_thread() -> Processors {
        Processors(sched_getaffinity(Pid::from_raw(0)).ok())
    }

    /// Returns the processors left for the database when a lane is bound to `lane` (`--cpus`), or
    /// all of them if none would be left.
    ///
    /// Binding the load generator to a processor is meant to keep the database off it, but a thread
    /// would inherit the binding of the thread that starts it.
    pub(crate) fn without(&self, lane: Processors) -> Processors {
        let (Some(all), Some(lane)) = (self.0, lane.0) else { return *self };
        let mut rest = CpuSet::new();
        let is_in = |set: &CpuSet, cpu| set.is_set(cpu).unwrap_or(false);
        for cpu in (0..CpuSet::count()).filter(|&cpu| is_in(&all, cpu) && !is_in(&lane, cpu)) {
            // Processors of `all` are within the bounds of every set.
            let _ = rest.set(cpu);
        }
        if rest == CpuSet::new() { *self } else { Processors(Some(rest)) }
    }

    /// Lets the calling thread run on these processors. If the system refuses, its affinity stays
    /// as it is.
    pub(crate) fn adopt(&self) {
        if let Some(set) = &self.0 {
            let _ = sched_setaffinity(Pid::from_raw(0), set);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cpus: &[usize]) -> Processors {
        let mut set = CpuSet::new();
        cpus.iter().for_each(|&cpu| set.set(cpu).unwrap());
        Processors(Some(set))
    }

    #[test]
    fn the_database_gets_the_processors_that_a_bound_lane_leaves() {
        assert_eq!(set(&[0, 1, 2]).without(set(&[1])).0, set(&[0, 2]).0);
        assert_eq!(
            set(&[0, 1]).without(set(&[0, 1])).0,
            set(&[0, 1]).0,
            "no thread is left without a processor"
        );
        assert_eq!(set(&[3]).without(set(&[3])).0, set(&[3]).0, "there is only one");
    }
}
