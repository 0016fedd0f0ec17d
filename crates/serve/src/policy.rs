//! The content security policy of all answers.

use std::fmt;

/// The style and the script that pages may contain, by their hashes. The default allows neither.
/// Everything else is forbidden, with two exceptions: forms may be sent to this server, and the
/// script may connect to it if [`Script::may_connect`] is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Style, by its hash: `'sha256-…'`.
    pub style: Option<&'static str>,
    /// Script.
    pub script: Option<Script>,
}

/// A script that pages may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script {
    /// Hash of the script: `'sha256-…'`.
    pub source: &'static str,
    /// True if the script may connect to this server.
    pub may_connect: bool,
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("default-src 'none'; ")?;
        if let Some(style) = self.style {
            write!(f, "style-src {style}; ")?;
        }
        if let Some(Script { source, may_connect }) = self.script {
            write!(f, "script-src {source}; ")?;
            if may_connect {
                f.write_str("connect-src 'self'; ")?;
            }
        }
        f.write_str("base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
    }
}
