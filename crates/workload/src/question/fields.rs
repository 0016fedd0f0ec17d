//! The lines of a section of an experiment file, with the keys that the section may have.

use base::Diagnostic;

use crate::keys::{self, Form, Key, SectionKind};
use crate::read::{Entry, Excerpt, File, Section};
use crate::sink::Sink;
use crate::wording::{enumeration, nearest, quoted};

/// The lines of a section with known keys, in file order.
pub(super) struct Fields<'f> {
    found: Vec<(&'static Key, &'f Entry<'f>)>,
}

impl<'f> Fields<'f> {
    /// Returns the valid lines of a section; reports unknown and repeated keys, and missing values.
    pub(super) fn of(
        file: &File<'_>,
        section: &'f Section<'f>,
        owner: SectionKind,
        sink: &mut Sink,
    ) -> Fields<'f> {
        let location_text = format!("in [{}]", section.name);
        let mut found: Vec<(&'static Key, &'f Entry<'f>)> = Vec::new();
        for entry in &section.entries {
            let name = entry.key().text();
            let Some(key) = keys::find(owner, name) else {
                sink.error(|| unknown(entry, owner, &location_text));
                continue;
            };
            let earlier = found.iter().find(|(_, other)| other.key().text() == name);
            match earlier.filter(|_| !key.repeatable) {
                Some((_, first)) => sink.error(|| repeated(file, entry, first, &location_text)),
                None if entry.value().text().is_empty() => sink.error(|| no_value(key, entry)),
                None => found.push((key, entry)),
            }
        }
        Fields { found }
    }

    /// Returns the lines with their keys.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static Key, &'f Entry<'f>)> {
        self.found.iter().copied()
    }

    /// Returns the values of the lines that set a key.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = Excerpt<'f>> {
        self.found.iter().filter(move |(key, _)| key.name == name).map(|(_, entry)| entry.value())
    }

    /// Returns the value of the first line that sets a key.
    pub(super) fn one(&self, name: &str) -> Option<Excerpt<'f>> {
        self.values(name).next()
    }

    /// Returns the index of a key's value among the words that the table of keys lists; reports any
    /// other word.
    pub(super) fn choice(&self, owner: SectionKind, name: &str, sink: &mut Sink) -> Option<usize> {
        let value = self.one(name)?;
        let Form::Choice(words) = keys::find(owner, name)?.form else { return None };
        let place = words.iter().position(|word| *word == value.text());
        if place.is_none() {
            sink.error(|| {
                let (found, listed) = (quoted(value.text()), enumeration(words, "or"));
                let message = format!("unknown value {found} for `{name}`; expected {listed}");
                value.error(message).did_you_mean(nearest(value.text(), words.iter().copied()))
            });
        }
        place
    }
}

fn unknown(entry: &Entry<'_>, owner: SectionKind, location_text: &str) -> Diagnostic {
    let name = entry.key().text();
    if let Some(other) = keys::ALL.iter().find(|key| key.is_named(name)) {
        let message = format!("{} is not a key {location_text}", quoted(name));
        let home = other.place.owner();
        let help = match home {
            SectionKind::Question
            | SectionKind::Arm
            | SectionKind::Capacity
            | SectionKind::Sweep
            | SectionKind::Saturate => {
                format!("it belongs {}", home.location_text())
            }
            SectionKind::Job if owner == SectionKind::Arm && other.is_pacing() => {
                format!("write `{name}(JOB)`, with the name of a job")
            }
            _ => format!("write it into the workload, {}", home.location_text()),
        };
        return entry.key().error(message).help(help);
    }
    let error = entry.key().error(format!("unknown key {} {location_text}", quoted(name)));
    match nearest(name, keys::of(owner).flat_map(Key::names)) {
        Some(near) => error.did_you_mean(Some(near)),
        None => {
            let names: Vec<&str> = keys::of(owner).map(|key| key.name).collect();
            error.help(format!("keys here are {}", names.join(", ")))
        }
    }
}

fn repeated(
    file: &File<'_>,
    entry: &Entry<'_>,
    first: &Entry<'_>,
    location_text: &str,
) -> Diagnostic {
    let line = file.line_number(first.key().span().unwrap_or_default().start);
    let name = quoted(entry.key().text());
    let message = format!("{name} is repeated {location_text}; the first is in line {line}");
    entry.key().error(message).help("remove one of the two")
}

fn no_value(key: &Key, entry: &Entry<'_>) -> Diagnostic {
    let message = format!("{} has no value", quoted(entry.key().text()));
    entry.whole().error(message).help(format!("write for example `{}`", key.example))
}
