//! Traces of arrival times or rates: `rate = trace(FILE)`.
//!
//! Either every line of a trace has the time of one arrival, or every line has a time and the rate
//! from then on. A plan includes its traces, and the record of a run needs no other file: the
//! printed plan has them as `trace(times 0.5 1.25)` and `trace(rates 0 100, 10 200)`.

use std::fmt::{self, Write as _};
use std::rc::Rc;

use base::units::{Decimal, UnitError, parse_decimal};
use base::{Diagnostic, Nanos, Rate};

use super::checker::Checker;
use super::list::{in_billionths, words};
use crate::plan::{Arrival, Schedule};
use crate::read::{Entry, Excerpt, LARGEST_FILE, LocatedText};
use crate::shape::{Level, Recorded, Shape};
use crate::wording::quoted;

/// Maximum size of all traces of a file in the printed plan, in bytes. The printed plan is itself a
/// workload file, and the remaining space is for its other contents.
const MOST_PRINTED: usize = LARGEST_FILE - (4 << 20);

/// The columns of a trace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// Time of an arrival.
    Time,
    /// Time, and the rate from then on.
    TimeAndRate,
}

impl Columns {
    fn number(self) -> usize {
        match self {
            Columns::Time => 1,
            Columns::TimeAndRate => 2,
        }
    }
}

/// The error in a line of a trace.
enum Fault {
    /// The line has this wrong number of columns.
    Columns(usize),
    /// The columns differ from these columns of the lines above.
    Mixed(Columns),
    Unreadable(UnitError),
    TooLate,
    TooHigh,
    /// The time is before this time of the line above.
    Backwards(Nanos),
}

/// A trace that is being read.
#[derive(Default)]
struct Trace {
    columns: Option<Columns>,
    times: Vec<Nanos>,
    rates: Vec<(Nanos, Level)>,
    last: Nanos,
}

impl<'f> Checker<'f> {
    /// Returns the schedule of a trace, which is given between the parentheses or in the file that
    /// is named there; `None` if an error was reported.
    pub(super) fn trace(
        &mut self,
        entry: &'f Entry<'f>,
        argument: Excerpt<'_>,
    ) -> Option<Schedule> {
        let before = self.sink.errors();
        let trace = match inline(argument) {
            Some((Columns::Time, list)) => self.lines(Trace::of(Columns::Time), words(list)),
            Some((Columns::TimeAndRate, list)) => {
                self.lines(Trace::of(Columns::TimeAndRate), list.list())
            }
            None => self.trace_file(entry, argument)?,
        };
        if self.sink.errors() > before {
            return None;
        }
        let Some(schedule) = trace.schedule() else {
            self.sink.error(|| empty(argument));
            return None;
        };
        self.within_printed_size(&schedule, argument);
        Some(schedule)
    }

    fn trace_file(&mut self, entry: &'f Entry<'f>, argument: Excerpt<'_>) -> Option<Trace> {
        let Some(name) = file_name(argument) else {
            self.sink.error(|| missing_name(argument));
            return None;
        };
        let file = self.file_named(entry, name)?;
        let text = Rc::clone(&file.text);
        let located = LocatedText::whole(&text, 0);
        self.sink.set_file(Some(file));
        let trace = self.lines(Trace::default(), lines(located.excerpt()));
        self.sink.set_file(None);
        Some(trace)
    }

    fn lines<'p>(&mut self, mut trace: Trace, lines: impl Iterator<Item = Excerpt<'p>>) -> Trace {
        for line in lines {
            if let Err((place, fault)) = trace.line(line) {
                self.sink.error(|| fault.diagnostic(place));
            }
        }
        trace
    }

    /// Reports traces that are too large for a record.
    fn within_printed_size(&mut self, schedule: &Schedule, argument: Excerpt<'_>) {
        let mut length = ByteCounter(0);
        // Writing to a counter cannot fail.
        let _ = match schedule {
            Schedule::Recorded(recorded) => write!(length, "{recorded}"),
            Schedule::Varying { shape, .. } => write!(length, "{shape}"),
            Schedule::Poisson(_) | Schedule::Uniform(_) | Schedule::Every(_) => Ok(()),
        };
        let before = self.trace_bytes;
        self.trace_bytes += length.0;
        if before <= MOST_PRINTED && self.trace_bytes > MOST_PRINTED {
            self.sink.error(|| {
                let most = MOST_PRINTED >> 20;
                argument
                    .error(format!("the traces up to here together have more than {most} MiB"))
                    .help("use shorter traces, or times and rates with fewer digits")
            });
        }
    }
}

impl Trace {
    fn of(columns: Columns) -> Trace {
        Trace { columns: Some(columns), ..Trace::default() }
    }

    /// Parses a line and adds it to the trace.
    ///
    /// # Errors
    /// Returns the faulty part of the line, with its fault.
    fn line<'p>(&mut self, line: Excerpt<'p>) -> Result<(), (Excerpt<'p>, Fault)> {
        let (time, rate) = match line.split_once(b',') {
            Some((time, rate)) => (time, Some(rate)),
            None => {
                let mut words = words(line);
                let time = words.next().unwrap_or(line);
                let rate = words.next();
                match words.count() {
                    0 => (time, rate),
                    more => return Err((line, Fault::Columns(more + 2))),
                }
            }
        };
        let found = if rate.is_some() { Columns::TimeAndRate } else { Columns::Time };
        let columns = *self.columns.get_or_insert(found);
        if columns != found {
            return Err((line, Fault::Mixed(columns)));
        }
        let at = seconds(time.text()).map_err(|fault| (time, fault))?;
        if at < self.last {
            return Err((time, Fault::Backwards(self.last)));
        }
        match rate {
            None => self.times.push(at),
            Some(rate) => {
                self.rates.push((at, level(rate.text()).map_err(|fault| (rate, fault))?));
            }
        }
        self.last = at;
        Ok(())
    }

    /// Returns the schedule; `None` if the trace is empty.
    fn schedule(self) -> Option<Schedule> {
        if !self.rates.is_empty() {
            let shape = Shape::Trace(self.rates.into());
            return Some(Schedule::Varying { shape, arrival: Arrival::Poisson });
        }
        let recorded = Recorded(self.times.into());
        (!recorded.0.is_empty()).then_some(Schedule::Recorded(recorded))
    }
}

