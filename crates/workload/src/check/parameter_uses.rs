//! Uses of parameters, which determine the secret parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use base::{follows_secret_word, holds_password, passwords_in};

use crate::expr::{Ast, Variables};

/// A `${…}` that was replaced in a text.
#[derive(Clone, Debug)]
pub(super) struct ParameterUse {
    /// Range of its value in the text, in bytes.
    pub(super) place: Range<usize>,
    /// Names in its expression.
    pub(super) names: Vec<String>,
}

/// Uses of parameters, recorded while a file is checked, which determine the secret parameters.
#[derive(Debug, Default)]
pub(super) struct ParameterUses {
    /// The names that the value of each parameter refers to.
    params: BTreeMap<String, Vec<String>>,
    /// The texts of the parameters as written.
    pub(super) written: BTreeMap<String, String>,
    /// The names that were used in a password: parameters, and variables of jobs.
    found: BTreeSet<String>,
    /// The names that the statements of the current section used in a password: parameters, and
    /// variables of the section.
    of_section: BTreeSet<String>,
    /// The parameters that were used in the shown part of a URL.
    shown: BTreeSet<String>,
}

impl ParameterUses {
    /// Creates a list of uses in which the parameters `names` were used in a password.
    pub(super) fn with_secrets(names: &BTreeSet<String>) -> ParameterUses {
        ParameterUses { found: names.clone(), ..ParameterUses::default() }
    }

    /// Records a parameter with its text and the names that its value refers to.
    pub(super) fn param(&mut self, name: &str, text: &str, uses: Vec<String>) {
        // The value is not known yet. With `0` as the value, `-p${…}` counts as a port and not as a
        // password.
        let uses_one = |(at, _): (usize, &str)| follows_secret_word(&text[..at], "0");
        if holds_password(text) || text.match_indices("${").any(uses_one) {
            self.found.insert(name.to_owned());
        }
        self.params.insert(name.to_owned(), uses);
        self.written.insert(name.to_owned(), text.to_owned());
    }

    /// Records the names whose values are a part of a password in a text. If the text is a
    /// statement of a job, [`ParameterUses::follow`] must be called for the job.
    pub(super) fn text(&mut self, text: &str, uses: &[ParameterUse]) {
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
                one.names.iter().for_each(|name| self.password(name));
            }
        }
    }

    /// Returns the names in an expression of `text`. Records those in its secrets, such as `pw` in
    /// `json(password: pw)`; [`ParameterUses::follow`] must be called for the job.
    pub(super) fn names_in(&mut self, ast: &Ast, text: &str) -> Vec<String> {
        let mut names = Vec::new();
        ast.names(text, &mut |name| names.push(name.to_owned()));
        ast.names_in_secrets(text, &mut |name| self.password(name));
        names
    }

    fn password(&mut self, name: &str) {
        self.found.insert(name.to_owned());
        self.of_section.insert(name.to_owned());
    }

    /// Records the parameters that the variables in passwords of the current section refer to. All
    /// statements of the section share one search, because each may use every variable.
    pub(super) fn follow(&mut self, variables: &Variables) {
        let mut names = std::mem::take(&mut self.of_section);
        variables.expand(&mut names);
        self.found.extend(names);
    }

    /// Records the parameters of a `url`. If the URL is malformed, any of them may be the password.
    pub(super) fn url(&mut self, url: &str, uses: &[ParameterUse], is_readable: bool) {
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
    pub(super) fn exposed(&self) -> impl Iterator<Item = &str> {
        self.found.intersection(&self.shown).map(String::as_str)
    }

    /// Returns the secret parameters: those that were used in a password, the parameters that they
    /// refer to, and the parameters that refer to any of these.
    pub(super) fn params(&self) -> BTreeSet<&str> {
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

/// Returns true if the value of a parameter begins in the password and ends after it, and if the
/// file itself has an `@` after the value. The value then contains an `@`, too. Its part after its
/// own `@` would be parsed as the host, which is shown.
pub(super) fn reaches_beyond_password(url: &str, uses: &[ParameterUse]) -> bool {
    let Some(password) = password_of(url) else { return false };
    let is_own = |at: usize| !uses.iter().any(|one| one.place.contains(&at));
    uses.iter().any(|one| {
        let reaches = one.place.start < password.end && password.end < one.place.end;
        reaches && url[one.place.end..].match_indices('@').any(|(at, _)| is_own(one.place.end + at))
    })
}
