//! Published bundles as archives: a folder is packed into one file, from which the record can be
//! taken out.
//!
//! An archive is a compressed tar file (POSIX 1003.1-1988, `ustar`) whose bytes depend only on the
//! names and the content of its files. An archive to be opened may come from an untrusted source: a
//! single file is taken out of it, by its name and under a limit, and no link is followed.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};

use base::units::grouped;
use flate2::bufread::MultiGzDecoder;
use flate2::{Compression, GzBuilder};
use guardian::TemporaryFolder;
use tar::{Archive, Builder, Entry, Header};

use crate::complain::Complaint;

/// The ending of the name of an archive.
pub(crate) const ARCHIVE_ENDING: &str = ".tar.gz";

/// The ending of the name of the record in a bundle. No other file of a bundle has this ending,
/// except input files, which are in a folder of their own.
pub(crate) const RECORD_ENDING: &str = ".assay";

/// The limits of an archive, for writing and for reading it.
const LIMITS: Limits = Limits { bytes: 4 << 30, files: 10_000 };

/// The name of an unpacked record.
const EXTRACTED_NAME: &str = "record.assay";

/// Size in bytes of the header of a file in an archive, and of each block of its content.
const BLOCK_SIZE: u64 = 512;

/// Size of the end of an archive, in bytes.
const END_SIZE: u64 = 2 * BLOCK_SIZE;

/// The folder of unpacked records if `TMPDIR` is not set: `/tmp` is often in memory.
const LARGE_FILES_FOLDER: &str = "/var/tmp";

/// The limits of an archive.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Maximum size of the unpacked tar file in bytes, headers included.
    bytes: u64,
    /// Maximum number of files.
    files: usize,
}

/// The reason why files were not packed.
#[derive(Debug)]
pub(crate) enum PackError {
    /// The files are too large or too many for an archive.
    TooLarge,
    /// A file cannot be read, or the archive cannot be written.
    Failed(io::Error),
}

impl From<io::Error> for PackError {
    fn from(error: io::Error) -> PackError {
        PackError::Failed(error)
    }
}

/// Returns the limits of an archive as words.
pub(crate) fn limits_text() -> String {
    let Limits { bytes, files } = LIMITS;
    format!("{} GiB and {} files", bytes >> 30, grouped(files as u64))
}

/// Returns true if an archive can hold a file at `path`.
pub(crate) fn fits(path: &str) -> bool {
    Header::new_ustar().set_path(path).is_ok()
}

/// Packs files of a folder, by their paths in it, below the folder `top` of a new archive.
///
/// # Errors
/// A file cannot be read, the files are too large or too many for an archive, or the archive cannot
/// be written.
pub(crate) fn pack(folder: &Path, files: &[String], top: &str, to: File) -> Result<(), PackError> {
    pack_within(LIMITS, folder, files, top, to)
}

fn pack_within(
    limits: Limits,
    folder: &Path,
    files: &[String],
    top: &str,
    to: File,
) -> Result<(), PackError> {
    if files.len() > limits.files {
        return Err(PackError::TooLarge);
    }
    // Neither the time nor the system of the writer is part of the archive.
    let compressed = GzBuilder::new().write(BufWriter::new(to), Compression::default());
    let mut builder = Builder::new(compressed);
    let mut total = END_SIZE;
    for name in files {
        let file = File::open(folder.join(name))?;
        let bytes = file.metadata()?.len();
        total += BLOCK_SIZE + bytes.next_multiple_of(BLOCK_SIZE);
        if total > limits.bytes {
            return Err(PackError::TooLarge);
        }
        let mut header = Header::new_ustar();
        header.set_path(format!("{top}/{name}"))?;
        header.set_size(bytes);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_cksum();
        builder.append(&header, file)?;
    }
    let mut written = builder.into_inner()?.finish()?;
    Ok(written.flush()?)
}

/// A record that was taken out of an archive, in a temporary folder that is removed with this
/// value.
#[derive(Debug)]
pub(crate) struct ExtractedRecord {
    _folder: TemporaryFolder,
    /// The record.
    pub(crate) record: PathBuf,
}

/// Takes the record out of an archive, and reads the archive to its end, to check the whole of it.
///
/// # Errors
/// The archive is damaged or too large, or does not hold exactly one record; or the record or its
/// temporary folder cannot be written.
pub(crate) fn unpack(path: &Path) -> Result<ExtractedRecord, Complaint> {
    let parent = folder_of_large_files(env::var_os("TMPDIR"));
    let folder = TemporaryFolder::new(&parent, "assay-bundle").map_err(|error| {
        Complaint::new(format!("cannot create a folder in `{}`: {error}", parent.display()))
            .help("set TMPDIR to a folder that can be written")
    })?;
    let file = File::open(path);
    let found = file
        .map_err(UnpackError::from)
        .and_then(|file| extract_record(LIMITS, file, folder.path()));
    match found {
        Ok(record) => Ok(ExtractedRecord { _folder: folder, record }),
        Err(refusal) => Err(refusal.complaint(path)),
    }
}

