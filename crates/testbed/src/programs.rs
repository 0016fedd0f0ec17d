//! Locations of server programs, and the accounts that run them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::User;
use rustix::process::geteuid;

use crate::Problem;

/// Folders that are searched for programs after those in `PATH`. The `PATH` of some users lacks the
/// folders of system programs, which contain MariaDB's server and the poolers.
const FALLBACK_FOLDERS: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Name of MariaDB's server program, to which `mysqld` may be a link.
const MARIADBD: &str = "mariadbd";

/// A program, and instructions for installing it.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) source: Source,
}

/// A way to install a missing program.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// A package of the distribution.
    Package(&'static str),
    /// Instructions for the user.
    Instructions(&'static str),
}

/// A server program and the programs that come with it.
pub(crate) struct Suite {
    /// The server itself.
    pub(crate) server: Program,
    /// Environment variable that can name a different server program by its path.
    pub(crate) variable: &'static str,
    /// Folder with one subfolder per installed version; `None` if the packages install no such
    /// folder.
    pub(crate) versions: Option<&'static str>,
}

impl Suite {
    /// Returns the path of the server program that the environment variable names; if it names
    /// none, the path of the server program that the system provides.
    pub(crate) fn find_server(&self) -> Result<PathBuf, Problem> {
        match self.chosen_server()? {
            Some(path) => Ok(path),
            None => self.server.find_in(&self.folders(None)),
        }
    }

    /// Returns the path of a program in the same version as the server; if there is none, the path
    /// of the program that the system provides.
    pub(crate) fn find(&self, program: Program) -> Result<PathBuf, Problem> {
        program.find_in(&self.folders(self.chosen_server()?.as_deref()))
    }

    /// Returns the folder that contains the folders of the programs, if the environment variable
    /// names a server.
    pub(crate) fn base_folder(&self) -> Result<Option<PathBuf>, Problem> {
        let chosen = self.chosen_server()?;
        Ok(chosen.and_then(|path| Some(path.parent()?.parent()?.to_owned())))
    }

    fn chosen_server(&self) -> Result<Option<PathBuf>, Problem> {
        server_of_variable(self.variable, std::env::var_os(self.variable).as_deref())
    }

    /// Returns the folders to search for programs, best first.
    fn folders(&self, chosen: Option<&Path>) -> Vec<PathBuf> {
        let mut folders = chosen.map_or_else(Vec::new, folders_around);
        folders.extend(self.versions.into_iter().flat_map(|at| version_folders(Path::new(at))));
        folders.extend(system_folders());
        folders
    }
}

/// Returns the absolute path of the program that an environment variable names; `None` if it is
/// empty or not set.
fn server_of_variable(variable: &str, value: Option<&OsStr>) -> Result<Option<PathBuf>, Problem> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    let path = std::path::absolute(value).map_err(Problem::system("find the current folder"))?;
    if path.is_file() {
        return Ok(Some(path));
    }
    Err(Problem::refused(format!(
        "{variable} names {}, which is not a file: give it the path of the server program",
        path.display()
    )))
}

/// Returns the folders that may contain the programs belonging to a server program.
fn folders_around(program: &Path) -> Vec<PathBuf> {
    let Some(folder) = program.parent() else { return Vec::new() };
    let beside = folder.parent().map(|above| above.join("bin"));
    [Some(folder.to_owned()), beside].into_iter().flatten().collect()
}

impl Program {
    /// Finds the program in the first folder that has it.
    pub(crate) fn find_in(self, folders: &[PathBuf]) -> Result<PathBuf, Problem> {
        let paths = folders.iter().map(|folder| folder.join(self.name));
        paths.into_iter().find(|path| self.is_at(path)).ok_or_else(|| Problem::Missing {
            program: self.name.to_owned(),
            remedy: match self.source {
                Source::Package(name) => format!("`apt-get install {name}` brings it"),
                Source::Instructions(text) => text.to_owned(),
            },
        })
    }

    /// Returns true if a path leads to the program. A link named like MySQL's server but leading to
    /// MariaDB's does not count.
    fn is_at(self, path: &Path) -> bool {
        let leads_to = path.canonicalize();
        let is_mariadb = |path: &PathBuf| path.file_name() == Some(OsStr::new(MARIADBD));
        path.is_file() && (self.name == MARIADBD || !leads_to.is_ok_and(|path| is_mariadb(&path)))
    }

    /// Finds the program in the system's folders.
    pub(crate) fn find(self) -> Result<PathBuf, Problem> {
        self.find_in(&system_folders())
    }
}

fn system_folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(FALLBACK_FOLDERS.map(PathBuf::from)).collect()
}

/// Returns the program folders of all installed versions, newest first.
fn version_folders(versions: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(versions).into_iter().flatten().flatten();
    let number = |name: &OsStr| name.to_str()?.split('.').next()?.parse::<u32>().ok();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| Some((number(&entry.file_name())?, entry.path().join("bin"))))
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, folder)| folder).collect()
}

