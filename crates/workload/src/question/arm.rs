//! Checks of `[arm NAME]` sections.

use base::{Diagnostic, Span, Target, TargetError, TargetKind};

use super::experiment::{Difference, overrides};
use super::fields::Fields;
use crate::check::Overrides;
use crate::keys::{self, Key, Owner, Place};
use crate::read::{Entry, Excerpt, File, Section};
use crate::sink::Sink;
use crate::wording::{self, enumeration, nearest, quoted};

/// The prefix of settings of a private server.
const SETTING: &str = "server.";

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
    /// Returns the overrides of the arm's runs: the given ones, and those of the arm, which win.
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
    let fields = Fields::of(file, section, Owner::Arm, sink);
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

/// Reports an arm that changes several things, with the position of the second.
pub(super) fn reject_several(draft: &ArmDraft, sink: &mut Sink) {
    let Some(first) = draft.differences.first() else { return };
    let mut lines = draft.differences.iter().zip(&draft.spans);
    let Some((second, span)) = lines.find(|(one, _)| one.subject() != first.subject()) else {
        return;
    };
    sink.error(|| {
        let (first, second) = (quoted(&first.key()), quoted(&second.key()));
        let message =
            format!("[arm {}] changes two things: {first} and {second}", bare(&draft.name));
        wording::error(span.or(Some(draft.span)), message).help(
            "the cause of a difference would be unknown; to allow it, write \
             `differences = several`",
        )
    });
}

fn difference(
    file: &File<'_>,
    key: &Key,
    entry: &Entry<'_>,
    workload: &File<'_>,
) -> Result<Difference, Box<Diagnostic>> {
    let (name, value) = (entry.key(), entry.value());
    let text = value.text().to_owned();
    let rest = |prefix: &str| name.part(prefix.len()..name.text().len());
    Ok(match key.name {
        "url" => Difference::Url(url(file, value)?),
        "option.NAME" => Difference::Option { name: url_option(rest("option."))?, value: text },
        "server.NAME" => {
            let name = rest("server.").text().to_owned();
            Difference::Server { name, value: text }
        }
        "set.NAME" => {
            let name = param(rest("set."), workload)?;
            Difference::Param { name, value: text }
        }
        "before" => Difference::Before(text),
        "after" => Difference::After(text),
        "before-command" => Difference::BeforeCommand(text),
        "after-command" => Difference::AfterCommand(text),
        _ => {
            let (key, section) = pacing_key(name, workload)?;
            Difference::Key { section, key, value: text }
        }
    })
}

/// Returns the name of an option that a URL may have.
fn url_option(name: Excerpt<'_>) -> Result<String, Box<Diagnostic>> {
    match Target::parse(&format!("sim:null?{}=x", name.text())) {
        Err(error @ TargetError::PasswordOption) => {
            let help = "set ASSAY_PASSWORD, or give the arm a `url` of its own";
            Err(Box::new(name.error(error.to_string()).help(help)))
        }
        _ if name.text().starts_with(SETTING) => {
            let message = format!("{} is a setting of a private server", quoted(name.text()));
            let help = format!("write `{}`: it is changed on one server", name.text());
            Err(Box::new(name.error(message).help(help)))
        }
        _ => Ok(name.text().to_owned()),
    }
}

fn url(file: &File<'_>, value: Excerpt<'_>) -> Result<Target, Box<Diagnostic>> {
    Target::parse(value.text()).map_err(|error| {
        // The line may hold a password, and a diagnostic with a span would print it.
        let secret = value.span().filter(|_| value.text().contains('@'));
        Box::new(match secret.map(|span| file.line_number(span.start)) {
            Some(line) => wording::error(None, format!("`url` in line {line}: {error}")),
            None => value.error(error.to_string()),
        })
    })
}

/// Returns the name of a parameter that the workload has.
fn param(name: Excerpt<'_>, workload: &File<'_>) -> Result<String, Box<Diagnostic>> {
    let params = workload.sections.iter().filter(|section| section.name == "params");
    let mut known = params.flat_map(|section| &section.entries).map(|entry| entry.key().text());
    let wanted = name.text();
    if known.clone().any(|known| known == wanted) {
        return Ok(wanted.to_owned());
    }
    let error = name.error(format!("the workload has no parameter {}", quoted(wanted)));
    Err(Box::new(match nearest(wanted, known.by_ref()) {
        Some(near) => error.help(format!("did you mean `set.{near}`?")),
        None => error.help("parameters are the lines of `[params]` in the workload file"),
    }))
}

/// Returns the key and the section of `KEY(SECTION)`.
fn pacing_key(name: Excerpt<'_>, workload: &File<'_>) -> Result<(String, String), Box<Diagnostic>> {
    let text = name.text();
    let open = text.find('(').unwrap_or(text.len());
    let (key, section) = (name.part(0..open), name.part(open + 1..text.len() - 1));
    let is_pacing =
        |wanted: &str| keys::of(Owner::Job).any(|key| is_pacing(key) && key.is_named(wanted));
    if !is_pacing(key.text()) {
        return Err(Box::new(no_pacing_key(key)));
    }
    let mut jobs = workload.sections.iter().filter(|section| is_job(section));
    if jobs.clone().any(|job| job.name == section.text()) {
        return Ok((key.text().to_owned(), section.text().to_owned()));
    }
    let error = section.error(format!("the workload has no job {}", quoted(section.text())));
    let names: Vec<&str> = jobs.by_ref().map(|job| job.name.as_str()).collect();
    Err(Box::new(match nearest(section.text(), names.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{}({near})`?", key.text())),
        None => error.help(format!("its jobs are {}", enumeration(&names, "and"))),
    }))
}

fn is_pacing(key: &Key) -> bool {
    key.place == Place::When
}

fn is_job(section: &Section<'_>) -> bool {
    let name = section.name.as_str();
    let makes_job = section.entries.iter().any(|entry| keys::makes_a_job(entry.key().text()));
    makes_job && !matches!(name, "setup" | "teardown")
}

fn no_pacing_key(key: Excerpt<'_>) -> Diagnostic {
    let text = key.text();
    let error = key.error(format!("{} is not a pacing key of a job", quoted(text)));
    let known = || keys::of(Owner::Job).filter(|key| is_pacing(key)).map(|key| key.name);
    if let Some(near) = nearest(text, known()) {
        return error.did_you_mean(Some(near));
    }
    let listed: Vec<&str> = known().collect();
    match keys::find(Owner::Job, text) {
        Some(_) => error.help(format!(
            "make its value a parameter of the workload, `{text} = ${{{text}}}`, and set it here \
             with `set.{text}`"
        )),
        None => error.help(format!("pacing keys are {}", enumeration(&listed, "and"))),
    }
}

/// Reports URL options of a target that has none, and settings of a server that is not private.
pub(super) fn reject_idle_options(draft: &ArmDraft, target: Option<&Target>, sink: &mut Sink) {
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

/// Returns a name for a message, without the marks that quoting adds.
pub(super) fn bare(name: &str) -> String {
    quoted(name).trim_matches('`').to_owned()
}
