//! Compilation of expressions: name lookup, type checks and constant folding.

use std::ops::Range;

use base::{Diagnostic, Stream};

use super::call::{self, AllowedIn, Arguments, ColonPart, CompiledArgument, Spec, Variadic};
use super::compiled::{Compiled, InvalidExpr};
use super::node::{Combination, Generate, Node};
use super::range::range;
use super::scope::{ExprContext, Scope};
use super::syntax::{Argument, Ast, AstKind};
use crate::read::Excerpt;
use crate::value::{Constant, Operator, Type, Undefined};
use crate::wording::{nearest, quoted};

/// Compiles an expression of `source` in a scope.
///
/// # Errors
/// Returns the first mistake in the expression.
pub(crate) fn compile(
    ast: &Ast,
    source: Excerpt<'_>,
    scope: Scope<'_>,
) -> Result<Compiled, InvalidExpr> {
    let mut compiler = Compiler { source, scope, generators: 0 };
    compiler.expression(ast)
}

struct Compiler<'c> {
    source: Excerpt<'c>,
    scope: Scope<'c>,
    /// Number of generators before the current position in the expression.
    generators: usize,
}

impl<'c> Compiler<'c> {
    fn part(&self, range: &Range<usize>) -> Excerpt<'c> {
        self.source.part(range.clone())
    }

    fn expression(&mut self, ast: &Ast) -> Result<Compiled, InvalidExpr> {
        match &ast.kind {
            AstKind::Constant(constant) => {
                self.add_to_plan(constant, self.part(&ast.range))?;
                Ok(Compiled::Constant(constant.clone()))
            }
            AstKind::Name(range) => self.name(self.part(range)),
            AstKind::Negate(inner) => self.negate(inner, ast),
            AstKind::Combine(operator, both) => self.combine(*operator, both, ast),
            AstKind::Call(name, arguments) => self.call(self.part(name), arguments, ast),
        }
    }

    fn name(&self, name: Excerpt<'_>) -> Result<Compiled, InvalidExpr> {
        let variables = self.scope.variables;
        if let Some(&place) = variables.places.get(name.text()) {
            let kind = variables.kinds[place].ok_or(InvalidExpr(None))?;
            return Ok(Compiled::Dynamic(Node::Variable(place), kind));
        }
        match self.scope.params.get(name.text()) {
            Some(Some(constant)) => {
                self.add_to_plan(constant, name)?;
                Ok(Compiled::Constant(constant.clone()))
            }
            Some(None) => Err(InvalidExpr(None)),
            None => Err(self.unknown_name(name).into()),
        }
    }

    /// Adds a constant to the total of the plan's texts, if the scope has such a total.
    fn add_to_plan(&self, constant: &Constant, place: Excerpt<'_>) -> Result<(), InvalidExpr> {
        self.scope.inserted.map_or(Ok(()), |inserted| inserted.add_constant(constant, place))
    }

    fn unknown_name(&self, name: Excerpt<'_>) -> Diagnostic {
        let word = name.text();
        if self.scope.variables.declared.contains_key(word) {
            return self.use_before_definition(name);
        }
        let error = name.error(format!("unknown name {}", quoted(word)));
        if call::find(word).is_some() {
            return error.help(format!("`{word}` is a generator: write `{word}(…)`"));
        }
        let variables = self.scope.variables.places.keys().map(String::as_str);
        let params = self.scope.params.keys().map(String::as_str);
        match nearest(word, variables.chain(params)) {
            Some(near) => error.did_you_mean(Some(near)),
            None => error.help(match self.scope.context {
                ExprContext::Request(..) => {
                    "define it in `[params]`, or with `let` above its use; texts need quotes"
                }
                ExprContext::Fixed(_) | ExprContext::Row(_) => {
                    "define it in `[params]`; texts need quotes"
                }
            }),
        }
    }

    /// Returns the error about a variable that is used in its own definition, or before it is
    /// defined.
    fn use_before_definition(&self, name: Excerpt<'_>) -> Diagnostic {
        let word = name.text();
        let variables = self.scope.variables;
        let own = variables.current_variable.as_deref().unwrap_or_default();
        let Some(cycle) = variables.cycle(own, word) else {
            return name
                .error(format!("the variable {} is used before it is defined", quoted(word)))
                .help(format!(
                    "variables are made in the order in which they stand: define `{word}` above \
                     `{own}`"
                ));
        };
        let error =
            format!("the variable is defined in terms of itself: {own} -> {}", cycle.join(" -> "));
        name.error(error).help(match cycle.len() {
            1 => "give it a value of its own, or use another variable",
            _ => "give it, or one of the others, a value of its own",
        })
    }

    fn negate(&mut self, inner: &Ast, whole: &Ast) -> Result<Compiled, InvalidExpr> {
        let place = self.part(&inner.range);
        let (expr, kind) = match self.expression(inner)? {
            Compiled::Constant(constant) => {
                let negated = constant.negated();
                return negated.map(Compiled::Constant).map_err(|why| match why {
                    Undefined::Types => no_sign(place, constant.kind()).into(),
                    Undefined::ByZero | Undefined::TooLarge => {
                        undefined(self.part(&whole.range), why).into()
                    }
                });
            }
            Compiled::Dynamic(expr, kind) => (expr, kind),
        };
        match kind {
            Type::Int | Type::Real | Type::Duration => {
                Ok(Compiled::Dynamic(Node::Negate(Box::new(expr)), kind))
            }
            Type::Text | Type::Timestamp => Err(no_sign(place, kind).into()),
        }
    }

    fn combine(
        &mut self,
        operator: Operator,
        both: &(Ast, Ast),
        whole: &Ast,
    ) -> Result<Compiled, InvalidExpr> {
        let left = self.expression(&both.0)?;
        let right = self.expression(&both.1)?;
        let places = (self.part(&both.0.range), self.part(&both.1.range));
        let Some(kind) = Type::combined(operator, left.kind(), right.kind()) else {
            let whole = self.part(&whole.range);
            let kinds = (left.kind(), right.kind());
            return Err(mismatch(whole, operator, places, kinds).into());
        };
        if let (Compiled::Constant(left), Compiled::Constant(right)) = (&left, &right) {
            return match Constant::combine(operator, left, right) {
                Ok(constant) => Ok(Compiled::Constant(constant)),
                Err(why) => Err(undefined(self.part(&whole.range), why).into()),
            };
        }
        if matches!(operator, Operator::Divide | Operator::Modulo) {
            self.check_divisor(&right, places.1, self.part(&whole.range))?;
        }
        let combination =
            Combination { operator, left: left.into_node(), right: right.into_node() };
        Ok(Compiled::Dynamic(Node::Combine(Box::new(combination)), kind))
    }

    /// Refuses a divisor that can be zero. A divisor whose range is unknown is accepted.
    fn check_divisor(
        &self,
        divisor: &Compiled,
        place: Excerpt<'_>,
        whole: Excerpt<'_>,
    ) -> Result<(), InvalidExpr> {
        let node = match divisor {
            Compiled::Constant(constant) if constant.is_zero() => {
                return Err(undefined(whole, Undefined::ByZero).into());
            }
            Compiled::Constant(_) => return Ok(()),
            Compiled::Dynamic(node, _) => node,
        };
        match range(node, &self.scope.variables.ranges) {
            Some((lo, hi)) if lo <= 0 && hi >= 0 => Err(place
                .error(format!("{} can be zero", quoted(place.text())))
                .help("divide by numbers that are never zero, such as `uniform(1, 10)`")
                .into()),
            Some(_) | None => Ok(()),
        }
    }

    fn call(
        &mut self,
        name: Excerpt<'c>,
        arguments: &[Argument],
        whole: &Ast,
    ) -> Result<Compiled, InvalidExpr> {
        let whole = self.part(&whole.range);
        let spec = call::find(name.text()).ok_or_else(|| self.unknown_call(name))?;
        let stream = self.stream(spec, whole)?;
        let mut bound = Arguments::new(spec, whole, stream, self.scope);
        for argument in arguments {
            let name = argument.name.as_ref().map(|name| self.part(name));
            let given = self.argument(spec, argument)?;
            bound.bind(name, given)?;
        }
        bound.complete()?;
        let (family, kind) = (spec.build)(&bound)?;
        let generate = Box::new(Generate { stream, family });
        Ok(Compiled::Dynamic(Node::Generate(generate), kind))
    }

    /// Compiles an argument, with its name before a colon or its weight after a colon.
    fn argument(
        &mut self,
        spec: &Spec,
        argument: &Argument,
    ) -> Result<CompiledArgument<'c>, InvalidExpr> {
        let (value, partner) = match (&argument.after, spec.rest) {
            (None, Variadic::Nothing | Variadic::Values) => (&argument.value, None),
            (Some(weight), Variadic::Weighted) => (&argument.value, Some(self.weight(weight)?)),
            (Some(value), Variadic::Named) => (value, Some(self.label(&argument.value)?)),
            (None, Variadic::Weighted | Variadic::Named)
            | (Some(_), Variadic::Nothing | Variadic::Values) => {
                return Err(self.colon_error(spec, argument).into());
            }
        };
        let place = self.part(&value.range);
        Ok(CompiledArgument { place, value: self.expression(value)?, partner })
    }

    fn weight(&mut self, ast: &Ast) -> Result<ColonPart<'c>, InvalidExpr> {
        let place = self.part(&ast.range);
        match self.expression(ast)? {
            Compiled::Constant(constant) => Ok(ColonPart::Weight(constant, place)),
            Compiled::Dynamic(..) => Err(not_constant(place, "a weight").into()),
        }
    }

    /// Returns the name before a colon: a bare word, or a text.
    fn label(&self, ast: &Ast) -> Result<ColonPart<'c>, InvalidExpr> {
        let place = self.part(&ast.range);
        match &ast.kind {
            AstKind::Name(range) => Ok(ColonPart::Name(self.part(range).text().to_owned(), place)),
            AstKind::Constant(constant @ Constant::Text(text)) => {
                self.add_to_plan(constant, place)?;
                Ok(ColonPart::Name(text.clone(), place))
            }
            AstKind::Constant(_)
            | AstKind::Negate(_)
            | AstKind::Combine(..)
            | AstKind::Call(..) => Err(place
                .error(format!("{} is not a name", quoted(place.text())))
                .help("write a word or a text before the colon: `json(id: 1, 'a b': 2)`")
                .into()),
        }
    }

    /// Returns the error about a missing or meaningless colon.
    fn colon_error(&self, spec: &Spec, argument: &Argument) -> Diagnostic {
        let value = self.part(&argument.value.range);
        let error = match (spec.rest, &argument.after) {
            (Variadic::Weighted, _) => {
                value.error(format!("{} has no weight", quoted(value.text())))
            }
            (Variadic::Named, _) => value.error(format!("{} has no name", quoted(value.text()))),
            (Variadic::Nothing | Variadic::Values, after) => {
                let end = after.as_ref().map_or(argument.value.range.end, |ast| ast.range.end);
                let pair = self.part(&(argument.value.range.start..end));
                pair.error(format!("`{}` has no arguments with a `:`", spec.name))
            }
        };
        error.help(format!("write `{}`", spec.usage()))
    }

    /// Returns the random stream of the next generator, if generators are allowed here.
    fn stream(&mut self, spec: &Spec, whole: Excerpt<'_>) -> Result<Stream, InvalidExpr> {
        let position = match (self.scope.context, spec.allowed_in) {
            (ExprContext::Fixed(what), _) => return Err(not_constant(whole, what).into()),
            (ExprContext::Request(..), AllowedIn::Rows) => return Err(no_row(whole).into()),
            (ExprContext::Request(_, None) | ExprContext::Row(_), AllowedIn::Clients) => {
                return Err(no_client(whole).into());
            }
            (ExprContext::Request(position, _), AllowedIn::Anywhere | AllowedIn::Clients)
            | (ExprContext::Row(position), AllowedIn::Anywhere | AllowedIn::Rows) => position,
        };
        self.generators += 1;
        let place = format!("{} #{}", position.place, self.generators);
        Ok(Stream::new(position.seed, position.job, &place))
    }

    fn unknown_call(&self, name: Excerpt<'_>) -> Diagnostic {
        let word = name.text();
        if word == "raw" {
            return name
                .error("`raw(…)` is inside another expression")
                .help("it can only be the whole of a `${…}` in a statement: `${raw(table)}`");
        }
        let error = name.error(format!("unknown generator {}", quoted(word)));
        if let Some(ours) = call::assay_name_of(word) {
            return error.help(format!("in assay it is called `{ours}(…)`"));
        }
        match nearest(word, call::ALL.iter().map(|spec| spec.name)) {
            Some(near) => error.did_you_mean(Some(near)),
            None => error.help(format!("there are {}", call::names())),
        }
    }
}

