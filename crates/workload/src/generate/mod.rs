//! How are values made?
//!
//! A generator is a pure function of (seed of the run, job, place in the file, number of the
//! request): it has no state, so values depend neither on timing nor on threads nor on other jobs.
//! One file per family holds its row of the table, its checks, its arithmetic and its golden
//! values. [`Generator`] makes the values of a job's requests, [`RowGenerator`] those of a table's
//! rows.

mod arguments;
mod client;
mod csv;
mod datum;
mod digits;
mod eval;
mod exponential;
mod field;
mod hex;
mod hotspot;
mod json;
mod latest;
mod literal;
mod normal;
mod null;
mod numbered;
mod nurand;
mod pareto;
mod permute;
mod pick;
mod point;
mod polygon;
mod request;
mod sphere;
mod text;
mod timestamp;
mod uniform;
mod weighted;
mod zipf;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod statistics;

use std::sync::Arc;

use crate::expr::{Constant, Node, Refused, Type};
use crate::wording::quoted;

pub(crate) use request::quote_for_shell;
pub use request::{Generator, RowGenerator};

pub(crate) use arguments::{Arguments, Given, Partner};
pub(crate) use csv::{Column, Csv, Tables};
pub(crate) use datum::{Datum, write_int};
pub(crate) use eval::Moment;
pub(crate) use hex::UUID_LENGTH;
pub(crate) use hotspot::Hotspot;
pub(crate) use json::Json;
pub(crate) use latest::Latest;
pub(crate) use literal::LONGEST_ESCAPE;
pub(crate) use null::Null;
pub(crate) use nurand::Nurand;
pub(crate) use pareto::Pareto;
pub(crate) use permute::Permute;
pub(crate) use point::LONGEST_POINT;
pub(crate) use polygon::{LONGEST_POLYGON, Points, Polygon};
pub(crate) use text::LONGEST_TEXT;
pub(crate) use uniform::Uniform;
pub(crate) use weighted::Weighted;
pub(crate) use zipf::Zipf;

/// The generators of this version, in the order of the reference.
pub(crate) static ALL: &[&Spec] = &[
    &uniform::SPEC,
    &zipf::SPEC,
    &normal::SPEC,
    &exponential::SPEC,
    &pareto::SPEC,
    &hotspot::SPEC,
    &latest::SPEC,
    &nurand::SPEC,
    &numbered::SEQUENCE,
    &permute::SPEC,
    &numbered::ROW,
    &client::SPEC,
    &text::SPEC,
    &digits::SPEC,
    &hex::HEX,
    &hex::UUID,
    &pick::SPEC,
    &weighted::SPEC,
    &timestamp::SPEC,
    &json::SPEC,
    &point::SPEC,
    &polygon::SPEC,
    &null::SPEC,
    &csv::SPEC,
    &field::SPEC,
];

/// A generator as the table of generators knows it.
#[derive(Debug)]
pub(crate) struct Spec {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its parameters in order.
    pub(crate) parameters: &'static [Parameter],
    /// What may follow them.
    pub(crate) rest: Rest,
    /// Where it has a meaning.
    pub(crate) stage: Stage,
    /// Checks the arguments and makes the generator.
    pub(crate) build: fn(&Arguments<'_>) -> Result<(Family, Type), Refused>,
    /// What it gives, in one line.
    pub(crate) doc: &'static str,
    /// A call.
    pub(crate) example: &'static str,
}

/// What may follow the parameters of a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Nothing.
    Nothing,
    /// Any number of values.
    Values,
    /// Any number of values, each with a weight behind a colon.
    Weighted,
    /// Any number of values, each with a name before a colon.
    Named,
}

/// Where a generator has a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// In requests and in rows.
    Anywhere,
    /// In the rows of a table.
    Rows,
    /// In the requests of clients, which have numbers.
    Clients,
}

/// A parameter of a generator.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it takes, in words.
    pub(crate) form: &'static str,
    /// What holds without it; `None` when it must be given.
    pub(crate) default: Option<&'static str>,
}

