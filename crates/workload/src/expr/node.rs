//! Trees of expressions.

use std::sync::Arc;

use base::{Nanos, Stream};

use crate::generate::{
    Csv, Hotspot, Json, Latest, Null, Nurand, Pareto, Permute, Polygon, Uniform, Weighted, Zipf,
};
use crate::value::{Constant, Operator};

/// A value that may differ from request to request.
///
/// Its structure is private to this crate: [`Generator`](crate::Generator) and
/// [`RowGenerator`](crate::RowGenerator) compute the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(pub(crate) Node);

impl Expr {
    /// Creates an exponentially distributed pause, for plans that are built without a file.
    pub fn exp(mean: Nanos, stream: Stream) -> Expr {
        let mean = Node::Duration(i64::try_from(mean.0).unwrap_or(i64::MAX));
        let family = Family::Exponential(mean);
        Expr(Node::Generate(Box::new(Generate { stream, family })))
    }

    /// Returns the mean and deviation of a pause that is constant, or exponential with a constant
    /// mean; `None` for other pauses.
    pub fn known_pause(&self) -> Option<Pause> {
        let span = |node: &Node| {
            let Node::Duration(nanos) = node else { return None };
            u64::try_from(*nanos).ok().map(Nanos)
        };
        let Node::Generate(generate) = &self.0 else {
            return span(&self.0).map(|mean| Pause { mean, deviation: Nanos::ZERO });
        };
        let Family::Exponential(mean) = &generate.family else { return None };
        span(mean).map(|mean| Pause { mean, deviation: mean })
    }
}

/// The mean and the standard deviation of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Its mean.
    pub mean: Nanos,
    /// Its standard deviation.
    pub deviation: Nanos,
}

/// A node of an expression tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A whole number.
    Int(i64),
    /// A real number.
    Real(f64),
    /// A duration in nanoseconds, possibly negative.
    Duration(i64),
    /// A text.
    Text(Arc<str>),
    /// The variable of `let` with this index in the job's list.
    Variable(usize),
    /// The value with the opposite sign.
    Negate(Box<Node>),
    /// Two values combined.
    Combine(Box<Combination>),
    /// The value of a generator.
    Generate(Box<Generate>),
}

impl Node {
    /// Returns the number of nodes in this tree, its root included.
    pub(crate) fn nodes(&self) -> usize {
        let mut nodes = 1;
        self.children(&mut |child| nodes += child.nodes());
        nodes
    }

    /// Calls `visit` for each direct child.
    pub(crate) fn children(&self, visit: &mut dyn FnMut(&Node)) {
        match self {
            Node::Int(_)
            | Node::Real(_)
            | Node::Duration(_)
            | Node::Text(_)
            | Node::Variable(_) => {}
            Node::Negate(inner) => visit(inner),
            Node::Combine(combination) => {
                visit(&combination.left);
                visit(&combination.right);
            }
            Node::Generate(generate) => generate.family.children(visit),
        }
    }
}

/// Two values and an operator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Combination {
    /// The operator.
    pub(crate) operator: Operator,
    /// The left operand.
    pub(crate) left: Node,
    /// The right operand.
    pub(crate) right: Node,
}

/// A call of a generator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Generate {
    /// The random stream of its position.
    pub(crate) stream: Stream,
    /// The generator with its arguments.
    pub(crate) family: Family,
}

/// A generator with checked arguments and precomputed constants.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Family {
    /// Each value of a range equally likely.
    Uniform(Uniform<Node>),
    /// Low ranks more likely than high ones.
    Zipf(Zipf),
    /// Pareto's distribution: a heavy tail.
    Pareto(Pareto<Node>),
    /// A small part of a range more likely than the rest.
    Hotspot(Hotspot),
    /// The newest keys more likely than older ones.
    Latest(Latest),
    /// The skew of TPC-C.
    Nurand(Nurand),
    /// The number of the client that sends the request, from 0. The field is the number of clients.
    Client(u32),
    /// An exponential distribution with this mean.
    Exponential(Node),
    /// A normal distribution with this mean and this standard deviation.
    Normal(Node, Node),
    /// The number of the row, from 1.
    Row,
    /// This start plus the number of the request or row.
    Sequence(i64),
    /// Each number up to a limit once.
    Permute(Permute),
    /// Letters and digits. Their number is the first expression or, if there is a second one, a
    /// number between the two.
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
    Weighted(Weighted<Node>),
    /// A JSON object.
    Json(Json<Node>),
    /// A point on the sphere.
    Point,
    /// An area of the sphere.
    Polygon(Polygon),
    /// NULL with some probability.
    Null(Null<Node>),
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

    /// Returns true if all text that the generator adds to its arguments is ASCII.
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
}

impl Constant {
    /// Converts the constant to a part of a plan.
    pub(crate) fn into_node(self) -> Node {
        match self {
            Constant::Int(number) => Node::Int(number),
            Constant::Real(number) => Node::Real(number.as_f64()),
            Constant::Duration(nanos) => Node::Duration(nanos),
            Constant::Text(text) => Node::Text(text.into()),
        }
    }

    /// Converts a number to a real; `None` for any other type.
    pub(crate) fn widened(&self) -> Option<Node> {
        self.kind().is_number().then(|| Node::Real(self.as_f64()))
    }
}

impl Node {
    /// Returns the highest field number of a record that the expression uses; 0 if it uses none.
    pub(crate) fn most_fields(&self) -> usize {
        let mut most = match self {
            Node::Generate(generate) => match generate.family {
                Family::Field(place) => place + 1,
                _ => 0,
            },
            _ => 0,
        };
        self.children(&mut |child| most = most.max(child.most_fields()));
        most
    }

    /// Returns true if the value is certain to be ASCII, or not a text.
    pub(crate) fn is_ascii(&self) -> bool {
        let mut is_ascii = match self {
            Node::Text(text) => text.is_ascii(),
            Node::Variable(_) => false,
            Node::Generate(generate) => generate.family.adds_only_ascii(),
            Node::Int(_)
            | Node::Real(_)
            | Node::Duration(_)
            | Node::Negate(_)
            | Node::Combine(_) => true,
        };
        self.children(&mut |child| is_ascii = is_ascii && child.is_ascii());
        is_ascii
    }

    /// Returns true if the expression uses a variable of `let`.
    pub(crate) fn has_variables(&self) -> bool {
        let mut found = matches!(self, Node::Variable(_));
        self.children(&mut |child| found = found || child.has_variables());
        found
    }
}
