//! The parts of a private server that are specific to MySQL.

use std::process::Command;

use crate::instance::{DATABASE, Instance, USER};
use crate::mysql_family::{self, DISCARD, grants, required_certificate};
use crate::process::run;
use crate::programs::{Program, Source, Suite, clean_command};
use crate::{Options, Problem};

/// Instructions for installing MySQL's server. Few distributions have a package of the server, and
/// Debian's stable release has none.
const SOURCE: Source = Source::Instructions(
    "set ASSAY_MYSQLD to the path of MySQL's server program, or fetch one with `scripts/servers` \
     in Assay's source: it is then target/servers/mysql/usr/sbin/mysqld",
);

/// The server and its programs.
const SUITE: Suite = Suite {
    server: Program { name: "mysqld", source: SOURCE },
    variable: "ASSAY_MYSQLD",
    versions: None,
};

/// The administrator. The account has no password, but only the server's own account and root can
/// enter the folder with the socket, and over TCP the server has no such user.
const ADMINISTRATOR: &str = "root";

/// Initializes an empty server, with certificates and keys of its own, as MySQL's package does.
pub(crate) fn initialise(instance: &Instance) -> Result<(), Problem> {
    let mut command = program(instance)?;
    command.arg("--initialize-insecure").arg("--innodb-flush-method=nosync");
    run("mysqld --initialize-insecure", command, "").map(drop)
}

/// Returns the server command with the settings that each start needs.
fn program(instance: &Instance) -> Result<Command, Problem> {
    let mut command = instance.account.command(&SUITE.find_server()?, DISCARD.name);
    command.arg("--no-defaults").arg(format!("--datadir={}", instance.data().display()));
    command.arg(format!("--tmpdir={}", instance.path.display()));
    // No statement may read or write files at the server.
    command.arg("--secure-file-priv=NULL").current_dir(&instance.path);
    Ok(command)
}

/// Returns the command that starts the server.
pub(crate) fn server(instance: &Instance, options: &Options) -> Result<Command, Problem> {
    let mut command = program(instance)?;
    // The X protocol would use its own port and socket, at fixed places.
    command.arg("--mysqlx=OFF");
    mysql_family::add_options(&mut command, instance, options);
    Ok(command)
}

/// Returns the command that starts the client program as the administrator.
pub(crate) fn client(instance: &Instance, database: &str) -> Result<Command, Problem> {
    let client = Program { name: "mysql", source: SOURCE };
    let mut command = clean_command(&SUITE.find(client)?);
    mysql_family::add_client_options(&mut command, instance, ADMINISTRATOR, database);
    Ok(command)
}

/// Returns the statements that create the user and the database. The session logs none of them,
/// because one contains the password.
pub(crate) fn create_user_sql(options: &Options, password: &str) -> String {
    let require = required_certificate(options);
    format!(
        "SET SESSION sql_log_off = 1, sql_log_bin = 0;\n\
         CREATE DATABASE {DATABASE};\n\
         CREATE USER {USER}@'%' IDENTIFIED WITH caching_sha2_password BY '{password}'{require};\n\
         {}",
        grants(options.rights, ORDINARY)
    )
}

/// Server-wide privileges of a user who may observe the server (MySQL manual, "Privileges Provided
/// by MySQL"). None of them gives access to files or changes settings.
const ORDINARY: &str = "PROCESS, RELOAD, SHOW DATABASES, REPLICATION CLIENT, REPLICATION SLAVE";
