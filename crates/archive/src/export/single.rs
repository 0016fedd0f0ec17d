//! Export of a single run of an experiment as a record of its own.

use std::fs;
use std::path::Path;

use base::Nanos;
use rusqlite::config::DbConfig;

use crate::create::{attach, create};
use crate::error::{RecordError, RowError};
use crate::reader::Archive;
use crate::{v1, v2};

/// The name under which the record of the experiment is attached.
const ATTACHED: &str = "whole";

/// Writes a run of an experiment into a new record of version 1, with all of its rows.
/// `window_from` is the time from time zero to the start of the window, if a warm-up was detected
/// for all runs of the round together.
///
/// # Errors
/// The record does not belong to an experiment, is damaged or has no such run; or the new record
/// exists or cannot be created.
pub fn single_run(
    experiment: &Path,
    run: u32,
    window_from: Option<Nanos>,
    to: &Path,
) -> Result<(), RecordError> {
    let archive = Archive::open_run(experiment, run)?;
    let mut connection = create(to, v1::VERSION, |_| Ok(()))?;
    let mut copy = || {
        // The experiment's file is untrusted: nothing in its schema is executed.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        attach(&connection, archive.database(), ATTACHED)?;
        let transaction = connection.transaction()?;
        for (_, statement) in v1::statements() {
            transaction.execute_batch(statement)?;
        }
        v2::split(&transaction, ATTACHED, run)?;
        if let Some(window_from) = window_from {
            v1::write_window_from(&transaction, window_from)?;
        }
        Ok(transaction.commit()?)
    };
    copy().map_err(|error: RowError| {
        // A partial record could be mistaken for a complete one.
        let _ = fs::remove_file(to);
        error.into_write_error(to)
    })
}
