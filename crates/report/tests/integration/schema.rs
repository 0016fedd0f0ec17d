//! The schemas of the repository, and the validation of documents.

use std::path::Path;

use jsonschema::{Draft, Validator};
use serde_json::Value;

/// Reads a schema by the name of its file, as JSON.
pub(crate) fn text_of(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Reads a schema by the name of its file and compiles it; formats are checked too.
pub(crate) fn schema(name: &str) -> Validator {
    let options = jsonschema::options().with_draft(Draft::Draft202012);
    options.should_validate_formats(true).build(&text_of(name)).unwrap()
}

/// Returns the faults of a document, each with its location.
pub(crate) fn complaints(schema: &Validator, document: &Value) -> Vec<String> {
    let errors = schema.iter_errors(document);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Returns the locations of all fields of a document, as JSON pointers; the first element of an
/// array represents all. The content of `free`, an object with names of its own, is left out.
pub(crate) fn fields(document: &Value, free: &str) -> Vec<String> {
    let mut places = Vec::new();
    collect(document, String::new(), free, &mut places);
    places
}

fn collect(value: &Value, at: String, free: &str, places: &mut Vec<String>) {
    match value {
        Value::Object(object) if at != free => {
            for (name, value) in object {
                let place = format!("{at}/{name}");
                places.push(place.clone());
                collect(value, place, free, places);
            }
        }
        Value::Array(array) => {
            if let Some(first) = array.first() {
                collect(first, format!("{at}/0"), free, places);
            }
        }
        Value::Object(_) | Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// Returns the object that holds the field at `place`, and the field's name.
pub(crate) fn holder<'a>(
    document: &'a mut Value,
    place: &str,
) -> (&'a mut serde_json::Map<String, Value>, String) {
    let (holder, name) = place.rsplit_once('/').unwrap();
    let holder = document.pointer_mut(holder).unwrap().as_object_mut().unwrap();
    (holder, name.to_owned())
}

/// Asserts that the schema detects every field that is removed, renamed, or given a different type.
pub(crate) fn check_that_every_field_matters(schema: &Validator, document: &Value, free: &str) {
    assert_eq!(complaints(schema, document), [""; 0]);
    for place in fields(document, free) {
        let is_noticed = |fault: &str, change: fn(&mut Value, &str)| {
            let mut faulty = document.clone();
            change(&mut faulty, &place);
            assert!(!schema.is_valid(&faulty), "{place} was {fault}, and the schema accepts it");
        };
        is_noticed("removed", |document, place| {
            let (object, name) = holder(document, place);
            object.shift_remove(&name);
        });
        is_noticed("renamed", |document, place| {
            let (object, name) = holder(document, place);
            let value = object.shift_remove(&name).unwrap();
            object.insert(format!("{name}_"), value);
        });
        is_noticed("given another type", |document, place| {
            let value = document.pointer_mut(place).unwrap();
            *value = match value {
                Value::Object(_) | Value::Array(_) => Value::from("a text"),
                Value::Number(number) => Value::from(number.to_string()),
                Value::String(_) | Value::Bool(_) | Value::Null => Value::from(vec![1]),
            };
        });
    }
}

/// Asserts that the schema detects the replacement of the values at these locations.
pub(crate) fn check_that_faults_are_noticed(
    schema: &Validator,
    document: &Value,
    faults: &[(&str, Value)],
) {
    assert_eq!(complaints(schema, document), [""; 0]);
    for (place, fault) in faults {
        let mut faulty = document.clone();
        let value = faulty.pointer_mut(place).unwrap_or_else(|| panic!("there is no {place}"));
        assert_ne!(value, fault, "{place}");
        *value = fault.clone();
        assert!(!schema.is_valid(&faulty), "{fault} at {place}, and the schema accepts it");
    }
}
