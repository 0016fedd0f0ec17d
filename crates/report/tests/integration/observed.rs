//! Figures of the observations other than the requests: each is drawn if the record has its series,
//! and missing otherwise.

use analyze::{Component, Observed, TimeCourse};
use base::Nanos;
use record::{Event, EventKind};
use report::Page;
use report::figure::{Figure, Ink, Mark};

use crate::cases;
use crate::support::Case;

/// Figures that every run has.
const ALWAYS: [&str; 3] = ["throughput", "cpu", "errors"];

fn figures(case: Case) -> Vec<Figure> {
    let view = case.view();
    let courses = vec![TimeCourse::default(); view.summary.jobs.len()];
    report::figures(&view, &courses)
}

#[track_caller]
fn find<'f>(figures: &'f [Figure], name: &str) -> &'f Figure {
    let names: Vec<&str> = figures.iter().map(|it| it.name.as_str()).collect();
    figures.iter().find(|it| it.name == name).unwrap_or_else(|| panic!("{name}: {names:?}"))
}

/// Observations during a run: component, counter, and its growth per second.
pub(crate) const COMPONENTS: &[(&str, &str, f64)] = &[
    ("cpu 0", "total", 1.0),
    ("cpu 0", "busy", 0.9),
    ("cpu 1", "total", 1.0),
    ("cpu 1", "busy", 0.1),
    ("db1/cpu 0", "total", 1.0),
    ("db1/cpu 0", "busy", 0.5),
    ("disk sda", "written-bytes", 3e6),
    ("disk sda", "read-bytes", 0.0),
    ("disk sda", "writes", 120.0),
    ("disk sda", "flushes", 60.0),
    ("disk sda", "busy", 0.25),
    ("disk sdb", "written-bytes", 0.0),
    ("disk sdb", "writes", 0.0),
    ("interface lo", "sent-bytes", 45_000.0),
    ("interface lo", "received-bytes", 45_000.0),
    ("sockets generator", "bytes-sent", 12_000.0),
    ("server", "user", 0.75),
    ("server", "system", 0.25),
    ("sessions", "looks", 10.0),
    ("waits", "cpu", 10.0),
    ("waits", "Lock:tuple", 12.0),
    ("waits", "Lock:transactionid", 3.0),
    ("waits", "IO:WALSync", 5.0),
    ("waits", "state: Sleeping", 1.0),
];

/// Returns a run alongside which a machine, its disks, its network and a database were observed.
pub(crate) fn observed() -> Case {
    let mut case = cases::open();
    for (component, metric, per_s) in COMPONENTS {
        case.grow(component, metric, *per_s);
    }
    case
}

/// Adds a counter that grows by one, at the given second.
fn step(case: &mut Case, metric: &str, second: u64) {
    let points = (0..=60).map(|at| (Nanos::from_secs(at), f64::from(at >= second)));
    case.evidence.observed.push(Observed {
        component: "statistics".to_owned(),
        metric: metric.to_owned(),
        points: points.collect(),
        ranges: Vec::new(),
    });
}

#[test]
fn each_observed_quantity_has_a_figure_with_its_mean() {
    let figures = figures(observed());
    for (name, sentence) in [
        (
            "waits",
            "Mean number of sessions in a statement: working, no wait reported 1; Lock 1.5; IO \
             0.5; other states 0.1.",
        ),
        (
            "processors",
            "The stronger the colour, the busier the processor: on average 1 of 2 processors \
             worked, and number 0 most, 90 % of the time.",
        ),
        ("disk-bytes", "On average: disk sda written 3.00 MB/s, read 0 B/s."),
        ("disk-operations", "On average: disk sda writes 120/s, flushes 60/s."),
        ("disk-use", "On average: disk sda busy 25 %."),
        (
            "network",
            "On average: interface lo sent 45.0 kB/s, received 45.0 kB/s; connections of the load \
             generator sent 12.0 kB/s.",
        ),
    ] {
        assert_eq!(find(&figures, name).sentence(), sentence);
    }
    assert_eq!(find(&figures, "disk-bytes").y.title, "MB per second");
    assert_eq!(find(&figures, "network").y.title, "kB per second");
    let of_place = find(&figures, "processors.db1");
    assert_eq!(of_place.title, "Use of each processor (heat map): db1");
    let legend = find(&figures, "processors").legend.iter().map(|entry| entry.text.as_str());
    assert_eq!(
        legend.collect::<Vec<_>>(),
        ["83.3–100 % of the time", "33.3–50 % of the time", "2–16.7 % of the time"]
    );
}

