//! Temporary folders that are removed when they are dropped, or when this process ends, however it
//! ends.

use std::fs::{DirBuilder, File};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, chown, fchown};
use std::path::{Path, PathBuf};

use guardian::Guardian;

use crate::Problem;
use crate::programs::Account;

/// Maximum length of the path of a Unix domain socket, in bytes (`sun_path` of unix(7), without the
/// final zero byte).
const LONGEST_SOCKET_PATH: usize = 107;

/// The longest path of a socket, below its folder.
const LONGEST_SOCKET_SUFFIX: &str = "/via/.s.PGSQL.65535";

/// A folder that only its account (and root) can enter, with its guardian.
pub(crate) struct Folder {
    path: PathBuf,
    guardian: Guardian,
}

impl Folder {
    /// Creates a folder that belongs to an account.
    pub(crate) fn new(account: &Account) -> Result<Folder, Problem> {
        let parent = parent_folder(&std::env::temp_dir(), account)?;
        let path = parent.join(format!("assay-{}", random_hex(6)?));
        // The guardian comes first: without one, the folder would stay if this process were killed
        // here.
        let guardian = Guardian::of_folder(&path).map_err(Problem::system("start /bin/sh"))?;
        let folder = Folder { path, guardian };
        let made = DirBuilder::new().mode(0o700).create(&folder.path);
        made.map_err(Problem::system(format!("make {}", folder.path.display())))?;
        change_owner(&folder.path, account)?;
        Ok(folder)
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Registers a process with the guardian, the shell that cleans up after Assay: it ends the
    /// process with `signal` if Assay has not done so.
    pub(crate) fn register_process(&mut self, pid: u32, signal: &str) {
        self.guardian.register_process(pid, signal);
    }

    /// Notifies the guardian that a process has been reaped.
    pub(crate) fn unregister_process(&mut self, pid: u32) {
        self.guardian.unregister_process(pid);
    }
}

/// Gives a file or a folder to an account.
pub(crate) fn change_owner(path: &Path, account: &Account) -> Result<(), Problem> {
    match account.switch_to {
        Some((user, group)) => chown(path, Some(user), Some(group))
            .map_err(Problem::system(format!("give {} to {}", path.display(), account.name))),
        None => Ok(()),
    }
}

/// Writes a file that only the account can read.
pub(crate) fn write_private(path: &Path, text: &str, account: &Account) -> Result<(), Problem> {
    // The file exists if a pooler is started again.
    let _ = std::fs::remove_file(path);
    let mut options = File::options();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    // The descriptor is used, because another file may have the name by now.
    let give = |file: &File| match account.switch_to {
        Some((user, group)) => fchown(file, Some(user), Some(group)),
        None => Ok(()),
    };
    file.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| give(&file)))
        .map_err(Problem::system(format!("write {}", path.display())))
}

/// Returns true if servers can handle a path: it contains no comma, quote, backslash or control
/// character. These have a meaning in lists of folders, in settings or in `postmaster.pid`.
fn is_readable_by_servers(path: &Path) -> bool {
    let is_special = |c: char| c.is_control() || [',', '"', '\'', '\\'].contains(&c);
    path.to_str().is_some_and(|text| !text.contains(is_special))
}

/// Returns the absolute path of the folder for temporary files; `/tmp` if the path is too long for
/// a socket, has characters that servers do not understand, or is not accessible to the account.
/// Servers and the guardian work in other folders than this process.
fn parent_folder(temporary: &Path, account: &Account) -> Result<PathBuf, Problem> {
    let rest = "/assay-".len() + 12 + LONGEST_SOCKET_SUFFIX.len();
    let length = |path: &Path| path.as_os_str().len() + rest;
    let is_open = |path: &Path| {
        let open =
            |step: &Path| step.metadata().is_ok_and(|data| data.permissions().mode() & 0o001 != 0);
        account.switch_to.is_none() || path.ancestors().all(open)
    };
    let candidates = [std::path::absolute(temporary).ok(), Some(PathBuf::from("/tmp"))];
    let fits = |path: &PathBuf| {
        length(path) <= LONGEST_SOCKET_PATH
            && is_readable_by_servers(path)
            && path.is_dir()
            && is_open(path)
    };
    candidates.into_iter().flatten().find(fits).ok_or_else(|| {
        Problem::refused("neither TMPDIR nor /tmp is a folder that a server could use")
    })
}

/// Returns random bytes as hexadecimal digits, for names and passwords.
pub(crate) fn random_hex(bytes: usize) -> Result<String, Problem> {
    let mut random = vec![0; bytes];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut random))
        .map_err(Problem::system("read /dev/urandom"))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_of_a_relative_folder_becomes_absolute() {
        let account = Account { name: "ann".to_owned(), switch_to: None };
        for temporary in [".", ""] {
            let parent = parent_folder(Path::new(temporary), &account).unwrap();
            assert!(parent.is_absolute(), "{}", parent.display());
        }
    }

    #[test]
    fn folder_whose_path_servers_misread_is_not_used() {
        for (path, is_usable) in [
            ("/var/tmp", true),
            ("/home/ann/my files (2)", true),
            ("/home/zoë", true),
            ("/tmp/two\nlines", false),
            ("/tmp/a,b", false),
            ("/tmp/\"a\"", false),
            ("/tmp/it's", false),
            ("/tmp/a\\b", false),
        ] {
            assert_eq!(is_readable_by_servers(Path::new(path)), is_usable, "{path}");
        }
    }
}
