//! The folders in which programs keep files of a user.

use std::ffi::OsString;
use std::path::PathBuf;

/// A folder of the program below the user's folder (XDG Base Directory Specification 0.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserFolder {
    /// Files that should outlive a restart, such as calibrations: `assay` below `XDG_STATE_HOME`,
    /// which defaults to `~/.local/state`.
    State,
    /// Files that can be created again: `assay` below `XDG_CACHE_HOME`, which defaults to
    /// `~/.cache`.
    Cache,
}

impl UserFolder {
    /// Returns its path, from the variables of the environment; a variable with a relative path
    /// counts as not set. Returns `None` if neither its variable nor `HOME` is set.
    pub fn path(self, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let (name, below_home) = match self {
            UserFolder::State => ("XDG_STATE_HOME", ".local/state"),
            UserFolder::Cache => ("XDG_CACHE_HOME", ".cache"),
        };
        let folder = |name: &str| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let parent = folder(name).or_else(|| folder("HOME").map(|home| home.join(below_home)))?;
        Some(parent.join("assay"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_follows_the_environment() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let find = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            let folder = UserFolder::Cache.path(find);
            assert_eq!(folder, expected.map(PathBuf::from), "{variables:?}");
        };
        let home = ("HOME", "/home/ann");
        check(&[("XDG_CACHE_HOME", "/cache"), home], Some("/cache/assay"));
        check(&[home], Some("/home/ann/.cache/assay"));
        check(&[("XDG_CACHE_HOME", "cache"), home], Some("/home/ann/.cache/assay"));
        check(&[], None);
    }
}
