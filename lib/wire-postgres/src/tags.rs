//! Message types, named as in the chapter "Message Formats". Some letters have different meanings
//! for the two sides.

/// Types of server messages.
pub(crate) mod backend {
    pub(crate) const AUTHENTICATION: u8 = b'R';
    pub(crate) const BACKEND_KEY_DATA: u8 = b'K';
    pub(crate) const BIND_COMPLETE: u8 = b'2';
    pub(crate) const CLOSE_COMPLETE: u8 = b'3';
    pub(crate) const COMMAND_COMPLETE: u8 = b'C';
    pub(crate) const COPY_BOTH_RESPONSE: u8 = b'W';
    pub(crate) const COPY_IN_RESPONSE: u8 = b'G';
    pub(crate) const COPY_OUT_RESPONSE: u8 = b'H';
    pub(crate) const DATA_ROW: u8 = b'D';
    pub(crate) const EMPTY_QUERY_RESPONSE: u8 = b'I';
    pub(crate) const ERROR_RESPONSE: u8 = b'E';
    pub(crate) const NEGOTIATE_PROTOCOL_VERSION: u8 = b'v';
    pub(crate) const NO_DATA: u8 = b'n';
    pub(crate) const NOTICE_RESPONSE: u8 = b'N';
    pub(crate) const NOTIFICATION_RESPONSE: u8 = b'A';
    pub(crate) const PARAMETER_DESCRIPTION: u8 = b't';
    pub(crate) const PARAMETER_STATUS: u8 = b'S';
    pub(crate) const PARSE_COMPLETE: u8 = b'1';
    pub(crate) const PORTAL_SUSPENDED: u8 = b's';
    pub(crate) const READY_FOR_QUERY: u8 = b'Z';
    pub(crate) const ROW_DESCRIPTION: u8 = b'T';
}

/// Types of client messages.
pub(crate) mod frontend {
    pub(crate) const BIND: u8 = b'B';
    pub(crate) const CLOSE: u8 = b'C';
    pub(crate) const COPY_FAIL: u8 = b'f';
    pub(crate) const DESCRIBE: u8 = b'D';
    pub(crate) const EXECUTE: u8 = b'E';
    pub(crate) const FLUSH: u8 = b'H';
    pub(crate) const PARSE: u8 = b'P';
    /// PasswordMessage, SASLInitialResponse, SASLResponse.
    pub(crate) const PASSWORD: u8 = b'p';
    pub(crate) const QUERY: u8 = b'Q';
    pub(crate) const SYNC: u8 = b'S';
    pub(crate) const TERMINATE: u8 = b'X';
}

/// Types of messages of both sides.
pub(crate) mod both {
    pub(crate) const COPY_DATA: u8 = b'd';
    pub(crate) const COPY_DONE: u8 = b'c';
}
