//! What here would spoil a run? Looks at the machine and at a server, and has it judged.
//!
//! The machine is looked at first, while nothing of ours is at work: a private server that starts
//! would be found to make the machine busy.

use std::fmt;
use std::path::{Path, PathBuf};

use base::{Class, Code, Endpoint, Target};
use driver::{Connection, Driver};
use engine::{Drivers, Options};
use observe::doctor::{Diagnosis, Lateness, Server, Surroundings, judge, watch};
use observe::environment::{self, Root, network};
use rt::{Rt, run_real};
use workload::Overrides;

use crate::experiment::Error;
use crate::sleeps::lateness;
use crate::target::{Reached, WithDrivers, with_drivers};

/// How many sleeps there are: 0.3 s.
const SLEEPS: usize = 300;

/// Why a server could not be looked at.
#[derive(Debug)]
pub enum Unexamined {
    /// There can be no driver for its URL.
    Error(Error),
    /// It cannot be reached.
    Unreachable(driver::Error),
}

impl fmt::Display for Unexamined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unexamined::Error(error) => error.fmt(f),
            Unexamined::Unreachable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unexamined {}

/// What was looked at, and what was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Examined {
    /// What there is.
    pub surroundings: Surroundings,
    /// What is to be said of it.
    pub diagnosis: Diagnosis,
}

/// Looks at this machine and, if one is named, at a server. Takes about 0.3 s.
///
/// # Errors
/// There can be no driver for the target, or it cannot be reached.
pub fn examine(target: Option<&Target>) -> Result<Examined, Unexamined> {
    let root = Root::system();
    let folder = Path::new(".").canonicalize().unwrap_or_else(|_| PathBuf::from("/"));
    let host = environment::read(&root, &folder);
    let mut timer = None;
    let processors = watch(&root, || timer = lateness(SLEEPS).ok().and_then(Lateness::of));
    let server = target.map(look_at).transpose()?;
    let surroundings = Surroundings { host, processors, timer, server };
    let diagnosis = judge(&surroundings);
    Ok(Examined { surroundings, diagnosis })
}

/// Connects to a server and reads its settings. Nothing is changed there.
fn look_at(target: &Target) -> Result<Server, Unexamined> {
    let (plan, _) = workload::plan("[doctor]\nquery = select 1\n", &Overrides::default());
    let plan = plan.expect("a plan of one statement");
    // A file that is not there is not made, but for one that is removed again.
    let loaded = target.endpoint != Endpoint::Temporary;
    let options = Options { loaded, ..Options::in_real_time() };
    let looked = with_drivers(&plan, target, &options, Looking).map_err(Unexamined::Error)?;
    looked.map_err(Unexamined::Unreachable)
}

struct Looking;

impl WithDrivers for Looking {
    type Output = Result<Server, driver::Error>;

    fn call<D: Driver>(self, drivers: Drivers<D>, reached: Vec<Reached>) -> Self::Output {
        let network = reached.iter().flat_map(|reached| network::read(&reached.target)).collect();
        let driver = drivers.main.expect("the plan asks the main target");
        let settings = run_real(&rt::Options::default(), |rt| settings(driver, rt));
        let settings = settings.map_err(|error| {
            driver::Error::new(Class::Disconnect, Code::new("system"), error.to_string())
        })??;
        Ok(Server { network, settings })
    }

    fn unreachable(self, error: driver::Error) -> Self::Output {
        Err(error)
    }
}

async fn settings<D: Driver>(driver: D, rt: Rt) -> Result<Vec<(String, String)>, driver::Error> {
    let mut connection = driver.connect(&rt).await?;
    let settings = connection.settings().await;
    connection.close().await;
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_looked_at_without_a_server() {
        let examined = examine(None).unwrap();
        assert_eq!(examined.surroundings.server, None);
        assert_eq!(examined.surroundings.timer.unwrap().count, SLEEPS);
        assert!(examined.surroundings.host.iter().any(|(name, _)| name == "host.kernel"));
    }

    #[test]
    fn a_database_that_is_not_there_is_not_made() {
        let target = Target::parse("sqlite:no/such/file.db").unwrap();
        assert!(look_at(&target).is_err());
        assert!(!Path::new("no").exists());
        let server = look_at(&Target::parse("sqlite:?synchronous=off").unwrap()).unwrap();
        assert_eq!(server.network, []);
        assert!(server.settings.contains(&("synchronous".to_owned(), "off".to_owned())));
    }
}
