//! Tests in which a script takes the place of ssh. The script works, or fails in one of the ways in
//! which ssh fails.

use std::process::Command;
use std::sync::mpsc::{Receiver, sync_channel};

use record::Reading;
use tempfile::TempDir;

use super::*;
use crate::sample::Missing;

/// Returns a script that answers as `assay observe --stdio` does, with a clock that is the given
/// number of seconds ahead.
fn working_script(ahead_s: i64) -> String {
    format!(
        r#"clock() {{ echo $(( $(date +%s%N) + {ahead_s} * 1000000000 )); }}
sample() {{
  readings='"readings":[["host","busy","s",'$1']]'
  echo '{{"at_ns":'$(clock)','$readings',"missing":[["disk sda","hidden"]]}}'
}}
echo 'Welcome to db1!'
echo '{{"assay-observe":1,"host":"db1","clock":0}}'
while read -r word number; do
  case $word in ping) echo "pong $number $(clock)";; begin) break;; esac
done
sample 1
sample 2
"#
    )
}

struct TestWatch {
    watch: Vec<RemoteWatch>,
    samples: Receiver<(Nanos, Sample)>,
    _folder: TempDir,
}

/// Starts a watch in which this script takes the place of `ssh`.
fn start_with_script(script: &str, timeouts: Timeouts) -> TestWatch {
    let folder = tempfile::tempdir().unwrap();
    let (text, path) = (folder.path().join("text"), folder.path().join("ssh"));
    std::fs::write(&text, format!("#!/bin/sh\n{script}")).unwrap();
    // A file that this process has open for writing cannot be executed. A child that another test
    // forks may keep the file open a little longer, so a different program writes it.
    let status = Command::new("install").arg("-m755").args([&text, &path]).status();
    assert!(status.unwrap().success());
    let (sender, samples) = sync_channel(1_000);
    let (zero, host) = (Monotonic.now(), RemoteHost::named("db1"));
    let on_sample = move |at, sample| drop(sender.send((at, sample)));
    let watch = RemoteWatch::begin_with_program(
        path.as_os_str(),
        zero,
        host,
        Scope::default(),
        timeouts,
        on_sample,
    );
    TestWatch { watch: vec![watch.unwrap()], samples, _folder: folder }
}

/// Returns limits that are much longer than the tests take.
fn timeouts() -> Timeouts {
    let (long, between_samples) = (Nanos::from_secs(60), Nanos::ZERO);
    Timeouts { greeting: long, silence: long, last_sample: long, between_samples }
}

impl TestWatch {
    fn end(&mut self) {
        RemoteWatch::end_all(std::mem::take(&mut self.watch));
    }

    fn readings(&self, count: usize) -> Vec<(Nanos, Reading)> {
        let samples = self.samples.iter();
        samples
            .flat_map(|(at, sample)| sample.readings.into_iter().map(move |read| (at, read)))
            .take(count)
            .collect()
    }

    /// Returns the first item that is missing.
    fn missing(&self) -> Missing {
        let mut missing = self.samples.iter().flat_map(|(_, sample)| sample.missing);
        missing.next().expect("something is missing")
    }
}

#[test]
fn remote_samples_are_reported_under_the_host_name() {
    let mut watched = start_with_script(&(working_script(0) + "cat\nsample 3\n"), timeouts());
    let readings = watched.readings(3);
    let of = |place: usize| {
        let (_, Reading { series, value }) = &readings[place];
        (series.component.as_str(), series.metric.as_str(), *value)
    };
    let (component, metric, offset_s) = of(0);
    assert_eq!((component, metric), ("db1/host", "clock-offset"));
    assert!(offset_s.abs() < 1.0, "{offset_s}");
    assert_eq!(of(1), ("db1/host", "busy", 1.0));
    assert_eq!(of(2), ("db1/host", "busy", 2.0));
    // When its input ends, the remote program ends as well, and its last sample is received.
    watched.end();
    let rest: Vec<Sample> = watched.samples.iter().map(|(_, sample)| sample).collect();
    let last = rest.iter().flat_map(|sample| &sample.readings).next_back();
    assert_eq!(last.map(|reading| reading.value), Some(3.0));
    let missing: Vec<&Missing> = rest.iter().flat_map(|sample| &sample.missing).collect();
    assert!(missing.is_empty(), "nothing else went wrong: {missing:?}");
}

