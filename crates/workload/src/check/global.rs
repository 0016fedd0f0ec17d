//! Global keys, above the first section.

use base::{Code, Diagnostic, Nanos, Seed, Target, TargetError};

use super::checker::Checker;
use super::fields::Fields;
use super::parameter_uses::reaches_beyond_password;
use crate::keys::SectionKind;
use crate::plan::{Plan, Warmup};
use crate::read::Entry;
use crate::wording::{self, quoted};

/// Maximum value of `connections`, `max-connections` and `concurrency`.
pub const MOST_CONNECTIONS: u32 = 100_000;

/// Settings of the whole run.
pub(super) struct Global {
    pub(super) target: Option<Target>,
    pub(super) duration: Option<Nanos>,
    pub(super) warmup: Warmup,
    pub(super) drain: Nanos,
    pub(super) stall_timeout: Nanos,
    pub(super) setup_timeout: Nanos,
    pub(super) probe: Nanos,
    pub(super) connections: Option<u32>,
    pub(super) max_connections: u32,
    pub(super) accepted: Vec<Code>,
}

/// The lines of global keys.
struct GlobalLines<'f> {
    /// The lines of the file.
    written: Fields<'f>,
    /// The lines that override lines of the file.
    overriding: Fields<'f>,
}

impl<'f> GlobalLines<'f> {
    /// Returns the line that sets this key, if any; an overriding line takes precedence.
    fn one(&self, key: &str) -> Option<&'f Entry<'f>> {
        self.overriding.one(key).or_else(|| self.written.one(key))
    }
}

/// Maximum length of the URL of a target, in bytes.
const LONGEST_URL: usize = 65_536;

impl<'f> Checker<'f> {
    /// Checks the global keys and their overrides, and sets the seed.
    pub(super) fn global(&mut self) -> Global {
        let whereabouts = "above the first section";
        let mut written = self.fields(&self.file.globals, SectionKind::Global, whereabouts);
        self.drop_unset(&mut written, true);
        let overriding = self.fields(self.globals, SectionKind::Global, whereabouts);
        let lines = GlobalLines { written, overriding };
        let seed = self
            .effective_value(&lines, |check, fields| check.count(fields, "seed", (0, u64::MAX)));
        self.seed = seed.map(Seed).unwrap_or_default();
        let duration = self.run_length(&lines);
        let (connections, max_connections) = self.connections(&lines);
        let span = |key| move |check: &mut Self, fields: &Fields<'f>| check.span(fields, key);
        let drain = self.effective_value(&lines, |check, fields| check.duration(fields, "drain"));
        Global {
            target: self.target(&lines),
            duration,
            warmup: self.warmup(&lines, duration),
            drain: drain.unwrap_or(Nanos::from_secs(10)),
            stall_timeout: self
                .effective_value(&lines, span("stall-timeout"))
                .unwrap_or(Plan::STALL_TIMEOUT),
            setup_timeout: self
                .effective_value(&lines, span("setup-timeout"))
                .unwrap_or(Plan::SETUP_TIMEOUT),
            probe: self.effective_value(&lines, span("probe")).unwrap_or(Nanos::from_secs(10)),
            connections,
            max_connections,
            accepted: self.accepted(&lines),
        }
    }

    /// Reads a key in the file and in the overrides, and returns the value that takes effect.
    fn effective_value<T>(
        &mut self,
        lines: &GlobalLines<'f>,
        read: impl Fn(&mut Self, &Fields<'f>) -> Option<T>,
    ) -> Option<T> {
        let written = read(self, &lines.written);
        read(self, &lines.overriding).or(written)
    }

    fn accepted(&mut self, lines: &GlobalLines<'f>) -> Vec<Code> {
        let codes = |check: &mut Self, fields: &Fields<'f>| {
            let codes = check.codes(fields);
            fields.one("error").map(|_| codes)
        };
        self.effective_value(lines, codes).unwrap_or_default()
    }

    /// Returns the duration of the run; `None` if there is no limit, as with a duration of zero.
    fn run_length(&mut self, lines: &GlobalLines<'f>) -> Option<Nanos> {
        let duration =
            self.effective_value(lines, |check, fields| check.duration(fields, "duration"));
        if duration == Some(Nanos::ZERO)
            && lines.overriding.one("duration").is_none()
            && let Some(entry) = lines.written.one("duration")
        {
            self.sink.warning(|| {
                entry
                    .value()
                    .warning("a duration of zero means no limit")
                    .help("leave the key out for a run until interrupted")
            });
        }
        duration.filter(|duration| *duration > Nanos::ZERO)
    }

