//! The parts of a private server that are specific to MariaDB.

use std::path::PathBuf;
use std::process::Command;

use crate::folder::change_owner;
use crate::instance::{DATABASE, Instance, USER};
use crate::mysql_family::{self, DISCARD, grants, required_certificate};
use crate::options::Auth;
use crate::process::run;
use crate::programs::{Program, Source, Suite, clean_command};
use crate::{Options, Problem};

/// The package of the server.
const SERVER: Source = Source::Package("mariadb-server");

/// The server and its programs.
const SUITE: Suite = Suite {
    server: Program { name: "mariadbd", source: SERVER },
    variable: "ASSAY_MARIADBD",
    versions: None,
};

/// The plug-in for [`Auth::Ed25519`], which comes with the server.
const ED25519: &str = "auth_ed25519";

/// Returns the path of the server program.
pub(crate) fn program() -> Result<PathBuf, Problem> {
    SUITE.find_server()
}

/// Creates the folder in which statements may read and write files at the server.
pub(crate) fn configure(instance: &Instance) -> Result<(), Problem> {
    let files = files(instance);
    std::fs::create_dir(&files).map_err(Problem::system(format!("make {}", files.display())))?;
    change_owner(&files, &instance.account)
}

/// Initializes an empty server.
///
/// The script `mariadb-install-db` splits paths at spaces, so it gets relative paths. The server
/// that the script runs resolves the folder for temporary files against its data folder. The
/// administrator is the user that runs this process, and logs in over the socket. The redo log is
/// created small: the server gives it the configured size when it starts.
pub(crate) fn initialise(instance: &Instance) -> Result<(), Problem> {
    let install = SUITE.find(Program { name: "mariadb-install-db", source: SERVER })?;
    let mut command = instance.account.command(&install, "KILL");
    command.arg("--no-defaults").arg("--datadir=./data");
    if let Some(base) = SUITE.base_folder()? {
        command.arg(format!("--basedir={}", base.display()));
    }
    command.args(["--skip-test-db", "--skip-name-resolve"]);
    command.arg("--auth-root-authentication-method=socket");
    command.arg(format!("--auth-root-socket-user={}", instance.owner));
    command.args(["--innodb-log-file-size=4M", "--innodb-flush-method=nosync"]);
    command.arg("--tmpdir=..").current_dir(&instance.path);
    run("mariadb-install-db", command, "").map(drop)
}

/// Returns the folder in which statements may read and write files at the server
/// (`secure_file_priv`). It stays empty; MariaDB has no value that forbids such access.
fn files(instance: &Instance) -> PathBuf {
    instance.path.join("files")
}

/// Returns the command that starts the server.
pub(crate) fn server(instance: &Instance, options: &Options) -> Result<Command, Problem> {
    let mut command = instance.account.command(&program()?, DISCARD.name);
    command.arg("--no-defaults").arg(format!("--datadir={}", instance.data().display()));
    command.arg(format!("--tmpdir={}", instance.path.display()));
    command.arg(format!("--secure-file-priv={}", files(instance).display()));
    // Without symbolic links, a statement cannot place a table outside of the data folder either
    // (`data directory`, which does not need the privilege `FILE`).
    command.arg("--skip-symbolic-links");
    if options.auth == Auth::Ed25519 {
        command.arg(format!("--plugin-load-add={ED25519}"));
    }
    mysql_family::add_options(&mut command, instance, options);
    Ok(command)
}

/// Returns the command that starts the client program as the administrator.
pub(crate) fn client(instance: &Instance, database: &str) -> Result<Command, Problem> {
    let client = Program { name: "mariadb", source: Source::Package("mariadb-client") };
    let mut command = clean_command(&SUITE.find(client)?);
    mysql_family::add_client_options(&mut command, instance, &instance.owner, database);
    Ok(command)
}

/// Returns the statements that create the user and the database. The session logs none of them,
/// because one contains the password.
pub(crate) fn create_user_sql(options: &Options, password: &str) -> String {
    let plugin = match options.auth {
        Auth::Ed25519 => "ed25519",
        Auth::Native | Auth::Scram | Auth::Md5 | Auth::Password | Auth::Trust | Auth::Sha2 => {
            "mysql_native_password"
        }
    };
    let require = required_certificate(options);
    format!(
        "SET SESSION sql_log_off = 1, slow_query_log = 0, sql_log_bin = 0;\n\
         CREATE DATABASE {DATABASE};\n\
         CREATE USER {USER}@'%' IDENTIFIED VIA {plugin} USING PASSWORD('{password}'){require};\n\
         {}",
        grants(options.rights, ORDINARY)
    )
}

/// Server-wide privileges of a user who may observe the server (MariaDB Server Documentation,
/// "GRANT"). None of them gives access to files. Only `REPLICATION MASTER ADMIN` allows changes of
/// settings, and only of some settings of replication.
const ORDINARY: &str = "PROCESS, RELOAD, SHOW DATABASES, REPLICATION CLIENT, REPLICATION SLAVE, \
                        REPLICATION MASTER ADMIN, SLAVE MONITOR";
