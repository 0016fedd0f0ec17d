//! `assay compare`: compares recorded groups of runs.

use std::path::Path;

use analyze::compare::{
    ArmComparison, ArmId, ArmSample, Comparison, CountedRun, GroupConditions, LookPlan, Missing,
    Objection, ObjectionKind, RunFigures, Sample, Terms, compare_samples, judge_limits, objections,
    slos_of,
};
use archive::RecordError;
use base::{SourceText, closest};
use lab::comparison::{ComparedRun, comparable_differing_facts};
use lab::experiment::{DifferenceKind, DifferenceScope, UndeclaredDifference, mark_incomparable};
use report::figure::Figure;
use report::{
    ArmLimiter, ArmView, ComparisonView, DifferenceView, MachineView, ObjectionView, OverlaidRun,
    RepetitionView, TestSuite,
};
use workload::is_job_or_part;
use workload::question::{Bet, Deltas, Outline, RegressionLimit, RunMetric};

use crate::args::CompareArgs;
use crate::commands::{answer, experiment, figures};
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::groups::{Argument, Group, GroupRun, Groups};
use crate::record_names::{RecordName, split_arm};
use crate::recorded_experiment::RecordedExperiment;

/// Compares groups of runs and prints the answer.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Complaint> {
    let limits = limits(args.fail_on.as_deref())?;
    let (groups, baseline) = read_groups(args)?;
    let pairing = GroupPairing::of(&groups, baseline)?;
    check_limits(&limits, &groups, &pairing)?;
    let accepted = &args.despite;
    let mut view = view(&groups, &pairing, &limits, accepted);
    if args.figures.are_requested() {
        view.overlay = overlay(&groups, &view)?;
    }
    let figures = || Ok(report::comparison_figures(&view));
    if let Some(exit) = figures::print_requested(&args.figures, figures)? {
        return Ok(exit);
    }
    if let Some(path) = &args.figures.html {
        figures::write_page(path, &report::comparison_html(&view))?;
    }
    match (args.answer.json, args.answer.markdown) {
        (true, _) => answer::print_document(&report::comparison_json(&view))?,
        (false, true) => answer::print(&report::comparison_markdown(&view))?,
        (false, false) => {
            answer::print(&report::comparison_text(&view, &answer::unwrapped_style()))?
        }
    }
    answer::write_cases(&args.answer, || TestSuite::of_comparison(&view, args.answer.strict))?;
    Ok(Exit::of_comparison(&view, args.answer.strict))
}

/// Compares two records. The record of an experiment stands for all of its arms.
pub(crate) fn compare_two(records: [(String, RecordName); 2]) -> Result<ComparisonView, Complaint> {
    let groups = Groups::read_named(records.into())?;
    let pairing = GroupPairing::of(&groups, None)?;
    let mut view = view(&groups, &pairing, &[], &[]);
    view.overlay = overlay(&groups, &view)?;
    Ok(view)
}

/// Returns the figures that overlay two single runs; none for other groups, or if the comparison is
/// refused.
fn overlay(groups: &Groups, view: &ComparisonView) -> Result<Vec<Figure>, Complaint> {
    let [first, second] = groups.all.as_slice() else { return Ok(Vec::new()) };
    let ([one], [other]) = (first.runs.as_slice(), second.runs.as_slice()) else {
        return Ok(Vec::new());
    };
    if view.is_refused() {
        return Ok(Vec::new());
    }
    let read = |run: &GroupRun| {
        let (path, number) = run.location();
        let run = answer::read(path, number)?;
        let courses = run.time_courses()?;
        Ok((run, courses))
    };
    let both = read(one).and_then(|one| Ok([one, read(other)?]));
    let [one, other] = both.map_err(|error: RecordError| Complaint::of(&error))?;
    Ok(report::overlay_figures(
        [(&first.name, &one), (&second.name, &other)].map(|(name, (run, courses))| OverlaidRun {
            name,
            view: &run.view,
            courses,
        }),
    ))
}

/// Parses the limits of `--fail-on`.
fn limits(text: Option<&str>) -> Result<Vec<RegressionLimit>, Complaint> {
    let Some(text) = text else { return Ok(Vec::new()) };
    RegressionLimit::parse_list(text).map_err(|errors| {
        let source = SourceText { name: "--fail-on".to_owned(), text: text.to_owned() };
        Complaint::about(&source, &errors)
    })
}

