//! Classification of sections by name and content.

use std::collections::HashMap;

use base::Diagnostic;

use super::checker::Checker;
use super::kind::Kind;
use super::name::{bracketed, is_identifier};
use crate::keys;
use crate::read::{Entry, Section};
use crate::unsupported;
use crate::wording::{nearest, quoted};

/// Reserved section names, for did-you-mean hints.
const RESERVED: &[&str] =
    &["setup", "teardown", "params", "load", "threshold", "target", "observe", "question"];

impl<'f> Checker<'f> {
    /// Returns the sections with their kinds, in file order. Of sections with the same name, only
    /// the first is included.
    pub(super) fn classify(&mut self) -> Vec<(Kind<'f>, &'f Section<'f>)> {
        let mut first: HashMap<&'f str, &'f Section<'f>> = HashMap::new();
        let mut kinds = Vec::new();
        for section in &self.file.sections {
            match first.get(section.name.as_str()) {
                Some(other) => self.duplicate(section, other),
                None => {
                    first.insert(&section.name, section);
                    kinds.push((self.kind(section), section));
                }
            }
        }
        kinds
    }

    fn duplicate(&mut self, section: &Section<'_>, first: &Section<'_>) {
        let file = self.file;
        self.sink.error(|| {
            let line = file.line_number(first.span.start);
            let message = format!(
                "the section {} occurs twice; the first is in line {line}",
                bracketed(&section.name)
            );
            Diagnostic::error(section.span, message)
                .help("give it another name, or move its keys to the first")
        });
    }

    fn kind(&mut self, section: &'f Section<'f>) -> Kind<'f> {
        let is_job = section.entries.iter().any(|entry| makes_a_job(entry.key().text()));
        match section.name.as_str() {
            "setup" => Kind::Setup,
            "teardown" => Kind::Teardown,
            "global" => {
                self.sink.warning(|| ignored(section));
                Kind::Ignored
            }
            name if is_job => {
                self.warn_of_near_miss(section, name);
                Kind::Job
            }
            "params" => Kind::Params,
            "threshold" => Kind::Threshold,
            "observe" => Kind::Observe,
            name => self.kind_without_query(section, name),
        }
    }

    fn kind_without_query(&mut self, section: &Section<'f>, name: &'f str) -> Kind<'f> {
        if let Some(table) = name.strip_prefix("load").filter(|rest| !continues_word(rest)) {
            return self.load_of(section, table.trim());
        }
        if let Some(name) = name.strip_prefix("target").filter(|rest| !continues_word(rest)) {
            return self.target_of(section, name.trim());
        }
        self.sink.error(|| no_job(section, name));
        Kind::Ignored
    }

    fn load_of(&mut self, section: &Section<'_>, table: &'f str) -> Kind<'f> {
        if table.is_empty() {
            self.sink.error(|| {
                Diagnostic::error(section.span, "the section names no table to load")
                    .help("write `[load TABLE]`")
            });
            return Kind::Ignored;
        }
        if !is_identifier(table) {
            self.sink.error(|| {
                let message = format!("{} is not the name of a table", quoted(table));
                Diagnostic::error(section.span, message)
                    .help("a name is letters, digits and `_`, or is quoted: `[load \"odd name\"]`")
            });
            return Kind::Ignored;
        }
        Kind::Load(table)
    }

    /// Warns of a job with a name close to `setup` or `teardown`, whose statements would run over
    /// and over.
    fn warn_of_near_miss(&mut self, section: &Section<'_>, name: &str) {
        let only_queries =
            section.entries.iter().all(|entry| is_key_of_statements(entry.key().text()));
        let fixed = ["setup", "teardown"];
        let Some(near) = nearest(name, fixed).filter(|_| only_queries) else {
            return;
        };
        self.sink.warning(|| {
            let message = format!("{} is a job: its statements run repeatedly", bracketed(name));
            Diagnostic::warning(section.span, message)
                .help(format!("did you mean `[{near}]`, whose statements run once?"))
        });
    }
}

/// Returns true if a key makes its section a job, unless the section is `[setup]`, `[teardown]` or
/// `[global]`.
fn makes_a_job(key: &str) -> bool {
    keys::makes_a_job(key) || unsupported::is_unsupported_key(key)
}

/// Returns true for the keys of `[setup]` and `[teardown]`, in any dialect.
fn is_key_of_statements(key: &str) -> bool {
    let base = key.split_once('.').map_or(key, |(base, _)| base);
    matches!(base, "query" | "query-file")
}

/// Returns true if the word before this text continues in it.
fn continues_word(rest: &str) -> bool {
    rest.starts_with(|character: char| !character.is_whitespace())
}

fn ignored(section: &Section<'_>) -> Diagnostic {
    Diagnostic::warning(section.span, "the section [global] is ignored")
        .help("write its keys above the first section")
}

fn no_job(section: &Section<'_>, name: &str) -> Diagnostic {
    if keys::is_of_experiment(name) {
        let message = format!("the section {} belongs to an experiment file", bracketed(name));
        return Diagnostic::error(section.span, message)
            .help("an experiment file has a section `[question]`, and is run with `assay run`");
    }
    let is_slip = |entry: &&Entry<'_>| nearest(entry.key().text(), ["query"]).is_some();
    if let Some(slip) = section.entries.iter().find(is_slip) {
        let (key, name) = (quoted(slip.key().text()), bracketed(name));
        let message = format!("unknown key {key} in {name}, which has no `query`");
        return slip.key().error(message).did_you_mean(Some("query"));
    }
    let message = format!("the section {} has no `query`, so it is not a job", bracketed(name));
    let error = Diagnostic::error(section.span, message);
    let word = name.split_whitespace().next().unwrap_or_default();
    match nearest(word, RESERVED.iter().copied()) {
        Some("load") => error.help("did you mean `[load TABLE]`?"),
        Some("target") => error.help("did you mean `[target NAME]`?"),
        Some(near) => error.help(format!("did you mean `[{near}]`?")),
        None => error.help("give it a statement: `query = select …`"),
    }
}
