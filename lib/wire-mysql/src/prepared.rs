//! The reply to the preparation of a statement, without the definitions after it.
//!
//! Protocol manual: "COM_STMT_PREPARE_OK".

use crate::error::{ErrorKind, WireError};
use crate::execute::StatementId;
use crate::take::FieldReader;

/// A prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Id of the statement on the server.
    pub id: StatementId,
    /// Number of result columns.
    pub columns: u16,
    /// Number of parameters.
    pub parameters: u16,
    /// Number of warnings.
    pub warnings: u16,
}

impl Prepared {
    /// Reads the payload.
    ///
    /// # Errors
    /// `Truncated`, `Value` or `Trailing`.
    pub fn decode(payload: &[u8]) -> Result<Prepared, WireError> {
        let mut take = FieldReader::new(payload);
        if take.u8("prepare OK, first byte")? != 0 {
            return Err(FieldReader::new(payload).fault(ErrorKind::Value, "prepare OK, first byte"));
        }
        let id = StatementId(take.u32("prepare OK, statement")?);
        let columns = take.u16("prepare OK, columns")?;
        let parameters = take.u16("prepare OK, parameters")?;
        take.u8("prepare OK, filler")?;
        let warnings = take.u16("prepare OK, warnings")?;
        take.end("prepare OK")?;
        Ok(Prepared { id, columns, parameters, warnings })
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(0);
        out.extend_from_slice(&self.id.0.to_le_bytes());
        out.extend_from_slice(&self.columns.to_le_bytes());
        out.extend_from_slice(&self.parameters.to_le_bytes());
        out.push(0);
        out.extend_from_slice(&self.warnings.to_le_bytes());
    }
}
