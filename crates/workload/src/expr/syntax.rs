//! The parser of expressions.
//!
//! A recursive descent over the tokens, bounded in depth and size. It stops at the first mistake,
//! because further messages would be guesses.

use std::ops::Range;

use base::{Diagnostic, follows_secret_word};

use super::call::{self, Variadic};
use super::token::{Token, TokenKind, next};
use crate::read::Excerpt;
use crate::value::{Constant, Operator, notation};
use crate::wording::{quoted, suggested_duration};

/// The greatest nesting depth of operators, parentheses and calls.
const DEEPEST: u32 = 100;

/// The functions whose result is or contains one of their arguments.
const RETURN_ARGUMENTS: [&str; 4] = ["pick", "weighted", "null", "json"];

/// The largest number of values, operators and calls in one expression.
const LARGEST: usize = 20_000;

/// A parsed expression.
#[derive(Clone, Debug)]
pub(crate) struct Ast {
    /// Its kind.
    pub(crate) kind: AstKind,
    /// Its range in the parsed text.
    pub(crate) range: Range<usize>,
    depth: u32,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub(crate) enum AstKind {
    /// A number, a duration or a text.
    Constant(Constant),
    /// A parameter or variable, by the range of its name.
    Name(Range<usize>),
    /// A minus before an expression.
    Negate(Box<Ast>),
    /// Two expressions combined.
    Combine(Operator, Box<(Ast, Ast)>),
    /// A call of the function whose name is at the range.
    Call(Range<usize>, Vec<Argument>),
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    /// Range of the argument's name, if it has one: `s=0.99`.
    pub(crate) name: Option<Range<usize>>,
    /// Its value, or the part before its colon.
    pub(crate) value: Ast,
    /// The part after the argument's colon, if it has one: `'new': 3`.
    pub(crate) after: Option<Ast>,
}

impl Ast {
    /// Calls `visit` for every parameter and variable in an expression of `text`.
    pub(crate) fn names<'t>(&self, text: &'t str, visit: &mut impl FnMut(&'t str)) {
        match &self.kind {
            AstKind::Constant(_) => {}
            AstKind::Name(range) => visit(&text[range.clone()]),
            AstKind::Negate(inner) => inner.names(text, visit),
            AstKind::Combine(_, both) => {
                both.0.names(text, visit);
                both.1.names(text, visit);
            }
            AstKind::Call(name, arguments) => {
                let has_labels = has_labels(&text[name.clone()]);
                for argument in arguments {
                    // In a call whose values have names, the part before a colon is such a name,
                    // not a parameter or variable.
                    if !has_labels || argument.after.is_none() {
                        argument.value.names(text, visit);
                    }
                    argument.after.iter().for_each(|after| after.names(text, visit));
                }
            }
        }
    }
}

impl Ast {
    /// Calls `visit` for every parameter and variable in the secrets of an expression of `text`: in
    /// the values whose names are words for a secret, as in `json(password: pw)`.
    pub(crate) fn names_in_secrets<'t>(&self, text: &'t str, visit: &mut impl FnMut(&'t str)) {
        match &self.kind {
            AstKind::Constant(_) | AstKind::Name(_) => {}
            AstKind::Negate(inner) => inner.names_in_secrets(text, visit),
            AstKind::Combine(_, both) => {
                both.0.names_in_secrets(text, visit);
                both.1.names_in_secrets(text, visit);
            }
            AstKind::Call(name, arguments) => {
                let has_labels = has_labels(&text[name.clone()]);
                for Argument { value, after, .. } in arguments {
                    let label = &text[value.range.clone()];
                    match after {
                        Some(after) if has_labels && follows_secret_word(label, "") => {
                            after.names_in_result(text, visit);
                        }
                        after => {
                            value.names_in_secrets(text, visit);
                            after.iter().for_each(|after| after.names_in_secrets(text, visit));
                        }
                    }
                }
            }
        }
    }

