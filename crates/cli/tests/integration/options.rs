//! Tests that invalid options are refused with helpful messages.

use crate::support::{MM1, TestFolder};

const READ: &str =
    "duration = 5s\nwarmup = 1s\n[params]\nrows = 5\n[read]\nquery = select ${rows}\n";

/// Runs with one more option, and checks that it is refused and leaves no file.
#[track_caller]
fn refused(option: &[&str], words: &[&str]) {
    let place = TestFolder::with(READ);
    let mut args = vec!["run", "w.ini", "--virtual"];
    if option[0] != "--url" {
        args.extend(["--url", MM1]);
    }
    args.extend(option);
    place.assay(&args).refuses(words);
    assert_eq!(place.names(), ["w.ini"]);
}

#[test]
fn a_url_that_names_nothing_is_refused() {
    for (url, words) in [
        ("foo:bar", "unknown scheme `foo:`"),
        ("sqlit:t.db", "did you mean `sqlite:`?"),
        ("t.db", "the URL has no scheme, such as `sqlite:`"),
        ("sim:", "nothing follows the scheme"),
        ("sim:mn1", "did you mean `sim:mm1`?"),
        ("sim:mm1?sevice=1ms", "did you mean `service`?"),
        ("sim:mm1?service=1", "has no unit"),
        ("sim:mm1?service", "option `service` has no value"),
        ("sim:mm1?noise=2%", "help: write `noise=0.02`"),
        ("sqlite:50%.db", "help: write a percent sign as `%25`"),
        ("postgres:host", "write `//` between the scheme and the host"),
        ("postgres://host:0/db", "`0` is not a port from 1 to 65535"),
        ("postgrs://host/db", "did you mean `postgres:`?"),
    ] {
        refused(&["--url", url], &["error: --url: ", words]);
    }
}

/// `check` and `load` refuse a URL that a run would refuse before it connects, and print the same
/// message.
#[test]
fn check_load_and_run_refuse_a_url_alike() {
    for url in [
        "foo:bar",
        "sim:mn1",
        "sim:mm1?sevice=1ms",
        "sim:mm1?service=1",
        "sqlite:t.db?jurnal=wal",
        "sqlite:?journal=wall",
        "sqlite::memory:",
        "postgres://localhost/db?tsl=off",
        "mysql://localhost/db?tls=of",
        "testbed:postgre",
    ] {
        let place = TestFolder::with(&format!("{READ}[load t]\nrows = 1\ncolumns = a: row()\n"));
        let option = format!("--url={url}");
        let refusals = ["run", "load", "check"].map(|command| {
            place.assay(&[command, "w.ini", &option]).refuses(&["error: --url: "]).stderr
        });
        assert_eq!(refusals[0], refusals[1]);
        assert_eq!(refusals[0], refusals[2]);
        assert!(!refusals[0].contains("(url)"), "{}", refusals[0]);
        // The same error in a file is reported with its place.
        place.write("u.ini", format!("url = {url}\n[read]\nquery = select 1\n"));
        let of_file = ["run", "check"]
            .map(|command| place.assay(&[command, "u.ini"]).refuses(&["u.ini"]).stderr);
        assert_eq!(of_file[0], of_file[1]);
        assert_eq!(place.names(), ["u.ini", "w.ini"]);
    }
}

#[test]
fn url_without_a_driver_lists_the_drivers() {
    for url in ["t.db", "oracle:x"] {
        let place = TestFolder::with(READ);
        let ran = place.assay(&["run", "w.ini", "--url", url]).refuses(&[
            "this build has drivers for `sqlite:FILE`, `sim:mm1`, `postgres://HOST/DATABASE`, \
             `mysql://HOST/DATABASE` and `testbed:postgres`",
        ]);
        assert!(!ran.stderr.contains("did you mean"), "{}", ran.stderr);
    }
}

#[test]
fn setting_without_effect_is_refused() {
    refused(&["--set", "rows"], &["--set", "write NAME=VALUE"]);
    refused(&["--set", "=5"], &["--set", "write NAME=VALUE"]);
    refused(&["--set", "rowz=5"], &["`rowz`", "did you mean `rows`?"]);
    refused(&["--set", "rows=${1 / 0}"], &["`--set rows=${1 / 0}`: `1 / 0` divides by zero"]);
    refused(&["--set", "rows=1e99"], &["`--set rows=1e99`: `1e99` is too large"]);
}

#[test]
fn invalid_times_are_refused() {
    for option in ["--duration", "--warmup"] {
        refused(&[option, "5"], &["'5'", option, "has no unit: write `10s`"]);
        refused(&[option, "-5s"], &["'-5s'", option, "is negative"]);
        refused(&[option, "five"], &["'five'", option]);
        refused(&[option, ""], &[option]);
    }
    refused(&["--warmup", "auto"], &["the end of the warm-up cannot be found", "`1m` or more"]);
    refused(&["--warmup", "20s"], &["nothing would be measured", "make it longer"]);
    refused(&["--duration", "1s"], &["nothing would be measured", " --> w.ini:2:10"]);
}

