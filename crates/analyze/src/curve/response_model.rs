//! A model of response times with two parameters, taken from two points of a sweep.
//!
//! It assumes a single server with exponential service times and arrivals at random, in series with
//! a delay without a queue: the M/M/1 queue (Kleinrock, "Queueing Systems", volume 1, 1975, section
//! 3.2). T is the response time of one client on an idle server, and X the plateau of the
//! throughput. The server needs P = 1/X per request, and L = T − P is the delay outside of it. At a
//! rate λ the server is busy for U = λ/X of the time, a request waits Q = P·U/(1 − U), and the
//! response time is R = P + L + Q.
//!
//! A database is rarely a single server: the deviations of the measured points say how far the
//! assumption carries. A closed job waits less than the model says, because its few clients cannot
//! all wait at once.

use workload::question::{Quantity, RunMetric, TimeStatistic};

use super::point::{ALPHA, CurvePoint, Unusable};

/// Largest gain of the last point over the others that is still a plateau.
const PLATEAU: f64 = 0.05;

/// Largest excess of P over T that chance explains, as a fraction of T: L is 0 then.
const SAME: f64 = 0.05;

/// The model, with a prediction for each point.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseModel {
    /// T: mean response time of one client, in milliseconds.
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
    /// λ: its throughput, in requests per second.
    pub rate_per_s: f64,
    /// U: utilisation of the server at this rate.
    pub utilisation: f64,
    /// R: predicted mean response time in milliseconds; `None` from a utilisation of 1 on.
    pub predicted_ms: Option<f64>,
    /// Measured mean response time in milliseconds.
    pub measured_ms: f64,
    /// Measured time divided by the predicted one, minus 1.
    pub deviation: Option<f64>,
}

/// Reason why there is no model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoResponseModel {
    /// No point has one client.
    NoSingleClient,
    /// The point with one client, or all others, cannot be used.
    Unusable(Unusable),
    /// No rate exceeds the capacity, so the plateau is unknown.
    NoOverload,
    /// No rate below the plateau has a response time.
    NoLowRate,
    /// The throughput still grows at the largest number of clients.
    NoPlateau {
        /// Its gain over the best of the other points, as a fraction.
        gain: f64,
    },
    /// One request takes less time than the server needs for each at the plateau, beyond chance:
    /// the points do not follow the model.
    ShorterThanServer {
        /// T, in milliseconds.
        one_request_ms: f64,
        /// P, in milliseconds.
        server_ms: f64,
    },
}

impl ResponseModel {
    /// Makes the model, unless a request takes less time than the server alone, beyond chance.
    fn checked(
        one_request_ms: f64,
        plateau_per_s: f64,
        measured: &[(usize, Measured)],
    ) -> Result<ResponseModel, NoResponseModel> {
        let server_ms = 1e3 / plateau_per_s;
        match server_ms <= one_request_ms * (1.0 + SAME) {
            true => Ok(ResponseModel::new(one_request_ms, plateau_per_s, measured)),
            false => Err(NoResponseModel::ShorterThanServer { one_request_ms, server_ms }),
        }
    }

