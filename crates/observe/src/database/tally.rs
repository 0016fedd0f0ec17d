//! What was seen at all looks, added up.

use std::collections::BTreeMap;

use record::Part;

use crate::sample::Sample;

/// How many names one part may have; what comes later is counted as [`OTHER`].
const MOST: usize = 64;

/// The name of what has none of its own.
const OTHER: &str = "other";

/// How many statements of one look are counted: those with which most sessions wait.
const STATEMENTS: usize = 8;

/// One thing that is counted.
#[derive(Clone, Debug)]
struct Counted {
    unit: &'static str,
    sum: u64,
    /// Whether it was told.
    is_told: bool,
}

/// Whose sessions are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    /// Those of this load generator. What others wait for is no time of its.
    #[default]
    Ours,
    /// Everybody's, as those of a program that is watched cannot be told from others'.
    Everyones,
}

/// Sums that only grow, also from one session of the observer to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    whose: Whose,
    /// Whether a session was ever known to be ours: a program that stands between may change their
    /// names, and then those of others must do.
    knows_ours: bool,
    sums: BTreeMap<(Part, String), Counted>,
}

/// What one look saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// Sessions of clients that run a statement.
    pub(super) active: u64,
    /// Those that wait for their client.
    pub(super) idle: u64,
    /// The same within a transaction.
    pub(super) idle_in_transaction: u64,
    /// Sessions of others that run a statement and wait for nothing.
    pub(super) others: u64,
    /// Processes that help a session with its statement.
    pub(super) parallel_workers: u64,
    /// What the active ones wait for.
    pub(super) waits: BTreeMap<String, u64>,
    /// With which statements they wait for locks.
    pub(super) statements: BTreeMap<String, u64>,
    /// What goes on that nobody asked for, or that takes long.
    pub(super) background: BTreeMap<String, u64>,
}

/// What an active session waits for if it does not wait.
pub(super) const CPU: &str = "cpu";

impl Look {
    /// Active sessions wait for this.
    pub(super) fn wait(&mut self, event: &str, sessions: u64) {
        *self.waits.entry(event.to_owned()).or_default() += sessions;
    }

    /// How many sessions of clients it saw.
    fn sessions(&self) -> u64 {
        self.active + self.idle + self.idle_in_transaction
    }
}

impl Tally {
    /// Of these sessions.
    pub(super) fn of(whose: Whose) -> Tally {
        Tally { whose, ..Tally::default() }
    }

    /// Adds what a look saw of our sessions, and of those of others.
    pub(super) fn add_looks(&mut self, mut ours: Look, mut theirs: Look) {
        self.knows_ours |= ours.sessions() > 0;
        ours.others = theirs.waits.get(CPU).copied().unwrap_or_default();
        ours.background.append(&mut theirs.background);
        if self.whose == Whose::Everyones || !self.knows_ours {
            ours.active += theirs.active;
            ours.idle += theirs.idle;
            ours.idle_in_transaction += theirs.idle_in_transaction;
            theirs.waits.iter().for_each(|(event, sessions)| ours.wait(event, *sessions));
            for (statement, sessions) in theirs.statements {
                *ours.statements.entry(statement).or_default() += sessions;
            }
        }
        self.add_look(&ours);
    }

    /// Adds to a sum.
    pub(super) fn add(&mut self, part: &Part, metric: &str, unit: &'static str, by: u64) {
        let key = (part.clone(), metric.to_owned());
        if let Some(counted) = self.sums.get_mut(&key) {
            counted.sum += by;
            return;
        }
        let of_part = self.sums.keys().filter(|(of, _)| of == part).count();
        let key = if of_part < MOST { key } else { (part.clone(), OTHER.to_owned()) };
        let counted = self.sums.entry(key).or_insert(Counted { unit, sum: 0, is_told: false });
        counted.sum += by;
    }

    /// Adds what a look saw.
    fn add_look(&mut self, look: &Look) {
        let Look { active, idle, idle_in_transaction, others, parallel_workers, .. } = look;
        let Look { waits, statements, background, .. } = look;
        self.add(&Part::Sessions, "looks", "looks", 1);
        let seen = [
            ("active", active),
            ("idle", idle),
            ("idle-in-transaction", idle_in_transaction),
            ("others", others),
            ("parallel-workers", parallel_workers),
        ];
        for (metric, &sessions) in seen {
            self.add(&Part::Sessions, metric, "sessions", sessions);
        }
        self.add(&Part::Waits, CPU, "sessions", 0);
        for (event, &sessions) in waits {
            self.add(&Part::Waits, event, "sessions", sessions);
        }
        let mut most: Vec<(&String, &u64)> = statements.iter().collect();
        most.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        for (statement, &sessions) in most.into_iter().take(STATEMENTS) {
            self.add(&Part::Statements, statement, "sessions", sessions);
        }
        for work in background.keys() {
            self.add(&Part::Background, work, "looks", 1);
        }
    }

