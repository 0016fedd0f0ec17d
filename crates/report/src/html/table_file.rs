//! The table of a page as a CSV file for programs: a value in each cell, and its unit in the title.

use std::iter::once;

use super::file::csv_of_page;
use crate::number::NONE;
use crate::page::{Cell, Datum, Table};

/// Title of the first column, if the table has none for it.
const FIRST_TITLE: &str = "name";

/// Title of the column for notes that are shown in place of values.
const NOTE_TITLE: &str = "note";

/// A column of the file.
struct Column {
    title: String,
    /// The cells of all rows.
    cells: Vec<String>,
}

/// Formats a table as CSV with plain numbers. A cell with several values has a column for each.
pub(crate) fn table_csv(table: &Table) -> String {
    let mut columns: Vec<Column> =
        (0..table.columns.len()).flat_map(|place| columns_of(table, place)).collect();
    let notes = table.rows.iter().map(|row| row.note.filter(|note| *note != NONE));
    let notes: Vec<String> = notes.map(|note| note.unwrap_or_default().to_owned()).collect();
    if notes.iter().any(|note| !note.is_empty()) {
        columns.push(Column { title: NOTE_TITLE.to_owned(), cells: notes });
    }
    let titles: Vec<&str> = columns.iter().map(|column| column.title.as_str()).collect();
    let row = |row: usize| columns.iter().map(|column| column.cells[row].clone()).collect();
    let rows: Vec<Vec<String>> = (0..table.rows.len()).map(row).collect();
    csv_of_page(&titles, &rows)
}

/// Returns the columns of the file for one column of the table: one for each name of a value in its
/// cells. If the values with a name differ in their units, a column of the units follows.
fn columns_of(table: &Table, place: usize) -> Vec<Column> {
    let data = table.rows.iter().map(|row| row.cells.get(place).map(Cell::data));
    let data = data.map(Option::unwrap_or_default);
    let data: Vec<Vec<Datum>> = once(table.columns[place].values.clone()).chain(data).collect();
    let names = distinct(data.iter().flatten().map(|datum| datum.name.as_ref()));
    // A column without values stays.
    let names = if names.is_empty() { vec![""] } else { names };
    let title = title(table, place);
    names.into_iter().flat_map(|name| columns_of_name(&title, name, &data)).collect()
}

/// Returns the column of the values named `name` and, if their units differ, a column of the units.
/// The first item of `data` belongs to the title of the column, and each of the others to a row.
fn columns_of_name(title: &str, name: &str, data: &[Vec<Datum>]) -> Vec<Column> {
    let of_name = || data.iter().map(|cell| cell.iter().find(|datum| datum.name == name));
    let title = [title, name].join(" ").trim().to_owned();
    let rows = || of_name().skip(1);
    let cells = rows().map(|datum| datum.map(Datum::plain).unwrap_or_default()).collect();
    let units = distinct(of_name().flatten().filter_map(Datum::unit));
    let (title, units) = match units.as_slice() {
        [] | [""] => (title, None),
        [unit] if names_unit(&title, unit) => (title, None),
        [unit] => (format!("{title} ({unit})"), None),
        [..] => {
            let unit = |datum: Option<&Datum>| datum.and_then(Datum::unit).unwrap_or_default();
            let cells = rows().map(|datum| unit(datum).to_owned()).collect();
            let of_units = Column { title: format!("{title} unit"), cells };
            (title, Some(of_units))
        }
    };
    [Column { title, cells }].into_iter().chain(units).collect()
}

/// Returns true if the title of a column already names the unit: `rows/s`, `bytes`.
fn names_unit(title: &str, unit: &str) -> bool {
    title == unit || (unit == "1/s" && title.ends_with("/s"))
}

/// Returns the title of a column. A repeated title begins with the nearest different one on its
/// left: `p99 95 %`.
fn title(table: &Table, place: usize) -> String {
    let title = |place: usize| table.columns[place].title.as_ref();
    let own = title(place);
    if own.is_empty() && place == 0 {
        return FIRST_TITLE.to_owned();
    }
    let is_unique = table.columns.iter().filter(|column| column.title == own).count() == 1;
    let before = (0..place).rev().map(title).find(|other| *other != own);
    match before.filter(|_| !is_unique) {
        Some(before) => format!("{before} {own}"),
        None => own.to_owned(),
    }
}

