//! The live view: a few lines at the bottom of the terminal that are painted again and again.

use std::sync::Arc;
use std::thread::JoinHandle;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Shared;
use super::picture::{COLUMNS, Picture, Row};

/// The most jobs that are shown.
const MOST_ROWS: usize = 30;

/// The width of a column of numbers, and of the bar.
const COLUMN: usize = 11;
const BAR: usize = 40;

/// Starts painting.
pub(super) fn start(shared: Arc<Shared>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let canvas = ProgressBar::with_draw_target(None, target);
        canvas.set_style(ProgressStyle::with_template("{msg}").expect("a template of one key"));
        loop {
            let state = shared.wait();
            if state.finished {
                // The answer is to stand alone.
                canvas.finish_and_clear();
                return;
            }
            canvas.set_message(lines(&Picture::of(&state)).join("\n"));
            canvas.tick();
        }
    })
}

/// The picture as lines of text.
fn lines(picture: &Picture) -> Vec<String> {
    let mut lines = vec![picture.title.clone(), progress(picture)];
    if !picture.rows.is_empty() {
        let shown = picture.rows.iter().take(MOST_ROWS);
        let names = shown.clone().map(|row| row[0].chars().count()).max().unwrap_or(0);
        let name_width = names.clamp(COLUMNS[0].len(), BAR);
        lines.push(columns(&COLUMNS.map(str::to_owned), name_width));
        lines.extend(shown.map(|row| columns(row, name_width)));
    }
    if picture.rows.len() > MOST_ROWS {
        lines.push(format!("and {} more jobs", picture.rows.len() - MOST_ROWS));
    }
    lines
}

fn progress(picture: &Picture) -> String {
    match picture.progress {
        None => picture.doing.clone(),
        Some(part) => {
            let full = (part * BAR as f64).round() as usize;
            let bar = format!("{}{}", "━".repeat(full), "─".repeat(BAR - full.min(BAR)));
            format!("{bar} {}", picture.doing)
        }
    }
}

fn columns(row: &Row, name_width: usize) -> String {
    let [name, numbers @ ..] = row;
    let mut line = format!("{name:<name_width$}");
    for number in numbers {
        line.push_str(&format!("{number:>COLUMN$}"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_below_title_and_progress() {
        let picture = Picture {
            title: "shop.ini on sim:mm1".to_owned(),
            doing: "measuring, 00:30 of 01:00".to_owned(),
            progress: Some(0.25),
            rows: vec![
                ["read", "3,002", "2,998", "1.40 ms", "9.20 ms", "0", "3", "0"].map(str::to_owned),
            ],
        };
        let expected = "\
shop.ini on sim:mm1
━━━━━━━━━━────────────────────────────── measuring, 00:30 of 01:00
job   offered/s achieved/s        p50        p99     errors  in flight     queued
read      3,002      2,998    1.40 ms    9.20 ms          0          3          0";
        assert_eq!(lines(&picture).join("\n"), expected);
    }

    #[test]
    fn many_jobs_are_cut_short_and_counted() {
        let row = ["a", "1", "1", "1", "1", "1", "1", "1"].map(str::to_owned);
        let rows = vec![row; 33];
        let picture = Picture { title: String::new(), doing: String::new(), progress: None, rows };
        let lines = lines(&picture);
        assert_eq!(lines.len(), 2 + 1 + 30 + 1);
        assert_eq!(lines.last().map(String::as_str), Some("and 3 more jobs"));
    }
}
