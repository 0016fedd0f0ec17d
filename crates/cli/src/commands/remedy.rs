//! What to do about a statement that the database rejects before anything was measured.

use base::Class;
use engine::Place;

use crate::commands::order::SkipsLoads;

/// A rejected statement, or the rows of a load.
pub(crate) struct Refused<'a> {
    pub(crate) place: &'a Place,
    pub(crate) class: Class,
    /// The database's words.
    pub(crate) words: &'a str,
    pub(crate) skips_loads: SkipsLoads,
}

/// What to do, where that is known. Databases differ in their codes and agree in these words.
pub(crate) fn of(refused: Refused<'_>) -> Option<String> {
    let Refused { place, class, words, skips_loads } = refused;
    let says = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    let is_load = place.statement.is_none();
    let remedy = if says(&["already exists"]) && place.section == "setup" {
        match skips_loads {
            SkipsLoads::Yes => {
                "an earlier run or load left it: run with `--loaded` to use it as it is, or drop it"
            }
            SkipsLoads::No => {
                "an earlier run or load left it: drop it first, or name another database with --url"
            }
        }
    } else if says(&["no such table", "does not exist", "doesn't exist"]) {
        "make it in [setup], or name the database that has it with --url"
    } else if is_load && class == Class::Constraint {
        "the table may have these rows already: empty it first, or write `on-duplicate = ignore`"
    } else if class == Class::Conflict {
        "somebody else holds a lock on the database: let them finish first"
    } else {
        return None;
    };
    Some(remedy.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Span;

    fn remedy(section: &str, statement: Option<usize>, class: Class, words: &str) -> String {
        let place =
            Place { section: section.to_owned(), statement, span: Span::default(), script: None };
        of(Refused { place: &place, class, words, skips_loads: SkipsLoads::Yes })
            .unwrap_or_default()
    }

    #[test]
    fn what_is_known_of_a_refusal_becomes_a_remedy() {
        let statement = Class::Statement;
        for (given, words) in [
            (remedy("setup", Some(1), statement, "table t already exists"), "--loaded"),
            (remedy("read", Some(1), statement, "no such table: t"), "[setup]"),
            (remedy("read", Some(1), statement, "relation \"t\" does not exist"), "[setup]"),
            (remedy("load t", None, Class::Constraint, "UNIQUE"), "on-duplicate"),
            (remedy("setup", Some(1), Class::Conflict, "database is locked"), "lock"),
        ] {
            assert!(given.contains(words), "{given}");
        }
        for unknown in [
            remedy("read", Some(1), statement, "near \"selct\": syntax error"),
            remedy("read", Some(1), Class::Constraint, "UNIQUE"),
        ] {
            assert_eq!(unknown, "");
        }
    }
}