/// Returns the distinct texts in the order of their first occurrence.
fn distinct<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut distinct = Vec::new();
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Align, Quantity};

    fn table<const N: usize>(titles: [&'static str; N], rows: Vec<[Cell; N]>) -> Table {
        let mut table = Table::new(titles.map(|title| (title, Align::Right)));
        rows.into_iter().for_each(|row| table.row(row));
        table
    }

    #[test]
    fn numbers_are_plain_and_their_unit_is_in_the_title() {
        let row = |name: &str, count, ns, per_s| {
            [
                Cell::from(name),
                Quantity::Count(count).into(),
                Cell::from(ns),
                Quantity::Rate(per_s).into(),
                Quantity::Bytes(1_234_567).into(),
            ]
        };
        let time = |ns| Some(Quantity::Time(ns));
        let table = table(
            ["", "count", "p99", "rows/s", "bytes"],
            vec![
                row("  95 % from", 1_234, time(5_234_567.0), 1_000.25),
                row("=a, b", 1, None, 7.0),
            ],
        );
        assert_eq!(table.rows[0].cells[2].to_string(), "5.23 ms");
        assert_eq!(
            table_csv(&table),
            "name,count,p99 (ms),rows/s,bytes\r\n\
             95 % from,1234,5.234567,1000.25,1234567\r\n\
             \"'=a, b\",1,,7,1234567\r\n"
        );
    }

    #[test]
    fn cell_with_several_values_has_a_column_for_each() {
        let interval = |mark| Cell::Interval {
            low: Quantity::Rate(98.1),
            high: Quantity::Rate(1_024.0),
            mark,
        };
        let part = Cell::Part { part: 1_000, of: 2_000 };
        let titles = ["rows", "completed", "95 %", "p99", "95 %"];
        let rows = vec![
            [part, Quantity::Rate(99.0).into(), interval("*"), Cell::Missing, Cell::Missing],
            [Quantity::Count(5).into(), Cell::Missing, interval(""), Cell::Missing, Cell::Empty],
        ];
        assert_eq!(
            table_csv(&table(titles, rows)),
            "rows,rows planned,completed (1/s),completed 95 % from (1/s),completed 95 % to (1/s),\
             completed 95 % mark,p99,p99 95 %\r\n\
             1000,2000,99,98.1,1024,*,,\r\n\
             5,,,98.1,1024,,,\r\n"
        );
    }

    #[test]
    fn file_columns_are_the_same_for_all_values() {
        let times = |cells| {
            let interval =
                Cell::Interval { low: Quantity::Time(0.0), high: Quantity::Time(0.0), mark: "" };
            let table = table(["phase", "p99", "95 %"], vec![cells]);
            table_csv(&table.with_values_of([Cell::Empty, Quantity::Time(0.0).into(), interval]))
        };
        let (low, high) = (Quantity::Time(1e6), Quantity::Time(2e6));
        let known = Cell::Interval { low, high, mark: "*" };
        let head = "phase,p99 (ms),95 % from (ms),95 % to (ms),95 % mark\r\n";
        let whole = times([Cell::from("during"), Quantity::Time(1.5e6).into(), known]);
        assert_eq!(whole, format!("{head}during,1.5,1,2,*\r\n"));
        let missing = times([Cell::from("during"), Cell::Missing, Cell::Missing]);
        assert_eq!(missing, format!("{head}during,,,,\r\n"));
    }

    #[test]
    fn note_in_place_of_numbers_has_a_column_of_its_own() {
        let mut table = table(["count", "p99"], vec![[Cell::Empty, Quantity::Time(1e6).into()]]);
        table.row_with_note([Cell::from(Quantity::Count(0))], NONE);
        assert_eq!(table_csv(&table), "count,p99 (ms)\r\n,1\r\n0,\r\n");
        table.row_with_note([Cell::from(Quantity::Count(3))], "withheld");
        let expected = "count,p99 (ms),note\r\n,1,\r\n0,,\r\n3,,withheld\r\n";
        assert_eq!(table_csv(&table), expected);
    }

    #[test]
    fn values_with_several_units_name_them_beside_each() {
        let value = |number, unit| Cell::from("1,234").with_data([Datum::number("", number, unit)]);
        let rows = vec![
            [Cell::from("throughput(read)"), value(1_234.5, "requests/s")],
            [Cell::from("response.p99(read)"), value(1.25, "ms")],
            [Cell::from("size(t)"), Cell::from("–").with_data([])],
        ];
        assert_eq!(
            table_csv(&table(["metric", "plain"], rows)),
            "metric,plain,plain unit\r\nthroughput(read),1234.5,requests/s\r\n\
             response.p99(read),1.25,ms\r\nsize(t),,\r\n"
        );
    }
}
