//! Restrictions on the files that a workload file may name, and on the environment of its programs.
//!
//! A workload file, and the folder that it is in, may be from an untrusted source. [`Files`] opens
//! the files that its keys name: inputs below the folder of the workload file, outputs below the
//! folder of the record, unless the user has allowed more ([`Reach`]).
//!
//! The invariant: within [`Reach::Folder`], no symbolic link below the folder is followed, and no
//! hidden file is opened. No opening waits for another program, unless a [pipe](Files::open_pipe)
//! is expected. No existing file is written to, and no file is created whose name another program
//! would act on. Paths are resolved one component at a time from an open folder (`openat` with
//! `O_NOFOLLOW`), which leaves no time between check and use to exchange a file.
//!
//! Paths in URLs are only checked here ([`check_below_here`], [`check_database_below_here`]):
//! SQLite opens its files by name, and a certificate or key is read anew for each driver. The check
//! holds while no other user can write to the folder; `docs/trust.md` says so.

mod companions;
mod environment;
mod refusal;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

pub use companions::check_companions;
pub use environment::without_secrets;
pub use refusal::{ALLOW_FILES_OPTION, Refusal};

/// The range of files that the names in a workload file may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Files below the two base folders; outputs are new files.
    Folder,
    /// All files that this process can reach: the user has allowed them, or has named the file
    /// themselves.
    Anywhere,
}

/// The files that a workload file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The base folder of inputs: the folder of the workload file.
    pub inputs: PathBuf,
    /// The base folder of outputs: the folder of the record.
    pub outputs: PathBuf,
    /// The range of files that names may reach.
    pub reach: Reach,
}

/// File name extensions that a workload file may use for an SQLite database.
pub const DATABASE_EXTENSIONS: [&str; 3] = ["db", "sqlite", "sqlite3"];

/// The first bytes of each SQLite database that is not empty ("Database File Format", section 1.3).
const SQLITE_HEADER: [u8; 16] = *b"SQLite format 3\0";

/// Uses one base folder for inputs and outputs, without restrictions.
impl From<PathBuf> for Files {
    fn from(folder: PathBuf) -> Files {
        Files { outputs: folder.clone(), inputs: folder, reach: Reach::Anywhere }
    }
}

impl From<&str> for Files {
    fn from(folder: &str) -> Files {
        PathBuf::from(folder).into()
    }
}

impl From<&Path> for Files {
    fn from(folder: &Path) -> Files {
        folder.to_owned().into()
    }
}

impl Files {
    /// Returns the path of an input. The path is not checked.
    pub fn input(&self, name: &str) -> PathBuf {
        self.inputs.join(name)
    }

    /// Returns the path of an output. The path is not checked.
    pub fn output(&self, name: &str) -> PathBuf {
        self.outputs.join(name)
    }

    /// Opens an input for reading. Within [`Reach::Folder`] it must be a regular file; within
    /// [`Reach::Anywhere`], opening a pipe blocks until it has a writer.
    ///
    /// # Errors
    /// A [`Refusal`], or the system's error.
    pub fn open(&self, name: &str) -> io::Result<File> {
        match self.reach {
            Reach::Anywhere => File::open(self.input(name)),
            Reach::Folder => NamedFile::find(&self.inputs, name)?.open_regular(),
        }
    }

    /// Opens an input that may be a pipe. Blocks until a pipe has a writer: the caller must be a
    /// thread on which nothing else depends.
    ///
    /// # Errors
    /// A [`Refusal`], or the system's error.
    pub fn open_pipe(&self, name: &str) -> io::Result<File> {
        match self.reach {
            Reach::Anywhere => File::open(self.input(name)),
            Reach::Folder => {
                let place = NamedFile::find(&self.inputs, name)?;
                place.input_kind()?;
                place.open(OFlags::RDONLY, Mode::empty())
            }
        }
    }

    /// Returns true if an input is a regular file. A pipe can be read only once, with
    /// [`open_pipe`](Files::open_pipe).
    ///
    /// # Errors
    /// The file does not exist, it is a folder, or a [`Refusal`].
    pub fn is_regular(&self, name: &str) -> io::Result<bool> {
        let kind = match self.reach {
            Reach::Anywhere => FileType::from_raw_mode(rustix::fs::stat(self.input(name))?.st_mode),
            Reach::Folder => NamedFile::find(&self.inputs, name)?.input_kind()?,
        };
        match kind {
            FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
            kind => Ok(kind == FileType::RegularFile),
        }
    }

