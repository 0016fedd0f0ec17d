//! A request that is encoded once and sent many times with different values.
//!
//! ```text
//!  ┌ Bind ─────────────────────────────────┐ ┌ Execute ┐ ┌ Sync ┐
//!  │ … formats … │ 4 │ 0 0 0 0 │ … results │ │ …       │ │      │
//!  └─────────────┴───┴────┬────┴───────────┘ └─────────┘ └──────┘
//!                         └ patched: an integer
//! ```
//!
//! If all values have the widths of their types, filling is one copy and a few patched bytes. A
//! text, a NULL, or a time that only the server can parse changes the length of its message: then
//! the constant parts are copied around the values.

use crate::frame::{self, count, message, string};
use crate::frontend;
use crate::tags::frontend as tag;
use crate::value::{self, EncodedForm};
use crate::{
    Cycle, Format, Oid, ParameterType, Replies, Value, ValueError, ValueErrorKind, WireError,
};

/// The messages of a request, with slots for its values.
#[derive(Clone, Debug)]
pub struct Template {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    binds: Vec<Binding>,
    /// True if every value has a fixed width.
    is_fixed: bool,
    results: Format,
    /// The parts of the request, each with a ReadyForQuery in its reply.
    cycles: Vec<Cycle>,
    /// The part that no Sync has ended yet.
    open: Cycle,
}

/// The slot of a value.
#[derive(Clone, Copy, Debug)]
struct Slot {
    kind: ParameterType,
    /// Offset of the value's length; the value follows.
    at: usize,
    /// Offset of the value itself.
    value: usize,
    /// Offset of the constant bytes after the value.
    end: usize,
    /// Offset of the value's format code.
    format: usize,
}

/// The position of a Bind message.
#[derive(Clone, Copy, Debug)]
struct Binding {
    /// Offset of its length.
    length: usize,
    /// Offset of its end.
    end: usize,
    /// Number of its slots.
    slots: usize,
}

impl Template {
    /// Creates a request without messages, with this format for its results.
    pub fn new(results: Format) -> Template {
        let (bytes, slots, binds, cycles) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Template { bytes, slots, binds, is_fixed: true, results, cycles, open: Cycle::SYNC }
    }

    /// Appends an execution of a prepared statement: Bind and Execute. `types` are the types in the
    /// server's ParameterDescription.
    ///
    /// # Errors
    /// The name contains a zero byte, or there are more than 65,535 types.
    pub fn statement(&mut self, name: &str, types: &[Oid]) -> Result<(), WireError> {
        let start = self.bytes.len();
        let slots = self.slots.len();
        let results = self.results;
        let (bytes, places) = (&mut self.bytes, &mut self.slots);
        let bound = message(bytes, tag::BIND, |out| {
            string(out, b"", "Bind, portal name")?;
            string(out, name.as_bytes(), "Bind, statement name")?;
            parameters(out, types, places)?;
            frontend::formats(out, [results], "Bind, number of result formats")
        });
        if bound.is_err() {
            self.slots.truncate(slots);
            return bound;
        }
        let end = self.bytes.len();
        self.is_fixed &= types.iter().all(|oid| ParameterType::of(*oid).width().is_some());
        self.binds.push(Binding { length: start.saturating_add(1), end, slots: types.len() });
        self.open = self.open.bind().execute();
        frontend::execute(&mut self.bytes, "", 0)
    }

    /// Appends a statement that is not prepared: Parse into the unnamed statement, Bind, Execute.
    ///
    /// # Errors
    /// The text contains a zero byte, or there are more than 65,535 types.
    pub fn text(&mut self, text: &str, types: &[Oid]) -> Result<(), WireError> {
        frontend::parse(&mut self.bytes, "", text, types.iter().copied())?;
        self.open = self.open.with_text(text).parse();
        self.statement("", types)
    }

    /// Appends a Query, which has no values and a ReadyForQuery of its own in the reply.
    ///
    /// # Errors
    /// The text contains a zero byte.
    pub fn query(&mut self, text: &str) -> Result<(), WireError> {
        frontend::query(&mut self.bytes, text)?;
        self.cycles.push(Cycle::QUERY.with_text(text));
        Ok(())
    }

    /// Appends a Sync: the end of the request, or of a part that fails or succeeds independently.
    pub fn sync(&mut self) {
        frontend::sync(&mut self.bytes);
        self.cycles.push(std::mem::take(&mut self.open));
    }

    /// Returns the number of values of the request.
    pub fn values(&self) -> usize {
        self.slots.len()
    }

    /// Returns the number of ReadyForQuery messages in the reply.
    pub fn answers(&self) -> usize {
        self.cycles.len()
    }

    /// Makes a reader of replies expect the reply to this request.
    #[inline]
    pub fn expect(&self, replies: &mut Replies) {
        self.cycles.iter().for_each(|cycle| replies.expect(*cycle));
    }

