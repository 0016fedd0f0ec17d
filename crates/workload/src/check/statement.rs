//! Statements as sequences of text, bound values and spliced texts.

use base::{Diagnostic, Dialect};

use super::checker::{Checker, JobScope};
use super::load::bindable;
use super::parameter_uses::ParameterUse;
use crate::expr::{
    Argument, Ast, AstKind, Compiled, Expr, InvalidExpr, Scope, compile, parse_braced,
};
use crate::read::{Excerpt, LARGEST_FILE, LocatedText};
use crate::text::{
    Fragment, MOST_VALUES, Piece, Scan, ScanOptions, SyntaxContext, ValuePositions, is_sound, mark,
    quote_for_shell, scan, scan_command, skeleton,
};
use crate::value::Type;
use crate::wording::quoted;

/// The way in which the values of a statement reach the database.
#[derive(Clone, Copy)]
pub(super) enum Binding<'b> {
    /// Values are parameters of a prepared statement of a job.
    Bound {
        /// The job that the statement belongs to.
        scope: JobScope<'b>,
        /// Number of the statement, from 1.
        number: usize,
    },
    /// Values are words of a command.
    Shell(JobScope<'b>),
    /// Values are constants inserted into the text; the string names the section in messages.
    Constant(&'b str),
}

impl<'b> Binding<'b> {
    /// Returns the job that the statement or command belongs to, if it belongs to one.
    fn scope(self) -> Option<JobScope<'b>> {
        match self {
            Binding::Bound { scope, .. } | Binding::Shell(scope) => Some(scope),
            Binding::Constant(_) => None,
        }
    }

    /// Returns true if the statement may use fields of a record.
    fn has_records(self) -> bool {
        self.scope().is_some_and(|scope| scope.has_records)
    }

    /// Returns the required kind of value, for messages.
    fn required_kind(self) -> &'static str {
        match self {
            Binding::Bound { .. } | Binding::Constant(_) => "value of a database",
            Binding::Shell(_) => "word of a command",
        }
    }
}

/// Words before the name of an object; a bound value cannot be such a name.
const WORDS_BEFORE_NAMES: &[&str] = &[
    "table", "into", "from", "join", "update", "exists", "index", "view", "truncate", "database",
    "schema",
];

/// A statement under construction.
#[derive(Default)]
struct StatementBuilder {
    pieces: Vec<Piece>,
    /// Number of values and dynamic splices so far.
    values: usize,
    /// True if the text differs from the source, which can change the meaning of the rest: a
    /// constant was spliced in, or a `$${` or a `?` was replaced.
    is_rewritten: bool,
    /// Size of its texts and of the marks for its values, in bytes.
    length: usize,
    /// The `${…}` that were replaced in the statement, for finding secrets.
    uses: Vec<ParameterUse>,
}

impl StatementBuilder {
    fn text(&mut self, text: &str) {
        self.length += text.len();
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    fn replaced(&mut self, text: &str) {
        self.is_rewritten = true;
        self.text(text);
    }

    /// Adds the text of a constant.
    ///
    /// # Errors
    /// The statement would exceed the largest file size; one statement may name a long parameter
    /// many times.
    fn constant(&mut self, text: &str, place: Excerpt<'_>) -> Result<(), Diagnostic> {
        if self.length.saturating_add(text.len()) > LARGEST_FILE {
            return Err(place
                .error("the statement has more than 64 MB with its constants inserted")
                .help("make its texts shorter, or take them from a file with `csv(…)`"));
        }
        self.replaced(text);
        Ok(())
    }

    fn value(&mut self, piece: Piece) {
        self.values += 1;
        self.length += mark(matches!(piece, Piece::Splice(_))).len();
        self.pieces.push(piece);
    }

    /// Returns the last word of the text so far, if white space follows it.
    fn word_before(&self) -> Option<&str> {
        match self.pieces.last() {
            Some(Piece::Text(text)) if text.ends_with(char::is_whitespace) => {
                text.split_whitespace().next_back()
            }
            _ => None,
        }
    }
}

impl<'f> Checker<'f> {
    /// Splits a statement or a command into its parts.
    fn scan(&self, source: Excerpt<'_>, binding: Binding<'_>, marks: ValuePositions<'_>) -> Scan {
        let placeholders = binding.has_records() && matches!(marks, ValuePositions::Written);
        let dialect = binding.scope().map_or(self.dialect, |scope| scope.dialect);
        match binding {
            Binding::Shell(_) => scan_command(source, marks),
            Binding::Bound { .. } | Binding::Constant(_) => {
                scan(source, ScanOptions { dialect, placeholders, marks })
            }
        }
    }

