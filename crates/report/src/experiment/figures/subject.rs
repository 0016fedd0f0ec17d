//! The subject of figures of a sweep: its arms and their series.

use analyze::Status;
use analyze::compare::{Missing, RunVerdict};
use analyze::curve::{ArmCurve, JobAtPoint, Peak, PointMean, PointSummary, Unusable, Usl};

use super::super::sweep::SweepView;
use super::curve::Series;
use super::doubts;
use crate::figure::{Ink, Point, Stroke};

/// Largest predicted peak for which the axis is extended, as a multiple of the largest number of
/// clients that was measured.
const FARTHEST_PEAK: f64 = 2.0;

/// A sweep with the names of its arms.
pub(super) struct Subject<'a> {
    pub(super) sweep: &'a SweepView,
    /// The name of each arm. The name of a single arm is empty.
    pub(super) names: Vec<&'a str>,
}

impl<'a> Subject<'a> {
    /// Returns the index, the name and the curve of each arm.
    pub(super) fn arms(&self) -> impl Iterator<Item = (usize, &'a str, &'a ArmCurve)> {
        let arms = self.names.iter().zip(&self.sweep.curves).enumerate();
        arms.map(|(number, (name, curve))| (number, *name, curve))
    }

    pub(super) fn job(&self) -> &str {
        self.sweep.job_name().unwrap_or("all jobs")
    }

    /// Returns one series for each arm.
    pub(super) fn series(
        &self,
        scale: f64,
        mean: impl Fn(&'a JobAtPoint) -> Option<&'a PointMean>,
    ) -> Vec<Series<'a>> {
        let of_arm = |(number, name, curve): (usize, &str, &'a ArmCurve)| Series {
            name: name.to_owned(),
            ink: Ink::Series(number),
            stroke: Stroke::Solid,
            means: curve.points.iter().map(|it| self.sweep.job_at(it).and_then(&mean)).collect(),
            verdicts: verdicts(curve),
            over_time: Vec::new(),
            parts_s: Vec::new(),
            scale,
        };
        self.arms().map(of_arm).collect()
    }

    /// Returns the completed requests per second of each arm, and of each run over time.
    pub(super) fn throughput(&self) -> Vec<Series<'a>> {
        let series = self.series(1.0, |job| job.completed_per_s.as_ref().ok());
        let with_seconds = |((.., curve), one): ((usize, &str, &'a ArmCurve), Series<'a>)| {
            let of_point = |point: &'a PointSummary| {
                self.sweep.job_at(point).map_or(&[][..], |job| &job.over_time_per_s)
            };
            let jobs = curve.points.iter().filter_map(|point| self.sweep.job_at(point));
            let parts_s = jobs.flat_map(|job| job.parts_s.iter().copied()).collect();
            Series { over_time: curve.points.iter().map(of_point).collect(), parts_s, ..one }
        };
        self.arms().zip(series).map(with_seconds).collect()
    }

    /// Returns true if the load exceeds the capacity at a point in any arm.
    pub(super) fn is_overloaded(&self, point: usize) -> bool {
        let exceeds = Unusable::Missing(Missing::ExceedsCapacity);
        let jobs =
            self.arms().filter_map(|(.., curve)| self.sweep.job_at(curve.points.get(point)?));
        jobs.flat_map(|job| &job.response_ms).any(|(_, it)| *it == Err(exceeds))
    }

    /// Returns the values of some points in words: `1, 2`.
    pub(super) fn point_names(&self, points: impl Iterator<Item = usize>) -> String {
        points.map(|point| self.sweep.values[point].as_str()).collect::<Vec<&str>>().join(", ")
    }

    /// Returns the number of clients at the largest predicted peak that the axis can include;
    /// `None` if there is none.
    pub(super) fn peak_in_reach(&self) -> Option<f64> {
        let peaks = self.fitted_laws().filter_map(|(_, _, usl)| match usl.peak {
            Peak::At { clients, .. } => Some((clients.estimate, usl.largest)),
            Peak::None { .. } => None,
        });
        let near = peaks.filter(|(peak, largest)| *peak <= FARTHEST_PEAK * largest);
        near.map(|(peak, _)| peak).max_by(f64::total_cmp)
    }

    /// Returns the line of the offered rates; empty if the sweep varies no rate.
    pub(super) fn offered(&self) -> Vec<Point> {
        let is_of_rates = |curve: &ArmCurve| curve.usl.is_none() && curve.model.is_some();
        let Some(curve) = self.sweep.curves.first().filter(|curve| is_of_rates(curve)) else {
            return Vec::new();
        };
        let mut rates: Vec<f64> = curve.points.iter().filter_map(|point| point.x).collect();
        rates.sort_by(f64::total_cmp);
        rates.into_iter().map(|rate| Point { x: rate, y: rate }).collect()
    }

    pub(super) fn fitted_laws(&self) -> impl Iterator<Item = (usize, &'a str, &'a Usl)> {
        self.arms().filter_map(|(number, name, curve)| {
            Some((number, name, curve.usl.as_ref()?.as_ref().ok()?))
        })
    }

    /// Returns clauses about the points without a mean, after a semicolon; empty if all points have
    /// a mean.
    pub(super) fn gaps(&self, series: &[Series<'_>]) -> String {
        let lacks = |point: &usize| series.iter().any(|one| one.mean(*point).is_none());
        let all = || (0..self.sweep.values.len()).filter(lacks);
        let overloaded = self.point_names(all().filter(|point| self.is_overloaded(*point)));
        let others = self.point_names(all().filter(|point| !self.is_overloaded(*point)));
        let mut text = String::new();
        if !overloaded.is_empty() {
            text += &format!("; the load exceeds the capacity at {overloaded}");
        }
        if !others.is_empty() {
            text += &format!("; there is none at {others}");
        }
        text
    }

    /// Returns clauses about the runs that are not VALID, each after a semicolon: their points, and
    /// the checks that object to them. Empty if all runs are VALID.
    pub(super) fn doubts(&self) -> String {
        [Status::Suspect, Status::Invalid].map(|status| self.with_verdict(status)).concat()
    }

    fn with_verdict(&self, status: Status) -> String {
        let points = || self.sweep.curves.iter().flat_map(|curve| curve.points.iter().enumerate());
        let has_it = |point: &PointSummary| point.verdicts.iter().any(|it| it.status() == status);
        let is_one = |place: &usize| points().any(|(at, point)| at == *place && has_it(point));
        let places: Vec<usize> = (0..self.sweep.values.len()).filter(is_one).collect();
        let runs = || points().flat_map(|(_, point)| &point.verdicts);
        let with_it = || runs().filter(|run| run.status() == status);
        let checks = doubts::checks(with_it(), status);
        let word = status.verdict();
        if places.is_empty() {
            return String::new();
        }
        if with_it().count() == runs().count() {
            return format!("; every run is {word}{checks}");
        }
        let at = match places.len() == self.sweep.values.len() {
            true => "every point".to_owned(),
            false => self.point_names(places.into_iter()),
        };
        format!("; a run is {word} at {at}{checks}")
    }
}

/// Returns the verdicts of the runs at each point of an arm.
pub(super) fn verdicts(curve: &ArmCurve) -> Vec<&[RunVerdict]> {
    curve.points.iter().map(|point| point.verdicts.as_slice()).collect()
}
