//! The names of the components that may limit a result.

/// The bottleneck of a run: the component that must become faster, larger or less loaded for a
/// better result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// Nothing: every job with a schedule achieved its offered rate, and the other jobs sent few
    /// requests.
    NotSaturated,
    /// Number of concurrent requests: each resource has time to spare.
    Concurrency,
    /// Number of connections, of the database or of a pool.
    Connections,
    /// Processor time for the load generator.
    GeneratorCpu,
    /// A thread of the load generator that is busy all the time.
    GeneratorThread,
    /// Input of the load generator: the source of its requests is slow, or the program that sends
    /// them pauses.
    GeneratorInput,
    /// Bandwidth between the load generator and the database.
    NetworkBandwidth,
    /// Latency between the load generator and the database.
    NetworkLatency,
    /// Processors of the database.
    DatabaseCpu,
    /// One processor of the database, while others idle.
    DatabaseSingleCore,
    /// Locks inside the database.
    DatabaseLocks,
    /// Flushing of commits to durable storage.
    DatabaseFlush,
    /// Reads from and writes to the disks of the database.
    DatabaseDisk,
    /// Memory of the database host.
    DatabaseMemory,
    /// Work that no request caused.
    BackgroundTask,
    /// Programs that are neither the load generator nor the database.
    OtherPrograms,
    /// Limit of a control group.
    Cgroup,
    /// Program between the load generator and the database.
    Proxy,
    /// Unknown.
    Unknown,
}

impl Component {
    /// All components.
    pub const ALL: [Component; 19] = [
        Component::NotSaturated,
        Component::Concurrency,
        Component::Connections,
        Component::GeneratorCpu,
        Component::GeneratorThread,
        Component::NetworkBandwidth,
        Component::NetworkLatency,
        Component::DatabaseCpu,
        Component::DatabaseSingleCore,
        Component::DatabaseLocks,
        Component::DatabaseFlush,
        Component::DatabaseDisk,
        Component::DatabaseMemory,
        Component::BackgroundTask,
        Component::OtherPrograms,
        Component::Cgroup,
        Component::Proxy,
        Component::GeneratorInput,
        Component::Unknown,
    ];

    /// Returns the word for this component in records and documents.
    pub fn name(self) -> &'static str {
        match self {
            Component::NotSaturated => "not-saturated",
            Component::Concurrency => "concurrency",
            Component::Connections => "connections",
            Component::GeneratorCpu => "generator-cpu",
            Component::GeneratorThread => "generator-thread",
            Component::GeneratorInput => "generator-input",
            Component::NetworkBandwidth => "network-bandwidth",
            Component::NetworkLatency => "network-latency",
            Component::DatabaseCpu => "database-cpu",
            Component::DatabaseSingleCore => "database-single-core",
            Component::DatabaseLocks => "database-locks",
            Component::DatabaseFlush => "database-flush",
            Component::DatabaseDisk => "database-disk",
            Component::DatabaseMemory => "database-memory",
            Component::BackgroundTask => "background-task",
            Component::OtherPrograms => "other-programs",
            Component::Cgroup => "cgroup",
            Component::Proxy => "proxy",
            Component::Unknown => "unknown",
        }
    }

    /// Returns true if there is a limiter and it is known.
    pub fn is_known(self) -> bool {
        !matches!(self, Component::NotSaturated | Component::Unknown)
    }

    /// Returns the most frequent of several components, the first of equally frequent ones; `None`
    /// if there are none.
    pub fn most_frequent(all: &[Component]) -> Option<Component> {
        let count = |of: Component| all.iter().filter(|other| **other == of).count();
        // `max_by_key` returns the last of several maxima.
        all.iter().rev().copied().max_by_key(|one| count(*one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn component_names_are_unique() {
        for (place, one) in Component::ALL.iter().enumerate() {
            assert!(Component::ALL[place + 1..].iter().all(|other| other.name() != one.name()));
        }
    }

    #[test]
    fn first_of_equally_frequent_components_is_the_most_frequent() {
        use Component::{DatabaseCpu, DatabaseFlush, DatabaseLocks};
        let tie = [DatabaseLocks, DatabaseFlush, DatabaseCpu, DatabaseCpu, DatabaseFlush];
        assert_eq!(Component::most_frequent(&tie), Some(DatabaseFlush));
        assert_eq!(Component::most_frequent(&tie[..4]), Some(DatabaseCpu));
        assert_eq!(Component::most_frequent(&[]), None);
    }
}
