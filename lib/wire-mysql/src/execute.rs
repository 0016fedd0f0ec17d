//! The most frequent request: the execution of a prepared statement with its values.
//!
//! Protocol manual: "COM_STMT_EXECUTE"; MariaDB: "COM_STMT_BULK_EXECUTE".
//!
//! ```text
//! 17  id id id id  00  01 00 00 00  NULL bitmap…  00 | 01 types…  values…
//! ```
//!
//! The types of the values are sent with the first execution and whenever they change. From then on
//! a request without NULLs or texts has a fixed layout: it is copied from a template, and the
//! values are written at their offsets.

use crate::column::{ColumnKind, ColumnType};
use crate::error::{ErrorKind, WireError, fault};
use crate::frame;
use crate::opcode::{BULK_EXECUTE, EXECUTE};
use crate::put;
use crate::row::{Field, bitmap_bytes, is_bit_set, set_bit};
use crate::take::FieldReader;

/// The server's id of a prepared statement in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementId(pub u32);

/// A value for a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameter<'a> {
    /// SQL's NULL.
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A double-precision float.
    Double(f64),
    /// A text or a blob.
    Text(&'a [u8]),
}

/// The type with which a value is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// `MYSQL_TYPE_LONGLONG`.
    Int,
    /// `MYSQL_TYPE_DOUBLE`.
    Double,
    /// `MYSQL_TYPE_VAR_STRING`.
    Text,
}

impl ParameterType {
    fn code(self) -> ColumnType {
        match self {
            ParameterType::Int => ColumnType::LONGLONG,
            ParameterType::Double => ColumnType::DOUBLE,
            ParameterType::Text => ColumnType::VAR_STRING,
        }
    }

    /// Returns the byte of the type and the byte for its signedness.
    fn encode(self) -> [u8; 2] {
        [self.code().0, 0]
    }
}

impl Parameter<'_> {
    /// Returns the type with which the value is sent; `None` for NULL, which fits any type.
    #[inline]
    pub fn parameter_type(self) -> Option<ParameterType> {
        match self {
            Parameter::Null => None,
            Parameter::Int(_) => Some(ParameterType::Int),
            Parameter::Double(_) => Some(ParameterType::Double),
            Parameter::Text(_) => Some(ParameterType::Text),
        }
    }

    #[inline]
    fn encode(self, out: &mut Vec<u8>) {
        match self {
            Parameter::Null => {}
            Parameter::Int(number) => out.extend_from_slice(&number.to_le_bytes()),
            Parameter::Double(number) => out.extend_from_slice(&number.to_le_bytes()),
            Parameter::Text(text) => put::text(out, text),
        }
    }
}

/// Length of the fields before the bitmap, in bytes: command, statement, flags and iterations.
const FIXED: usize = 10;

/// Length of an integer or a double, in bytes.
const NUMBER: usize = 8;

/// An encoder for the executions of one prepared statement of one session.
#[derive(Clone, Debug)]
pub struct Execute {
    id: StatementId,
    /// The types that were last sent to the server; valid if `is_bound`.
    types: Vec<ParameterType>,
    is_bound: bool,
    /// The whole packet of an execution without NULLs and without types, with zeros in place of the
    /// numbers; empty if `types` includes a text.
    template: Vec<u8>,
    /// Offset of the values in the template; beyond its end if the template is empty.
    values: usize,
}

impl Execute {
    /// Creates an encoder for a statement with this number of parameters.
    pub fn new(id: StatementId, parameters: u16) -> Execute {
        let types = vec![ParameterType::Int; usize::from(parameters)];
        let mut execute =
            Execute { id, types, is_bound: parameters == 0, template: Vec::new(), values: 0 };
        execute.make_template();
        execute
    }

    /// Returns the id of the statement.
    pub fn id(&self) -> StatementId {
        self.id
    }

    /// Returns the number of parameters of the statement.
    pub fn parameters(&self) -> usize {
        self.types.len()
    }

    /// Makes the next execution include the types again. Needed if an appended execution was never
    /// sent, or was rejected before the server read the types.
    pub fn rebind(&mut self) {
        self.is_bound = self.types.is_empty();
    }