    /// Calls `visit` for every parameter and variable whose value may become a part of the result.
    /// Arguments of generators do not, such as the length in `text(length)`, except for the
    /// functions in [`RETURN_ARGUMENTS`].
    fn names_in_result<'t>(&self, text: &'t str, visit: &mut impl FnMut(&'t str)) {
        match &self.kind {
            AstKind::Constant(_) => {}
            AstKind::Name(range) => visit(&text[range.clone()]),
            AstKind::Negate(inner) => inner.names_in_result(text, visit),
            AstKind::Combine(_, both) => {
                both.0.names_in_result(text, visit);
                both.1.names_in_result(text, visit);
            }
            AstKind::Call(name, arguments) if RETURN_ARGUMENTS.contains(&&text[name.clone()]) => {
                let has_labels = has_labels(&text[name.clone()]);
                for Argument { value, after, .. } in arguments {
                    let labelled = after.as_ref().filter(|_| has_labels);
                    labelled.unwrap_or(value).names_in_result(text, visit);
                }
            }
            AstKind::Call(..) => self.names_in_secrets(text, visit),
        }
    }

    /// Returns true if an expression of `text` calls the function with this name.
    pub(crate) fn calls(&self, text: &str, function: &str) -> bool {
        match &self.kind {
            AstKind::Constant(_) | AstKind::Name(_) => false,
            AstKind::Negate(inner) => inner.calls(text, function),
            AstKind::Combine(_, both) => {
                both.0.calls(text, function) || both.1.calls(text, function)
            }
            AstKind::Call(name, arguments) => {
                let inside = |ast: &Ast| ast.calls(text, function);
                let argument = |given: &Argument| {
                    inside(&given.value) || given.after.as_ref().is_some_and(inside)
                };
                text[name.clone()] == *function || arguments.iter().any(argument)
            }
        }
    }
}

/// Returns true if the values of a function have names: `json(id: row())`.
fn has_labels(function: &str) -> bool {
    call::find(function).is_some_and(|spec| spec.rest == Variadic::Named)
}

/// Parses a whole text as one expression.
pub(crate) fn parse_all(source: Excerpt<'_>) -> Result<Ast, Diagnostic> {
    let mut parser = Parser::new(source, 0);
    let ast = parser.expression(0)?;
    match parser.token.kind {
        TokenKind::End => Ok(ast),
        _ => {
            let error = parser.unexpected("an operator or the end");
            Err(match suggested_duration(source.text()) {
                Some(meant) => error.help(format!("write `{meant}`, without a blank")),
                None => error,
            })
        }
    }
}

/// Parses the expression between `${` and `}`; `at` is the position after the `${`.
///
/// Also returns the position at which to continue: after the `}`, or after the first `}` that
/// follows the mistake.
pub(crate) fn parse_braced(source: Excerpt<'_>, at: usize) -> (Result<Ast, Diagnostic>, usize) {
    let mut parser = Parser::new(source, at);
    let result = parser.braced(at);
    match result {
        Ok((ast, end)) => (Ok(ast), end),
        Err(diagnostic) => {
            let text = source.text();
            let mistake = parser.token.range.start;
            let end = text[mistake..].find('}').map_or(text.len(), |brace| mistake + brace + 1);
            (Err(diagnostic), end)
        }
    }
}

struct Parser<'p> {
    source: Excerpt<'p>,
    token: Token,
    nesting: u32,
    size: usize,
}

impl<'p> Parser<'p> {
    fn new(source: Excerpt<'p>, at: usize) -> Parser<'p> {
        Parser { source, token: next(source.text(), at), nesting: 0, size: 0 }
    }

    /// Returns the current token and advances to the next.
    fn take(&mut self) -> Token {
        let following = next(self.source.text(), self.token.range.end);
        std::mem::replace(&mut self.token, following)
    }

    fn text(&self, range: &Range<usize>) -> &'p str {
        &self.source.text()[range.clone()]
    }

