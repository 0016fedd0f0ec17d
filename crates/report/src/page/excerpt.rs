//! The statements of the jobs with examples, and the loaded tables with their first rows.

use std::collections::BTreeMap;

use record::{Excerpt, ExcerptKind};

use super::remark::Line;

/// A table of texts below a caption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcerptTable {
    /// Name of the table.
    pub name: String,
    /// Remark that follows the name in the caption; `None` if the caption is the name alone.
    pub remark: Option<String>,
    /// Kind of the excerpt.
    pub kind: ExcerptKind,
    /// Titles of the columns.
    pub titles: Vec<String>,
    /// The rows, each with a text for every column.
    pub rows: Vec<Vec<String>>,
}

/// The excerpts of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExcerptSection {
    /// Statements with examples: a table for each job.
    pub statements: Vec<ExcerptTable>,
    /// Columns, indexes and first rows of each loaded table, or the reason why they are unknown.
    pub data: Vec<ExcerptTable>,
    /// Note on statements without results.
    pub note: Option<&'static str>,
}

/// Note on statements whose results were not recorded.
const NO_RESULTS: &str = "The record has no results of these statements.";

/// Text for a value that is NULL.
const NULL: &str = "NULL";

impl ExcerptSection {
    /// Returns the excerpts of a record; `remarks` are words for the captions of examples, by job.
    pub(crate) fn of(excerpts: &[Excerpt], remarks: &BTreeMap<&str, String>) -> ExcerptSection {
        let mut section = ExcerptSection::default();
        for excerpt in excerpts {
            let table = ExcerptTable::of(excerpt, remarks);
            match excerpt.kind {
                ExcerptKind::Examples => {
                    let is_result = |it: &&Excerpt| {
                        it.kind == ExcerptKind::Results && it.subject == excerpt.subject
                    };
                    let results = excerpts.iter().find(is_result);
                    section.statements.push(table.with_results(results));
                }
                // Results are shown next to their examples.
                ExcerptKind::Results => {}
                ExcerptKind::Columns
                | ExcerptKind::Indexes
                | ExcerptKind::Rows
                | ExcerptKind::Unreadable => section.data.push(table),
            }
        }
        let has_results = excerpts.iter().any(|it| it.kind == ExcerptKind::Results);
        section.note = (!section.statements.is_empty() && !has_results).then_some(NO_RESULTS);
        section.data.retain(|table| table.kind == ExcerptKind::Rows || !table.rows.is_empty());
        section
    }

    /// Returns all tables.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &ExcerptTable> {
        self.statements.iter().chain(&self.data)
    }
}

impl ExcerptTable {
    fn of(excerpt: &Excerpt, remarks: &BTreeMap<&str, String>) -> ExcerptTable {
        let Excerpt { subject, kind, titles, rows } = excerpt;
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| NULL.to_owned());
        let row = |row: &Vec<Option<String>>| {
            let mut cells: Vec<String> = row.iter().map(value).collect();
            cells.resize(titles.len(), String::new());
            cells
        };
        let name = match kind {
            ExcerptKind::Columns => format!("Columns of {subject}"),
            ExcerptKind::Indexes => format!("Indexes of {subject}"),
            ExcerptKind::Rows => format!("First rows of {subject}"),
            ExcerptKind::Unreadable => format!("{subject} could not be read"),
            ExcerptKind::Results => format!("Results of {subject}"),
            ExcerptKind::Examples => format!("Examples of {subject}"),
        };
        let remark = remarks.get(subject.as_str()).filter(|_| *kind == ExcerptKind::Examples);
        let (remark, titles) = (remark.cloned(), titles.clone());
        ExcerptTable { name, remark, kind: *kind, titles, rows: rows.iter().map(row).collect() }
    }

    /// Returns the examples with a column for their results, if there are any.
    fn with_results(mut self, results: Option<&Excerpt>) -> ExcerptTable {
        let Some(results) = results else { return self };
        self.titles.push("result".to_owned());
        for (number, row) in (1_usize..).zip(&mut self.rows) {
            row.push(result(results, &number.to_string()));
        }
        self
    }

    /// Returns the name and the remark, followed by `none` if there are no rows.
    pub(crate) fn heading(&self) -> String {
        let remark = self.remark.as_deref();
        let none = self.rows.is_empty().then_some("none");
        let parts = [Some(self.name.as_str()), remark, none].into_iter().flatten();
        parts.collect::<Vec<_>>().join(": ")
    }

    /// Returns the rows as lines. Examples, indexes and unreadable tables have a line for each cell
    /// that is not empty; all others have a line for each row.
    pub(crate) fn lines(&self) -> Vec<Line> {
        self.rows.iter().flat_map(|row| self.lines_of_row(row)).collect()
    }

    fn lines_of_row(&self, row: &[String]) -> Vec<Line> {
        let cells = self.titles.iter().zip(row);
        match self.kind {
            ExcerptKind::Examples | ExcerptKind::Indexes | ExcerptKind::Unreadable => {
                let cells = cells.filter(|(_, cell)| !cell.is_empty());
                cells.map(|(title, cell)| Line::new(title.as_str(), cell.as_str())).collect()
            }
            ExcerptKind::Columns => {
                let Some((name, rest)) = row.split_first() else { return Vec::new() };
                let rest: Vec<&str> =
                    rest.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
                vec![Line::new(name.as_str(), rest.join(" "))]
            }
            ExcerptKind::Rows | ExcerptKind::Results => {
                let values: Vec<String> =
                    cells.map(|(title, cell)| format!("{title} = {cell}")).collect();
                vec![Line::new("row", values.join(", "))]
            }
        }
    }
}

