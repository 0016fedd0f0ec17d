//! Whether the load generator itself is what limits.

use record::{Part, Side};

use super::suspect::{number, percent};
use super::{Component, Scene, Suspect};

/// The part of the window in which a thread ran, or wanted to, from which on it has no time left.
const FULL: f64 = 0.8;

/// The same if the requests are known not to be with the database.
const FULL_OF_ALL: f64 = 0.5;

/// The part of the window that a thread waits for a processor, from which on that is what it lacks.
const KEPT_WAITING: f64 = 0.2;

/// The part of the time of clients in which they have nothing to ask, from which on their source
/// decides.
const STARVED: f64 = 0.5;

/// The part of the time in which the sessions of another program idle, from which on it is not the
/// database that it waits for.
const SESSIONS_IDLE: f64 = 0.6;

/// The seconds between an answer and the next request up to which a program does not hold itself
/// back: what waking up and switching between processes may take,
const QUICK_S: f64 = 0.001;

/// or so many round trips.
const QUICK_ROUND_TRIPS: f64 = 3.0;

impl Scene<'_, '_> {
    /// What of the load generator has no more to give.
    pub(super) fn generator(&self) -> Vec<Suspect> {
        if self.demand.asks {
            let found = [self.waiting_thread(), self.full_thread(), self.slow_feed()];
            return found.into_iter().flatten().collect();
        }
        let busy = [self.full_program(), self.waiting_program()];
        let busy: Vec<Suspect> = busy.into_iter().flatten().collect();
        // Sessions that idle where processors are full would be asked more if there were others.
        let is_idle = self.database_has_time() != Some(false);
        match busy.is_empty() && is_idle {
            true => self.idle_program().into_iter().collect(),
            false => busy,
        }
    }

    /// The busiest of its threads, by the part of a processor that it had; `None` if none was
    /// looked at.
    pub(super) fn generator_share(&self) -> Option<f64> {
        match self.demand.asks {
            true => self.findings.lanes().map(|lane| lane.ran).reduce(f64::max),
            false => self.signals.mean(&Part::Processes(Side::Generator), "busiest"),
        }
    }

    /// The one that ran or could have run for the largest part of the window: how large it is.
    pub(super) fn generator_wants(&self) -> Option<f64> {
        match self.demand.asks {
            true => self.findings.lanes().map(|lane| lane.ran + lane.waited).reduce(f64::max),
            false => self.generator_share(),
        }
    }

    /// A thread that could run and does not, because something else has its processor.
    fn waiting_thread(&self) -> Option<Suspect> {
        let lanes = self.findings.lanes();
        let lane = lanes.max_by(|a, b| a.waited.total_cmp(&b.waited))?;
        let wanted = lane.ran + lane.waited;
        // If the database wants all processors of one host, it is the database that lacks them.
        let is_database = self.processors().is_some();
        let full = if self.is_elsewhere() { FULL_OF_ALL } else { FULL };
        if lane.waited < KEPT_WAITING || wanted < full || is_database {
            return None;
        }
        let because = format!(
            "its thread {} ran for {} of the window and waited for a processor for {}: something \
             else had it",
            lane.name,
            percent(lane.ran),
            percent(lane.waited)
        );
        let suspect = Suspect::new(Component::GeneratorCpu, wanted, because);
        Some(suspect.with("ran_share", lane.ran).with("waited_share", lane.waited))
    }

    /// A thread that runs all the time. In an open job that asks for more than it gets, too.
    fn full_thread(&self) -> Option<Suspect> {
        let (because, name, share) = match self.findings.limited_by_its_threads() {
            Some((because, share)) => (because, "share_of_ceiling", share),
            None => {
                let (thread, share) = self.findings.busy_thread()?;
                let because = format!("its thread {thread} used {} of a processor", percent(share));
                (because, "share_of_processor", share)
            }
        };
        let lanes = self.findings.lanes().count();
        let idle = self.findings.lanes().filter(|lane| lane.ran < FULL / 2.0).count();
        let because = match idle {
            0 => because,
            _ => format!("{because}, while {idle} of {lanes} threads had time to spare"),
        };
        Some(Suspect::new(Component::GeneratorThread, share, because).with(name, share))
    }

    /// Clients that wait for the file or the pipe from which they have what they ask.
    fn slow_feed(&self) -> Option<Suspect> {
        let demand = &self.demand;
        if demand.fed_clients == 0.0 || demand.fed_clients < demand.closed.clients {
            return None;
        }
        let idle = 1.0 - demand.fed_in_flight / demand.fed_clients;
        let because = format!(
            "its {} clients have nothing to ask for {} of the time: what they read comes too \
             slowly",
            demand.fed_clients,
            percent(idle)
        );
        let suspect = Suspect::new(Component::GeneratorInput, idle, because)
            .with("clients", demand.fed_clients)
            .with("requests_in_flight", demand.fed_in_flight);
        (idle >= STARVED).then_some(suspect)
    }

