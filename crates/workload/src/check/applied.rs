//! Application of overrides to a file before it is checked.
//!
//! The overrides of a section replace its lines. Overrides of keys above the first section are
//! checked in addition to the file's own lines, because a URL that is overridden still shows which
//! parameters are secret. Overrides of `[params]` replace values when the parameters are resolved.

use std::borrow::Cow;

use base::Diagnostic;

use super::dialect;
use super::name::bracketed;
use super::overrides::{Override, Overrides};
use crate::keys;
use crate::read::{Entry, File, Section, line_outside, section_name};
use crate::sink::Sink;
use crate::wording::{self, nearest};

/// Returns the file with the overridden lines of its sections replaced. Reports overrides of
/// sections that the file does not have, and overrides that cannot be written as a line of a file.
pub(super) fn apply<'a>(
    file: &'a File<'a>,
    overrides: &Overrides,
    sink: &mut Sink,
) -> Cow<'a, File<'a>> {
    let mut applied = Cow::Borrowed(file);
    for one in overrides.keys.iter().filter(|one| !one.is_global() && !one.is_param()) {
        let name = section_name(&one.section);
        let place = file.sections.iter().position(|section| section.name == name);
        match (place, line(one, sink)) {
            (None, _) => sink.error(|| no_section(file, one)),
            (Some(place), Some(entry)) => replace(&mut applied.to_mut().sections[place], entry),
            (Some(_), None) => {}
        }
    }
    applied
}

/// Returns the overrides of keys above the first section. Of several overrides of a key, the last
/// applies.
pub(super) fn globals(overrides: &Overrides, sink: &mut Sink) -> Vec<Entry<'static>> {
    let mut entries: Vec<Entry<'static>> = Vec::new();
    for one in overrides.keys.iter().filter(|one| one.is_global()) {
        entries.retain(|entry| entry.key().text() != one.key);
        entries.extend(line(one, sink));
    }
    entries
}

fn line(one: &Override, sink: &mut Sink) -> Option<Entry<'static>> {
    line_outside(&one.key, &one.value, one.option(), sink)
}

/// Replaces all lines of a section that set the key of `entry`.
fn replace<'a>(section: &mut Section<'a>, entry: Entry<'a>) {
    let is_same = |other: &Entry<'_>| sets_same_key(other.key().text(), entry.key().text());
    let entries = &section.entries;
    let place = entries.iter().position(is_same).unwrap_or(entries.len());
    section.entries.retain(|other| !is_same(other));
    section.entries.insert(place, entry);
}

/// Returns true if a line called `name` sets the key `wanted`. If `wanted` has a dialect, only the
/// identical name sets it. If `wanted` has no dialect, the name and the alias of the key set it,
/// each with or without a dialect.
fn sets_same_key(name: &str, wanted: &str) -> bool {
    if dialect::split(wanted).1.is_some() {
        return name == wanted;
    }
    let (base, _) = dialect::split(name);
    let is_other_name = |key: &keys::Key| {
        [Some(key.name), key.alias].contains(&Some(base))
            && [Some(key.name), key.alias].contains(&Some(wanted))
    };
    base == wanted || keys::ALL.iter().any(is_other_name)
}

fn no_section(file: &File<'_>, one: &Override) -> Diagnostic {
    let message = format!("the file has no section {}", bracketed(&one.section));
    let names = file.sections.iter().map(|section| section.name.as_str());
    let error = wording::error(None, message).did_you_mean(nearest(&one.section, names));
    Diagnostic { option: Some(one.option().into()), ..error }
}
