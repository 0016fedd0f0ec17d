//! Server messages: [`Message::decode`] for clients, a function per message for servers.

mod authentication;
mod decode;
mod encode;

pub use authentication::{Authentication, Mechanism};
pub use decode::{
    Column, CopyResponse, Message, Negotiation, Notification, OptionName, ParameterStatus, Row,
};
pub(crate) use decode::{decode_body, limit};
pub use encode::*;
