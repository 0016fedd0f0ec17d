//! Checks that compare the server's own counters with the answers that the client received.
//!
//! The counters cover the whole run, warm-up and drained requests included. It is not known how
//! much of a failed request the server executed, so the client's number is a range: at least the
//! confirmed statements, at most all that may have been executed.

use record::metric::{database, sessions};
use record::{ComponentKind, EndKind, ObservedMetric};
use workload::{JobOrPart, JobTarget, Reconnect, Requests};

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{
    Checkpoints, Commits, ComparedCounter, CounterComparison, CounterObstacle, Coverage, Cycles,
    Finding, Obstacle,
};
use crate::server_counters::JobAnswers;

/// Fraction of the server's count that may come from other clients.
const OTHER_CLIENTS_SHARE: f64 = 0.005;

/// Number of commits or statements per second that may come from other clients, even if it is more
/// than [`OTHER_CLIENTS_SHARE`]. The servers' own work was observed to be below one per second.
const OTHER_CLIENTS_PER_S: f64 = 5.0;

/// Largest error of a server's uptime, in seconds, if it is reported in whole seconds.
const UPTIME_ERROR_S: f64 = 2.5;

/// First words of statements that are one transaction each, unless an explicit one contains them.
const SINGLE_TRANSACTION_WORDS: [&str; 21] = [
    "select", "with", "insert", "update", "delete", "replace", "merge", "values", "table",
    "explain", "show", "create", "drop", "alter", "truncate", "lock", "notify", "listen",
    "unlisten", "comment", "set",
];

/// Words that make a statement several transactions, even if it begins with one of
/// [`SINGLE_TRANSACTION_WORDS`].
const SEVERAL_TRANSACTIONS_WORDS: [&str; 1] = ["concurrently"];

/// Amount of log, in bytes, below which a checkpoint has almost nothing to write.
const NEGLIGIBLE_LOG: f64 = 1_048_576.0;

/// Minimum number of checkpoint cycles in a run whose result represents the cost of checkpoints.
const ENOUGH_CYCLES: f64 = 2.0;

/// The series of a counter of the server, and the series of the part that Assay's own traffic
/// contributes to it.
struct Series {
    all: ObservedMetric,
    own: ObservedMetric,
    own_at_most: Option<ObservedMetric>,
}

impl Series {
    fn of(counter: ComparedCounter) -> Series {
        match counter {
            ComparedCounter::Commits => Series {
                all: database::COMMITS,
                own: database::COMMITS_OF_ASSAY,
                own_at_most: None,
            },
            ComparedCounter::Statements => Series {
                all: database::STATEMENTS,
                own: database::STATEMENTS_OF_ASSAY,
                own_at_most: Some(database::STATEMENTS_OF_ASSAY_AT_MOST),
            },
        }
    }
}

impl CounterComparison {
    /// Returns the largest excess that may come from other clients in a run of this length.
    fn allowed(&self, length_s: f64) -> f64 {
        (self.server * OTHER_CLIENTS_SHARE).max(length_s * OTHER_CLIENTS_PER_S)
    }
}

impl<'a> CheckInput<'a> {
    /// Checks that the server committed everything that it confirmed to the client, and nothing
    /// else.
    pub(super) fn commits(&self) -> Check {
        let kind = CheckKind::Commits;
        if let Some(why) = self.reason_no_counters() {
            return kind.not_possible(why);
        }
        let compared = match self.compared() {
            Ok(compared) => compared,
            Err(why) => return kind.not_possible(why),
        };
        let length_s = self.evidence.server_counters.read_at_s();
        let excess = |compared: &CounterComparison| match compared.difference() {
            // Missing commits are graver than any excess.
            missing if missing < 0.0 => f64::INFINITY,
            more => more / compared.allowed(length_s),
        };
        let worst = compared.into_iter().max_by(|a, b| excess(a).total_cmp(&excess(b)));
        let Some(worst) = worst else { return kind.not_possible(CounterObstacle::NoKnownCounter) };
        let (difference, allowed) = (worst.difference(), worst.allowed(length_s));
        let (status, finding) = match difference {
            missing if missing < 0.0 => (Status::Invalid, Commits::Missing(worst)),
            more if more > allowed && self.has_parallel_workers() => {
                return kind.not_possible(CounterObstacle::ParallelWorkers(worst));
            }
            more if more > allowed => (Status::Suspect, Commits::Excess(worst)),
            _ => (Status::Pass, Commits::Agree(worst)),
        };
        let judged = kind.of(Unit::Counted(worst.counter), difference, allowed);
        judged.conclude(status, Finding::Commits(finding))
    }