/// Returns the result of a statement in words: `id = 5, name = a; id = 6, name = b; 2 of 9 rows`.
fn result(results: &Excerpt, number: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut latest = None;
    for line in &results.rows {
        let [Some(of), row, column, value] = line.as_slice() else { continue };
        if of != number {
            continue;
        }
        let value = value.as_deref().unwrap_or(NULL);
        let text = match column {
            Some(column) => format!("{column} = {value}"),
            None => value.to_owned(),
        };
        match parts.last_mut() {
            Some(part) if row.is_some() && latest == Some(row) => {
                part.push_str(", ");
                part.push_str(&text);
            }
            _ => parts.push(text),
        }
        latest = Some(row);
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(kind: ExcerptKind, rows: &[&[Option<&str>]]) -> Excerpt {
        let row = |row: &&[Option<&str>]| row.iter().map(|it| it.map(str::to_owned)).collect();
        Excerpt {
            subject: "t".to_owned(),
            kind,
            titles: vec!["a".to_owned(), "b".to_owned()],
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn excerpts_become_tables_of_statements_and_of_data() {
        let answers = BTreeMap::from([("t", "1 row".to_owned())]);
        let section = ExcerptSection::of(
            &[
                excerpt(ExcerptKind::Examples, &[&[Some("select ?"), Some("select 1")]]),
                excerpt(ExcerptKind::Indexes, &[]),
                excerpt(ExcerptKind::Rows, &[&[Some("x"), None], &[Some("short")]]),
            ],
            &answers,
        );
        assert_eq!(section.statements[0].heading(), "Examples of t: 1 row");
        let rows: Vec<&ExcerptTable> = section.data.iter().collect();
        assert_eq!(rows.len(), 1, "a table without indexes has no list of them");
        assert_eq!(rows[0].name, "First rows of t");
        assert_eq!(rows[0].rows, [["x", "NULL"], ["short", ""]]);
        assert_eq!(rows[0].heading(), "First rows of t");
        let empty = ExcerptSection::of(&[excerpt(ExcerptKind::Rows, &[])], &answers);
        assert_eq!(empty.data[0].heading(), "First rows of t: none");
    }

    #[test]
    fn results_stand_next_to_their_examples() {
        let lines: [&[Option<&str>]; 6] = [
            &[Some("1"), Some("1"), Some("id"), Some("5")],
            &[Some("1"), Some("1"), Some("name"), None],
            &[Some("1"), Some("2"), Some("id"), Some("6")],
            &[Some("1"), None, None, Some("5 of 812 rows")],
            &[Some("2"), None, None, Some("writes")],
            &[Some("damaged")],
        ];
        let examples: [&[Option<&str>]; 3] =
            [&[Some("a"), Some("b")], &[Some("c"), Some("d")], &[Some("e"), Some("f")]];
        let all =
            [excerpt(ExcerptKind::Examples, &examples), excerpt(ExcerptKind::Results, &lines)];
        let section = ExcerptSection::of(&all, &BTreeMap::new());
        assert_eq!(section.statements.len(), 1);
        assert_eq!(section.statements[0].titles, ["a", "b", "result"]);
        let results: Vec<&str> =
            section.statements[0].rows.iter().map(|row| row[2].as_str()).collect();
        assert_eq!(results, ["id = 5, name = NULL; id = 6; 5 of 812 rows", "writes", ""]);
        let alone = ExcerptSection::of(&all[..1], &BTreeMap::new());
        assert_eq!(alone.statements[0].titles, ["a", "b"], "earlier records have no results");
        assert_eq!(ExcerptSection::of(&all[1..], &BTreeMap::new()), ExcerptSection::default());
    }
}
