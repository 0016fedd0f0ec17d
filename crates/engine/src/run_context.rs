//! The context that all lanes and phases of one run share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use archive::FileHealth;
use base::{ById, WallTime};
use workload::{JobId, Plan};

use crate::events::Listener;
use crate::feed::InputFiles;
use crate::options::JobExamples;
use crate::parts::Parts;
use crate::rules::Rules;
use crate::stop::Stop;
use crate::targets::Drivers;

/// The context of one run. Clones share its contents.
#[derive(Clone)]
pub(crate) struct RunContext<D> {
    pub(crate) plan: Arc<Plan>,
    pub(crate) drivers: Drivers<D>,
    /// The parts of each job, with their statements.
    pub(crate) parts: Arc<ById<JobId, Arc<Parts>>>,
    /// The run's wall-clock start, the origin of the values of `timestamp()`.
    pub(crate) started: WallTime,
    /// The files from which jobs take their input.
    pub(crate) feeds: InputFiles,
    /// The rules of measurement.
    pub(crate) rules: Rules,
    /// True if the loaded tables are shown to the listener.
    pub(crate) shows_tables: bool,
    /// The examples whose results are shown with tables that the run has filled.
    pub(crate) examples: Arc<[JobExamples]>,
    pub(crate) stop: Stop,
    pub(crate) listener: Arc<dyn Listener>,
    /// Health of the files that jobs read and write.
    pub(crate) files: FileHealth,
    /// True if the server's statistics could be read before the lanes began.
    pub(crate) has_server_stats: Arc<AtomicBool>,
}
