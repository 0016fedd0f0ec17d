//! The `doctor`: examines the machine and, if a target is given, servers for conditions that would
//! distort a run.
//!
//! The machine is examined before Assay starts any server, because a private server that is
//! starting would make the machine look busy.

use std::path::{Path, PathBuf};

use analyze::doctor::{Diagnosis, DoctorInput, Lateness, Server, UnreachedServer, judge};
use base::{Class, Code, Endpoint, HostPort, Target};
use driver::{AnyDriver, Connection, Driver};
use engine::{Options, Prepare};
use observe::environment::{self, Root, network};
use observe::processors;
use rt::{Rt, run_real};
use workload::Overrides;

use crate::error::Error;
use crate::sleeps::lateness;
use crate::stage::{OpenError, Stage};
use crate::target::SimulatedRun;

/// Number of sleeps of 1 ms that are timed; they take 0.3 s.
const SLEEP_COUNT: usize = 300;

/// The result of an examination.
#[derive(Clone, Debug, PartialEq)]
pub struct Examination {
    /// The facts that were found about the machine and the servers.
    pub input: DoctorInput,
    /// The judgement of these facts.
    pub diagnosis: Diagnosis,
}

/// Examines this machine, in about 0.4 s, and, if a target is given, each of its servers.
///
/// # Errors
/// The target cannot be used: no driver can be created for it, or its private server cannot be
/// started.
pub fn examine(target: Option<&Target>) -> Result<Examination, Error> {
    let root = Root::system();
    let folder = Path::new(".").canonicalize().unwrap_or_else(|_| PathBuf::from("/"));
    let host = environment::read(&root, &folder);
    let mut timer = None;
    let processors = processors::measure_during(&root, || {
        timer = lateness(SLEEP_COUNT).ok().and_then(Lateness::of);
    });
    let (mut servers, mut unreached) = (Vec::new(), Vec::new());
    for (host, target) in target.into_iter().flat_map(apart) {
        match read_server(&target) {
            Ok(server) => servers.push(Server { host, ..server }),
            Err(OpenError::Unreachable(error)) => {
                unreached.push(UnreachedServer { host, reason: error.to_string() });
            }
            Err(OpenError::Refused(error)) => return Err(error),
        }
    }
    let input = DoctorInput { host, processors, timer, servers, unreached };
    let diagnosis = judge(&input);
    Ok(Examination { input, diagnosis })
}

/// Returns a target for each server of a target, with the host and port of the server. If the
/// target has only one server, returns the target itself, without a host and port.
fn apart(target: &Target) -> Vec<(Option<String>, Target)> {
    let addresses = match &target.endpoint {
        Endpoint::Network { addresses, .. } => addresses.as_slice(),
        Endpoint::Temporary | Endpoint::File(_) | Endpoint::Named(_) => &[],
    };
    if addresses.len() < 2 {
        return vec![(None, target.clone())];
    }
    let of_host = |address: &HostPort| {
        let mut one = target.clone();
        if let Endpoint::Network { addresses, .. } = &mut one.endpoint {
            *addresses = vec![address.clone()];
        }
        (Some(address.to_string()), one)
    };
    addresses.iter().map(of_host).collect()
}

/// Connects to a server and reads its settings; changes nothing there.
fn read_server(target: &Target) -> Result<Server, OpenError> {
    let (plan, _) = workload::plan("[doctor]\nquery = select 1\n", &Overrides::default());
    let plan = plan.expect("a plan of one statement");
    // A database file that does not exist must not be created, unless the database is temporary.
    let is_temporary = target.endpoint == Endpoint::Temporary;
    let prepare = if is_temporary { Prepare::Fresh } else { Prepare::Keep };
    let options = Options { prepare, ..Options::in_real_time() };
    let stage = Stage::open(&plan, target, &options)?;
    let targets = stage.resolved_targets().iter();
    let network = targets.flat_map(|resolved| network::read(&resolved.target)).collect();
    let driver = stage.drivers(&plan, SimulatedRun::only(&plan)).main;
    let driver = driver.expect("the plan uses the main target");
    let settings = run_real(&rt::Options::default(), |rt| settings(driver, rt));
    let settings = settings.map_err(|error| {
        driver::Error::new(Class::Disconnect, Code::new("system"), error.to_string())
    });
    let settings = settings
        .and_then(|settings| settings)
        .map_err(|error| OpenError::Unreachable(error.into()))?;
    Ok(Server { host: None, network, settings })
}

async fn settings(driver: AnyDriver, rt: Rt) -> Result<Vec<(String, String)>, driver::Error> {
    let mut connection = driver.connect(&rt).await?;
    let settings = connection.settings().await;
    connection.close().await;
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doctor_examines_the_machine_without_a_server() {
        let examined = examine(None).unwrap();
        assert_eq!((examined.input.servers, examined.input.unreached), (vec![], vec![]));
        assert_eq!(examined.input.timer.unwrap().count, SLEEP_COUNT);
        assert!(examined.input.host.iter().any(|(name, _)| name == "host.kernel"));
    }

    #[test]
    fn each_host_is_a_target_of_its_own() {
        let check = |url: &str, expected: &[(Option<&str>, &str)]| {
            let apart = apart(&Target::parse(url).unwrap());
            let apart: Vec<_> =
                apart.iter().map(|(host, it)| (host.as_deref(), it.to_string())).collect();
            let apart: Vec<_> = apart.iter().map(|(host, url)| (*host, url.as_str())).collect();
            assert_eq!(apart, expected, "{url}");
        };
        check("sim:mm1", &[(None, "sim:mm1")]);
        check("postgres://ann@db1/shop", &[(None, "postgres://ann@db1/shop")]);
        let [one, two] = ["postgres://ann@db1/shop?a=b", "postgres://ann@[::1]:5433/shop?a=b"];
        let expected = [(Some("db1"), one), (Some("[::1]:5433"), two)];
        check("postgres://ann@db1,[::1]:5433/shop?a=b", &expected);
    }

    #[test]
    fn a_database_that_is_not_there_is_not_made() {
        let target = Target::parse("sqlite:no/such/file.db").unwrap();
        assert!(read_server(&target).is_err());
        assert!(!Path::new("no").exists());
        let server = read_server(&Target::parse("sqlite:?synchronous=off").unwrap()).unwrap();
        assert_eq!(server.network, []);
        assert!(server.settings.contains(&("synchronous".to_owned(), "off".to_owned())));
    }
}
