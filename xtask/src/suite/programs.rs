//! The test programs that cargo builds.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::command::{cargo, failure_report};

/// A test program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Crate and target, such as `cli integration`.
    pub(super) name: String,
    executable: PathBuf,
    /// The crate's folder, in which cargo would run the program.
    folder: PathBuf,
    /// The tests that the program runs; `None` for all.
    tests: Option<Vec<String>>,
}

impl Program {
    /// Returns the folder in which the servers of all programs keep their initialised data folders.
    /// It is next to the programs, to be removed with them.
    fn templates(&self) -> PathBuf {
        self.executable.with_file_name("servers")
    }

    /// Divides the program into `parts` that together run its tests. The tests of a module stay
    /// together, as they may share a server.
    ///
    /// # Errors
    /// The program does not list its tests.
    pub(super) fn divide(self, parts: usize) -> Result<Vec<Program>, String> {
        let mut command = Command::new(&self.executable);
        command.args(["--list", "--format=terse"]);
        let listed = command.output().map_err(|error| self.run_error(&error))?;
        if !listed.status.success() {
            return Err(failure_report(&self.name, &listed));
        }
        let modules = modules(&String::from_utf8_lossy(&listed.stdout));
        Ok(shares(modules, parts).into_iter().map(|tests| self.with_tests(tests)).collect())
    }

    /// Returns true if the program is a part that runs the tests of a module.
    pub(super) fn has_module(&self, module: &str) -> bool {
        let tests = self.tests.iter().flatten();
        tests.into_iter().any(|test| test.split("::").next() == Some(module))
    }

    /// Returns the program limited to the tests that failed according to its output; `None` if the
    /// output names no test, as after a crash.
    pub(super) fn failed(&self, output: &str) -> Option<Program> {
        let tests = failed_tests(output);
        (!tests.is_empty()).then(|| self.with_tests(tests))
    }

    /// Returns the names of the tests that the program runs; empty if it runs all of its tests.
    pub(super) fn tests(&self) -> &[String] {
        self.tests.as_deref().unwrap_or_default()
    }

    /// Returns a program of the system in place of a test program.
    #[cfg(test)]
    pub(super) fn of(command: &str) -> Program {
        Program {
            name: "a b".to_owned(),
            executable: ["/bin/", command].concat().into(),
            folder: "/".into(),
            tests: None,
        }
    }

    fn with_tests(&self, tests: Vec<String>) -> Program {
        let Program { name, executable, folder, .. } = self;
        Program {
            name: name.clone(),
            executable: executable.clone(),
            folder: folder.clone(),
            tests: Some(tests),
        }
    }

    fn run_error(&self, error: &std::io::Error) -> String {
        format!("test: cannot run {}: {error}", self.executable.display())
    }

    /// Runs the program to its end, with this many tests at a time. Their temporary files are in
    /// `temporary`, if it is given.
    ///
    /// # Errors
    /// The output of the program if a test failed, or the reason why it could not be started.
    pub(super) fn run(&self, at_a_time: usize, temporary: Option<&Path>) -> Result<(), String> {
        let mut command = Command::new(&self.executable);
        if let Some(tests) = &self.tests {
            command.arg("--exact").args(tests);
        }
        command.env("ASSAY_TESTBED_TEMPLATES", self.templates());
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command.env("RUST_TEST_THREADS", at_a_time.to_string());
        if let Some(folder) = temporary {
            command.env("TMPDIR", folder);
        }
        match command.stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(failure_report(&self.name, &output)),
            Err(error) => Err(self.run_error(&error)),
        }
    }
}

/// Builds the workspace's test programs once.
///
/// # Errors
/// Cargo cannot be run, or the workspace does not compile; cargo has printed the reason.
pub(super) fn build(root: &Path) -> Result<Vec<Program>, String> {
    let mut command = cargo(root);
    command.args(["test", "--workspace", "--locked", "--no-run"]);
    command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err("test: the tests do not compile".to_owned());
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let programs: Vec<Program> = messages.lines().filter_map(program).collect();
    if programs.is_empty() {
        return Err("test: cargo built no test program".to_owned());
    }
    Ok(programs)
}

