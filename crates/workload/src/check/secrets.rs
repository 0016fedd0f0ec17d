//! Secret parameters, and the plan that is shown: the plan without their values.
//!
//! A parameter is a secret in each of these cases. Statements, commands and variables include those
//! [for other databases](super::other_dialects).
//!
//! * Its text becomes a part of the password of a URL, anywhere in the file.
//! * Its text follows [a word or an option for a password](base::follows_secret_word) in a
//!   statement or a command.
//! * It is a part of a value that is [named by such a word](base::follows_secret_word), as in
//!   `json(password: pw)`, in a statement, a command or a variable.
//! * Its own text [sets a password](base::holds_password).
//! * A parameter in one of the cases above refers to it, directly or through other parameters.
//! * It refers to a secret.
//!
//! If the plan has secrets, the file is checked again with [`HIDDEN`] as the value of each secret:
//! the plan that is shown is the result of this second check, in which the values never appear. The
//! two plans may differ only in parameters, variables, statements and commands. A secret that
//! changes anything else is an error, because the plan would show it.

use std::collections::BTreeSet;

use base::{Diagnostic, Dialect, HIDDEN, Secret, Secrets};

use super::check_file::check_as_given;
use super::checker::Checker;
use super::dialect;
use super::overrides::{Override, Overrides};
use crate::expr::{Expr, Node};
use crate::generate::Tables;
use crate::plan::{FixedStatement, Hidden, JobOrPart, Plan};
use crate::read::{Entry, File};
use crate::value::Constant;
use crate::wording::{self, enumeration, quoted};

impl<'f> Checker<'f> {
    /// Returns the secret values in each of their forms: as written (in the file or in `--set`), as
    /// used, and as an SQL literal. A form with backslashes is also returned with doubled ones,
    /// because some databases write literals in this way.
    fn secret_values(&self, names: &BTreeSet<&str>) -> Vec<Secret> {
        let mut values = Vec::new();
        for name in names {
            values.extend(self.secrets.written.get(*name).cloned());
            if let Some(Some(constant)) = self.params.get(*name) {
                values.push(constant.to_text());
                // The form with doubled backslashes is added below.
                let literal = constant.sql(Dialect::Sqlite);
                values.extend(literal.filter(|_| matches!(constant, Constant::Text(_))));
            }
        }
        let with_escapes = values.iter().filter(|value| value.contains('\\'));
        let escaped: Vec<String> = with_escapes.map(|it| it.replace('\\', r"\\")).collect();
        values.into_iter().chain(escaped).map(Secret::new).collect()
    }

    /// Returns the secret parameters with their values, and true if one of them is also used in the
    /// shown part of a URL.
    pub(super) fn hidden_parts(&self) -> (Hidden, bool) {
        let params = self.secrets.params();
        let values = self.secret_values(&params);
        let params = params.into_iter().map(str::to_owned).collect();
        let is_exposed = self.secrets.exposed().next().is_some();
        (Hidden { params, values, ..Hidden::default() }, is_exposed)
    }
}

/// Returns the plan. If the plan has secrets, the version that is shown is added to it.
///
/// # Errors
/// A secret is used where it would be shown.
pub(super) fn conceal(
    file: &File<'_>,
    overrides: &Overrides,
    tables: &Tables<'_>,
    plan: Plan,
    (mut hidden, is_exposed): (Hidden, bool),
) -> Result<Plan, Diagnostic> {
    if hidden.params.is_empty() {
        return Ok(plan);
    }
    let is_kept = |one: &&Override| !(one.is_param() && hidden.params.contains(&one.key));
    let keys = overrides.keys.iter().filter(is_kept).cloned().collect();
    let kept = Overrides { keys, ..overrides.clone() };
    let names = hidden.params.iter();
    let overrides = names.fold(kept, |kept, name| kept.with_param(name, HIDDEN));
    let checked = check_as_given(file, &overrides, tables, Some(&plan));
    let shown =
        checked.plan.filter(|shown| without_hidden_parts(shown) == without_hidden_parts(&plan));
    let Some(shown) = shown.filter(|_| !is_exposed) else {
        return Err(exposed_secret(file, &hidden));
    };
    let section = |either: JobOrPart<'_>| {
        let requests = either.requests();
        (either.name().to_owned(), (requests.lets.clone(), requests.statements.clone()))
    };
    hidden.jobs = shown.jobs_and_parts().map(section).collect();
    (hidden.setup, hidden.teardown) = (shown.setup, shown.teardown);
    Ok(Plan { params: shown.params, hidden: Some(hidden), ..plan })
}

