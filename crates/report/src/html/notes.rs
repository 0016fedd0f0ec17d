//! A page with the notes of a record in a folder. If notes can be added, the page has a form for
//! this, which works without scripts.

use record::Note;

use super::document::{Document, Section, escape_html};
use super::refusal::links;
use super::style::PageKind;
use crate::folder::{LinkedPage, NoteForm, NotesView};
use crate::note;
use crate::page::Line;

/// The only section of the page.
const NOTES: Section = Section { id: "answer", title: "Notes" };

/// Formats the notes of a record in a folder. The address of the page is `notes/NAME`, next to the
/// list and `report/NAME`. The form is sent to the same address, with the fields `author` and
/// `text`.
pub fn notes_html(view: &NotesView) -> String {
    let mut out = Document::with(&view.file, &[NOTES], PageKind::Forms);
    // The page of a record in a subfolder is further below the list.
    let list = "../".repeat(view.file.split('/').count());
    let answer = LinkedPage {
        route: "report",
        file: view.file.clone(),
        words: "Answer of this one".to_owned(),
    };
    out.section(NOTES.id, |out| {
        out.markup(&links(&list, Some(&answer)));
        match view.notes.is_empty() {
            true => out.paragraph("There are no notes yet."),
            false => out.lines(&view.notes.iter().map(line).collect::<Vec<Line>>()),
        }
        match &view.form {
            NoteForm::Offered { author } => out.markup(&form(author)),
            NoteForm::Omitted => {}
            NoteForm::Refused { reason } => {
                out.paragraph(&format!("No note can be added: {reason}."));
            }
        }
    });
    out.into_text("Made by assay. Notes are only added; a second one corrects the first.")
}

fn line(one: &Note) -> Line {
    Line::new("note", note::sentence(one))
}

fn form(author: &str) -> String {
    format!(
        "<form method=\"post\">\n<p><label for=\"text\">Note</label><br>\n<textarea id=\"text\" \
         name=\"text\" rows=\"4\" cols=\"70\" maxlength=\"{}\" required></textarea></p>\n<p \
         class=\"note\">Words that begin with # are tags.</p>\n<p><label for=\"author\">Author\
         </label> <input id=\"author\" name=\"author\" maxlength=\"{}\" value=\"{}\" required> \
         <button>Add the note</button></p>\n</form>\n",
        Note::LONGEST_TEXT,
        Note::LONGEST_AUTHOR,
        escape_html(author)
    )
}

#[cfg(test)]
mod tests {
    use base::WallTime;

    use super::*;

    fn view(file: &str, form: NoteForm) -> NotesView {
        let by = Some("<img>".to_owned());
        let note = Note { at: WallTime(0), author: by, text: "<script>x".to_owned() };
        NotesView { file: file.to_owned(), notes: vec![note], form }
    }

    #[test]
    fn texts_of_notes_are_escaped_on_their_page() {
        let form = NoteForm::Offered { author: "\"><b>".to_owned() };
        let page = notes_html(&view("a/<b>.assay", form));
        for markup in ["<script", "<img", "<b>"] {
            assert!(!page.contains(markup), "{markup}: {page}");
        }
        for expected in [
            "href=\"../../\"",
            "href=\"../../report/a/%3Cb%3E.assay\"",
            "&lt;img&gt;: &lt;script&gt;x",
            "value=\"&quot;&gt;&lt;b&gt;\"",
            "<form method=\"post\">",
            "form-action 'self'\"",
            "<meta name=\"referrer\" content=\"same-origin\">",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }

    #[test]
    fn read_only_page_of_notes_has_a_reason_instead_of_a_form() {
        assert!(!notes_html(&view("r.assay", NoteForm::Omitted)).contains("<form"));
        let refused = NoteForm::Refused { reason: "`<b>` is read-only".to_owned() };
        let page = notes_html(&view("r.assay", refused));
        assert!(!page.contains("<form") && !page.contains("<b>"), "{page}");
        assert!(
            page.contains("No note can be added: <code>&lt;b&gt;</code> is read-only."),
            "{page}"
        );
    }
}
