//! The painter of HTML pages: one self-contained file, which stays complete where scripts and
//! styles are forbidden.
//!
//! Figures are inline SVG with presentation attributes. The only style element sets layout and
//! colours. Every text is escaped, and the same page always has the same bytes.

mod cut;
mod document;
mod excerpt;
mod file;
mod folder;
mod live;
mod notes;
mod prose;
mod refusal;
mod run;
mod style;
mod table_file;

pub(crate) use document::{Badge, Caption, Document, Section};
pub(crate) use excerpt::{excerpt_sections, sections_of_excerpts};
pub(crate) use file::csv;
pub use folder::folder_html;
pub use live::{live_html, live_json};
pub use notes::notes_html;
pub(crate) use refusal::links;
pub use refusal::refusal_html;
pub use run::html;
pub use style::{FIGURES_SCRIPT_SOURCE, LIVE_SCRIPT_SOURCE, STYLE_SOURCE};
#[cfg(test)]
pub(crate) use table_file::table_csv;
