//! The places in which figures are painted.

/// The place in which a figure is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FigureContext<'a> {
    /// A file of its own, with title and caption in the picture.
    File,
    /// A page that shows title and caption itself. The figure has this identifier in the page.
    Page(&'a str),
}
