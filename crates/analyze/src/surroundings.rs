//! The surroundings of a run that the analysis needs: locations of databases, and a calibration.

use workload::{JobTarget, Plan};

/// A calibrated route from the load generator to a database: its overhead with a database that does
/// nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// No database, inside this process (`sim:null`).
    Null,
    /// PostgreSQL's protocol over a socket.
    Postgres,
    /// Protocol of MySQL and MariaDB over a socket.
    Mysql,
    /// SQLite on a thread of this process.
    Sqlite,
}

impl Route {
    /// All routes.
    pub const ALL: [Route; 4] = [Route::Null, Route::Postgres, Route::Mysql, Route::Sqlite];

    /// Returns the name of this route in records, documents and reports.
    pub fn name(self) -> &'static str {
        match self {
            Route::Null => "null",
            Route::Postgres => "postgres",
            Route::Mysql => "mysql",
            Route::Sqlite => "sqlite",
        }
    }

    /// Returns true if the route leads to a database, whose own time adds to the route's overhead.
    pub(crate) fn has_database(self) -> bool {
        match self {
            Route::Null => false,
            Route::Postgres | Route::Mysql | Route::Sqlite => true,
        }
    }
}

/// The location of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DatabaseLocation {
    /// No database, or an unknown location.
    #[default]
    Unknown,
    /// The load generator's own process.
    Inside,
    /// Another process on the load generator's machine.
    ThisHost,
    /// Another machine.
    Elsewhere,
}

/// A target that jobs use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedTarget {
    /// Route to the target, if that route is calibrated.
    pub route: Option<Route>,
    /// Location of its database.
    pub location: DatabaseLocation,
}

/// The surroundings of a run. By default nothing is known, as in virtual time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Main target.
    pub main: UsedTarget,
    /// Named targets, in the plan's order.
    pub named: Vec<UsedTarget>,
    /// Calibration of the load generator on this machine, if it was made before the run.
    pub calibration: Option<Calibration>,
    /// True if the run belongs to a sweep over the number of servers of its main target.
    pub varies_servers: bool,
}

/// The overhead of the load generator and its clock on a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// Time to read the clock, in nanoseconds; `None` if it was not measured.
    pub clock_cost_ns: Option<f64>,
    /// Smallest step of the clock, in nanoseconds; `None` if it was not measured.
    pub clock_resolution_ns: Option<f64>,
    /// Measured routes.
    pub routes: Vec<(Route, Figures)>,
}

/// The overhead of a route with a database that does nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Service time of a statement at p50, with one client, in nanoseconds; `None` if it was not
    /// measured.
    pub service_p50_ns: Option<f64>,
    /// Largest number of statements per second that one thread has executed; `None` if it was not
    /// measured.
    pub per_s: Option<f64>,
}

impl Surroundings {
    /// Returns the target of a job.
    pub fn of_target(&self, target: JobTarget) -> UsedTarget {
        match target {
            JobTarget::Main => self.main,
            JobTarget::Named(id) => self.named.get(id.index()).copied().unwrap_or_default(),
            JobTarget::Programs => UsedTarget::default(),
        }
    }

    /// Returns true if a database that the plan uses is on the load generator's machine. Databases
    /// whose location is unknown are ignored; `None` if there are no others.
    pub fn has_database_here(&self, plan: &Plan) -> Option<bool> {
        let named = plan.target_ids().map(JobTarget::Named);
        let used = [JobTarget::Main].into_iter().chain(named).filter(|target| plan.uses(*target));
        used.map(|target| self.of_target(target).location.is_here()).fold(None, |all, one| {
            match (all, one) {
                (Some(all), Some(one)) => Some(all || one),
                (all, one) => all.or(one),
            }
        })
    }
}

impl DatabaseLocation {
    /// Returns true for the machine of the load generator; `None` if the location is unknown.
    pub fn is_here(self) -> Option<bool> {
        match self {
            DatabaseLocation::Unknown => None,
            DatabaseLocation::Inside | DatabaseLocation::ThisHost => Some(true),
            DatabaseLocation::Elsewhere => Some(false),
        }
    }
}

impl Calibration {
    /// Returns the figures of a route.
    pub fn of(&self, route: Route) -> Figures {
        let found = self.routes.iter().find(|(known, _)| *known == route);
        found.map(|(_, figures)| *figures).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_local_database_makes_the_run_local() {
        let text = "duration = 1s\n[target copy]\nurl = sim:mm1\n[a]\nquery = select 1\n[b]\n\
                    query = select 1\ntarget = copy\n";
        let (plan, diagnostics) = workload::plan(text, &workload::Overrides::default());
        let plan = plan.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let at = |location| UsedTarget { route: None, location };
        let check = |main, copy, expected| {
            let (main_target, named) = (at(main), vec![at(copy)]);
            let surroundings = Surroundings { main: main_target, named, ..Surroundings::default() };
            assert_eq!(surroundings.has_database_here(&plan), expected, "{main:?} {copy:?}");
        };
        check(DatabaseLocation::Elsewhere, DatabaseLocation::ThisHost, Some(true));
        check(DatabaseLocation::Inside, DatabaseLocation::Unknown, Some(true));
        check(DatabaseLocation::Elsewhere, DatabaseLocation::Elsewhere, Some(false));
        check(DatabaseLocation::Elsewhere, DatabaseLocation::Unknown, Some(false));
        check(DatabaseLocation::Unknown, DatabaseLocation::Unknown, None);
    }
}
