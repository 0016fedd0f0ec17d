//! The figures of an experiment: effects and pairs of a comparison, the curves of a sweep, or the
//! trials of a capacity search.

mod capacity;
mod cpu;
mod curve;
mod doubts;
mod effects;
mod positions;
mod readable;
mod subject;
mod sweep;
#[cfg(test)]
mod tests;

use analyze::Component;
use effects::Subject;

use super::comparison::ComparisonView;
use super::sweep::SweepView;
use super::view::ExperimentView;
use crate::figure::Figure;

/// Returns the figures of an experiment, the most important first.
pub fn experiment_figures(view: &ExperimentView) -> Vec<Figure> {
    match (&view.capacity, &view.sweep) {
        (Some(search), _) => capacity::figures(search),
        (None, Some(sweep)) => {
            let mut figures = sweep::figures(view, sweep);
            figures.extend(of_points(view, sweep));
            figures
        }
        (None, None) => effects::figures(&Subject {
            arms: &view.arms,
            comparisons: view.comparison.iter().map(|comparison| (None, comparison)).collect(),
            limits: &[],
            missing: "There is no comparison yet: too few rounds are complete.",
        }),
    }
}

/// Returns the name of the sweep figure that shows why a component is the limiter; `None` if there
/// is no such figure.
pub(super) fn figure_with_evidence(component: Component) -> Option<&'static str> {
    match component {
        Component::DatabaseCpu | Component::DatabaseSingleCore => Some("cpu.database"),
        Component::GeneratorCpu | Component::GeneratorThread => Some("cpu.generator"),
        Component::Proxy => Some("cpu.proxy"),
        Component::NotSaturated | Component::Concurrency => Some("throughput"),
        Component::Connections
        | Component::GeneratorInput
        | Component::NetworkBandwidth
        | Component::NetworkLatency
        | Component::DatabaseLocks
        | Component::DatabaseFlush
        | Component::DatabaseDisk
        | Component::DatabaseMemory
        | Component::BackgroundTask
        | Component::OtherPrograms
        | Component::Cgroup
        | Component::Unknown => None,
    }
}

/// Returns the figures of the effects of the arms at each point of a sweep; empty if there are no
/// arms to compare.
fn of_points(view: &ExperimentView, sweep: &SweepView) -> Vec<Figure> {
    let points = sweep.values.iter().map(|value| Some(value.as_str()));
    let comparisons: Vec<_> = points.zip(&sweep.comparisons).collect();
    match comparisons.iter().any(|(_, comparison)| !comparison.arms.is_empty()) {
        true => {
            let missing = "No point has a comparison yet.";
            effects::figures(&Subject { arms: &view.arms, comparisons, limits: &[], missing })
        }
        false => Vec::new(),
    }
}

/// Returns the figures of a comparison of recorded groups: the overlay (if the groups are two
/// single runs), the effects, and the pairs (if the groups are arms of one experiment).
pub fn comparison_figures(view: &ComparisonView) -> Vec<Figure> {
    let effects = effects::figures(&Subject {
        arms: &view.groups,
        comparisons: view.comparison.iter().map(|comparison| (None, comparison)).collect(),
        limits: &view.limits,
        missing: "The comparison is refused.",
    });
    [view.overlay.clone(), effects].concat()
}
