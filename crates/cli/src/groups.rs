//! Groups of recorded runs that are compared.
//!
//! Each argument is a group: a record of a single run is a group of one, a glob is a group of all
//! records that match, and `R.assay#ARM` is an arm of an experiment. The record of an experiment
//! stands for all of its arms.

use std::path::{Path, PathBuf};

use analyze::compare::{ArmId, ArmValidity, JudgedRun, Unfinished, validity_of};
use archive::{Archive, RunRow, RunState};
use base::closest;
use lab::comparison::ComparedRun;
use lab::experiment::RecordedRun;
use record::Pace;

use crate::complain::Complaint;
use crate::record_identity::RecordIdentity;
use crate::record_names::{RecordName, split_arm};
use crate::recorded_experiment::RecordedExperiment;

/// The groups of a command line.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// The groups, in the order of the arguments.
    pub(crate) all: Vec<Group>,
    /// The experiments that arms belong to.
    pub(crate) experiments: Vec<RecordedExperiment>,
    /// Canonical paths of the experiments.
    paths: Vec<PathBuf>,
    /// The groups of each argument.
    pub(crate) arguments: Vec<Argument>,
}

/// The groups of one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// Text of the argument.
    pub(crate) text: String,
    /// Groups of the argument, as arms of the comparison.
    pub(crate) groups: Vec<ArmId>,
    /// Index of the experiment, if the argument stands for all of its arms.
    pub(crate) experiment: Option<usize>,
}

/// A group of runs.
#[derive(Debug)]
pub(crate) struct Group {
    /// Name of the group.
    pub(crate) name: String,
    /// Runs of the group, at least one.
    pub(crate) runs: Vec<GroupRun>,
    /// Validity of the runs.
    pub(crate) validity: ArmValidity,
    /// The arm to which the runs belong, if they are runs of an experiment.
    pub(crate) arm: Option<ExperimentArm>,
}

/// A run of a group.
#[derive(Debug)]
pub(crate) struct GroupRun {
    /// The run, in the form in which it is compared.
    pub(crate) run: ComparedRun,
    /// Identity of the run, independent of the name of its record.
    identity: RunIdentity,
    /// Round of the run in the experiment; in a group of single runs, the number of the run.
    pub(crate) round: u32,
    /// Position of the run in its round.
    pub(crate) position: u32,
}

/// The identity of a run.
#[derive(Clone, Debug)]
struct RunIdentity {
    /// Canonical path of the record.
    record: PathBuf,
    /// Number of the run in the record of an experiment.
    number: Option<u32>,
    /// The identity that copies of the run share.
    evidence: RecordIdentity,
    /// True in virtual time, where repetitions with the same seed are copies.
    is_virtual: bool,
}

/// An arm of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExperimentArm {
    /// Index of the experiment.
    pub(crate) experiment: usize,
    /// The arm.
    pub(crate) arm: ArmId,
}

impl RunIdentity {
    fn of(path: &Path, number: Option<u32>, archive: &Archive, run: &ComparedRun) -> RunIdentity {
        let evidence = RecordIdentity::of_evidence(archive.header(), &run.figures);
        let is_virtual = archive.header().pace == Pace::Virtual;
        RunIdentity { record: canonical(path), number, evidence, is_virtual }
    }

    fn is_same(&self, other: &RunIdentity) -> bool {
        match self.record == other.record {
            true => self.number == other.number,
            // Only runs of different records are compared by their evidence: arms of one experiment
            // may have the same figures in virtual time.
            false => self.evidence == other.evidence,
        }
    }

    /// Returns the remedy for a comparison of this run with itself under another name.
    fn remedy(&self, other: &RunIdentity) -> &'static str {
        match (self.record == other.record, self.is_virtual) {
            (true, _) => "name each record in one argument",
            (false, false) => "leave out the copy",
            (false, true) => {
                "leave one of them out, or run it with another --seed: in virtual time, one seed \
                 makes one run"
            }
        }
    }
}

impl GroupRun {
    /// Returns the record of the run, and the number of the run in the record of an experiment.
    pub(crate) fn location(&self) -> (&Path, Option<u32>) {
        (&self.identity.record, self.identity.number)
    }
}

impl Groups {
    /// Returns a group by its arm of the comparison.
    pub(crate) fn group(&self, arm: ArmId) -> &Group {
        &self.all[arm.index()]
    }

    /// Iterates over the groups as arms of the comparison.
    pub(crate) fn arms(&self) -> impl Iterator<Item = ArmId> + use<> {
        (0..self.all.len()).map(ArmId)
    }

