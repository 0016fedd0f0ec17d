//! Named constants in `[params]`, in any order, overridden by `--set`.

use std::collections::{BTreeMap, HashMap};

use base::Diagnostic;
use base::units::{UnitError, grouped};

use super::checker::Checker;
use super::kind::Kind;
use super::value::resolve;
use crate::expr::{
    AstKind, Compiled, ExprContext, InvalidExpr, NO_VARIABLES, Scope, compile, is_name, parse_all,
    parse_braced,
};
use crate::generate::Points;
use crate::plan::Param;
use crate::read::{Entry, Excerpt, LocatedText, Section};
use crate::value::{Constant, notation};
use crate::wording::{self, name_list, nearest, quoted};

/// Longest chain of parameters that refer to one another.
const LONGEST_CHAIN: usize = 100;

/// Longest value of a parameter, in bytes.
const LONGEST_VALUE: usize = 1 << 20;

/// Maximum number of parameters in a file.
const MOST_PARAMS: usize = 10_000;

/// A parameter before its value is known.
struct UnresolvedParam<'f> {
    name: &'f str,
    /// The value that overrides the file's, if there is one.
    replacement: Option<LocatedText<'static>>,
    entry: &'f Entry<'f>,
}

impl UnresolvedParam<'_> {
    fn value(&self) -> Excerpt<'_> {
        match &self.replacement {
            Some(replacement) => replacement.excerpt().trim(),
            None => self.entry.value(),
        }
    }

    /// Returns the place for errors about the length of the value.
    fn place(&self) -> Excerpt<'_> {
        if self.replacement.is_some() { self.value() } else { self.entry.key() }
    }
}

impl<'f> Checker<'f> {
    /// Resolves the parameters for later expressions, and returns them for the plan.
    pub(super) fn params(&mut self, sections: &[(Kind<'f>, &'f Section<'f>)]) -> Vec<Param> {
        let section = sections.iter().find(|(kind, _)| *kind == Kind::Params);
        let mut raw = match section {
            Some((_, section)) => self.raw_params(&section.entries),
            None => Vec::new(),
        };
        self.apply_overrides(&mut raw);
        let mut resolver = Resolver {
            places: raw.iter().enumerate().map(|(place, raw)| (raw.name, place)).collect(),
            raw: &raw,
            chain: Vec::new(),
            checker: self,
        };
        for raw in &raw {
            let uses = references(raw.value()).into_iter().map(str::to_owned).collect();
            resolver.checker.secrets.param(raw.name, raw.value().text(), uses);
        }
        for place in 0..raw.len() {
            resolver.resolve(place);
        }
        let param = |raw: &UnresolvedParam<'_>| {
            let constant = self.params.get(raw.name)?.as_ref()?;
            Some(Param { name: raw.name.to_owned(), value: to_param_text(constant) })
        };
        raw.iter().filter_map(param).collect()
    }

    fn raw_params(&mut self, entries: &'f [Entry<'f>]) -> Vec<UnresolvedParam<'f>> {
        let mut raw = Vec::new();
        let mut first: HashMap<&str, &Entry<'_>> = HashMap::new();
        for entry in entries {
            let name = entry.key().text();
            if raw.len() >= MOST_PARAMS {
                self.sink.error(|| entry.key().error("the file has more than 10,000 parameters"));
                break;
            }
            if !is_name(name) {
                self.sink.error(|| bad_name(entry));
            } else if let Some(first) = first.get(name) {
                let file = self.file;
                self.sink.error(|| {
                    let start = first.key().span().unwrap_or_default().start;
                    let line = file.line_number(start);
                    let message = format!(
                        "the parameter {} occurs twice; the first is in line {line}",
                        quoted(name)
                    );
                    entry.key().error(message).help("remove one of the two")
                });
            } else {
                first.insert(name, entry);
                raw.push(UnresolvedParam { name, replacement: None, entry });
            }
        }
        raw
    }

    fn apply_overrides(&mut self, raw: &mut [UnresolvedParam<'f>]) {
        let places: HashMap<&str, usize> =
            raw.iter().enumerate().map(|(place, raw)| (raw.name, place)).collect();
        for one in self.overrides.params() {
            match places.get(one.key.as_str()) {
                Some(place) => {
                    let replacement = LocatedText::of_option(one.value.clone(), one.option());
                    raw[*place].replacement = Some(replacement);
                }
                None => {
                    let known = raw.iter().map(|raw| raw.name);
                    self.sink.error(|| unknown_override(&one.key, known));
                }
            }
        }
    }
}

