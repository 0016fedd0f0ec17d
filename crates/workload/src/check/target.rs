//! Targets: `[target NAME]`, and the target of each job.

use base::{Diagnostic, Dialect, Endpoint, Target, TargetKind};

use super::checker::Checker;
use super::fields::Fields;
use super::kind::Kind;
use super::name::bracketed;
use crate::keys::SectionKind;
use crate::plan::{JobTarget, NamedTarget, Plan, TargetId};
use crate::read::Section;
use crate::wording::{name_list, nearest, quoted};

/// Longest name of a target, in bytes.
const LONGEST_NAME: usize = 64;

/// Names that no target may have: settings of a target are recorded as `NAME.setting`, and these
/// prefixes belong to the environment.
const RESERVED_NAMES: [&str; 7] =
    ["assay", "generator", "observe", "host", "network", "calibration", "database"];

impl<'f> Checker<'f> {
    /// Returns the kind of a section `[target NAME]`.
    pub(super) fn target_of(&mut self, section: &Section<'_>, name: &'f str) -> Kind<'f> {
        if RESERVED_NAMES.contains(&name) {
            self.sink.error(|| {
                let message = format!("a target cannot be called {}", quoted(name));
                Diagnostic::error(section.span, message).help(
                    "the record uses this name for facts about the environment: choose another \
                     name",
                )
            });
            return Kind::Ignored;
        }
        let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(in_word) {
            return Kind::Target(name);
        }
        self.sink.error(|| match name.is_empty() {
            true => Diagnostic::error(section.span, "the section names no target")
                .help("write `[target NAME]`, and `target = NAME` in the jobs that use it"),
            false => {
                let message = format!("{} is not the name of a target", quoted(name));
                Diagnostic::error(section.span, message)
                    .help("a name has at most 64 letters, digits, `_` and `-`")
            }
        });
        Kind::Ignored
    }

    /// Finds the targets that jobs can name, anywhere in the file.
    pub(super) fn targets(&mut self, sections: &[(Kind<'f>, &'f Section<'f>)]) {
        if let Some(running_plan) = self.running_plan {
            self.targets.clone_from(&running_plan.targets);
            return;
        }
        for (kind, section) in sections {
            let Kind::Target(name) = kind else { continue };
            let location_text = format!("in [target {name}]");
            let fields = self.fields(&section.entries, SectionKind::Target, &location_text);
            let url = fields.one("url");
            if url.is_none() {
                self.sink.error(|| {
                    Diagnostic::error(section.span, format!("[target {name}] has no `url`"))
                        .help("write for example `url = sqlite:copy.db`")
                });
            }
            // A target whose error has been reported keeps its index, so its jobs can still refer
            // to it.
            let target = url.and_then(|entry| self.url(entry)).unwrap_or(Target {
                kind: TargetKind::Sqlite,
                endpoint: Endpoint::Temporary,
                options: Vec::new(),
            });
            self.passwords_of_other_dialects(section, SectionKind::Target, self.dialect);
            let (name, span) = ((*name).to_owned(), section.span);
            self.targets.push(NamedTarget { name, target, span });
        }
    }

    /// Returns the SQL dialect of the target of a section.
    pub(super) fn dialect_of(&self, section: &Section<'_>) -> Dialect {
        let entry = section.entries.iter().find(|entry| entry.key().text() == "target");
        let named = entry.and_then(|entry| {
            self.targets.iter().find(|target| target.name == entry.value().text())
        });
        named.map_or(self.dialect, |named| named.target.dialect())
    }

    /// Returns the target of a job with statements.
    pub(super) fn job_target(&mut self, fields: &Fields<'f>) -> JobTarget {
        let Some(entry) = fields.one("target") else { return JobTarget::Main };
        let name = entry.value().text();
        let index = self.targets.iter().position(|target| target.name == name);
        if let Some(index) = index {
            return JobTarget::Named(TargetId(index as u16));
        }
        let targets = &self.targets;
        self.sink.error(|| {
            let error =
                entry.value().error(format!("there is no [target {}]", printable_name(name)));
            let names = targets.iter().map(|target| target.name.as_str());
            match (nearest(name, names.clone()), targets.is_empty()) {
                (Some(near), _) => error.did_you_mean(Some(near)),
                (None, true) => error.help("give it a section with a `url`, or remove the key"),
                (None, false) => {
                    error.help(format!("the targets of the file are {}", name_list(names)))
                }
            }
        });
        JobTarget::Main
    }

    /// Warns of targets that the plan does not use, unless an error may be the reason.
    pub(super) fn warn_of_unused_targets(&mut self, plan: &Plan) {
        if self.sink.errors() > 0 {
            return;
        }
        for (id, named) in plan.target_ids().zip(&plan.targets) {
            if !plan.uses(JobTarget::Named(id)) {
                self.sink.warning(|| {
                    let message = format!("no job uses [target {}]", named.name);
                    let help = format!("write `target = {}` in the jobs that should", named.name);
                    Diagnostic::warning(named.span, message).help(help)
                });
            }
        }
        let written = self.file.globals.iter().find(|entry| entry.key().text() == "url");
        if let Some(entry) =
            written.filter(|_| !plan.jobs.is_empty() && !plan.uses(JobTarget::Main))
        {
            self.sink.warning(|| {
                // The line may hold a password.
                let span = entry.key().span().filter(|_| !entry.value().text().contains('@'));
                let message = "no job uses this `url`: each job has its own target or runs a \
                               program";
                crate::wording::warning(span, message)
            });
        }
    }
}

/// Formats a name for a message as [`bracketed`] does, but without the square brackets.
fn printable_name(name: &str) -> String {
    bracketed(name).trim_matches(['[', ']']).to_owned()
}
