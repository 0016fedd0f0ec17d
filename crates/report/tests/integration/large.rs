//! Pages of runs with many jobs, many errors and odd names: they stay complete and of a bounded
//! size.

use std::fmt::Write as _;
use std::ops::Range;

use analyze::{Distribution, ErrorSummary, TimeColumn, TimeCourse};
use base::{AccountId, Class, Code, Nanos};
use record::Kind;
use report::figure::{Figure, Ink, Mark, Stroke, Swatch};
use report::{Page, View};

use crate::cases;
use crate::support::{Case, Traffic};

/// Returns the page of a run.
fn page(view: &View) -> String {
    let courses: Vec<TimeCourse> = view.evidence.accounts().map(|it| course(view, it)).collect();
    report::html(&Page::of(view), &report::figures(view, &courses))
}

/// Returns the time course of a job with the times of its window, a column for each half.
fn course(view: &View, account: AccountId) -> TimeCourse {
    let window = view.evidence.steps.window();
    let times =
        |kind| Distribution::of(view.evidence.jobs[account.index()].histogram(kind).unwrap());
    let column = |steps: Range<usize>| TimeColumn {
        from: Nanos::from_secs(steps.start as u64),
        to: Nanos::from_secs(steps.end as u64),
        steps,
        response: times(Kind::Response),
        service: times(Kind::Service),
        wait_mean_ns: None,
        send_lag_mean_ns: None,
        classes: Vec::new(),
        errors: Vec::new(),
    };
    let middle = window.start + window.len() / 2;
    TimeCourse { columns: vec![column(window.start..middle), column(middle..window.end)] }
}

#[test]
fn page_of_two_hundred_jobs_has_the_numbers_of_each_and_figures_of_the_first() {
    let mut workload = "duration = 10s\n".to_owned();
    for job in 0..200 {
        let _ = write!(workload, "[job{job:03}]\nquery = select {job}\nrate = 1\n");
    }
    let jobs = 0..200;
    let case = jobs.fold(Case::new(&workload), |case, job| case.serving(job, Traffic::of(1)));
    let view = case.view();
    let page = page(&view);
    for job in [0, 7, 8, 199] {
        assert!(page.contains(&format!("<caption>Times of job{job:03} ")), "{job}");
        let has_figure = page.contains(&format!("Percentiles: job{job:03}<"));
        assert_eq!(has_figure, job < 8, "{job}");
    }
    let drawn = page.matches("data-plot=").count();
    assert!(drawn > 16, "{drawn} figures have marks");
    assert!(page.contains("Figures of the first 8 of 200 jobs; the tables have all of them."));
    assert!(page.len() < 4_000_000, "{}", page.len());
}

#[test]
fn lines_of_several_jobs_differ_in_print() {
    let mut workload = "duration = 10s\n".to_owned();
    for job in 0..20 {
        let _ = write!(workload, "[job{job:02}]\nquery = select {job}\nrate = 1\n");
    }
    let case = (0..20).fold(Case::new(&workload), |it, job| it.serving(job, Traffic::of(1)));
    let view = case.view();
    let courses: Vec<TimeCourse> = view.evidence.accounts().map(|it| course(&view, it)).collect();
    let figures = report::figures(&view, &courses);
    let most = figures.iter().map(check_strokes).max();
    assert_eq!(most, Some(40), "the throughput has a line of what is offered for each job");
}

/// Checks that the first eight lines of a figure have different strokes (there are only eight), and
/// that the legend has the stroke of each line. Returns the number of lines.
#[track_caller]
fn check_strokes(figure: &Figure) -> usize {
    let lines: Vec<(Ink, Stroke)> = figure
        .legend
        .iter()
        .filter_map(|entry| match entry.swatch {
            Swatch::Line(stroke) => Some((entry.ink, stroke)),
            _ => None,
        })
        .collect();
    let first = &lines[..lines.len().min(8)];
    for (place, (_, stroke)) in first.iter().enumerate() {
        let is_new = first[..place].iter().all(|(_, before)| before != stroke);
        assert!(is_new, "{}: {stroke:?} in {lines:?}", figure.name);
    }
    for mark in &figure.marks {
        if let Mark::Line { ink, stroke, .. } | Mark::Steps { ink, stroke, .. } = mark {
            assert!(lines.contains(&(*ink, *stroke)), "{}: {ink:?} {stroke:?}", figure.name);
        }
    }
    lines.len()
}

#[test]
fn page_of_two_hundred_jobs_has_the_verdict_below_a_few_answers() {
    let jobs = |slo: &str| -> String {
        let job = |job| format!("[job{job:03}]\nquery = select {job}\nrate = 1\n{slo}\n");
        (0..200).map(job).collect()
    };
    let case = Case::new(&format!("duration = 10s\n{}", jobs("slo = throughput > 5")));
    let view = (0..200).fold(case, |case, job| case.serving(job, Traffic::of(1))).view();
    let page = page(&view);
    assert_eq!(page.matches("<p class=\"answer\">").count(), 8);
    assert!(page.contains("… and 193 more"), "the other answers");
    assert!(page.contains("… and 194 more"), "of 200 missed SLOs and the remark on the host");
    let few = cases::closed().view();
    assert!(!self::page(&few).contains("more</p>"));
}

#[test]
fn ten_thousand_kinds_of_errors_are_a_table_that_ends() {
    let mut view = cases::closed().view();
    let error = |number: u64| ErrorSummary {
        class: Class::Statement,
        code: Code::new(&format!("E{number:05}")),
        count: 1,
        text: Some(format!("error {number}")),
    };
    view.summary.jobs[0].errors_by_code = (0..10_000).map(error).collect();
    let page = page(&view);
    assert!(!page.contains("Figures of the first"), "one job has all of its figures");
    assert!(page.contains("E00000") && page.contains("more rows in the CSV"));
    assert!(!page.contains("<bdi>E09999</bdi>"), "the page has the first rows alone");
    assert!(page.contains("E09999"), "the file has all of them");
    assert!(page.len() < 4_000_000, "{}", page.len());
}

#[test]
fn odd_names_are_isolated_whole_and_without_control_characters() {
    let long = "x".repeat(300);
    let names = ["עברית ومعها العربية", "😀🏳️‍🌈", "a\u{202e}b\u{7}c\u{1b}[2J", &long];
    for name in names {
        let mut view = cases::closed().view();
        view.summary.jobs[0].name = name.to_owned();
        view.about.workload = name.to_owned();
        let page = page(&view);
        let odd = |c: char| {
            (c.is_control() && c != '\n')
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert_eq!(page.chars().find(|c| odd(*c)), None, "{name:?}");
        let shown = match name.chars().any(odd) {
            true => "a[U+202E]b[U+0007]c[U+001B][2J",
            false => name,
        };
        assert!(page.contains(&format!("<h3><bdi>{shown}</bdi></h3>")), "{name:?}");
    }
}
