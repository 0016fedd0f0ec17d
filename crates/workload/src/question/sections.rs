//! The sections of an experiment file, and their valid combinations.

use std::collections::BTreeMap;

use base::{Diagnostic, Span};

use super::arm::printable_name;
use super::draft::QuestionDraft;
use super::experiment::Design;
use super::fields::Fields;
use crate::keys;
use crate::read::{Excerpt, File, Section};
use crate::sink::Sink;
use crate::wording::{self, nearest, quoted};

/// Name of the section that makes a file an experiment.
pub(super) const QUESTION: &str = "question";

/// Name of the section of a capacity search.
pub(super) const CAPACITY: &str = "capacity";

/// First word of the name of an arm's section: `[arm NAME]`.
const ARM: &str = "arm";

/// Name of the section of a sweep.
pub(super) const SWEEP: &str = "sweep";

/// Name of the section of a search for saturation.
pub(super) const SATURATE: &str = "saturate";

/// Maximum number of arms.
const MOST_ARMS: usize = 20;

/// The sections of an experiment file by their kinds.
pub(super) struct Sections<'f> {
    file: &'f File<'f>,
    pub(super) question: Option<&'f Section<'f>>,
    /// The arms with their names.
    pub(super) arms: Vec<(&'f str, &'f Section<'f>)>,
    pub(super) sweep: Option<&'f Section<'f>>,
    pub(super) saturate: Option<&'f Section<'f>>,
    pub(super) capacity: Option<&'f Section<'f>>,
    /// All others, which belong to a workload.
    others: Vec<&'f Section<'f>>,
}

