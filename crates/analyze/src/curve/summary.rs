//! The summary of a sweep: for each arm its points, the best one, and the models that they support.

use workload::question::{BestRule, CpuOwner, Deltas, Quantity, RunMetric, TimeStatistic};

use super::best::{BestPoint, best};
use super::point::{ALPHA, CurvePoint, CurveRun, PointMean, Unusable};
use super::response_model::{
    NoResponseModel, ResponseModel, response_model, response_model_of_rates,
};
use super::usl::{NoUsl, Usl, fit_usl};
use crate::check::{CheckKind, Status};
use crate::compare::{ArmId, CpuShare, RunFigures, RunVerdict};
use crate::limiter::Component;

/// The statistics of response times in the summary of a point.
const QUANTILES: [TimeStatistic; 4] =
    [TimeStatistic::Mean, TimeStatistic::P50, TimeStatistic::P95, TimeStatistic::P99];

/// The kind of key that a sweep varies, for the models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariedKey {
    /// The number of clients of a job.
    Clients {
        /// Name of the job.
        job: String,
    },
    /// The rate of arrivals of a job.
    Rate {
        /// Name of the job.
        job: String,
    },
    /// Anything else.
    Other,
}

/// A run of a sweep that counts.
#[derive(Clone, Copy, Debug)]
pub struct SweepRun<'a> {
    /// Arm of the run.
    pub arm: ArmId,
    /// Index of the run's point.
    pub point: usize,
    /// Number of the run's repeat.
    pub repeat: u32,
    /// Figures of the run.
    pub figures: &'a RunFigures,
}

/// The results of an arm at all points of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmCurve {
    /// The points, in the order of the file.
    pub points: Vec<PointSummary>,
    /// The best point, if there is a rule.
    pub best: Option<BestPoint>,
    /// Mean of the rule's metric at each point; empty without a rule.
    pub judged: Vec<Result<PointMean, Unusable>>,
    /// The universal scalability law; `None` if the sweep does not vary the number of clients of a
    /// closed job.
    pub usl: Option<Result<Usl, NoUsl>>,
    /// The response-time model; `None` if the sweep varies neither the clients of a closed job nor
    /// a rate.
    pub model: Option<Result<ResponseModel, NoResponseModel>>,
}

/// The results of an arm at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSummary {
    /// The value, as the file writes it.
    pub value: String,
    /// The value as a number; `None` for any other value, such as `off`.
    pub x: Option<f64>,
    /// Verdicts of the runs that count, in the order of the repeats.
    pub verdicts: Vec<RunVerdict>,
    /// The limiters of the runs, each once.
    pub limiters: Vec<Component>,
    /// The jobs.
    pub jobs: Vec<JobAtPoint>,
    /// Mean processor time of the components that were observed in every run.
    pub cpu: Vec<CpuShare>,
}

/// The results of a job at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct JobAtPoint {
    /// Name of the job.
    pub job: String,
    /// Completed requests per second, even if the rate of the job is given.
    pub completed_per_s: Result<PointMean, Unusable>,
    /// Completed requests per second of each run over time, from its
    /// [`JobRates`](crate::compare::JobRates).
    pub over_time_per_s: Vec<Vec<f64>>,
    /// Length of a part of each of these runs, in seconds.
    pub parts_s: Vec<f64>,
    /// Mean of the requests per second that were offered; `None` without a schedule of arrivals.
    pub offered_per_s: Option<f64>,
    /// Response times in milliseconds.
    pub response_ms: Vec<(TimeStatistic, Result<PointMean, Unusable>)>,
}

impl PointSummary {
    /// Returns the number of runs that count.
    pub fn runs(&self) -> usize {
        self.verdicts.len()
    }

    /// Returns the gravest verdict of the point's runs.
    pub fn verdict(&self) -> Status {
        self.verdicts.iter().map(RunVerdict::status).max().unwrap_or(Status::Pass)
    }

