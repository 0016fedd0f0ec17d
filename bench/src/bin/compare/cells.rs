//! What is compared: the cells of the table.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Database {
    Postgres,
    Mariadb,
}

impl Database {
    pub(crate) const ALL: [Database; 2] = [Database::Postgres, Database::Mariadb];

    /// Its word in `--only` and in results.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Database::Postgres => "postgres",
            Database::Mariadb => "mariadb",
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Database::Postgres => "PostgreSQL",
            Database::Mariadb => "MariaDB",
        }
    }
}

/// How the statement travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Statement {
    Prepared,
    Text,
}

impl Statement {
    pub(crate) const ALL: [Statement; 2] = [Statement::Prepared, Statement::Text];

    /// Its word in `--only` and in results.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Statement::Prepared => "prepared",
            Statement::Text => "text",
        }
    }
}

/// One situation in which all load generators are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) database: Database,
    pub(crate) statement: Statement,
    pub(crate) tls: bool,
    pub(crate) connections: u32,
}

/// How many connections the cells have.
pub(crate) const CONNECTIONS: [u32; 4] = [1, 16, 64, 256];

/// How many connections there are where it is not the connections that differ.
pub(crate) const USUAL_CONNECTIONS: u32 = 64;

impl Cell {
    /// One with a prepared statement.
    pub(crate) fn prepared(database: Database, connections: u32, tls: bool) -> Cell {
        Cell { database, statement: Statement::Prepared, tls, connections }
    }

    /// All cells in the order of the tables.
    pub(crate) fn all() -> Vec<Cell> {
        let mut cells = Vec::new();
        for database in Database::ALL {
            for statement in Statement::ALL {
                for tls in [false, true] {
                    cells.extend(CONNECTIONS.map(|connections| Cell {
                        database,
                        statement,
                        tls,
                        connections,
                    }));
                }
            }
        }
        cells
    }

    /// Its word for the encryption in `--only` and in results.
    pub(crate) fn tls_word(&self) -> &'static str {
        if self.tls { "tls" } else { "plain" }
    }

    /// Whether the tables of two cells are the same: they differ in connections alone.
    pub(crate) fn shares_table(&self, other: &Cell) -> bool {
        Cell { connections: 0, ..*self } == Cell { connections: 0, ..*other }
    }

    /// The heading of its table.
    pub(crate) fn heading(&self) -> String {
        let tls = if self.tls { "TLS" } else { "no TLS" };
        format!("{}, {}, {tls}", self.database.name(), self.statement.word())
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { database, statement, connections, .. } = self;
        let (database, statement) = (database.word(), statement.word());
        write!(f, "{database} {statement} {} {connections}", self.tls_word())
    }
}
