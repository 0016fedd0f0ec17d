//! Errors in values, with their corrections.

use crate::check;

#[test]
fn durations_have_units() {
    check(
        r#"
duration = 10
[read]
query = select 1
"#,
        r#"
error: `10` has no unit: write `10s`, `250ms`, `1m30s` or `1h`
 --> mail.ini:1:12
  |
1 | duration = 10
  |            ^^
"#,
    );
    check(
        r#"
duration = 10sec
[read]
query = select 1
"#,
        r#"
error: `10sec` has an unknown unit: units are ns, us, ms, s, m, h and d
 --> mail.ini:1:12
  |
1 | duration = 10sec
  |            ^^^^^
  |
  = help: write `duration = 10s`
"#,
    );
    check(
        r#"
duration = soon
[read]
query = select 1
"#,
        r#"
error: `soon` is not a number
 --> mail.ini:1:12
  |
1 | duration = soon
  |            ^^^^
  |
  = help: write for example `duration = 60s`
"#,
    );
}

#[test]
fn durations_have_a_sensible_length() {
    check(
        r#"
drain = -10s
[read]
query = select 1
"#,
        r#"
error: `-10s` is negative
 --> mail.ini:1:9
  |
1 | drain = -10s
  |         ^^^^
  |
  = help: write for example `drain = 30s`
"#,
    );
    check(
        r#"
drain = 999999999999h
[read]
query = select 1
"#,
        r#"
error: `999999999999h` is too large
 --> mail.ini:1:9
  |
1 | drain = 999999999999h
  |         ^^^^^^^^^^^^^
  |
  = help: write for example `drain = 30s`
"#,
    );
    check(
        r#"
probe = 0s
[read]
query = select 1
"#,
        r#"
error: `0s` is zero, but `probe` must take some time
 --> mail.ini:1:9
  |
1 | probe = 0s
  |         ^^
  |
  = help: write for example `probe = 1s`
"#,
    );
    check(
        r#"
duration = 0
[read]
query = select 1
"#,
        r#"
warning: a duration of zero means no limit
 --> mail.ini:1:12
  |
1 | duration = 0
  |            ^
  |
  = help: leave the key out for a run until interrupted
"#,
    );
}

#[test]
fn rates_are_numbers_per_second() {
    check(
        r#"
[read]
query = select 1
rate = 10ms
"#,
        r#"
error: `10ms` is not a number
 --> mail.ini:3:8
  |
3 | rate = 10ms
  |        ^^^^
  |
  = help: `rate` is a number per second: write `rate = 100`, or `every = 10ms`
"#,
    );
    check(
        r#"
[read]
query = select 1
rate = 100/s
"#,
        r#"
error: `100/s` is not a number
 --> mail.ini:3:8
  |
3 | rate = 100/s
  |        ^^^^^
  |
  = help: `rate` is per second without a unit: write `rate = 100`
"#,
    );
    check(
        r#"
[read]
query = select 1
rate = many
"#,
        r#"
error: `many` is not a number
 --> mail.ini:3:8
  |
3 | rate = many
  |        ^^^^
  |
  = help: write for example `rate = 3000`
"#,
    );
    check(
        r#"
[read]
query = select 1
rate = 1,000
"#,
        r#"
error: `1,000` is not a number
 --> mail.ini:3:8
  |
3 | rate = 1,000
  |        ^^^^^
  |
  = help: digits are not grouped: write `rate = 1000`
"#,
    );
}

#[test]
fn rates_are_inside_their_limits() {
    check(
        r#"
[read]
query = select 1
rate = -1
"#,
        r#"
error: `-1` is negative
 --> mail.ini:3:8
  |
3 | rate = -1
  |        ^^
  |
  = help: write for example `rate = 3000`
"#,
    );
    check(
        r#"
[read]
query = select 1
rate = 1e9
"#,
        r#"
error: `1e9` is above 10,000,000 per second
 --> mail.ini:3:8
  |
3 | rate = 1e9
  |        ^^^
  |
  = help: write for example `rate = 3000`
"#,
    );
    check(
        r#"
[read]
query = select 1
rate = 0.00000001
"#,
        r#"
error: `0.00000001` is less than one event in a year
 --> mail.ini:3:8
  |
3 | rate = 0.00000001
  |        ^^^^^^^^^^
  |
  = help: write for example `rate = 3000`
"#,
    );
}