    /// Appends an execution. Returns the sequence number of the first packet of its reply.
    ///
    /// # Errors
    /// `Value` if the number of values is wrong; nothing is appended then.
    #[inline]
    pub fn append<'v, I>(&mut self, out: &mut Vec<u8>, values: I) -> Result<u8, WireError>
    where
        I: ExactSizeIterator<Item = Parameter<'v>> + Clone,
    {
        if values.len() != self.types.len() {
            return Err(fault(ErrorKind::Value, 0, "COM_STMT_EXECUTE, number of values"));
        }
        let start = out.len();
        out.extend_from_slice(&self.template);
        let at = start.saturating_add(self.values);
        let places = out.get_mut(at..).unwrap_or_default();
        if self.is_bound && patch(places, &self.types, values.clone()) {
            return Ok(1);
        }
        out.truncate(start);
        Ok(self.append_general(out, values))
    }

    /// Appends an execution with NULLs, texts or new types.
    #[inline(never)]
    fn append_general<'v, I>(&mut self, out: &mut Vec<u8>, values: I) -> u8
    where
        I: ExactSizeIterator<Item = Parameter<'v>> + Clone,
    {
        let are_types_sent = self.bind(values.clone());
        let start = frame::open(out);
        put_fixed(out, self.id);
        let bitmap = out.len();
        out.resize(bitmap.saturating_add(self.bitmap_bytes()), 0);
        for (at, _) in values.clone().enumerate().filter(|(_, value)| *value == Parameter::Null) {
            set_bit(out.get_mut(bitmap..).unwrap_or_default(), at);
        }
        if !self.types.is_empty() {
            out.push(u8::from(are_types_sent));
        }
        if are_types_sent {
            out.extend(self.types.iter().flat_map(|kind| kind.encode()));
        }
        for value in values {
            value.encode(out);
        }
        frame::close(out, start, 0)
    }

    /// Stores the types of the values. Returns true if the types must be sent to the server.
    fn bind<'v>(&mut self, values: impl Iterator<Item = Parameter<'v>>) -> bool {
        let mut is_new = !self.is_bound;
        for (known, value) in self.types.iter_mut().zip(values) {
            if let Some(kind) = value.parameter_type().filter(|kind| kind != known) {
                *known = kind;
                is_new = true;
            }
        }
        if is_new {
            self.is_bound = true;
            self.make_template();
        }
        is_new
    }

    fn bitmap_bytes(&self) -> usize {
        bitmap_bytes(self.types.len())
    }

    fn make_template(&mut self) {
        let mut template = std::mem::take(&mut self.template);
        template.clear();
        let start = frame::open(&mut template);
        put_fixed(&mut template, self.id);
        template.resize(template.len().saturating_add(self.bitmap_bytes()), 0);
        if !self.types.is_empty() {
            template.push(0);
        }
        self.values = template.len();
        let values = self.types.len().saturating_mul(NUMBER);
        template.resize(template.len().saturating_add(values), 0);
        frame::close(&mut template, start, 0);
        if self.types.contains(&ParameterType::Text) {
            // With a text parameter, the layout is not fixed, so a template would be useless.
            template.clear();
        }
        self.template = template;
    }
}

fn put_fixed(out: &mut Vec<u8>, id: StatementId) {
    let mut fixed = [EXECUTE, 0, 0, 0, 0, 0, 1, 0, 0, 0];
    let _: [u8; FIXED] = fixed;
    if let Some(place) = fixed.get_mut(1..5) {
        place.copy_from_slice(&id.0.to_le_bytes());
    }
    out.extend_from_slice(&fixed);
}

/// Writes the values to their places in a copied template. Returns true if all values are numbers
/// of the given types; otherwise, some places may have been overwritten.
#[inline]
fn patch<'v>(
    places: &mut [u8],
    types: &[ParameterType],
    values: impl Iterator<Item = Parameter<'v>>,
) -> bool {
    let (places, _) = places.as_chunks_mut::<NUMBER>();
    if places.len() != types.len() {
        return false;
    }
    for ((place, known), value) in places.iter_mut().zip(types).zip(values) {
        *place = match (value, known) {
            (Parameter::Int(number), ParameterType::Int) => number.to_le_bytes(),
            (Parameter::Double(number), ParameterType::Double) => number.to_le_bytes(),
            _ => return false,
        };
    }
    true
}

