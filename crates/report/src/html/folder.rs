//! The list of the records of a folder as HTML, for a server: it has links and forms, and works
//! without scripts.

use std::fmt::Write as _;

use analyze::Status;

use super::document::{Document, Section, class, escape_html};
use super::file::encode_url;
use super::prose::prose;
use super::style::PageKind;
use crate::folder::{FolderRow, FolderView, RowState};
use crate::note;
use crate::number::count;
use crate::page::Tone;

/// The only section of the page.
const RECORDS: Section = Section { id: "answer", title: "Records" };

/// Maximum number of notes of a record in the list; its page of notes has all.
const MOST_NOTES: usize = 5;

/// Formats the list of the records of a folder. Its links are relative to its own address:
/// `report/NAME` is the page of a record, `notes/NAME` the page of its notes, and
/// `overlay?a=NAME&b=NAME` the page of a comparison.
pub fn folder_html(view: &FolderView) -> String {
    let title = format!("Records in {}", view.folder);
    let mut out = Document::with(&title, &[RECORDS], PageKind::Forms);
    out.section(RECORDS.id, |out| {
        out.markup(&search(view));
        out.paragraph(&count_sentence(view));
        if !view.rows.is_empty() {
            out.markup(&table(view));
        }
        out.markup(&pages(view));
    });
    out.into_text("Made by assay. Reload the page to see new records.")
}

fn search(view: &FolderView) -> String {
    format!(
        "<form role=\"search\" method=\"get\" action=\"./\">\n<p><label for=\"q\">Search</label> \
         <input id=\"q\" name=\"q\" type=\"search\" maxlength=\"200\" value=\"{}\"> \
         <button>Search</button></p>\n</form>\n",
        escape_html(&view.search)
    )
}

/// Returns the sentence about the numbers of files and of folders that cannot be read.
fn count_sentence(view: &FolderView) -> String {
    let all = count(view.all as u64, "file");
    let shown = match (view.all, view.search.is_empty()) {
        (0, _) if view.unreadable_folders == 0 => {
            return "There are no records here: `assay run --out NAME.assay` makes one.".to_owned();
        }
        (_, true) => all,
        (_, false) => format!("{} of {all} with the words {}", view.found, view.search),
    };
    let unreadable = match view.unreadable_folders {
        0 => String::new(),
        number => format!("; {} cannot be read", count(number as u64, "folder")),
    };
    match view.pages {
        1 => format!("{shown}{unreadable}"),
        pages => format!("{shown}{unreadable}; page {} of {pages}", view.page),
    }
}

