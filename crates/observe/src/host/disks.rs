//! Activity of the disks: `/proc/diskstats` (Linux, Documentation/admin-guide/iostats.rst).
//!
//! Only whole disks are reported: the disks under `/sys/block`, except optical drives, disks that
//! are backed by memory or by a file, and disks that have never been used. A volume that consists
//! of other disks (LVM, RAID, encryption) is reported in addition to them.

use std::collections::BTreeMap;

use record::ComponentKind;
use record::metric::disk;

use crate::environment::Root;
use crate::sample::{Sample, Sampler};

/// Prefixes of the names of block devices that are not disks.
const NON_DISK_PREFIXES: [&str; 4] = ["loop", "ram", "zram", "sr"];

/// Maximum number of disks that are reported.
const MAX_REPORTED: usize = 64;

/// Size of the sectors in which the kernel counts, in bytes. The disk's own sectors may have
/// another size.
const SECTOR_BYTES: u64 = 512;

/// Counters of a disk since boot. Times are in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct DiskCounters {
    reads: u64,
    read_sectors: u64,
    read_time: u64,
    writes: u64,
    written_sectors: u64,
    write_time: u64,
    busy: u64,
    queue_time: u64,
    /// Number and total time of flushes. Kernels report them from version 5.5 on.
    flushes: Option<(u64, u64)>,
}

/// Sampler of the machine's disks.
#[derive(Debug, Default)]
pub(crate) struct Disks {
    /// Names of block devices, each with true if it is a whole disk. Each name is looked up once.
    known_devices: BTreeMap<String, bool>,
}

impl Sampler for Disks {
    fn sample(&mut self, root: &Root, sample: &mut Sample) {
        let Some(text) = root.text("proc/diskstats") else {
            return sample.missing("disk", "/proc/diskstats cannot be read");
        };
        let mut reported = 0;
        for (name, counters) in text.lines().filter_map(parse) {
            if counters.reads + counters.writes == 0 || !self.is_disk(root, name) {
                continue;
            }
            reported += 1;
            if reported > MAX_REPORTED {
                let why = format!("only the first {MAX_REPORTED} disks are reported");
                return sample.missing("disk", why);
            }
            report(name, &counters, sample);
        }
        if reported == 0 {
            sample.missing("disk", "the system shows no disk that has ever done anything");
        }
    }
}

impl Disks {
    fn is_disk(&mut self, root: &Root, name: &str) -> bool {
        if let Some(known) = self.known_devices.get(name) {
            return *known;
        }
        // In this folder, the kernel replaces a slash in a device name by `!`.
        let folder = format!("sys/block/{}", name.replace('/', "!"));
        let is_disk =
            !NON_DISK_PREFIXES.iter().any(|begin| name.starts_with(begin)) && root.exists(&folder);
        self.known_devices.insert(name.to_owned(), is_disk);
        is_disk
    }
}

/// Parses the name and counters of a line: two numbers and the name, then fields 1 to 17.
fn parse(line: &str) -> Option<(&str, DiskCounters)> {
    let mut words = line.split_whitespace().skip(2);
    let name = words.next()?;
    let fields: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
    let fields = fields?;
    let [
        reads,
        _,
        read_sectors,
        read_time,
        writes,
        _,
        written_sectors,
        write_time,
        _,
        busy,
        queue_time,
    ] = *fields.first_chunk()?;
    // Valid counters are too small for their sum to overflow, so a line whose sum overflows is not
    // valid.
    reads.checked_add(writes)?;
    let flushes = fields.get(15).copied().zip(fields.get(16).copied());
    let counters = DiskCounters {
        reads,
        read_sectors,
        read_time,
        writes,
        written_sectors,
        write_time,
        busy,
        queue_time,
        flushes,
    };
    Some((name, counters))
}

