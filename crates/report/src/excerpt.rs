//! Excerpts of statements and tables, as JSON.

use record::Excerpt;
use serde_json::{Value, json};

/// Returns one JSON object for each excerpt.
pub(crate) fn documents(excerpts: &[Excerpt]) -> Vec<Value> {
    let document = |excerpt: &Excerpt| {
        let Excerpt { subject, kind, titles, rows } = excerpt;
        json!({ "of": subject, "kind": kind.name(), "titles": titles, "rows": rows })
    };
    excerpts.iter().map(document).collect()
}
