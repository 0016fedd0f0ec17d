//! The surroundings of a run, as its record tells them.

use std::path::Path;

use observe::environment::{self, NETWORK, Root, network};

use crate::target::Reached;

/// Reads the facts of this machine, and those of the way to each server. `record` is the file that
/// the record will be.
pub(crate) fn read(record: &Path, reached: &[Reached]) -> Vec<(String, String)> {
    let mut facts = environment::read(&Root::system(), &folder_of(record));
    for Reached { name, target } in reached {
        facts.extend(network::read(target).into_iter().map(|(fact, value)| match name {
            None => (fact, value),
            Some(name) => (named(&fact, name), value),
        }));
    }
    facts
}

/// The folder of a file, from the root; as it was written if it cannot be found.
fn folder_of(file: &Path) -> std::path::PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// The name of a fact about the way to a target with a name: `network.TARGET.path`.
fn named(fact: &str, target: &str) -> String {
    let rest = fact.strip_prefix(NETWORK).unwrap_or(fact);
    format!("{NETWORK}{target}.{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Target;

    #[test]
    fn the_way_to_each_server_is_told_under_its_name() {
        let reached = |name: Option<&str>, url: &str| {
            let target = Target::parse(url).unwrap();
            Reached { name: name.map(str::to_owned), target }
        };
        let all = [
            reached(None, "postgres://127.0.0.1/d"),
            reached(Some("copy"), "mysql://h/d?socket=/run/s"),
            reached(Some("file"), "sqlite:a.db"),
        ];
        let facts = read(Path::new("no/such/folder/r.assay"), &all);
        let found = |name: &str| environment::known(&facts, name);
        assert_eq!(found("network.path"), Some("loopback"));
        assert_eq!(found("network.copy.path"), Some("socket"));
        assert_eq!(found("network.copy.round_trip_us"), Some("none"));
        assert_eq!(found("network.file.path"), None);
        assert!(found("host.kernel").is_some());
    }

    #[test]
    fn the_folder_of_a_record_is_found_from_the_root() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        for file in ["r.assay", "./r.assay"] {
            assert_eq!(folder_of(Path::new(file)), here);
        }
        assert_eq!(folder_of(Path::new("/none-there/r")), Path::new("/none-there"));
    }
}
