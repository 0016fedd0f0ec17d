//! Access to a database for the programs that run beside Assay: environment variables with the
//! address of the database, and a password file in a temporary folder, in the format that the
//! database's client programs read. No variable contains the password.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use base::{Dialect, Secret, Secrets, Target};
use driver::{Login, ProgramEnvironment};
use guardian::TemporaryFolder;

/// The access to a database that programs are given. Dropping it removes its password file.
pub(crate) struct Access {
    /// The environment variables, and the secrets to remove from the error messages of a program.
    pub(crate) environment: Arc<ProgramEnvironment>,
    /// The folder of the password file.
    _folder: Option<TemporaryFolder>,
}

impl Access {
    /// Returns the access to a database, from its target and, if the database needs one, the login
    /// of its driver. `database_file` is the absolute path of a database of SQLite, because the
    /// target does not name a temporary file. Without a target, the `ASSAY_…` variables are removed
    /// from the environment of the programs.
    ///
    /// # Errors
    /// The password file cannot be written.
    pub(crate) fn to(
        target: Option<&Target>,
        login: Option<Login>,
        database_file: Option<&Path>,
    ) -> io::Result<Access> {
        let (mut host, mut port, mut user) = (None, None, None);
        let mut database = database_file.map(|path| path.as_os_str().to_owned());
        let (mut password_file, mut pgpass, mut folder) = (None, None, None);
        let mut secrets = Secrets::default();
        if let Some(login) = login {
            let dialect = target.map_or(Dialect::Sqlite, Target::dialect);
            let place = TemporaryFolder::new(&std::env::temp_dir(), "assay-login")?;
            let path = place.path().join("password");
            write(&path, &password_text(&login, dialect))?;
            let endpoint = ServerEndpoint::of(&login, dialect);
            host = Some(endpoint.host.into());
            port = endpoint.port.map(|port| port.to_string().into());
            // An empty file would hide the user's own password file from a program that connects to
            // another server.
            let has_password = !password_of(&login).is_empty();
            let is_read = dialect == Dialect::Postgres && has_password;
            pgpass = is_read.then(|| path.clone().into_os_string());
            password_file = Some(path.into_os_string());
            folder = Some(place);
            // A program may print the file, so its escaped password is a secret, too.
            let in_file = Secret::new(escape(password_of(&login), dialect));
            secrets = Secrets::of_all([login.secrets.clone(), Secrets::new([in_file])]);
            user = Some(login.user.into());
            database = login.database.map(OsString::from);
        }
        let mut variables = vec![
            ("ASSAY_HOST", host),
            ("ASSAY_PORT", port),
            ("ASSAY_USER", user),
            ("ASSAY_DATABASE", database),
            ("ASSAY_PASSWORD_FILE", password_file),
        ];
        if pgpass.is_some() {
            variables.push(("PGPASSFILE", pgpass));
        }
        let environment = Arc::new(ProgramEnvironment { variables, secrets });
        Ok(Access { environment, _folder: folder })
    }
}

/// Host and port under which the client programs of a database find a server.
struct ServerEndpoint {
    host: String,
    port: Option<u16>,
}

impl ServerEndpoint {
    /// Returns the endpoint of a server. PostgreSQL's programs find a Unix socket by its folder, as
    /// the host, and the port at the end of its file name.
    fn of(login: &Login, dialect: Dialect) -> ServerEndpoint {
        let (host, port) = (login.host.clone(), login.port);
        match &login.socket {
            Some(socket) if dialect == Dialect::Postgres => {
                let name = socket.file_name().unwrap_or_default().to_string_lossy();
                let port = name.strip_prefix(".s.PGSQL.").and_then(|port| port.parse().ok());
                let folder = socket.parent().unwrap_or(Path::new("/"));
                ServerEndpoint { host: folder.display().to_string(), port }
            }
            _ => ServerEndpoint { host, port },
        }
    }
}

fn password_of(login: &Login) -> &str {
    login.password.as_ref().map_or("", Secret::expose)
}

/// Returns a text, escaped as a value of the password file.
fn escape(text: &str, dialect: Dialect) -> String {
    let text = text.replace('\\', "\\\\");
    match dialect {
        Dialect::Postgres => text.replace(':', "\\:"),
        Dialect::Mysql | Dialect::Sqlite => text.replace('\n', "\\n"),
    }
}

