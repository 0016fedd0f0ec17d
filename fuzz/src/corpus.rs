//! Stored corpora: one file for each target, with one input per line in hexadecimal digits.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Largest total size of the inputs stored for a target, in bytes. The shortest inputs are stored;
/// every test run executes them.
pub const MOST_BYTES: usize = 48 << 10;

/// Largest number of inputs stored for the target `cells`, each of which takes a tenth of a second.
const MOST_CHANGES: usize = 60;

/// Returns the path of the corpus of a target.
pub fn file(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(format!("{target}.hex"))
}

/// Reads the corpus of a target, which is empty if there is no file.
///
/// # Errors
/// Fails if the file cannot be read or is not hexadecimal.
pub fn read(target: &str) -> io::Result<Vec<Vec<u8>>> {
    let text = match fs::read_to_string(file(target)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let odd = || io::Error::new(io::ErrorKind::InvalidData, format!("{target}: not hexadecimal"));
    text.lines().map(|line| bytes(line).ok_or_else(odd)).collect()
}

/// Writes the shortest inputs as the corpus of a target, up to [`MOST_BYTES`] in total, and not
/// more than a test run can execute. Returns their number.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn write(target: &str, mut inputs: Vec<Vec<u8>>) -> io::Result<usize> {
    inputs.sort_by(|one, other| one.len().cmp(&other.len()).then_with(|| one.cmp(other)));
    inputs.dedup();
    let mut total = 0;
    let most = if target == "cells" { MOST_CHANGES } else { usize::MAX };
    let kept = inputs.iter().take(most).take_while(|input| {
        total += input.len();
        total <= MOST_BYTES
    });
    let lines: Vec<String> = kept.map(|input| digits(input) + "\n").collect();
    let path = file(target);
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    fs::write(path, lines.concat())?;
    Ok(lines.len())
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|digits| pair(digits)).collect()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_read_as_they_were_written() {
        for input in [&b""[..], b"\0\xff[a]\n", b"x"] {
            assert_eq!(bytes(&digits(input)).as_deref(), Some(input));
        }
        assert_eq!(bytes("0"), None);
        assert_eq!(bytes("zz"), None);
    }
}
