//! The conformance suite, run against every driver: one test per driver and case.
//!
//! Each case is also run against a driver with a planted fault ([`faulty`]) and must find it.

mod faulty;
mod fixtures;

use driver::conformance::{self, in_real_time, in_virtual_time};
use driver::{conformance_cases, conformance_keeper_cases};

/// Makes a test of each case, in real or in virtual time.
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

/// Makes a test of each case that passes if the case finds the fault planted for it.
macro_rules! finds_the_fault {
    ([$fixture:expr] $($case:ident)*) => {
        $(
            #[test]
            fn $case() {
                let planted = planted_for(stringify!($case));
                let fixture = Faulty::new($fixture, planted.fault);
                let verdict = in_real_time(&fixture, conformance::$case);
                let finding = verdict.expect_err("the case does not see the fault").to_string();
                assert!(finding.contains(planted.found), "another fault is found: {finding}");
            }
        )*
    };
}

mod simulated_in_real_time {
    use super::*;
    use crate::fixtures::Sim;
    conformance_cases!(passes in_real_time Sim::default());
}

mod simulated_in_virtual_time {
    use super::*;
    use crate::fixtures::Sim;
    conformance_cases!(passes in_virtual_time Sim::default());
}

mod sqlite_with_a_write_ahead_log {
    use super::*;
    use crate::fixtures::{Lite, PATIENT};
    conformance_cases!(passes in_real_time Lite::new("wal", PATIENT));
    conformance_keeper_cases!(passes in_real_time Lite::new("wal", PATIENT));
}

mod sqlite_with_a_rollback_journal {
    use super::*;
    use crate::fixtures::{Lite, PATIENT};
    conformance_cases!(passes in_real_time Lite::new("delete", PATIENT));
    conformance_keeper_cases!(passes in_real_time Lite::new("delete", PATIENT));
}

mod postgres_over_tcp {
    use super::*;
    use crate::fixtures::{Pg, Way};
    conformance_cases!(passes in_real_time Pg::new(Way::Tcp));
    conformance_keeper_cases!(passes in_real_time Pg::new(Way::Tcp));
}

mod postgres_over_a_socket {
    use super::*;
    use crate::fixtures::{Pg, Way};
    conformance_cases!(passes in_real_time Pg::new(Way::Socket));
    conformance_keeper_cases!(passes in_real_time Pg::new(Way::Socket));
}

mod postgres_over_tls {
    use super::*;
    use crate::fixtures::{Pg, Way};
    conformance_cases!(passes in_real_time Pg::new(Way::Tls));
    conformance_keeper_cases!(passes in_real_time Pg::new(Way::Tls));
}

mod mariadb_over_tcp {
    use super::*;
    use crate::fixtures::{Maria, Way};
    conformance_cases!(passes in_real_time Maria::new(Way::Tcp));
    conformance_keeper_cases!(passes in_real_time Maria::new(Way::Tcp));
}

mod mariadb_over_a_socket {
    use super::*;
    use crate::fixtures::{Maria, Way};
    conformance_cases!(passes in_real_time Maria::new(Way::Socket));
    conformance_keeper_cases!(passes in_real_time Maria::new(Way::Socket));
}

mod mariadb_over_tls {
    use super::*;
    use crate::fixtures::{Maria, Way};
    conformance_cases!(passes in_real_time Maria::new(Way::Tls));
    conformance_keeper_cases!(passes in_real_time Maria::new(Way::Tls));
}

mod either_kind_simulated {
    use super::*;
    use crate::fixtures::{OneOf, Sim};
    conformance_cases!(passes in_virtual_time OneOf::Sim(Sim::default()));
}

mod either_kind_sqlite {
    use super::*;
    use crate::fixtures::{Lite, OneOf, PATIENT};
    conformance_cases!(passes in_real_time OneOf::Lite(Lite::new("wal", PATIENT)));
    conformance_keeper_cases!(passes in_real_time OneOf::Lite(Lite::new("wal", PATIENT)));
}

mod planted_fault {
    use super::*;
    use crate::faulty::{Faulty, planted_for};
    use crate::fixtures::{LESS_PATIENT, Lite, Sim};
    conformance_cases!(finds_the_fault Sim::default());
    conformance_keeper_cases!(finds_the_fault Lite::new("wal", LESS_PATIENT));
}