/// Returns the text of the password file: a `.pgpass`, or an option file of MySQL.
fn password_text(login: &Login, dialect: Dialect) -> String {
    let password = password_of(login);
    match dialect {
        Dialect::Postgres if password.is_empty() => String::new(),
        Dialect::Postgres => {
            let field = |text: &str| escape(text, dialect);
            let server = match (&login.socket, login.port) {
                (None, Some(port)) => format!("{}:{port}", field(&login.host)),
                // Any host: clients look up a socket in the default folder as `localhost`.
                _ => "*:*".to_owned(),
            };
            format!("{server}:*:{}:{}\n", field(&login.user), field(password))
        }
        Dialect::Mysql | Dialect::Sqlite => {
            let quoted = |text: &str| format!("\"{}\"", escape(text, dialect));
            let mut text = format!("[client]\nuser={}\n", quoted(&login.user));
            match (&login.socket, login.port) {
                (Some(socket), _) => {
                    text += &format!("socket={}\n", quoted(&socket.display().to_string()));
                }
                (None, Some(port)) => {
                    text += &format!("host={}\nport={port}\n", quoted(&login.host));
                }
                (None, None) => {}
            }
            if !password.is_empty() {
                text += &format!("password={}\n", quoted(password));
            }
            text
        }
    }
}

/// Writes a new file that only the current user can read.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn login(socket: Option<&str>, password: &str) -> Login {
        Login {
            host: "127.0.0.1".to_owned(),
            port: socket.is_none().then_some(5433),
            socket: socket.map(PathBuf::from),
            user: "ann".to_owned(),
            database: None,
            password: Some(Secret::new(password.to_owned())),
            secrets: Secrets::default(),
        }
    }

    #[test]
    fn password_file_has_the_form_of_the_clients() {
        let text = |socket, password, dialect| password_text(&login(socket, password), dialect);
        let pgpass = text(None, "a:b\\c", Dialect::Postgres);
        assert_eq!(pgpass, "127.0.0.1:5433:*:ann:a\\:b\\\\c\n");
        let socket = Some("/run/.s.PGSQL.6000");
        assert_eq!(text(socket, "pw", Dialect::Postgres), "*:*:*:ann:pw\n");
        assert_eq!(text(None, "", Dialect::Postgres), "");
        assert_eq!(
            text(None, "a#\\", Dialect::Mysql),
            "[client]\nuser=\"ann\"\nhost=\"127.0.0.1\"\nport=5433\npassword=\"a#\\\\\"\n"
        );
        let hostile = text(None, "a\nhost=evil", Dialect::Mysql);
        assert!(hostile.ends_with("password=\"a\\nhost=evil\"\n"), "{hostile}");
        assert_eq!(text(Some("/s"), "", Dialect::Mysql), "[client]\nuser=\"ann\"\nsocket=\"/s\"\n");
    }

    #[test]
    fn password_is_hidden_as_it_is_in_the_file() {
        for (url, password) in
            [("postgres://ann@db1/shop", "a:b\\c"), ("mysql://ann@db1/shop", "a\\b\nc")]
        {
            let target = Target::parse(url).unwrap();
            let access = Access::to(Some(&target), Some(login(None, password)), None).unwrap();
            let file = access.environment.variables.iter().find_map(|(name, value)| {
                (*name == "ASSAY_PASSWORD_FILE").then(|| value.clone().unwrap())
            });
            let text = std::fs::read_to_string(file.unwrap()).unwrap();
            let escaped = escape(password, target.dialect());
            assert!(text.contains(&escaped), "{text}");
            assert!(!access.environment.secrets.hide(&text).contains(&escaped), "{text}");
        }
    }

    #[test]
    fn file_without_a_password_does_not_replace_that_of_the_user() {
        let target = Target::parse("postgres://ann@db1/shop").unwrap();
        let has_pgpass = |password| {
            let access = Access::to(Some(&target), Some(login(None, password)), None).unwrap();
            access.environment.variables.iter().any(|(name, _)| *name == "PGPASSFILE")
        };
        assert!(has_pgpass("pw") && !has_pgpass(""));
    }
}
