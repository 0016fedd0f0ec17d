//! The protocol between two `assay` processes, with one message per line.
//!
//! The process on the other machine greets with `{"assay-observe":1,"host":"db1","clock":…}`,
//! answers each `ping N` with `pong N CLOCK`, and after `begin` sends
//! `{"at_ns":…,"readings":[[component,metric,unit,value],…],"missing":[[what,why],…]}` at the
//! sampling interval that its command line sets. Clocks are nanoseconds since 1970. The process
//! ends when its input ends.
//!
//! Input from another machine is not trusted: any bytes are parsed or rejected, and the texts that
//! are stored have limited length and no control characters.

use base::is_terminal_control;
use record::{ObservedComponent, Reading, Series};
use serde_json::{Value, json};

use crate::sample::{Missing, Sample};

/// Version of this protocol.
pub(super) const VERSION: u64 = 1;

/// Key in the greeting by which an `assay` process recognises another `assay` process.
const GREETING: &str = "assay-observe";

/// Maximum number of bytes of a line.
pub(super) const LONGEST_LINE: usize = 4 << 20;

/// Maximum number of entries that are read from a sample's list of missing items.
const MOST_MISSING: usize = 256;

/// Maximum number of characters of a name or another text from the other machine.
const LONGEST_TEXT: usize = 200;

/// A request to the other machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RemoteRequest {
    /// Requests the time; the number identifies the request.
    Ping(u64),
    /// Starts sampling.
    Begin,
}

impl RemoteRequest {
    /// Returns the request as a line, including its line feed.
    pub(super) fn line(self) -> String {
        match self {
            RemoteRequest::Ping(number) => format!("ping {number}\n"),
            RemoteRequest::Begin => "begin\n".to_owned(),
        }
    }

    /// Parses a line; `None` if it is not a request.
    pub(super) fn parse(line: &[u8]) -> Option<RemoteRequest> {
        let text = std::str::from_utf8(line).ok()?.trim();
        match text.strip_prefix("ping ") {
            Some(number) => Some(RemoteRequest::Ping(number.parse().ok()?)),
            None => (text == "begin").then_some(RemoteRequest::Begin),
        }
    }
}

/// A message from the other machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RemoteMessage {
    /// The first message of the program.
    Greeting {
        /// Version of the remote program's protocol.
        version: u64,
        /// Host name of the machine.
        host: String,
    },
    /// The answer to a ping.
    Pong {
        /// Number of the request that is answered.
        number: u64,
        /// Time in nanoseconds since 1970.
        clock: i64,
    },
    /// The readings of one sampling round.
    Sample {
        /// Time of the sample, in nanoseconds since 1970 by the remote clock.
        at: i64,
        /// The readings and missing items.
        sample: Sample,
    },
}

impl RemoteMessage {
    /// Parses a line; `None` if it is not a message.
    pub(super) fn parse(line: &[u8]) -> Option<RemoteMessage> {
        let text = std::str::from_utf8(line).ok()?.trim();
        if let Some(rest) = text.strip_prefix("pong ") {
            let (number, clock) = rest.split_once(' ')?;
            return Some(RemoteMessage::Pong {
                number: number.parse().ok()?,
                clock: clock.parse().ok()?,
            });
        }
        let value: Value = serde_json::from_str(text).ok()?;
        if let Some(version) = value.get(GREETING) {
            let host = value.get("host").and_then(Value::as_str).map(sanitised).unwrap_or_default();
            return Some(RemoteMessage::Greeting { version: version.as_u64()?, host });
        }
        let at = value.get("at_ns")?.as_i64()?;
        let sample = Sample {
            readings: readings(value.get("readings")?)?,
            missing: missing(value.get("missing")?)?,
        };
        Some(RemoteMessage::Sample { at, sample })
    }
}

/// Returns the greeting as a line, including its line feed.
pub(super) fn greeting(host: &str, clock: i64) -> String {
    format!("{}\n", json!({ GREETING: VERSION, "host": host, "clock": clock }))
}

/// Returns the answer to a ping as a line, including its line feed.
pub(super) fn pong(number: u64, clock: i64) -> String {
    format!("pong {number} {clock}\n")
}

/// Returns a sample as a line, including its line feed. Values that are not finite are left out.
pub(super) fn sample(at: i64, sample: &Sample) -> String {
    let finite = sample.readings.iter().filter(|reading| reading.value.is_finite());
    let reading = |Reading { series, value }: &Reading| {
        let Series { component, metric, unit } = series;
        json!([component, metric, unit, value])
    };
    let missing = |Missing { what, why }: &Missing| json!([what, why]);
    let readings: Vec<Value> = finite.map(reading).collect();
    let missing: Vec<Value> = sample.missing.iter().map(missing).collect();
    format!("{}\n", json!({ "at_ns": at, "readings": readings, "missing": missing }))
}

/// Parses readings; `None` if the text is malformed. Readings are left out if this version does not
/// know their component, if the component belongs to a further machine, or if a name has control
/// characters or is too long.
fn readings(value: &Value) -> Option<Vec<Reading>> {
    let mut readings = Vec::new();
    for reading in value.as_array()? {
        let [component, metric, unit, value] = reading.as_array()?.as_slice() else { return None };
        let (component, metric, unit) = (component.as_str()?, metric.as_str()?, unit.as_str()?);
        let value = value.as_f64()?;
        let is_known =
            ObservedComponent::parse(component).is_some_and(|known| known.place.is_none());
        let is_plain = [component, metric, unit].iter().all(|text| sanitised(text) == **text);
        if is_known && is_plain && value.is_finite() {
            readings.push(Reading::of(component, metric, unit, value));
        }
    }
    Some(readings)
}