    /// Returns the pieces of a statement. A value with an error, which is reported, is replaced by
    /// `?` or by its source text.
    pub(super) fn statement(&mut self, source: Excerpt<'_>, binding: Binding<'_>) -> Vec<Piece> {
        let scan = self.scan(source, binding, ValuePositions::Written);
        self.scan_problems(source, &scan);
        if let Err(refused) = self.inserted.add(literal_bytes(&scan), source) {
            self.report_invalid(refused);
        }
        let mut assembly = StatementBuilder::default();
        for fragment in scan.fragments {
            match fragment {
                Fragment::Text(range) => assembly.text(&source.text()[range]),
                Fragment::Dollar => assembly.replaced("${"),
                Fragment::Placeholder(range, number) => {
                    assembly.is_rewritten = true;
                    let added = self.placeholder(&mut assembly, number, binding);
                    added.unwrap_or_else(|()| assembly.text(&source.text()[range]));
                }
                Fragment::Braced { range, content, within } => {
                    let place = BracedExpr { source, whole: source.part(range), within, binding };
                    let added = content
                        .map_err(InvalidExpr::from)
                        .and_then(|ast| self.add(&mut assembly, place, &ast, binding));
                    added.unwrap_or_else(|refused| {
                        self.report_invalid(refused);
                        assembly.text("?");
                    });
                }
            }
        }
        self.secrets.text(&skeleton(&assembly.pieces).0, &assembly.uses);
        trim(&mut assembly.pieces);
        self.whole_problems(source, &assembly, binding);
        assembly.pieces
    }

    /// Adds the value or text of a `${…}`.
    fn add(
        &mut self,
        assembly: &mut StatementBuilder,
        place: BracedExpr<'_, '_>,
        ast: &Ast,
        binding: Binding<'_>,
    ) -> Result<(), InvalidExpr> {
        let start = assembly.length;
        let names = self.secrets.names_in(ast, place.source.text());
        self.add_expression(assembly, place, ast, binding)?;
        assembly.uses.push(ParameterUse { place: start..assembly.length, names });
        Ok(())
    }

    fn add_expression(
        &mut self,
        assembly: &mut StatementBuilder,
        place: BracedExpr<'_, '_>,
        ast: &Ast,
        binding: Binding<'_>,
    ) -> Result<(), InvalidExpr> {
        let raw = raw_argument(place.source, ast)?;
        let ordinal = match binding {
            Binding::Bound { number, .. } => {
                format!("query {number} value {}", assembly.values + 1)
            }
            Binding::Shell(_) => format!("command value {}", assembly.values + 1),
            Binding::Constant(_) => String::new(),
        };
        let scope = self.statement_scope(binding, &ordinal);
        let Some(argument) = raw else {
            place.outside_literals()?;
            let compiled = compile(ast, place.source, scope)?;
            let compiled = self.count_nodes(
                bindable(compiled, place.content(ast), binding.required_kind())?,
                place.whole,
                binding.has_records(),
            )?;
            self.warn_of_name(assembly, place, &compiled);
            return add_value(assembly, compiled, place, self.dialect);
        };
        let compiled = compile(argument, place.source, scope)?;
        let compiled = bindable(compiled, place.content(argument), binding.required_kind())?;
        // A constant becomes a part of the text, so it is not counted as a node of an expression.
        if let Compiled::Constant(constant) = &compiled {
            return Ok(assembly.constant(&constant.to_text(), place.whole)?);
        }
        let node = self.count_nodes(compiled, place.whole, binding.has_records())?.into_node();
        assembly.value(Piece::Splice(Expr(node)));
        Ok(())
    }

    /// Adds the field that a `?` or `$1` refers to.
    fn placeholder(
        &mut self,
        assembly: &mut StatementBuilder,
        number: u32,
        binding: Binding<'_>,
    ) -> Result<(), ()> {
        let text = format!("${{field({number})}}");
        let located = LocatedText::outside(&text);
        let source = located.excerpt();
        let (ast, _) = parse_braced(source, 2);
        let place = BracedExpr { source, whole: source, within: SyntaxContext::Open, binding };
        let added = ast.map_err(InvalidExpr::from);
        let added = added.and_then(|ast| self.add(assembly, place, &ast, binding));
        added.map_err(|refused| self.report_invalid(refused))
    }

