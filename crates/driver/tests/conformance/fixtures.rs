//! Fixtures of the suite, one per kind of database.

mod mariadb;
mod postgres;

pub(crate) use mariadb::MariadbFixture;
pub(crate) use postgres::PostgresFixture;

use std::sync::atomic::{AtomicU32, Ordering};

use base::{Class, Endpoint, Nanos, Seed, Target};
use driver::conformance::{Fixture, Refused, StoringFixture};
use driver::{AnyDriver, Connection, Driver, Simulated, Sqlite, Table};
use rt::{Options, run_real};
use sim::Config;
use testbed::{Kind, Server, shared, shared_with_tls};

/// Transport of a connection to a server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Transport {
    Tcp,
    Socket,
    Tls,
}

impl Transport {
    /// Returns the server for this transport.
    fn server(self, kind: Kind) -> &'static Server {
        match self {
            Transport::Tcp | Transport::Socket => shared(kind),
            Transport::Tls => shared_with_tls(kind),
        }
    }

    /// Returns the URL of a server with this transport.
    fn to(self, server: &Server) -> Target {
        match self {
            Transport::Tcp | Transport::Tls => server.url(),
            Transport::Socket => server.url_over_socket(),
        }
    }
}

/// Returns a unique name for a database.
fn new_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("case_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Returns a copy of a URL with another database.
fn of_database(target: &Target, name: &str) -> Target {
    let mut target = target.clone();
    if let Endpoint::Network { database, .. } = &mut target.endpoint {
        *database = Some(name.to_owned());
    }
    target
}

/// Runs statements as the user of a driver, who has all privileges, and returns the result of the
/// last one. Uses a separate thread, because the case that calls it already runs in a runtime.
fn ask<D: Driver>(driver: D, texts: &[&str]) -> Table {
    let run = move || {
        run_real(&Options::default(), async |rt| {
            let mut connection = driver.connect(&rt).await?;
            let mut last = Table::default();
            for text in texts {
                last = connection.query_text(text).await?;
            }
            connection.close().await;
            Ok::<Table, driver::Error>(last)
        })
    };
    let asked = std::thread::scope(|scope| scope.spawn(run).join());
    asked.expect("no panic").expect("the system grants a runtime").expect("answers")
}

/// Returns a copy of a URL with another user who has the same password.
fn as_user(target: &Target, name: &str) -> Target {
    let mut target = target.clone();
    if let Endpoint::Network { user, .. } = &mut target.endpoint {
        *user = Some(name.to_owned());
    }
    target
}

/// A simulated server without contention.
pub(crate) struct SimulatedFixture(Simulated);

impl Default for SimulatedFixture {
    fn default() -> SimulatedFixture {
        let target = Target::parse("sim:mmc?servers=unlimited&service=50us").expect("a URL");
        let config = Config::from_options("mmc", &target.options).expect("options");
        SimulatedFixture(Simulated::new(config, Seed(1)))
    }
}

impl Fixture for SimulatedFixture {
    type Driver = Simulated;

    fn driver(&self) -> Simulated {
        self.0.clone()
    }

    fn returning(&self, rows: u32) -> String {
        format!("select /* sim: rows={rows} */")
    }

    fn rejected(&self) -> Refused {
        Refused {
            text: "select /* sim: reject */".to_owned(),
            class: Class::Statement,
            code: "syntax",
            words: "does not understand `reject`",
        }
    }

    fn failing(&self) -> Refused {
        Refused {
            text: "select /* sim: error=1213 */".to_owned(),
            class: Class::Conflict,
            code: "1213",
            words: "returned an error",
        }
    }

    fn endless(&self) -> String {
        "select /* sim: service=24h */".to_owned()
    }

    fn sever(&self) -> String {
        "select /* sim: disconnect */".to_owned()
    }
}

/// An SQLite database in a temporary file that is not flushed, because the speed of the disk does
/// not matter here.
pub(crate) struct SqliteFixture(Sqlite);

/// Lock timeout that is long enough for every writer to get the lock, however busy the machine is.
pub(crate) const PATIENT: Nanos = Nanos::from_secs(50);

/// Lock timeout of a writer for a lock that is never released.
pub(crate) const LESS_PATIENT: Nanos = Nanos::from_secs(5);

/// Lock timeout of a writer whose wait for a lock is expected to time out.
const IMPATIENT: Nanos = Nanos::from_millis(2);

impl SqliteFixture {
    /// Creates a database with this journal mode and lock timeout.
    pub(crate) fn new(journal: &str, busy_timeout: Nanos) -> SqliteFixture {
        SqliteFixture(open(&Endpoint::Temporary, &format!("journal={journal}"), busy_timeout))
    }
}

fn open(endpoint: &Endpoint, journal: &str, busy_timeout: Nanos) -> Sqlite {
    let url = format!("sqlite:?{journal}&synchronous=off&busy-timeout={busy_timeout}");
    let target = Target { endpoint: endpoint.clone(), ..Target::parse(&url).expect("a URL") };
    Sqlite::open(&target).expect("a database")
}

impl Fixture for SqliteFixture {
    type Driver = Sqlite;

    fn driver(&self) -> Sqlite {
        self.0.clone()
    }

    fn returning(&self, rows: u32) -> String {
        format!(
            "with recursive numbers (n) as \
             (select 1 union all select n + 1 from numbers limit {rows}) select n from numbers"
        )
    }

    fn rejected(&self) -> Refused {
        Refused {
            text: "selec 1".to_owned(),
            class: Class::Statement,
            code: "SQLITE_ERROR",
            words: "near \"selec\": syntax error",
        }
    }

    fn failing(&self) -> Refused {
        Refused {
            text: "select abs(-9223372036854775808)".to_owned(),
            class: Class::Statement,
            code: "SQLITE_ERROR",
            words: "integer overflow",
        }
    }

    fn endless(&self) -> String {
        "with recursive numbers (n) as (select 1 union all select n + 1 from numbers) \
         select count(*) from numbers"
            .to_owned()
    }

    fn sever(&self) -> String {
        let path = self.0.path();
        std::fs::rename(path, path.with_extension("moved")).expect("a file of our own");
        "select 1".to_owned()
    }
}

impl StoringFixture for SqliteFixture {
    fn integer(&self) -> &'static str {
        "bigint"
    }

    fn real(&self) -> &'static str {
        "double precision"
    }

    fn text(&self) -> &'static str {
        "text"
    }

    fn with_short_lock_timeout(&self) -> Sqlite {
        open(&Endpoint::File(self.0.path().to_owned()), "", IMPATIENT)
    }

    fn counts_lock_waits(&self) -> bool {
        true
    }
}