    /// Appends the request with its values to `out`.
    ///
    /// # Errors
    /// A value does not fit its parameter, or there are too few or too many values; nothing is
    /// appended.
    #[inline]
    pub fn fill<'v>(
        &self,
        out: &mut Vec<u8>,
        values: impl Iterator<Item = Value<'v>> + Clone,
    ) -> Result<(), ValueError> {
        let start = out.len();
        let filled = match self.is_fixed {
            true => self.fill_fixed(out, start, values),
            false => self.fill_parts(out, start, values),
        };
        if filled.is_err() {
            out.truncate(start);
        }
        filled
    }

    /// Copies the whole template and patches the values into it. If a value is NULL or must be sent
    /// as text, its length differs from the reserved one, and the request is built from the parts
    /// instead.
    ///
    /// # Errors
    /// A value is missing, surplus, or does not fit its type.
    #[inline]
    fn fill_fixed<'v>(
        &self,
        out: &mut Vec<u8>,
        start: usize,
        values: impl Iterator<Item = Value<'v>> + Clone,
    ) -> Result<(), ValueError> {
        out.extend_from_slice(&self.bytes);
        let Some(request) = out.get_mut(start..) else {
            return self.fill_parts(out, start, values);
        };
        let mut given = values.clone();
        for (parameter, slot) in self.slots.iter().enumerate() {
            let Some(value) = given.next() else { return Err(missing(parameter)) };
            let fit = match request.get_mut(slot.value..) {
                Some(place) => value::patch(place, slot.kind, value),
                None => Ok(EncodedForm::Text),
            };
            match fit {
                Ok(EncodedForm::Binary) => {}
                Ok(EncodedForm::Null | EncodedForm::Text) => {
                    out.truncate(start);
                    return self.fill_parts(out, start, values);
                }
                Err(kind) => return Err(ValueError { parameter, kind }),
            }
        }
        check_no_surplus(given, self.slots.len())
    }

    /// Copies the constant parts around the values.
    fn fill_parts<'v>(
        &self,
        out: &mut Vec<u8>,
        start: usize,
        values: impl Iterator<Item = Value<'v>>,
    ) -> Result<(), ValueError> {
        let mut slots = self.slots.iter().enumerate();
        let mut given = values;
        let mut copied = 0;
        for bind in &self.binds {
            copy(out, &self.bytes, copied, bind.length);
            copied = bind.length;
            // Offset of the message's length in `out`.
            let length = out.len();
            for (parameter, slot) in slots.by_ref().take(bind.slots) {
                let Some(value) = given.next() else { return Err(missing(parameter)) };
                copy(out, &self.bytes, copied, slot.at);
                copied = slot.end;
                let format = length.saturating_add(slot.format.saturating_sub(bind.length));
                append(out, slot, format, value).map_err(|kind| ValueError { parameter, kind })?;
            }
            copy(out, &self.bytes, copied, bind.end);
            copied = bind.end;
            frame::close(out, length).map_err(|_| too_long(self.slots.len()))?;
        }
        copy(out, &self.bytes, copied, self.bytes.len());
        debug_assert!(out.len() >= start, "a request is appended");
        check_no_surplus(given, self.slots.len())
    }
}

/// Appends the parameters' formats and the slots of their values.
fn parameters(out: &mut Vec<u8>, types: &[Oid], slots: &mut Vec<Slot>) -> Result<(), WireError> {
    let first_format = out.len().saturating_add(2);
    let formats = types.iter().map(|oid| match ParameterType::of(*oid).width() {
        Some(_) => Format::Binary,
        None => Format::Text,
    });
    frontend::formats(out, formats, "Bind, number of parameter formats")?;
    count(out, types.len(), "Bind, number of parameters")?;
    for (index, oid) in types.iter().enumerate() {
        let kind = ParameterType::of(*oid);
        let width = kind.width().unwrap_or(0);
        let at = out.len();
        out.extend_from_slice(&u32::from(width).to_be_bytes());
        let value = out.len();
        out.extend(std::iter::repeat_n(0, usize::from(width)));
        let format = first_format.saturating_add(index.saturating_mul(2));
        slots.push(Slot { kind, at, value, end: out.len(), format });
    }
    Ok(())
}

/// Appends a value with its length; `format` is the offset in `out` of its format code.
fn append(
    out: &mut Vec<u8>,
    slot: &Slot,
    format: usize,
    value: Value<'_>,
) -> Result<(), ValueErrorKind> {
    let at = out.len();
    let width = slot.kind.width().unwrap_or(0);
    out.extend_from_slice(&u32::from(width).to_be_bytes());
    let body = out.len();
    out.extend(std::iter::repeat_n(0, usize::from(width)));
    let place = out.get_mut(body..).unwrap_or_default();
    match value::patch(place, slot.kind, value)? {
        EncodedForm::Binary => {}
        EncodedForm::Null => {
            out.truncate(at);
            out.extend_from_slice(&(-1_i32).to_be_bytes());
        }
        EncodedForm::Text => {
            out.truncate(body);
            value::append_text(out, value);
            let length = i32::try_from(out.len().saturating_sub(body))
                .map_err(|_| ValueErrorKind::TooLong)?;
            overwrite(out, at, length.to_be_bytes());
            overwrite(out, format, Format::Text.code().to_be_bytes());
        }
    }
    Ok(())
}

fn overwrite<const N: usize>(out: &mut [u8], at: usize, bytes: [u8; N]) {
    if let Some(place) = out.get_mut(at..).and_then(|tail| tail.first_chunk_mut::<N>()) {
        *place = bytes;
    }
}

#[inline]
fn copy(out: &mut Vec<u8>, bytes: &[u8], from: usize, to: usize) {
    out.extend_from_slice(bytes.get(from..to).unwrap_or_default());
}

fn missing(parameter: usize) -> ValueError {
    ValueError { parameter, kind: ValueErrorKind::Missing }
}

fn too_long(values: usize) -> ValueError {
    ValueError { parameter: values.saturating_sub(1), kind: ValueErrorKind::TooLong }
}

#[inline]
fn check_no_surplus<'v>(
    mut given: impl Iterator<Item = Value<'v>>,
    parameter: usize,
) -> Result<(), ValueError> {
    match given.next() {
        None => Ok(()),
        Some(_) => Err(ValueError { parameter, kind: ValueErrorKind::Surplus }),
    }
}
