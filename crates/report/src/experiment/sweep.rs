//! The view of a sweep, and its sentences.

use analyze::CheckKind;
use analyze::compare::{ChangeInterval, Comparison};
use analyze::curve::{
    ALPHA, ArmCurve, BestPoint, FittedValue, Interval, JobAtPoint, NoResponseModel, NoUsl,
    OtherPoint, Peak, PointMean, PointSummary, Ranking, ResponseModel, Unusable, Usl,
};
use workload::question::{BestRule, Direction, Quantity, Scale};

use super::sentence;
use super::value_list::{ListLength, short_values};
use crate::number::{NONE, count, significant};

/// A sweep with its results.
#[derive(Clone, Debug)]
pub struct SweepView {
    /// The varied key, as it is written in the file.
    pub vary: String,
    /// The values of the varied key.
    pub values: Vec<String>,
    /// Number of runs of each arm at each point.
    pub repeats: u32,
    /// The rule for the best point; `None` if the file has none.
    pub best: Option<BestRule>,
    /// The job whose key varies; `None` if the key belongs to no job.
    pub job: Option<String>,
    /// The curve of each arm.
    pub curves: Vec<ArmCurve>,
    /// The comparison of the arms at each point; empty with one arm.
    pub comparisons: Vec<Comparison>,
}

/// The change from another point to the best point.
pub(super) struct Gain {
    /// Index of the other point.
    pub(super) other_point: usize,
    /// The change, as a fraction of the mean at the other point; the difference itself for a metric
    /// that is compared by difference.
    pub(super) change: f64,
    /// Interval of the change, simultaneous over all other points.
    pub(super) interval: ChangeInterval,
}

/// The assumptions of the response-time model.
pub(super) const ONE_SERVER: &str =
    "It assumes one server with exponential times and random arrivals";

/// The reason why some points have no deviation from the model.
const DETERMINING_POINTS: &str = "Points that these numbers were taken from have no deviation";

impl SweepView {
    /// Returns the results, at a point, of the job that the sweep is about: the job whose key
    /// varies, the job of the rule, or the first job. `None` for a point without results.
    pub(super) fn job_at<'p>(&self, point: &'p PointSummary) -> Option<&'p JobAtPoint> {
        let of_rule = || self.best.as_ref().and_then(|rule| rule.metric.of.as_ref());
        let wanted = self.job.as_ref().or_else(of_rule);
        let named = point.jobs.iter().find(|job| Some(&job.job) == wanted);
        named.or_else(|| point.jobs.first())
    }

    /// Returns the name of the job that the sweep is about; `None` if no point has results.
    pub(super) fn job_name(&self) -> Option<&str> {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        points.into_iter().find_map(|point| self.job_at(point)).map(|job| job.job.as_str())
    }

    /// Returns the gain of the best point over the best of the points that are significantly worse;
    /// `None` if there are no such points.
    pub(super) fn gain(&self, found: &BestPoint) -> Option<Gain> {
        let rule = self.best.as_ref()?;
        let worse = found.others.iter().filter(|other| other.ranking == Ranking::Worse);
        let measured = worse.filter_map(|other| Some((other, other.change?, other.interval?)));
        let loss = |change: f64| match rule.better {
            Direction::Higher => -change,
            Direction::Lower => change,
        };
        let (next, change, interval) = measured.min_by(|a, b| loss(a.1).total_cmp(&loss(b.1)))?;
        // The stored change leads from the best point to the other one, so it is inverted.
        let inverse = |change: f64| match rule.metric.quantity.scale() {
            Scale::Ratio => 1.0 / (1.0 + change) - 1.0,
            Scale::Difference => -change,
        };
        let (low, high) = (inverse(interval.high), inverse(interval.low));
        let interval = ChangeInterval { low, high };
        Some(Gain { other_point: next.point, change: inverse(change), interval })
    }

    /// Returns the values of the points that are not shown to be worse than the best point.
    pub(super) fn not_worse(&self, curve: &ArmCurve) -> Vec<&str> {
        let all = curve.best.iter().flat_map(|best| best.not_worse());
        all.map(|point| self.values[point].as_str()).collect()
    }
}

/// Returns the line that names the varied key.
pub(super) fn varied_line(sweep: &SweepView) -> String {
    let runs = count(sweep.repeats.into(), "run");
    format!("{}: {} ({runs} at each, in random order)", sweep.vary, sweep.values.join(", "))
}

