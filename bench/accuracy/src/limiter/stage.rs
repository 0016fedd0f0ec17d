//! The environment of one repetition of a scenario: its random numbers, servers and programs.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use analyze::limiting::LimiterFinding;
use archive::Archive;
use base::{Secret, Seed, Stream, Target};
use serde_json::Value;
use testbed::{Kind, Options, Problem, Server};

/// The name of a repetition's record.
const RECORD: &str = "run.assay";

/// The reason why a scenario cannot run on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl Unsupported {
    /// Creates the value from a reason.
    pub(super) fn new(why: impl Into<String>) -> Unsupported {
        Unsupported(why.into())
    }
}

/// The reason why a repetition has no answer.
#[derive(Debug)]
pub enum RepetitionError {
    /// The machine lacks a program or permission that the scenario needs.
    Unsupported(Unsupported),
    /// The repetition failed with this error.
    Failed(Box<dyn Error>),
}

impl From<Unsupported> for RepetitionError {
    fn from(unable: Unsupported) -> RepetitionError {
        RepetitionError::Unsupported(unable)
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for RepetitionError {
    fn from(error: E) -> RepetitionError {
        RepetitionError::Failed(error.into())
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The limiter that `assay` reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The reported component.
    pub component: String,
    /// The reported reason.
    pub because: String,
    /// The facts in the record from which the limiter was concluded; `None` if the repetition
    /// failed, or if the record has no load.
    pub finding: Option<LimiterFinding>,
}

impl Answer {
    /// Creates the answer of a failed repetition, which counts as misidentified. The other
    /// repetitions still run.
    pub fn failed(because: String) -> Answer {
        Answer { component: "failed".to_owned(), because, finding: None }
    }
}

/// The key of the random stream of a repetition.
#[derive(Clone, Copy, Debug)]
pub struct DrawKey<'s> {
    /// The seed of the suite.
    pub seed: u64,
    /// The name of the scenario.
    pub scenario: &'s str,
    /// The number of the repetition, from 0.
    pub repetition: u64,
}

/// Delays added to a disk: microseconds for a flush and for a read, nanoseconds for each written
/// byte.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlowDisk {
    pub(super) flush_us: u64,
    pub(super) read_us: u64,
    pub(super) write_ns: u64,
}

/// A scratch folder and the random numbers of one repetition.
pub struct ScenarioEnv {
    /// Length of a run, in seconds.
    pub(super) seconds: u64,
    folder: tempfile::TempDir,
    assay: PathBuf,
    draws: Stream,
}

impl ScenarioEnv {
    /// Creates the environment of a repetition, with runs of `seconds`.
    ///
    /// # Errors
    /// Fails if a folder cannot be created, or if there is no program `assay` in the folder of this
    /// program.
    pub fn new(from: DrawKey<'_>, seconds: u64) -> Result<ScenarioEnv, Box<dyn Error>> {
        let assay = std::env::current_exe()?.with_file_name("assay");
        if !assay.exists() {
            return Err(format!("there is no {}: build it first", assay.display()).into());
        }
        let name = format!("{} {}", from.scenario, from.repetition);
        let draws = Stream::new(Seed(from.seed), "limiter", &name);
        Ok(ScenarioEnv { seconds, folder: tempfile::tempdir()?, assay, draws })
    }

    /// Returns the random number that belongs to `place`, from `low` to `high`. Each number of a
    /// scenario has a different `place`.
    pub(super) fn draw(&self, place: u64, low: u64, high: u64) -> u64 {
        low + self.draws.draw(place).below(high - low + 1)
    }

    /// Returns a path in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a workload against a server and returns the reported limiter.
    pub(super) fn run(&self, server: &Server, workload: &str) -> Result<Answer, RepetitionError> {
        self.run_as(&server.url(), Some(server.password()), workload, self.assay_by(&[]), &[])
    }

