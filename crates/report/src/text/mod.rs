//! The answer for people: the result, its credibility, the limiter, and then everything behind it.
//!
//! The order is that of a sceptical reader's questions. If the run is invalid, that word comes
//! first and alone, before any number.

mod answer;
mod doctor;
mod environment;
mod facts;
mod job;
mod layout;
mod load;
mod page;
mod seen;
mod shape;
mod side_effects;
mod table;
mod unseen;

pub use doctor::diagnosis;
pub use environment::environment;
pub use page::Style;

use page::Page;

use crate::view::View;

/// Formats the answer of a run as text.
pub fn text(view: &View, style: &Style) -> String {
    let mut page = Page::new(*style);
    answer::write(&mut page, view);
    facts::write_what_was_run(&mut page, view);
    for account in view.evidence.accounts() {
        job::write(&mut page, view, account);
    }
    side_effects::write(&mut page, view);
    load::write(&mut page, view);
    answer::write_not_possible(&mut page, view);
    facts::write_events(&mut page, view);
    facts::write_surroundings(&mut page, view);
    page.into_text()
}
