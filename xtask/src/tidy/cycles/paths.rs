//! The paths of a source file: the paths in `use` declarations and the paths within the code.

use super::tokens::Token;

/// The names of a path, such as `crate`, `plan`, `Plan`; the last may be `*`.
pub(super) type Names = Vec<String>;

/// A path that a `use` declaration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) path: Names,
    /// Name by which the file refers to the path.
    pub(super) alias: String,
    /// True for `pub use` of any visibility.
    pub(super) is_public: bool,
}

/// The paths of one file, without the paths in its tests.
#[derive(Debug, Default)]
pub(super) struct Paths {
    pub(super) imports: Vec<Import>,
    /// Paths within the code, of two names or more.
    pub(super) inline: Vec<Names>,
    /// Single names within the code, which may refer to imported items.
    pub(super) words: std::collections::BTreeSet<String>,
}

impl Paths {
    /// Reads the paths of a file.
    pub(super) fn read(tokens: &[Token]) -> Paths {
        let mut paths = Paths::default();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                Token::Word(word) if word == "use" => {
                    let is_public = is_after_visibility(&tokens[..at]);
                    at = paths.read_tree(tokens, at + 1, &[], is_public);
                }
                Token::Word(_) => at = paths.read_inline(tokens, at),
                _ => at += 1,
            }
        }
        paths
    }

    /// Reads one branch of a `use` declaration. Returns the index after the branch.
    fn read_tree(&mut self, tokens: &[Token], at: usize, above: &[String], public: bool) -> usize {
        let mut path = above.to_vec();
        let mut at = at;
        loop {
            match tokens.get(at) {
                Some(Token::Word(word)) if word == "as" => {
                    let alias = match tokens.get(at + 1) {
                        Some(Token::Word(alias)) => alias.clone(),
                        _ => String::new(),
                    };
                    self.import(path, Some(alias), public);
                    return at + 2;
                }
                Some(Token::Word(word)) => path.push(word.clone()),
                Some(Token::Sign('*')) => path.push("*".to_owned()),
                Some(Token::Sign('{')) => {
                    at += 1;
                    while at < tokens.len() && tokens[at] != Token::Sign('}') {
                        at = self.read_tree(tokens, at, &path, public);
                        at += usize::from(tokens.get(at) == Some(&Token::Sign(',')));
                    }
                    return at + 1;
                }
                Some(Token::Colons) => {}
                _ => {
                    self.import(path, None, public);
                    return at;
                }
            }
            at += 1;
        }
    }

    fn import(&mut self, mut path: Names, alias: Option<String>, is_public: bool) {
        if path.len() > 1 && path.last().is_some_and(|name| name == "self") {
            path.pop();
        }
        let alias = alias.or_else(|| path.last().cloned()).unwrap_or_default();
        self.imports.push(Import { path, alias, is_public });
    }

    /// Reads a path within the code. Returns the index after the path.
    fn read_inline(&mut self, tokens: &[Token], at: usize) -> usize {
        let mut names = Vec::new();
        let mut at = at;
        while let Some(Token::Word(word)) = tokens.get(at) {
            names.push(word.clone());
            at += 1;
            if tokens.get(at) != Some(&Token::Colons) {
                break;
            }
            at += 1;
        }
        match names.len() {
            1 => self.words.extend(names),
            _ => self.inline.push(names),
        }
        at
    }
}

/// Returns true if the tokens end in `pub` or `pub(…)`.
fn is_after_visibility(before: &[Token]) -> bool {
    let is_pub = |token: Option<&Token>| token == Some(&Token::Word("pub".to_owned()));
    if before.last() != Some(&Token::Sign(')')) {
        return is_pub(before.last());
    }
    let open = before.iter().rposition(|token| *token == Token::Sign('('));
    open.is_some_and(|open| is_pub(before[..open].last()))
}
