//! Traffic of the network interfaces: `/proc/net/dev` (`proc_pid_net(5)`), and the speed of their
//! links: `/sys/class/net/*/speed` (Linux, Documentation/ABI/testing/sysfs-class-net), in Mbit/s.
//! Interfaces without any traffic are left out.

use std::collections::BTreeMap;

use record::ComponentKind;
use record::metric::interface;

use crate::environment::Root;
use crate::sample::{Sample, Sampler};

/// Maximum number of interfaces that are reported.
const MAX_REPORTED: usize = 64;

/// Bytes per second in one Mbit/s.
const BYTES_PER_MEGABIT: f64 = 125_000.0;

/// Traffic of an interface since it was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InterfaceCounters {
    received_bytes: u64,
    received_packets: u64,
    sent_bytes: u64,
    sent_packets: u64,
    dropped: u64,
    errors: u64,
}

/// Sampler of the machine's network interfaces.
#[derive(Debug, Default)]
pub(crate) struct Interfaces {
    /// Link speeds in bytes per second; `None` if unknown. Each speed is looked up once.
    speeds: BTreeMap<String, Option<f64>>,
}

impl Sampler for Interfaces {
    fn sample(&mut self, root: &Root, sample: &mut Sample) {
        let Some(text) = root.text("proc/net/dev") else {
            return sample.missing("interface", "/proc/net/dev cannot be read");
        };
        let used = |(_, counters): &(&str, InterfaceCounters)| {
            counters.received_packets > 0 || counters.sent_packets > 0
        };
        for (number, (name, counters)) in text.lines().filter_map(parse).filter(used).enumerate() {
            if number == MAX_REPORTED {
                let why = format!("only the first {MAX_REPORTED} are reported");
                return sample.missing("interface", why);
            }
            report(name, counters, sample);
            if let Some(speed) = self.speed(root, name) {
                sample.read(&ComponentKind::Interface(name.to_owned()), interface::SPEED, speed);
            }
        }
    }
}

impl Interfaces {
    fn speed(&mut self, root: &Root, name: &str) -> Option<f64> {
        if let Some(known) = self.speeds.get(name) {
            return *known;
        }
        // If there is no link, and in most virtual machines, the speed is -1, which does not parse
        // as an unsigned number.
        let megabits =
            root.number(&format!("sys/class/net/{name}/speed")).filter(|speed| *speed > 0);
        let speed = megabits.map(|speed| speed as f64 * BYTES_PER_MEGABIT);
        self.speeds.insert(name.to_owned(), speed);
        speed
    }
}

/// Parses the interface and counters of a line: eight numbers for received traffic (bytes, packets,
/// errors, drops, …), then eight for sent traffic.
fn parse(line: &str) -> Option<(&str, InterfaceCounters)> {
    let (name, numbers) = line.rsplit_once(':')?;
    let numbers: Option<Vec<u64>> = numbers.split_whitespace().map(|n| n.parse().ok()).collect();
    let numbers = numbers?;
    let [received_bytes, received_packets, received_errors, received_drops, _, _, _, _] =
        *numbers.first_chunk()?;
    let [sent_bytes, sent_packets, sent_errors, sent_drops] = *numbers.get(8..)?.first_chunk()?;
    let counters = InterfaceCounters {
        received_bytes,
        received_packets,
        sent_bytes,
        sent_packets,
        dropped: received_drops.checked_add(sent_drops)?,
        errors: received_errors.checked_add(sent_errors)?,
    };
    Some((name.trim(), counters))
}

fn report(name: &str, counters: InterfaceCounters, sample: &mut Sample) {
    let kind = ComponentKind::Interface(name.to_owned());
    let found = [
        (interface::RECEIVED_BYTES, counters.received_bytes),
        (interface::SENT_BYTES, counters.sent_bytes),
        (interface::RECEIVED_PACKETS, counters.received_packets),
        (interface::SENT_PACKETS, counters.sent_packets),
        (interface::DROPPED, counters.dropped),
        (interface::ERRORS, counters.errors),
    ];
    for (metric, value) in found {
        sample.read(&kind, metric, value as f64);
    }
}

#[cfg(test)]
mod tests {
    use record::Reading;

    use super::*;
    use crate::environment::tests::TestRoot;

    const HEAD: &str = "Inter-|   Receive  |  Transmit\n face |bytes    packets errs|bytes\n";

    fn take_sample(planted: &TestRoot) -> Sample {
        let mut sample = Sample::default();
        Interfaces::default().sample(&planted.root, &mut sample);
        sample
    }

    #[test]
    fn traffic_is_reported_with_the_link_speed() {
        let text = format!(
            "{HEAD}  eth0: 1000 10 1 2 0 0 0 0 500 5 3 4 0 0 0 0\n\
             ifb0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
             eth0:1:7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n"
        );
        let planted = TestRoot::new()
            .with("proc/net/dev", text)
            .with("sys/class/net/eth0/speed", "1000\n")
            .with("sys/class/net/eth0:1/speed", "-1\n");
        let expected = [
            ("received-bytes", "bytes", 1_000.0),
            ("sent-bytes", "bytes", 500.0),
            ("received-packets", "packets", 10.0),
            ("sent-packets", "packets", 5.0),
            ("dropped", "packets", 6.0),
            ("errors", "packets", 4.0),
            ("speed", "bytes/s", 125e6),
        ];
        let expected = expected.map(|(name, unit, v)| Reading::of("interface eth0", name, unit, v));
        let readings = take_sample(&planted).readings;
        assert_eq!(readings[..7], expected);
        assert_eq!(
            readings.len(),
            13,
            "the alias has no speed, and the unused one is not reported"
        );
    }

    #[test]
    fn malformed_interface_line_is_skipped() {
        for odd in
            ["", "lo", "lo:", "lo: 1 2 3", "lo: 1 1 1 1 1 1 1 1 1 1 1", "lo: a b c d e f g h"]
        {
            assert_eq!(parse(odd), None, "{odd}");
        }
        assert_eq!(take_sample(&TestRoot::new()).missing[0].what, "interface");
    }
}
