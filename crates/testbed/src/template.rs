//! Templates: copies of initialised data folders. A server that starts from a template needs no
//! initialisation.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::Problem;
use crate::folder::random_hex;
use crate::instance::Instance;
use crate::process::run;
use crate::programs::clean_command;

/// Environment variable with the folder of the templates. Without it, no templates are stored.
const VARIABLE: &str = "ASSAY_TESTBED_TEMPLATES";

/// A data folder as it was before the first start of a server, still without user and password.
pub(crate) struct Template {
    path: PathBuf,
}

impl Template {
    /// Returns the template for a server program and the accounts of an instance; `None` if the
    /// environment variable names no folder. The template may not exist yet.
    pub(crate) fn of(program: &Path, instance: &Instance) -> Result<Option<Template>, Problem> {
        match std::env::var_os(VARIABLE) {
            Some(folder) if !folder.is_empty() => {
                Template::within(Path::new(&folder), program, instance).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn within(folder: &Path, program: &Path, instance: &Instance) -> Result<Template, Problem> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(Problem::system(format!("make {}", folder.display())))?;
        check_owner(folder)?;
        let file = program.metadata();
        let file = file.map_err(Problem::system(format!("read {}", program.display())))?;
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        // A different version of the program has a different size or time.
        let (size, time) = (file.size(), file.mtime());
        let Instance { account, owner, .. } = instance;
        let version = env!("CARGO_PKG_VERSION");
        let name = format!("{name}-{size}-{time}-{version}-{}-{owner}", account.name);
        Ok(Template { path: folder.join(name) })
    }

    /// Copies the template to the data folder of a server. Returns false if the template does not
    /// exist yet.
    pub(crate) fn copy_to(&self, data: &Path) -> Result<bool, Problem> {
        if !self.path.is_dir() {
            return Ok(false);
        }
        copy(&self.path, data, Holes::Existing).map(|()| true)
    }

    /// Stores a copy of a data folder as the template, unless another process has already done so.
    /// The server does not need the template: if storing fails, later servers initialise their own
    /// folders.
    pub(crate) fn store(&self, data: &Path) -> Result<(), Problem> {
        let unfinished = self.path.with_file_name(format!("unfinished-{}", random_hex(6)?));
        let is_stored = copy(data, &unfinished, Holes::AllZeros).is_ok()
            && std::fs::rename(&unfinished, &self.path).is_ok();
        if !is_stored {
            // If the copy could not begin, there is nothing to remove.
            let _ = std::fs::remove_dir_all(&unfinished);
        }
        Ok(())
    }
}

/// Refuses a folder to which another user can write: the files in it decide which code a server
/// runs.
fn check_owner(folder: &Path) -> Result<(), Problem> {
    let data = folder.metadata();
    let data = data.map_err(Problem::system(format!("read {}", folder.display())))?;
    match data.uid() == geteuid().as_raw() && data.mode() & 0o022 == 0 {
        true => Ok(()),
        false => Err(Problem::refused(format!(
            "{VARIABLE} names {}, to which other users can write: name a folder of your own",
            folder.display()
        ))),
    }
}

/// The blocks of zeros that become holes in a copy. Holes take neither space nor time.
#[derive(Clone, Copy)]
enum Holes {
    /// Only blocks that are holes in the original.
    Existing,
    /// All blocks of zeros.
    AllZeros,
}

/// Copies a folder with its owners and permissions.
fn copy(from: &Path, to: &Path, holes: Holes) -> Result<(), Problem> {
    let sparse = match holes {
        Holes::Existing => "--sparse=auto",
        Holes::AllZeros => "--sparse=always",
    };
    let mut command = clean_command(Path::new("cp"));
    command.args(["--archive", "--reflink=auto", sparse]);
    command.args(["--no-target-directory", "--"]).arg(from).arg(to);
    run("cp", command, "").map(drop)
}
