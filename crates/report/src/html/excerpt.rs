//! The sections of excerpts: statements with examples, and the loaded tables.

use super::document::{Caption, Document, Section};
use crate::page::{Align, ExcerptSection, ExcerptTable, Remark, Table};

const STATEMENTS: Section = Section { id: "statements", title: "Statements" };
const DATA: Section = Section { id: "data", title: "Data" };

/// Returns the sections that are not empty. Records of earlier versions have no excerpts.
pub(crate) fn sections_of_excerpts(
    excerpts: &ExcerptSection,
) -> impl Iterator<Item = Section> + use<> {
    let parts = parts(excerpts).map(|(section, tables)| (section, tables.is_empty()));
    parts.into_iter().filter(|(_, is_empty)| !is_empty).map(|(section, _)| section)
}

/// Writes the sections that [`sections_of_excerpts`] returns.
pub(crate) fn excerpt_sections(out: &mut Document, excerpts: &ExcerptSection) {
    for (section, tables) in parts(excerpts).into_iter().filter(|(_, it)| !it.is_empty()) {
        out.section(section.id, |out| {
            tables.iter().for_each(|table| excerpt(out, table));
            if let Some(note) = excerpts.note.filter(|_| section == STATEMENTS) {
                out.remarks([&Remark::note(note)]);
            }
        });
    }
}

fn parts(excerpts: &ExcerptSection) -> [(Section, &[ExcerptTable]); 2] {
    [(STATEMENTS, &excerpts.statements), (DATA, &excerpts.data)]
}

fn excerpt(out: &mut Document, table: &ExcerptTable) {
    let titles = table.titles.iter().map(|title| (title.as_str(), Align::Left));
    let titles: Vec<(&str, Align)> = titles.collect();
    match table.rows.is_empty() {
        true => out.paragraph(&table.heading()),
        false => {
            let caption = Caption { name: &table.name, remark: table.remark.as_deref() };
            out.table_with(caption, &Table::of_texts(&titles, &table.rows));
        }
    }
}
