//! Server-sent events (HTML Living Standard, section 9.2).

/// A source of events for one viewer.
pub trait EventSource: Send {
    /// Waits for the next event; `None` if there are no more. A source without new events returns
    /// [`Event::KeepAlive`] every few seconds, which shows whether the viewer is still connected.
    fn next(&mut self) -> Option<Event>;
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message without a name.
    Message(String),
    /// The last message, under the name `end`.
    End(String),
    /// A comment, which the page does not see: there is no new message.
    KeepAlive,
}

impl Event {
    /// Returns the event as it is sent.
    pub(crate) fn text(&self) -> String {
        match self {
            Event::Message(data) => format!("{}\n", lines(data)),
            Event::End(data) => format!("event: end\n{}\n", lines(data)),
            Event::KeepAlive => ":\n\n".to_owned(),
        }
    }
}

/// Returns a text as lines of data. It is split at every kind of line end, because each of them
/// would begin another field.
fn lines(data: &str) -> String {
    let lines = data.split(['\r', '\n']).map(|line| format!("data: {line}\n"));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_begin_no_other_field() {
        let event = Event::Message("{}\nevent: end\r\nid: 1".to_owned());
        assert_eq!(event.text(), "data: {}\ndata: event: end\ndata: \ndata: id: 1\n\n");
        assert_eq!(Event::End("x".to_owned()).text(), "event: end\ndata: x\n\n");
    }
}
