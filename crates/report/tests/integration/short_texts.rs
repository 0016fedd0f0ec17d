//! The short text of the answer: it fits a screen, ends with the most important lines, and hides no
//! fault.

use analyze::EmptySuccess;
use base::Nanos;
use record::{Balance, Event, EventKind};
use report::{RunDetails, Style, View};

use crate::cases;
use crate::support::{Case, Traffic, check as compare, short_text, text};

/// A screen of a terminal.
const SCREEN: Style = Style { color: false, width: 80 };

/// Maximum number of lines in the answer of one job.
const MOST_LINES: usize = 40;

/// Returns the short text in one line.
fn text_on_one_line(view: &View) -> String {
    short_text(view, &SCREEN).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_kind_of_run_has_a_short_answer() {
    for (name, view) in cases::all() {
        compare(&format!("short-{name}.txt"), &short_text(&view, &SCREEN));
    }
}

#[test]
fn answer_of_one_job_fits_a_screen() {
    let clients = Traffic { connections: 4, ..Traffic::of(183) };
    let clean = ("clean", Case::new(CLOSED).serving(0, clients).view());
    let all = cases::all().into_iter().chain([clean]);
    let (mut answers, mut with_histogram) = (0, 0);
    for (name, view) in all.filter(|(_, view)| view.summary.jobs.len() == 1) {
        let shown = short_text(&view, &SCREEN);
        assert!(shown.lines().count() <= MOST_LINES, "{name}, {}: {shown}", shown.lines().count());
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{name}: {shown}");
        answers += 1;
        with_histogram += u32::from(shown.contains("response up to"));
    }
    assert!(answers >= 12 && with_histogram >= 6, "{answers} {with_histogram}");
    let with_objections = short_text(&cases::suspect().view(), &SCREEN);
    assert!(!with_objections.contains("response up to"), "{with_objections}");
}

const CLOSED: &str = "duration = 60s\n[a]\nquery = select 1\nconcurrency = 4\nthink = exp(20ms)\n";

/// No line is wider than the page, except commands to be copied.
#[test]
fn short_answers_fit_pages_of_40_to_100_columns() {
    for (name, view) in cases::all() {
        for width in [40, 60, 80, 100] {
            let shown = short_text(&view, &Style { color: false, width });
            for line in shown.lines().filter(|line| !line.contains("  assay ")) {
                assert!(line.chars().count() <= width, "{name}, {width} columns: {line}");
            }
        }
    }
}

#[test]
fn short_answer_ends_with_verdict_limiter_result_and_commands() {
    let shown = short_text(&cases::suspect().view(), &SCREEN);
    let places = [
        "\n[read]  open",
        "\n  response ",
        "\nSUSPECT: ",
        "\n  send-lag ",
        "What to do: ",
        "\nThroughput not limited: ",
        "\nread  offered 300/s",
        "\nOne host",
        "\nEvery SLO is met: 1 condition",
        "\nmore    assay report run-20261121T201502Z.assay --full\n",
        "--html run-20261121T201502Z.html\n",
        "\nwhy     assay explain send-lag connections not-saturated\n",
        "\nrepeat  assay repeat run-20261121T201502Z.assay\n",
    ];
    let places = places.map(|words| (shown.find(words), words));
    for (place, words) in places {
        assert!(place.is_some(), "{words} is not in {shown}");
    }
    assert!(places.is_sorted(), "{places:?}");
    assert!(shown.ends_with("201502Z.assay\n"));
}

#[test]
fn run_is_repeated_from_its_record_if_that_keeps_the_files() {
    let check = |run, command: &str, keeps_files, expected: &str| {
        let mut view = cases::open().view();
        let command = command.to_owned();
        view.about = RunDetails { run, command, keeps_files, ..view.about };
        let shown = short_text(&view, &SCREEN);
        assert!(shown.ends_with(&format!("\nrepeat  {expected}\n")), "{expected}: {shown}");
    };
    let repeat = "assay repeat run-20261121T201502Z.assay";
    let both = "--allow-commands --allow-files";
    check(None, "assay run shop.ini", true, repeat);
    check(None, &format!("assay run shop.ini {both}"), true, &format!("{repeat} {both}"));
    let private = "assay run shop.ini --url testbed:postgres";
    check(None, private, true, &format!("{repeat} --allow-commands"));
    for (run, command, keeps_files) in
        [(None, "assay run shop.ini", false), (Some(3), "assay run shop.ini", true)]
    {
        check(run, command, keeps_files, command);
    }
    // This run belongs to an experiment, but has a record of its own.
    check(None, "assay run experiment.ini", true, "assay run experiment.ini");
    for command in ["assay load shop.ini", "assay dbbench shop.ini", "assay observe -- true"] {
        check(None, command, true, command);
    }
}

#[test]
fn every_objection_is_in_the_short_answer_with_its_remedy() {
    let mut objections = 0;
    for (name, view) in cases::all() {
        let said = text_on_one_line(&view);
        let remedies = view.summary.verdict.checks.iter().filter_map(report::remedy_of);
        for remedy in remedies {
            assert!(said.contains(&format!("What to do: {remedy} ")), "{name}: {remedy}");
            objections += 1;
        }
        assert!(said.contains(view.summary.verdict.word()) || view.summary.jobs.is_empty());
    }
    assert!(objections > 10, "{objections}");
}

#[test]
fn invalid_run_begins_with_that_word_alone() {
    let shown = short_text(&cases::invalid().view(), &SCREEN);
    assert!(shown.starts_with("INVALID\n\n"), "{shown}");
    assert!(shown.contains("\nINVALID: "), "{shown}");
    assert!(!shown.contains("Every SLO is met"), "{shown}");
}

#[test]
fn errors_unsent_and_rejected_requests_are_in_the_short_answer() {
    let said = text_on_one_line(&cases::closed().view());
    for words in [
        "3,600 scheduled: 3,594 completed, 6 errors (1 timeout, 4 accepted)",
        "retries 13",
        "errors 4 conflict 40001, 0.111 % of the requests",
        "1 timeout, 0.0278 % of the requests",
        "1 statement 42P01, 0.0278 % of the requests: relation \"accounts\" does not exist (42P01)",
        "response includes 1 timeout and 5 unsent at their age",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let mut view = cases::open().view();
    view.summary.jobs[0].counts.balance = Balance::of(98, 0, 3, 2);
    let said = text_on_one_line(&view);
    assert!(said.contains("103 scheduled: 98 completed, 3 rejected, 2 unsent"), "{said}");
    view.summary.jobs[0].counts.arrivals = 107;
    let said = text_on_one_line(&view);
    assert!(said.contains("; 4 more have no outcome"), "{said}");
}

#[test]
fn rare_errors_are_counted_and_each_text_is_whole() {
    let mut view = cases::closed().view();
    let errors = &mut view.summary.jobs[0].errors_by_code;
    let (long, one) = ("word ".repeat(60), errors[0].clone());
    errors[0].text = Some(format!("{long}end"));
    let code = |n| base::Code::new(&format!("X{n}"));
    errors.extend((0..7).map(|n| analyze::ErrorSummary { count: 1, code: code(n), ..one.clone() }));
    errors.last_mut().unwrap().text = Some("password refused".to_owned());
    view.evidence.events.push(Event {
        at: Nanos::from_secs(9),
        account: Some(base::AccountId(0)),
        kind: EventKind::FirstError,
        error: None,
        text: "password refused".to_owned(),
    });
    let said = text_on_one_line(&view);
    assert!(said.contains(&format!("{long}end")), "{said}");
    assert!(said.contains("and 5 more errors with 5 other codes"), "{said}");
    assert!(said.contains("password refused"), "no other line has this text: {said}");
}

/// Returns an event of the whole run.
fn event(seconds: u64, kind: EventKind, text: &str) -> Event {
    Event { at: Nanos::from_secs(seconds), account: None, kind, error: None, text: text.to_owned() }
}

#[test]
fn outages_and_errors_outside_the_window_are_in_the_short_answer() {
    let mut case = cases::closed();
    case.evidence.events.push(event(3, EventKind::OutageBegan, "connection refused"));
    case.evidence.events.push(event(4, EventKind::OutageEnded, "connected again"));
    case.evidence.events.push(event(5, EventKind::FirstError, "an error of the warm-up"));
    let shown = text_on_one_line(&case.view());
    for words in ["outage-began: connection refused", "outage-ended: ", "an error of the warm-up"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("first-error: relation"), "this text is among the errors: {shown}");
    let mut case = cases::open();
    let many = (0..8).map(|at| event(at, EventKind::ConnectionLimit, "12 connections"));
    case.evidence.events = many.collect();
    let shown = text_on_one_line(&case.view());
    assert!(shown.contains("and 3 more events in the record"), "{shown}");
}

#[test]
fn first_errors_leave_rows_for_other_events() {
    let mut case = cases::open();
    let error = |second| event(second, EventKind::FirstError, &format!("error {second}"));
    case.evidence.events = (1..=30).map(error).collect();
    case.evidence.events.push(event(50, EventKind::FileExhausted, "`few.csv` ended the mix"));
    case.evidence.events.push(error(55));
    let view = case.view();
    let full = text(&view, &SCREEN).split_whitespace().collect::<Vec<_>>().join(" ");
    for (answer, errors, more) in [(text_on_one_line(&view), 4, 27), (full, 19, 12)] {
        let last = format!("{errors} s first-error: error {errors} 50 s file-exhausted: `few.csv`");
        assert!(answer.contains(&last), "{last}: {answer}");
        assert!(answer.contains(&format!("and {more} more events in the record")), "{answer}");
    }
}

#[test]
fn warnings_missed_conditions_and_missing_samples_are_in_the_short_answer() {
    let mut view = cases::open().view();
    view.summary.jobs[0].empty_success =
        Some(EmptySuccess::NoRows { answers: 15_000, statements: Vec::new() });
    view.summary.jobs[0].slos[0].met = false;
    let said = text_on_one_line(&view);
    assert!(said.contains("Warning: [read] had 15,000 answers, and no row"), "{said}");
    assert!(said.contains("SLO missed by read: p99 < 30ms, measured"), "{said}");
    assert!(!said.contains("Every SLO is met"), "{said}");
    let limited = text_on_one_line(&cases::limited().view());
    assert!(limited.contains("Incomplete data for background: user `ann` sees"), "{limited}");
    assert!(!limited.contains("Also, "), "only --full has other candidates: {limited}");
    let unknown = text_on_one_line(&cases::unknown().view());
    assert!(unknown.contains("Not seen: "), "{unknown}");
    for words in ["Waits of the active sessions", "Other programs"] {
        assert!(unknown.contains(words), "{words}: {unknown}");
    }
}

#[test]
fn faults_of_loads_are_in_the_answer_of_their_jobs() {
    let mut case = cases::open();
    case.evidence.loads = cases::loads().evidence.loads;
    let said = text_on_one_line(&case.view());
    assert!(said.contains("orders was filled by inserts, which is the slower"), "{said}");
    assert!(said.contains("Incomplete data for sessions while accounts was filled"), "{said}");
    assert!(!said.contains("100,000"), "a table that was filled is left out: {said}");
}

#[test]
fn gap_is_the_difference_of_response_and_service() {
    let shown = short_text(&cases::exceeds().view(), &SCREEN);
    assert!(shown.contains("withheld") && !shown.contains("\n  gap "), "{shown}");
    let mut view = cases::open().view();
    let job = &mut view.summary.jobs[0];
    job.response.quantiles_ns = [5, 6, 7, 8, 9].map(|ms| ms * 1_000_000);
    job.service.quantiles_ns = [2, 7, 0, 8, 1].map(|ms| ms * 1_000_000);
    (job.response.max_ns, job.service.max_ns) = (20_000_000, 19_000_000);
    let shown = short_text(&view, &SCREEN);
    let gap = shown.lines().find(|line| line.starts_with("  gap ")).unwrap();
    let cells: Vec<&str> = gap.split_whitespace().collect();
    assert_eq!(cells.join(" "), "gap 3.00 ms – 0 8.00 ms 1.00 ms");
    // At times of 5 ms, the buckets of histograms are 4 µs wide.
    for (gap_us, is_shown) in [(8, false), (9, true)] {
        let job = &mut view.summary.jobs[0];
        let response = job.response.quantiles_ns;
        job.service.quantiles_ns = response;
        job.service.quantiles_ns[0] = response[0] - gap_us * 1_000;
        let shown = short_text(&view, &SCREEN);
        assert_eq!(shown.contains("\n  gap "), is_shown, "{gap_us}: {shown}");
    }
}

/// Returns a run of this many jobs, each with ten requests per second.
fn many(jobs: usize) -> Case {
    let file: String =
        (0..jobs).map(|n| format!("[job{n}]\nquery = select 1\nrate = 10\n")).collect();
    let traffic = Traffic::of(10);
    let serving = |case: Case, place| case.serving(place, traffic);
    (0..jobs).fold(Case::new(&format!("duration = 10s\n{file}")), serving)
}

#[test]
fn each_of_several_jobs_has_a_block() {
    let shown = short_text(&many(10).view(), &SCREEN);
    assert_eq!(shown.matches("\n  response  ").count(), 10, "{shown}");
    assert!(!shown.contains("response up to"), "a histogram is that of one job: {shown}");
}

#[test]
fn many_jobs_are_a_table_with_their_failures() {
    let mut view = many(11).view();
    let shown = short_text(&view, &SCREEN);
    assert_eq!(shown.lines().filter(|line| line.starts_with("  job")).count(), 12, "{shown}");
    assert!(!shown.contains("errors") && !shown.contains("unsent"), "{shown}");
    assert!(!shown.contains("\n[job0]"), "{shown}");
    let job = &mut view.summary.jobs[1];
    job.counts.balance = Balance::of(90, 7, 0, 3);
    job.errors_by_code = vec![analyze::ErrorSummary {
        class: base::Class::Conflict,
        code: base::Code::new("40001"),
        count: 7,
        text: Some("deadlock".to_owned()),
    }];
    let shown = short_text(&view, &SCREEN);
    let titles = shown.lines().find(|line| line.starts_with("  job ")).unwrap();
    assert!(titles.contains("errors") && titles.contains("unsent"), "{shown}");
    // The percentage relates to the requests of all 11 jobs, 100 each.
    let errors = "  errors  7 conflict 40001 in 1 job, 0.636 % of the requests: deadlock\n";
    assert!(shown.contains(errors), "{shown}");
    let sum = "\n11 jobs  1,100 scheduled: 1,090 completed, 7 errors, 3 unsent\n";
    assert!(shown.contains(sum), "{shown}");
    let job = &mut view.summary.jobs[2];
    job.exceeds_capacity = true;
    let shown = short_text(&view, &SCREEN);
    assert!(shown.contains("[job2]: withheld: beyond the capacity"), "{shown}");
    let row = shown.lines().find(|line| line.starts_with("  job2 ")).unwrap();
    assert!(row.contains("withheld"), "{shown}");
    let same = view.summary.jobs[1].errors_by_code.clone();
    view.summary.jobs[4].errors_by_code = same;
    let shown = short_text(&view, &SCREEN);
    assert!(shown.contains("  errors  14 conflict 40001 in 2 jobs, 1.27 % of the"), "{shown}");
}

#[test]
fn run_of_an_experiment_is_named_in_the_commands() {
    let mut view = cases::open().view();
    view.about.run = Some(3);
    let shown = short_text(&view, &SCREEN);
    let report = "assay report run-20261121T201502Z.assay --run 3";
    assert!(shown.contains(&format!("{report} --full\n")), "{shown}");
    assert!(shown.contains(&format!("{report} --html run-20261121T201502Z-3.html\n")), "{shown}");
}

#[test]
fn full_answer_has_every_word_of_its_own() {
    let view = cases::closed().view();
    let (full, short) = (text(&view, &SCREEN), short_text(&view, &SCREEN));
    for words in ["Checks that were not possible here", "settings ", "statement  count", "p95"] {
        assert!(full.contains(words) && !short.contains(words), "{words}");
    }
}
