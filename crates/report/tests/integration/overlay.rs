//! Figures of two single runs over each other.

use analyze::{Distribution, TimeColumn, TimeCourse};
use base::Nanos;
use record::Kind;
use report::figure::{Figure, Mark, Point};
use report::{OverlaidRun, View, overlay_figures};

use crate::cases;
use crate::support::{Case, Traffic, histogram};

/// Returns a run and a time course of its job with one column for each ten seconds.
fn with_course(case: Case) -> (View, Vec<TimeCourse>) {
    let view = case.view();
    let seconds = view.evidence.end().0 / 1_000_000_000;
    let column = |from: u64| {
        let steps = from as usize..from as usize + 10;
        let times = histogram(Kind::Response, (1..=200).map(|n| Nanos::from_micros(n * 10 + from)));
        TimeColumn {
            steps,
            from: Nanos::from_secs(from),
            to: Nanos::from_secs(from + 10),
            response: Distribution::of(&times),
            service: Distribution::of(&times),
            wait_mean_ns: None,
            send_lag_mean_ns: None,
            classes: Vec::new(),
            errors: Vec::new(),
        }
    };
    let columns = (0..seconds).step_by(10).map(column).collect();
    let courses = vec![TimeCourse { columns }; view.summary.jobs.len()];
    (view, courses)
}

fn overlaid(first: Case, second: Case) -> Vec<Figure> {
    let both = [with_course(first), with_course(second)];
    let [one, other] = &both;
    overlay_figures(
        [("a.assay", one), ("b.assay", other)].map(|(name, (view, courses))| OverlaidRun {
            name,
            view,
            courses,
        }),
    )
}

fn lines(figure: &Figure) -> Vec<&[Point]> {
    let marks = figure.marks.iter();
    marks
        .filter_map(|mark| match mark {
            Mark::Line { points, .. } => Some(points.as_slice()),
            _ => None,
        })
        .collect()
}

#[test]
fn both_runs_are_aligned_where_measuring_began() {
    let slower = cases::open();
    let figures = overlaid(cases::open(), slower);
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(
        names,
        ["overlay.throughput.read", "overlay.response.read", "overlay.percentiles.read"]
    );
    for figure in &figures {
        assert!(!figure.caption.contains("no verdict"), "the page says it once: {figure:?}");
        let legend: Vec<&str> = figure.legend.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(legend, ["a.assay", "b.assay"], "{}", figure.name);
        assert_eq!(lines(figure).len(), 2, "{}", figure.name);
    }
    // The warm-up of ten seconds is not drawn.
    for figure in &figures[..2] {
        assert!(figure.x.title.starts_with("time since measuring began"), "{}", figure.x.title);
        assert_eq!(figure.x.to, 50.0, "{}", figure.name);
        for line in lines(figure) {
            let times: Vec<f64> = line.iter().map(|point| point.x).collect();
            assert_eq!(times, [5.0, 15.0, 25.0, 35.0, 45.0], "{}", figure.name);
        }
    }
    assert!(figures[1].title.starts_with("p99 of the response times"), "{}", figures[1].title);
}

#[test]
fn change_between_both_runs_is_in_the_captions() {
    let slow = Traffic {
        service: [Nanos::from_micros(1_200), Nanos::from_micros(2_400)],
        ..Traffic::of(150)
    };
    let case = |traffic: Traffic| {
        Case::new("duration = 60s\n[read]\nquery = select 1\nrate = 300\n").serving(0, traffic)
    };
    let figures = overlaid(case(Traffic::of(300)), case(slow));
    let completed = "a.assay completed 300/s, b.assay 150/s (−50.0 %).";
    assert_eq!(figures[0].caption, completed);
    assert!(figures[2].caption.contains("a.assay has p99 "), "{}", figures[2].caption);
    assert!(figures[2].caption.contains("(+101 %)"), "{}", figures[2].caption);
}

#[test]
fn jobs_that_only_one_run_has_are_not_drawn() {
    let case = |jobs: &[&str]| {
        let section = |name: &&str| format!("[{name}]\nquery = select 1\nrate = 300\n");
        let sections: String = jobs.iter().map(section).collect();
        let case = Case::new(&format!("duration = 60s\n{sections}"));
        (0..jobs.len()).fold(case, |case, job| case.serving(job, Traffic::of(300)))
    };
    assert!(overlaid(case(&["read"]), case(&["write"])).is_empty());
    let figures = overlaid(case(&["read", "write"]), case(&["write", "other"]));
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    let expected =
        ["throughput", "response", "percentiles"].map(|it| format!("overlay.{it}.write"));
    assert_eq!(names, expected);
}

#[test]
fn run_without_times_is_named() {
    let figures = overlaid(cases::exceeds(), cases::exceeds());
    let missing: Vec<&str> = figures.iter().filter_map(|it| it.missing.as_deref()).collect();
    assert_eq!(missing.len(), 2, "throughput is drawn: {missing:?}");
    assert!(missing.iter().all(|reason| reason.starts_with("a.assay: Withheld")), "{missing:?}");
}