fn undefined(place: Excerpt<'_>, why: Undefined) -> Diagnostic {
    let error = place.error(format!("{} {why}", quoted(place.text())));
    match why {
        Undefined::TooLarge => error.help("integers have 64 bits, other numbers go up to 9e18"),
        Undefined::ByZero => error.help("divide by a number that is not zero"),
        Undefined::Types => error,
    }
}

fn no_sign(place: Excerpt<'_>, kind: Type) -> Diagnostic {
    let what = quoted(place.text());
    place.error(format!("{what} is {}: it has no negative", kind.article()))
}

fn mismatch(
    whole: Excerpt<'_>,
    operator: Operator,
    places: (Excerpt<'_>, Excerpt<'_>),
    kinds: (Type, Type),
) -> Diagnostic {
    let (left, right) = (quoted(places.0.text()), quoted(places.1.text()));
    let message = format!(
        "`{}` cannot combine {left}, {}, with {right}, {}",
        operator.sign(),
        kinds.0.article(),
        kinds.1.article()
    );
    let error = whole.error(message);
    match kinds {
        (Type::Text, _) | (_, Type::Text) => error.help("arithmetic is for numbers and durations"),
        (Type::Timestamp, _) | (_, Type::Timestamp) => {
            error.help("write the difference as the generator's offset: `timestamp(-1h)`")
        }
        (Type::Duration, Type::Duration) => error.help("multiply a duration by a number"),
        _ => error.help("give the number a unit, such as `10ms`"),
    }
}

fn not_constant(place: Excerpt<'_>, what: &str) -> Diagnostic {
    place
        .error(format!(
            "{} differs from request to request, but {what} needs a constant",
            quoted(place.text())
        ))
        .help("write a constant, or an expression of parameters")
}

fn no_client(place: Excerpt<'_>) -> Diagnostic {
    place
        .error("only clients of a closed job have numbers")
        .help("give the job a `concurrency` without `rate` and `every`, or use `uniform(0, n)`")
}

fn no_row(place: Excerpt<'_>) -> Diagnostic {
    place
        .error("`row()` numbers the rows of a `[load TABLE]` section, and a job has none")
        .help("`sequence()` numbers the requests of a job")
}