    /// Parses the rest of a `${…}` whose content begins at `at`. Returns the expression and the end
    /// of the `}`.
    fn braced(&mut self, at: usize) -> Result<(Ast, usize), Diagnostic> {
        let opening = at.saturating_sub(2)..at;
        if self.token.kind == TokenKind::CloseBrace {
            let all = opening.start..self.token.range.end;
            return Err(self
                .source
                .part(all)
                .error("`${}` holds no expression")
                .help("write a value between the braces, or `$${` for a literal `${`"));
        }
        let ast = self.expression(0)?;
        match self.token.kind {
            TokenKind::CloseBrace => Ok((ast, self.token.range.end)),
            TokenKind::End => Err(self.unclosed_brace(opening)),
            _ => Err(self.unexpected("an operator or `}`")),
        }
    }

    /// Parses operators of at least this precedence and their operands.
    fn expression(&mut self, lowest: u8) -> Result<Ast, Diagnostic> {
        self.nesting += 1;
        if self.nesting > DEEPEST {
            return Err(self.too_deep(self.token.range.clone()));
        }
        let mut left = self.operand()?;
        while let TokenKind::Operator(operator) = self.token.kind {
            if operator.precedence() < lowest {
                break;
            }
            self.take();
            let right = self.expression(operator.precedence() + 1)?;
            left = self.combine(operator, left, right)?;
        }
        self.nesting -= 1;
        Ok(left)
    }

    fn combine(&mut self, operator: Operator, left: Ast, right: Ast) -> Result<Ast, Diagnostic> {
        let range = left.range.start..right.range.end;
        let depth = left.depth.max(right.depth) + 1;
        self.node(AstKind::Combine(operator, Box::new((left, right))), range, depth)
    }

    /// Creates a node within the limits. Values and names add nothing to the size, because the
    /// nodes that contain them count them. A call counts at least four arguments, because it may
    /// have defaults.
    fn node(&mut self, kind: AstKind, range: Range<usize>, depth: u32) -> Result<Ast, Diagnostic> {
        self.size += match &kind {
            AstKind::Constant(_) | AstKind::Name(_) => 0,
            AstKind::Negate(_) => 1,
            AstKind::Combine(..) => 2,
            AstKind::Call(_, arguments) => arguments.len().max(4) + 1,
        };
        if depth > DEEPEST {
            return Err(self.too_deep(range));
        }
        if self.size > LARGEST {
            return Err(self.too_large(range));
        }
        Ok(Ast { kind, range, depth })
    }

    fn operand(&mut self) -> Result<Ast, Diagnostic> {
        let token = self.token.clone();
        match token.kind {
            TokenKind::Number => self.number(false, token.range.start),
            TokenKind::Text => self.quoted(),
            TokenKind::Name => self.name_or_call(),
            TokenKind::Open => self.parenthesis(),
            TokenKind::OpenBrace => self.inner_brace(),
            TokenKind::Operator(Operator::Subtract) => self.minus(),
            TokenKind::OpenText => Err(self.open_text()),
            TokenKind::Operator(_)
            | TokenKind::Close
            | TokenKind::Comma
            | TokenKind::Equals
            | TokenKind::Colon
            | TokenKind::CloseBrace
            | TokenKind::Other
            | TokenKind::End => Err(self.unexpected("a value")),
        }
    }

    fn number(&mut self, negative: bool, start: usize) -> Result<Ast, Diagnostic> {
        let token = self.take();
        let word = self.text(&token.range);
        let constant = Constant::number(word, negative).map_err(|why| {
            let place = self.source.part(token.range.clone());
            place.error(format!("{} {why}", quoted(word)))
        })?;
        self.node(AstKind::Constant(constant), start..token.range.end, 1)
    }

    fn quoted(&mut self) -> Result<Ast, Diagnostic> {
        let token = self.take();
        let Some(content) = notation::unquoted(self.text(&token.range)) else {
            return Err(self.bad_escape(token.range));
        };
        self.node(AstKind::Constant(Constant::Text(content)), token.range, 1)
    }

    fn minus(&mut self) -> Result<Ast, Diagnostic> {
        let sign = self.take();
        if self.token.kind == TokenKind::Number {
            return self.number(true, sign.range.start);
        }
        self.nesting += 1;
        if self.nesting > DEEPEST {
            return Err(self.too_deep(sign.range));
        }
        let inner = self.operand()?;
        self.nesting -= 1;
        let (range, depth) = (sign.range.start..inner.range.end, inner.depth + 1);
        self.node(AstKind::Negate(Box::new(inner)), range, depth)
    }

