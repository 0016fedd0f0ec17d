//! Sources that could not be observed.

use std::borrow::Cow;

use analyze::limiting::{Contradiction, Unseen};

/// Returns the name of a source.
pub(crate) fn source(unseen: &Unseen) -> &str {
    match unseen {
        Unseen::Reported { what, .. } => what,
        Unseen::CountersReset => "counters",
        Unseen::Contradiction(_) => "sessions that seem to run",
    }
}

/// Returns the reason why it was not observed, or not in full.
pub(crate) fn reason(unseen: &Unseen) -> Cow<'_, str> {
    match unseen {
        Unseen::Reported { why, .. } => Cow::Borrowed(why),
        Unseen::CountersReset => Cow::Borrowed(
            "they were reset in the window: the server was restarted, or its statistics were \
             cleared",
        ),
        Unseen::Contradiction(Contradiction { running, active, used, waited, unexplained }) => {
            Cow::Owned(format!(
                "the database shows {running:.1} of {active:.1} active sessions as running, and \
                 its processes used {used:.1} processors and waited for {waited:.1}: \
                 {unexplained:.1} sessions wait for an unknown event or run on another host"
            ))
        }
    }
}
