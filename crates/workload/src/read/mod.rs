//! How does a text file become sections of keys and values?
//!
//! `bytes -> decode -> lines -> File`: nothing here knows what a key means, except that the values
//! of statements are literal to the end of the line. Parsing is total: it never stops at an error,
//! and what it could not read is a [`Diagnostic`](base::Diagnostic).

mod decode;
mod file;
mod lines;
mod passage;

pub use decode::{LARGEST_FILE, decode};
pub use file::{File, parse};

pub(crate) use file::{Entry, Section};
pub(crate) use passage::{Excerpt, Passage, PassageBuilder, closing_quote};
