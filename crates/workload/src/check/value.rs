//! Values of keys.
//!
//! A `${…}` in a value is a constant and is replaced by its text. The result, such as `10k` from
//! `${n}k`, is then parsed as if the file had no expressions.

use base::units::{UnitError, parse_count, parse_duration};
use base::{Diagnostic, Nanos, Rate, RateError};

use super::checker::Checker;
use super::fields::Fields;
use super::parameter_uses::ParameterUse;
use crate::expr::{Compiled, InvalidExpr, Scope, compile, parse_braced};
use crate::keys::{self, Form, SectionKind};
use crate::read::{Entry, Excerpt, LARGEST_FILE, LocatedText, LocatedTextBuilder};
use crate::wording::{enumeration, nearest, quoted, suggested_duration, words};

/// The reason why a text is not a valid value of a key: the second half of a sentence that begins
/// with the text.
pub(super) struct ValueError {
    reason: String,
    remedy: Remedy,
}

/// The remedy for a wrong value, unless the text itself suggests another.
enum Remedy {
    /// An example of a value.
    Example,
    /// A different unit in the value.
    Unit,
    /// No separate remedy: the reason contains it.
    Included,
}

impl ValueError {
    /// Creates an error, for which an example of a value is the remedy.
    pub(super) fn new(reason: impl Into<String>) -> ValueError {
        ValueError { reason: reason.into(), remedy: Remedy::Example }
    }

    /// Creates an error whose reason includes the remedy.
    pub(super) fn with_remedy(reason: impl Into<String>) -> ValueError {
        ValueError { reason: reason.into(), remedy: Remedy::Included }
    }
}

impl From<UnitError> for ValueError {
    fn from(error: UnitError) -> ValueError {
        let remedy = match error {
            UnitError::UnknownUnit => Remedy::Unit,
            UnitError::UnitMissing => Remedy::Included,
            UnitError::NotANumber
            | UnitError::Negative
            | UnitError::TooLarge
            | UnitError::TooSmall
            | UnitError::NotWhole => Remedy::Example,
        };
        ValueError { reason: error.to_string(), remedy }
    }
}

impl From<RateError> for ValueError {
    fn from(error: RateError) -> ValueError {
        match error {
            RateError::Number(error) => error.into(),
            RateError::Zero => ValueError::with_remedy(error.to_string()),
            RateError::TooHigh | RateError::TooLow => ValueError::new(error.to_string()),
        }
    }
}

/// Maximum number of `${…}` in one value.
const MOST_REPLACED: usize = 1_000;

/// A value after its expressions have been replaced.
pub(super) enum Resolved<'p> {
    /// A value without expressions.
    Plain(Excerpt<'p>),
    /// A text that records the origin of each part.
    Replaced(LocatedText<'static>),
}

impl Resolved<'_> {
    /// Returns the text.
    pub(super) fn excerpt(&self) -> Excerpt<'_> {
        match self {
            Resolved::Plain(excerpt) => *excerpt,
            Resolved::Replaced(located) => located.excerpt().trim(),
        }
    }
}

/// Replaces each `${…}` in a value by the text of its constant.
///
/// # Errors
/// The first error in a `${…}`, too many `${…}`, or constants that are too long together.
pub(super) fn resolve<'p>(
    source: Excerpt<'p>,
    scope: Scope<'_>,
) -> Result<Resolved<'p>, InvalidExpr> {
    resolve_recording_uses(source, scope, &mut Vec::new())
}

/// Replaces each `${…}` in a value, and records the replacements in `uses`.
///
/// # Errors
/// As for [`resolve`].
pub(super) fn resolve_recording_uses<'p>(
    source: Excerpt<'p>,
    scope: Scope<'_>,
    uses: &mut Vec<ParameterUse>,
) -> Result<Resolved<'p>, InvalidExpr> {
    let text = source.text();
    if !text.contains("${") {
        return Ok(Resolved::Plain(source));
    }
    let mut builder = LocatedTextBuilder::default();
    let mut at = 0;
    let mut replaced = 0;
    let mut length = 0;
    while let Some(offset) = text[at..].find("${") {
        let open = at + offset;
        if text[..open].ends_with('$') {
            builder.copy(source.part(at..open - 1));
            builder.copy(source.part(open..open + 2));
            at = open + 2;
            continue;
        }
        replaced += 1;
        if replaced > MOST_REPLACED {
            return Err(source.error("the value has more than 1,000 `${…}`").into());
        }
        builder.copy(source.part(at..open));
        let (ast, end) = parse_braced(source, open + 2);
        let ast = ast?;
        let mut names = Vec::new();
        ast.names(source.text(), &mut |name| names.push(name.to_owned()));
        uses.push(ParameterUse { place: builder.length()..builder.length(), names });
        let compiled = compile(&ast, source, scope)?;
        if let Compiled::Constant(constant) = compiled {
            let text = constant.to_text();
            length += text.len();
            if let Some(last) = uses.last_mut() {
                last.place.end += text.len();
            }
            if length > LARGEST_FILE {
                return Err(source
                    .error("the value has more than 64 MB with its constants inserted")
                    .into());
            }
            builder.replace(source.part(open..end), &text);
        }
        at = end;
    }
    builder.copy(source.part(at..text.len()));
    Ok(Resolved::Replaced(builder.finish()))
}

