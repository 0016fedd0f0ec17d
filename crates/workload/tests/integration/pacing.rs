//! Errors in the pacing of jobs, with their corrections.

use workload::{OnOutage, Reconnect};

use crate::{check, plan};

#[test]
fn one_job_has_one_model() {
    check(
        r#"
[read]
query = select 1
rate = 5
every = 10s
"#,
        r#"
error: `rate` and `every` cannot be set together
 --> mail.ini:4:1
  |
4 | every = 10s
  | ^^^^^
  |
  = help: `rate` is traffic, `every` a timetable: keep the one that you mean
"#,
    );
    check(
        r#"
[read]
query = select 1
every = 10s
concurrency = 4
"#,
        r#"
error: `every` and `concurrency` cannot be set together
 --> mail.ini:4:1
  |
4 | concurrency = 4
  | ^^^^^^^^^^^
  |
  = help: a timetable opens as many connections as it needs;
          for a queue with workers write `rate` and `concurrency`
"#,
    );
}

#[test]
fn an_arrival_needs_a_rate() {
    check(
        r#"
[read]
query = select 1
arrival = uniform
"#,
        r#"
error: `arrival` needs a `rate`
 --> mail.ini:3:1
  |
3 | arrival = uniform
  | ^^^^^^^
  |
  = help: write `rate = 100` as well, or leave it out
"#,
    );
    check(
        r#"
[read]
query = select 1
every = 1s
arrival = uniform
"#,
        r#"
error: `arrival` needs a `rate`
 --> mail.ini:4:1
  |
4 | arrival = uniform
  | ^^^^^^^
  |
  = help: a timetable is always even: leave `arrival` out
"#,
    );
}

#[test]
fn batches_and_queues_need_a_rate() {
    check(
        r#"
[read]
query = select 1
batch-size = 5
"#,
        r#"
error: `batch-size` needs a `rate` or `every`
 --> mail.ini:3:1
  |
3 | batch-size = 5
  | ^^^^^^^^^^
  |
  = help: write `rate = 100` or `every = 10s` as well, or leave it out
"#,
    );
    check(
        r#"
[read]
query = select 1
queue-limit = 5
rate = 5
"#,
        r#"
error: `queue-limit` needs a `rate` and a `concurrency`
 --> mail.ini:3:1
  |
3 | queue-limit = 5
  | ^^^^^^^^^^^
  |
  = help: add the missing key, or leave the limit out: a queue needs both
"#,
    );
}

#[test]
fn outage_key_needs_arrivals() {
    check(
        r#"
[read]
query = select 1
outage = wait
"#,
        r#"
error: `outage` needs a `rate` or `every`
 --> mail.ini:3:1
  |
3 | outage = wait
  | ^^^^^^
  |
  = help: clients of a closed job wait for a lost target anyway: leave it out
"#,
    );
    check(
        r#"
[read]
query-log-file = q.log
outage = wait
"#,
        r#"
error: `outage` needs a `rate` or `every`
 --> mail.ini:3:1
  |
3 | outage = wait
  | ^^^^^^
  |
  = help: log lines fail at once while their target is unreachable: leave it out
"#,
    );
}

#[test]
fn outage_key_fits_every_model_with_reconnect() {
    for pacing in ["concurrency = 3", "rate = 5", "every = 5s", "rate = 5\nconcurrency = 3"] {
        let connecting = "reconnect = per-transaction\noutage = wait";
        let plan = plan(&format!("[read]\nquery = select 1\n{pacing}\n{connecting}\n"));
        let job = &plan.jobs[0];
        assert_eq!((job.reconnect, job.on_outage), (Reconnect::PerTransaction, OnOutage::Wait));
    }
    let plan = plan("[read]\nquery = select 1\nreconnect = no\n");
    assert_eq!(plan.jobs[0].reconnect, Reconnect::No);
}

#[test]
fn queue_overflow_key_needs_a_queue() {
    check(
        r#"
[read]
query = select 1
rate = 100
on-queue-full = stop
"#,
        r#"
error: `on-queue-full` needs a `rate` and a `concurrency`
 --> mail.ini:4:1
  |
4 | on-queue-full = stop
  | ^^^^^^^^^^^^^
  |
  = help: add the missing key, or leave the line out: a queue needs both
"#,
    );
}

