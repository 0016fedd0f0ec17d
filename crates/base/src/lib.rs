//! Basic types of all other crates: times, rates, seeds, values, diagnostics, secrets, targets.
//!
//! Nothing here performs I/O, except that [`Monotonic`] and [`WallTime::now`] read a clock.
//!
//! * [`Stamp`] and [`Nanos`]: an instant on the run's clock, and a span between two of them.
//! * [`Rate`]: an exact number of events per second.
//! * [`Seed`], [`Stream`], [`Draw`]: random numbers that are pure functions of their position.
//! * [`Value`] and [`Values`]: the parameters of statements.
//! * [`Rows`] and [`RowMemory`]: the rows that statements returned, and their memory.
//! * [`Code`] and [`Class`]: code and class of a database error.
//! * [`Diagnostic`]: a problem in a text, its location, and a correction.
//! * [`printable()`]: text from outside, made safe for a terminal.
//! * [`spreadsheet_cell`]: a cell of a CSV file that no spreadsheet evaluates as a formula.
//! * [`shell_word`]: a word quoted for a shell.
//! * [`Secret`]: a string that cannot be printed.
//! * [`text_hash`]: a hash of a text that never changes.
//! * [`Target`] and [`UrlOption`]: a parsed URL of a database, and one of its options.
//! * [`AccountId`]: the index of an account, a group of requests that a record counts separately.
//! * [`NodeId`]: a server of a target.
//! * [`StatementId`]: a statement of a section.
//! * [`after_comments`]: the text of a statement from its first word on.
//! * [`executed_comment_mark`]: the beginning of a comment whose text MySQL executes.
//! * [`with_suffix`]: the path of a file next to another one.
//! * [`ById`]: a list that is indexed by an id.

mod account;
mod by_id;
mod diagnostic;
mod dialect;
mod fault;
mod formula;
pub mod go;
mod hash;
mod node;
mod path;
mod percent;
mod printable;
mod random;
mod rate;
mod rows;
mod secret;
mod shell;
mod similar;
mod statement;
mod target;
mod time;
pub mod units;
mod url_option;
mod value;
mod wall;

pub use account::AccountId;
pub use by_id::{ById, Id};
pub use diagnostic::{
    Diagnostic, Severity, SourceText, Span, holds_password, passwords_in, without_any_password,
    without_passwords,
};
pub use dialect::Dialect;
pub use fault::{Class, Code};
pub use formula::spreadsheet_cell;
pub use hash::text_hash;
pub use node::NodeId;
pub use path::with_suffix;
pub use percent::percent_encoded;
pub use printable::{escaped, is_terminal_control, printable, printable_json};
pub use random::{Draw, Seed, Stream};
pub use rate::{Rate, RateError};
pub use rows::{Field, RowLimit, RowMark, RowMemory, RowPart, Rows};
pub use secret::{HIDDEN, Secret, Secrets, follows_secret_word, names_secret, password_option};
pub use shell::shell_word;
pub use similar::{closest, either, unknown_value};
pub use statement::{StatementId, after_comments, begins_comment, executed_comment_mark};
pub use target::{
    Endpoint, EscapedPart, HostPort, Target, TargetError, TargetKind, fraction_of_percentage,
    is_local_host,
};
pub use time::{Clock, Monotonic, Nanos, Stamp};
pub use url_option::{OptionError, UrlOption};
pub use value::{Placeholders, Text, Value, Values};
pub use wall::WallTime;
