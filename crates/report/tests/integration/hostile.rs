//! Reports with untrusted texts from files and servers.

use std::sync::LazyLock;

use analyze::finding::Completeness;
use analyze::limiting::{ConnectionLimit, LimiterFinding};
use analyze::{ErrorSummary, Finding};
use base::{Class, Code};
use jsonschema::Validator;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use record::{End, Excerpt, ExcerptKind};
use report::{Page, Style, View};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::cases;
use crate::schema::{complaints, schema};
use crate::support::{json, short_text, text};

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| schema("summary.schema.json"));

/// Number of untrusted texts in a view: those that someone else may have written.
const TEXTS: usize = 14;

/// Returns a run with errors, events, statements, SLOs and loads.
fn plain_view() -> &'static View {
    static VIEW: LazyLock<View> = LazyLock::new(|| {
        let mut case = cases::closed();
        case.evidence.loads = cases::loads().evidence.loads;
        case.view()
    });
    &VIEW
}

/// Returns the page of a run, without figures of its jobs over time, and without the script.
fn html(view: &View) -> String {
    let courses = vec![analyze::TimeCourse::default(); view.summary.jobs.len()];
    let page = report::html(&Page::of(view), &report::figures(view, &courses));
    let (markup, script) = page.rsplit_once("<script>").expect("the script of the page");
    let (_, rest) = script.split_once("</script>").expect("the end of the script");
    [markup, rest].concat()
}

/// Returns the tags and the tag-like texts of a page that are not tags of a report.
fn foreign_tags(page: &str) -> Vec<&str> {
    const TAGS: [&str; 44] = [
        "!doctype",
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "a",
        "header",
        "h1",
        "h2",
        "h3",
        "bdi",
        "nav",
        "ul",
        "li",
        "main",
        "section",
        "p",
        "strong",
        "dl",
        "dt",
        "dd",
        "details",
        "summary",
        "div",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "figure",
        "figcaption",
        "svg",
        "desc",
        "path",
        "g",
        "text",
        "rect",
        "pre",
        "footer",
        "code",
    ];
    let tags = page.split('<').skip(1).map(|tag| tag.strip_prefix('/').unwrap_or(tag));
    let names = tags.map(|tag| tag.split([' ', '>', '\n', '/']).next().unwrap_or_default());
    names.filter(|name| !TAGS.contains(name)).collect()
}

#[test]
fn script_in_any_text_is_shown_as_text() {
    let page = html(&view_of(&[(); TEXTS].map(|_| "<script>\"'&".to_owned())));
    assert_eq!(foreign_tags(&page), Vec::<&str>::new());
    let shown = page.matches("&lt;script&gt;&quot;&#39;&amp;").count();
    assert!(shown > TEXTS, "every text is shown: {shown}");
}

/// Returns the run of [`plain_view`] with these texts.
fn view_of(texts: &[String; TEXTS]) -> View {
    let mut view = plain_view().clone();
    let [
        name,
        statement,
        code,
        message,
        setting,
        value,
        path,
        command,
        workload,
        check,
        table,
        subject,
        title,
        cell,
    ] = texts.clone();
    view.evidence.events[0].text = message.clone();
    view.summary.loads[0].table = table;
    let about = &mut view.about;
    about.excerpts = ExcerptKind::ALL
        .map(|kind| Excerpt {
            subject: subject.clone(),
            kind,
            titles: vec![title.clone(), "b".to_owned()],
            rows: vec![vec![Some(cell.clone()), None]],
        })
        .to_vec();
    about.settings.push((setting, value));
    about.record = path.into();
    (about.target, about.command, about.workload) = (command.clone(), command, workload);
    about.ended = about.ended.take().map(|end| End { text: message.clone(), ..end });
    let job = &mut view.summary.jobs[0];
    job.name = name;
    job.statements[0].text = statement;
    job.errors_by_code[0] = ErrorSummary {
        class: Class::Conflict,
        code: Code::new(&code),
        count: 4,
        text: Some(message),
    };
    job.slos[0].text = check.clone();
    let missing = Completeness::PartsMissing { text: check.clone() };
    view.summary.verdict.checks[0].finding = Finding::Complete(missing);
    let wait = ConnectionLimit::RequestsWait { text: check };
    view.summary.limiter.finding = LimiterFinding::Connections(wait);
    view
}