/// A resolver of parameters, which first resolves the parameters that they refer to.
struct Resolver<'r, 'f> {
    checker: &'r mut Checker<'f>,
    raw: &'r [UnresolvedParam<'f>],
    places: HashMap<&'f str, usize>,
    /// Indices of the parameters that are being resolved, each referring to the next.
    chain: Vec<usize>,
}

impl Resolver<'_, '_> {
    fn resolve(&mut self, place: usize) {
        let raw = &self.raw[place];
        if self.checker.params.contains_key(raw.name) {
            return;
        }
        self.chain.push(place);
        let references = self.resolve_references(raw);
        self.chain.pop();
        let constant = references.and_then(|()| self.constant(raw));
        let constant = constant.map_err(|InvalidExpr(diagnostic)| {
            if let Some(diagnostic) = diagnostic {
                self.checker.sink.error(|| *diagnostic);
            }
        });
        self.checker.params.insert(raw.name.to_owned(), constant.ok());
    }

    /// Returns the value of a parameter whose references are resolved, and adds the size of the
    /// value to the total of the file.
    fn constant(&self, raw: &UnresolvedParam<'_>) -> Result<Constant, InvalidExpr> {
        let inserted = &self.checker.inserted;
        if inserted.is_full() {
            return Err(InvalidExpr(None));
        }
        let constant = constant(raw, &self.checker.params)?;
        inserted.add_constant(&constant, raw.place())?;
        Ok(constant)
    }

    /// Resolves all parameters that this one refers to.
    fn resolve_references(&mut self, raw: &UnresolvedParam<'_>) -> Result<(), InvalidExpr> {
        for name in references(raw.value()) {
            let Some(&other) = self.places.get(name) else {
                continue;
            };
            if self.chain.contains(&other) {
                return Err(self.cycle(raw, other).into());
            }
            if self.chain.len() >= LONGEST_CHAIN {
                return Err(too_long(raw).into());
            }
            self.resolve(other);
        }
        Ok(())
    }

    fn cycle(&self, raw: &UnresolvedParam<'_>, back_to: usize) -> Diagnostic {
        let circle = self.chain.iter().skip_while(|place| **place != back_to);
        let names: Vec<&str> =
            circle.chain([&back_to]).map(|place| self.raw[*place].name).collect();
        let circle = names.join(" -> ");
        let message = format!("the parameter is defined in terms of itself: {circle}");
        raw.value().error(message).help("give it, or one of the others, a value of its own")
    }
}

/// Returns the names in the expressions of a value.
fn references(value: Excerpt<'_>) -> Vec<&str> {
    let text = value.text();
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find("${") {
        let open = at + offset;
        if text[..open].ends_with('$') {
            at = open + 2;
            continue;
        }
        let (ast, end) = parse_braced(value, open + 2);
        if let Ok(ast) = ast {
            ast.names(text, &mut |name| names.push(name));
        }
        at = end;
    }
    names
}

/// Returns the value of a parameter: a quoted text, a single expression, or an unquoted number,
/// duration or text with its expressions replaced.
fn constant(
    raw: &UnresolvedParam<'_>,
    params: &BTreeMap<String, Option<Constant>>,
) -> Result<Constant, InvalidExpr> {
    let value = raw.value();
    let context = ExprContext::Fixed("a parameter");
    let scope = Scope {
        params,
        variables: &NO_VARIABLES,
        context,
        points: Points::NoTable,
        tables: None,
        // The resolver counts the whole value.
        inserted: None,
    };
    if value.text().is_empty() {
        return Err(value
            .error(format!("the parameter `{}` has no value", raw.name))
            .help("write a number, a duration or a text; an empty text is `''`")
            .into());
    }
    if value.text().len() > LONGEST_VALUE {
        return Err(too_many_bytes(raw, value.text().len()).into());
    }
    if let Some(text) = quoted_text(value)? {
        return Ok(Constant::Text(text));
    }
    if let Some(constant) = single_expression(value, scope)? {
        return Ok(constant);
    }
    let resolved = resolve(value, scope)?;
    if resolved.excerpt().text().len() > LONGEST_VALUE {
        return Err(too_many_bytes(raw, resolved.excerpt().text().len()).into());
    }
    parse_constant(resolved.excerpt().text()).map_err(|why| {
        let message = format!("{} {why}", quoted(resolved.excerpt().text()));
        value.error(message).help("write a text of digits in quotes: `'…'`").into()
    })
}

