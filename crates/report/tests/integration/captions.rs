//! The captions of figures.

use analyze::{Distribution, TimeColumn, TimeCourse};
use base::{Class, Nanos};
use record::{Event, EventKind, Kind, SampleRange};
use report::View;
use report::figure::{Figure, Mark};

use crate::cases;
use crate::observed::observed;
use crate::support::{Case, histogram};

/// Returns a time course of one-second parts, given by the start of each in seconds and its
/// response times.
fn course(parts: &[(u64, &[Nanos])]) -> TimeCourse {
    let column = |(from, times): &(u64, &[Nanos])| {
        let response = Distribution::of(&histogram(Kind::Response, times.iter().copied()));
        TimeColumn {
            steps: *from as usize..*from as usize + 1,
            from: Nanos::from_secs(*from),
            to: Nanos::from_secs(from + 1),
            service: response.clone(),
            response,
            wait_mean_ns: None,
            send_lag_mean_ns: None,
            classes: Vec::new(),
            errors: Vec::new(),
        }
    };
    TimeCourse { columns: parts.iter().map(column).collect() }
}

/// Returns the caption of the figure of response times, for a run with ten seconds of warm-up and
/// the time course `course(parts)`.
fn caption(parts: &[(u64, &[Nanos])]) -> String {
    let view = cases::open().view();
    let figures = report::figures(&view, &[course(parts)]);
    let figure = figures.iter().find(|figure| figure.name == "response.read");
    figure.unwrap().sentence().to_owned()
}

#[test]
fn slowest_request_of_the_warm_up_is_named_as_such() {
    let [short, long] = [Nanos::from_millis(1), Nanos::from_millis(9)];
    let after = caption(&[(3, &[short]), (20, &[long])]);
    assert!(after.contains("; the slowest, 9.00 ms, was due at about 20 s; "), "{after}");
    let during = caption(&[(3, &[long]), (20, &[short])]);
    let words = "; the slowest, 9.00 ms, was due at about 3 s, in the warm-up; ";
    assert!(during.contains(words), "{during}");
}

/// Returns a run with more events than are drawn, whose readings represent several samples each.
fn crowded() -> View {
    let mut case = observed();
    for observed in &mut case.evidence.observed {
        let range = |&(at, most): &(Nanos, f64)| SampleRange { at, samples: 2, least: 0.0, most };
        observed.ranges = observed.points.iter().map(range).collect();
    }
    let event = |second: u64| Event {
        at: Nanos::from_secs(second),
        account: None,
        kind: EventKind::FirstError,
        error: None,
        text: String::new(),
    };
    case.evidence.events = (1..50).map(event).collect();
    case.view()
}

#[test]
fn every_caption_is_one_sentence() {
    let others = [("observed", observed().view()), ("crowded", crowded())];
    let mut clauses = 0;
    for (name, view) in cases::all().into_iter().chain(others) {
        let courses = vec![TimeCourse::default(); view.summary.jobs.len()];
        let figures = report::figures(&view, &courses);
        // The figure of response times has no caption, because the run has no time courses.
        for figure in figures.iter().filter(|figure| !figure.sentence().is_empty()) {
            let text = figure.sentence();
            assert!(text.ends_with('.') && !text.contains(". "), "{name}, {}: {text}", figure.name);
            let words = ["; not drawn: ", "; beyond two hours ", "; left out: "];
            clauses += words.iter().filter(|words| figure.caption.contains(**words)).count();
        }
    }
    assert!(clauses > 5, "{clauses}");
}

/// Returns the caption of the figure of loads.
fn caption_of_loads(view: &View) -> String {
    let courses = vec![TimeCourse::default(); view.summary.jobs.len()];
    let figures = report::figures(view, &courses);
    figures.iter().find(|figure| figure.name == "loads").unwrap().caption.clone()
}

/// Progress is recorded once a second, so the exit rate may cover up to a tenth of the rows.
#[test]
fn caption_of_a_load_says_how_many_rows_the_exit_rate_covers() {
    let caption = caption_of_loads(&cases::loads().view());
    assert!(caption.contains("/s over the last 5 to 10 % of rows"), "{caption}");
}

#[test]
fn caption_of_many_loads_says_that_there_are_others() {
    let mut view = cases::loads().view();
    let load = view.summary.loads[0].clone();
    for (number, has_others) in [(3, false), (4, true)] {
        view.summary.loads = vec![load.clone(); number];
        let caption = caption_of_loads(&view);
        assert_eq!(caption.contains("; and other loads: a falling"), has_others, "{caption}");
    }
}

#[test]
fn caption_of_a_single_request_names_no_half() {
    let one = caption(&[(20, &[Nanos::from_millis(9)])]);
    assert_eq!(one, "The only response time is 9.00 ms, of a request that was due at about 20 s.");
}

#[test]
fn errors_of_a_mix_count_once() {
    let mix = "duration = 60s\nwarmup = 10s\n[all]\nmix = a: 1, b: 1\nrate = 100\n\
               [a]\nquery = select 1\n[b]\nquery = select 2\n[c]\nquery = select 3\nrate = 10\n";
    let view = Case::new(mix).view();
    let failing = |failed: u64| {
        let mut course = course(&[(20, &[Nanos::from_millis(1)])]);
        course.columns[0].errors = vec![(Class::Timeout, failed)];
        course
    };
    // The mix, its two parts, and the job `c`.
    let figures = report::figures(&view, &[5, 3, 2, 4].map(failing));
    let figure = figures.iter().find(|figure| figure.name == "errors").unwrap();
    let expected = "9 errors over the whole run, warm-up included: 9 timeout.";
    assert_eq!(figure.sentence(), expected);
    assert_eq!(steps_of(figure), [(20.0, 9.0), (21.0, 9.0)]);
}

/// Returns the points of the first line with steps: times and heights.
fn steps_of(figure: &Figure) -> Vec<(f64, f64)> {
    let points = figure.marks.iter().find_map(|mark| match mark {
        Mark::Steps { points, .. } => Some(points),
        _ => None,
    });
    points.unwrap().iter().map(|point| (point.x, point.y)).collect()
}

#[test]
fn errors_are_drawn_from_the_start_to_the_end_of_their_seconds() {
    let view = cases::open().view();
    let times: &[Nanos] = &[Nanos::from_millis(1)];
    let mut course = course(&[(20, times), (21, times), (22, times)]);
    for (column, failed) in course.columns.iter_mut().zip([3, 0, 5]) {
        column.errors = vec![(Class::Timeout, failed)];
    }
    let figures = report::figures(&view, &[course]);
    let figure = figures.iter().find(|figure| figure.name == "errors").unwrap();
    assert_eq!(steps_of(figure), [(20.0, 3.0), (21.0, 0.0), (22.0, 5.0), (23.0, 5.0)]);
}
