//! The figures that show the evidence for a limiter.

use analyze::Component;

/// Returns prefixes of the names of the figures that show the evidence for the limiter of a run,
/// the best first. If the limiter is unknown or a background task, the figures show the processors
/// and the waits.
pub(crate) fn figures_with_evidence(component: Component) -> &'static [&'static str] {
    match component {
        Component::NotSaturated | Component::GeneratorInput => &["throughput"],
        Component::Concurrency => &["queue", "cpu"],
        Component::Connections => &["queue", "waits"],
        Component::GeneratorCpu
        | Component::GeneratorThread
        | Component::DatabaseCpu
        | Component::OtherPrograms
        | Component::Cgroup
        | Component::Proxy => &["cpu"],
        Component::DatabaseSingleCore => &["processors", "cpu"],
        Component::NetworkBandwidth => &["network"],
        Component::NetworkLatency => &["time-parts"],
        Component::DatabaseLocks => &["waits"],
        Component::DatabaseFlush => &["waits", "disk-operations"],
        Component::DatabaseDisk => &["disk-use", "waits"],
        Component::DatabaseMemory => &["disk-bytes"],
        Component::BackgroundTask | Component::Unknown => &["cpu", "waits"],
    }
}
