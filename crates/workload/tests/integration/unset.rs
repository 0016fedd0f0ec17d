//! Values that dbbench treats as "not set" count as not set here, too, with a warning.

use base::{Nanos, Severity};
use workload::{Overrides, Pacing, Plan};

use crate::{check, render};

/// Returns the plan of a file that gives exactly these warnings.
fn warned(input: &str, expected: &[&str]) -> Plan {
    let (plan, diagnostics) = workload::plan(input, &Overrides::default());
    let shown = render(input, &diagnostics);
    assert_eq!(diagnostics.len(), expected.len(), "{shown}");
    for (diagnostic, expected) in diagnostics.iter().zip(expected) {
        assert_eq!(diagnostic.severity, Severity::Warning, "{shown}");
        assert!(diagnostic.message.contains(expected), "{shown}");
    }
    plan.unwrap_or_else(|| panic!("{shown}"))
}

/// Returns the job with these keys.
fn job(keys: &str, expected: &[&str]) -> workload::Job {
    warned(&format!("[read]\nquery = select 1\n{keys}\n"), expected).jobs.remove(0)
}

const ZERO: &str = "`0` is zero, which counts as not set";

#[test]
fn zero_that_dbbench_ignores_is_unset() {
    assert_eq!(job("count = 0", &[ZERO]).count, None);
    let one = Pacing::Closed { clients: 1, think: None };
    for keys in ["concurrency = 0", "queue-depth = 0", "rate = 0", "batch-size = 0"] {
        assert_eq!(job(keys, &[ZERO]).pacing, one, "{keys}");
    }
    assert_eq!(job("rate = 0.0\nconcurrency = 3", &["`0.0` is zero"]).model(), "closed");
    assert_eq!(job("rate = 9\nqueue-depth = 0", &[ZERO]).model(), "open");
    let (_, batch) = job("rate = 9\nbatch-size = 0", &[ZERO]).arrivals().unwrap();
    assert_eq!(batch, 1);
    let all = job("rate = 0\nbatch-size = 0\ncount = 0\nconcurrency = 0", &[ZERO; 4]);
    assert_eq!(all.pacing, one);
}

#[test]
fn zero_from_a_parameter_is_unset() {
    let plan = warned("[params]\nn = 0\n[read]\nquery = select 1\ncount = ${n}\n", &["`${n}`"]);
    assert_eq!(plan.jobs[0].count, None);
}

#[test]
fn negative_durations_are_unset() {
    let negative = "is negative, which counts as 0";
    let read = job("start = -5s\nstop = -1m30s", &[negative, negative]);
    assert_eq!((read.start, read.stop), (Nanos::ZERO, None));
    let plan = warned("duration = -1s\n[read]\nquery = select 1\n", &[negative]);
    assert_eq!(plan.duration, None);
}

#[test]
fn rates_are_read_as_dbbench_reads_them() {
    for (text, per_s) in [(".5", 0.5), ("1e3", 1e3), ("5.", 5.0), ("2.5E-1", 0.25)] {
        let offered = job(&format!("rate = {text}"), &[]).offered_per_s(base::Nanos::ZERO, None);
        assert_eq!(offered, Some(per_s), "{text}");
    }
}

#[test]
fn warning_names_the_effective_value() {
    check(
        r#"
[read]
query = select 1
rate = 0
start = -1s
"#,
        r#"
warning: `0` is zero, which counts as not set
 --> mail.ini:3:8
  |
3 | rate = 0
  |        ^
  |
  = help: without a rate the job has no arrivals: its clients send one request after the other

warning: `-1s` is negative, which counts as 0
 --> mail.ini:4:9
  |
4 | start = -1s
  |         ^^^
  |
  = help: the job begins at once: leave the key out
"#,
    );
}

/// A section that runs only as a part of a mix has neither arrivals nor clients of its own.
#[test]
fn zero_in_a_part_has_no_consequence_of_a_job() {
    for line in ["rate = 0", "concurrency = 0"] {
        let input = format!("[m]\nmix = read\nrate = 5\n[read]\nquery = select 1\n{line}\n");
        let (_, diagnostics) = workload::plan(&input, &Overrides::default());
        let helps: Vec<_> = diagnostics.iter().map(|found| found.help.as_deref()).collect();
        assert_eq!(helps, [Some("the section runs only as a part of the mix")], "{line}");
    }
}

/// Values that dbbench rejects, or crashes on, stay errors.
#[test]
fn values_that_dbbench_refuses_are_refused() {
    for rate in ["-1", "inf", "nan", "2e9", "1e-11"] {
        let input = format!("[read]\nquery = select 1\nrate = {rate}\n");
        let (plan, diagnostics) = workload::plan(&input, &Overrides::default());
        assert!(plan.is_none(), "{rate}");
        assert_eq!(diagnostics.len(), 1, "{}", render(&input, &diagnostics));
    }
}
