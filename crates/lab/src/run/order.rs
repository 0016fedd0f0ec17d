//! The parameters of a run.

use archive::OpLogPlan;
use base::Target;
use engine::{Options, Stop};
use record::{Excerpt, InputFile, Load};
use workload::Plan;

use crate::calibrate::figures::Calibration;
use crate::record_place::RecordPlace;
use crate::target::SimulatedRun;

/// The parameters of a run: plan, target, options and output files.
pub struct Order {
    /// The plan to execute.
    pub plan: Plan,
    /// The main target. It is neither opened nor recorded if the plan does not use it.
    pub target: Target,
    /// Options of the engine.
    pub options: Options,
    /// The path of the record.
    pub record: RecordPlace,
    /// The op-log, a file with one row per request, if it is requested.
    pub op_log: Option<OpLogPlan>,
    /// The calibration of this machine, if there is one; a run in virtual time ignores it.
    pub calibration: Option<Calibration>,
    /// The name of the workload file.
    pub workload: String,
    /// The files that were read before the run, for its record.
    pub inputs: Vec<InputFile>,
    /// Loads that were executed for this run before it began, for its record.
    pub loads: Vec<Load>,
    /// Excerpts of tables that were filled for this run before it began, for its record.
    pub excerpts: Vec<Excerpt>,
    /// Examples that were executed when the tables were filled, with their results. A result is
    /// recorded if this run has the same example.
    pub results: Vec<ExampleResult>,
    /// A plan whose examples are executed after the load, instead of the examples of the run's own
    /// plan.
    pub examples_of: Option<Plan>,
    /// The command line, rebuilt from the parsed arguments.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// The commit that the program was built from, if known.
    pub commit: Option<String>,
    /// Facts for the record that were measured before the run: names and values. A run in virtual
    /// time ignores them.
    pub facts: Vec<(String, String)>,
    /// The user's label for the run.
    pub label: Option<String>,
    /// If this run is one of several on simulated servers: the seed of the servers, and the
    /// position of this run. `None` for a single run, whose servers have the seed of the plan.
    pub server_seed: Option<SimulatedRun>,
    /// A request to end the run early.
    pub stop: Stop,
}

/// The examples of a job with their results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleResult {
    /// The examples, in the form in which a record holds them.
    pub examples: Excerpt,
    /// The results of these examples.
    pub results: Excerpt,
}

impl Order {
    /// Returns the parameters of a run. There is no op-log, and there are no loads, facts or files
    /// from before the run. The name of the workload, the command and the version are empty.
    pub fn new(plan: Plan, target: Target, options: Options, record: RecordPlace) -> Order {
        Order {
            plan,
            target,
            options,
            record,
            op_log: None,
            calibration: None,
            workload: String::new(),
            inputs: Vec::new(),
            loads: Vec::new(),
            excerpts: Vec::new(),
            results: Vec::new(),
            examples_of: None,
            command: String::new(),
            version: String::new(),
            commit: None,
            facts: Vec::new(),
            label: None,
            server_seed: None,
            stop: Stop::default(),
        }
    }
}
