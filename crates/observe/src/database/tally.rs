//! Sums of observations over all samples of the sessions.

use std::collections::BTreeMap;

use record::metric::{RUNNING, sessions};
use record::{ComponentKind, ObservedMetric};

use super::session_filter::OwnSessions;
use crate::sample::{LONGEST_NAME, Sample};
use crate::scope::Scope;
use crate::sockets::WaitingData;

/// Maximum number of names of one kind; later ones are counted as [`OTHER_NAME`].
const MAX_NAMES: usize = 64;

/// Name under which the names beyond [`MAX_NAMES`] are counted, and the names longer than
/// [`LONGEST_NAME`].
const OTHER_NAME: &str = "other";

/// Maximum number of statements that are counted in one sample: those in which the most sessions
/// wait for locks.
const MAX_STATEMENTS: usize = 8;

/// A sum that only grows, with its unit.
#[derive(Clone, Debug)]
struct CumulativeSum {
    unit: &'static str,
    sum: u64,
    /// True if the sum has been reported.
    is_reported: bool,
}

/// Sessions whose activity is counted.
#[derive(Clone, Debug)]
pub enum ObservedSessions {
    /// Sessions of this load generator. The waits of other sessions do not count as waits of the
    /// generator. The sessions are recognised by the ids that the server assigned to them or, if
    /// these are unknown, by name. `None` if only the name of the observer's own session is known.
    Ours(Option<OwnSessions>),
    /// Sessions of the observed program of a scope, recognised by their sockets. If none can be
    /// recognised, the sessions of all clients are counted.
    Program(Scope),
    /// Sessions of all clients.
    AllClients,
}

/// Sums that only grow, even if the observer replaces its session.
#[derive(Debug)]
pub(super) struct Tally {
    observed: ObservedSessions,
    /// True once a session was recognised as ours, or if the ids of our sessions are known. If it
    /// is false, a proxy between client and server may have changed the names of sessions, so the
    /// sessions of all clients are counted.
    are_ours_identified: bool,
    sums: BTreeMap<(ComponentKind, String), CumulativeSum>,
}

/// Counts of one sample of the sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SessionObservation {
    /// Client sessions that run a statement.
    pub(super) active: u64,
    /// Client sessions that wait for their client outside of any transaction.
    pub(super) idle: u64,
    /// Client sessions that wait for their client within a transaction.
    pub(super) idle_in_transaction: u64,
    /// Sessions and parallel workers of other clients, if they run a statement and do not wait.
    pub(super) others: u64,
    /// All parallel workers.
    pub(super) parallel_workers: u64,
    /// Parallel workers that do not wait.
    pub(super) running_workers: u64,
    /// Active sessions by wait.
    pub(super) waits: BTreeMap<String, u64>,
    /// Sessions that wait for locks, by statement.
    pub(super) statements: BTreeMap<String, u64>,
    /// Background and maintenance work under way.
    pub(super) background: BTreeMap<String, u64>,
    /// Sessions that wait for the observed program.
    pub(super) client_waits: ClientWaits,
}

/// Sessions that wait for their client, by the data in the sockets of their connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClientWaits {
    /// Sessions that were recognised as sessions of the program, whether they wait or not.
    pub(super) identified: u64,
    /// Sessions whose connections have no data in the sockets of either side.
    pub(super) empty_sockets: u64,
    /// Sessions with a request in the server's socket that the server has not read.
    pub(super) unread_request: u64,
    /// Sessions with an answer in the program's socket that the program has not read.
    pub(super) unread_answer: u64,
    /// Sessions that have been idle for so long that the program apparently does not use them, such
    /// as reserve connections of a pool. They are in no other count.
    pub(super) spare: u64,
    /// Sessions in which the program pauses. Their sockets are empty or not visible. They wait for
    /// the next part of a statement, or they have waited for the next statement for longer than a
    /// switch between processes takes.
    pub(super) paused: u64,
}

/// A session that waits for its client.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientWait {
    /// Data that waits on the session's connection; `None` if its sockets are not visible.
    pub(super) waiting: Option<WaitingData>,
    /// True if the session waits for further data of a statement that has begun, such as rows to
    /// load.
    pub(super) is_within_statement: bool,
    /// True if the session has waited for a long time, by the database's report; `None` if the
    /// database does not report the time.
    pub(super) is_long: Option<bool>,
}

