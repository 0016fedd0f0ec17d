//! Experiments for tests.

use analyze::compare::{
    ArmComparison, ArmId, ArmValidity, ChangeInterval, Compared, Comparison, Conclusion, CpuShare,
    MetricChange, Pair, PairOrder, RunVerdict, SampleSize, SampleValues,
};
use analyze::curve::{
    ArmCurve, BestPoint, Interval, JobAtPoint, OtherPoint, PointMean, PointSummary, Ranking,
};
use analyze::limiting::LimiterFinding;
use analyze::saturate::{NextSaturationStep, Saturation, SaturationKind};
use analyze::{CheckKind, Component, Status};
use workload::question::{
    BestRule, CpuOwner, Direction, RunMetric, SaturateQuestion, Saturated, TimeStatistic,
    VariedLoad,
};

use super::arm_facts::{ArmFacts, PlanTexts};
use super::remarks::JobRemarks;
use super::saturation::{SaturationStepView, SaturationView};
use super::sweep::SweepView;
use super::text::answer_text;
use super::view::{
    ArmView, DifferenceView, DifferingRuns, EffectView, ExperimentState, ExperimentView, RunPhase,
    RunView,
};
use crate::text::Style;

/// Returns the answer of an experiment as text, without wrapped lines.
pub(super) fn text_of(view: &ExperimentView) -> String {
    answer_text(view, &Style { color: false, width: usize::MAX })
}

/// Returns an undeclared difference: a setting of the server differs between the first two arms.
pub(super) fn undeclared_setting() -> DifferenceView {
    DifferenceView {
        kind: "setting",
        name: "work_mem".to_owned(),
        baseline: ArmId::BASELINE,
        arm: ArmId(1),
        between: DifferingRuns::Arms,
        values: ["4MB", "8MB"].map(str::to_owned),
        cause: None,
    }
}

/// Returns a complete experiment with the arms plain and tls, and without results.
pub(super) fn experiment() -> ExperimentView {
    let arm = |name: &str| ArmView {
        name: name.to_owned(),
        differences: Vec::new(),
        effect: EffectView::default(),
        validity: ArmValidity::default(),
        slos: Vec::new(),
        limiter: None,
    };
    ExperimentView {
        question: "?".to_owned(),
        workload: Some("read.ini".to_owned()),
        command: "assay run e.ini".to_owned(),
        command_with_path: "assay run e.ini".to_owned(),
        record: "r.assay".to_owned(),
        label: None,
        state: ExperimentState::Complete,
        may_be_running: false,
        invalid_arm: None,
        has_several_differences: false,
        bets: Vec::new(),
        arms: vec![arm("plain"), arm("tls")],
        runs: Vec::new(),
        looks: Vec::new(),
        rounds: Vec::new(),
        comparison: None,
        saturation: None,
        capacity: None,
        machine: Vec::new(),
        undeclared: Vec::new(),
        differences: Vec::new(),
        false_alarms: None,
        remarks: JobRemarks::default(),
        load_fallbacks: Vec::new(),
        notes: Vec::new(),
        facts: ArmFacts::default(),
        plan: PlanTexts::default(),
        excerpts: Vec::new(),
        sweep: None,
        repetition: None,
    }
}

/// Returns a run of an arm with the state `counts` and these objections.
pub(super) fn run_of(arm: usize, objections: Vec<(CheckKind, Status)>) -> RunView {
    RunView {
        number: 1,
        round: 0,
        arm: ArmId(arm),
        point: None,
        phase: RunPhase::Compare,
        attempt: 0,
        state: "counts",
        seed: 1,
        verdict: objections.iter().map(|(_, status)| *status).max().unwrap_or(Status::Pass),
        objections,
        checks: Vec::new(),
        limiter: Component::Unknown,
        limiter_finding: LimiterFinding::Satisfied,
    }
}

/// Returns the comparison of tls with plain; each pair has about this change.
pub(super) fn comparison(change: f64) -> Comparison {
    let orders = [PairOrder::BaselineFirst, PairOrder::ArmFirst];
    let pairs = orders.into_iter().cycle().zip([-0.002, 0.003, 0.001, -0.001, 0.002, -0.003]);
    let pair =
        |(order, scatter)| Pair { baseline: 100.0, arm: 100.0 * (1.0 + change + scatter), order };
    let pairs: Vec<Pair> = pairs.map(pair).collect();
    let compared = Compared {
        values: SampleValues::Pairs(pairs),
        means: [100.0, 100.0 * (1.0 + change)],
        change,
        interval: Some(ChangeInterval { low: change - 0.003, high: change + 0.003 }),
        hodges_lehmann: change,
        spread: Some(0.002),
        order_effect: None,
        conclusion: if change < 0.0 { Conclusion::Worse } else { Conclusion::Better },
    };
    let change = MetricChange {
        metric: RunMetric::parse("throughput(read)").unwrap(),
        is_exploratory: false,
        alpha: 0.05,
        delta: 0.01,
        compared: Ok(compared),
        bets: Vec::new(),
    };
    let arm = ArmComparison {
        baseline: ArmId::BASELINE,
        arm: ArmId(1),
        size: SampleSize::Pairs(6),
        verdicts: vec![[RunVerdict::new([]), RunVerdict::new([])]; 6],
        changes: vec![change],
        limiters: [Component::Unknown; 2],
        overloaded: [false; 2],
    };
    Comparison { arms: vec![arm] }
}

