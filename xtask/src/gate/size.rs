//! Gate of the size of the program as it is installed.

use std::path::Path;

use super::program::assay;

/// Largest size of the program, in bytes.
const LARGEST: u64 = 20_000_000;

pub(crate) fn check(root: &Path) -> Result<String, Vec<String>> {
    let path = assay(root);
    let found = std::fs::metadata(&path);
    let found = found.map_err(|error| vec![format!("{}: {error}", path.display())])?;
    judge(found.len()).map_err(|complaint| vec![complaint])
}

fn judge(bytes: u64) -> Result<String, String> {
    match bytes > LARGEST {
        true => Err(format!("target/release/assay has {bytes} bytes, more than {LARGEST}")),
        false => Ok(format!("gate: size of the program\n  {bytes} bytes (limit {LARGEST})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_beyond_the_limit_is_noticed() {
        assert!(judge(LARGEST).is_ok_and(|line| line.contains("20000000 bytes")));
        let complaint = "target/release/assay has 20000001 bytes, more than 20000000";
        assert_eq!(judge(LARGEST + 1), Err(complaint.to_owned()));
    }
}
