//! The HTML document: landmarks, headings, sentences, tables and figures, with escaped texts.

use std::fmt::Write as _;
use std::iter::repeat;

use super::cut::cut;
use super::file::download_link;
use super::prose::prose;
use super::style::{FIGURES_SCRIPT, PageKind, STYLE, policy, referrer};
use super::table_file::table_csv;
use crate::figure::Figure;
use crate::no_break::with_no_break_spaces;
use crate::number::count;
use crate::page::{Align, Column, Line, Remark, Row, Table, Tone};
use crate::svg::{FigureContext, escaped, painted, svg};

/// Maximum number of rows of a table on the page; the file of the table has more.
const MOST_ROWS: usize = 400;

/// A writer of an HTML document.
pub(crate) struct Document {
    out: String,
    kind: PageKind,
    figures: usize,
    sections: Vec<Section>,
}

/// A section with a link to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Identifier.
    pub(crate) id: &'static str,
    /// Heading.
    pub(crate) title: &'static str,
}

/// The words of a verdict, with their colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Badge<'w> {
    /// The words.
    pub(crate) words: &'w str,
    /// Tone that decides the colour.
    pub(crate) tone: Tone,
}

/// The caption of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caption<'t> {
    /// Name of the table, and of the file with its rows.
    pub(crate) name: &'t str,
    /// Remark after the name, if there is one.
    pub(crate) remark: Option<&'t str>,
}

impl Caption<'_> {
    fn text(&self) -> String {
        match self.remark {
            Some(remark) => format!("{}: {remark}", self.name),
            None => self.name.to_owned(),
        }
    }
}

impl Document {
    /// Begins a document with this title and these sections; the first one holds the answer.
    pub(crate) fn new(title: &str, sections: &[Section]) -> Document {
        Document::with(title, sections, PageKind::File)
    }

    /// Begins a document of any kind, as [`new`](Document::new) does for a file.
    pub(super) fn with(title: &str, sections: &[Section], kind: PageKind) -> Document {
        let mut out = String::with_capacity(1 << 18);
        let (heading, title) = (escape_sentence(title), escape_html(title));
        let (policy, referrer) = (policy(kind), referrer(kind));
        out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        let _ = writeln!(
            out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"referrer\" content=\"{referrer}\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n\
             <header>\n<h1><bdi>{heading}</bdi></h1>\n</header>"
        );
        if sections.len() > 1 {
            out.push_str("<nav aria-label=\"Sections\">\n<ul>\n");
            for Section { id, title } in sections {
                let _ = writeln!(out, "<li><a href=\"#{id}\">{title}</a></li>");
            }
            out.push_str("</ul>\n</nav>\n");
        }
        out.push_str("<main>\n");
        Document { out, kind, figures: 0, sections: sections.to_vec() }
    }

    /// Ends the document with a line about its origin.
    pub(crate) fn into_text(mut self, origin: &str) -> String {
        let origin = escape_html(origin);
        let script = match self.kind {
            PageKind::File => format!("<script>{FIGURES_SCRIPT}</script>\n"),
            PageKind::Forms | PageKind::Live => String::new(),
        };
        let _ = write!(
            self.out,
            "</main>\n<footer>\n<p>{origin}</p>\n</footer>\n{script}</body>\n</html>\n"
        );
        self.out
    }

    /// Writes a section of the document.
    ///
    /// # Panics
    /// Panics if the document did not begin with a section of this identifier.
    pub(crate) fn section(&mut self, id: &str, write: impl FnOnce(&mut Document)) {
        let found = self.sections.iter().find(|section| section.id == id);
        let Section { id, title } = *found.expect("a section that the document began with");
        let _ = writeln!(
            self.out,
            "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n\
             <h2 id=\"{id}-heading\">{title}</h2>"
        );
        write(self);
        self.out.push_str("</section>\n");
    }

    /// Writes the words of a verdict, and its sentence.
    pub(crate) fn badge(&mut self, badge: Badge<'_>, sentence: &str) {
        let _ = writeln!(
            self.out,
            "<p><strong class=\"badge{}\">{}</strong> {}</p>",
            class(badge.tone),
            escaped(badge.words),
            prose(sentence)
        );
    }

    /// Writes a heading within a section.
    pub(crate) fn heading(&mut self, text: &str) {
        let _ = writeln!(self.out, "<h3><bdi>{}</bdi></h3>", escape_sentence(text));
    }

    /// Writes a sentence of the answer.
    pub(crate) fn answer(&mut self, label: &str, text: &str) {
        let label = match label {
            "" => String::new(),
            label => format!("<strong><bdi>{}</bdi></strong> ", escape_html(label)),
        };
        let _ = writeln!(self.out, "<p class=\"answer\">{label}{}</p>", prose(text));
    }

