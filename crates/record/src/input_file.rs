//! The files that a run or an experiment was made from.

/// Size in bytes up to which the record keeps the text of a file.
pub const LONGEST_KEPT_TEXT: u64 = 1_000_000;

/// A file that was read before a run: a workload or experiment file, a file that it imports, or the
/// input of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The path from the folder of the first file; absolute if it is outside.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    /// The content; `None` if it is larger than [`LONGEST_KEPT_TEXT`], is not UTF-8, or contains a
    /// password.
    pub text: Option<String>,
}
