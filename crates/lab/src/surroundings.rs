//! The surroundings of a run: host, network and calibration, written to and read from its record.

use std::path::Path;

use analyze::{DatabaseLocation, Route, Surroundings, UsedTarget};
use base::{Endpoint, Target, TargetKind};
use observe::environment::{self, Root};
use record::environment::{NetworkPath, UNKNOWN, generator, known, network, network_of_target};
use record::{Header, Pace};
use workload::Plan;

use crate::calibrate::facts;
use crate::target::ResolvedTarget;

/// Reads the facts of this machine and of the network path to each server. `record` is the path at
/// which the record will be created.
pub(crate) fn read(record: &Path, reached: &[ResolvedTarget]) -> Vec<(String, String)> {
    let mut facts = environment::read(&Root::system(), &folder_of(record));
    for ResolvedTarget { name, target } in reached {
        facts.extend(environment::network::read(target).into_iter().map(
            |(fact, value)| match name {
                None => (fact, value),
                Some(name) => (network_of_target(&fact, name), value),
            },
        ));
    }
    facts
}

/// Returns the surroundings that a record reports; empty for a run in virtual time.
pub(crate) fn of_run(header: &Header, plan: &Plan, settings: &[(String, String)]) -> Surroundings {
    if header.pace == Pace::Virtual {
        return Surroundings::default();
    }
    let main = Target::parse(&header.target.to_string()).ok();
    let path = |fact: &str| known(settings, fact).map(str::to_owned);
    let named = plan.targets.iter().map(|target| {
        let path = path(&network_of_target(network::PATH, &target.name));
        used_target(&target.target, path.as_deref())
    });
    Surroundings {
        main: main.map_or_else(UsedTarget::default, |main| {
            used_target(&main, path(network::PATH).as_deref())
        }),
        named: named.collect(),
        calibration: facts::read(settings),
        varies_servers: known(settings, generator::VARIES_SERVERS).is_some(),
    }
}

/// Returns the route to a target and its location; `path` is the network path to its servers, if
/// known.
fn used_target(target: &Target, path: Option<&str>) -> UsedTarget {
    let of_servers = || path.map_or(DatabaseLocation::Unknown, location_of);
    let named = |name: &str| target.endpoint == Endpoint::Named(name.to_owned());
    let (route, location) = match target.kind {
        TargetKind::Sqlite => (Some(Route::Sqlite), DatabaseLocation::Inside),
        TargetKind::Sim => (named("null").then_some(Route::Null), DatabaseLocation::Unknown),
        TargetKind::Postgres => (Some(Route::Postgres), of_servers()),
        TargetKind::Mysql => (Some(Route::Mysql), of_servers()),
        TargetKind::Testbed if named("postgres") => {
            (Some(Route::Postgres), DatabaseLocation::ThisHost)
        }
        TargetKind::Testbed => (Some(Route::Mysql), DatabaseLocation::ThisHost),
    };
    UsedTarget { route, location }
}

/// Returns the location of a target's servers, given the paths to them: `ThisHost` if at least one
/// server is on this host.
fn location_of(paths: &str) -> DatabaseLocation {
    let is = |name: &str, is_here: bool| {
        NetworkPath::ALL.iter().any(|path| path.name() == name && path.is_here() == is_here)
    };
    match paths {
        _ if paths.split(", ").any(|path| is(path, true)) => DatabaseLocation::ThisHost,
        _ if paths.split(", ").all(|path| path != UNKNOWN && is(path, false)) => {
            DatabaseLocation::Elsewhere
        }
        _ => DatabaseLocation::Unknown,
    }
}

/// Returns the absolute folder of a file, or the folder as written if it cannot be resolved.
fn folder_of(file: &Path) -> std::path::PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_path_is_recorded_per_target() {
        let reached = |name: Option<&str>, url: &str| {
            let target = Target::parse(url).unwrap();
            ResolvedTarget { name: name.map(str::to_owned), target }
        };
        let all = [
            reached(None, "postgres://127.0.0.1/d"),
            reached(Some("copy"), "mysql://h/d?socket=/run/s"),
            reached(Some("file"), "sqlite:a.db"),
        ];
        let facts = read(Path::new("no/such/folder/r.assay"), &all);
        let found = |name: &str| known(&facts, name);
        assert_eq!(found("network.path"), Some("loopback"));
        assert_eq!(found("network.copy.path"), Some("socket"));
        assert_eq!(found("network.copy.round_trip_us"), Some("none"));
        assert_eq!(found("network.file.path"), None);
        assert!(found("host.kernel").is_some());
    }

    #[test]
    fn target_location_follows_url_and_network_path() {
        let check =
            |url: &str, path: Option<&str>, route: Option<Route>, location: DatabaseLocation| {
                let found = used_target(&Target::parse(url).unwrap(), path);
                assert_eq!(found, UsedTarget { route, location }, "{url} {path:?}");
            };
        check("sqlite:a.db", None, Some(Route::Sqlite), DatabaseLocation::Inside);
        check("sim:null", None, Some(Route::Null), DatabaseLocation::Unknown);
        check("sim:mm1", None, None, DatabaseLocation::Unknown);
        check("testbed:postgres", None, Some(Route::Postgres), DatabaseLocation::ThisHost);
        check(
            "testbed:mariadb?via=none",
            Some("loopback"),
            Some(Route::Mysql),
            DatabaseLocation::ThisHost,
        );
        let postgres =
            |path, location| check("postgres://h/d", path, Some(Route::Postgres), location);
        postgres(Some("socket"), DatabaseLocation::ThisHost);
        postgres(Some("same host"), DatabaseLocation::ThisHost);
        postgres(Some("remote IPv4"), DatabaseLocation::Elsewhere);
        postgres(Some("remote IPv4, loopback"), DatabaseLocation::ThisHost);
        postgres(Some("remote IPv4, unknown"), DatabaseLocation::Unknown);
        postgres(Some("unknown"), DatabaseLocation::Unknown);
        postgres(Some("something of a later version"), DatabaseLocation::Unknown);
        postgres(None, DatabaseLocation::Unknown);
        check("mysql://h/d", Some("remote IPv6"), Some(Route::Mysql), DatabaseLocation::Elsewhere);
    }

    #[test]
    fn record_folder_is_absolute() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        for file in ["r.assay", "./r.assay"] {
            assert_eq!(folder_of(Path::new(file)), here);
        }
        assert_eq!(folder_of(Path::new("/none-there/r")), Path::new("/none-there"));
    }
}