    /// Counts the checkpoints in the run or, if the server does not count them, the number of times
    /// that the run filled the server's log.
    pub(super) fn checkpoints(&self) -> Check {
        let kind = CheckKind::Checkpoints;
        if let Some(why) = self.reason_no_counters() {
            return kind.not_possible(why);
        }
        let counters = &self.evidence.server_counters;
        let Some(written_bytes) = counters.growth(database::LOG_WRITTEN) else {
            return kind.not_possible(CounterObstacle::NoLogWritten);
        };
        let timed = counters.growth(database::CHECKPOINTS_TIMED);
        let cycles = match timed.zip(counters.growth(database::CHECKPOINTS_REQUESTED)) {
            Some((timed, requested)) => Cycles::Checkpoints { timed, requested },
            None => match counters.ends(database::LOG_CAPACITY) {
                Some((_, room)) if room > 0.0 => Cycles::Turns(written_bytes / room),
                _ => return kind.not_possible(CounterObstacle::CheckpointsUncounted),
            },
        };
        let coverage = coverage(cycles, written_bytes);
        let finding = Checkpoints { cycles, written_bytes, coverage };
        let judged = kind.of(Unit::Cycles, cycles.count(), ENOUGH_CYCLES);
        judged.conclude(Status::Pass, Finding::Checkpoints(finding))
    }

    /// Returns true if PostgreSQL was seen to use parallel workers.
    fn has_parallel_workers(&self) -> bool {
        let workers = self.evidence.observed(&ComponentKind::Sessions, sessions::PARALLEL_WORKERS);
        workers.is_some_and(|workers| workers.points.iter().any(|(_, seen)| *seen > 0.0))
    }

    /// Returns the reason why the server's counters are unknown or meaningless; `None` if they can
    /// be judged.
    fn reason_no_counters(&self) -> Option<Obstacle> {
        let counters = &self.evidence.server_counters;
        let plan = &self.evidence.plan;
        let mut targets = plan.jobs.iter().map(|job| job.target);
        let first = targets.next();
        let is_one = targets.all(|target| Some(target) == first);
        let why = if self.evidence.is_virtual {
            Obstacle::VirtualTime
        } else if first == Some(JobTarget::Programs) && is_one {
            CounterObstacle::ProgramsRun.into()
        } else if !is_one {
            CounterObstacle::SeveralTargets.into()
        } else if let Some(why) = &counters.refused {
            CounterObstacle::AccountRefused(why.clone()).into()
        } else if counters.counts.is_empty() {
            CounterObstacle::NoAccount.into()
        } else if counters.growth(database::COMMITS).is_none() {
            CounterObstacle::AccountNotRead.into()
        } else if matches!(self.evidence.ended, None | Some(EndKind::InternalError)) {
            CounterObstacle::CutOff.into()
        } else if self.counters_were_reset() {
            CounterObstacle::CountersReset.into()
        } else {
            return None;
        };
        Some(why)
    }

    /// Returns true if the server's counters were reset between the readings.
    fn counters_were_reset(&self) -> bool {
        let counters = &self.evidence.server_counters;
        let since = counters.growth(database::COUNTED_SINCE);
        let moved = since.is_some_and(|by| by != 0.0);
        let uptime = counters.growth(database::COUNTED_FOR);
        let is_younger = uptime.is_some_and(|by| by < counters.read_at_s() - UPTIME_ERROR_S);
        let shrank = [database::COMMITS, database::STATEMENTS]
            .into_iter()
            .any(|metric| counters.growth(metric).is_some_and(|by| by < 0.0));
        moved || is_younger || shrank
    }

    /// Compares the server's counts with the client's.
    ///
    /// # Errors
    /// Returns the reason why no counter can be compared.
    fn compared(&self) -> Result<Vec<CounterComparison>, CounterObstacle> {
        let Some(statements) = self.evidence.server_counters.growth(database::STATEMENTS) else {
            // PostgreSQL counts every statement outside of a transaction as a transaction.
            let commits = self.compare(ComparedCounter::Commits, &self.transactions()?);
            return match commits.iter().find(|c| c.server == 0.0 && c.own[0] > 0.0) {
                Some(_) => Err(CounterObstacle::CounterConstant),
                None => Ok(commits),
            };
        };
        let mut compared = Vec::new();
        if let Ok(commits) = self.commit_statements() {
            compared.extend(self.compare(ComparedCounter::Commits, &commits));
        }
        compared.extend(self.compare(ComparedCounter::Statements, &self.statements()));
        match statements == 0.0 {
            true => Err(CounterObstacle::CounterConstant),
            false => Ok(compared),
        }
    }