/// Returns the line that names the varied key, for a short answer.
pub(super) fn short_varied_line(sweep: &SweepView) -> String {
    let runs = count(sweep.repeats.into(), "run");
    format!("{}: {}; {runs} at each", sweep.vary, short_values(&sweep.values))
}

/// Returns the sentences that answer a sweep, arm by arm. `names` are the names of the arms.
pub(super) fn answers(sweep: &SweepView, names: &[&str]) -> Vec<String> {
    let all = placed_answers(sweep, names, ListLength::Full);
    all.into_iter().map(|(_, sentence)| sentence).collect()
}

/// Returns the answers with short lists of points. If there are more than `most` sentences, the
/// caller leaves out the last ones; the first sentence of each arm then comes before all second
/// ones.
pub(super) fn short_answers(sweep: &SweepView, names: &[&str], most: usize) -> Vec<String> {
    let mut all = placed_answers(sweep, names, ListLength::Short);
    if all.len() > most {
        all.sort_by_key(|(place, _)| *place);
    }
    all.into_iter().map(|(_, sentence)| sentence).collect()
}

/// Returns the sentences for each arm, each with its position among those of its arm.
fn placed_answers(sweep: &SweepView, names: &[&str], length: ListLength) -> Vec<(usize, String)> {
    let of_arm = |(name, curve): (&&str, &ArmCurve)| {
        let name = if names.len() > 1 { format!("{name}: ") } else { String::new() };
        let sentences = answer(sweep, curve, length).into_iter().enumerate();
        sentences.map(move |(place, sentence)| (place, format!("{name}{sentence}")))
    };
    names.iter().zip(&sweep.curves).flat_map(of_arm).collect()
}

fn answer(sweep: &SweepView, curve: &ArmCurve, length: ListLength) -> Vec<String> {
    let SweepView { vary, repeats, .. } = sweep;
    let Some(rule) = &sweep.best else {
        let points = count(curve.points.len() as u64, "point");
        let runs = count((*repeats).into(), "run");
        let failures = failures(sweep, curve, length);
        return vec![format!("{vary} at {points}, {runs} each{failures}")];
    };
    let metric = &rule.metric;
    let Some((best, found)) = curve.best.as_ref().and_then(|best| Some((best.best?, best))) else {
        return vec![format!("no point of {vary} has a usable {metric}")];
    };
    let value = &sweep.values[best];
    let mean = curve.judged[best]
        .as_ref()
        .map_or_else(|_| NONE.to_owned(), |mean| with_interval(mean, metric.quantity));
    let better = rule.better.superlative();
    let first = format!("{vary} = {value}: {better} {metric}, {mean}");
    std::iter::once(first).chain(standings(sweep, found, metric.quantity, length)).collect()
}

/// Returns the sentences about the points that are not the best.
fn standings(
    sweep: &SweepView,
    found: &BestPoint,
    quantity: Quantity,
    length: ListLength,
) -> Vec<String> {
    let of = |is_one: fn(Ranking) -> bool| -> Vec<&OtherPoint> {
        found.others.iter().filter(|other| is_one(other.ranking)).collect()
    };
    let gain = gain(sweep, found, quantity);
    if found.others.iter().all(|other| other.ranking == Ranking::Worse) {
        let words = match (found.others.is_empty(), found.unusable.is_empty()) {
            (true, _) => "no other point is usable",
            (false, true) => "every other point is significantly worse",
            (false, false) => "every other usable point is significantly worse",
        };
        let gain = gain.map_or_else(String::new, |gain| format!("{gain}; "));
        return vec![format!("{gain}{words}")];
    }
    let join = |others: &[&OtherPoint], text: &dyn Fn(&OtherPoint) -> String| {
        let points: Vec<(usize, String)> =
            others.iter().map(|&other| (other.point, text(other))).collect();
        (!points.is_empty()).then(|| length.join(found.best, points))
    };
    let value = |other: &OtherPoint| sweep.values[other.point].clone();
    let with_change = |other: &OtherPoint| {
        let change = other.change.map(|it| sentence::signed(it, quantity.scale()));
        format!("{} ({})", value(other), change.as_deref().unwrap_or(NONE))
    };
    let delta = sentence::declared_size(found.delta, quantity.scale());
    let ties = join(&of(|it| it == Ranking::Tie), &value)
        .map(|values| format!("ties: {values} (less than {delta} worse, and not significantly)"));
    let untested = join(&of(|it| it == Ranking::Unproven), &value).map(|values| {
        format!("not tested against {values}: too few runs at each, or runs that do not scatter")
    });
    let undecided = of(|it| matches!(it, Ranking::Undecided { .. }));
    let undecided = join(&undecided, &with_change).map(|named| self::undecided(&named, &undecided));
    [ties, untested, undecided, gain].into_iter().flatten().collect()
}