fn table(view: &FolderView) -> String {
    let mut out = String::from(
        "<form method=\"get\" action=\"overlay\">\n<p>Mark two records to compare them, one in \
         column a and one in column b: <button>Compare a and b</button></p>\n\
         <div class=\"table\" role=\"region\" aria-label=\"Records\" tabindex=\"0\">\n<table>\n\
         <thead><tr>",
    );
    let titles = ["a", "b", "record", "title", "started", "label", "verdict", "headline", "notes"];
    for title in titles {
        let _ = write!(out, "<th scope=\"col\">{title}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    view.rows.iter().for_each(|row| out.push_str(&line(row, view.takes_notes)));
    out.push_str("</tbody>\n</table>\n</div>\n</form>\n");
    out
}

fn line(row: &FolderRow, takes_notes: bool) -> String {
    let name = escape_html(&row.file);
    let mut out = String::from("<tr>");
    for side in ["a", "b"] {
        let _ = match row.state.has_page() {
            true => write!(
                out,
                "<td><input type=\"radio\" name=\"{side}\" value=\"{}\" aria-label=\"{name} as \
                 {side}\"></td>",
                attribute_value(&row.file)
            ),
            false => write!(out, "<td></td>"),
        };
    }
    let _ = match row.state.has_page() {
        true => {
            let address = encode_url(&row.file);
            write!(
                out,
                "<th scope=\"row\" class=\"text\"><a href=\"report/{address}\"><bdi>{name}</bdi>\
                 </a></th>"
            )
        }
        false => write!(out, "<th scope=\"row\" class=\"text\"><bdi>{name}</bdi></th>"),
    };
    let started = row.started.map(|started| started.to_string()).unwrap_or_default();
    for cell in [&row.title, started.as_str()] {
        let _ = write!(out, "<td class=\"text\"><bdi>{}</bdi></td>", escape_html(cell));
    }
    let _ = writeln!(
        out,
        "{}<td><strong class=\"lead{}\">{}</strong></td><td class=\"text headline\"><bdi>{}\
         </bdi></td>\
         {}</tr>",
        label(row),
        class(tone(row.state)),
        row.state.word(),
        prose(&row.headline),
        notes(row, takes_notes)
    );
    out
}

/// Returns the cell of the label, which links to a search for the label.
fn label(row: &FolderRow) -> String {
    let link = row.label.as_ref().map(|label| search_link(label)).unwrap_or_default();
    format!("<td class=\"text\">{link}</td>")
}

/// Returns a text as a link to the records that contain it.
fn search_link(text: &str) -> String {
    format!("<a href=\"./?q={}\"><bdi>{}</bdi></a>", encode_url(text), escape_html(text))
}

/// Returns the cell of the notes: the latest notes, whose tags are links, and a link to the page of
/// notes. This link is left out if the file has no page, or if there are no notes and none can be
/// added.
fn notes(row: &FolderRow, takes_notes: bool) -> String {
    let mut out = String::from("<td class=\"text\">");
    let earlier = row.notes.len().saturating_sub(MOST_NOTES);
    for text in &row.notes[earlier..] {
        let _ = write!(out, "<p class=\"note\"><bdi>{}</bdi></p>", note_with_links(text));
    }
    let link = match (row.state.has_page(), takes_notes, row.notes.is_empty()) {
        (false, _, _) | (true, false, true) => None,
        (true, true, _) => Some("Add a note"),
        (true, false, false) => Some("All notes"),
    };
    if let Some(words) = link {
        let (address, name) = (encode_url(&row.file), escape_html(&row.file));
        let _ =
            write!(out, "<a href=\"notes/{address}\" aria-label=\"{words}: {name}\">{words}</a>");
    }
    out.push_str("</td>");
    out
}

/// Returns the beginning of a note, with links for its tags. A word that is cut off is not linked
/// as a tag.
fn note_with_links(text: &str) -> String {
    let shortened = note::shortened(text);
    let cut = (shortened != text).then(|| shortened.split(' ').count() - 1);
    let words = shortened.split(' ').enumerate().map(|(place, word)| match note::tag(word) {
        Some(tag) if cut != Some(place) => search_link(tag) + &escape_html(&word[tag.len()..]),
        Some(_) | None => escape_html(word),
    });
    words.collect::<Vec<String>>().join(" ")
}

/// Returns the value of a field, which a browser sends back unchanged. [`escape_html`] would
/// replace its invisible characters and cut it.
fn attribute_value(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' | '<' | '>' | '"' | '\'' => {
                let _ = write!(out, "&#{};", u32::from(character));
            }
            other => out.push(other),
        }
    }
    out
}

fn tone(state: RowState) -> Tone {
    match state {
        RowState::Judged(Status::Pass | Status::NotPossible) => Tone::Good,
        RowState::Judged(Status::Suspect) => Tone::Doubtful,
        RowState::Judged(Status::Invalid) => Tone::Bad,
        RowState::Unjudged
        | RowState::Unfinished
        | RowState::NotARecord
        | RowState::Damaged
        | RowState::Newer
        | RowState::Unreadable => Tone::Quiet,
    }
}