impl<'f> Sections<'f> {
    /// Returns the sections by their kinds; reports duplicates and invalid names.
    pub(super) fn of(file: &'f File<'f>, sink: &mut Sink) -> Sections<'f> {
        let mut sections = Sections {
            file,
            question: None,
            arms: Vec::new(),
            sweep: None,
            saturate: None,
            capacity: None,
            others: Vec::new(),
        };
        let mut first: BTreeMap<String, Span> = BTreeMap::new();
        for section in &file.sections {
            if !keys::is_of_experiment(&section.name) {
                sections.others.push(section);
                continue;
            }
            let words: Vec<&str> = section.name.split_whitespace().collect();
            let name = words.join(" ");
            if let Some(span) = first.get(&name) {
                let line = file.line_number(span.start);
                sink.error(|| {
                    let message = format!(
                        "the section [{}] occurs twice; the first is in line {line}",
                        printable_name(&section.name)
                    );
                    Diagnostic::error(section.span, message).help("give it another name")
                });
                continue;
            }
            first.insert(name, section.span);
            match words.as_slice() {
                [QUESTION] => sections.question = Some(section),
                [SWEEP] => sections.sweep = Some(section),
                [SATURATE] => sections.saturate = Some(section),
                [CAPACITY] => sections.capacity = Some(section),
                [ARM, name @ ..] if name.len() == 1 => sections.arms.push((name[0], section)),
                [ARM, ..] => sink.error(|| {
                    Diagnostic::error(section.span, "the name of an arm is one word")
                        .help("write for example `[arm tls]`")
                }),
                _ => sink.error(|| other_section(section)),
            }
        }
        sections
    }

    /// Returns true if the file has more than the sections of an experiment.
    pub(super) fn has_own_workload(&self) -> bool {
        !self.others.is_empty() || !self.file.globals.is_empty()
    }

    /// Reports keys that are missing in the section `question`, a wrong number of arms, and
    /// sections and keys that cannot be combined.
    pub(super) fn check(
        &self,
        question: &Section<'_>,
        fields: &Fields<'_>,
        draft: &QuestionDraft<'_>,
        sink: &mut Sink,
    ) {
        self.require(question, fields, sink);
        match self.capacity {
            Some(_) => self.reject_with_capacity(fields, sink),
            None => self.count_arms(question, draft, sink),
        }
        if let Some(section) = self.sweep {
            self.reject_with_sweep(section, fields, draft, sink);
        }
        if let Some(section) = self.saturate {
            self.reject_with_saturate(section, fields, draft, sink);
        }
    }

    fn require(&self, question: &Section<'_>, fields: &Fields<'_>, sink: &mut Sink) {
        let mut missing = |key: &str, help: &str| {
            let is_set = question.entries.iter().any(|entry| entry.key().text() == key);
            if fields.one(key).is_none() && !is_set {
                sink.error(|| {
                    Diagnostic::error(question.span, format!("[question] has no `{key}`"))
                        .help(help)
                });
            }
        };
        missing("ask", "write for example `ask = What does TLS cost?`");
        if !self.has_own_workload() {
            missing(
                "workload",
                "write for example `workload = read.ini`, or the sections of the workload into \
                 this file",
            );
        }
        if fields.one("workload").is_some() {
            self.reject_own_workload(sink);
        }
    }

    /// Reports keys and sections of a workload in a file that names another workload.
    fn reject_own_workload(&self, sink: &mut Sink) {
        for entry in &self.file.globals {
            sink.error(|| {
                let message =
                    format!("{} is not a key of an experiment file", quoted(entry.key().text()));
                entry.key().error(message).help("write it into the workload file")
            });
        }
        for section in &self.others {
            sink.error(|| other_section(section));
        }
    }

    /// Reports the keys and sections of a comparison in a file with a capacity search.
    fn reject_with_capacity(&self, fields: &Fields<'_>, sink: &mut Sink) {
        for name in ["bet", "rounds", "differences", "design", "delta"] {
            for value in fields.values(name) {
                sink.error(|| {
                    let message = format!("`{name}` cannot be combined with [capacity]");
                    value.error(message).help("a search compares nothing: leave it out")
                });
            }
        }
        let arms = self.arms.iter().map(|(_, section)| *section);
        for section in arms.chain(self.sweep).chain(self.saturate) {
            reject_with(section, CAPACITY, sink);
        }
    }

    fn count_arms(&self, question: &Section<'_>, draft: &QuestionDraft<'_>, sink: &mut Sink) {
        let has_sweep = self.sweep.is_some();
        let (message, help) = match (draft.design, self.arms.len()) {
            (Design::Aa, 1) => return,
            (Design::Arms, 0) if has_sweep => return,
            (Design::Arms, 2..=MOST_ARMS) => return,
            (Design::Arms, 1) if has_sweep => (
                "expected no arm or at least two, found one".to_owned(),
                "write its lines into the workload file: a sweep needs no arm",
            ),
            (Design::Arms, arms @ (0 | 1)) if self.saturate.is_some() => (
                format!("[saturate] finds a load for comparing at least two arms; found {arms}"),
                "write an `[arm NAME]` for each case; to find the load of one workload, write \
                 [sweep] or [capacity] instead",
            ),
            (Design::Aa, arms) => (
                format!("`design = aa` compares one arm with itself, and there are {arms}"),
                "write one `[arm NAME]`",
            ),
            (Design::Arms, arms @ (0 | 1)) => (
                format!("an experiment compares at least two arms, and there are {arms}"),
                "write an `[arm NAME]` for each case; the first one is the baseline",
            ),
            (Design::Arms, many) => {
                (format!("there are {many} arms: at most {MOST_ARMS}"), "split it")
            }
        };
        let span = self.saturate.map_or(question.span, |section| section.span);
        sink.error(|| Diagnostic::error(span, message).help(help));
    }

    /// Reports keys of `[question]` that have no meaning together with a sweep.
    fn reject_with_sweep(
        &self,
        section: &Section<'_>,
        fields: &Fields<'_>,
        draft: &QuestionDraft<'_>,
        sink: &mut Sink,
    ) {
        let mut refuse = |span: Option<Span>, message: &str, help: &str| {
            let span = span.or(Some(section.span));
            sink.error(|| wording::error(span, message).help(help));
        };
        if draft.design == Design::Aa {
            let place = fields.one("design").and_then(Excerpt::span);
            let help = "write an experiment of its own for `design = aa`";
            refuse(place, "`design = aa` compares an arm with itself, without [sweep]", help);
        }
        if let Some(rounds) = fields.one("rounds") {
            let help = "remove it: `repeats` in [sweep] is the number of runs at each point";
            refuse(rounds.span(), "`rounds` cannot be combined with [sweep]", help);
        }
        if let (Some((_, place)), []) = (draft.bets.first(), self.arms.as_slice()) {
            let help = "write an `[arm NAME]` for each case; for the best point, write `best` in \
                        [sweep]";
            refuse(place.span(), "a bet compares arms, and the sweep has none", help);
        }
    }

    /// Reports a sweep and `design = aa`, which cannot be combined with a search for saturation.
    fn reject_with_saturate(
        &self,
        section: &Section<'_>,
        fields: &Fields<'_>,
        draft: &QuestionDraft<'_>,
        sink: &mut Sink,
    ) {
        if let Some(sweep) = self.sweep.filter(|_| self.capacity.is_none()) {
            reject_with(sweep, SATURATE, sink);
        }
        if draft.design == Design::Aa {
            let place = fields.one("design").and_then(Excerpt::span);
            let message = "`design = aa` compares an arm with itself, without [saturate]";
            sink.error(|| {
                wording::error(place.or(Some(section.span)), message)
                    .help("write an experiment of its own for `design = aa`")
            });
        }
    }
}

/// Reports a section that cannot be combined with another section.
fn reject_with(section: &Section<'_>, other: &str, sink: &mut Sink) {
    sink.error(|| {
        let message =
            format!("[{}] cannot be combined with [{other}]", printable_name(&section.name));
        Diagnostic::error(section.span, message)
            .help("write an experiment file for each question and each case")
    });
}

fn other_section(section: &Section<'_>) -> Diagnostic {
    let message =
        format!("unknown section [{}] in an experiment file", printable_name(&section.name));
    let error = Diagnostic::error(section.span, message);
    let word = section.name.split_whitespace().next().unwrap_or_default();
    match nearest(word, [QUESTION, ARM, SWEEP, SATURATE, CAPACITY]) {
        Some(ARM) => error.help("did you mean `[arm NAME]`?"),
        Some(near) => error.help(format!("did you mean `[{near}]`?")),
        None => error.help("it belongs into the workload file, which `workload` names"),
    }
}