/// Returns the gain of the best point over the best of the points that are significantly worse:
/// `89.2 % above nodes = 1 (95 % CI 86.1 … 92.3 %)`; `None` if no point is significantly worse. The
/// interval is simultaneous over all points, because the worse point was chosen by its result.
fn gain(sweep: &SweepView, found: &BestPoint, quantity: Quantity) -> Option<String> {
    let gain = sweep.gain(found)?;
    let scale = quantity.scale();
    let side = if gain.change < 0.0 { "below" } else { "above" };
    let size = sentence::percent(gain.change.abs(), scale);
    let (level, ends) =
        (sentence::level(ALPHA), sentence::sizes(gain.interval, gain.change, scale));
    let worse = found.others.iter().filter(|other| other.ranking == Ranking::Worse).count();
    let rank = match (worse, worse == found.others.len()) {
        (1, _) => "",
        (_, true) => ", the next best",
        (_, false) => ", the best of the significantly worse points",
    };
    let (vary, value) = (&sweep.vary, &sweep.values[gain.other_point]);
    Some(format!("{size} {side} {vary} = {value}{rank} ({level} CI {ends})"))
}

/// Returns the reservation about the mean of the best point if other points may be as good. Of
/// several nearly equal means, the highest one is likely to be too high by chance.
pub(super) fn reservation(curve: &ArmCurve) -> Option<String> {
    let best = curve.best.as_ref()?;
    let number = best.not_worse().count() as u64 + 1;
    (best.best.is_some() && number > 1).then(|| {
        format!(
            "mean and interval are of the best of {number} points that are nearly equal or not \
             told apart: chance favours them, and a repetition tends to show a worse value"
        )
    })
}

/// Returns the points whose difference from the best point may matter but is not significant:
/// `undecided: 1 (−48.0 %), not significantly worse, because the runs scatter too much; about 3
/// more repeats would decide`. `named` is the list of the points.
fn undecided(named: &str, points: &[&OtherPoint]) -> String {
    let more = |other: &&OtherPoint| match other.ranking {
        Ranking::Undecided { more_repeats } => more_repeats,
        Ranking::Worse | Ranking::Tie | Ranking::Unproven => None,
    };
    let aim = match points.iter().map(more).collect::<Option<Vec<u32>>>() {
        Some(all) => {
            let most = all.into_iter().max().unwrap_or_default();
            format!("about {} would decide", count(most.into(), "more repeat"))
        }
        None => {
            let all = if points.len() > 1 { " all of them" } else { "" };
            format!("no realistic number of repeats would decide{all}")
        }
    };
    format!("undecided: {named}, not significantly worse, because the runs scatter too much; {aim}")
}

/// Returns the points that have no response times, with the reason.
fn failures(sweep: &SweepView, curve: &ArmCurve, length: ListLength) -> String {
    let named = |is_one: &dyn Fn(&PointSummary) -> bool, words: &str| {
        let points = curve.points.iter().enumerate().filter(|(_, point)| is_one(point));
        let values: Vec<(usize, String)> =
            points.map(|(place, point)| (place, point.value.clone())).collect();
        match values.is_empty() {
            true => String::new(),
            false => format!("; {words} at {}", length.join(None, values)),
        }
    };
    let exceeds = |point: &PointSummary| {
        use analyze::compare::Missing::ExceedsCapacity;
        let times = sweep.job_at(point).into_iter().flat_map(|job| &job.response_ms);
        times.into_iter().any(|(_, it)| *it == Err(Unusable::Missing(ExceedsCapacity)))
    };
    let is_invalid =
        |point: &PointSummary| point.runs() > 0 && !point.is_usable() && !exceeds(point);
    format!("{}{}", named(&exceeds, "the load exceeds the capacity"), named(&is_invalid, "INVALID"))
}

/// Returns a mean with its interval: `15.7 ms (95 % CI 15.1 … 16.3, 3 runs)`.
fn with_interval(mean: &PointMean, quantity: Quantity) -> String {
    let unit = quantity.unit();
    let value = |value: f64| sentence::value(value, unit);
    let runs = count(mean.values.len() as u64, "run");
    match mean.interval {
        Some(Interval { low, high }) => {
            let [low, high] = [low, high].map(|end| value(end).trim_end_matches(unit).to_owned());
            let (low, high) = (low.trim_end(), high.trim_end());
            format!("{} (95 % CI {low} … {high}, {runs})", value(mean.mean))
        }
        None => format!("{} ({runs})", value(mean.mean)),
    }
}

