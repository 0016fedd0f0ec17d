//! Rows of short texts below titles.

use base::printable;

use crate::text::page::{Tone, columns, cut, padded};

/// On which side the texts of a column stand below each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    titles: Vec<(&'static str, Align)>,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    cells: Vec<String>,
    /// What stands instead of the cells that are missing.
    rest: Option<String>,
}

/// What lies between two columns.
const GAP: &str = "  ";

/// The widest column of texts but the last; what is longer is cut.
const WIDEST_TEXT: usize = 28;

impl Table {
    pub(super) fn new(titles: impl IntoIterator<Item = (&'static str, Align)>) -> Table {
        Table { titles: titles.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row with a cell for every column.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = self.fitted(cells);
        debug_assert_eq!(cells.len(), self.titles.len(), "a cell for every column");
        self.rows.push(Row { cells, rest: None });
    }

    /// The cells without what a terminal obeys, those of the last column as long as they are.
    fn fitted(&self, cells: impl IntoIterator<Item = String>) -> Vec<String> {
        let last = self.titles.len() - 1;
        let fit = |(column, cell): (usize, String)| match self.titles[column].1 {
            Align::Left if column < last => cut(&printable(&cell), WIDEST_TEXT),
            Align::Left | Align::Right => printable(&cell).into_owned(),
        };
        cells.into_iter().enumerate().map(fit).collect()
    }

    /// Adds a row that says something in words where its last cells would be.
    pub(super) fn row_in_words(&mut self, cells: impl IntoIterator<Item = String>, rest: &str) {
        let cells = self.fitted(cells);
        self.rows.push(Row { cells, rest: Some(rest.to_owned()) });
    }

    /// Whether there is no row.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines of the table, none of them with more columns than there is room for, as long as
    /// all but the last column fit.
    pub(super) fn lay_out(&self, room: usize) -> Vec<(Tone, String)> {
        let widths = self.widths();
        let titles = self.titles.iter().map(|(title, _)| (*title).to_owned()).collect();
        let titles = Row { cells: titles, rest: None };
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        if self.titles.iter().any(|(title, _)| !title.is_empty()) {
            lines.push((Tone::Quiet, self.lay_out_row(&titles, &widths, room)));
        }
        lines.extend(
            self.rows.iter().map(|row| (Tone::Plain, self.lay_out_row(row, &widths, room))),
        );
        lines
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.cells.get(column));
            let widest = cells.map(|cell| columns(cell)).max().unwrap_or(0);
            widest.max(columns(self.titles[column].0))
        };
        (0..self.titles.len()).map(width).collect()
    }

    fn lay_out_row(&self, row: &Row, widths: &[usize], room: usize) -> String {
        let mut line = String::new();
        let last = self.titles.len() - 1;
        for (column, cell) in row.cells.iter().enumerate() {
            if column > 0 {
                line.push_str(GAP);
            }
            let width = widths[column];
            match self.titles[column].1 {
                Align::Right => {
                    line.push_str(&" ".repeat(width.saturating_sub(columns(cell))));
                    line.push_str(cell);
                }
                Align::Left if column == last => {
                    line.push_str(&cut(cell, room.saturating_sub(columns(&line))));
                }
                Align::Left => line.push_str(&padded(cell, width)),
            }
        }
        if let Some(rest) = &row.rest {
            line.push_str(GAP);
            line.push_str(&cut(rest, room.saturating_sub(columns(&line))));
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let titles = [("job", Align::Left), ("count", Align::Right), ("text", Align::Left)];
        let mut table = Table::new(titles);
        table.row(["read", "1", "select 1 from a very long table"].map(str::to_owned));
        table.row(["w", "1,234,567", "insert"].map(str::to_owned));
        table.row_in_words(["x".to_owned()], "nothing to say");
        let lines: Vec<String> = table.lay_out(30).into_iter().map(|(_, line)| line).collect();
        assert_eq!(
            lines,
            [
                "job       count  text",
                "read          1  select 1 fro…",
                "w     1,234,567  insert",
                "x     nothing to say",
            ]
        );
    }

    #[test]
    fn a_text_without_end_leaves_room_for_the_other_columns() {
        let mut table = Table::new([("job", Align::Left), ("text", Align::Left)]);
        table.row(["x".repeat(500), "a\tb".to_owned()]);
        let (_, line) = table.lay_out(100).remove(1);
        assert_eq!(line, format!("{}…  a b", "x".repeat(27)));
    }
}
