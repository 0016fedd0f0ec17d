//! Sources that could not be observed.

use std::borrow::Cow;

use analyze::RequestsUnseen;
use analyze::limiting::{Contradiction, UnobservedSource};

use crate::number::fixed;

/// Returns the name of a source.
pub(crate) fn unseen_source(unseen: &UnobservedSource) -> &str {
    match unseen {
        UnobservedSource::Reported { what, .. } => what,
        UnobservedSource::CountersReset => "counters",
        UnobservedSource::Contradiction(_) => "sessions that seem to run",
    }
}

/// Returns the reason why a source was not observed, or not completely.
pub(crate) fn reason(unseen: &UnobservedSource) -> Cow<'_, str> {
    match unseen {
        UnobservedSource::Reported { why, .. } => Cow::Borrowed(why),
        UnobservedSource::CountersReset => Cow::Borrowed(
            "they were reset in the window: the server was restarted, or its statistics were \
             cleared",
        ),
        UnobservedSource::Contradiction(Contradiction {
            running,
            active,
            used,
            waited,
            unexplained,
        }) => Cow::Owned(format!(
            "the database shows {} of {} active sessions as running, and its processes used \
                 {} processors and waited for {}: {} sessions wait for an unknown event or run on \
                 another host",
            fixed(*running, 1),
            fixed(*active, 1),
            fixed(*used, 1),
            fixed(*waited, 1),
            fixed(*unexplained, 1)
        )),
    }
}

/// Returns the sentence about an observed program whose requests are unknown, with the reason.
pub(crate) fn unseen_requests(why: RequestsUnseen) -> String {
    let why = match why {
        RequestsUnseen::UnixSocket => "the kernel counts none over a Unix socket",
        RequestsUnseen::NoConnection => {
            "the program has no TCP connection to the server of the URL or to a pooler of it"
        }
        RequestsUnseen::NotCounted => "its connections were not seen, or not counted",
    };
    format!("requests unknown ({why})")
}
