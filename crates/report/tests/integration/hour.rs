//! The page of an hour with three jobs and all observers: its size is bounded.

use analyze::{ColumnTimes, Observed, TimeColumn, TimeCourse, time_columns};
use base::{Class, Draw, Nanos, Seed, Stream};
use hdrhistogram::Histogram;
use record::{Excerpt, ExcerptKind, Kind, bucket_counts};
use report::{Page, View};

use crate::observed::COMPONENTS;
use crate::support::{Case, Traffic, step};

/// Maximum number of bytes of the page.
const MOST_BYTES: usize = 1_000_000;

/// Length of the run, in seconds.
const HOUR: u64 = 3_600;

/// Number of requests per column of the time course, enough to fill its classes of times.
const TIMES: u64 = 1_500;

const WORKLOAD: &str = "duration = 1h\nprobe = 3m\n\
    [pay]\nquery = update accounts set v = v + 1 where id = 1\nrate = 800\n\
    [read]\nquery = select v from accounts where id = 1\nconcurrency = 16\n\
    [report]\nquery = select count(*) from accounts\nconcurrency = 1\n";

/// Returns a random time with a long tail around a middle that changes over time.
fn time(draw: &mut Draw, middle_ns: f64) -> u64 {
    let spread = draw.exponential() - draw.exponential();
    let tail = if draw.exponential() > 4.0 { 8.0 } else { 1.0 };
    (middle_ns * tail * (0.4 * spread).exp()) as u64
}

/// Returns the time course of a job, and the histograms of all its times by kind.
fn course(case: &Case, job: usize) -> (TimeCourse, [Histogram<u64>; 4]) {
    let kinds = [Kind::Response, Kind::Service, Kind::Wait, Kind::SendLag];
    let stream = Stream::new(Seed(24), "hour", &job.to_string());
    let mut all = kinds.map(|kind| kind.histogram::<u64>());
    let mut columns = Vec::new();
    for (number, part) in time_columns(&case.evidence.steps).into_iter().enumerate() {
        let middle_ns = 6e5 * 4f64.powi(job as i32) * (1.0 + 0.3 * (number as f64 / 7.0).sin());
        let mut times = kinds.map(|kind| kind.histogram::<u64>());
        for request in 0..TIMES {
            let mut draw = stream.draw(number as u64 * TIMES + request);
            let service = time(&mut draw, middle_ns);
            let (wait, lag) = (time(&mut draw, middle_ns / 9.0), time(&mut draw, 9_000.0));
            for (histogram, ns) in times.iter_mut().zip([service + wait + lag, service, wait, lag])
            {
                histogram.saturating_record(ns);
            }
        }
        all.iter_mut().zip(&times).for_each(|(all, one)| all.add(one).unwrap());
        let times = times.each_ref().map(bucket_counts);
        let [response, service, wait, send_lag] = times.each_ref().map(Vec::as_slice);
        let times = ColumnTimes { response, service, wait, send_lag };
        let errors = vec![(Class::Timeout, number as u64 * 7 % 13), (Class::Statement, 3)];
        columns.push(TimeColumn::of(&case.evidence.steps, part, times, errors));
    }
    (TimeCourse { columns }, all)
}

/// Adds a job's requests, and returns the time course of the job.
fn serve(case: &mut Case, job: usize) -> TimeCourse {
    let (course, all) = course(case, job);
    let steps = case.evidence.steps.len() as u64;
    let traffic = |at: u64| Traffic::of(2 * (700 + (at * 7_919 + job as u64 * 31) % 103));
    let evidence = &mut case.evidence.jobs[job];
    evidence.steps = (0..steps).map(|at| step(traffic(at))).collect();
    for (kind, histogram) in &mut evidence.window {
        let place = match kind {
            Kind::Response => 0,
            Kind::Wait => 2,
            Kind::SendLag => 3,
            Kind::Service | Kind::Statement(_) => 1,
            Kind::Error | Kind::Gap => continue,
        };
        histogram.add(&all[place]).unwrap();
    }
    course
}

