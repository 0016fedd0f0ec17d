//! `csv(FILE, column)`: values from a CSV file.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use base::{Diagnostic, Values};

use super::{Arguments, Datum, Family, Given, Parameter, Rest, Spec, Stage};
use crate::expr::{Compiled, Constant, Refused, Type};
use crate::feed::{Fault, Format, More, Reader, Records};
use crate::folder::{Folder, unreadable};
use crate::read::LARGEST_FILE;
use crate::wording::{enumeration, nearest, quoted};

pub(super) static SPEC: Spec = Spec {
    name: "csv",
    parameters: &[
        Parameter::required("file", "a constant text"),
        Parameter::required("column", "a constant integer from 1, or a constant text"),
    ],
    rest: Rest::Nothing,
    stage: Stage::Anywhere,
    build,
    doc: "the column of a CSV file (RFC 4180, UTF-8, at most 64 MiB) as a text: its first row for \
          the first request or row, and again from the beginning behind its last; a column is \
          given by its number, or by its name in the first line, which then is no row",
    example: "csv('streets.csv', 'name')",
};

/// A column of a file.
#[derive(Clone, PartialEq)]
pub(crate) struct Csv {
    file: String,
    column: Column,
    texts: Arc<Texts>,
}

impl fmt::Debug for Csv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Csv({:?}, {:?}, {} rows)", self.file, self.column, self.rows())
    }
}

/// A reference to a column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// By its number, from 1.
    Number(i64),
    /// By its name in the first line.
    Name(String),
}

/// The fields of one column, concatenated, the first line's included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Texts {
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

    fn get(&self, place: usize) -> &str {
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

    fn rows(&self) -> u64 {
        self.texts.ends.len().saturating_sub(self.header()) as u64
    }

    /// Returns the field for a number; NULL if the file was not read.
    pub(super) fn value(&self, number: u64, out: &mut Values) -> Datum {
        match number.checked_rem(self.rows()) {
            Some(row) => {
                let text = self.texts.get(row as usize + self.header());
                Datum::Text(out.text(|out| out.push_str(text)))
            }
            None => Datum::Null,
        }
    }
}

/// The CSV files of a workload. Each is read at most once.
pub(crate) struct Tables<'f> {
    folder: &'f dyn Folder,
    read: RefCell<BTreeMap<String, Rc<Table>>>,
}

impl fmt::Debug for Tables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.read.borrow().keys()).finish()
    }
}

/// The columns of a file.
type Table = Vec<Arc<Texts>>;

impl<'f> Tables<'f> {
    /// Creates the tables of a folder, without reading any.
    pub(crate) fn new(folder: &'f dyn Folder) -> Tables<'f> {
        Tables { folder, read: RefCell::new(BTreeMap::new()) }
    }

    /// Returns the columns of a file.
    ///
    /// # Errors
    /// Returns a message and a help.
    fn table(&self, name: &str) -> Result<Rc<Table>, (String, String)> {
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
        if more == More::End {
            return Ok(columns.into_iter().map(Arc::new).collect());
        }
    }
}

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), Refused> {
    let (file, at) = (file(arguments)?, arguments.required(1)?);
    let column = column(arguments, at)?;
    // Without files generators are not allowed.
    let tables = arguments.scope.tables.ok_or(Refused(None))?;
    let mut csv = Csv { file, column, texts: Arc::default() };
    if tables.folder.is_unread() {
        return Ok((Family::Csv(csv), Type::Text));
    }
    let place = arguments.required(0)?.place;
    let table =
        tables.table(&csv.file).map_err(|(message, help)| place.error(message).help(help))?;
    let texts = match &csv.column {
        Column::Number(number) => numbered(&table, *number),
        Column::Name(name) => named(&table, name, &csv.file, at)?,
    };
    csv.texts = texts.ok_or_else(|| no_such_number(&table, &csv.file, at))?;
    if csv.rows() == 0 {
        return Err(place.error(format!("{} has no rows", quoted(&csv.file))).into());
    }
    Ok((Family::Csv(csv), Type::Text))
}

fn file(arguments: &Arguments<'_>) -> Result<String, Refused> {
    let given = arguments.required(0)?;
    match &given.value {
        Compiled::Constant(Constant::Text(name)) => Ok(name.clone()),
        Compiled::Constant(_) => {
            Err(given.mismatch(arguments.name(), "the name of a file in quotes").into())
        }
        Compiled::Dynamic(..) => Err(arguments.not_constant(given).into()),
    }
}

