//! The live view: a few lines at the bottom of the terminal that are repainted.
//!
//! The cursor stays at the start of the line below the live view. Characters that the terminal
//! echoes there, such as `^C`, move nothing and disappear when the view is repainted.

use std::sync::Arc;
use std::thread::JoinHandle;

use archive::LiveView;
use base::{Clock, Monotonic, Nanos, Stamp, printable};
use console::{Alignment, Term, measure_text_width, pad_str, truncate_str};
use report::{SparklineBottom, sparkline};

use super::job_series::SeriesOfJobs;
use super::snapshot::{COLUMNS, DisplaySnapshot, Row, SeriesRow};
use super::state::Shared;
use crate::stderr;

/// Shortest interval between two repaints.
const MIN_REPAINT_INTERVAL: Nanos = Nanos::from_millis(100);

/// The widths of the number columns, with spacing, and the maximum width of the progress bar, in
/// characters.
const WIDTHS: [usize; COLUMNS.len() - 1] = [11, 12, 9, 9, 10, 11, 9];
const BAR_WIDTH: usize = 40;

/// The number columns in the order in which they are dropped on a narrow terminal: in flight,
/// queued, p50, offered, errors. Achieved rate and p99 always stay.
const LEAST_IMPORTANT: [usize; 5] = [5, 6, 2, 0, 4];

/// Number columns are dropped to leave room for job names of up to this width, in characters.
const NAME_WIDTH: usize = 16;

/// The maximum number of intervals in a sparkline, and the minimum number: if there is room for
/// fewer, no sparkline is drawn.
const MAX_BARS: usize = 30;
const MIN_BARS: usize = 6;

/// The maximum number of pipes without a writer that are shown.
const MAX_PIPES: usize = 2;

/// Maximum number of values of a series over time in a terminal.
const MOST_VALUES: usize = 30;

/// The size available to the live view, in characters.
#[derive(Clone, Copy)]
struct Size {
    height: usize,
    width: usize,
}

/// Starts the thread that paints the live view. If the thread cannot be started, the run continues
/// without a display.
pub(super) fn start(shared: Arc<Shared>) -> Option<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name("display".to_owned());
    let started = thread.spawn(move || {
        let terminal = Term::stderr();
        let mut painted = 0;
        let mut latest: Option<Stamp> = None;
        let mut series = SeriesOfJobs::with_capacity(MOST_VALUES);
        loop {
            let state = shared.wait();
            if let Some(live) = state.live.as_ref().and_then(LiveView::latest) {
                series.add(&live);
            }
            if state.finished {
                // The answer must not be mixed with the live view.
                paint(painted, &[]);
                return;
            }
            let now = Monotonic.now();
            if latest.is_some_and(|latest| now.since(latest) < MIN_REPAINT_INTERVAL) {
                continue;
            }
            latest = Some(now);
            let (height, width) = terminal.size();
            // Some terminals wrap a full line, and the cursor needs a line of its own.
            let size = Size {
                height: usize::from(height).max(4) - 1,
                width: usize::from(width).max(9) - 1,
            };
            let snapshot = DisplaySnapshot::of(&state).with_series(&state, series.jobs());
            let lines = lines(&snapshot, size);
            paint(painted, &lines);
            painted = lines.len();
        }
    });
    started.ok()
}

/// Replaces the lines that were painted last.
fn paint(painted: usize, lines: &[String]) {
    stderr::write(&frame(painted, lines));
}

/// Returns the text that moves the cursor to the first painted line, writes the new lines, and
/// clears the old lines that remain.
fn frame(painted: usize, lines: &[String]) -> String {
    let mut frame = String::from("\r");
    if painted > 0 {
        frame.push_str(&format!("\x1b[{painted}A"));
    }
    for line in lines {
        frame.push_str(&format!("{line}\x1b[K\n"));
    }
    frame.push_str("\x1b[J");
    frame
}

