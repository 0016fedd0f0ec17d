//! The style of pages, and the policy that allows it and nothing else.

/// The style: one element, so that a page needs no other file.
pub(super) const STYLE: &str = include_str!("style.css");

/// The content security policy of a page: no network, no script, and no style but [`STYLE`], by
/// its SHA-256.
pub(super) const POLICY: &str = "default-src 'none'; \
    style-src 'sha256-rCRjPSibGSVVRejSqbH1N2buZUzUf2iE5+gl26vkuFI='; \
    base-uri 'none'; form-action 'none'";
