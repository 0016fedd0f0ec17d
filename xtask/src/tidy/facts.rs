//! Check of the names of facts about the environment: outside of tests, code must name a fact by a
//! constant of `record::environment`, so a misspelt name does not compile.

use record::environment::{ASSAY, CALIBRATION, DATABASE, GENERATOR, HOST, NETWORK, OBSERVE};

use super::code::without_tests;

/// The file that defines the names.
const DEFINITIONS: &str = "crates/record/src/environment.rs";

/// Beginnings of names: the text, and the name of the constant that contains the text.
const BEGINNINGS: [(&str, &str); 7] = [
    (ASSAY, "ASSAY"),
    (CALIBRATION, "CALIBRATION"),
    (DATABASE, "DATABASE"),
    (GENERATOR, "GENERATOR"),
    (HOST, "HOST"),
    (NETWORK, "NETWORK"),
    (OBSERVE, "OBSERVE"),
];

/// The format of records, which is not a fact.
const FORMAT: &str = "assay.record";

/// Returns a complaint for each literal in a source file that spells the name of a fact.
pub(crate) fn check(path: &str, text: &str) -> Vec<String> {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
    if is_test || path == DEFINITIONS {
        return Vec::new();
    }
    let lines = without_tests(text).lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let names = lines.flat_map(|(number, line)| {
        line.split('"').skip(1).filter(|literal| is_name(literal)).map(move |name| (number, name))
    });
    let complaint = |(number, name): (usize, &str)| {
        format!("{path}:{}: `{name}`: use a constant of `record::environment`", number + 1)
    };
    names.map(complaint).collect()
}

/// Returns true if a literal is the name of a fact, or the beginning of such a name. A placeholder,
/// such as `{server}` for the prefix of a target, may precede it.
fn is_name(literal: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.{}".contains(c);
    let (argument, rest) =
        literal.strip_prefix('{').and_then(|it| it.split_once('}')).unwrap_or(("", literal));
    let after_beginning = |(text, constant): &(&str, &str)| match argument == *constant {
        true => Some(rest),
        false => rest.strip_prefix(text),
    };
    let mut found = BEGINNINGS.iter().filter_map(after_beginning);
    literal != FORMAT && found.any(|rest| rest.chars().all(is_of_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_fact_in_a_literal_is_noticed() {
        for name in [
            "host.cpu.governor",
            "database.setting.",
            "{server}database.setting.{setting}",
            "{CALIBRATION}taken",
            "network.{target}.path",
        ] {
            let text = format!("//! A.\nlet name = known(facts, \"{name}\");\n");
            let complaint = format!("a.rs:2: `{name}`: use a constant of `record::environment`");
            assert_eq!(check("a.rs", &text), [complaint]);
        }
    }

    #[test]
    fn other_literals_and_tests_may_begin_alike() {
        let name = "let name = \"host.cpu.governor\";\n";
        assert_eq!(check("crates/a/tests/a.rs", name), [""; 0]);
        assert_eq!(check("crates/a/src/b/tests.rs", name), [""; 0]);
        assert_eq!(check(DEFINITIONS, name), [""; 0]);
        for other in ["assay.record", "assay.summary/1", "database", "cpu.host.user", "host. It"] {
            assert_eq!(check("a.rs", &format!("let a = \"{other}\";\n")), [""; 0]);
        }
        let text = format!("// \"host.cpu.model\"\nlet a = 1;\n#[cfg(test)]\n{name}");
        assert_eq!(check("a.rs", &text), [""; 0]);
    }
}
