//! The contents of an ErrorResponse or a NoticeResponse. Chapter "Error and Notice Message Fields".

use std::fmt;

use crate::cursor::Cursor;
use crate::list::sealed::Read;
use crate::{List, WireError};

/// An error or a notice, borrowed from its message.
///
/// Texts are bytes: before a session's encoding is known, a server may use any encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report<'a> {
    /// All fields in the order in which they were sent.
    pub fields: List<'a, ReportField<'a>>,
}

/// A field of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportField<'a> {
    /// Kind of the field, as the manual's letter: `S`, `V`, `C`, `M`, `D`, `H`, `P` and others.
    pub code: u8,
    /// Text of the field.
    pub text: &'a [u8],
}

impl<'a> Read<'a> for ReportField<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let code = cursor.u8("ErrorResponse, field type")?;
        Ok(ReportField { code, text: cursor.string("ErrorResponse, field value")? })
    }
}

impl<'a> Report<'a> {
    pub(crate) fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(Report { fields: List::terminated(cursor, "ErrorResponse, fields")? })
    }

    /// Returns the text of the field with this letter; `None` if there is no such field.
    pub fn field(&self, code: u8) -> Option<&'a [u8]> {
        self.fields.iter().find(|field| field.code == code).map(|field| field.text)
    }

    /// Returns the severity. Servers before 9.6 send it only in the session's language; `None` if
    /// that is not English.
    pub fn severity(&self) -> Option<Severity> {
        self.field(b'V').or_else(|| self.field(b'S')).and_then(Severity::parse)
    }

    /// Returns the error's code; `None` if the server, or a pooler in its place, sent no valid
    /// code.
    pub fn sqlstate(&self) -> Option<SqlState> {
        self.field(b'C').and_then(SqlState::parse)
    }

    /// Returns the primary message, usually one line; empty if there is none.
    pub fn message(&self) -> &'a [u8] {
        self.field(b'M').unwrap_or_default()
    }

    /// Returns the detail message.
    pub fn detail(&self) -> Option<&'a [u8]> {
        self.field(b'D')
    }

    /// Returns the hint: a suggestion for solving the problem.
    pub fn hint(&self) -> Option<&'a [u8]> {
        self.field(b'H')
    }

    /// Returns the position in the statement, in characters, counted from 1.
    pub fn position(&self) -> Option<u32> {
        self.field(b'P').and_then(|text| std::str::from_utf8(text).ok()?.parse().ok())
    }

    /// Returns an owned copy. A text longer than [`OwnedReport::LONGEST`] is truncated.
    pub fn to_owned(&self) -> OwnedReport {
        OwnedReport {
            severity: self.severity(),
            sqlstate: self.sqlstate(),
            message: truncated(self.message()),
            detail: self.detail().map(truncated),
            hint: self.hint().map(truncated),
            position: self.position(),
        }
    }
}

/// Returns a text of a report, truncated if necessary.
fn truncated(text: &[u8]) -> String {
    match text.get(..OwnedReport::LONGEST) {
        Some(beginning) if text.len() > OwnedReport::LONGEST => {
            let mut cut = String::from_utf8_lossy(beginning).into_owned();
            cut.push('…');
            cut
        }
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}

/// An error or a notice, with owned texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedReport {
    /// Severity, if the server sent one.
    pub severity: Option<Severity>,
    /// The error's code, if the server sent one.
    pub sqlstate: Option<SqlState>,
    /// Primary message, usually one line; empty if the server sent none.
    pub message: String,
    /// Detail message.
    pub detail: Option<String>,
    /// Suggestion for solving the problem.
    pub hint: Option<String>,
    /// Position in the statement, in characters, counted from 1.
    pub position: Option<u32>,
}

impl OwnedReport {
    /// Longest part of a text that is kept, in bytes.
    pub const LONGEST: usize = 16 << 10;
}

impl fmt::Display for OwnedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.sqlstate {
            Some(sqlstate) => write!(f, " (SQLSTATE {sqlstate})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for OwnedReport {}

/// The severity of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The statement failed.
    Error,
    /// The session ends.
    Fatal,
    /// All sessions end.
    Panic,
    /// A warning.
    Warning,
    /// A notice for the user.
    Notice,
    /// A notice for developers.
    Debug,
    /// A notice that the user requested.
    Info,
    /// A notice for administrators.
    Log,
}

impl Severity {
    const ALL: [Severity; 8] = [
        Severity::Error,
        Severity::Fatal,
        Severity::Panic,
        Severity::Warning,
        Severity::Notice,
        Severity::Debug,
        Severity::Info,
        Severity::Log,
    ];

    /// Returns the protocol's word.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "ERROR",
            Severity::Fatal => "FATAL",
            Severity::Panic => "PANIC",
            Severity::Warning => "WARNING",
            Severity::Notice => "NOTICE",
            Severity::Debug => "DEBUG",
            Severity::Info => "INFO",
            Severity::Log => "LOG",
        }
    }

    /// Returns true if the session is over.
    pub fn ends_session(self) -> bool {
        matches!(self, Severity::Fatal | Severity::Panic)
    }

    fn parse(word: &[u8]) -> Option<Severity> {
        Severity::ALL.into_iter().find(|severity| severity.word().as_bytes() == word)
    }
}

/// An SQLSTATE code (appendix "PostgreSQL Error Codes"): five characters, each a digit or a capital
/// letter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SqlState([u8; 5]);

impl SqlState {
    /// Parses a code of five characters, each a digit or a capital letter.
    pub fn parse(text: &[u8]) -> Option<SqlState> {
        let code: [u8; 5] = text.try_into().ok()?;
        let fits = code.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        fits.then_some(SqlState(code))
    }

    /// Returns the code as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
