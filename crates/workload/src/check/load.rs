//! Rows that are loaded before the jobs start: `[load TABLE]`.

use base::Dialect;

use super::checker::Checker;
use super::fields::{Fields, SectionLines};
use super::kind::Kind;
use super::name::is_identifier;
use super::value::{count_between, resolve};
use crate::expr::{Compiled, Expr, compile, parse_all};
use crate::generate::Points;
use crate::keys::SectionKind;
use crate::plan::{Column, Indexes, Load, LoadMethod, OnDuplicate};
use crate::read::{Excerpt, Section};
use crate::sink::Sink;
use crate::value::Type;
use crate::wording::quoted;

/// Maximum number of connections that load one table.
const MOST_WRITERS: u32 = 10_000;

/// Maximum number of rows per commit.
const MOST_ROWS_PER_COMMIT: u32 = 100_000_000;

/// Allowed range of the number of rows.
const ALLOWED_ROWS: (u64, u64) = (0, i64::MAX as u64);

impl<'f> Checker<'f> {
    /// Checks a `[load TABLE]` section.
    pub(super) fn load(&mut self, section: &'f Section<'f>, table: &str) -> Load {
        let location_text = format!("in [load {table}]");
        let fields = self.fields(&section.entries, SectionKind::Load, &location_text);
        for (key, example) in [("rows", "rows = 100k"), ("columns", "columns = id: row()")] {
            if fields.one(key).is_none() {
                self.sink.error(|| {
                    let message = format!("[load {table}] has no `{key}`");
                    base::Diagnostic::error(section.span, message)
                        .help(format!("write for example `{example}`"))
                });
            }
        }
        self.load_of_fields(&fields, section, table)
    }

