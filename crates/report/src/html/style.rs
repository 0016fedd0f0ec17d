//! The style of pages, and the policy that allows it and nothing else.

/// The style: one element, so that a page needs no other file.
pub(super) const STYLE: &str = include_str!("style.css");

/// The source of [`STYLE`] for a content security policy: its SHA-256.
pub const STYLE_SOURCE: &str = "'sha256-rCRjPSibGSVVRejSqbH1N2buZUzUf2iE5+gl26vkuFI='";

/// The script of the page of a run that goes on.
pub(super) const SCRIPT: &str = include_str!("live.js");

/// The source of [`SCRIPT`] for a content security policy: its SHA-256.
pub const SCRIPT_SOURCE: &str = "'sha256-/1A6z5YH7BBbJ4PNyYjsqJCZc7f+NYQixmV9Uh6zteg='";

/// The kind of a page, which decides about its policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    /// A file: complete in itself.
    File,
    /// A page with forms for the server that it comes from.
    Forms,
    /// A page with a script that reads events of the server that it comes from.
    Live,
}

/// Returns the content security policy of a page: no network and no script except for those of its
/// kind, and no style but [`STYLE`].
pub(super) fn policy(kind: PageKind) -> String {
    let more = match kind {
        PageKind::File => "form-action 'none'".to_owned(),
        PageKind::Forms => "form-action 'self'".to_owned(),
        PageKind::Live => {
            format!("form-action 'none'; script-src {SCRIPT_SOURCE}; connect-src 'self'")
        }
    };
    format!("default-src 'none'; style-src {STYLE_SOURCE}; base-uri 'none'; {more}")
}

/// Returns the policy for the address of a page in requests that it causes. Without a referrer, a
/// browser would not name the origin of a form either.
pub(super) fn referrer(kind: PageKind) -> &'static str {
    match kind {
        PageKind::File | PageKind::Live => "no-referrer",
        PageKind::Forms => "same-origin",
    }
}