    /// Returns the checks whose status in a run of the point equals [`PointSummary::verdict`], each
    /// once; none if all runs are VALID.
    pub fn objections(&self) -> Vec<CheckKind> {
        let gravest = self.verdict();
        each_once(self.verdicts.iter().flat_map(|run| run.with(gravest)))
    }

    /// Returns true if the point has runs, and none is INVALID.
    pub fn is_usable(&self) -> bool {
        self.runs() > 0 && self.verdict() < Status::Invalid
    }
}

impl JobAtPoint {
    /// Returns a response time, if every run has it.
    pub fn response(&self, wanted: TimeStatistic) -> Option<&PointMean> {
        let found = self.response_ms.iter().find(|(statistic, _)| *statistic == wanted);
        found.and_then(|(_, mean)| mean.as_ref().ok())
    }
}

impl ArmCurve {
    /// Summarizes the runs of one arm. `values` are the values of the points as text and, if they
    /// are numbers, as numbers; `rule` contains the smallest changes that matter.
    pub fn of(
        arm: ArmId,
        values: &[(String, Option<f64>)],
        runs: &[SweepRun<'_>],
        varied: &VariedKey,
        rule: Option<(&BestRule, &Deltas)>,
    ) -> ArmCurve {
        let mut points: Vec<CurvePoint<'_>> = values
            .iter()
            .enumerate()
            .map(|(place, (value, x))| CurvePoint {
                value: value.clone(),
                x: *x,
                runs: runs_of(runs, arm, place),
            })
            .collect();
        name_single_client(&mut points, varied);
        let (usl, model) = models(&points, varied);
        ArmCurve {
            points: points.iter().map(summary).collect(),
            best: rule.map(|(rule, deltas)| best(&points, rule, deltas, ALPHA)),
            judged: match rule {
                Some((rule, _)) => points.iter().map(|it| it.mean(&rule.metric, ALPHA)).collect(),
                None => Vec::new(),
            },
            usl,
            model,
        }
    }

    /// Returns the verdict of the arm: INVALID if no point is usable, SUSPECT if a point has no
    /// runs or is not VALID. A single INVALID point does not make the arm INVALID, because an
    /// unsustained load is a result of the sweep.
    pub fn status(&self) -> Status {
        let is_sound = |point: &PointSummary| point.verdict() == Status::Pass && point.runs() > 0;
        match (self.points.iter().any(PointSummary::is_usable), self.points.iter().all(is_sound)) {
            (false, _) => Status::Invalid,
            (true, false) => Status::Suspect,
            (true, true) => Status::Pass,
        }
    }
}

fn runs_of<'a>(runs: &[SweepRun<'a>], arm: ArmId, point: usize) -> Vec<CurveRun<'a>> {
    let own = runs.iter().filter(|run| run.arm == arm && run.point == point);
    own.map(|run| CurveRun { repeat: run.repeat, figures: run.figures }).collect()
}

type Models = (Option<Result<Usl, NoUsl>>, Option<Result<ResponseModel, NoResponseModel>>);