fn ends(interval: Interval, value: impl Fn(f64) -> String) -> String {
    format!("{} … {}", value(interval.low), value(interval.high))
}

/// Returns the sentences about the universal scalability law.
pub(super) fn usl(fit: &Result<Usl, NoUsl>) -> Vec<String> {
    match fit {
        Ok(usl) => {
            let [lambda, sigma, kappa] = [usl.lambda, usl.sigma, usl.kappa].map(fitted_in_words);
            vec![
                format!("one client λ {lambda} requests/s"),
                format!("contention σ {sigma}"),
                format!("coherency κ {kappa}"),
                peak(usl),
            ]
        }
        Err(reason) => vec![format!("not fitted: {}", no_usl(reason))],
    }
}

fn fitted_in_words(fitted: FittedValue) -> String {
    let number = |number: f64| match number.abs() {
        0.0 => "0".to_owned(),
        small if small < 1e-4 => scientific(number),
        _ => significant(number),
    };
    match fitted.interval {
        Some(interval) => format!("{} ({})", number(fitted.estimate), ends(interval, number)),
        None => number(fitted.estimate),
    }
}

/// Formats a small number as a multiple of a power of ten: `1.20 × 10⁻⁵`.
fn scientific(number: f64) -> String {
    const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = format!("{number:.2e}");
    let Some((digits, power)) = text.split_once('e') else { return text };
    let raised = power.chars().map(|digit| match digit.to_digit(10) {
        Some(digit) => SUPERSCRIPTS[digit as usize],
        None => '⁻',
    });
    format!("{} × 10{}", digits.replace('-', "−"), raised.collect::<String>())
}

fn peak(usl: &Usl) -> String {
    match &usl.peak {
        Peak::At { clients, throughput } => {
            let beyond = match clients.estimate > usl.largest {
                true => ", beyond the largest number that was measured: an extrapolation",
                false => "",
            };
            format!(
                "peak {} requests/s at {} clients{beyond}",
                fitted_in_words(*throughput),
                fitted_in_words(*clients)
            )
        }
        Peak::None { above: Some(above) } if *above <= 1.0 => {
            "no peak, but the runs scatter too much to exclude one".to_owned()
        }
        Peak::None { above: Some(above) } => {
            format!("no peak: the throughput does not fall below {} clients", significant(*above))
        }
        Peak::None { above: None } => "no peak: the throughput does not fall".to_owned(),
    }
}

/// Returns the reason why the law was not fitted.
pub(super) fn no_usl(reason: &NoUsl) -> String {
    match reason {
        NoUsl::NotClients { value } => format!("`{value}` is not a number of clients"),
        NoUsl::TooFewPoints { has, needs, .. } => {
            let verb = if *has == 1 { "is" } else { "are" };
            format!("{} {verb} usable, and {needs} are needed", count(*has as u64, "point"))
        }
        NoUsl::NoSmallValue { smallest, largest_allowed } => format!(
            "the smallest number of clients is {}, and at most {} is needed",
            significant(*smallest),
            significant(*largest_allowed)
        ),
        NoUsl::Flat { gain } => format!(
            "the throughputs differ by a factor of {} only: there is no curve",
            significant(*gain)
        ),
        NoUsl::PoorFit { deviation, allowed } => format!(
            "the points deviate from the law by {}, and {} is allowed",
            crate::number::percent(*deviation),
            crate::number::percent(*allowed)
        ),
    }
}

/// Returns the sentences about the response-time model.
pub(super) fn model(model: &Result<ResponseModel, NoResponseModel>) -> Vec<String> {
    match model {
        Ok(model) => {
            let (highest, beyond) = match model.falls() {
                true => ("peak", "; nothing is predicted beyond the peak"),
                false => ("plateau", ""),
            };
            let [one_request, rate, server, delay] =
                [model.one_request_ms, model.plateau_per_s, model.server_ms, model.delay_ms]
                    .map(significant);
            let parameters = format!(
                "one request {one_request} ms, {highest} {rate} requests/s: server {server} ms, \
                 delay {delay} ms{beyond}"
            );
            vec![parameters, ONE_SERVER.to_owned(), DETERMINING_POINTS.to_owned()]
        }
        Err(reason) => vec![format!("none: {}", no_model(*reason))],
    }
}