    /// Checks that an output may be created, without creating it. Within [`Reach::Anywhere`], every
    /// output may be created.
    ///
    /// # Errors
    /// A [`Refusal`], or the system's error.
    pub fn check_creatable(&self, name: &str) -> io::Result<()> {
        match self.reach {
            Reach::Anywhere => Ok(()),
            Reach::Folder => NamedFile::of_output(&self.outputs, name)?.check_free(),
        }
    }

    /// Creates a new file for an output. Returns `None` within [`Reach::Anywhere`]: the file may
    /// then exist or be a pipe, and the caller opens it in another way.
    ///
    /// # Errors
    /// A [`Refusal`], or the system's error.
    pub fn create(&self, name: &str) -> io::Result<Option<File>> {
        if self.reach == Reach::Anywhere {
            return Ok(None);
        }
        let place = NamedFile::of_output(&self.outputs, name)?;
        place.check_free()?;
        place.open(OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, Mode::from(0o666)).map(Some)
    }
}

/// Checks that a path in a URL of a workload file leads below the current folder, to which such
/// paths are relative. The path is that of a certificate or a key, which need not exist and is
/// opened later by its name; a database has
/// [further requirements](check_database_below_here). A pipe, a device or a socket is refused.
///
/// # Errors
/// A [`Refusal`], or the system's error.
pub fn check_below_here(path: &Path) -> io::Result<()> {
    match find_below_here(path)? {
        // If the path is a folder, opening it fails with a message.
        None | Some((_, FileType::RegularFile | FileType::Directory)) => Ok(()),
        Some((_, kind)) => Err(special_refusal(kind).into()),
    }
}

/// Checks that a path in a URL of a workload file may belong to an SQLite database: it leads below
/// the current folder, its name is one for a database, an existing file is a database or empty, and
/// the files [next to it](check_companions) lead to no other file.
///
/// # Errors
/// A [`Refusal`], or the system's error.
pub fn check_database_below_here(path: &Path) -> io::Result<()> {
    let found = find_below_here(path)?;
    let is_known =
        |end: &OsStr| DATABASE_EXTENSIONS.iter().any(|known| end.eq_ignore_ascii_case(known));
    if !path.extension().is_some_and(is_known) {
        return Err(Refusal::NotDatabaseName.into());
    }
    check_companions(path)?;
    match found {
        // SQLite itself refuses a folder.
        None | Some((_, FileType::Directory)) => Ok(()),
        Some((place, FileType::RegularFile)) => {
            let mut beginning = Vec::with_capacity(SQLITE_HEADER.len());
            let file = place.open_regular()?;
            file.take(SQLITE_HEADER.len() as u64).read_to_end(&mut beginning)?;
            match beginning.is_empty() || beginning == SQLITE_HEADER {
                true => Ok(()),
                false => Err(Refusal::NotDatabase.into()),
            }
        }
        Some(_) => Err(Refusal::NotDatabase.into()),
    }
}

