//! Passwords in lines that apply to other databases.
//!
//! A plan has only the lines for the databases of its targets. The file and the command line are
//! recorded as a whole, so a parameter that is a password in any of their lines is a secret. Faults
//! in lines for other databases are not reported, and their scripts are not read.

use base::Dialect;

use super::checker::Checker;
use super::dialect;
use super::fields::SectionLines;
use super::parameter_uses::ParameterUse;
use super::statement::raw_argument;
use crate::expr::{Ast, Compiled, Variables, compile, parse_all};
use crate::keys::SectionKind;
use crate::read::{Entry, Excerpt, Section};
use crate::sink::Sink;
use crate::text::{Fragment, Scan, ScanOptions, ValuePositions, mark, scan, scan_command};

/// Maximum length, in bytes, of a constant that is inserted into a text before the search for
/// passwords. It is limited because many texts may use one long parameter.
const LONGEST_INSERTED: usize = 1_024;

impl<'f> Checker<'f> {
    /// Finds the passwords in the statements, commands, variables and URLs of a section as it
    /// applies to databases with other dialects than `own`.
    pub(super) fn passwords_of_other_dialects(
        &mut self,
        section: &'f Section<'f>,
        owner: SectionKind,
        own: Dialect,
    ) {
        let has_dialect = |entry: &Entry<'_>| dialect::split(entry.key().text()).1.is_some();
        let (file, entries) = (self.file, section.entries.as_slice());
        // A section may be used in many mixes.
        if !entries.iter().any(has_dialect) || !self.searched.insert((section.name.clone(), own)) {
            return;
        }
        for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != own) {
            let lines = SectionLines { file, entries, owner, dialect, location_text: "" };
            let fields = lines.fields(&mut Sink::default());
            let mut variables = Variables::new();
            for item in fields.all("let").flat_map(|entry| entry.value().list()) {
                if let Some((name, source)) = item.split_once(b':')
                    && let Ok(ast) = parse_all(source)
                {
                    variables.declare(name.text(), self.secrets.names_in(&ast, source.text()));
                }
            }
            for (key, entry) in fields.any(&["query", "command", "url"]) {
                let value = entry.value();
                let marks = ValuePositions::Written;
                let options = ScanOptions { dialect, placeholders: false, marks };
                let scan = match key {
                    "query" => scan(value, options),
                    _ => scan_command(value, marks),
                };
                self.passwords_of(value, &scan);
            }
            self.secrets.follow(&variables);
        }
    }

    /// Finds the passwords in a text with the given scan.
    fn passwords_of(&mut self, source: Excerpt<'_>, scan: &Scan) {
        let (mut text, mut uses) = (String::new(), Vec::new());
        for fragment in &scan.fragments {
            match fragment {
                Fragment::Text(range) | Fragment::Placeholder(range, _) => {
                    text.push_str(&source.text()[range.clone()]);
                }
                Fragment::Dollar => text.push_str("${"),
                Fragment::Braced { content, .. } => {
                    let Ok(ast) = content else { continue };
                    let start = text.len();
                    text.push_str(&self.inserted_text(ast, source));
                    let names = self.secrets.names_in(ast, source.text());
                    uses.push(ParameterUse { place: start..text.len(), names });
                }
            }
        }
        self.secrets.text(&text, &uses);
    }

    /// Returns the text of a constant, or a mark for any other value.
    fn inserted_text(&self, ast: &Ast, source: Excerpt<'_>) -> String {
        let spliced = raw_argument(source, ast).ok().flatten();
        let compiled = compile(spliced.unwrap_or(ast), source, self.fixed_scope("a value"));
        let text = match compiled {
            Ok(Compiled::Constant(constant)) => Some(constant.to_text()),
            Ok(Compiled::Dynamic(..)) | Err(_) => None,
        };
        let text = text.filter(|text| text.len() <= LONGEST_INSERTED);
        text.unwrap_or_else(|| mark(false).to_owned())
    }
}
