//! Storage of calibrations and of the results of A/A experiments in the user's state folder, with
//! one file of each kind per machine.
//!
//! A file is written under a temporary name and then renamed, so readers never see a partial file.
//! An unusable file is reported and otherwise treated as missing; the next calibration or the next
//! result replaces it.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::figures::Calibration;
use super::machine::Machine;
use crate::user_folder::UserFolder;

/// Maximum number of bytes that are read from a file, many times the size of a calibration.
const LONGEST_FILE: u64 = 1 << 20;

/// The folder in which calibrations and other data about machines are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

/// A file about a machine that exists but cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The reason why the file cannot be used.
    pub reason: String,
}

impl fmt::Display for UnusableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the file `{}` is ignored: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for UnusableFile {}

impl Store {
    /// Creates a store in this folder; nothing is written yet.
    pub fn new(folder: impl Into<PathBuf>) -> Store {
        Store { folder: folder.into() }
    }

    /// Returns the default store, in [`UserFolder::State`]; `None` if there is no such folder.
    pub fn in_user_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<Store> {
        UserFolder::State.path(variable).map(Store::new)
    }

    /// Returns the path of a machine's calibration.
    pub fn file(&self, machine: &Machine) -> PathBuf {
        self.path_of(&format!("calibration-{}.json", machine.fingerprint()))
    }

    /// Reads the calibration of a machine; returns `None` if there is no file.
    ///
    /// # Errors
    /// The file exists and cannot be used.
    pub fn read(&self, machine: &Machine) -> Result<Option<Calibration>, UnusableFile> {
        let path = self.file(machine);
        let unusable = |reason: String| UnusableFile { path: path.clone(), reason };
        let Some(document) = self.document(&path)? else { return Ok(None) };
        let odd = || unusable("it is damaged, or was made by another version of assay".to_owned());
        let calibration = Calibration::of_document(&document).ok_or_else(odd)?;
        match calibration.machine == *machine {
            true => Ok(Some(calibration)),
            false => Err(unusable("it was made on another machine".to_owned())),
        }
    }

    /// Creates the folder and checks that it is writable.
    ///
    /// # Errors
    /// The folder cannot be created or written to.
    pub fn prepare(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let trial = self.temporary_path("trial");
        File::create(&trial)?;
        fs::remove_file(trial)
    }

    /// Stores a calibration in place of the previous one and returns its path.
    ///
    /// # Errors
    /// The file cannot be written; the previous one is then still in place.
    pub fn save(&self, calibration: &Calibration) -> io::Result<PathBuf> {
        self.replace(self.file(&calibration.machine), &calibration.document())
    }

    /// Returns the path of a file of the store.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Reads a document of the store; returns `None` if there is no file.
    ///
    /// # Errors
    /// The file exists, but cannot be read or is not a JSON document.
    pub(super) fn document(&self, path: &Path) -> Result<Option<Value>, UnusableFile> {
        let unusable = |reason: String| UnusableFile { path: path.to_owned(), reason };
        match text(path) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|_| unusable("it is damaged".to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unusable(error.to_string())),
        }
    }

    /// Writes a document in place of the previous one and returns its path.
    ///
    /// # Errors
    /// The file cannot be written; the previous one is then still in place.
    pub(super) fn replace(&self, path: PathBuf, document: &Value) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.folder)?;
        let temporary = self.temporary_path("new");
        let text = format!("{document:#}\n");
        let written = write(&temporary, &text).and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            // A partial file that cannot be removed does no harm.
            let _ = fs::remove_file(&temporary);
        }
        written.map(|()| path)
    }

    /// Returns the path of a temporary file of this process.
    fn temporary_path(&self, word: &str) -> PathBuf {
        self.folder.join(format!(".calibration-{word}-{}", std::process::id()))
    }
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST_FILE).read_to_string(&mut text)?;
    Ok(text)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::calibrate::example::calibration;

    /// A folder that is removed at the end of the test.
    struct StoreFolder(PathBuf);

    impl StoreFolder {
        fn new() -> StoreFolder {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("assay-store-{}-{number}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir(&folder).unwrap();
            StoreFolder(folder)
        }

        fn store(&self) -> Store {
            Store::new(self.0.join("state/assay"))
        }
    }

    impl Drop for StoreFolder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn saved_calibration_is_read_and_replaced() {
        let folder = StoreFolder::new();
        let store = folder.store();
        let machine = calibration().machine;
        assert_eq!(store.read(&machine), Ok(None));
        store.prepare().unwrap();
        for taken in ["2026-11-21T20:15:02Z", "2027-01-01T00:00:00Z"] {
            let kept = Calibration { taken: taken.to_owned(), ..calibration() };
            assert_eq!(store.save(&kept).unwrap(), store.file(&machine));
            assert_eq!(store.read(&machine), Ok(Some(kept)));
        }
        // No temporary file is left in the folder.
        assert_eq!(fs::read_dir(folder.0.join("state/assay")).unwrap().count(), 1);
        assert_eq!(store.read(&Machine::of(&[])), Ok(None));
    }

    #[test]
    fn unusable_calibration_file_is_reported() {
        let folder = StoreFolder::new();
        let store = folder.store();
        let (machine, path) = (calibration().machine, store.file(&calibration().machine));
        store.prepare().unwrap();
        let old = calibration().document().to_string().replace("calibration/1", "calibration/0");
        let mut other = calibration();
        other.machine = Machine::of(&[("host.cpu.model".to_owned(), "B".to_owned())]);
        let cases = [
            (String::new(), "damaged"),
            ("{\"schema\": \"assay.cal".to_owned(), "damaged"),
            (old, "another version"),
            (other.document().to_string(), "another machine"),
        ];
        for (content, words) in cases {
            fs::write(&path, content).unwrap();
            let unusable = store.read(&machine).unwrap_err().to_string();
            assert!(unusable.contains(words) && unusable.contains("calibration-"), "{unusable}");
        }
        fs::write(&path, b"\xff\xfe").unwrap();
        assert!(store.read(&machine).is_err());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(store.read(&machine).is_err());
        assert!(store.save(&calibration()).is_err());
        assert_eq!(fs::read_dir(folder.0.join("state/assay")).unwrap().count(), 1);
    }

    #[test]
    fn state_folder_follows_the_environment() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let find = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            assert_eq!(Store::in_user_folder(find), expected.map(Store::new), "{variables:?}");
        };
        let home = ("HOME", "/home/ann");
        check(&[("XDG_STATE_HOME", "/state"), home], Some("/state/assay"));
        check(&[home], Some("/home/ann/.local/state/assay"));
        check(&[("XDG_STATE_HOME", ""), home], Some("/home/ann/.local/state/assay"));
        check(&[("XDG_STATE_HOME", "state"), home], Some("/home/ann/.local/state/assay"));
        check(&[], None);
    }

    #[test]
    fn uncreatable_state_folder_is_reported() {
        let folder = StoreFolder::new();
        fs::write(folder.0.join("state"), "a file").unwrap();
        assert!(folder.store().prepare().is_err());
        assert!(folder.store().save(&calibration()).is_err());
        assert!(folder.store().read(&calibration().machine).is_err());
    }
}
