//! Generators of values.
//!
//! A generator is a pure function of (seed of the run, job, position in the file, number of the
//! request). It has no state, and its values depend neither on timing nor on threads nor on other
//! jobs. The file of each family has its entry of the table, its checks, its arithmetic and its
//! golden values. [`Generator`] makes the values of a job's requests, [`RowGenerator`] those of a
//! table's rows.

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

pub(crate) use arguments::{Arguments, ColonPart, Given};
pub(crate) use csv::{Column, Csv, Tables};
pub(crate) use datum::{Datum, write_int};
pub(crate) use eval::EvalContext;
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

/// The entry of a generator in the table of generators.
#[derive(Debug)]
pub(crate) struct Spec {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its parameters in order.
    pub(crate) parameters: &'static [Parameter],
    /// Further arguments after the parameters.
    pub(crate) rest: Rest,
    /// Contexts in which it is allowed.
    pub(crate) stage: Stage,
    /// Checks the arguments and builds the generator.
    pub(crate) build: fn(&Arguments<'_>) -> Result<(Family, Type), Refused>,
    /// Description of its values, in one line.
    pub(crate) doc: &'static str,
    /// An example call.
    pub(crate) example: &'static str,
}

/// The kind of further arguments after the parameters of a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Nothing.
    Nothing,
    /// Any number of values.
    Values,
    /// Any number of values, each with a weight after a colon.
    Weighted,
    /// Any number of values, each with a name before a colon.
    Named,
}

/// The contexts in which a generator is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Requests and rows.
    Anywhere,
    /// Rows of a table only.
    Rows,
    /// Requests of numbered clients, which closed jobs have.
    Clients,
}

/// A parameter of a generator.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: &'static str,
    /// Kind of argument, in words.
    pub(crate) form: &'static str,
    /// Default; `None` if the argument is required.
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
    /// Returns its usage: `zipf(lo, hi, s=0.99)`.
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

/// A generator with checked arguments and precomputed constants.
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
    /// The newest keys more likely than older ones.
    Latest(Latest),
    /// The skew of TPC-C.
    Nurand(Nurand),
    /// The number of the client, given the number of clients.
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
    /// Letters and digits: as many as the first expression, or a number between both.
    Text(Node, Option<Node>),
    /// This text with a digit for each `#`.
    Digits(Arc<str>),
    /// This many hexadecimal digits.
    Hex(Node),
    /// A UUID.
    Uuid,
    /// One of these values with equal probability.
    Pick(Vec<Node>),
    /// One of several values by weight.
    Weighted(Weighted),
    /// A JSON object.
    Json(Json),
    /// A point on the sphere.
    Point,
    /// An area of the sphere.
    Polygon(Polygon),
    /// NULL with some probability.
    Null(Null),
    /// A column of a CSV file.
    Csv(Csv),
    /// The start of the run plus this offset.
    Timestamp(Node),
    /// The field with this index, from 0, of the record that the request takes.
    Field(usize),
}

impl Family {
    /// Calls `visit` for each expression among the arguments.
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

    /// Returns true if all text that it adds to its arguments is ASCII.
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

    /// Returns its entry of the table.
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

/// Returns the generator with this name.
pub(crate) fn find(name: &str) -> Option<&'static Spec> {
    ALL.iter().copied().find(|spec| spec.name == name)
}

/// Lists all names for a message, in lines of readable length.
pub(crate) fn names() -> String {
    let names: Vec<&str> = ALL.iter().map(|spec| spec.name).collect();
    let listed = crate::wording::enumeration(&names, "and");
    let words: Vec<&str> = listed.split(' ').collect();
    words.chunks(10).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
}

/// Returns the name of the generator that corresponds to a function of other programs or languages.
pub(crate) fn assay_name_of(name: &str) -> Option<&'static str> {
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

/// Refuses a negative constant.
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
            let ours = assay_name_of(name).unwrap();
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
