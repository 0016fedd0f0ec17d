//! The test programs of the workspace, several at a time, and a command alongside them.
//!
//! Most programs wait for servers and timers most of the time. As many run at once as there are
//! processors: half of them are parts of the longest program, the others the remaining programs,
//! longest first. Tests that demand a VALID run are started first, with nothing alongside them. The
//! command uses the processor time that the tests leave: in `make test` it runs the lints that
//! compile, the checks of the scripts of pages and the release build. If at most three tests
//! failed, they run again alone; those that then pass are reported as unsteady.

mod background;
mod command;
mod programs;
mod temporary;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use background::BackgroundCommand;
use command::{cargo, failure_report};
use programs::Program;

/// Test programs that need the machine to themselves: they require the verdict VALID of a run in
/// real time.
const ALONE: [&str; 1] = ["cli steady"];

/// The programs that take longest, in this order, except [`LONGEST_PROGRAM`]; all other programs
/// follow.
const LONG_PROGRAMS: [&str; 6] = [
    "cli docs",
    "driver conformance",
    "accuracy accuracy",
    "lab lab",
    "testbed integration",
    "lab integration",
];

/// The program that takes longest and waits most. It is divided into [`PARTS`] parts, and runs
/// [`EXTRA_TESTS`] more tests at a time than other programs.
const LONGEST_PROGRAM: &str = "cli integration";

/// Number of programs into which [`LONGEST_PROGRAM`] is divided: enough to keep every processor
/// busy until shortly before the end.
const PARTS: usize = 8;

/// The module of [`LONGEST_PROGRAM`] whose tests take longest. Its part is started first.
const LONGEST_MODULE: &str = "studies";

/// Number of tests of [`LONGEST_PROGRAM`] that run at a time, beyond one per processor. With two,
/// more runs fail as INVALID, because the machine is too busy for their load generator, and the
/// program takes only 11 % less time.
const EXTRA_TESTS: usize = 1;

/// Maximum number of failed tests that run a second time. If more tests failed, none of them runs
/// again, because so many failures are no coincidence.
const MOST_REPEATED: usize = 3;

/// The result of a test program that has ended.
struct Finished {
    name: String,
    took: Duration,
    /// Its output; `None` if its tests passed.
    failure: Option<String>,
    /// The program with only the tests that failed; `None` if all passed, or if the output names no
    /// failed test.
    failed: Option<Program>,
}

/// Tests of a program that failed alongside other programs, and passed when run alone.
struct Unsteady {
    tests: Vec<String>,
    /// The messages of the failure.
    messages: String,
}

