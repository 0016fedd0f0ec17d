//! The page that a server sends if the requested page cannot be made.

use super::document::{Document, Section, escape_html};
use super::file::encode_url;
use super::style::PageKind;
use crate::folder::{LinkedPage, RefusalView};

/// The only section of the page.
const REASON: Section = Section { id: "answer", title: "Reason" };

/// Formats the reason why a page cannot be made, with links to the list of the records and to the
/// page that can be shown instead.
pub fn refusal_html(view: &RefusalView) -> String {
    let RefusalView { title, reason, remedy, alternative, list } = view;
    let mut out = Document::with(title, &[REASON], PageKind::Forms);
    out.section(REASON.id, |out| {
        out.paragraph(&format!("{reason}."));
        if let Some(remedy) = remedy {
            out.paragraph(&format!("What to do: {remedy}."));
        }
        out.markup(&links(list, alternative.as_ref()));
    });
    out.into_text("Made by assay.")
}

/// Returns the links of a page of a server: to the list at this relative address, and to another
/// page.
pub(crate) fn links(list: &str, other: Option<&LinkedPage>) -> String {
    let other = other.map_or(String::new(), |LinkedPage { route, file, words }| {
        let (file, words) = (encode_url(file), escape_html(words));
        format!(" <a href=\"{list}{route}/{file}\">{words}</a>")
    });
    format!(
        "<nav aria-label=\"Pages\">\n<p><a href=\"{list}\">All records</a>{other}</p>\n</nav>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_has_its_reason_its_remedy_and_a_way_back_as_text() {
        let page = refusal_html(&RefusalView {
            title: "No such <page>".to_owned(),
            reason: "the folder has no record `<b>`".to_owned(),
            remedy: Some("mark <i>others</i>".to_owned()),
            alternative: Some(LinkedPage {
                route: "report",
                file: "a/\"><b>.assay".to_owned(),
                words: "The <u>answer</u>".to_owned(),
            }),
            list: "../../".to_owned(),
        });
        for markup in ["<b>", "<i>", "<u>", "<page>"] {
            assert!(!page.contains(markup), "{markup}: {page}");
        }
        for expected in [
            "the folder has no record <code>&lt;b&gt;</code>.",
            "What to do: mark &lt;i&gt;others",
            "<a href=\"../../\">All records</a>",
            "<a href=\"../../report/a/%22%3E%3Cb%3E.assay\">The &lt;u&gt;answer",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }
}
