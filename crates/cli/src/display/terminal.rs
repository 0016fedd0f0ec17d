//! The live view: a few lines at the bottom of the terminal that are painted again and again.
//!
//! The cursor stays at the beginning of the line below the picture. What the terminal writes there
//! itself, `^C` for one, moves nothing and is gone with the next picture.

use std::sync::Arc;
use std::thread::JoinHandle;

use base::{Clock, Monotonic, Nanos, Stamp, printable};
use console::{Alignment, Term, measure_text_width, pad_str, truncate_str};

use super::Shared;
use super::picture::{COLUMNS, Picture, Row};
use crate::stderr;

/// The least time between two pictures.
const LEAST: Nanos = Nanos::from_millis(100);

/// The widths of the columns of numbers, with what is between them, and of the bar.
const WIDTHS: [usize; COLUMNS.len() - 1] = [11, 12, 9, 9, 10, 11, 9];
const BAR: usize = 40;

/// The columns of numbers in the order in which they go where there is no room for all: in flight,
/// queued, p50, offered, errors. How much is done, and how slowly, stays to the last.
const LEAST_IMPORTANT: [usize; 5] = [5, 6, 2, 0, 4];

/// The width of a name, if it is that long, for which columns of numbers are given up.
const NAME: usize = 16;

/// How many pipes without a writer are named.
const PIPES: usize = 2;

/// What the picture has room for, in characters.
#[derive(Clone, Copy)]
struct Size {
    height: usize,
    width: usize,
}

/// Starts painting.
pub(super) fn start(shared: Arc<Shared>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let terminal = Term::stderr();
        let mut painted = 0;
        let mut latest: Option<Stamp> = None;
        loop {
            let state = shared.wait();
            if state.finished {
                // The answer is to stand alone.
                paint(painted, &[]);
                return;
            }
            let now = Monotonic.now();
            if latest.is_some_and(|latest| now.since(latest) < LEAST) {
                continue;
            }
            latest = Some(now);
            let (height, width) = terminal.size();
            // Some terminals wrap a line that is full, and the cursor needs one of its own.
            let size = Size {
                height: usize::from(height).max(4) - 1,
                width: usize::from(width).max(9) - 1,
            };
            let lines = lines(&Picture::of(&state), size);
            paint(painted, &lines);
            painted = lines.len();
        }
    })
}

/// Paints over the latest picture.
fn paint(painted: usize, lines: &[String]) {
    stderr::write(&frame(painted, lines));
}

/// What the terminal is told: to go back to the first of the lines that were painted, to write
/// these instead, and to clear what is left of those.
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

/// The picture as lines of text that fit.
fn lines(picture: &Picture, size: Size) -> Vec<String> {
    let mut lines = vec![shortened(&picture.title, size.width), progress(picture, size.width)];
    lines.extend(picture.awaited.iter().take(PIPES).map(|line| shortened(line, size.width)));
    if picture.rows.is_empty() {
        return lines;
    }
    let room = size.height.saturating_sub(lines.len() + 1);
    let shown = if picture.rows.len() <= room { room } else { room.saturating_sub(1) };
    let (rows, more) = picture.rows.split_at(shown.min(picture.rows.len()));
    let table = Table::of(rows, size.width);
    lines.push(table.line(&COLUMNS.map(str::to_owned)));
    lines.extend(rows.iter().map(|row| table.line(row)));
    match more.len() {
        0 => {}
        1 => lines.push("… 1 more job".to_owned()),
        more => lines.push(format!("… {more} more jobs")),
    }
    // The answer at the end says it with its evidence: where there is no room, it waits for that.
    let last = picture.busiest.iter().filter(|_| lines.len() < size.height);
    lines.extend(last.map(|line| shortened(line, size.width)).collect::<Vec<_>>());
    lines
}

/// What the run is doing, with a bar if there is room for one.
fn progress(picture: &Picture, width: usize) -> String {
    let doing = printable(&picture.doing);
    let room = width.saturating_sub(measure_text_width(&doing) + 1).min(BAR);
    match picture.progress {
        Some(part) if room >= BAR / 4 => {
            let full = ((part * room as f64).round() as usize).min(room);
            let bar = format!("{}{}", "━".repeat(full), "─".repeat(room - full));
            format!("{bar} {doing}")
        }
        Some(_) | None => shortened(&doing, width),
    }
}

fn shortened(text: &str, width: usize) -> String {
    truncate_str(&printable(text), width, "…").into_owned()
}

