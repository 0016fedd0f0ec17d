//! Checks that compare the server's own counters with the answers that the client received.
//!
//! The counters cover the whole run, warm-up and drained requests included. It is not known how
//! much of a failed request the server executed, so the client's number is a range: at least the
//! confirmed statements, at most all that may have been executed.

use base::units::grouped;
use record::metric::{database, sessions};
use record::{EndKind, Metric, Part};
use workload::{Job, JobTarget, Reconnect};

use super::CheckInput;
use crate::account::Answered;
use crate::check::{Check, Status};

/// Fraction of the server's count, and number per second, that may come from others. The servers'
/// own work was seen to be below one per second.
const STRANGE_SHARE: f64 = 0.005;
const STRANGE_PER_S: f64 = 5.0;

/// Seconds by which a server that reports its uptime in whole seconds may look younger than it is.
const YOUNGER_ALLOWED_S: f64 = 2.5;

/// First words of statements that are one transaction each outside of an explicit transaction.
const PLAIN: [&str; 21] = [
    "select", "with", "insert", "update", "delete", "replace", "merge", "values", "table",
    "explain", "show", "create", "drop", "alter", "truncate", "lock", "notify", "listen",
    "unlisten", "comment", "set",
];

/// Words in such statements that make them several transactions.
const NOT_PLAIN: [&str; 1] = ["concurrently"];

/// Amount of log, in bytes, that leaves a checkpoint next to nothing to do.
const LITTLE_LOG: f64 = 1_048_576.0;

/// Minimum number of cycles for one to be representative.
const ENOUGH_CYCLES: f64 = 2.0;

/// A counter of the server, with those of Assay's own traffic in it.
struct Counter {
    all: Metric,
    own: Metric,
    own_at_most: Option<Metric>,
}

const COMMITS: Counter =
    Counter { all: database::COMMITS, own: database::COMMITS_OF_ASSAY, own_at_most: None };

const STATEMENTS: Counter = Counter {
    all: database::STATEMENTS,
    own: database::STATEMENTS_OF_ASSAY,
    own_at_most: Some(database::STATEMENTS_OF_ASSAY_AT_MOST),
};

/// A counter of the server beside the client's number.
#[derive(Clone, Copy, Debug)]
struct Compared {
    what: &'static str,
    /// Number that the server counted.
    server: f64,
    /// Number that Assay's own sessions caused beside the requests, at least and at most.
    own: [f64; 2],
    /// Number that requests caused, at least and at most.
    told: [f64; 2],
}

impl Compared {
    /// Returns the difference of the server's count from the possible range: negative if it is
    /// below the minimum, positive if above the maximum.
    fn difference(&self) -> f64 {
        let [least, most] = [0, 1].map(|end| self.own[end] + self.told[end]);
        match self.server {
            server if server < least => server - least,
            server if server > most => server - most,
            _ => 0.0,
        }
    }

    fn allowed(&self, length_s: f64) -> f64 {
        (self.server * STRANGE_SHARE).max(length_s * STRANGE_PER_S)
    }

    /// Describes the comparison in words.
    fn sentence(&self) -> String {
        let number = |number: f64| grouped(number.max(0.0) as u64);
        let told = match self.told {
            [least, most] if least == most => number(least),
            [least, most] => format!("{} to {}", number(least), number(most)),
        };
        format!(
            "the server counted {} {}; requests account for {told}, assay's own sessions for {}",
            number(self.server),
            self.what,
            number(self.own[1])
        )
    }
}

impl<'a> CheckInput<'a> {
    /// Checks that the server committed what it confirmed to the client, and nothing else.
    pub(super) fn commits(&self) -> Check {
        if let Some(why) = self.reason_no_counters() {
            return Check::not_possible("commits", why);
        }
        let compared = match self.compared() {
            Ok(compared) => compared,
            Err(why) => return Check::not_possible("commits", why),
        };
        let length_s = self.evidence.account.read_at_s();
        let excess = |compared: &Compared| match compared.difference() {
            // Missing commits are graver than any excess.
            missing if missing < 0.0 => f64::INFINITY,
            more => more / compared.allowed(length_s),
        };
        let worst = compared.into_iter().max_by(|a, b| excess(a).total_cmp(&excess(b)));
        let Some(worst) = worst else {
            return Check::not_possible("commits", "the server counts nothing that is known here");
        };
        let (difference, allowed) = (worst.difference(), worst.allowed(length_s));
        let check = Check::new("commits", worst.what, difference, allowed);
        let sentence = worst.sentence();
        match difference {
            missing if missing < 0.0 => check.found(
                Status::Invalid,
                format!(
                    "{} {} are missing: {sentence}. The server or something before it answered \
                     and did nothing",
                    grouped(-missing as u64),
                    worst.what
                ),
            ),
            more if more > allowed && self.has_parallel_workers() => Check::not_possible(
                "commits",
                format!(
                    "{sentence}: processes that help with a statement count as commits as well, \
                     so that only commits that are missing would be noticed \
                     (`max_parallel_workers_per_gather = 0` lets all be counted)"
                ),
            ),
            more if more > allowed => check.found(
                Status::Suspect,
                format!(
                    "{sentence}: something else worked in this database, or statements do more \
                     than they say"
                ),
            ),
            _ => check.found(Status::Pass, sentence),
        }
    }