/// Reads the groups. Also returns the named baseline if it is an arm of an experiment in the
/// arguments; any other named baseline becomes the first group.
fn read_groups(args: &CompareArgs) -> Result<(Groups, Option<ArmId>), Complaint> {
    let mut arguments = args.records.clone();
    let Some(baseline) = &args.baseline else { return Ok((Groups::read(&arguments)?, None)) };
    if let Some((file, _)) = split_arm(baseline)
        && arguments.iter().any(|one| is_same_file(one, file))
    {
        let mut groups = Groups::read(&arguments)?;
        let baseline = groups.group_of_arm(baseline)?;
        return Ok((groups, Some(baseline)));
    }
    arguments.retain(|one| !is_same_file(one, baseline));
    arguments.insert(0, baseline.clone());
    Ok((Groups::read(&arguments)?, None))
}

/// Returns true if two arguments are equal or name the same file.
fn is_same_file(one: &str, other: &str) -> bool {
    let [first, second] = [one, other].map(|name| Path::new(name).canonicalize());
    one == other || matches!((first, second), (Ok(first), Ok(second)) if first == second)
}

/// The comparisons between groups of runs.
struct GroupPairing {
    /// Pairs of a baseline and of the group that is compared with it.
    pairs: Vec<[ArmId; 2]>,
    /// Pairs of an experiment and its repetition, by the indexes of their arguments.
    executions: Vec<[usize; 2]>,
}

impl GroupPairing {
    /// Returns the comparisons of groups. Several records of experiments are compared arm by arm,
    /// if there are no other arguments and no arm was named as the baseline. Otherwise every group
    /// is compared with the baseline.
    fn of(groups: &Groups, baseline: Option<ArmId>) -> Result<GroupPairing, Complaint> {
        let arguments = &groups.arguments;
        let are_experiments = arguments.iter().all(|one| one.experiment.is_some());
        if are_experiments && arguments.len() > 1 && baseline.is_none() {
            return GroupPairing::of_executions(groups);
        }
        let baseline = baseline.unwrap_or(ArmId::BASELINE);
        let others = groups.arms().filter(|group| *group != baseline);
        let pairs: Vec<[ArmId; 2]> = others.map(|group| [baseline, group]).collect();
        if pairs.is_empty() {
            let sentence = "there is one group of runs, and nothing to compare it with";
            return Err(Complaint::new(sentence).help(
                "name the record of an experiment, or two groups: \
                 `assay compare 'main-*.assay' 'pr-*.assay'`",
            ));
        }
        Ok(GroupPairing { pairs, executions: Vec::new() })
    }

    fn of_executions(groups: &Groups) -> Result<GroupPairing, Complaint> {
        let arguments = &groups.arguments;
        let (mut pairs, mut executions) = (Vec::new(), Vec::new());
        for other in 1..arguments.len() {
            let [first, second] = [&arguments[0], &arguments[other]];
            let [names, others] = [first, second].map(|one| arms(groups, one));
            if names != others {
                let sentence = format!(
                    "the arms of `{}` are {}, and those of `{}` are {}",
                    first.text,
                    names.join(", "),
                    second.text,
                    others.join(", ")
                );
                let help = "name the arms that are compared: `R.assay#ARM`";
                return Err(Complaint::new(sentence).help(help));
            }
            let both = first.groups.iter().zip(&second.groups);
            pairs.extend(both.map(|(baseline, group)| [*baseline, *group]));
            executions.push([0, other]);
        }
        Ok(GroupPairing { pairs, executions })
    }

    /// Returns the pairs of a baseline and a group that are arms of one experiment. For the arms of
    /// a repetition, the baseline is the first arm of the repetition, not that of the first
    /// experiment.
    fn interleaved(&self, groups: &Groups) -> Vec<[ArmId; 2]> {
        let compared = self.pairs.iter().copied();
        let of_executions = groups.arguments.iter().filter(|_| !self.executions.is_empty());
        let within = of_executions.flat_map(|argument| {
            let others = argument.groups.iter().skip(1);
            others.map(|group| [argument.groups[0], *group])
        });
        compared.chain(within).filter(|pair| experiment_of(groups, *pair).is_some()).collect()
    }

    /// Returns the baseline of a group.
    fn baseline_of(&self, group: ArmId) -> Option<ArmId> {
        self.pairs.iter().find(|[_, own]| *own == group).map(|[baseline, _]| *baseline)
    }
}

