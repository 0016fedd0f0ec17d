//! Experiment files on the command line.

use crate::support::Place;

const READ: &str = "url = sim:mm1\nduration = 10s\n[read]\nquery = select 1\nconcurrency = 2\n";

const QUESTION: &str = "[question]\nask = What do more clients gain?\nworkload = read.ini\n\
                        [arm two]\n[arm four]\nconcurrency(read) = 4\n";

fn place() -> Place {
    let place = Place::new();
    place.write("read.ini", READ);
    place.write("more.ini", QUESTION);
    place
}

#[test]
fn check_prints_an_experiment_that_checks_as_the_same() {
    let place = place();
    let printed = place.assay(&["check", "more.ini"]).expect(0);
    assert_eq!(printed.stderr, "");
    assert!(printed.stdout.starts_with("[question]\nask = What do"), "{}", printed.stdout);
    place.write("again.ini", &printed.stdout);
    let again = place.assay(&["check", "again.ini"]).expect(0);
    assert_eq!(again.stdout, printed.stdout);
}

#[test]
fn workload_lies_below_the_folder_of_the_experiment() {
    let place = place();
    let outside = Place::new();
    outside.write("read.ini", READ);
    for path in [outside.at("read.ini").display().to_string(), "../read.ini".to_owned()] {
        place.write("more.ini", QUESTION.replace("read.ini", &path));
        let ran = place.assay(&["check", "more.ini"]).expect(2);
        assert!(ran.stderr.contains("cannot be read"), "{}", ran.stderr);
    }
}

#[test]
fn target_of_an_arm_is_checked_with_its_options() {
    let place = place();
    place.write("more.ini", QUESTION.replace("concurrency(read) = 4", "option.servise = 4ms"));
    let ran = place.assay(&["check", "more.ini"]).expect(2);
    let words = "[arm four]: ";
    assert!(ran.stderr.contains(words) && ran.stderr.contains("`service`"), "{}", ran.stderr);
}

#[test]
fn options_of_the_command_line_apply_to_the_workload() {
    let place = place();
    let arms = QUESTION.replace("concurrency(read) = 4", "option.tls = off");
    place.write("more.ini", arms);
    place.assay(&["check", "more.ini", "--url", "postgres://h/d"]).expect(0);
    let ran = place.assay(&["check", "more.ini", "--set", "rows=5"]).expect(2);
    assert!(ran.stderr.contains("rows"), "{}", ran.stderr);
}

#[test]
fn commands_that_do_not_run_experiments_say_so() {
    let place = place();
    let ran = place.assay(&["load", "more.ini"]).expect(2);
    assert!(ran.stderr.contains("belongs to an experiment file"), "{}", ran.stderr);
    let ran = place.assay(&["run", "more.ini"]).expect(2);
    assert!(ran.stderr.contains("which this version only checks"), "{}", ran.stderr);
    assert_eq!(place.names(), ["more.ini", "read.ini"]);
}
