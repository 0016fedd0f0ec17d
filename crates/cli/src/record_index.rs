//! An index of the records of a folder, stored in the user's cache folder.
//!
//! An entry is valid until the size or the time of change of its file differs. The index belongs to
//! one version of the program, because another version may judge records differently. An index file
//! that cannot be used counts as missing.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base::WallTime;
use report::{FolderRow, RowState};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Longest index that is read, in bytes: enough for some 100,000 records.
const MAX_INDEX_SIZE: u64 = 64 << 20;

/// The metadata of a file by which a change of its content is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileKey {
    size: u64,
    /// Time of the file's last change (`ctime`), in nanoseconds since 1970.
    changed: i64,
}

impl FileKey {
    pub(crate) fn of(metadata: &fs::Metadata) -> FileKey {
        let changed = metadata.ctime().saturating_mul(1_000_000_000);
        FileKey { size: metadata.len(), changed: changed.saturating_add(metadata.ctime_nsec()) }
    }
}

/// The rows of files that were read before, by the paths of the files below the folder.
#[derive(Debug, Default)]
pub(crate) struct RecordIndex {
    entries: HashMap<String, (FileKey, FolderRow)>,
}

impl RecordIndex {
    /// Returns the row of a file; `None` if the file is new or has changed.
    pub(crate) fn get(&self, file: &str, key: FileKey) -> Option<&FolderRow> {
        self.entries.get(file).filter(|(known, _)| *known == key).map(|(_, row)| row)
    }

    /// Adds the row of a file, in place of an earlier row.
    pub(crate) fn put(&mut self, key: FileKey, row: FolderRow) {
        self.entries.insert(row.file.clone(), (key, row));
    }

    /// Removes the rows of all files that are not in `files`; returns true if any row was removed.
    pub(crate) fn retain(&mut self, files: &HashSet<&str>) -> bool {
        let before = self.entries.len();
        self.entries.retain(|file, _| files.contains(file.as_str()));
        self.entries.len() < before
    }

    fn document(&self, folder: &Path) -> Value {
        let files = self.entries.values().map(|(key, row)| {
            json!({
                "file": row.file,
                "size": key.size,
                "changed": key.changed,
                "title": row.title,
                "started": row.started.map(|started| started.0),
                "label": row.label,
                "state": state_number(row.state),
                "headline": row.headline,
                "notes": row.notes,
            })
        });
        json!({
            "assay": env!("ASSAY_VERSION"),
            "folder": folder.to_string_lossy(),
            "files": files.collect::<Vec<Value>>(),
        })
    }

    fn of_document(document: &Value, folder: &Path) -> Option<RecordIndex> {
        let is_it = document["assay"] == env!("ASSAY_VERSION")
            && document["folder"] == *folder.to_string_lossy();
        let files = document["files"].as_array().filter(|_| is_it)?;
        let entries = files.iter().map(|one| {
            let (key, row) = parse_entry(one)?;
            Some((row.file.clone(), (key, row)))
        });
        Some(RecordIndex { entries: entries.collect::<Option<_>>()? })
    }
}

/// Returns the number that represents a state in the index.
fn state_number(state: RowState) -> Option<usize> {
    RowState::ALL.iter().position(|known| *known == state)
}

fn parse_entry(one: &Value) -> Option<(FileKey, FolderRow)> {
    let text = |name: &str| one[name].as_str().map(str::to_owned);
    let key = FileKey { size: one["size"].as_u64()?, changed: one["changed"].as_i64()? };
    let state = usize::try_from(one["state"].as_u64()?).ok()?;
    let notes = one["notes"].as_array()?.iter().map(|note| note.as_str().map(str::to_owned));
    let row = FolderRow {
        file: text("file")?,
        title: text("title")?,
        started: one["started"].as_i64().map(WallTime),
        label: text("label"),
        state: *RowState::ALL.get(state)?,
        headline: text("headline")?,
        notes: notes.collect::<Option<_>>()?,
    };
    Some((key, row))
}

/// The file of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexFile {
    path: PathBuf,
    /// The folder of the records.
    folder: PathBuf,
}

impl IndexFile {
    /// Returns the file for a folder of records, in a cache folder. Nothing is read or written.
    pub(crate) fn new(cache: &Path, folder: &Path) -> IndexFile {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let hash = Sha256::digest(folder.as_os_str().as_encoded_bytes());
        let name: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        IndexFile { path: cache.join(format!("records-{name}.json")), folder }
    }

    /// Reads the index; an unusable one counts as empty.
    pub(crate) fn read(&self) -> RecordIndex {
        let text = File::open(&self.path).and_then(|file| {
            let mut text = String::new();
            file.take(MAX_INDEX_SIZE).read_to_string(&mut text).map(|_| text)
        });
        let document = text.ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let index = document.and_then(|document| RecordIndex::of_document(&document, &self.folder));
        index.unwrap_or_default()
    }

    /// Replaces the index file by one that only the user can read.
    ///
    /// # Errors
    /// The folder or the file cannot be written; the earlier index file then remains.
    pub(crate) fn write(&self, index: &RecordIndex) -> io::Result<()> {
        let parent = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent)?;
        let new = self.path.with_extension(format!("{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let text = index.document(&self.folder).to_string();
        let written = options.open(&new).and_then(|mut file| file.write_all(text.as_bytes()));
        let renamed = written.and_then(|()| fs::rename(&new, &self.path));
        if renamed.is_err() {
            // The earlier error matters more.
            let _ = fs::remove_file(&new);
        }
        renamed
    }

    /// Returns the path of the index.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(state: RowState) -> FolderRow {
        FolderRow {
            file: format!("{}.assay", state.word()),
            title: "t".to_owned(),
            started: Some(WallTime(7)),
            label: None,
            state,
            headline: "é".to_owned(),
            notes: vec!["n".to_owned()],
        }
    }

    #[test]
    fn index_is_read_as_it_was_written_for_the_same_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = IndexFile::new(&folder.path().join("cache/assay"), folder.path());
        let key = FileKey { size: 1, changed: 2 };
        let mut index = RecordIndex::default();
        RowState::ALL.into_iter().for_each(|state| index.put(key, row(state)));
        file.write(&index).unwrap();
        let read = file.read();
        for state in RowState::ALL.into_iter().filter(|state| *state != RowState::ALL[0]) {
            let row = row(state);
            assert_eq!(read.get(&row.file, key), Some(&row));
            assert_eq!(read.get(&row.file, FileKey { size: 2, ..key }), None);
            assert_eq!(read.get(&row.file, FileKey { changed: 3, ..key }), None);
        }
        let mode = fs::metadata(file.path()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn unusable_index_counts_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let file = IndexFile::new(folder.path(), folder.path());
        let mut index = RecordIndex::default();
        let row = row(RowState::Unjudged);
        index.put(FileKey { size: 1, changed: 2 }, row);
        file.write(&index).unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        for other in [
            text.replace(env!("ASSAY_VERSION"), "0.0.0"),
            text.replace("\"folder\":\"/", "\"folder\":\"/x/"),
            text.replace("\"size\":1", "\"size\":-1"),
            text[..text.len() / 2].to_owned(),
            String::new(),
        ] {
            assert_ne!(other, text);
            fs::write(file.path(), other).unwrap();
            assert!(file.read().entries.is_empty());
        }
        fs::write(file.path(), text).unwrap();
        assert_eq!(file.read().entries.len(), 1);
    }
}
