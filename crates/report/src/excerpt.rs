//! Excerpts of statements and tables, for programs.

use record::Excerpt;
use serde_json::{Value, json};

/// Returns the document of excerpts.
pub(crate) fn documents(excerpts: &[Excerpt]) -> Vec<Value> {
    let document = |excerpt: &Excerpt| {
        let Excerpt { subject, kind, titles, rows } = excerpt;
        json!({ "of": subject, "kind": kind.name(), "titles": titles, "rows": rows })
    };
    excerpts.iter().map(document).collect()
}
