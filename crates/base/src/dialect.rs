//! SQL dialects.

use crate::value::Placeholders;

/// The SQL dialects that a workload file distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// MySQL, MariaDB and compatible servers.
    Mysql,
    /// PostgreSQL and compatible servers.
    Postgres,
    /// SQLite.
    Sqlite,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 3] = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];

    /// Returns the name in a workload file, as in `query.mysql = …`.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Mysql => "mysql",
            Dialect::Postgres => "postgres",
            Dialect::Sqlite => "sqlite",
        }
    }

    /// Returns the dialect with a name, if there is one.
    pub fn from_name(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Returns the placeholder style of parameters in a statement's text.
    pub fn placeholders(self) -> Placeholders {
        match self {
            Dialect::Mysql | Dialect::Sqlite => Placeholders::Question,
            Dialect::Postgres => Placeholders::Dollar,
        }
    }
}