#[test]
fn counts_are_whole() {
    check(
        r#"
[read]
query = select 1
concurrency = 1.5
"#,
        r#"
error: `1.5` is not a whole number
 --> mail.ini:3:15
  |
3 | concurrency = 1.5
  |               ^^^
  |
  = help: write for example `concurrency = 16`
"#,
    );
    check(
        r#"
[load t]
rows = 10 000
columns = a: 1
"#,
        r#"
error: `10 000` is not a number
 --> mail.ini:2:8
  |
2 | rows = 10 000
  |        ^^^^^^
  |
  = help: digits are not grouped: write `rows = 10000`
"#,
    );
    check(
        r#"
[load t]
rows = 100K
columns = a: 1
"#,
        r#"
error: `100K` is not a number
 --> mail.ini:2:8
  |
2 | rows = 100K
  |        ^^^^
  |
  = help: the multipliers are `k` for 1,000 and `M` for 1,000,000
"#,
    );
    check(
        r#"
[load t]
rows = 10m
columns = a: 1
"#,
        r#"
error: `10m` is not a number
 --> mail.ini:2:8
  |
2 | rows = 10m
  |        ^^^
  |
  = help: the multipliers are `k` for 1,000 and `M` for 1,000,000
"#,
    );
}

#[test]
fn counts_are_inside_their_limits() {
    check(
        r#"
[load t]
rows = 1
columns = a: 1
writers = 0
"#,
        r#"
error: `0` is too few: `writers` is at least 1
 --> mail.ini:4:11
  |
4 | writers = 0
  |           ^
"#,
    );
    check(
        r#"
[read]
query = select 1
concurrency = 1M
"#,
        r#"
error: `1M` is too many: `concurrency` is at most 100,000
 --> mail.ini:3:15
  |
3 | concurrency = 1M
  |               ^^
"#,
    );
    check(
        r#"
seed = 99999999999999999999
[read]
query = select 1
"#,
        r#"
error: `99999999999999999999` is too large
 --> mail.ini:1:8
  |
1 | seed = 99999999999999999999
  |        ^^^^^^^^^^^^^^^^^^^^
  |
  = help: write for example `seed = 7`
"#,
    );
}

#[test]
fn expected_rows_are_a_sound_range() {
    check(
        r#"
[read]
query = select 1
expect-rows = 10..1
"#,
        r#"
error: `10..1` ends before it begins
 --> mail.ini:3:15
  |
3 | expect-rows = 10..1
  |               ^^^^^
  |
  = help: write for example `expect-rows = 1`
"#,
    );
    check(
        r#"
[read]
query = select 1
expect-rows = some
"#,
        r#"
error: `some` is not a number
 --> mail.ini:3:15
  |
3 | expect-rows = some
  |               ^^^^
  |
  = help: write for example `expect-rows = 1`
"#,
    );
}

#[test]
fn a_parameter_without_its_braces_is_recognised() {
    check(
        r#"
[params]
n = 5
[load t]
rows = n
columns = a: 1
"#,
        r#"
error: `n` is not a number
 --> mail.ini:4:8
  |
4 | rows = n
  |        ^
  |
  = help: to use a parameter, write `rows = ${n}`
"#,
    );
    check(
        r#"
[params]
n = 5
[read]
query = select 1
rate = n * 10
"#,
        r#"
error: `n * 10` is not a number
 --> mail.ini:5:8
  |
5 | rate = n * 10
  |        ^^^^^^
  |
  = help: to use a parameter, write `rate = ${n * 10}`
"#,
    );
}