#[test]
fn caption_of_the_queue_distinguishes_answers_from_failures() {
    type Failing = fn(usize, u64) -> u64;
    let caption = |failing: Failing| {
        let mut case = cases::open();
        for (place, step) in case.evidence.jobs[0].steps.iter_mut().enumerate() {
            let arrivals = step.counts.arrivals;
            step.ends.errors = failing(place, arrivals);
            step.ends.completed = arrivals - step.ends.errors;
        }
        find(&figures(case), "queue").sentence().to_owned()
    };
    let start = "At the end of each second ";
    let cases: [(Failing, &str); 3] = [
        (|_, _| 0, "every request was answered."),
        (
            |place, all| if place == 5 { all } else { 0 },
            "no request was open: each was answered or had failed.",
        ),
        (|_, all| all, "no request was open: each had failed."),
    ];
    for (failing, words) in cases {
        let caption = caption(failing);
        assert!(caption.starts_with(&format!("{start}{words}")), "{caption}");
    }
    let mut idle = cases::open();
    idle.evidence.jobs[0].steps.fill(analyze::Step::default());
    let idle = figures(idle);
    assert_eq!(find(&idle, "queue").sentence(), format!("{start}no request had been due."));
}

#[test]
fn readings_that_are_not_finite_are_gaps_and_not_words_of_a_page() {
    let mut case = observed();
    let is_of = |it: &&mut Observed| COMPONENTS.iter().any(|(name, ..)| *name == it.component);
    for series in case.evidence.observed.iter_mut().filter(is_of) {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        (20..).step_by(10).zip(odd).for_each(|(at, value)| series.points[at].1 = value);
    }
    let view = case.view();
    let courses = vec![TimeCourse::default(); view.summary.jobs.len()];
    let figures = report::figures(&view, &courses);
    let written = find(&figures, "disk-bytes");
    assert!(
        written.sentence().starts_with("On average: disk sda written 3.00 MB/s"),
        "{written:?}"
    );
    let ys = written.marks.iter().filter_map(|mark| match mark {
        Mark::Line { points, .. } => Some(points.iter().map(|point| point.y)),
        _ => None,
    });
    let ys: Vec<f64> = ys.flatten().collect();
    assert!(ys.iter().any(|y| y.is_nan()) && ys.iter().all(|y| !y.is_infinite()), "{ys:?}");
    let page = report::html(&Page::of(&view), &figures);
    let (page, _) = page.split_once("<script>").expect("the script of the page");
    let lines = page.lines().filter(|line| {
        line.split(|c: char| !c.is_alphabetic()).any(|word| ["NaN", "inf"].contains(&word))
    });
    assert_eq!(lines.collect::<Vec<&str>>(), Vec::<&str>::new());
}

#[test]
fn database_uses_no_more_than_its_processors_in_the_last_moment_of_a_run() {
    let mut case = cases::open();
    case.about.target = "postgres://127.0.0.1:5432/shop".to_owned();
    for (metric, per_s) in [("user", 1.0), ("system", 0.5)] {
        case.grow("server", metric, per_s);
        // Adds a reading right after the last one; most of the processes have ended by then.
        let points = &mut case.evidence.observed.last_mut().unwrap().points;
        let (at, value) = *points.last().unwrap();
        points.push((at + Nanos::from_millis(30), value + 0.07));
    }
    let figures = figures(case);
    let cpu = find(&figures, "cpu");
    let used = cpu.marks.iter().filter_map(|mark| match mark {
        Mark::Line { points, .. } => Some(points.iter().map(|point| point.y)),
        _ => None,
    });
    let most = used.flatten().fold(0.0, f64::max);
    assert!((1.5..2.0).contains(&most), "{most} of 2 processors");
    assert_eq!(cpu.y.to, 2.0);
}

#[test]
fn waits_are_stacked_to_the_active_sessions() {
    let figures = figures(observed());
    let tops = find(&figures, "waits").marks.iter().filter_map(|mark| match mark {
        Mark::Band { is_solid: true, extents, .. } => Some((extents[0].low, extents[0].high)),
        _ => None,
    });
    let rounded = |value: f64| (value * 10.0).round() / 10.0;
    let tops: Vec<(f64, f64)> = tops.map(|(low, high)| (rounded(low), rounded(high))).collect();
    assert_eq!(tops, [(0.0, 1.0), (1.0, 2.5), (2.5, 3.0), (3.0, 3.1)]);
}

