//! What does a statement send? Text, bound values and spliced texts.

use base::Diagnostic;

use super::load::bindable;
use super::scan::{Fragment, Reading, Scan, Within, is_sound, scan};
use super::{Checker, Post, shell};
use crate::expr::{
    Argument, Ast, AstKind, Compiled, Constant, Expr, Refused, Scope, Type, Variables, compile,
    parse_braced,
};
use crate::generate::quote_for_shell;
use crate::plan::Piece;
use crate::print;
use crate::read::{Excerpt, Passage};
use crate::wording::quoted;

/// How the values of a statement get to the database.
#[derive(Clone, Copy)]
pub(super) enum Binding<'b> {
    /// As parameters of a prepared statement of a job.
    Bound {
        /// The job.
        post: Post<'b>,
        /// Its variables.
        variables: &'b Variables,
        /// The number of the statement, from 1.
        number: usize,
    },
    /// As words of a command.
    Shell {
        /// The job.
        post: Post<'b>,
        /// Its variables.
        variables: &'b Variables,
    },
    /// Written into the text, as they are constants; `what` they are part of, in words.
    Written(&'b str),
}

impl Binding<'_> {
    /// What a value must be, in a sentence.
    fn takes(self) -> &'static str {
        match self {
            Binding::Bound { .. } | Binding::Written(_) => "value of a database",
            Binding::Shell { .. } => "word of a command",
        }
    }
}

/// Words behind which the name of something stands, which cannot be a value.
const BEFORE_NAMES: &[&str] = &[
    "table", "into", "from", "join", "update", "exists", "index", "view", "truncate", "database",
    "schema",
];

/// A statement while it is put together.
struct Assembly {
    pieces: Vec<Piece>,
    /// How many values and dynamic splices there are.
    values: usize,
    /// Whether a constant was spliced in, which can change what the rest means.
    spliced: bool,
}

impl Assembly {
    fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    fn constant(&mut self, text: &str) {
        self.spliced = true;
        self.text(text);
    }

    fn value(&mut self, piece: Piece) {
        self.values += 1;
        self.pieces.push(piece);
    }

    /// The last word of the text so far, if a value stood right behind it.
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
    /// Takes a statement or a command apart.
    fn scan(&self, source: Excerpt<'_>, binding: Binding<'_>, placeholders: bool) -> Scan {
        match binding {
            Binding::Shell { .. } => shell::scan(source),
            Binding::Bound { .. } | Binding::Written(_) => {
                scan(source, Reading { dialect: self.dialect, placeholders })
            }
        }
    }

    /// The pieces of a statement; after a complaint, those that could be made.
    pub(super) fn statement(&mut self, source: Excerpt<'_>, binding: Binding<'_>) -> Vec<Piece> {
        let scan = self.scan(source, binding, self.has_records);
        self.scan_problems(source, &scan);
        let mut assembly = Assembly { pieces: Vec::new(), values: 0, spliced: false };
        for fragment in scan.fragments {
            match fragment {
                Fragment::Text(range) => assembly.text(&source.text()[range]),
                Fragment::Dollar => assembly.text("${"),
                Fragment::Placeholder(range, number) => {
                    let added = self.placeholder(&mut assembly, number, binding);
                    added.unwrap_or_else(|()| assembly.text(&source.text()[range]));
                }
                Fragment::Braced { range, content, within } => {
                    let place = Braced { source, all: source.part(range), within, binding };
                    let added = content
                        .map_err(Refused::from)
                        .and_then(|ast| self.add(&mut assembly, place, &ast, binding));
                    added.unwrap_or_else(|refused| {
                        self.refuse(refused);
                        assembly.text("?");
                    });
                }
            }
        }
        trim(&mut assembly.pieces);
        self.whole_problems(source, &assembly, binding);
        assembly.pieces
    }