/// Returns the reason why there is no model.
pub(super) fn no_model(reason: NoResponseModel) -> String {
    match reason {
        NoResponseModel::NoSingleClient => "no point has one client".to_owned(),
        NoResponseModel::Unusable(reason) => {
            format!("the point with one client is not usable: {}", unusable(reason))
        }
        NoResponseModel::NoOtherPoint => "only the point with one client is usable".to_owned(),
        NoResponseModel::NoOverload => {
            "no rate exceeds the capacity: the plateau is unknown".to_owned()
        }
        NoResponseModel::NoLowRate => "no rate is below the capacity".to_owned(),
        NoResponseModel::LowestRateNearPlateau => {
            "the lowest rate is too near the plateau to derive the time of one request".to_owned()
        }
        NoResponseModel::NoPlateau { gain } => format!(
            "the throughput still grows at the largest number of clients, by {}",
            crate::number::percent(gain)
        ),
        NoResponseModel::ShorterThanServer { one_request_ms, server_ms } => format!(
            "one request takes {} ms, less than the {} ms that one server would need at the \
             plateau: the points do not follow this model",
            significant(one_request_ms),
            significant(server_ms)
        ),
    }
}

/// Returns the reason why a point is not usable.
pub(super) fn unusable(reason: Unusable) -> String {
    match reason {
        Unusable::NoRun => "it has no run".to_owned(),
        Unusable::Invalid => "a run is INVALID".to_owned(),
        Unusable::NotPositive => "a value is 0".to_owned(),
        Unusable::Missing(reason) => {
            sentence::not_compared(analyze::compare::NotCompared::Missing(reason))
        }
    }
}

/// Returns the points that cannot be the best, with the reason.
pub(super) fn excluded_points(sweep: &SweepView, curve: &ArmCurve) -> Vec<String> {
    let all = curve.best.iter().flat_map(|best| &best.unusable);
    all.map(|(point, reason)| {
        let checks: Vec<&str> =
            curve.points[*point].objections().into_iter().map(CheckKind::name).collect();
        let checks = match (reason, checks.is_empty()) {
            (Unusable::Invalid, false) => format!(" ({})", checks.join(", ")),
            _ => String::new(),
        };
        format!("{} cannot be the best: {}{checks}", sweep.values[*point], unusable(*reason))
    })
    .collect()
}

/// Returns the rank of a point as a word: `best`, `tie` or `undecided`; empty if the point is worse
/// than the best one, or if its rank is unknown.
pub(super) fn rank(curve: &ArmCurve, place: usize) -> &'static str {
    let Some(found) = &curve.best else { return "" };
    if found.best == Some(place) {
        return "best";
    }
    match found.others.iter().find(|other| other.point == place).map(|other| other.ranking) {
        Some(Ranking::Tie) => "tie",
        Some(Ranking::Undecided { .. }) => "undecided",
        Some(Ranking::Worse | Ranking::Unproven) | None => "",
    }
}

/// Returns the limiters of each arm at its best point, and at its last point, which usually has the
/// highest load.
pub(super) fn limiters_of_arms(sweep: &SweepView, names: &[&str]) -> Vec<String> {
    let of_arm = |(name, curve): (&&str, &ArmCurve)| {
        let name = if names.len() > 1 { format!("{name}: ") } else { String::new() };
        let places = notable_points(curve);
        let at = |place: &usize| {
            let point = curve.points.get(*place)?;
            let known = (!point.limiters.is_empty()).then(|| limiters(point))?;
            Some(format!("{known} at {}", point.value))
        };
        let known: Vec<String> = places.iter().filter_map(at).collect();
        (!known.is_empty()).then(|| format!("{name}{}", known.join("; ")))
    };
    names.iter().zip(&sweep.curves).filter_map(of_arm).collect()
}

/// Returns the indexes of the best point and of the last point of an arm: one index if they are the
/// same point or if no point is the best, and none if there are no points.
pub(super) fn notable_points(curve: &ArmCurve) -> Vec<usize> {
    let Some(last) = curve.points.len().checked_sub(1) else { return Vec::new() };
    let best = curve.best.as_ref().and_then(|best| best.best);
    let mut places = vec![best.unwrap_or(last), last];
    places.dedup();
    places
}

/// Returns the limiters of a point.
pub(super) fn limiters(point: &PointSummary) -> String {
    let names: Vec<&str> = point.limiters.iter().map(|limiter| limiter.name()).collect();
    names.join(", ")
}

/// Returns the verdict on a point as a word.
pub(super) fn verdict(point: &PointSummary) -> &'static str {
    match point.runs() {
        0 => "not run",
        _ => point.verdict().verdict(),
    }
}

#[cfg(test)]
mod tests {
    use analyze::curve::{ModelPoint, PointRole};