/// Returns the arms of an experiment with the keys that they change: `slow (option.service)`. The
/// values are left out, because a different value may be the change that is judged.
fn arms(groups: &Groups, argument: &Argument) -> Vec<String> {
    let Some(recorded) = argument.experiment.map(|place| &groups.experiments[place]) else {
        return Vec::new();
    };
    // Statements and commands after a run are not a difference of the arm.
    let is_change = |key: &String| !matches!(key.as_str(), "after" | "after-command");
    let described = |(name, arm): (&String, ArmId)| {
        let keys = recorded.differences(arm).into_iter().map(|(key, _)| key);
        let mut keys: Vec<String> = keys.filter(is_change).collect();
        keys.sort_unstable();
        keys.dedup();
        match keys.is_empty() {
            true => name.clone(),
            false => format!("{name} ({})", keys.join(", ")),
        }
    };
    recorded.names.iter().zip((0..).map(ArmId)).map(described).collect()
}

/// Refuses limits that cannot be judged, such as those on metrics that the runs do not have.
fn check_limits(
    limits: &[RegressionLimit],
    groups: &Groups,
    pairing: &GroupPairing,
) -> Result<(), Complaint> {
    let baseline = pairing.pairs.first().map_or(ArmId::BASELINE, |[baseline, _]| *baseline);
    let figures = &groups.group(baseline).runs[0].run.figures;
    let saturated = outline_of(groups, pairing).and_then(Outline::saturated_job);
    limits.iter().try_for_each(|limit| check_limit(&limit.metric, figures, saturated))
}

/// Refuses a limit on a metric that a run does not have, on a metric that several jobs or tables
/// have, or on an offered rate. The throughput of a saturated job may be limited: an arm may
/// complete less than the offered rate.
fn check_limit(
    metric: &RunMetric,
    figures: &RunFigures,
    saturated: Option<&str>,
) -> Result<(), Complaint> {
    let measured = figures.metrics.iter().map(|(known, _)| known);
    let missing = figures.missing.iter().map(|(known, _)| known);
    let same: Vec<&RunMetric> =
        measured.chain(missing).filter(|known| known.quantity == metric.quantity).collect();
    let names: Vec<&str> = same.iter().filter_map(|known| known.of.as_deref()).collect();
    let quantity = metric.quantity.name();
    match (&metric.of, names.as_slice()) {
        (Some(name), known) if !known.contains(&name.as_str()) => {
            let complaint = Complaint::new(format!("--fail-on: the runs have no `{metric}`"));
            Err(match (closest(name, known.iter().copied()), known) {
                (Some(near), _) => complaint.help(format!("did you mean `{quantity}({near})`?")),
                (None, []) => complaint.help("name a metric that they have"),
                (None, _) => complaint.help(format!("they have it of {}", known.join(", "))),
            })
        }
        (None, _) if same.is_empty() => {
            let complaint = Complaint::new(format!("--fail-on: the runs have no `{metric}`"));
            Err(complaint.help("name a metric that they have; `assay compare` lists all of them"))
        }
        (None, [first, _, ..]) if !same.contains(&&figures.resolve(metric)) => {
            let sentence = format!("--fail-on: several jobs or tables have `{metric}`");
            Err(Complaint::new(sentence).help(format!("name one: `{quantity}({first})`")))
        }
        _ if figures.get(metric) == Err(Missing::OfferedRate)
            && !is_of_saturated_job(&figures.resolve(metric), saturated) =>
        {
            let sentence = format!("--fail-on: `{metric}` is the rate that the file asks for");
            Err(Complaint::new(sentence).help("limit a response time, such as `response.p99`"))
        }
        _ => Ok(()),
    }
}

/// Returns true for a metric of the saturated job, or of a part of it.
fn is_of_saturated_job(metric: &RunMetric, saturated: Option<&str>) -> bool {
    metric.of.as_deref().zip(saturated).is_some_and(|(of, job)| is_job_or_part(of, job))
}

/// Returns the outline of the baseline's experiment.
fn outline_of<'g>(groups: &'g Groups, pairing: &GroupPairing) -> Option<&'g Outline> {
    let [baseline, _] = pairing.pairs.first()?;
    let arm = groups.group(*baseline).arm?;
    Some(&groups.experiments[arm.experiment].outline)
}