    /// Runs a workload against a target with this password, and returns the reported limiter.
    /// `command` starts `assay`; `arguments` are appended to its command line.
    pub(super) fn run_as(
        &self,
        target: &Target,
        password: Option<&Secret>,
        workload: &str,
        mut command: Command,
        arguments: &[&str],
    ) -> Result<Answer, RepetitionError> {
        self.add_arguments("run", target, password, workload, &mut command)?;
        command.args(arguments);
        limiter_of(command, &self.path(RECORD))
    }

    /// Loads the one table of a workload and returns the limiter reported for that load.
    pub(super) fn load_as(
        &self,
        target: &Target,
        password: Option<&Secret>,
        workload: &str,
        mut command: Command,
    ) -> Result<Answer, RepetitionError> {
        self.add_arguments("load", target, password, workload, &mut command)?;
        let load = &document_of(command)?["loads"][0];
        let summary = summary_of(&self.path(RECORD))?;
        Ok(Answer {
            component: word(load, "limiter"),
            because: word(load, "because"),
            finding: summary.loads.into_iter().next().map(|load| load.limiter.finding),
        })
    }

    /// Writes the workload and appends the arguments of `assay run` or `assay load` to a command.
    fn add_arguments(
        &self,
        subcommand: &str,
        target: &Target,
        password: Option<&Secret>,
        workload: &str,
        command: &mut Command,
    ) -> Result<(), RepetitionError> {
        let file = self.path("workload.ini");
        fs::write(&file, workload)?;
        command.arg(subcommand).arg(&file).arg("--url").arg(target.to_string());
        command.args(["--json", "--quiet", "--out"]).arg(self.path(RECORD));
        if let Some(password) = password {
            command.env("ASSAY_PASSWORD", password.expose());
        }
        Ok(())
    }

    /// Returns the command that starts `assay`, preceded by `words`.
    pub(super) fn assay_by(&self, words: &[&str]) -> Command {
        match words {
            [] => Command::new(&self.assay),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(&self.assay);
                command
            }
        }
    }

    /// Runs `assay observe` on a command and a server, and returns the reported limiter.
    pub(super) fn observe(
        &self,
        server: &Server,
        words: &[&OsStr],
    ) -> Result<Answer, RepetitionError> {
        self.observe_at(&server.url(), server, words)
    }

    /// Runs `assay observe` on a command, with `target` as the URL of the server and the password
    /// of `server`, and returns the reported limiter.
    pub(super) fn observe_at(
        &self,
        target: &Target,
        server: &Server,
        words: &[&OsStr],
    ) -> Result<Answer, RepetitionError> {
        let mut asked = self.assay_by(&[]);
        run_checked(asked.args(["observe", "--help"]))?;
        let mut command = self.assay_by(&[]);
        command.arg("observe").arg(target.to_string()).arg("--json");
        command.arg("--out").arg(self.path(RECORD)).arg("--").args(words);
        command.env("ASSAY_PASSWORD", server.password().expose());
        command.env("PGPASSWORD", server.password().expose());
        command.env("MYSQL_PWD", server.password().expose());
        limiter_of(command, &self.path(RECORD))
    }

    /// Starts a program that is killed when the returned value is dropped.
    pub(super) fn start_background(
        &self,
        mut command: Command,
    ) -> Result<BackgroundProgram, RepetitionError> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(BackgroundProgram(child.spawn()?))
    }

    /// Starts busy loops on a processor.
    pub(super) fn busy_loops(
        &self,
        cpu: u64,
        count: u64,
    ) -> Result<Vec<BackgroundProgram>, RepetitionError> {
        let one = || {
            let mut command = Command::new("taskset");
            command.args(["-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"]);
            self.start_background(command)
        };
        (0..count).map(|_| one()).collect()
    }

    /// Compiles a library that slows down the disk of a process that preloads it.
    pub(super) fn slow_disk(&self, disk: SlowDisk) -> Result<PathBuf, RepetitionError> {
        let SlowDisk { flush_us, read_us, write_ns } = disk;
        let source = self.path("slow_disk.c");
        let library = self.path("slow_disk.so");
        fs::write(&source, include_str!("slow_disk.c"))?;
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-O1", &format!("-DFLUSH_US={flush_us}")]);
        command.args([format!("-DREAD_US={read_us}"), format!("-DWRITE_NS={write_ns}")]);
        command.arg("-o");
        let output = command.arg(&library).arg(&source).arg("-ldl").output();
        let output = output.map_err(|error| Unsupported::new(format!("no C compiler: {error}")))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        // The server runs as another user.
        make_accessible(self.folder.path(), 0o755)?;
        make_accessible(&library, 0o755)?;
        Ok(library)
    }
}

