//! Parameters of generators, and the arguments of calls.

use base::{Diagnostic, Stream};

use crate::expr::compiled::{Compiled, InvalidExpr};
use crate::expr::node::{Family, Node};
use crate::expr::scope::Scope;
use crate::read::Excerpt;
use crate::value::{Constant, Type};
use crate::wording::{nearest, quoted};

/// The entry of a generator in the table of generators.
#[derive(Debug)]
pub(crate) struct Spec {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its parameters in order.
    pub(crate) parameters: &'static [Parameter],
    /// Further arguments after the parameters.
    pub(crate) rest: Variadic,
    /// Contexts in which the generator is allowed.
    pub(crate) allowed_in: AllowedIn,
    /// Checks the arguments and builds the generator.
    pub(crate) build: fn(&Arguments<'_>) -> Result<(Family, Type), InvalidExpr>,
    /// Description of its values, in one line.
    pub(crate) doc: &'static str,
    /// An example call.
    pub(crate) example: &'static str,
}

/// The kind of further arguments after the parameters of a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variadic {
    /// No further arguments.
    Nothing,
    /// Any number of values.
    Values,
    /// Any number of values, each with a weight after a colon.
    Weighted,
    /// Any number of values, each with a name before a colon.
    Named,
}

/// The contexts in which a generator is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllowedIn {
    /// Requests and rows.
    Anywhere,
    /// Rows of a table only.
    Rows,
    /// Requests of numbered clients, which closed jobs have.
    Clients,
}

/// A parameter of a generator.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: &'static str,
    /// Kind of argument, in words.
    pub(crate) form: &'static str,
    /// Default; `None` if the argument is required.
    pub(crate) default: Option<&'static str>,
}

impl Parameter {
    pub(super) const fn required(name: &'static str, form: &'static str) -> Parameter {
        Parameter { name, form, default: None }
    }

    pub(super) const fn optional(
        name: &'static str,
        default: &'static str,
        form: &'static str,
    ) -> Parameter {
        Parameter { name, form, default: Some(default) }
    }
}

impl Spec {
    /// Returns its usage: `zipf(lo, hi, s=0.99)`.
    pub(crate) fn usage(&self) -> String {
        let parameters = self.parameters.iter().map(|parameter| match parameter.default {
            None => parameter.name.to_owned(),
            Some(default) => format!("{}={default}", parameter.name),
        });
        let rest = match self.rest {
            Variadic::Nothing => None,
            Variadic::Values => Some("…".to_owned()),
            Variadic::Weighted => Some("a: 3, b: 1, …".to_owned()),
            Variadic::Named => Some("name: value, …".to_owned()),
        };
        let parameters: Vec<String> = parameters.chain(rest).collect();
        format!("{}({})", self.name, parameters.join(", "))
    }
}

/// The arguments of one call, in the order of the generator's parameters.
#[derive(Debug)]
pub(crate) struct Arguments<'p> {
    spec: &'static Spec,
    call: Excerpt<'p>,
    given: Vec<Option<CompiledArgument<'p>>>,
    /// Number of leading parameters that have their arguments.
    next: usize,
    /// The random stream of the call's position.
    pub(crate) stream: Stream,
    /// The scope of the call.
    pub(crate) scope: Scope<'p>,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub(crate) struct CompiledArgument<'p> {
    /// Position in the text.
    pub(crate) place: Excerpt<'p>,
    /// Compiled value.
    pub(crate) value: Compiled,
    /// Name before the argument's colon, or weight after the colon; `None` without a colon.
    pub(crate) partner: Option<ColonPart<'p>>,
}

