//! The tables of pages as CSV files for programs.

use analyze::Status;
use report::Page;

use crate::cases;

/// Media type of the files.
const MEDIA: &str = "href=\"data:text/csv;charset=utf-8,";

/// Returns the tables of a page as files.
fn files(page: &str) -> Vec<String> {
    let links = page.split(MEDIA).skip(1);
    links.map(|rest| decoded(rest.split('"').next().unwrap())).collect()
}

/// Decodes a text of a URL.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        rest = others;
        if let (b'%', [high, low, others @ ..]) = (first, others) {
            let digits = [*high, *low];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            rest = others;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Parses CSV (RFC 4180).
fn parsed(file: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut is_quoted, mut characters) = (false, file.chars().peekable());
    while let Some(character) = characters.next() {
        match (is_quoted, character) {
            (true, '"') if characters.peek() == Some(&'"') => {
                cell.push('"');
                characters.next();
            }
            (_, '"') => is_quoted = !is_quoted,
            (false, ',') => row.push(std::mem::take(&mut cell)),
            (false, '\r') => {
                assert_eq!(characters.next(), Some('\n'), "{file}");
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            (_, other) => cell.push(other),
        }
    }
    assert!(!is_quoted && row.is_empty() && cell.is_empty(), "the last line has an end: {file}");
    rows
}

/// Returns true for a number formatted for people: with separators, a unit, or a typographic minus.
fn is_formatted(cell: &str) -> bool {
    let number = |text: &str| {
        let digits = text.trim_start_matches(['+', '−']);
        digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.'))
    };
    let without_unit = ["/s", " ns", " µs", " ms", " s", " B", " kB", " MB", " GB", " %"]
        .into_iter()
        .find_map(|unit| cell.strip_suffix(unit));
    without_unit.is_some_and(number) || (number(cell) && cell.contains([',', '+', '−']))
}

#[test]
fn formatted_numbers_are_recognized() {
    for (cell, expected) in [
        ("1,234", true),
        ("5.2 ms", true),
        ("−0.4 %", true),
        ("300/s", true),
        ("1234.5", false),
        ("-0.004", false),
        ("128MB", false),
        ("of 3 requests", false),
    ] {
        assert_eq!(is_formatted(cell), expected, "{cell}");
    }
}

#[test]
fn checks_that_object_after_the_first_are_folded() {
    let mut view = cases::suspect().view();
    for check in view.summary.verdict.checks.iter_mut().take(4) {
        check.status = Status::Suspect;
    }
    let suspects = view.summary.verdict.with(Status::Suspect);
    let names: Vec<&str> = suspects.map(|check| check.name()).collect();
    let page = report::html(&Page::of(&view), &[]);
    let (before, rest) = page.split_once("<details>").expect("folded checks");
    let (folded, _) = rest.split_once("</details>").expect("an end");
    let others = &names[1..];
    let summary = format!("{} more checks object: {}", others.len(), others.join(", "));
    assert!(folded.contains(&format!("<summary>{summary}</summary>")), "{summary}: {folded}");
    let label = |name: &str| format!("<bdi>{name}</bdi></dt>");
    assert!(before.contains(&label(names[0])), "{before}");
    for name in others {
        assert!(folded.contains(&label(name)) && !before.contains(&label(name)), "{name}: {page}");
    }
    let remedies = folded.matches("What to do: ").count();
    assert!(remedies > 0 && before.contains("What to do: "), "{page}");
}

#[test]
fn files_of_all_pages_are_tables_of_plain_values_below_different_titles() {
    let mut numbers = 0;
    for (name, view) in cases::all() {
        let files = files(&report::html(&Page::of(&view), &[]));
        for rows in files.iter().map(|file| parsed(file)) {
            let (titles, rows) = rows.split_first().unwrap();
            let mut different = titles.clone();
            different.sort();
            different.dedup();
            assert_eq!(different.len(), titles.len(), "{name}: {titles:?}");
            for row in rows {
                assert_eq!(row.len(), titles.len(), "{name}: {titles:?} {row:?}");
                let formatted = row.iter().find(|cell| is_formatted(cell));
                assert_eq!(formatted, None, "{name}: {titles:?} {row:?}");
                numbers += row.iter().filter(|cell| cell.parse::<f64>().is_ok()).count();
            }
        }
    }
    assert!(numbers > 500, "{numbers}");
}

#[test]
fn file_of_times_has_milliseconds_with_every_digit() {
    let view = cases::closed().view();
    let job = &view.summary.jobs[0];
    let files = files(&report::html(&Page::of(&view), &[]));
    let times = files.iter().find(|file| file.starts_with("name,count,mean (ms),")).unwrap();
    let rows = parsed(times);
    let row = rows.iter().find(|row| row[0] == "response").unwrap();
    assert_eq!(row[1], job.response.count.to_string());
    let mean: f64 = row[2].parse().unwrap();
    assert!((mean * 1e6 / job.response.mean_ns - 1.0).abs() < 1e-12, "{row:?}");
    let place = rows[0].iter().position(|title| title == "max (ms)").unwrap();
    let max: f64 = row[place].parse().unwrap();
    assert_eq!((max * 1e6).round() as u64, job.response.max_ns);
}
