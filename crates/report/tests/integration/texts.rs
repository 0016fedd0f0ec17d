//! The text of the answer for people.

use analyze::{DatabaseLocation, EmptySuccess};
use base::Nanos;
use record::Balance;
use record::environment::observe;
use report::Style;

use crate::cases;
use crate::support::{Case, Traffic, check as compare, short_text, text};

fn check(name: &str, case: Case) {
    let text = text(&case.view(), &Style::PLAIN);
    for line in text.lines().filter(|line| !line.contains("assay")) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    compare(&format!("{name}.txt"), &text);
}

#[test]
fn valid_run_of_an_open_job_matches_its_text() {
    check("open", cases::open());
}

#[test]
fn headline_names_a_database_on_the_same_host() {
    let headline = |case: Case| {
        let text = text(&case.view(), &Style::PLAIN);
        text.lines()
            .take_while(|line| !line.is_empty())
            .map(str::trim)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let says = |case: Case| headline(case).contains("One host: generator and database share its");
    assert!(says(cases::open()));
    assert!(says(cases::open().at(DatabaseLocation::ThisHost)));
    assert!(!says(cases::open().at(DatabaseLocation::Elsewhere)));
    assert!(!says(cases::open().at(DatabaseLocation::Unknown)));
    assert!(!says(cases::open().in_virtual_time()));
}

#[test]
fn closed_job_with_errors_and_two_statements_matches_its_text() {
    check("closed", cases::closed());
}

#[test]
fn meaningless_successes_are_reported_before_the_verdict() {
    let mut view = cases::open().view();
    view.summary.jobs[0].empty_success =
        Some(EmptySuccess::NoRows { answers: 15_000, statements: Vec::new() });
    let said = text(&view, &Style::PLAIN);
    let warning = said.find("Warning: [read] had 15,000 answers, and no row was returned");
    assert!(warning.is_some_and(|at| at < said.find("VALID").unwrap()), "{said}");
    view.summary.jobs[0].empty_success =
        Some(EmptySuccess::NothingDue { first: Some(Nanos::from_secs(90)) });
    let said = text(&view, &Style::PLAIN);
    assert!(said.contains("made no request: its first was due 90 s after time zero"), "{said}");
}

#[test]
fn limiter_is_shown_with_remedy_other_suspects_and_unobserved_sources() {
    check("limited", cases::limited());
}

#[test]
fn unknown_limiter_is_shown_with_each_component() {
    check("unknown", cases::unknown());
}

#[test]
fn three_jobs_with_a_missed_slo_match_their_text() {
    check("mixed", cases::mixed());
}

#[test]
fn intermittent_job_has_a_table_of_side_effects_per_job() {
    check("beside", cases::intermittent());
    let none = text(&cases::open().view(), &Style::PLAIN);
    assert!(!none.contains("beside"), "{none}");
}

#[test]
fn a_run_whose_server_limits_the_connections_is_suspect() {
    check("suspect", cases::suspect());
}

#[test]
fn every_finding_is_followed_by_its_remedy() {
    let objections = cases::all().into_iter().flat_map(|(name, view)| {
        let said = text(&view, &Style::PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
        let checks = view.summary.verdict.checks.into_iter();
        let remedies = checks.filter_map(|check| report::remedy_of(&check));
        remedies.map(move |remedy| (name, said.clone(), remedy))
    });
    let objections: Vec<_> = objections.collect();
    assert!(objections.len() > 10, "{}", objections.len());
    for (name, said, remedy) in objections {
        assert!(said.contains(&format!("What to do: {remedy} ")), "{name}: {remedy}");
    }
    let valid = text(&cases::open().view(), &Style::PLAIN);
    assert!(!valid.contains("What to do"), "{valid}");
}

#[test]
fn invalid_run_is_reported_before_any_number() {
    check("invalid", cases::invalid());
    let text = text(&cases::invalid().view(), &Style::PLAIN);
    assert_eq!(text.lines().next(), Some("INVALID"));
}

#[test]
fn run_beyond_the_capacity_withholds_misleading_numbers() {
    assert!(cases::exceeds().view().summary.jobs[0].exceeds_capacity);
    check("exceeds", cases::exceeds());
}

#[test]
fn interrupted_run_begins_with_that_word() {
    check("interrupted", cases::interrupted());
}

#[test]
fn killed_run_begins_with_that_word() {
    check("killed", cases::killed());
}

#[test]
fn lost_target_is_reported_first() {
    check("lost", cases::lost());
}

#[test]
fn a_run_that_only_loads_prints_loads() {
    check("loads", cases::loads());
}

#[test]
fn ended_load_reports_the_loaded_share() {
    check("partial-load", cases::partial_load());
}

#[test]
fn observation_of_a_program_has_a_verdict_if_a_check_objects() {
    let observation = |unread_plan: Option<&str>| {
        let mut case = Case::new("[observe]\n");
        case.evidence.unread_plan = unread_plan.map(str::to_owned);
        let facts = [(observe::COMMAND, "load.sh"), (observe::COMMAND_ENDED, "exit status: 0")];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
        case.about.settings.extend(facts);
        case.view()
    };
    for text in [text, short_text] {
        let shown = text(&observation(None), &Style::PLAIN);
        assert!(shown.contains("`load.sh` for ") && !shown.contains("VALID: "), "{shown}");
        let shown = text(&observation(Some("it is empty")), &Style::PLAIN);
        assert!(shown.contains("\nSUSPECT: ") && shown.contains("\n  complete "), "{shown}");
    }
}

#[test]
fn virtual_time_is_labelled() {
    check("virtual", cases::virtual_time());
}

#[test]
fn an_empty_window_is_not_a_result() {
    check("empty", cases::empty());
}

/// No line is wider than the page, except commands to be copied.
#[test]
fn answers_fit_pages_of_60_80_and_100_columns() {
    for (name, view) in cases::all() {
        for width in [60, 80, 100] {
            let said = text(&view, &Style { color: false, width });
            for line in said.lines().filter(|line| !line.starts_with("  assay ")) {
                assert!(line.chars().count() <= width, "{name}, {width} columns: {line}");
            }
        }
    }
}

#[test]
fn narrow_pages_give_up_columns_and_keep_counts_and_p99() {
    let titles = |width: usize| {
        let said = text(&cases::open().view(), &Style { color: false, width });
        let line = said.lines().find(|line| line.trim_start().starts_with("count ")).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(titles(100), "count mean stddev p50 p90 p95 p99 p99.9 max");
    assert_eq!(titles(80), "count mean p50 p95 p99 p99.9 max");
    assert_eq!(titles(60), "count mean p50 p99 max");
    assert_eq!(titles(1), titles(40), "no page is narrower than 40 columns");
    assert!(titles(40).starts_with("count ") && titles(40).contains("p99"), "{}", titles(40));
}

#[test]
fn colours_leave_the_words_unchanged() {
    let view = cases::open().view();
    let coloured = text(&view, &Style { color: true, ..Style::PLAIN });
    assert!(
        coloured.contains("\x1b[1;32mVALID\x1b[0m: 18 checks passed, 14 not possible here\n"),
        "{coloured}"
    );
    let mut parts = coloured.split("\x1b[");
    let mut plain = parts.next().unwrap().to_owned();
    parts.for_each(|part| plain.push_str(part.split_once('m').unwrap().1));
    assert_eq!(plain, text(&view, &Style::PLAIN));
}

/// Rates are over the window, as in the document; a note marks a job that was active in a part of
/// the window only.
#[test]
fn partially_present_job_is_marked() {
    let mut case = cases::open();
    let seconds = |job: &mut workload::Job, start, stop| {
        (job.start, job.stop) = (Nanos::from_secs(start), Some(Nanos::from_secs(stop)));
    };
    seconds(&mut case.evidence.plan.jobs[0], 25, 30);
    let said = text(&case.view(), &Style::PLAIN).replace("\n  ", " ");
    let words =
        "the job began at 25 s and ended at 30 s: throughput is over the whole window of 50 s";
    assert!(said.contains(words), "{said}");
    let whole = text(&cases::open().view(), &Style::PLAIN);
    assert!(!whole.contains("over the whole window"), "{whole}");
}

/// The text states the encryption of each target, because it affects the cost of a request, and a
/// URL does not always show it.
#[test]
fn the_target_says_whether_it_was_encrypted() {
    let mut case = Case::new(
        "[target far]\nurl = postgres://db2/shop\n[few]\nquery = select 1\nrate = 10\n\
         [many]\ntarget = far\nquery = select 1\nrate = 10\n",
    );
    for place in 0..2 {
        case = case.serving(place, Traffic::of(10));
    }
    let mut view = case.view();
    view.about.target = "mysql://db1/shop".to_owned();
    let bare = text(&view, &Style::PLAIN);
    assert!(!bare.contains("tls"), "{bare}");
    for (name, value) in [("tls", "off"), ("far.tls", "verify")] {
        view.about.settings.push((name.to_owned(), value.to_owned()));
    }
    let said = text(&view, &Style::PLAIN);
    for line in
        ["target      mysql://db1/shop, tls off", "target far  postgres://db2/shop, tls verify"]
    {
        assert!(said.contains(line), "{said}");
    }
}

#[test]
fn single_error_is_singular() {
    let mut view = cases::open().view();
    for (errors, words) in [(0, "+ 0 errors +"), (1, "+ 1 error +"), (2, "+ 2 errors +")] {
        view.summary.jobs[0].counts.balance = Balance::of(98, errors, 0, 0);
        let text = text(&view, &Style::PLAIN);
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// A job with a fixed number of requests shows that number. Its rate over the longer window of
/// another job would be meaningless.
#[test]
fn self_ending_job_shows_its_count() {
    let headline = |duration: &str, few: &str| {
        let file = format!("{duration}\n[few]\nquery = select 1\n{few}\n");
        let said = text(&Case::new(&file).serving(0, Traffic::of(10)).view(), &Style::PLAIN);
        said.lines().find(|line| line.starts_with("few")).unwrap().to_owned()
    };
    for (duration, few, words) in [
        ("duration = 60s", "concurrency = 3\ncount = 900", "3 clients 600 of 900 done;"),
        ("duration = 60s", "rate = 10\ncount = 600", "offered 10/s, 600 of 600 done;"),
        ("duration = 60s", "concurrency = 3", "3 clients achieved 10/s;"),
        ("duration = 60s", "rate = 10", "offered 10/s, achieved 10/s;"),
        // The run is as long as the job.
        ("", "concurrency = 3\ncount = 600", "3 clients achieved 10/s;"),
    ] {
        let line = headline(duration, few);
        assert!(line.contains(words), "{few}: {line}");
    }
}

/// A long name of a job moves the texts of all rows equally.
#[test]
fn columns_stay_aligned_with_job_names_of_any_length() {
    let long = "a-job-with-a-name-of-forty-characters-xx";
    for names in
        [["b", long, "c"], [&long[..25], "d", long], ["日本語の長い名前の仕事です", long, "e"]]
    {
        let mut view = cases::mixed().view();
        for (job, name) in view.summary.jobs.iter_mut().zip(names) {
            job.name = name.to_owned();
        }
        for style in [Style::PLAIN, Style { color: false, width: 120 }] {
            let said = text(&view, &style);
            let lines = names.iter().filter_map(|name| {
                let line = said.lines().find(|line| line.starts_with(*name))?;
                let rest = line.strip_prefix(*name)?;
                let gap = rest.chars().take_while(|c| *c == ' ').count();
                Some(unicode_width::UnicodeWidthStr::width(*name) + gap)
            });
            let columns: Vec<usize> = lines.collect();
            assert_eq!(columns.len(), names.len(), "{said}");
            assert!(columns.iter().all(|column| *column == columns[0]), "{columns:?}: {said}");
        }
    }
}
