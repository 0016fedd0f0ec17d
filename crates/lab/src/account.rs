//! The server's own account in a record, and what the client says to it.

use analyze::{Account, Answered, Observed};
use record::{Archive, Counts, Interval, JobIndex, Kind, RecordError};

/// The component under which a server's counts are kept.
pub(crate) const DATABASE: &str = "database";

/// The setting that says why there is none.
pub(crate) const NO_ACCOUNT: &str = "database.account";

/// What a record has of the server's account; `jobs` is how many its plan has.
pub(crate) fn account(
    archive: &Archive,
    observed: &[Observed],
    jobs: usize,
) -> Result<Account, RecordError> {
    let settings = archive.settings()?;
    let refused = settings.into_iter().find(|(name, _)| name == NO_ACCOUNT);
    let counts = observed.iter().filter(|observed| observed.component == DATABASE);
    let jobs = archive.jobs().take(jobs).map(|job| answered(archive, job));
    Ok(Account {
        refused: refused.map(|(_, why)| why),
        counts: counts.cloned().collect(),
        jobs: jobs.collect::<Result<_, _>>()?,
    })
}

/// What a job was told in the whole run.
fn answered(archive: &Archive, job: JobIndex) -> Result<Answered, RecordError> {
    let mut counts = Counts::default();
    archive.each_interval(job, |row| {
        counts.merge(&row.counts);
        Ok(())
    })?;
    let whole = || 0..Interval::MAX;
    let mut statements = Vec::new();
    for kind in archive.kinds(job) {
        if let Kind::Statement(_) = kind {
            statements.push(archive.histogram(job, kind, whole())?.len());
        }
    }
    let failures = archive.failures(job, whole())?;
    let wrong_rows = failures.iter().filter(|failure| failure.code == base::Code::ROWS);
    let wrong_rows = wrong_rows.map(|failure| failure.count).sum();
    Ok(Answered { counts, statements, wrong_rows })
}
