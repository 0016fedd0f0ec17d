//! Errors by class over time.

use analyze::{TimeColumn, TimeCourse};
use base::Class;
use base::units::grouped;

use super::subject::{FigureTexts, Run, highest};
use super::timeline;
use crate::figure::{Axis, Figure, Ink, LegendEntry, Mark, Point, Stroke, Swatch, Unit};
use crate::number::count;

/// Returns the errors of all jobs by class.
pub(super) fn figure(run: &Run<'_>) -> Figure {
    let courses = run.courses_of_whole_jobs();
    let totals: Vec<(Class, u64)> = Class::ALL
        .into_iter()
        .map(|class| (class, number(&courses, class)))
        .filter(|(_, number)| *number > 0)
        .collect();
    let words = FigureTexts {
        name: "errors".to_owned(),
        title: "Errors by class".to_owned(),
        caption: caption(&totals),
    };
    if totals.is_empty() {
        return words.into_empty_figure("No request ended in an error.".to_owned());
    }
    let mut marks = timeline::marks(run);
    let mut legend = Vec::new();
    let mut most = 0.0f64;
    for (place, (class, _)) in totals.into_iter().enumerate() {
        let points = errors_per_s(&courses, class);
        most = most.max(highest(points.iter().map(|point| point.y)));
        let (ink, stroke) = (Ink::Series(place), Stroke::Solid);
        marks.push(Mark::Steps { ink, stroke, points });
        legend.push(LegendEntry::new(ink, Swatch::Line(stroke), class.name()));
    }
    let y = Axis::from_zero("errors per second", Unit::Number, most);
    words.into_figure([run.time(), y], marks, legend)
}

fn errors_of(errors: &[(Class, u64)], class: Class) -> u64 {
    errors.iter().filter(|(known, _)| *known == class).map(|(_, count)| count).sum()
}

fn number(courses: &[&TimeCourse], class: Class) -> u64 {
    let columns = courses.iter().flat_map(|course| &course.columns);
    columns.map(|column| errors_of(&column.errors, class)).sum()
}

/// Returns the errors per second from the start of each column on, over all jobs, and a last point
/// at the end of the last column.
fn errors_per_s(courses: &[&TimeCourse], class: Class) -> Vec<Point> {
    let Some(first) = courses.first() else { return Vec::new() };
    let point = |(place, column): (usize, &TimeColumn)| {
        let of_jobs = courses.iter().filter_map(|course| course.columns.get(place));
        let errors: u64 = of_jobs.map(|column| errors_of(&column.errors, class)).sum();
        let length = column.to.saturating_sub(column.from).as_secs_f64();
        Point { x: column.from.as_secs_f64(), y: errors as f64 / length }
    };
    let mut points: Vec<Point> = first.columns.iter().enumerate().map(point).collect();
    // A step keeps its height only up to the next point.
    if let (Some(column), Some(&last)) = (first.columns.last(), points.last()) {
        points.push(Point { x: column.to.as_secs_f64(), ..last });
    }
    points
}

fn caption(totals: &[(Class, u64)]) -> String {
    let all: u64 = totals.iter().map(|(_, number)| number).sum();
    let parts: Vec<String> = totals
        .iter()
        .map(|(class, number)| format!("{} {}", grouped(*number), class.name()))
        .collect();
    format!("{} over the whole run, warm-up included: {}.", count(all, "error"), parts.join(", "))
}