    use super::super::fixtures;
    use super::*;

    /// Meaning of a tie.
    const TIE: &str = " (less than 1 % worse, and not significantly)";

    /// A point without a usable run was not compared with the best point, so the answer does not
    /// call it worse.
    #[test]
    fn points_that_are_not_usable_are_not_called_worse() {
        let check = |others: &[(usize, Ranking)], unusable: &[usize], expected: &str| {
            let points = [("1", 500.0, 1.0), ("2", 900.0, 2.0), ("4", 700.0, 4.0)];
            let mut sweep = fixtures::sweep(&points, 1);
            let best = sweep.curves[0].best.as_mut().unwrap();
            let other = |(point, ranking): &(usize, Ranking)| OtherPoint {
                point: *point,
                change: None,
                interval: None,
                ranking: *ranking,
            };
            best.others = others.iter().map(other).collect();
            best.unusable = unusable.iter().map(|point| (*point, Unusable::Invalid)).collect();
            let sentences = answers(&sweep, &["workload"]);
            assert_eq!(sentences[1..].join("\n"), expected);
        };
        use Ranking::{Tie, Unproven, Worse};
        check(&[(0, Worse), (2, Worse)], &[], "every other point is significantly worse");
        check(&[(0, Worse)], &[2], "every other usable point is significantly worse");
        check(&[], &[0, 2], "no other point is usable");
        check(&[(0, Tie)], &[2], &format!("ties: 1{TIE}"));
        let untested = |value: u32| {
            format!("not tested against {value}: too few runs at each, or runs that do not scatter")
        };
        check(&[(0, Unproven), (2, Worse)], &[], &untested(1));
        let both = format!("ties: 1{TIE}\n{}", untested(4));
        check(&[(0, Tie), (2, Unproven)], &[], &both);
    }

    #[test]
    fn best_point_has_its_gain_over_the_next_one_that_is_worse() {
        let points = [("1", 500.0, 1.0), ("2", 900.0, 2.0), ("4", 880.0, 4.0)];
        let check = |better, others: &[(usize, f64, Ranking)], expected: &[&str]| {
            let mut sweep = fixtures::sweep(&points, 1);
            sweep.best.as_mut().unwrap().better = better;
            let best = sweep.curves[0].best.as_mut().unwrap();
            let other = |(point, change, ranking): &(usize, f64, Ranking)| {
                let interval = ChangeInterval { low: change - 0.05, high: change + 0.05 };
                let (change, interval) = (Some(*change), Some(interval));
                OtherPoint { point: *point, change, interval, ranking: *ranking }
            };
            best.others = others.iter().map(other).collect();
            assert_eq!(answers(&sweep, &["workload"])[1..], *expected);
        };
        use Direction::{Higher, Lower};
        use Ranking::{Tie, Worse};
        let doubled = "100 % above concurrency(read) = 1 (95 % CI 81.8 … 122 %)";
        let all = format!("{doubled}; every other point is significantly worse");
        check(Higher, &[(0, -0.5, Worse)], &[&all]);
        let next = "25.0 % above concurrency(read) = 4, the next best (95 % CI 17.6 … 33.3 %); \
                    every other point is significantly worse";
        check(Higher, &[(0, -0.5, Worse), (2, -0.2, Worse)], &[next]);
        check(Higher, &[(0, -0.5, Worse), (2, -0.01, Tie)], &[&format!("ties: 4{TIE}"), doubled]);
        let half = "50.0 % below concurrency(read) = 1 (95 % CI 48.7 … 51.2 %)";
        check(Lower, &[(0, 1.0, Worse), (2, 0.01, Tie)], &[&format!("ties: 4{TIE}"), half]);
        check(Higher, &[(0, -0.01, Tie), (2, -0.01, Tie)], &[&format!("ties: 1, 4{TIE}")]);
    }

