//! The schemas of the repository, and whether a document keeps to them.

use std::path::Path;

use jsonschema::{Draft, Validator};
use serde_json::Value;

/// A schema by the name of its file, as JSON.
pub(crate) fn text_of(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A schema by the name of its file, ready to judge; formats are checked too.
pub(crate) fn schema(name: &str) -> Validator {
    let options = jsonschema::options().with_draft(Draft::Draft202012);
    options.should_validate_formats(true).build(&text_of(name)).unwrap()
}

/// What is wrong with a document, one complaint per fault, each with its place.
pub(crate) fn complaints(schema: &Validator, document: &Value) -> Vec<String> {
    let errors = schema.iter_errors(document);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}
