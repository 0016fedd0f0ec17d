//! Conformance suite for the driver traits.
//!
//! The drivers of all databases pass the same suite; the null driver and the driver of programs do
//! not take part. A [`Fixture`] provides the parts that differ between databases: a statement that
//! is rejected, a statement that never ends, a way to lose a connection. A driver whose database
//! stores data also passes the cases for a [`StoringFixture`].
//!
//! A case is a function from a [`CaseContext`] to a [`Verdict`], independent of the test harness:
//! [`in_real_time`] and [`in_virtual_time`] run one. The macros
//! [`conformance_cases!`](crate::conformance_cases) and
//! [`conformance_storage_cases!`](crate::conformance_storage_cases) list the names of the cases; a
//! test binary creates one test from each name.

mod basics;
mod failures;
mod harness;
mod loads;
mod transactions;
mod values;

pub use harness::{CaseContext, Finding, Verdict, in_real_time, in_virtual_time};

use base::Class;

use crate::Driver;

/// The parts of the suite that depend on the database.
pub trait Fixture {
    /// The driver under test.
    type Driver: Driver;

    /// Returns a driver for the fixture's database, the same database at each call.
    fn driver(&self) -> Self::Driver;

    /// Returns a statement that returns this many rows.
    fn returning(&self, rows: u32) -> String;

    /// Returns a statement that the database refuses to prepare.
    fn rejected(&self) -> Refused;

    /// Returns a statement that can be prepared and fails when it is run.
    fn failing(&self) -> Refused;

    /// Returns a statement that takes hours unless it is stopped, and disturbs no other connection.
    fn endless(&self) -> String;

    /// Returns a statement that fails on an open connection, because the connection is lost. Either
    /// the statement ends its own session, or this call has cut off all open connections.
    fn sever(&self) -> String;
}

/// Further parts of the suite that differ between databases, for a database that stores data. The
/// database is empty at first.
pub trait StoringFixture: Fixture {
    /// Returns the type of a column of 64-bit integers.
    fn integer(&self) -> &'static str;

    /// Returns the type of a column of doubles.
    fn real(&self) -> &'static str;

    /// Returns the type of a column for texts of slightly more than a megabyte.
    fn text(&self) -> &'static str;

    /// Returns a driver for the same database with a lock timeout of at most 20 ms.
    fn with_short_lock_timeout(&self) -> Self::Driver;

    /// Returns true if the driver counts waits for locks in a reply.
    fn counts_lock_waits(&self) -> bool;
}

/// A statement that fails, and its expected error.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Text of the statement.
    pub text: String,
    /// Class of the error.
    pub class: Class,
    /// Code of the error.
    pub code: &'static str,
    /// Part of the database's message that the error repeats.
    pub words: &'static str,
}

/// Calls the macro `$then` with `$arguments` in brackets, followed by the names of all cases for
/// every driver. Each name is a function of [`conformance`](crate::conformance).
#[macro_export]
macro_rules! conformance_cases {
    ($then:ident $($arguments:tt)*) => {
        $then! {
            [$($arguments)*]
            a_connection_opens_works_and_closes
            ids_count_from_zero_in_the_order_of_preparation
            the_stamps_lie_within_the_call
            every_statement_has_a_time_and_no_other_step
            rows_are_counted
            statements_with_rows_are_reported
            reply_counts_one_run_only
            a_text_is_run_like_a_statement
            settings_have_the_server_and_each_name_once
            many_connections_work_at_the_same_time
            rejected_statement_leaves_connection_usable
            failing_statement_ends_request_and_leaves_connection_usable
            lost_connection_has_class_disconnect
            abandoned_request_leaves_other_connections_usable
        }
    };
}

/// Calls the macro `$then` like [`conformance_cases!`](crate::conformance_cases), with the cases
/// for drivers whose database stores data.
#[macro_export]
macro_rules! conformance_storage_cases {
    ($then:ident $($arguments:tt)*) => {
        $then! {
            [$($arguments)*]
            values_round_trip
            literals_round_trip
            bytes_are_counted
            requested_rows_are_captured
            affected_rows_are_counted
            placeholders_are_counted_when_prepared
            a_wrong_number_of_values_is_an_error
            two_statements_in_one_text_are_refused
            a_query_as_text_returns_names_and_values
            a_duplicate_key_is_a_violated_constraint
            every_load_method_writes_every_row
            a_load_fills_columns_of_any_name
            a_load_treats_duplicates_as_requested
            refused_load_leaves_connection_usable
            a_load_keeps_the_batches_before_one_that_fails
            an_error_rolls_the_whole_transaction_back
            a_transaction_sent_at_once_is_one_transaction
            transaction_is_visible_after_commit
            writers_wait_for_each_other
            lock_timeout_is_a_conflict
            abandoned_transaction_releases_its_locks
            many_connections_write_at_the_same_time
        }
    };
}

/// Makes the cases public. A case that is missing from its list is dead code, which does not
/// compile.
macro_rules! publish {
    ([$cases:ident: $($module:ident)*] $($case:ident)*) => {
        mod $cases {
            $(pub use super::$module::*;)*
        }
        $(pub use $cases::$case;)*
    };
}

conformance_cases!(publish every: basics failures);
conformance_storage_cases!(publish storing: values transactions loads);