    /// A point with half of the throughput is undecided and no tie, even if the runs scatter
    /// widely.
    #[test]
    fn undecided_points_have_their_difference_and_the_repeats_that_would_decide() {
        let check = |others: [(f64, Ranking); 2], expected: &[&str]| {
            let points = [("1", 500.0, 1.0), ("2", 900.0, 2.0), ("4", 880.0, 4.0)];
            let mut sweep = fixtures::sweep(&points, 1);
            let other = |(point, (change, ranking))| OtherPoint {
                point,
                change: Some(change),
                interval: None,
                ranking,
            };
            let best = sweep.curves[0].best.as_mut().unwrap();
            best.others = [0, 2].into_iter().zip(others).map(other).collect();
            assert_eq!(answers(&sweep, &["workload"])[1..], *expected);
            let words = [0, 2].map(|place| rank(&sweep.curves[0], place));
            assert_eq!((words[0], sweep.not_worse(&sweep.curves[0])[0]), ("undecided", "1"));
        };
        let undecided = |more_repeats| Ranking::Undecided { more_repeats };
        let because = "not significantly worse, because the runs scatter too much";
        let few = format!("undecided: 1 (−48.0 %), {because}; about 3 more repeats would decide");
        let tied = [(-0.48, undecided(Some(3))), (-0.005, Ranking::Tie)];
        check(tied, &[&format!("ties: 4{TIE}"), &few]);
        check([(-0.48, undecided(Some(3))), (-0.02, Ranking::Worse)], &[&few]);
        let both = format!(
            "undecided: 1 (−48.0 %), 4 (−2.00 %), {because}; about 40 more repeats would decide"
        );
        check([(-0.48, undecided(Some(3))), (-0.02, undecided(Some(40)))], &[&both]);
        let never = format!(
            "undecided: 1 (−48.0 %), 4 (−2.00 %), {because}; no realistic number of repeats would \
             decide all of them"
        );
        check([(-0.48, undecided(Some(3))), (-0.02, undecided(None))], &[&never]);
        let single = format!(
            "undecided: 1 (−48.0 %), {because}; no realistic number of repeats would decide"
        );
        check([(-0.48, undecided(None)), (-0.02, Ranking::Worse)], &[&single]);
    }

    #[test]
    fn short_answer_names_the_points_nearest_to_the_best_one() {
        let names = ["plain", "tls"];
        let check = |ranking, lead: &str, last: &str, end: &str| {
            let sweep = fixtures::long_sweep(90, ranking);
            let short = short_answers(&sweep, &names, 4)[1].clone();
            assert!(short.starts_with(&format!("plain: {lead} 42")), "{short}");
            assert!(short.contains(&format!(", {last} and 81 more{end}")), "{short}");
            let full = answers(&sweep, &names)[1].clone();
            assert!(full.starts_with(&format!("plain: {lead} 1")), "{full}");
            assert!(full.contains(&format!("90{}{end}", last.trim_start_matches("50"))), "{full}");
        };
        check(Ranking::Tie, "ties:", "50", TIE);
        check(Ranking::Unproven, "not tested against", "50", ": too few runs at each");
        let undecided = Ranking::Undecided { more_repeats: None };
        check(undecided, "undecided:", "50 (−50.0 %)", ", not significantly worse");
    }

    #[test]
    fn short_answer_names_the_first_points_that_exceed_the_capacity() {
        use analyze::compare::Missing::ExceedsCapacity;
        let mut sweep = fixtures::long_sweep(90, Ranking::Tie);
        sweep.best = None;
        let points = sweep.curves.iter_mut().flat_map(|curve| &mut curve.points);
        for job in points.flat_map(|point| &mut point.jobs) {
            let exceeds = || Err(Unusable::Missing(ExceedsCapacity));
            job.response_ms.iter_mut().for_each(|(_, time)| *time = exceeds());
        }
        let words = "plain: concurrency(read) at 90 points, 2 runs each; the load exceeds the \
                     capacity at 1, 2, 3, 4, 5, 6, 7, 8";
        let names = ["plain", "tls"];
        assert_eq!(short_answers(&sweep, &names, 4)[0], format!("{words} and 82 more"));
        assert!(answers(&sweep, &names)[0].ends_with(", 88, 89, 90"));
    }

    #[test]
    fn best_points_of_all_arms_come_first_if_sentences_are_left_out() {
        let points = [("1", 500.0, 1.0), ("2", 900.0, 2.0), ("4", 880.0, 4.0)];
        let (sweep, names) = (fixtures::sweep(&points, 2), ["plain", "tls"]);
        let all = answers(&sweep, &names);
        assert_eq!(short_answers(&sweep, &names, all.len()), all);
        let shown = short_answers(&sweep, &names, all.len() - 1);
        assert!(shown[0].starts_with("plain: concurrency(read) = 2: "), "{shown:?}");
        assert!(shown[1].starts_with("tls: concurrency(read) = 2: "), "{shown:?}");
    }

