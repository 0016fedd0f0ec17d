//! Processor affinity of threads.

use std::io;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// A set of processors; `None` if the system does not report it.
#[derive(Clone, Copy, Debug)]
pub struct Processors(Option<CpuSet>);

impl Processors {
    /// Returns the processors that the calling thread may run on.
    pub fn of_this_thread() -> Processors {
        Processors(sched_getaffinity(Pid::from_raw(0)).ok())
    }

    /// Returns the processors with these numbers.
    pub fn of(cpus: &[usize]) -> Processors {
        let mut set = CpuSet::new();
        for &cpu in cpus {
            // A number beyond the size of a set is not a processor of this machine.
            let _ = set.set(cpu);
        }
        Processors(Some(set))
    }

    /// Returns these processors without those of `lane`, to which lanes are bound (`--cpus`). If
    /// none would be left, returns all of them. The database and the observers run on the result.
    ///
    /// A lane should have its processor to itself, but a thread inherits the binding of the thread
    /// that starts it. The other threads are therefore bound to the result explicitly.
    pub fn without(&self, lane: Processors) -> Processors {
        let (Some(all), Some(lane)) = (self.0, lane.0) else { return *self };
        let mut rest = CpuSet::new();
        let is_in = |set: &CpuSet, cpu| set.is_set(cpu).unwrap_or(false);
        for cpu in (0..CpuSet::count()).filter(|&cpu| is_in(&all, cpu) && !is_in(&lane, cpu)) {
            // Processors of `all` are within the bounds of every set.
            let _ = rest.set(cpu);
        }
        if rest == CpuSet::new() { *self } else { Processors(Some(rest)) }
    }

    /// Calls `begin` while this thread is bound to these processors. Threads that `begin` starts
    /// stay bound to them.
    pub fn while_bound<T>(&self, begin: impl FnOnce() -> T) -> T {
        let before = Processors::of_this_thread();
        self.bind_this_thread();
        let begun = begin();
        before.bind_this_thread();
        begun
    }

    /// Lets the calling thread run on these processors. If the system refuses, its affinity stays
    /// as it is.
    pub fn bind_this_thread(&self) {
        if let Some(set) = &self.0 {
            let _ = sched_setaffinity(Pid::from_raw(0), set);
        }
    }
}

/// Returns the processors that this thread may use, in ascending order: all of the machine, or
/// fewer if the process is bound to some.
///
/// # Errors
/// The operating system does not report them.
pub fn processors() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    Ok((0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect())
}

/// Binds the calling thread to a processor.
pub(crate) fn bind_to(cpu: usize) -> io::Result<()> {
    let refused = |error| io::Error::other(format!("cannot bind to processor {cpu}: {error}"));
    let mut set = CpuSet::new();
    set.set(cpu).map_err(refused)?;
    sched_setaffinity(Pid::from_raw(0), &set).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_get_the_processors_that_a_bound_lane_leaves() {
        assert_eq!(
            Processors::of(&[0, 1, 2]).without(Processors::of(&[1])).0,
            Processors::of(&[0, 2]).0
        );
        assert_eq!(
            Processors::of(&[0, 1]).without(Processors::of(&[0, 1])).0,
            Processors::of(&[0, 1]).0,
            "no thread is left without a processor"
        );
        assert_eq!(
            Processors::of(&[3]).without(Processors::of(&[3])).0,
            Processors::of(&[3]).0,
            "there is only one"
        );
    }
}
