//! A model of response times with two parameters, taken from two points of a sweep.
//!
//! It assumes a single server with exponential service times and arrivals at random, in series with
//! a delay without a queue: the M/M/1 queue (Kleinrock, "Queueing Systems", volume 1, 1975, section
//! 3.2). T is the response time of a request that meets no other at the server. X is the plateau of
//! the throughput, as the mean of its points: the largest of several noisy values would be too
//! large. The server needs P = 1/X per request, and L = T − P is the delay outside of it. At a rate
//! λ the server is busy for U = λ/X of the time, a request waits Q = P·U/(1 − U), and the response
//! time is R = P + L + Q.
//!
//! A database is rarely a single server: the deviations of the measured points show the error of
//! this assumption. The points from which T and X were taken have no deviation. A closed job waits
//! less than the model predicts, because its few clients cannot all wait at once. If the throughput
//! falls again beyond its peak, no single server with a plateau describes the points, and nothing
//! is predicted.

use workload::question::{Quantity, RunMetric, TimeStatistic};

use super::point::{ALPHA, CurvePoint, Unusable};

/// Largest fraction by which throughputs on a plateau differ. The last point may exceed the best of
/// the others by this fraction, and a point may be below the largest throughput by this fraction.
const PLATEAU: f64 = 0.05;

/// Largest excess of P over T that chance explains, as a fraction of T. Up to this excess, L is 0.
const SAME: f64 = 0.05;

/// The model, with a prediction for each point.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseModel {
    /// T: mean response time of a request that meets no other at the server, in milliseconds.
    pub one_request_ms: f64,
    /// X: plateau of the throughput, in requests per second.
    pub plateau_per_s: f64,
    /// P: time of a request at the server, in milliseconds.
    pub server_ms: f64,
    /// L: time of a request outside of the server, in milliseconds.
    pub delay_ms: f64,
    /// Predictions for the usable points, in the order of the sweep.
    pub points: Vec<ModelPoint>,
}

/// A predicted response time and the measured one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelPoint {
    /// Index of the point.
    pub point: usize,
    /// λ: throughput of the point, in requests per second.
    pub rate_per_s: f64,
    /// U: utilisation of the server at this rate.
    pub utilisation: f64,
    /// R: predicted mean response time in milliseconds; `None` at a utilisation of 1 or more, on
    /// the plateau, and beyond the peak.
    pub predicted_ms: Option<f64>,
    /// Measured mean response time in milliseconds.
    pub measured_ms: f64,
    /// (Measured time / predicted time) − 1; `None` unless the two are compared.
    pub deviation: Option<f64>,
    /// Use of the point in the model.
    pub role: PointRole,
}

/// The use of a point in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointRole {
    /// T was taken from this point.
    OneRequest,
    /// X was taken from this point, and from any other points on the plateau.
    Plateau,
    /// The point tests the model.
    Compared,
    /// The throughput of this point is below the plateau that fewer clients reached.
    BeyondPeak,
}

impl PointRole {
    /// Returns the name of this use in documents.
    pub fn name(self) -> &'static str {
        match self {
            PointRole::OneRequest => "one-request",
            PointRole::Plateau => "plateau",
            PointRole::Compared => "compared",
            PointRole::BeyondPeak => "beyond-peak",
        }
    }
}

/// Reason why there is no model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoResponseModel {
    /// No point has one client.
    NoSingleClient,
    /// A point that the model needs, such as the point with one client, cannot be used.
    Unusable(Unusable),
    /// Only the point with one client can be used, so the plateau is unknown.
    NoOtherPoint,
    /// No rate exceeds the capacity, so the plateau is unknown.
    NoOverload,
    /// No rate below the plateau has a response time.
    NoLowRate,
    /// The wait that the model predicts at the lowest rate is at least the response time there: a
    /// small error of X dominates T.
    LowestRateNearPlateau,
    /// The throughput still grows at the largest number of clients.
    NoPlateau {
        /// Ratio of the throughput at the largest number of clients to the largest throughput of
        /// the other points, minus 1.
        gain: f64,
    },
    /// One request takes clearly less time than the server needs for each request at the plateau:
    /// the points do not follow the model.
    ShorterThanServer {
        /// T, in milliseconds.
        one_request_ms: f64,
        /// P, in milliseconds.
        server_ms: f64,
    },
}