/// Returns the lines of a text that are neither blank nor comments (`#`, `;`).
fn lines(text: Excerpt<'_>) -> impl Iterator<Item = Excerpt<'_>> {
    let whole = text.text();
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = whole.get(at..).filter(|rest| !rest.is_empty())?;
        let length = rest.find('\n').unwrap_or(rest.len());
        let line = text.part(at..at + length).trim();
        at += length + 1;
        Some(line)
    })
    .filter(|line| !line.text().is_empty() && !line.text().starts_with(['#', ';']))
}

/// Returns the columns and numbers of a trace that is given in the call itself; `None` for a file.
fn inline(argument: Excerpt<'_>) -> Option<(Columns, Excerpt<'_>)> {
    let (word, _) = argument.text().split_once(char::is_whitespace)?;
    let columns = match word {
        "times" => Columns::Time,
        "rates" => Columns::TimeAndRate,
        _ => return None,
    };
    Some((columns, argument.part(word.len()..argument.text().len()).trim()))
}

/// Returns the name of a file, given bare or in quotes.
fn file_name(argument: Excerpt<'_>) -> Option<String> {
    let text = argument.text();
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    match within('"').or_else(|| within('\'')) {
        Some(name) => Some(name.to_owned()).filter(|name| !name.is_empty()),
        None if text.is_empty() || text.contains(char::is_whitespace) => None,
        None => Some(text.to_owned()),
    }
}

/// Parses seconds after the job's start.
fn seconds(text: &str) -> Result<Nanos, Fault> {
    let nanos = billionths(text, Decimal::parse(text))?.map(Nanos);
    nanos.filter(|at| *at <= Rate::LONGEST_PERIOD).ok_or(Fault::TooLate)
}

/// Parses arrivals per second.
fn level(text: &str) -> Result<Level, Fault> {
    let level = billionths(text, parse_decimal(text))?;
    level.and_then(Level::from_billionths).ok_or(Fault::TooHigh)
}

/// Converts a number to billionths; `None` if it is a [`Decimal`] that is too large. Programs may
/// write numbers beyond the range of a [`Decimal`], such as `1e-20`: these are rounded to the
/// nearest double first, and limited to [`u64::MAX`] billionths.
fn billionths(text: &str, parsed: Result<Decimal, UnitError>) -> Result<Option<u64>, Fault> {
    match parsed {
        Ok(number) => Ok(in_billionths(number)),
        Err(_) if text.starts_with('-') => Err(Fault::Unreadable(UnitError::Negative)),
        Err(UnitError::TooLarge | UnitError::TooSmall) => {
            Ok(text.parse::<f64>().ok().map(|number| (number * 1e9) as u64))
        }
        Err(error) => Err(Fault::Unreadable(error)),
    }
}

impl Fault {
    fn diagnostic(self, place: Excerpt<'_>) -> Diagnostic {
        let text = quoted(place.text());
        match self {
            Fault::Columns(found) => {
                place.error(format!("{text} has {found} numbers")).help(EXPECTED_FORMAT)
            }
            Fault::Mixed(columns) => {
                let before = match columns {
                    Columns::Time => "the lines above have only a time",
                    Columns::TimeAndRate => "the lines above have a time and a rate",
                };
                let found = 3 - columns.number();
                let numbers = if found == 1 { "number" } else { "numbers" };
                place
                    .error(format!("{text} has {found} {numbers}, but {before}"))
                    .help(EXPECTED_FORMAT)
            }
            Fault::Unreadable(UnitError::NotANumber) => {
                place.error(format!("{text} is not a number")).help(
                    "times are seconds after the job's start, rates are per second; \
                     a line that is to be skipped begins with `#`",
                )
            }
            Fault::Unreadable(error) => {
                place.error(format!("{text} {error}")).help("times and rates are 0 or above")
            }
            Fault::TooLate => place
                .error(format!("{text} is more than a year after the job's start"))
                .help("times count from the job's start: subtract the first from all of them"),
            Fault::TooHigh => place
                .error(format!("{text} goes above 10,000,000 per second"))
                .help("rates are per second"),
            Fault::Backwards(last) => place
                .error(format!("{text} is before the time of the line above, {last}"))
                .help("sort the lines by time"),
        }
    }
}

/// Description of the format, for messages.
const EXPECTED_FORMAT: &str = "every line has the time of one arrival, or every line a time and \
                               the rate from then on, with a comma or a blank between them";

fn empty(argument: Excerpt<'_>) -> Diagnostic {
    argument
        .error(format!("{} has no line with a number", quoted(argument.text())))
        .help(EXPECTED_FORMAT)
}

fn missing_name(argument: Excerpt<'_>) -> Diagnostic {
    argument
        .error(format!("{} is not the name of a file", quoted(argument.text())))
        .help("write `trace(arrivals.csv)`, or `trace(\"my arrivals.csv\")`")
}

/// A writer that counts the bytes written to it.
struct ByteCounter(usize);

impl fmt::Write for ByteCounter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}