/// Returns the links to the pages before and after this one.
fn pages(view: &FolderView) -> String {
    let link = |page: usize, words: &str| {
        let search = encode_url(&view.search);
        format!("<a href=\"./?q={search}&amp;page={page}\">{words}</a> ")
    };
    let newer = (view.page > 1).then(|| link(view.page - 1, "Newer records"));
    let older = (view.page < view.pages).then(|| link(view.page + 1, "Older records"));
    match (newer, older) {
        (None, None) => String::new(),
        (newer, older) => {
            let links: String = newer.into_iter().chain(older).collect();
            format!("<nav aria-label=\"Pages\">\n<p>{links}</p>\n</nav>\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(file: &str, state: RowState) -> FolderRow {
        FolderRow {
            file: file.to_owned(),
            title: "<script>alert(1)</script>".to_owned(),
            started: None,
            label: Some("\"><img src=x>".to_owned()),
            state,
            headline: "`a` & <b>".to_owned(),
            notes: vec!["ann: <script>note #tag # #<b>".to_owned()],
        }
    }

    fn view(rows: Vec<FolderRow>, pages: usize) -> FolderView {
        let (found, all) = (rows.len(), rows.len());
        FolderView {
            folder: "r".to_owned(),
            search: "\"><b>".to_owned(),
            rows,
            page: 1,
            pages,
            found,
            all,
            unreadable_folders: 0,
            takes_notes: true,
        }
    }

    fn page(rows: Vec<FolderRow>, pages: usize) -> String {
        folder_html(&view(rows, pages))
    }

    #[test]
    fn unreadable_folders_are_not_counted_as_files() {
        let check = |all: usize, search: &str, expected: &str| {
            let search = search.to_owned();
            let view = view(Vec::new(), 1);
            let view = FolderView { search, found: 1, all, unreadable_folders: 2, ..view };
            assert_eq!(count_sentence(&view), expected);
        };
        check(3, "", "3 files; 2 folders cannot be read");
        check(3, "tls", "1 of 3 files with the words tls; 2 folders cannot be read");
        check(0, "", "0 files; 2 folders cannot be read");
    }

    #[test]
    fn texts_of_files_are_escaped_in_the_list() {
        let page = page(vec![row("a\"<b>&.assay", RowState::Judged(Status::Pass))], 2);
        for markup in ["<script", "<img", "<b>"] {
            assert!(!page.contains(markup), "{markup}: {page}");
        }
        for expected in [
            "href=\"report/a%22%3Cb%3E%26.assay\"",
            "name=\"a\" value=\"a&#34;&#60;b&#62;&#38;.assay\"",
            "name=\"b\" value=\"a&#34;&#60;b&#62;&#38;.assay\"",
            "value=\"&quot;&gt;&lt;b&gt;\"",
            "href=\"./?q=%22%3E%3Cb%3E&amp;page=2\"",
            "<a href=\"./?q=%22%3E%3Cimg%20src=x%3E\"><bdi>&quot;&gt;&lt;img src=x&gt;</bdi></a>",
            "<p class=\"note\"><bdi>ann: &lt;script&gt;note <a href=\"./?q=%23tag\">\
             <bdi>#tag</bdi></a> # <a href=\"./?q=%23%3Cb\"><bdi>#&lt;b</bdi></a>&gt;</bdi></p>",
            "href=\"notes/a%22%3Cb%3E%26.assay\"",
            "<td class=\"text headline\"><bdi><code>a</code> &amp; &lt;b&gt;</bdi></td>",
            "form-action 'self'\"",
            "<p>Mark two records to compare them, one in column a and one in column b: <button>",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }

    #[test]
    fn long_note_is_cut_and_a_cut_word_is_not_a_tag() {
        let whole = note_with_links(&format!("ann: #tag. {}", "x".repeat(300)));
        assert!(whole.contains("<bdi>#tag</bdi></a>. xxx") && whole.ends_with("xxx"), "{whole}");
        let cut = note_with_links(&format!("ann: #tag {} #{}", "x".repeat(300), "y".repeat(300)));
        assert!(cut.ends_with("yyy…"), "{cut}");
        assert_eq!(cut.matches("<a ").count(), 1, "{cut}");
    }

    #[test]
    fn only_records_have_links() {
        for state in RowState::ALL {
            let page = page(vec![row("x.assay", state)], 1);
            assert_eq!(page.contains("href=\"report/x.assay\""), state.has_page(), "{state:?}");
            assert_eq!(page.contains("value=\"x.assay\""), state.has_page(), "{state:?}");
            assert_eq!(page.contains("href=\"notes/x.assay\""), state.has_page(), "{state:?}");
            assert!(page.contains(&format!(">{}</strong>", state.word())), "{page}");
        }
    }
}