    /// Counts the checkpoints in the run.
    pub(super) fn checkpoints(&self) -> Check {
        if let Some(why) = self.reason_no_counters() {
            return Check::not_possible("checkpoints", why);
        }
        let account = &self.evidence.account;
        let Some(written) = account.growth(database::LOG_WRITTEN) else {
            let why = "the server does not show how much log it wrote";
            return Check::not_possible("checkpoints", why);
        };
        let timed = account.growth(database::CHECKPOINTS_TIMED);
        let cycles = match timed.zip(account.growth(database::CHECKPOINTS_REQUESTED)) {
            Some((timed, requested)) => Cycles::Checkpoints { timed, requested },
            None => match account.ends(database::LOG_CAPACITY) {
                Some((_, room)) if room > 0.0 => Cycles::Turns(written / room),
                _ => return Check::not_possible("checkpoints", "the server does not count them"),
            },
        };
        let check = Check::new("checkpoints", "cycles", cycles.count(), ENOUGH_CYCLES);
        check.found(Status::Pass, cycles.sentence(written))
    }

    /// Returns true if PostgreSQL was seen to use parallel workers.
    fn has_parallel_workers(&self) -> bool {
        let workers = self.evidence.observed(&Part::Sessions, sessions::PARALLEL_WORKERS);
        workers.is_some_and(|workers| workers.points.iter().any(|(_, seen)| *seen > 0.0))
    }

    /// Returns the reason why the server's counters are unknown or meaningless; `None` if they can
    /// be judged.
    fn reason_no_counters(&self) -> Option<String> {
        let account = &self.evidence.account;
        let plan = &self.evidence.plan;
        let mut targets = plan.counting_jobs().map(|place| plan.jobs[place].target);
        let first = targets.next();
        let is_one = targets.all(|target| Some(target) == first);
        let why = if self.evidence.is_virtual {
            "time was simulated"
        } else if first == Some(JobTarget::Programs) && is_one {
            "programs were run, and nobody knows what they asked"
        } else if !is_one {
            "jobs ask several targets, which may be one server"
        } else if let Some(why) = &account.refused {
            return Some(format!("the server's account could not be read: {why}"));
        } else if account.counts.is_empty() {
            "there is no account of a server; SQLite and simulated servers keep none"
        } else if account.growth(database::COMMITS).is_none() {
            "the server's account was not read behind the run"
        } else if matches!(self.evidence.ended, None | Some(EndKind::InternalError)) {
            "the run was cut off, and nobody knows what was open"
        } else if self.counters_were_reset() {
            "the server was started again, or its statistics were reset, while the run went on"
        } else {
            return None;
        };
        Some(why.to_owned())
    }

    /// Returns true if the server's counters were reset between the readings.
    fn counters_were_reset(&self) -> bool {
        let account = &self.evidence.account;
        let since = account.growth(database::COUNTED_SINCE);
        let moved = since.is_some_and(|by| by != 0.0);
        let uptime = account.growth(database::COUNTED_FOR);
        let is_younger = uptime.is_some_and(|by| by < account.read_at_s() - YOUNGER_ALLOWED_S);
        let shrank = [database::COMMITS, database::STATEMENTS]
            .into_iter()
            .any(|metric| account.growth(metric).is_some_and(|by| by < 0.0));
        moved || is_younger || shrank
    }

    /// Compares the server's counts with the client's.
    ///
    /// # Errors The reason why none can be compared.
    fn compared(&self) -> Result<Vec<Compared>, String> {
        let Some(statements) = self.evidence.account.growth(database::STATEMENTS) else {
            // PostgreSQL counts every statement outside of a transaction as one.
            let commits = self.compare(&COMMITS, &self.transactions()?);
            return match commits.iter().find(|c| c.server == 0.0 && c.own[0] > 0.0) {
                Some(_) => Err("the server's count does not grow".to_owned()),
                None => Ok(commits),
            };
        };
        let mut compared = Vec::new();
        if let Ok(commits) = self.commit_statements() {
            compared.extend(self.compare(&COMMITS, &commits));
        }
        compared.extend(self.compare(&STATEMENTS, &self.statements()));
        match statements == 0.0 {
            true => Err("the server's count does not grow".to_owned()),
            false => Ok(compared),
        }
    }

