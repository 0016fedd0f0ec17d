//! What is particular to MariaDB.

use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use crate::folder::give_to;
use crate::launch::Ending;
use crate::options::{Auth, Tls};
use crate::process::run;
use crate::programs::{Program, Source, Suite, plain};
use crate::server::{DATABASE, Site, USER};
use crate::{Options, Problem, Rights};

/// The package of the server.
const SERVER: Source = Source::Package("mariadb-server");

/// The server and its programs.
const SUITE: Suite = Suite {
    server: Program { name: "mariadbd", source: SERVER },
    variable: "ASSAY_MARIADBD",
    versions: None,
};

/// As whom the server runs if we are root.
pub(crate) const ACCOUNTS: [&str; 2] = ["mysql", "nobody"];

/// Sessions are ended, and what must be is written.
pub(crate) const STOP: Ending = Ending { signal: Signal::TERM, name: "TERM" };

/// For data that is thrown away: the server has nothing outside of its folder.
pub(crate) const DISCARD: Ending = Ending { signal: Signal::KILL, name: "KILL" };

/// The plug-in for [`Auth::Ed25519`], which comes with the server.
const ED25519: &str = "auth_ed25519";

/// Where its socket is.
pub(crate) fn socket(site: &Site) -> PathBuf {
    site.path.join("mysqld.sock")
}

/// Makes an empty server. The script splits paths at spaces, so it gets relative ones; the server
/// that it runs looks for its temporary files from the folder of its data. Its administrator is
/// whoever runs this, by the socket. The log is small as long as nobody has asked for another size:
/// the server makes it as large as it wants when it starts.
pub(crate) fn initialise(site: &Site) -> Result<(), Problem> {
    let files = files(site);
    std::fs::create_dir(&files).map_err(Problem::of(format!("make {}", files.display())))?;
    give_to(&files, &site.account)?;
    let install = SUITE.find(Program { name: "mariadb-install-db", source: SERVER })?;
    let mut command = site.account.command(&install, "KILL");
    command.arg("--no-defaults").arg("--datadir=./data");
    if let Some(base) = SUITE.base()? {
        command.arg(format!("--basedir={}", base.display()));
    }
    command.args(["--skip-test-db", "--skip-name-resolve"]);
    command.arg("--auth-root-authentication-method=socket");
    command.arg(format!("--auth-root-socket-user={}", site.owner));
    command.args(["--innodb-log-file-size=4M", "--innodb-flush-method=nosync"]);
    command.arg("--tmpdir=..").current_dir(&site.path);
    run("mariadb-install-db", command, "").map(drop)
}

fn data(site: &Site) -> PathBuf {
    site.path.join("data")
}

/// The folder of the files that statements may read and write at the server (`secure_file_priv`):
/// one that stays empty, as MariaDB has no value that forbids it.
fn files(site: &Site) -> PathBuf {
    site.path.join("files")
}

/// The server itself.
pub(crate) fn server(site: &Site, options: &Options) -> Result<Command, Problem> {
    let mut command = site.account.command(&SUITE.find_server()?, DISCARD.name);
    command.arg("--no-defaults").arg(format!("--datadir={}", data(site).display()));
    command.arg(format!("--socket={}", socket(site).display()));
    command.arg(format!("--port={}", site.port));
    command.args(["--bind-address=127.0.0.1", "--skip-name-resolve"]);
    command.arg(format!("--tmpdir={}", site.path.display()));
    command.arg(format!("--pid-file={}", site.path.join("mysqld.pid").display()));
    command.arg(format!("--secure-file-priv={}", files(site).display()));
    // Without links no table lies elsewhere either (`data directory`), which takes no `FILE`.
    command.arg("--skip-symbolic-links");
    if options.auth == Auth::Ed25519 {
        command.arg(format!("--plugin-load-add={ED25519}"));
    }
    if let Some(tls) = &site.certificates {
        command.arg(format!("--ssl-cert={}", tls.server.display()));
        command.arg(format!("--ssl-key={}", tls.server_key.display()));
        command.arg(format!("--ssl-ca={}", tls.authority.display()));
    }
    for (name, value) in &options.settings {
        command.arg(format!("--{name}={value}"));
    }
    if let Some(library) = &options.preload {
        command.env("LD_PRELOAD", library);
    }
    Ok(command)
}

/// Whether the server takes sessions: its log says so, in the text since its start.
pub(crate) fn is_ready(log: &str) -> bool {
    log.contains("ready for connections")
}

/// The client program, logged in as the administrator.
pub(crate) fn client(site: &Site, database: &str) -> Result<Command, Problem> {
    let client = Program { name: "mariadb", source: Source::Package("mariadb-client") };
    let mut command = plain(&SUITE.find(client)?);
    command.args(["--no-defaults", "--batch", "--skip-column-names"]);
    command.arg(format!("--socket={}", socket(site).display()));
    command.arg(format!("--user={}", site.owner)).arg(database);
    Ok(command)
}

/// The database that every server has.
pub(crate) const FIRST_DATABASE: &str = "mysql";

/// Makes the user and the database. The session writes none of its statements into a log, as one
/// of them holds the password.
pub(crate) fn welcome(options: &Options, password: &str) -> String {
    let plugin = match options.auth {
        Auth::Ed25519 => "ed25519",
        Auth::Native | Auth::Scram | Auth::Md5 | Auth::Password | Auth::Trust | Auth::Sha2 => {
            "mysql_native_password"
        }
    };
    let require = match options.tls {
        Tls::Off | Tls::Server => "",
        Tls::Mutual => " REQUIRE X509",
    };
    format!(
        "SET SESSION sql_log_off = 1, slow_query_log = 0, sql_log_bin = 0;\n\
         CREATE DATABASE {DATABASE};\n\
         CREATE USER {USER}@'%' IDENTIFIED VIA {plugin} USING PASSWORD('{password}'){require};\n\
         {}",
        grants(options.rights, ORDINARY)
    )
}

/// The rights over the whole server of a user who may observe it (MariaDB Server Documentation,
/// "GRANT"). None of them reaches files or changes settings.
const ORDINARY: &str = "PROCESS, RELOAD, SHOW DATABASES, REPLICATION CLIENT, REPLICATION SLAVE, \
                        REPLICATION MASTER ADMIN, SLAVE MONITOR";

/// Returns the statements that give the user its rights. An ordinary user has those of `ordinary`
/// over the server, and all over the databases whose names begin as that of the testbed: with all
/// over any database it could make itself an administrator in `mysql`.
pub(crate) fn grants(rights: Rights, ordinary: &str) -> String {
    match rights {
        Rights::All => format!("GRANT ALL PRIVILEGES ON *.* TO {USER}@'%' WITH GRANT OPTION;\n"),
        Rights::Ordinary => format!(
            "GRANT {ordinary} ON *.* TO {USER}@'%';\n\
             GRANT SELECT ON performance_schema.* TO {USER}@'%';\n\
             GRANT ALL PRIVILEGES ON `{DATABASE}%`.* TO {USER}@'%';\n"
        ),
    }
}