impl Parameter {
    const fn required(name: &'static str, form: &'static str) -> Parameter {
        Parameter { name, form, default: None }
    }

    const fn optional(name: &'static str, default: &'static str, form: &'static str) -> Parameter {
        Parameter { name, form, default: Some(default) }
    }
}

impl Spec {
    /// How it is called: `zipf(lo, hi, s=0.99)`.
    pub(crate) fn usage(&self) -> String {
        let parameters = self.parameters.iter().map(|parameter| match parameter.default {
            None => parameter.name.to_owned(),
            Some(default) => format!("{}={default}", parameter.name),
        });
        let rest = match self.rest {
            Rest::Nothing => None,
            Rest::Values => Some("…".to_owned()),
            Rest::Weighted => Some("a: 3, b: 1, …".to_owned()),
            Rest::Named => Some("name: value, …".to_owned()),
        };
        let parameters: Vec<String> = parameters.chain(rest).collect();
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
    /// Pareto's distribution: a heavy tail.
    Pareto(Pareto),
    /// A small part of a range more likely than the rest.
    Hotspot(Hotspot),
    /// What was added last more likely than what was there before.
    Latest(Latest),
    /// The skew of TPC-C.
    Nurand(Nurand),
    /// The number of the client, of so many.
    Client(u32),
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
    /// This text with a digit for each `#`.
    Digits(Arc<str>),
    /// As many hexadecimal digits.
    Hex(Node),
    /// An identifier of 128 bits.
    Uuid,
    /// One of these.
    Pick(Vec<Node>),
    /// One of these, some more likely than others.
    Weighted(Weighted),
    /// An object of named values.
    Json(Json),
    /// A place on the sphere.
    Point,
    /// An area of the sphere.
    Polygon(Polygon),
    /// NULL now and then.
    Null(Null),
    /// What stands in a file.
    Csv(Csv),
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
            Family::Exponential(inner) | Family::Timestamp(inner) | Family::Hex(inner) => {
                visit(inner);
            }
            Family::Pareto(pareto) => visit(&pareto.minimum),
            Family::Null(null) => visit(&null.value),
            Family::Normal(mean, deviation) => {
                visit(mean);
                visit(deviation);
            }
            Family::Text(lo, hi) => {
                visit(lo);
                hi.iter().for_each(visit);
            }
            Family::Pick(values) => values.iter().for_each(visit),
            Family::Weighted(weighted) => weighted.values().iter().for_each(visit),
            Family::Json(json) => json.members().for_each(|member| visit(&member.value)),
            Family::Uniform(Uniform::Ints(_) | Uniform::Durations(_) | Uniform::Reals(..))
            | Family::Zipf(_)
            | Family::Hotspot(_)
            | Family::Latest(_)
            | Family::Nurand(_)
            | Family::Client(_)
            | Family::Row
            | Family::Sequence(_)
            | Family::Field(_)
            | Family::Permute(_)
            | Family::Digits(_)
            | Family::Uuid
            | Family::Point
            | Family::Csv(_)
            | Family::Polygon(_) => {}
        }
    }

    /// Whether what it adds to its arguments is of ASCII, whatever is drawn.
    pub(crate) fn adds_only_ascii(&self) -> bool {
        match self {
            Family::Digits(pattern) => pattern.is_ascii(),
            Family::Json(json) => json.members().all(|member| member.name.is_ascii()),
            Family::Csv(_) | Family::Field(_) => false,
            Family::Uniform(_)
            | Family::Zipf(_)
            | Family::Pareto(_)
            | Family::Hotspot(_)
            | Family::Latest(_)
            | Family::Nurand(_)
            | Family::Client(_)
            | Family::Exponential(_)
            | Family::Normal(..)
            | Family::Row
            | Family::Sequence(_)
            | Family::Permute(_)
            | Family::Text(..)
            | Family::Hex(_)
            | Family::Uuid
            | Family::Pick(_)
            | Family::Weighted(_)
            | Family::Point
            | Family::Polygon(_)
            | Family::Null(_)
            | Family::Timestamp(_) => true,
        }
    }

    /// The row of the table that it belongs to.
    pub(crate) fn spec(&self) -> &'static Spec {
        match self {
            Family::Uniform(_) => &uniform::SPEC,
            Family::Zipf(_) => &zipf::SPEC,
            Family::Exponential(_) => &exponential::SPEC,
            Family::Normal(..) => &normal::SPEC,
            Family::Pareto(_) => &pareto::SPEC,
            Family::Hotspot(_) => &hotspot::SPEC,
            Family::Latest(_) => &latest::SPEC,
            Family::Nurand(_) => &nurand::SPEC,
            Family::Row => &numbered::ROW,
            Family::Sequence(_) => &numbered::SEQUENCE,
            Family::Permute(_) => &permute::SPEC,
            Family::Client(_) => &client::SPEC,
            Family::Text(..) => &text::SPEC,
            Family::Digits(_) => &digits::SPEC,
            Family::Hex(_) => &hex::HEX,
            Family::Uuid => &hex::UUID,
            Family::Pick(_) => &pick::SPEC,
            Family::Weighted(_) => &weighted::SPEC,
            Family::Timestamp(_) => &timestamp::SPEC,
            Family::Json(_) => &json::SPEC,
            Family::Point => &point::SPEC,
            Family::Polygon(_) => &polygon::SPEC,
            Family::Null(_) => &null::SPEC,
            Family::Field(_) => &field::SPEC,
            Family::Csv(_) => &csv::SPEC,
        }
    }
}