/// Lays out the snapshot as lines of text that fit the size.
fn lines(snapshot: &DisplaySnapshot, size: Size) -> Vec<String> {
    let mut lines = vec![shortened(&snapshot.title, size.width), progress(snapshot, size.width)];
    lines.extend(snapshot.awaited.iter().take(MAX_PIPES).map(|line| shortened(line, size.width)));
    if snapshot.rows.is_empty() {
        return lines;
    }
    let room = size.height.saturating_sub(lines.len() + 1);
    let shown = if snapshot.rows.len() <= room { room } else { room.saturating_sub(1) };
    let (rows, more) = snapshot.rows.split_at(shown.min(snapshot.rows.len()));
    let table = Table::of(rows, size.width);
    lines.push(table.line(&COLUMNS.map(str::to_owned)));
    lines.extend(rows.iter().map(|row| table.line(row)));
    match more.len() {
        0 => {}
        1 => lines.push("… 1 more job".to_owned()),
        more => lines.push(format!("… {more} more jobs")),
    }
    // On a small terminal these lines are omitted; the final answer has the busiest component, with
    // its evidence.
    let room = size.height.saturating_sub(lines.len() + usize::from(snapshot.busiest.is_some()));
    lines.extend(
        series_lines(&snapshot.series_rows, size.width).into_iter().take(room.min(rows.len())),
    );
    let last = snapshot.busiest.iter().filter(|_| lines.len() < size.height);
    lines.extend(last.map(|line| shortened(line, size.width)).collect::<Vec<_>>());
    lines
}

/// Returns the phase line, with a progress bar if there is room.
fn progress(snapshot: &DisplaySnapshot, width: usize) -> String {
    let activity = printable(&snapshot.activity);
    let room = width.saturating_sub(measure_text_width(&activity) + 1).min(BAR_WIDTH);
    match snapshot.progress {
        Some(part) if room >= BAR_WIDTH / 4 => {
            let full = ((part * room as f64).round() as usize).min(room);
            let bar = format!("{}{}", "━".repeat(full), "─".repeat(room - full));
            format!("{bar} {activity}")
        }
        Some(_) | None => shortened(&activity, width),
    }
}

/// Draws throughput and p99 of each job from the latest intervals; nothing on a narrow terminal.
fn series_lines(rows: &[SeriesRow], width: usize) -> Vec<String> {
    let longest = |text: fn(&SeriesRow) -> &str| {
        rows.iter().map(|row| measure_text_width(&printable(text(row)))).max().unwrap_or(0)
    };
    let name = longest(|row| &row.name).min(NAME_WIDTH);
    let greatest = [longest(|row| &row.series[0].greatest), longest(|row| &row.series[1].greatest)];
    let Some(first) = rows.first() else { return Vec::new() };
    let labels: usize = first.series.iter().map(|series| series.name.len()).sum();
    let taken = name + labels + greatest.iter().sum::<usize>() + 2 * "    max ".len();
    let bars = (width.saturating_sub(taken) / 2).min(MAX_BARS);
    if bars < MIN_BARS {
        return Vec::new();
    }
    let line = |row: &SeriesRow| {
        let mut line =
            pad_str(&shortened(&row.name, name), name, Alignment::Left, None).into_owned();
        for (series, greatest) in row.series.iter().zip(greatest) {
            let latest = &series.values[series.values.len().saturating_sub(bars)..];
            let drawn = sparkline(latest, SparklineBottom::Zero, bars);
            let drawn = pad_str(&drawn, bars, Alignment::Left, None).into_owned();
            let most = pad_str(&series.greatest, greatest, Alignment::Left, None);
            line.push_str(&format!("  {} {drawn} max {most}", series.name));
        }
        line.truncate(line.trim_end().len());
        line
    };
    rows.iter().map(line).collect()
}

fn shortened(text: &str, width: usize) -> String {
    truncate_str(&printable(text), width, "…").into_owned()
}

/// The layout of the job table.
struct Table {
    /// Width of the column with the names of the jobs, in characters.
    name: usize,
    /// True for each number column that is shown.
    shows: [bool; WIDTHS.len()],
}