impl ResponseModel {
    /// Computes the model. Fails if one request takes clearly less time than the server alone needs
    /// for each request at the plateau.
    fn checked(
        one_request_ms: f64,
        plateau_per_s: f64,
        measured: &[MeasuredPoint],
    ) -> Result<ResponseModel, NoResponseModel> {
        let server_ms = 1e3 / plateau_per_s;
        match server_ms <= one_request_ms * (1.0 + SAME) {
            true => Ok(ResponseModel::new(one_request_ms, plateau_per_s, measured)),
            false => Err(NoResponseModel::ShorterThanServer { one_request_ms, server_ms }),
        }
    }

    fn new(one_request_ms: f64, plateau_per_s: f64, measured: &[MeasuredPoint]) -> Self {
        let server_ms = 1e3 / plateau_per_s;
        let delay_ms = (one_request_ms - server_ms).max(0.0);
        let points = Vec::new();
        let mut model =
            ResponseModel { one_request_ms, plateau_per_s, server_ms, delay_ms, points };
        model.points = predictions(&model, measured);
        model
    }

    /// Returns the mean response time at a rate, in milliseconds; `None` if the rate is not below
    /// the plateau.
    pub fn response_ms(&self, rate_per_s: f64) -> Option<f64> {
        let utilisation = rate_per_s / self.plateau_per_s;
        let queue = self.server_ms * utilisation / (1.0 - utilisation);
        (utilisation < 1.0).then_some(self.server_ms + self.delay_ms + queue)
    }

    /// Returns true if the throughput falls again beyond its peak.
    pub fn falls(&self) -> bool {
        self.points.iter().any(|point| point.role == PointRole::BeyondPeak)
    }
}

/// Computes the model of a job from a sweep over its number of clients.
///
/// # Errors
/// Returns the reason why the points do not determine the model.
pub fn response_model(
    points: &[CurvePoint<'_>],
    job: Option<&str>,
) -> Result<ResponseModel, NoResponseModel> {
    let of_job = |quantity| RunMetric { quantity, of: job.map(str::to_owned) };
    let metrics = Metrics {
        throughput: of_job(Quantity::Throughput),
        response: of_job(Quantity::Response(TimeStatistic::Mean)),
    };
    let is_single = |point: &CurvePoint<'_>| point.x == Some(1.0);
    let single = points.iter().find(|point| is_single(point));
    let single = metrics.measure(single.ok_or(NoResponseModel::NoSingleClient)?);
    let one_request_ms = single.map_err(NoResponseModel::Unusable)?.1;
    let mut measured: Vec<MeasuredPoint> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let Ok((rate_per_s, response_ms)) = metrics.measure(point) else { continue };
        let role = if is_single(point) { PointRole::OneRequest } else { PointRole::Compared };
        measured.push(MeasuredPoint { point: index, rate_per_s, response_ms, role });
    }
    measured.sort_by(|a, b| clients(points, a).total_cmp(&clients(points, b)));
    let plateau_per_s = plateau(&mut measured)?;
    measured.sort_by_key(|it| it.point);
    ResponseModel::checked(one_request_ms, plateau_per_s, &measured)
}

