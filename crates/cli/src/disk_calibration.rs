//! The durable flushes of a disk, as a table for people and as a JSON document.

use base::{Nanos, WallTime};
use lab::calibrate::{DiskFigures, FlushFigures, WritePattern};
use report::Style;
use serde_json::{Value, json};

use crate::findings::table_within;

/// The name and version of the format of the document.
const SCHEMA: &str = "assay.disk/1";

/// Returns the document.
pub(crate) fn document(figures: &DiskFigures, is_quick: bool) -> Value {
    let flushes: Vec<Value> = figures.flushes.iter().map(flush).collect();
    json!({
        "schema": SCHEMA,
        "assay": env!("CARGO_PKG_VERSION"),
        "taken": WallTime::now().to_string(),
        "quick": is_quick,
        "folder": figures.folder.to_string_lossy(),
        "file_system": figures.file_system,
        "device": figures.device,
        "medium": figures.medium,
        "misleading": figures.is_misleading(),
        "flushes": flushes,
    })
}

fn flush(figures: &FlushFigures) -> Value {
    json!({
        "pattern": figures.pattern.name(),
        "bytes": figures.bytes,
        "count": figures.count,
        "per_s": figures.per_s,
        "p50_ms": figures.p50.0 as f64 / 1e6,
        "p99_ms": figures.p99.0 as f64 / 1e6,
        "max_ms": figures.max.0 as f64 / 1e6,
    })
}

/// Returns the sentence with the most important figure, and the table of all figures.
pub(crate) fn text(figures: &DiskFigures, style: &Style) -> String {
    let DiskFigures { folder, file_system, device, .. } = figures;
    let first = figures.flushes.first().map(sentence).unwrap_or_default();
    let head = ["flush", "bytes", "flushes", "per second", "MB/s", "p50", "p99", "max"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(figures.flushes.iter().map(row));
    let table = table_within(style, &rows, &[0], &OMITTED);
    format!("{first}\n{}: {file_system} on {device}\n\n{table}", folder.display())
}

/// The columns that a narrow terminal leaves out, in this order.
const OMITTED: [usize; 3] = [2, 4, 7];

fn sentence(figures: &FlushFigures) -> String {
    let FlushFigures { bytes, per_s, p50, p99, .. } = figures;
    let (size, p50, p99) = (size(*bytes), ms(*p50), ms(*p99));
    format!("{per_s:.0} durable flushes of {size} per second: p50 {p50}, p99 {p99}")
}

fn row(figures: &FlushFigures) -> [String; 8] {
    let FlushFigures { pattern, bytes, count, per_s, p50, p99, max } = *figures;
    let name = match pattern {
        WritePattern::Rewrite => "over bytes written before",
        WritePattern::Append => "at the end of a growing file",
    };
    let mb_per_s = per_s * bytes as f64 / 1e6;
    [
        name.to_owned(),
        size(bytes),
        count.to_string(),
        format!("{per_s:.0}"),
        format!("{mb_per_s:.1}"),
        ms(p50),
        ms(p99),
        ms(max),
    ]
}

fn size(bytes: u64) -> String {
    format!("{} KiB", bytes >> 10)
}

fn ms(time: Nanos) -> String {
    format!("{:.3} ms", time.0 as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_and_table_have_every_figure() {
        let flushes = FlushFigures {
            pattern: WritePattern::Rewrite,
            bytes: 8 << 10,
            count: 1_480,
            per_s: 1_479.6,
            p50: Nanos::from_micros(612),
            p99: Nanos::from_micros(1_900),
            max: Nanos::from_millis(14),
        };
        let append = FlushFigures { pattern: WritePattern::Append, bytes: 1 << 20, ..flushes };
        let figures = DiskFigures {
            folder: "/srv/pg".into(),
            file_system: "ext4".to_owned(),
            device: "/dev/sdb1".to_owned(),
            medium: "rotating".to_owned(),
            flushes: vec![flushes, append],
        };
        let text = text(&figures, &Style::PLAIN);
        let lines: Vec<&str> = text.lines().collect();
        let sentence = "1480 durable flushes of 8 KiB per second: p50 0.612 ms, p99 1.900 ms";
        assert_eq!(lines[..3], [sentence, "/srv/pg: ext4 on /dev/sdb1", ""]);
        let rest = "1480        1480    12.1  0.612 ms  1.900 ms  14.000 ms";
        assert_eq!(lines[4], format!("over bytes written before        8 KiB     {rest}"));
        let rest = "1480        1480  1551.5  0.612 ms  1.900 ms  14.000 ms";
        assert_eq!(lines[5], format!("at the end of a growing file  1024 KiB     {rest}"));
        let document = document(&figures, false);
        assert_eq!(document["flushes"][1]["p99_ms"], 1.9);
        assert_eq!(document["misleading"], false);
    }
}
