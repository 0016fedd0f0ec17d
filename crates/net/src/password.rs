//! Lookup of a password that the URL does not contain.
//!
//! A password comes from, in this order: the URL, the environment variable `ASSAY_PASSWORD`, and
//! the password file of the database's own clients. The last two are not visible in process lists.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base::Secret;
use rustix::fs::OFlags;

use crate::address::Address;

/// The password file of a database's own clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordFile {
    /// PostgreSQL's `~/.pgpass`, or the file named by `PGPASSFILE` (manual, chapter "The Password
    /// File").
    PgPass,
    /// The section `[client]` of MySQL's `~/.my.cnf`, or another section that the clients of MySQL
    /// and MariaDB read (manual, section "Using Option Files").
    MyCnf,
}

/// The login for which a password is sought.
#[derive(Clone, Copy, Debug)]
pub struct PasswordOwner<'a> {
    /// The address of the server.
    pub address: &'a Address,
    /// The name of the database.
    pub database: &'a str,
    /// The name of the user.
    pub user: &'a str,
}

/// The result of a search for a password.
#[derive(Debug, Default)]
pub struct FoundPassword {
    /// The password, if there is one.
    pub password: Option<Secret>,
    /// The reason why an existing file was not read, with a remedy.
    pub ignored: Option<String>,
    /// True if the password comes from a file entry that applies to any host.
    is_for_any_host: bool,
}

impl FoundPassword {
    /// Returns the result for a password that was given for this server alone.
    pub fn given(password: Secret) -> FoundPassword {
        FoundPassword { password: Some(password), ..FoundPassword::default() }
    }
}

/// A password in a file.
struct PasswordEntry {
    password: Secret,
    /// True if the file entry names no host.
    is_for_any_host: bool,
}

/// Finds the password of a login whose URL contains none.
pub fn find_password(file: PasswordFile, owner: PasswordOwner<'_>) -> FoundPassword {
    match (password_in_environment(), file.path()) {
        (Some(password), _) => FoundPassword::given(Secret::new(password)),
        (None, Some(path)) => find_in_file(file, &path, owner),
        (None, None) => FoundPassword::default(),
    }
}

/// Returns the reason why an existing file is not read for a login whose URL contains no password,
/// and a remedy; `None` if the file is read, is not needed, or cannot be opened.
pub fn reason_for_ignored_file(file: PasswordFile) -> Option<String> {
    match password_in_environment() {
        Some(_) => None,
        None => open(file, &file.path()?).err().flatten(),
    }
}

fn password_in_environment() -> Option<String> {
    std::env::var("ASSAY_PASSWORD").ok().filter(|text| !text.is_empty())
}

/// Returns the path of a password file if its entry for a login applies to any host. The password
/// of such an entry would be sent to any host in a URL, even if somebody else has written the URL.
pub fn file_for_any_host(file: PasswordFile, owner: PasswordOwner<'_>) -> Option<PathBuf> {
    file.path().filter(|path| find_in_file(file, path, owner).is_for_any_host)
}

/// Finds the password of a login in a file.
fn find_in_file(file: PasswordFile, path: &Path, owner: PasswordOwner<'_>) -> FoundPassword {
    let mut opened = match open(file, path) {
        Ok(opened) => opened,
        Err(ignored) => return FoundPassword { ignored, ..FoundPassword::default() },
    };
    let mut bytes = Vec::new();
    if opened.read_to_end(&mut bytes).is_err() {
        return FoundPassword::default();
    }
    // A line that is not UTF-8 has no usable password, but later lines may have one.
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok());
    let lines = lines.map(|line| line.strip_suffix('\r').unwrap_or(line));
    let kept = match file {
        PasswordFile::PgPass => in_pgpass(lines, owner),
        PasswordFile::MyCnf => in_my_cnf(lines),
    };
    match kept {
        Some(PasswordEntry { password, is_for_any_host }) => {
            FoundPassword { is_for_any_host, ..FoundPassword::given(password) }
        }
        None => FoundPassword::default(),
    }
}

/// Opens a file, unless the database's own clients would refuse to read it. The checks apply to the
/// opened file, so replacing the file between check and reading has no effect.
///
/// # Errors
/// The reason why an existing file is ignored, and a remedy; `None` if it cannot be opened.
fn open(file: PasswordFile, path: &Path) -> Result<File, Option<String>> {
    // Do not wait for the other end of a FIFO.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let opened = opened.map_err(|_| None)?;
    let metadata = opened.metadata().map_err(|_| None)?;
    match file.reason_to_ignore(&metadata) {
        Some(why) => Err(Some(format!("the password file `{}` is ignored: {why}", path.display()))),
        None => Ok(opened),
    }
}