fn missing(value: &Value) -> Option<Vec<Missing>> {
    let pair = |pair: &Value| {
        let [what, why] = pair.as_array()?.as_slice() else { return None };
        Some(Missing { what: sanitised(what.as_str()?), why: sanitised(why.as_str()?) })
    };
    value.as_array()?.iter().take(MOST_MISSING).map(pair).collect()
}

/// Removes characters with an effect on a terminal or on the reading of lines, and limits the
/// length of the text.
pub(super) fn sanitised(text: &str) -> String {
    let shown = text.trim().chars().filter(|c| !is_terminal_control(*c));
    shown.take(LONGEST_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use base::{Seed, Stream};

    use super::*;

    fn seen() -> Sample {
        let mut seen = Sample::default();
        seen.readings.push(Reading::of("disk sda", "busy", "s", 1.5));
        seen.readings.push(Reading::of("host", "run-queue", "tasks", 3.0));
        seen.missing("disk sdb", "\"no\" permission");
        seen
    }

    #[test]
    fn remote_messages_round_trip() {
        for asked in [RemoteRequest::Ping(0), RemoteRequest::Ping(u64::MAX), RemoteRequest::Begin] {
            assert_eq!(RemoteRequest::parse(asked.line().as_bytes()), Some(asked));
        }
        let host = "db1".to_owned();
        let greets = RemoteMessage::Greeting { version: VERSION, host };
        assert_eq!(RemoteMessage::parse(greeting("db1", -5).as_bytes()), Some(greets));
        let pongs = RemoteMessage::Pong { number: 7, clock: i64::MIN };
        assert_eq!(RemoteMessage::parse(pong(7, i64::MIN).as_bytes()), Some(pongs));
        let seen = seen();
        let late = RemoteMessage::Sample { at: i64::MAX, sample: seen.clone() };
        assert_eq!(RemoteMessage::parse(sample(i64::MAX, &seen).as_bytes()), Some(late));
    }

    #[test]
    fn foreign_lines_are_refused() {
        for line in [
            "",
            "begin",
            "pong 1",
            "pong x 1",
            "pong 1 99999999999999999999",
            "Last login: Mon Nov 23",
            "{}",
            "[]",
            r#"{"assay-observe":"one"}"#,
            r#"{"at_ns":1.5,"readings":[],"missing":[]}"#,
            r#"{"at_ns":1,"readings":[["host","x","s"]],"missing":[]}"#,
            r#"{"at_ns":1,"readings":[["host","x","s",null]],"missing":[]}"#,
            r#"{"at_ns":1,"readings":[],"missing":["x"]}"#,
        ] {
            assert_eq!(RemoteMessage::parse(line.as_bytes()), None, "{line}");
        }
        for line in ["", "ping", "ping x", "ping -1", "pong 1 1", "begin now"] {
            assert_eq!(RemoteRequest::parse(line.as_bytes()), None, "{line}");
        }
        assert_eq!((RemoteMessage::parse(b"\xff"), RemoteRequest::parse(b"\xff")), (None, None));
    }

    #[test]
    fn remote_text_is_sanitised_and_kept_to_its_host() {
        let line = r#"{"at_ns":1,
            "readings":[["db2/host","busy","s",1],["robot","busy","s",1],
                ["host","\u001b[2J","s",1],["host","busy","s",2]],
            "missing":[["a\nb","\u001b[31mred"]]}"#;
        let Some(RemoteMessage::Sample { sample, .. }) = RemoteMessage::parse(line.as_bytes())
        else {
            panic!("it is a sample")
        };
        assert_eq!(sample.readings, [Reading::of("host", "busy", "s", 2.0)]);
        let missing = Missing { what: "ab".to_owned(), why: "[31mred".to_owned() };
        assert_eq!(sample.missing, [missing]);
        assert_eq!(sanitised(&"x".repeat(5_000)).len(), LONGEST_TEXT);
    }

    #[test]
    fn lines_of_any_bytes_are_read_or_refused() {
        let lines =
            [greeting("db1", 1), pong(3, 4), sample(5, &seen()), RemoteRequest::Ping(6).line()];
        for number in 0..4_000 {
            let mut draw = Stream::new(Seed(7), "remote", "mutation").draw(number);
            let mut line = lines[number as usize % lines.len()].clone().into_bytes();
            for _ in 0..=draw.below(4) {
                let at = draw.below(line.len() as u64 + 1) as usize;
                match draw.below(3) {
                    0 => line.truncate(at),
                    1 => line.insert(at, draw.bits() as u8),
                    _ => {
                        line.iter_mut().skip(at).take(1).for_each(|byte| *byte = draw.bits() as u8)
                    }
                }
            }
            if let Some(RemoteMessage::Sample { sample: read, .. }) = RemoteMessage::parse(&line) {
                let is_known = |reading: &Reading| {
                    ObservedComponent::parse(&reading.series.component).is_some()
                        && reading.value.is_finite()
                };
                assert!(read.readings.iter().all(is_known), "{read:?}");
            }
            let _ = RemoteRequest::parse(&line);
        }
    }
}
