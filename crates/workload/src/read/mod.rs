//! Parsing of a text file into sections of keys and values.
//!
//! `bytes -> decode -> lines -> File`: the meaning of keys is unknown here, except that statements
//! and commands extend to the end of the line. Parsing is total: it stops only at a limit of size,
//! and every line that it cannot parse becomes a [`Diagnostic`](base::Diagnostic).

mod decode;
mod file;
mod lines;
mod located_text;

pub use decode::{LARGEST_FILE, decode};
pub use file::{File, parse};

pub(crate) use file::{Entry, Section, line_outside, section_name};
pub(crate) use located_text::{Excerpt, LocatedText, LocatedTextBuilder, closing_quote};
