//! The keys of workload files and experiment files.
//!
//! The table [`ALL`] alone defines the keys that the parser accepts, the suggestions for unknown
//! keys, and the text of `--help` and of the guide's reference.

mod form;
mod key;
mod table;

pub use form::Form;
pub use key::{Key, KeyGroup, SectionKind};
pub use table::{ALL, SETUP_TIMEOUT, STALL_TIMEOUT};

/// Returns true if the value of a key is literal to the end of the line: `;` does not begin a
/// comment.
pub(crate) fn is_literal(name: &str) -> bool {
    let base = name.split_once('.').map_or(name, |(base, _)| base);
    let has_literals = |form| matches!(form, Form::Statement | Form::Command);
    ALL.iter().any(|key| has_literals(key.form) && key.name == base)
}

/// Returns the key with a name or alias in a kind of section, if there is one.
pub fn find(owner: SectionKind, name: &str) -> Option<&'static Key> {
    of(owner).find(|key| key.is_named(name))
}

/// Returns the keys of a kind of section.
pub fn of(owner: SectionKind) -> impl Iterator<Item = &'static Key> {
    ALL.iter().filter(move |key| key.place.owner() == owner)
}

/// First words of the sections of an experiment file that do not belong to its workload.
const EXPERIMENT: [&str; 5] = ["question", "arm", "sweep", "capacity", "saturate"];

/// Returns true if a section with this name belongs to an experiment file, unless its keys make it
/// a job.
pub(crate) fn is_of_experiment(section: &str) -> bool {
    section.split_whitespace().next().is_some_and(|word| EXPERIMENT.contains(&word))
}

/// Returns true if a key makes its section a job, with or without a dialect.
pub(crate) fn makes_a_job(name: &str) -> bool {
    let base = name.split_once('.').map_or(name, |(base, _)| base);
    of(SectionKind::Job).any(|key| key.makes_job && key.is_named(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_in_their_section() {
        for (place, key) in ALL.iter().enumerate() {
            let owner = key.place.owner();
            for other in &ALL[place + 1..] {
                let same = other.name == key.name || other.alias == Some(key.name);
                assert!(!same || other.place.owner() != owner, "{}", key.name);
            }
        }
    }

    #[test]
    fn every_key_documents_itself_in_one_line() {
        for key in ALL {
            let set = key.example.split_once(" = ").map(|(name, _)| name);
            assert!(set.is_some_and(|set| key.is_named(set)), "{}", key.example);
            assert!(key.doc.starts_with(|c: char| c.is_lowercase()), "{}", key.doc);
            assert!(!key.doc.ends_with('.'), "{}", key.doc);
            assert!(key.doc.len() <= 95, "{}", key.doc);
        }
    }
}
