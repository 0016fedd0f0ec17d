//! The known keys of a section, taken from the table of keys. A dialect after the name of a key
//! limits its line to one database.

use std::collections::HashMap;

use base::{Diagnostic, Dialect};

use super::checker::Checker;
use super::dialect;
use crate::keys::{self, Key, SectionKind};
use crate::read::{Entry, File};
use crate::sink::Sink;
use crate::unsupported;
use crate::wording::{enumeration, nearest, quoted};

/// The lines of a section whose keys are known there.
pub(super) struct Fields<'f> {
    found: Vec<(&'static Key, &'f Entry<'f>)>,
}

impl<'f> Fields<'f> {
    /// Returns the line that sets this key, if any.
    pub(super) fn one(&self, name: &str) -> Option<&'f Entry<'f>> {
        self.all(name).next()
    }

    /// Returns every line that sets one of these keys, in file order.
    pub(super) fn any(
        &self,
        names: &[&str],
    ) -> impl Iterator<Item = (&'static str, &'f Entry<'f>)> {
        let named = |(key, entry): &(&'static Key, &'f Entry<'f>)| {
            names.contains(&key.name).then_some((key.name, *entry))
        };
        self.found.iter().filter_map(named)
    }

    /// Removes a line, as if the file did not have it.
    pub(super) fn remove(&mut self, entry: &Entry<'_>) {
        self.found.retain(|(_, other)| !std::ptr::eq(*other, entry));
    }

    /// Returns every line for whose key `wanted` is true, in file order, with the name of the key
    /// in the table of keys.
    pub(super) fn entries_where(
        &self,
        wanted: impl Fn(&Key) -> bool,
    ) -> impl Iterator<Item = (&'static str, &'f Entry<'f>)> {
        let found = self.found.iter().filter(move |(key, _)| wanted(key));
        found.map(|(key, entry)| (key.name, *entry))
    }

    /// Returns every line that sets this key.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &'f Entry<'f>> {
        let named = move |(key, entry): &(&'static Key, &'f Entry<'f>)| {
            (key.name == name).then_some(*entry)
        };
        self.found.iter().filter_map(named)
    }
}

/// The lines of a section, with the context in which their keys are looked up.
pub(super) struct SectionLines<'f, 't> {
    /// The file of the section.
    pub(super) file: &'f File<'f>,
    /// The lines.
    pub(super) entries: &'f [Entry<'f>],
    /// The kind of the section.
    pub(super) owner: SectionKind,
    /// The dialect of the section's target.
    pub(super) dialect: Dialect,
    /// The words by which messages locate the section: `in job [read]`.
    pub(super) location_text: &'t str,
}

impl<'f> Checker<'f> {
    /// Does the same as [`fields_in`](Self::fields_in), in the dialect of the main target.
    pub(super) fn fields(
        &mut self,
        entries: &'f [Entry<'f>],
        owner: SectionKind,
        location_text: &str,
    ) -> Fields<'f> {
        self.fields_in(self.dialect, entries, owner, location_text)
    }

    /// Returns the lines of a section that set known keys for the dialect of its target, and
    /// reports unknown, misplaced and repeated keys. `location_text` locates the section in
    /// messages: `in job [read]`.
    pub(super) fn fields_in(
        &mut self,
        dialect_of_target: Dialect,
        entries: &'f [Entry<'f>],
        owner: SectionKind,
        location_text: &str,
    ) -> Fields<'f> {
        let file = self.file;
        let lines =
            SectionLines { file, entries, owner, dialect: dialect_of_target, location_text };
        lines.fields(&mut self.sink)
    }
}

