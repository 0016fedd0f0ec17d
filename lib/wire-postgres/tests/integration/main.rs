//! The protocol as a whole: both roles against each other, and against bytes of real servers.

mod replies;
mod template;