/// Returns the folder of unpacked records: `TMPDIR`, or else `/var/tmp`, which is hardly ever in
/// memory. If there is no such folder, returns `/tmp`.
fn folder_of_large_files(set: Option<OsString>) -> PathBuf {
    match set {
        Some(folder) => PathBuf::from(folder),
        None if Path::new(LARGE_FILES_FOLDER).is_dir() => PathBuf::from(LARGE_FILES_FOLDER),
        None => env::temp_dir(),
    }
}

/// The reason why no record was taken out of an archive.
#[derive(Debug)]
enum UnpackError {
    /// The file cannot be read, or is not an archive.
    Damaged(io::Error),
    /// The archive has too many bytes or files.
    TooLarge,
    /// The archive holds no record.
    NoRecord,
    /// The archive holds several records.
    SeveralRecords,
    /// The record cannot be written here.
    CannotWrite(io::Error),
}

impl From<io::Error> for UnpackError {
    fn from(error: io::Error) -> UnpackError {
        UnpackError::Damaged(error)
    }
}

impl UnpackError {
    fn complaint(self, path: &Path) -> Complaint {
        let path = path.display();
        let (sentence, help) = match self {
            UnpackError::Damaged(error) => (
                format!("`{path}` is not an intact bundle: {error}"),
                "get it again: it was cut, changed or made by another program".to_owned(),
            ),
            UnpackError::TooLarge => (
                format!("`{path}` is too large to be unpacked"),
                format!(
                    "at most {} are: if you trust it, unpack it with `tar xzf`, and name the \
                     record in it",
                    limits_text()
                ),
            ),
            UnpackError::NoRecord => (
                format!("`{path}` holds no record"),
                "name a record, or a bundle that `assay publish` wrote".to_owned(),
            ),
            UnpackError::SeveralRecords => (
                format!("`{path}` holds several records"),
                "unpack it with `tar xzf`, and name one of them".to_owned(),
            ),
            UnpackError::CannotWrite(error) => (
                format!("cannot unpack `{path}`: {error}"),
                "set TMPDIR to a folder with more room".to_owned(),
            ),
        };
        Complaint::new(sentence).help(help)
    }
}

/// Writes the record of an archive into a folder.
fn extract_record(limits: Limits, from: File, folder: &Path) -> Result<PathBuf, UnpackError> {
    // An archive from which the byte beyond the limit can be read is too large.
    let limited = MultiGzDecoder::new(BufReader::new(from)).take(limits.bytes + 1);
    let mut archive = Archive::new(limited);
    let mut found = None;
    let taken = extract_from(limits, &mut archive, folder, &mut found);
    let mut rest = archive.into_inner();
    let read = taken.and_then(|()| Ok(io::copy(&mut rest, &mut io::sink())?));
    match read {
        // A file that is cut at the limit looks damaged.
        Ok(_) | Err(UnpackError::Damaged(_)) if rest.limit() == 0 => Err(UnpackError::TooLarge),
        Ok(_) => found.ok_or(UnpackError::NoRecord),
        Err(refusal) => Err(refusal),
    }
}

/// Reads all entries of an archive, and writes the one that is a record.
fn extract_from(
    limits: Limits,
    archive: &mut Archive<impl Read>,
    folder: &Path,
    found: &mut Option<PathBuf>,
) -> Result<(), UnpackError> {
    // Raw entries: extensions of the format, such as long names, are read as files of their own,
    // and none can make the program allocate memory.
    for (number, entry) in archive.entries()?.raw(true).enumerate() {
        if number >= limits.files {
            return Err(UnpackError::TooLarge);
        }
        let mut entry = entry?;
        if !is_record(&entry) {
            continue;
        }
        if found.is_some() {
            return Err(UnpackError::SeveralRecords);
        }
        // The record's name in the archive may contain anything.
        let to = folder.join(EXTRACTED_NAME);
        write(&mut entry, &to)?;
        *found = Some(to);
    }
    Ok(())
}

