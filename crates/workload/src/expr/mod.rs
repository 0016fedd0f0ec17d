//! What is an expression, and what does it mean?
//!
//! `text -> token -> syntax -> compile -> Expr`: an [`Expr`] has no names and no mistakes left in
//! it. Constants are folded, variables are indices, and each generator carries its own stream.

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

/// A value that may differ from request to request. What it is made of concerns only this crate:
/// [`Generator`](crate::Generator) and [`RowGenerator`](crate::RowGenerator) make the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(pub(crate) Node);

impl Expr {
    /// An exponentially distributed pause, for plans that are made without a file.
    pub fn exp(mean: Nanos, stream: Stream) -> Expr {
        let mean = Node::Duration(i64::try_from(mean.0).unwrap_or(i64::MAX));
        let family = Family::Exponential(mean);
        Expr(Node::Generate(Box::new(Generate { stream, family })))
    }

    /// How long a pause is and how much that varies, where both are known without drawing one: a
    /// constant one, or an exponential one of a constant mean.
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

/// The distribution of a pause, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Its mean.
    pub mean: Nanos,
    /// Its standard deviation.
    pub deviation: Nanos,
}

/// The tree of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A whole number.
    Int(i64),
    /// A number with a point.
    Real(f64),
    /// A span in nanoseconds, negative ones included.
    Duration(i64),
    /// A text.
    Text(Arc<str>),
    /// The variable of `let` with this place in the job's list.
    Variable(usize),
    /// The value with the other sign.
    Negate(Box<Node>),
    /// Two values combined.
    Combine(Box<Combination>),
    /// A generator's value.
    Generate(Box<Generate>),
}

impl Node {
    /// How many expressions there are in this one, itself included.
    pub(crate) fn parts(&self) -> usize {
        let mut parts = 1;
        self.children(&mut |child| parts += child.parts());
        parts
    }

    /// Calls `visit` with each expression that this one is made of.
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
    /// What is done with them.
    pub(crate) operator: Operator,
    /// What stands before the operator.
    pub(crate) left: Node,
    /// What stands behind it.
    pub(crate) right: Node,
}

/// A generator at its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Generate {
    /// Its random numbers: those of this place and no other.
    pub(crate) stream: Stream,
    /// What it makes of them.
    pub(crate) family: Family,
}

/// The operators of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`: of two integers the whole part of the quotient.
    Divide,
    /// `%`: the rest of a division, with the sign of the dividend.
    Modulo,
}

impl Operator {
    /// The sign.
    pub(crate) fn sign(self) -> char {
        match self {
            Operator::Add => '+',
            Operator::Subtract => '-',
            Operator::Multiply => '*',
            Operator::Divide => '/',
            Operator::Modulo => '%',
        }
    }

    /// How tightly it binds.
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Operator::Add | Operator::Subtract => 1,
            Operator::Multiply | Operator::Divide | Operator::Modulo => 2,
        }
    }
}

/// The types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Whole numbers of 64 bits.
    Int,
    /// Doubles.
    Real,
    /// Spans of time.
    Duration,
    /// Texts.
    Text,
    /// Instants of calendar time.
    Timestamp,
}

impl Type {
    /// The type in a sentence.
    pub(crate) fn article(self) -> &'static str {
        match self {
            Type::Int => "an integer",
            Type::Real => "a number with a point",
            Type::Duration => "a duration",
            Type::Text => "a text",
            Type::Timestamp => "a timestamp",
        }
    }

    /// Whether it is a number.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Type::Int | Type::Real)
    }

    /// The type of a combination; `None` when the operator has no meaning for the two.
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
