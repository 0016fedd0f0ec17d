//! Compiled expressions.

use base::Diagnostic;

use super::node::Node;
use crate::value::{Constant, Type};

/// A compiled expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Compiled {
    /// A value that is the same for every request.
    Constant(Constant),
    /// A value computed for each request.
    Dynamic(Node, Type),
}

/// An invalid expression; without a diagnostic if the cause is already reported.
#[derive(Debug)]
pub(crate) struct InvalidExpr(pub(crate) Option<Box<Diagnostic>>);

impl From<Diagnostic> for InvalidExpr {
    fn from(diagnostic: Diagnostic) -> InvalidExpr {
        InvalidExpr(Some(Box::new(diagnostic)))
    }
}

impl Compiled {
    /// Returns the type.
    pub(crate) fn kind(&self) -> Type {
        match self {
            Compiled::Constant(constant) => constant.kind(),
            Compiled::Dynamic(_, kind) => *kind,
        }
    }

    /// Returns the expression for the plan.
    pub(crate) fn into_node(self) -> Node {
        match self {
            Compiled::Constant(constant) => constant.into_node(),
            Compiled::Dynamic(expr, _) => expr,
        }
    }

    /// Returns the constant; `None` for a dynamic expression.
    pub(crate) fn constant(&self) -> Option<&Constant> {
        match self {
            Compiled::Constant(constant) => Some(constant),
            Compiled::Dynamic(..) => None,
        }
    }
}
