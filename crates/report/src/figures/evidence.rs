//! The figures that show the evidence for a limiter.

use analyze::Component;

/// Returns the beginnings of the names of the figures of a run that show the evidence for the
/// limiter, or the known resources if there is none; the best is the first.
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
