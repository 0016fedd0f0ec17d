//! `[setup]` and `[teardown]`: statements that run once.

use super::Checker;
use super::statement::Binding;
use crate::keys::Owner;
use crate::plan::{FixedStatement, Piece};
use crate::read::Section;

impl<'f> Checker<'f> {
    /// The statements of a section, parameters written into them.
    pub(super) fn fixed(&mut self, section: &'f Section<'f>) -> Vec<FixedStatement> {
        let whereabouts = format!("in [{}]", section.name);
        let fields = self.fields(&section.entries, Owner::Fixed, &whereabouts);
        let what = format!("[{}]", section.name);
        let mut statements = Vec::new();
        for entry in fields.all("query") {
            let pieces = self.statement(entry.value(), Binding::Written(&what));
            let text = pieces.into_iter().filter_map(|piece| match piece {
                Piece::Text(text) => Some(text),
                Piece::Value(_) | Piece::Splice(_) => None,
            });
            statements.push(FixedStatement {
                text: text.collect(),
                span: entry.value().span().unwrap_or_default(),
            });
        }
        statements
    }
}
