//! Mixes: `mix = NAME: 80, NAME: 20`, sections that share the requests of one job by weight.

use std::collections::{BTreeMap, HashMap, HashSet};

use base::Diagnostic;

use super::checker::Checker;
use super::dialect;
use super::fields::{Fields, SectionLines};
use super::kind::Kind;
use super::name::bracketed;
use crate::keys::SectionKind;
use crate::read::{Entry, Excerpt, Section, section_name};
use crate::sink::Sink;
use crate::wording::{nearest, quoted};

/// Help for a malformed mix.
const EXAMPLE: &str = "write for example `mix = read: 80, write: 20`";

/// Maximum number of sections in a mix.
const MOST_PARTS: usize = 1_000;

/// All mixes of a file.
#[derive(Default)]
pub(super) struct Mixes<'f> {
    /// The parts of each mix, by the name of its section.
    parts: HashMap<&'f str, Vec<Part<'f>>>,
    /// The names of the sections that run only as parts of mixes.
    only_in_mixes: HashSet<&'f str>,
}

/// A section in a mix.
#[derive(Clone, Copy)]
pub(super) struct Part<'f> {
    pub(super) section: &'f Section<'f>,
    pub(super) weight: u32,
    /// True if the section also runs on its own.
    pub(super) has_pacing: bool,
}

impl<'f> Mixes<'f> {
    fn add(&mut self, mix: &'f Section<'f>, parts: Vec<Part<'f>>) {
        let without_pacing = parts.iter().filter(|part| !part.has_pacing);
        self.only_in_mixes.extend(without_pacing.map(|part| part.section.name.as_str()));
        self.parts.insert(&mix.name, parts);
    }

    /// Returns the parts of a mix; empty if the section is not a mix.
    pub(super) fn parts(&self, section: &Section<'_>) -> &[Part<'f>] {
        self.parts.get(section.name.as_str()).map_or(&[], Vec::as_slice)
    }

    /// Returns true if a section runs only as a part of mixes.
    pub(super) fn runs_only_in_mixes(&self, section: &Section<'_>) -> bool {
        self.only_in_mixes.contains(section.name.as_str())
    }
}

/// The jobs of a file by their names.
type Jobs<'f> = BTreeMap<&'f str, &'f Section<'f>>;

impl<'f> Checker<'f> {
    /// Returns the line that sets a key of a section for the section's target, if there is one.
    fn line(&self, section: &'f Section<'f>, key: &str) -> Option<&'f Entry<'f>> {
        dialect::line(section, key, self.dialect_of(section))
    }

