//! The table of generators.

use super::arguments::Spec;
use super::{
    client, csv, digits, exponential, field, hex, hotspot, json, latest, normal, null, numbered,
    nurand, pareto, permute, pick, point, polygon, text, timestamp, uniform, weighted, zipf,
};
use crate::expr::node::Family;

/// The generators of this version, in the order of the reference.
pub(crate) static ALL: &[&Spec] = &[
    &uniform::SPEC,
    &zipf::SPEC,
    &normal::SPEC,
    &exponential::SPEC,
    &pareto::SPEC,
    &hotspot::SPEC,
    &latest::SPEC,
    &nurand::SPEC,
    &numbered::SEQUENCE,
    &permute::SPEC,
    &numbered::ROW,
    &client::SPEC,
    &text::SPEC,
    &digits::SPEC,
    &hex::HEX,
    &hex::UUID,
    &pick::SPEC,
    &weighted::SPEC,
    &timestamp::SPEC,
    &json::SPEC,
    &point::SPEC,
    &polygon::SPEC,
    &null::SPEC,
    &csv::SPEC,
    &field::SPEC,
];

impl Family {
    /// Returns the entry of the generator in the table of generators.
    pub(crate) fn spec(&self) -> &'static Spec {
        match self {
            Family::Uniform(_) => &uniform::SPEC,
            Family::Zipf(_) => &zipf::SPEC,
            Family::Exponential(_) => &exponential::SPEC,
            Family::Normal(..) => &normal::SPEC,
            Family::Pareto(_) => &pareto::SPEC,
            Family::Hotspot(_) => &hotspot::SPEC,
            Family::Latest(_) => &latest::SPEC,
            Family::Nurand(_) => &nurand::SPEC,
            Family::Row => &numbered::ROW,
            Family::Sequence(_) => &numbered::SEQUENCE,
            Family::Permute(_) => &permute::SPEC,
            Family::Client(_) => &client::SPEC,
            Family::Text(..) => &text::SPEC,
            Family::Digits(_) => &digits::SPEC,
            Family::Hex(_) => &hex::HEX,
            Family::Uuid => &hex::UUID,
            Family::Pick(_) => &pick::SPEC,
            Family::Weighted(_) => &weighted::SPEC,
            Family::Timestamp(_) => &timestamp::SPEC,
            Family::Json(_) => &json::SPEC,
            Family::Point => &point::SPEC,
            Family::Polygon(_) => &polygon::SPEC,
            Family::Null(_) => &null::SPEC,
            Family::Field(_) => &field::SPEC,
            Family::Csv(_) => &csv::SPEC,
        }
    }
}

/// Returns the generator with this name, if there is one.
pub(crate) fn find(name: &str) -> Option<&'static Spec> {
    ALL.iter().copied().find(|spec| spec.name == name)
}

/// Lists all names for a message, in lines of readable length.
pub(crate) fn names() -> String {
    let names: Vec<&str> = ALL.iter().map(|spec| spec.name).collect();
    let listed = crate::wording::enumeration(&names, "and");
    let words: Vec<&str> = listed.split(' ').collect();
    words.chunks(10).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
}

/// Returns the name of the generator for a function of other programs or languages, if any.
pub(crate) fn assay_name_of(name: &str) -> Option<&'static str> {
    let ours = match name.to_ascii_lowercase().as_str() {
        "rand" | "random" | "randint" | "int" | "integer" => "uniform",
        "zipfian" | "zipfdistribution" => "zipf",
        "lomax" | "power_law" | "powerlaw" => "pareto",
        "hotset" | "hot" => "hotspot",
        "newest" | "recent" => "latest",
        "exponential" => "exp",
        "gauss" | "gaussian" | "norm" => "normal",
        "rownum" | "row_number" | "rowid" => "row",
        "seq" | "serial" | "counter" | "increment" => "sequence",
        "permutation" | "shuffle" | "unique" => "permute",
        "string" | "str" | "varchar" | "char" => "text",
        "choice" | "choose" | "oneof" | "one_of" | "enum" => "pick",
        "weights" | "pick_weighted" | "weighted_pick" => "weighted",
        "clientid" | "client_id" | "thread" | "thread_id" => "client",
        "phone" | "numerify" | "pattern" => "digits",
        "hexadecimal" | "bytes" => "hex",
        "guid" | "uuid4" | "uuidv4" | "gen_random_uuid" => "uuid",
        "object" | "jsonb" | "json_object" => "json",
        "file" | "lookup" | "from_file" | "csvfile" => "csv",
        "nullable" | "maybe" | "optional" => "null",
        "now" | "date" | "datetime" | "current_timestamp" => "timestamp",
        _ => return None,
    };
    Some(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_generator_names_suggest_a_generator() {
        let names = "rand ZIPFIAN gauss serial shuffle now choice str guid maybe power_law hotset \
                     newest weights thread phone bytes jsonb file";
        for name in names.split(' ') {
            let ours = assay_name_of(name).unwrap();
            assert!(find(ours).is_some(), "{name}");
            assert!(find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_usage_shows_defaults() {
        assert_eq!(find("zipf").unwrap().usage(), "zipf(lo, hi, s=0.99)");
        assert_eq!(find("row").unwrap().usage(), "row()");
        assert_eq!(find("pick").unwrap().usage(), "pick(a, …)");
        assert_eq!(find("weighted").unwrap().usage(), "weighted(a: 3, b: 1, …)");
        assert_eq!(find("json").unwrap().usage(), "json(name: value, …)");
    }
}