#[test]
fn remote_clock_an_hour_ahead_is_reported_and_corrected() {
    let mut watched = start_with_script(&(working_script(3_600) + "cat\n"), timeouts());
    let missing = watched.missing();
    assert_eq!(missing.what, "db1/clock");
    let is_reported =
        missing.why.contains("3600.0 s ahead") || missing.why.contains("3599.9 s ahead");
    assert!(is_reported, "{}", missing.why);
    let readings = watched.readings(2);
    // The remote clock is an hour ahead, which must not show in the times of the samples.
    assert!(readings.iter().all(|(at, _)| *at < Nanos::from_secs(60)), "{readings:?}");
    watched.end();
}

#[test]
fn each_ssh_failure_is_reported_with_its_remedy() {
    for (script, words) in [
        (
            "echo 'u@db1: Permission denied (publickey,password).' >&2; exit 255\n",
            "ssh to db1 asks for a password: set up a key, or use ssh-agent",
        ),
        ("echo 'Host key verification failed.' >&2; exit 255\n", "does not know the key of db1"),
        ("echo 'sh: 1: assay: not found' >&2; exit 127\n", "`assay` is not on the PATH of db1"),
        ("echo 'unexpected argument' >&2; exit 2\n", "ended with code 2: unexpected argument"),
        ("echo '{\"assay-observe\":2}'; cat\n", "version 2 of this protocol"),
        ("yes 'I am a teapot'\n", "`I am a teapot`"),
        ("kill -9 $$\n", "ended without a message"),
    ] {
        let mut watched = start_with_script(script, timeouts());
        let Missing { what, why } = watched.missing();
        assert_eq!(what, "db1");
        assert!(why.contains(words), "{why}");
        watched.end();
    }
}

#[test]
fn observer_that_dies_midway_keeps_its_samples() {
    let script =
        working_script(0) + "echo 'Connection to db1 closed by remote host.' >&2; exit 255\n";
    let mut watched = start_with_script(&script, timeouts());
    let samples: Vec<(Nanos, Sample)> = watched.samples.iter().collect();
    let readings = samples.iter().map(|(_, sample)| sample.readings.len()).sum::<usize>();
    assert_eq!(readings, 3, "{samples:?}");
    let last = samples.last().and_then(|(_, sample)| sample.missing.first()).unwrap();
    assert!(last.why.contains("s into the run: it said: Connection to db1 closed"), "{last:?}");
    watched.end();
}

#[test]
fn observer_that_sends_garbage_is_dropped() {
    let mut watched =
        start_with_script(&(working_script(0) + "echo '{\"at_ns\": tomorrow}'; cat\n"), timeouts());
    let why =
        watched.samples.iter().flat_map(|(_, sample)| sample.missing).find(|m| m.what == "db1");
    assert!(why.unwrap().why.contains("not a sample: `{\"at_ns\": tomorrow}`"));
    watched.end();
}

#[test]
fn observer_that_sends_ever_new_names_is_cut() {
    let many = r#"names=$(seq -f '["host","n%.0f","s",1]' -s , 10007)
echo '{"at_ns":'$(clock)',"readings":['"$names"'],"missing":[]}'
cat
"#;
    let mut watched = start_with_script(&(working_script(0) + many), timeouts());
    let cut = watched.samples.iter().find(|(_, sample)| {
        sample.missing.iter().any(|missing| missing.what == "db1/further statistics")
    });
    let known = ["clock-offset", "busy"].len();
    assert_eq!(cut.unwrap().1.readings.len(), 10_000 - known);
    watched.end();
}

