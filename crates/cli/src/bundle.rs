//! Published bundles as archives: a folder becomes one file, and the record is taken out of it.
//!
//! An archive is a compressed tar file (POSIX 1003.1-1988, `ustar`) whose bytes depend on the
//! content of its files alone. The one that is opened may be that of a stranger: a single file is
//! taken out of it, by its name and under a limit, and no link is followed.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::GzBuilder;
use flate2::read::GzDecoder;
use guardian::TemporaryFolder;
use tar::{Archive, Builder, Entry, Header};

use crate::complain::Complaint;

/// The ending of the name of an archive.
pub(crate) const ENDING: &str = ".tar.gz";

/// The ending of the name of the record in a bundle. No other file of a bundle has it, except those
/// in a folder of their own.
pub(crate) const RECORD_ENDING: &str = ".assay";

/// Most bytes of an archive, unpacked. A larger record is published as a folder.
const LARGEST: u64 = 4 << 30;

/// Most files of an archive.
const MOST_FILES: usize = 10_000;

/// The first bytes of a compressed file (RFC 1952, section 2.3.1).
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Returns true if an archive can hold a file at `path`.
pub(crate) fn fits(path: &str) -> bool {
    Header::new_ustar().set_path(path).is_ok()
}

/// Returns true if a file is compressed, as archives are.
pub(crate) fn is_archive(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    // A folder or a pipe is not, and another fault is reported by the reader of records.
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut begin).is_ok())
        && begin == MAGIC
}

/// Packs files of a folder, by their paths in it, below the folder `top` of a new archive.
///
/// # Errors
/// A file cannot be read, the files are too large for an archive, or it cannot be written.
pub(crate) fn pack(folder: &Path, files: &[String], top: &str, to: File) -> io::Result<()> {
    // Neither the time nor the system of the writer is part of the archive.
    let compressed = GzBuilder::new().write(BufWriter::new(to), Compression::default());
    let mut builder = Builder::new(compressed);
    let mut total = 0;
    for name in files {
        let file = File::open(folder.join(name))?;
        let bytes = file.metadata()?.len();
        total += bytes;
        if total > LARGEST {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, too_large()));
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
    written.flush()
}

fn too_large() -> String {
    format!("its files have more than {} GiB together", LARGEST >> 30)
}

/// A record that was taken out of an archive, in a temporary folder that is removed with this
/// value.
#[derive(Debug)]
pub(crate) struct Unpacked {
    _folder: TemporaryFolder,
    /// The record.
    pub(crate) record: PathBuf,
}

/// Takes the record out of an archive, and reads the archive to its end.
///
/// # Errors
/// The archive is damaged or too large, or does not hold exactly one record; or the record cannot
/// be written.
pub(crate) fn unpack(path: &Path) -> Result<Unpacked, Complaint> {
    let parent = std::env::temp_dir();
    let folder = TemporaryFolder::new(&parent, "assay-bundle").map_err(|error| {
        Complaint::new(format!("cannot create a folder in `{}`: {error}", parent.display()))
            .help("set TMPDIR to a folder that can be written")
    })?;
    let file = File::open(path);
    let found = file.map_err(Refusal::from).and_then(|file| take_record(file, folder.path()));
    match found {
        Ok(record) => Ok(Unpacked { _folder: folder, record }),
        Err(refusal) => Err(refusal.complaint(path)),
    }
}

/// A reason why no record is taken out of an archive.
#[derive(Debug)]
enum Refusal {
    /// It cannot be read, or is no archive.
    Damaged(io::Error),
    /// It has too many bytes or files.
    Large,
    /// It holds no record.
    None,
    /// It holds several records.
    Several,
    /// The record cannot be written here.
    Unwritten(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::Damaged(error)
    }
}

impl Refusal {
    fn complaint(self, path: &Path) -> Complaint {
        let path = path.display();
        let (sentence, help) = match self {
            Refusal::Damaged(error) => (
                format!("`{path}` is no intact bundle: {error}"),
                "get it again: it was cut, changed or made by another program".to_owned(),
            ),
            Refusal::Large => (
                format!("`{path}` is too large to be unpacked"),
                format!(
                    "at most {MOST_FILES} files and {} GiB are: if you trust it, unpack it with \
                     `tar xzf`, and name the record in it",
                    LARGEST >> 30
                ),
            ),
            Refusal::None => (
                format!("`{path}` holds no record"),
                "name a record, or a bundle that `assay publish` wrote".to_owned(),
            ),
            Refusal::Several => (
                format!("`{path}` holds several records"),
                "unpack it with `tar xzf`, and name one of them".to_owned(),
            ),
            Refusal::Unwritten(error) => (
                format!("cannot unpack `{path}`: {error}"),
                "set TMPDIR to a folder with more room".to_owned(),
            ),
        };
        Complaint::new(sentence).help(help)
    }
}

