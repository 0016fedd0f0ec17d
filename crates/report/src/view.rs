//! What a report is made of: a run as it was measured, judged and summed up.

use std::path::PathBuf;

use analyze::{Component, Evidence, LoadSummary, Summary};
use base::{Nanos, Seed, Target, TargetKind, WallTime};
use observe::environment::{ASSAY, UNKNOWN};
use record::{Archive, End, OpLogTold, Pace, RecordError};
use workload::NamedTarget;

/// A run, ready to be told.
#[derive(Clone, Debug)]
pub struct View {
    /// What was run, when, against what, and how it ended.
    pub about: About,
    /// Its verdict and its numbers.
    pub summary: Summary,
    /// What they were made from.
    pub evidence: Evidence,
}

impl View {
    /// The view of a run: judges the evidence and sums it up.
    pub fn new(about: About, evidence: Evidence) -> View {
        View { about, summary: analyze::summarize(&evidence), evidence }
    }

    /// Whether a database is on the generator's machine; `None` if there is none, or nobody knows.
    pub(crate) fn shares_its_host(&self) -> Option<bool> {
        self.evidence.surroundings.has_database_here(&self.evidence.plan)
    }

    /// The program that was watched, in words, and how it ended; `None` if a workload was run.
    pub(crate) fn watched(&self) -> Option<(String, String)> {
        let found = |name: &str| {
            let settings = &self.about.settings;
            settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let program = found(observe::COMMAND).map(|program| match program.is_empty() {
            true => "this machine".to_owned(),
            false => format!("`{program}`"),
        });
        program.zip(found(observe::ENDED))
    }

    /// The advice of a limiter: a program that was observed has options of its own.
    pub(crate) fn relief(&self, component: Component) -> Option<&'static str> {
        match self.watched() {
            Some(_) => component.relief_of_program(),
            None => component.relief(),
        }
    }

    /// Whether something that was not seen is a machine that was to be looked at, or its clock.
    pub(crate) fn names_host(&self, what: &str) -> bool {
        let host = what.strip_suffix("/clock").unwrap_or(what);
        self.evidence.plan.observe.hosts.iter().any(|named| named.host == host)
    }

    /// Whether a database runs in the generator's own process, so that its processor time cannot
    /// be told from the generator's.
    pub(crate) fn has_database_inside(&self) -> bool {
        let is_inside = |named: &NamedTarget| named.target.kind == TargetKind::Sqlite;
        self.about.target.starts_with("sqlite:")
            || self.evidence.plan.named_targets().any(is_inside)
    }
}

/// What is known of a run beside its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// The record's file.
    pub record: PathBuf,
    /// The main target in words, without its password; empty if nothing asked it.
    pub target: String,
    /// The name of the workload file.
    pub workload: String,
    /// The command line, rebuilt from what was understood of it.
    pub command: String,
    /// The version of the program that made the record.
    pub version: String,
    /// The commit that it was built from, if that is known.
    pub commit: Option<String>,
    /// The plan in words.
    pub plan: String,
    /// When the run began.
    pub started: WallTime,
    /// The seed of every schedule and value.
    pub seed: Seed,
    /// Whether time was simulated.
    pub is_virtual: bool,
    /// How many lanes the measured phase had, each a thread.
    pub threads: u16,
    /// How the run ended; `None` if it was killed.
    pub ended: Option<End>,
    /// What came of the op-log, if there was one.
    pub op_log: Option<OpLogTold>,
    /// Settings of the servers and facts about the surroundings: names and values.
    pub settings: Vec<(String, String)>,
}

impl About {
    /// What a record says.
    ///
    /// # Errors
    /// The record is damaged, or cannot be read any more.
    pub fn of(archive: &Archive) -> Result<About, RecordError> {
        let header = archive.header();
        Ok(About {
            record: archive.path().to_owned(),
            target: header.target.to_string(),
            workload: header.workload.clone(),
            command: header.command.clone(),
            version: header.assay.clone(),
            commit: header.commit.clone(),
            plan: header.plan.clone(),
            started: header.started,
            seed: header.seed,
            is_virtual: header.pace == Pace::Virtual,
            threads: header.lanes,
            ended: archive.end().cloned(),
            op_log: archive.op_log()?,
            settings: archive.settings()?,
        })
    }

    /// What the program says of itself and of what it was told, by names like those of settings.
    pub(crate) fn told(&self) -> Vec<(String, String)> {
        let commit = self.commit.as_deref().unwrap_or(UNKNOWN);
        let told = [
            ("command", self.command.clone()),
            ("commit", commit.to_owned()),
            ("plan", self.plan.clone()),
            ("seed", self.seed.0.to_string()),
            ("started", self.started.to_string()),
            ("target", self.target.clone()),
            ("version", self.version.clone()),
            ("workload", self.workload.clone()),
        ];
        told.into_iter().map(|(name, value)| (format!("{ASSAY}{name}"), value)).collect()
    }

    /// The name of the record's file, without its folder.
    pub(crate) fn file(&self) -> String {
        let name = self.record.file_name().unwrap_or(self.record.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// The main target for people. The record holds its URL, which says less.
    pub(crate) fn target_in_words(&self) -> String {
        Target::parse(&self.target).map_or_else(|_| self.target.clone(), |url| url.in_words())
    }

    /// The word for how the run ended.
    pub(crate) fn ending(&self) -> &'static str {
        self.ended.as_ref().map_or(KILLED, |end| end.kind.name())
    }
}

/// How a run without an end ended.
pub(crate) const KILLED: &str = "killed";

/// The processor time that the generator used for a load. It is counted from the first sample on:
/// of a load with one sample there is none.
pub(crate) fn client_cpu(load: &LoadSummary) -> Option<Nanos> {
    load.client_cpu.filter(|_| load.points.len() > 1)
}
