//! Where a run took place, as far as judgements need it.

use workload::{JobTarget, Plan};

/// A way from the load generator to a database that is calibrated: what it takes where the database
/// does nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// To nothing, inside this process (`sim:null`).
    Null,
    /// PostgreSQL's protocol over a socket.
    Postgres,
    /// The protocol of MySQL and MariaDB over a socket.
    Mysql,
    /// To SQLite on a thread of this process.
    Sqlite,
}

impl Route {
    /// All of them.
    pub const ALL: [Route; 4] = [Route::Null, Route::Postgres, Route::Mysql, Route::Sqlite];

    /// The word for it in records, documents and reports.
    pub fn name(self) -> &'static str {
        match self {
            Route::Null => "null",
            Route::Postgres => "postgres",
            Route::Mysql => "mysql",
            Route::Sqlite => "sqlite",
        }
    }

    /// Whether a database is at its end, so that a request may take longer than the way.
    pub(crate) fn has_database(self) -> bool {
        match self {
            Route::Null => false,
            Route::Postgres | Route::Mysql | Route::Sqlite => true,
        }
    }
}

/// Where a database is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// There is none, or nobody knows.
    #[default]
    Unknown,
    /// In the load generator's own process.
    Inside,
    /// In another process on its machine.
    ThisHost,
    /// On another machine.
    Elsewhere,
}

/// A target that is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// How it is asked, if that is calibrated.
    pub route: Option<Route>,
    /// Where it is.
    pub place: Place,
}

/// Where a run took place. By default nothing of it is known, as in virtual time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// The main target.
    pub main: Asked,
    /// The targets with names, in the plan's order.
    pub named: Vec<Asked>,
    /// What the load generator takes on this machine, if that was measured before the run.
    pub calibration: Option<Calibration>,
}

/// What the load generator and its clock take on a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// What it costs to read the clock, in nanoseconds.
    pub clock_cost_ns: Option<f64>,
    /// The smallest step of the clock, in nanoseconds.
    pub clock_resolution_ns: Option<f64>,
    /// The ways that were measured.
    pub routes: Vec<(Route, Figures)>,
}

/// What a way takes where the database does nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// The service time of a statement at p50, of one client, in nanoseconds.
    pub service_p50_ns: Option<f64>,
    /// The most statements per second that one thread has made.
    pub per_s: Option<f64>,
}

impl Surroundings {
    /// What is known of the target of a job.
    pub fn asked(&self, target: JobTarget) -> Asked {
        match target {
            JobTarget::Main => self.main,
            JobTarget::Named(place) => self.named.get(place).copied().unwrap_or_default(),
            JobTarget::Programs => Asked::default(),
        }
    }

    /// Whether a database that the plan asks is on the machine of the load generator; `None` if
    /// there is none, or it is not known where it is.
    pub fn has_database_here(&self, plan: &Plan) -> Option<bool> {
        let named = (0..plan.targets.len()).map(JobTarget::Named);
        let asked = [JobTarget::Main].into_iter().chain(named).filter(|target| plan.asks(*target));
        asked.map(|target| self.asked(target).place.is_here()).fold(None, |all, one| {
            match (all, one) {
                (Some(all), Some(one)) => Some(all || one),
                (all, one) => all.or(one),
            }
        })
    }
}

impl Place {
    /// Whether it is the machine of the load generator; `None` if that is not known.
    pub fn is_here(self) -> Option<bool> {
        match self {
            Place::Unknown => None,
            Place::Inside | Place::ThisHost => Some(true),
            Place::Elsewhere => Some(false),
        }
    }
}

impl Calibration {
    /// What is known of a way.
    pub fn of(&self, route: Route) -> Figures {
        let found = self.routes.iter().find(|(known, _)| *known == route);
        found.map(|(_, figures)| *figures).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_database_on_this_machine_is_enough() {
        let text = "duration = 1s\n[target copy]\nurl = sim:mm1\n[a]\nquery = select 1\n[b]\n\
                    query = select 1\ntarget = copy\n";
        let (plan, diagnostics) = workload::plan(text, &workload::Overrides::default());
        let plan = plan.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let at = |place| Asked { route: None, place };
        let check = |main, copy, expected| {
            let surroundings =
                Surroundings { main: at(main), named: vec![at(copy)], calibration: None };
            assert_eq!(surroundings.has_database_here(&plan), expected, "{main:?} {copy:?}");
        };
        check(Place::Elsewhere, Place::ThisHost, Some(true));
        check(Place::Inside, Place::Unknown, Some(true));
        check(Place::Elsewhere, Place::Elsewhere, Some(false));
        check(Place::Elsewhere, Place::Unknown, Some(false));
        check(Place::Unknown, Place::Unknown, None);
    }
}
