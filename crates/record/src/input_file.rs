//! The input files of a run or an experiment.

use std::path::{Component, Path};

/// Maximum size, in bytes, of a file whose text is stored in the record.
pub const LONGEST_KEPT_TEXT: u64 = 1_000_000;

/// A file that was read before a run: a workload or experiment file, a file of statements, values
/// or times that it names, or the input of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The path relative to the folder of the workload or experiment file. The path of a file
    /// outside that folder begins with `..` or is absolute.
    pub path: String,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    /// The content; `None` if it is larger than [`LONGEST_KEPT_TEXT`], is not UTF-8, or may contain
    /// a secret.
    pub text: Option<String>,
}

impl InputFile {
    /// Returns true if the file is in the folder of the workload or experiment file, or in a folder
    /// below it. The path may come from an untrusted record, so `..` is not accepted, and
    /// neither is a leading `.`.
    pub fn is_inside(&self) -> bool {
        let is_normal = |part: Component<'_>| matches!(part, Component::Normal(_));
        !self.path.is_empty() && Path::new(&self.path).components().all(is_normal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_of_the_folder_are_not_inside() {
        for (path, is_inside) in [
            ("a.ini", true),
            ("in/b.csv", true),
            ("in/../a.ini", false),
            ("../a.ini", false),
            ("/etc/passwd", false),
            ("./a.ini", false),
            ("", false),
        ] {
            let (path, sha256) = (path.to_owned(), String::new());
            let file = InputFile { path, bytes: 0, sha256, text: None };
            assert_eq!(file.is_inside(), is_inside, "{file:?}");
        }
    }
}