    /// Writes a sentence.
    pub(crate) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.out, "<p>{}</p>", prose(text));
    }

    /// Writes remarks, each a paragraph.
    pub(crate) fn remarks<'r>(&mut self, remarks: impl IntoIterator<Item = &'r Remark>) {
        for remark in remarks {
            let _ = match remark {
                Remark::Sentence { tone, lead, rest } => {
                    let class = class(*tone);
                    let (lead, rest) = (prose(lead), prose(rest));
                    writeln!(self.out, "<p><strong class=\"lead{class}\">{lead}</strong>{rest}</p>")
                }
                Remark::Note(text) => {
                    writeln!(self.out, "<p class=\"note\">{}</p>", prose(text))
                }
            };
        }
    }

    /// Writes labelled lines as a description list.
    pub(crate) fn lines(&mut self, lines: &[Line]) {
        self.descriptions(lines, prose);
    }

    /// Writes content that is collapsed until a reader unfolds it; it is printed unfolded.
    pub(crate) fn folded(&mut self, summary: &str, write: impl FnOnce(&mut Document)) {
        let _ = writeln!(self.out, "<details>\n<summary>{}</summary>", escape_sentence(summary));
        write(self);
        self.out.push_str("</details>\n");
    }

    /// Writes labelled lines whose texts are quotations, in which backticks do not mark code.
    pub(crate) fn quotations(&mut self, lines: &[Line]) {
        self.descriptions(lines, escape_html);
    }

    fn descriptions(&mut self, lines: &[Line], format_text: fn(&str) -> String) {
        if lines.is_empty() {
            return;
        }
        self.out.push_str("<dl>\n");
        for line in lines {
            let Line { label, tone, text, tone_of_text, is_wrapped: _ } = line;
            let (label, text) = (escape_html(label.trim()), format_text(text));
            let _ = writeln!(
                self.out,
                "<dt class=\"label{}\"><bdi>{label}</bdi></dt><dd class=\"text{}\"><bdi>{text}\
                 </bdi></dd>",
                class(*tone),
                class(*tone_of_text)
            );
        }
        self.out.push_str("</dl>\n");
    }

    /// Writes a list of sentences.
    pub(crate) fn list(&mut self, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.out.push_str("<ul>\n");
        for item in items {
            let _ = writeln!(self.out, "<li>{}</li>", prose(item));
        }
        self.out.push_str("</ul>\n");
    }

    /// Writes a table of a page; nothing if it has no rows.
    pub(crate) fn table(&mut self, caption: &str, table: &Table) {
        self.table_with(Caption { name: caption, remark: None }, table);
    }

    /// Writes a table below a caption with a remark.
    pub(crate) fn table_with(&mut self, caption: Caption<'_>, table: &Table) {
        self.write_table(caption, table, escape_html);
    }

    /// Writes a table of sentences, in which words between backticks are shown as code.
    pub(crate) fn table_of_prose(&mut self, caption: &str, table: &Table) {
        self.write_table(Caption { name: caption, remark: None }, table, prose);
    }

    fn write_table(
        &mut self,
        caption: Caption<'_>,
        table: &Table,
        format_text: fn(&str) -> String,
    ) {
        if table.is_empty() {
            return;
        }
        let file = download_link("CSV", caption.name, "text/csv;charset=utf-8", &table_csv(table));
        let (label, caption) = (escape_html(&caption.text()), prose(&caption.text()));
        let _ = writeln!(
            self.out,
            "<div class=\"table\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\">\n\
             <table>\n<caption>{caption} {file}</caption>\n<thead><tr>"
        );
        for Column { title, align, .. } in &table.columns {
            let (title, class) = (escape_html(title), class_of_cell(*align));
            let _ = match title.as_str() {
                // A screen reader would announce an empty header cell as a header.
                "" => write!(self.out, "<td></td>"),
                title => write!(self.out, "<th scope=\"col\"{class}>{title}</th>"),
            };
        }
        self.out.push_str("</tr></thead>\n<tbody>\n");
        for row in table.rows.iter().take(MOST_ROWS) {
            self.row(&table.columns, row, format_text);
        }
        self.out.push_str("</tbody>\n</table>\n</div>\n");
        if let Some(more) = table.rows.len().checked_sub(MOST_ROWS).filter(|more| *more > 0) {
            let more = count(more as u64, "more row");
            let _ = writeln!(self.out, "<p class=\"note\">and {more} in the CSV</p>");
        }
    }

    fn row(&mut self, columns: &[Column], row: &Row, format_text: fn(&str) -> String) {
        self.out.push_str("<tr>");
        let cells = row.cells.iter().map(ToString::to_string);
        let cells = cells.chain(row.note.map(str::to_owned)).chain(repeat(String::new()));
        for (place, (cell, column)) in cells.zip(columns).enumerate() {
            let (cell, class) = (format_text(&cell), class_of_cell(column.align));
            let is_name = place == 0 && column.align == Align::Left;
            let _ = match is_name {
                true => write!(self.out, "<th scope=\"row\"{class}><bdi>{cell}</bdi></th>"),
                false => write!(self.out, "<td{class}><bdi>{cell}</bdi></td>"),
            };
        }
        self.out.push_str("</tr>\n");
    }

    /// Writes figures side by side.
    pub(crate) fn figures<'f>(&mut self, figures: impl IntoIterator<Item = &'f Figure>) {
        self.out.push_str("<div class=\"figures\">\n");
        for figure in figures {
            let id = figure_id(self.figures);
            self.figures += 1;
            let (title, caption) = (prose(&figure.title), prose(&figure.caption));
            let (caption, file) = match figure.missing.is_some() {
                true => (String::new(), String::new()),
                false => {
                    let link = download_link("SVG", &figure.name, "image/svg+xml", &svg(figure));
                    (caption, link)
                }
            };
            let _ = writeln!(
                self.out,
                "<figure id=\"{id}\">\n<h3><bdi>{title}</bdi></h3>\n<figcaption>{caption}\
                 </figcaption>\n{}\n{file}</figure>",
                painted(figure, FigureContext::Page(&id))
            );
        }
        self.out.push_str("</div>\n");
    }

    /// Writes links to figures, each given by its index among all figures of the document.
    pub(crate) fn links_to_figures(&mut self, figures: &[(usize, &Figure)]) {
        if figures.is_empty() {
            return;
        }
        let link = |(place, figure): &(usize, &Figure)| {
            format!("<a href=\"#{}\">{}</a>", figure_id(*place), prose(&figure.title))
        };
        let links: Vec<String> = figures.iter().map(link).collect();
        let _ = writeln!(self.out, "<p class=\"note\">Shown by: {}</p>", links.join(", "));
    }

    /// Writes markup. The caller must have escaped every outside text that the markup contains, for
    /// example by [`escape_html`].
    pub(crate) fn markup(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    /// Writes text with its line breaks preserved.
    pub(crate) fn preformatted(&mut self, text: &str) {
        let lines: Vec<String> = text.lines().map(escape_html).collect();
        let _ = writeln!(self.out, "<pre tabindex=\"0\">{}</pre>", lines.join("\n"));
    }
}