/// The part of an argument that is not its value: a name before the colon, or a weight after it.
#[derive(Clone, Debug)]
pub(crate) enum ColonPart<'p> {
    /// A name before the value, and its position.
    Name(String, Excerpt<'p>),
    /// A weight after the value, and its position.
    Weight(Constant, Excerpt<'p>),
}

impl<'p> CompiledArgument<'p> {
    /// Returns the error for an argument that `generator` cannot use; `wanted` describes the values
    /// that it can use.
    pub(crate) fn mismatch(&self, generator: &str, wanted: &str) -> Diagnostic {
        let (what, kind) = (quoted(self.place.text()), self.value.kind().article());
        self.place.error(format!("`{generator}` needs {wanted}, but {what} is {kind}"))
    }
}

impl<'p> Arguments<'p> {
    /// Creates an empty list of arguments.
    pub(crate) fn new(
        spec: &'static Spec,
        call: Excerpt<'p>,
        stream: Stream,
        scope: Scope<'p>,
    ) -> Arguments<'p> {
        Arguments { spec, call, given: vec![None; spec.parameters.len()], next: 0, stream, scope }
    }

    /// Binds the next argument, by its name or by its position.
    pub(crate) fn bind(
        &mut self,
        name: Option<Excerpt<'p>>,
        given: CompiledArgument<'p>,
    ) -> Result<(), InvalidExpr> {
        let place = match name {
            Some(name) => self.place_of(name)?,
            None => {
                while self.given.get(self.next).is_some_and(Option::is_some) {
                    self.next += 1;
                }
                self.next
            }
        };
        match self.given.get_mut(place) {
            Some(slot) => *slot = Some(given),
            None if self.spec.rest != Variadic::Nothing => self.given.push(Some(given)),
            None => return Err(self.too_many(given.place).into()),
        }
        Ok(())
    }

    fn place_of(&self, name: Excerpt<'p>) -> Result<usize, InvalidExpr> {
        let word = name.text();
        let names = || self.spec.parameters.iter().map(|parameter| parameter.name);
        let Some(place) = names().position(|known| known == word) else {
            let message = format!("`{}` has no argument {}", self.spec.name, quoted(word));
            let error = name.error(message);
            let usage = self.usage();
            return Err(match nearest(word, names()) {
                Some(near) => error.did_you_mean(Some(near)),
                None => error.help(usage),
            }
            .into());
        };
        if self.given[place].is_some() {
            let message = format!("the argument {} is given twice", quoted(word));
            return Err(name.error(message).help(self.usage()).into());
        }
        Ok(place)
    }

    /// Fails if an argument without a default is missing.
    pub(crate) fn complete(&self) -> Result<(), InvalidExpr> {
        for (parameter, given) in self.spec.parameters.iter().zip(&self.given) {
            if given.is_none() && parameter.default.is_none() {
                let message = format!("`{}` has no `{}`", self.spec.name, parameter.name);
                return Err(self.call.error(message).help(self.usage()).into());
            }
        }
        Ok(())
    }

    fn too_many(&self, place: Excerpt<'_>) -> Diagnostic {
        let most = self.spec.parameters.len();
        let arguments = match most {
            0 => "no arguments".to_owned(),
            1 => "one argument".to_owned(),
            _ => format!("at most {most} arguments"),
        };
        let message = format!("`{}` takes {arguments}", self.spec.name);
        place.error(message).help(self.usage())
    }

    /// Returns the usage of the generator, for the help of a message.
    pub(crate) fn usage(&self) -> String {
        format!("write `{}`", self.spec.usage())
    }

    /// Returns the name of the generator.
    pub(crate) fn name(&self) -> &'static str {
        self.spec.name
    }

    /// Returns the position of the whole call.
    pub(crate) fn call(&self) -> Excerpt<'p> {
        self.call
    }

    /// Returns the argument of a parameter, if given.
    pub(crate) fn get(&self, place: usize) -> Option<&CompiledArgument<'p>> {
        self.given.get(place)?.as_ref()
    }

    /// Returns all given arguments.
    pub(crate) fn all(&self) -> impl Iterator<Item = &CompiledArgument<'p>> + Clone {
        self.given.iter().flatten()
    }

    /// Returns the argument of a parameter without a default.
    ///
    /// # Errors
    /// The argument is missing, which [`Arguments::complete`] has reported.
    pub(crate) fn required(&self, place: usize) -> Result<&CompiledArgument<'p>, InvalidExpr> {
        self.get(place).ok_or(InvalidExpr(None))
    }

    /// Returns a constant integer, or the default if the argument is missing.
    pub(crate) fn constant_int(&self, place: usize, default: i64) -> Result<i64, InvalidExpr> {
        let Some(given) = self.get(place) else {
            return Ok(default);
        };
        match &given.value {
            Compiled::Constant(Constant::Int(number)) => Ok(*number),
            Compiled::Constant(_) => Err(given.mismatch(self.name(), "an integer").into()),
            Compiled::Dynamic(..) => Err(self.not_constant(given).into()),
        }
    }

    /// Returns a constant number, or the default if the argument is missing.
    pub(crate) fn constant_real(&self, place: usize, default: f64) -> Result<f64, InvalidExpr> {
        let Some(given) = self.get(place) else {
            return Ok(default);
        };
        match &given.value {
            Compiled::Constant(Constant::Int(number)) => Ok(*number as f64),
            Compiled::Constant(Constant::Real(number)) => Ok(number.as_f64()),
            Compiled::Constant(Constant::Duration(_) | Constant::Text(_)) => {
                Err(given.mismatch(self.name(), "a number").into())
            }
            Compiled::Dynamic(..) => Err(self.not_constant(given).into()),
        }
    }

    /// Returns a constant number within bounds, or the default if the argument is missing; `what`
    /// names the number in the message.
    pub(crate) fn constant_between(
        &self,
        place: usize,
        default: f64,
        (lowest, highest): (f64, f64),
        what: &str,
    ) -> Result<f64, InvalidExpr> {
        let number = self.constant_real(place, default)?;
        if (lowest..=highest).contains(&number) {
            return Ok(number);
        }
        let at = self.get(place).map_or(self.call, |given| given.place);
        let shown = quoted(at.text());
        let message = format!("the {what} {shown} is not between {lowest} and {highest}");
        Err(at.error(message).help(self.usage()).into())
    }

    /// Returns two constant integers in ascending order; the lower one is the argument at `place`.
    pub(crate) fn constant_range(&self, place: usize) -> Result<(i64, i64), InvalidExpr> {
        let lo = self.constant_int(place, 0)?;
        let hi = self.constant_int(place + 1, 0)?;
        if lo <= hi {
            return Ok((lo, hi));
        }
        let error = self.call.error(format!("the range is empty: `{lo}` is above `{hi}`"));
        Err(error.help("write the lower end first").into())
    }

    /// Returns the common type of the first `count` arguments: all integers, all durations, or all
    /// numbers.
    pub(crate) fn numeric_type(&self, count: usize) -> Result<Type, InvalidExpr> {
        let first = self.required(0)?;
        let mut common = first.value.kind();
        for given in self.all().take(count) {
            common = match (common, given.value.kind()) {
                (Type::Int, Type::Int) => Type::Int,
                (Type::Duration, Type::Duration) => Type::Duration,
                (a, b) if a.is_number() && b.is_number() => Type::Real,
                (Type::Duration, _) if given.value.kind().is_number() => {
                    let error = given.mismatch(self.name(), "durations on both sides");
                    return Err(error.help("give the number a unit, such as `10ms`").into());
                }
                (Type::Int | Type::Real, Type::Duration) => {
                    let error = given.mismatch(self.name(), "numbers on both sides");
                    return Err(error.help("give both arguments a unit, or none").into());
                }
                _ => return Err(given.mismatch(self.name(), "numbers or durations").into()),
            };
        }
        Ok(common)
    }

    /// Returns the expression of an argument without a default.
    pub(crate) fn node(&self, place: usize) -> Result<Node, InvalidExpr> {
        Ok(self.required(place)?.value.clone().into_node())
    }

    /// Returns the error about an argument that must be constant.
    pub(crate) fn not_constant(&self, given: &CompiledArgument<'_>) -> Diagnostic {
        let (what, name) = (quoted(given.place.text()), self.name());
        given
            .place
            .error(format!("{what} differs from request to request, but `{name}` needs a constant"))
            .help("write a constant, or an expression of parameters")
    }
}

/// Refuses a negative constant.
pub(super) fn not_negative(given: &CompiledArgument<'_>, what: &str) -> Result<(), InvalidExpr> {
    if given.value.constant().is_some_and(Constant::is_negative) {
        let shown = quoted(given.place.text());
        return Err(given.place.error(format!("the {what} {shown} is negative")).into());
    }
    Ok(())
}