impl ClientWaits {
    /// Adds a number of sessions that wait for their client.
    pub(super) fn add(&mut self, wait: ClientWait, sessions: u64) {
        let ClientWait { waiting, is_within_statement, is_long } = wait;
        if let Some(waiting) = waiting {
            let counted = match waiting {
                WaitingData { has_unread_request: true, .. } => &mut self.unread_request,
                WaitingData { has_unread_answer: true, .. } => &mut self.unread_answer,
                WaitingData { has_unsent_bytes: true, .. } => return,
                WaitingData { .. } => &mut self.empty_sockets,
            };
            *counted += sessions;
        }
        let is_empty = |it: WaitingData| {
            !it.has_unread_request && !it.has_unread_answer && !it.has_unsent_bytes
        };
        let holds_nothing = waiting.is_none_or(is_empty);
        let is_silent = is_long.or_else(|| waiting?.is_silent).unwrap_or(false);
        if holds_nothing && (is_within_statement || is_silent) {
            self.paused += sessions;
        }
    }

    fn merge(&mut self, other: ClientWaits) {
        self.identified += other.identified;
        self.empty_sockets += other.empty_sockets;
        self.unread_request += other.unread_request;
        self.unread_answer += other.unread_answer;
        self.spare += other.spare;
        self.paused += other.paused;
    }
}

impl SessionObservation {
    /// Counts active sessions in a wait.
    pub(super) fn count_wait(&mut self, event: &str, sessions: u64) {
        *self.waits.entry(event.to_owned()).or_default() += sessions;
    }

    /// Returns the number of client sessions.
    fn sessions(&self) -> u64 {
        self.active + self.idle + self.idle_in_transaction
    }
}

impl Tally {
    /// Creates a tally for these sessions.
    pub(super) fn of(observed: ObservedSessions) -> Tally {
        Tally { observed, are_ours_identified: false, sums: BTreeMap::new() }
    }

    /// Records that our sessions can be recognised with certainty, even if a sample contains none
    /// of them.
    pub(super) fn set_ours_identified(&mut self) {
        self.are_ours_identified = true;
    }

    /// Adds the observations of one sample: of our sessions, which are those of the run or of the
    /// observed program, and of other sessions. Until our sessions are identified, all sessions
    /// count as ours.
    pub(super) fn add_samples(
        &mut self,
        mut ours: SessionObservation,
        mut theirs: SessionObservation,
    ) {
        self.are_ours_identified |= match self.observed {
            ObservedSessions::Ours(_) => ours.sessions() > 0,
            ObservedSessions::Program(_) => ours.client_waits.identified > 0,
            ObservedSessions::AllClients => false,
        };
        let running = theirs.waits.get(RUNNING).copied().unwrap_or_default();
        ours.others = running + theirs.running_workers;
        ours.background.append(&mut theirs.background);
        if !self.are_ours_identified {
            ours.client_waits.merge(theirs.client_waits);
            ours.active += theirs.active;
            ours.idle += theirs.idle;
            ours.idle_in_transaction += theirs.idle_in_transaction;
            ours.parallel_workers += theirs.parallel_workers;
            theirs.waits.iter().for_each(|(event, sessions)| ours.count_wait(event, *sessions));
            for (statement, sessions) in theirs.statements {
                *ours.statements.entry(statement).or_default() += sessions;
            }
        }
        self.add_sample(&ours);
    }

    /// Adds a number of sessions to the sum of a metric.
    fn add_sessions(&mut self, metric: ObservedMetric, by: u64) {
        debug_assert!(metric.belongs_to(&ComponentKind::Sessions), "{}", metric.name);
        self.add(&ComponentKind::Sessions, metric.name, metric.unit, by);
    }

    /// Adds to a sum whose name comes from the server.
    pub(super) fn add_named(&mut self, kind: &ComponentKind, name: &str, by: u64) {
        debug_assert!(kind.has_own_names(), "`{name}` of `{kind}` has no name from a server");
        let unit = if *kind == ComponentKind::Background { "looks" } else { "sessions" };
        self.add(kind, name, unit, by);
    }

