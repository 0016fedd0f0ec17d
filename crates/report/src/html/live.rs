//! The page of a run in progress: complete at the moment when it is loaded, and brought up to date
//! by events. Without scripts, the reader reloads it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::document::{Document, Section, escape_html};
use super::style::{LIVE_SCRIPT, PageKind};
use crate::live::{LiveRunView, LiveSeries};
use crate::svg::{escaped, visible};

/// Maximum number of jobs whose time courses are drawn.
const MOST_COURSES: usize = 8;

/// The only section of the page.
const RUN: Section = Section { id: "answer", title: "Run" };

/// Formats the page of a run in progress. Its script reads events at the address `events`, relative
/// to the page. The messages of these events have the form of [`live_json`].
pub fn live_html(view: &LiveRunView) -> String {
    let mut out = Document::with(&view.title, &[RUN], PageKind::Live);
    out.section(RUN.id, |out| {
        out.markup(&body(view));
        out.markup(&format!(
            "<p id=\"connection\" class=\"note\" role=\"status\"></p>\n\
             <noscript><p><a href=\"./\">Reload</a> to see new numbers.</p></noscript>\n\
             <script>{LIVE_SCRIPT}</script>\n"
        ));
    });
    out.into_text("Made by assay while the run goes on. The figures are those of the last second.")
}

/// Formats, as JSON, the parts of the page that change. Invisible characters are replaced, as on
/// the page, because the script shows the texts unchanged.
pub fn live_json(view: &LiveRunView) -> String {
    let texts = |all: &[String]| all.iter().map(|text| visible(text)).collect::<Vec<String>>();
    json!({
        "doing": visible(&view.phase),
        "progress": view.progress,
        "notes": texts(&view.notes),
        "rows": view.rows.iter().map(|row| texts(row)).collect::<Vec<Vec<String>>>(),
        "interval": view.interval,
        "courses": courses(view, 1),
    })
    .to_string()
}

/// Returns the latest values of the time courses, of at most `most` seconds.
fn courses(view: &LiveRunView, most: usize) -> Vec<Value> {
    let latest = |values: &[Option<f64>]| values[values.len().saturating_sub(most)..].to_vec();
    let course = |LiveSeries { job, achieved_per_s, p99_ns }: &LiveSeries| {
        let values = [latest(achieved_per_s), latest(p99_ns)];
        json!({ "job": visible(job), "values": values })
    };
    view.series.iter().take(MOST_COURSES).map(course).collect()
}

fn body(view: &LiveRunView) -> String {
    let hidden = if view.progress.is_none() { " hidden" } else { "" };
    let mut out = format!(
        "<p class=\"answer\"><bdi id=\"doing\">{}</bdi></p>\n\
         <p><progress id=\"progress\" aria-label=\"Progress\" max=\"1\" value=\"{:.4}\"{hidden}>\
         </progress></p>\n<p class=\"note\"><bdi id=\"notes\">{}</bdi></p>\n\
         <div class=\"table\" role=\"region\" aria-label=\"Jobs\" tabindex=\"0\">\n<table>\n\
         <thead><tr>",
        escape_html(&view.phase),
        view.progress.unwrap_or_default(),
        escape_html(&view.notes.join(" · "))
    );
    for (place, title) in view.columns.iter().enumerate() {
        let class = if place == 0 { "text" } else { "number" };
        let _ = write!(out, "<th scope=\"col\" class=\"{class}\">{}</th>", escape_html(title));
    }
    out.push_str("</tr></thead>\n<tbody id=\"rows\">\n");
    for row in &view.rows {
        out.push_str("<tr>");
        for (place, cell) in row.iter().enumerate() {
            let cell = escape_html(cell);
            let _ = match place {
                0 => write!(out, "<th scope=\"row\" class=\"text\"><bdi>{cell}</bdi></th>"),
                _ => write!(out, "<td class=\"number\">{cell}</td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    // The script draws the courses: it adds a value each second.
    let so_far = json!({ "interval": view.interval, "courses": courses(view, usize::MAX) });
    let _ = write!(
        out,
        "</tbody>\n</table>\n</div>\n\
         <div id=\"courses\" class=\"figures\" data-so-far=\"{}\"></div>\n",
        escaped(&so_far.to_string())
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> LiveRunView {
        LiveRunView {
            title: "<script>.ini on sim:mm1".to_owned(),
            phase: "measuring, 00:10 of 01:00".to_owned(),
            progress: Some(0.1667),
            notes: vec!["busiest: <b>, 80 %".to_owned()],
            columns: vec!["job", "p99"],
            rows: vec![vec!["<img src=x>".to_owned(), "1.40 ms".to_owned()]],
            interval: Some(9),
            series: vec![LiveSeries {
                job: "<img src=x>".to_owned(),
                achieved_per_s: vec![Some(118.0), Some(120.0)],
                p99_ns: vec![Some(1_400_000.0), None],
            }],
        }
    }

    #[test]
    fn texts_of_a_run_are_escaped_on_its_page() {
        let page = live_html(&view());
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        assert!(!page.contains("<img") && !page.contains("<b>"), "{page}");
        let row = "<th scope=\"row\" class=\"text\"><bdi>&lt;img src=x&gt;</bdi></th>";
        assert!(page.contains(row), "{page}");
        assert!(page.contains("<th scope=\"col\" class=\"number\">p99</th>"), "{page}");
        assert!(page.contains("value=\"0.1667\">"), "{page}");
        assert!(page.contains("&quot;values&quot;:[[118.0,120.0],[1400000.0,null]]"), "{page}");
        let hidden = live_html(&LiveRunView { progress: None, ..view() });
        assert!(hidden.contains("value=\"0.0000\" hidden>"), "{hidden}");
    }

    #[test]
    fn invisible_characters_of_names_are_codes_in_page_and_messages() {
        let name = "a\u{202e}b\u{7}";
        let course = LiveSeries { job: name.to_owned(), ..view().series[0].clone() };
        let view = LiveRunView {
            phase: name.to_owned(),
            notes: vec![name.to_owned()],
            rows: vec![vec![name.to_owned()]],
            series: vec![course],
            ..view()
        };
        for text in [live_html(&view), live_json(&view)] {
            assert!(!text.contains(['\u{202e}', '\u{7}']) && !text.contains("\\u0007"), "{text}");
            assert!(text.matches("a[U+202E]b[U+0007]").count() >= 4, "{text}");
        }
        let page = live_html(&view);
        assert_eq!(page.matches("<bdi>a[U+202E]b[U+0007]</bdi>").count(), 1, "{page}");
        for id in ["doing", "notes"] {
            assert!(page.contains(&format!("<bdi id=\"{id}\">a[U+202E]")), "{page}");
        }
    }

    #[test]
    fn message_has_what_changes() {
        let expected = "{\"doing\":\"measuring, 00:10 of 01:00\",\"progress\":0.1667,\
                        \"notes\":[\"busiest: <b>, 80 %\"],\
                        \"rows\":[[\"<img src=x>\",\"1.40 ms\"]],\"interval\":9,\
                        \"courses\":[{\"job\":\"<img src=x>\",\
                        \"values\":[[120.0],[null]]}]}";
        assert_eq!(live_json(&view()), expected);
    }
}
