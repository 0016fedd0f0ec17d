//! Tables as lines of text.

use std::borrow::Cow;

use base::printable;

use crate::page::{Align, Cell, Table, Tone};
use crate::text::layout::{columns, cut, padded};

/// A table whose cells are texts.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    titles: Vec<(Cow<'static, str>, Align)>,
    rows: Vec<Row>,
    /// Titles of the columns that a narrow page drops, in this order.
    optional: Vec<Cow<'static, str>>,
}

#[derive(Clone, Debug)]
struct Row {
    cells: Vec<Text>,
    /// Text shown instead of the missing cells.
    note: Option<&'static str>,
}

/// A cell as text.
#[derive(Clone, Debug)]
struct Text {
    shown: String,
    /// Shorter form, if the cell has one.
    short: Option<String>,
}

/// Separator between two columns.
const GAP: &str = "  ";

/// Maximum width of text columns except the last; longer texts are cut.
const WIDEST_TEXT: usize = 28;

/// Width to which the text in the last column may shrink. If the table is still too wide, optional
/// columns are dropped, and then the texts of other columns are cut, at first to this width.
const LEAST_TEXT_WIDTH: usize = 12;

/// Width to which texts of other columns are cut if the table does not fit otherwise.
const LEAST_CUT_WIDTH: usize = 8;

impl Grid {
    /// Formats the cells of a table, makes them printable, and cuts long texts, except in the last
    /// column.
    pub(super) fn of(table: &Table) -> Grid {
        Grid::with(table, WIDEST_TEXT)
    }

    /// Formats the cells of a table, and makes them printable. No text is cut.
    pub(crate) fn uncut(table: &Table) -> Grid {
        Grid::with(table, usize::MAX)
    }

    fn with(table: &Table, widest: usize) -> Grid {
        let titles = table.columns.iter();
        let titles: Vec<_> =
            titles.map(|it| (printable(&it.title).into_owned().into(), it.align)).collect();
        let last = titles.len() - 1;
        let fit = |column: usize, text: &str| match titles[column].1 {
            Align::Left if column < last => cut(&printable(text), widest),
            Align::Left | Align::Right => printable(text).into_owned(),
        };
        let text = |(column, cell): (usize, &Cell)| Text {
            shown: fit(column, &cell.to_string()),
            short: cell.short().map(|it| fit(column, it)),
        };
        let rows = table.rows.iter().map(|row| Row {
            cells: row.cells.iter().enumerate().map(text).collect(),
            note: row.note,
        });
        Grid { rows: rows.collect(), titles, optional: table.optional.clone() }
    }

    /// Returns the table for a page with this much room: with shorter forms of its cells, and
    /// without the columns that do not fit even then. If that is not enough, texts are cut.
    pub(crate) fn narrowed(&self, room: usize) -> Grid {
        let mut table = self.clone();
        let mut optional = self.optional.iter();
        loop {
            let mut short = table.abbreviated(room);
            if short.least_width() <= room {
                return short;
            }
            let Some(title) = optional.next() else {
                short.cut_texts(room);
                return short;
            };
            table.drop_column(title);
        }
    }

    /// Returns the table with the shorter forms of cells, from the last column to the first, until
    /// it fits.
    fn abbreviated(&self, room: usize) -> Grid {
        let mut table = self.clone();
        for column in (0..table.titles.len()).rev() {
            if table.least_width() <= room {
                break;
            }
            for cell in table.rows.iter_mut().filter_map(|row| row.cells.get_mut(column)) {
                if let Some(short) = cell.short.take() {
                    cell.shown = short;
                }
            }
        }
        table
    }

    fn drop_column(&mut self, title: &str) {
        let Some(place) = self.titles.iter().position(|(known, _)| known == title) else { return };
        self.titles.remove(place);
        for row in self.rows.iter_mut().filter(|row| place < row.cells.len()) {
            row.cells.remove(place);
        }
    }

    /// Cuts the texts of all columns except the last, one column after another, until the table
    /// fits.
    fn cut_texts(&mut self, room: usize) {
        let places = 0..self.titles.len() - 1;
        for (least, column) in [LEAST_TEXT_WIDTH, LEAST_CUT_WIDTH]
            .into_iter()
            .flat_map(|least| places.clone().map(move |it| (least, it)))
        {
            let over = self.least_width().saturating_sub(room);
            if over == 0 || self.titles[column].1 == Align::Right {
                continue;
            }
            let width = self.widths()[column].saturating_sub(over).max(least);
            for cell in self.rows.iter_mut().filter_map(|row| row.cells.get_mut(column)) {
                cell.shown = cut(&cell.shown, width);
            }
        }
    }

