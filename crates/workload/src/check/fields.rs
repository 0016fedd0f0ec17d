//! Which keys does a section set? The table of keys decides what may stand where.

use std::collections::HashMap;

use base::Diagnostic;

use super::Checker;
use crate::keys::{self, Key, Owner};
use crate::missing;
use crate::read::Entry;
use crate::wording::{nearest, quoted};

/// The keys of a section that are known there.
pub(super) struct Fields<'f> {
    found: Vec<(&'static Key, &'f Entry<'f>)>,
}

impl<'f> Fields<'f> {
    /// The key with this name, if it is set.
    pub(super) fn one(&self, name: &str) -> Option<&'f Entry<'f>> {
        self.all(name).next()
    }

    /// Every line that sets this key.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &'f Entry<'f>> {
        let named = move |(key, entry): &(&'static Key, &'f Entry<'f>)| {
            (key.name == name).then_some(*entry)
        };
        self.found.iter().filter_map(named)
    }
}

impl<'f> Checker<'f> {
    /// The keys of a section, after complaints about unknown, misplaced and repeated ones;
    /// `whereabouts` says where they stand: `in job [read]`.
    pub(super) fn fields(
        &mut self,
        entries: &'f [Entry<'f>],
        owner: Owner,
        whereabouts: &str,
    ) -> Fields<'f> {
        let mut found: Vec<(&'static Key, &'f Entry<'f>)> = Vec::new();
        let mut first: HashMap<&'static str, &'f Entry<'f>> = HashMap::new();
        for entry in entries {
            let Some(key) = keys::find(owner, entry.key().text()) else {
                self.sink.error(|| unknown_key(entry, owner, whereabouts));
                continue;
            };
            let earlier = *first.entry(key.name).or_insert(entry);
            if key.repeatable || std::ptr::eq(earlier, entry) {
                found.push((key, entry));
            } else {
                self.repeated(entry, earlier, whereabouts);
            }
        }
        Fields { found }
    }

    fn repeated(&mut self, entry: &Entry<'_>, earlier: &Entry<'_>, whereabouts: &str) {
        let file = self.file;
        self.sink.error(|| {
            let start = earlier.key().span().unwrap_or_default().start;
            let (name, line) = (quoted(entry.key().text()), file.line_number(start));
            let first = match earlier.key().text() == entry.key().text() {
                true => "the first".to_owned(),
                false => format!("its other name {}", quoted(earlier.key().text())),
            };
            let message = format!("{name} is repeated {whereabouts}; {first} is in line {line}");
            entry.key().error(message).help("remove one of the two")
        });
    }
}

fn unknown_key(entry: &Entry<'_>, owner: Owner, whereabouts: &str) -> Diagnostic {
    let name = entry.key().text();
    let known = |name: &str| keys::find(owner, name).is_some();
    if missing::key(name, known) {
        return missing::error(entry.key().span(), name);
    }
    if let Some(other) = keys::ALL.iter().find(|key| key.name == name || key.alias == Some(name)) {
        let home = other.place.owner().whereabouts();
        let message = format!("{} is no key {whereabouts}", quoted(name));
        return entry.key().error(message).help(format!("it belongs {home}"));
    }
    let error = entry.key().error(format!("unknown key {} {whereabouts}", quoted(name)));
    let here = keys::of(owner).flat_map(|key| [Some(key.name), key.alias]).flatten();
    if let Some(near) = nearest(name, here) {
        return error.did_you_mean(Some(near));
    }
    let elsewhere = nearest(name, keys::ALL.iter().map(|key| key.name));
    match keys::ALL.iter().find(|key| elsewhere == Some(key.name)) {
        Some(near) => {
            let home = near.place.owner().whereabouts();
            error.help(format!("did you mean `{}`? it belongs {home}", near.name))
        }
        None => {
            let names: Vec<&str> = keys::of(owner).map(|key| key.name).collect();
            error.help(format!("keys here are {}", names.join(", ")))
        }
    }
}
