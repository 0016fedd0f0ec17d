//! The answer for people, in two forms. The short form fits a screen and ends with the verdict, the
//! limiter, the result and the next commands. The full form begins with the result, the verdict and
//! the limiter, and continues with all details.
//!
//! The answer of an invalid run begins with a line that has only the word INVALID, before any
//! number.

mod answer;
mod canvas;
mod doctor;
mod environment;
mod layout;
mod sections;
mod shape;
mod short;
mod table;

pub use canvas::Style;
pub(crate) use canvas::{Canvas, wrap};
pub use doctor::diagnosis;
pub use environment::environment;
pub(crate) use layout::{columns, cut_line, one_line};
pub(crate) use shape::bar;
pub(crate) use short::{first_that_fits, write_commands};
pub(crate) use table::Grid;

use crate::page::Page;

/// Formats the short answer of a run.
pub fn text(page: &Page, style: &Style) -> String {
    short::format_short(page, style)
}

/// Formats the full answer of a run.
pub fn full_text(page: &Page, style: &Style) -> String {
    let mut canvas = Canvas::new(*style);
    answer::write(&mut canvas, page);
    sections::write_subject(&mut canvas, &page.run);
    page.jobs.iter().for_each(|job| sections::write_job(&mut canvas, job));
    for section in &page.side_effect_tables {
        sections::write_side_effects(&mut canvas, section);
    }
    sections::write_loads(&mut canvas, &page.loads);
    sections::write_excerpts(&mut canvas, &page.excerpts);
    answer::write_not_possible(&mut canvas, page);
    sections::write_events(&mut canvas, &page.events);
    sections::write_resources(&mut canvas, &page.run);
    canvas.into_text()
}