/// The types that a client has sent to a server for one statement: the server's counterpart of
/// [`Execute`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundTypes(Vec<ColumnKind>);

impl BoundTypes {
    /// Creates an empty list of types.
    pub fn new() -> BoundTypes {
        BoundTypes::default()
    }

    fn take(
        &mut self,
        take: &mut FieldReader<'_>,
        parameters: u16,
        field: &'static str,
    ) -> Result<(), WireError> {
        self.0.clear();
        for _ in 0..parameters {
            let [code, flags] = take.array(field)?;
            let is_unsigned = flags & 0x80 != 0;
            self.0.push(ColumnKind { column_type: ColumnType(code), is_unsigned });
        }
        Ok(())
    }
}

/// `COM_STMT_EXECUTE` as decoded by a server. Reading its values requires the number of parameters
/// of the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecuteCommand<'a> {
    /// Id of the statement.
    pub id: StatementId,
    /// Bitmap, types and values.
    pub body: &'a [u8],
}

impl<'a> ExecuteCommand<'a> {
    pub(crate) fn decode(take: &mut FieldReader<'a>) -> Result<ExecuteCommand<'a>, WireError> {
        let id = StatementId(take.u32("COM_STMT_EXECUTE, statement")?);
        take.u8("COM_STMT_EXECUTE, flags")?;
        take.u32("COM_STMT_EXECUTE, iterations")?;
        Ok(ExecuteCommand { id, body: take.rest() })
    }

    /// Reads the values, passes each to `value`, and stores the types for the next execution.
    ///
    /// # Errors
    /// `Truncated`, `Value` or `Trailing`, at offsets within [`ExecuteCommand::body`]; `Order` if
    /// the types were never sent.
    pub fn values(
        &self,
        parameters: u16,
        bound: &mut BoundTypes,
        mut value: impl FnMut(Field<'a>),
    ) -> Result<(), WireError> {
        let mut take = FieldReader::new(self.body);
        if parameters == 0 {
            return take.end("COM_STMT_EXECUTE");
        }
        let bytes = bitmap_bytes(usize::from(parameters)) as u64;
        let bitmap = take.bytes(bytes, "COM_STMT_EXECUTE, NULL bitmap")?;
        let flag = take;
        match take.u8("COM_STMT_EXECUTE, new types flag")? {
            0 if bound.0.len() == usize::from(parameters) => {}
            0 => return Err(flag.fault(ErrorKind::Order, "COM_STMT_EXECUTE, new types flag")),
            1 => bound.take(&mut take, parameters, "COM_STMT_EXECUTE, types")?,
            _ => return Err(flag.fault(ErrorKind::Value, "COM_STMT_EXECUTE, new types flag")),
        }
        for (at, kind) in bound.0.iter().enumerate() {
            value(if is_bit_set(bitmap, at) {
                Field::Null
            } else {
                Field::take(&mut take, *kind, "COM_STMT_EXECUTE, value")?
            });
        }
        take.end("COM_STMT_EXECUTE")
    }
}

/// The flag of a bulk execution that includes the types.
pub(crate) const SEND_TYPES: u16 = 128;

/// Indicator before a value of a bulk execution: the value follows.
const INDICATOR_NONE: u8 = 0;
/// Indicator before a value of a bulk execution: the value is NULL and omitted.
const INDICATOR_NULL: u8 = 1;

/// An encoder for many executions of a data-changing statement in one packet.
///
/// Requires MariaDB and [`STMT_BULK_OPERATIONS`](crate::Capabilities::STMT_BULK_OPERATIONS). All
/// rows have the same types, which are included in each packet. The size of the packet is not
/// limited here: the caller checks the length of the buffer against the server's
/// `max_allowed_packet`.
#[derive(Debug)]
pub struct BulkExecute<'o, 't> {
    out: &'o mut Vec<u8>,
    types: &'t [ParameterType],
    start: usize,
}

impl<'o, 't> BulkExecute<'o, 't> {
    /// Begins a packet.
    pub fn begin(
        out: &'o mut Vec<u8>,
        id: StatementId,
        types: &'t [ParameterType],
    ) -> BulkExecute<'o, 't> {
        let start = frame::open(out);
        out.push(BULK_EXECUTE);
        out.extend_from_slice(&id.0.to_le_bytes());
        out.extend_from_slice(&SEND_TYPES.to_le_bytes());
        out.extend(types.iter().flat_map(|kind| kind.encode()));
        BulkExecute { out, types, start }
    }

    /// Returns the current length of the payload, in bytes.
    pub fn length(&self) -> usize {
        self.out.len().saturating_sub(self.start.saturating_add(frame::HEADER))
    }

    /// Appends a row.
    ///
    /// # Errors
    /// `Value` if the number of values or the type of a value is wrong; nothing is appended then.
    pub fn row<'v>(
        &mut self,
        values: impl ExactSizeIterator<Item = Parameter<'v>>,
    ) -> Result<(), WireError> {
        let row = self.out.len();
        let mut is_right = values.len() == self.types.len();
        for (value, expected) in values.zip(self.types) {
            is_right &= value.parameter_type().is_none_or(|kind| kind == *expected);
            let is_null = value == Parameter::Null;
            self.out.push(if is_null { INDICATOR_NULL } else { INDICATOR_NONE });
            value.encode(self.out);
        }
        if is_right {
            return Ok(());
        }
        self.out.truncate(row);
        Err(fault(ErrorKind::Value, 0, "COM_STMT_BULK_EXECUTE, values of a row"))
    }

    /// Ends the packet. Returns the sequence number of the first packet of its reply.
    pub fn end(self) -> u8 {
        frame::close(self.out, self.start, 0)
    }
}

/// `COM_STMT_BULK_EXECUTE` as decoded by a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkExecuteCommand<'a> {
    /// Id of the statement.
    pub id: StatementId,
    /// True if the types are included.
    pub has_types: bool,
    /// Types and rows.
    pub body: &'a [u8],
}

