//! The content of figures: a run, or one of its jobs, with its times. Also the texts of a figure:
//! name, title and caption.

use analyze::{JobSummary, TimeColumn, TimeCourse};
use base::AccountId;
use record::Kind;

use crate::figure::{Axis, Figure, LegendEntry, Mark, Unit};
use crate::view::View;

/// Reason why the response times of an overloaded job are missing.
const WITHHELD: &str =
    "Withheld: the load exceeds the capacity, and these times only show the length of the run.";

/// Reason why the response times of a job without answers are missing.
pub(super) const NO_TIMES: &str = "No request of this job was answered within the measured period.";

/// A run with the times of its jobs.
pub(super) struct Run<'a> {
    pub(super) view: &'a View,
    pub(super) courses: &'a [TimeCourse],
}

/// A job, or a part of a job, with its times.
pub(super) struct Job<'a> {
    /// Account of the job or part in the record.
    pub(super) account: AccountId,
    pub(super) summary: &'a JobSummary,
    pub(super) course: &'a TimeCourse,
}

impl<'a> Run<'a> {
    pub(super) fn jobs(&self) -> impl Iterator<Item = Job<'a>> + use<'a> {
        let jobs = self.view.summary.jobs.iter().zip(self.courses);
        let jobs = self.view.evidence.accounts().zip(jobs);
        jobs.map(|(account, (summary, course))| Job { account, summary, course })
    }

    /// Returns the time courses of whole jobs, which together have every request once. The requests
    /// of a part are also requests of its mix.
    pub(super) fn courses_of_whole_jobs(&self) -> Vec<&'a TimeCourse> {
        let courses = self.courses.iter().zip(self.view.evidence.plan.jobs_and_parts());
        courses.filter(|(_, either)| !either.is_part()).map(|(course, _)| course).collect()
    }

    /// Returns the time axis of the whole run.
    pub(super) fn time(&self) -> Axis {
        Axis::time(0.0, self.view.evidence.end().as_secs_f64())
    }
}

impl Job<'_> {
    /// Returns the name of a figure of this job.
    pub(super) fn figure_name(&self, what: &str) -> String {
        format!("{what}.{}", self.summary.name)
    }

    /// Returns the reason why there are no response times; `None` if there are some.
    pub(super) fn missing(&self) -> Option<String> {
        match (self.summary.is_withheld(Kind::Response), self.summary.response.count) {
            (true, _) => Some(WITHHELD.to_owned()),
            (false, 0) => Some(NO_TIMES.to_owned()),
            (false, _) => None,
        }
    }
}

/// The texts of a figure.
pub(super) struct FigureTexts {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) caption: String,
}

impl FigureTexts {
    /// Creates a figure without anything to draw.
    pub(super) fn into_empty_figure(self, reason: String) -> Figure {
        let axis = || Axis::from_zero("", Unit::Number, 1.0);
        let figure = self.into_figure([axis(), axis()], Vec::new(), Vec::new());
        Figure { missing: Some(reason), ..figure }
    }

    /// Creates a figure.
    pub(super) fn into_figure(
        self,
        [x, y]: [Axis; 2],
        marks: Vec<Mark>,
        legend: Vec<LegendEntry>,
    ) -> Figure {
        let FigureTexts { name, title, caption } = self;
        Figure { name, title, caption, x, y, marks, legend, missing: None }
    }
}

/// Returns the largest value that is a number; 0 if there is none.
pub(super) fn highest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// Returns an axis of times: from zero, or logarithmic if they differ a lot.
pub(super) fn axis_of_times(title: &str, values: impl Iterator<Item = f64> + Clone) -> Axis {
    /// Ratio of the longest to the shortest time beyond which the shortest would touch a linear
    /// axis.
    const WIDE_RATIO: f64 = 20.0;
    let positive = values.filter(|value| *value > 0.0 && value.is_finite());
    let low = positive.clone().fold(f64::INFINITY, f64::min);
    let high = highest(positive);
    match high > WIDE_RATIO * low {
        true => Axis::logarithmic(&format!("{title}, logarithmic"), Unit::Time, [low, high]),
        false => Axis::from_zero(title, Unit::Time, high),
    }
}

/// Returns the middle of a column, in seconds.
pub(super) fn middle(column: &TimeColumn) -> f64 {
    (column.from.as_secs_f64() + column.to.as_secs_f64()) / 2.0
}