/// A fixture of one kind of database whose driver is an [`AnyDriver`], as in a run with targets of
/// several kinds.
pub(crate) enum MixedFixture {
    SimulatedFixture(SimulatedFixture),
    SqliteFixture(SqliteFixture),
}

impl MixedFixture {
    fn ask<T>(
        &self,
        sim: impl FnOnce(&SimulatedFixture) -> T,
        lite: impl FnOnce(&SqliteFixture) -> T,
    ) -> T {
        match self {
            MixedFixture::SimulatedFixture(fixture) => sim(fixture),
            MixedFixture::SqliteFixture(fixture) => lite(fixture),
        }
    }

    fn lite(&self) -> &SqliteFixture {
        match self {
            MixedFixture::SqliteFixture(fixture) => fixture,
            MixedFixture::SimulatedFixture(_) => panic!("a simulated server keeps no data"),
        }
    }
}

impl Fixture for MixedFixture {
    type Driver = AnyDriver;

    fn driver(&self) -> Self::Driver {
        self.ask(|sim| sim.driver().into(), |lite| lite.driver().into())
    }

    fn returning(&self, rows: u32) -> String {
        self.ask(|sim| sim.returning(rows), |lite| lite.returning(rows))
    }

    fn rejected(&self) -> Refused {
        self.ask(SimulatedFixture::rejected, SqliteFixture::rejected)
    }

    fn failing(&self) -> Refused {
        self.ask(SimulatedFixture::failing, SqliteFixture::failing)
    }

    fn endless(&self) -> String {
        self.ask(SimulatedFixture::endless, SqliteFixture::endless)
    }

    fn sever(&self) -> String {
        self.ask(SimulatedFixture::sever, SqliteFixture::sever)
    }
}

impl StoringFixture for MixedFixture {
    fn integer(&self) -> &'static str {
        self.lite().integer()
    }

    fn real(&self) -> &'static str {
        self.lite().real()
    }

    fn text(&self) -> &'static str {
        self.lite().text()
    }

    fn with_short_lock_timeout(&self) -> Self::Driver {
        self.lite().with_short_lock_timeout().into()
    }

    fn counts_lock_waits(&self) -> bool {
        self.lite().counts_lock_waits()
    }
}
