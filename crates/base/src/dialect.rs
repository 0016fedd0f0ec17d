//! Which SQL does a database speak?

use crate::value::Placeholders;

/// The families of SQL that a workload file can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// MySQL, MariaDB and what speaks their protocol.
    Mysql,
    /// PostgreSQL and what speaks its protocol.
    Postgres,
    /// SQLite.
    Sqlite,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 3] = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];

    /// The word for it in a workload file: `query.mysql = …`.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Mysql => "mysql",
            Dialect::Postgres => "postgres",
            Dialect::Sqlite => "sqlite",
        }
    }

    /// The dialect with this name.
    pub fn from_name(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// How parameters are written in a statement's text.
    pub fn placeholders(self) -> Placeholders {
        match self {
            Dialect::Mysql | Dialect::Sqlite => Placeholders::Question,
            Dialect::Postgres => Placeholders::Dollar,
        }
    }
}
