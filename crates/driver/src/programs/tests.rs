//! Tests of the execution and the termination of programs, and of their cleanup.

use std::fs;
use std::path::Path;

use base::{Clock, Monotonic, Nanos, Secrets};
use rt::run_virtual;
use rustix::process::{Pid, Signal, kill_process};

use super::child::has_members;
use super::*;
use crate::sqlite::tests::{real, scratch, texts};

/// Runs one command in a folder.
fn run_in(folder: &Path, text: &str) -> (Work, Result<(), Error>) {
    run_by(&Programs::new(folder.to_owned(), Arc::default()), text)
}

/// Runs one command.
fn run_by(driver: &Programs, text: &str) -> (Work, Result<(), Error>) {
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        let mut work = texts(&[text]);
        let outcome = connection.run(&mut work).await;
        connection.close().await;
        (work, outcome)
    })
}

fn error_of(text: &str) -> Error {
    let (_database, folder) = scratch();
    run_in(&folder, text).1.unwrap_err()
}

/// Waits until a program has written a process number into a file, and returns the number.
async fn written(rt: &Rt, file: &Path) -> Pid {
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if let Some(number) = text.strip_suffix('\n') {
            return Pid::from_raw(number.parse().unwrap()).unwrap();
        }
        rt.sleep(Nanos::from_millis(1)).await;
    }
}

/// Abandons a program as soon as it has written the number of its group into the file `group`.
/// Returns that group once the driver has been dropped.
fn given_up(folder: &Path, text: &str) -> Pid {
    let driver = Programs::new(folder.to_owned(), Arc::default());
    let file = folder.join("group");
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        let group = rt.clone().spawn({
            let (rt, file) = (rt.clone(), file.clone());
            async move { written(&rt, &file).await }
        });
        let mut work = texts(&[text]);
        let mut run = std::pin::pin!(connection.run(&mut work));
        let mut group = std::pin::pin!(group);
        let group = poll_fn(|context| {
            assert!(run.as_mut().poll(context).is_pending(), "the program goes on and on");
            group.as_mut().poll(context)
        });
        group.await
    })
}

#[test]
fn successful_program_is_completed() {
    let (_database, folder) = scratch();
    fs::write(folder.join("there"), "").unwrap();
    let before = Monotonic.now();
    let (work, outcome) = run_in(&folder, "test -f there && echo chatter");
    assert_eq!(outcome, Ok(()));
    let (sent, done) = (work.reply.sent.unwrap(), work.reply.done);
    assert!(before <= sent && sent < done && done <= Monotonic.now());
    assert_eq!(work.reply.statements, [done.since(sent)]);
}

#[test]
fn failed_program_is_an_error_with_exit_code_and_stderr() {
    for (text, code, words) in [
        ("echo why >&2; exit 3", "exit-3", "why"),
        ("exit 1", "exit-1", "the program ended without a message"),
        ("kill -9 $$", "signal-9", "the program was killed"),
        ("read line", "exit-1", "the program ended without a message"),
    ] {
        let error = error_of(text);
        assert_eq!((error.class(), error.code().as_str()), (Class::Server, code), "{text}");
        assert_eq!(error.message(), words, "{text}");
    }
    let missing = error_of("no-such-program-anywhere");
    assert_eq!(missing.code().as_str(), "exit-127");
    assert!(missing.message().contains("no-such-program-anywhere"), "{missing}");
}

#[test]
fn end_of_long_program_output_is_kept() {
    let error = error_of("printf %0100000d 7 >&2; printf END >&2; exit 1");
    let message = error.message();
    assert_eq!(message.len(), "…".len() + 4_096 - 256);
    assert!(message.starts_with("…0") && message.ends_with("07END"));
}

#[test]
fn missing_folder_is_an_error_of_each_request() {
    let error = run_in(Path::new("/no/such/folder"), "true").1.unwrap_err();
    assert_eq!((error.class(), error.code().as_str()), (Class::Server, "not-started"));
}

#[test]
fn background_child_is_neither_awaited_nor_killed() {
    let (_database, folder) = scratch();
    let (_, outcome) = run_in(&folder, "sleep 1000 & echo $! > child");
    assert_eq!(outcome, Ok(()));
    let child = fs::read_to_string(folder.join("child")).unwrap();
    let child = Pid::from_raw(child.trim().parse().unwrap()).unwrap();
    kill_process(child, Signal::KILL).expect("it lives");
}

#[test]
fn abandoned_program_has_time_to_exit() {
    let (_database, folder) = scratch();
    let orderly = "(trap 'echo > done; exit' TERM; echo > ready; while :; do sleep 0.01; done) & \
                   trap '' TERM; (trap - TERM; until [ -e ready ]; do sleep 0.01; done; \
                   echo $$ > group; while :; do sleep 1; done)";
    let group = given_up(&folder, orderly);
    assert!(folder.join("done").exists(), "it got no SIGTERM or no time");
    assert!(!has_members(group));
}

#[test]
fn program_that_ignores_signals_is_killed_with_its_group() {
    let (_database, folder) = scratch();
    let stubborn = "trap '' TERM; sleep 1000 2>/dev/null & sh -c 'sleep 1000' & \
                    echo $$ > group; while :; do sleep 1; done";
    let group = given_up(&folder, stubborn);
    assert!(!has_members(group));
}

#[test]
fn programs_are_not_run_in_virtual_time() {
    let driver = Programs::new("/".into(), Arc::default());
    let refused = run_virtual(|rt| async move { driver.connect(&rt).await.err() }).unwrap();
    assert!(refused.unwrap().message().contains("--virtual"));
}

