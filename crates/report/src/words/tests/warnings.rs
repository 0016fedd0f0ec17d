//! Sentences about meaningless successes.

use std::ops::Range;

use analyze::EmptySuccess;
use base::{Nanos, StatementId};

use crate::words::{remedy_of_warning, warning};

fn no_rows(answers: u64, statements: Range<u16>) -> EmptySuccess {
    EmptySuccess::NoRows { answers, statements: statements.map(StatementId).collect() }
}

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
        (no_rows(1_500, 0..0), "no-rows", "had 1,500 answers, and no row was returned or changed"),
        (
            no_rows(1, 2..3),
            "no-rows",
            "had 1 answer to statement 3, and no row was returned or changed",
        ),
        (
            no_rows(30, 0..3),
            "no-rows",
            "had 30 answers to statements 1, 2 and 3, and no row was returned or changed",
        ),
        (
            no_rows(30, 0..10),
            "no-rows",
            "had 30 answers to statements 1, 2, 3, 4, 5, 6, 7, 8 and 2 more, and no row was \
             returned or changed",
        ),
    ] {
        assert_eq!((empty_success.name(), warning(&empty_success).as_str()), (name, sentence));
        assert!(!remedy_of_warning(&empty_success).is_empty());
    }
}
