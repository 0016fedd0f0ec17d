//! TCP segments sent and retransmitted: the two lines `Tcp:` of `/proc/net/snmp`
//! (`proc_pid_net(5)`, RFC 1213: names, then values).

use record::metric::host;
use record::{ComponentKind, ObservedMetric};

use crate::environment::Root;
use crate::sample::{Sample, Sampler};

/// Counters of the file, with the metric of each.
const COUNTERS: [(&str, ObservedMetric); 2] =
    [("OutSegs", host::TCP_SEGMENTS), ("RetransSegs", host::TCP_RETRANSMITS)];

/// Sampler of the machine's TCP statistics.
pub(crate) struct Tcp;

impl Sampler for Tcp {
    fn sample(&mut self, root: &Root, sample: &mut Sample) {
        let text = root.text("proc/net/snmp").unwrap_or_default();
        for (name, metric) in COUNTERS {
            match number(&text, name) {
                Some(value) => sample.read(&ComponentKind::Host, metric, value as f64),
                None => {
                    let what = format!("host {}", metric.name);
                    sample.missing(what, "/proc/net/snmp does not have it");
                }
            }
        }
    }
}

/// Returns the value under a name; `None` if there is none.
fn number(snmp: &str, name: &str) -> Option<u64> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|word| word == name)?;
    values.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use record::Reading;

    use super::*;
    use crate::environment::tests::TestRoot;

    fn take_sample(planted: &TestRoot) -> Sample {
        let mut sample = Sample::default();
        Tcp.sample(&planted.root, &mut sample);
        sample
    }

    #[test]
    fn tcp_counters_are_found_by_name() {
        let text = "Ip: OutSegs\nIp: 9\nTcp: MaxConn InSegs OutSegs RetransSegs\nTcp: -1 5 6 7\n";
        let expected = [
            Reading::of("host", "tcp-segments", "segments", 6.0),
            Reading::of("host", "tcp-retransmits", "segments", 7.0),
        ];
        assert_eq!(take_sample(&TestRoot::new().with("proc/net/snmp", text)).readings, expected);
    }

    #[test]
    fn invalid_value_is_missing() {
        for odd in ["", "Tcp: OutSegs RetransSegs\n", "Tcp: OutSegs RetransSegs\nTcp:\n"] {
            let sample = take_sample(&TestRoot::new().with("proc/net/snmp", odd));
            assert_eq!((sample.readings.len(), sample.missing.len()), (0, 2), "{odd}");
        }
    }
}
