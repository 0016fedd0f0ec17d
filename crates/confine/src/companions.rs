//! The files that SQLite keeps next to a database.
//!
//! SQLite acts on them as soon as a database is read. It rolls back a journal, and deletes the file
//! that the journal names as its super-journal, wherever that file is ("Atomic Commit In SQLite",
//! section 5). Through a symbolic link it writes to another file.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base::with_suffix;
use rustix::fs::OFlags;

use crate::refusal::Refusal;

/// The suffix of the name of a rollback journal.
const JOURNAL_SUFFIX: &str = "-journal";

/// The suffixes of the names of all files that SQLite keeps next to a database.
const SUFFIXES: [&str; 3] = [JOURNAL_SUFFIX, "-wal", "-shm"];

/// The first bytes of a journal, and the last bytes of one that names a super-journal (SQLite's
/// `pager.c`, `writeSuperJournal`).
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Checks that opening a database from an untrusted source changes no file but the database and the
/// files next to it. The database need not exist.
///
/// # Errors
/// A file next to the database is a link or a special file, or a journal that names another file.
pub fn check_companions(database: &Path) -> Result<(), Refusal> {
    // If the database is a link, SQLite looks for these files next to its target.
    let database = fs::canonicalize(database).unwrap_or_else(|_| database.to_owned());
    for suffix in SUFFIXES {
        let path = with_suffix(&database, suffix);
        // The file does not exist, or SQLite cannot open it either.
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_symlink() {
            return Err(Refusal::Link);
        }
        if !metadata.is_file() {
            return Err(Refusal::Special);
        }
        if suffix == JOURNAL_SUFFIX && names_super_journal(&path).unwrap_or(false) {
            return Err(Refusal::Journal);
        }
    }
    Ok(())
}

/// Returns true if a journal names a super-journal.
fn names_super_journal(path: &Path) -> io::Result<bool> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut last = [0; JOURNAL_MAGIC.len()];
    file.seek(SeekFrom::End(-(JOURNAL_MAGIC.len() as i64)))?;
    file.read_exact(&mut last)?;
    Ok(last == JOURNAL_MAGIC)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn file_next_to_a_database_leads_to_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let header = [&JOURNAL_MAGIC[..], &[0; 504]].concat();
        fs::write(at("victim"), "kept").unwrap();
        fs::write(at("plain.db-journal"), &header).unwrap();
        fs::write(at("empty.db-journal"), "").unwrap();
        fs::write(at("plain.db-wal"), "").unwrap();
        fs::write(at("super.db-journal"), [&header[..], b"/x", &JOURNAL_MAGIC].concat()).unwrap();
        symlink("super.db", at("name.db")).unwrap();
        fs::write(at("super.db"), "").unwrap();
        for suffix in ["journal", "wal", "shm"] {
            symlink("victim", at(&format!("{suffix}.db-{suffix}"))).unwrap();
        }
        symlink("none", at("dangling.db-journal")).unwrap();
        fs::create_dir(at("folder.db-wal")).unwrap();
        for (name, why) in [
            ("none.db", None),
            ("plain.db", None),
            ("empty.db", None),
            ("super.db", Some(Refusal::Journal)),
            ("name.db", Some(Refusal::Journal)),
            ("journal.db", Some(Refusal::Link)),
            ("wal.db", Some(Refusal::Link)),
            ("shm.db", Some(Refusal::Link)),
            ("dangling.db", Some(Refusal::Link)),
            ("folder.db", Some(Refusal::Special)),
        ] {
            assert_eq!(check_companions(&at(name)).err(), why, "{name}");
        }
    }
}