    fn parenthesis(&mut self) -> Result<Ast, Diagnostic> {
        let open = self.take();
        let inner = self.expression(0)?;
        let close = self.expect(TokenKind::Close, "an operator or `)`", open.range.clone())?;
        let range = open.range.start..close.range.end;
        Ok(Ast { range, ..inner })
    }

    /// Parses a `${…}` inside an expression, which is allowed in place of parentheses.
    fn inner_brace(&mut self) -> Result<Ast, Diagnostic> {
        let open = self.take();
        let inner = self.expression(0)?;
        let close = self.expect(TokenKind::CloseBrace, "an operator or `}`", open.range.clone())?;
        let range = open.range.start..close.range.end;
        Ok(Ast { range, ..inner })
    }

    fn name_or_call(&mut self) -> Result<Ast, Diagnostic> {
        let name = self.take();
        if self.token.kind != TokenKind::Open {
            return self.node(AstKind::Name(name.range.clone()), name.range, 1);
        }
        let open = self.take();
        let mut arguments = Vec::new();
        let mut depth = 1;
        while self.token.kind != TokenKind::Close {
            let argument = self.argument()?;
            let after = argument.after.as_ref().map_or(0, |after| after.depth);
            depth = depth.max(argument.value.depth.max(after) + 1);
            arguments.push(argument);
            if self.token.kind != TokenKind::Comma {
                break;
            }
            self.take();
        }
        let close = self.expect(TokenKind::Close, "an operator, `,` or `)`", open.range)?;
        let range = name.range.start..close.range.end;
        self.node(AstKind::Call(name.range, arguments), range, depth)
    }

    fn argument(&mut self) -> Result<Argument, Diagnostic> {
        let first = self.token.clone();
        let after = next(self.source.text(), first.range.end);
        if first.kind != TokenKind::Name || after.kind != TokenKind::Equals {
            let value = self.expression(0)?;
            let after = self.behind_colon()?;
            return Ok(Argument { name: None, value, after });
        }
        self.take();
        self.take();
        let value = self.expression(0)?;
        let name = Some(first.range);
        Ok(Argument { name, value, after: None })
    }

    fn behind_colon(&mut self) -> Result<Option<Ast>, Diagnostic> {
        if self.token.kind != TokenKind::Colon {
            return Ok(None);
        }
        self.take();
        self.expression(0).map(Some)
    }

    fn expect(
        &mut self,
        kind: TokenKind,
        wanted: &str,
        opening: Range<usize>,
    ) -> Result<Token, Diagnostic> {
        if self.token.kind == kind {
            return Ok(self.take());
        }
        if self.token.kind == TokenKind::End {
            let closing = if kind == TokenKind::Close { ')' } else { '}' };
            return Err(self.unclosed(opening, closing));
        }
        Err(self.unexpected(wanted))
    }

    fn unexpected(&self, wanted: &str) -> Diagnostic {
        let place = self.source.part(self.token.range.clone());
        match self.token.kind {
            TokenKind::End => {
                place.error(format!("expected {wanted}, found the end of the expression"))
            }
            TokenKind::OpenText => self.open_text(),
            _ => place.error(format!("expected {wanted}, found {}", quoted(place.text()))),
        }
    }

    fn unclosed(&self, opening: Range<usize>, closing: char) -> Diagnostic {
        let place = self.source.part(opening);
        place
            .error(format!("this {} is not closed", quoted(place.text())))
            .help(format!("write the missing `{closing}`"))
    }

    fn unclosed_brace(&self, opening: Range<usize>) -> Diagnostic {
        self.source
            .part(opening)
            .error("this `${` is not closed")
            .help("write the missing `}`, or `$${` for a literal `${`")
    }

    fn open_text(&self) -> Diagnostic {
        let place = self.source.part(self.token.range.clone());
        place.error("the text that begins here is not closed").help(format!(
            "write the missing `{}`; a quote inside a text is doubled;\n\
             a `;` after white space begins a comment, unless it is `\\;` between double quotes",
            place.text()
        ))
    }