impl std::fmt::Display for Unsteady {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tests = self.tests.join(", ");
        write!(f, "{tests} failed alongside other programs, passed when run alone")?;
        self.messages.lines().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// Builds and runs all tests, and runs `beside` at the same time. Returns the times, or the
/// failures.
#[expect(clippy::disallowed_methods, reason = "the times are only shown")]
pub(crate) fn run(root: &Path, beside: &[&str]) -> Result<String, Vec<String>> {
    let begin = Instant::now();
    let programs = programs::build(root).map_err(|error| vec![error])?;
    programs::remove_server_folders(&programs).map_err(|error| vec![error])?;
    // The documentation tests run now: later, they would wait until cargo has compiled everything
    // for the command.
    let of_documentation = doc_tests(root).err();
    let mut times = format!("test: built in {}\n", seconds(begin.elapsed()));
    let (alone, together): (Vec<Program>, Vec<Program>) =
        programs.into_iter().partition(|program| ALONE.contains(&&*program.name));
    let together = arrange(together).map_err(|error| vec![error])?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut finished = run_all(alone, 1, processors);
    let background = BackgroundCommand::start(root, beside).map_err(|error| vec![error])?;
    finished.extend(run_all(together, processors, processors));
    let unsteady = repeat_failed(&mut finished);
    let tested = begin.elapsed();
    let mut failures: Vec<String> =
        finished.iter().filter_map(|program| program.failure.clone()).collect();
    failures.extend(of_documentation);
    failures.extend(background.finish().err());
    finished.sort_by_key(|program| std::cmp::Reverse(program.took));
    for Finished { name, took, .. } in finished.iter().take(12) {
        times += &format!("test: {:>7} {name}\n", seconds(*took));
    }
    for unsteady in unsteady {
        times += &format!("test: UNSTEADY: {unsteady}\n");
    }
    times += &format!(
        "test: {} programs; tests ended after {}, all after {}",
        finished.len(),
        seconds(tested),
        seconds(begin.elapsed())
    );
    if failures.is_empty() {
        Ok(times)
    } else {
        failures.push(times);
        Err(failures)
    }
}

/// Runs the failed tests of each program a second time, unless more than [`MOST_REPEATED`] tests
/// failed. They run one at a time and with no other test program: tests in real time may fail
/// because other programs keep the machine busy. Returns the tests of the programs whose tests then
/// all pass; they no longer count as failed.
fn repeat_failed(finished: &mut [Finished]) -> Vec<Unsteady> {
    let failed = |program: &Finished| program.failed.as_ref().map_or(0, |it| it.tests().len());
    let mut unsteady = Vec::new();
    if finished.iter().map(failed).sum::<usize>() > MOST_REPEATED {
        return unsteady;
    }
    for program in finished {
        if let Some(failed) = program.failed.take()
            && failed.run(1, temporary_folder(&failed)).is_ok()
        {
            let messages = messages(&program.failure.take().unwrap_or_default());
            unsteady.push(Unsteady { tests: failed.tests().to_vec(), messages });
        }
    }
    unsteady
}

/// Returns the messages of the failed tests in the output of a program, without stack traces.
fn messages(output: &str) -> String {
    let mut is_message = false;
    let mut found = String::new();
    for line in output.lines() {
        is_message |= line.contains("' panicked at ") || line.contains(") panicked at ");
        is_message &= !line.is_empty() && !line.starts_with("stack backtrace");
        if is_message {
            found += line;
            found.push('\n');
        }
    }
    found
}

/// Arranges programs for [`run_all`]: the parts of [`LONGEST_PROGRAM`], then the other programs,
/// the longest last.
///
/// # Errors
/// [`LONGEST_PROGRAM`] does not list its tests.
fn arrange(programs: Vec<Program>) -> Result<Vec<Program>, String> {
    let (waits, mut others): (Vec<Program>, Vec<Program>) =
        programs.into_iter().partition(|program| program.name == LONGEST_PROGRAM);
    let rank = |program: &Program| LONG_PROGRAMS.iter().position(|name| *name == program.name);
    let last = LONG_PROGRAMS.len();
    others.sort_by_key(|program| (rank(program).unwrap_or(last), program.name.clone()));
    let mut arranged = Vec::new();
    for program in waits {
        arranged.extend(program.divide(PARTS)?);
    }
    arranged.sort_by_key(|part| !part.has_module(LONGEST_MODULE));
    arranged.extend(others.into_iter().rev());
    Ok(arranged)
}

/// Runs programs, `slots` at a time, each with `tests` at a time. Every other slot takes programs
/// from the end of the list.
#[expect(clippy::disallowed_methods, reason = "the times are only shown")]
fn run_all(programs: Vec<Program>, slots: usize, tests: usize) -> Vec<Finished> {
    let waiting = Mutex::new(VecDeque::from(programs));
    let finished = Mutex::new(Vec::new());
    let next = |slot: usize| {
        let mut waiting = waiting.lock().expect("no program's run panics");
        if slot.is_multiple_of(2) { waiting.pop_front() } else { waiting.pop_back() }
    };
    let work = |slot: usize| {
        while let Some(program) = next(slot) {
            let begin = Instant::now();
            let more = if program.name == LONGEST_PROGRAM { EXTRA_TESTS } else { 0 };
            let failure = program.run(tests + more, temporary_folder(&program)).err();
            let took = begin.elapsed();
            let failed = failure.as_deref().and_then(|output| program.failed(output));
            let name = program.name;
            finished.lock().expect("no program's run panics").push(Finished {
                name,
                took,
                failure,
                failed,
            });
        }
    };
    std::thread::scope(|scope| {
        for slot in 0..slots {
            let work = &work;
            scope.spawn(move || work(slot));
        }
    });
    finished.into_inner().expect("no program's run panics")
}

/// Returns the folder for the temporary files of a program; `None` for the usual folder. Tests that
/// need the machine to themselves use the usual one, because they measure its disk, too.
fn temporary_folder(program: &Program) -> Option<&'static Path> {
    if ALONE.contains(&&*program.name) { None } else { temporary::folder() }
}

fn doc_tests(root: &Path) -> Result<(), String> {
    let mut command = cargo(root);
    command.args(["test", "--workspace", "--locked", "--doc", "--quiet"]);
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failure_report("documentation tests", &output)),
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the result of a program whose output names these tests as failed.
    fn finished(executable: &str, failed: &str) -> Finished {
        let name = |name: &str| format!("    {name}\n");
        let names: String = failed.split(' ').map(name).collect();
        let output = format!(
            "\nfailures:\n\n---- a stdout ----\n\nthread 'a' (7) panicked at a.rs:1:2:\n\
             no answer\nstack backtrace:\n   0: begin\n\nfailures:\n{names}\ntest result: FAILED\n"
        );
        let program = Program::of(executable);
        let failed = program.failed(&output);
        let took = Duration::ZERO;
        Finished { name: program.name, took, failure: Some(output), failed }
    }

    #[test]
    fn failed_tests_that_pass_alone_are_unsteady_and_others_stay_failed() {
        let mut all = [finished("true", "a"), finished("false", "b")];
        let [unsteady] = &repeat_failed(&mut all)[..] else { panic!("not one program") };
        let expected = "a failed alongside other programs, passed when run alone\n    \
                        thread 'a' (7) panicked at a.rs:1:2:\n    no answer";
        assert_eq!(unsteady.to_string(), expected);
        assert_eq!(all.map(|it| it.failure.is_some()), [false, true]);
        let mut many = [finished("true", "a b"), finished("true", "c d")];
        assert!(repeat_failed(&mut many).is_empty());
        assert!(many.iter().all(|it| it.failure.is_some()));
    }
}