    fn add(&mut self, kind: &ComponentKind, metric: &str, unit: &'static str, by: u64) {
        let metric = if metric.len() > LONGEST_NAME { OTHER_NAME } else { metric };
        let key = (kind.clone(), metric.to_owned());
        if let Some(counted) = self.sums.get_mut(&key) {
            counted.sum = counted.sum.saturating_add(by);
            return;
        }
        let of_kind = self.sums.keys().filter(|(of, _)| of == kind).count();
        let key = if of_kind < MAX_NAMES { key } else { (kind.clone(), OTHER_NAME.to_owned()) };
        let counted =
            self.sums.entry(key).or_insert(CumulativeSum { unit, sum: 0, is_reported: false });
        counted.sum = counted.sum.saturating_add(by);
    }

    /// Adds the observation of one sample to the sums.
    fn add_sample(&mut self, observation: &SessionObservation) {
        let SessionObservation {
            active, idle, idle_in_transaction, others, parallel_workers, ..
        } = observation;
        let SessionObservation { waits, statements, background, .. } = observation;
        self.add_sessions(sessions::SAMPLES, 1);
        let seen = [
            (sessions::ACTIVE, active),
            (sessions::IDLE, idle),
            (sessions::IDLE_IN_TRANSACTION, idle_in_transaction),
            (sessions::OTHERS, others),
            (sessions::PARALLEL_WORKERS, parallel_workers),
        ];
        for (metric, &count) in seen {
            self.add_sessions(metric, count);
        }
        if matches!(self.observed, ObservedSessions::Program(_)) {
            self.add_client_waits(observation.client_waits);
        }
        self.add_named(&ComponentKind::Waits, RUNNING, 0);
        for (event, &count) in waits {
            self.add_named(&ComponentKind::Waits, event, count);
        }
        let mut most: Vec<(&String, &u64)> = statements.iter().collect();
        most.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        for (statement, &count) in most.into_iter().take(MAX_STATEMENTS) {
            self.add_named(&ComponentKind::Statements, statement, count);
        }
        for work in background.keys() {
            self.add_named(&ComponentKind::Background, work, 1);
        }
    }

    fn add_client_waits(&mut self, client_waits: ClientWaits) {
        for (metric, count) in [
            (sessions::IDENTIFIED, client_waits.identified),
            (sessions::NOTHING_WAITS, client_waits.empty_sockets),
            (sessions::UNREAD_REQUEST, client_waits.unread_request),
            (sessions::UNREAD_ANSWER, client_waits.unread_answer),
            (sessions::SPARE, client_waits.spare),
            (sessions::PAUSED, client_waits.paused),
        ] {
            self.add_sessions(metric, count);
        }
    }

    /// Returns a sample with the value zero for each sum that has not been reported yet, because
    /// each sum was zero before its first count.
    pub(super) fn take_initial_values(&mut self) -> Sample {
        let mut sample = Sample::default();
        for ((kind, metric), counted) in &mut self.sums {
            if !counted.is_reported {
                counted.is_reported = true;
                sample.push(kind, metric, counted.unit, 0.0);
            }
        }
        sample
    }

