//! Export in the log format of HdrHistogram, which its tools for many languages read.
//!
//! Each histogram row is a line `Tag=read.response,START,LENGTH,MAX,BASE64`: times in seconds after
//! time zero, the maximum in milliseconds, the histogram in nanoseconds (V2, deflated). The format
//! is defined by the reader and writer of the Java library, HdrHistogram 2.x: `HistogramLogWriter`
//! and `HistogramLogReader`. Without a `BaseTime` that reader guesses the origin of times;
//! therefore a `BaseTime` is always written.

use std::io::{self, Write};
use std::time::Duration;

use base::{AccountId, WallTime, is_terminal_control, printable};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};
use record::{Interval, Kind};

use crate::error::RecordError;
use crate::reader::Archive;

/// The unit of the column of maxima, in nanoseconds: a millisecond, as tools expect.
const MAX_UNIT: f64 = 1e6;

/// Writes all histograms of a record in the order of time.
///
/// Two exports of one record are byte for byte identical.
///
/// # Errors
/// Fails if the record cannot be read, or `out` cannot be written.
pub fn write_hlog(archive: &Archive, out: &mut impl Write) -> Result<(), RecordError> {
    let cannot_write = |error| archive.cannot_export(error);
    write_legend(archive, out).map_err(cannot_write)?;
    let lines = lines(archive)?;
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .with_max_value_divisor(MAX_UNIT)
        .begin_log_with(&mut *out, &mut serializer)
        .map_err(cannot_write)?;
    let grid = archive.grid();
    for Line { row, account, kind } in lines {
        let histogram = archive.histogram(account, kind, row..row.saturating_add(1))?;
        let tag = hlog_tag(&archive.header().jobs[account.index()].name, kind);
        let start = Duration::from_nanos(grid.start(row).0);
        let length = Duration::from_nanos(grid.row_length(row).0);
        log.write_histogram(&histogram, start, length, Tag::new(&tag)).map_err(|error| {
            cannot_write(match error {
                IntervalLogWriterError::IoError(error) => error,
                IntervalLogWriterError::SerializeError(error) => io::Error::other(error),
            })
        })?;
    }
    drop(log);
    out.flush().map_err(cannot_write)
}

/// Returns the tag of a job's histograms of the given kind.
///
/// Characters that a tag cannot contain are percent-encoded, to give different jobs different tags.
pub fn hlog_tag(job: &str, kind: Kind) -> String {
    let mut tag = String::with_capacity(job.len() + 16);
    for character in job.chars() {
        if is_terminal_control(character) || character.is_whitespace() || ",%".contains(character) {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                tag.push_str(&format!("%{byte:02X}"));
            }
        } else {
            tag.push(character);
        }
    }
    tag + "." + &kind.name()
}

/// A line of the log.
struct Line {
    row: Interval,
    account: AccountId,
    kind: Kind,
}

/// Returns all lines, in the order of time, then of jobs and kinds.
fn lines(archive: &Archive) -> Result<Vec<Line>, RecordError> {
    let mut lines = Vec::new();
    for account in archive.accounts() {
        for kind in archive.kinds(account) {
            let rows = archive.histogram_rows(account, kind)?;
            lines.extend(rows.into_iter().map(|row| Line { row, account, kind }));
        }
    }
    lines.sort_by_key(|line| (line.row, line.account, line.kind));
    Ok(lines)
}

fn write_legend(archive: &Archive, out: &mut impl Write) -> io::Result<()> {
    let header = archive.header();
    let zero = archive.time_zero().unwrap_or(header.started);
    writeln!(out, "#[Logged with Assay {}]", printable(&header.assay))?;
    writeln!(out, "#[Histogram log format version 1.3]")?;
    writeln!(out, "#[StartTime: {} (seconds since epoch), {zero}]", seconds(zero))?;
    writeln!(out, "#[BaseTime: {} (seconds since epoch)]", seconds(zero))?;
    writeln!(out, "#[Times are in nanoseconds, the column of maxima is in milliseconds]")?;
    writeln!(
        out,
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
    )
}

/// Formats a time as seconds since the epoch, to the millisecond.
fn seconds(time: WallTime) -> String {
    let millis = time.0.div_euclid(1_000_000);
    format!("{}.{:03}", millis.div_euclid(1_000), millis.rem_euclid(1_000))
}
