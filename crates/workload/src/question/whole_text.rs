//! Printing of experiments whose file contains their workload.

use std::fmt::Write as _;

use base::Target;

use super::check::experiment_in;
use super::draft::own_workload;
use super::experiment::Experiment;
use crate::check::{Override, Overrides};
use crate::folder::Folder;
use crate::plan::Plan;
use crate::read::{Entry, parse};

/// The key whose value may hold a password.
const URL: &str = "url";

/// Beginnings of URLs that cannot hold a password.
const WITHOUT_PASSWORD: [&str; 3] = ["sqlite:", "sim:", "testbed:"];

/// The first line of a text that lacks something.
const INCOMPLETE: &str = "; Checking this text gives another experiment, because it lacks a \
                          secret, `--arrival`, or a parameter in a URL.\n";

/// A key and its value.
type Line = (String, String);

impl Experiment {
    /// Returns the text of [`to_text`](Self::to_text). If the experiment file contains its
    /// workload, the workload precedes this text.
    ///
    /// The workload is the plan of the first arm, with its defaults, if checking the whole text
    /// then gives the same plan for every arm. It does not if another arm needs a default, or a
    /// parameter, that the first arm replaced by a value. In this case the workload has the lines
    /// of the file, with `overrides`. They are those of the check of the experiment, as is
    /// `folder`. Passwords of URLs are left out, and secret parameters are hidden. If the text
    /// therefore does not give this experiment, a comment at its beginning says so.
    pub fn to_whole_text(&self, overrides: &Overrides, folder: &dyn Folder) -> String {
        let Some(first) = self.arms.first().filter(|_| self.workload.is_none()) else {
            return self.to_text();
        };
        let planned = format!("{}\n{}", first.plan.to_text(), self.to_text());
        if self.is_given_by(&planned, folder) {
            return planned;
        }
        let written = self.own_workload_text(&first.plan, overrides) + &self.to_text();
        let missing = if self.is_given_by(&written, folder) { "" } else { INCOMPLETE };
        format!("{missing}{written}")
    }

    /// Returns true if checking a text gives this experiment, with the same plan for each arm.
    fn is_given_by(&self, text: &str, folder: &dyn Folder) -> bool {
        let (Some(again), _) = experiment_in(text, &Overrides::default(), folder) else {
            return false;
        };
        fn plans(of: &Experiment) -> impl Iterator<Item = String> {
            of.arm_points().iter().map(|arm| arm.plan.to_text())
        }
        again.to_text() == self.to_text() && plans(&again).eq(plans(self))
    }

    /// Returns the lines of the workload inside the experiment file, with overrides. `plan` is the
    /// plan of an arm.
    fn own_workload_text(&self, plan: &Plan, overrides: &Overrides) -> String {
        let (file, _) = parse(&self.source);
        let file = own_workload(&file);
        let mut out = String::new();
        let given = replaced(Overrides::GLOBAL, &file.globals, plan, overrides);
        print_lines(&file.globals, &given, &mut out);
        for section in &file.sections {
            let _ = writeln!(out, "\n[{}]", section.name);
            let given = replaced(&section.name, &section.entries, plan, overrides);
            print_lines(&section.entries, &given, &mut out);
        }
        out.push('\n');
        out
    }
}

/// Returns the lines that take the place of lines of a section: overrides, URLs without their
/// passwords, and secret parameters without their values.
fn replaced(section: &str, entries: &[Entry<'_>], plan: &Plan, overrides: &Overrides) -> Vec<Line> {
    if section == Overrides::PARAMS {
        let is_given = |name: &str| overrides.params().any(|one| one.key == name);
        let shown = plan.params.iter().filter(|it| is_given(&it.name) || plan.is_secret(&it.name));
        return shown.map(|it| (it.name.clone(), it.value.clone())).collect();
    }
    let mut lines: Vec<Line> = Vec::new();
    let of_section = overrides.keys.iter().filter(|one| one.section == section);
    for Override { key, value, .. } in of_section {
        // The last value of a key wins.
        lines.retain(|(earlier, _)| earlier != key);
        lines.push((key.clone(), value.clone()));
    }
    let is_global = section == Overrides::GLOBAL;
    let named = plan.targets.iter().find(|it| is_section_of_target(section, &it.name));
    let resolved = if is_global { plan.target.as_ref() } else { named.map(|named| &named.target) };
    let written = entries.iter().find(|entry| entry.key().text() == URL);
    let url = match (&overrides.target, written, resolved) {
        (Some(target), _, _) if is_global => Some(target.to_string()),
        (_, Some(url), Some(resolved)) => Some(without_password(url.value().text(), resolved)),
        _ => None,
    };
    lines.extend(url.map(|url| (URL.to_owned(), url)));
    lines
}

/// Returns true if a section is `[target NAME]`.
fn is_section_of_target(section: &str, name: &str) -> bool {
    section.strip_prefix("target").is_some_and(|rest| rest.trim() == name)
}

/// Returns a URL of the file without its password. A parameter may be a part of a password, or hide
/// its beginning, so a URL with parameters is printed with their values, as in `resolved`, unless
/// its scheme has no passwords.
fn without_password(written: &str, resolved: &Target) -> String {
    if !written.contains("${") {
        return Target::parse(written).unwrap_or_else(|_| resolved.clone()).to_string();
    }
    match WITHOUT_PASSWORD.iter().any(|scheme| written.starts_with(scheme)) {
        true => written.to_owned(),
        false => resolved.to_string(),
    }
}

/// Prints the lines of a section, with `replaced` lines at their places, and those of them that
/// have no place at the end.
fn print_lines(entries: &[Entry<'_>], replaced: &[Line], out: &mut String) {
    let mut pending: Vec<Option<&Line>> = replaced.iter().map(Some).collect();
    for entry in entries {
        let key = entry.key().text();
        match replaced.iter().position(|(name, _)| name == key) {
            // The first of several lines of a key is replaced, and the others are left out.
            Some(place) => {
                if let Some((key, value)) = pending[place].take() {
                    let _ = writeln!(out, "{key} = {value}");
                }
            }
            None => _ = writeln!(out, "{key} = {}", entry.value().text()),
        }
    }
    for (key, value) in pending.into_iter().flatten() {
        let _ = writeln!(out, "{key} = {value}");
    }
}
