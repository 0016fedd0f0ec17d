//! The role of a section whose statements make requests: a job of its own, or a part of a mix.

use crate::read::Section;

/// The role in which a section is checked.
#[derive(Clone, Copy)]
pub(super) enum Role<'m> {
    /// A job of its own.
    Standalone,
    /// A part of a mix.
    Part(Membership<'m>),
}

impl Role<'_> {
    /// Returns true if the section runs on its own, possibly also as a part of a mix.
    pub(super) fn runs_alone(self) -> bool {
        match self {
            Role::Standalone => true,
            Role::Part(membership) => membership.also_runs_alone,
        }
    }
}

/// The mix that a section is a part of.
#[derive(Clone, Copy)]
pub(super) struct Membership<'m> {
    pub(super) mix: &'m Section<'m>,
    /// Weight of the section in the mix.
    pub(super) weight: u32,
    /// True if the requests of the mix arrive by a schedule; false if clients make them.
    pub(super) arrives: bool,
    /// True if the section also runs on its own.
    pub(super) also_runs_alone: bool,
}