/// Returns the content of a value that is one quoted text; `None` for an unquoted value.
///
/// # Errors
/// A value that begins with a quote and is not one quoted text. Reading it as a bare text would
/// hide that a `;` cut it off.
fn quoted_text(value: Excerpt<'_>) -> Result<Option<String>, InvalidExpr> {
    if !value.text().starts_with(['\'', '"']) {
        return Ok(None);
    }
    match parse_all(value)?.kind {
        AstKind::Constant(Constant::Text(text)) => Ok(Some(text)),
        _ => Err(value
            .error("expected a text in quotes and nothing else")
            .help("write an expression in `${…}`, or the whole value in quotes")
            .into()),
    }
}

/// Returns the constant of a value that is one `${…}`; `None` for any other value.
fn single_expression(
    value: Excerpt<'_>,
    scope: Scope<'_>,
) -> Result<Option<Constant>, InvalidExpr> {
    if !value.text().starts_with("${") {
        return Ok(None);
    }
    let (ast, end) = parse_braced(value, 2);
    if end < value.text().len() {
        return Ok(None);
    }
    match compile(&ast?, value, scope)? {
        Compiled::Constant(constant) => Ok(Some(constant)),
        Compiled::Dynamic(..) => Ok(None),
    }
}

/// Parses a number or a duration; returns any other text unchanged.
///
/// # Errors
/// The number is too large: it was not meant as a text. The message is the second half of a
/// sentence that begins with the number.
fn parse_constant(text: &str) -> Result<Constant, String> {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, text),
    };
    match Constant::number(magnitude, negative) {
        Err(why) if why == UnitError::TooLarge.to_string() => Err(why),
        number => Ok(number.unwrap_or_else(|_| Constant::Text(text.to_owned()))),
    }
}

/// Formats a constant for `[params]`. A text gets no quotes if it is parsed as the same text
/// without them.
fn to_param_text(constant: &Constant) -> String {
    let bare = constant.to_text();
    let Constant::Text(content) = constant else {
        return bare;
    };
    let reads_back = !content.is_empty()
        && content.trim() == content
        && notation::is_plain(content)
        && !content.contains("${")
        && !content.starts_with(['\'', '"'])
        && !content.ends_with('\\')
        && parse_constant(content).is_ok_and(|read| read == *constant);
    if reads_back { bare } else { notation::quoted(content) }
}

fn bad_name(entry: &Entry<'_>) -> Diagnostic {
    let message = format!("{} is not a name for a parameter", quoted(entry.key().text()));
    entry
        .key()
        .error(message)
        .help("a name has at most 64 letters, digits and `_`, and begins with no digit")
}

fn unknown_override<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> Diagnostic {
    // A misspelt name may be the name of a secret: the value is not printed.
    let option = quoted(&format!("--set {name}"));
    let message = format!("{option}: the file has no parameter {}", quoted(name));
    let error = wording::error(None, message);
    if let Some(near) = nearest(name, known.clone()) {
        return error.did_you_mean(Some(near));
    }
    match known.clone().next() {
        None => error.help("parameters are defined in the file's `[params]` section"),
        Some(_) => error.help(format!("its parameters are {}", name_list(known))),
    }
}

fn too_many_bytes(raw: &UnresolvedParam<'_>, bytes: usize) -> Diagnostic {
    let most = grouped(LONGEST_VALUE as u64);
    let message = format!(
        "the parameter {} has {} bytes, more than the {most} bytes that a value may have",
        quoted(raw.name),
        grouped(bytes as u64)
    );
    raw.place().error(message).help(
        "take long texts from a file with `csv(…)`, or let `text(…)` make them for each request",
    )
}

fn too_long(raw: &UnresolvedParam<'_>) -> Diagnostic {
    raw.value()
        .error(format!("more than {LONGEST_CHAIN} parameters refer to one another in a chain"))
}
