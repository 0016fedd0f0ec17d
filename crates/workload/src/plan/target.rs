//! Targets of jobs.

use base::{Span, Target};

use super::id::TargetId;

/// A target other than the main one.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTarget {
    /// Name by which jobs refer to the target.
    pub name: String,
    /// The target that its `url` names.
    pub target: Target,
    /// Position of the section's header.
    pub span: Span,
}

/// The target of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobTarget {
    /// The main target of the run, which setup, loads and teardown use too.
    Main,
    /// Another target.
    Named(TargetId),
    /// No database: the job's only statement is a command, and a request is one run of that
    /// program.
    Programs,
}
