//! The parameters of statements: values, and the buffer they are made in.

use std::fmt::Write as _;
use std::ops::Range;

/// A parameter of a statement. Texts live in the [`Values`] that holds the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// SQL's NULL.
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Real(f64),
    /// A text, by its place in the buffer.
    Text(Text),
}

/// Where a text lies in the buffer of its [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    start: u32,
    end: u32,
}

impl Text {
    /// The bytes of the buffer that it takes.
    pub fn bytes(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// How parameters are written in a statement's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholders {
    /// `?` for each: MySQL, SQLite.
    Question,
    /// `$1`, `$2`, …: PostgreSQL.
    Dollar,
}

impl Placeholders {
    /// Appends the mark of the value with this number, counted from 1.
    pub fn write(self, number: usize, out: &mut String) {
        // Writing into a String cannot fail.
        let _ = match self {
            Placeholders::Question => out.write_char('?'),
            Placeholders::Dollar => write!(out, "${number}"),
        };
    }
}

/// A reusable buffer of values. After the first requests have grown it to its size, filling it
/// again allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Values {
    items: Vec<Value>,
    buffer: String,
}

impl Values {
    /// An empty buffer.
    pub fn new() -> Values {
        Values::default()
    }

    /// Forgets the values and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.buffer.clear();
    }

    /// Appends a value without text.
    #[inline]
    pub fn push(&mut self, value: Value) {
        self.items.push(value);
    }

    /// Appends the text that `write` appends to the buffer.
    pub fn push_text(&mut self, write: impl FnOnce(&mut String)) {
        let text = self.text(write);
        self.items.push(Value::Text(text));
    }

    /// Writes a text into the buffer without making it a value of the list.
    ///
    /// # Panics
    /// If the buffer outgrows 4 GiB, which the limits on text lengths exclude.
    pub fn text(&mut self, write: impl FnOnce(&mut String)) -> Text {
        let start = self.buffer.len();
        write(&mut self.buffer);
        self.text_since(start)
    }

    /// All that was written into the buffer since it had so many bytes, as one text.
    ///
    /// # Panics
    /// If the buffer outgrows 4 GiB, which the limits on text lengths exclude.
    pub fn text_since(&self, start: usize) -> Text {
        let limit = "texts of one request stay below 4 GiB";
        Text {
            start: u32::try_from(start).expect(limit),
            end: u32::try_from(self.buffer.len()).expect(limit),
        }
    }

    /// The values in the order in which they were pushed.
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// The text that lies at `text`.
    pub fn resolve(&self, text: Text) -> &str {
        &self.buffer[text.bytes()]
    }

    /// The text that is the value at a place of the list.
    ///
    /// # Panics
    /// If another value stands there, or none.
    #[inline]
    pub fn text_at(&self, place: u32) -> &str {
        match self.items[place as usize] {
            Value::Text(text) => self.resolve(text),
            other => panic!("a text stands at place {place}, not {other:?}"),
        }
    }

    /// How many bytes the texts take together.
    pub fn text_bytes(&self) -> usize {
        self.buffer.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_where_they_were_written() {
        let mut values = Values::new();
        values.push(Value::Int(7));
        values.push_text(|buffer| buffer.push_str("first"));
        values.push_text(|buffer| buffer.push_str("second"));
        let texts: Vec<&str> = values
            .items()
            .iter()
            .filter_map(|value| match value {
                Value::Text(text) => Some(values.resolve(*text)),
                Value::Null | Value::Int(_) | Value::Real(_) => None,
            })
            .collect();
        assert_eq!(texts, ["first", "second"]);
        let both = values.text_since(0);
        assert_eq!((both.bytes(), values.resolve(both)), (0..11, "firstsecond"));
        values.clear();
        assert!(values.items().is_empty());
        assert_eq!(values.text_bytes(), 0);
    }
}