fn view(
    groups: &Groups,
    pairing: &GroupPairing,
    limits: &[RegressionLimit],
    accepted: &[ObjectionKind],
) -> ComparisonView {
    let objections: Vec<ObjectionView> = found_objections(groups, pairing)
        .into_iter()
        .map(|objection| {
            let is_accepted = accepted.contains(&objection.kind());
            ObjectionView { objection, is_accepted }
        })
        .collect();
    let is_refused = objections.iter().any(|one| !one.is_accepted);
    let (undeclared, of_arms): (Vec<_>, Vec<_>) =
        undeclared_between(groups, pairing).into_iter().partition(|(_, one)| one.is_suspect());
    let views = |all: Vec<(ArmId, UndeclaredDifference)>| {
        let view = |(baseline, one): &(ArmId, UndeclaredDifference)| {
            experiment::difference_view(*baseline, one)
        };
        all.iter().map(view).collect::<Vec<DifferenceView>>()
    };
    let of_groups = pairing.pairs.iter().flat_map(|pair| fact_differences(groups, *pair));
    let mut view = ComparisonView {
        has_several_differences: has_several_differences(groups, pairing),
        groups: groups.all.iter().map(|group| arm_view(groups, group)).collect(),
        baselines: groups.arms().map(|group| pairing.baseline_of(group).unwrap_or(group)).collect(),
        objections,
        comparison: None,
        repetitions: Vec::new(),
        limits: Vec::new(),
        machine: Vec::new(),
        undeclared: views(undeclared),
        differences: views(of_arms).into_iter().chain(of_groups).collect(),
        overlay: Vec::new(),
    };
    if !is_refused {
        let judged = JudgedMetrics::of(groups, pairing, limits);
        let terms = judged.terms();
        let samples: Vec<ArmSample<'_>> =
            pairing.pairs.iter().map(|pair| sample(groups, *pair)).collect();
        let mut comparison = compare_samples(terms, &samples);
        view.machine = machine_views(groups, pairing, &comparison);
        refuse_undeclared(&mut comparison, groups, accepted);
        view.limits = judge_limits(limits, &comparison, |baseline, metric| {
            groups.group(baseline).runs[0].run.figures.resolve(metric)
        });
        view.repetitions = repetitions(groups, pairing, &judged.deltas);
        view.comparison = Some(comparison);
    }
    view
}

fn arm_view(groups: &Groups, group: &Group) -> ArmView {
    let recorded = group.arm.map(|of| (&groups.experiments[of.experiment], of.arm));
    let effect = recorded.map(|(recorded, arm)| experiment::effect_view(recorded.effect(arm)));
    ArmView {
        name: group.name.clone(),
        differences: recorded.map(|(recorded, arm)| recorded.differences(arm)).unwrap_or_default(),
        effect: effect.unwrap_or_default(),
        validity: group.validity.clone(),
        slos: slos_of(group.runs.iter().map(|run| run.run.figures.slos.as_slice())),
        limiter: ArmLimiter::of(group.runs.iter().map(|run| &run.run.figures)),
    }
}

fn found_objections(groups: &Groups, pairing: &GroupPairing) -> Vec<Objection> {
    let conditions = |arm: ArmId| {
        let group = groups.group(arm);
        let experiment = group.arm.map(|arm| &groups.experiments[arm.experiment]);
        let baseline = pairing.baseline_of(arm).unwrap_or(arm);
        let is_paired = experiment_of(groups, [baseline, arm]).is_some();
        GroupConditions {
            runs: group.runs.iter().map(|run| &run.run.conditions).collect(),
            unfinished: experiment.and_then(RecordedExperiment::unfinished),
            validity: &group.validity,
            reference: (!is_paired).then_some(baseline.index()),
        }
    };
    let all: Vec<GroupConditions<'_>> = groups.arms().map(conditions).collect();
    objections(&all)
}

/// Returns the index of the experiment to which two groups belong as arms; `None` if there is none.
fn experiment_of(groups: &Groups, pair: [ArmId; 2]) -> Option<usize> {
    let [baseline, arm] = pair.map(|of| groups.group(of).arm);
    let experiment = baseline?.experiment;
    (arm?.experiment == experiment).then_some(experiment)
}

