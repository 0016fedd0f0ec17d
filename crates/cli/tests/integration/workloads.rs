//! Tests that the bundled workload files do what their comments say.

use serde_json::Value;

use crate::support::{CommandResult, TestFolder, assert_balanced, check};

/// Options that shorten a run, by workload; the default is `--duration 1s`.
const SHORTER: &[(&str, &str)] = &[
    ("shop", "--duration 1s --warmup 0s --set orders=5k"),
    ("timetable", "--duration 1s --set pause=300ms"),
    // The following workloads end when their work is done.
    ("records", ""),
    ("replay", ""),
    ("results", ""),
];

/// Workloads that other tests run.
const RUN_ELSEWHERE: &[&str] = &["accounts", "mixed", "mixed-dbbench", "mixed-mariadb"];

/// A command in a file's comment, with its expected exit code.
#[derive(Debug, PartialEq)]
pub(crate) struct DocumentedCommand {
    pub(crate) words: Vec<String>,
    code: i32,
}

impl DocumentedCommand {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|other| other == word)
    }

    /// Returns true if the speed of the machine cannot affect the exit code.
    fn is_exact(&self) -> bool {
        !self.has("run") || self.has("--virtual")
    }

    /// Returns the shortened command that the test runs.
    fn test_arguments(&self, name: &str, record: &str) -> Vec<String> {
        let mut test_arguments = self.words.clone();
        if !self.is_exact() {
            let shorter = SHORTER.iter().find(|(of, _)| *of == name);
            let shorter = shorter.map_or("--duration 1s", |(_, shorter)| shorter);
            test_arguments.extend(shorter.split_whitespace().map(str::to_owned));
        }
        if self.has("run") {
            test_arguments.extend(["--json", "--quiet", "--out", record].map(str::to_owned));
        }
        test_arguments
    }
}

/// Returns the commands in a comment, such as `;     assay run hello.ini # exit code 1`.
pub(crate) fn documented_commands(text: &str) -> Vec<DocumentedCommand> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(";     assay "));
    let command = |line: &str| {
        let (command, remark) = line.split_once(" # exit code ").unwrap_or((line, "0"));
        let words = command.split_whitespace().map(|word| word.trim_matches('\'').to_owned());
        DocumentedCommand { words: words.collect(), code: remark.trim().parse().unwrap() }
    };
    lines.map(command).collect()
}

/// Returns the jobs of a summary that completed no request.
fn idle_jobs(summary: &Value) -> Vec<&str> {
    let jobs = summary["jobs"].as_array().unwrap().iter();
    let idle = jobs.filter(|job| job["completed"].as_u64().unwrap() == 0);
    idle.map(|job| job["name"].as_str().unwrap()).collect()
}

/// Checks the result of a run. In real time, a slow or busy machine may affect the verdict, which
/// is not a fault of the file.
#[track_caller]
fn check_result(name: &str, shown: &DocumentedCommand, ran: CommandResult) {
    let codes = if shown.is_exact() { vec![shown.code] } else { vec![shown.code, 1, 3] };
    assert!(codes.contains(&ran.code), "{name}: {shown:?} ends with {}: {}", ran.code, ran.stderr);
    assert!(!ran.stderr.contains("warning"), "{name}: {shown:?}: {}", ran.stderr);
    if !shown.has("run") {
        return;
    }
    let summary = ran.json();
    assert_balanced(&summary);
    assert_eq!(idle_jobs(&summary), [""; 0], "{name}: {shown:?}");
    assert_eq!(summary["run"]["ended"], "completed", "{name}: {shown:?}");
    for exact in ["errors", "complete", "files"] {
        let status = &check(&summary, exact)["status"];
        assert!(status == "pass" || status == "not-possible", "{name}: {exact} is {status}");
    }
}

/// Returns the names of all listed workloads.
fn names(place: &TestFolder) -> Vec<String> {
    let list = place.assay(&["workloads"]).expect(0).stdout;
    list.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// Writes all workload files under their listed names, with `.ini` if a name has no extension.
/// Returns the listed names and the texts.
fn unpack(place: &TestFolder) -> Vec<(String, String)> {
    let print = |name: String| {
        let text = place.assay(&["workloads", &name]).expect(0).stdout;
        let file = if name.contains('.') { name.clone() } else { format!("{name}.ini") };
        place.write(&file, &text);
        (name, text)
    };
    names(place).into_iter().map(print).collect()
}

/// Each command of each file runs in a folder with all files.
#[test]
fn bundled_workloads_do_what_their_comments_say() {
    let place = TestFolder::new();
    let mut runs = 0;
    let is_for_this_test = |name: &str| !name.contains('.') && !RUN_ELSEWHERE.contains(&name);
    for (name, text) in unpack(&place).iter().filter(|(name, _)| is_for_this_test(name)) {
        let commands = documented_commands(text);
        assert!(!commands.is_empty(), "{name}: its comment says no command");
        for command in commands {
            runs += 1;
            let test_arguments = command.test_arguments(name, &format!("{runs}.assay"));
            let test_arguments: Vec<&str> = test_arguments.iter().map(String::as_str).collect();
            check_result(name, &command, place.assay(&test_arguments));
        }
    }
    assert!(runs >= 25, "{runs}");
}

#[test]
fn a_workload_that_does_not_do_what_it_says_is_noticed() {
    let text =
        "; A.\n;     assay run w.ini --url 'sim:mm1?a=b' --virtual # exit code 1\nassay run\n";
    let words = ["run", "w.ini", "--url", "sim:mm1?a=b", "--virtual"].map(str::to_owned).to_vec();
    assert_eq!(documented_commands(text), [DocumentedCommand { words, code: 1 }]);
    let job = "[read]\nquery = select 1\nrate = 100\n";
    let idle = "[idle]\nquery = select 1\nevery = 10s\n";
    let is_noticed = |workload: &str, url: &str, code: i32| {
        let shown =
            DocumentedCommand { words: vec!["run".to_owned(), "--virtual".to_owned()], code };
        let ran = TestFolder::with(workload).run_virtually(url, &["--quiet"]);
        std::panic::catch_unwind(move || check_result("w", &shown, ran)).is_err()
    };
    let long = format!("duration = 20s\n{job}{idle}");
    let short = format!("duration = 10s\n{job}{idle}");
    assert!(!is_noticed(&long, "sim:mm1", 0));
    assert!(is_noticed(&long, "sim:mm1", 1));
    assert!(is_noticed(&short, "sim:mm1", 0));
    assert!(is_noticed(&long, "sim:mm1?errors=0.01", 0));
}

#[test]
fn message_names_the_bundled_workload_of_a_missing_file() {
    let place = TestFolder::new();
    for name in ["hello", "hello.ini"] {
        let help = "= help: it comes with the program: `assay workloads hello > hello.ini`";
        place.assay(&["run", name]).refuses(&[&format!("cannot read `{name}`"), help]);
    }
    let ran = place.assay(&["run", "nothing.ini"]).refuses(&["cannot read `nothing.ini`"]);
    assert!(!ran.stderr.contains("assay workloads"), "{}", ran.stderr);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn unknown_workload_suggests_the_nearest() {
    let place = TestFolder::new();
    let near = "error: no workload `sesion` comes with the program; did you mean `session`?";
    let help = "= help: `assay workloads` lists those that do";
    place.assay(&["workloads", "sesion"]).refuses(&[near, help]);
    let ran = place.assay(&["workloads", "something-else"]).refuses(&[help]);
    assert!(!ran.stderr.contains("did you mean"), "{}", ran.stderr);
}
