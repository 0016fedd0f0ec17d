//! Whether the database has processors to spare: all that it may use, one of them, or what a
//! control group leaves of them.

use record::{Part, Side};

use super::database::WAIT_DECIDES;
use super::demand::Asker;
use super::suspect::{number, percent};
use super::{Component, Scene, Suspect};

/// The part of the processors from which on they are full. The rest is what the kernel's scheduler
/// leaves between two tasks.
pub(super) const CPU_FULL: f64 = 0.85;

/// The part of its processors below which it has some to spare.
const HAS_TIME: f64 = 0.8;

/// The part of one processor from which on a thread has no time left.
const THREAD_FULL: f64 = 0.85;

/// The part of the time that a group may be kept from running.
const THROTTLED: f64 = 0.1;

/// The part of its quota from which on a group uses all of it, if it was kept from running at all.
const USES_ALL: f64 = 0.9;

impl Scene<'_, '_> {
    /// How many processors the database used.
    pub(super) fn database_cpu(&self) -> Option<f64> {
        self.signals.used_processors(&Part::Processes(Side::Server))
    }

    /// How many it may use.
    pub(super) fn database_processors(&self) -> Option<f64> {
        let may = self.signals.mean(&Part::Processes(Side::Server), "processors")?;
        let quota = self.signals.mean(&Part::Cgroup(Side::Server), "quota");
        Some(may.min(quota.unwrap_or(may))).filter(|may| *may > 0.0)
    }

    /// The part of its processors that the database used; `None` if they were not seen.
    pub(super) fn database_share(&self) -> Option<f64> {
        Some(self.database_cpu()? / self.database_processors()?)
    }

    /// The part of its processors' time that a hypervisor did not give to others: nobody has more.
    pub(super) fn given(&self) -> f64 {
        let of = |metric| self.signals.rate_at_server(&Part::Host, metric);
        let stolen = of("stolen").zip(of("processors").filter(|all| *all > 0.0));
        1.0 - stolen.map_or(0.0, |(stolen, all)| (stolen / all).clamp(0.0, 0.5))
    }

    /// Whether the database has processors to spare; `None` if that is not known. Where they are
    /// not seen its sessions tell that less than one of them ran.
    pub(super) fn database_has_time(&self) -> Option<bool> {
        match self.database_share() {
            Some(share) => {
                // What seems to be the database may only lead to it, as a tunnel does.
                let (used, waited) = (self.database_cpu()?, self.database_waited());
                let running = self.running();
                let elsewhere = running.unwrap_or(0.0) - used - waited.unwrap_or(0.0);
                if share < HAS_TIME && elsewhere >= HAS_TIME {
                    return None;
                }
                let gets_it = self.database_wants().is_none_or(|wants| wants < 1.0);
                Some(share < HAS_TIME * self.given() && gets_it && !self.is_host_full())
            }
            None => {
                let running = self.running()?;
                (running < HAS_TIME).then_some(true)
            }
        }
    }

    /// The part of its processors that the database used and would have used. Requests that come
    /// in bursts want more of them for a moment than they do on average.
    pub(super) fn database_wants(&self) -> Option<f64> {
        let waited = self.database_waited()?;
        Some((self.database_cpu()? + waited) / self.database_processors()?)
    }

    /// How many of its threads waited for a processor; `None` if that is not known.
    pub(super) fn database_waited(&self) -> Option<f64> {
        self.signals.rate(&Part::Processes(Side::Server), "waited")
    }

    /// A group that its quota keeps from running.
    pub(super) fn throttled(&self, side: Side) -> Option<Suspect> {
        let part = Part::Cgroup(side);
        let quota = self.signals.mean(&part, "quota")?;
        // The kernel adds up what each processor was kept from.
        let may = self.signals.mean(&Part::Processes(side), "processors").unwrap_or(1.0);
        let throttled = self.signals.rate(&part, "throttled")? / may.max(1.0);
        let used = self.signals.used_processors(&Part::Processes(side)).unwrap_or(0.0);
        let share = throttled.min(1.0).max(used / quota.max(f64::MIN_POSITIVE));
        // Of many processors only those are counted on which it had something to run.
        let uses_all = used >= USES_ALL * quota && throttled > 0.0;
        if throttled < THROTTLED && !uses_all {
            return None;
        }
        let because = format!(
            "the control group of the {} was kept from running {} s in every second: it may use {} \
             processors, and used {}",
            side.name(),
            number(throttled),
            number(quota),
            number(used)
        );
        let suspect = Suspect::new(Component::Cgroup, share, because)
            .with("throttled_s_per_s", throttled)
            .with("quota_processors", quota)
            .with("used_processors", used);
        Some(suspect)
    }

