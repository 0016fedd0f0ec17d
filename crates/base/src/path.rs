//! Paths of files that belong together.

use std::path::{Path, PathBuf};

/// Returns the path of a file next to another one. Its name is the name of the other file followed
/// by a suffix: `shop.db-journal`.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn suffix_is_added_to_the_whole_name() {
        let suffixed = |path: &str| with_suffix(Path::new(path), "-wal");
        assert_eq!(suffixed("shop.db"), Path::new("shop.db-wal"));
        assert_eq!(suffixed("a.b/shop"), Path::new("a.b/shop-wal"));
        let odd = Path::new(OsStr::from_bytes(b"\xff"));
        assert_eq!(with_suffix(odd, ".1").as_os_str().as_bytes(), b"\xff.1");
    }
}