impl<'f> SectionLines<'f, '_> {
    /// Returns the lines that set known keys for the dialect, and reports unknown, misplaced and
    /// repeated keys to `sink`.
    pub(super) fn fields(&self, sink: &mut Sink) -> Fields<'f> {
        let SectionLines { owner, location_text, .. } = *self;
        let mut found: Vec<(&'static Key, &'f Entry<'f>)> = Vec::new();
        let mut first: HashMap<(&'static str, Option<Dialect>), &'f Entry<'f>> = HashMap::new();
        for entry in self.entries {
            let (name, dialect) = dialect::split(entry.key().text());
            let Some(key) = keys::find(owner, name) else {
                sink.error(|| unknown_key(entry, owner, location_text));
                continue;
            };
            if dialect.is_some() && !key.by_dialect {
                sink.error(|| match owner == SectionKind::Global {
                    true => holds_for_all(entry, name),
                    false => unexpected_dialect(entry),
                });
                continue;
            }
            let earlier = *first.entry((key.name, dialect)).or_insert(entry);
            if !key.repeatable && !std::ptr::eq(earlier, entry) {
                sink.error(|| self.repeated(entry, earlier));
            } else if dialect.is_none_or(|dialect| dialect == self.dialect) {
                found.push((key, entry));
            }
        }
        let special =
            |key: &Key| !key.repeatable && first.contains_key(&(key.name, Some(self.dialect)));
        let is_plain = |entry: &Entry<'_>| dialect::split(entry.key().text()).1.is_none();
        found.retain(|(key, entry)| !(special(key) && is_plain(entry)));
        Fields { found }
    }

    fn repeated(&self, entry: &Entry<'_>, earlier: &Entry<'_>) -> Diagnostic {
        let start = earlier.key().span().unwrap_or_default().start;
        let (name, line) = (quoted(entry.key().text()), self.file.line_number(start));
        let first = match earlier.key().text() == entry.key().text() {
            true => "the first".to_owned(),
            false => format!("its other name {}", quoted(earlier.key().text())),
        };
        let place = self.location_text;
        let message = format!("{name} is repeated {place}; {first} is in line {line}");
        entry.key().error(message).help("remove one of the two")
    }
}

fn holds_for_all(entry: &Entry<'_>, name: &str) -> Diagnostic {
    let message =
        format!("{} names a database above the first section", quoted(entry.key().text()));
    entry.key().error(message).help(format!("these keys apply to every database: write `{name}`"))
}

fn unexpected_dialect(entry: &Entry<'_>) -> Diagnostic {
    let message = format!("{} cannot depend on the database", quoted(entry.key().text()));
    entry.key().error(message).help("`target` selects the database: write it without a suffix")
}

fn unknown_key(entry: &Entry<'_>, owner: SectionKind, location_text: &str) -> Diagnostic {
    let name = entry.key().text();
    if unsupported::is_unsupported_key(name) {
        return unsupported::error(entry.key().span(), name);
    }
    if let Some((base, dialect)) = name.split_once('.')
        && keys::find(owner, base).is_some()
    {
        let words = Dialect::ALL.map(Dialect::name);
        let error = entry.key().error(format!("{} names no database", quoted(name)));
        return match nearest(dialect, words) {
            Some(near) => error.help(format!("did you mean `{base}.{near}`?")),
            None => error.help(format!("write `{base}.` with {}", enumeration(&words, "or"))),
        };
    }
    if let Some(other) = keys::ALL.iter().find(|key| key.is_named(name)) {
        let home = other.place.owner().location_text();
        let message = format!("{} is not a key {location_text}", quoted(name));
        return entry.key().error(message).help(format!("it belongs {home}"));
    }
    let error = entry.key().error(format!("unknown key {} {location_text}", quoted(name)));
    let here = keys::of(owner).flat_map(Key::names);
    if let Some(near) = nearest(name, here) {
        return error.did_you_mean(Some(near));
    }
    let elsewhere = nearest(name, keys::ALL.iter().map(|key| key.name));
    match keys::ALL.iter().find(|key| elsewhere == Some(key.name)) {
        Some(near) => {
            let home = near.place.owner().location_text();
            error.help(format!("did you mean `{}`? it belongs {home}", near.name))
        }
        None => {
            let names: Vec<&str> = keys::of(owner).map(|key| key.name).collect();
            error.help(format!("keys here are {}", names.join(", ")))
        }
    }
}