#[test]
fn command_is_checked_without_being_run() {
    let (_database, folder) = scratch();
    let driver = Programs::new(folder.clone(), Arc::default());
    let judged = |text: &str| driver.check(Some(text), text.split(' ').next());
    for fine in
        ["true", "if true; then false; fi", "A=b no-such", "'no such' x", "$HOME/x", "! true"]
    {
        assert_eq!(judged(fine), Ok(()), "{fine}");
    }
    for (text, words) in [
        ("echo )", "does not understand"),
        ("if true", "does not understand"),
        ("no-such-program x", "finds no program `no-such-program`"),
        ("./no-such x", "finds no program `./no-such`"),
    ] {
        let RejectedCommand { reason, help } = judged(text).unwrap_err();
        assert!(reason.contains(words) && !help.is_empty(), "{reason}: {help}");
    }
    assert!(fs::read_dir(&folder).unwrap().all(|entry| entry.unwrap().file_name() != "x"));
}

#[test]
fn requests_get_the_variables_of_the_driver_and_their_errors_hide_its_secrets() {
    let (_database, folder) = scratch();
    let variables = vec![("ASSAY_HOST", Some("h".into()))];
    let secrets = Secrets::new([base::Secret::new("geheim")]);
    let driver = Programs::new(folder, Arc::new(ProgramEnvironment { variables, secrets }));
    let (_, outcome) = run_by(&driver, "echo \"$ASSAY_HOST\" geheim >&2; exit 3");
    let error = outcome.unwrap_err();
    assert_eq!((error.code().as_str(), error.message()), ("exit-3", "h (secret)"));
}

#[test]
fn command_that_is_not_measured_gets_its_variables() {
    let (_database, folder) = scratch();
    let driver = Programs::new(folder.clone(), Arc::default());
    let variables = vec![("ASSAY_HOST", Some("h".into())), ("HOME", None)];
    let secrets = Secrets::new([base::Secret::new("geheim")]);
    let environment = ProgramEnvironment { variables, secrets };
    let text = "test -z \"$HOME\" || exit 2; echo \"$ASSAY_HOST\" > host";
    assert_eq!(driver.run_once(text, &environment, &|| false), Ok(()));
    assert_eq!(fs::read_to_string(folder.join("host")).unwrap(), "h\n");
    let error = driver.run_once("echo geheim >&2; exit 3", &environment, &|| false).unwrap_err();
    assert_eq!((error.code().as_str(), error.message()), ("exit-3", "(secret)"));
}

#[test]
fn error_that_is_cut_within_a_secret_shows_nothing_of_it() {
    let (_database, folder) = scratch();
    let secrets = Secrets::new([base::Secret::new("geheim")]);
    let environment = ProgramEnvironment { variables: Vec::new(), secrets };
    let driver = Programs::new(folder, Arc::new(environment));
    let text = "printf 'geheim end ' >&2; head -c 4090 /dev/zero | tr '\\0' x >&2; exit 3";
    let (_, outcome) = run_by(&driver, text);
    let words = outcome.unwrap_err().message().to_owned();
    assert!(words.starts_with("…end x"), "{words:.40}");
}

#[test]
fn command_that_is_given_up_ends_with_its_group() {
    let (_database, folder) = scratch();
    let driver = Programs::new(folder.clone(), Arc::default());
    let file = folder.join("group");
    let text = "trap '' TERM; sleep 1000 & echo $$ > group; while :; do sleep 1; done";
    let is_ready = || fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n'));
    let error = driver.run_once(text, &ProgramEnvironment::default(), &is_ready).unwrap_err();
    assert_eq!(error.class(), Class::Timeout);
    let group = fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    assert!(!has_members(Pid::from_raw(group).unwrap()));
}

/// Checks that a command waits for its registration. If it ran earlier and this process were
/// killed, nothing would end the program.
#[test]
fn command_runs_only_once_the_guardian_knows_its_group() {
    let (_database, folder) = scratch();
    let ran = folder.join("ran");
    let guardian = ProgramGuardian::default();
    let outcome = std::thread::scope(|scope| {
        let registration = guardian.begin().expect("a guardian").lock().unwrap();
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let (folder, guardian) = (&folder, &guardian);
        scope.spawn(move || {
            let script = Script { text: "echo > ran", folder, variables: &[] };
            sender.send(child::run(&script, &Cancellation::Poll(&|| false), guardian))
        });
        // Much longer than a program takes to start.
        let early = receiver.recv_timeout(std::time::Duration::from_millis(300));
        let has_run = early.is_ok() || ran.exists();
        drop(registration);
        let ended = receiver.recv().expect("an end");
        assert!(!has_run, "it ran before its group was registered");
        ended.expect("a shell").outcome
    });
    assert_eq!(outcome, Ok(()));
    assert!(ran.exists());
}

#[test]
fn command_whose_starter_is_killed_before_the_registration_never_runs() {
    let (_database, folder) = scratch();
    let script = Script { text: "echo > ran", folder: &folder, variables: &[] };
    let mut shell = child::waiting(&script).spawn().expect("a shell");
    // The operating system closes the files of a killed process.
    drop(shell.stdin.take());
    assert_eq!(shell.wait().expect("a status").code(), Some(1));
    assert!(!folder.join("ran").exists());
}

#[test]
fn command_sees_nothing_of_the_wait_before_it() {
    let error =
        error_of("[ -z \"$assay_begin\" ] && readlink /proc/$$/fd/0 >&2 && no-such-program");
    let message = error.message();
    // `sh: 1: ` or `sh: line 1: `.
    assert!(
        message.starts_with("/dev/null ") && message.contains(" 1: no-such-program"),
        "{message}"
    );
}