#[test]
fn choices_list_their_words() {
    check(
        r#"
[read]
query = select 1
transaction = true
"#,
        r#"
error: `transaction` is yes or no, not `true`
 --> mail.ini:3:15
  |
3 | transaction = true
  |               ^^^^
  |
  = help: write `transaction = yes`
"#,
    );
    check(
        r#"
[read]
query = select 1
on-error = stopp
"#,
        r#"
error: `on-error` is continue or stop, not `stopp`
 --> mail.ini:3:12
  |
3 | on-error = stopp
  |            ^^^^^
  |
  = help: did you mean `stop`?
"#,
    );
    check(
        r#"
[read]
query = select 1
rate = 5
arrival = random
"#,
        r#"
error: `arrival` is poisson or uniform, not `random`
 --> mail.ini:4:11
  |
4 | arrival = random
  |           ^^^^^^
"#,
    );
    check(
        r#"
[load t]
rows = 1
columns = a: 1
method = bulk
"#,
        r#"
error: `method` is auto, insert, copy or load-data, not `bulk`
 --> mail.ini:4:10
  |
4 | method = bulk
  |          ^^^^
"#,
    );
}

#[test]
fn urls_are_checked_and_passwords_never_shown() {
    check(
        r#"
url = sqlit:x
[read]
query = select 1
"#,
        r#"
error: unknown scheme `sqlit:`; did you mean `sqlite:`?
 --> mail.ini:1:7
  |
1 | url = sqlit:x
  |       ^^^^^^^
"#,
    );
    check(
        r#"
url = sim:mm1?service=1ms&noise=2%
[read]
query = select 1
"#,
        r#"
error: option `noise` is `2%`, but a percentage is written as a fraction
 --> mail.ini:1:27
  |
1 | url = sim:mm1?service=1ms&noise=2%
  |                           ^^^^^^^^
  |
  = help: write `noise=0.02`
"#,
    );
    check(
        r#"
url = postgres://ann:hunter2@db:99999/x
[read]
query = select 1
"#,
        "
error: `url` in line 1: `99999` is not a port from 1 to 65535
--> mail.ini
",
    );
}

#[test]
fn error_codes_are_lists() {
    check(
        r#"
[read]
query = select 1
error = 40001 1213
"#,
        r#"
error: `40001 1213` is not an error code
 --> mail.ini:3:9
  |
3 | error = 40001 1213
  |         ^^^^^^^^^^
  |
  = help: codes are separated by commas: `40001, 1213`
"#,
    );
    check(
        r#"
[read]
query = select 1
error = 40001,
"#,
        r#"
error: an error code is missing next to a comma
 --> mail.ini:3:15
  |
3 | error = 40001,
  |               ^
  |
  = help: codes are separated by commas: `40001, 1213`
"#,
    );
    check(
        r#"
error = a_code_that_is_longer_than_any_code
[read]
query = select 1
"#,
        r#"
error: `a_code_that_is_longer_than_any_code` has more than 31 characters
 --> mail.ini:1:9
  |
1 | error = a_code_that_is_longer_than_any_code
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: codes are separated by commas: `40001, 1213`
"#,
    );
}

#[test]
fn retries_name_their_codes() {
    check(
        r#"
[read]
query = select 1
retry = 3
"#,
        r#"
error: `3` names no error codes
 --> mail.ini:3:9
  |
3 | retry = 3
  |         ^
  |
  = help: write for example `retry = 3 on 40001, 1213`
"#,
    );
    check(
        r#"
[read]
query = select 1
retry = often on 1213
"#,
        r#"
error: `often` is not a number
 --> mail.ini:3:9
  |
3 | retry = often on 1213
  |         ^^^^^
  |
  = help: write for example `retry = 3 on 40001, 1213`
"#,
    );
    check(
        r#"
[read]
query = select 1
retry = 0 on 1213
"#,
        r#"
error: `0` is not between 1 and 1,000
 --> mail.ini:3:9
  |
3 | retry = 0 on 1213
  |         ^
"#,
    );
    check(
        r#"
[read]
query = select 1
retry = 3 on
"#,
        r#"
error: `3 on` names no error codes
 --> mail.ini:3:9
  |
3 | retry = 3 on
  |         ^^^^
  |
  = help: write for example `retry = 3 on 40001, 1213`
"#,
    );
}

#[test]
fn conditions_have_a_side() {
    check(
        r#"
[read]
query = select 1
slo = p99
"#,
        r#"
error: `p99` is not a condition
 --> mail.ini:3:7
  |
3 | slo = p99
  |       ^^^
  |
  = help: write for example `slo = p99 < 30ms`
"#,
    );
    check(
        r#"
[read]
query = select 1
slo = p99 <= 30ms
"#,
        r#"
error: `<=` is not a comparison of conditions
 --> mail.ini:3:11
  |
3 | slo = p99 <= 30ms
  |           ^^
  |
  = help: write `<`
"#,
    );
    check(
        r#"
[read]
query = select 1
slo = p99 < 1s,
"#,
        r#"
error: a condition is missing next to a comma
 --> mail.ini:3:16
  |
3 | slo = p99 < 1s,
  |                ^
  |
  = help: write for example `slo = p99 < 30ms`
"#,
    );
}