impl<'a> BulkExecuteCommand<'a> {
    pub(crate) fn decode(take: &mut FieldReader<'a>) -> Result<BulkExecuteCommand<'a>, WireError> {
        let id = StatementId(take.u32("COM_STMT_BULK_EXECUTE, statement")?);
        let flags = take.u16("COM_STMT_BULK_EXECUTE, flags")?;
        Ok(BulkExecuteCommand { id, has_types: flags & SEND_TYPES != 0, body: take.rest() })
    }

    /// Reads the rows: passes each value to `value`, with the index of its row.
    ///
    /// # Errors
    /// `Truncated`, `Value` or, for an indicator that is neither a value nor NULL, `Unsupported`,
    /// at offsets within [`BulkExecuteCommand::body`]; `Order` if the types were never sent or the
    /// statement has no parameters.
    pub fn values(
        &self,
        parameters: u16,
        bound: &mut BoundTypes,
        mut value: impl FnMut(u64, Field<'a>),
    ) -> Result<(), WireError> {
        let mut take = FieldReader::new(self.body);
        if self.has_types {
            bound.take(&mut take, parameters, "COM_STMT_BULK_EXECUTE, types")?;
        }
        if parameters == 0 || bound.0.len() != usize::from(parameters) {
            return Err(take.fault(ErrorKind::Order, "COM_STMT_BULK_EXECUTE, types"));
        }
        let mut row = 0_u64;
        while !take.is_empty() {
            for kind in &bound.0 {
                let before = take;
                value(
                    row,
                    match take.u8("COM_STMT_BULK_EXECUTE, indicator")? {
                        INDICATOR_NONE => Field::take(&mut take, *kind, "COM_STMT_BULK_EXECUTE")?,
                        INDICATOR_NULL => Field::Null,
                        _ => {
                            let field = "COM_STMT_BULK_EXECUTE, indicator";
                            return Err(before.fault(ErrorKind::Unsupported, field));
                        }
                    },
                );
            }
            row = row.saturating_add(1);
        }
        Ok(())
    }
}
