//! The style of pages, and the policy that allows it and nothing else.

/// The style: one element, so that a page needs no other file.
pub(super) const STYLE: &str = include_str!("style.css");

/// The source of [`STYLE`] for a content security policy: its SHA-256.
pub const STYLE_SOURCE: &str = "'sha256-rCRjPSibGSVVRejSqbH1N2buZUzUf2iE5+gl26vkuFI='";

/// The destinations of forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forms {
    /// None: the page has no forms.
    Forbidden,
    /// The server of the page.
    ToServer,
}

/// Returns the content security policy of a page: no network, no script, and no style but
/// [`STYLE`].
pub(super) fn policy(forms: Forms) -> String {
    let forms = match forms {
        Forms::Forbidden => "'none'",
        Forms::ToServer => "'self'",
    };
    format!("default-src 'none'; style-src {STYLE_SOURCE}; base-uri 'none'; form-action {forms}")
}