/// Returns true if compared groups are arms of one experiment that may differ in several keys.
fn has_several_differences(groups: &Groups, pairing: &GroupPairing) -> bool {
    let has_several = |pair: [ArmId; 2]| {
        let experiment = experiment_of(groups, pair);
        experiment.is_some_and(|one| groups.experiments[one].outline.has_several_differences)
    };
    pairing.interleaved(groups).into_iter().any(has_several)
}

/// Returns the undeclared differences, each with the group from which the arm differs: the arm
/// itself for a difference between its rounds, the baseline for one between arms of an experiment.
fn undeclared_between(
    groups: &Groups,
    pairing: &GroupPairing,
) -> Vec<(ArmId, UndeclaredDifference)> {
    let between_rounds = groups.arms().flat_map(|group| {
        undeclared_differences(groups, [group, group]).into_iter().map(move |one| (group, one))
    });
    let between_arms = pairing.interleaved(groups).into_iter().flat_map(|pair| {
        let found = undeclared_differences(groups, pair).into_iter();
        let of_arms = found.filter(|one| !matches!(one.scope, DifferenceScope::Rounds(_)));
        of_arms.map(move |one| (pair[0], one))
    });
    between_rounds.chain(between_arms).collect()
}

/// Returns the undeclared differences of a group: from a baseline that is an arm of the same
/// experiment, and between its own rounds.
fn undeclared_differences(groups: &Groups, pair: [ArmId; 2]) -> Vec<UndeclaredDifference> {
    let Some(experiment) = experiment_of(groups, pair) else { return Vec::new() };
    let [baseline, own] = arms_of(groups, pair);
    let mut found = groups.experiments[experiment].undeclared(baseline, own);
    found.iter_mut().for_each(|one| one.arm = pair[1]);
    found
}

/// Returns the ids that two groups have as arms of the experiment to which both belong.
fn arms_of(groups: &Groups, pair: [ArmId; 2]) -> [ArmId; 2] {
    pair.map(|of| groups.group(of).arm.map_or(ArmId::BASELINE, |of| of.arm))
}

/// Marks metrics of arms of one experiment as not comparable if an undeclared difference makes
/// their comparison meaningless, unless the user accepts this kind of difference.
fn refuse_undeclared(comparison: &mut Comparison, groups: &Groups, accepted: &[ObjectionKind]) {
    let pairs: Vec<[ArmId; 2]> =
        comparison.arms.iter().map(|arm| [arm.baseline, arm.arm]).collect();
    let is_accepted = |one: &UndeclaredDifference| match one.kind {
        DifferenceKind::Data => accepted.contains(&ObjectionKind::Data),
        DifferenceKind::Durability => accepted.contains(&ObjectionKind::Durability),
        DifferenceKind::Setting | DifferenceKind::Environment => false,
    };
    for pair in pairs {
        let Some(experiment) = experiment_of(groups, pair) else { continue };
        let mut found = undeclared_differences(groups, pair);
        found.retain(|one| !is_accepted(one));
        mark_incomparable(comparison, &found, groups.experiments[experiment].writes());
    }
}

/// Returns the changes of the machine between arms of one experiment.
fn machine_views(
    groups: &Groups,
    pairing: &GroupPairing,
    comparison: &Comparison,
) -> Vec<MachineView> {
    let view = |pair: [ArmId; 2]| {
        let recorded = &groups.experiments[experiment_of(groups, pair)?];
        let [baseline, own] = arms_of(groups, pair);
        let compared = comparison.arms.iter().find(|arm| [arm.baseline, arm.arm] == pair);
        let arms = &recorded.results.comparison.as_ref()?.arms;
        // With several executions, `comparison` compares arms of different executions. For two arms
        // of one execution, the comparison in the record of that execution is used.
        let compared = compared.or_else(|| arms.iter().find(|arm| arm.arm == own))?;
        let compared = ArmComparison { baseline, arm: own, ..compared.clone() };
        let change = recorded.results.machine_between(&recorded.design, &compared, pair[1])?;
        Some(MachineView { baseline: pair[0], change })
    };
    pairing.interleaved(groups).into_iter().filter_map(view).collect()
}