/// Returns a plan without the parts that may differ in the version that is shown.
fn without_hidden_parts(plan: &Plan) -> Plan {
    let mut rest = plan.clone();
    rest.params.clear();
    let fixed = |statement: &mut FixedStatement| statement.text.clear();
    rest.setup.iter_mut().chain(&mut rest.teardown).for_each(fixed);
    for requests in rest.requests_mut() {
        requests.lets.iter_mut().for_each(|variable| variable.value = Expr(Node::Int(0)));
        requests.statements.iter_mut().for_each(|statement| statement.pieces.clear());
    }
    rest
}

/// Returns the error for a secret that would be shown. The error points to a line that may show the
/// secret, and to a `url` only if there is no other.
fn exposed_secret(file: &File<'_>, hidden: &Hidden) -> Diagnostic {
    let names: Vec<String> = hidden.params.iter().map(|name| quoted(name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let message = format!(
        "a password reaches a place where it would be shown: of the parameters, {} may stand only \
         in the password of a `url`, in statements, commands and `let`",
        enumeration(&names, "and")
    );
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_meant = |text: &str| {
        text.split(|c: char| !in_word(c)).any(|word| hidden.params.iter().any(|name| name == word))
    };
    let may_hold = ["query", "query-file", "command", "let"];
    let sections = file.sections.iter().filter(|section| section.name != "params");
    let entries = sections.flat_map(|section| &section.entries).chain(&file.globals);
    let is_shown = |entry: &&Entry<'_>| !may_hold.contains(&dialect::split(entry.key().text()).0);
    let places = entries.filter(is_shown).filter(|entry| is_meant(entry.value().text()));
    // A `url` comes last: its password may hold the secret, which is allowed there.
    let first = places.min_by_key(|entry| dialect::split(entry.key().text()).0 == "url");
    let span = first.and_then(|entry| entry.key().span());
    wording::error(span, message)
        .help("use another parameter there; the value of this one is hidden wherever it is printed")
}

/// Removes secrets from diagnostics: diagnostics about lines that set a secret lose their span, and
/// the secret values are removed from all diagnostics.
pub(super) fn remove_secrets(
    file: &File<'_>,
    hidden: &Hidden,
    found: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    if hidden.params.is_empty() {
        return found;
    }
    let secrets = Secrets::new(hidden.values.iter().cloned());
    let params = file.sections.iter().filter(|section| section.name == "params");
    let lines: BTreeSet<usize> = params
        .flat_map(|section| &section.entries)
        .filter(|entry| hidden.params.iter().any(|name| name == entry.key().text()))
        .filter_map(|entry| entry.whole().span())
        .flat_map(|span| file.line_number(span.start)..=file.line_number(span.end))
        .collect();
    let cleaned = |mut diagnostic: Diagnostic| {
        let line = diagnostic.span.map(|span| file.line_number(span.start));
        if let Some(line) = line.filter(|line| lines.contains(line)) {
            diagnostic.span = None;
            diagnostic.message = format!("in line {line}: {}", diagnostic.sentence());
            diagnostic.option = None;
        }
        diagnostic.option = diagnostic.option.map(|option| secrets.hide(&option).into());
        diagnostic.message = secrets.hide(&diagnostic.message);
        diagnostic.label = secrets.hide(&diagnostic.label);
        diagnostic.help = diagnostic.help.map(|help| secrets.hide(&help));
        diagnostic
    };
    found.into_iter().map(cleaned).collect()
}