impl<'f> Checker<'f> {
    /// Reports an error, unless it has been reported already.
    pub(super) fn report_invalid(&mut self, refused: InvalidExpr) {
        match refused.0 {
            Some(diagnostic) => self.sink.error(|| *diagnostic),
            // The cause has been reported; the plan must not count as valid.
            None => debug_assert!(self.sink.errors() > 0),
        }
    }

    /// Returns a key's value with its expressions replaced; `None` if an error was reported.
    pub(super) fn resolved(&mut self, entry: &'f Entry<'f>) -> Option<Resolved<'f>> {
        self.resolved_recording_uses(entry, &mut Vec::new())
    }

    /// Returns a key's value with its expressions replaced, and records the replacements in `uses`.
    pub(super) fn resolved_recording_uses(
        &mut self,
        entry: &'f Entry<'f>,
        uses: &mut Vec<ParameterUse>,
    ) -> Option<Resolved<'f>> {
        let name = entry.key().text();
        if entry.value().text().is_empty() {
            self.sink.error(|| no_value(entry));
            return None;
        }
        let what = format!("`{name}`");
        let resolved = resolve_recording_uses(entry.value(), self.constant_scope(&what), uses);
        resolved.map_err(|refused| self.report_invalid(refused)).ok()
    }

    /// Returns the value of a key, parsed by `parse`; `None` if the key is not set, or an error was
    /// reported.
    pub(super) fn read<T>(
        &mut self,
        fields: &Fields<'f>,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, ValueError>,
    ) -> Option<T> {
        self.read_entry(fields.one(name)?, name, parse)
    }

    /// Returns the values of all lines that set a key; reports the first line beyond the limit.
    pub(super) fn read_all<T>(
        &mut self,
        fields: &Fields<'f>,
        name: &str,
        most: usize,
        parse: impl Fn(&str) -> Result<T, ValueError>,
    ) -> Vec<T> {
        if let Some(entry) = fields.all(name).nth(most) {
            let message = format!("there are more than {most} lines of `{name}`");
            self.sink.error(|| entry.value().error(message));
        }
        let entries: Vec<&'f Entry<'f>> = fields.all(name).take(most).collect();
        entries.into_iter().filter_map(|entry| self.read_entry(entry, name, &parse)).collect()
    }

    fn read_entry<T>(
        &mut self,
        entry: &'f Entry<'f>,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, ValueError>,
    ) -> Option<T> {
        let resolved = self.resolved(entry)?;
        let value = resolved.excerpt();
        match parse(value.text()) {
            Ok(value) => Some(value),
            Err(error) => {
                let is_name = |word: &str| self.params.contains_key(word);
                let unbraced = words(value.text()).any(is_name);
                self.sink.error(|| match unbraced {
                    true => without_braces(name, value, &error.reason),
                    false => unreadable(name, value, &error),
                });
                None
            }
        }
    }

    /// Parses a duration.
    pub(super) fn duration(&mut self, fields: &Fields<'f>, name: &str) -> Option<Nanos> {
        self.read(fields, name, |text| Ok(parse_duration(text)?))
    }

    /// Parses a duration above zero.
    pub(super) fn span(&mut self, fields: &Fields<'f>, name: &str) -> Option<Nanos> {
        self.read(fields, name, |text| match parse_duration(text) {
            Ok(Nanos::ZERO) => {
                Err(ValueError::new(format!("is zero, but `{name}` must take some time")))
            }
            Ok(span) => Ok(span),
            Err(error) => Err(error.into()),
        })
    }

    /// Parses an integer between two bounds.
    pub(super) fn count(
        &mut self,
        fields: &Fields<'f>,
        name: &str,
        bounds: (u64, u64),
    ) -> Option<u64> {
        self.read(fields, name, |text| count_between(text, name, bounds))
    }

    /// Parses an integer between two bounds that fits into 32 bits.
    pub(super) fn small_count(
        &mut self,
        fields: &Fields<'f>,
        name: &str,
        (lowest, highest): (u32, u32),
    ) -> Option<u32> {
        let ends = (u64::from(lowest), u64::from(highest));
        let number = self.count(fields, name, ends)?;
        Some(u32::try_from(number).unwrap_or(highest))
    }

    /// Parses a rate, in events per second.
    pub(super) fn rate(&mut self, fields: &Fields<'f>, name: &str) -> Option<Rate> {
        self.read(fields, name, |text| Ok(Rate::parse(text)?))
    }

    /// Parses one of the words that the table of keys lists; returns the element of `values` at the
    /// word's index.
    pub(super) fn choice<T: Copy, const N: usize>(
        &mut self,
        fields: &Fields<'f>,
        owner: SectionKind,
        name: &str,
        values: [T; N],
    ) -> Option<T> {
        let form = keys::find(owner, name).map(|key| key.form);
        let words = if let Some(Form::Choice(words)) = form { words } else { &[] };
        debug_assert_eq!(words.len(), N, "{name}");
        let entry = fields.one(name)?;
        let resolved = self.resolved(entry)?;
        let value = resolved.excerpt();
        let place = words.iter().position(|word| *word == value.text());
        if place.is_none() {
            self.sink.error(|| no_such_choice(name, value, words));
        }
        values.get(place?).copied()
    }
}