/// Returns the facts that differ between two groups of runs; none if the groups are arms of one
/// experiment, whose runs were interleaved.
fn fact_differences(groups: &Groups, pair: [ArmId; 2]) -> Vec<DifferenceView> {
    if experiment_of(groups, pair).is_some() {
        return Vec::new();
    }
    let runs = |group: ArmId| {
        groups.group(group).runs.iter().map(|run| &run.run).collect::<Vec<&ComparedRun>>()
    };
    let [baseline, arm] = pair;
    let facts = comparable_differing_facts(arm, &runs(baseline), &runs(arm)).into_iter();
    facts.map(|one| experiment::difference_view(baseline, &one)).collect()
}

/// The metrics that are judged.
struct JudgedMetrics {
    bets: Vec<Bet>,
    metrics: Vec<RunMetric>,
    deltas: Deltas,
    /// The job whose load saturates the baseline, if the baseline's experiment has searched for
    /// this load.
    saturated: Option<String>,
}

impl JudgedMetrics {
    /// Returns the metrics of the limits or, without limits, those of the bets of the baseline's
    /// experiment. The bets themselves are judged only if the arms of this one experiment are
    /// compared with its own baseline.
    fn of(groups: &Groups, pairing: &GroupPairing, limits: &[RegressionLimit]) -> JudgedMetrics {
        let first = pairing.pairs.first();
        let outline = outline_of(groups, pairing);
        let bets = outline.map(|outline| outline.bets.clone()).unwrap_or_default();
        let deltas = outline.map(|outline| outline.deltas.clone()).unwrap_or_default();
        let saturated = outline.and_then(Outline::saturated_job).map(str::to_owned);
        if !limits.is_empty() {
            let metrics = limits.iter().map(|limit| limit.metric.clone()).collect();
            return JudgedMetrics { bets: Vec::new(), metrics, deltas, saturated };
        }
        let is_whole = groups.arguments.len() == 1
            && first.is_some_and(|[baseline, _]| *baseline == ArmId::BASELINE);
        match is_whole {
            true => JudgedMetrics { bets, metrics: Vec::new(), deltas, saturated },
            false => {
                let metrics = bets.into_iter().map(|bet| bet.metric).collect();
                JudgedMetrics { bets: Vec::new(), metrics, deltas, saturated }
            }
        }
    }

    fn terms(&self) -> Terms<'_> {
        Terms {
            bets: &self.bets,
            metrics: &self.metrics,
            deltas: &self.deltas,
            saturated: self.saturated.as_deref(),
        }
    }
}

/// Returns the runs of a baseline and of a group: as pairs, if both are arms of one experiment.
fn sample(groups: &Groups, pair: [ArmId; 2]) -> ArmSample<'_> {
    let [baseline, arm] = pair;
    let [own, other] = pair.map(|of| groups.group(of));
    let Some(experiment) = experiment_of(groups, pair) else {
        let runs = [own, other].map(|group| group.runs.iter().map(|run| &run.run.figures));
        let runs = Sample::Groups(runs.map(Iterator::collect));
        return ArmSample { baseline, arm, looks: LookPlan::Fixed(LookPlan::FEWEST), runs };
    };
    let recorded = &groups.experiments[experiment];
    let most = recorded.results.looks.iter().map(|look| look.pairs).max().unwrap_or(u32::MAX);
    let pairs = own.runs.iter().filter_map(|first| {
        let second = other.runs.iter().find(|run| run.round == first.round)?;
        Some([(first, baseline), (second, arm)].map(|(run, arm)| CountedRun {
            round: run.round,
            arm,
            position: run.position,
            figures: &run.run.figures,
        }))
    });
    let runs =
        Sample::Pairs { pairs: pairs.take(most as usize).collect(), order: recorded.design.order };
    ArmSample { baseline, arm, looks: recorded.design.looks, runs }
}

/// Returns the comparisons of the first experiment's answer with the answers of its repetitions.
fn repetitions(
    groups: &Groups,
    pairing: &GroupPairing,
    deltas: &Deltas,
) -> Vec<(String, RepetitionView)> {
    let view = |argument: usize| {
        let Argument { text, experiment: place, .. } = &groups.arguments[argument];
        let recorded = place.map(|place| &groups.experiments[place]);
        recorded.map(|recorded| experiment::view_of(recorded, Path::new(text)))
    };
    let executions = pairing.executions.iter().filter_map(|[first, second]| {
        let repetition =
            RepetitionView::of(&view(*first)?, &view(*second)?, |metric| deltas.of(metric));
        Some((groups.arguments[*second].text.clone(), repetition))
    });
    executions.collect()
}