/// Removes the data folders of servers that earlier tests left, perhaps with different settings.
///
/// # Errors
/// A folder cannot be removed.
pub(super) fn remove_server_folders(programs: &[Program]) -> Result<(), String> {
    let folders: BTreeSet<PathBuf> = programs.iter().map(Program::templates).collect();
    for folder in folders {
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(format!("test: cannot remove {}: {error}", folder.display()));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Reads a test program from one of cargo's messages; `None` if the message is about anything else.
fn program(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let executable = PathBuf::from(message["executable"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
    let target = message["target"]["name"].as_str()?;
    let name = format!("{} {target}", folder.file_name()?.to_str()?);
    Some(Program { name, executable, folder, tests: None })
}

/// Groups listed tests, such as `sweeps::tests::x: test`, by the first part of their path.
fn modules(listed: &str) -> Vec<Vec<String>> {
    let mut modules: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for test in listed.lines().filter_map(|line| line.strip_suffix(": test")) {
        let module = test.split("::").next().unwrap_or(test);
        modules.entry(module).or_default().push(test.to_owned());
    }
    modules.into_values().collect()
}

/// Returns the names in the last list of failures of a test program's output.
fn failed_tests(output: &str) -> Vec<String> {
    let listed = output.rsplit_once("\nfailures:\n").map_or("", |(_, listed)| listed);
    let names = listed.lines().map_while(|line| line.strip_prefix("    "));
    names.map(str::to_owned).collect()
}

/// Divides modules into `parts` shares with about the same number of tests each.
fn shares(mut modules: Vec<Vec<String>>, parts: usize) -> Vec<Vec<String>> {
    modules.sort_by_key(|tests| Reverse(tests.len()));
    let mut shares = vec![Vec::new(); parts];
    for tests in modules {
        let smallest = shares.iter_mut().min_by_key(|share| share.len());
        smallest.expect("a number of parts that is not zero").extend(tests);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_read_from_messages_of_cargo() {
        let message = |reason: &str, test: bool| {
            serde_json::json!({
                "reason": reason, "profile": {"test": test}, "executable": "/t/debug/deps/docs-1",
                "manifest_path": "/t/crates/cli/Cargo.toml", "target": {"name": "docs"},
            })
            .to_string()
        };
        let expected = Program {
            name: "cli docs".to_owned(),
            executable: "/t/debug/deps/docs-1".into(),
            folder: "/t/crates/cli".into(),
            tests: None,
        };
        assert_eq!(program(&message("compiler-artifact", true)), Some(expected));
        assert_eq!(program(&message("compiler-artifact", false)), None);
        assert_eq!(program(&message("build-script-executed", true)), None);
        assert_eq!(program("not JSON"), None);
    }

    #[test]
    fn failed_tests_are_those_of_the_last_list() {
        let output = "test a::b ... FAILED\n\nfailures:\n\n---- a::b stdout ----\nno\n\n\
                      failures:\n    a::b\n    c\n\ntest result: FAILED. 0 passed\n";
        assert_eq!(failed_tests(output), ["a::b", "c"]);
        assert_eq!(failed_tests("killed by a signal"), [""; 0]);
    }

    #[test]
    fn failed_program_is_reported_with_its_output() {
        assert_eq!(Program::of("true").run(1, None), Ok(()));
        // `test --exact = --exact` succeeds, and `test` alone fails.
        let with_tests = Some(vec!["=".to_owned(), "--exact".to_owned()]);
        assert_eq!(Program { tests: with_tests, ..Program::of("test") }.run(1, None), Ok(()));
        assert!(Program::of("test").run(1, None).is_err());
        let failure = "test: a b failed (exit status: 1)\n";
        assert_eq!(Program::of("false").run(1, None), Err(failure.to_owned()));
    }

    #[test]
    fn temporary_files_of_a_program_are_in_the_given_folder() {
        let missing = Path::new("/nonexistent");
        assert!(Program::of("mktemp").run(1, Some(missing)).is_err());
    }

    #[test]
    fn modules_are_divided_so_that_each_test_runs_in_one_part() {
        let listed = "a::x: test\nb::y: test\nb::deep::z: test\nlone: test\nc::w: bench\n\n";
        let modules = modules(listed);
        let expected: [&[&str]; 3] = [&["a::x"], &["b::y", "b::deep::z"], &["lone"]];
        assert_eq!(modules, expected);
        assert_eq!(shares(modules, 2), [["b::y", "b::deep::z"], ["a::x", "lone"]]);
    }

    #[test]
    fn parts_of_a_program_list_each_of_its_tests_once() {
        let executable = std::env::current_exe().expect("this program");
        let program =
            Program { name: "xtask".to_owned(), executable, folder: "/".into(), tests: None };
        let parts = program.divide(2).expect("a list of tests");
        let tests: Vec<&String> =
            parts.iter().flat_map(|part| part.tests.iter().flatten()).collect();
        assert!(parts.iter().any(|part| part.has_module("suite")));
        assert!(parts.iter().all(|part| !part.has_module("tests")), "{tests:?}");
        let this = "suite::programs::tests::parts_of_a_program_list_each_of_its_tests_once";
        assert_eq!(tests.iter().filter(|test| **test == this).count(), 1, "{tests:?}");
    }
}