#[test]
fn conditions_have_a_known_metric() {
    check(
        r#"
[read]
query = select 1
slo = median < 30ms
"#,
        r#"
error: unknown metric `median`
 --> mail.ini:3:7
  |
3 | slo = median < 30ms
  |       ^^^^^^
  |
  = help: did you mean `p50`?
"#,
    );
    check(
        r#"
[read]
query = select 1
slo = latency < 30ms
"#,
        r#"
error: unknown metric `latency`
 --> mail.ini:3:7
  |
3 | slo = latency < 30ms
  |       ^^^^^^^
  |
  = help: did you mean `p99`?
"#,
    );
    check(
        r#"
[read]
query = select 1
slo = p99(read) < 30ms
"#,
        r#"
error: a condition inside a job judges that job
 --> mail.ini:3:10
  |
3 | slo = p99(read) < 30ms
  |          ^^^^^^
  |
  = help: write `p99` without `(read)`, or the whole in a section `[threshold]`
"#,
    );
    check(
        r#"
[read]
query = select 1
slo = < 30ms
"#,
        r#"
error: the condition does not say what is judged
 --> mail.ini:3:7
  |
3 | slo = < 30ms
  |       ^
  |
  = help: metrics are p50, p99.9 or any quantile, mean, max, service.p99, service.mean,
          service.max, throughput and failed
"#,
    );
}

#[test]
fn quantiles_are_inside_their_range() {
    check(
        r#"
[read]
query = select 1
slo = p999 < 30ms
"#,
        r#"
error: the quantile `p999` is not between p0 and p100
 --> mail.ini:3:7
  |
3 | slo = p999 < 30ms
  |       ^^^^
  |
  = help: write `p99.9` for 99.9 %; the largest value is `max`
"#,
    );
    check(
        r#"
[read]
query = select 1
slo = p0 < 30ms, p100 < 1s
"#,
        r#"
error: the quantile `p0` is not between p0 and p100
 --> mail.ini:3:7
  |
3 | slo = p0 < 30ms, p100 < 1s
  |       ^^
  |
  = help: write `p99.9` for 99.9 %; the largest value is `max`

error: the quantile `p100` is not between p0 and p100
 --> mail.ini:3:18
  |
3 | slo = p0 < 30ms, p100 < 1s
  |                  ^^^^
  |
  = help: write `p99.9` for 99.9 %; the largest value is `max`
"#,
    );
}

#[test]
fn conditions_have_a_bound_of_their_kind() {
    check(
        r#"
[read]
query = select 1
slo = p99 < 30
"#,
        r#"
error: `30` has no unit: write `10s`, `250ms`, `1m30s` or `1h`
 --> mail.ini:3:13
  |
3 | slo = p99 < 30
  |             ^^
  |
  = help: times have a unit: `p99 < 30ms`
"#,
    );
    check(
        r#"
[read]
query = select 1
slo = throughput > 10ms
"#,
        r#"
error: `10ms` is not a number
 --> mail.ini:3:20
  |
3 | slo = throughput > 10ms
  |                    ^^^^
  |
  = help: throughput is per second: `throughput > 1000`
"#,
    );
    check(
        r#"
[read]
query = select 1
slo = failed < 0.01
"#,
        r#"
error: `0.01` is not a percentage
 --> mail.ini:3:16
  |
3 | slo = failed < 0.01
  |                ^^^^
  |
  = help: the share of failed requests is in percent: `failed < 0.1%`
"#,
    );
    check(
        r#"
[read]
query = select 1
slo = failed < 101%
"#,
        r#"
error: `101%` is more than 100%
 --> mail.ini:3:16
  |
3 | slo = failed < 101%
  |                ^^^^
  |
  = help: the share of failed requests is in percent: `failed < 0.1%`
"#,
    );
}