    /// Processors that are full of the database's work.
    pub(super) fn processors(&self) -> Option<Suspect> {
        let (used, may) = (self.database_cpu()?, self.database_processors()?);
        let share = used / may;
        let wants = self.database_wants();
        // Which processors these are is not known, unless they are all.
        let all = self.signals.busy_processors().filter(|all| all.len() as f64 <= may);
        let busy = all.map(|all| all.iter().sum::<f64>() / all.len() as f64);
        let is_busy = busy.is_some_and(|busy| busy >= CPU_FULL);
        let is_crowded = is_busy && wants.is_none_or(|wants| wants >= 1.0);
        let wants = wants.unwrap_or(share);
        // On a host that it shares it cannot have all, and yet it is what lacks them.
        let generator = self.generator_cpu().unwrap_or(0.0);
        let rest = busy.map_or(0.0, |busy| busy * may - used - generator);
        let is_largest = used >= generator && used >= rest;
        let is_full =
            share >= CPU_FULL * self.given() || (is_crowded && is_largest && share >= 0.4);
        if !is_full {
            return None;
        }
        let because = format!(
            "its processes used {} of the {} processors that they may use, and would have used {}",
            number(used),
            number(may),
            number(wants * may)
        );
        let share = if is_crowded { share.max(CPU_FULL) } else { share };
        let component = self.or_proxy(Component::DatabaseCpu);
        let suspect = Suspect::new(component, share, because)
            .with("used_processors", used)
            .with("processors", may)
            .with("wanted_processors", wants * may)
            .with_any("busy_processors_share", busy)
            .with_any("sessions_active", self.active());
        Some(suspect)
    }

    /// What is said of processes that take the target's connections, if they are no database.
    fn or_proxy(&self, component: Component) -> Component {
        if self.sees_proxy() { Component::Proxy } else { component }
    }

    /// Returns true if a program that is no database takes the target's connections.
    pub(super) fn sees_proxy(&self) -> bool {
        self.signals.sees_proxy()
    }

    /// Processors that the database lacks, because something that is neither it nor the load
    /// generator has them.
    pub(super) fn starved(&self) -> Option<Suspect> {
        let waited = self.database_waited()?;
        let (used, may) = (self.database_cpu()?, self.database_processors()?);
        let under_way = self.demand.in_flight.max(self.active().unwrap_or(0.0)).max(1.0);
        let share = waited / under_way;
        if share < WAIT_DECIDES || used + waited < may || used / may >= CPU_FULL * self.given() {
            return None;
        }
        let generator = self.generator_cpu().unwrap_or(0.0);
        let all = self.signals.busy_processors().map(|all| all.iter().sum::<f64>());
        if all.is_some_and(|all| all - used - generator < generator) {
            return None;
        }
        let because = format!(
            "its processes used {} of the {} processors that they may use, and would have used \
             {}: something else had them",
            number(used),
            number(may),
            number(used + waited)
        );
        let suspect = Suspect::new(Component::DatabaseCpu, share, because)
            .with("used_processors", used)
            .with("processors", may)
            .with("wanted_processors", used + waited)
            .with_any("busy_processors_share", self.busy_share());
        Some(suspect.with_any("sessions_active", self.active()))
    }

    /// The part of their time in which the processors of its host were at work, all of them.
    pub(super) fn busy_share(&self) -> Option<f64> {
        let all = self.signals.busy_processors()?;
        Some(all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Whether nobody on its host gets all the processor time that it wants.
    pub(super) fn is_host_full(&self) -> bool {
        self.busy_share().is_some_and(|busy| busy >= CPU_FULL)
    }

    /// How many processors the load generator used.
    fn generator_cpu(&self) -> Option<f64> {
        self.signals.used_processors(&Part::Processes(Side::Generator))
    }

    /// One thread that is busy all the time, while there is room beside it.
    pub(super) fn one_processor(&self) -> Option<Suspect> {
        let busiest = self.signals.mean(&Part::Processes(Side::Server), "busiest")?;
        let may = self.database_processors()?;
        let used = self.database_cpu()?;
        if self.is_others_thread() {
            return None;
        }
        let given = self.given();
        if busiest < THREAD_FULL * given || may < 1.5 || used / may >= CPU_FULL * given {
            return None;
        }
        let because = format!(
            "one of its threads used {} of a processor, while of {} it used {}",
            percent(busiest),
            number(may),
            number(used)
        );
        let component = self.or_proxy(Component::DatabaseSingleCore);
        let suspect = Suspect::new(component, busiest, because)
            .with("busiest_thread_share", busiest)
            .with("used_processors", used)
            .with("processors", may)
            .with_any("sessions_active", self.active());
        Some(suspect)
    }

    /// Whether the busiest thread may be that of a session of others, or of work in the background.
    fn is_others_thread(&self) -> bool {
        let roles = self.signals.parts(|part| matches!(part, Part::Role(_)));
        let is_busy =
            |role| self.signals.used_processors(role).is_some_and(|used| used >= HAS_TIME);
        let others = self.signals.per_look(&Part::Sessions, "others").unwrap_or(0.0);
        // Sessions of a program that is observed may not be told from others'.
        let are_known = self.demand.by != Asker::Program || self.knows_sessions_of_program();
        (are_known && others >= HAS_TIME) || roles.iter().any(is_busy)
    }
}
