//! `csv(FILE, column)`: values from a CSV file.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use base::Values;

use crate::feed::format::Format;
use crate::feed::reader::{Fault, ReadResult, Reader};
use crate::feed::records::Records;
use crate::folder::{Folder, unreadable};
use crate::read::LARGEST_FILE;
use crate::value::Datum;
use crate::wording::quoted;

/// A column of a file.
#[derive(Clone, PartialEq)]
pub(crate) struct Csv {
    pub(crate) file: String,
    pub(crate) column: Column,
    pub(crate) texts: Arc<Texts>,
}

impl fmt::Debug for Csv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Csv({:?}, {:?}, {} rows)", self.file, self.column, self.rows())
    }
}

/// A reference to a column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// The column with this number, from 1.
    Number(i64),
    /// The column with this name in the first line.
    Name(String),
}

/// The concatenated fields of one column, including the field of the first line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Texts {
    all: String,
    /// End of each field, in bytes.
    ends: Vec<u32>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.all.push_str(text);
        // A file has at most 64 MiB.
        self.ends.push(self.all.len() as u32);
    }

    /// Returns a field, counted from 0.
    pub(crate) fn get(&self, place: usize) -> &str {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start as usize..self.ends[place] as usize]
    }
}

impl Csv {
    /// Returns the file and the column.
    pub(crate) fn arguments(&self) -> (&str, &Column) {
        (&self.file, &self.column)
    }

    /// Returns the length of the longest field, in bytes.
    pub(crate) fn longest(&self) -> u64 {
        let lengths = (0..self.texts.ends.len()).map(|place| self.texts.get(place).len() as u64);
        lengths.max().unwrap_or(0)
    }

    /// Returns the number of header lines.
    fn header(&self) -> usize {
        match self.column {
            Column::Number(_) => 0,
            Column::Name(_) => 1,
        }
    }

    /// Returns the number of values.
    pub(crate) fn rows(&self) -> u64 {
        self.texts.ends.len().saturating_sub(self.header()) as u64
    }

    /// Returns the field for the request or row with this number; NULL if the file was not read.
    pub(crate) fn value(&self, number: u64, out: &mut Values) -> Datum {
        match number.checked_rem(self.rows()) {
            Some(row) => {
                let text = self.texts.get(row as usize + self.header());
                Datum::Text(out.text(|out| out.push_str(text)))
            }
            None => Datum::Null,
        }
    }
}

/// The CSV files of a workload. Each valid file is read at most once.
pub(crate) struct Tables<'f> {
    pub(crate) folder: &'f dyn Folder,
    read: RefCell<BTreeMap<String, Rc<Table>>>,
}

impl fmt::Debug for Tables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.read.borrow().keys()).finish()
    }
}

/// The columns of a file.
pub(crate) type Table = Vec<Arc<Texts>>;

impl<'f> Tables<'f> {
    /// Creates the tables of a folder, without reading any.
    pub(crate) fn new(folder: &'f dyn Folder) -> Tables<'f> {
        Tables { folder, read: RefCell::new(BTreeMap::new()) }
    }

    /// Returns the columns of a file.
    ///
    /// # Errors
    /// Returns a message and its help text.
    pub(crate) fn table(&self, name: &str) -> Result<Rc<Table>, (String, String)> {
        if let Some(table) = self.read.borrow().get(name) {
            return Ok(Rc::clone(table));
        }
        let bytes = self
            .folder
            .read(name, LARGEST_FILE as u64)
            .map_err(|error| unreadable(name, LARGEST_FILE, &error))?;
        let table = Rc::new(parse(&bytes).map_err(|fault| {
            let help = "a file of values is CSV (RFC 4180) in UTF-8, each line with as many fields";
            (format!("in {}: {fault}", quoted(name)), help.to_owned())
        })?);
        self.read.borrow_mut().insert(name.to_owned(), Rc::clone(&table));
        Ok(table)
    }
}

fn parse(bytes: &[u8]) -> Result<Table, Fault> {
    let mut reader = Reader::new(bytes, Format::Csv { delimiter: b',' }, 1);
    let mut columns: Vec<Texts> = Vec::new();
    let mut block = [Records::default()];
    loop {
        block[0].reset(1);
        let more = reader.fill(&mut block, |_| 0, |_| false)?;
        let records = (0..block[0].len()).filter_map(|place| block[0].group(place).record(0));
        for record in records {
            columns.resize_with(record.len(), Texts::default);
            for (place, column) in columns.iter_mut().enumerate() {
                column.push(record.field(place).unwrap_or_default());
            }
        }
        if more == ReadResult::End {
            return Ok(columns.into_iter().map(Arc::new).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::call::golden::values;

    #[test]
    fn every_row_comes_equally_often() {
        let drawn = values("csv('streets.csv', 'zip')", 3_000);
        for zip in ["01234", "04321", "00815"] {
            assert_eq!(drawn.iter().filter(|drawn| *drawn == zip).count(), 1_000);
        }
    }

    #[test]
    fn a_file_is_read_once() {
        struct Once(RefCell<u32>);
        impl Folder for Once {
            fn read(&self, _: &str, _: u64) -> std::io::Result<Vec<u8>> {
                *self.0.borrow_mut() += 1;
                Ok(b"a,b\n1,2\n".to_vec())
            }
        }
        let folder = Once(RefCell::new(0));
        let text = "[a]\nquery = select ${csv('f', 1)}, ${csv('f', 'b')}\n\
                    [load t]\nrows = 1\ncolumns = a: csv('f', 2), b: csv('f', 1)\n";
        let (plan, found) = crate::plan_in(text, &crate::Overrides::default(), &folder);
        assert!(plan.is_some(), "{found:?}");
        assert_eq!(*folder.0.borrow(), 1);
    }

    #[test]
    fn large_files_are_taken_block_by_block() {
        let lines: Vec<String> = (0..50_000).map(|row| format!("{row},x{row}")).collect();
        let table = parse(lines.join("\r\n").as_bytes()).unwrap();
        assert_eq!(table.len(), 2);
        assert_eq!(table[1].ends.len(), 50_000);
        assert_eq!((table[0].get(0), table[1].get(49_999)), ("0", "x49999"));
    }
}
