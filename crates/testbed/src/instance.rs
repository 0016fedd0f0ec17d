//! The location of a private server, and the names in it.

use std::path::PathBuf;

use crate::certificates::Certificates;
use crate::programs::Account;

/// The user that logs in, with the [rights](crate::Rights) of the options.
pub(crate) const USER: &str = "assay";

/// The database created for the user.
pub(crate) const DATABASE: &str = "assay";

/// Location and accounts of a server.
pub(crate) struct Instance {
    /// Folder of the server.
    pub(crate) path: PathBuf,
    /// Port on 127.0.0.1.
    pub(crate) port: u16,
    /// Account that the server runs as.
    pub(crate) account: Account,
    /// Name of the user that runs this process.
    pub(crate) owner: String,
    /// Certificates, if the server offers TLS.
    pub(crate) certificates: Option<Certificates>,
}

impl Instance {
    /// Returns the folder of the server's data.
    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }
}
