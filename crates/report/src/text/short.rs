//! The short answer: jobs first, then the verdict, the limiter, the result and the next commands.

use crate::page::{JobBlock, Line, Page, Table, VerdictPosition};
use crate::text::canvas::{Canvas, Style};
use crate::text::layout::{columns, padded};
use crate::text::{sections, shape};

/// Number of lines of a screen. If the answer would be longer, the distribution is left out.
const MOST_LINES: usize = 40;

/// Formats the short answer.
pub(super) fn format_short(page: &Page, style: &Style) -> String {
    let text = |picture: Option<&Table>| {
        let mut canvas = Canvas::new(*style);
        write(&mut canvas, page, picture);
        canvas.into_text()
    };
    let picture = shape::histogram_table(&page.short.histogram, Canvas::new(*style).room());
    first_that_fits([Some(&picture), None].into_iter().map(text))
}

/// Returns the first text that fits a screen; if there is none, the last one.
pub(crate) fn first_that_fits(texts: impl IntoIterator<Item = String>) -> String {
    let mut last = String::new();
    for text in texts {
        last = text;
        if last.lines().count() <= MOST_LINES {
            break;
        }
    }
    last
}

fn write(canvas: &mut Canvas, page: &Page, picture: Option<&Table>) {
    let short = &page.short;
    if page.verdict_position == VerdictPosition::First {
        canvas.line_in_tone(page.verdict.tone, page.verdict.word);
        canvas.gap();
    }
    canvas.lines(0, &short.subject);
    short.blocks.iter().for_each(|block| write_block(canvas, block));
    canvas.part(&short.overview);
    canvas.lines(2, &short.errors);
    canvas.remarks(&short.notes);
    if let Some(picture) = picture {
        canvas.part(picture);
    }
    canvas.part(&short.loads);
    canvas.remarks(&short.remarks_on_loads);
    sections::write_events(canvas, &short.events);
    canvas.gap();
    write_verdict(canvas, page);
    canvas.gap();
    canvas.remarks(&short.ending);
    canvas.lines(0, &short.answers);
    canvas.remarks(&short.remarks);
    canvas.gap();
    if !short.reviews.is_empty() {
        canvas.lines(0, &short.reviews);
        canvas.gap();
    }
    write_commands(canvas, &short.next);
}

fn write_block(canvas: &mut Canvas, block: &JobBlock) {
    canvas.gap();
    canvas.remark(&block.heading);
    canvas.lines(2, &block.outcomes);
    if !block.times.is_empty() {
        canvas.table(&block.times);
    }
    canvas.remarks(&block.notes);
}

fn write_verdict(canvas: &mut Canvas, page: &Page) {
    let verdict = &page.verdict;
    if page.verdict_position != VerdictPosition::Omitted {
        canvas.sentence(verdict.tone, verdict.word, &format!(": {}", verdict.tally));
        canvas.lines(2, &verdict.objections);
    }
    if page.is_limiter_shown {
        canvas.remarks(&page.short.limiter);
        canvas.remarks(&page.changes);
    }
}

/// Writes commands after their labels. They are meant to be copied, so they are not wrapped.
pub(crate) fn write_commands(canvas: &mut Canvas, commands: &[Line]) {
    let widest = commands.iter().map(|line| columns(&line.label)).max().unwrap_or(0);
    for line in commands {
        canvas.unwrapped(0, &format!("{}  {}", padded(&line.label, widest), line.text));
    }
}
