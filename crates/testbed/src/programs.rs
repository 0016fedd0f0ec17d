//! Where the programs are, and as whom they run.

use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::User;
use rustix::process::geteuid;

use crate::Problem;

/// Where programs are looked for. The folders of the system's own programs are not in everybody's
/// `PATH`, but MariaDB's server and the poolers are there.
const FOLDERS: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Where Debian keeps the versions of PostgreSQL.
const POSTGRES_VERSIONS: &str = "/usr/lib/postgresql";

/// A program and the package that brings it.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
}

impl Program {
    /// Finds it in one of the folders, in their order.
    pub(crate) fn find_in(self, folders: &[PathBuf]) -> Result<PathBuf, Problem> {
        let paths = folders.iter().map(|folder| folder.join(self.name));
        paths.into_iter().find(|path| path.is_file()).ok_or_else(|| Problem::Missing {
            program: self.name.to_owned(),
            package: self.package,
        })
    }

    /// Finds it where the system keeps its programs.
    pub(crate) fn find(self) -> Result<PathBuf, Problem> {
        self.find_in(&system_folders())
    }

    /// Finds it beside the newest PostgreSQL server.
    pub(crate) fn find_postgres(self) -> Result<PathBuf, Problem> {
        let mut folders = postgres_folders(Path::new(POSTGRES_VERSIONS));
        folders.extend(system_folders());
        self.find_in(&folders)
    }
}

fn system_folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(FOLDERS.map(PathBuf::from)).collect()
}

/// The folders of programs of all installed versions, the newest first.
fn postgres_folders(versions: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(versions).into_iter().flatten().flatten();
    let number = |name: &std::ffi::OsStr| name.to_str()?.split('.').next()?.parse::<u32>().ok();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| Some((number(&entry.file_name())?, entry.path().join("bin"))))
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, folder)| folder).collect()
}

/// As whom a server runs.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// Its name, for SQL users that are known by it.
    pub(crate) name: String,
    /// The user and the group to change to; `None` where we are nobody special ourselves.
    pub(crate) change: Option<(u32, u32)>,
}

impl Account {
    /// The account for a server: ourselves, or as root the first of `names` that exists, because
    /// database servers refuse to run as root.
    pub(crate) fn for_server(names: &[&str]) -> Result<Account, Problem> {
        if !geteuid().is_root() {
            return Ok(Account { name: own_name()?, change: None });
        }
        for name in names {
            if let Some(user) = User::from_name(name).map_err(Problem::of("look users up"))? {
                let change = Some((user.uid.as_raw(), user.gid.as_raw()));
                return Ok(Account { name: user.name, change });
            }
        }
        Err(Problem::refused(format!(
            "a server may not run as root, and there is no user {}",
            names.join(" or ")
        )))
    }

    /// A command that runs as this account and dies with the thread that starts it, by the
    /// `signal`. It inherits nothing of our environment: `PGOPTIONS` or `MYSQL_HOME` would change
    /// a server, and `ASSAY_PASSWORD` is none of its business.
    pub(crate) fn command(&self, program: &Path, signal: &str) -> Command {
        let mut command = plain(Path::new("setpriv"));
        if let Some((user, group)) = self.change {
            command.arg(format!("--reuid={user}")).arg(format!("--regid={group}"));
            command.arg("--clear-groups");
        }
        command.args(["--pdeathsig", signal]).arg("--").arg(program);
        command
    }
}

/// The name of the user that we are.
pub(crate) fn own_name() -> Result<String, Problem> {
    let user = User::from_uid(nix::unistd::geteuid()).map_err(Problem::of("look users up"))?;
    user.map(|user| user.name).ok_or_else(|| {
        Problem::refused("the user that runs this has no name, which database servers ask for")
    })
}

/// A command with an environment that is the same on every machine.
pub(crate) fn plain(program: &Path) -> Command {
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
        let program = Program { name: "mariadbd", package: "mariadb-server" };
        let problem = program.find_in(&[PathBuf::from("/nowhere")]).unwrap_err();
        let message = "`mariadbd` is not installed: `apt-get install mariadb-server` brings it";
        assert_eq!(problem.to_string(), message);
    }

    #[test]
    fn the_newest_postgres_comes_first() {
        let root = std::env::temp_dir().join(format!("versions-{}", std::process::id()));
        for version in ["9.6", "15", "16"] {
            std::fs::create_dir_all(root.join(version)).unwrap();
        }
        let folders = postgres_folders(&root);
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(folders, ["16/bin", "15/bin", "9.6/bin"].map(|place| root.join(place)));
    }
}