/// Parses the integer of a key between two bounds.
///
/// # Errors
/// The text is not such a number.
pub(super) fn count_between(
    text: &str,
    name: &str,
    (lowest, highest): (u64, u64),
) -> Result<u64, ValueError> {
    let number = parse_count(text)?;
    if number < lowest {
        let reason = format!("is too few: `{name}` is at least {lowest}");
        return Err(ValueError::with_remedy(reason));
    }
    if number > highest {
        let highest = base::units::grouped(highest);
        let reason = format!("is too many: `{name}` is at most {highest}");
        return Err(ValueError::with_remedy(reason));
    }
    Ok(number)
}

fn no_value(entry: &Entry<'_>) -> Diagnostic {
    let name = entry.key().text();
    let error = entry.whole().error(format!("{} has no value", quoted(name)));
    match keys::ALL.iter().find(|key| key.name == name || key.alias == Some(name)) {
        Some(key) => error.help(format!("write for example `{}`", key.example)),
        None => error,
    }
}

fn unreadable(name: &str, value: Excerpt<'_>, why: &ValueError) -> Diagnostic {
    let error = value.error(format!("{} {}", quoted(value.text()), why.reason));
    if let Some(help) = remedy(name, value.text()) {
        return error.help(help);
    }
    let written = match why.remedy {
        Remedy::Unit => suggested_duration(value.text()).map(|meant| format!("{name} = {meant}")),
        Remedy::Example => None,
        Remedy::Included => return error,
    };
    if let Some(written) = written {
        return error.help(format!("write `{written}`"));
    }
    match keys::ALL.iter().find(|key| key.name == name) {
        Some(key) => error.help(format!("write for example `{}`", key.example)),
        None => error,
    }
}

fn without_braces(name: &str, value: Excerpt<'_>, why: &str) -> Diagnostic {
    let text = value.text();
    let error = value.error(format!("{} {why}", quoted(text)));
    error.help(format!("to use a parameter, write `{name} = ${{{text}}}`"))
}

/// Returns the correction for a known mistake.
fn remedy(name: &str, value: &str) -> Option<String> {
    if value.contains(" #") || value.contains("\t#") {
        return Some("a comment after a value begins with `;`".to_owned());
    }
    if name == "rate" && parse_duration(value).is_ok_and(|period| period > Nanos::ZERO) {
        return Some(format!(
            "`rate` is a number per second: write `rate = 100`, or `every = {value}`"
        ));
    }
    if name == "rate" && value.ends_with("/s") {
        let number = value.trim_end_matches("/s").trim();
        return Some(format!("`rate` is per second without a unit: write `rate = {number}`"));
    }
    let digits = value.replace([',', '_', '\'', ' '], "");
    if digits.len() < value.len() && parse_count(&digits).is_ok() {
        return Some(format!("digits are not grouped: write `{name} = {digits}`"));
    }
    let multiplier = value.strip_suffix(['K', 'm']).filter(|head| parse_count(head).is_ok());
    if multiplier.is_some() && name != "rate" && parse_count(value).is_err() {
        return Some("the multipliers are `k` for 1,000 and `M` for 1,000,000".to_owned());
    }
    None
}

fn no_such_choice(name: &str, value: Excerpt<'_>, words: &[&str]) -> Diagnostic {
    let listed = enumeration(words, "or");
    let message = format!("`{name}` is {listed}, not {}", quoted(value.text()));
    let error = value.error(message);
    if let Some(near) = nearest(value.text(), words.iter().copied()) {
        return error.did_you_mean(Some(near));
    }
    if value.text().contains(" #") {
        return error.help("a comment after a value begins with `;`");
    }
    let yes = matches!(value.text(), "true" | "on" | "1" | "y");
    let no = matches!(value.text(), "false" | "off" | "0" | "n");
    match (words, yes, no) {
        (["yes", "no"], true, _) => error.help(format!("write `{name} = yes`")),
        (["yes", "no"], _, true) => error.help(format!("write `{name} = no`")),
        _ => error,
    }
}
