//! What is a time, a rate, a seed, a value, a diagnostic, a secret, a target?
//!
//! The vocabulary that every other crate speaks. Nothing here performs I/O, except that
//! [`Monotonic`] and [`WallTime::now`] read a clock.
//!
//! * [`Stamp`] and [`Nanos`]: an instant on the run's clock, and a span between two of them.
//! * [`Rate`]: an exact number of events per second.
//! * [`Seed`], [`Stream`], [`Draw`]: random numbers that are pure functions of their position.
//! * [`Value`] and [`Values`]: what a statement's parameters are.
//! * [`Rows`]: what statements returned.
//! * [`Code`] and [`Class`]: how a database said no.
//! * [`Diagnostic`]: what is wrong with a text, where, and what to write instead.
//! * [`printable()`]: text from outside, made safe for a terminal.
//! * [`Secret`]: a string that cannot be printed.
//! * [`Target`]: what a URL names.

mod diagnostic;
mod dialect;
mod fault;
pub mod go;
mod printable;
mod random;
mod rate;
mod rows;
mod secret;
mod similar;
mod target;
mod time;
pub mod units;
mod value;
mod wall;

pub use diagnostic::{Diagnostic, Severity, Source, Span, passwords_in, without_passwords};
pub use dialect::Dialect;
pub use fault::{Class, Code};
pub use printable::{escaped, is_obeyed, printable, printable_json};
pub use random::{Draw, Seed, Stream};
pub use rate::{Rate, RateError};
pub use rows::{Field, RowMark, RowPart, Rows};
pub use secret::{HIDDEN, Secret, Secrets, is_secret_behind, names_secret};
pub use similar::closest;
pub use target::{Address, Endpoint, Target, TargetError, TargetKind};
pub use time::{Clock, Monotonic, Nanos, Stamp};
pub use value::{Placeholders, Text, Value, Values};
pub use wall::WallTime;