/// Adds irregular readings. Readings on a straight line would take less space on the page.
fn observe(case: &mut Case) {
    let mut add = |component: &str, metric: &str, per_s: f64, place: u64| {
        let mut sum = 0.0;
        let point = |at: u64| {
            sum += per_s * (0.5 + ((at * 7_919 + place * 104_729) % 1_009) as f64 / 1_009.0);
            (Nanos::from_secs(at), sum)
        };
        case.evidence.observed.push(Observed {
            component: component.to_owned(),
            metric: metric.to_owned(),
            points: (0..=HOUR).map(point).collect(),
            ranges: Vec::new(),
        });
    };
    for (place, (component, metric, per_s)) in (0..).zip(COMPONENTS) {
        add(component, metric, *per_s, place);
    }
    for number in 2..8u64 {
        add(&format!("cpu {number}"), "total", 1.0, 0);
        add(&format!("cpu {number}"), "busy", 0.6, number * 5);
    }
    for (name, used) in [("postgres: autovacuum", 0.2), ("backup", 0.4), ("rustc", 0.9)] {
        add(&format!("program {name}"), "used", used, 77);
    }
    let readings = |metric: &str, component: &str, points: Vec<(u64, f64)>| Observed {
        component: component.to_owned(),
        metric: metric.to_owned(),
        points: points.into_iter().map(|(at, value)| (Nanos::from_secs(at), value)).collect(),
        ranges: Vec::new(),
    };
    let checkpoints = (0..=HOUR).map(|at| (at, (at / 150) as f64)).collect();
    let stalls = (1..20).map(|number| (number * 180, 0.05)).collect();
    case.evidence.observed.extend([
        readings("pg_stat_checkpointer.num_timed", "statistics", checkpoints),
        readings("stall", "generator", stalls),
    ]);
}

/// Adds the facts, tables and examples of a real server.
fn describe(case: &mut Case) {
    let fact = |number: u32| (format!("database.setting.name_{number:03}"), format!("{number} MB"));
    case.about.settings.extend((0..100).map(fact));
    let cell = |text: &str| Some(text.to_owned());
    let excerpt = |subject: &str, kind| Excerpt {
        subject: subject.to_owned(),
        kind,
        titles: ["name", "type", "null", "default"].map(str::to_owned).to_vec(),
        rows: vec![vec![cell("balance"), cell("bigint"), cell("no"), None]; 8],
    };
    let kinds = [ExcerptKind::Columns, ExcerptKind::Indexes, ExcerptKind::Rows];
    case.about.excerpts = kinds.map(|kind| excerpt("accounts", kind)).to_vec();
}

fn hour() -> (View, Vec<TimeCourse>) {
    let mut case = Case::new(WORKLOAD);
    let courses = (0..3).map(|job| serve(&mut case, job)).collect();
    observe(&mut case);
    describe(&mut case);
    (case.view(), courses)
}

#[test]
fn page_of_an_hour_with_three_jobs_and_all_observers_has_a_megabyte_at_most() {
    let (view, courses) = hour();
    let figures = report::figures(&view, &courses);
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    for name in ["heat-map.report", "cpu", "waits", "processors", "disk-use", "network", "errors"] {
        let figure = figures.iter().find(|figure| figure.name == name);
        let figure = figure.unwrap_or_else(|| panic!("{name}: {names:?}"));
        assert_eq!(figure.missing, None, "{name}");
    }
    let queue = figures.iter().find(|figure| figure.name == "queue").unwrap();
    assert!(queue.caption.contains(" period of 2 s "), "{}", queue.caption);
    let page = report::html(&Page::of(&view), &figures);
    if std::env::var_os("SIZES").is_some() {
        for figure in &figures {
            println!("{:>7} {}", report::svg(figure).len(), figure.name);
        }
        println!("{:>7} in all", page.len());
    }
    assert!(page.len() <= MOST_BYTES, "{} bytes", page.len());
}
