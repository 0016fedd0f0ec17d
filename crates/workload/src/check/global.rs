//! Global keys, above the first section.

use base::{Code, Diagnostic, Nanos, Seed, Target, TargetError};

use super::checker::Checker;
use super::fields::Fields;
use super::known::reaches_beyond_password;
use crate::keys::Owner;
use crate::plan::{Plan, Warmup};
use crate::read::Entry;
use crate::wording::{self, quoted};

/// Highest number of connections of a run.
pub const MOST_CONNECTIONS: u32 = 100_000;

/// Settings of the whole run.
pub(super) struct Global {
    pub(super) target: Option<Target>,
    pub(super) duration: Option<Nanos>,
    pub(super) warmup: Warmup,
    pub(super) drain: Nanos,
    pub(super) stall_timeout: Nanos,
    pub(super) probe: Nanos,
    pub(super) connections: Option<u32>,
    pub(super) max_connections: u32,
    pub(super) accepted: Vec<Code>,
}

impl<'f> Checker<'f> {
    /// Checks the global keys, applies the overrides of the command line, and sets the seed.
    pub(super) fn global(&mut self) -> Global {
        let mut fields = self.fields(&self.file.globals, Owner::Global, "above the first section");
        self.drop_unset(&mut fields);
        self.seed(&fields);
        let duration = self.run_length(&fields);
        let (connections, max_connections) = self.connections(&fields);
        Global {
            target: self.target(&fields),
            duration,
            warmup: self.warmup(&fields, duration),
            drain: self.duration(&fields, "drain").unwrap_or(Nanos::from_secs(10)),
            stall_timeout: self.span(&fields, "stall-timeout").unwrap_or(Plan::STALL_TIMEOUT),
            probe: self.span(&fields, "probe").unwrap_or(Nanos::from_secs(10)),
            connections,
            max_connections,
            accepted: self.codes(&fields),
        }
    }

    fn seed(&mut self, fields: &Fields<'f>) {
        let seed = self.count(fields, "seed", (0, u64::MAX)).map(Seed);
        self.seed = self.overrides.seed.or(seed).unwrap_or_default();
    }

    /// Returns the duration of the run; zero means no limit.
    fn run_length(&mut self, fields: &Fields<'f>) -> Option<Nanos> {
        let duration = self.duration(fields, "duration");
        if duration == Some(Nanos::ZERO)
            && self.overrides.duration.is_none()
            && let Some(entry) = fields.one("duration")
        {
            self.sink.warning(|| {
                entry
                    .value()
                    .warning("a duration of zero is no limit")
                    .help("leave the key out for a run until interrupted")
            });
        }
        self.overrides.duration.or(duration).filter(|duration| *duration > Nanos::ZERO)
    }

    fn warmup(&mut self, fields: &Fields<'f>, duration: Option<Nanos>) -> Warmup {
        let entry = fields.one("warmup");
        let written = match entry.filter(|entry| entry.value().text() == Warmup::AUTO) {
            Some(_) => Some(Warmup::Auto),
            None => self.duration(fields, "warmup").map(Warmup::Lasts),
        };
        let warmup = self.overrides.warmup.or(written).unwrap_or_default();
        let entry = entry.filter(|_| self.overrides.warmup.is_none());
        let span = entry.and_then(|entry| entry.value().span());
        match (warmup, duration) {
            (Warmup::Lasts(Nanos::ZERO), _) | (_, None) => {}
            (Warmup::Lasts(warmup), Some(duration)) if duration <= warmup => {
                self.sink.error(|| nothing_measured(span, warmup, duration));
            }
            (Warmup::Auto, Some(duration)) if duration < Warmup::SHORTEST_RUN => {
                self.sink.error(|| too_short_to_find(span, duration));
            }
            (Warmup::Lasts(_) | Warmup::Auto, Some(_)) => {}
        }
        warmup
    }

    fn connections(&mut self, fields: &Fields<'f>) -> (Option<u32>, u32) {
        let ends = (1, MOST_CONNECTIONS);
        let connections = self.small_count(fields, "connections", ends);
        let most = self.small_count(fields, "max-connections", ends);
        let most = self.overrides.max_connections.or(most).unwrap_or(1_000);
        if let Some(connections) = connections.filter(|connections| *connections > most)
            && let Some(entry) = fields.one("connections")
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

    fn target(&mut self, fields: &Fields<'f>) -> Option<Target> {
        if let Some(live) = self.live {
            return live.target.clone();
        }
        let overriding = self.overrides.target.clone();
        let written = fields.one("url").and_then(|entry| self.url(entry));
        overriding.or(written)
    }

    /// Parses the target of a `url` key.
    pub(super) fn url(&mut self, entry: &'f Entry<'f>) -> Option<Target> {
        let mut uses = Vec::new();
        let resolved = self.resolved_noting(entry, &mut uses);
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
            false => Target::parse(url.text()),
        };
        self.secrets.url(url.text(), &uses, target.is_ok());
        match target {
            Ok(target) => Some(target),
            Err(error) => {
                let line = self.file.line_number(url.span().unwrap_or_default().start);
                let secret = url.text().contains('@');
                self.sink.error(|| match secret {
                    // The line may hold a password, and a diagnostic with a span would print it.
                    true => wording::error(None, format!("`url` in line {line}: {error}")),
                    false => url.error(error.to_string()),
                });
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

fn too_short_to_find(span: Option<base::Span>, duration: Nanos) -> Diagnostic {
    let message = format!(
        "the end of the warm-up cannot be found in a run of {}: that takes {} or more",
        quoted(&duration.to_string()),
        quoted(&Warmup::SHORTEST_RUN.to_string())
    );
    wording::error(span, message).help("make `duration` longer, or say how long: `warmup = 10s`")
}