    fn full_program(&self) -> Option<Suspect> {
        let share = self.generator_share().filter(|share| *share >= FULL)?;
        let because = format!("a thread of the program used {} of a processor", percent(share));
        let suspect = Suspect::new(Component::GeneratorThread, share, because);
        Some(suspect.with("share_of_processor", share))
    }

    fn waiting_program(&self) -> Option<Suspect> {
        let part = Part::Processes(Side::Generator);
        let waited = self.signals.rate(&part, "waited")?;
        let ran = self.signals.rate(&part, "user")? + self.signals.rate(&part, "system")?;
        let is_database = self.processors().is_some();
        let share = waited / (ran + waited).max(f64::MIN_POSITIVE);
        if waited.min(share) < KEPT_WAITING || ran + waited < FULL || is_database {
            return None;
        }
        let because = format!(
            "the program ran for {} of the time and waited for a processor for {}",
            percent(ran),
            percent(waited)
        );
        let suspect = Suspect::new(Component::GeneratorCpu, share, because);
        Some(suspect.with("ran_share", ran).with("waited_share", waited))
    }

    /// A program that holds itself back: the database's sessions idle, and nothing waits in the
    /// sockets for the database to read it.
    fn idle_program(&self) -> Option<Suspect> {
        let active = self.active()?;
        let idle = self.idle_sessions()?;
        // Sessions of other programs idle for reasons of their own.
        let connections = self.signals.mean(&Part::Sockets(Side::Generator), "connections");
        let idle = connections.map_or(idle, |all| idle.min((all - active).max(0.0)));
        let sending = self.sending_sessions();
        let sessions = active + idle;
        let share = if sessions > 0.0 { (idle + sending) / sessions } else { 0.0 };
        if share < SESSIONS_IDLE {
            return None;
        }
        // Where the server's sockets are not seen, its sessions may idle for want of a processor
        // while requests wait in these.
        let queue = self.unread_by_server();
        let per_s = self.requests_of_a_program_per_s()?.max(f64::MIN_POSITIVE);
        let pause_s = idle / per_s;
        let has_time = self.database_has_time() == Some(true);
        let is_asked = queue.is_some_and(|queue| queue > sessions * (1.0 - SESSIONS_IDLE));
        let is_quick = pause_s <= QUICK_S && has_time;
        if (is_asked && !is_quick) || (queue.is_none() && !has_time) {
            return None;
        }
        let round_trip_s = self
            .signals
            .mean(&Part::Sockets(Side::Generator), "round-trip-least")
            .unwrap_or_default();
        let unread = self.signals.mean(&Part::Sockets(Side::Generator), "with-receive-queue");
        let (component, what) = if sending > idle {
            // What has come and is not read waits for the program, what has not for the way.
            match unread.is_none_or(|unread| unread >= sending / 2.0) {
                true => {
                    let what = "wait for the program to read its answers";
                    (Component::GeneratorInput, what.to_owned())
                }
                false => {
                    let what = "have answers that wait for room on the way";
                    (Component::NetworkBandwidth, what.to_owned())
                }
            }
        } else if is_quick || pause_s <= QUICK_ROUND_TRIPS * round_trip_s {
            let what = format!(
                "wait for the next request, which comes {} ms after the last answer: no more are \
                 asked at once",
                number(pause_s * 1e3)
            );
            let component = match is_quick {
                true => Component::Concurrency,
                false => Component::NetworkLatency,
            };
            (component, what)
        } else {
            let what = "have nothing to do: the program does not ask more";
            (Component::GeneratorInput, what.to_owned())
        };
        let because =
            format!("of {sessions:.1} sessions of the database {:.1} {what}", idle.max(sending));
        let suspect = Suspect::new(component, share, because)
            .with("sessions", sessions)
            .with("sessions_idle", idle)
            .with("sessions_that_wait_to_send", sending)
            .with_any("server_sockets_with_unread_requests", queue)
            .with_any("program_sockets_with_unread_answers", unread)
            .with("requests_per_s", per_s)
            .with("round_trip_least_ms", round_trip_s * 1e3);
        let limited = self.signals.rate(&Part::Sockets(Side::Server), "receiver-limited");
        Some(suspect.with_any("server_sockets_limited_by_receiver", limited))
    }

    /// How often a program that is watched asked something: as often as both sides sent data, as a
    /// long request or a long answer is several segments. Without a sight of its sockets, as often as
    /// the database was asked by whomever; PostgreSQL counts transactions, and those that read no
    /// table late.
    fn requests_of_a_program_per_s(&self) -> Option<f64> {
        let sent = |metric| self.signals.rate(&Part::Sockets(Side::Generator), metric);
        let of = |metric| self.signals.rate(&Part::Statistics, metric);
        let segments = || Some(sent("data-sent")?.min(sent("data-received")?));
        let transactions = || {
            let rolled_back = of("pg_stat_database.all.xact_rollback").unwrap_or(0.0);
            Some(of("pg_stat_database.all.xact_commit")? + rolled_back)
        };
        segments().or_else(|| of("status.questions")).or_else(transactions)
    }
}
