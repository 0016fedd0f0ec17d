//! Invariant 8: a password is nowhere but where the user put it.

use std::fs;

use crate::support::Place;

const PASSWORD: &str = "s3cr3t-Pa55";

/// A port on which nobody listens.
const NOBODY: u16 = 1;

fn assert_silent(what: &str, bytes: &[u8]) {
    let found = bytes.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes());
    assert!(!found, "{what}: {}", String::from_utf8_lossy(bytes));
}

#[test]
fn invariant_8_a_password_is_in_no_complaint_and_in_no_plan() {
    let place = Place::with("duration = 1s\n[read]\nquery = select 1\n");
    for url in [
        format!("postgres://ann:{PASSWORD}@localhost:{NOBODY}/db"),
        format!("postgres://ann:{PASSWORD}@localhost:x/db"),
        format!("postgrs://ann:{PASSWORD}@localhost/db"),
        format!("ann:{PASSWORD}@localhost"),
        format!("mysql://ann:{PASSWORD}%zz@localhost/db"),
        format!("postgres://ann:{PASSWORD}@localhost/db?tls"),
        format!("postgres://localhost/db?password={PASSWORD}"),
        format!("postgres://ann:{PASSWORD}/x@localhost/db"),
        format!("postgres://ann:1/{PASSWORD}@localhost/db"),
        format!("postgres://ann:1?{PASSWORD}@localhost/db"),
    ] {
        for args in [&["run", "w.ini", "--json"][..], &["check", "w.ini"], &["load", "w.ini"]] {
            let ran = place.assay(&[args, &["--url", &url]].concat());
            assert_silent(&url, ran.stdout.as_bytes());
            assert_silent(&url, ran.stderr.as_bytes());
            assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        }
    }
    // An argument without its option is repeated, but for the password.
    let url = format!("postgres://ann:{PASSWORD}@localhost/db");
    let ran = place.assay(&["run", "w.ini", &url]).refuses(&["postgres://ann:", "@localhost/db"]);
    assert_silent(&url, ran.stderr.as_bytes());
    for name in place.names() {
        assert_silent(&name, &fs::read(place.at(&name)).unwrap());
    }
}

#[test]
fn invariant_8_a_password_in_the_file_is_in_no_complaint_about_its_line() {
    for line in [
        format!("url = postgres://ann:{PASSWORD}@localhost/db\nrat = 1"),
        format!("url = postgres://ann:{PASSWORD}@localhost:x/db"),
        format!("url = postgrs://ann:{PASSWORD}@localhost/db"),
        format!("urll = postgres://ann:{PASSWORD}@localhost/db"),
        format!("urll = postgres://ann:1/{PASSWORD}@localhost/db"),
    ] {
        let place = Place::with(&format!("{line}\n[read]\nquery = select 1\n"));
        let ran = place.assay(&["check", "w.ini"]).refuses(&["--> w.ini"]);
        assert_silent(&line, ran.stderr.as_bytes());
    }
}

#[test]
fn invariant_8_a_password_that_the_shell_passed_on_is_in_no_record() {
    let place = Place::with("duration = 2s\n[read]\nquery = select 1\nrate = 10\n");
    let url = format!("postgres://ann:{PASSWORD}@localhost:{NOBODY}/db");
    let warned =
        place.assay(&["run", "w.ini", "--json", "--url", &url, "--out", "none.assay"]).expect(4);
    assert!(warned.stderr.contains("list of processes"), "{}", warned.stderr);
    assert_silent("stderr", warned.stderr.as_bytes());
    assert_silent("the record", &fs::read(place.at("none.assay")).unwrap());

    // What another target leaves in a record, and what is made of it.
    place.write(
        "w.ini",
        format!("url = {url}\nduration = 2s\n[read]\nquery = select 1\nrate = 10\n"),
    );
    let ran = place.virtually("sim:mm1", &[]).expect(0);
    assert_silent("stdout", ran.stdout.as_bytes());
    assert_silent("stderr", ran.stderr.as_bytes());
    assert_silent("the record", &fs::read(place.at("r.assay")).unwrap());
    for format in ["hlog", "csv", "json"] {
        assert_silent(format, place.export("r.assay", format).as_bytes());
    }
    assert_silent("the report", place.assay(&["report", "r.assay"]).stdout.as_bytes());
}