fn models(points: &[CurvePoint<'_>], varied: &VariedKey) -> Models {
    match varied {
        VariedKey::Clients { job } if is_open(points, job) => (None, None),
        VariedKey::Clients { job } => {
            let throughput = RunMetric::of(Quantity::Throughput, job);
            let usl = fit_usl(points, &throughput, ALPHA);
            (Some(usl), Some(response_model(points, Some(job))))
        }
        VariedKey::Rate { job } => (None, Some(response_model_of_rates(points, job))),
        VariedKey::Other => (None, None),
    }
}

/// Changes the number of a point with 0 clients to 1: 0 counts as not set, and a job without
/// arrivals then has one client.
fn name_single_client(points: &mut [CurvePoint<'_>], varied: &VariedKey) {
    let is_closed = match varied {
        VariedKey::Clients { job } => !is_open(points, job),
        VariedKey::Rate { .. } | VariedKey::Other => false,
    };
    if is_closed {
        let zeros = points.iter_mut().filter(|point| point.x == Some(0.0));
        zeros.for_each(|point| point.x = Some(1.0));
    }
}

/// Returns true if the rate of a job is given: its clients are workers that serve a queue.
fn is_open(points: &[CurvePoint<'_>], job: &str) -> bool {
    use crate::compare::Missing::OfferedRate;
    let throughput = RunMetric::of(Quantity::Throughput, job);
    let mut runs = points.iter().flat_map(|point| &point.runs);
    runs.any(|run| run.figures.get(&throughput) == Err(OfferedRate))
}

fn summary(point: &CurvePoint<'_>) -> PointSummary {
    let figures = || point.runs.iter().map(|run| run.figures);
    let names = figures().next().map_or(&[][..], |run| run.jobs.as_slice());
    PointSummary {
        value: point.value.clone(),
        x: point.x,
        verdicts: figures().map(|run| run.verdict.clone()).collect(),
        limiters: each_once(figures().map(|run| run.limiter)),
        jobs: names.iter().map(|name| job_at(point, name)).collect(),
        cpu: cpu(point),
    }
}

fn job_at(point: &CurvePoint<'_>, name: &str) -> JobAtPoint {
    let response = |statistic| {
        let metric = RunMetric::of(Quantity::Response(statistic), name);
        (statistic, point.mean(&metric, ALPHA))
    };
    let rates = point.runs.iter().flat_map(|run| &run.figures.rates).filter(|it| it.job == name);
    let offered: Vec<f64> = rates.clone().filter_map(|rates| rates.offered_per_s).collect();
    JobAtPoint {
        job: name.to_owned(),
        completed_per_s: point.completed(name, ALPHA),
        over_time_per_s: rates.clone().map(|rates| rates.completed_per_s.clone()).collect(),
        parts_s: rates.map(|rates| rates.part_s).collect(),
        offered_per_s: (!offered.is_empty())
            .then(|| offered.iter().sum::<f64>() / offered.len() as f64),
        response_ms: QUANTILES.map(response).to_vec(),
    }
}

/// Returns the mean shares of the components that were observed in every run.
fn cpu(point: &CurvePoint<'_>) -> Vec<CpuShare> {
    let owners = [CpuOwner::Generator, CpuOwner::Proxy, CpuOwner::Database];
    let of_owner = |owner| {
        let shares = point.runs.iter().map(|run| run.figures.cpu_share(owner));
        let shares = shares.collect::<Option<Vec<CpuShare>>>().filter(|all| !all.is_empty())?;
        let mean =
            |part: fn(&CpuShare) -> f64| shares.iter().map(part).sum::<f64>() / shares.len() as f64;
        Some(CpuShare {
            owner,
            user: mean(|share| share.user),
            system: mean(|share| share.system),
            processors: mean(|share| share.processors),
        })
    };
    owners.into_iter().filter_map(of_owner).collect()
}

fn each_once<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut known, one| {
        if !known.contains(&one) {
            known.push(one);
        }
        known
    })
}

#[cfg(test)]
mod tests {
    use workload::question::Direction;

    use super::super::point::tests::{figures, metric};
    use super::*;

    fn curve(all: &[RunFigures], points: usize, varied: &VariedKey) -> ArmCurve {
        let values: Vec<(String, Option<f64>)> =
            (1..=points).map(|x| (x.to_string(), Some(x as f64))).collect();
        let run = |(place, figures)| SweepRun {
            arm: ArmId::BASELINE,
            point: place % points,
            repeat: (place / points) as u32,
            figures,
        };
        let runs: Vec<SweepRun<'_>> = all.iter().enumerate().map(run).collect();
        let rule = BestRule { better: Direction::Higher, metric: metric("throughput(read)") };
        let rule = Some((&rule, &Deltas::default()));
        ArmCurve::of(ArmId::BASELINE, &values, &runs, varied, rule)
    }

    fn invalid(figures: RunFigures, kind: CheckKind) -> RunFigures {
        RunFigures { verdict: RunVerdict::new([(kind, Status::Invalid)]), ..figures }
    }

    #[test]
    fn point_that_the_system_does_not_sustain_leaves_the_others() {
        let runs = [figures(100.0, 1.0), invalid(figures(190.0, 2.0), CheckKind::Errors)];
        let found = curve(&runs, 2, &VariedKey::Other);
        assert_eq!(found.status(), Status::Suspect);
        assert_eq!(found.best.as_ref().unwrap().best, Some(0));
        let bad = &found.points[1];
        assert_eq!(
            (bad.verdict(), &*bad.objections()),
            (Status::Invalid, &[CheckKind::Errors][..])
        );
        assert!(!bad.is_usable() && found.points[0].is_usable());
    }

    #[test]
    fn arm_without_a_usable_point_is_invalid() {
        let runs = [100.0, 190.0].map(|rate| invalid(figures(rate, 1.0), CheckKind::Errors));
        assert_eq!(curve(&runs, 2, &VariedKey::Other).status(), Status::Invalid);
        let sound = [figures(100.0, 1.0), figures(190.0, 1.0)];
        assert_eq!(curve(&sound, 2, &VariedKey::Other).status(), Status::Pass);
        assert_eq!(curve(&sound[..1], 2, &VariedKey::Other).status(), Status::Suspect);
    }

    #[test]
    fn models_depend_on_the_varied_key() {
        let runs = [figures(100.0, 1.0), figures(190.0, 1.0)];
        let job = "read".to_owned();
        let clients = curve(&runs, 2, &VariedKey::Clients { job: job.clone() });
        assert!(clients.usl.is_some_and(|fit| fit.is_err()));
        assert!(clients.model.is_some());
        let rate = curve(&runs, 2, &VariedKey::Rate { job });
        assert!(rate.usl.is_none() && rate.model.is_some());
        let other = curve(&runs, 2, &VariedKey::Other);
        assert!(other.usl.is_none() && other.model.is_none());
    }

    #[test]
    fn point_of_zero_clients_counts_as_one_client() {
        let job = || "read".to_owned();
        let closed = figures(100.0, 1.0);
        let run = SweepRun { arm: ArmId::BASELINE, point: 0, repeat: 0, figures: &closed };
        let x = |run: SweepRun<'_>, varied: &VariedKey| {
            let values = [("0".to_owned(), Some(0.0))];
            ArmCurve::of(ArmId::BASELINE, &values, &[run], varied, None).points[0].x
        };
        assert_eq!(x(run, &VariedKey::Clients { job: job() }), Some(1.0));
        assert_eq!(x(run, &VariedKey::Rate { job: job() }), Some(0.0));
        let mut open = figures(100.0, 1.0);
        open.metrics.clear();
        open.add(metric("throughput(read)"), Err(crate::compare::Missing::OfferedRate));
        let queue = SweepRun { figures: &open, ..run };
        assert_eq!(x(queue, &VariedKey::Clients { job: job() }), Some(0.0));
    }

    #[test]
    fn processor_time_is_the_sum_of_all_runs() {
        let share =
            |user| CpuShare { owner: CpuOwner::Database, user, system: 0.1, processors: 2.0 };
        let busy = |user| RunFigures { cpu: vec![share(user)], ..figures(100.0, 1.0) };
        let found = curve(&[busy(0.2), busy(0.4)], 1, &VariedKey::Other);
        let [cpu] = &*found.points[0].cpu else { panic!("{found:?}") };
        assert!((cpu.user - 0.3).abs() < 1e-12 && (cpu.idle() - 0.6).abs() < 1e-12, "{cpu:?}");
        let unseen = curve(&[busy(0.2), figures(100.0, 1.0)], 1, &VariedKey::Other);
        assert!(unseen.points[0].cpu.is_empty());
    }
}
