//! Programs before and after the runs of an arm.
//!
//! While a program runs, it has [access](crate::access) to the database of its arm.

use std::path::PathBuf;
use std::sync::Arc;

use base::{Clock, Monotonic, Nanos};
use driver::{Programs, RejectedCommand};
use engine::Stop;
use workload::question::{Arm, Experiment};

use super::error::{ExperimentError, Problem};
use crate::stage::Stage;

/// Time limit for a program before or after a run.
pub(super) const TIME_LIMIT: Nanos = Nanos::from_secs(600);

/// The time at which a command runs: before or after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookPoint {
    /// Before the run; an interrupt ends the command.
    Before,
    /// After the run, however the run ended; only a second interrupt ends the command.
    After,
}

impl HookPoint {
    /// Returns the key of the experiment file.
    pub(super) fn key(self) -> &'static str {
        match self {
            HookPoint::Before => "before-command",
            HookPoint::After => "after-command",
        }
    }
}

/// The outcome of statements or programs around a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookEnd {
    /// All statements or programs ran.
    AllRan,
    /// An interrupt ended the statements or programs before all of them had run.
    Interrupted,
}

/// The commands of an experiment.
pub(super) struct Commands {
    programs: Programs,
    limit: Nanos,
    stop: Stop,
}

impl Commands {
    /// Creates the commands of an experiment. They run in `folder`; a stop request of `stop` ends
    /// them.
    pub(super) fn new(folder: PathBuf, stop: Stop) -> Commands {
        Commands { programs: Programs::new(folder, Arc::default()), limit: TIME_LIMIT, stop }
    }

    /// Checks every command without running it.
    ///
    /// # Errors
    /// The shell rejects a command, or finds no such program; the error names the arm.
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

    /// Runs the commands of an arm, one after the other. Starts no further command after an
    /// interrupt that ends commands at this [`HookPoint`].
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
            HookPoint::Before => self.stop.is_requested(),
            HookPoint::After => self.stop.is_at_once(),
        }
    }

    fn run_one(&self, text: &str, hook: HookPoint, stage: &Stage) -> Result<HookEnd, String> {
        let access = stage
            .access()
            .map_err(|error| format!("cannot write the password file for `{text}`: {error}"))?;
        let until = Monotonic.now() + self.limit;
        let is_late = || Monotonic.now() > until;
        let is_given_up = || self.is_interrupted(hook) || is_late();
        match self.programs.run_once(text, &access.environment, &is_given_up) {
            Ok(()) => Ok(HookEnd::AllRan),
            Err(_) if self.is_interrupted(hook) => Ok(HookEnd::Interrupted),
            Err(error) if error.class() == base::Class::Timeout => {
                Err(format!("`{text}` did not end within {}", self.limit))
            }
            Err(error) => Err(format!("`{text}` failed ({}): {}", error.code(), error.message())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use base::Target;
    use engine::Options;
    use guardian::TemporaryFolder;
    use rustix::process::{Pid, test_kill_process_group};
    use workload::Overrides;
    use workload::question::Difference;

    use super::*;

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
    fn command_gets_the_path_of_a_temporary_database() {
        let mut arm = hanging(Path::new("unused"));
        let text = "test -f \"$ASSAY_DATABASE\"";
        arm.differences = vec![Difference::BeforeCommand(text.to_owned())];
        let target = Target::parse("sqlite:").unwrap();
        let stage = Stage::open(&arm.plan, &target, &Options::in_real_time()).unwrap();
        let commands = Commands::new(std::env::temp_dir(), Stop::default());
        let end = commands.run(&arm, HookPoint::Before, &stage);
        assert_eq!(end.unwrap(), HookEnd::AllRan);
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
        assert!(reason.ends_with("failed (exit-1): 127.0.0.1:1:*:ann:(secret)"), "{reason}");
    }

    #[test]
    fn command_that_hangs_is_ended_at_its_limit_and_leaves_nothing() {
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "assay-commands-test").unwrap();
        let said = folder.path().join("said");
        let arm = hanging(&said);
        let target = Target::parse("postgres://ann:geheim@127.0.0.1:1/shop").unwrap();
        let stage = Stage::open(&arm.plan, &target, &Options::in_real_time()).unwrap();
        // On a busy machine, a shell may need longer to start.
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
        // A killed process remains a zombie until the machine's first process reaps it.
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
