//! Check of the invariants in `ARCHITECTURE.md`: each invariant names the tests that guard it, and
//! these tests exist.

/// Returns a complaint for each invariant without a test, and for each test in the table of
/// invariants that no source file defines. `sources` are the paths and texts of all source files.
pub(crate) fn check(architecture: &str, sources: &[(String, String)]) -> Vec<String> {
    let rows: Vec<&str> = architecture.lines().filter(|line| is_invariant(line)).collect();
    if rows.is_empty() {
        return vec!["ARCHITECTURE.md: the table of invariants is gone".to_owned()];
    }
    rows.into_iter().flat_map(|row| check_row(row, sources)).collect()
}

/// Returns true if a line is a row of the table: `| 1. … | guards |`.
fn is_invariant(line: &str) -> bool {
    let first = line.strip_prefix("| ").and_then(|row| row.split_once(". "));
    first.is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

fn check_row(row: &str, sources: &[(String, String)]) -> Vec<String> {
    let guards = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap_or_default();
    let names: Vec<&str> = guards.split('`').skip(1).step_by(2).collect();
    let exists = |name: &str| {
        let test = format!("fn {name}(");
        sources.iter().any(|(_, text)| text.contains(&test))
    };
    if names.is_empty() {
        return vec![format!("ARCHITECTURE.md: an invariant without a guard: {row}")];
    }
    let gone = names.into_iter().filter(|name| !exists(name));
    gone.map(|name| format!("ARCHITECTURE.md: there is no test `{name}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_guard_is_noticed() {
        let table = "| 1. Nothing vanishes. `A` holds. | `it_holds`, `it_is_gone` |\n";
        let sources = [("a.rs".to_owned(), "#[test]\nfn it_holds() {}".to_owned())];
        assert_eq!(check(table, &sources), ["ARCHITECTURE.md: there is no test `it_is_gone`"]);
        assert_eq!(check(&table.replace("it_is_gone", "it_holds"), &sources), [""; 0]);
    }

    #[test]
    fn an_invariant_without_a_guard_is_noticed() {
        let complaint = "ARCHITECTURE.md: an invariant without a guard: | 2. Hope. | none |";
        assert_eq!(check("| 2. Hope. | none |", &[]), [complaint]);
        let complaint = "ARCHITECTURE.md: the table of invariants is gone";
        assert_eq!(check("no table", &[]), [complaint]);
    }
}