/// Returns a complete experiment whose arms have these limiters.
pub(super) fn with_limiters(limiters: [Component; 2]) -> ExperimentView {
    let mut comparison = comparison(-0.1);
    comparison.arms[0].limiters = limiters;
    ExperimentView { comparison: Some(comparison), ..experiment() }
}

/// Returns a search for saturation with steps at 8 and 16 clients that ended at the second one.
pub(super) fn search(until: Saturated, kind: SaturationKind, measured: f64) -> SaturationView {
    let owner = CpuOwner::Database;
    let cpu = CpuShare { owner, user: measured, system: 0.0, processors: 2.0 };
    let step = |(step, value): (u32, f64)| SaturationStepView {
        run: step + 1,
        step,
        attempt: 0,
        value,
        state: "counts",
        completed_per_s: Some(100.0 * value),
        cpu: Some(cpu),
        verdict: RunVerdict::new([]),
        limiter: Component::Unknown,
    };
    let vary = VariedLoad::Concurrency { job: "read".to_owned() };
    SaturationView {
        question: SaturateQuestion { vary, values: vec![8.0, 16.0], until },
        steps: vec![step((0, 8.0)), step((1, 16.0))],
        next: NextSaturationStep::Found(Saturation { value: 16.0, kind, measured }),
        server_starts: None,
    }
}

fn mean(mean: f64) -> PointMean {
    let interval = Some(Interval { low: mean * 0.9, high: mean * 1.1 });
    PointMean { values: vec![mean * 0.95, mean * 1.05], mean, interval }
}

fn point((value, per_s, p99): (&str, f64, f64)) -> PointSummary {
    let quantiles = [TimeStatistic::P50, TimeStatistic::P95, TimeStatistic::P99];
    let response = |statistic| (statistic, Ok(mean(p99)));
    let share = CpuShare { owner: CpuOwner::Database, user: 0.5, system: 0.25, processors: 2.0 };
    PointSummary {
        value: value.to_owned(),
        x: value.parse().ok(),
        verdicts: vec![RunVerdict::new([]); 2],
        limiters: Vec::new(),
        jobs: vec![JobAtPoint {
            job: "read".to_owned(),
            completed_per_s: Ok(mean(per_s)),
            over_time_per_s: vec![vec![per_s]; 2],
            parts_s: vec![1.0; 2],
            offered_per_s: None,
            response_ms: quantiles.map(response).to_vec(),
        }],
        cpu: vec![share],
    }
}

fn curve(points: &[(&str, f64, f64)]) -> ArmCurve {
    let other = |point, ranking| OtherPoint { point, change: None, interval: None, ranking };
    ArmCurve {
        points: points.iter().copied().map(point).collect(),
        best: Some(BestPoint {
            best: Some(1),
            others: vec![other(0, Ranking::Worse), other(2, Ranking::Tie)],
            unusable: Vec::new(),
            delta: 0.01,
        }),
        judged: points.iter().map(|(_, per_s, _)| Ok(mean(*per_s))).collect(),
        usl: None,
        model: None,
    }
}

/// Returns a sweep over numbers of clients with these values, throughputs and p99s; the second
/// point is the best.
pub(super) fn sweep(points: &[(&str, f64, f64)], arms: usize) -> SweepView {
    let metric = RunMetric::parse("throughput(read)").unwrap();
    SweepView {
        vary: "concurrency(read)".to_owned(),
        values: points.iter().map(|(value, ..)| (*value).to_owned()).collect(),
        repeats: 2,
        best: Some(BestRule { better: Direction::Higher, metric }),
        job: Some("read".to_owned()),
        curves: vec![curve(points); arms],
        comparisons: Vec::new(),
    }
}

/// Returns a sweep of the arms plain and tls over 1 to `points` clients. The point in the middle is
/// the best of each arm; every other point has the relation `ranking` to it.
pub(super) fn long_sweep(points: usize, ranking: Ranking) -> SweepView {
    let values: Vec<String> = (1..=points).map(|value| value.to_string()).collect();
    let measured: Vec<(&str, f64, f64)> =
        values.iter().map(|value| (value.as_str(), 900.0, 2.0)).collect();
    let mut sweep = sweep(&measured, 2);
    let best = points / 2;
    let other = |point| OtherPoint { point, change: Some(-0.5), interval: None, ranking };
    let others: Vec<OtherPoint> = (0..points).filter(|point| *point != best).map(other).collect();
    for found in sweep.curves.iter_mut().filter_map(|curve| curve.best.as_mut()) {
        (found.best, found.others) = (Some(best), others.clone());
    }
    sweep
}