/// Runs a command and returns the limiter in the JSON document that it prints, with the facts in
/// the record that it writes.
fn limiter_of(command: Command, record: &Path) -> Result<Answer, RepetitionError> {
    let limiter = &document_of(command)?["limiter"];
    Ok(Answer {
        component: word(limiter, "component"),
        because: word(limiter, "because"),
        finding: Some(summary_of(record)?.limiter.finding),
    })
}

fn summary_of(record: &Path) -> Result<analyze::Summary, RepetitionError> {
    Ok(analyze::summarize(&lab::evidence(&Archive::open(record)?)?))
}

/// Runs a command and returns the JSON document that it prints.
fn document_of(mut command: Command) -> Result<Value, RepetitionError> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output()?;
    let document = serde_json::from_slice(&output.stdout).map_err(|error| {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("{error}: {words}")
    })?;
    Ok(document)
}

fn word(of: &Value, name: &str) -> String {
    of[name].as_str().unwrap_or_default().to_owned()
}

fn make_accessible(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Starts a private server.
pub(super) fn server(options: &Options) -> Result<Server, RepetitionError> {
    Server::start(options).map_err(|problem| match problem {
        Problem::Missing { .. } => Unsupported::new(problem.to_string()).into(),
        problem => RepetitionError::from(problem),
    })
}

/// Binds a server's processes, including background workers, to a processor. Later child processes
/// inherit the binding.
pub(super) fn bind(server: &Server, cpu: u64) -> Result<(), RepetitionError> {
    let first = server.pid().unwrap_or_default().to_string();
    let bind = |pid: &str| {
        run_checked(Command::new("taskset").args(["-a", "-p", "-c", &cpu.to_string(), pid]))
    };
    bind(&first)?;
    let children = fs::read_to_string(format!("/proc/{first}/task/{first}/children"))?;
    for child in children.split_whitespace() {
        // The process may have ended meanwhile.
        let _ = bind(child);
    }
    Ok(())
}

/// Returns the command that starts `psql` and connects it to a server as the user `assay`.
pub(super) fn psql(server: &Server) -> Result<Command, RepetitionError> {
    run_checked(Command::new("psql").arg("--version"))?;
    let mut command = Command::new("psql");
    command.args(["-X", "-q", "-h", "127.0.0.1", "-p", &server.port().to_string()]);
    command.args(["-U", "assay", "-d", "assay"]);
    command.env("PGPASSWORD", server.password().expose());
    Ok(command)
}

/// Returns the command that starts `psql` or `mariadb`, depending on the kind of the server, and
/// connects it to the server as the user `assay`.
pub(super) fn client(server: &Server) -> Result<Command, RepetitionError> {
    if server.kind() == Kind::Postgres {
        return psql(server);
    }
    run_checked(Command::new("mariadb").arg("--version"))?;
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "--local-infile=1", "-h", "127.0.0.1"]);
    command.args(["-P", &server.port().to_string(), "-u", "assay", "assay"]);
    command.env("MYSQL_PWD", server.password().expose());
    Ok(command)
}