#[test]
fn quantity_that_was_not_observed_has_no_figure() {
    let figures = figures(cases::open());
    for name in ["waits", "processors", "disk-bytes", "disk-operations", "disk-use", "network"] {
        assert!(figures.iter().all(|figure| figure.name != name), "{name}");
    }
    for name in ALWAYS {
        find(&figures, name);
    }
    let mut idle = cases::open();
    idle.grow("disk sda", "written-bytes", 0.0);
    let figures = self::figures(idle);
    assert_eq!(
        find(&figures, "disk-bytes").missing.as_deref(),
        Some("No disk read or wrote anything.")
    );
}

#[test]
fn server_processes_of_a_proxy_are_not_called_database() {
    let of = |proxies: f64, upstream: &[&str]| {
        let mut case = observed();
        let mut add = |component: &str, metric: &str, value: &dyn Fn(u64) -> f64| {
            case.evidence.observed.push(Observed {
                component: component.to_owned(),
                metric: metric.to_owned(),
                points: (0..=60).map(|at| (Nanos::from_secs(at), value(at))).collect(),
                ranges: Vec::new(),
            });
        };
        add("server", "proxies", &|_| proxies);
        upstream.iter().for_each(|metric| add("upstream", metric, &|at| at as f64 / 4.0));
        case.about.target = "postgres://127.0.0.1:6432/shop".to_owned();
        let figures = figures(case);
        find(&figures, "cpu").legend.iter().map(|it| it.text.clone()).collect::<Vec<String>>()
    };
    let has = |legend: &[String], names: &[&str]| {
        let all = ["proxy, without the database behind it", "proxy", "database"];
        let found = all.into_iter().filter(|name| legend.iter().any(|it| it == name));
        assert_eq!(found.collect::<Vec<&str>>(), names, "{legend:?}");
    };
    has(&of(1.0, &[]), &["proxy, without the database behind it"]);
    has(&of(1.0, &["user", "system"]), &["proxy", "database"]);
    has(&of(0.0, &[]), &["database"]);
}

#[test]
fn program_on_another_host_has_the_name_of_the_host() {
    let mut case = observed();
    for component in ["program backup", "db1/program backup"] {
        case.grow(component, "used", 0.5);
    }
    let figures = figures(case);
    let legend = find(&figures, "cpu").legend.iter().map(|it| it.text.as_str());
    let programs: Vec<&str> = legend.filter(|name| name.contains("backup")).collect();
    assert_eq!(programs, ["backup", "backup, on db1"]);
}

#[test]
fn checkpoints_are_marked_in_figures_over_time() {
    let marked = |metrics: &[&str]| {
        let mut case = observed();
        for (metric, second) in metrics.iter().zip([20, 40]) {
            step(&mut case, metric, second);
        }
        let figures = figures(case);
        let rules = find(&figures, "waits").marks.iter().filter_map(|mark| match mark {
            Mark::Rule { at, label, .. } => Some((*at, label.clone())),
            _ => None,
        });
        rules.collect::<Vec<_>>()
    };
    let named = vec![(19.5, "checkpoint".to_owned()), (39.5, String::new())];
    let [bgwriter, checkpointer] = ["pg_stat_bgwriter", "pg_stat_checkpointer"];
    let [timed, requested] = ["timed", "requested"];
    let old = [format!("{bgwriter}.checkpoints_timed"), format!("{bgwriter}.checkpoints_req")];
    let new = [timed, requested].map(|it| format!("{checkpointer}.num_{it}"));
    for counters in [old, new] {
        assert_eq!(marked(&counters.each_ref().map(String::as_str)), named);
    }
    assert_eq!(marked(&["pg_stat_bgwriter.buffers_clean"]), []);
}

