//! What was a generator called with?

use base::{Diagnostic, Stream};

use super::{Rest, Spec};
use crate::expr::{Compiled, Constant, Node, Refused, Scope, Type};
use crate::read::Excerpt;
use crate::wording::{nearest, quoted};

/// The arguments of one call, in the order of the generator's parameters.
#[derive(Debug)]
pub(crate) struct Arguments<'p> {
    spec: &'static Spec,
    call: Excerpt<'p>,
    given: Vec<Option<Given<'p>>>,
    /// Every parameter before this one has its argument.
    next: usize,
    /// The random numbers of the call's place.
    pub(crate) stream: Stream,
    /// Where the call stands.
    pub(crate) scope: Scope<'p>,
}

/// One argument.
#[derive(Clone, Debug)]
pub(crate) struct Given<'p> {
    /// Where it stands.
    pub(crate) place: Excerpt<'p>,
    /// What it is.
    pub(crate) value: Compiled,
    /// What stands on the other side of its colon.
    pub(crate) partner: Option<Partner<'p>>,
}

/// What stands on the other side of an argument's colon.
#[derive(Clone, Debug)]
pub(crate) enum Partner<'p> {
    /// A name before the value, and where.
    Name(String, Excerpt<'p>),
    /// A weight behind the value, and where.
    Weight(Constant, Excerpt<'p>),
}

impl<'p> Given<'p> {
    /// `generator` needs `wanted`, and this argument is something else.
    pub(crate) fn mismatch(&self, generator: &str, wanted: &str) -> Diagnostic {
        let (what, kind) = (quoted(self.place.text()), self.value.kind().article());
        self.place.error(format!("`{generator}` needs {wanted}, but {what} is {kind}"))
    }
}

impl<'p> Arguments<'p> {
    /// No arguments yet.
    pub(crate) fn new(
        spec: &'static Spec,
        call: Excerpt<'p>,
        stream: Stream,
        scope: Scope<'p>,
    ) -> Arguments<'p> {
        Arguments { spec, call, given: vec![None; spec.parameters.len()], next: 0, stream, scope }
    }

    /// Takes the next argument in: by its name, or by its place.
    pub(crate) fn bind(
        &mut self,
        name: Option<Excerpt<'p>>,
        given: Given<'p>,
    ) -> Result<(), Refused> {
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
            None if self.spec.rest != Rest::Nothing => self.given.push(Some(given)),
            None => return Err(self.too_many(given.place).into()),
        }
        Ok(())
    }

    fn place_of(&self, name: Excerpt<'p>) -> Result<usize, Refused> {
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

    /// Complains when an argument is missing.
    pub(crate) fn complete(&self) -> Result<(), Refused> {
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

    /// How to call it, for the help of a message.
    pub(crate) fn usage(&self) -> String {
        format!("write `{}`", self.spec.usage())
    }

    /// The generator's name.
    pub(crate) fn name(&self) -> &'static str {
        self.spec.name
    }

    /// The whole call.
    pub(crate) fn call(&self) -> Excerpt<'p> {
        self.call
    }

    /// The argument of a parameter, if it was given.
    pub(crate) fn get(&self, place: usize) -> Option<&Given<'p>> {
        self.given.get(place)?.as_ref()
    }

    /// All arguments that were given.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Given<'p>> + Clone {
        self.given.iter().flatten()
    }

    /// The argument of a parameter that has no default.
    ///
    /// # Errors
    /// None after [`Arguments::complete`].
    pub(crate) fn required(&self, place: usize) -> Result<&Given<'p>, Refused> {
        self.get(place).ok_or(Refused(None))
    }

    /// A constant integer, or the default when the argument is missing.
    pub(crate) fn constant_int(&self, place: usize, default: i64) -> Result<i64, Refused> {
        let Some(given) = self.get(place) else {
            return Ok(default);
        };
        match &given.value {
            Compiled::Constant(Constant::Int(number)) => Ok(*number),
            Compiled::Constant(_) => Err(given.mismatch(self.name(), "an integer").into()),
            Compiled::Dynamic(..) => Err(self.not_constant(given).into()),
        }
    }

    /// A constant number, or the default when the argument is missing.
    pub(crate) fn constant_real(&self, place: usize, default: f64) -> Result<f64, Refused> {
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

    /// A constant number between two ends, or the default when the argument is missing; `what` it
    /// is stands in the message.
    pub(crate) fn constant_between(
        &self,
        place: usize,
        default: f64,
        (lowest, highest): (f64, f64),
        what: &str,
    ) -> Result<f64, Refused> {
        let number = self.constant_real(place, default)?;
        if (lowest..=highest).contains(&number) {
            return Ok(number);
        }
        let at = self.get(place).map_or(self.call, |given| given.place);
        let shown = quoted(at.text());
        let message = format!("the {what} {shown} is not between {lowest} and {highest}");
        Err(at.error(message).help(self.usage()).into())
    }

    /// Two constant integers, the lower one first, of which the lower one has this place.
    pub(crate) fn constant_range(&self, place: usize) -> Result<(i64, i64), Refused> {
        let lo = self.constant_int(place, 0)?;
        let hi = self.constant_int(place + 1, 0)?;
        if lo <= hi {
            return Ok((lo, hi));
        }
        let error = self.call.error(format!("the range is empty: `{lo}` is above `{hi}`"));
        Err(error.help("write the lower end first").into())
    }

    /// The common type of the first `count` arguments: all integers, all durations, or all
    /// numbers.
    pub(crate) fn measure(&self, count: usize) -> Result<Type, Refused> {
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

    /// The expression of an argument that has no default.
    pub(crate) fn node(&self, place: usize) -> Result<Node, Refused> {
        Ok(self.required(place)?.value.clone().into_node())
    }

    /// The argument has to be constant and is not.
    pub(crate) fn not_constant(&self, given: &Given<'_>) -> Diagnostic {
        let (what, name) = (quoted(given.place.text()), self.name());
        given
            .place
            .error(format!("{what} differs from request to request, but `{name}` needs a constant"))
            .help("write a constant, or an expression of parameters")
    }
}