    /// Reads the groups of arguments.
    ///
    /// # Errors
    /// A file that is not a readable record; the record of a capacity search, a sweep or an
    /// observation; a glob that matches the record of an experiment; an unknown arm, or one without
    /// a run that counts; a run that is named twice.
    pub(crate) fn read(arguments: &[String]) -> Result<Groups, Complaint> {
        let named = arguments.iter().map(|text| Ok((text.clone(), RecordName::parse(text)?)));
        Groups::read_named(named.collect::<Result<Vec<(String, RecordName)>, Complaint>>()?)
    }

    /// Reads the groups of names, each with its text for display: the path of a name is not always
    /// UTF-8.
    ///
    /// # Errors
    /// As for [`Groups::read`].
    pub(crate) fn read_named(names: Vec<(String, RecordName)>) -> Result<Groups, Complaint> {
        let mut groups = Groups::default();
        for (text, name) in names {
            groups.add_argument(&text, name)?;
        }
        groups.refuse_repetitions()?;
        Ok(groups)
    }

    fn add_argument(&mut self, text: &str, name: RecordName) -> Result<(), Complaint> {
        let first = self.all.len();
        let mut whole = None;
        match name {
            RecordName::File(path) if archive::is_experiment(&path) => {
                let experiment = self.experiment_index(&path)?;
                let arms = self.experiments[experiment].names.len();
                for arm in (0..arms).map(ArmId) {
                    self.add_arm(text, &path, ExperimentArm { experiment, arm })?;
                }
                whole = Some(experiment);
            }
            RecordName::File(path) => self.all.push(group_of_single_runs(text, &[path])?),
            RecordName::Glob(paths) => self.all.push(group_of_single_runs(text, &paths)?),
            RecordName::Arm(path, name) if Archive::open(&path).is_ok() => {
                let path = path.display();
                let sentence = format!("`{path}` is the record of a single run, without arms");
                return Err(Complaint::new(sentence).help(format!("leave out `#{name}`")));
            }
            RecordName::Arm(path, name) => {
                let experiment = self.experiment_index(&path)?;
                let arm = find_arm(&self.experiments[experiment].names, &name, &path)?;
                let file = path.display().to_string();
                self.add_arm(&file, &path, ExperimentArm { experiment, arm })?;
            }
        }
        let groups = (first..self.all.len()).map(ArmId).collect();
        self.arguments.push(Argument { text: text.to_owned(), groups, experiment: whole });
        Ok(())
    }

    /// Reads an experiment, unless it was read before, and returns its index.
    fn experiment_index(&mut self, path: &Path) -> Result<usize, Complaint> {
        let real = canonical(path);
        if let Some(known) = self.paths.iter().position(|known| *known == real) {
            return Ok(known);
        }
        let recorded = RecordedExperiment::read(path)?;
        if recorded.search.is_some() {
            let sentence = format!("`{}` is the record of a capacity search", path.display());
            let help = "its trials have different loads; compare two searches with `assay repeat`";
            return Err(Complaint::new(sentence).help(help));
        }
        if recorded.outline.sweep.is_some() {
            let sentence = format!("`{}` is the record of a sweep", path.display());
            return Err(Complaint::new(sentence).help(
                "its runs are at different points and make no group: print its answer with `assay \
                 report`, or compare runs of one point, exported with `assay export --run N`",
            ));
        }
        self.experiments.push(recorded);
        self.paths.push(real);
        Ok(self.paths.len() - 1)
    }

    fn add_arm(&mut self, file: &str, path: &Path, of: ExperimentArm) -> Result<(), Complaint> {
        let recorded = &self.experiments[of.experiment];
        let name = format!("{file}#{}", recorded.names[of.arm.index()]);
        let counts = |run: &&RecordedRun| run.arm == of.arm && run.row.state == RunState::Counts;
        let counting: Vec<&RecordedRun> = recorded.results.runs.iter().filter(counts).collect();
        if counting.is_empty() {
            let sentence = format!("`{name}` has no run that counts");
            let remedy = match recorded.unfinished() {
                Some(Unfinished::Failed) => "find the cause with `assay doctor`, and run it anew",
                Some(Unfinished::NotObserved) => {
                    "write another condition for `until` in [saturate], or find the cause with \
                     `assay doctor`, and run it anew"
                }
                Some(Unfinished::Interrupted) | None => "complete it with `assay run --resume`",
            };
            return Err(Complaint::new(sentence).help(remedy));
        }
        let run = |run: &RecordedRun| {
            let RunRow { run: number, round, position, .. } = run.row;
            let label = format!("{name}, run {number}");
            let read = recorded.open_run(number).and_then(|archive| {
                let run = ComparedRun::of(&archive, label, run.figures.clone())?;
                Ok((RunIdentity::of(path, Some(number), &archive, &run), run))
            });
            let (identity, run) = read.map_err(|error| Complaint::of(&error))?;
            Ok(GroupRun { run, identity, round, position })
        };
        let runs = counting.into_iter().map(run).collect::<Result<Vec<GroupRun>, Complaint>>()?;
        let validity = recorded.results.validity[of.arm.index()].clone();
        self.all.push(Group { name, runs, validity, arm: Some(of) });
        Ok(())
    }