#[test]
fn caption_counts_omitted_items() {
    let caption = |checkpoints: u64, events: usize| {
        let mut case = observed();
        let points = (0..=60).map(|at| (Nanos::from_secs(at), at.min(checkpoints) as f64));
        case.evidence.observed.push(Observed {
            component: "statistics".to_owned(),
            metric: "pg_stat_checkpointer.num_timed".to_owned(),
            points: points.collect(),
            ranges: Vec::new(),
        });
        let event = |number: usize| Event {
            at: Nanos::from_secs(1 + number as u64),
            account: None,
            kind: EventKind::FirstError,
            error: None,
            text: String::new(),
        };
        case.evidence.events = (0..events).map(event).collect();
        let figures = figures(case);
        let rules = |mark: &&Mark| matches!(mark, Mark::Rule { .. });
        let cpu = find(&figures, "cpu");
        let drawn = cpu.marks.iter().filter(rules).count();
        let note = cpu.caption.split_once("; not drawn: ").map(|(_, note)| note.to_owned());
        (drawn, note.unwrap_or_default())
    };
    assert_eq!(caption(40, 2), (42, String::new()));
    assert_eq!(caption(57, 2), (2, "57 checkpoints.".to_owned()));
    let (drawn, note) = caption(41, 36);
    assert_eq!(note, format!("{} events and 41 checkpoints.", 36 - drawn));
    assert!((20..=24).contains(&drawn), "{drawn}");
}

#[test]
fn first_errors_leave_marks_for_other_events() {
    let mut case = observed();
    let event = |second: u64, kind| Event {
        at: Nanos::from_secs(second),
        account: None,
        kind,
        error: None,
        text: String::new(),
    };
    let errors = (1..40).map(|second| event(second, EventKind::FirstError));
    case.evidence.events = errors.chain([event(50, EventKind::FileExhausted)]).collect();
    let figures = figures(case);
    let is_end = |mark: &Mark| matches!(mark, Mark::Rule { at: 50.0, .. });
    assert!(find(&figures, "cpu").marks.iter().any(is_end));
}

/// Each lane reports the outages of each server, and two lanes may report them in any order.
#[test]
fn overlapping_outages_are_one_area_until_the_last_of_them_ends() {
    use EventKind::{OutageBegan as Began, OutageEnded as Ended};
    let event = |(second, kind): (u64, EventKind)| Event {
        at: Nanos::from_secs(second),
        account: None,
        kind,
        error: None,
        text: String::new(),
    };
    let within = [(20, Began), (22, Began), (25, Ended), (30, Ended)];
    let out_of_order = [(40, Began), (42, Ended), (41, Began), (44, Ended)];
    let mut case = observed();
    let changes = within.into_iter().chain(out_of_order).chain([(50, Began)]);
    case.evidence.events = changes.map(event).collect();
    let figures = figures(case);
    let area = |mark: &Mark| match mark {
        Mark::Period { ink: Ink::Bad, from, to, .. } => Some([*from, *to]),
        _ => None,
    };
    let areas: Vec<[f64; 2]> = find(&figures, "cpu").marks.iter().filter_map(area).collect();
    assert_eq!(areas, [[20.0, 30.0], [40.0, 44.0], [50.0, 60.0]]);
}

#[test]
fn page_links_the_limiter_to_the_figure_with_its_evidence() {
    let mut view = observed().view();
    view.summary.limiter.component = Component::DatabaseLocks;
    let courses = vec![TimeCourse::default(); view.summary.jobs.len()];
    let page = report::html(&Page::of(&view), &report::figures(&view, &courses));
    let heading = page.find("<h3><bdi>Waits of the database by kind</bdi></h3>").unwrap();
    let (_, figure) = page[..heading].rsplit_once("<figure id=\"").unwrap();
    let (id, _) = figure.split_once('"').unwrap();
    let link = format!("Shown by: <a href=\"#{id}\">Waits of the database by kind</a></p>");
    assert!(page.contains(&link), "{link}: {page}");
    let others = page.find("<section id=\"figures\"").unwrap();
    assert!(heading < others, "it is beside the answer");
    view.summary.limiter.component = Component::DatabaseMemory;
    view.evidence.observed.clear();
    let page = report::html(&Page::of(&view), &report::figures(&view, &courses));
    assert!(!page.contains("Shown by"), "no figure is drawn that shows it");
}

#[test]
fn empty_figures_of_a_page_are_the_last() {
    let view = observed().view();
    let courses = vec![TimeCourse::default(); view.summary.jobs.len()];
    let figures = report::figures(&view, &courses);
    let page = report::html(&Page::of(&view), &figures);
    let (_, page) = page.split_once("<section id=\"figures\"").unwrap();
    let place = |figure: &&Figure| page.find(&format!("<h3><bdi>{}</bdi></h3>", figure.title));
    let (empty, drawn): (Vec<&Figure>, Vec<&Figure>) =
        figures.iter().partition(|figure| figure.missing.is_some());
    let [first, last] = [
        empty.iter().filter_map(place).min().unwrap(),
        drawn.iter().filter_map(place).max().unwrap(),
    ];
    assert!(last < first, "{page}");
}