    /// Returns the number of rows of the only table with a column that uses `point()`: the default
    /// by which polygons are sized.
    pub(super) fn count_polygon_points(&self, sections: &[(Kind<'f>, &'f Section<'f>)]) -> Points {
        let mut found = Points::NoTable;
        for (kind, section) in sections {
            if matches!(kind, Kind::Load(_)) && has_points(&self.lines_of_table(section)) {
                found = match found {
                    Points::NoTable => Points::Rows(self.rows(section).unwrap_or(0)),
                    Points::Rows(_) | Points::Several => Points::Several,
                };
            }
        }
        found
    }

    /// Returns the number of rows of a table; `None` if the number is invalid, which is reported
    /// when the table is checked.
    fn rows(&self, section: &'f Section<'f>) -> Option<u64> {
        let entry = self.lines_of_table(section).one("rows")?;
        let resolved = resolve(entry.value(), self.fixed_scope("`rows`")).ok()?;
        count_between(resolved.excerpt().text(), "rows", ALLOWED_ROWS).ok()
    }

    /// Returns the lines of a table for the main target. Their errors are reported when the table
    /// is checked.
    fn lines_of_table(&self, section: &'f Section<'f>) -> Fields<'f> {
        let (file, dialect, owner) = (self.file, self.dialect, SectionKind::Load);
        let entries = section.entries.as_slice();
        let lines = SectionLines { file, entries, owner, dialect, location_text: "" };
        lines.fields(&mut Sink::default())
    }

    fn load_of_fields(&mut self, fields: &Fields<'f>, section: &Section<'_>, table: &str) -> Load {
        let methods =
            [LoadMethod::Auto, LoadMethod::Insert, LoadMethod::Copy, LoadMethod::LoadData];
        let duplicates = [OnDuplicate::Error, OnDuplicate::Ignore, OnDuplicate::Replace];
        let indexes = [Indexes::Before, Indexes::After];
        let owner = SectionKind::Load;
        let method = self.choice(fields, owner, "method", methods).unwrap_or(LoadMethod::Auto);
        let on_duplicate =
            self.choice(fields, owner, "on-duplicate", duplicates).unwrap_or(OnDuplicate::Error);
        self.possible_method(fields, table, method, on_duplicate);
        Load {
            table: table.to_owned(),
            rows: self.count(fields, "rows", ALLOWED_ROWS).unwrap_or(0),
            columns: self.columns(fields, table),
            writers: self.small_count(fields, "writers", (1, MOST_WRITERS)).unwrap_or(1),
            batch: self.small_count(fields, "batch", (1, MOST_ROWS_PER_COMMIT)).unwrap_or(1_000),
            method,
            on_duplicate,
            indexes: self.choice(fields, owner, "indexes", indexes).unwrap_or(Indexes::Before),
            span: section.span,
        }
    }

    /// Reports a load method that the main target does not support, and COPY with an `on-duplicate`
    /// other than `error`. Only the main target is loaded.
    fn possible_method(
        &mut self,
        fields: &Fields<'f>,
        table: &str,
        method: LoadMethod,
        on_duplicate: OnDuplicate,
    ) {
        let Some(entry) = fields.one("method") else { return };
        let (word, dialect) = match method {
            LoadMethod::Auto | LoadMethod::Insert => return,
            LoadMethod::Copy => ("copy", Dialect::Postgres),
            LoadMethod::LoadData => ("load-data", Dialect::Mysql),
        };
        if self.dialect != dialect {
            self.sink.error(|| {
                let kind = dialect.name();
                entry
                    .value()
                    .error(format!("[load {table}]: the target has no method `{word}`"))
                    .help(format!("write `method = auto`, or name a target of {kind} with `--url`"))
            });
        } else if method == LoadMethod::Copy && on_duplicate != OnDuplicate::Error {
            self.sink.error(|| {
                entry
                    .value()
                    .error("COPY fails with the first row whose key exists")
                    .help("write `method = auto`, or leave out `on-duplicate`")
            });
        }
    }

    fn columns(&mut self, fields: &Fields<'f>, table: &str) -> Vec<Column> {
        let section = format!("load {table}");
        let mut columns: Vec<Column> = Vec::new();
        for (name, source) in self.named(fields, "columns") {
            if !is_identifier(name.text()) || name.text().contains('.') {
                self.sink.error(|| {
                    let message = format!("{} is not the name of a column", quoted(name.text()));
                    name.error(message)
                        .help("a name has letters, digits and `_`, or is in double quotes")
                });
            } else if columns.iter().any(|column| column.name == name.text()) {
                self.sink.error(|| {
                    name.error(format!("the column {} occurs twice", quoted(name.text())))
                });
            } else if let Some(value) = self.column(name, source, &section) {
                let name = name.text().to_owned();
                columns.push(Column { name, value });
            }
        }
        self.within_request_size(
            columns.iter().map(|column| column.value.0.longest(&[])),
            fields.one("columns"),
            "a row",
        );
        columns
    }

    fn column(&mut self, name: Excerpt<'_>, source: Excerpt<'_>, section: &str) -> Option<Expr> {
        let place = format!("column {}", name.text());
        let compiled = parse_all(source)
            .map_err(Into::into)
            .and_then(|ast| compile(&ast, source, self.row_scope(section, &place)))
            .and_then(|compiled| self.count_nodes(compiled, source, false))
            .and_then(|compiled| bindable(compiled, source, "value of a database"));
        match compiled {
            Ok(compiled) => Some(Expr(compiled.into_node())),
            Err(refused) => {
                self.report_invalid(refused);
                None
            }
        }
    }
}

/// Returns true if a column of a table uses `point()`.
fn has_points(fields: &Fields<'_>) -> bool {
    let columns = fields.all("columns");
    let expressions = columns.flat_map(|entry| entry.value().list()).filter_map(|item| {
        let (_, source) = item.split_once(b':').filter(|_| item.text().contains("point"))?;
        Some((parse_all(source).ok()?, source))
    });
    expressions.into_iter().any(|(ast, source)| ast.calls(source.text(), "point"))
}

/// Returns a value that a database or a command can take; `required_kind` names the accepted kind
/// in messages.
///
/// # Errors
/// The value is a duration.
pub(super) fn bindable(
    compiled: Compiled,
    source: Excerpt<'_>,
    required_kind: &str,
) -> Result<Compiled, crate::expr::InvalidExpr> {
    if compiled.kind() != Type::Duration {
        return Ok(compiled);
    }
    let text = source.text();
    let message = format!("{} is a duration, which cannot be a {required_kind}", quoted(text));
    let inner = if text.contains(' ') { format!("({text})") } else { text.to_owned() };
    let help = format!("divide it by a unit: `{inner} / 1s` is a number of seconds");
    Err(source.error(message).help(help).into())
}
