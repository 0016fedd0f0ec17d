//! The methods of `impl` blocks, and the calls of methods of the same type within them.

use std::collections::BTreeSet;

use super::paths::Names;
use super::tokens::Token;

/// An `impl` block of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ImplBlock {
    /// The path of the type.
    pub(super) of: Names,
    /// Names of its methods; none for the implementation of a trait.
    pub(super) methods: BTreeSet<String>,
    /// Names of methods that are called as `self.name()`, `Self::name()` or `Type::name()`.
    pub(super) calls: BTreeSet<String>,
}

impl ImplBlock {
    /// Reads the blocks of a file that are not within another item.
    pub(super) fn read_all(tokens: &[Token]) -> Vec<ImplBlock> {
        let mut blocks = Vec::new();
        let (mut at, mut depth) = (0, 0_usize);
        while at < tokens.len() {
            match &tokens[at] {
                Token::Word(word) if word == "impl" && depth == 0 => {
                    let (block, end) = ImplBlock::read(tokens, at + 1);
                    blocks.push(block);
                    at = end;
                    continue;
                }
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
        blocks
    }

    /// Reads the block whose head begins at an index. Also returns the index after the block.
    fn read(tokens: &[Token], begin: usize) -> (ImplBlock, usize) {
        let length = tokens[begin..].iter().position(|token| *token == Token::Sign('{'));
        let open = length.map_or(tokens.len(), |length| begin + length);
        let head = without_generics(&tokens[begin..open]);
        let before_for = head.iter().position(|token| is_word(token, "for"));
        let of = path(before_for.map_or(&head[..], |place| &head[place + 1..]));
        let end = closing(tokens, open);
        let body = &tokens[(open + 1).min(end)..end];
        let methods = if before_for.is_none() { methods(body) } else { BTreeSet::new() };
        let calls = calls(body, of.last().map_or("", String::as_str));
        (ImplBlock { of, methods, calls }, end + 1)
    }
}

/// Returns the index of the brace that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// Returns the tokens outside of angle brackets.
fn without_generics(tokens: &[Token]) -> Vec<&Token> {
    let mut depth = 0_usize;
    let mut last = None;
    let mut outside = Vec::new();
    for token in tokens {
        match token {
            Token::Sign('<') => depth += 1,
            // The `>` of an arrow closes no bracket.
            Token::Sign('>') if last != Some(&Token::Sign('-')) => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(token),
            _ => {}
        }
        last = Some(token);
    }
    outside
}

/// Returns the path at the beginning of a type.
fn path(tokens: &[&Token]) -> Names {
    let mut names = Names::new();
    let mut is_open = true;
    for token in tokens {
        match token {
            Token::Word(word) if is_open => {
                names.push(word.clone());
                is_open = false;
            }
            Token::Colons => is_open = true,
            Token::Sign('&') if names.is_empty() => {}
            Token::Word(_) | Token::Sign(_) => break,
        }
    }
    names
}

/// Returns the names of the functions of a block.
fn methods(body: &[Token]) -> BTreeSet<String> {
    let mut depth = 0_usize;
    let mut names = BTreeSet::new();
    for pair in body.windows(2) {
        match pair {
            [Token::Sign('{'), _] => depth += 1,
            [Token::Sign('}'), _] => depth = depth.saturating_sub(1),
            [Token::Word(word), Token::Word(name)] if word == "fn" && depth == 0 => {
                names.insert(name.clone());
            }
            _ => {}
        }
    }
    names
}

/// Returns the names of the methods of the type `own` that the tokens call or name.
fn calls(body: &[Token], own: &str) -> BTreeSet<String> {
    let called = body.windows(4).filter_map(|window| match window {
        [
            Token::Word(object),
            Token::Sign('.'),
            Token::Word(name),
            Token::Sign('(') | Token::Colons,
        ] if object == "self" => Some(name.clone()),
        [Token::Word(name), Token::Colons, Token::Word(method), _]
            if name == "Self" || name == own =>
        {
            Some(method.clone())
        }
        _ => None,
    });
    called.collect()
}

fn is_word(token: &Token, wanted: &str) -> bool {
    matches!(token, Token::Word(word) if word == wanted)
}