    fn new(one_request_ms: f64, plateau_per_s: f64, measured: &[(usize, Measured)]) -> Self {
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
}

/// Makes the model of a job from a sweep over its number of clients.
///
/// # Errors
/// The reason why the points do not determine it.
pub fn response_model(
    points: &[CurvePoint<'_>],
    job: Option<&str>,
) -> Result<ResponseModel, NoResponseModel> {
    let of_job = |quantity| RunMetric { quantity, of: job.map(str::to_owned) };
    let metrics = Metrics {
        throughput: of_job(Quantity::Throughput),
        response: of_job(Quantity::Response(TimeStatistic::Mean)),
    };
    let single = points.iter().find(|point| point.x == Some(1.0));
    let single = metrics.measure(single.ok_or(NoResponseModel::NoSingleClient)?);
    let one_request_ms = single.map_err(NoResponseModel::Unusable)?.response_ms;
    let mut measured: Vec<(usize, Measured)> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        measured.extend(metrics.measure(point).ok().map(|it| (index, it)));
    }
    let plateau_per_s = plateau(points, &measured)?;
    ResponseModel::checked(one_request_ms, plateau_per_s, &measured)
}

/// Makes the model of a job from a sweep over its rate of arrivals. The plateau is the largest
/// throughput, if a rate exceeds the capacity; T follows from the lowest rate, whose response time
/// is T and the little queueing that the model has there.
///
/// # Errors
/// The reason why the points do not determine it.
pub fn response_model_of_rates(
    points: &[CurvePoint<'_>],
    job: &str,
) -> Result<ResponseModel, NoResponseModel> {
    let response = RunMetric::of(Quantity::Response(TimeStatistic::Mean), job);
    let (mut measured, mut plateau_per_s) = (Vec::new(), 0.0_f64);
    for (index, point) in points.iter().enumerate() {
        let Ok(completed) = point.completed(job, ALPHA) else { continue };
        let rate_per_s = completed.mean;
        match point.usable(&response) {
            Ok(_) => {
                let mean = point.mean(&response, ALPHA).map_err(NoResponseModel::Unusable)?;
                measured.push((index, Measured { rate_per_s, response_ms: mean.mean }));
            }
            Err(_) if point.exceeds_capacity(&response) => {
                plateau_per_s = plateau_per_s.max(rate_per_s);
            }
            Err(_) => {}
        }
    }
    if plateau_per_s == 0.0 {
        return Err(NoResponseModel::NoOverload);
    }
    // Beyond the capacity, a server may do less than below it.
    plateau_per_s = measured.iter().map(|(_, it)| it.rate_per_s).fold(plateau_per_s, f64::max);
    let lowest = measured.iter().min_by(|a, b| a.1.rate_per_s.total_cmp(&b.1.rate_per_s));
    let Some((_, lowest)) = lowest.filter(|(_, it)| it.rate_per_s < plateau_per_s) else {
        return Err(NoResponseModel::NoLowRate);
    };
    let server_ms = 1e3 / plateau_per_s;
    let utilisation = lowest.rate_per_s / plateau_per_s;
    let one_request_ms = lowest.response_ms - server_ms * utilisation / (1.0 - utilisation);
    ResponseModel::checked(one_request_ms, plateau_per_s, &measured)
}

fn predictions(model: &ResponseModel, measured: &[(usize, Measured)]) -> Vec<ModelPoint> {
    let predict = |(point, measured): &(usize, Measured)| {
        let predicted_ms = model.response_ms(measured.rate_per_s);
        ModelPoint {
            point: *point,
            rate_per_s: measured.rate_per_s,
            utilisation: measured.rate_per_s / model.plateau_per_s,
            predicted_ms,
            measured_ms: measured.response_ms,
            deviation: predicted_ms.map(|predicted| measured.response_ms / predicted - 1.0),
        }
    };
    measured.iter().map(predict).collect()
}

struct Metrics {
    throughput: RunMetric,
    response: RunMetric,
}

/// The means of a point.
struct Measured {
    rate_per_s: f64,
    response_ms: f64,
}

impl Metrics {
    fn measure(&self, point: &CurvePoint<'_>) -> Result<Measured, Unusable> {
        point.usable(&self.throughput)?;
        let mean = |metric| point.mean(metric, ALPHA).map(|found| found.mean);
        Ok(Measured { rate_per_s: mean(&self.throughput)?, response_ms: mean(&self.response)? })
    }
}

/// Returns the plateau: the largest throughput, if the largest number of clients does not exceed
/// the others by more than 5 %.
fn plateau(
    points: &[CurvePoint<'_>],
    measured: &[(usize, Measured)],
) -> Result<f64, NoResponseModel> {
    let clients = |index: usize| points[index].x.unwrap_or_default();
    let last = measured.iter().max_by(|a, b| clients(a.0).total_cmp(&clients(b.0)));
    let Some((last, largest)) = last else {
        return Err(NoResponseModel::Unusable(Unusable::NoRun));
    };
    let others = measured.iter().filter(|(index, _)| index != last);
    let before = others.map(|(_, it)| it.rate_per_s).fold(0.0, f64::max);
    let gain = largest.rate_per_s / before - 1.0;
    match gain <= PLATEAU {
        true => Ok(before.max(largest.rate_per_s)),
        false => Err(NoResponseModel::NoPlateau { gain }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::point::tests::{figures, points};
    use super::*;
    use crate::check::{CheckKind, Status};
    use crate::compare::{Missing, RunVerdict};

    /// Points with their throughput and mean response time.
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
        let all = [("1", 250.0, 3.0), ("4", 400.0, 10.0), ("16", 498.0, 32.0), ("32", 500.0, 64.0)];
        let found = model(&all).unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}: {found:?}");
        close(found.server_ms, 2.0);
        close(found.delay_ms, 1.0);
        close(found.response_ms(400.0).unwrap(), 11.0);
        let point = found.points[1];
        close(point.predicted_ms.unwrap(), 11.0);
        close(point.utilisation, 0.8);
        close(point.deviation.unwrap(), 10.0 / 11.0 - 1.0);
        let plateau = found.points[3];
        assert_eq!((plateau.predicted_ms, plateau.deviation), (None, None));
    }

    #[test]
    fn sweep_without_one_client_or_a_single_server_has_no_model() {
        let late = model(&[("2", 250.0, 3.0), ("4", 255.0, 6.0)]);
        assert_eq!(late, Err(NoResponseModel::NoSingleClient));
        let fast = model(&[("1", 250.0, 3.0), ("4", 255.0, 6.0)]);
        let Err(NoResponseModel::ShorterThanServer { one_request_ms, server_ms }) = fast else {
            panic!("{fast:?}");
        };
        assert!(server_ms > one_request_ms, "{server_ms} {one_request_ms}");
    }

    /// A single server of 1 ms per request, with the noise of three repeats of five seconds.
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

    /// Fits the model to points with a value, a throughput and a response time in ms; `None` for a
    /// load beyond the capacity, where response times depend on the length of the run.
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
        let collapse =
            rates(&[("100", 100.0, Some(3.5)), ("400", 400.0, Some(11.0)), ("900", 300.0, None)]);
        let collapse = collapse.unwrap();
        close(collapse.plateau_per_s, 400.0);
        assert_eq!(collapse.points[1].predicted_ms, None);
        let low = rates(&[("100", 100.0, Some(3.5)), ("400", 400.0, Some(11.0))]);
        assert_eq!(low, Err(NoResponseModel::NoOverload));
        assert_eq!(rates(&[("900", 500.0, None)]), Err(NoResponseModel::NoLowRate));
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
