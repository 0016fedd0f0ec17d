//! The answer for programs: one JSON document per run.
//!
//! [`v1`] is the contract: the shapes and names that `schemas/summary.schema.json` and
//! `docs/json.md` describe. Domain types are never serialized, so that a change of one of them
//! cannot change the contract.

mod v1;

use serde_json::Value;

use crate::view::View;

/// The document of a run, `assay.summary/1`. Its keys always come in the same order, and there is
/// no number in it that is not finite.
pub fn json(view: &View) -> Value {
    serde_json::to_value(v1::Document::of(view)).expect("a document has no maps but with text keys")
}
