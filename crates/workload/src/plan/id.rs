//! Identifiers of the jobs, parts, targets and accounts of a plan.

/// A job, by its index in [`Plan::jobs`](crate::Plan::jobs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u16);

/// A part of a mix, by its index in [`Job::parts`](crate::Job::parts).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId {
    /// The mix.
    pub job: JobId,
    /// Its index among the parts of the mix.
    pub index: u16,
}

/// A target other than the main one, by its index in [`Plan::targets`](crate::Plan::targets).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u16);

impl JobId {
    /// Returns the index in [`Plan::jobs`](crate::Plan::jobs).
    pub fn index(self) -> usize {
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
    /// A job; its parts count in it too.
    Job(JobId),
    /// A part of a mix.
    Part(PartId),
}

impl Account {
    /// Returns the job.
    pub fn job(self) -> JobId {
        match self {
            Account::Job(job) => job,
            Account::Part(part) => part.job,
        }
    }
}