    fn statement_scope<'s>(&'s self, binding: Binding<'s>, ordinal: &'s str) -> Scope<'s> {
        match binding {
            Binding::Bound { scope, .. } | Binding::Shell(scope) => {
                self.request_scope(scope, ordinal)
            }
            Binding::Constant(what) => self.constant_scope(what),
        }
    }

    /// Warns of `insert into ${table}`: a bound value cannot be a name.
    fn warn_of_name(
        &mut self,
        assembly: &StatementBuilder,
        place: BracedExpr<'_, '_>,
        compiled: &Compiled,
    ) {
        let Some(word) = assembly.word_before().filter(|_| compiled.kind() == Type::Text) else {
            return;
        };
        if WORDS_BEFORE_NAMES.contains(&word.to_ascii_lowercase().as_str()) {
            self.sink.warning(|| {
                let content = place.whole.text().trim_start_matches("${").trim_end_matches('}');
                let message = format!("expected a name after `{word}`, found a text value");
                place
                    .whole
                    .warning(message)
                    .help(format!("to splice a name, write `${{raw({content})}}`"))
            });
        }
    }

    /// Reports errors that do not depend on the values.
    fn scan_problems(&mut self, source: Excerpt<'_>, scan: &Scan) {
        let is_value = |fragment: &&Fragment| match fragment {
            Fragment::Placeholder(..) | Fragment::Braced { .. } => true,
            Fragment::Text(_) | Fragment::Dollar => false,
        };
        let spliced = |fragment: &Fragment| match fragment {
            Fragment::Braced { range, .. } => {
                source.text()[range.clone()].starts_with(SPLICE_START)
            }
            Fragment::Text(_) | Fragment::Dollar | Fragment::Placeholder(..) => false,
        };
        let values = scan.fragments.iter().filter(is_value).filter(|value| !spliced(value));
        if scan.too_many || values.count() > MOST_VALUES {
            self.sink.error(|| source.error("the statement has more than 65,535 values"));
        }
        if let Some(&at) = scan.semicolons.first() {
            self.sink.error(|| semicolon(source, at));
        }
        if let Some(open) = scan.open {
            self.sink.error(|| unclosed(source, open));
        }
        if let Some(at) = scan.line_comment.filter(|at| source.is_joined_after(*at)) {
            self.sink.warning(|| {
                source
                    .part(at..at + 2)
                    .warning("this `--` comments out all that `\\` joins to the line")
                    .help("write `/* … */`, or move the comment to the end of the statement")
            });
        }
    }

    /// Reports errors of the statement as a whole.
    fn whole_problems(
        &mut self,
        source: Excerpt<'_>,
        assembly: &StatementBuilder,
        binding: Binding<'_>,
    ) {
        let is_command = matches!(binding, Binding::Shell(_));
        let Some(first) = assembly.pieces.first() else {
            self.sink.error(|| match is_command {
                true => source.error("the command is empty").help("write `command = ./program`"),
                false => source.error("the statement is empty").help("write `query = select 1`"),
            });
            return;
        };
        if let Piece::Text(text) = first
            && !is_command
            && let Some(why) = refused_word(text)
        {
            let word = text.split_whitespace().next().unwrap_or_default();
            self.sink.error(|| {
                source.part(0..word.len().min(source.text().len())).error(why.0).help(why.1)
            });
        }
        let scan =
            |source: Excerpt<'_>, marks: ValuePositions<'_>| self.scan(source, binding, marks);
        let sound = || is_sound(&assembly.pieces, scan);
        if self.sink.errors() == 0 && assembly.is_rewritten && !sound() {
            self.sink.error(|| {
                if is_command {
                    return source
                        .error("the command is malformed with its constants inserted")
                        .help("a spliced text must close its quotes and hold no line break");
                }
                source
                    .error("the statement is not a single statement with its constants inserted")
                    .help(
                        "a spliced text must close its quotes and hold no `;` and no control \
                         character",
                    )
            });
        }
    }
}

/// Start of a `${…}` whose value is spliced in.
const SPLICE_START: &str = "${raw(";

/// A `${…}` in a statement.
#[derive(Clone, Copy)]
struct BracedExpr<'f, 'b> {
    source: Excerpt<'f>,
    whole: Excerpt<'f>,
    within: SyntaxContext,
    binding: Binding<'b>,
}

impl<'f> BracedExpr<'f, '_> {
    fn content(&self, ast: &Ast) -> Excerpt<'f> {
        self.source.part(ast.range.clone())
    }

    /// Reports a value inside a literal or a comment.
    fn outside_literals(&self) -> Result<(), Diagnostic> {
        let what = self.whole.text();
        let inner = what.trim_start_matches("${").trim_end_matches('}');
        match self.within {
            SyntaxContext::Open => Ok(()),
            SyntaxContext::Literal(..) if matches!(self.binding, Binding::Shell(_)) => Err(self
                .whole
                .error(format!("{} is in quotes or after a backslash", quoted(what)))
                .help(format!(
                    "values are quoted automatically: remove the quotes;\nto splice its text, \
                     write `${{raw({inner})}}`; for a `${{` of the shell's, write `$${{`"
                ))),
            SyntaxContext::Literal(start, length) => {
                let quote = self.source.part(start..start + length).text();
                let message = format!("{} is inside {quote}…{quote}", quoted(what));
                Err(self.whole.error(message).help(format!(
                    "to bind a value, remove the quotes; to splice its text, write \
                     `${{raw({inner})}}`;\nfor a literal `${{`, write `$${{`"
                )))
            }
            SyntaxContext::LineComment(_) | SyntaxContext::BlockComment(_) => Err(self
                .whole
                .error(format!("{} is inside a comment", quoted(what)))
                .help("remove it, or write `$${` for a literal `${`")),
        }
    }
}

