//! Results of statements that are not measured, held as text.

/// The result of a statement as text; `None` is NULL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, with one value per column.
    pub rows: Vec<Vec<Option<String>>>,
    /// True if rows are missing because the answer was too long.
    pub is_cut: bool,
}

impl Table {
    /// Maximum memory of a table, in bytes. The server decides how long its answers are, and must
    /// not decide how much memory they take.
    pub const LIMIT: usize = 16 << 20;

    /// Returns the value in the first column of the first row.
    pub fn single(&self) -> Option<&str> {
        self.rows.first()?.first()?.as_deref()
    }
}

/// Memory of a value in addition to its text, in bytes, including the allocator's overhead.
const VALUE: usize = 48;

/// A table that is being read.
#[derive(Debug, Default)]
pub(crate) struct TableReader {
    table: Table,
    weight: usize,
}

impl TableReader {
    /// Discards the rows that were read so far, because another result begins: only the last result
    /// of a text with several statements is kept.
    pub(crate) fn clear(&mut self) {
        *self = TableReader::default();
    }

    /// Adds a column, unless the table is full.
    pub(crate) fn push_column(&mut self, name: &[u8]) {
        if self.reserve(name.len()) {
            self.table.columns.push(String::from_utf8_lossy(name).into_owned());
        }
    }

    /// Adds a row, unless the table is full.
    ///
    /// # Errors
    /// The first error among `values`.
    pub(crate) fn push_row<'v, E>(
        &mut self,
        values: impl Iterator<Item = Result<Option<&'v [u8]>, E>>,
    ) -> Result<(), E> {
        let mut row = Vec::new();
        let has_room = self.reserve(0);
        for value in values {
            let value = value?;
            if has_room && self.reserve(value.map_or(0, <[u8]>::len)) {
                row.push(value.map(|bytes| String::from_utf8_lossy(bytes).into_owned()));
            }
        }
        if !self.table.is_cut {
            self.table.rows.push(row);
        }
        Ok(())
    }

    /// Marks the table as cut because of a row longer than the limit of one row.
    pub(crate) fn mark_cut(&mut self) {
        self.table.is_cut = true;
    }

    /// Returns the table that was read.
    pub(crate) fn into_table(self) -> Table {
        self.table
    }

    /// Adds a value of `length` bytes to the memory of the table. Returns true if there is room for
    /// it; otherwise marks the table as cut.
    fn reserve(&mut self, length: usize) -> bool {
        self.weight = self.weight.saturating_add(length).saturating_add(VALUE);
        self.table.is_cut |= self.weight > Table::LIMIT;
        !self.table.is_cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(reader: &mut TableReader, values: &[Option<&[u8]>]) {
        let values = values.iter().map(|value| Ok::<_, std::convert::Infallible>(*value));
        let Ok(()) = reader.push_row(values);
    }

    #[test]
    fn table_keeps_rows_up_to_its_memory_limit() {
        for (value, fewest) in [(None, 100_000), (Some(&b""[..]), 100_000), (Some(b"four"), 90_000)]
        {
            let mut reader = TableReader::default();
            reader.push_column(b"a");
            for _ in 0..1_000_000 {
                push(&mut reader, &[value]);
            }
            let table = reader.into_table();
            assert!(table.is_cut && table.columns == ["a"]);
            assert!((fewest..Table::LIMIT / 50).contains(&table.rows.len()), "{value:?}");
        }
    }

    #[test]
    fn second_result_starts_with_an_empty_table() {
        let mut reader = TableReader::default();
        push(&mut reader, &[Some(&vec![b'x'; Table::LIMIT])]);
        assert!(reader.table.is_cut && reader.table.rows.is_empty());
        reader.clear();
        push(&mut reader, &[None, Some(b"b")]);
        let table = reader.into_table();
        assert_eq!((table.is_cut, &table.rows[..]), (false, &[vec![None, Some("b".into())]][..]));
    }
}
