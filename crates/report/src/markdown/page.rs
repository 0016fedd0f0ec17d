//! The answer of a run as Markdown.

use super::{Document, Table, code, escaped, origin};
use crate::page::{Align, Line, Page, Remark, VerdictPosition};

/// Formats the answer of a run for a pull request: at most 40 lines, the numbers in a collapsed
/// table.
pub fn markdown(page: &Page) -> String {
    let mut out = Document::default();
    match page.verdict_position {
        VerdictPosition::First => {
            verdict(&mut out, page);
            headline(&mut out, page);
        }
        VerdictPosition::AfterHeadline => {
            headline(&mut out, page);
            verdict(&mut out, page);
        }
        VerdictPosition::Omitted => headline(&mut out, page),
    }
    if page.is_limiter_shown {
        out.list(&remarks(&page.short.limiter), 3);
    }
    out.list(&lines(&page.short.reviews), 3);
    out.gap();
    let about = &page.run.about;
    out.line(origin(&about.command, &about.file(), about.label()));
    out.with_table("Response times", &times(page))
}

fn headline(out: &mut Document, page: &Page) {
    let headline = &page.headline;
    let ending = headline.ending.iter().cloned().collect::<Vec<Remark>>();
    out.list(&remarks(&ending), 1);
    out.list(&lines(&headline.answers), 8);
    out.list(&remarks(&page.short.remarks), 5);
    out.gap();
}

fn verdict(out: &mut Document, page: &Page) {
    out.line(format!("**{}**: {}", page.verdict.word, page.verdict.tally));
    out.list(&lines(&page.verdict.objections), 8);
    out.gap();
}

/// Returns lines with their labels; a line without a label is joined to the previous one.
fn lines(lines: &[Line]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for line in lines {
        match (line.label.as_str(), texts.last_mut()) {
            ("", Some(above)) => {
                above.push_str(". ");
                above.push_str(&escaped(&line.text));
            }
            ("", None) => texts.push(escaped(&line.text)),
            (label, _) => texts.push(format!("{} {}", code(label), escaped(&line.text))),
        }
    }
    texts
}

fn remarks(remarks: &[Remark]) -> Vec<String> {
    let text = |remark: &Remark| match remark {
        Remark::Sentence { lead, rest, .. } => {
            format!("**{}**{}", escaped(lead), escaped_rest(rest))
        }
        Remark::Note(text) => escaped(text),
    };
    remarks.iter().map(text).collect()
}

/// Escapes a text that continues another one: its first space stays.
fn escaped_rest(rest: &str) -> String {
    let space = if rest.starts_with(' ') { " " } else { "" };
    format!("{space}{}", escaped(rest))
}

/// Returns the times of all jobs in one table.
fn times(page: &Page) -> Table {
    let of_jobs = page.jobs.iter().filter(|job| !job.times.rows.is_empty());
    let titles = of_jobs.clone().next().map(|job| job.times.columns.clone()).unwrap_or_default();
    let columns = [("job".to_owned(), Align::Left)]
        .into_iter()
        .chain(titles.iter().map(|column| (column.title.to_string(), column.align)));
    let rows = of_jobs.flat_map(|job| {
        job.times.rows.iter().map(|row| {
            let note = row.note.map(str::to_owned);
            let cells = row.cells.iter().map(ToString::to_string).chain(note);
            let mut cells: Vec<String> = [escaped(&job.summary.name)]
                .into_iter()
                .chain(cells.map(|it| escaped(&it)))
                .collect();
            cells.resize(titles.len() + 1, String::new());
            cells
        })
    });
    let rows = rows.collect();
    Table { columns: columns.collect(), rows }
}