    /// Returns the number of page columns that the table needs. A text in its last column may be
    /// cut.
    fn least_width(&self) -> usize {
        let last = self.titles.len() - 1;
        let least = |(column, width): (usize, usize)| match self.titles[column].1 {
            Align::Left if column == last => width.min(LEAST_TEXT_WIDTH),
            Align::Left | Align::Right => width,
        };
        let widths = self.widths().into_iter().enumerate().map(least);
        widths.sum::<usize>() + GAP.len() * last
    }

    /// Returns the part of a page with this much room that is left for the last column.
    pub(super) fn room_for_last(&self, room: usize) -> usize {
        let table = self.narrowed(room);
        let last = table.titles.len() - 1;
        let others: usize = table.widths().iter().take(last).map(|width| width + GAP.len()).sum();
        room.saturating_sub(others)
    }

    /// Returns true if there is a column with this title.
    pub(crate) fn has(&self, title: &str) -> bool {
        self.titles.iter().any(|(known, _)| known == title)
    }

    /// Returns the lines of the table. Texts in the last column and notes are cut at the end of the
    /// room; all other cells are written whole, and may exceed it.
    pub(crate) fn lay_out(&self, room: usize) -> Vec<(Tone, String)> {
        let widths = self.widths();
        let title = |(title, _): &(Cow<'static, str>, Align)| Text {
            shown: title.clone().into_owned(),
            short: None,
        };
        let titles = Row { cells: self.titles.iter().map(title).collect(), note: None };
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
            let widest = cells.map(|cell| columns(&cell.shown)).max().unwrap_or(0);
            widest.max(columns(&self.titles[column].0))
        };
        (0..self.titles.len()).map(width).collect()
    }

    fn lay_out_row(&self, row: &Row, widths: &[usize], room: usize) -> String {
        let mut line = String::new();
        let last = self.titles.len() - 1;
        for (column, Text { shown: cell, short: _ }) in row.cells.iter().enumerate() {
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
        if let Some(note) = row.note {
            line.push_str(GAP);
            line.push_str(&cut(note, room.saturating_sub(columns(&line))));
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Cell;

    fn cells<const N: usize>(texts: [&str; N]) -> [Cell; N] {
        texts.map(Cell::from)
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let titles = [("job", Align::Left), ("count", Align::Right), ("text", Align::Left)];
        let mut table = Table::new(titles);
        table.row(cells(["read", "1", "select 1 from a very long table"]));
        table.row(cells(["w", "1,234,567", "insert"]));
        table.row_with_note(cells(["x"]), "nothing to say");
        let lines: Vec<String> =
            Grid::of(&table).lay_out(30).into_iter().map(|(_, line)| line).collect();
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

    /// Returns the lines of a table on a page with this much room.
    fn narrowed(table: &Table, room: usize) -> Vec<String> {
        Grid::of(table).narrowed(room).lay_out(room).into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn narrow_page_gives_up_columns_in_their_order() {
        let numbers = ["count", "mean", "p99"].map(|title| (title, Align::Right));
        let titles = [("", Align::Left)].into_iter().chain(numbers);
        let mut table = Table::new(titles).with_optional_columns(["mean", "count"]);
        table.row(cells(["response", "1,000", "1.50 ms", "9.00 ms"]));
        table.row_with_note(cells(["wait", "1,000"]), "withheld");
        assert_eq!(narrowed(&table, 33)[1], "response  1,000  1.50 ms  9.00 ms");
        let without_mean =
            ["          count      p99", "response  1,000  9.00 ms", "wait      1,000  withheld"];
        assert_eq!(narrowed(&table, 32), without_mean);
        let without_count = ["              p99", "response  9.00 ms", "wait      withheld"];
        assert_eq!(narrowed(&table, 23), without_count);
        assert!(
            Grid::of(&table).narrowed(24).has("count")
                && !Grid::of(&table).narrowed(23).has("count")
        );
    }

    #[test]
    fn columns_with_one_title_are_given_up_one_by_one() {
        let titles = ["p50", "95 %", "p99", "95 %"].map(|title| (title, Align::Right));
        let mut table = Table::new(titles).with_optional_columns(["95 %", "95 %"]);
        table.row(cells(["1", "1–2", "7", "6–9"]));
        assert_eq!(narrowed(&table, 14), ["p50  p99  95 %", "  1    7   6–9"]);
        assert_eq!(narrowed(&table, 8), ["p50  p99", "  1    7"]);
    }

    /// An interval and a name have shorter forms, which are both used before a column is dropped.
    #[test]
    fn cells_are_abbreviated_before_a_column_is_dropped() {
        let abbreviated = |full: &str, short: &str| Cell::Abbreviated {
            full: full.to_owned(),
            short: short.to_owned(),
        };
        let titles = [("metric", Align::Left), ("change", Align::Right), ("CI", Align::Right)];
        let mut table = Table::new(titles).with_optional_columns(["CI"]);
        let wide = abbreviated("+1,200 … +1,300 %", "×13 … ×14");
        table.row([abbreviated("response.p99", "p99"), Cell::from("+1 %"), Cell::from("0 … 2 %")]);
        table.row([abbreviated("response.max", "max"), Cell::from("+1,250 %"), wide]);
        assert_eq!(narrowed(&table, 41)[2], "response.max  +1,250 %  +1,200 … +1,300 %");
        let short = ["response.p99      +1 %    0 … 2 %", "response.max  +1,250 %  ×13 … ×14"];
        assert_eq!(narrowed(&table, 40)[1..], short);
        assert_eq!(narrowed(&table, 32)[2], "max     +1,250 %  ×13 … ×14");
        assert_eq!(
            narrowed(&table, 26),
            ["metric          change", "response.p99      +1 %", "response.max  +1,250 %"]
        );
        assert_eq!(narrowed(&table, 21)[2], "max     +1,250 %");
    }

    #[test]
    fn first_column_is_truncated_as_a_last_resort() {
        let mut table = Table::new([("server", Align::Left), ("completed", Align::Right)]);
        table.row(cells(["db-1.example.net:5432", "1,000"]));
        assert_eq!(narrowed(&table, 30)[1], "db-1.example.net:5…      1,000");
        assert_eq!(narrowed(&table, 32)[1], "db-1.example.net:5432      1,000");
    }

    #[test]
    fn texts_are_cut_one_after_another_until_the_table_fits() {
        let titles = ["metric", "arm", ""].map(|title| (title, Align::Left));
        let mut table = Table::new(titles);
        table.row(cells(["throughput(read)", "a long name of an arm", "worse"]));
        assert_eq!(narrowed(&table, 40)[1], "throughput(…  a long name of an…  worse");
        assert_eq!(narrowed(&table, 33)[1], "throughput(…  a long name…  worse");
        assert_eq!(narrowed(&table, 27)[1], "through…  a long na…  worse");
        assert_eq!(narrowed(&table, 25)[1], "through…  a long…  worse");
    }

    #[test]
    fn columns_stay_aligned_with_long_and_wide_names() {
        let titles = [("job", Align::Left), ("count", Align::Right), ("p99", Align::Right)];
        let mut table = Table::new(titles);
        let names =
            ["read", "a-job-of-25-characters-xx", "a-job-with-a-name-of-forty-characters-xx"];
        for name in names.into_iter().chain(["日本語の仕事"]) {
            table.row(cells([name, "1,000", "9.00 ms"]));
        }
        for (grid, room) in
            [(Grid::uncut(&table), 200), (Grid::of(&table), 100), (Grid::of(&table), 40)]
        {
            let lines = grid.narrowed(room).lay_out(room);
            let widths: Vec<usize> = lines.iter().map(|(_, line)| columns(line)).collect();
            assert!(widths.iter().all(|width| *width == widths[0] && width <= &room), "{lines:?}");
            assert!(lines[1..].iter().all(|(_, line)| line.ends_with("  1,000  9.00 ms")));
        }
    }

    #[test]
    fn names_of_records_in_titles_cannot_act_on_the_terminal() {
        let table = Table::new([("s\u{1b}[2J", Align::Right)]);
        let (_, line) = Grid::uncut(&table).lay_out(100).remove(0);
        assert_eq!(line, "s\u{fffd}[2J");
    }

    #[test]
    fn long_text_leaves_room_for_other_columns() {
        let mut table = Table::new([("job", Align::Left), ("text", Align::Left)]);
        table.row(cells([&"x".repeat(500), "a\tb"]));
        let (_, line) = Grid::of(&table).lay_out(100).remove(1);
        assert_eq!(line, format!("{}…  a b", "x".repeat(27)));
    }
}
