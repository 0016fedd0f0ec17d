//! The parameters of statements: values, and their buffer.

use std::fmt::Write as _;
use std::ops::Range;

/// A parameter of a statement. Its text is in the [`Values`] that holds the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// SQL's NULL.
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Real(f64),
    /// A text, by its range in the buffer.
    Text(Text),
}

/// The range of a text in the buffer of its [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    start: u32,
    end: u32,
}

impl Text {
    /// Returns the range of bytes in the buffer.
    pub fn bytes(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The placeholder style of parameters in a statement's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholders {
    /// `?` for each: MySQL, SQLite.
    Question,
    /// `$1`, `$2`, …: PostgreSQL.
    Dollar,
}

impl Placeholders {
    /// Appends the placeholder of the parameter with this number, counted from 1.
    pub fn write(self, number: usize, out: &mut String) {
        // Writing into a String cannot fail.
        let _ = match self {
            Placeholders::Question => out.write_char('?'),
            Placeholders::Dollar => write!(out, "${number}"),
        };
    }
}

/// A reusable buffer of values. Once the first requests have grown it to its size, filling it again
/// allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Values {
    items: Vec<Value>,
    buffer: String,
}

impl Values {
    /// Makes an empty buffer.
    pub fn new() -> Values {
        Values::default()
    }

    /// Removes the values and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.buffer.clear();
    }

    /// Appends a value that is not a text.
    #[inline]
    pub fn push(&mut self, value: Value) {
        self.items.push(value);
    }

    /// Appends a text, which `write` writes at the end of the buffer.
    pub fn push_text(&mut self, write: impl FnOnce(&mut String)) {
        let text = self.text(write);
        self.items.push(Value::Text(text));
    }

    /// Writes a text into the buffer without making it a value of the list.
    ///
    /// # Panics
    /// If the buffer exceeds 4 GiB, which the limits on text lengths exclude.
    pub fn text(&mut self, write: impl FnOnce(&mut String)) -> Text {
        let start = self.buffer.len();
        write(&mut self.buffer);
        self.text_since(start)
    }

    /// Returns the buffer from byte `start` on as one text.
    ///
    /// # Panics
    /// If the buffer exceeds 4 GiB, which the limits on text lengths exclude.
    pub fn text_since(&self, start: usize) -> Text {
        let limit = "texts of one request stay below 4 GiB";
        Text {
            start: u32::try_from(start).expect(limit),
            end: u32::try_from(self.buffer.len()).expect(limit),
        }
    }

    /// Returns the values in the order in which they were pushed.
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// Returns the text in the range `text`.
    pub fn resolve(&self, text: Text) -> &str {
        &self.buffer[text.bytes()]
    }

    /// Returns the text that is the value at an index of the list.
    ///
    /// # Panics
    /// If the value at this index is not a text, or if there is no such value.
    #[inline]
    pub fn text_at(&self, place: u32) -> &str {
        match self.items[place as usize] {
            Value::Text(text) => self.resolve(text),
            other => panic!("a text stands at place {place}, not {other:?}"),
        }
    }

    /// Returns the size of all texts, in bytes.
    pub fn text_bytes(&self) -> usize {
        self.buffer.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_texts_are_found_by_position() {
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