/// Which columns there is room for.
struct Table {
    name: usize,
    /// Which columns of numbers are shown.
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
            if left >= longest.min(NAME) {
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

    fn row(name: &str) -> Row {
        [name, "3,002", "2,998", "1.40 ms", "9.20 ms", "0", "3", "0"].map(str::to_owned)
    }

    fn picture(names: &[&str]) -> Picture {
        Picture {
            title: "shop.ini on sim:mm1".to_owned(),
            doing: "measuring, 00:30 of 01:00".to_owned(),
            awaited: Vec::new(),
            busiest: None,
            progress: Some(0.25),
            rows: names.iter().map(|name| row(name)).collect(),
        }
    }

    fn painted(picture: &Picture, height: usize, width: usize) -> String {
        let lines = lines(picture, Size { height, width });
        assert!(lines.iter().all(|line| measure_text_width(line) <= width), "{lines:?}");
        lines.join("\n")
    }

    #[test]
    fn the_table_stands_below_title_and_progress() {
        let expected = "\
shop.ini on sim:mm1
━━━━━━━━━━────────────────────────────── measuring, 00:30 of 01:00
job   offered/s  achieved/s      p50      p99    errors  in flight   queued
read      3,002       2,998  1.40 ms  9.20 ms         0          3        0";
        assert_eq!(painted(&picture(&["read"]), 23, 79), expected);
    }

    #[test]
    fn pipes_that_nobody_writes_stand_above_the_table() {
        let awaited = ["a", "b", "c"].map(|pipe| format!("waiting for `{pipe}`")).to_vec();
        let picture = Picture { awaited, ..picture(&[]) };
        let expected = "\
shop.ini on sim:mm1
━━━━━━━━━━────────────────────────────── measuring, 00:30 of 01:00
waiting for `a`
waiting for `b`";
        assert_eq!(painted(&picture, 23, 79), expected);
    }

    #[test]
    fn the_busiest_component_stands_below_the_table_if_there_is_room() {
        let busiest = Some("busiest: the database's processors, 97 %".to_owned());
        let picture = Picture { busiest, ..picture(&["read"]) };
        let last = |height| painted(&picture, height, 79).lines().last().map(str::to_owned);
        assert_eq!(last(23).as_deref(), Some("busiest: the database's processors, 97 %"));
        assert!(last(4).is_some_and(|line| line.starts_with("read")));
    }

    #[test]
    fn what_has_no_room_is_shortened_or_left_out() {
        let expected = "\
shop.ini on sim:mm1
━━━━━━━━━━────────────────────────────── measuring, 00:30 of 01:00
job                  offered/s  achieved/s      p50      p99    errors   queued
a-job-with-a-long-…      3,002       2,998  1.40 ms  9.20 ms         0        0";
        assert_eq!(painted(&picture(&["a-job-with-a-long-name"]), 23, 79), expected);
        let expected = "\
shop.ini on sim:mm1
measuring, 00:30 of 01:…
job  achieved/s      p99
a-…       2,998  9.20 ms";
        assert_eq!(painted(&picture(&["a-job"]), 23, 24), expected);
    }

    #[test]
    fn a_name_of_wide_characters_is_measured_as_it_is_shown() {
        let lines = lines(&picture(&["顧客の注文を読む"]), Size { height: 23, width: 79 });
        let widths: Vec<usize> = lines[2..].iter().map(|line| measure_text_width(line)).collect();
        assert_eq!(widths[0], widths[1]);
    }

    #[test]
    fn names_of_files_jobs_and_tables_cannot_act_on_the_terminal() {
        let odd = "a\x1b[2J\nb\u{9b}31m\u{202e}c";
        let picture = Picture {
            title: odd.to_owned(),
            doing: format!("loading {odd}"),
            awaited: vec![odd.to_owned()],
            busiest: Some(odd.to_owned()),
            ..picture(&[odd])
        };
        let lines = lines(&picture, Size { height: 23, width: 79 });
        assert_eq!(lines.len(), 6, "{lines:?}");
        assert!(lines.iter().all(|line| !line.contains(base::is_obeyed)), "{lines:?}");
    }

    #[test]
    fn jobs_that_have_no_room_are_counted() {
        let names = vec!["a"; 33];
        let text = painted(&picture(&names), 10, 79);
        assert_eq!(text.lines().count(), 10);
        assert_eq!(text.lines().last(), Some("… 27 more jobs"));
        assert_eq!(painted(&picture(&names[..7]), 10, 79).lines().count(), 10);
        assert_eq!(painted(&picture(&names), 36, 79).lines().count(), 36);
    }

    #[test]
    fn a_picture_replaces_all_of_the_latest() {
        let lines = ["a".to_owned(), "b".to_owned()];
        assert_eq!(frame(0, &lines), "\ra\x1b[K\nb\x1b[K\n\x1b[J");
        assert_eq!(frame(3, &[]), "\r\x1b[3A\x1b[J");
    }
}
