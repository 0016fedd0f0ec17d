//! Programs before and after the runs of an arm.
//!
//! Environment variables say where the database is. The password is in a file of a temporary
//! folder, for as long as the program runs, in the form that the client programs of the database
//! read.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use base::{Clock, Dialect, Endpoint, Monotonic, Nanos, Secret, Secrets};
use driver::{Login, Programs, RejectedCommand, Variable};
use engine::Stop;
use guardian::TemporaryFolder;
use workload::question::{Arm, Experiment};

use super::error::{ExperimentError, Problem};
use crate::stage::Stage;

/// Longest time that a program before or after a run may take.
pub(super) const LONGEST: Nanos = Nanos::from_secs(600);

/// The time relative to a run at which a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookPoint {
    /// Before the run; an interrupt ends the command.
    Before,
    /// After the run, however that ended; only a second interrupt ends the command.
    After,
}

impl HookPoint {
    /// Returns the key of the file.
    pub(super) fn key(self) -> &'static str {
        match self {
            HookPoint::Before => "before-command",
            HookPoint::After => "after-command",
        }
    }
}

/// The end of statements or programs around a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookEnd {
    /// All statements or programs ran.
    AllRan,
    /// The user ended the experiment before or while they ran.
    Interrupted,
}

/// The commands of an experiment.
pub(super) struct Commands {
    programs: Programs,
    limit: Nanos,
    stop: Stop,
}

impl Commands {
    /// Creates the commands of an experiment, which run in `folder` and end with `stop`.
    pub(super) fn new(folder: PathBuf, stop: Stop) -> Commands {
        Commands { programs: Programs::new(folder), limit: LONGEST, stop }
    }