fn column(arguments: &Arguments<'_>, given: &Given<'_>) -> Result<Column, Refused> {
    match &given.value {
        Compiled::Constant(Constant::Text(name)) => Ok(Column::Name(name.clone())),
        Compiled::Constant(Constant::Int(number)) => Ok(Column::Number(*number)),
        Compiled::Constant(_) => {
            Err(given.mismatch(arguments.name(), "the number or the name of a column").into())
        }
        Compiled::Dynamic(..) => Err(arguments.not_constant(given).into()),
    }
}

fn numbered(table: &Table, number: i64) -> Option<Arc<Texts>> {
    let place = usize::try_from(number).ok()?.checked_sub(1)?;
    table.get(place).cloned()
}

/// Returns the only column with this name in the first line; `None` if the file is empty.
fn named(
    table: &Table,
    name: &str,
    file: &str,
    at: &Given<'_>,
) -> Result<Option<Arc<Texts>>, Diagnostic> {
    let mut same = table.iter().filter(|column| column.get(0) == name);
    match (same.next(), same.next()) {
        (Some(column), None) => Ok(Some(Arc::clone(column))),
        (Some(_), Some(_)) => Err(at
            .place
            .error(format!("{} has more than one column {}", quoted(file), quoted(name)))
            .help("give the number of the column: the first line is a row then")),
        (None, _) if table.is_empty() => Ok(None),
        (None, _) => {
            let error = format!("{} has no column {}", quoted(file), quoted(name));
            let names: Vec<&str> = table.iter().map(|column| column.get(0)).take(20).collect();
            let error = at.place.error(error);
            Err(match nearest(name, names.iter().copied()) {
                Some(near) => error.did_you_mean(Some(near)),
                None => error.help(format!("its columns are {}", enumeration(&names, "and"))),
            })
        }
    }
}

fn no_such_number(table: &Table, file: &str, at: &Given<'_>) -> Diagnostic {
    let (file, shown) = (quoted(file), quoted(at.place.text()));
    match table.len() {
        0 => at.place.error(format!("{file} has no rows")),
        1 => at.place.error(format!("{file} has one column, and {shown} is not its number")),
        all => at.place.error(format!("{file} has {all} columns, and {shown} is none of them")),
    }
    .help("columns are numbered from 1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::golden::{check, error, values};

    #[test]
    fn golden_values_never_change() {
        let streets = "High Street Mill Lane, East \"The\" Ring High Street Mill Lane, East \
                       \"The\" Ring High Street Mill Lane, East";
        check("csv('streets.csv', 'name')", streets);
        check("csv('streets.csv', column=2)", "zip 01234 04321 00815 zip 01234 04321 00815");
        check("csv('one.csv', 1)", "a b a b a b a b");
    }

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

    #[test]
    fn bad_arguments_are_refused() {
        error("csv('no.csv', 1)", "there is no file `no.csv`");
        error("csv('streets.csv', 3)", "`streets.csv` has 2 columns, and `3` is none of them");
        error("csv('streets.csv', 0)", "`streets.csv` has 2 columns, and `0` is none of them");
        error("csv('one.csv', -1)", "`one.csv` has one column, and `-1` is not its number");
        error("csv('streets.csv', 'nam')", "`streets.csv` has no column `nam`");
        error("csv('twice.csv', 'a')", "`twice.csv` has more than one column `a`");
        error("csv('empty.csv', 1)", "`empty.csv` has no rows");
        error("csv('empty.csv', 'a')", "`empty.csv` has no rows");
        error("csv('header.csv', 'a')", "`header.csv` has no rows");
        error(
            "csv('broken.csv', 1)",
            "in `broken.csv`: line 2: it has 1 field, and the first record has 2",
        );
        error("csv(5, 1)", "`csv` needs the name of a file in quotes, but `5` is an integer");
        error(
            "csv('one.csv', 1.5)",
            "`csv` needs the number or the name of a column, but `1.5` is a number with a point",
        );
        error(
            "csv('one.csv', row())",
            "`row()` differs from request to request, but `csv` needs a constant",
        );
        error("csv('one.csv')", "`csv` has no `column`");
    }
}
