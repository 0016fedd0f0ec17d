//! Tables: rows of typed cells below titles.

use std::borrow::Cow;
use std::fmt;

use base::units::grouped;

use super::datum::Datum;
use super::quantity::Quantity;
use crate::number::{NONE, range};

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows.
    pub rows: Vec<Row>,
    /// Titles of the columns that a narrow page drops one by one, the least important first. If
    /// several columns have the same title, each mention drops the first remaining one.
    pub optional: Vec<Cow<'static, str>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Title; may be empty.
    pub title: Cow<'static, str>,
    /// Alignment of its cells.
    pub align: Align,
    /// Data columns that an exported file has even if no cell has a value for them. Only the names
    /// and units of these values are used.
    pub values: Vec<Datum>,
}

/// The alignment of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Aligned to the left: texts.
    Left,
    /// Aligned to the right: numbers.
    Right,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Cells: one for every column, or fewer if there is a note.
    pub cells: Vec<Cell>,
    /// Note shown instead of the missing cells.
    pub note: Option<&'static str>,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A cell without content.
    Empty,
    /// A number that is missing.
    Missing,
    /// A text.
    Text(String),
    /// A text with a shorter form for a narrow page.
    Abbreviated {
        /// The text.
        full: String,
        /// The shorter form.
        short: String,
    },
    /// A number with its unit.
    Number(Quantity),
    /// A number of things, out of a planned number.
    Part {
        /// Number of things.
        part: u64,
        /// Planned number.
        of: u64,
    },
    /// An interval.
    Interval {
        /// Lower end.
        low: Quantity,
        /// Upper end.
        high: Quantity,
        /// Mark after the interval, which a legend explains; may be empty.
        mark: &'static str,
    },
    /// A cell with separate values for exported files.
    WithData {
        /// The cell for people.
        shown: Box<Cell>,
        /// The values for exported files.
        data: Vec<Datum>,
    },
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Empty => Ok(()),
            Cell::Missing => f.write_str(NONE),
            Cell::Text(text) | Cell::Abbreviated { full: text, short: _ } => f.write_str(text),
            Cell::Number(quantity) => quantity.fmt(f),
            Cell::Part { part, of } => write!(f, "{} of {}", grouped(*part), grouped(*of)),
            Cell::Interval { low, high, mark } => {
                write!(f, "{}{mark}", range(&low.to_string(), &high.to_string()))
            }
            Cell::WithData { shown, .. } => shown.fmt(f),
        }
    }
}

impl Cell {
    /// Creates a text with a shorter form, unless the shorter form is empty.
    pub(crate) fn abbreviated(full: String, short: String) -> Cell {
        match short.is_empty() {
            true => Cell::Text(full),
            false => Cell::Abbreviated { full, short },
        }
    }

    /// Creates a cell with this text for people, and the number with its unit for exported files.
    pub(crate) fn formatted(text: String, number: f64, unit: &'static str) -> Cell {
        Cell::Text(text).with_data([Datum::number("", number, unit)])
    }

    /// Returns the same cell with these values for exported files.
    pub(crate) fn with_data(self, data: impl IntoIterator<Item = Datum>) -> Cell {
        Cell::WithData { shown: Box::new(self), data: data.into_iter().collect() }
    }

    /// Returns the values for exported files; none if the number is missing.
    pub fn data(&self) -> Vec<Datum> {
        let number = |name: &'static str, quantity: Quantity| {
            Datum::number(name, quantity.value(), quantity.unit())
        };
        match self {
            Cell::Empty | Cell::Missing => Vec::new(),
            Cell::Text(text) | Cell::Abbreviated { full: text, .. } => {
                vec![Datum::text("", text.as_str())]
            }
            Cell::Number(quantity) => vec![number("", *quantity)],
            Cell::Part { part, of } => {
                vec![number("", Quantity::Count(*part)), number("planned", Quantity::Count(*of))]
            }
            Cell::Interval { low, high, mark } => {
                let ends = Datum::interval([low.value(), high.value()], low.unit());
                ends.into_iter().chain([Datum::text("mark", *mark)]).collect()
            }
            Cell::WithData { data, .. } => data.clone(),
        }
    }

    /// Returns the shorter form of a text, if it has one.
    pub(crate) fn short(&self) -> Option<&str> {
        match self {
            Cell::Abbreviated { full: _, short } => Some(short),
            Cell::WithData { shown, .. } => shown.short(),
            Cell::Empty
            | Cell::Missing
            | Cell::Text(_)
            | Cell::Number(_)
            | Cell::Part { .. }
            | Cell::Interval { .. } => None,
        }
    }
}

impl From<Quantity> for Cell {
    fn from(quantity: Quantity) -> Cell {
        Cell::Number(quantity)
    }
}

impl From<Option<Quantity>> for Cell {
    fn from(quantity: Option<Quantity>) -> Cell {
        quantity.map_or(Cell::Missing, Cell::Number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl Table {
    /// Creates a table without rows.
    pub(crate) fn new<T: Into<Cow<'static, str>>>(
        titles: impl IntoIterator<Item = (T, Align)>,
    ) -> Table {
        let column = |(title, align): (T, Align)| {
            let title = title.into();
            Column { title, align, values: Vec::new() }
        };
        let columns = titles.into_iter().map(column);
        Table { columns: columns.collect(), rows: Vec::new(), optional: Vec::new() }
    }

    /// Creates a table of texts. A row with too few texts is filled with empty cells.
    pub(crate) fn of_texts(columns: &[(&str, Align)], rows: &[Vec<String>]) -> Table {
        let titles = columns.iter().map(|(title, align)| ((*title).to_owned(), *align));
        let mut table = Table::new(titles);
        for row in rows {
            let cell = |place: usize| row.get(place).map_or(Cell::Empty, |it| it.as_str().into());
            table.row((0..columns.len()).map(cell));
        }
        table
    }

    /// Returns a table with the same columns and no rows.
    pub(super) fn without_rows(&self) -> Table {
        Table { rows: Vec::new(), ..self.clone() }
    }

    /// Sets the data columns that an exported file always has: those of the cells of this row.
    pub(crate) fn with_values_of(mut self, row: impl IntoIterator<Item = Cell>) -> Table {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            column.values = cell.data();
        }
        self
    }

    /// Sets the columns that a narrow page drops.
    pub(crate) fn with_optional_columns<T: Into<Cow<'static, str>>>(
        self,
        optional: impl IntoIterator<Item = T>,
    ) -> Table {
        Table { optional: optional.into_iter().map(Into::into).collect(), ..self }
    }

    /// Adds a row with a cell for every column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        debug_assert_eq!(cells.len(), self.columns.len(), "a cell for every column");
        self.rows.push(Row { cells, note: None });
    }

    /// Adds a row with a note instead of its last cells.
    pub(crate) fn row_with_note(
        &mut self,
        cells: impl IntoIterator<Item = Cell>,
        note: &'static str,
    ) {
        self.rows.push(Row { cells: cells.into_iter().collect(), note: Some(note) });
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