fn clients(points: &[CurvePoint<'_>], measured: &MeasuredPoint) -> f64 {
    points[measured.point].x.unwrap_or_default()
}

/// Computes the model of a job from a sweep over its rate of arrivals. The plateau is the
/// throughput at the rates that exceed the capacity. If the server slows down when it is
/// overloaded, the plateau is the largest throughput at lower rates. T follows from the lowest
/// rate, whose response time is T plus the short wait that the model predicts at this rate.
///
/// # Errors
/// Returns the reason why the points do not determine the model.
pub fn response_model_of_rates(
    points: &[CurvePoint<'_>],
    job: &str,
) -> Result<ResponseModel, NoResponseModel> {
    let response = RunMetric::of(Quantity::Response(TimeStatistic::Mean), job);
    let (mut measured, mut overloaded) = (Vec::new(), Vec::new());
    for (index, point) in points.iter().enumerate() {
        if point.has_failed_instrument() {
            continue;
        }
        let Ok(completed) = point.completed(job, ALPHA) else { continue };
        let rate_per_s = completed.mean;
        match point.usable(&response) {
            Ok(_) => {
                let mean = point.mean(&response, ALPHA).map_err(NoResponseModel::Unusable)?;
                let (response_ms, role) = (mean.mean, PointRole::Compared);
                measured.push(MeasuredPoint { point: index, rate_per_s, response_ms, role });
            }
            Err(_) if point.exceeds_capacity(&response) => overloaded.push(rate_per_s),
            Err(_) => {}
        }
    }
    if overloaded.is_empty() {
        return Err(NoResponseModel::NoOverload);
    }
    let plateau_per_s = plateau_of_rates(&overloaded, &mut measured);
    let lowest = measured.iter_mut().min_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    let Some(lowest) = lowest.filter(|it| it.rate_per_s < plateau_per_s) else {
        return Err(NoResponseModel::NoLowRate);
    };
    lowest.role = PointRole::OneRequest;
    let server_ms = 1e3 / plateau_per_s;
    let utilisation = lowest.rate_per_s / plateau_per_s;
    let one_request_ms = lowest.response_ms - server_ms * utilisation / (1.0 - utilisation);
    if one_request_ms <= 0.0 {
        return Err(NoResponseModel::LowestRateNearPlateau);
    }
    ResponseModel::checked(one_request_ms, plateau_per_s, &measured)
}

/// Returns the plateau of a sweep over rates: the mean throughput of the overloaded points, without
/// those clearly below the highest of them. A server may slow down when it is overloaded. If
/// another point has a clearly larger throughput, that throughput is the plateau, and the role of
/// this point is set to [`PointRole::Plateau`].
fn plateau_of_rates(overloaded: &[f64], measured: &mut [MeasuredPoint]) -> f64 {
    let most = overloaded.iter().copied().fold(0.0, f64::max);
    let highest = measured.iter_mut().max_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    match highest.filter(|it| is_below(most, it.rate_per_s)) {
        Some(highest) => {
            highest.role = PointRole::Plateau;
            highest.rate_per_s
        }
        None => mean(overloaded.iter().copied().filter(|rate| !is_below(*rate, most))),
    }
}

/// Returns true if a throughput is below a plateau by more than chance explains.
fn is_below(rate_per_s: f64, plateau_per_s: f64) -> bool {
    rate_per_s < plateau_per_s * (1.0 - PLATEAU)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, number) = values.fold((0.0, 0.0), |(sum, number), it| (sum + it, number + 1.0));
    sum / number
}

fn predictions(model: &ResponseModel, measured: &[MeasuredPoint]) -> Vec<ModelPoint> {
    let predict = |measured: &MeasuredPoint| {
        let MeasuredPoint { point, rate_per_s, response_ms, role } = *measured;
        let predicted_ms = match role {
            PointRole::OneRequest | PointRole::Compared => model.response_ms(rate_per_s),
            // Close to a utilisation of 1, a small error of X dominates the prediction.
            PointRole::Plateau | PointRole::BeyondPeak => None,
        };
        let compared = predicted_ms.filter(|_| role == PointRole::Compared);
        ModelPoint {
            point,
            rate_per_s,
            utilisation: rate_per_s / model.plateau_per_s,
            predicted_ms,
            measured_ms: response_ms,
            deviation: compared.map(|predicted| response_ms / predicted - 1.0),
            role,
        }
    };
    measured.iter().map(predict).collect()
}

struct Metrics {
    throughput: RunMetric,
    response: RunMetric,
}

/// The means of a point, with its use in the model.
struct MeasuredPoint {
    /// Index of the point.
    point: usize,
    rate_per_s: f64,
    response_ms: f64,
    role: PointRole,
}

impl Metrics {
    /// Returns the mean throughput of a point per second, and its mean response time in
    /// milliseconds.
    fn measure(&self, point: &CurvePoint<'_>) -> Result<(f64, f64), Unusable> {
        point.usable(&self.throughput)?;
        let mean = |metric| point.mean(metric, ALPHA).map(|found| found.mean);
        Ok((mean(&self.throughput)?, mean(&self.response)?))
    }
}

/// Returns the plateau of points in the order of their clients: the mean of the throughputs within
/// 5 % of the largest one. Fails if the throughput at the largest number of clients exceeds all
/// others by more than 5 %. Sets the role of the points on the plateau and beyond the peak.
fn plateau(measured: &mut [MeasuredPoint]) -> Result<f64, NoResponseModel> {
    let Some((last, others)) = measured.split_last() else {
        return Err(NoResponseModel::Unusable(Unusable::NoRun));
    };
    let before = others.iter().map(|it| it.rate_per_s).fold(0.0, f64::max);
    if before == 0.0 {
        return Err(NoResponseModel::NoOtherPoint);
    }
    let gain = last.rate_per_s / before - 1.0;
    if gain > PLATEAU {
        return Err(NoResponseModel::NoPlateau { gain });
    }
    let most = before.max(last.rate_per_s);
    let is_on = |it: &MeasuredPoint| !is_below(it.rate_per_s, most);
    let plateau_per_s = mean(measured.iter().filter(|it| is_on(it)).map(|it| it.rate_per_s));
    let from_plateau = measured.iter_mut().skip_while(|it| !is_on(it));
    for point in from_plateau.filter(|it| it.role == PointRole::Compared) {
        point.role = if is_on(point) { PointRole::Plateau } else { PointRole::BeyondPeak };
    }
    Ok(plateau_per_s)
}

#[cfg(test)]
mod tests {
    use super::super::point::tests::{figures, points};
    use super::*;
    use crate::check::{CheckKind, Status};
    use crate::compare::{Missing, RunVerdict};

    /// Fits the model to points with a value, a throughput and a mean response time in
    /// milliseconds.
    fn model(all: &[(&str, f64, f64)]) -> Result<ResponseModel, NoResponseModel> {
        let runs: Vec<_> = all
            .iter()
            .map(|(value, rate, response)| (*value, vec![figures(*rate, *response); 2]))
            .collect();
        response_model(&points(&runs), Some("read"))
    }

    /// T = 3 ms and X = 500/s: P = 2 ms, L = 1 ms. At 400/s U = 0.8 and Q = 8 ms: R = 11 ms.
    #[test]
    fn response_time_agrees_with_the_formula() {
        let found = model(&[("1", 250.0, 3.0), ("4", 400.0, 10.0), ("16", 500.0, 32.0)]);
        assert!(matches!(found, Err(NoResponseModel::NoPlateau { gain }) if gain > 0.2));
        let all = [("1", 250.0, 3.0), ("4", 400.0, 10.0), ("16", 500.0, 32.0), ("32", 500.0, 64.0)];
        let found = model(&all).unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}: {found:?}");
        close(found.server_ms, 2.0);
        close(found.delay_ms, 1.0);
        close(found.response_ms(400.0).unwrap(), 11.0);
        let point = found.points[1];
        close(point.predicted_ms.unwrap(), 11.0);
        close(point.utilisation, 0.8);
        close(point.deviation.unwrap(), 10.0 / 11.0 - 1.0);
        let roles = found.points.iter().map(|point| point.role);
        use PointRole::{Compared, OneRequest, Plateau};
        assert_eq!(roles.collect::<Vec<_>>(), [OneRequest, Compared, Plateau, Plateau]);
        // The points that T and X were taken from cannot deviate from them.
        for point in [0, 2, 3].map(|point| found.points[point]) {
            assert_eq!(point.deviation, None, "{point:?}");
        }
        assert_eq!(found.points[3].predicted_ms, None);
        assert!(!found.falls());
    }

    /// The plateau is not the largest of the throughputs, which is too large by chance.
    #[test]
    fn plateau_is_the_mean_of_the_points_on_it() {
        let all = [
            ("1", 250.0, 3.0),
            ("4", 400.0, 10.0),
            ("16", 495.0, 32.0),
            ("32", 510.0, 64.0),
            ("64", 495.0, 128.0),
        ];
        let found = model(&all).unwrap();
        assert!((found.plateau_per_s - 500.0).abs() < 1e-9, "{found:?}");
    }

    /// At 32 and 64 clients the throughput is below the peak, so the formula for a single server
    /// would predict the response time of a low load.
    #[test]
    fn points_beyond_the_peak_have_no_prediction() {
        let all = [
            ("64", 3_483.0, 18.3),
            ("1", 908.0, 1.0),
            ("4", 3_333.0, 1.1),
            ("8", 5_558.0, 1.34),
            ("16", 6_954.0, 2.2),
            ("32", 5_734.0, 5.48),
        ];
        let found = model(&all).unwrap();
        use PointRole::{BeyondPeak, Compared, OneRequest, Plateau};
        let roles = found.points.iter().map(|point| (point.point, point.role));
        let expected = [BeyondPeak, OneRequest, Compared, Compared, Plateau, BeyondPeak];
        assert_eq!(roles.collect::<Vec<_>>(), (0..).zip(expected).collect::<Vec<_>>());
        for point in [0, 5].map(|point| found.points[point]) {
            assert_eq!((point.predicted_ms, point.deviation), (None, None));
        }
        assert!(found.falls() && found.points[3].deviation.is_some());
        assert!((found.plateau_per_s - 6_954.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn sweep_without_one_client_or_a_single_server_has_no_model() {
        let late = model(&[("2", 250.0, 3.0), ("4", 255.0, 6.0)]);
        assert_eq!(late, Err(NoResponseModel::NoSingleClient));
        let alone = model(&[("1", 250.0, 3.0)]);
        assert_eq!(alone, Err(NoResponseModel::NoOtherPoint));
        let fast = model(&[("1", 250.0, 3.0), ("4", 255.0, 6.0)]);
        let Err(NoResponseModel::ShorterThanServer { one_request_ms, server_ms }) = fast else {
            panic!("{fast:?}");
        };
        assert!(server_ms > one_request_ms, "{server_ms} {one_request_ms}");
    }

    /// A single server needs 1 ms per request. In three noisy repeats of five seconds, P exceeds T
    /// by chance, and L is 0.
    #[test]
    fn server_time_above_one_request_by_chance_leaves_no_delay() {
        let noisy =
            [("1", 1_009.0, 0.990), ("2", 1_001.0, 2.0), ("4", 1_005.0, 4.0), ("8", 997.0, 8.0)];
        let found = model(&noisy).unwrap();
        assert!(found.server_ms > found.one_request_ms, "{found:?}");
        assert_eq!((found.delay_ms, found.points.len()), (0.0, 4));
        let with = |one_request_ms| {
            let found = model(&[("1", 1_000.0, one_request_ms), ("4", 1_000.0, 4.0)]);
            found.map(|found| found.delay_ms)
        };
        assert_eq!(with(0.953), Ok(0.0));
        assert!(matches!(with(0.952), Err(NoResponseModel::ShorterThanServer { .. })));
    }

    /// Fits the model to points with a value, a throughput and a response time in ms. The response
    /// time is `None` for a load beyond the capacity, where it depends on the length of the run.
    fn rates(all: &[(&str, f64, Option<f64>)]) -> Result<ResponseModel, NoResponseModel> {
        let run = |(value, rate, response): &(&'static str, f64, Option<f64>)| {
            let mut run = figures(*rate, response.unwrap_or(1.0));
            run.carried = vec![(RunMetric::of(Quantity::Throughput, "read"), *rate)];
            if response.is_none() {
                let times: Vec<_> = run.metrics.drain(1..).collect();
                let missing = times.into_iter().map(|(it, _)| (it, Missing::ExceedsCapacity));
                run.missing.extend(missing);
                run.verdict = RunVerdict::new([(CheckKind::Errors, Status::Invalid)]);
            }
            (*value, vec![run; 2])
        };
        let runs: Vec<_> =
            all.iter().map(|it| run(&(Box::leak(it.0.into()), it.1, it.2))).collect();
        response_model_of_rates(&points(&runs), "read")
    }

    /// The load generator, not the database, determines the throughput of such a point.
    #[test]
    fn overload_in_which_the_load_generator_failed_gives_no_plateau() {
        let of = |check| {
            let mut beyond = figures(500.0, 1.0);
            beyond.carried = vec![(RunMetric::of(Quantity::Throughput, "read"), 500.0)];
            let times: Vec<_> = beyond.metrics.drain(1..).collect();
            beyond.missing.extend(times.into_iter().map(|(it, _)| (it, Missing::ExceedsCapacity)));
            beyond.verdict = RunVerdict::new([(check, Status::Invalid)]);
            let mut below = figures(100.0, 3.5);
            below.carried = vec![(RunMetric::of(Quantity::Throughput, "read"), 100.0)];
            let runs = [("100", vec![below; 2]), ("900", vec![beyond; 2])];
            response_model_of_rates(&points(&runs), "read")
        };
        assert!(of(CheckKind::Errors).is_ok());
        assert_eq!(of(CheckKind::Stall), Err(NoResponseModel::NoOverload));
    }

    /// X = 500/s: P = 2 ms. At 100/s U = 0.2 and Q = 0.5 ms, so T = 3.5 − 0.5 = 3 ms.
    #[test]
    fn rates_beyond_the_capacity_give_the_plateau() {
        let found =
            rates(&[("100", 100.0, Some(3.5)), ("400", 400.0, Some(11.0)), ("900", 500.0, None)]);
        let found = found.unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}: {found:?}");
        close(found.one_request_ms, 3.0);
        close(found.delay_ms, 1.0);
        close(found.points[1].deviation.unwrap(), 0.0);
        assert_eq!(found.points.len(), 2);
        // T was taken from the lowest rate, which therefore cannot deviate.
        let lowest = found.points[0];
        assert_eq!((lowest.role, lowest.deviation), (PointRole::OneRequest, None));
        close(lowest.predicted_ms.unwrap(), 3.5);
        let several = rates(&[
            ("100", 100.0, Some(3.5)),
            ("900", 510.0, None),
            ("1200", 490.0, None),
            ("9000", 300.0, None),
        ]);
        close(several.unwrap().plateau_per_s, 500.0);
        let collapse =
            rates(&[("100", 100.0, Some(3.5)), ("400", 400.0, Some(11.0)), ("900", 300.0, None)]);
        let collapse = collapse.unwrap();
        close(collapse.plateau_per_s, 400.0);
        assert_eq!(collapse.points[1].predicted_ms, None);
        let low = rates(&[("100", 100.0, Some(3.5)), ("400", 400.0, Some(11.0))]);
        assert_eq!(low, Err(NoResponseModel::NoOverload));
        assert_eq!(rates(&[("900", 500.0, None)]), Err(NoResponseModel::NoLowRate));
    }

    /// X = 500/s: P = 2 ms. At 400/s U = 0.8 and Q = 8 ms, which exceeds 5 ms.
    #[test]
    fn lowest_rate_near_the_plateau_gives_no_negative_time_of_a_request() {
        let of = |response_ms| {
            let found = rates(&[("400", 400.0, Some(response_ms)), ("900", 500.0, None)]);
            found.map(|found| found.one_request_ms)
        };
        assert_eq!(of(5.0), Err(NoResponseModel::LowestRateNearPlateau));
        assert!((of(11.0).unwrap() - 3.0).abs() < 1e-9, "{:?}", of(11.0));
    }

    #[test]
    fn withheld_response_time_of_one_client_gives_the_reason() {
        let mut bad = figures(250.0, 3.0);
        bad.metrics.truncate(1);
        let runs = [("1", vec![bad]), ("4", vec![figures(255.0, 6.0)])];
        let found = response_model(&points(&runs), Some("read"));
        assert!(matches!(found, Err(NoResponseModel::Unusable(Unusable::Missing(_)))), "{found:?}");
    }
}
