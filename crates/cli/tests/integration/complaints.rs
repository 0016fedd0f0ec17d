//! Tests that an error in a workload file or argument is reported with its place and its remedy.

use crate::support::TestFolder;

/// Checks that `check` and `run` refuse a workload with the same message and leave no file.
#[track_caller]
fn refused(workload: impl AsRef<[u8]>, words: &[&str]) {
    let place = TestFolder::new();
    place.write("w.ini", workload);
    let checked = place.assay(&["check", "w.ini"]).refuses(words);
    let ran = place.assay(&["run", "w.ini", "--url", "sim:mm1", "--virtual"]).refuses(words);
    assert_eq!(ran.stderr, checked.stderr);
    assert_eq!(place.names(), ["w.ini"]);
}

/// Checks the error in the last line of a job.
#[track_caller]
fn refused_line(line: &str, words: &[&str]) {
    refused(format!("duration = 2s\n[read]\nquery = select 1\n{line}\n"), words);
}

#[test]
fn an_unknown_key_is_shown_with_the_one_that_was_meant() {
    refused_line(
        "rat = 5",
        &[
            "error: unknown key `rat` in job [read]",
            " --> w.ini:4:1",
            "^^^",
            "did you mean `rate`?",
        ],
    );
    refused("durration = 5s\n", &["unknown key `durration`", "w.ini:1:1", "`duration`?"]);
}

#[test]
fn an_unknown_section_is_shown_with_the_one_that_was_meant() {
    refused_line(
        "[setpu]\nfoo = 1",
        &["[setpu]", " --> w.ini:4:1", "^^^^^^^", "did you mean `[setup]`?"],
    );
    refused_line("[parms]\nrows = 1", &["[parms]", " --> w.ini:4:1", "did you mean `[params]`?"]);
    refused_line("[other]\nrows = 1", &["[other]", " --> w.ini:4:1", "give it a statement"]);
}

#[test]
fn unknown_names_in_an_expression_are_shown_with_those_that_were_meant() {
    refused_line(
        "query = select ${unifrm(1, 2)}",
        &["unknown generator `unifrm`", " --> w.ini:4:18", "^^^^^^", "did you mean `uniform`?"],
    );
    refused_line(
        "query = select ${zipf(1, 2, q=2)}",
        &["`zipf` has no argument `q`", " --> w.ini:4:29", "^", "did you mean `s`?"],
    );
    refused(
        "[params]\nrows = 5\n[read]\nquery = select ${rowz}\n",
        &["`rowz`", " --> w.ini:4:18", "^^^^", "did you mean `rows`?"],
    );
}

#[test]
fn a_wrong_unit_is_shown_with_the_right_ones() {
    refused(
        "duration = 2 bananas\n[a]\nquery = select 1\n",
        &["`2 bananas` has an unknown unit", " --> w.ini:1:12", "^^^^^^^^^", "duration = 60s"],
    );
    refused_line(
        "think = 5",
        &["`think` is a duration", " --> w.ini:4:9", "^", "give its numbers a unit"],
    );
}

#[test]
fn an_expression_without_an_end_is_shown() {
    refused_line(
        "query = select ${uniform(1, 2)",
        &["this `${` is not closed", " --> w.ini:4:16", "^^", "write the missing `}`"],
    );
}

#[test]
fn a_division_by_zero_is_shown_with_the_remedy() {
    refused_line(
        "query = select ${1 / 0}",
        &["divides by zero", " --> w.ini:4:18", "^^^^^", "help: "],
    );
}

#[test]
fn negative_and_absurd_rates_are_shown_with_the_limits() {
    refused_line("rate = -5", &["`-5` is negative", " --> w.ini:4:8", "^^", "help: "]);
    refused_line("rate = 1e30", &["`1e30` is too large", " --> w.ini:4:8", "^^^^", "help: "]);
}

#[test]
fn a_rate_and_a_timetable_in_one_job_are_shown() {
    refused_line(
        "rate = 5\nevery = 1s",
        &["`rate` and `every` cannot be set together", " --> w.ini:5:1", "^^^^^", "keep the one"],
    );
}

#[test]
fn repeated_section_is_shown_with_the_first() {
    refused_line(
        "[read]\nquery = select 2",
        &[
            "[read] occurs twice; the first is in line 2",
            " --> w.ini:4:1",
            "^^^^^^",
            "move its keys",
        ],
    );
}

