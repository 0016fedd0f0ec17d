//! The samplers of all sources that are sampled on a machine.

use crate::environment::Root;
use crate::host::disks::Disks;
use crate::host::frequency::Frequency;
use crate::host::interfaces::Interfaces;
use crate::host::memory::Memory;
use crate::host::pressure::Pressure;
use crate::host::processors::Processors;
use crate::host::tcp::Tcp;
use crate::host::wall_clock::WallClock;
use crate::process::Processes;
use crate::process::lanes::Lanes;
use crate::sample::{ReportedMissing, Sample, Sampler};
use crate::scope::Scope;
use crate::sockets::{Sockets, servers_behind};

/// The samplers of a machine, and the names already reported as missing.
pub(crate) struct Samplers {
    root: Root,
    samplers: Vec<Box<dyn Sampler>>,
    reported_missing: ReportedMissing,
}

impl Samplers {
    /// Creates the samplers for a scope, in the order in which they are read.
    pub(crate) fn of(root: Root, scope: &Scope) -> Samplers {
        let samplers: Vec<Box<dyn Sampler>> = vec![
            Box::new(Lanes),
            Box::new(Processors),
            Box::new(Frequency::of(&root)),
            Box::new(WallClock::default()),
            Box::new(Pressure),
            Box::new(Memory),
            Box::new(Disks::default()),
            Box::new(Interfaces::default()),
            Box::new(Tcp),
            Box::new(Processes::of(scope).with_upstream(servers_behind)),
            Box::new(Sockets::of(scope)),
        ];
        Samplers { root, samplers, reported_missing: ReportedMissing::default() }
    }

    /// Takes one sample of all sources.
    pub(crate) fn sample(&mut self) -> Sample {
        let mut sample = Sample::default();
        for sampler in &mut self.samplers {
            sampler.sample(&self.root, &mut sample);
        }
        self.reported_missing.keep_new(&mut sample);
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::TestRoot;

    #[test]
    fn unreadable_sources_are_left_out() {
        let bare = TestRoot::new();
        let metrics = |planted: &TestRoot| -> Vec<String> {
            let sample = Samplers::of(planted.root.clone(), &Scope::default()).sample();
            sample.readings.into_iter().map(|reading| reading.series.metric).collect()
        };
        assert!(metrics(&bare).iter().all(|metric| metric == "wall-clock"));
        let full = bare
            .with("proc/stat", "cpu 1 2 3 4 5 6 7 8\n")
            .with("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
        let found = metrics(&full);
        for metric in ["processors", "busy", "stolen", "frequency"] {
            assert!(found.iter().any(|name| name == metric), "{metric}: {found:?}");
        }
    }
}
