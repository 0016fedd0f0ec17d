//! The input of a report: a run with its measurements, judgement and summary.

use std::path::PathBuf;

use analyze::{Component, Evidence, Summary};
use base::{Seed, Target, TargetKind, WallTime, shell_word};
use record::environment::observe::{COMMAND, COMMAND_ENDED};
use record::environment::{UNKNOWN, assay, known};
use record::{End, Excerpt, Note, OpLogReport, Pace, RunFacts};
use workload::NamedTarget;

use crate::repeat::repeat_command;
use crate::words;

/// A run, ready to be reported.
#[derive(Clone, Debug)]
pub struct View {
    /// Facts about the run: workload, target, time and end.
    pub about: RunDetails,
    /// Verdict and numbers.
    pub summary: Summary,
    /// Evidence from which verdict and numbers were derived.
    pub evidence: Evidence,
}

impl View {
    /// Creates the view of a run: judges and summarizes the evidence.
    pub fn new(about: RunDetails, evidence: Evidence) -> View {
        View { about, summary: analyze::summarize(&evidence), evidence }
    }

    /// Returns true if tables were filled and nothing else was done.
    pub(crate) fn has_only_loads(&self) -> bool {
        self.summary.jobs.is_empty() && !self.summary.loads.is_empty()
    }

    /// Returns true if a database is on the generator's machine; `None` if there is none, or its
    /// location is unknown.
    pub(crate) fn shares_its_host(&self) -> Option<bool> {
        self.evidence.surroundings.has_database_here(&self.evidence.plan)
    }

    /// Returns the observed program and its end, in words; `None` if a workload was run.
    pub(crate) fn observed_program(&self) -> Option<(String, String)> {
        let found = |name: &str| {
            let settings = &self.about.settings;
            settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let program = found(COMMAND).map(|program| match program.is_empty() {
            true => "this machine".to_owned(),
            false => format!("`{program}`"),
        });
        program.zip(found(COMMAND_ENDED))
    }

    /// Returns the advice for a limiter, which differs for an observed program; `None` if nothing
    /// limits, or the limiter is unknown.
    pub(crate) fn relief(&self, component: Component) -> Option<&'static str> {
        match self.observed_program() {
            Some(_) => words::relief_of_program(component),
            None => words::relief(component),
        }
    }

    /// Returns true if an unseen source is a machine that was to be observed, or its clock.
    pub(crate) fn names_host(&self, what: &str) -> bool {
        let host = what.strip_suffix("/clock").unwrap_or(what);
        self.evidence.plan.observe.hosts.iter().any(|named| named.host == host)
    }

    /// Returns true if a database runs in the generator's own process, so its processor time is
    /// included in the generator's.
    pub(crate) fn has_database_inside(&self) -> bool {
        let is_inside = |named: &NamedTarget| named.target.kind == TargetKind::Sqlite;
        self.about.target.starts_with("sqlite:")
            || self.evidence.plan.named_targets().any(is_inside)
    }
}

/// Facts about a run besides its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDetails {
    /// Path of the record.
    pub record: PathBuf,
    /// Number of the run in the record of an experiment; `None` if the record has only this run.
    pub run: Option<u32>,
    /// URL of the main target, without its password; empty if the plan does not use it.
    pub target: String,
    /// Name of the workload file.
    pub workload: String,
    /// Command line, rebuilt from its parsed form.
    pub command: String,
    /// Version of the program that made the record.
    pub version: String,
    /// Commit from which the program was built, if that is known.
    pub commit: Option<String>,
    /// Plan as text, in the form that `assay check` prints.
    pub plan: String,
    /// Start time of the run.
    pub started: WallTime,
    /// Seed of every schedule and value.
    pub seed: Seed,
    /// True if time was simulated.
    pub is_virtual: bool,
    /// Number of lanes in the measured phase, each a thread.
    pub threads: u16,
    /// End of the run; `None` if the run was killed, or is still running.
    pub ended: Option<End>,
    /// Report of the op-log, if there was one.
    pub op_log: Option<OpLogReport>,
    /// Names and values: settings of the servers, and facts about the environment.
    pub settings: Vec<(String, String)>,
    /// Notes of reviewers, in the order in which they were made.
    pub notes: Vec<Note>,
    /// Excerpts of statements and tables.
    pub excerpts: Vec<Excerpt>,
    /// True if the record contains the text of every file that was read before the run.
    pub keeps_files: bool,
}

impl RunDetails {
    /// Returns the facts of a record, as they are reported.
    pub fn of(facts: RunFacts) -> RunDetails {
        let RunFacts { record, header, end, op_log, settings, notes, excerpts, keeps_files } =
            facts;
        RunDetails {
            record,
            run: None,
            target: header.target.to_string(),
            workload: header.workload,
            command: header.command,
            version: header.assay,
            commit: header.commit,
            plan: header.plan,
            started: header.started,
            seed: header.seed,
            is_virtual: header.pace == Pace::Virtual,
            threads: header.lanes,
            ended: end,
            op_log,
            settings,
            notes,
            excerpts,
            keeps_files,
        }
    }

    /// Returns the facts about the program and its options, under names like those of settings.
    pub(crate) fn program_facts(&self) -> Vec<(String, String)> {
        let commit = self.commit.as_deref().unwrap_or(UNKNOWN);
        let facts = [
            (assay::COMMAND, self.command.clone()),
            (assay::COMMIT, commit.to_owned()),
            (assay::PLAN, self.plan.clone()),
            (assay::SEED, self.seed.0.to_string()),
            (assay::STARTED, self.started.to_string()),
            (assay::TARGET, self.target.clone()),
            (assay::VERSION, self.version.clone()),
            (assay::WORKLOAD, self.workload.clone()),
        ];
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Returns the label of the run; `None` if the user gave it none.
    pub(crate) fn label(&self) -> Option<&str> {
        known(&self.settings, assay::LABEL)
    }

    /// Returns the command that repeats the run from the files of its record. If that is not
    /// possible, returns the command with which the run was started.
    pub(crate) fn repeat(&self) -> String {
        self.repeat_from_record().unwrap_or_else(|| self.command.clone())
    }

    /// Returns the command that repeats the run from the files of its record; `None` if the record
    /// does not contain them, or was not made by `assay run` from a workload file. A run of an
    /// experiment, for example, cannot be repeated alone.
    pub fn repeat_from_record(&self) -> Option<String> {
        let run = format!("assay run {}", shell_word(&self.workload));
        let options = self.command.strip_prefix(&run);
        let is_run = options.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        let can_repeat = self.run.is_none() && is_run && self.keeps_files;
        can_repeat.then(|| repeat_command(&self.record.to_string_lossy(), &self.command))
    }

    /// Returns the name of the record's file, without its folder.
    pub(crate) fn file(&self) -> String {
        let name = self.record.file_name().unwrap_or(self.record.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Returns the URL of the main target for people; a temporary database is marked as such.
    pub(crate) fn target_in_words(&self) -> String {
        Target::parse(&self.target).map_or_else(|_| self.target.clone(), |url| url.display_url())
    }

    /// Returns the title of the run: the workload and its target.
    pub fn title(&self) -> String {
        let target = self.target_in_words();
        match target.is_empty() {
            true => self.workload.clone(),
            false => format!("{} on {target}", self.workload),
        }
    }

    /// Returns the word for the end of the run.
    pub(crate) fn ending(&self) -> &'static str {
        self.ended.as_ref().map_or(KILLED, |end| end.kind.name())
    }
}

/// Word for the end of a run without an end event.
pub(crate) const KILLED: &str = "killed";