/// Returns true if an entry is a record: a regular file `FOLDER/NAME.assay`.
fn is_record(entry: &Entry<'_, impl Read>) -> bool {
    let Ok(path) = entry.path() else { return false };
    let mut parts = path.components();
    let (Some(Component::Normal(_)), Some(Component::Normal(name)), None) =
        (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let has_ending = name.as_encoded_bytes().ends_with(RECORD_ENDING.as_bytes());
    entry.header().entry_type().is_file() && has_ending
}

/// Writes an entry to a new file.
fn write(entry: &mut Entry<'_, impl Read>, to: &Path) -> Result<(), UnpackError> {
    let mut file = File::create_new(to).map_err(UnpackError::CannotWrite)?;
    let mut piece = vec![0; 1 << 16];
    loop {
        match entry.read(&mut piece)? {
            0 => return Ok(()),
            read => file.write_all(&piece[..read]).map_err(UnpackError::CannotWrite)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct TestFolder(tempfile::TempDir);

    impl TestFolder {
        fn new() -> TestFolder {
            TestFolder(tempfile::tempdir().unwrap())
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// Packs a file for each of these names; its content is its name.
        fn pack(&self, to: &str, names: &[&str]) -> Vec<u8> {
            self.pack_within(LIMITS, to, names).unwrap();
            fs::read(self.at(to)).unwrap()
        }

        fn pack_within(&self, limits: Limits, to: &str, names: &[&str]) -> Result<(), PackError> {
            for name in names {
                fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
                fs::write(self.at(name), name).unwrap();
            }
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            pack_within(limits, self.0.path(), &names, "top", File::create(self.at(to)).unwrap())
        }

        /// Returns true if an archive is too large for these limits.
        fn is_refused(&self, limits: Limits, name: &str) -> bool {
            let folder = tempfile::tempdir().unwrap();
            let taken = extract_record(limits, File::open(self.at(name)).unwrap(), folder.path());
            assert!(matches!(taken, Ok(_) | Err(UnpackError::TooLarge)), "{taken:?}");
            taken.is_err()
        }

        /// Returns the content of the record in an archive, or the complaint.
        fn unpacked(&self, name: &str) -> Result<String, String> {
            let unpacked = unpack(&self.at(name)).map_err(|error| error.sentence().to_owned())?;
            Ok(fs::read_to_string(&unpacked.record).unwrap())
        }

        /// Writes an archive with one entry of this kind, whose content is `abc`.
        fn entry(&self, to: &str, kind: tar::EntryType, path: &str, link: &str) {
            let file = File::create(self.at(to)).unwrap();
            let mut builder = Builder::new(GzBuilder::new().write(file, Compression::fast()));
            let mut header = Header::new_ustar();
            // Written directly: the library refuses names that lead out of a folder.
            let name = &mut header.as_old_mut().name;
            name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_entry_type(kind);
            if !link.is_empty() {
                header.set_link_name(link).unwrap();
            }
            header.set_size(3);
            header.set_cksum();
            builder.append(&header, &b"abc"[..]).unwrap();
            builder.into_inner().unwrap().finish().unwrap();
        }
    }

    #[test]
    fn record_is_extracted_from_an_archive_that_depends_only_on_its_files() {
        let place = TestFolder::new();
        let names = ["README.md", "files/other.assay", "r.assay"];
        let first = place.pack("a.tar.gz", &names);
        assert_eq!(first, place.pack("b.tar.gz", &names));
        assert_eq!(place.unpacked("a.tar.gz").as_deref(), Ok("r.assay"));
    }

    #[test]
    fn archive_without_exactly_one_record_is_refused() {
        let place = TestFolder::new();
        place.pack("none.tar.gz", &["README.md", "files/a.assay"]);
        assert!(place.unpacked("none.tar.gz").unwrap_err().contains("holds no record"));
        place.pack("two.tar.gz", &["a.assay", "b.assay"]);
        assert!(place.unpacked("two.tar.gz").unwrap_err().contains("holds several records"));
    }

    #[test]
    fn links_and_names_that_lead_elsewhere_are_not_a_record() {
        use tar::EntryType;
        let place = TestFolder::new();
        for (kind, path, link) in [
            (EntryType::Symlink, "top/r.assay", "/etc/passwd"),
            (EntryType::Link, "top/r.assay", "/etc/passwd"),
            (EntryType::Directory, "top/r.assay", ""),
            (EntryType::Fifo, "top/r.assay", ""),
            (EntryType::Regular, "../r.assay", ""),
            (EntryType::Regular, "/tmp/r.assay", ""),
            (EntryType::Regular, "top/../r.assay", ""),
            (EntryType::Regular, "r.assay", ""),
            (EntryType::GNULongName, "top/r.assay", ""),
        ] {
            place.entry("x.tar.gz", kind, path, link);
            let refused = place.unpacked("x.tar.gz").unwrap_err();
            assert!(refused.contains("holds no record"), "{path}: {refused}");
        }
        place.entry("x.tar.gz", EntryType::Regular, "top/r.assay", "");
        assert_eq!(place.unpacked("x.tar.gz").as_deref(), Ok("abc"));
    }

    #[test]
    fn cut_or_changed_archive_is_refused_or_read_as_it_was() {
        let place = TestFolder::new();
        let bytes = place.pack("a.tar.gz", &["README.md", "r.assay"]);
        for end in 0..bytes.len() {
            fs::write(place.at("cut.tar.gz"), &bytes[..end]).unwrap();
            assert!(place.unpacked("cut.tar.gz").is_err(), "{end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            fs::write(place.at("changed.tar.gz"), &changed).unwrap();
            let read = place.unpacked("changed.tar.gz");
            // The first ten bytes are the gzip header. Its time and its system do not matter.
            let is_as_it_was = at < 10 && read.as_deref() == Ok("r.assay");
            assert!(read.is_err() || is_as_it_was, "{at}: {read:?}");
        }
    }

    #[test]
    fn archive_of_several_members_is_read_to_its_end() {
        let place = TestFolder::new();
        let bytes = place.pack("a.tar.gz", &["r.assay"]);
        let member = |bytes: &[u8]| {
            let mut writer = GzBuilder::new().write(Vec::new(), Compression::fast());
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        };
        let mut tar = Vec::new();
        MultiGzDecoder::new(&bytes[..]).read_to_end(&mut tar).unwrap();
        // Two gzip members, as programs that compress in parallel write.
        let (first, second) = tar.split_at(600);
        let several = [member(first), member(second)].concat();
        fs::write(place.at("several.tar.gz"), several).unwrap();
        assert_eq!(place.unpacked("several.tar.gz").as_deref(), Ok("r.assay"));
        // `tar xzf` would unpack the second record too.
        let end = tar.len() - END_SIZE as usize;
        let two = [member(&tar[..end]), member(&tar)].concat();
        fs::write(place.at("two.tar.gz"), two).unwrap();
        assert!(place.unpacked("two.tar.gz").unwrap_err().contains("holds several records"));
        fs::write(place.at("more.tar.gz"), [&bytes[..], b"junk"].concat()).unwrap();
        assert!(place.unpacked("more.tar.gz").unwrap_err().contains("is not an intact bundle"));
    }

    #[test]
    fn written_archive_is_within_the_limits_of_reading() {
        let place = TestFolder::new();
        let names = ["README.md", "r.assay"];
        let bytes = 2 * (BLOCK_SIZE + BLOCK_SIZE) + END_SIZE;
        let exact = Limits { bytes, files: 2 };
        let less = [Limits { bytes: bytes - 1, files: 2 }, Limits { bytes, files: 1 }];
        place.pack_within(exact, "a.tar.gz", &names).unwrap();
        assert!(!place.is_refused(exact, "a.tar.gz"));
        for limits in less {
            let packed = place.pack_within(limits, "b.tar.gz", &names);
            assert!(matches!(packed, Err(PackError::TooLarge)), "{limits:?}");
            assert!(place.is_refused(limits, "a.tar.gz"), "{limits:?}");
        }
        // Zeros after the end of the archive also count: they exceed the limit before the checksum
        // of the compressed file is read.
        let file = File::create(place.at("c.tar.gz")).unwrap();
        let mut longer = GzBuilder::new().write(file, Compression::fast());
        let mut tar =
            MultiGzDecoder::new(BufReader::new(File::open(place.at("a.tar.gz")).unwrap()));
        io::copy(&mut tar, &mut longer).unwrap();
        longer.write_all(&[0; 512]).unwrap();
        longer.finish().unwrap();
        assert!(place.is_refused(exact, "c.tar.gz"));
    }

    #[test]
    fn record_may_have_any_name_in_an_archive() {
        let place = TestFolder::new();
        place.entry("x.tar.gz", tar::EntryType::Regular, "top/\u{1b}[2J\n\u{202e}.assay", "");
        let unpacked = unpack(&place.at("x.tar.gz")).unwrap();
        assert_eq!(unpacked.record.file_name().unwrap(), EXTRACTED_NAME);
    }

    #[test]
    fn large_records_are_unpacked_on_a_disk_unless_another_folder_is_set() {
        assert_eq!(folder_of_large_files(Some("/x".into())), Path::new("/x"));
        assert_eq!(folder_of_large_files(None), Path::new(LARGE_FILES_FOLDER));
    }

    #[test]
    fn names_longer_than_an_archive_can_hold_do_not_fit() {
        assert!(fits("top/files/a.ini"));
        assert!(!fits(&format!("top/{}", "x".repeat(101))));
    }
}