/// Writes the record of an archive into a folder.
fn take_record(from: File, folder: &Path) -> Result<PathBuf, Refusal> {
    let limited = GzDecoder::new(BufReader::new(from)).take(LARGEST);
    let mut archive = Archive::new(limited);
    let mut found = None;
    let taken = take_from(&mut archive, folder, &mut found);
    let mut rest = archive.into_inner();
    let is_cut = rest.limit() == 0;
    match taken {
        // A file that ends at the limit looks cut.
        Err(Refusal::Damaged(_)) if is_cut => Err(Refusal::Large),
        Err(refusal) => Err(refusal),
        Ok(()) => {
            // The sum of all bytes is at the very end.
            io::copy(&mut rest, &mut io::sink())?;
            found.ok_or(Refusal::None)
        }
    }
}

/// Reads all entries of an archive, and writes the one that is a record.
fn take_from(
    archive: &mut Archive<impl Read>,
    folder: &Path,
    found: &mut Option<PathBuf>,
) -> Result<(), Refusal> {
    // Raw entries: extensions of the format, such as long names, are read as files of their own,
    // and none can ask for memory.
    for (number, entry) in archive.entries()?.raw(true).enumerate() {
        if number >= MOST_FILES {
            return Err(Refusal::Large);
        }
        let mut entry = entry?;
        let Some(name) = record_name(&entry) else { continue };
        let to = folder.join(name);
        if found.is_some() {
            return Err(Refusal::Several);
        }
        write(&mut entry, &to)?;
        *found = Some(to);
    }
    Ok(())
}

/// Returns the file name of an entry that is a record: a regular file `FOLDER/NAME.assay`.
fn record_name(entry: &Entry<'_, impl Read>) -> Option<String> {
    let path = entry.path().ok()?;
    let mut parts = path.components();
    let (Some(Component::Normal(_)), Some(Component::Normal(name)), None) =
        (parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let name = name.to_str()?;
    let is_record = entry.header().entry_type().is_file() && name.ends_with(RECORD_ENDING);
    is_record.then(|| name.to_owned())
}

/// Writes an entry to a new file.
fn write(entry: &mut Entry<'_, impl Read>, to: &Path) -> Result<(), Refusal> {
    let mut file = File::create_new(to).map_err(Refusal::Unwritten)?;
    let mut piece = vec![0; 1 << 16];
    loop {
        match entry.read(&mut piece)? {
            0 => return Ok(()),
            read => file.write_all(&piece[..read]).map_err(Refusal::Unwritten)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Place {
            Place(tempfile::tempdir().unwrap())
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// Packs files with these names, whose content is the name.
        fn pack(&self, to: &str, names: &[&str]) -> Vec<u8> {
            for name in names {
                fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
                fs::write(self.at(name), name).unwrap();
            }
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            pack(self.0.path(), &names, "top", File::create_new(self.at(to)).unwrap()).unwrap();
            fs::read(self.at(to)).unwrap()
        }

        /// Returns the content of the record in an archive, or the complaint.
        fn unpacked(&self, name: &str) -> Result<String, String> {
            let unpacked = unpack(&self.at(name)).map_err(|error| error.text().to_owned())?;
            Ok(fs::read_to_string(&unpacked.record).unwrap())
        }

        /// Writes an archive with an entry of any kind.
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
    fn record_is_taken_out_of_an_archive_that_depends_on_its_files_alone() {
        let place = Place::new();
        let names = ["README.md", "files/other.assay", "r.assay"];
        let first = place.pack("a.tar.gz", &names);
        assert_eq!(first, place.pack("b.tar.gz", &names));
        assert!(is_archive(&place.at("a.tar.gz")) && !is_archive(&place.at("r.assay")));
        assert_eq!(place.unpacked("a.tar.gz").as_deref(), Ok("r.assay"));
    }

    #[test]
    fn archive_without_exactly_one_record_is_refused() {
        let place = Place::new();
        place.pack("none.tar.gz", &["README.md", "files/a.assay"]);
        assert!(place.unpacked("none.tar.gz").unwrap_err().contains("holds no record"));
        place.pack("two.tar.gz", &["a.assay", "b.assay"]);
        assert!(place.unpacked("two.tar.gz").unwrap_err().contains("holds several records"));
    }

    #[test]
    fn links_and_names_that_lead_elsewhere_are_no_record() {
        use tar::EntryType;
        let place = Place::new();
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
        let place = Place::new();
        let bytes = place.pack("a.tar.gz", &["README.md", "r.assay"]);
        for end in 2..bytes.len() {
            fs::write(place.at("cut.tar.gz"), &bytes[..end]).unwrap();
            assert!(place.unpacked("cut.tar.gz").is_err(), "{end}");
        }
        // Beyond the head of the compressed file, whose time and system do not matter.
        for at in 10..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            fs::write(place.at("changed.tar.gz"), &changed).unwrap();
            assert!(place.unpacked("changed.tar.gz").is_err(), "{at}");
        }
    }

    #[test]
    fn names_longer_than_an_archive_can_hold_do_not_fit() {
        assert!(fits("top/files/a.ini"));
        assert!(!fits(&format!("top/{}", "x".repeat(101))));
    }
}