impl Table {
    fn of(rows: &[Row], width: usize) -> Table {
        let longest =
            rows.iter().map(|row| measure_text_width(&printable(&row[0]))).max().unwrap_or(0);
        let longest = longest.max(COLUMNS[0].len());
        let mut shows = [true; WIDTHS.len()];
        let mut left = width.saturating_sub(WIDTHS.iter().sum());
        for column in LEAST_IMPORTANT {
            if left >= longest.min(NAME_WIDTH) {
                break;
            }
            shows[column] = false;
            let taken = WIDTHS.iter().zip(shows).filter(|(_, shown)| *shown);
            left = width.saturating_sub(taken.map(|(width, _)| width).sum());
        }
        Table { name: longest.min(left), shows }
    }

    fn line(&self, row: &Row) -> String {
        let [name, numbers @ ..] = row;
        let name = shortened(name, self.name);
        let mut line = pad_str(&name, self.name, Alignment::Left, None).into_owned();
        for ((number, width), shown) in numbers.iter().zip(WIDTHS).zip(self.shows) {
            if shown {
                line.push_str(&format!("{number:>width$}"));
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::snapshot::Series;

    fn row(name: &str) -> Row {
        [name, "3,002", "2,998", "1.40 ms", "9.20 ms", "0", "3", "0"].map(str::to_owned)
    }

    fn snapshot(names: &[&str]) -> DisplaySnapshot {
        DisplaySnapshot {
            title: "shop.ini on sim:mm1".to_owned(),
            activity: "measuring, 00:30 of 01:00".to_owned(),
            awaited: Vec::new(),
            busiest: None,
            progress: Some(0.25),
            rows: names.iter().map(|name| row(name)).collect(),
            series_rows: Vec::new(),
        }
    }

    /// Returns a snapshot with the series over time of these jobs.
    fn snapshot_with_series(names: &[&str]) -> DisplaySnapshot {
        let series = |name, values: &[f64], greatest: &str| Series {
            name,
            values: values.to_vec(),
            greatest: greatest.to_owned(),
        };
        let row = |name: &&str| SeriesRow {
            name: (*name).to_owned(),
            series: [
                series("achieved/s", &[700.0, 350.0, 0.0], "700"),
                series("p99", &[1e6, 7e6, f64::NAN], "7.00 ms"),
            ],
        };
        DisplaySnapshot { series_rows: names.iter().map(row).collect(), ..snapshot(names) }
    }

    fn painted(snapshot: &DisplaySnapshot, height: usize, width: usize) -> String {
        let lines = lines(snapshot, Size { height, width });
        assert!(lines.iter().all(|line| measure_text_width(line) <= width), "{lines:?}");
        lines.join("\n")
    }

    #[test]
    fn table_follows_title_and_progress() {
        let expected = "\
shop.ini on sim:mm1
━━━━━━━━━━────────────────────────────── measuring, 00:30 of 01:00
job   offered/s  achieved/s      p50      p99    errors  in flight   queued
read      3,002       2,998  1.40 ms  9.20 ms         0          3        0";
        assert_eq!(painted(&snapshot(&["read"]), 23, 79), expected);
    }

    #[test]
    fn pipes_without_writers_are_shown_above_the_table() {
        let awaited = ["a", "b", "c"].map(|pipe| format!("waiting for `{pipe}`")).to_vec();
        let snapshot = DisplaySnapshot { awaited, ..snapshot(&[]) };
        let expected = "\
shop.ini on sim:mm1
━━━━━━━━━━────────────────────────────── measuring, 00:30 of 01:00
waiting for `a`
waiting for `b`";
        assert_eq!(painted(&snapshot, 23, 79), expected);
    }

    #[test]
    fn busiest_component_is_shown_below_the_table_if_it_fits() {
        let busiest = Some("busiest: the database's processors, 97 %".to_owned());
        let snapshot = DisplaySnapshot { busiest, ..snapshot(&["read"]) };
        let last = |height| painted(&snapshot, height, 79).lines().last().map(str::to_owned);
        assert_eq!(last(23).as_deref(), Some("busiest: the database's processors, 97 %"));
        assert!(last(4).is_some_and(|line| line.starts_with("read")));
    }

    #[test]
    fn series_of_throughput_and_p99_follow_the_table() {
        let snapshot = snapshot_with_series(&["read", "w"]);
        let text = painted(&snapshot, 23, 79);
        let lines: Vec<&str> = text.lines().skip(5).collect();
        assert_eq!(
            lines,
            [
                "read  achieved/s █▅▁                max 700  p99 ▂█                 max 7.00 ms",
                "w     achieved/s █▅▁                max 700  p99 ▂█                 max 7.00 ms",
            ]
        );
        // A low terminal drops parts of the table and the series; a narrow one has no room for
        // sparklines.
        let lines = |height, width| painted(&snapshot, height, width).lines().count();
        assert_eq!([lines(7, 79), lines(6, 79), lines(5, 79), lines(23, 50)], [7, 6, 5, 5]);
    }

    #[test]
    fn series_shows_the_latest_intervals() {
        let mut snapshot = snapshot_with_series(&["read"]);
        snapshot.series_rows[0].series[0].values = (0..30).map(f64::from).collect();
        let text = painted(&snapshot, 23, 65);
        let line = text.lines().last().unwrap();
        let drawn = line.split(' ').nth(3).unwrap();
        assert!(!drawn.contains('▁') && drawn.ends_with('█'), "{line}");
    }

    #[test]
    fn live_view_is_cut_to_the_terminal() {
        let expected = "\
shop.ini on sim:mm1
━━━━━━━━━━────────────────────────────── measuring, 00:30 of 01:00
job                  offered/s  achieved/s      p50      p99    errors   queued
a-job-with-a-long-…      3,002       2,998  1.40 ms  9.20 ms         0        0";
        assert_eq!(painted(&snapshot(&["a-job-with-a-long-name"]), 23, 79), expected);
        let expected = "\
shop.ini on sim:mm1
measuring, 00:30 of 01:…
job  achieved/s      p99
a-…       2,998  9.20 ms";
        assert_eq!(painted(&snapshot(&["a-job"]), 23, 24), expected);
    }

    #[test]
    fn wide_characters_count_as_two_columns() {
        let lines = lines(&snapshot(&["顧客の注文を読む"]), Size { height: 23, width: 79 });
        let widths: Vec<usize> = lines[2..].iter().map(|line| measure_text_width(line)).collect();
        assert_eq!(widths[0], widths[1]);
    }

    #[test]
    fn names_of_files_jobs_and_tables_cannot_act_on_the_terminal() {
        let odd = "a\x1b[2J\nb\u{9b}31m\u{202e}c";
        let snapshot = DisplaySnapshot {
            title: odd.to_owned(),
            activity: format!("loading {odd}"),
            awaited: vec![odd.to_owned()],
            busiest: Some(odd.to_owned()),
            ..snapshot_with_series(&[odd])
        };
        let lines = lines(&snapshot, Size { height: 23, width: 79 });
        assert_eq!(lines.len(), 7, "{lines:?}");
        assert!(lines.iter().all(|line| !line.contains(base::is_terminal_control)), "{lines:?}");
    }

    #[test]
    fn jobs_that_do_not_fit_are_counted() {
        let names = vec!["a"; 33];
        let text = painted(&snapshot(&names), 10, 79);
        assert_eq!(text.lines().count(), 10);
        assert_eq!(text.lines().last(), Some("… 27 more jobs"));
        assert_eq!(painted(&snapshot(&names[..7]), 10, 79).lines().count(), 10);
        assert_eq!(painted(&snapshot(&names), 36, 79).lines().count(), 36);
    }

    #[test]
    fn redraw_replaces_the_whole_previous_view() {
        let lines = ["a".to_owned(), "b".to_owned()];
        assert_eq!(frame(0, &lines), "\ra\x1b[K\nb\x1b[K\n\x1b[J");
        assert_eq!(frame(3, &[]), "\r\x1b[3A\x1b[J");
    }
}