#[test]
fn other_invalid_numbers_are_refused() {
    for seed in ["x", "18446744073709551616", "-1", "1.5"] {
        let words = ["--seed", "expected a whole number from 0 to 2^64 - 1"];
        refused(&["--seed", seed], &[&words[..], &[seed]].concat());
    }
    for threads in ["0", "-1", "x", "1025"] {
        let words = ["--threads", "write a whole number from 1 to 1024"];
        refused(&["--threads", threads], &[&words[..], &[threads]].concat());
    }
    refused(&["--cpus", "0-"], &["'0-'", "write 0,2-3"]);
    refused(&["--cpus", "-1"], &["'-1'", "write 0,2-3"]);
    refused(&["--arrival", "bursty"], &["'bursty'", "poisson, uniform"]);
    refused(&["--spin"], &["--virtual", "--spin"]);
    refused(&["--nonsense"], &["--nonsense"]);
    refused(&["--format", "xml"], &["--format"]);
}

#[test]
fn missing_processor_is_reported_with_the_available_ones() {
    // No --virtual here, because a run in virtual time binds no thread to a processor.
    let place = TestFolder::with(READ);
    let run = ["run", "w.ini", "--url", MM1, "--cpus", "0,1023"];
    place.assay(&run).refuses(&["error: --cpus: cannot use processor 1023; available: 0"]);
    assert_eq!(place.names(), ["w.ini"]);
}

#[test]
fn an_option_of_another_command_is_shown_with_its_command() {
    let place = TestFolder::with(READ);
    let load = ["load", "w.ini", "--loaded"];
    let ran = place.assay(&load).refuses(&["'--loaded'", "it is an option of `assay run`"]);
    assert!(!ran.stderr.contains("-- --loaded"), "{}", ran.stderr);
    let ran = place.assay(&["check", "w.ini", "--format", "csv"]);
    ran.refuses(&["it is an option of `assay export`"]);
    let ran = place.assay(&["run", "w.ini", "--nonsense"]).refuses(&["'--nonsense'"]);
    assert!(!ran.stderr.contains("tip:"), "{}", ran.stderr);
}

/// `assay observe` has the hidden options `--stdio` and `--port`.
#[test]
fn hidden_options_are_not_suggested() {
    let place = TestFolder::new();
    for args in [&["run", "w.ini", "--stdio"][..], &["run", "--port", "1"]] {
        let ran = place.assay(args).refuses(&["unexpected argument"]);
        assert!(!ran.stderr.contains("`assay observe`"), "{}", ran.stderr);
    }
    for option in ["--stdi", "--prot"] {
        let ran = place.assay(&["observe", option]).refuses(&["unexpected argument"]);
        assert!(!ran.stderr.contains("tip:"), "{}", ran.stderr);
    }
    place.assay(&["observe", "--durations"]).refuses(&["'--duration'"]);
}

#[test]
fn missing_command_prints_help_to_stderr_and_exits_with_2() {
    let place = TestFolder::new();
    place.assay(&[]).refuses(&["Usage: assay", "run", "check", "load", "report", "export"]);
    place.assay(&["rum"]).refuses(&["'rum'", "'run'"]);
    place.assay(&["run"]).refuses(&["FILE|FOLDER"]);
}

#[test]
fn help_of_every_command_goes_to_stdout() {
    let place = TestFolder::new();
    for command in ["run", "check", "load", "report", "export"] {
        let ran = place.assay(&[command, "--help"]).expect(0);
        assert!(ran.stdout.contains(&format!("Usage: assay {command}")), "{}", ran.stdout);
        assert_eq!(ran.stderr, "");
        let short = place.assay(&[command, "-h"]).expect(0);
        assert!(short.stdout.lines().count() <= ran.stdout.lines().count());
    }
    let ran = place.assay(&["--version"]).expect(0);
    let version = format!("assay {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(ran.stdout.lines().count(), 1);
    let rest = ran.stdout.strip_prefix(&version).unwrap_or_else(|| panic!("{}", ran.stdout));
    assert!(rest == "\n" || rest.starts_with(" (") && rest.ends_with(")\n"), "{rest}");
}

#[test]
fn help_names_every_key_and_every_unit() {
    let place = TestFolder::new();
    for command in ["run", "check", "load"] {
        let ran = place.assay(&[command, "--help"]).expect(0);
        for key in workload::keys::ALL {
            let names = std::iter::once(key.name).chain(key.alias);
            for name in names {
                let entry = |line: &str| {
                    let mut words = line.split([' ', ',']).filter(|word| !word.is_empty()).take(2);
                    words.any(|word| word == name)
                };
                assert!(ran.stdout.lines().any(entry), "{command}: {name}\n{}", ran.stdout);
            }
        }
        for unit in ["ns", "us", "ms", "s", "m", "h", "d", "k", "M"] {
            let quoted = format!("`{unit}`");
            assert!(ran.stdout.contains(&quoted), "{command}: {quoted}\n{}", ran.stdout);
        }
    }
}

#[test]
fn plan_and_report_use_the_same_words_for_arrivals() {
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\nrate = 10\n");
    for (word, arrival) in [("uniform arrivals", "uniform"), ("Poisson arrivals", "poisson")] {
        for command in [
            &["check", "w.ini"][..],
            &["run", "w.ini", "--virtual", "--url", MM1, "--out", &format!("{arrival}.assay")],
        ] {
            let ran = place.assay(&[command, &["--arrival", arrival]].concat());
            assert!(ran.stdout.contains(word), "{word}: {}", ran.stdout);
        }
    }
}
