//! Lists of `NAME: EXPRESSION`: the columns of a table and the variables of a job.

use base::Diagnostic;

use super::checker::{Checker, JobScope};
use super::fields::Fields;
use crate::expr::{Compiled, Expr, InvalidExpr, Node, Variables, compile, is_name, parse_all};
use crate::plan::Let;
use crate::read::{Entry, Excerpt};
use crate::wording::quoted;

/// Maximum number of columns of a table and of variables of a job.
const MOST_NAMES: usize = 5_000;

/// Largest size of a request or a row, in bytes.
const LARGEST_REQUEST: u64 = 256 << 20;

impl<'f> Checker<'f> {
    /// Returns the names and expressions in all lines of a key.
    pub(super) fn named(
        &mut self,
        fields: &Fields<'f>,
        key: &str,
    ) -> Vec<(Excerpt<'f>, Excerpt<'f>)> {
        let mut pairs = Vec::new();
        for entry in fields.all(key) {
            if entry.value().text().is_empty() {
                self.sink.error(|| {
                    let message = format!("{} has no value", quoted(entry.key().text()));
                    entry.whole().error(message).help(format!("write `{key} = NAME: EXPRESSION`"))
                });
            }
            for item in entry.value().list() {
                if pairs.len() >= MOST_NAMES {
                    self.sink.error(|| item.error("more than 5,000 items are listed here"));
                    return pairs;
                }
                match item.split_once(b':').filter(|(name, _)| !name.text().is_empty()) {
                    Some(pair) => pairs.push(pair),
                    None => self.sink.error(|| missing_name(key, entry, item)),
                }
            }
        }
        pairs
    }

    /// Compiles the variables of a job, in order, and adds each to `variables` for later
    /// expressions.
    pub(super) fn lets(
        &mut self,
        fields: &Fields<'f>,
        scope: JobScope<'_>,
        variables: &mut Variables,
    ) -> Vec<Let> {
        let mut lets = Vec::new();
        let parsed: Vec<_> = self
            .named(fields, "let")
            .into_iter()
            .map(|(name, source)| (name, source, parse_all(source)))
            .collect();
        for (name, source, ast) in &parsed {
            let uses = ast.as_ref().map(|ast| self.secrets.names_in(ast, source.text()));
            variables.declare(name.text(), uses.unwrap_or_default());
        }
        for (name, source, ast) in parsed {
            let Some(name) = self.variable_name(name, variables) else {
                continue;
            };
            variables.begin(name);
            let place = format!("let {name}");
            let before = JobScope { variables, ..scope };
            let compiled = ast
                .map_err(InvalidExpr::from)
                .and_then(|ast| compile(&ast, source, self.request_scope(before, &place)))
                .and_then(|compiled| self.count_nodes(compiled, source, scope.has_records));
            let compiled = compiled.map_err(|refused| self.report_invalid(refused)).ok();
            variables.define(name, compiled.as_ref());
            // An invalid variable keeps its index, which preserves the indices of the others.
            let node = compiled.map_or(Node::Int(0), Compiled::into_node);
            lets.push(Let { name: name.to_owned(), value: Expr(node) });
        }
        lets
    }

    /// Returns the name of a new variable if it is valid.
    fn variable_name<'n>(&mut self, name: Excerpt<'n>, variables: &Variables) -> Option<&'n str> {
        let word = name.text();
        let why = if !is_name(word) {
            "is not a name: a name has at most 64 letters, digits and `_`, and begins with no digit"
        } else if variables.contains(word) {
            "is defined twice in this job"
        } else if self.params.contains_key(word) {
            "is already a parameter: give the variable another name"
        } else {
            return Some(word);
        };
        self.sink.error(|| name.error(format!("{} {why}", quoted(word))));
        None
    }

    /// Reports values whose texts could exceed 256 MiB together. `what` names the request or row in
    /// the message.
    pub(super) fn within_request_size(
        &mut self,
        lengths: impl Iterator<Item = u64>,
        entry: Option<&Entry<'_>>,
        what: &str,
    ) {
        let total = lengths.fold(0, u64::saturating_add);
        if total <= LARGEST_REQUEST {
            return;
        }
        let megabytes = total >> 20;
        self.sink.error(|| {
            let span = entry.and_then(|entry| entry.value().span());
            let message = format!("{what} could have {megabytes} MiB; the limit is 256 MiB");
            crate::wording::error(span, message).help("make its texts shorter")
        });
    }
}

fn missing_name(key: &str, entry: &Entry<'_>, item: Excerpt<'_>) -> Diagnostic {
    if item.text().is_empty() {
        return entry
            .value()
            .error("an item is missing next to a comma")
            .help("remove the comma, or write what is missing");
    }
    let message = format!("{} is not of the form `NAME: EXPRESSION`", quoted(item.text()));
    item.error(message).help(match key {
        "let" => "write for example `let = a: uniform(1, 1000)`",
        _ => "write for example `columns = id: row(), owner: text(12)`",
    })
}
