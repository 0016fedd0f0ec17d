//! Rates that vary: `rate = ramp(100, 5000, 60s)`.

use std::fmt;

use base::units::{Decimal, parse_decimal, parse_duration};
use base::{Diagnostic, Nanos, Rate};

use super::checker::Checker;
use super::list::{self, in_billionths};
use crate::plan::{Arrival, Schedule};
use crate::read::{Entry, Excerpt};
use crate::shape::{Level, Shape};
use crate::wording::{nearest, quoted};

/// A parsed call.
enum Call<'p> {
    Shape(Shape),
    /// A trace, with the text between its parentheses.
    Trace(Excerpt<'p>),
}

/// A function of a rate, with its syntax.
struct Function {
    name: &'static str,
    arguments: usize,
    example: &'static str,
}

const FUNCTIONS: [Function; 4] = [
    Function { name: "ramp", arguments: 3, example: "ramp(100, 5000, 60s)" },
    Function { name: "sine", arguments: 3, example: "sine(1000, 500, 60s)" },
    Function { name: "steps", arguments: 2, example: "steps(100 200 400, 10s)" },
    Function { name: "trace", arguments: 1, example: "trace(arrivals.csv)" },
];

/// Returns true if the value of a rate is written as a function call.
pub(super) fn is_call(value: Excerpt<'_>) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name = value.text().split_once('(').map(|(name, _)| name.trim());
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_letter))
}

impl<'f> Checker<'f> {
    /// Returns the schedule of a rate that varies; `None` if an error was reported. `arrival` is
    /// the line of the key `arrival`, and `written` is its value.
    pub(super) fn varying_schedule(
        &mut self,
        entry: &'f Entry<'f>,
        arrival: Option<&'f Entry<'f>>,
        written: Option<Arrival>,
    ) -> Option<Schedule> {
        let resolved = self.resolved(entry)?;
        let call = resolved.excerpt();
        let schedule = match self.call(call) {
            Ok(Call::Shape(shape)) => Schedule::Varying { shape, arrival: Arrival::Poisson },
            Ok(Call::Trace(argument)) => self.trace(entry, argument)?,
            Err(diagnostic) => {
                self.sink.error(|| diagnostic);
                return None;
            }
        };
        if schedule.highest_per_s() == 0.0 {
            self.sink.error(|| {
                call.error(format!("{} is zero all the time", quoted(call.text())))
                    .help("give it a rate above 0, or leave the job out")
            });
        }
        match schedule {
            Schedule::Varying { shape, arrival: usual } => {
                let arrival = self.overrides.arrival.or(written).unwrap_or(usual);
                Some(Schedule::Varying { shape, arrival })
            }
            fixed => {
                if let Some(arrival) = arrival {
                    self.sink.error(|| arrival_with_recorded_times(arrival));
                }
                Some(fixed)
            }
        }
    }