/// Returns the open folder and the name of a file below the current folder, and its kind; `None` if
/// the file does not exist.
fn find_below_here(path: &Path) -> io::Result<Option<(NamedFile<'_>, FileType)>> {
    let shown = path.to_str().ok_or(Refusal::Outside)?;
    let found = NamedFile::find(Path::new("."), shown).and_then(|place| {
        let kind = place.kind()?;
        Ok((place, kind))
    });
    match found {
        Ok((_, FileType::Symlink)) => Err(Refusal::Link.into()),
        Ok(found) => Ok(Some(found)),
        // A missing folder is reported when the file is opened.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A file name in an open folder.
struct NamedFile<'n> {
    folder: OwnedFd,
    name: &'n OsStr,
}

impl<'n> NamedFile<'n> {
    /// Opens the folders on the path to a file, none of which may be a link.
    fn find(folder: &Path, name: &'n str) -> io::Result<NamedFile<'n>> {
        const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
        let components = components(name)?;
        let Some((last, parents)) = components.split_last() else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        // The base folder was named by the user, so it may be a link.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let mut at = openat(CWD, folder, FOLDER, Mode::empty())?;
        for parent in parents {
            let next = openat(&at, *parent, FOLDER | OFlags::NOFOLLOW, Mode::empty());
            at = next.map_err(|error| match is_link(&at, parent) {
                true => io::Error::from(Refusal::Link),
                false => error.into(),
            })?;
        }
        Ok(NamedFile { folder: at, name: last })
    }

    fn of_output(folder: &Path, name: &'n str) -> io::Result<NamedFile<'n>> {
        components(name)?;
        let is_csv = |end: &OsStr| end.eq_ignore_ascii_case("csv");
        if !Path::new(name).extension().is_some_and(is_csv) {
            return Err(Refusal::NotCsv.into());
        }
        NamedFile::find(folder, name)
    }

    fn kind(&self) -> io::Result<FileType> {
        let found = statat(&self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(found.st_mode))
    }

    /// Returns the kind of the file, or an error if it cannot be an input. Devices are refused,
    /// because opening a device may have side effects.
    fn input_kind(&self) -> io::Result<FileType> {
        match self.kind()? {
            FileType::Symlink => Err(Refusal::Link.into()),
            kind @ (FileType::RegularFile | FileType::Fifo | FileType::Directory) => Ok(kind),
            kind => Err(special_refusal(kind).into()),
        }
    }

    /// Opens a regular file for reading. Does not wait, even if the file was exchanged for a pipe
    /// after the check of its kind.
    fn open_regular(&self) -> io::Result<File> {
        match self.input_kind()? {
            FileType::RegularFile => {}
            FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
            kind => return Err(special_refusal(kind).into()),
        }
        // The flag has no effect on a regular file.
        let file = self.open(OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(Refusal::Special.into()),
        }
    }

    /// Checks that no file exists at the path.
    fn check_free(&self) -> io::Result<()> {
        match self.kind() {
            Ok(FileType::Symlink) => Err(Refusal::Link.into()),
            Ok(_) => Err(Refusal::Exists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn open(&self, flags: OFlags, mode: Mode) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
        match openat(&self.folder, self.name, flags, mode) {
            Ok(file) => Ok(File::from(file)),
            Err(Errno::LOOP) => Err(Refusal::Link.into()),
            Err(Errno::EXIST) => Err(Refusal::Exists.into()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the components of a name, if it does not lead out of its folder and none is hidden.
fn components(name: &str) -> Result<Vec<&OsStr>, Refusal> {
    let parts = Path::new(name).components().filter(|part| *part != Component::CurDir);
    parts
        .map(|part| match part {
            Component::Normal(part) if is_hidden(part) => Err(Refusal::Hidden),
            Component::Normal(part) => Ok(part),
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => Err(Refusal::Outside),
        })
        .collect()
}

/// Returns the refusal of a file that is neither a regular file nor a folder nor a link.
fn special_refusal(kind: FileType) -> Refusal {
    if kind == FileType::Fifo { Refusal::Pipe } else { Refusal::Special }
}

fn is_hidden(part: &OsStr) -> bool {
    part.as_encoded_bytes().starts_with(b".")
}

fn is_link(folder: &OwnedFd, name: &OsStr) -> bool {
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    /// A folder `inner` of an untrusted user, next to a file that this user must not reach.
    struct Planted {
        root: tempfile::TempDir,
        files: Files,
    }

    fn planted() -> Planted {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("inner");
        fs::create_dir_all(inner.join("sub")).unwrap();
        fs::write(root.path().join("victim.csv"), "kept").unwrap();
        fs::write(inner.join("in.csv"), "1").unwrap();
        fs::write(inner.join("sub/in.csv"), "2").unwrap();
        fs::create_dir(inner.join(".ssh")).unwrap();
        fs::write(inner.join(".ssh/id_ed25519"), "key").unwrap();
        fs::write(inner.join("sub/.pgpass"), "password").unwrap();
        symlink("../victim.csv", inner.join("link.csv")).unwrap();
        symlink("/no/such/file", inner.join("dangling.csv")).unwrap();
        symlink("in.csv", inner.join("near.csv")).unwrap();
        symlink("..", inner.join("up")).unwrap();
        let files = Files { inputs: inner.clone(), outputs: inner, reach: Reach::Folder };
        Planted { root, files }
    }

    fn refusal<T: std::fmt::Debug>(result: io::Result<T>) -> Option<Refusal> {
        let error = result.unwrap_err();
        error.get_ref().and_then(|error| error.downcast_ref::<Refusal>()).copied()
    }

    #[test]
    fn inputs_stay_below_the_folder_also_through_links() {
        let Planted { root, files } = planted();
        let _socket = UnixListener::bind(files.input("socket")).unwrap();
        let pipe = files.input("pipe");
        rustix::fs::mkfifoat(CWD, &pipe, Mode::from(0o600)).unwrap();
        // Opening the pipe would wait for a writer.
        assert_eq!(refusal(files.open("pipe")), Some(Refusal::Pipe));
        assert!(!files.is_regular("pipe").unwrap());
        let writer = File::options().read(true).write(true).open(&pipe).unwrap();
        assert!(files.open_pipe("pipe").is_ok());
        drop(writer);
        let absolute = root.path().join("victim.csv");
        for (name, why) in [
            ("../victim.csv", Refusal::Outside),
            ("sub/../../victim.csv", Refusal::Outside),
            (absolute.to_str().unwrap(), Refusal::Outside),
            ("/etc/passwd", Refusal::Outside),
            ("link.csv", Refusal::Link),
            ("near.csv", Refusal::Link),
            ("up/victim.csv", Refusal::Link),
            ("./up/inner/in.csv", Refusal::Link),
            ("socket", Refusal::Special),
            (".ssh/id_ed25519", Refusal::Hidden),
            ("./.ssh/id_ed25519", Refusal::Hidden),
            ("sub/.pgpass", Refusal::Hidden),
            (".none", Refusal::Hidden),
        ] {
            assert_eq!(refusal(files.open(name)), Some(why), "{name}");
            assert_eq!(refusal(files.open_pipe(name)), Some(why), "{name}");
            assert_eq!(refusal(files.is_regular(name)), Some(why), "{name}");
        }
        for name in ["in.csv", "./in.csv", "sub/in.csv", "sub//in.csv"] {
            assert!(files.open(name).is_ok() && files.is_regular(name).unwrap(), "{name}");
        }
        assert_eq!(files.open("none").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(files.is_regular("sub").unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn outputs_are_new_files_below_the_folder() {
        let Planted { root, files } = planted();
        for (name, why) in [
            ("../victim.csv", Refusal::Outside),
            ("/tmp/victim.csv", Refusal::Outside),
            ("link.csv", Refusal::Link),
            ("dangling.csv", Refusal::Link),
            ("up/new.csv", Refusal::Link),
            ("in.csv", Refusal::Exists),
            (".profile.csv", Refusal::Hidden),
            (".git/new.csv", Refusal::Hidden),
            ("Makefile", Refusal::NotCsv),
            ("run.sh", Refusal::NotCsv),
        ] {
            assert_eq!(refusal(files.create(name)), Some(why), "{name}");
            assert_eq!(refusal(files.check_creatable(name)), Some(why), "{name}");
        }
        assert_eq!(fs::read_to_string(root.path().join("victim.csv")).unwrap(), "kept");
        assert!(!Path::new("/no/such/file").exists());
        files.check_creatable("sub/new.csv").unwrap();
        assert!(files.create("sub/new.csv").unwrap().is_some());
        assert_eq!(refusal(files.create("sub/new.csv")), Some(Refusal::Exists));
    }

    #[test]
    fn unconfined_names_may_lead_anywhere() {
        let Planted { root: _root, files } = planted();
        let files = Files { reach: Reach::Anywhere, ..files };
        assert!(files.open("../victim.csv").is_ok() && files.open("near.csv").is_ok());
        assert!(files.open(".ssh/id_ed25519").is_ok());
        assert!(files.check_creatable("../victim.csv").is_ok());
        assert!(files.create("../victim.csv").unwrap().is_none());
    }

    #[test]
    fn a_path_of_a_url_leads_below_the_current_folder() {
        for (path, why) in [
            ("/tmp/x.db", Some(Refusal::Outside)),
            ("../x.db", Some(Refusal::Outside)),
            (".config/x.db", Some(Refusal::Hidden)),
            ("no/such/folder/x.db", None),
            ("x.db", None),
            ("x.SQLite3", None),
            ("x.txt", Some(Refusal::NotDatabaseName)),
            ("x", Some(Refusal::NotDatabaseName)),
            // The current folder is the folder of this crate.
            ("Cargo.toml", Some(Refusal::NotDatabaseName)),
        ] {
            let allowed = check_database_below_here(Path::new(path));
            assert_eq!(allowed.is_err().then(|| refusal(allowed)).flatten(), why, "{path}");
            let is_elsewhere = matches!(why, Some(Refusal::Outside | Refusal::Hidden));
            assert_eq!(check_below_here(Path::new(path)).is_err(), is_elsewhere, "{path}");
        }
    }
}
