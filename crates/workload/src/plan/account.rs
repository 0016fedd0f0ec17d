//! The jobs of a plan and their parts, in the order of a record.

use base::Nanos;

use super::id::{Account, JobId, PartId};
use super::job::{Job, Part, Requests};

/// A job, or a part of one.
#[derive(Clone, Copy, Debug)]
pub enum JobOrPart<'p> {
    /// A whole job.
    Job(&'p Job),
    /// A part of a mix.
    Part(&'p Job, &'p Part),
}

impl<'p> JobOrPart<'p> {
    /// Returns the name in records and reports: the name of the section, or `MIX/SECTION`.
    pub fn name(self) -> &'p str {
        match self {
            JobOrPart::Job(job) => job.name(),
            JobOrPart::Part(_, part) => &part.name,
        }
    }

    /// Returns the job, which for a part is its mix.
    pub fn job(self) -> &'p Job {
        match self {
            JobOrPart::Job(job) | JobOrPart::Part(job, _) => job,
        }
    }

    /// Returns the requests of the section.
    pub fn requests(self) -> &'p Requests {
        match self {
            JobOrPart::Job(job) => &job.requests,
            JobOrPart::Part(_, part) => &part.requests,
        }
    }

    /// Returns the section's name.
    pub fn section(self) -> &'p str {
        &self.requests().section
    }

    /// Returns true for a part of a mix.
    pub fn is_part(self) -> bool {
        matches!(self, JobOrPart::Part(..))
    }

    /// Returns true for a whole mix, whose requests are the requests of its parts.
    pub fn is_mix(self) -> bool {
        !self.is_part() && self.job().is_mix()
    }

    /// Returns the requests per second that the schedule offers between two instants after time
    /// zero, like [`Job::offered_per_s`]; for a part of a mix, its share of them.
    pub fn offered_per_s(self, from: Nanos, until: Option<Nanos>) -> Option<f64> {
        let share = match self {
            JobOrPart::Job(_) => 1.0,
            JobOrPart::Part(job, part) => {
                let all: u32 = job.parts.iter().map(|part| part.weight).sum();
                f64::from(part.weight) / f64::from(all)
            }
        };
        self.job().offered_per_s(from, until).map(|offered| offered * share)
    }
}

/// Returns true if a name in records and reports is the name of this job, or of a part of it.
pub fn is_job_or_part(name: &str, job: &str) -> bool {
    name.strip_prefix(job).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the names of all jobs that could have a part called `name`, the shortest first: `m` and
/// `m/a` for `m/a/b`.
pub(crate) fn names_of_wholes(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(slash, _)| &name[..slash])
}

/// Returns the accounts of jobs and their parts: each job, followed by its parts.
pub(super) fn accounts(jobs: &[Job]) -> impl Iterator<Item = (Account, JobOrPart<'_>)> {
    (0..).map(JobId).zip(jobs).flat_map(|(id, job)| {
        let part = move |(part_id, part)| (Account::Part(id, part_id), JobOrPart::Part(job, part));
        let parts = (0..).map(PartId).zip(&job.parts).map(part);
        std::iter::once((Account::Job(id), JobOrPart::Job(job))).chain(parts)
    })
}
