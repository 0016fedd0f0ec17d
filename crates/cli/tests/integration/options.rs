//! Options that make no sense are refused in words that help.

use crate::support::{MM1, Place};

const READ: &str =
    "duration = 5s\nwarmup = 1s\n[params]\nrows = 5\n[read]\nquery = select ${rows}\n";

/// Runs with one more option, and makes sure that it is refused and leaves nothing.
#[track_caller]
fn refused(option: &[&str], words: &[&str]) {
    let place = Place::with(READ);
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
        ("t.db", "the URL has no scheme"),
        ("sim:", "names nothing behind its scheme"),
        ("sim:mn1", "did you mean `sim:mm1`?"),
        ("sim:mm1?sevice=1ms", "did you mean `service`?"),
        ("sim:mm1?service=1", "has no unit"),
        ("sim:mm1?service", "option `service` has no value"),
        ("postgres:host", "write `//` between the scheme and the host"),
        ("postgres://host:0/db", "`0` is not a port"),
    ] {
        refused(&["--url", url], &[words]);
    }
    let place = Place::with(READ);
    let run = ["run", "w.ini", "--url", "sqlite:t.db?jurnal=wal"];
    place.assay(&run).refuses(&["`jurnal`", "`journal`"]);
    assert_eq!(place.names(), ["w.ini"]);
}

#[test]
fn a_setting_that_sets_nothing_is_refused() {
    refused(&["--set", "rows"], &["--set", "write NAME=VALUE"]);
    refused(&["--set", "=5"], &["--set", "write NAME=VALUE"]);
    refused(&["--set", "rowz=5"], &["`rowz`", "did you mean `rows`?"]);
    refused(&["--set", "rows=${1 / 0}"], &["--set rows: `1 / 0` divides by zero"]);
}

#[test]
fn times_that_make_no_sense_are_refused() {
    for option in ["--duration", "--warmup"] {
        refused(&[option, "5"], &["'5'", option, "has no unit: write `10s`"]);
        refused(&[option, "-5s"], &["'-5s'", option, "is negative"]);
        refused(&[option, "five"], &["'five'", option]);
        refused(&[option, ""], &[option]);
    }
    refused(&["--warmup", "auto"], &["an automatic warm-up is not in this version"]);
    refused(&["--warmup", "20s"], &["nothing would be measured", "make it longer"]);
    refused(&["--duration", "1s"], &["nothing would be measured", " --> w.ini:2:10"]);
}

#[test]
fn other_numbers_that_make_no_sense_are_refused() {
    refused(&["--seed", "x"], &["'x'", "write a whole number from 0 to 2^64 - 1"]);
    refused(&["--seed", "18446744073709551616"], &["write a whole number from 0 to 2^64 - 1"]);
    refused(&["--threads", "0"], &["'0'", "--threads", "1..=1024"]);
    refused(&["--cpus", "0-"], &["'0-'", "write 0,2-3"]);
    refused(&["--arrival", "bursty"], &["'bursty'", "poisson, uniform"]);
    refused(&["--spin"], &["--virtual", "--spin"]);
    refused(&["--nonsense"], &["--nonsense"]);
    refused(&["--format", "xml"], &["--format"]);
}

#[test]
fn without_a_command_there_is_help_on_stderr_and_code_2() {
    let place = Place::new();
    place.assay(&[]).refuses(&["Usage: assay", "run", "check", "load", "report", "export"]);
    place.assay(&["rum"]).refuses(&["'rum'", "'run'"]);
    place.assay(&["run"]).refuses(&["FILE|FOLDER"]);
}

#[test]
fn help_of_every_command_goes_to_stdout() {
    let place = Place::new();
    for command in ["run", "check", "load", "report", "export"] {
        let ran = place.assay(&[command, "--help"]).expect(0);
        assert!(ran.stdout.contains(&format!("Usage: assay {command}")), "{}", ran.stdout);
        assert_eq!(ran.stderr, "");
        let short = place.assay(&[command, "-h"]).expect(0);
        assert!(short.stdout.lines().count() <= ran.stdout.lines().count());
    }
    let ran = place.assay(&["--version"]).expect(0);
    assert_eq!(ran.stdout, format!("assay {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_names_every_key_and_every_unit() {
    let place = Place::new();
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