/// The value of a parameter has the same effect as if it were written in the line.
#[test]
fn session_is_what_its_value_says() {
    let error = |keys: &str| {
        let text = format!("[params]\ns = yes\n[a]\nquery = select 1\n{keys}");
        let (_, found) = workload::plan(&text, &workload::Overrides::default());
        found.into_iter().next().map(|first| first.message)
    };
    let cannot = "`think` cannot be combined with `rate`".to_owned();
    assert_eq!(error("rate = 5\nthink = 5ms\nsession = no\n"), Some(cannot));
    let needs = "`session` needs a `rate`".to_owned();
    assert_eq!(error("concurrency = 2\nsession = ${s}\n"), Some(needs));
    assert_eq!(error("rate = 5\nthink = 5ms\nsession = ${s}\n"), None);
}

#[test]
fn only_clients_of_a_closed_job_think() {
    check(
        r#"
[read]
query = select 1
think = 5ms
rate = 5
"#,
        r#"
error: `think` cannot be combined with `rate`
 --> mail.ini:3:1
  |
3 | think = 5ms
  | ^^^^^
  |
  = help: only clients of a closed job and sessions think: leave out `think` or `rate`
"#,
    );
    check(
        r#"
[read]
query = select 1
think = 5ms
every = 5s
"#,
        r#"
error: `think` cannot be combined with `every`
 --> mail.ini:3:1
  |
3 | think = 5ms
  | ^^^^^
  |
  = help: only clients of a closed job and sessions think: leave out `think` or `every`
"#,
    );
}

#[test]
fn a_pause_is_a_duration() {
    check(
        r#"
[read]
query = select 1
think = 20
"#,
        r#"
error: `think` is a duration, but `20` is an integer
 --> mail.ini:3:9
  |
3 | think = 20
  |         ^^
  |
  = help: give its numbers a unit: `20ms`, `exp(20ms)`
"#,
    );
    check(
        r#"
[read]
query = select 1
think = exp(20)
"#,
        r#"
error: `think` is a duration, but `exp(20)` is a number with a point
 --> mail.ini:3:9
  |
3 | think = exp(20)
  |         ^^^^^^^
  |
  = help: give its numbers a unit: `20ms`, `exp(20ms)`
"#,
    );
    check(
        r#"
[read]
query = select 1
think = 'long'
"#,
        r#"
error: `think` is a duration, but `'long'` is a text
 --> mail.ini:3:9
  |
3 | think = 'long'
  |         ^^^^^^
  |
  = help: write for example `think = exp(20ms)`
"#,
    );
}