    /// Finds the mixes of a file and their parts.
    pub(super) fn mixes(&mut self, sections: &[(Kind<'f>, &'f Section<'f>)]) -> Mixes<'f> {
        let is_job = |(kind, _): &&(Kind<'f>, &'f Section<'f>)| *kind == Kind::Job;
        let jobs: Vec<&'f Section<'f>> =
            sections.iter().filter(is_job).map(|(_, section)| *section).collect();
        let by_name = jobs.iter().map(|job| (job.name.as_str(), *job)).collect();
        let mut mixes = Mixes::default();
        for section in jobs {
            if let Some(entry) = self.line(section, "mix") {
                let parts = self.portions(section, entry, &by_name);
                mixes.add(section, parts);
            }
        }
        mixes
    }

    fn portions(
        &mut self,
        mix: &Section<'_>,
        entry: &'f Entry<'f>,
        jobs: &Jobs<'f>,
    ) -> Vec<Part<'f>> {
        let mut parts: Vec<Part<'f>> = Vec::new();
        if entry.value().text().is_empty() {
            self.sink.error(|| entry.whole().error("the mix names no section").help(EXAMPLE));
        }
        for item in entry.value().list() {
            if parts.len() >= MOST_PARTS {
                self.sink.error(|| item.error("a mix has at most 1,000 sections"));
                break;
            }
            match self.portion(mix, item, jobs) {
                Ok(part) if parts.iter().any(|p| std::ptr::eq(p.section, part.section)) => {
                    self.sink.error(|| {
                        let name = quoted(&part.section.name);
                        item.error(format!("{name} occurs twice in the mix"))
                            .help("name it once, with both weights together")
                    });
                }
                Ok(part) => parts.push(part),
                Err(diagnostic) => self.sink.error(|| *diagnostic),
            }
        }
        parts
    }

    /// Reports keys that belong to the mix, such as `count` or `target`, in a section that runs
    /// only as a part of a mix. `is_session` is true if each of its requests is a session.
    pub(super) fn reject_pacing_in_part(
        &mut self,
        fields: &Fields<'f>,
        mix: &Section<'_>,
        is_session: bool,
    ) {
        // A session pauses between its statements, a client of a closed mix between its requests.
        let thinks = fields.one("think").filter(|_| !is_session);
        let thinks = thinks.map(|entry| ("think", entry));
        for (name, entry) in fields.entries_where(|key| !key.allowed_in_part).chain(thinks) {
            let mix = bracketed(&mix.name);
            self.sink.error(|| {
                entry
                    .key()
                    .error(format!("{} belongs to the mix {mix}", quoted(name)))
                    .help("the section runs only as a part of it, when the mix says so")
            });
        }
    }

    /// Reports a session in a mix whose requests are sent by clients.
    pub(super) fn reject_session_in_closed_mix(&mut self, fields: &Fields<'f>, mix: &Section<'_>) {
        let Some(entry) = fields.one("session") else { return };
        self.sink.error(|| {
            let mix = bracketed(&mix.name);
            let message = format!("the requests of the mix {mix} do not arrive");
            entry.whole().error(message).help("sessions need arrivals: give the mix a `rate`")
        });
    }

    /// Reports keys that have no meaning in a mix.
    pub(super) fn reject_keys_in_mix(&mut self, fields: &Fields<'f>) {
        for (name, entry) in fields.entries_where(|key| !key.allowed_with_mix) {
            self.sink.error(|| {
                entry
                    .key()
                    .error(format!("{} and `mix` cannot be set together", quoted(name)))
                    .help("a mix sends what its sections say: write it in one of them")
            });
        }
    }

    /// Parses one `NAME: WEIGHT`; the default weight is 1.
    fn portion(
        &self,
        mix: &Section<'_>,
        item: Excerpt<'_>,
        jobs: &Jobs<'f>,
    ) -> Result<Part<'f>, Box<Diagnostic>> {
        let find = |name: Excerpt<'_>| jobs.get(&*section_name(name.text())).copied();
        // The name itself may have a colon.
        let (name, weight) = match item.text().rfind(':').filter(|_| find(item).is_none()) {
            Some(colon) => {
                let weight = item.part(colon + 1..item.text().len()).trim();
                (item.part(0..colon).trim(), Some(weight))
            }
            None => (item, None),
        };
        if name.text().is_empty() {
            return Err(Box::new(
                item.error("the name of a section is missing in the mix").help(EXAMPLE),
            ));
        }
        let weight = match weight {
            None => 1,
            Some(weight) => match base::units::parse_count(weight.text()) {
                Ok(number @ 1..=1_000_000) => number as u32,
                Ok(_) => {
                    let message =
                        format!("{} is not between 1 and 1,000,000", quoted(weight.text()));
                    return Err(Box::new(weight.error(message).help(EXAMPLE)));
                }
                Err(error) => {
                    let message = format!("{} {error}", quoted(weight.text()));
                    return Err(Box::new(weight.error(message).help(EXAMPLE)));
                }
            },
        };
        let Some(section) = find(name) else {
            let others = jobs.values().filter(|job| self.line(job, "mix").is_none());
            let names = others.map(|job| job.name.as_str());
            let error = name.error(format!("there is no job {}", bracketed(name.text())));
            return Err(Box::new(match nearest(name.text(), names) {
                Some(near) => error.did_you_mean(Some(near)),
                None => error.help("a mix names sections that have a `query`"),
            }));
        };
        if section.name == mix.name {
            return Err(Box::new(name.error("the mix names itself").help("name other sections")));
        }
        let is_set = |key: &str| self.line(section, key).is_some();
        if is_set("command") || is_set("query-log-file") {
            let what =
                if is_set("command") { "runs a program" } else { "has the times of its log" };
            let message = format!("{} {what}", bracketed(&section.name));
            let error = name.error(message).help("a mix names sections that send statements");
            return Err(Box::new(error));
        }
        if is_set("mix") {
            let message = format!("{} is a mix itself", bracketed(&section.name));
            return Err(Box::new(name.error(message).help("name the sections that it is made of")));
        }
        Ok(Part { section, weight, has_pacing: self.has_pacing(section) })
    }

    /// Returns true if a section has a pacing of its own. Errors in its lines are reported when the
    /// section is checked.
    fn has_pacing(&self, section: &'f Section<'f>) -> bool {
        let (file, owner, dialect) = (self.file, SectionKind::Job, self.dialect_of(section));
        let entries = section.entries.as_slice();
        let lines = SectionLines { file, entries, owner, dialect, location_text: "" };
        let fields = lines.fields(&mut Sink::default());
        let mut pacing = fields.entries_where(|key| key.sets_pacing);
        pacing.any(|(name, entry)| !self.is_unset(name, entry))
    }
}