    /// Adds what a `${…}` stands for.
    fn add(
        &mut self,
        assembly: &mut Assembly,
        place: Braced<'_, '_>,
        ast: &Ast,
        binding: Binding<'_>,
    ) -> Result<(), Refused> {
        let raw = raw_argument(place.source, ast)?;
        let ordinal = match binding {
            Binding::Bound { number, .. } => {
                format!("query {number} value {}", assembly.values + 1)
            }
            Binding::Shell { .. } => format!("command value {}", assembly.values + 1),
            Binding::Written(_) => String::new(),
        };
        let scope = self.statement_scope(binding, &ordinal);
        let Some(argument) = raw else {
            place.outside_literals()?;
            let compiled = compile(ast, place.source, scope)?;
            let compiled =
                self.counted(bindable(compiled, place.content(ast), binding.takes())?, place.all)?;
            self.warn_of_name(assembly, place, &compiled);
            return add_value(assembly, compiled, binding);
        };
        let compiled = compile(argument, place.source, scope)?;
        let compiled =
            self.counted(bindable(compiled, place.content(argument), binding.takes())?, place.all)?;
        match compiled {
            Compiled::Constant(constant) => assembly.constant(&constant.bare()),
            Compiled::Dynamic(node, _) => assembly.value(Piece::Splice(Expr(node))),
        }
        Ok(())
    }

    /// Adds the field that a `?` or `$1` stands for.
    fn placeholder(
        &mut self,
        assembly: &mut Assembly,
        number: u32,
        binding: Binding<'_>,
    ) -> Result<(), ()> {
        let text = format!("${{field({number})}}");
        let passage = Passage::outside(&text);
        let source = passage.excerpt();
        let (ast, _) = parse_braced(source, 2);
        let place = Braced { source, all: source, within: Within::Open, binding };
        let added = ast.map_err(Refused::from);
        let added = added.and_then(|ast| self.add(assembly, place, &ast, binding));
        added.map_err(|refused| self.refuse(refused))
    }

    fn statement_scope<'s>(&'s self, binding: Binding<'s>, ordinal: &'s str) -> Scope<'s> {
        match binding {
            Binding::Bound { post, variables, .. } | Binding::Shell { post, variables } => {
                self.request_scope(variables, post, ordinal)
            }
            Binding::Written(what) => self.fixed_scope(what),
        }
    }

    /// Warns of `insert into ${table}`: a value is no name.
    fn warn_of_name(&mut self, assembly: &Assembly, place: Braced<'_, '_>, compiled: &Compiled) {
        let Some(word) = assembly.word_before().filter(|_| compiled.kind() == Type::Text) else {
            return;
        };
        if BEFORE_NAMES.contains(&word.to_ascii_lowercase().as_str()) {
            self.sink.warning(|| {
                let content = place.all.text().trim_start_matches("${").trim_end_matches('}');
                let message = format!("a text value stands behind `{word}`, where a name belongs");
                place
                    .all
                    .warning(message)
                    .help(format!("to splice a name, write `${{raw({content})}}`"))
            });
        }
    }

    /// Complains about what is wrong whatever the values are.
    fn scan_problems(&mut self, source: Excerpt<'_>, scan: &Scan) {
        if scan.too_many {
            self.sink.error(|| source.error("the statement has more than 65,535 values"));
        }
        if let Some(&at) = scan.semicolons.first() {
            self.sink.error(|| semicolon(source, at));
        }
        if let Some(open) = scan.open {
            self.sink.error(|| unclosed(source, open));
        }
        if let Some(at) = scan.line_comment.filter(|at| source.joined_behind(*at)) {
            self.sink.warning(|| {
                source
                    .part(at..at + 2)
                    .warning("this `--` comments out all that `\\` joins to the line")
                    .help("write `/* … */`, or move the comment to the end of the statement")
            });
        }
    }

    /// Complains about what is wrong with the statement as a whole.
    fn whole_problems(&mut self, source: Excerpt<'_>, assembly: &Assembly, binding: Binding<'_>) {
        let is_command = matches!(binding, Binding::Shell { .. });
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
        let skeleton = || print::skeleton(&assembly.pieces);
        let scan = |source: Excerpt<'_>| self.scan(source, binding, false);
        let sound = || is_sound(&skeleton(), assembly.values, scan);
        if self.sink.errors() == 0 && assembly.spliced && !sound() {
            self.sink.error(|| {
                if is_command {
                    return source
                        .error("the command is no longer one once its constants are in it")
                        .help("a spliced text must close its quotes and hold no line break");
                }
                source
                    .error("the statement is no longer one statement once its constants are in it")
                    .help(
                        "a spliced text must close its quotes and hold no `;` and no control \
                         character",
                    )
            });
        }
    }
}

/// A `${…}` in a statement.
#[derive(Clone, Copy)]
struct Braced<'f, 'b> {
    source: Excerpt<'f>,
    all: Excerpt<'f>,
    within: Within,
    binding: Binding<'b>,
}

