//! The conformance suite, run against any server: `cargo test -p driver --features servers --test
//! servers -- URL`.
//!
//! The URL is a `testbed:` URL or the URL of a server whose user has all privileges. Each failed
//! case is printed with its reason, then one line with the server's version and the numbers of
//! passed and of all cases. Part of `make test-servers`, and not of `make test`, because the
//! available servers depend on the machine.

#[expect(dead_code, reason = "only the fixtures of servers are used here")]
mod fixtures;

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use base::{Target, TargetKind};
use driver::conformance::{self, Fixture, Verdict, in_real_time};
use driver::{Connection, Driver, conformance_cases, conformance_storage_cases};
use testbed::Rights;

use crate::fixtures::{MariadbFixture, PostgresFixture};

/// Runs each case with a fixture of its own.
macro_rules! runs {
    ([$tally:ident $fixture:expr] $($case:ident)*) => {
        $($tally.add(stringify!($case), || in_real_time(&$fixture, conformance::$case));)*
    };
}

/// Counts of the cases that were run.
#[derive(Default)]
struct Tally {
    passed: u32,
    failed: u32,
}

impl Tally {
    fn add(&mut self, case: &str, run: impl FnOnce() -> Verdict) {
        // A fixture panics if the server refuses a feature that the fixture needs.
        let verdict = catch_unwind(AssertUnwindSafe(run));
        let why = match verdict {
            Ok(Ok(())) => {
                self.passed += 1;
                return;
            }
            Ok(Err(finding)) => finding.to_string(),
            Err(panic) => {
                panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".to_owned())
            }
        };
        self.failed += 1;
        say(&format!("failed {case}: {why}"));
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url] = arguments.as_slice() else {
        say("usage: cargo test -p driver --features servers --test servers -- URL");
        return ExitCode::from(2);
    };
    match conformance_of(url) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            say(&format!("error: {why}"));
            ExitCode::from(2)
        }
    }
}

/// Runs the suite; returns true if all cases pass.
fn conformance_of(url: &str) -> Result<bool, String> {
    let target = Target::parse(url).map_err(|error| error.to_string())?;
    let (_server, target) = match target.kind {
        TargetKind::Testbed => {
            let (server, reached) =
                testbed::start_with(&target, Rights::All).map_err(|problem| problem.to_string())?;
            (Some(server), reached)
        }
        _ => (None, target),
    };
    let mut tally = Tally::default();
    let version = match target.kind {
        TargetKind::Postgres => {
            conformance_cases!(runs tally PostgresFixture::at(&target));
            conformance_storage_cases!(runs tally PostgresFixture::at(&target));
            version_of(&PostgresFixture::at(&target))
        }
        TargetKind::Mysql => {
            conformance_cases!(runs tally MariadbFixture::at(&target));
            conformance_storage_cases!(runs tally MariadbFixture::at(&target));
            version_of(&MariadbFixture::at(&target))
        }
        _ => return Err(format!("the suite needs the URL of a server, found {url}")),
    };
    let Tally { passed, failed } = tally;
    say(&format!("conformance: {passed} of {}, server: {version}", passed + failed));
    Ok(failed == 0)
}

/// Returns the version reported by the server.
fn version_of(fixture: &impl Fixture) -> String {
    let driver = fixture.driver();
    let asked = rt::run_real(&rt::Options::default(), async |rt| {
        let mut connection = driver.connect(&rt).await.ok()?;
        let version = connection.query_text("select version()").await.ok()?;
        connection.close().await;
        version.single().map(str::to_owned)
    });
    asked.ok().flatten().unwrap_or_else(|| "unknown".to_owned())
}

fn say(line: &str) {
    // An error here could not be reported either.
    let _ = writeln!(std::io::stdout(), "{line}");
}