    fn warmup(&mut self, lines: &GlobalLines<'f>, duration: Option<Nanos>) -> Warmup {
        let read = |check: &mut Self, fields: &Fields<'f>| match fields
            .one("warmup")
            .filter(|entry| entry.value().text() == Warmup::AUTO)
        {
            Some(_) => Some(Warmup::Auto),
            None => check.duration(fields, "warmup").map(Warmup::Lasts),
        };
        let warmup = self.effective_value(lines, read).unwrap_or_default();
        let span = lines.one("warmup").and_then(|entry| entry.value().span());
        match (warmup, duration) {
            (Warmup::Lasts(Nanos::ZERO), _) | (_, None) => {}
            (Warmup::Lasts(warmup), Some(duration)) if duration <= warmup => {
                self.sink.error(|| nothing_measured(span, warmup, duration));
            }
            (Warmup::Auto, Some(duration)) if duration < Warmup::SHORTEST_RUN => {
                self.sink.error(|| too_short_for_auto(span, duration));
            }
            (Warmup::Lasts(_) | Warmup::Auto, Some(_)) => {}
        }
        warmup
    }

    fn connections(&mut self, lines: &GlobalLines<'f>) -> (Option<u32>, u32) {
        let ends = (1, MOST_CONNECTIONS);
        let count =
            |key| move |check: &mut Self, fields: &Fields<'f>| check.small_count(fields, key, ends);
        let connections = self.effective_value(lines, count("connections"));
        let most = self.effective_value(lines, count("max-connections")).unwrap_or(1_000);
        if let Some(connections) = connections.filter(|connections| *connections > most)
            && let Some(entry) = lines.one("connections")
        {
            self.sink.error(|| {
                let message =
                    format!("`connections` is {connections}, but `max-connections` is {most}");
                let help = format!("write `max-connections = {connections}`");
                entry.value().error(message).help(help)
            });
        }
        (connections, most)
    }

    fn target(&mut self, lines: &GlobalLines<'f>) -> Option<Target> {
        if let Some(running_plan) = self.running_plan {
            return running_plan.target.clone();
        }
        // The file's URL is checked in any case: it shows which parameters are secret.
        let url = self.effective_value(lines, |check, fields| check.url(fields.one("url")?));
        self.overrides.target.clone().or(url)
    }

    /// Parses the target of a `url` key; `None` if an error was reported.
    pub(super) fn url(&mut self, entry: &'f Entry<'f>) -> Option<Target> {
        let mut uses = Vec::new();
        let resolved = self.resolved_recording_uses(entry, &mut uses);
        let Some(resolved) = resolved else {
            self.secrets.url("", &uses, false);
            return None;
        };
        let url = resolved.excerpt();
        let before = url.place().start;
        for one in uses.iter_mut().filter(|_| entry.value().text().contains("${")) {
            let shifted = |at: usize| at.saturating_sub(before);
            one.place = shifted(one.place.start)..shifted(one.place.end);
        }
        let target = match reaches_beyond_password(url.text(), &uses) {
            true => Err(TargetError::Endpoint(
                "a parameter in the password holds an `@`, a `/` or a `?`: write them as %40, %2F \
                 and %3F",
            )),
            false if url.text().len() > LONGEST_URL => {
                Err(TargetError::Endpoint("the URL is longer than 64 KiB"))
            }
            false => Target::parse(url.text()),
        };
        self.secrets.url(url.text(), &uses, target.is_ok());
        match target {
            Ok(target) => Some(target),
            Err(error) => {
                self.sink.error(|| self.file.invalid_url(url, &error));
                None
            }
        }
    }
}

fn nothing_measured(span: Option<base::Span>, warmup: Nanos, duration: Nanos) -> Diagnostic {
    let message = format!(
        "nothing would be measured: the warm-up is {}, the whole run {}",
        quoted(&warmup.to_string()),
        quoted(&duration.to_string())
    );
    wording::error(span, message).help("`duration` includes the warm-up: make it longer")
}

fn too_short_for_auto(span: Option<base::Span>, duration: Nanos) -> Diagnostic {
    let message = format!(
        "the end of the warm-up cannot be found in a run of {}: that takes {} or more",
        quoted(&duration.to_string()),
        quoted(&Warmup::SHORTEST_RUN.to_string())
    );
    wording::error(span, message).help("make `duration` longer, or say how long: `warmup = 10s`")
}