    /// Checks every command without running it.
    ///
    /// # Errors
    /// The shell rejects a command, or finds no such program; with the arm.
    pub(super) fn check(&self, experiment: &Experiment) -> Result<(), ExperimentError> {
        for arm in &experiment.arms {
            for hook in [HookPoint::Before, HookPoint::After] {
                for text in arm.commands(hook == HookPoint::Before) {
                    let word = text.split_whitespace().next();
                    self.programs.check(Some(text), word).map_err(
                        |RejectedCommand { reason, .. }| {
                            ExperimentError::of(arm, Problem::Command { key: hook.key(), reason })
                        },
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Runs the commands of an arm. Does nothing more once the experiment is interrupted.
    ///
    /// # Errors
    /// A command fails or takes too long, or its password file cannot be written.
    pub(super) fn run(
        &self,
        arm: &Arm,
        hook: HookPoint,
        stage: &Stage,
    ) -> Result<HookEnd, Problem> {
        for text in arm.commands(hook == HookPoint::Before) {
            if self.is_interrupted(hook) {
                return Ok(HookEnd::Interrupted);
            }
            let end = self.run_one(text, hook, stage);
            match end.map_err(|reason| Problem::Command { key: hook.key(), reason })? {
                HookEnd::AllRan => {}
                HookEnd::Interrupted => return Ok(HookEnd::Interrupted),
            }
        }
        Ok(HookEnd::AllRan)
    }

    fn is_interrupted(&self, hook: HookPoint) -> bool {
        match hook {
            HookPoint::Before => self.stop.is_asked(),
            HookPoint::After => self.stop.is_at_once(),
        }
    }

    fn run_one(&self, text: &str, hook: HookPoint, stage: &Stage) -> Result<HookEnd, String> {
        let access = Access::to(stage)
            .map_err(|error| format!("cannot write the password file for `{text}`: {error}"))?;
        let until = Monotonic.now() + self.limit;
        let is_late = || Monotonic.now() > until;
        let is_given_up = || self.is_interrupted(hook) || is_late();
        match self.programs.run_once(text, &access.variables, &is_given_up) {
            Ok(()) => Ok(HookEnd::AllRan),
            Err(_) if self.is_interrupted(hook) => Ok(HookEnd::Interrupted),
            Err(error) if error.class() == base::Class::Timeout => {
                Err(format!("`{text}` did not end within {}", self.limit))
            }
            Err(error) => {
                let words = access.secrets.hide(error.message());
                Err(format!("`{text}` failed ({}): {words}", error.code()))
            }
        }
    }
}

/// The access to a database that a program is given.
struct Access {
    variables: Vec<Variable>,
    /// The passwords in the file, which a program may repeat.
    secrets: Secrets,
    /// The folder of the password file.
    _folder: Option<TemporaryFolder>,
}

impl Access {
    /// Returns the access to the main target of a stage.
    fn to(stage: &Stage) -> io::Result<Access> {
        let (mut host, mut port, mut user, mut database) = (None, None, None, None);
        let (mut password_file, mut pgpass, mut folder) = (None, None, None);
        let mut secrets = Secrets::default();
        let main = stage.reached().iter().find(|reached| reached.name.is_none());
        if let Some(login) = stage.login() {
            let dialect = main.map_or(Dialect::Sqlite, |main| main.target.dialect());
            let place = TemporaryFolder::new(&std::env::temp_dir(), "assay-login")?;
            let path = place.path().join("password");
            write(&path, &password_text(&login, dialect))?;
            let place_of_socket = ServerEndpoint::of(&login, dialect);
            host = Some(place_of_socket.host.into());
            port = place_of_socket.port.map(|port| port.to_string().into());
            user = Some(login.user.into());
            database = login.database.map(OsString::from);
            pgpass = (dialect == Dialect::Postgres).then(|| path.clone().into_os_string());
            password_file = Some(path.into_os_string());
            folder = Some(place);
            secrets = login.secrets;
        } else if let Some(Endpoint::File(path)) = main.map(|main| &main.target.endpoint) {
            database = Some(std::path::absolute(path)?.into_os_string());
        }
        let mut variables = vec![
            ("ASSAY_HOST", host),
            ("ASSAY_PORT", port),
            ("ASSAY_USER", user),
            ("ASSAY_DATABASE", database),
            ("ASSAY_PASSWORD_FILE", password_file),
        ];
        if pgpass.is_some() {
            variables.push(("PGPASSFILE", pgpass));
        }
        Ok(Access { variables, secrets, _folder: folder })
    }
}

/// Host and port by which the client programs of a database find a server.
struct ServerEndpoint {
    host: String,
    port: Option<u16>,
}

impl ServerEndpoint {
    /// Returns the place of a server. Programs of PostgreSQL find a socket by its folder and the
    /// port at the end of its name.
    fn of(login: &Login, dialect: Dialect) -> ServerEndpoint {
        let (host, port) = (login.host.clone(), login.port);
        match &login.socket {
            Some(socket) if dialect == Dialect::Postgres => {
                let name = socket.file_name().unwrap_or_default().to_string_lossy();
                let port = name.strip_prefix(".s.PGSQL.").and_then(|port| port.parse().ok());
                let folder = socket.parent().unwrap_or(Path::new("/"));
                ServerEndpoint { host: folder.display().to_string(), port }
            }
            _ => ServerEndpoint { host, port },
        }
    }
}

/// Returns the text of the password file: a `.pgpass`, or an option file of MySQL.
fn password_text(login: &Login, dialect: Dialect) -> String {
    let password = login.password.as_ref().map_or("", Secret::expose);
    match dialect {
        Dialect::Postgres if password.is_empty() => String::new(),
        Dialect::Postgres => {
            let field = |text: &str| text.replace('\\', "\\\\").replace(':', "\\:");
            // Any host: clients look up a socket in the default folder as `localhost`.
            format!("*:*:*:{}:{}\n", field(&login.user), field(password))
        }
        Dialect::Mysql | Dialect::Sqlite => {
            let escaped = |text: &str| text.replace('\\', "\\\\").replace('\n', "\\n");
            let quoted = |text: &str| format!("\"{}\"", escaped(text));
            let mut text = format!("[client]\nuser={}\n", quoted(&login.user));
            match (&login.socket, login.port) {
                (Some(socket), _) => {
                    text += &format!("socket={}\n", quoted(&socket.display().to_string()));
                }
                (None, Some(port)) => {
                    text += &format!("host={}\nport={port}\n", quoted(&login.host));
                }
                (None, None) => {}
            }
            if !password.is_empty() {
                text += &format!("password={}\n", quoted(password));
            }
            text
        }
    }
}

/// Writes a new file that only its user can read.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use base::Target;
    use engine::Options;
    use rustix::process::{Pid, test_kill_process_group};
    use workload::Overrides;
    use workload::question::Difference;

    use super::*;

    fn login(socket: Option<&str>, password: &str) -> Login {
        Login {
            host: "127.0.0.1".to_owned(),
            port: socket.is_none().then_some(5433),
            socket: socket.map(PathBuf::from),
            user: "ann".to_owned(),
            database: None,
            password: Some(Secret::new(password.to_owned())),
            secrets: Secrets::default(),
        }
    }

    #[test]
    fn password_file_has_the_form_of_the_clients() {
        let text = |socket, password, dialect| password_text(&login(socket, password), dialect);
        assert_eq!(text(None, "a:b\\c", Dialect::Postgres), "*:*:*:ann:a\\:b\\\\c\n");
        let socket = Some("/run/.s.PGSQL.6000");
        assert_eq!(text(socket, "pw", Dialect::Postgres), "*:*:*:ann:pw\n");
        assert_eq!(text(None, "", Dialect::Postgres), "");
        assert_eq!(
            text(None, "a#\\", Dialect::Mysql),
            "[client]\nuser=\"ann\"\nhost=\"127.0.0.1\"\nport=5433\npassword=\"a#\\\\\"\n"
        );
        let hostile = text(None, "a\nhost=evil", Dialect::Mysql);
        assert!(hostile.ends_with("password=\"a\\nhost=evil\"\n"), "{hostile}");
        assert_eq!(text(Some("/s"), "", Dialect::Mysql), "[client]\nuser=\"ann\"\nsocket=\"/s\"\n");
    }

    /// Returns an arm whose command before a run writes its process group and the path of its
    /// password file to `said`, and then hangs.
    fn hanging(said: &Path) -> Arm {
        let workload = "duration = 1s\n[read]\nquery = select 1\n";
        let plan = workload::plan(workload, &Overrides::default()).0.unwrap();
        let text = format!(
            "echo $$ \"$ASSAY_PASSWORD_FILE\" > {0}.new; mv {0}.new {0}; sleep 1000",
            said.display()
        );
        Arm {
            name: "slow".to_owned(),
            point: None,
            differences: vec![Difference::BeforeCommand(text)],
            plan,
            restore: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    #[test]
    fn second_interrupt_ends_a_command_after_a_run_and_is_not_a_failure_of_it() {
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "assay-commands-test").unwrap();
        let said = folder.path().join("said");
        let mut arm = hanging(&said);
        let Difference::BeforeCommand(text) = arm.differences.remove(0) else { panic!() };
        arm.differences.push(Difference::AfterCommand(text));
        let target = Target::parse("sqlite:").unwrap();
        let stage = Stage::open(&arm.plan, &target, &Options::in_real_time()).unwrap();
        let stop = Stop::default();
        let commands = Commands::new(std::env::temp_dir(), stop.clone());
        let is_running = AtomicBool::new(true);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                stop.interrupt();
                while !said.exists() && is_running.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                stop.interrupt_at_once();
            });
            let end = commands.run(&arm, HookPoint::After, &stage);
            is_running.store(false, Ordering::Relaxed);
            assert_eq!(end.unwrap(), HookEnd::Interrupted);
        });
        assert!(said.exists(), "the first interrupt leaves the command alone");
        let end = commands.run(&arm, HookPoint::After, &stage).unwrap();
        assert_eq!(end, HookEnd::Interrupted, "nothing is run after it");
    }

    #[test]
    fn command_that_repeats_the_password_is_quoted_without_it() {
        let mut arm = hanging(Path::new("unused"));
        let text = "cat \"$ASSAY_PASSWORD_FILE\" >&2; exit 1";
        arm.differences = vec![Difference::BeforeCommand(text.to_owned())];
        let target = Target::parse("postgres://ann:geheim@127.0.0.1:1/shop").unwrap();
        let stage = Stage::open(&arm.plan, &target, &Options::in_real_time()).unwrap();
        let commands = Commands::new(std::env::temp_dir(), Stop::default());
        let problem = commands.run(&arm, HookPoint::Before, &stage).unwrap_err();
        let Problem::Command { reason, .. } = problem else { panic!("{problem:?}") };
        assert!(reason.ends_with("failed (exit-1): *:*:*:ann:(secret)"), "{reason}");
    }

    #[test]
    fn command_that_hangs_is_ended_at_its_limit_and_leaves_nothing() {
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "assay-commands-test").unwrap();
        let said = folder.path().join("said");
        let arm = hanging(&said);
        let target = Target::parse("postgres://ann:geheim@127.0.0.1:1/shop").unwrap();
        let stage = Stage::open(&arm.plan, &target, &Options::in_real_time()).unwrap();
        // A shell on a busy machine may need longer to begin.
        for limit in [200, 2_000, 20_000].map(Nanos::from_millis) {
            let commands =
                Commands { limit, ..Commands::new(std::env::temp_dir(), Stop::default()) };
            let problem = commands.run(&arm, HookPoint::Before, &stage).unwrap_err();
            let Problem::Command { key, reason } = problem else { panic!("{problem:?}") };
            assert_eq!(key, "before-command");
            assert!(
                reason.ends_with(&format!("sleep 1000` did not end within {limit}")),
                "{reason}"
            );
            assert!(!reason.contains("geheim"), "{reason}");
            if said.exists() {
                break;
            }
        }
        let said = std::fs::read_to_string(said).unwrap();
        let (group, password) = said.trim().split_once(' ').unwrap();
        let group = Pid::from_raw(group.parse().unwrap()).unwrap();
        // A killed process may wait for the machine's first process to take its exit status.
        let until = Monotonic.now() + Nanos::from_secs(60);
        while test_kill_process_group(group).is_ok() {
            assert!(Monotonic.now() < until, "the group of the command is there");
            std::thread::yield_now();
        }
        let password = Path::new(password);
        assert_eq!(password.file_name(), Some("password".as_ref()));
        assert!(!password.parent().unwrap().exists());
    }
}
