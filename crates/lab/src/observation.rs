//! What is observed beside a run: into its record.

use base::Nanos;
use observe::{Missing, Sample};
use record::Notes;

/// What the names of facts about what cannot be observed begin with.
pub(crate) const MISSING: &str = "observe.missing.";

/// Writes down what was seen at an instant after time zero.
pub(crate) fn note(notes: &Notes, at: Nanos, sample: Sample) {
    let Sample { readings, missing } = sample;
    for Missing { what, why } in missing {
        notes.setting(format!("{MISSING}{what}"), why);
    }
    if !readings.is_empty() {
        notes.readings(at, readings);
    }
}
