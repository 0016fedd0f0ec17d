//! `[setup]` and `[teardown]`: statements that run once.

use base::Span;

use super::checker::Checker;
use super::statement::Binding;
use crate::keys::SectionKind;
use crate::plan::{FixedStatement, Piece, ScriptLine};
use crate::read::Section;

impl<'f> Checker<'f> {
    /// Returns the statements of a section in file order, with parameters inserted into their text.
    pub(super) fn fixed(&mut self, section: &'f Section<'f>) -> Vec<FixedStatement> {
        let location_text = format!("in [{}]", section.name);
        let fields = self.fields(&section.entries, SectionKind::Fixed, &location_text);
        let binding = Binding::Constant(&location_text[3..]);
        let mut statements = Vec::new();
        for (key, entry) in fields.any(&["query", "query-file"]) {
            let span = entry.value().span().unwrap_or_default();
            match key {
                "query-file" => {
                    let all = self.statements_of(entry, self.dialect, |checker, piece| {
                        checker.statement(piece, binding)
                    });
                    let made = |(pieces, line)| fixed(pieces, span, Some(line));
                    statements.extend(all.into_iter().map(made));
                }
                _ => statements.push(fixed(self.statement(entry.value(), binding), span, None)),
            }
        }
        self.passwords_of_other_dialects(section, SectionKind::Fixed, self.dialect);
        statements
    }
}

fn fixed(pieces: Vec<Piece>, span: Span, script: Option<ScriptLine>) -> FixedStatement {
    let text = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text),
        Piece::Value(_) | Piece::Quoted(_) | Piece::Splice(_) => None,
    });
    FixedStatement { text: text.collect(), span, script }
}
