//! Expressions of workload files.
//!
//! `text -> token -> syntax -> compile -> Expr`: an [`Expr`] is valid and refers to nothing by
//! name. Constants are folded, variables are indices, and each generator has its own random stream.

mod compile;
mod constant;
mod exact;
mod range;
mod syntax;
pub(crate) mod text;
mod token;

use std::sync::Arc;

use base::{Nanos, Stream};

use crate::generate::Family;

pub(crate) use compile::{
    Compiled, NO_VARIABLES, Position, Refused, Scope, Site, Variables, compile,
};
pub(crate) use constant::{Constant, proportions};
pub(crate) use syntax::{Argument, Ast, AstKind, parse_all, parse_braced};
pub(crate) use token::is_name;

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
    /// mean.
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

/// The moments of a pause.
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
    pub(crate) fn parts(&self) -> usize {
        let mut parts = 1;
        self.children(&mut |child| parts += child.parts());
        parts
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

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`: for two integers the whole part of the quotient.
    Divide,
    /// `%`: the remainder of a division, with the sign of the dividend.
    Modulo,
}

impl Operator {
    /// Returns the operator's character.
    pub(crate) fn sign(self) -> char {
        match self {
            Operator::Add => '+',
            Operator::Subtract => '-',
            Operator::Multiply => '*',
            Operator::Divide => '/',
            Operator::Modulo => '%',
        }
    }

    /// Returns the precedence; a higher one binds more tightly.
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Operator::Add | Operator::Subtract => 1,
            Operator::Multiply | Operator::Divide | Operator::Modulo => 2,
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Whole numbers of 64 bits.
    Int,
    /// Doubles.
    Real,
    /// Durations.
    Duration,
    /// Texts.
    Text,
    /// Instants of calendar time.
    Timestamp,
}

impl Type {
    /// Returns the type with its article, for a message.
    pub(crate) fn article(self) -> &'static str {
        match self {
            Type::Int => "an integer",
            Type::Real => "a number with a point",
            Type::Duration => "a duration",
            Type::Text => "a text",
            Type::Timestamp => "a timestamp",
        }
    }

    /// Returns true if the type is a number.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Type::Int | Type::Real)
    }

    /// Returns the type of a combination; `None` if the operator is not defined for the two types.
    pub(crate) fn combined(operator: Operator, left: Type, right: Type) -> Option<Type> {
        Some(match (left, right) {
            (Type::Int, Type::Int) => Type::Int,
            (left, right) if left.is_number() && right.is_number() => Type::Real,
            (Type::Duration, Type::Duration) => match operator {
                Operator::Add | Operator::Subtract | Operator::Modulo => Type::Duration,
                Operator::Divide => Type::Real,
                Operator::Multiply => return None,
            },
            (Type::Duration, right) if right.is_number() => match operator {
                Operator::Multiply | Operator::Divide => Type::Duration,
                Operator::Add | Operator::Subtract | Operator::Modulo => return None,
            },
            (left, Type::Duration) if left.is_number() && operator == Operator::Multiply => {
                Type::Duration
            }
            _ => return None,
        })
    }
}