impl PasswordFile {
    /// Returns the reason why the database's own clients would warn about a file and ignore it;
    /// `None` if they would read the file.
    fn reason_to_ignore(self, metadata: &Metadata) -> Option<&'static str> {
        let mode = metadata.permissions().mode();
        match self {
            _ if !metadata.is_file() => Some("it is not a regular file"),
            PasswordFile::PgPass if mode & 0o077 != 0 => {
                Some("its group or others may access it; `chmod 600` it")
            }
            PasswordFile::MyCnf if mode & 0o002 != 0 => {
                Some("everybody may write it; `chmod 600` it")
            }
            PasswordFile::PgPass | PasswordFile::MyCnf => None,
        }
    }

    fn path(self) -> Option<PathBuf> {
        let home = |name: &str| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(name));
        let given = |name: &str| std::env::var_os(name).filter(|path| *path != OsString::new());
        match self {
            PasswordFile::PgPass => {
                given("PGPASSFILE").map(PathBuf::from).or_else(|| home(".pgpass"))
            }
            PasswordFile::MyCnf => home(".my.cnf"),
        }
    }
}

/// A field in a line of `~/.pgpass` that matches any value.
const WILDCARD: &str = "*";

/// Returns the password of the first matching line `host:port:database:user:password`; `*` matches
/// anything.
fn in_pgpass<'l>(
    lines: impl Iterator<Item = &'l str>,
    owner: PasswordOwner<'_>,
) -> Option<PasswordEntry> {
    let (host, port) = match owner.address {
        Address::Tcp(host, port) => (host.as_str(), port.to_string()),
        // PostgreSQL's own clients look up their default socket as `localhost`. Here this holds for
        // every socket, whatever its directory. The file name of a socket ends with the port.
        Address::Unix(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let port = name.strip_prefix(".s.PGSQL.").unwrap_or("5432");
            ("localhost", port.to_owned())
        }
    };
    let wanted = [host, &port, owner.database, owner.user];
    lines.filter(|line| !line.starts_with('#')).map(fields).find_map(|fields| {
        let [given @ .., password] = fields.as_slice() else { return None };
        let fits = given.len() == wanted.len()
            && given.iter().zip(wanted).all(|(given, wanted)| given == WILDCARD || given == wanted);
        let is_for_any_host = given.first().is_some_and(|host| host == WILDCARD);
        fits.then(|| PasswordEntry { password: Secret::new(password.as_str()), is_for_any_host })
    })
}

/// Splits a line of `~/.pgpass` into fields; a backslash escapes the character after it.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            // A colon in the password, the last field, is literal.
            ':' if last < 4 => fields.push(String::new()),
            '\\' => fields[last].extend(characters.next()),
            other => fields[last].push(other),
        }
    }
    fields
}

/// Returns the last `password` in a section `[client]`, or in another section that the clients of
/// MySQL and MariaDB read. These sections apply to all hosts.
fn in_my_cnf<'l>(lines: impl Iterator<Item = &'l str>) -> Option<PasswordEntry> {
    const SECTIONS: [&str; 3] = ["client", "client-server", "client-mariadb"];
    let mut is_ours = false;
    let mut found = None;
    for line in lines.map(|line| without_comment(line).trim()) {
        if let Some(section) = line.strip_prefix('[') {
            let name = section.split_once(']').map_or(section, |(name, _)| name);
            is_ours = SECTIONS.contains(&name.trim());
        } else if let Some((name, value)) = line.split_once('=')
            && is_ours
            && name.trim() == "password"
        {
            let password = Secret::new(unescaped(unquoted(value.trim())));
            found = Some(PasswordEntry { password, is_for_any_host: true });
        }
    }
    found
}

/// Removes a comment: the text from the first `#` outside of quotes on, or a whole line that begins
/// with `;`.
fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with(';') {
        return "";
    }
    let (mut quote, mut is_escaped) = (None, false);
    for (at, character) in line.char_indices() {
        match character {
            '\'' | '"' if !is_escaped && quote.is_none() => quote = Some(character),
            _ if !is_escaped && quote == Some(character) => quote = None,
            '#' if quote.is_none() => return &line[..at],
            _ => {}
        }
        is_escaped = quote.is_some() && character == '\\' && !is_escaped;
    }
    line
}

/// Resolves the escape sequences of a value. A backslash before a character that is not part of an
/// escape sequence is kept.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let meant = match characters.peek() {
            Some('b') => Some('\u{8}'),
            Some('t') => Some('\t'),
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('s') => Some(' '),
            Some(same @ ('\\' | '\'' | '"')) => Some(*same),
            Some(_) | None => None,
        };
        match meant.filter(|_| character == '\\') {
            Some(meant) => {
                out.push(meant);
                characters.next();
            }
            None => out.push(character),
        }
    }
    out
}

fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn first_matching_line_has_the_password() {
        let text = "# host:port:database:user:password\nother:5432:*:ann:wrong\n\
                    db1:5433:shop:ann:se\\:c\\\\ret:x\n*:*:*:ann:any\n";
        let find = |host: &str, port, user| {
            let address = Address::Tcp(host.to_owned(), port);
            let owner = PasswordOwner { address: &address, database: "shop", user };
            let kept = in_pgpass(text.lines(), owner)?;
            Some((kept.password.expose().to_owned(), kept.is_for_any_host))
        };
        assert_eq!(find("db1", 5433, "ann"), Some(("se:c\\ret:x".to_owned(), false)));
        assert_eq!(find("db1", 5432, "ann"), Some(("any".to_owned(), true)));
        assert_eq!(find("db1", 5433, "bob"), None);
        let address = Address::Unix("/tmp/.s.PGSQL.6432".into());
        let owner = PasswordOwner { address: &address, database: "shop", user: "ann" };
        let lines = ["localhost:5432:*:ann:server", "localhost:6432:*:ann:pooler"];
        let pooler = in_pgpass(lines.into_iter(), owner);
        let pooler = pooler.map(|kept| kept.password.expose().to_owned());
        assert_eq!(pooler.as_deref(), Some("pooler"));
    }

    /// Returns the result for the user `ann` of the database `shop` on `db1`.
    fn in_file_at(file: PasswordFile, path: &Path) -> FoundPassword {
        let address = Address::Tcp("db1".to_owned(), 5432);
        find_in_file(file, path, PasswordOwner { address: &address, database: "shop", user: "ann" })
    }

    /// Returns the result for a new file with these bytes and permissions.
    fn in_new_file(file: PasswordFile, bytes: &[u8], mode: u32) -> FoundPassword {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("passwords");
        std::fs::write(&path, bytes).expect("a file");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("its owner");
        in_file_at(file, &path)
    }

    #[test]
    fn file_that_others_may_read_or_write_is_ignored() {
        for (file, text, mode, words) in [
            (PasswordFile::PgPass, "*:*:*:*:s3cret", 0o600, None),
            (PasswordFile::PgPass, "*:*:*:*:s3cret", 0o400, None),
            (PasswordFile::PgPass, "*:*:*:*:s3cret", 0o640, Some("group or others")),
            (PasswordFile::PgPass, "*:*:*:*:s3cret", 0o604, Some("group or others")),
            (PasswordFile::MyCnf, "[client]\npassword=s3cret", 0o644, None),
            (PasswordFile::MyCnf, "[client]\npassword=s3cret", 0o646, Some("may write it")),
        ] {
            let FoundPassword { password, ignored, is_for_any_host } =
                in_new_file(file, text.as_bytes(), mode);
            assert_eq!(password.is_some(), words.is_none(), "{file:?} {mode:o}");
            assert_eq!(is_for_any_host, words.is_none(), "{file:?} {mode:o}");
            let ignored = ignored.unwrap_or_default();
            assert!(ignored.contains(words.unwrap_or_default()), "{ignored}");
            assert!(!ignored.contains("s3cret"));
        }
    }

    #[test]
    fn folder_and_fifo_are_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("fifo");
        let made = Command::new("mkfifo").arg(&fifo).status().expect("coreutils");
        assert!(made.success());
        for file in [PasswordFile::PgPass, PasswordFile::MyCnf] {
            for path in [folder.path(), &fifo] {
                let FoundPassword { password, ignored, .. } = in_file_at(file, path);
                assert!(password.is_none());
                assert!(ignored.is_some_and(|why| why.contains("regular file")), "{file:?}");
            }
        }
    }

    #[test]
    fn line_in_another_encoding_hides_no_other_line() {
        for (file, text) in [
            (PasswordFile::PgPass, &b"# caf\xe9\r\ndb1:*:*:ann:s3cret\r\n"[..]),
            (PasswordFile::MyCnf, b"# caf\xe9\r\n[client]\r\npassword=s3cret\r\n"),
        ] {
            let password = in_new_file(file, text, 0o600).password;
            assert_eq!(password.as_ref().map(Secret::expose), Some("s3cret"), "{file:?}");
        }
    }

    #[test]
    fn the_client_section_has_the_password() {
        let find = |text: &str| Some(in_my_cnf(text.lines())?.password.expose().to_owned());
        assert_eq!(find("[mysqld]\npassword=no\n"), None);
        assert_eq!(find("[client]\nuser=a\npassword = \"a b\"\n").as_deref(), Some("a b"));
        assert_eq!(
            find("[client]\npassword=one\n[client-mariadb]\npassword=two").as_deref(),
            Some("two")
        );
        assert_eq!(find("password=no"), None);
    }

    #[test]
    fn value_in_my_cnf_is_read_as_the_clients_of_mysql_read_it() {
        for (value, expected) in [
            ("plain", "plain"),
            ("cut # a comment", "cut"),
            ("\"a#b\" # a comment", "a#b"),
            ("'a\"#b'", "a\"#b"),
            (r##""a\"#b""##, r##"a"#b"##),
            (r"a\sb\tc\\d\n", "a b\tc\\d\n"),
            (r"a\xb\", r"a\xb\"),
            ("", ""),
        ] {
            let text = format!("; [mysqld]\n[client] # ours\npassword = {value}\n;password = no\n");
            let kept = in_my_cnf(text.lines()).expect("a password");
            assert_eq!(kept.password.expose(), expected, "{value}");
        }
    }
}
