//! Time for which tasks lacked a resource (pressure stall information):
//! `/proc/pressure/{cpu,memory,io}` (Linux, Documentation/accounting/psi.rst), in microseconds
//! since boot.

use record::metric::host;
use record::{ComponentKind, ObservedMetric};

use crate::environment::Root;
use crate::sample::{Sample, Sampler};

/// Files of `/proc/pressure`, with the line that is read and its metric.
const PRESSURE_METRICS: [(&str, &str, ObservedMetric); 5] = [
    ("cpu", "some", host::PRESSURE_CPU),
    ("memory", "some", host::PRESSURE_MEMORY),
    ("memory", "full", host::PRESSURE_MEMORY_FULL),
    ("io", "some", host::PRESSURE_IO),
    ("io", "full", host::PRESSURE_IO_FULL),
];

/// Sampler of the resource pressure on the machine.
pub(crate) struct Pressure;

impl Sampler for Pressure {
    fn sample(&mut self, root: &Root, sample: &mut Sample) {
        let mut found = 0;
        for file in ["cpu", "memory", "io"] {
            let text = root.text_prefix(&format!("proc/pressure/{file}"), 1_024);
            let text = text.unwrap_or_default();
            for (_, kind, metric) in PRESSURE_METRICS.iter().filter(|(of, _, _)| *of == file) {
                if let Some(micros) = stall_time_us(&text, kind) {
                    sample.read(&ComponentKind::Host, *metric, micros as f64 / 1e6);
                    found += 1;
                }
            }
        }
        if found == 0 {
            sample.missing(
                "host pressure",
                "/proc/pressure does not exist: the kernel was built or started without it (psi=1)",
            );
        }
    }
}

/// Parses the total time, in microseconds, in the line of this kind: `some avg10=0.00 avg60=0.00
/// avg300=0.00 total=12`.
pub(crate) fn stall_time_us(text: &str, kind: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split(' ').next() == Some(kind))?;
    line.rsplit_once("total=")?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use record::Reading;

    use super::*;
    use crate::environment::tests::TestRoot;

    fn take_sample(planted: &TestRoot) -> Sample {
        let mut sample = Sample::default();
        Pressure.sample(&planted.root, &mut sample);
        sample
    }

    #[test]
    fn pressure_of_some_and_all_tasks_is_separate() {
        let line =
            |kind, total| format!("{kind} avg10=0.52 avg60=1.89 avg300=10.09 total={total}\n");
        let both = format!("{}{}", line("some", 2_500_000), line("full", 500_000));
        let planted = TestRoot::new()
            .with("proc/pressure/cpu", line("some", 7_000_000))
            .with("proc/pressure/io", both);
        let expected = [
            Reading::of("host", "pressure-cpu", "s", 7.0),
            Reading::of("host", "pressure-io", "s", 2.5),
            Reading::of("host", "pressure-io-full", "s", 0.5),
        ];
        assert_eq!(take_sample(&planted).readings, expected);
    }

    #[test]
    fn kernel_without_pressure_is_reported() {
        for planted in
            [TestRoot::new(), TestRoot::new().with("proc/pressure/cpu", "some total=-1\n")]
        {
            let sample = take_sample(&planted);
            assert_eq!(sample.readings, []);
            assert_eq!(sample.missing[0].what, "host pressure");
        }
    }
}
