//! Identifiers of the jobs, parts, targets and accounts of a plan.

use base::Id;

/// A job, by its index in [`Plan::jobs`](crate::Plan::jobs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u16);

/// A part of a job, by its index in [`Job::parts`](crate::Job::parts). A job that is not a mix has
/// no such parts, and counts as its own [first](PartId::FIRST) part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId(pub u16);

/// A target other than the main one, by its index in [`Plan::targets`](crate::Plan::targets).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u16);

impl JobId {
    /// Returns the index in [`Plan::jobs`](crate::Plan::jobs).
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl PartId {
    /// The first part of a mix; of any other job, the job itself.
    pub const FIRST: PartId = PartId(0);

    /// Returns the index in [`Job::parts`](crate::Job::parts).
    #[inline]
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl Id for JobId {
    fn at(index: usize) -> JobId {
        JobId(index as u16)
    }

    #[inline]
    fn index(self) -> usize {
        self.0.into()
    }
}

impl Id for PartId {
    fn at(index: usize) -> PartId {
        PartId(index as u16)
    }

    #[inline]
    fn index(self) -> usize {
        self.0.into()
    }
}

impl TargetId {
    /// Returns the index in [`Plan::targets`](crate::Plan::targets).
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// An account of a plan: a unit whose requests are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// A job; the requests of its parts count as its own, too.
    Job(JobId),
    /// A part of a mix.
    Part(JobId, PartId),
}

impl Account {
    /// Returns the job.
    pub fn job(self) -> JobId {
        match self {
            Account::Job(job) | Account::Part(job, _) => job,
        }
    }
}
