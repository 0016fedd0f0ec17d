//! Tables to fill.

use base::Span;

use crate::expr::Expr;

/// A table to fill.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Name of the table.
    pub table: String,
    /// Number of rows.
    pub rows: u64,
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// Number of connections that load at the same time.
    pub writers: u32,
    /// Rows per commit.
    pub batch: u32,
    /// Method of sending rows.
    pub method: LoadMethod,
    /// Treatment of rows whose key exists already.
    pub on_duplicate: OnDuplicate,
    /// Time at which `create index` statements of `[setup]` on this table run: before or after the
    /// table is filled.
    pub indexes: Indexes,
    /// Position of the section's header.
    pub span: Span,
}

/// A column of a table to fill.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its value, evaluated once per row. Its generators count rows from 0, but `row()` from 1.
    pub value: Expr,
}

/// A method of sending rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadMethod {
    /// The fastest method that the target supports.
    Auto,
    /// Prepared `insert` statements.
    Insert,
    /// PostgreSQL's `COPY … FROM STDIN`.
    Copy,
    /// MySQL's `LOAD DATA LOCAL INFILE`.
    LoadData,
}

/// The treatment of rows whose key exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The load fails.
    Error,
    /// The row is skipped.
    Ignore,
    /// The row replaces the existing one.
    Replace,
}

/// The time at which secondary indexes are created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexes {
    /// With the rest of `[setup]`, before the table is filled.
    Before,
    /// After the table is filled.
    After,
}
