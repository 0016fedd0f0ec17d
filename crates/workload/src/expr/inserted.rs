//! The total size of the texts that are inserted into a plan.
//!
//! A plan contains the text of each parameter, and again wherever a statement or an expression uses
//! it. It also contains a script once for each job that names the script. The total is limited
//! while the texts are inserted: otherwise a short file could fill the memory before the [limit of
//! a file](LARGEST_FILE) applies to its plan.

use std::cell::Cell;
use std::collections::BTreeSet;

use base::Diagnostic;

use super::compiled::InvalidExpr;
use crate::read::{Excerpt, LARGEST_FILE};
use crate::value::Constant;

/// The number of bytes inserted so far. It never exceeds the printed plan: each text is counted
/// where the plan contains it, and a section that is printed once is counted once.
#[derive(Debug, Default)]
pub(crate) struct InsertedText {
    bytes: Cell<usize>,
    /// The sections that were counted.
    sections: BTreeSet<String>,
}

impl InsertedText {
    /// Adds texts of this many bytes, which are inserted at `place`.
    ///
    /// # Errors
    /// The total exceeds the limit. Only the first excess is reported.
    pub(crate) fn add(&self, bytes: usize, place: Excerpt<'_>) -> Result<(), InvalidExpr> {
        let was_full = self.is_full();
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        match self.is_full() {
            true => Err(InvalidExpr((!was_full).then(|| Box::new(too_much(place))))),
            false => Ok(()),
        }
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
            Constant::Text(text) => self.add(text.len(), place),
            Constant::Int(_) | Constant::Real(_) | Constant::Duration(_) => Ok(()),
        }
    }

    /// Returns true if the limit is exceeded, which has been reported.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.get() > LARGEST_FILE
    }

    /// Begins a section. A section that was counted before, as a part of another mix, is counted
    /// from zero. Returns the total for [`InsertedText::leave`].
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
}

fn too_much(place: Excerpt<'_>) -> Diagnostic {
    let megabytes = LARGEST_FILE >> 20;
    place
        .error(format!(
            "the parameters and the texts inserted up to here exceed {megabytes} MiB together"
        ))
        .help(
            "use long parameters less often, and give data in a `[load TABLE]` section or in a \
             file with `csv(…)`",
        )
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
}
