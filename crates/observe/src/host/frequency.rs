//! Clock frequency of the processors: `/sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq`
//! (Linux, Documentation/admin-guide/pm/cpufreq.rst), in kHz. Most virtual machines have no such
//! files.

use record::ComponentKind;
use record::metric::host;

use crate::environment::Root;
use crate::sample::{Sample, Sampler};

/// Folder in which the kernel lists processors.
const CPU: &str = "sys/devices/system/cpu";

/// Maximum number of processors that are read. Reading one file takes a few microseconds.
const MAX_READ: usize = 64;

/// Sampler of the mean clock frequency.
#[derive(Debug)]
pub(crate) struct Frequency {
    paths: Vec<String>,
}

impl Frequency {
    /// Finds the files of the processors that exist now, up to [`MAX_READ`]. The list is not
    /// refreshed.
    pub(crate) fn of(root: &Root) -> Frequency {
        let is_processor =
            |name: &String| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok());
        let names = root.names(CPU).into_iter().filter(is_processor);
        let paths = names.map(|name| format!("{CPU}/{name}/cpufreq/scaling_cur_freq"));
        Frequency { paths: paths.filter(|path| root.exists(path)).take(MAX_READ).collect() }
    }

    /// Returns the mean over the processors of the list that report a frequency, in MHz; `None` if
    /// none of them does.
    fn mean(&self, root: &Root) -> Option<f64> {
        let khz: Vec<u64> = self.paths.iter().filter_map(|path| root.number(path)).collect();
        if khz.is_empty() {
            return None;
        }
        let mean = khz.iter().map(|khz| *khz as f64).sum::<f64>() / khz.len() as f64;
        Some(mean / 1e3)
    }
}

impl Sampler for Frequency {
    fn sample(&mut self, root: &Root, sample: &mut Sample) {
        if let Some(mean) = self.mean(root) {
            sample.read(&ComponentKind::Host, host::FREQUENCY, mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::TestRoot;

    #[test]
    fn mean_frequency_of_the_processors_is_reported() {
        let planted = TestRoot::new()
            .with("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n")
            .with("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n")
            .with("sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "<unknown>\n")
            .with("sys/devices/system/cpu/cpu3/topology/core_cpus_list", "3\n")
            .with("sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "9\n");
        assert_eq!(Frequency::of(&planted.root).mean(&planted.root), Some(2_500.0));
    }

    #[test]
    fn machine_without_frequency_files_has_no_reading() {
        for planted in [
            TestRoot::new(),
            TestRoot::new().with("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "odd"),
        ] {
            assert_eq!(Frequency::of(&planted.root).mean(&planted.root), None);
        }
    }
}
