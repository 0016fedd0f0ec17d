//! Diagnostics: a problem in a text, its location, and a correction.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

use crate::printable::{printable, printable_lines, with_control_pictures};
use crate::secret::HIDDEN;

/// A range of bytes in a [`SourceText`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// Returns the range from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// Returns the range from the beginning of this one to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }
}

/// A text with the name by which messages refer to it.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// A path, or a word like `--set`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The run continues: something is ignored or unusual.
    Warning,
    /// The run cannot start.
    Error,
}

/// A diagnostic: a message, its location, and a correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity, which decides whether the run can start.
    pub severity: Severity,
    /// The command-line option that the problem is about, in backquotes, such as `--set rate=1`;
    /// `None` if the problem is in the text.
    pub option: Option<Box<str>>,
    /// The problem, in one sentence without a final period.
    pub message: String,
    /// The location; `None` if the problem is in no line of the text.
    pub span: Option<Span>,
    /// A short text at the caret.
    pub label: String,
    /// The correction: a text to write instead, or an action.
    pub help: Option<String>,
}

/// Maximum length of a displayed line, in bytes; a longer one is shown in part.
const LONGEST_LINE: usize = 160;

impl Diagnostic {
    /// Makes an error at a location.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            option: None,
            message: message.into(),
            span: Some(span),
            label: String::new(),
            help: None,
        }
    }

    /// Makes a warning at a location.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// Adds a short text at the caret.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Adds the correction: a text to write instead, or an action.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds `did you mean …?` if a similar word was found.
    pub fn did_you_mean(self, near: Option<&str>) -> Diagnostic {
        match near {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// Returns the message, preceded by the option that it is about.
    pub fn sentence(&self) -> String {
        match &self.option {
            Some(option) => format!("{option}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Renders the diagnostic: message, line, caret, correction; with colours if `styled`.
    pub fn render(&self, source: &SourceText, styled: bool) -> String {
        let level = match self.severity {
            Severity::Warning => Level::WARNING,
            Severity::Error => Level::ERROR,
        };
        let place = self.span.map(|span| Excerpt::find(&source.text, span));
        let sentence = self.sentence();
        let (message, label) = (printable(&sentence), printable(&self.label));
        let name = printable(&source.name);
        let help = self.help.as_deref().map(printable_lines);
        let title = level.primary_title(&*message);
        let mut group = match &place {
            None => title.element(Origin::path(&*name)),
            Some(place) => title.element(place.snippet(&name, &label)),
        };
        if let Some(column) = place.as_ref().and_then(|place| place.cut_column) {
            let note = format!("the line is long: this is column {column}");
            group = group.element(Level::NOTE.message(note));
        }
        if let Some(help) = &help {
            group = group.element(Level::HELP.message(&**help));
        }
        let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
        renderer.decor_style(DecorStyle::Ascii).render(&[group])
    }
}

/// The line of a span, cut to a readable length.
struct Excerpt {
    line_number: usize,
    text: String,
    span: Span,
    /// Column of the caret in the whole line, from 1; `None` if the line was not cut.
    cut_column: Option<usize>,
}

/// Number of bytes before the displayed part that are searched for the start of a password.
const LOOK_BACK: usize = 4_096;

impl Excerpt {
    fn find(text: &str, span: Span) -> Excerpt {
        let at = floor_boundary(text, span.start);
        let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        let line_end = line_start + text[line_start..line_end].trim_end_matches('\r').len();
        let cut = line_end - line_start > LONGEST_LINE;
        let (start, end) = if cut {
            let start = at.saturating_sub(LONGEST_LINE / 2).max(line_start);
            let end = (start + LONGEST_LINE).min(line_end);
            (floor_boundary(text, start), floor_boundary(text, end))
        } else {
            (line_start, line_end)
        };
        let from = floor_boundary(text, start.saturating_sub(LOOK_BACK).max(line_start));
        let caret_start = at.clamp(start, end);
        let caret_end = floor_boundary(text, span.end).clamp(caret_start, end);
        let excerpt = without_any_password(&text[from..end]).split_off(start - from);
        // The picture of a control character has more bytes than the character: the caret is placed
        // by the new lengths.
        let [before, marked, after] = [
            &excerpt[..caret_start - start],
            &excerpt[caret_start - start..caret_end - start],
            &excerpt[caret_end - start..],
        ]
        .map(with_control_pictures);
        Excerpt {
            line_number: text[..line_start].matches('\n').count() + 1,
            span: Span::new(before.len(), before.len() + marked.len()),
            text: [before, marked, after].concat(),
            cut_column: cut.then(|| text[line_start..at].chars().count() + 1),
        }
    }

    fn snippet<'a>(
        &'a self,
        name: &'a str,
        label: &'a str,
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let annotation = AnnotationKind::Primary.span(self.span.start..self.span.end);
        let annotation = if label.is_empty() { annotation } else { annotation.label(label) };
        Snippet::source(self.text.as_str())
            .line_start(self.line_number)
            .path(name)
            .annotation(annotation)
    }
}

/// Replaces each byte of every password in a text with an asterisk; byte positions stay the same.
/// Passwords are found in URLs and in data source names of Go's MySQL driver, but not in settings
/// such as `password=…`. A password may contain characters that a URL does not allow: everything
/// before the last `@` of a word counts as a login.
pub fn without_passwords(text: &str) -> String {
    mask(text, &passwords_in(text))
}

/// Replaces each byte of every password in a text with an asterisk. The passwords are those that
/// [`without_passwords`] finds, and those in settings such as `password=…`. The placeholders of
/// messages stay.
pub fn without_any_password(text: &str) -> String {
    let settings = password_settings_in(text).into_iter().map(|found| in_message(text, found));
    let mut passwords = passwords_in(text);
    passwords.extend(settings.filter(|found| !is_placeholder(&text[found.clone()])));
    passwords.sort_unstable_by_key(|password| password.start);
    mask(text, &passwords)
}

/// Returns true for a value that this program writes in place of a password.
fn is_placeholder(value: &str) -> bool {
    // The value may have been cut before the closing parenthesis of the placeholder.
    matches!(value, "VALUE" | "…") || value.starts_with(HIDDEN.trim_end_matches(')'))
}

/// Returns the range of the password that begins where `found` does, in a text that may be a
/// message. Escape sequences, and the end of a quotation around the password, do not belong to the
/// range. In doubt, the range is too long: a value in quotes ends at its quotation mark, another
/// value at white space, and an option of a URL also at `&`.
fn in_message(text: &str, found: Range<usize>) -> Range<usize> {
    let before = &text[..found.start];
    if ends_quotation(before) {
        return found.start..found.start;
    }
    let line = text[found.start..].split(['\u{1b}', '\n']).next().unwrap_or_default();
    let value = match before.chars().next_back().filter(|last| QUOTES.contains(last)) {
        Some(quote) => &line[..end_of_quoted(line, quote)],
        None => {
            let value = &line[..end_of_unquoted(line)];
            let is_option = before.strip_suffix('=').is_some_and(is_option_of_url);
            let value = if is_option { value.split('&').next().unwrap_or(value) } else { value };
            without_end_of_quotation(value)
        }
    };
    found.start..found.start + value.len()
}

/// Returns the length of a value in quotes; `line` begins after the opening quotation mark. A
/// quotation mark in the value is doubled or follows a backslash. A value that is not closed
/// extends to the first backquote, or to the end of the line.
fn end_of_quoted(line: &str, quote: char) -> usize {
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let is_doubled = |next: Option<&(usize, char)>| next.is_some_and(|next| next.1 == quote);
        if character == '\\' || character == quote && is_doubled(characters.peek()) {
            characters.next();
        } else if character == quote {
            return at;
        }
    }
    line.find('`').unwrap_or(line.len())
}

/// Returns the length of a value without quotes: up to white space that follows no backslash.
fn end_of_unquoted(line: &str) -> usize {
    let mut is_escaped = false;
    let ends = |character: char| {
        let ends = character.is_whitespace() && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    };
    line.find(ends).unwrap_or(line.len())
}

/// Returns a value without the mark that ends a quotation around it, and without the punctuation
/// after this mark.
fn without_end_of_quotation(value: &str) -> &str {
    match value.rsplit_once(['`', '\'', '"']) {
        Some((value, after)) if after.chars().all(|c| c.is_ascii_punctuation()) => value,
        Some(_) | None => value,
    }
}

/// Returns true if the quotation mark at the end of a text ends a quotation that began in the same
/// word, as in `'password='`.
fn ends_quotation(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or(text);
    let quote = word.chars().next_back().filter(|last| QUOTES.contains(last));
    quote.is_some_and(|quote| word.matches(quote).count() % 2 == 0)
}

/// Returns true if a text ends with `?` or `&` and the name of an option of a URL.
fn is_option_of_url(text: &str) -> bool {
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.trim_end_matches(is_in_name).ends_with(['?', '&'])
}

/// Replaces each byte of the given ranges with an asterisk. The ranges are ordered by their starts.
fn mask(text: &str, passwords: &[Range<usize>]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut end = 0;
    for password in passwords {
        // The login of a URL and an option may overlap.
        let start = password.start.max(end);
        if start < password.end {
            shown.push_str(&text[end..start]);
            shown.push_str(&"*".repeat(password.end - start));
            end = password.end;
        }
    }
    shown.push_str(&text[end..]);
    shown
}

/// Returns the ranges of the passwords in the URLs and data source names of a text, in order.
/// [`without_passwords`] describes the rule.
pub fn passwords_in(text: &str) -> Vec<Range<usize>> {
    let mut passwords = passwords_of_urls_in(text);
    passwords.extend(passwords_of_go_in(text));
    passwords.sort_unstable_by_key(|password| password.start);
    passwords
}

/// Ends of the login in a data source name of Go's MySQL driver: the `@` and the beginning of the
/// address (github.com/go-sql-driver/mysql, "DSN").
const ENDS_OF_GO_LOGIN: [&str; 4] = ["@tcp(", "@unix(", "@(", "@/"];

/// Returns the ranges of the passwords in data source names of Go's MySQL driver, in order:
/// `USER:PASSWORD@tcp(HOST:PORT)/DATABASE`. Words with a URL are left out.
fn passwords_of_go_in(text: &str) -> Vec<Range<usize>> {
    let mut passwords = Vec::new();
    let mut start = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let end = ENDS_OF_GO_LOGIN.iter().filter_map(|end| word.rfind(end)).max();
        let login = end.filter(|_| !word.contains("://")).map_or("", |end| &word[..end]);
        let user = login.find(':').map_or(login.len(), |colon| colon + 1);
        if user < login.len() {
            passwords.push(start + user..start + login.len());
        }
        start += word.len();
    }
    passwords
}

/// Returns the ranges of the passwords in the URLs of a text, in order.
fn passwords_of_urls_in(text: &str) -> Vec<Range<usize>> {
    let mut passwords = Vec::new();
    let mut at = 0;
    while let Some(slashes) = text[at..].find("://") {
        let start = at + slashes + 3;
        let authority = &text[start..];
        let end = authority.find(char::is_whitespace).unwrap_or(authority.len());
        let login = authority[..end].rfind('@').map_or("", |at| &authority[..at]);
        let user = login.find(':').map_or(login.len(), |colon| colon + 1);
        if user < login.len() {
            passwords.push(start + user..start + login.len());
        }
        // Without an `@`, no later URL of the same word has a login.
        at = start + if login.is_empty() { end } else { login.len() };
    }
    passwords
}

/// Returns true if a text has a password: in a URL, in a data source name, or as a setting of a
/// connection such as `password=…`. A value that begins with `$` or `?` is a placeholder and no
/// password.
pub fn holds_password(text: &str) -> bool {
    !passwords_in(text).is_empty() || !password_settings_in(text).is_empty()
}

/// Ends of the names of settings and options that hold a password, such as `sslpassword`.
const SETTINGS: [&str; 3] = ["password", "passwd", "pwd"];

/// Returns the ranges of the passwords that a text sets, in order: `password=…`, as in the settings
/// of a connection or the options of a URL. A value that begins with `$` or `?` is a placeholder.
fn password_settings_in(text: &str) -> Vec<Range<usize>> {
    const BLANKS: [char; 2] = [' ', '\t'];
    let lower = text.to_ascii_lowercase();
    let ends_of =
        |name: &'static str| lower.match_indices(name).map(move |(at, _)| at + name.len());
    let mut ends: Vec<usize> = SETTINGS.into_iter().flat_map(ends_of).collect();
    ends.sort_unstable();
    let mut found: Vec<Range<usize>> = Vec::new();
    for end in ends {
        if found.last().is_some_and(|last| end < last.end) {
            continue;
        }
        let Some(rest) = text[end..].trim_start_matches(BLANKS).strip_prefix('=') else { continue };
        let value = rest.trim_start_matches(BLANKS);
        let quote = usize::from(value.starts_with(QUOTES));
        let password = password_at(value);
        if !password.is_empty() && !password.starts_with(['$', '?']) {
            let start = text.len() - value.len() + quote;
            found.push(start..start + password.len());
        }
    }
    found
}

/// Quotation marks around a value.
const QUOTES: [char; 2] = ['\'', '"'];

/// Returns the value at the beginning of a text: in quotes, or up to a separator.
fn password_at(text: &str) -> &str {
    let is_end = |c: char| c.is_whitespace() || QUOTES.contains(&c) || "&;,)".contains(c);
    match text.chars().next() {
        Some(quote) if QUOTES.contains(&quote) => {
            let inner = &text[1..];
            &inner[..inner.find(quote).unwrap_or(inner.len())]
        }
        _ => &text[..text.find(is_end).unwrap_or(text.len())],
    }
}

/// Returns the nearest character boundary at or before `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str, diagnostic: &Diagnostic) -> String {
        diagnostic.render(&SourceText { name: "mail.ini".into(), text: text.into() }, false)
    }

    #[test]
    fn diagnostic_shows_line_caret_and_remedy() {
        let text = "duration = 10s\nraet = 5\n";
        let diagnostic = Diagnostic::error(Span::new(15, 19), "unknown key `raet`")
            .label("not a key of a job")
            .help("did you mean `rate`?");
        let expected = "\
error: unknown key `raet`
 --> mail.ini:2:1
  |
2 | raet = 5
  | ^^^^ not a key of a job
  |
  = help: did you mean `rate`?";
        assert_eq!(render(text, &diagnostic), expected);
    }

    #[test]
    fn connection_settings_with_a_password_are_recognised() {
        for (text, expected) in [
            ("host=db1 password=hunter2 port=1", &["hunter2"][..]),
            ("Server=db1;Pwd = hunter2;sslpassword='a b'", &["hunter2", "a b"]),
            ("postgres://h/d?password=x&passwd=y", &["x", "y"]),
            ("set password = ${pw}, password = ?, password = \"\"", &[]),
            ("password file", &[]),
            ("a password, or a=b", &[]),
            ("pwd=é;", &["é"]),
            ("password=", &[]),
        ] {
            let found = password_settings_in(text);
            let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn password_in_a_url_or_a_setting_is_recognised() {
        for text in [
            "redis://:pw@h",
            "postgres://ann:pw@h/d",
            "mongodb+srv://ann:pw@h/d?tls=true",
            "jdbc:postgresql://h/d?user=ann&password=pw",
            "host=h user=ann Password=pw",
            "Server=h;Uid=ann;Pwd=pw",
            "root:pw@tcp(h:3306)/d?tls=true",
            "DSN=root:p:w@unix(/run/mysqld.sock)/d",
            "'root:pw@(h)/'",
            "-dsn=root:pw@/d",
        ] {
            assert!(holds_password(text), "{text}");
        }
        for text in [
            "postgres://ann@h/d",
            "http://proxy:3128",
            "a:b@c",
            "/run/user/0",
            "host=h",
            "root@tcp(h:3306)/d",
            "root:@tcp(h:3306)/d",
            "git@h:a/b",
            "a: b@tcp(h)",
        ] {
            assert!(!holds_password(text), "{text}");
        }
    }

    #[test]
    fn a_line_is_shown_without_the_password_of_a_setting() {
        let text = "url = postgres://h/d?password=hunter2&tls=off";
        let shown = render(text, &Diagnostic::error(Span::new(6, 9), "odd"));
        assert!(shown.contains("1 | url = postgres://h/d?password=*******&tls=off"), "{shown}");
        let shown = render("option.passwd = hunter2", &Diagnostic::error(Span::new(0, 3), "odd"));
        assert!(shown.contains("1 | option.passwd = *******"), "{shown}");
    }

    #[test]
    fn a_line_is_shown_without_the_password_of_its_url() {
        let text = "ulr = postgres://ann:hunt:er@2@db/shop?x=y://z mysql://b@h sim://";
        let shown = render(text, &Diagnostic::error(Span::new(0, 3), "unknown key"));
        let line = "1 | ulr = postgres://ann:*********@db/shop?x=y://z mysql://b@h sim://";
        assert!(shown.contains(line), "{shown}");
        let cut = render("u = pg://ann:a/b@c", &Diagnostic::error(Span::new(0, 1), "odd"));
        assert!(cut.contains("1 | u = pg://ann:***@c"), "{cut}");
        let huge = format!("{}://a:{}hunter2@h", "x".repeat(1_000), "y".repeat(500));
        let shown = render(&huge, &Diagnostic::error(Span::new(1_505, 1_512), "odd"));
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn passwords_are_found_in_the_order_of_the_text() {
        let text = "root:p@w@tcp(h)/d mysql://b:pg@h/d é:x@/ http://h,root:pw@tcp(h)/d";
        let expected = "root:***@tcp(h)/d mysql://b:**@h/d é:*@/ http://h,root:**@tcp(h)/d";
        assert_eq!(without_passwords(text), expected);
    }

    #[test]
    fn passwords_of_settings_are_masked_in_messages_and_placeholders_stay() {
        for (text, expected) in [
            ("no `pg://h/d?password=pw`: gone", "no `pg://h/d?password=**`: gone"),
            ("no `pg://h/d?a=1&pwd=p,w)&b=2`.", "no `pg://h/d?a=1&pwd=****&b=2`."),
            ("'jdbc:x://h/d?password=pw' found", "'jdbc:x://h/d?password=**' found"),
            ("\u{1b}[1mx?password=pw\u{1b}[0m it", "\u{1b}[1mx?password=**\u{1b}[0m it"),
            ("`host=h password='p w'`, b", "`host=h password='***'`, b"),
            ("`h Pwd=pw`; write it", "`h Pwd=**`; write it"),
            ("pg://h:1/d?password=p@w", "pg://h:****************"),
            ("pg://a:b@h/d?password=pw", "pg://a:*@h/d?password=**"),
            ("write `password=VALUE`", "write `password=VALUE`"),
            ("`--set password=…` and PGPASSWORD", "`--set password=…` and PGPASSWORD"),
            ("got password=(secret), ?", "got password=(secret), ?"),
            ("x?password=(secret): no", "x?password=(secret): no"),
            ("password = ${pw}", "password = ${pw}"),
            ("host=h password=p,w&x port=1", "host=h password=***** port=1"),
            ("`h password='it\\'s it''s' port=1`", "`h password='***********' port=1`"),
            ("h password=a\\ bc port=1", "h password=***** port=1"),
            ("`h password='p w`: gone", "`h password='***`: gone"),
            ("pg://h/d?password=x\"y", "pg://h/d?password=***"),
            ("no 'password=' found\n\nhelp 'x'", "no 'password=' found\n\nhelp 'x'"),
            ("3 | set pwd='x\n  |  ^ 'help", "3 | set pwd='*\n  |  ^ 'help"),
        ] {
            assert_eq!(without_any_password(text), expected);
        }
    }

    #[test]
    fn diagnostic_without_a_span_names_the_file() {
        let diagnostic = Diagnostic { span: None, ..Diagnostic::error(Span::default(), "empty") };
        assert_eq!(
            render("", &diagnostic.help("fill it")),
            "\
error: empty
--> mail.ini
 = help: fill it"
        );
    }

    #[test]
    fn a_huge_line_is_shown_in_part_with_the_true_column() {
        let text = format!("query = {}x", "a".repeat(10_000_000));
        let at = text.len() - 1;
        let shown = render(&text, &Diagnostic::error(Span::new(at, at + 1), "bad"));
        assert!(shown.len() < 1_000, "{}", shown.len());
        assert!(shown.contains("this is column 10000009"), "{shown}");
    }

    #[test]
    fn diagnostic_prints_no_terminal_control_characters() {
        let text = "a = \u{9b}2J\u{202e}b\n";
        let diagnostic = Diagnostic::error(Span::new(11, 12), "no\nerror: \x1b[2Jforged")
            .label("\x1b]0;title\x07")
            .help("\u{9b}1m\nVALID");
        let source = SourceText { name: "\x1bc.ini".into(), text: text.into() };
        let shown = diagnostic.render(&source, false);
        let obeyed = |c: char| c != '\n' && crate::is_terminal_control(c);
        assert!(!shown.contains(obeyed), "{shown:?}");
        assert!(shown.starts_with("error: no error: \u{fffd}[2Jforged\n"), "{shown}");
        assert!(!shown.lines().any(|line| line.starts_with("VALID")), "{shown}");
        assert!(shown.contains("1 | a = \u{fffd}2J\u{fffd}b\n  |         ^"), "{shown}");
    }

    #[test]
    fn spans_outside_the_text_or_inside_characters_do_not_panic() {
        for (start, end) in [(0, 0), (2, 1), (1, 2), (100, 200)] {
            let shown = render("é=\u{0}\r\n", &Diagnostic::warning(Span::new(start, end), "odd"));
            assert!(shown.starts_with("warning: odd"), "{shown}");
        }
        assert!(render("", &Diagnostic::error(Span::new(0, 0), "empty")).contains("empty"));
    }
}
