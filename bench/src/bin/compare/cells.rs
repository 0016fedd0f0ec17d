//! The cells of the comparison: database, statement, encryption and connections.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A database that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Database {
    Postgres,
    Mariadb,
}

impl Database {
    pub(crate) const ALL: [Database; 2] = [Database::Postgres, Database::Mariadb];

    /// Returns the name of the database in `--only` and in results.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Database::Postgres => "postgres",
            Database::Mariadb => "mariadb",
        }
    }

    /// Returns the name of the database in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Database::Postgres => "PostgreSQL",
            Database::Mariadb => "MariaDB",
        }
    }
}

/// The form in which a statement is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Statement {
    Prepared,
    Text,
}

impl Statement {
    pub(crate) const ALL: [Statement; 2] = [Statement::Prepared, Statement::Text];

    /// Returns the name of the form in `--only` and in results.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Statement::Prepared => "prepared",
            Statement::Text => "text",
        }
    }
}

/// One cell, in which all load generators are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) database: Database,
    pub(crate) statement: Statement,
    pub(crate) tls: bool,
    pub(crate) connections: u32,
}

/// Numbers of connections of the cells.
pub(crate) const CONNECTIONS: [u32; 4] = [1, 16, 64, 256];

/// Number of connections for measures that use only a single number of connections.
pub(crate) const USUAL_CONNECTIONS: u32 = 64;

impl Cell {
    /// Creates a cell with a prepared statement.
    pub(crate) fn prepared(database: Database, connections: u32, tls: bool) -> Cell {
        Cell { database, statement: Statement::Prepared, tls, connections }
    }

    /// Returns all cells in the order of the tables.
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

    /// Returns the name of the cell's encryption in `--only` and in results.
    pub(crate) fn tls_word(&self) -> &'static str {
        if self.tls { "tls" } else { "plain" }
    }

    /// Returns true if two cells differ at most in their connections, and so belong to the same
    /// table.
    pub(crate) fn shares_table(&self, other: &Cell) -> bool {
        Cell { connections: 0, ..*self } == Cell { connections: 0, ..*other }
    }

    /// Returns the heading of the cell's table.
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