    /// Returns the group of an arm `R.assay#ARM` that is among the arguments.
    ///
    /// # Errors
    /// The record cannot be read, the experiment has no such arm, or no argument names the arm.
    pub(crate) fn group_of_arm(&mut self, text: &str) -> Result<ArmId, Complaint> {
        let (file, name) = split_arm(text).unwrap_or((text, ""));
        let path = Path::new(file);
        let experiment = self.experiment_index(path)?;
        let arm = find_arm(&self.experiments[experiment].names, name, path)?;
        let wanted = Some(ExperimentArm { experiment, arm });
        let group = self.all.iter().position(|one| one.arm == wanted);
        group.map(ArmId).ok_or_else(|| {
            Complaint::new(format!("no group of the command line is `{text}`"))
                .help(format!("name it among the records, too: `{text}`"))
        })
    }

    fn refuse_repetitions(&self) -> Result<(), Complaint> {
        let mut known: Vec<&GroupRun> = Vec::new();
        for run in self.all.iter().flat_map(|group| &group.runs) {
            if let Some(first) = known.iter().find(|first| first.identity.is_same(&run.identity)) {
                let remedy = run.identity.remedy(&first.identity);
                let [first, name] = [first, run].map(|run| &run.run.conditions.run);
                let sentence = match first == name {
                    true => {
                        format!("the run {name} is named twice: no run is compared with itself")
                    }
                    false => format!("{name} is the run {first}: no run is compared with itself"),
                };
                return Err(Complaint::new(sentence).help(remedy));
            }
            known.push(run);
        }
        Ok(())
    }
}

/// Returns the path by which a file is recognised under any of its names.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the arm with a name.
fn find_arm(names: &[String], name: &str, path: &Path) -> Result<ArmId, Complaint> {
    if let Some(arm) = names.iter().position(|known| known == name) {
        return Ok(ArmId(arm));
    }
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let complaint =
        Complaint::new(format!("the experiment of `{}` has no arm `{name}`", path.display()));
    Err(match closest(name, known.iter().copied()) {
        Some(near) => complaint.help(format!("did you mean `{near}`?")),
        None => complaint.help(format!("its arms are {}", known.join(", "))),
    })
}

/// Reads a group of records of single runs.
fn group_of_single_runs(name: &str, paths: &[PathBuf]) -> Result<Group, Complaint> {
    let read = |(round, path): (u32, &PathBuf)| {
        if archive::is_experiment(path) {
            let sentence =
                format!("`{name}` matches the record of an experiment, `{}`", path.display());
            return Err(
                Complaint::new(sentence).help("name it by itself, or its arms: R.assay#ARM")
            );
        }
        let read = Archive::open(path).and_then(|archive| {
            let run = ComparedRun::read(&archive, path.display().to_string())?;
            Ok((RunIdentity::of(path, None, &archive, &run), run))
        });
        let (identity, run) = read.map_err(|error| Complaint::of(&error))?;
        if run.is_observation() {
            let sentence =
                format!("`{}` has no workload: it is of `assay observe`", path.display());
            return Err(Complaint::new(sentence).help("name records of `assay run`"));
        }
        Ok(GroupRun { run, identity, round, position: 0 })
    };
    let runs = (0..).zip(paths).map(read).collect::<Result<Vec<GroupRun>, Complaint>>()?;
    let judged = |one: &GroupRun| JudgedRun {
        round: one.round,
        arm: ArmId::BASELINE,
        counts: true,
        verdict: one.run.figures.verdict.clone(),
    };
    let validity = validity_of(ArmId::BASELINE, &runs.iter().map(judged).collect::<Vec<_>>());
    Ok(Group { name: name.to_owned(), runs, validity, arm: None })
}
