//! Does the server say the same as the client? Its own account of what it did is compared with the
//! answers that requests had.
//!
//! The account is of the whole run, warm-up and drained requests included. What a failed request
//! left done is not known to the last statement, so what the client says is a range: at least what
//! it was told, at most what may have been done besides.

use base::units::grouped;
use workload::{Job, JobTarget, Reconnect};

use super::Findings;
use crate::account::Answered;
use crate::check::{Check, Status};
use crate::evidence::HowEnded;

/// The part of the server's count that may be somebody else's, and how much per second: what
/// servers were seen to do for themselves is below one per second.
const STRANGE_SHARE: f64 = 0.005;
const STRANGE_PER_S: f64 = 5.0;

/// How many seconds younger a server that tells its age in whole seconds may look than it is.
const YOUNGER_ALLOWED_S: f64 = 2.5;

/// Statements that are one transaction each when nobody has begun another.
const PLAIN: [&str; 21] = [
    "select", "with", "insert", "update", "delete", "replace", "merge", "values", "table",
    "explain", "show", "create", "drop", "alter", "truncate", "lock", "notify", "listen",
    "unlisten", "comment", "set",
];

/// Words of such statements by which they are several.
const NOT_PLAIN: [&str; 1] = ["concurrently"];

/// How much log, in bytes, leaves a checkpoint next to nothing to do.
const LITTLE_LOG: f64 = 1_048_576.0;

/// The fewest cycles of which one may be thought to be like another.
const ENOUGH_CYCLES: f64 = 2.0;

/// One of a server's counts, beside what the client has to say to it.
#[derive(Clone, Copy, Debug)]
struct Compared {
    what: &'static str,
    /// What the server counted.
    server: f64,
    /// What Assay asked beside requests, at least and at most.
    own: [f64; 2],
    /// What requests caused, at least and at most.
    told: [f64; 2],
}

impl Compared {
    /// By how much the server counted less than must have been, below zero, or more than can have
    /// been.
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