    fn bad_escape(&self, range: Range<usize>) -> Diagnostic {
        self.source.part(range).error("the text has an unknown escape").help(
            "in double quotes a backslash may precede only \\ \" ' ; n r t or u{HEX};\n\
                 between single quotes it is itself",
        )
    }

    fn too_deep(&self, range: Range<usize>) -> Diagnostic {
        self.source
            .part(range)
            .error(format!("the expression is more than {DEEPEST} operators and parentheses deep"))
    }

    fn too_large(&self, range: Range<usize>) -> Diagnostic {
        self.source
            .part(range)
            .error(format!("the expression has more than {LARGEST} values and operators"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::LocatedText;

    /// Returns the structure with every operator in parentheses.
    fn shape(ast: &Ast, text: &str) -> String {
        match &ast.kind {
            AstKind::Constant(constant) => constant.to_text(),
            AstKind::Name(range) => text[range.clone()].to_owned(),
            AstKind::Negate(inner) => format!("(-{})", shape(inner, text)),
            AstKind::Combine(operator, both) => {
                format!("({} {} {})", shape(&both.0, text), operator.sign(), shape(&both.1, text))
            }
            AstKind::Call(name, arguments) => {
                let argument = |argument: &Argument| {
                    let after = argument.after.iter().map(|after| shape(after, text));
                    [shape(&argument.value, text)].into_iter().chain(after).collect::<Vec<_>>()
                };
                let shapes: Vec<String> =
                    arguments.iter().map(|given| argument(given).join(":")).collect();
                format!("{}[{}]", &text[name.clone()], shapes.join(" "))
            }
        }
    }

    fn check(text: &str, expected: &str) {
        let located = LocatedText::whole(text, 0);
        let parsed = parse_all(located.excerpt());
        let shown = parsed.map_or_else(|error| error.message, |ast| shape(&ast, text));
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn operators_bind_as_in_arithmetic() {
        check("1 + 2 * 3", "(1 + (2 * 3))");
        check("1 - 2 - 3", "((1 - 2) - 3)");
        check("(1 - (2 - 3)) % 4", "((1 - (2 - 3)) % 4)");
        check("-a * -2", "((-a) * -2)");
        check("--5", "(--5)");
        check("2-1", "(2 - 1)");
        check("${a} + ${b * 2}", "(a + (b * 2))");
        check("f(a, s = 2, g())", "f[a 2 g[]]");
        check("f(a:3, 'b' : 1 + 2)", "f[a:3 b:(1 + 2)]");
    }

    #[test]
    fn mistakes_are_reported_at_their_position() {
        check("", "expected a value, found the end of the expression");
        check("1 +", "expected a value, found the end of the expression");
        check("1 2", "expected an operator or the end, found `2`");
        check("f(1", "this `(` is not closed");
        check("f(1 2)", "expected an operator, `,` or `)`, found `2`");
        check("f(,)", "expected a value, found `,`");
        check("f(a:)", "expected a value, found `)`");
        check("f(a:1:2)", "expected an operator, `,` or `)`, found `:`");
        check("a:1", "expected an operator or the end, found `:`");
        check("(1", "this `(` is not closed");
        check("a # b", "expected an operator or the end, found `#`");
        check("'a", "the text that begins here is not closed");
        check("f(a 'b)", "the text that begins here is not closed");
        check("\"\\q\"", "the text has an unknown escape");
        check("10x", "`10x` has an unknown unit: units are ns, us, ms, s, m, h and d");
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let deep = "the expression is more than 100 operators and parentheses deep";
        check(&"(".repeat(1_000_000), deep);
        check(&"-".repeat(1_000_000), deep);
        check(&"f(".repeat(1_000_000), deep);
        check(&"1+".repeat(1_000_000), deep);
        check(&"f(a:".repeat(1_000_000), deep);
        let wide = format!("pick({}1)", "1,".repeat(50_000));
        check(&wide, "the expression has more than 20000 values and operators");
    }
}
