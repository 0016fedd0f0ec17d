//! Results of statements that are not measured, held as text.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The result of a statement as text; `None` is NULL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, with one value per column.
    pub rows: Vec<Vec<Option<String>>>,
    /// True if rows or columns are missing because the answer was too long, or because all short
    /// tables together took too much memory.
    pub is_cut: bool,
}

impl Table {
    /// Maximum memory of a table, in bytes. The server decides how long its answers are, and must
    /// not decide how much memory they take.
    pub const LIMIT: usize = 16 << 20;

    /// Returns the value in the first column of the first row; `None` if it is NULL or missing.
    pub fn single(&self) -> Option<&str> {
        self.rows.first()?.first()?.as_deref()
    }
}

/// The number of bytes taken by the short tables that the sessions of a driver read at the same
/// time. Clones share this number.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShortTables(Arc<AtomicUsize>);

impl ShortTables {
    /// Maximum memory of all tables together, in bytes.
    const LIMIT: usize = 4 << 20;

    /// Maximum memory of one table, in bytes.
    const TABLE_LIMIT: usize = 1 << 20;

    /// Amount of memory that a table takes at a time, in bytes.
    const STEP: usize = 1 << 10;

    /// Takes [`STEP`](ShortTables::STEP) bytes; returns false if fewer are free.
    fn take(&self) -> bool {
        let add =
            |taken: usize| Some(taken + ShortTables::STEP).filter(|sum| *sum <= ShortTables::LIMIT);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }
}

/// Memory of a value in addition to its text, in bytes, including the allocator's overhead.
const VALUE: usize = 48;

/// A table that is being read.
#[derive(Debug, Default)]
pub(crate) struct TableReader {
    table: Table,
    /// Memory of the columns and rows so far, in bytes.
    weight: usize,
    /// The shared memory of short tables; `None` for a table that may be long.
    short: Option<ShortTables>,
    /// Bytes taken from that memory.
    taken: usize,
}

impl TableReader {
    /// Creates a reader of a table that is expected to be short. Every session of a run may read
    /// such a table, so this one is also cut if all of them together take too much memory.
    pub(crate) fn short(memory: &ShortTables) -> TableReader {
        TableReader::empty(Some(memory.clone()))
    }

    /// Discards the rows that were read so far, because another result begins: only the last result
    /// of a text with several statements is kept.
    pub(crate) fn clear(&mut self) {
        *self = TableReader::empty(self.short.clone());
    }

    fn empty(short: Option<ShortTables>) -> TableReader {
        TableReader { table: Table::default(), weight: 0, short, taken: 0 }
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

    /// Returns true if the table has room for an incomplete row, of which `length` bytes have been
    /// received so far; otherwise marks the table as cut. May be called several times for a row.
    pub(crate) fn can_hold(&mut self, length: usize) -> bool {
        if !self.table.is_cut {
            self.table.is_cut = !self.has_memory(self.weight.saturating_add(length));
        }
        !self.table.is_cut
    }

    /// Marks the table as cut because of a row longer than the limit of one row.
    pub(crate) fn mark_cut(&mut self) {
        self.table.is_cut = true;
    }

    /// Returns the table that was read.
    pub(crate) fn into_table(mut self) -> Table {
        std::mem::take(&mut self.table)
    }

    /// Adds a value of `length` bytes to the memory of the table. Returns true if there is room for
    /// it; otherwise marks the table as cut.
    fn reserve(&mut self, length: usize) -> bool {
        if !self.table.is_cut {
            self.weight = self.weight.saturating_add(length).saturating_add(VALUE);
            self.table.is_cut = !self.has_memory(self.weight);
        }
        !self.table.is_cut
    }

    /// Takes memory until the table has `weight` bytes; returns false if there is too little.
    fn has_memory(&mut self, weight: usize) -> bool {
        let Some(short) = &self.short else { return weight <= Table::LIMIT };
        while weight <= ShortTables::TABLE_LIMIT && self.taken < weight {
            if !short.take() {
                return false;
            }
            self.taken += ShortTables::STEP;
        }
        weight <= self.taken
    }
}

impl Drop for TableReader {
    fn drop(&mut self) {
        if let Some(short) = &self.short {
            short.0.fetch_sub(self.taken, Ordering::Relaxed);
        }
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
    fn short_tables_of_many_sessions_share_one_limit() {
        let memory = ShortTables::default();
        let mut readers: Vec<TableReader> =
            (0..1_000).map(|_| TableReader::short(&memory)).collect();
        for reader in &mut readers {
            for _ in 0..100 {
                push(reader, &[Some(&[b'x'; 1_000])]);
            }
        }
        let held: usize = readers.iter().map(|it| it.table.rows.len() * 1_000).sum();
        let expected = ShortTables::LIMIT / 2..=ShortTables::LIMIT;
        assert!(expected.contains(&held), "{held} bytes");
        assert!(!readers[0].table.is_cut && readers[999].table.is_cut);
        readers.iter_mut().for_each(TableReader::clear);
        assert_eq!(memory.0.load(Ordering::Relaxed), 0);
        let long = vec![b'x'; ShortTables::TABLE_LIMIT];
        push(&mut readers[0], &[Some(&long)]);
        push(&mut readers[1], &[Some(&long[VALUE * 2..])]);
        assert!(readers[0].table.is_cut && !readers[1].table.is_cut);
        drop(readers);
        assert_eq!(memory.0.load(Ordering::Relaxed), 0);
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
