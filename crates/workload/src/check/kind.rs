//! Kinds of sections.

/// The kind of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'f> {
    /// `[params]`
    Params,
    /// `[setup]`
    Setup,
    /// `[teardown]`
    Teardown,
    /// `[load TABLE]`
    Load(&'f str),
    /// `[threshold]`
    Threshold,
    /// `[observe]`
    Observe,
    /// `[target NAME]`
    Target(&'f str),
    /// Any other section: something to run.
    Job,
    /// Ignored, or reported already.
    Ignored,
}
