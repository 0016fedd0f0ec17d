//! The total size of the texts that are inserted into a plan.
//!
//! A plan contains the text of each parameter, and again wherever a statement or an expression uses
//! it. It also contains a copy of a script for each job that names the script, and a copy of a
//! section for each mix that the section is a part of. The total is limited while the texts are
//! inserted: otherwise a short file could fill the memory before the [limit of a
//! file](LARGEST_FILE) applies to its plan.

use std::cell::Cell;
use std::collections::BTreeSet;

use base::Diagnostic;

use super::compiled::InvalidExpr;
use crate::read::{Excerpt, LARGEST_FILE};
use crate::value::Constant;

/// Maximum size of the texts in memory, in bytes.
const LARGEST_IN_MEMORY: usize = 256 << 20;

/// Approximate memory that each statement or other text takes besides its own bytes, in bytes.
const OF_EACH_TEXT: usize = 256;

/// The number of bytes inserted so far.
#[derive(Debug, Default)]
pub(crate) struct InsertedText {
    /// The approximate size in the printed plan: a section that is printed once is counted once.
    bytes: Cell<usize>,
    /// The approximate size in memory, with all copies of the sections.
    in_memory: Cell<usize>,
    /// The sections that were counted.
    sections: BTreeSet<String>,
}

impl InsertedText {
    /// Adds the texts of a statement: this many bytes, which are inserted at `place`.
    ///
    /// # Errors
    /// The total exceeds a limit. Only the first excess is reported.
    pub(crate) fn add(&self, bytes: usize, place: Excerpt<'_>) -> Result<(), InvalidExpr> {
        self.grow(bytes, bytes + OF_EACH_TEXT, place)
    }

    /// Adds a text of this many bytes that only takes memory: its parameters were added before, or
    /// the printed plan does not contain it.
    ///
    /// # Errors
    /// As for [`InsertedText::add`].
    pub(crate) fn add_to_memory(
        &self,
        bytes: usize,
        place: Excerpt<'_>,
    ) -> Result<(), InvalidExpr> {
        self.grow(0, bytes + OF_EACH_TEXT, place)
    }

    /// Adds a constant that is inserted at `place`. A number adds nothing.
    ///
    /// # Errors
    /// As for [`InsertedText::add`].
    pub(crate) fn add_constant(
        &self,
        constant: &Constant,
        place: Excerpt<'_>,
    ) -> Result<(), InvalidExpr> {
        match constant {
            Constant::Text(text) => self.grow(text.len(), text.len(), place),
            Constant::Int(_) | Constant::Real(_) | Constant::Duration(_) => Ok(()),
        }
    }

    fn grow(
        &self,
        printed: usize,
        in_memory: usize,
        place: Excerpt<'_>,
    ) -> Result<(), InvalidExpr> {
        let was_full = self.is_full();
        self.bytes.set(self.bytes.get().saturating_add(printed));
        self.in_memory.set(self.in_memory.get().saturating_add(in_memory));
        match self.is_full() {
            true => Err(InvalidExpr((!was_full).then(|| Box::new(self.excess(place))))),
            false => Ok(()),
        }
    }

    /// Returns true if a limit is exceeded, which has been reported.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.get() > LARGEST_FILE || self.in_memory.get() > LARGEST_IN_MEMORY
    }

    /// Begins a section. The plan prints a section only once. If the section was counted before, as
    /// a job or as a part of another mix, its size is counted separately, from zero, and
    /// [`InsertedText::leave`] discards it. Returns the argument for `leave`.
    pub(crate) fn enter(&mut self, section: &str) -> usize {
        match self.is_full() || self.sections.insert(section.to_owned()) {
            true => 0,
            false => self.bytes.take(),
        }
    }

    /// Ends a section; `before` is the result of [`InsertedText::enter`].
    pub(crate) fn leave(&mut self, before: usize) {
        self.bytes.set(self.bytes.get().max(before));
    }

    /// Returns the error for the first text beyond a limit.
    fn excess(&self, place: Excerpt<'_>) -> Diagnostic {
        let (most, copies) = match self.bytes.get() > LARGEST_FILE {
            true => (LARGEST_FILE >> 20, ""),
            false => (LARGEST_IN_MEMORY >> 20, ", with a copy of a part for each of its mixes"),
        };
        place
            .error(format!(
                "the parameters and the texts inserted up to here exceed {most} MiB \
                 together{copies}"
            ))
            .help(
                "use long parameters less often, and give data in a `[load TABLE]` section or in \
                 a file with `csv(…)`",
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::LocatedText;

    #[test]
    fn section_counts_once_and_only_the_first_excess_is_reported() {
        let place = LocatedText::outside("${p}");
        let add = |inserted: &InsertedText| inserted.add(LARGEST_FILE / 2, place.excerpt());
        let mut inserted = InsertedText::default();
        for section in ["a", "b", "a", "b"] {
            let before = inserted.enter(section);
            assert!(add(&inserted).is_ok(), "{section}");
            inserted.leave(before);
        }
        let text = Constant::Text("x".to_owned());
        assert!(inserted.add_constant(&Constant::Int(1), place.excerpt()).is_ok());
        let InvalidExpr(first) = inserted.add_constant(&text, place.excerpt()).unwrap_err();
        assert!(first.is_some_and(|error| error.message.ends_with("exceed 64 MiB together")));
        let before = inserted.enter("a");
        assert!(matches!(add(&inserted), Err(InvalidExpr(None))));
        inserted.leave(before);
        assert!(inserted.is_full());
    }

    #[test]
    fn copies_of_a_section_have_a_limit_of_their_own() {
        let place = LocatedText::outside("${p}");
        let mut inserted = InsertedText::default();
        let mut add_copy = || {
            let before = inserted.enter("a");
            let added = inserted.add(LARGEST_FILE / 2, place.excerpt());
            inserted.leave(before);
            added
        };
        (0..7).for_each(|copy| assert!(add_copy().is_ok(), "{copy}"));
        let InvalidExpr(first) = add_copy().unwrap_err();
        assert!(first.is_some_and(|error| error.message.contains("exceed 256 MiB together, with")));
        assert!(matches!(add_copy(), Err(InvalidExpr(None))));
    }
}