    /// Parses a call.
    fn call<'p>(&self, call: Excerpt<'p>) -> Result<Call<'p>, Diagnostic> {
        let text = call.text();
        let open = text.find('(').unwrap_or(text.len());
        let name = call.part(0..open).trim();
        let Some(function) = FUNCTIONS.iter().find(|known| known.name == name.text()) else {
            return Err(unknown(name));
        };
        if !text.ends_with(')') {
            let message = format!("{} has no `)` at its end", quoted(text));
            return Err(call.error(message).help(format!("write `rate = {}`", function.example)));
        }
        let inside = call.part(open + 1..text.len() - 1).trim();
        if function.name == "trace" {
            return Ok(Call::Trace(inside));
        }
        let arguments: Vec<Excerpt<'p>> = inside.list().take(function.arguments + 1).collect();
        let shape = match (function.name, arguments.as_slice()) {
            ("ramp", [from, to, span]) => Shape::Ramp {
                from: self.level(*from)?,
                to: self.level(*to)?,
                span: self.positive_duration(*span)?,
            },
            ("sine", [mean, swing, period]) => {
                let (mean, amplitude) = (self.level(*mean)?, self.level(*swing)?);
                below_the_mean(mean, amplitude, *swing)?;
                Shape::Sine { mean, amplitude, period: self.positive_duration(*period)? }
            }
            ("steps", [levels, span]) => {
                let numbers = list::numbers(*levels)?;
                let levels: Result<_, _> =
                    numbers.into_iter().map(|number| level(number, *levels)).collect();
                Shape::Steps { levels: levels?, span: self.positive_duration(*span)? }
            }
            _ => return Err(arguments_missing(call, function)),
        };
        if shape.highest().as_f64() > Rate::HIGHEST as f64 {
            return Err(call.error(format!("{} goes {TOO_HIGH}", quoted(text))));
        }
        Ok(Call::Shape(shape))
    }

    /// Parses a rate that may be zero.
    fn level(&self, argument: Excerpt<'_>) -> Result<Level, Diagnostic> {
        let number = parse_decimal(argument.text());
        let number = number.map_err(|error| self.unreadable_argument(argument, &error))?;
        level(number, argument)
    }

    /// Parses a duration above zero.
    fn positive_duration(&self, argument: Excerpt<'_>) -> Result<Nanos, Diagnostic> {
        match parse_duration(argument.text()) {
            Ok(Nanos::ZERO) => {
                Err(argument.error(format!("{} must take some time", quoted(argument.text()))))
            }
            Ok(span) if span > Rate::LONGEST_PERIOD => {
                Err(argument.error(format!("{} is longer than a year", quoted(argument.text()))))
            }
            Ok(span) => Ok(span),
            Err(error) => Err(self.unreadable_argument(argument, &error)),
        }
    }

    fn unreadable_argument(&self, argument: Excerpt<'_>, why: &dyn fmt::Display) -> Diagnostic {
        let text = argument.text();
        let error = argument.error(format!("{} {why}", quoted(text)));
        match self.params.contains_key(text) {
            true => error.help(format!("to use a parameter, write `${{{text}}}`")),
            false => error,
        }
    }
}

/// Converts a number to a rate in billionths.
fn level(number: Decimal, place: Excerpt<'_>) -> Result<Level, Diagnostic> {
    let level = in_billionths(number).and_then(Level::from_billionths);
    level.ok_or_else(|| place.error(format!("{} goes {TOO_HIGH}", quoted(place.text()))))
}

/// End of the message for a rate above the limit.
const TOO_HIGH: &str = "above 10,000,000 per second";

fn unknown(name: Excerpt<'_>) -> Diagnostic {
    let known = FUNCTIONS.map(|function| function.name);
    let error = name.error(format!("there is no rate {}", quoted(&format!("{}(…)", name.text()))));
    if let Some(near) = nearest(name.text(), known) {
        return error.did_you_mean(Some(near));
    }
    let examples = FUNCTIONS.map(|function| format!("`{}`", function.example));
    error.help(format!("a rate is a number, or varies: {}", examples.join(", ")))
}

fn arguments_missing(call: Excerpt<'_>, function: &Function) -> Diagnostic {
    let message = format!("`{}` takes {} arguments", function.name, function.arguments);
    call.error(message).help(format!("write for example `rate = {}`", function.example))
}

fn below_the_mean(mean: Level, amplitude: Level, place: Excerpt<'_>) -> Result<(), Diagnostic> {
    match amplitude <= mean {
        true => Ok(()),
        false => Err(place
            .error(format!("the amplitude `{amplitude}` is above the mean `{mean}`"))
            .help("a rate is never below zero: lower the amplitude, or raise the mean")),
    }
}

/// Returns the error for `arrival` together with recorded times, which are repeated as they are.
fn arrival_with_recorded_times(arrival: &Entry<'_>) -> Diagnostic {
    arrival
        .whole()
        .error("`arrival` cannot be combined with a trace of times")
        .help("the times are replayed as they are: leave `arrival` out")
}
