//! Client messages: a function per message for clients, [`Message::decode`] and
//! [`StartupPacket::decode`] for servers.

mod decode;
mod encode;
mod packet;

pub use decode::{Bind, Message, Parse, SaslInitialResponse};
pub use encode::*;
pub use packet::{ProtocolVersion, Startup, StartupPacket, StartupParameter};