#[test]
fn a_file_that_holds_nothing_is_named() {
    for nothing in ["", "\n\n", "; a comment\n", "\u{feff}"] {
        refused(nothing, &["the file has no job", "--> w.ini", "query = select 1"]);
    }
}

#[test]
fn file_that_is_not_text_is_named() {
    refused(b"\x7fELF\x02\x01\xff\xfe\n", &["is not a text", "--> w.ini", "right file?"]);
    refused(b"a\0b = 1\n", &["byte 0x00 in line 1, at offset 1", "--> w.ini", "right file?"]);
}

#[test]
fn a_line_of_ten_megabytes_is_shown_in_part() {
    let place = TestFolder::with(&"a".repeat(10_000_000));
    let ran = place.assay(&["check", "w.ini"]).refuses(&[" --> w.ini:1:1", "^^^", "help: "]);
    assert!(ran.stderr.len() < 2_000, "{} bytes", ran.stderr.len());
}

#[test]
fn all_mistakes_are_reported_in_order() {
    let place = TestFolder::with(
        "duration = 2 bananas\n[read]\nquery = select ${1/0}\nrat = 5\n[write]\nrate = -1\n\
         query = select ${nope}\nwhat is this\n",
    );
    let ran = place.assay(&["check", "w.ini"]).refuses(&[]);
    let places = ran.stderr.lines().filter_map(|line| line.trim().strip_prefix("--> w.ini:"));
    let lines: Vec<&str> = places.map(|place| place.split(':').next().unwrap()).collect();
    assert_eq!(lines, ["1", "3", "4", "6", "7", "8"], "{}", ran.stderr);
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_reason() {
    let place = TestFolder::new();
    place.assay(&["run", "no.ini"]).refuses(&[
        "error: cannot read `no.ini`: No such file",
        "help: check the name; without a leading `/` it is looked for in `",
    ]);
    place.assay(&["run", "/proc/self/mem"]).refuses(&["cannot read `/proc/self/mem`: "]);
    place.assay(&["run", "."]).refuses(&["the folder `.` has no `experiment.ini`"]);
    place.write("w.ini", "[read]\nquery = select 1\n");
    place.assay(&["run", "w.ini/x.ini"]).refuses(&["cannot read `w.ini/x.ini`: Not a directory"]);
    assert_eq!(place.names(), ["w.ini"]);
}

#[test]
fn a_file_without_an_end_is_not_read_to_its_end() {
    let place = TestFolder::new();
    place.assay(&["check", "/dev/zero"]).refuses(&["is larger than 64 MiB", "help: "]);
}

#[test]
fn folder_means_its_experiment_file() {
    let place = TestFolder::new();
    place.write("experiment.ini", "[read]\nquery = select 1\nrat = 1\n");
    place.assay(&["check", "."]).refuses(&[" --> ./experiment.ini:3:1", "`rate`?"]);
}

/// A mistyped name must not create an empty database that looks loaded.
#[test]
fn loaded_requires_an_existing_database() {
    let place = TestFolder::with("[read]\nquery = select 1\n");
    let run = |url| place.assay(&["run", "w.ini", "--loaded", "--url", url]);
    let ran = run("sqlite:tpyo.db").expect(4);
    assert!(ran.stderr.contains("there is no database file"), "{}", ran.stderr);
    run("sqlite:").refuses(&["--loaded needs a file: a temporary database is empty\n"]);
    assert_eq!(place.names(), ["w.ini"]);
}

#[test]
fn unwritable_and_missing_folders_have_different_errors() {
    let place = TestFolder::with("[read]\nquery = select 1\n");
    let ran = place.assay(&["run", "w.ini", "--url", "sqlite:/sys/assay-test.db"]).expect(4);
    assert!(ran.stderr.contains("cannot open the database file"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("No such file"), "{}", ran.stderr);
}

#[test]
fn file_with_nothing_to_load_has_a_remedy() {
    let place = TestFolder::with("[a]\nquery = select 1\nrate = 1\n");
    let words = ["there is nothing to load", "help: add a [load TABLE]"];
    place.assay(&["load", "w.ini", "--url", "sim:mm1"]).refuses(&words);
}
