//! Secret parameters, and the plan without their values that is shown instead.
//!
//! A parameter is a secret if its text reaches a password: the one of a URL, anywhere in the file,
//! or the text that [follows a word or an option for one](follows_secret_word) in a statement or a
//! command. The parameters that a secret is made of are secrets too, and so are those made of any
//! of these. The file is then checked a second time with [`HIDDEN`] as the value of each: the plan
//! that is shown is the result of this second check, in which the values never appear. A secret
//! that changes anything but statements is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use base::{Diagnostic, HIDDEN, Secret, Secrets, follows_secret_word, passwords_in};

use super::{Checker, Overrides, check_as_given};
use crate::expr::{Constant, Expr, Node};
use crate::folder::Folder;
use crate::plan::{FixedStatement, Hidden, Plan};
use crate::read::File;
use crate::wording::{self, enumeration, quoted};

/// A `${…}` that was replaced in a text.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// Range of its value in the text, in bytes.
    pub(super) place: Range<usize>,
    /// Names in its expression.
    pub(super) names: Vec<String>,
}

/// Uses of parameters, recorded while a file is checked, from which the secret ones are determined.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The names that each parameter refers to.
    params: BTreeMap<String, Vec<String>>,
    /// The texts of the parameters as written.
    written: BTreeMap<String, String>,
    /// The parameters that were used in a password.
    found: BTreeSet<String>,
    /// The parameters that were used in the shown part of a URL.
    shown: BTreeSet<String>,
}

impl Known {
    /// Records a parameter.
    pub(super) fn param(&mut self, name: &str, text: &str, uses: Vec<String>) {
        if !passwords_in(text).is_empty() {
            self.found.insert(name.to_owned());
        }
        self.params.insert(name.to_owned(), uses);
        self.written.insert(name.to_owned(), text.to_owned());
    }

    /// Records the parameters whose values reach a password of a text.
    pub(super) fn text(&mut self, text: &str, uses: &[Use]) {
        if uses.is_empty() {
            return;
        }
        let passwords = passwords_in(text);
        for one in uses {
            let reaches = |password: &Range<usize>| {
                one.place.start < password.end && password.start < one.place.end
            };
            let value = text.get(one.place.clone()).unwrap_or_default();
            let is_behind = || follows_secret_word(&text[..one.place.start], value);
            if passwords.iter().any(reaches) || is_behind() {
                self.found.extend(one.names.iter().cloned());
            }
        }
    }

    /// Records the parameters of a `url`. In a malformed one, any of them may be the password.
    pub(super) fn url(&mut self, url: &str, uses: &[Use], is_readable: bool) {
        let password = password_of(url);
        for one in uses {
            let is_password = !is_readable
                || password.as_ref().is_some_and(|password| {
                    one.place.start < password.end && password.start < one.place.end
                });
            let names = one.names.iter().cloned();
            if is_password { self.found.extend(names) } else { self.shown.extend(names) }
        }
    }

    /// Returns the parameters that are used in a password and also in the shown part of a URL.
    fn exposed(&self) -> impl Iterator<Item = &str> {
        self.found.intersection(&self.shown).map(String::as_str)
    }

    /// Returns the secret parameters: those that were found, those that they are made of, and those
    /// that are made of any of these.
    fn params(&self) -> BTreeSet<&str> {
        let known = |name: &String| self.params.get_key_value(name).map(|(name, _)| name.as_str());
        let mut secret: BTreeSet<&str> = self.found.iter().filter_map(known).collect();
        let mut next: Vec<&str> = secret.iter().copied().collect();
        while let Some(name) = next.pop() {
            for used in self.params[name].iter().filter_map(known) {
                if secret.insert(used) {
                    next.push(used);
                }
            }
        }
        loop {
            let uses_one =
                |uses: &Vec<String>| uses.iter().any(|used| secret.contains(used.as_str()));
            let more: Vec<&str> = self
                .params
                .iter()
                .filter(|(name, uses)| !secret.contains(name.as_str()) && uses_one(uses))
                .map(|(name, _)| name.as_str())
                .collect();
            if more.is_empty() {
                return secret;
            }
            secret.extend(more);
        }
    }
}

/// Returns the range of the password in a URL, in bytes; `None` if it has no password.
fn password_of(url: &str) -> Option<Range<usize>> {
    let start = url.find("//")? + 2;
    let length = url[start..].find(['/', '?']).unwrap_or(url.len() - start);
    let login = &url[start..start + url[start..start + length].rfind('@')?];
    Some(start + login.find(':')? + 1..start + login.len())
}

/// Returns true if a value begins before the end of the password and ends after it, with an `@`
/// from the file itself to follow. Such a value has an `@` of its own: the rest of the password
/// would be parsed as the host, which is shown.
pub(super) fn reaches_beyond_password(url: &str, uses: &[Use]) -> bool {
    let Some(password) = password_of(url) else { return false };
    let is_own = |at: usize| !uses.iter().any(|one| one.place.contains(&at));
    uses.iter().any(|one| {
        let reaches = one.place.start < password.end && password.end < one.place.end;
        reaches && url[one.place.end..].match_indices('@').any(|(at, _)| is_own(one.place.end + at))
    })
}