    /// What has a sum for the first time: it was nothing before.
    pub(super) fn begun(&mut self) -> Sample {
        let mut sample = Sample::default();
        for ((part, metric), counted) in &mut self.sums {
            if !counted.is_told {
                counted.is_told = true;
                sample.read(part, metric, counted.unit, 0.0);
            }
        }
        sample
    }

    /// All sums.
    pub(super) fn write(&self, sample: &mut Sample) {
        for ((part, metric), counted) in &self.sums {
            sample.read(part, metric, counted.unit, counted.sum as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sample: &Sample) -> Vec<(&str, &str, f64)> {
        let readings = sample.readings.iter();
        readings.map(|r| (&*r.series.component, &*r.series.metric, r.value)).collect()
    }

    #[test]
    fn what_is_seen_for_the_first_time_was_nothing_before() {
        let mut tally = Tally::default();
        tally.add(&Part::Waits, "Lock:tuple", "sessions", 3);
        assert_eq!(told(&tally.begun()), [("waits", "Lock:tuple", 0.0)]);
        assert_eq!(told(&tally.begun()), []);
        tally.add(&Part::Waits, "Lock:tuple", "sessions", 2);
        let mut sample = Sample::default();
        tally.write(&mut sample);
        assert_eq!(told(&sample), [("waits", "Lock:tuple", 5.0)]);
    }

    /// The sessions that were counted of a part, by the names of what they did.
    fn sums(tally: &Tally, part: &Part) -> BTreeMap<String, u64> {
        let of_it = tally.sums.iter().filter(|((of, _), _)| of == part);
        of_it.map(|((_, metric), counted)| (metric.clone(), counted.sum)).collect()
    }

    #[test]
    fn what_others_wait_for_is_no_time_of_ours() {
        let mut theirs = Look { active: 4, idle: 90, ..Look::default() };
        theirs.wait("Lock:tuple", 3);
        theirs.wait(CPU, 1);
        theirs.background.insert("vacuum: t".to_owned(), 1);
        let mut ours = Look { active: 2, parallel_workers: 1, ..Look::default() };
        ours.wait(CPU, 2);
        let seen = |tally: &Tally| {
            let (sessions, waits) = (sums(tally, &Part::Sessions), sums(tally, &Part::Waits));
            let lock = waits.get("Lock:tuple").copied().unwrap_or_default();
            assert_eq!(sums(tally, &Part::Background).len(), 1);
            [sessions["active"], sessions["idle"], sessions["others"], waits[CPU], lock]
        };
        let mut run = Tally::of(Whose::Ours);
        run.add_looks(ours.clone(), theirs.clone());
        assert_eq!(seen(&run), [2, 0, 1, 2, 0]);
        // At a look without any of ours they are still not.
        run.add_looks(Look::default(), theirs.clone());
        assert_eq!(seen(&run), [2, 0, 2, 2, 0]);
        let mut watched = Tally::of(Whose::Everyones);
        watched.add_looks(ours, theirs.clone());
        assert_eq!(seen(&watched), [6, 90, 1, 3, 3]);
        // None was ever known to be ours: their names are not what they should be.
        let mut renamed = Tally::of(Whose::Ours);
        renamed.add_looks(Look::default(), theirs);
        assert_eq!(seen(&renamed), [4, 90, 1, 1, 3]);
    }

    #[test]
    fn names_have_an_end() {
        let mut tally = Tally::default();
        for name in 0..1_000 {
            tally.add(&Part::Locks, &format!("t{name}"), "sessions", 1);
        }
        tally.add(&Part::Waits, "cpu", "sessions", 1);
        let mut sample = Sample::default();
        tally.write(&mut sample);
        let told = told(&sample);
        assert_eq!(told.len(), MOST + 2);
        assert!(told.contains(&("locks", "other", 1_000.0 - MOST as f64)), "{told:?}");
    }

    #[test]
    fn a_look_counts_the_statements_with_which_most_wait() {
        let mut look = Look { active: 20, ..Look::default() };
        for number in 0..20_u64 {
            look.statements.insert(format!("s{number:02}"), number + 1);
        }
        look.background.insert("autovacuum: t".to_owned(), 3);
        let mut tally = Tally::default();
        tally.add_look(&look);
        tally.add_look(&look);
        let mut sample = Sample::default();
        tally.write(&mut sample);
        let told = told(&sample);
        let of = |part: &str| told.iter().filter(|(of, _, _)| *of == part).count();
        assert_eq!(of("statements"), STATEMENTS);
        assert!(told.contains(&("statements", "s19", 40.0)));
        assert!(told.contains(&("background", "autovacuum: t", 2.0)));
        assert!(told.contains(&("sessions", "looks", 2.0)));
        assert!(told.contains(&("waits", "cpu", 0.0)));
    }
}
