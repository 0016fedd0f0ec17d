//! What the answer of a run says to programs, and that its schema notices when it does not.

use report::json;

use crate::cases;
use crate::schema::{complaints, schema};

const SCHEMA: &str = "summary.schema.json";

#[test]
fn every_kind_of_run_keeps_to_the_schema() {
    let schema = schema(SCHEMA);
    for (name, view) in cases::all() {
        assert_eq!(complaints(&schema, &json(&view)), [""; 0], "{name}");
    }
}
