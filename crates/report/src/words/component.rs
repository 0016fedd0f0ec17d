//! Words for the components that may limit a result.

use analyze::{Component, UtilisedComponent};

/// Returns the name of a component with an observed utilisation.
pub(crate) fn utilised_name(component: &UtilisedComponent) -> String {
    let machine = |host: &Option<String>| host.clone().unwrap_or("the machine".to_owned());
    match component {
        UtilisedComponent::GeneratorThread => "load generator's busiest thread".to_owned(),
        UtilisedComponent::DatabaseProcessors => "processors of the database".to_owned(),
        UtilisedComponent::DatabaseThread => "database's busiest thread".to_owned(),
        UtilisedComponent::Processors { host } => format!("processors of {}", machine(host)),
        UtilisedComponent::MemoryPressure { host } => {
            format!("memory pressure of {}", machine(host))
        }
        UtilisedComponent::Disk(disk) => disk.to_string(),
    }
}

/// Returns the limiter as the beginning of a sentence.
pub(crate) fn limiter_lead(component: Component) -> &'static str {
    match component {
        Component::NotSaturated => "Throughput not limited",
        Component::Concurrency => "The number of clients limited the result",
        Component::Connections => "The number of connections limited the result",
        Component::GeneratorCpu => "The load generator lacked a processor",
        Component::GeneratorThread => "The load generator limited the result",
        Component::GeneratorInput => "The source of the requests limited the result",
        Component::NetworkBandwidth => "The bandwidth of the network limited the result",
        Component::NetworkLatency => "The latency of the network limited the result",
        Component::DatabaseCpu => "The processors of the database limited the result",
        Component::DatabaseSingleCore => "One processor of the database limited the result",
        Component::DatabaseLocks => "Locks of the database limited the result",
        Component::DatabaseFlush => "Flushing commits limited the result",
        Component::DatabaseDisk => "The disks of the database limited the result",
        Component::DatabaseMemory => "The memory of the database limited the result",
        Component::BackgroundTask => "Work in the background limited the result",
        Component::OtherPrograms => "Other programs limited the result",
        Component::Cgroup => "A limit of a control group limited the result",
        Component::Proxy => "The proxy limited the result",
        Component::Unknown => "The limiter is unknown",
    }
}

/// Returns an action that would raise the limit; `None` if nothing limits, or the limiter is
/// unknown.
pub(crate) fn relief(component: Component) -> Option<&'static str> {
    match component {
        Component::NotSaturated | Component::Unknown => None,
        Component::Concurrency => Some("more clients (`concurrency`) would raise the throughput"),
        Component::Connections => {
            Some("more connections, in the server and in each pool before it, would raise it")
        }
        Component::GeneratorCpu => {
            Some("give the load generator a processor of its own (--cpus), or use another machine")
        }
        Component::GeneratorThread => {
            Some("more threads (--threads), or more processors for the load generator")
        }
        Component::GeneratorInput => {
            Some("a faster source, or a client that does not throttle itself")
        }
        Component::NetworkBandwidth => {
            Some("fewer bytes per request, or a faster link, would raise it")
        }
        Component::NetworkLatency => Some(
            "more clients, fewer round trips per request, or a shorter network path would raise \
             the throughput",
        ),
        Component::DatabaseCpu => Some("cheaper statements, or more processors for the database"),
        Component::DatabaseSingleCore => {
            Some("spread the work over more sessions, or make the statement cheaper")
        }
        Component::DatabaseLocks => Some(
            "shorter transactions, or work that is spread over more rows: more clients only \
             wait",
        ),
        Component::DatabaseFlush => Some(
            "a disk that flushes faster, more work per commit, or more clients that commit \
             together",
        ),
        Component::DatabaseDisk => {
            Some("a faster disk, or more memory for data that is read repeatedly")
        }
        Component::DatabaseMemory => Some("more memory, or smaller buffers on this machine"),
        Component::BackgroundTask => {
            Some("do that work at another time, more slowly, or in smaller portions")
        }
        Component::OtherPrograms => Some(
            "end these programs, or keep them off the processors of the database and the load \
             generator",
        ),
        Component::Cgroup => Some("a higher quota (cpu.max, or cpu.cfs_quota_us)"),
        Component::Proxy => Some("more processes or processors for the proxy, or no proxy"),
    }
}

/// Returns the action for an observed program, which has options of its own; `None` in the same
/// cases as [`relief`].
pub(crate) fn relief_of_program(component: Component) -> Option<&'static str> {
    match component {
        Component::Concurrency => {
            Some("more sessions of the program, or more work in each request, would raise it")
        }
        Component::GeneratorCpu => {
            Some("a processor that only the program uses, or another machine for it")
        }
        Component::GeneratorThread => {
            Some("more threads or processes of the program, if it can have them")
        }
        Component::GeneratorInput => {
            Some("a faster source of the program, or fewer and shorter pauses in it")
        }
        Component::NetworkLatency => {
            Some("more sessions of the program, fewer round trips, or a shorter network path")
        }
        other => relief(other),
    }
}

/// Returns the action for the load of a table, whose writers share one thread; `None` in the same
/// cases as [`relief`].
pub(crate) fn relief_of_load(component: Component) -> Option<&'static str> {
    match component {
        Component::Concurrency => Some("more writers, or more rows in a commit, would raise it"),
        Component::GeneratorThread => Some("columns that cost less to make, or a faster processor"),
        Component::NetworkBandwidth => Some("fewer bytes in a row, or a faster link"),
        Component::NetworkLatency => {
            Some("more rows in a commit, more writers, or a shorter network path")
        }
        Component::DatabaseFlush => {
            Some("more rows in a commit, more writers, or a disk that flushes faster")
        }
        Component::DatabaseSingleCore => Some("more writers would raise it"),
        other => relief(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_has_a_distinct_description() {
        for (place, one) in Component::ALL.iter().enumerate() {
            for other in &Component::ALL[place + 1..] {
                assert_ne!(limiter_lead(*one), limiter_lead(*other));
            }
            assert_eq!(relief(*one).is_some(), one.is_known(), "{one:?}");
            assert_eq!(relief_of_load(*one).is_some(), one.is_known(), "{one:?}");
            let of_program = relief_of_program(*one);
            assert_eq!(of_program.is_some(), one.is_known(), "{one:?}");
            assert!(of_program.is_none_or(|text| !text.contains("--")), "{one:?}");
        }
    }
}