/// Adds a value. `dialect` is that of the main target, on which statements with inserted constants
/// run.
fn add_value(
    assembly: &mut StatementBuilder,
    compiled: Compiled,
    place: BracedExpr<'_, '_>,
    dialect: Dialect,
) -> Result<(), InvalidExpr> {
    match place.binding {
        Binding::Bound { .. } => assembly.value(Piece::Value(Expr(compiled.into_node()))),
        Binding::Shell(_) => match compiled {
            Compiled::Constant(constant) => {
                let mut word = constant.to_text();
                quote_for_shell(0, &mut word);
                assembly.constant(&word, place.whole)?;
            }
            Compiled::Dynamic(node, _) => assembly.value(Piece::Quoted(Expr(node))),
        },
        Binding::Constant(_) => {
            let literal = compiled.constant().and_then(|constant| constant.sql(dialect));
            assembly.constant(&literal.unwrap_or_default(), place.whole)?;
        }
    }
    Ok(())
}

/// Returns the argument of an expression that is one call of `raw`; `None` for any other.
pub(super) fn raw_argument<'a>(
    source: Excerpt<'_>,
    ast: &'a Ast,
) -> Result<Option<&'a Ast>, Diagnostic> {
    let AstKind::Call(name, arguments) = &ast.kind else {
        return Ok(None);
    };
    if source.part(name.clone()).text() != "raw" {
        return Ok(None);
    }
    match arguments.as_slice() {
        [Argument { name: None, value, after: None }] => Ok(Some(value)),
        _ => Err(source
            .part(ast.range.clone())
            .error("`raw` takes one argument")
            .help("write `${raw(table)}`")),
    }
}

/// Returns the size of the literal text of a statement, in bytes.
fn literal_bytes(scan: &Scan) -> usize {
    let length = |fragment: &Fragment| match fragment {
        Fragment::Text(range) => range.len(),
        Fragment::Dollar | Fragment::Placeholder(..) | Fragment::Braced { .. } => 0,
    };
    scan.fragments.iter().map(length).sum()
}

/// Removes white space at both ends of a statement, and each piece of text that is empty
/// afterwards.
fn trim(pieces: &mut Vec<Piece>) {
    if let Some(Piece::Text(text)) = pieces.first_mut() {
        *text = text.trim_start().to_owned();
    }
    if let Some(Piece::Text(text)) = pieces.last_mut() {
        text.truncate(text.trim_end().len());
    }
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
}

/// Returns an error and its help if a text begins with a word that no statement may begin with.
fn refused_word(text: &str) -> Option<(&'static str, &'static str)> {
    let word = text.split_whitespace().next().unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "begin" => Some((
            "`begin` would leave its connection in a transaction",
            "write `transaction = yes` in the job: its statements run in one transaction",
        )),
        "use" => Some((
            "`use` would change the database of one connection of many",
            "name the database in the target's URL",
        )),
        _ => None,
    }
}

fn semicolon(source: Excerpt<'_>, at: usize) -> Diagnostic {
    let text = source.text();
    let after = text[at + 1..].trim();
    let error = source.part(at..at + 1).error("found a `;` in a statement");
    // A statement that runs before or after the runs of an arm is named by its own key.
    let key = error.option.as_deref().unwrap_or("`query`").to_owned();
    if after.is_empty() {
        return error.help(format!("remove it: each {key} is one statement"));
    }
    if text[..at].ends_with(char::is_whitespace) {
        return error.help(format!(
            "a statement is literal to the end of its line: write a comment on a line of its own,\n\
             and a second statement as a second {key}"
        ));
    }
    error.help(format!("write the second statement as a second {key}"))
}

fn unclosed(source: Excerpt<'_>, open: SyntaxContext) -> Diagnostic {
    match open {
        SyntaxContext::BlockComment(at) => source
            .part(at..at + 2)
            .error("this comment is not closed")
            .help("write the missing `*/`"),
        SyntaxContext::Literal(at, length) => {
            let place = source.part(at..at + length);
            let help = format!("write the missing `{}`", place.text());
            place.error("the literal that begins here is not closed").help(help)
        }
        SyntaxContext::LineComment(at) => {
            source.part(at..at + 2).error("this comment is not closed")
        }
        SyntaxContext::Open => source.error("the statement is not closed"),
    }
}
