//! Sentences with a role for the reader.

/// The role of a text for the reader, which only its colour shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    Plain,
    /// Emphasized.
    Strong,
    /// Of secondary importance.
    Quiet,
    /// A good result.
    Good,
    /// A doubt.
    Doubtful,
    /// A bad result.
    Bad,
}

/// A sentence of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// A sentence that begins with emphasized words.
    Sentence {
        /// Tone of the emphasized words.
        tone: Tone,
        /// Emphasized words.
        lead: String,
        /// Rest of the sentence.
        rest: String,
    },
    /// A quiet note on the text above it.
    Note(String),
}

impl Remark {
    pub(crate) fn sentence(tone: Tone, lead: impl Into<String>, rest: impl Into<String>) -> Remark {
        Remark::Sentence { tone, lead: lead.into(), rest: rest.into() }
    }

    pub(crate) fn note(text: impl Into<String>) -> Remark {
        Remark::Note(text.into())
    }
}

/// A text with a label for its subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Label; empty if the text belongs to the line above.
    pub label: String,
    /// Tone of the label.
    pub tone: Tone,
    /// Text.
    pub text: String,
    /// Tone of the text.
    pub tone_of_text: Tone,
    /// True if the text may be wrapped, false if it is meant to be copied.
    pub is_wrapped: bool,
}

impl Line {
    pub(crate) fn new(label: impl Into<String>, text: impl Into<String>) -> Line {
        let (label, text) = (label.into(), text.into());
        Line { label, tone: Tone::Plain, text, tone_of_text: Tone::Plain, is_wrapped: true }
    }

    /// Creates a line whose text is meant to be copied, so it is not wrapped.
    pub(crate) fn unwrapped(label: impl Into<String>, text: impl Into<String>) -> Line {
        Line { is_wrapped: false, ..Line::new(label, text) }
    }

    /// Creates a remark on the line above, aligned with the text of that line.
    pub(crate) fn remark(text: impl Into<String>) -> Line {
        Line { tone_of_text: Tone::Quiet, ..Line::new("", text) }
    }

    /// Sets the tone of the label.
    pub(crate) fn in_tone(self, tone: Tone) -> Line {
        Line { tone, ..self }
    }
}