    /// Compares a counter with the jobs' ranges.
    fn compare(&self, counter: &Counter, told: &[[u64; 2]]) -> Vec<Compared> {
        let grown = |metric| self.evidence.account.growth(metric);
        let own = grown(counter.own);
        let most = counter.own_at_most.and_then(grown).or(own);
        let (Some(server), Some(own), Some(most)) = (grown(counter.all), own, most) else {
            return Vec::new();
        };
        let what = counter.all.name;
        let sum = |end: usize| told.iter().map(|told| told[end]).sum::<u64>() as f64;
        vec![Compared { what, server, own: [own, most.max(own)], told: [sum(0), sum(1)] }]
    }

    /// Returns the jobs that have statements, each with its leader and its answers.
    fn told(&self) -> impl Iterator<Item = (&'a Job, &'a Job, &'a Answered)> {
        let evidence = self.evidence;
        let jobs = evidence.account.jobs.iter().enumerate();
        jobs.filter_map(|(place, told)| {
            let job = evidence.plan.jobs.get(place)?;
            job.mix.is_empty().then(|| (job, evidence.plan.leader(place), told))
        })
    }

    /// Returns the range of transactions that each job caused, as PostgreSQL counts them.
    fn transactions(&self) -> Result<Vec<[u64; 2]>, String> {
        let jobs = self.told().map(|(job, leader, told)| {
            is_plain(job)?;
            let each = job.statements.len() as u64;
            // The transactions of an abandoned login, and of its prepared statements.
            let lost = match leader.reconnect {
                Reconnect::No => 1,
                Reconnect::PerTransaction => 2 + each,
            };
            Ok(match job.transaction {
                true => [told.done(), told.done() + told.doubtful() * lost],
                false => {
                    let answered: u64 = told.statements.iter().sum();
                    [answered, answered + told.doubtful() * (each + lost)]
                }
            })
        });
        jobs.collect()
    }

    /// Returns the range of `commit` statements of each job, as MySQL and MariaDB count them. A
    /// pipelined transaction is committed in another way, unless it is too long for that.
    fn commit_statements(&self) -> Result<Vec<[u64; 2]>, String> {
        let jobs = self.told().map(|(job, _, told)| {
            is_plain(job)?;
            Ok(match (job.transaction, job.pipeline) {
                (false, _) => [0, 0],
                (true, true) => [0, told.done() + told.doubtful()],
                (true, false) => [told.done(), told.done() + told.doubtful()],
            })
        });
        jobs.collect()
    }

    /// Returns the range of statements that each job sent, including those around a transaction.
    fn statements(&self) -> Vec<[u64; 2]> {
        let jobs = self.told().map(|(job, _, told)| {
            let answered: u64 = told.statements.iter().sum();
            let around = if job.transaction { 2 * told.done() } else { 0 };
            // Includes a rollback, and a session that ends another.
            let most = job.statements.len() as u64 + 5;
            [answered + around, answered + around + told.doubtful() * most]
        });
        jobs.collect()
    }
}

/// Checks that the statements of a job neither begin nor end transactions.
fn is_plain(job: &Job) -> Result<(), String> {
    let odd = job.statements.iter().find(|statement| {
        let word = statement.first_word().map(str::to_ascii_lowercase);
        let is_known = word.is_some_and(|word| PLAIN.contains(&word.as_str()));
        // Spliced text may be another statement.
        let text = statement.sample().map(|text| text.to_ascii_lowercase());
        let has = |text: &str| NOT_PLAIN.iter().any(|word| text.contains(word));
        !is_known || text.is_none_or(|text| has(&text))
    });
    match odd.map(|statement| statement.first_word().unwrap_or("…")) {
        None => Ok(()),
        Some(word) => Err(format!(
            "[{}] has a statement (`{word} …`) of which nobody knows how often it commits",
            job.name
        )),
    }
}

/// Periodic background work of a server that writes.
#[derive(Clone, Copy, Debug)]
enum Cycles {
    /// Checkpoints that were due, and requested ones.
    Checkpoints { timed: f64, requested: f64 },
    /// Number of times that the log was filled from end to end; before each reuse the changes in it
    /// must have been written back.
    Turns(f64),
}

impl Cycles {
    fn count(self) -> f64 {
        match self {
            Cycles::Checkpoints { timed, requested } => timed + requested,
            Cycles::Turns(turns) => turns,
        }
    }

    fn sentence(self, written: f64) -> String {
        let log = format!("{:.1} MB of log were written", written / 1e6);
        if written < LITTLE_LOG {
            return format!("{log}: the run wrote next to nothing that a checkpoint writes back");
        }
        let found = match self {
            Cycles::Checkpoints { timed, requested } => {
                let all = match (timed + requested) as u64 {
                    0 => "no checkpoint".to_owned(),
                    1 => "1 checkpoint".to_owned(),
                    more => format!("{} checkpoints", grouped(more)),
                };
                format!("{all} began in the run, {requested:.0} of them before their time; {log}")
            }
            Cycles::Turns(turns) => format!("{log}, {turns:.2} times the room that it has"),
        };
        match self.count() < ENOUGH_CYCLES {
            false => found,
            true => format!(
                "{found}: a run of several cycles also pays for what this one left to be written \
                 back"
            ),
        }
    }
}