/// Characters that terminals, shells, tables and JSON treat specially.
const ODD: [char; 24] = [
    '\0', '\u{7}', '\u{8}', '\t', '\n', '\r', '\u{b}', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '"',
    '\'', '\\', ',', '=', '\u{2028}', '\u{2029}', '\u{202e}', '\u{2066}', '表', 'é', '😀',
    '\u{fffd}',
];

fn character() -> impl Strategy<Value = char> {
    prop_oneof![prop::char::range(' ', '~'), select(&ODD[..]), any::<char>()]
}

/// Generates texts with some blanks, up to a page long, and not empty.
fn words() -> impl Strategy<Value = String> {
    vec(vec(character(), 0..20), 0..60).prop_map(|words| {
        let words = words.into_iter().map(String::from_iter);
        words.collect::<Vec<String>>().join(" ") + "."
    })
}

/// Generates texts of one repeated character, longer than any line.
fn huge() -> impl Strategy<Value = String> {
    let length = 100..5_000usize;
    (character(), length).prop_map(|(character, length)| character.to_string().repeat(length))
}

/// Returns true for characters that a terminal obeys, or that some reader takes as the end of a
/// line.
fn is_terminal_control(character: char) -> bool {
    let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(character, '\u{2028}' | '\u{2029}');
    character != '\n' && (character.is_control() || turns || breaks)
}

/// Removes the colours that a report may have.
fn without_colours(text: &str) -> String {
    let codes = ["1", "2", "1;32", "1;33", "1;31", "0"];
    let sequences = codes.map(|code| format!("\x1b[{code}m"));
    sequences.iter().fold(text.to_owned(), |text, sequence| text.replace(sequence, ""))
}

/// Returns the characters that a terminal would obey, in the view formatted in all styles.
fn terminal_controls(view: &View) -> Vec<char> {
    let style = Style { color: true, width: 60 };
    let texts = [
        text(view, &Style::PLAIN),
        short_text(view, &Style::PLAIN),
        without_colours(&text(view, &style)),
        without_colours(&short_text(view, &style)),
    ];
    texts.iter().flat_map(|text| text.chars()).filter(|&c| is_terminal_control(c)).collect()
}

/// Returns all texts of a document.
fn strings(document: &Value) -> Vec<&str> {
    match document {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(values) => values.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(48)
    })]

    #[test]
    fn texts_cannot_move_the_cursor_or_exceed_the_page(texts in prop::array::uniform14(words())) {
        let view = view_of(&texts);
        prop_assert_eq!(terminal_controls(&view), vec![]);
        for page in [text(&view, &Style::PLAIN), short_text(&view, &Style::PLAIN)] {
            let wrapped = page.lines().filter(|line| !is_command_to_copy(line));
            for line in wrapped {
                prop_assert!(line.width() <= 100, "{} columns: {line}", line.width());
            }
        }
    }

    #[test]
    fn huge_text_cannot_move_the_cursor(texts in prop::array::uniform14(huge())) {
        let view = view_of(&texts);
        prop_assert_eq!(terminal_controls(&view), vec![]);
        let page = html(&view);
        prop_assert_eq!(foreign_tags(&page), Vec::<&str>::new());
    }

    #[test]
    fn texts_are_escaped_on_every_page(texts in prop::array::uniform14(words())) {
        let page = html(&view_of(&texts));
        let odd = page.chars().find(|&character| is_terminal_control(character));
        prop_assert_eq!(odd, None);
        prop_assert_eq!(foreign_tags(&page), Vec::<&str>::new());
    }

    #[test]
    fn document_preserves_every_text(texts in prop::array::uniform14(words())) {
        let document = json(&view_of(&texts));
        let written = serde_json::to_string(&document).unwrap();
        let read: Value = serde_json::from_str(&written).unwrap();
        prop_assert_eq!(&read, &document);
        prop_assert_eq!(complaints(&SCHEMA, &read), Vec::<String>::new());
        let found = strings(&read);
        for place in [0, 1, 3, 5, 7, 8, 9, 10, 11, 12, 13] {
            prop_assert!(found.contains(&texts[place].as_str()), "text {place} is lost");
        }
    }
}

/// Returns true for paths and commands, which are never shortened.
fn is_command_to_copy(line: &str) -> bool {
    ["  assay ", "record ", "command ", "more ", "        assay ", "repeat "]
        .iter()
        .any(|start| line.starts_with(start))
}
