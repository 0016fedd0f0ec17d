//! State that the checks of all sections share.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use base::{Diagnostic, Dialect, Seed};

use super::overrides::Overrides;
use super::parameter_uses::ParameterUses;
use crate::expr::{
    Compiled, ExprContext, InsertedText, InvalidExpr, NO_VARIABLES, Position, Scope, Variables,
};
use crate::folder::Folder;
use crate::generate::{Points, Tables};
use crate::plan::{NamedTarget, Plan};
use crate::read::{Entry, Excerpt, File};
use crate::sink::Sink;
use crate::value::Constant;

/// State that is shared by the checks of all sections.
pub(super) struct Checker<'f> {
    pub(super) file: &'f File<'f>,
    /// The overrides of keys above the first section.
    pub(super) globals: &'f [Entry<'f>],
    pub(super) overrides: &'f Overrides,
    pub(super) folder: &'f dyn Folder,
    /// SQL dialect of the main target.
    pub(super) dialect: Dialect,
    pub(super) sink: Sink,
    /// The parameters; `None` for a parameter whose error has been reported.
    pub(super) params: BTreeMap<String, Option<Constant>>,
    pub(super) seed: Seed,
    /// The targets that jobs can name.
    pub(super) targets: Vec<NamedTarget>,
    /// Number of nodes (values, operators and calls) in all expressions of the file so far.
    pub(super) nodes: usize,
    /// Size of the parameters and of the texts inserted so far.
    pub(super) inserted: InsertedText,
    /// Sum of the highest rates of the jobs so far, in requests per second.
    pub(super) offered_per_s: f64,
    /// The results files of the jobs so far, each with the name and the use of its section.
    pub(super) results_files: HashMap<PathBuf, (String, String)>,
    /// Size of the traces so far in the printed plan, in bytes.
    pub(super) trace_bytes: usize,
    /// Number of rows of the only table with a column that uses `point()`: the default by which
    /// polygons are sized.
    pub(super) polygon_points: Points,
    /// The CSV files that supply values.
    pub(super) tables: &'f Tables<'f>,
    /// Uses of parameters, which determine the secret parameters.
    pub(super) secrets: ParameterUses,
    /// Names of the sections whose lines for other databases were searched for passwords, each with
    /// the dialect that the section has.
    pub(super) searched: HashSet<(String, Dialect)>,
    /// The plan that will run, if this check produces the plan that is shown without secrets.
    pub(super) running_plan: Option<&'f Plan>,
}

/// The job that a statement or an expression belongs to.
#[derive(Clone, Copy)]
pub(super) struct JobScope<'j> {
    /// Name of its section.
    pub(super) name: &'j str,
    /// Number of clients of a closed job; `None` for other models.
    pub(super) clients: Option<u32>,
    /// SQL dialect of its target.
    pub(super) dialect: Dialect,
    /// True if its requests take records from a file.
    pub(super) has_records: bool,
    /// The variables that are defined.
    pub(super) variables: &'j Variables,
}

/// Maximum number of nodes in all expressions of a file together.
const MOST_NODES: usize = 1_000_000;

impl<'f> Checker<'f> {
    /// Adds the number of nodes of an expression to the total of the file, which is limited, and
    /// returns the expression. Fields of records are allowed if `has_records` is true. Only the
    /// first expression beyond the limit is reported.
    pub(super) fn count_nodes(
        &mut self,
        compiled: Compiled,
        place: Excerpt<'_>,
        has_records: bool,
    ) -> Result<Compiled, InvalidExpr> {
        let before = self.nodes;
        self.nodes += match &compiled {
            Compiled::Constant(_) => 1,
            Compiled::Dynamic(node, _) => {
                if node.most_fields() > 0 && !has_records {
                    return Err(no_records(place).into());
                }
                node.nodes()
            }
        };
        if self.nodes <= MOST_NODES {
            return Ok(compiled);
        }
        let first = before <= MOST_NODES;
        let message = "all expressions of the file together have more than 1,000,000 parts";
        Err(InvalidExpr(first.then(|| Box::new(place.error(message)))))
    }

    /// Returns the scope for checking the value of a key, which is read again at its use. `what`
    /// names the value in messages. The texts that the value inserts are counted only at its use.
    pub(super) fn fixed_scope<'s>(&'s self, what: &'s str) -> Scope<'s> {
        Scope { inserted: None, ..self.constant_scope(what) }
    }

    /// Returns the scope of a value that must be known before the run: the value of a key, or a
    /// value in a statement that runs once. `what` names the key or the section in messages.
    pub(super) fn constant_scope<'s>(&'s self, what: &'s str) -> Scope<'s> {
        self.scope(&NO_VARIABLES, ExprContext::Fixed(what))
    }

    pub(super) fn scope<'s>(
        &'s self,
        variables: &'s Variables,
        context: ExprContext<'s>,
    ) -> Scope<'s> {
        Scope {
            params: &self.params,
            variables,
            context,
            points: self.polygon_points,
            tables: Some(self.tables),
            inserted: Some(&self.inserted),
        }
    }

    /// Returns the scope of an expression in a request.
    pub(super) fn request_scope<'s>(&'s self, scope: JobScope<'s>, place: &'s str) -> Scope<'s> {
        let position = Position { seed: self.seed, job: scope.name, place };
        self.scope(scope.variables, ExprContext::Request(position, scope.clients))
    }

    /// Returns the scope of an expression in a row.
    pub(super) fn row_scope<'s>(&'s self, section: &'s str, place: &'s str) -> Scope<'s> {
        let position = Position { seed: self.seed, job: section, place };
        self.scope(&NO_VARIABLES, ExprContext::Row(position))
    }
}

/// Returns the error for `field(n)` in a job without records.
fn no_records(place: Excerpt<'_>) -> Diagnostic {
    place
        .error("the job reads no records that have this field")
        .help("name a file of records in the job: `query-args-file = users.csv`")
}