/// The generator with this name.
pub(crate) fn find(name: &str) -> Option<&'static Spec> {
    ALL.iter().copied().find(|spec| spec.name == name)
}

/// All names, for a message: lines of so many words that they stay readable.
pub(crate) fn names() -> String {
    let names: Vec<&str> = ALL.iter().map(|spec| spec.name).collect();
    let listed = crate::wording::enumeration(&names, "and");
    let words: Vec<&str> = listed.split(' ').collect();
    words.chunks(10).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
}

/// What a function of other programs and languages is called here.
pub(crate) fn elsewhere(name: &str) -> Option<&'static str> {
    let ours = match name.to_ascii_lowercase().as_str() {
        "rand" | "random" | "randint" | "int" | "integer" => "uniform",
        "zipfian" | "zipfdistribution" => "zipf",
        "lomax" | "power_law" | "powerlaw" => "pareto",
        "hotset" | "hot" => "hotspot",
        "newest" | "recent" => "latest",
        "exponential" => "exp",
        "gauss" | "gaussian" | "norm" => "normal",
        "rownum" | "row_number" | "rowid" => "row",
        "seq" | "serial" | "counter" | "increment" => "sequence",
        "permutation" | "shuffle" | "unique" => "permute",
        "string" | "str" | "varchar" | "char" => "text",
        "choice" | "choose" | "oneof" | "one_of" | "enum" => "pick",
        "weights" | "pick_weighted" | "weighted_pick" => "weighted",
        "clientid" | "client_id" | "thread" | "thread_id" => "client",
        "phone" | "numerify" | "pattern" => "digits",
        "hexadecimal" | "bytes" => "hex",
        "guid" | "uuid4" | "uuidv4" | "gen_random_uuid" => "uuid",
        "object" | "jsonb" | "json_object" => "json",
        "file" | "lookup" | "from_file" | "csvfile" => "csv",
        "nullable" | "maybe" | "optional" => "null",
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
        let names = "rand ZIPFIAN gauss serial shuffle now choice str guid maybe power_law hotset \
                     newest weights thread phone bytes jsonb file";
        for name in names.split(' ') {
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
        assert_eq!(find("weighted").unwrap().usage(), "weighted(a: 3, b: 1, …)");
        assert_eq!(find("json").unwrap().usage(), "json(name: value, …)");
    }
}
