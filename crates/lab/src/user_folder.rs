//! The folders in which programs store the files of a user.

use std::ffi::OsString;
use std::path::PathBuf;

/// A folder for the files that Assay stores for a user (XDG Base Directory Specification 0.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserFolder {
    /// For files that should survive a restart, such as calibrations: `assay` below
    /// `XDG_STATE_HOME`, which defaults to `~/.local/state`.
    State,
    /// For files that can be created again: `assay` below `XDG_CACHE_HOME`, which defaults to
    /// `~/.cache`.
    Cache,
}

impl UserFolder {
    /// Returns the path of this folder, from environment variables. A variable with a relative path
    /// is ignored. `None` if neither the variable of the folder nor `HOME` has an absolute path.
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
