//! The conformance suite, run against the driver of every database: one test per driver and case.
//!
//! Each case is also run against a driver with a planted fault ([`faulty`]) and must find it.

mod faulty;
mod fixtures;

use driver::conformance::{self, in_real_time, in_virtual_time};
use driver::{conformance_cases, conformance_storage_cases};

/// Creates a test for each case, in real or in virtual time.
macro_rules! passes {
    ([$run:ident $fixture:expr] $($case:ident)*) => {
        $(
            #[test]
            fn $case() {
                if let Err(finding) = $run(&$fixture, conformance::$case) {
                    panic!("{finding}");
                }
            }
        )*
    };
}

/// Creates a test for each case. The test passes if the case finds the fault planted for it.
macro_rules! finds_the_fault {
    ([$fixture:expr] $($case:ident)*) => {
        $(
            #[test]
            fn $case() {
                let planted = planted_for(stringify!($case));
                let fixture = FaultyFixture::new($fixture, planted.fault);
                let verdict = in_real_time(&fixture, conformance::$case);
                let finding = verdict.expect_err("the case does not see the fault").to_string();
                assert!(finding.contains(planted.found), "another fault is found: {finding}");
            }
        )*
    };
}

mod simulated_in_real_time {
    use super::*;
    use crate::fixtures::SimulatedFixture;
    conformance_cases!(passes in_real_time SimulatedFixture::default());
}

mod simulated_in_virtual_time {
    use super::*;
    use crate::fixtures::SimulatedFixture;
    conformance_cases!(passes in_virtual_time SimulatedFixture::default());
}

mod sqlite_with_a_write_ahead_log {
    use super::*;
    use crate::fixtures::{PATIENT, SqliteFixture};
    conformance_cases!(passes in_real_time SqliteFixture::new("wal", PATIENT));
    conformance_storage_cases!(passes in_real_time SqliteFixture::new("wal", PATIENT));
}

mod sqlite_with_a_rollback_journal {
    use super::*;
    use crate::fixtures::{PATIENT, SqliteFixture};
    conformance_cases!(passes in_real_time SqliteFixture::new("delete", PATIENT));
    conformance_storage_cases!(passes in_real_time SqliteFixture::new("delete", PATIENT));
}

mod postgres_over_tcp {
    use super::*;
    use crate::fixtures::{PostgresFixture, Transport};
    conformance_cases!(passes in_real_time PostgresFixture::new(Transport::Tcp));
    conformance_storage_cases!(passes in_real_time PostgresFixture::new(Transport::Tcp));
}

mod postgres_over_a_socket {
    use super::*;
    use crate::fixtures::{PostgresFixture, Transport};
    conformance_cases!(passes in_real_time PostgresFixture::new(Transport::Socket));
    conformance_storage_cases!(passes in_real_time PostgresFixture::new(Transport::Socket));
}

mod postgres_over_tls {
    use super::*;
    use crate::fixtures::{PostgresFixture, Transport};
    conformance_cases!(passes in_real_time PostgresFixture::new(Transport::Tls));
    conformance_storage_cases!(passes in_real_time PostgresFixture::new(Transport::Tls));
}

mod mariadb_over_tcp {
    use super::*;
    use crate::fixtures::{MariadbFixture, Transport};
    conformance_cases!(passes in_real_time MariadbFixture::new(Transport::Tcp));
    conformance_storage_cases!(passes in_real_time MariadbFixture::new(Transport::Tcp));
}

mod mariadb_over_a_socket {
    use super::*;
    use crate::fixtures::{MariadbFixture, Transport};
    conformance_cases!(passes in_real_time MariadbFixture::new(Transport::Socket));
    conformance_storage_cases!(passes in_real_time MariadbFixture::new(Transport::Socket));
}

mod mariadb_over_tls {
    use super::*;
    use crate::fixtures::{MariadbFixture, Transport};
    conformance_cases!(passes in_real_time MariadbFixture::new(Transport::Tls));
    conformance_storage_cases!(passes in_real_time MariadbFixture::new(Transport::Tls));
}

mod either_kind_simulated {
    use super::*;
    use crate::fixtures::{MixedFixture, SimulatedFixture};
    conformance_cases!(
        passes in_virtual_time MixedFixture::SimulatedFixture(SimulatedFixture::default())
    );
}

mod either_kind_sqlite {
    use super::*;
    use crate::fixtures::{MixedFixture, PATIENT, SqliteFixture};
    conformance_cases!(
        passes in_real_time MixedFixture::SqliteFixture(SqliteFixture::new("wal", PATIENT))
    );
    conformance_storage_cases!(
        passes in_real_time MixedFixture::SqliteFixture(SqliteFixture::new("wal", PATIENT))
    );
}

mod planted_fault {
    use super::*;
    use crate::faulty::{FaultyFixture, planted_for};
    use crate::fixtures::{LESS_PATIENT, SimulatedFixture, SqliteFixture};
    conformance_cases!(finds_the_fault SimulatedFixture::default());
    conformance_storage_cases!(finds_the_fault SqliteFixture::new("wal", LESS_PATIENT));
}
