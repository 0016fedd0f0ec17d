//! The first lines: the answer, the verdict and the limiter.

use crate::page::{Headline, Page, Tone, VerdictPosition};
use crate::text::canvas::Canvas;

/// Writes the first lines.
pub(super) fn write(canvas: &mut Canvas, page: &Page) {
    let verdict = &page.verdict;
    match page.verdict_position {
        VerdictPosition::First => {
            canvas.line_in_tone(verdict.tone, verdict.word);
            canvas.lines(2, &verdict.objections);
            canvas.gap();
            write_headline(canvas, &page.headline);
        }
        VerdictPosition::Omitted => {
            write_headline(canvas, &page.headline);
            canvas.gap();
        }
        VerdictPosition::AfterHeadline => {
            write_headline(canvas, &page.headline);
            canvas.gap();
            canvas.sentence(verdict.tone, verdict.word, &format!(": {}", verdict.tally));
            canvas.lines(2, &verdict.objections);
        }
    }
    if page.is_limiter_shown {
        canvas.remarks(&page.limiter.remarks);
        canvas.remarks(&page.changes);
    }
}

fn write_headline(canvas: &mut Canvas, headline: &Headline) {
    canvas.remarks(&headline.ending);
    canvas.lines(0, &headline.answers);
    canvas.remarks(&headline.remarks);
}

/// Writes the checks that could not be made. They come far below the answer, because they do not
/// change it.
pub(super) fn write_not_possible(canvas: &mut Canvas, page: &Page) {
    let lines = &page.verdict.not_possible;
    if !lines.is_empty() {
        canvas.gap();
        canvas.sentence(Tone::Quiet, "Checks that were not possible here", "");
        canvas.lines(2, lines);
    }
}
