//! Printing of experiments whose file contains their workload.

use std::fmt::Write as _;

use base::Target;

use super::check::experiment_in;
use super::draft::own_workload;
use super::experiment::{Arm, Experiment};
use crate::check::{Override, Overrides};
use crate::folder::Folder;
use crate::read::{Entry, Section, parse};

/// The key whose value may hold a password.
const URL: &str = "url";

/// The first line of a text that lacks an option of the command.
const INCOMPLETE: &str =
    "; This text gives the same experiment only with the options of its command.\n";

impl Experiment {
    /// Returns the text of [`to_text`](Self::to_text). If the experiment file contains its
    /// workload, the workload precedes this text.
    ///
    /// The workload is the plan of the first arm, with its defaults, if checking the whole text
    /// then gives the same plan for every arm. It does not if another arm needs a default, or a
    /// parameter, that the first arm replaced by a value. In this case the workload is that of the
    /// file, with `overrides`. They are those of the check of the experiment, as is `folder`.
    pub fn to_whole_text(&self, overrides: &Overrides, folder: &dyn Folder) -> String {
        let Some(first) = self.arms.first().filter(|_| self.workload.is_none()) else {
            return self.to_text();
        };
        let planned = format!("{}\n{}", first.plan.to_text(), self.to_text());
        if self.is_given_by(&planned, folder) {
            return planned;
        }
        let written = self.own_workload_text(overrides) + &self.to_text();
        let missing = if self.is_given_by(&written, folder) { "" } else { INCOMPLETE };
        format!("{missing}{written}")
    }

    /// Returns true if checking a text gives this experiment, with the same plan for each arm.
    fn is_given_by(&self, text: &str, folder: &dyn Folder) -> bool {
        let (Some(again), _) = experiment_in(text, &Overrides::default(), folder) else {
            return false;
        };
        let plans = |of: &Experiment| -> Vec<String> {
            of.arm_points().iter().map(|arm: &Arm| arm.plan.to_text()).collect()
        };
        again.to_text() == self.to_text() && plans(&again) == plans(self)
    }

    /// Returns the workload inside the experiment file as it is written there, with overrides.
    /// Passwords of URLs are left out, and secret parameters are hidden.
    fn own_workload_text(&self, overrides: &Overrides) -> String {
        let (file, _) = parse(&self.source);
        let file = own_workload(&file);
        let overrides = match &overrides.target {
            Some(target) => overrides.clone().with_global(URL, target),
            None => overrides.clone(),
        };
        let mut out = String::new();
        print_entries(Overrides::GLOBAL, &file.globals, &overrides, &mut out);
        let mut names = vec![Overrides::GLOBAL];
        for Section { name, entries, .. } in &file.sections {
            let _ = writeln!(out, "\n[{name}]");
            print_entries(name, entries, &overrides, &mut out);
            names.push(name);
        }
        // Parameters that only the command line sets.
        if overrides.keys.iter().any(Override::is_param) && !names.contains(&Overrides::PARAMS) {
            let _ = writeln!(out, "\n[{}]", Overrides::PARAMS);
            print_entries(Overrides::PARAMS, &[], &overrides, &mut out);
        }
        out.push('\n');
        self.secrets().hide(&out)
    }
}

/// Prints the lines of a section that are not overridden, then the overrides of the section.
fn print_entries(section: &str, entries: &[Entry<'_>], overrides: &Overrides, out: &mut String) {
    let of_section: Vec<&Override> =
        overrides.keys.iter().filter(|one| one.section == section).collect();
    for entry in entries {
        if !of_section.iter().any(|one| one.key == entry.key().text()) {
            let (key, value) = (entry.key().text(), entry.value().text());
            match Target::parse(value) {
                Ok(target) if key == URL => _ = writeln!(out, "{key} = {target}"),
                Ok(_) | Err(_) => _ = writeln!(out, "{key} = {value}"),
            }
        }
    }
    for (place, one) in of_section.iter().enumerate() {
        // The last value of a key wins.
        if !of_section[place + 1..].iter().any(|later| later.key == one.key) {
            let _ = writeln!(out, "{} = {}", one.key, one.value);
        }
    }
}