fn report(name: &str, counters: &DiskCounters, sample: &mut Sample) {
    let kind = ComponentKind::Disk(name.to_owned());
    let bytes = |sectors: u64| sectors as f64 * SECTOR_BYTES as f64;
    let seconds = |ms: u64| ms as f64 / 1e3;
    sample.read(&kind, disk::READS, counters.reads as f64);
    sample.read(&kind, disk::WRITES, counters.writes as f64);
    sample.read(&kind, disk::READ_BYTES, bytes(counters.read_sectors));
    sample.read(&kind, disk::WRITTEN_BYTES, bytes(counters.written_sectors));
    sample.read(&kind, disk::READ_TIME, seconds(counters.read_time));
    sample.read(&kind, disk::WRITE_TIME, seconds(counters.write_time));
    sample.read(&kind, disk::BUSY, seconds(counters.busy));
    sample.read(&kind, disk::QUEUE_TIME, seconds(counters.queue_time));
    match counters.flushes {
        Some((flushes, time)) => {
            sample.read(&kind, disk::FLUSHES, flushes as f64);
            sample.read(&kind, disk::FLUSH_TIME, seconds(time));
        }
        None => sample.missing("disk flushes", "kernels report them from 5.5 on"),
    }
}

#[cfg(test)]
mod tests {
    use record::Reading;

    use super::*;
    use crate::environment::tests::TestRoot;

    const VDA: &str = " 254       0 vda 10 1 20 30 40 2 50 60 0 70 80 3 4 5 6 7 8\n";

    fn take_sample(planted: &TestRoot) -> Sample {
        let mut sample = Sample::default();
        Disks::default().sample(&planted.root, &mut sample);
        sample
    }

    fn disk(name: &str) -> TestRoot {
        TestRoot::new().with(&format!("sys/block/{name}/size"), "1\n")
    }

    #[test]
    fn disk_counters_are_bytes_and_seconds() {
        let text =
            format!("   7 0 loop0 1 0 1 1 1 0 1 1 0 1 1\n{VDA} 254 1 vda1 1 0 1 1 1 0 1 1 0 1 1\n");
        let planted = disk("vda").with("sys/block/loop0/size", "1").with("proc/diskstats", text);
        let expected = [
            ("reads", "operations", 10.0),
            ("writes", "operations", 40.0),
            ("read-bytes", "bytes", 10_240.0),
            ("written-bytes", "bytes", 25_600.0),
            ("read-time", "s", 0.03),
            ("write-time", "s", 0.06),
            ("busy", "s", 0.07),
            ("queue-time", "s", 0.08),
            ("flushes", "operations", 7.0),
            ("flush-time", "s", 0.008),
        ];
        let expected = expected.map(|(metric, unit, v)| Reading::of("disk vda", metric, unit, v));
        let sample = take_sample(&planted);
        assert_eq!((sample.readings, sample.missing), (expected.to_vec(), vec![]));
    }

    #[test]
    fn old_kernel_has_no_flush_counters() {
        let planted =
            disk("cciss!c0d0").with("proc/diskstats", "1 0 cciss/c0d0 1 0 1 1 1 0 1 1 0 1 1\n");
        let sample = take_sample(&planted);
        assert_eq!(sample.readings.len(), 8);
        assert_eq!(sample.missing[0].what, "disk flushes");
    }

    #[test]
    fn malformed_disk_line_is_skipped() {
        let odd = ["", "1 2", "1 0 vda", "1 0 vda 1 2 3", "1 0 vda 1 0 1 1 1 0 1 1 0 1 -1"];
        for line in odd {
            assert_eq!(parse(line), None, "{line}");
        }
        let planted = disk("vda").with("proc/diskstats", "1 0 vda 0 0 0 0 0 0 0 0 0 0 0\n");
        for planted in [TestRoot::new(), planted] {
            let sample = take_sample(&planted);
            assert_eq!((sample.readings.len(), sample.missing[0].what.as_str()), (0, "disk"));
        }
    }
}
