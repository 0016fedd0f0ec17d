//! The course of a series: the kind of value that stands for several of its samples.

use crate::component::{ObservedComponent, Part};
use crate::facts::Series;
use crate::metric::{self, MetricKind, generator, host, metrics_of, program};
use crate::statistic;

/// The course of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// A value at an instant, which has a mean.
    Gauge,
    /// A sum that only grows, unless it is reset.
    Counter,
    /// A value that moves in both directions, of which only the changes matter.
    Drift,
    /// The length of something that happened, of which the longest matters.
    Longest,
    /// A number without a mean, such as an identifier.
    Label,
}

impl Course {
    /// Returns the course of a series by its name. One with an unknown name is a label: its last
    /// value is a value that it had.
    pub fn of(series: &Series) -> Course {
        let component = ObservedComponent::parse(&series.component);
        component.map_or(Course::Label, |it| Course::of_metric(&it.part, &series.metric))
    }

    fn of_metric(part: &Part, name: &str) -> Course {
        if part.has_own_names() {
            let is_gauge = *part == Part::Statistics && statistic::GAUGES.contains(&name);
            return if is_gauge { Course::Gauge } else { Course::Counter };
        }
        let Some(metric) = metrics_of(part).into_iter().flatten().find(|it| it.name == name) else {
            return Course::Label;
        };
        match metric.kind {
            MetricKind::Counter => Course::Counter,
            MetricKind::Gauge if *metric == host::WALL_CLOCK => Course::Drift,
            MetricKind::Gauge if *metric == generator::STALL => Course::Longest,
            MetricKind::Gauge if *metric == program::PID => Course::Label,
            MetricKind::Gauge if is_instant(metric) => Course::Label,
            MetricKind::Gauge => Course::Gauge,
        }
    }
}

/// Returns true if a gauge is an instant or an age, whose mean says nothing.
fn is_instant(metric: &metric::Metric) -> bool {
    [metric::database::COUNTED_SINCE, metric::database::COUNTED_FOR].contains(metric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn course_of_a_series_is_that_of_its_metric() {
        for (component, metric, course) in [
            ("host", "user", Course::Counter),
            ("db1/host", "run-queue", Course::Gauge),
            ("host", "wall-clock", Course::Drift),
            ("generator", "stall", Course::Longest),
            ("program cc1plus", "pid", Course::Label),
            ("program cc1plus", "processes", Course::Gauge),
            ("database", "counted-since", Course::Label),
            ("waits", "Lock:tuple", Course::Counter),
            ("statistics", "status.questions", Course::Counter),
            ("statistics", "status.threads_running", Course::Gauge),
            ("background", "status.threads_running", Course::Counter),
            ("of a later version", "user", Course::Label),
            ("host", "of-a-later-version", Course::Label),
        ] {
            let [component, metric] = [component, metric].map(str::to_owned);
            let series = Series { component, metric, unit: String::new() };
            assert_eq!(Course::of(&series), course, "{series:?}");
        }
    }
}
