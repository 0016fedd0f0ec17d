//! The style and the scripts of pages, and the policy that allows them and nothing else.
//!
//! The scripts are built from `web/`, where a test compares them with their source.

/// The style sheet, which is embedded in a page.
pub(super) const STYLE: &str = include_str!("style.css");

/// The source of [`STYLE`] for a content security policy: its SHA-256.
pub const STYLE_SOURCE: &str = "'sha256-VztZ7VHCgJo7cVjrBQb6zIifBczw1dU5RBLh//jJCx0='";

/// The script of pages with figures: a cursor, zoom, alternative axes, and buttons that hide
/// series.
pub(super) const FIGURES_SCRIPT: &str = include_str!("figures.js");

/// The source of [`FIGURES_SCRIPT`] for a content security policy: its SHA-256.
pub const FIGURES_SCRIPT_SOURCE: &str = "'sha256-VbtGegVFmXA5BOQ/MFKCNJcaJvWQEbWmXru2Za0e8mo='";

/// The script of the page of a run in progress.
pub(super) const LIVE_SCRIPT: &str = include_str!("live.js");

/// The source of [`LIVE_SCRIPT`] for a content security policy: its SHA-256.
pub const LIVE_SCRIPT_SOURCE: &str = "'sha256-JyoTBF7VzRT4onbVS1CjTAcDAkctyoj3TholfFS6OLs='";

/// The kind of a page, which determines its content security policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    /// A self-contained file, with a script for its figures that opens no connection.
    File,
    /// A page with forms for the server that it comes from.
    Forms,
    /// A page with a script that reads events of the server that it comes from.
    Live,
}

/// Returns the content security policy of a page. It allows only the connections, scripts and forms
/// that the kind of page needs, and only the style [`STYLE`].
pub(super) fn policy(kind: PageKind) -> String {
    let more = match kind {
        PageKind::File => format!("form-action 'none'; script-src {FIGURES_SCRIPT_SOURCE}"),
        PageKind::Forms => "form-action 'self'".to_owned(),
        PageKind::Live => {
            format!("form-action 'none'; script-src {LIVE_SCRIPT_SOURCE}; connect-src 'self'")
        }
    };
    format!("default-src 'none'; style-src {STYLE_SOURCE}; base-uri 'none'; {more}")
}

/// Returns the referrer policy of a page. The policy `no-referrer` would also make a browser
/// withhold the origin of a form.
pub(super) fn referrer(kind: PageKind) -> &'static str {
    match kind {
        PageKind::File | PageKind::Live => "no-referrer",
        PageKind::Forms => "same-origin",
    }
}