    #[test]
    fn mean_of_the_best_of_several_points_has_a_reservation() {
        let points = [("1", 500.0, 1.0), ("2", 900.0, 2.0), ("4", 890.0, 4.0)];
        let with = |ranking| {
            let mut sweep = fixtures::sweep(&points, 1);
            let other = |point| OtherPoint { point, change: None, interval: None, ranking };
            sweep.curves[0].best.as_mut().unwrap().others = vec![other(2)];
            reservation(&sweep.curves[0])
        };
        let words = "mean and interval are of the best of 2 points that are nearly equal or not \
                     told apart: chance favours them, and a repetition tends to show a worse value";
        assert_eq!(with(Ranking::Tie).as_deref(), Some(words));
        assert_eq!(with(Ranking::Worse), None);
    }

    #[test]
    fn refused_law_and_model_give_the_reason() {
        let too_few = NoUsl::TooFewPoints { has: 1, needs: 5, unusable: Vec::new() };
        assert_eq!(no_usl(&too_few), "1 point is usable, and 5 are needed");
        let too_few = NoUsl::TooFewPoints { has: 3, needs: 5, unusable: Vec::new() };
        assert_eq!(usl(&Err(too_few)), ["not fitted: 3 points are usable, and 5 are needed"]);
        let none = model(&Err(NoResponseModel::NoSingleClient));
        assert_eq!(none, ["none: no point has one client"]);
        let shorter = NoResponseModel::ShorterThanServer { one_request_ms: 1.0, server_ms: 4.0 };
        let words = "one request takes 1.00 ms, less than the 4.00 ms that one server would need \
                     at the plateau: the points do not follow this model";
        assert_eq!(no_model(shorter), words);
        let words = "none: the lowest rate is too near the plateau to derive the time of one \
                     request";
        assert_eq!(model(&Err(NoResponseModel::LowestRateNearPlateau)), [words]);
    }

    #[test]
    fn model_of_a_throughput_that_falls_has_a_peak_and_no_plateau() {
        let point = |role| ModelPoint {
            point: 0,
            rate_per_s: 500.0,
            utilisation: 1.0,
            predicted_ms: None,
            measured_ms: 64.0,
            deviation: None,
            role,
        };
        let of = |role| ResponseModel {
            one_request_ms: 3.0,
            plateau_per_s: 500.0,
            server_ms: 2.0,
            delay_ms: 1.0,
            points: vec![point(role)],
        };
        let one = "one request 3.00 ms,";
        let rest = "500 requests/s: server 2.00 ms, delay 1.00 ms";
        let shown = model(&Ok(of(PointRole::Plateau)));
        assert_eq!(shown[0], format!("{one} plateau {rest}"));
        assert_eq!(shown[2], DETERMINING_POINTS);
        let shown = model(&Ok(of(PointRole::BeyondPeak)));
        assert_eq!(shown[0], format!("{one} peak {rest}; nothing is predicted beyond the peak"));
    }

    /// A lower bound of less than one client does not exclude a peak, so the sentence leaves it
    /// open.
    #[test]
    fn scattered_law_without_a_peak_may_have_one() {
        let shown = |above| {
            let fitted = |estimate| FittedValue { estimate, interval: None };
            peak(&Usl {
                lambda: fitted(500.0),
                sigma: fitted(0.7),
                kappa: fitted(0.0),
                peak: Peak::None { above: Some(above) },
                deviation: 0.01,
                largest: 64.0,
                unusable: Vec::new(),
            })
        };
        assert_eq!(shown(0.001), "no peak, but the runs scatter too much to exclude one");
        assert_eq!(shown(93.2), "no peak: the throughput does not fall below 93.2 clients");
    }

    #[test]
    fn peak_beyond_the_points_is_an_extrapolation() {
        let fitted = |estimate| FittedValue { estimate, interval: None };
        let usl = |clients| Usl {
            lambda: fitted(500.0),
            sigma: fitted(0.02),
            kappa: fitted(0.000_12),
            peak: Peak::At { clients: fitted(clients), throughput: fitted(1_850.0) },
            deviation: 0.01,
            largest: 64.0,
            unusable: Vec::new(),
        };
        let shown = super::usl(&Ok(usl(88.0)));
        assert_eq!(shown[..2], ["one client λ 500 requests/s", "contention σ 0.0200"]);
        assert_eq!(shown[2], "coherency κ 0.000120");
        assert_eq!(super::fitted_in_words(fitted(0.000_012)), "1.20 × 10⁻⁵");
        assert_eq!(super::fitted_in_words(fitted(-3.456e-12)), "−3.46 × 10⁻¹²");
        assert!(shown[3].ends_with("an extrapolation"), "{shown:?}");
        assert_eq!(peak(&usl(50.0)), "peak 1,850 requests/s at 50.0 clients");
    }
}