/// The account that a server runs as.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// Name of the account, for messages and for the names of templates.
    pub(crate) name: String,
    /// User id and group id to switch to; `None` if this process is not root.
    pub(crate) switch_to: Option<(u32, u32)>,
}

impl Account {
    /// Returns the account for a server: the account of this process, or for root the first of
    /// `names` that exists, because database servers refuse to run as root.
    pub(crate) fn for_server(names: &[&str]) -> Result<Account, Problem> {
        if !geteuid().is_root() {
            return Ok(Account { name: current_user_name()?, switch_to: None });
        }
        for name in names {
            if let Some(user) = User::from_name(name).map_err(Problem::system("look users up"))? {
                let switch_to = Some((user.uid.as_raw(), user.gid.as_raw()));
                return Ok(Account { name: user.name, switch_to });
            }
        }
        Err(Problem::refused(format!(
            "a server may not run as root, and there is no user {}",
            names.join(" or ")
        )))
    }

    /// Builds a command that runs as this account. The process gets `signal` when the thread that
    /// started it ends.
    ///
    /// The process inherits no environment but `PATH`: `PGOPTIONS` or `MYSQL_HOME` would change a
    /// server, and `ASSAY_PASSWORD` must not reach it.
    pub(crate) fn command(&self, program: &Path, signal: &str) -> Command {
        let mut command = clean_command(Path::new("setpriv"));
        if let Some((user, group)) = self.switch_to {
            command.arg(format!("--reuid={user}")).arg(format!("--regid={group}"));
            command.arg("--clear-groups");
        }
        command.args(["--pdeathsig", signal]).arg("--").arg(program);
        command
    }
}

/// Returns the name of the user that runs this process.
pub(crate) fn current_user_name() -> Result<String, Problem> {
    let user = User::from_uid(nix::unistd::geteuid()).map_err(Problem::system("look users up"))?;
    user.map(|user| user.name).ok_or_else(|| {
        Problem::refused("the current user has no name, which database servers require")
    })
}

/// Builds a command that inherits no environment but `PATH`. Its language and its time zone are the
/// same on every machine.
pub(crate) fn clean_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    let path = std::env::join_paths(system_folders()).unwrap_or_default();
    command.env_clear().env("PATH", path).env("LC_ALL", "C").env("TZ", "UTC");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let program = Program { name: "mariadbd", source: Source::Package("mariadb-server") };
        let problem = program.find_in(&[PathBuf::from("/nowhere")]).unwrap_err();
        let message = "`mariadbd` is not installed: `apt-get install mariadb-server` brings it";
        assert_eq!(problem.to_string(), message);
    }

    #[test]
    fn environment_variable_selects_another_server_and_its_tools() {
        let root = std::env::temp_dir().join(format!("chosen-{}", std::process::id()));
        for folder in ["usr/sbin", "usr/bin"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let server = root.join("usr/sbin/mysqld");
        std::fs::write(&server, "").unwrap();
        std::fs::write(root.join("usr/bin/mysql"), "").unwrap();
        let found = server_of_variable("ASSAY_MYSQLD", Some(server.as_os_str())).unwrap();
        let client = Program { name: "mysql", source: Source::Package("mysql-client") };
        let beside = client.find_in(&folders_around(&server)).unwrap();
        let absent = root.join("none");
        let refused = server_of_variable("ASSAY_MYSQLD", Some(absent.as_os_str()));
        let refused = refused.unwrap_err().to_string();
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, Some(server));
        assert_eq!(beside, root.join("usr/bin/mysql"));
        assert!(refused.starts_with("ASSAY_MYSQLD names /") && refused.contains("not a file"));
        assert_eq!(server_of_variable("ASSAY_MYSQLD", Some(OsStr::new(""))).unwrap(), None);
    }

    #[test]
    fn mysqld_linked_to_mariadb_is_not_mysql() {
        let root = std::env::temp_dir().join(format!("linked-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("mariadbd"), "").unwrap();
        std::os::unix::fs::symlink("mariadbd", root.join("mysqld")).unwrap();
        let find = |name| {
            let program = Program { name, source: Source::Instructions("build it") };
            program.find_in(std::slice::from_ref(&root)).map_err(|problem| problem.to_string())
        };
        let (mysqld, mariadbd) = (find("mysqld"), find("mariadbd"));
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(mysqld, Err("`mysqld` is not installed: build it".to_owned()));
        assert_eq!(mariadbd, Ok(root.join("mariadbd")));
    }

    #[test]
    fn newest_postgres_is_preferred() {
        let root = std::env::temp_dir().join(format!("versions-{}", std::process::id()));
        for version in ["9.6", "15", "16"] {
            std::fs::create_dir_all(root.join(version)).unwrap();
        }
        let folders = version_folders(&root);
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(folders, ["16/bin", "15/bin", "9.6/bin"].map(|place| root.join(place)));
    }
}
