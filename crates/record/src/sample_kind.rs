//! Kinds of samples. When several samples are merged, their kind decides which value represents
//! them.

use crate::component::{ComponentKind, ObservedComponent};
use crate::facts::Series;
use crate::metric::{self, MetricKind, generator, host, metrics_of, program};
use crate::statistic;

/// The kind of the samples of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// A value at an instant; its mean over a period is meaningful.
    Gauge,
    /// A sum that only grows, unless it is reset.
    Counter,
    /// A value at an instant that may rise and fall. Only its changes matter. The last value
    /// represents several.
    Drift,
    /// The length of an event. The longest event represents several.
    Longest,
    /// A number whose mean has no meaning, such as an identifier. The last value represents
    /// several.
    Label,
}

impl SampleKind {
    /// Returns the kind of the samples of a series, by the names of its component and its metric.
    /// Samples of an unknown component are labels. Samples of an unknown metric are labels too, but
    /// are counters if the component's metrics are named by a server.
    pub fn of(series: &Series) -> SampleKind {
        let component = ObservedComponent::parse(&series.component);
        component.map_or(SampleKind::Label, |it| SampleKind::of_metric(&it.kind, &series.metric))
    }

    fn of_metric(kind: &ComponentKind, name: &str) -> SampleKind {
        if kind.has_own_names() {
            let is_gauge = *kind == ComponentKind::Statistics && statistic::GAUGES.contains(&name);
            return if is_gauge { SampleKind::Gauge } else { SampleKind::Counter };
        }
        let Some(metric) = metrics_of(kind).into_iter().flatten().find(|it| it.name == name) else {
            return SampleKind::Label;
        };
        match metric.kind {
            MetricKind::Counter => SampleKind::Counter,
            MetricKind::Gauge if *metric == host::WALL_CLOCK => SampleKind::Drift,
            MetricKind::Gauge if *metric == generator::STALL => SampleKind::Longest,
            MetricKind::Gauge if *metric == program::PID => SampleKind::Label,
            MetricKind::Gauge if is_instant(metric) => SampleKind::Label,
            MetricKind::Gauge => SampleKind::Gauge,
        }
    }
}

/// Returns true if the values of a gauge are points in time or ages, whose mean would have no
/// meaning.
fn is_instant(metric: &metric::ObservedMetric) -> bool {
    [metric::database::COUNTED_SINCE, metric::database::COUNTED_FOR].contains(metric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_of_samples_follows_from_their_metric() {
        for (component, metric, kind) in [
            ("host", "user", SampleKind::Counter),
            ("db1/host", "run-queue", SampleKind::Gauge),
            ("host", "wall-clock", SampleKind::Drift),
            ("generator", "stall", SampleKind::Longest),
            ("program cc1plus", "pid", SampleKind::Label),
            ("program cc1plus", "processes", SampleKind::Gauge),
            ("database", "counted-since", SampleKind::Label),
            ("waits", "Lock:tuple", SampleKind::Counter),
            ("statistics", "status.questions", SampleKind::Counter),
            ("statistics", "status.threads_running", SampleKind::Gauge),
            ("background", "status.threads_running", SampleKind::Counter),
            ("of a later version", "user", SampleKind::Label),
            ("host", "of-a-later-version", SampleKind::Label),
        ] {
            let [component, metric] = [component, metric].map(str::to_owned);
            let series = Series { component, metric, unit: String::new() };
            assert_eq!(SampleKind::of(&series), kind, "{series:?}");
        }
    }
}
