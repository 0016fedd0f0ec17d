//! Expressions of workload files.
//!
//! `text -> token -> syntax -> compile -> Expr`: an [`Expr`] is valid and refers to nothing by
//! name. Constants are folded, variables are indices, and each generator has its own random stream.
//! [`call`] holds the table of generators, with one file for the arguments of each.

pub(crate) mod call;
mod compile;
mod compiled;
mod eval;
mod inserted;
mod node;
mod range;
mod scope;
mod syntax;
mod token;
mod variables;

pub(crate) use compile::compile;
pub(crate) use compiled::{Compiled, InvalidExpr};
pub(crate) use eval::EvalContext;
pub(crate) use inserted::InsertedText;
pub use node::{Expr, Pause};
pub(crate) use node::{Family, Generate, Node};
pub(crate) use scope::{ExprContext, Position, Scope};
pub(crate) use syntax::{Argument, Ast, AstKind, parse_all, parse_braced};
pub(crate) use token::is_name;
pub(crate) use variables::{NO_VARIABLES, Variables};
