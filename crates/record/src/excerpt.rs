//! Excerpts: small tables of text in a record. They are shown to readers; nothing is computed from
//! them.

/// Maximum number of characters in a title or value of an excerpt of columns, rows or results. A
/// longer text is cut, and `…` is appended.
const LONGEST_VALUE: usize = 80;

/// Maximum number of characters in a title or value of any other excerpt: of statements, indexes or
/// reasons.
const LONGEST_STATEMENT: usize = 400;

/// Maximum number of rows in an excerpt, except in [`ExcerptKind::Results`].
pub const MOST_EXCERPT_ROWS: usize = 100;

/// Maximum number of rows in [`ExcerptKind::Results`]. Each returned value and each remark takes
/// one row.
const MOST_RESULT_LINES: usize = 500;

/// Maximum number of columns in an excerpt.
const MOST_COLUMNS: usize = 50;

/// A small table of text about a job or a loaded table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Name of the job, of the part of a mix, or of the table that the excerpt describes.
    pub subject: String,
    /// Kind of the table's content.
    pub kind: ExcerptKind,
    /// Titles of the columns.
    pub titles: Vec<String>,
    /// The rows, each with one value per column; `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

/// The kind of an excerpt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExcerptKind {
    /// The columns of a table.
    Columns,
    /// The indexes of a table.
    Indexes,
    /// The first rows of a table.
    Rows,
    /// The reason why a table is not shown, or not completely, as a single value.
    Unreadable,
    /// An example of each statement of a job, with literals in place of placeholders.
    Examples,
    /// The values that the examples of a job returned, and remarks, such as the reason why an
    /// example was not executed. The columns are: the number of the statement, the row, the column,
    /// and the value or remark.
    Results,
}

impl ExcerptKind {
    /// All kinds.
    pub const ALL: [ExcerptKind; 6] = [
        ExcerptKind::Columns,
        ExcerptKind::Indexes,
        ExcerptKind::Rows,
        ExcerptKind::Unreadable,
        ExcerptKind::Examples,
        ExcerptKind::Results,
    ];

    /// Returns the name of this kind in records.
    pub fn name(self) -> &'static str {
        match self {
            ExcerptKind::Columns => "columns",
            ExcerptKind::Indexes => "indexes",
            ExcerptKind::Rows => "rows",
            ExcerptKind::Unreadable => "unreadable",
            ExcerptKind::Examples => "examples",
            ExcerptKind::Results => "results",
        }
    }

    /// Returns the kind with this name; `None` for an unknown name.
    pub fn from_name(name: &str) -> Option<ExcerptKind> {
        ExcerptKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    fn longest_value(self) -> usize {
        match self {
            ExcerptKind::Columns | ExcerptKind::Rows | ExcerptKind::Results => LONGEST_VALUE,
            ExcerptKind::Indexes | ExcerptKind::Unreadable | ExcerptKind::Examples => {
                LONGEST_STATEMENT
            }
        }
    }

    fn most_rows(self) -> usize {
        match self {
            ExcerptKind::Results => MOST_RESULT_LINES,
            ExcerptKind::Columns
            | ExcerptKind::Indexes
            | ExcerptKind::Rows
            | ExcerptKind::Unreadable
            | ExcerptKind::Examples => MOST_EXCERPT_ROWS,
        }
    }
}

impl Excerpt {
    /// Returns the excerpt as a record may hold it: without the secrets that `hide` removes from a
    /// text, and with titles, values and the numbers of rows and columns cut to their limits.
    pub fn limit(self, hide: impl Fn(&str) -> String) -> Excerpt {
        let Excerpt { subject, kind, titles, rows } = self;
        // Secrets are removed before a text is cut. Otherwise the beginning of a secret could
        // remain at the end of the text.
        let short = |text: String| truncate(hide(&text), kind.longest_value());
        let row = |row: Vec<Option<String>>| {
            let values = row.into_iter().take(MOST_COLUMNS);
            values.map(|value| value.map(short)).collect()
        };
        Excerpt {
            subject: hide(&subject),
            kind,
            titles: titles.into_iter().take(MOST_COLUMNS).map(short).collect(),
            rows: rows.into_iter().take(kind.most_rows()).map(row).collect(),
        }
    }
}

fn truncate(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_removed_before_texts_are_cut() {
        let excerpt = Excerpt {
            subject: "t".to_owned(),
            kind: ExcerptKind::Rows,
            titles: vec!["a".to_owned()],
            rows: vec![
                vec![Some(format!("{}hunter2", "é".repeat(76)))],
                vec![Some("x".repeat(10 << 20)), None],
            ],
        };
        let shown = excerpt.limit(|text| text.replace("hunter2", "*"));
        assert_eq!(shown.rows[0], [Some(format!("{}*", "é".repeat(76)))]);
        assert_eq!(shown.rows[1], [Some(format!("{}…", "x".repeat(80))), None]);
        let long = Excerpt { rows: vec![vec![None; 1_000]; 1_000], ..shown };
        let cut = long.limit(str::to_owned);
        assert_eq!((cut.rows.len(), cut.rows[0].len()), (MOST_EXCERPT_ROWS, MOST_COLUMNS));
        let results = Excerpt { kind: ExcerptKind::Results, rows: vec![vec![None]; 1_000], ..cut };
        assert_eq!(results.limit(str::to_owned).rows.len(), MOST_RESULT_LINES);
    }

    #[test]
    fn words_of_records_do_not_change() {
        let words = ExcerptKind::ALL.map(ExcerptKind::name);
        assert_eq!(words, ["columns", "indexes", "rows", "unreadable", "examples", "results"]);
        assert!(
            ExcerptKind::ALL
                .map(|kind| ExcerptKind::from_name(kind.name()))
                .iter()
                .all(Option::is_some)
        );
    }
}
