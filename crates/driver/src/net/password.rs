//! Where a password comes from that the URL does not carry.
//!
//! In this order: the URL, the environment's `ASSAY_PASSWORD`, and the file in which the database's
//! own clients look. The last two show in no list of processes.

use std::ffi::OsString;
use std::path::PathBuf;

use base::Secret;

use super::Address;

/// The file in which a database's own clients find passwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PasswordFile {
    /// PostgreSQL's `~/.pgpass`, or that which `PGPASSFILE` names (manual, chapter "The Password
    /// File").
    PgPass,
    /// The `[client]` section of MySQL's `~/.my.cnf` (manual, section "Using Option Files").
    MyCnf,
}

/// Whose password is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    pub(crate) address: &'a Address,
    pub(crate) database: &'a str,
    pub(crate) user: &'a str,
}

/// The password of a user, unless the URL has given one.
pub(crate) fn find_password(file: PasswordFile, owner: Owner<'_>) -> Option<Secret> {
    if let Some(password) = std::env::var("ASSAY_PASSWORD").ok().filter(|text| !text.is_empty()) {
        return Some(Secret::new(password));
    }
    let text = std::fs::read_to_string(file.path()?).ok()?;
    match file {
        PasswordFile::PgPass => in_pgpass(&text, owner),
        PasswordFile::MyCnf => in_my_cnf(&text),
    }
}

impl PasswordFile {
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

/// The password of the first line `host:port:database:user:password` that fits; `*` fits all.
fn in_pgpass(text: &str, owner: Owner<'_>) -> Option<Secret> {
    let (host, port) = match owner.address {
        Address::Tcp(host, port) => (host.as_str(), port.to_string()),
        // PostgreSQL's own clients call its default socket so, wherever it is; its name ends with
        // the port.
        Address::Unix(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let port = name.strip_prefix(".s.PGSQL.").unwrap_or("5432");
            ("localhost", port.to_owned())
        }
    };
    let wanted = [host, &port, owner.database, owner.user];
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(fields).find_map(|fields| {
        let [given @ .., password] = fields.as_slice() else { return None };
        let fits = given.len() == wanted.len()
            && given.iter().zip(wanted).all(|(given, wanted)| given == "*" || given == wanted);
        fits.then(|| Secret::new(password.as_str()))
    })
}

/// The fields of a line; a backslash stands before a colon or a backslash that belongs to one.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            // In a password, which is the last, a colon is a colon.
            ':' if last < 4 => fields.push(String::new()),
            '\\' => fields[last].extend(characters.next()),
            other => fields[last].push(other),
        }
    }
    fields
}

/// The last `password` in a section `[client]` or one of its kin.
fn in_my_cnf(text: &str) -> Option<Secret> {
    const SECTIONS: [&str; 3] = ["client", "client-server", "client-mariadb"];
    let mut is_ours = false;
    let mut found = None;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_ours = SECTIONS.contains(&section.trim_end_matches(']'));
        } else if let Some((name, value)) = line.split_once('=')
            && is_ours
            && name.trim() == "password"
        {
            found = Some(Secret::new(unquoted(value.trim())));
        }
    }
    found
}

fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# host:port:database:user:password\nother:5432:*:ann:wrong\n\
                    db1:5433:shop:ann:se\\:c\\\\ret:x\n*:*:*:ann:any\n";
        let find = |host: &str, port, user| {
            let address = Address::Tcp(host.to_owned(), port);
            let owner = Owner { address: &address, database: "shop", user };
            in_pgpass(text, owner).map(|secret| secret.expose().to_owned())
        };
        assert_eq!(find("db1", 5433, "ann").as_deref(), Some("se:c\\ret:x"));
        assert_eq!(find("db1", 5432, "ann").as_deref(), Some("any"));
        assert_eq!(find("db1", 5433, "bob"), None);
        let address = Address::Unix("/tmp/.s.PGSQL.6432".into());
        let owner = Owner { address: &address, database: "shop", user: "ann" };
        let pooler = in_pgpass("localhost:5432:*:ann:server\nlocalhost:6432:*:ann:pooler", owner);
        assert_eq!(pooler.map(|secret| secret.expose().to_owned()).as_deref(), Some("pooler"));
    }

    #[test]
    fn the_client_section_has_the_password() {
        let find = |text| in_my_cnf(text).map(|secret| secret.expose().to_owned());
        assert_eq!(find("[mysqld]\npassword=no\n"), None);
        assert_eq!(find("[client]\nuser=a\npassword = \"a b\"\n").as_deref(), Some("a b"));
        assert_eq!(
            find("[client]\npassword=one\n[client-mariadb]\npassword=two").as_deref(),
            Some("two")
        );
        assert_eq!(find("password=no"), None);
    }
}