impl<'f> Checker<'f> {
    /// Returns the secret values, both as written and as used.
    fn secret_values(&self, names: &BTreeSet<&str>) -> Vec<Secret> {
        let mut values = Vec::new();
        for name in names {
            values.extend(self.secrets.written.get(*name).cloned());
            if let Some(Some(constant)) = self.params.get(*name) {
                values.push(constant.bare());
                values.extend(constant.sql().filter(|_| matches!(constant, Constant::Text(_))));
            }
        }
        values.into_iter().map(Secret::new).collect()
    }

    /// Returns the secret parameters with their values, and true if one of them is also used in the
    /// shown part of a URL.
    pub(super) fn hidden(&self) -> (Hidden, bool) {
        let params = self.secrets.params();
        let values = self.secret_values(&params);
        let params = params.into_iter().map(str::to_owned).collect();
        let is_exposed = self.secrets.exposed().next().is_some();
        (Hidden { params, values, ..Hidden::default() }, is_exposed)
    }
}

/// Returns the plan together with the version of it that is shown, if it has secrets.
///
/// # Errors
/// A secret is used where it would be shown.
pub(super) fn conceal(
    file: &File<'_>,
    overrides: &Overrides,
    folder: &dyn Folder,
    plan: Plan,
    (mut hidden, is_exposed): (Hidden, bool),
) -> Result<Plan, Diagnostic> {
    if hidden.params.is_empty() {
        return Ok(plan);
    }
    let kept = overrides.set.iter().filter(|(name, _)| !hidden.params.contains(name)).cloned();
    let stand_ins = hidden.params.iter().map(|name| (name.clone(), HIDDEN.to_owned()));
    let set = kept.chain(stand_ins).collect();
    let overrides = Overrides { set, ..overrides.clone() };
    let checked = check_as_given(file, &overrides, folder, Some(&plan));
    let shown = checked.plan.filter(|shown| rest_of(shown) == rest_of(&plan));
    let Some(shown) = shown.filter(|_| !is_exposed) else {
        return Err(misplaced(file, &hidden));
    };
    (hidden.setup, hidden.teardown) = (shown.setup, shown.teardown);
    let job = |job: crate::plan::Job| (job.name, (job.lets, job.statements));
    hidden.jobs = shown.jobs.into_iter().map(job).collect();
    Ok(Plan { params: shown.params, hidden: Some(hidden), ..plan })
}

/// Returns a plan without the parts that may differ in the version that is shown.
fn rest_of(plan: &Plan) -> Plan {
    let mut rest = plan.clone();
    rest.params.clear();
    let fixed = |statement: &mut FixedStatement| statement.text.clear();
    rest.setup.iter_mut().chain(&mut rest.teardown).for_each(fixed);
    for job in &mut rest.jobs {
        job.lets.iter_mut().for_each(|variable| variable.value = Expr(Node::Int(0)));
        job.statements.iter_mut().for_each(|statement| statement.pieces.clear());
    }
    rest
}

/// Returns the error for a secret that would be shown, at the first line that may use it.
fn misplaced(file: &File<'_>, hidden: &Hidden) -> Diagnostic {
    let names: Vec<String> = hidden.params.iter().map(|name| quoted(name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let message = format!(
        "a password reaches a place where it would be shown: of the parameters, {} may stand only \
         in the password of a `url` and in statements",
        enumeration(&names, "and")
    );
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_meant = |text: &str| {
        text.split(|c: char| !in_word(c)).any(|word| hidden.params.iter().any(|name| name == word))
    };
    let may_hold = ["query", "query-file", "command", "let"];
    let sections = file.sections.iter().filter(|section| section.name != "params");
    let entries = sections.flat_map(|section| &section.entries).chain(&file.globals);
    let mut places = entries
        .filter(|entry| !may_hold.contains(&entry.key().text()) && is_meant(entry.value().text()));
    // A `url` comes last: it may hold the secret in its password, where it is allowed.
    let mut places: Vec<_> = places.by_ref().collect();
    places.sort_by_key(|entry| entry.key().text() == "url");
    let mut places = places.into_iter();
    let span = places.next().and_then(|entry| entry.key().span());
    wording::error(span, message)
        .help("use another parameter there; the value of this one is hidden wherever it is printed")
}

/// Removes secrets from diagnostics: those in lines with a secret lose their span, and the values
/// are removed from all of them.
pub(super) fn clean(file: &File<'_>, hidden: &Hidden, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
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
            diagnostic.message = format!("in line {line}: {}", diagnostic.message);
        }
        diagnostic.message = secrets.hide(&diagnostic.message);
        diagnostic.label = secrets.hide(&diagnostic.label);
        diagnostic.help = diagnostic.help.map(|help| secrets.hide(&help));
        diagnostic
    };
    found.into_iter().map(cleaned).collect()
}
