//! Programs that belong neither to the load generator nor to the database.

/// A program that belongs neither to the load generator nor to the database: all processes of one
/// name.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherProgram {
    /// Name of its processes.
    pub name: String,
    /// Host on which it runs; `None` for the load generator's host.
    pub host: Option<String>,
    /// Mean number of processors that it used.
    pub processors: f64,
    /// Number of its processes in the last sample.
    pub processes: u64,
    /// Identifier of the process that used the most processor time; `None` if it is unknown.
    pub pid: Option<u64>,
}

/// The programs on one host that belong neither to the load generator nor to the database.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherPrograms {
    /// Host; `None` for the load generator's host.
    pub host: Option<String>,
    /// Mean number of processors that these programs used.
    pub used: f64,
    /// Processors of the host.
    pub processors: f64,
    /// Observed programs that used at least a hundredth of a processor, by their use in descending
    /// order.
    pub programs: Vec<OtherProgram>,
}

/// Largest number of programs that are named.
const MOST_NAMED: usize = 3;

impl OtherPrograms {
    /// Returns the few programs that used the most processor time.
    pub fn largest(&self) -> &[OtherProgram] {
        &self.programs[..self.programs.len().min(MOST_NAMED)]
    }

    /// Returns the fraction of the host's processors that these programs used.
    pub fn share(&self) -> f64 {
        self.used / self.processors.max(f64::MIN_POSITIVE)
    }
}
