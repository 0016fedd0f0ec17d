//! Checks of `[arm NAME]` sections.

use base::{Diagnostic, Span, Target, TargetKind};

use super::difference::{Difference, URL_KEY, overrides};
use super::experiment::{Arm, Experiment};
use super::fields::Fields;
use super::range::RangeValue;
use super::vary::Vary;
use crate::check::Overrides;
use crate::keys::{Key, SectionKind};
use crate::read::{Entry, Excerpt, File, Section};
use crate::sink::Sink;
use crate::wording::{self, quoted};

/// An arm whose differences are read but not yet applied to the workload.
pub(super) struct ArmDraft {
    pub(super) name: String,
    /// Position of its header.
    pub(super) span: Span,
    /// The differences.
    pub(super) differences: Vec<Difference>,
    /// Positions of their lines; `None` for a line that may hold a password.
    pub(super) spans: Vec<Option<Span>>,
    /// True if every line could be read.
    pub(super) is_sound: bool,
}

impl ArmDraft {
    /// Creates the only arm of an experiment without arms: the workload as it is.
    pub(super) fn of_workload(span: Span) -> ArmDraft {
        let name = Experiment::WORKLOAD.to_owned();
        ArmDraft { name, span, differences: Vec::new(), spans: Vec::new(), is_sound: true }
    }

    /// Creates the draft of an arm at a point of a sweep.
    pub(super) fn at_point(arm: &Arm, vary: &Vary, value: &RangeValue<'_>) -> ArmDraft {
        let mut differences = arm.differences.clone();
        differences.push(vary.difference(&value.text));
        let span = value.place.span();
        let spans = vec![span; differences.len()];
        let (name, span) = (arm.name.clone(), span.unwrap_or_default());
        ArmDraft { name, span, differences, spans, is_sound: true }
    }

    /// Returns the overrides of the arm's runs: the `given` overrides, and the overrides of the
    /// arm, which take precedence.
    pub(super) fn overrides(&self, given: &Overrides) -> Overrides {
        overrides(&self.differences, given)
    }
}

/// Reads an arm; `workload` is the parsed workload file, to which its differences apply.
pub(super) fn read(
    file: &File<'_>,
    section: &Section<'_>,
    name: &str,
    workload: &File<'_>,
    sink: &mut Sink,
) -> ArmDraft {
    let before = sink.errors();
    let fields = Fields::of(file, section, SectionKind::Arm, sink);
    let (mut differences, mut spans) = (Vec::new(), Vec::new());
    for (key, entry) in fields.all() {
        match difference(file, key, entry, workload) {
            Ok(one) => {
                let holds_password = matches!(one, Difference::Url(_));
                spans.push(entry.whole().span().filter(|_| !holds_password));
                differences.push(one);
            }
            Err(error) => sink.error(|| *error),
        }
    }
    let (name, span) = (name.to_owned(), section.span);
    ArmDraft { name, span, differences, spans, is_sound: sink.errors() == before }
}

/// Reports an arm that changes several things, at the line of the second change.
pub(super) fn reject_several(draft: &ArmDraft, sink: &mut Sink) {
    let Some(first) = draft.differences.first() else { return };
    let mut lines = draft.differences.iter().zip(&draft.spans);
    let Some((second, span)) = lines.find(|(one, _)| one.subject() != first.subject()) else {
        return;
    };
    sink.error(|| {
        let (first, second) = (quoted(&first.key()), quoted(&second.key()));
        let message = format!(
            "[arm {}] changes two things: {first} and {second}",
            printable_name(&draft.name)
        );
        wording::error(span.or(Some(draft.span)), message).help(
            "the cause of a difference would be unknown; to allow it, write \
             `differences = several`",
        )
    });
}

/// Reports an option of the URL, or a setting of the server, that an arm sets twice: in its `url`,
/// and in a line of its own.
pub(super) fn reject_repeated_options(draft: &ArmDraft, sink: &mut Sink) {
    let mut urls = draft.differences.iter().filter(|one| matches!(one, Difference::Url(_)));
    let Some(url) = urls.next() else { return };
    for (one, span) in draft.differences.iter().zip(&draft.spans) {
        let Some(set) = Vary::option_of_target(one) else { continue };
        if set.is_set_by(url) {
            sink.error(|| {
                let (name, key) = (printable_name(&draft.name), quoted(&one.key()));
                let message = format!("[arm {name}] sets {key} twice: here, and in its `url`");
                wording::error(*span, message).help("remove one of the two")
            });
        }
    }
}

fn difference(
    file: &File<'_>,
    key: &Key,
    entry: &Entry<'_>,
    workload: &File<'_>,
) -> Result<Difference, Box<Diagnostic>> {
    let value = entry.value();
    let text = value.text().to_owned();
    Ok(match key.name {
        URL_KEY => Difference::Url(url(file, value)?),
        "before" => Difference::Before(text),
        "after" => Difference::After(text),
        "before-command" => Difference::BeforeCommand(text),
        "after-command" => Difference::AfterCommand(text),
        _ => Vary::of_key(key, entry.key(), workload)?.difference(&text),
    })
}

fn url(file: &File<'_>, value: Excerpt<'_>) -> Result<Target, Box<Diagnostic>> {
    Target::parse(value.text()).map_err(|error| Box::new(file.invalid_url(value, &error)))
}

/// Reports options of the URL and settings of the server if the workload names no target, and
/// settings of a server that is not private.
pub(super) fn reject_unused_options(draft: &ArmDraft, target: Option<&Target>, sink: &mut Sink) {
    for (one, span) in draft.differences.iter().zip(&draft.spans) {
        let (message, help) = match (one, target) {
            (Difference::Option { .. } | Difference::Server { .. }, None) => (
                "is an option of a target, and the workload names none",
                "write a `url` into the workload file, or give --url",
            ),
            (Difference::Server { .. }, Some(target)) if target.kind != TargetKind::Testbed => (
                "is a setting of a private server, and the target is no `testbed:`",
                "use a `testbed:` URL, or change the setting with `before-command`",
            ),
            _ => continue,
        };
        sink.error(|| {
            wording::error(*span, format!("{} {message}", quoted(&one.key()))).help(help)
        });
    }
}

/// Returns a name as it is shown in a message: shortened and escaped as by `quoted`, but without
/// backquotes.
pub(super) fn printable_name(name: &str) -> String {
    quoted(name).trim_matches('`').to_owned()
}
