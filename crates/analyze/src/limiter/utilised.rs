//! Components whose use is observed, as a fraction of their capacity.

use record::ObservedComponent;

/// A component with an observed utilisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UtilisedComponent {
    /// The load generator's busiest thread.
    GeneratorThread,
    /// The processors that the database may use.
    DatabaseProcessors,
    /// The database's busiest thread.
    DatabaseThread,
    /// All processors of a machine.
    Processors {
        /// The machine; `None` for the load generator's.
        host: Option<String>,
    },
    /// The time in which a task lacked memory on a machine.
    MemoryPressure {
        /// The machine; `None` for the load generator's.
        host: Option<String>,
    },
    /// The busiest disk.
    Disk(ObservedComponent),
}