    /// Adds all sums to a sample.
    pub(super) fn write(&self, sample: &mut Sample) {
        for ((kind, metric), counted) in &self.sums {
            sample.push(kind, metric, counted.unit, counted.sum as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(sample: &Sample) -> Vec<(&str, &str, f64)> {
        let readings = sample.readings.iter();
        readings.map(|r| (&*r.series.component, &*r.series.metric, r.value)).collect()
    }

    #[test]
    fn new_counter_starts_at_zero() {
        let mut tally = Tally::of(ObservedSessions::AllClients);
        tally.add_named(&ComponentKind::Waits, "Lock:tuple", 3);
        assert_eq!(readings(&tally.take_initial_values()), [("waits", "Lock:tuple", 0.0)]);
        assert_eq!(readings(&tally.take_initial_values()), []);
        tally.add_named(&ComponentKind::Waits, "Lock:tuple", 2);
        let mut sample = Sample::default();
        tally.write(&mut sample);
        assert_eq!(readings(&sample), [("waits", "Lock:tuple", 5.0)]);
    }

    /// Returns the sums of a component, by the name of the metric.
    fn sums(tally: &Tally, kind: &ComponentKind) -> BTreeMap<String, u64> {
        let of_it = tally.sums.iter().filter(|((of, _), _)| of == kind);
        of_it.map(|((_, metric), counted)| (metric.clone(), counted.sum)).collect()
    }

    #[test]
    fn waits_of_other_sessions_are_excluded() {
        let mut theirs =
            SessionObservation { active: 4, idle: 90, ..SessionObservation::default() };
        theirs.count_wait("Lock:tuple", 3);
        theirs.count_wait(RUNNING, 1);
        theirs.background.insert("vacuum: t".to_owned(), 1);
        let mut ours =
            SessionObservation { active: 2, parallel_workers: 1, ..SessionObservation::default() };
        ours.count_wait(RUNNING, 2);
        let seen = |tally: &Tally| {
            let (sessions, waits) =
                (sums(tally, &ComponentKind::Sessions), sums(tally, &ComponentKind::Waits));
            let lock = waits.get("Lock:tuple").copied().unwrap_or_default();
            assert_eq!(sums(tally, &ComponentKind::Background).len(), 1);
            [sessions["active"], sessions["idle"], sessions["others"], waits[RUNNING], lock]
        };
        let mut run = Tally::of(ObservedSessions::Ours(None));
        run.add_samples(ours.clone(), theirs.clone());
        assert_eq!(seen(&run), [2, 0, 1, 2, 0]);
        // Our sessions remain recognised after a sample that contains none of them.
        run.add_samples(SessionObservation::default(), theirs.clone());
        assert_eq!(seen(&run), [2, 0, 2, 2, 0]);
        let mut watched = Tally::of(ObservedSessions::AllClients);
        watched.add_samples(ours, theirs.clone());
        assert_eq!(seen(&watched), [6, 90, 1, 3, 3]);
        // No session was recognised as ours in any sample, so a proxy has changed the names of our
        // sessions.
        let mut renamed = Tally::of(ObservedSessions::Ours(None));
        renamed.add_samples(SessionObservation::default(), theirs.clone());
        assert_eq!(seen(&renamed), [4, 90, 1, 1, 3]);
        // None of the sessions is ours, because ours would have been recognised.
        let mut absent = Tally::of(ObservedSessions::Ours(None));
        absent.set_ours_identified();
        absent.add_samples(SessionObservation::default(), theirs);
        assert_eq!(seen(&absent), [0, 0, 1, 0, 0]);
    }

    #[test]
    fn running_workers_of_other_sessions_are_others() {
        let mut theirs = SessionObservation {
            parallel_workers: 3,
            running_workers: 2,
            ..SessionObservation::default()
        };
        theirs.count_wait(RUNNING, 1);
        let ours = SessionObservation {
            active: 1,
            parallel_workers: 5,
            running_workers: 4,
            ..SessionObservation::default()
        };
        for (observed, expected) in
            [(ObservedSessions::Ours(None), [5, 3]), (ObservedSessions::AllClients, [8, 3])]
        {
            let mut tally = Tally::of(observed);
            tally.add_samples(ours.clone(), theirs.clone());
            let sessions = sums(&tally, &ComponentKind::Sessions);
            assert_eq!([sessions["parallel-workers"], sessions["others"]], expected);
        }
    }

    #[test]
    fn session_of_a_program_that_loads_rows_pauses_when_its_sockets_are_empty() {
        let nothing = Some(WaitingData::default());
        let silent =
            |is_silent| Some(WaitingData { is_silent: Some(is_silent), ..WaitingData::default() });
        let request = Some(WaitingData {
            has_unread_request: true,
            is_silent: Some(true),
            ..WaitingData::default()
        });
        let answer = Some(WaitingData {
            has_unread_answer: true,
            is_silent: Some(true),
            ..WaitingData::default()
        });
        let unsent = Some(WaitingData {
            has_unsent_bytes: true,
            is_silent: Some(true),
            ..WaitingData::default()
        });
        for (waiting, is_within_statement, is_long, expected) in [
            (nothing, true, None, [1, 0, 0, 1]),
            (nothing, false, None, [1, 0, 0, 0]),
            (silent(false), false, None, [1, 0, 0, 0]),
            (silent(true), false, None, [1, 0, 0, 1]),
            (silent(false), false, Some(true), [1, 0, 0, 1]),
            (silent(true), false, Some(false), [1, 0, 0, 0]),
            (request, true, Some(true), [0, 1, 0, 0]),
            (answer, false, Some(true), [0, 0, 1, 0]),
            (unsent, true, Some(true), [0, 0, 0, 0]),
            (None, false, Some(true), [0, 0, 0, 1]),
            (None, true, None, [0, 0, 0, 1]),
            (None, false, None, [0, 0, 0, 0]),
        ] {
            let mut client_waits = ClientWaits::default();
            client_waits.add(ClientWait { waiting, is_within_statement, is_long }, 1);
            let ClientWaits { empty_sockets, unread_request, unread_answer, paused, .. } =
                client_waits;
            let found = [empty_sockets, unread_request, unread_answer, paused];
            assert_eq!(found, expected, "{waiting:?} {is_within_statement} {is_long:?}");
        }
    }

    #[test]
    fn sessions_of_others_are_left_out_once_the_program_is_known() {
        let mut tally = Tally::of(ObservedSessions::Program(Scope::default()));
        let theirs = SessionObservation { active: 3, ..SessionObservation::default() };
        let of = |tally: &Tally| sums(tally, &ComponentKind::Sessions)["active"];
        tally.add_samples(
            SessionObservation { active: 1, ..SessionObservation::default() },
            theirs.clone(),
        );
        assert_eq!(of(&tally), 4, "none was known to be the program's");
        let client_waits = ClientWaits { identified: 1, ..ClientWaits::default() };
        tally.add_samples(
            SessionObservation { active: 1, client_waits, ..SessionObservation::default() },
            theirs,
        );
        assert_eq!(of(&tally), 5);
    }

    #[test]
    fn sum_of_any_numbers_of_a_server_stays_at_the_largest() {
        let mut tally = Tally::of(ObservedSessions::AllClients);
        for _ in 0..3 {
            tally.add_named(&ComponentKind::Waits, "Lock:tuple", u64::MAX / 2);
        }
        assert_eq!(sums(&tally, &ComponentKind::Waits)["Lock:tuple"], u64::MAX);
    }

    #[test]
    fn number_and_length_of_names_are_limited() {
        let mut tally = Tally::of(ObservedSessions::AllClients);
        for name in 0..1_000 {
            tally.add_named(&ComponentKind::Locks, &format!("t{name}"), 1);
        }
        tally.add_named(&ComponentKind::Waits, "cpu", 1);
        tally.add_named(&ComponentKind::Waits, &"x".repeat(LONGEST_NAME + 1), 5);
        let mut sample = Sample::default();
        tally.write(&mut sample);
        let readings = readings(&sample);
        assert_eq!(readings.len(), MAX_NAMES + 3);
        assert!(readings.contains(&("locks", "other", 1_000.0 - MAX_NAMES as f64)), "{readings:?}");
        assert!(readings.contains(&("waits", "other", 5.0)), "{readings:?}");
    }

    #[test]
    fn sample_counts_the_most_frequent_statements() {
        let mut observation = SessionObservation { active: 20, ..SessionObservation::default() };
        for number in 0..20_u64 {
            observation.statements.insert(format!("s{number:02}"), number + 1);
        }
        observation.background.insert("autovacuum: t".to_owned(), 3);
        let mut tally = Tally::of(ObservedSessions::AllClients);
        tally.add_sample(&observation);
        tally.add_sample(&observation);
        let mut sample = Sample::default();
        tally.write(&mut sample);
        let readings = readings(&sample);
        let of = |component: &str| readings.iter().filter(|(of, _, _)| *of == component).count();
        assert_eq!(of("statements"), MAX_STATEMENTS);
        assert!(readings.contains(&("statements", "s19", 40.0)));
        assert!(readings.contains(&("background", "autovacuum: t", 2.0)));
        assert!(readings.contains(&("sessions", "looks", 2.0)));
        assert!(readings.contains(&("waits", "cpu", 0.0)));
    }
}