    /// What was compared, in words.
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

impl<'a> Findings<'a> {
    /// Did the server commit what it told the client, and nothing else?
    pub(super) fn commits(&self) -> Check {
        if let Some(why) = self.why_no_account() {
            return Check::not_possible("commits", why);
        }
        let compared = match self.compared() {
            Ok(compared) => compared,
            Err(why) => return Check::not_possible("commits", why),
        };
        let length_s = self.evidence.account.read_at_s();
        let excess = |compared: &Compared| match compared.difference() {
            // Whatever is missing is graver than whatever is too much.
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

    /// How many checkpoints fell into the run?
    pub(super) fn checkpoints(&self) -> Check {
        if let Some(why) = self.why_no_account() {
            return Check::not_possible("checkpoints", why);
        }
        let account = &self.evidence.account;
        let Some(written) = account.growth("log-written") else {
            let why = "the server does not tell how much log it wrote";
            return Check::not_possible("checkpoints", why);
        };
        let timed = account.growth("checkpoints-timed");
        let cycles = match timed.zip(account.growth("checkpoints-requested")) {
            Some((timed, requested)) => Cycles::Checkpoints { timed, requested },
            None => match account.ends("log-capacity") {
                Some((_, room)) if room > 0.0 => Cycles::Turns(written / room),
                _ => return Check::not_possible("checkpoints", "the server does not count them"),
            },
        };
        let check = Check::new("checkpoints", "cycles", cycles.count(), ENOUGH_CYCLES);
        check.found(Status::Pass, cycles.sentence(written))
    }

    /// Whether PostgreSQL was seen to divide statements among processes.
    fn has_parallel_workers(&self) -> bool {
        let workers = self.evidence.observed("sessions", "parallel-workers");
        workers.is_some_and(|workers| workers.points.iter().any(|(_, seen)| *seen > 0.0))
    }

    /// Why the server's account is not known or says nothing; `None` if it can be judged.
    fn why_no_account(&self) -> Option<String> {
        let account = &self.evidence.account;
        let plan = &self.evidence.plan;
        let mut targets = plan.leaders().map(|place| plan.jobs[place].target);
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
        } else if account.growth("commits").is_none() {
            "the server's account was not read behind the run"
        } else if matches!(self.evidence.ended, None | Some(HowEnded::InternalError)) {
            "the run was cut off, and nobody knows what was open"
        } else if self.began_anew() {
            "the server was started again, or its statistics were reset, while the run went on"
        } else {
            return None;
        };
        Some(why.to_owned())
    }

    /// Whether the server began to count anew between the readings.
    fn began_anew(&self) -> bool {
        let account = &self.evidence.account;
        let since = account.growth("counted-since");
        let moved = since.is_some_and(|by| by != 0.0);
        let uptime = account.growth("counted-for");
        let is_younger = uptime.is_some_and(|by| by < account.read_at_s() - YOUNGER_ALLOWED_S);
        let shrank = ["commits", "statements"]
            .iter()
            .any(|metric| account.growth(metric).is_some_and(|by| by < 0.0));
        moved || is_younger || shrank
    }

    /// The server's counts beside the client's.
    ///
    /// # Errors
    /// Why none can be compared.
    fn compared(&self) -> Result<Vec<Compared>, String> {
        let grown = |metric| self.evidence.account.growth(metric);
        let Some(statements) = grown("statements") else {
            // PostgreSQL counts every statement outside of a transaction as one.
            let commits = self.compare("commits", &self.transactions()?);
            return match commits.iter().find(|c| c.server == 0.0 && c.own[0] > 0.0) {
                Some(_) => Err("the server's count does not grow".to_owned()),
                None => Ok(commits),
            };
        };
        let mut compared = Vec::new();
        if let Ok(commits) = self.commit_statements() {
            compared.extend(self.compare("commits", &commits));
        }
        compared.extend(self.compare("statements", &self.statements()));
        match statements == 0.0 {
            true => Err("the server's count does not grow".to_owned()),
            false => Ok(compared),
        }
    }

    /// A count beside what the jobs say to it.
    fn compare(&self, what: &'static str, told: &[[u64; 2]]) -> Vec<Compared> {
        let grown = |metric: &str| self.evidence.account.growth(metric);
        let own = grown(&format!("{what}-of-assay"));
        let most = grown(&format!("{what}-of-assay-at-most")).or(own);
        let (Some(server), Some(own), Some(most)) = (grown(what), own, most) else {
            return Vec::new();
        };
        let sum = |end: usize| told.iter().map(|told| told[end]).sum::<u64>() as f64;
        vec![Compared { what, server, own: [own, most.max(own)], told: [sum(0), sum(1)] }]
    }

    /// The jobs that have statements, with what they were told.
    fn told(&self) -> impl Iterator<Item = (&'a Job, &'a Job, &'a Answered)> {
        let evidence = self.evidence;
        let jobs = evidence.account.jobs.iter().enumerate();
        jobs.filter_map(|(place, told)| {
            let job = evidence.plan.jobs.get(place)?;
            job.mix.is_empty().then(|| (job, evidence.plan.leader(place), told))
        })
    }

    /// How many transactions each job caused as PostgreSQL counts them.
    fn transactions(&self) -> Result<Vec<[u64; 2]>, String> {
        let jobs = self.told().map(|(job, leader, told)| {
            is_plain(job)?;
            let each = job.statements.len() as u64;
            // A login that was given up, and what it prepared.
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

    /// How often each job sent `commit`, as MySQL and MariaDB count it. What is sent at once is
    /// committed in another way, unless it is too long for that.
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

    /// How many statements each job sent, those around a transaction included.
    fn statements(&self) -> Vec<[u64; 2]> {
        let jobs = self.told().map(|(job, _, told)| {
            let answered: u64 = told.statements.iter().sum();
            let around = if job.transaction { 2 * told.done() } else { 0 };
            // Also a rollback, and a session that ends another.
            let most = job.statements.len() as u64 + 5;
            [answered + around, answered + around + told.doubtful() * most]
        });
        jobs.collect()
    }
}

/// Makes sure that the statements of a job neither begin nor end transactions.
fn is_plain(job: &Job) -> Result<(), String> {
    let odd = job.statements.iter().find(|statement| {
        let word = statement.first_word().map(str::to_ascii_lowercase);
        let is_known = word.is_some_and(|word| PLAIN.contains(&word.as_str()));
        // What is spliced in may be another statement.
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

/// What comes back in the background of a server that writes.
#[derive(Clone, Copy, Debug)]
enum Cycles {
    /// Checkpoints that were due, and those that something asked for.
    Checkpoints { timed: f64, requested: f64 },
    /// How often the log was written from one end to the other, before which what it is about must
    /// have been written back.
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
