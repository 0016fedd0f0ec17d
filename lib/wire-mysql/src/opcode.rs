//! The first bytes of commands (protocol manual: "Command Phase").

pub(crate) const QUIT: u8 = 0x01;
pub(crate) const INIT_DB: u8 = 0x02;
pub(crate) const QUERY: u8 = 0x03;
pub(crate) const PING: u8 = 0x0E;
pub(crate) const PREPARE: u8 = 0x16;
pub(crate) const EXECUTE: u8 = 0x17;
pub(crate) const CLOSE: u8 = 0x19;
pub(crate) const RESET: u8 = 0x1A;
pub(crate) const RESET_CONNECTION: u8 = 0x1F;
pub(crate) const BULK_EXECUTE: u8 = 0xFA;