fn figure_id(place: usize) -> String {
    format!("figure-{}", place + 1)
}

/// Returns a text escaped for HTML, shortened if it is very long.
pub(super) fn escape_html(text: &str) -> String {
    escaped(&cut(text))
}

/// Returns a text escaped as by [`escape_html`], in which a number stays on one line with its unit.
fn escape_sentence(text: &str) -> String {
    escaped(&with_no_break_spaces(&cut(text)))
}

/// Returns the CSS class of a tone after a space; empty for ordinary text.
pub(super) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain | Tone::Strong => "",
        Tone::Quiet => " quiet",
        Tone::Good => " good",
        Tone::Doubtful => " doubt",
        Tone::Bad => " bad",
    }
}

fn class_of_cell(align: Align) -> &'static str {
    match align {
        Align::Left => " class=\"text\"",
        Align::Right => " class=\"number\"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(rows: usize) -> String {
        let rows: Vec<Vec<String>> = (1..=rows).map(|n| vec![format!("r{n}")]).collect();
        let section = Section { id: "answer", title: "Answer" };
        let mut page = Document::new("?", &[section]);
        let table = Table::of_texts(&[("run", Align::Left)], &rows);
        page.section("answer", |out| out.table("Runs", &table));
        page.into_text("")
    }

    #[test]
    fn file_name_leaves_out_the_remark() {
        let section = Section { id: "answer", title: "Answer" };
        let mut page = Document::new("?", &[section]);
        page.section("answer", |out| {
            let table = Table::of_texts(&[("run", Align::Left)], &[vec!["1".to_owned()]]);
            out.table_with(Caption { name: "A", remark: Some("b") }, &table);
            out.table("C: d", &table);
        });
        let page = page.into_text("");
        assert!(page.contains("<caption>A: b <a"), "{page}");
        for name in ["A", "C: d"] {
            let link = download_link("CSV", name, "text/csv;charset=utf-8", "run\r\n1\r\n");
            assert!(page.contains(&link), "{name}");
        }
    }

    #[test]
    fn saved_table_has_the_rows_that_the_page_leaves_out() {
        let page = page(MOST_ROWS + 2);
        assert!(page.contains("r401%0D%0Ar402%0D%0A\""), "{page}");
        assert!(!page.contains("<bdi>r401</bdi>"), "{page}");
        assert!(page.contains("<p class=\"note\">and 2 more rows in the CSV</p>"), "{page}");
    }
}
