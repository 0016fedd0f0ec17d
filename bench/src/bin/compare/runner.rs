//! The load generators and their features.

use serde::{Deserialize, Serialize};

use crate::cells::{Cell, Database, Statement};

/// A load generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Runner {
    Limit,
    Assay,
    Pgbench,
    Sysbench,
    #[serde(rename = "mariadb-slap")]
    Slap,
    Dbbench,
}

impl Runner {
    pub(crate) const ALL: [Runner; 6] = [
        Runner::Limit,
        Runner::Assay,
        Runner::Pgbench,
        Runner::Sysbench,
        Runner::Slap,
        Runner::Dbbench,
    ];

    /// Returns the name of the load generator.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Runner::Limit => "limit",
            Runner::Assay => "assay",
            Runner::Pgbench => "pgbench",
            Runner::Sysbench => "sysbench",
            Runner::Slap => "mariadb-slap",
            Runner::Dbbench => "dbbench",
        }
    }

    /// Returns the reason why the load generator does not support a cell, or `None` if it does.
    pub(crate) fn unsupported_reason(self, cell: &Cell) -> Option<&'static str> {
        match (self, cell.database, cell.statement) {
            (Runner::Limit | Runner::Assay | Runner::Sysbench | Runner::Dbbench, ..)
            | (Runner::Pgbench, Database::Postgres, _)
            | (Runner::Slap, Database::Mariadb, Statement::Text) => None,
            (Runner::Pgbench, Database::Mariadb, _) => Some("it supports only PostgreSQL"),
            (Runner::Slap, Database::Postgres, _) => Some("it supports only MariaDB"),
            (Runner::Slap, Database::Mariadb, Statement::Prepared) => {
                Some("it prepares no statements")
            }
        }
    }

    /// Returns true if the load generator supports a cell.
    pub(crate) fn supports(self, cell: &Cell) -> bool {
        self.unsupported_reason(cell).is_none()
    }

    /// Returns true if the load generator takes a number of queries instead of a duration.
    pub(crate) fn takes_query_count(self) -> bool {
        self == Runner::Slap
    }

    /// Returns a note on a cell in which the load generator behaves differently from the others.
    pub(crate) fn note(self, cell: &Cell) -> Option<&'static str> {
        match (self, cell.database, cell.statement) {
            (Runner::Slap, ..) => Some(
                "draws no random ids: every client goes through the same 1,000 statements, whose \
                 ids were drawn once",
            ),
            (Runner::Dbbench, Database::Postgres, Statement::Prepared) => Some(
                "keeps no prepared statements: it prepares for each request, which is one more \
                 round trip",
            ),
            (Runner::Dbbench, Database::Postgres, Statement::Text) => {
                Some("has no random values in texts: always the same id")
            }
            (Runner::Dbbench, Database::Mariadb, Statement::Prepared) => {
                Some("keeps no prepared statements: it writes the values into the text")
            }
            _ => None,
        }
    }
}