/// Runs a command. If the command fails, the error is [`Unsupported`], with the first line of the
/// command's error output.
pub(super) fn run_checked(command: &mut Command) -> Result<(), RepetitionError> {
    let output = command.stdin(Stdio::null()).output();
    let name = Path::new(command.get_program()).file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let output = output.map_err(|error| Unsupported::new(format!("{name}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let first = words.lines().next().unwrap_or_default().trim_end_matches('.');
    Err(Unsupported::new(format!("{name}: {first}")).into())
}

/// A background program that is killed on drop.
pub(super) struct BackgroundProgram(Child);

impl Drop for BackgroundProgram {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A control group, of version 1 or 2, that limits a server's processor time. Removed on drop.
pub(super) struct Quota(PathBuf);

impl Quota {
    /// Moves a server's first process into a new group that may use `hundredths` hundredths of a
    /// processor. Processes that the first process starts later belong to the group too.
    pub(super) fn on(server: &Server, hundredths: u64) -> Result<Quota, RepetitionError> {
        let pid = server.pid().unwrap_or_default();
        let name = format!("assay-limiter-{pid}");
        // The folders of cgroup versions 1 and 2.
        let (v1, v2) = (Path::new("/sys/fs/cgroup/cpu"), Path::new("/sys/fs/cgroup"));
        let group = if v1.is_dir() { v1.join(name) } else { v2.join(name) };
        let unable =
            |error: std::io::Error| Unsupported::new(format!("{}: {error}", group.display()));
        fs::create_dir(&group).map_err(unable)?;
        let quota = Quota(group.clone());
        let limit = match v1.is_dir() {
            true => fs::write(group.join("cpu.cfs_quota_us"), (hundredths * 1_000).to_string()),
            false => fs::write(group.join("cpu.max"), format!("{} 100000", hundredths * 1_000)),
        };
        limit.map_err(unable)?;
        fs::write(group.join("cgroup.procs"), pid.to_string()).map_err(unable)?;
        Ok(quota)
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // A group with processes cannot be removed: move the processes to the parent group first.
        let home = self.0.parent().map(|parent| parent.join("cgroup.procs"));
        let processes = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        for pid in processes.lines() {
            let _ = home.as_ref().map(|home| fs::write(home, pid));
        }
        let _ = fs::remove_dir(&self.0);
    }
}

/// A network namespace whose loopback has a queueing discipline (tc(8)). Removed on drop.
pub(super) struct Network(String);

impl Network {
    /// Creates the namespace. `discipline` ends the command line of `tc qdisc add`, such as
    /// `netem delay 5ms`.
    pub(super) fn new(discipline: &str) -> Result<Network, RepetitionError> {
        let name = format!("assay-{}", std::process::id());
        run_checked(Command::new("ip").args(["netns", "add", &name]))?;
        let network = Network(name);
        let inside = |words: &str| {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", &network.0]).args(words.split(' '));
            run_checked(&mut command)
        };
        inside("ip link set lo up mtu 1500")?;
        inside(&format!("tc qdisc add dev lo root {discipline}"))?;
        Ok(network)
    }

    /// Returns the words that run a command in the namespace.
    pub(super) fn words(&self) -> [&str; 4] {
        ["ip", "netns", "exec", &self.0]
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = run_checked(Command::new("ip").args(["netns", "del", &self.0]));
    }
}

/// A program that feeds lines to a named pipe at a constant rate. Killed on drop.
pub(super) struct SlowPipe(#[expect(dead_code, reason = "ended with this")] BackgroundProgram);

impl SlowPipe {
    /// Creates the pipe and starts to write `per_s` lines per second.
    pub(super) fn feed(path: &Path, per_s: u64) -> Result<SlowPipe, RepetitionError> {
        run_checked(Command::new("mkfifo").arg(path))?;
        let pause = 1.0 / per_s as f64;
        let script = format!(
            "i=0; while :; do i=$((i+1)); echo $i; sleep {pause}; done > '{}'",
            path.display()
        );
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).stdin(Stdio::null());
        Ok(SlowPipe(BackgroundProgram(command.spawn()?)))
    }
}

/// Prints a line of progress to standard error.
pub fn print_progress(words: impl AsRef<OsStr>) {
    let _ = writeln!(std::io::stderr(), "{}", words.as_ref().to_string_lossy());
}