    /// Compares a counter of the server with the numbers of the jobs: `named` contains the smallest
    /// and the largest possible number of each job. Returns an empty list if the counter was not
    /// read.
    fn compare(&self, counter: ComparedCounter, named: &[[u64; 2]]) -> Vec<CounterComparison> {
        let grown = |metric| self.evidence.server_counters.growth(metric);
        let Series { all, own, own_at_most } = Series::of(counter);
        let own = grown(own);
        let most = own_at_most.and_then(grown).or(own);
        let (Some(server), Some(own), Some(most)) = (grown(all), own, most) else {
            return Vec::new();
        };
        let sum = |end: usize| named.iter().map(|named| named[end]).sum::<u64>() as f64;
        vec![CounterComparison {
            counter,
            server,
            own: [own, most.max(own)],
            requests: [sum(0), sum(1)],
        }]
    }

    /// Returns the jobs and parts that have statements, each with its answers.
    fn reported(&self) -> impl Iterator<Item = (JobOrPart<'a>, &'a JobAnswers)> {
        let evidence = self.evidence;
        let named = evidence.plan.jobs_and_parts().zip(&evidence.server_counters.jobs);
        named.filter(|(either, _)| !either.is_mix())
    }

    /// Returns the smallest and the largest number of transactions that each job can have caused,
    /// as PostgreSQL counts them.
    fn transactions(&self) -> Result<Vec<[u64; 2]>, CounterObstacle> {
        let jobs = self.reported().map(|(either, named)| {
            is_plain(either.requests())?;
            let each = either.requests().statements.len() as u64;
            // Include the transactions of an abandoned login and of its prepared statements.
            let lost = match either.job().reconnect {
                Reconnect::No => 1,
                Reconnect::PerTransaction => 2 + each,
            };
            Ok(match either.requests().transaction {
                true => [named.executed(), named.executed() + named.uncertain() * lost],
                false => {
                    let answered: u64 = named.statements.iter().sum();
                    [answered, answered + named.uncertain() * (each + lost)]
                }
            })
        });
        jobs.collect()
    }

    /// Returns the smallest and the largest number of `commit` statements that each job can have
    /// sent, as MySQL and MariaDB count them. A pipelined transaction is committed in a different
    /// way, unless it is too long for that.
    fn commit_statements(&self) -> Result<Vec<[u64; 2]>, CounterObstacle> {
        let jobs = self.reported().map(|(either, named)| {
            let job = either.requests();
            is_plain(job)?;
            Ok(match (job.transaction, job.pipeline) {
                (false, _) => [0, 0],
                (true, true) => [0, named.executed() + named.uncertain()],
                (true, false) => [named.executed(), named.executed() + named.uncertain()],
            })
        });
        jobs.collect()
    }

    /// Returns the smallest and the largest number of statements that each job can have sent,
    /// including those that begin and end a transaction.
    fn statements(&self) -> Vec<[u64; 2]> {
        let jobs = self.reported().map(|(either, named)| {
            let job = either.requests();
            let answered: u64 = named.statements.iter().sum();
            let around = if job.transaction { 2 * named.executed() } else { 0 };
            // Include a rollback, and the statements of a session that ends another session.
            let most = job.statements.len() as u64 + 5;
            [answered + around, answered + around + named.uncertain() * most]
        });
        jobs.collect()
    }
}

/// Checks that each statement of a job, sent on its own, is exactly one transaction, as far as its
/// words show.
fn is_plain(requests: &Requests) -> Result<(), CounterObstacle> {
    let odd = requests.statements.iter().find(|statement| {
        let word = statement.first_word().map(str::to_ascii_lowercase);
        let is_known = word.is_some_and(|word| SINGLE_TRANSACTION_WORDS.contains(&word.as_str()));
        // A statement with spliced text has no sample: the text may contain another statement.
        let text = statement.sample().map(|text| text.to_ascii_lowercase());
        let has = |text: &str| SEVERAL_TRANSACTIONS_WORDS.iter().any(|word| text.contains(word));
        !is_known || text.is_none_or(|text| has(&text))
    });
    match odd.map(|statement| statement.first_word().unwrap_or("…")) {
        None => Ok(()),
        Some(word) => Err(CounterObstacle::UnknownCommits {
            job: requests.section.clone(),
            word: word.to_owned(),
        }),
    }
}

/// Classifies the checkpoint cycles of a run in which the server wrote this many bytes of log.
fn coverage(cycles: Cycles, written_bytes: f64) -> Coverage {
    if written_bytes < NEGLIGIBLE_LOG {
        Coverage::NothingToWrite
    } else if cycles.count() < ENOUGH_CYCLES {
        Coverage::FewCycles
    } else {
        Coverage::Representative
    }
}
