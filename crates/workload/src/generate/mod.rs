//! How are values made?
//!
//! A generator is a pure function of (seed of the run, job, place in the file, number of the
//! request): it has no state, so values depend neither on timing nor on threads nor on other jobs.
//! One file per family holds its row of the table, its checks, its arithmetic and its golden
//! values. [`Generator`] makes the values of a job's requests, [`RowGenerator`] those of a table's
//! rows.

mod arguments;
mod datum;
mod eval;
mod exponential;
mod field;
mod normal;
mod numbered;
mod permute;
mod pick;
mod request;
mod text;
mod timestamp;
mod uniform;
mod zipf;

#[cfg(test)]
mod golden;

use crate::expr::{Constant, Node, Refused, Type};
use crate::wording::quoted;

pub use request::{Generator, RowGenerator};

pub(crate) use arguments::{Arguments, Given};
pub(crate) use datum::{Datum, write_int};
pub(crate) use eval::Moment;
pub(crate) use permute::Permute;
pub(crate) use text::LONGEST_TEXT;
pub(crate) use uniform::Uniform;
pub(crate) use zipf::Zipf;

/// The generators of this version, in the order of the reference.
pub(crate) static ALL: &[&Spec] = &[
    &uniform::SPEC,
    &zipf::SPEC,
    &exponential::SPEC,
    &normal::SPEC,
    &numbered::ROW,
    &numbered::SEQUENCE,
    &permute::SPEC,
    &text::SPEC,
    &pick::SPEC,
    &timestamp::SPEC,
    &field::SPEC,
];

/// A generator as the table of generators knows it.
#[derive(Debug)]
pub(crate) struct Spec {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its parameters in order.
    pub(crate) parameters: &'static [Parameter],
    /// Whether more arguments may follow.
    pub(crate) variadic: bool,
    /// Whether it has a meaning only in the rows of a table.
    pub(crate) rows_only: bool,
    /// Checks the arguments and makes the generator.
    pub(crate) build: fn(&Arguments<'_>) -> Result<(Family, Type), Refused>,
    /// What it gives, in one line.
    pub(crate) doc: &'static str,
    /// A call.
    pub(crate) example: &'static str,
}

/// A parameter of a generator.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: &'static str,
    /// What holds without it; `None` when it must be given.
    pub(crate) default: Option<&'static str>,
}

impl Parameter {
    const fn required(name: &'static str) -> Parameter {
        Parameter { name, default: None }
    }

    const fn optional(name: &'static str, default: &'static str) -> Parameter {
        Parameter { name, default: Some(default) }
    }
}

impl Spec {
    /// How it is called: `zipf(lo, hi, s=0.99)`.
    pub(crate) fn usage(&self) -> String {
        let parameters = self.parameters.iter().map(|parameter| match parameter.default {
            None => parameter.name.to_owned(),
            Some(default) => format!("{}={default}", parameter.name),
        });
        let mut parameters: Vec<String> = parameters.collect();
        if self.variadic {
            parameters.push("…".to_owned());
        }
        format!("{}({})", self.name, parameters.join(", "))
    }
}

/// The families of generators, their arguments checked and constants prepared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Family {
    /// Each value of a range equally likely.
    Uniform(Uniform),
    /// Low ranks more likely than high ones.
    Zipf(Zipf),
    /// An exponential distribution with this mean.
    Exponential(Node),
    /// A normal distribution with this mean and this standard deviation.
    Normal(Node, Node),
    /// The number of the row, from 1.
    Row,
    /// This start plus the number of the request.
    Sequence(i64),
    /// Each number up to a limit once.
    Permute(Permute),
    /// Letters and digits: as many as the first says, or a number between both.
    Text(Node, Option<Node>),
    /// One of these.
    Pick(Vec<Node>),
    /// The start of the run plus this offset.
    Timestamp(Node),
    /// The field at this place, from 0, of the record that the request takes.
    Field(usize),
}

impl Family {
    /// Calls `visit` with each expression among the arguments.
    pub(crate) fn children(&self, visit: &mut dyn FnMut(&Node)) {
        match self {
            Family::Uniform(Uniform::Computed(ends)) => {
                visit(&ends.0);
                visit(&ends.1);
            }
            Family::Exponential(inner) | Family::Timestamp(inner) => visit(inner),
            Family::Normal(mean, deviation) => {
                visit(mean);
                visit(deviation);
            }
            Family::Text(lo, hi) => {
                visit(lo);
                hi.iter().for_each(visit);
            }
            Family::Pick(values) => values.iter().for_each(visit),
            Family::Uniform(Uniform::Ints(_) | Uniform::Durations(_) | Uniform::Reals(..))
            | Family::Zipf(_)
            | Family::Row
            | Family::Sequence(_)
            | Family::Field(_)
            | Family::Permute(_) => {}
        }
    }
}

/// The generator with this name.
pub(crate) fn find(name: &str) -> Option<&'static Spec> {
    ALL.iter().copied().find(|spec| spec.name == name)
}

/// All names, for a message.
pub(crate) fn names() -> String {
    let names: Vec<&str> = ALL.iter().map(|spec| spec.name).collect();
    crate::wording::enumeration(&names, "and")
}

/// What a function of other programs and languages is called here.
pub(crate) fn elsewhere(name: &str) -> Option<&'static str> {
    let ours = match name.to_ascii_lowercase().as_str() {
        "rand" | "random" | "randint" | "int" | "integer" => "uniform",
        "zipfian" | "zipfdistribution" => "zipf",
        "exponential" => "exp",
        "gauss" | "gaussian" | "norm" => "normal",
        "rownum" | "row_number" | "rowid" => "row",
        "seq" | "serial" | "counter" | "increment" => "sequence",
        "permutation" | "shuffle" | "unique" => "permute",
        "string" | "str" | "varchar" | "char" => "text",
        "choice" | "choose" | "oneof" | "one_of" | "enum" => "pick",
        "now" | "date" | "datetime" | "current_timestamp" => "timestamp",
        _ => return None,
    };
    Some(ours)
}

/// Complains about an argument that must not be below zero.
fn not_negative(given: &Given<'_>, what: &str) -> Result<(), Refused> {
    if given.value.constant().is_some_and(Constant::is_negative) {
        let shown = quoted(given.place.text());
        return Err(given.place.error(format!("the {what} {shown} is negative")).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_from_elsewhere_leads_to_a_generator() {
        for name in ["rand", "ZIPFIAN", "gauss", "serial", "shuffle", "now", "choice", "str"] {
            let ours = elsewhere(name).unwrap();
            assert!(find(ours).is_some(), "{name}");
            assert!(find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_usage_shows_defaults() {
        assert_eq!(find("zipf").unwrap().usage(), "zipf(lo, hi, s=0.99)");
        assert_eq!(find("row").unwrap().usage(), "row()");
        assert_eq!(find("pick").unwrap().usage(), "pick(a, …)");
    }
}
