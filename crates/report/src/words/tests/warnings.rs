//! Sentences about meaningless successes.

use analyze::EmptySuccess;
use base::Nanos;

use crate::words::{remedy_of_warning, warning};

#[test]
fn every_warning_has_a_sentence_and_a_remedy() {
    for (empty_success, name, sentence) in [
        (
            EmptySuccess::NothingDue { first: Some(Nanos::from_secs(90)) },
            "nothing-due",
            "made no request: its first was due 90 s after time zero, after the end of the job",
        ),
        (
            EmptySuccess::NothingDue { first: None },
            "nothing-due",
            "made no request in the whole run",
        ),
        (
            EmptySuccess::NoRows { answers: 1_500 },
            "no-rows",
            "had 1,500 answers, and no row was returned or changed",
        ),
    ] {
        assert_eq!((empty_success.name(), warning(empty_success).as_str()), (name, sentence));
        assert!(!remedy_of_warning(empty_success).is_empty());
    }
}
