//! Observations of each component, reported if the limiter is unknown.

use analyze::Seen;

use crate::text::page::Page;
use crate::words::other_program;

/// Writes utilisations, waits and other programs, each on a line if there are any.
pub(super) fn write(page: &mut Page, seen: &Seen) {
    let utilisations = seen.utilisations.iter();
    let utilisations = utilisations.map(|(name, share)| format!("{name} {:.0} %", share * 100.0));
    let waits = seen.waits.iter().map(|(name, sessions)| format!("{name} {sessions:.1}"));
    let programs = seen.programs.iter().map(|program| match &program.host {
        Some(host) => format!("{} on {host}", other_program(program)),
        None => other_program(program),
    });
    for (lead, words) in [
        ("Utilisation", utilisations.collect::<Vec<_>>()),
        ("Waits of the active sessions, by their mean number", waits.collect()),
        ("Other programs, by the processors that they used", programs.collect()),
    ] {
        if !words.is_empty() {
            page.note(&format!("{lead}: {}.", words.join(", ")));
        }
    }
}