#[test]
fn a_pause_is_a_sound_expression() {
    check(
        r#"
[read]
query = select 1
think = -20ms
"#,
        r#"
error: `-20ms` is negative
 --> mail.ini:3:9
  |
3 | think = -20ms
  |         ^^^^^
"#,
    );
    check(
        r#"
[read]
query = select 1
think = exp(20ms
"#,
        r#"
error: this `(` is not closed
 --> mail.ini:3:12
  |
3 | think = exp(20ms
  |            ^
  |
  = help: write the missing `)`
"#,
    );
}

#[test]
fn a_timetable_has_a_sensible_period() {
    check(
        r#"
[read]
query = select 1
every = 0s
"#,
        r#"
error: `0s` is zero, but `every` must take some time
 --> mail.ini:3:9
  |
3 | every = 0s
  |         ^^
  |
  = help: write for example `every = 10s`
"#,
    );
    check(
        r#"
[read]
query = select 1
every = 1ns
"#,
        r#"
error: `1ns` is less than 100ns, the time of 10,000,000 arrivals per second
 --> mail.ini:3:9
  |
3 | every = 1ns
  |         ^^^
"#,
    );
    check(
        r#"
[read]
query = select 1
every = 400d
"#,
        r#"
error: `400d` is longer than a year
 --> mail.ini:3:9
  |
3 | every = 400d
  |         ^^^^
"#,
    );
}

#[test]
fn total_rate_has_a_limit() {
    check(
        r#"
[read]
query = select 1
rate = 1M
batch-size = 20
"#,
        r#"
error: this job would send 20,000,000 requests per second, above 10,000,000
 --> mail.ini:4:1
  |
4 | batch-size = 20
  | ^^^^^^^^^^^^^^^
  |
  = help: lower the rate or the batch
"#,
    );
    check(
        r#"
[read]
query = select 1
rate = 10M
[write]
query = select 1
every = 1us
[third]
query = select 1
rate = 10M
"#,
        r#"
error: the jobs up to here together would send 11,000,000 requests per second, above 10,000,000
 --> mail.ini:6:1
  |
6 | every = 1us
  | ^^^^^^^^^^^
  |
  = help: lower the rate or the batch
"#,
    );
}

#[test]
fn timetable_without_an_occurrence_is_a_warning() {
    check(
        r#"
duration = 10s
[read]
query = select 1
every = 10s
[write]
query = select 1
every = 9s
"#,
        r#"
warning: the first arrival is due at `10s`, but the job has ended by then
 --> mail.ini:4:1
  |
4 | every = 10s
  | ^^^^^^^^^^^
  |
  = help: make the run longer, or `every` shorter
"#,
    );
}

#[test]
fn uniform_arrivals_without_an_occurrence_are_a_warning() {
    check(
        r#"
duration = 10s
[read]
query = select 1
rate = 0.1
arrival = uniform
"#,
        r#"
warning: the first arrival is due at `10s`, but the job has ended by then
 --> mail.ini:4:1
  |
4 | rate = 0.1
  | ^^^^^^^^^^
  |
  = help: make the run longer, or the rate higher
"#,
    );
}

#[test]
fn unlimited_queue_is_a_warning() {
    check(
        r#"
[read]
query = select 1
rate = 100
concurrency = 2
queue-limit = 100000000
"#,
        r#"
warning: that many waiting requests could need 9 GiB of memory
 --> mail.ini:5:15
  |
5 | queue-limit = 100000000
  |               ^^^^^^^^^
  |
  = help: lower `queue-limit`
"#,
    );
}

#[test]
fn start_and_stop_lie_within_the_run() {
    check(
        r#"
duration = 10s
[read]
query = select 1
start = 11s
"#,
        r#"
error: the job starts at `11s`, but the run ends at `10s`
 --> mail.ini:4:9
  |
4 | start = 11s
  |         ^^^
  |
  = help: `duration` is the length of the whole run: make it longer
"#,
    );
    check(
        r#"
duration = 10s
[read]
query = select 1
stop = 11s
"#,
        r#"
error: the job stops at `11s`, but the run ends at `10s`
 --> mail.ini:4:8
  |
4 | stop = 11s
  |        ^^^
  |
  = help: `duration` is the length of the whole run: make it longer
"#,
    );
}

#[test]
fn a_job_that_does_nothing_is_warned_about() {
    check(
        r#"
duration = 10s
[read]
query = select 1
start = 10s
"#,
        r#"
warning: the job starts when the run ends: it does nothing
 --> mail.ini:4:9
  |
4 | start = 10s
  |         ^^^
"#,
    );
    check(
        r#"
duration = 10s
[read]
query = select 1
start = 5s
stop = 5s
"#,
        r#"
warning: the job stops at `5s`, but starts at `5s`: it does nothing
 --> mail.ini:5:8
  |
5 | stop = 5s
  |        ^^
  |
  = help: `stop` counts from the start of the run, not of the job
"#,
    );
}

#[test]
fn duration_exceeds_the_warm_up() {
    check(
        r#"
duration = 10s
warmup = 10s
[read]
query = select 1
"#,
        r#"
error: nothing would be measured: the warm-up is `10s`, the whole run `10s`
 --> mail.ini:2:10
  |
2 | warmup = 10s
  |          ^^^
  |
  = help: `duration` includes the warm-up: make it longer
"#,
    );
}

#[test]
fn connections_grow_up_to_the_maximum() {
    check(
        r#"
connections = 20
max-connections = 10
[read]
query = select 1
"#,
        r#"
error: `connections` is 20, but `max-connections` is 10
 --> mail.ini:1:15
  |
1 | connections = 20
  |               ^^
  |
  = help: write `max-connections = 20`
"#,
    );
    check(
        r#"
connections = 2k
[read]
query = select 1
"#,
        r#"
error: `connections` is 2000, but `max-connections` is 1000
 --> mail.ini:1:15
  |
1 | connections = 2k
  |               ^^
  |
  = help: write `max-connections = 2000`
"#,
    );
}