impl<'f> Braced<'f, '_> {
    fn content(&self, ast: &Ast) -> Excerpt<'f> {
        self.source.part(ast.range.clone())
    }

    /// Complains about a value inside a literal or a comment.
    fn outside_literals(&self) -> Result<(), Diagnostic> {
        let what = self.all.text();
        let inner = what.trim_start_matches("${").trim_end_matches('}');
        match self.within {
            Within::Open => Ok(()),
            Within::Literal(..) if matches!(self.binding, Binding::Shell { .. }) => Err(self
                .all
                .error(format!("{} stands in quotes or behind a backslash", quoted(what)))
                .help(format!(
                    "a value is put in quotes where it needs them: remove yours;\nto splice its \
                     text, write `${{raw({inner})}}`; for a `${{` of the shell's, write `$${{`"
                ))),
            Within::Literal(start, length) => {
                let quote = self.source.part(start..start + length).text();
                let message = format!("{} stands inside {quote}…{quote}", quoted(what));
                Err(self.all.error(message).help(format!(
                    "to bind a value, remove the quotes; to splice its text, write \
                     `${{raw({inner})}}`;\nfor a literal `${{`, write `$${{`"
                )))
            }
            Within::LineComment(_) | Within::BlockComment(_) => Err(self
                .all
                .error(format!("{} stands inside a comment", quoted(what)))
                .help("remove it, or write `$${` for a literal `${`")),
        }
    }
}

fn add_value(
    assembly: &mut Assembly,
    compiled: Compiled,
    binding: Binding<'_>,
) -> Result<(), Refused> {
    match binding {
        Binding::Bound { .. } => assembly.value(Piece::Value(Expr(compiled.into_node()))),
        Binding::Shell { .. } => match compiled {
            Compiled::Constant(constant) => {
                let mut word = constant.bare();
                quote_for_shell(0, &mut word);
                assembly.constant(&word);
            }
            Compiled::Dynamic(node, _) => assembly.value(Piece::Quoted(Expr(node))),
        },
        Binding::Written(_) => {
            let literal = compiled.constant().and_then(Constant::sql);
            assembly.constant(&literal.unwrap_or_default());
        }
    }
    Ok(())
}

/// The argument of an expression that is one call of `raw`.
fn raw_argument<'a>(source: Excerpt<'_>, ast: &'a Ast) -> Result<Option<&'a Ast>, Diagnostic> {
    let AstKind::Call(name, arguments) = &ast.kind else {
        return Ok(None);
    };
    if source.part(name.clone()).text() != "raw" {
        return Ok(None);
    }
    match arguments.as_slice() {
        [Argument { name: None, value, behind: None }] => Ok(Some(value)),
        _ => Err(source
            .part(ast.range.clone())
            .error("`raw` takes one argument")
            .help("write `${raw(table)}`")),
    }
}

/// Removes the white space at both ends, and the texts that are nothing else.
fn trim(pieces: &mut Vec<Piece>) {
    if let Some(Piece::Text(text)) = pieces.first_mut() {
        *text = text.trim_start().to_owned();
    }
    if let Some(Piece::Text(text)) = pieces.last_mut() {
        text.truncate(text.trim_end().len());
    }
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
}

/// Why a statement cannot begin with this word, and what to do instead.
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
    let behind = text[at + 1..].trim();
    let error = source.part(at..at + 1).error("a `;` stands in a statement");
    if behind.is_empty() {
        return error.help("remove it: each `query` is one statement");
    }
    if text[..at].ends_with(char::is_whitespace) {
        return error.help(
            "a statement is literal to the end of its line: write a comment on a line of its own,\n\
             and a second statement as a second `query`",
        );
    }
    error.help("write the second statement as a second `query`")
}

fn unclosed(source: Excerpt<'_>, open: Within) -> Diagnostic {
    match open {
        Within::BlockComment(at) => source
            .part(at..at + 2)
            .error("this comment is not closed")
            .help("write the missing `*/`"),
        Within::Literal(at, length) => {
            let place = source.part(at..at + length);
            let help = format!("write the missing `{}`", place.text());
            place.error("the literal that begins here is not closed").help(help)
        }
        Within::LineComment(at) => source.part(at..at + 2).error("this comment is not closed"),
        Within::Open => source.error("the statement is not closed"),
    }
}
