//! Tests of `assay explain`: the guide on checks, limiters, metrics, objections, exit codes and
//! terms.

use crate::support::TestFolder;

#[test]
fn guide_on_a_name_is_printed_with_its_page() {
    let place = TestFolder::new();
    let shown = |names: &[&str]| place.assay(&[&["explain"], names].concat()).expect(0).stdout;
    let check = shown(&["balance"]);
    assert!(check.starts_with("balance: a check of a run (docs/checks.md)\n\nIs every request"));
    assert!(check.contains("What to do: report this with the record"), "{check}");
    let both = shown(&["generator-cpu"]);
    assert!(both.contains("a check of a run") && both.contains("generator-cpu: a limiter"));
    assert!(!both.contains("]("), "links have no addresses: {both}");
    let metric = shown(&["response.p99(read)"]);
    assert!(metric.contains("unit: milliseconds") && metric.contains("better: less"), "{metric}");
    assert!(shown(&["3"]).contains("INVALID"), "exit code");
    let several = shown(&["stall", "step"]);
    assert!(several.contains("stall: a check") && several.contains("\nstep: a check"));
    let names = shown(&[]);
    assert!(names.starts_with("checks: complete, window, ") && names.lines().count() == 7);
    let doctor = shown(&["busy-machine"]);
    let head = "busy-machine: a check of `assay doctor` (docs/environment.md)\n\nfinds: other";
    assert!(doctor.starts_with(head), "{doctor}");
    let objection = shown(&["incomplete"]);
    let head = "incomplete: an objection to a comparison (docs/comparing.md)\n\nobjection: a run";
    assert!(objection.starts_with(head), "{objection}");
    let words = [
        "VALID",
        "suspect",
        "slo",
        "withheld",
        "undecided",
        "response time",
        "bracket",
        "declared",
    ];
    for word in words {
        let text = shown(&[word]);
        assert!(text.starts_with(&format!("{word}: a term (docs/glossary.md)\n\n")), "{text}");
    }
}

#[test]
fn unknown_name_suggests_the_nearest() {
    let place = TestFolder::new();
    let near = place.assay(&["explain", "send-lags"]).expect(2);
    assert_eq!(
        near.stderr,
        "error: the guide has no check, limiter, metric, objection, exit code or term \
         `send-lags`; did you mean `send-lag`?\n  = help: `assay explain` lists the names\n"
    );
    for name in ["qqqqqq", "", "1.0", "x"] {
        let far = place.assay(&["explain", name]).expect(2);
        assert!(!far.stderr.contains("did you mean"), "{}", far.stderr);
        assert!(far.stderr.ends_with("help: `assay explain` lists the names\n"), "{}", far.stderr);
    }
    // The suggestion is not `clock`, although its spelling is closer.
    place.assay(&["explain", "lock"]).refuses(&["did you mean `database-locks`?"]);
    // A check and a limiter are called `generator-cpu`.
    let names = "did you mean `generator-cpu`, `cpu-quota` or `database-cpu`?";
    place.assay(&["explain", "cpu"]).refuses(&[names]);
    place.assay(&["explain", "response.p98"]).refuses(&[
        "error: there is no metric `response.p98`\n",
        "help: in `response.Q`, Q is `p50`, `p90`, ",
    ]);
}

#[test]
fn answer_names_the_command_that_explains_its_objections_and_limiter() {
    let answer = |url: &str, form: &[&str]| {
        let place = TestFolder::with("duration = 20s\n[a]\nquery = select 1\nrate = 100\n");
        let _ = place.run_virtually(url, &[]);
        place.assay(&[&["report", "r.assay"][..], form].concat()).stdout
    };
    let (good, bad) = ("sim:mm1?service=1ms", "sim:mm1?service=1ms&outage=5s..8s");
    let place = TestFolder::new();
    for form in [&["--full"][..], &[]] {
        let text = answer(bad, form);
        let line = text.lines().find(|line| line.contains("assay explain ")).unwrap();
        let names = line.split_whitespace().skip_while(|word| *word != "explain").skip(1);
        let names: Vec<&str> = names.collect();
        assert!(names.contains(&"outage"), "{line}");
        names.iter().for_each(|name| {
            place.assay(&["explain", name]).expect(0);
        });
    }
    for form in [&["--full"][..], &[]] {
        let text = answer(good, form);
        let line = text.lines().find(|line| line.contains("assay explain ")).unwrap();
        assert!(line.ends_with(" assay explain not-saturated"), "{text}");
    }
}