#[test]
fn missing_data_of_an_observer_are_limited_and_each_is_reported_once() {
    let many = r#"for first in 1 1 201 401 601 801; do
  names=$(seq -f '["n%.0f","hidden"]' -s , $first $((first + 199)))
  echo '{"at_ns":'$(clock)',"readings":[],"missing":['"$names"']}'
done
echo 'the end'
"#;
    let mut watched = start_with_script(&(working_script(0) + many), timeouts());
    let missing: Vec<Missing> = watched.samples.iter().flat_map(|(_, s)| s.missing).collect();
    let names: Vec<&str> = missing.iter().map(|missing| missing.what.as_str()).collect();
    // After the names, the script breaks the protocol, which is always reported.
    let end = ["db1/n999", "db1/further missing data", "db1"];
    assert_eq!((names[0], names[1], &names[999..]), ("db1/disk sda", "db1/n1", &end[..]));
    watched.end();
}

#[test]
fn readings_that_follow_too_soon_are_left_out() {
    let limits = Timeouts { between_samples: Nanos::from_secs(3_600), ..timeouts() };
    let more = r#"readings='"readings":[["host","idle","s",1]]'
echo '{"at_ns":'$(clock)','$readings',"missing":[["disk sdb","hidden"]]}'
cat
"#;
    let mut watched = start_with_script(&(working_script(0) + more), limits);
    let mut metrics = Vec::new();
    for (_, Sample { readings, missing }) in &watched.samples {
        metrics.extend(readings.into_iter().map(|reading| reading.series.metric));
        if missing.iter().any(|missing| missing.what == "db1/disk sdb") {
            break;
        }
    }
    assert_eq!(metrics, ["clock-offset", "busy"]);
    watched.end();
}

#[test]
fn observer_that_never_stops_sending_is_ended() {
    let limits = Timeouts { between_samples: Nanos::from_secs(3_600), ..timeouts() };
    let sample = r#"{"at_ns":1,"readings":[["host","busy","s",3]],"missing":[["x","y"]]}"#;
    for line in ["pong 1 1", sample] {
        let script = format!("{}exec yes '{line}'\n", working_script(0));
        let mut watched = start_with_script(&script, limits);
        assert_eq!(watched.readings(2).len(), 2);
        watched.end();
        let rest = watched.samples.iter().count();
        assert!(rest <= MAX_LAST_LINES + 2, "{rest}");
    }
}

#[test]
fn hanging_observer_is_given_up() {
    let short = Nanos::from_millis(50);
    let mut before =
        start_with_script("cat >/dev/null\n", Timeouts { greeting: short, ..timeouts() });
    assert!(before.missing().why.contains("no answer from db1 within 50ms"));
    before.end();
    // If a remote program hangs later, the watch continues to wait until the end of the run.
    let later = Timeouts { silence: short, last_sample: short, ..timeouts() };
    let mut watched = start_with_script(&(working_script(0) + "exec tail -f /dev/null\n"), later);
    let silent = watched.samples.iter().flat_map(|(_, sample)| sample.missing);
    let silent = silent.into_iter().find(|missing| missing.what == "db1").unwrap();
    assert!(silent.why.contains("nothing came from it for 50ms"), "{silent:?}");
    watched.end();
}

#[test]
fn a_run_that_is_over_before_ssh_answers_does_not_wait_for_it() {
    let mut watched = start_with_script("exec cat >/dev/null\n", timeouts());
    watched.end();
    let missing: Vec<Missing> = watched.samples.iter().flat_map(|(_, s)| s.missing).collect();
    assert!(missing[0].why.contains("before an answer of ssh to db1"), "{missing:?}");
}

#[test]
fn missing_ssh_is_reported() {
    let (sender, samples) = sync_channel(10);
    let watch = RemoteWatch::begin_with_program(
        OsStr::new("/none/ssh"),
        Monotonic.now(),
        RemoteHost::named("db1"),
        Scope::default(),
        timeouts(),
        move |_, sample: Sample| drop(sender.send(sample)),
    );
    let sample = samples.recv().unwrap();
    assert!(sample.missing[0].why.contains("`ssh` is not on the PATH"), "{sample:?}");
    RemoteWatch::end_all(vec![watch.unwrap()]);
}
