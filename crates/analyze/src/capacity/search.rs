//! The search: from the recorded trials to the next one, or to the result.

use workload::question::VariedLoad;

use super::boundary::{contradiction, load_independence, load_limit, outcomes};
use super::bracket::Bracket;
use super::confirm::{Confirmation, confirm, confirm_at};
use super::metastable::explain;
use super::order::CapacityOrder;
use super::outcome::TrialOutcome;
use super::replay::{Replay, StopReason};
use super::result::{Boundary, Capacity, Interval, Irregular, Step};
use super::rounds::{FoundBoundary, rounds};
use super::trial::Trial;

/// Returns the next step of a search. `trials` are all trials so far, in the order in which they
/// were requested; the result depends on nothing else.
pub fn next_step(order: &CapacityOrder, trials: &[Trial]) -> Step {
    let mut replay = Replay::new(order, trials);
    match search(&mut replay) {
        Ok(capacity) => Step::Done(Box::new(capacity)),
        Err(request) => request,
    }
}

/// Largest ratio of the upper end of the interval to the confirmed value, or to the lower end of
/// the interval, at which the boundary counts as located. A regular search has at most 1.12, unless
/// the boundary is shallow and the confirmation needs a wide margin.
pub(super) const LOCATED_RATIO: f64 = 1.25;

/// Largest difference of numbers of clients at which the boundary counts as located, regardless of
/// the ratio.
const FEW_CLIENTS: f64 = 2.0;

/// Knowledge of the search before the confirmation.
struct Knowledge {
    found: Option<FoundBoundary>,
    bracket: Bracket,
    irregular: Vec<Irregular>,
}

fn search(replay: &mut Replay<'_>) -> Result<Capacity, Step> {
    let knowledge = explore(replay)?;
    // An undecided value may be confirmed too: trials at low rates have too few requests to decide,
    // but the trials of the confirmation have enough.
    let floor = knowledge.bracket.low.or(knowledge.bracket.undecided);
    let confirmed = match (&knowledge.found, floor) {
        (Some(found), _) => confirm(replay, found).map_err(run)?,
        (None, Some(floor)) => confirm_at(replay, floor, None).map_err(run)?,
        (None, None) => Confirmation::default(),
    };
    Ok(result(replay, knowledge, confirmed))
}

/// Runs the bracket and the rounds.
fn explore(replay: &mut Replay<'_>) -> Result<Knowledge, Step> {
    let mut bracket = Bracket::default();
    let mut irregular = Vec::new();
    let mut bracketed = bracket.find(replay).and_then(|()| bracket.shrink(replay));
    if let Err(StopReason::Irregular(Irregular::GeneratorLimited { value })) = bracketed
        && bracket.high.is_none()
    {
        irregular = bracket.approach(replay, value).map_err(Step::Run)?;
        if bracket.high.is_none() {
            return Ok(Knowledge { found: None, bracket, irregular });
        }
        bracketed = bracket.shrink(replay);
    }
    match bracketed {
        Ok(()) => {}
        Err(StopReason::Irregular(why)) => {
            irregular.push(why);
            return Ok(Knowledge { found: None, bracket, irregular });
        }
        Err(reason) => return Err(run(reason)),
    }
    match rounds(replay, bracket) {
        Ok(found) => Ok(Knowledge { found, bracket, irregular }),
        Err(StopReason::Irregular(why)) => {
            irregular.push(why);
            Ok(Knowledge { found: None, bracket, irregular })
        }
        Err(reason) => Err(run(reason)),
    }
}

fn run(reason: StopReason) -> Step {
    match reason {
        StopReason::Run(request) => Step::Run(request),
        StopReason::Irregular(_) => unreachable!("irregularities are handled where they arise"),
    }
}

fn result(replay: &Replay<'_>, knowledge: Knowledge, confirmed: Confirmation) -> Capacity {
    let order = replay.order;
    let valid: Vec<&Trial> = replay.valid_trials().collect();
    let Knowledge { mut found, bracket, mut irregular } = knowledge;
    irregular.extend(load_limit(order, &valid).map(Irregular::LimitedBy));
    let contradiction = found.as_mut().and_then(|found| contradict(order, &valid, found));
    let is_credible = contradiction.is_none();
    irregular.extend(contradiction);
    irregular.extend(found.iter().flat_map(|found| found.irregular.clone()));
    let above = confirmed.sustained.or(bracket.low).unwrap_or(0.0);
    let reached = found.as_ref().map(|found| found.boundary);
    // An estimate above values that failed would promise a rate that the confirmation refused.
    let credible = found.as_ref().filter(|_| is_credible);
    let failed = smallest_failing(order, &valid, above, credible.map(|it| it.interval.low));
    let fails = failed.as_ref().map(|(value, _)| *value);
    let wide = credible.and_then(|it| not_located(order, it, confirmed.sustained));
    let not_located = wide.map(|range| up_to_failing(range, above, fails));
    if found.is_none() && irregular.is_empty() {
        irregular.push(up_to_failing(without_boundary(&valid, above), above, fails));
    }
    irregular.extend(confirmed.irregular.into_iter().chain(not_located));
    // If no value fails, only trials at larger loads can show what slow requests depend on.
    let near = credible.map(|found| found.estimate).or(fails);
    let near = near.filter(|_| irregular.iter().any(Irregular::is_without_boundary));
    irregular.extend(near.and_then(|near| load_independence(order, &valid, near)));
    explain(order, &valid, &mut irregular);
    let binding = match (&found, &failed) {
        (Some(found), _) => found.binding,
        (None, Some((_, TrialOutcome::Fail(reason)))) => reason.condition(),
        (None, _) => None,
    };
    Capacity {
        slo: order.conditions.iter().map(|it| it.slo.text.as_str()).collect::<Vec<_>>().join(", "),
        sustained: confirmed.sustained,
        fails,
        estimate: credible.map(|found| found.estimate),
        interval: credible.map(|found| found.interval),
        slope: credible.and_then(|found| Some(found.steepness?.slope)),
        confirmations: confirmed.confirmations,
        binding,
        boundary: reached.unwrap_or(Boundary::NotReached),
        irregular,
        trials: replay.judged_trials(),
        isotonic: credible.and_then(|found| found.isotonic),
        took: replay.total_time(),
    }
}

/// Returns true if a range is too wide to locate the boundary in it: the ratio of its ends exceeds
/// `most` and, for numbers of clients, their difference exceeds [`FEW_CLIENTS`].
pub(super) fn is_wide(load: &VariedLoad, range: Interval, most: f64) -> bool {
    let Interval { low, high } = range;
    // Neighbouring numbers of clients may be far apart as a ratio.
    high / low > most && (!load.is_whole() || high - low > FEW_CLIENTS)
}

/// Returns the range in which the boundary lies, if this range is wide, or if the class of the
/// boundary is unknown and the search named no reason. The range is the interval of the boundary,
/// extended down to the confirmed value if that is lower.
fn not_located(
    order: &CapacityOrder,
    found: &FoundBoundary,
    sustained: Option<f64>,
) -> Option<Interval> {
    let Interval { low, high } = found.interval;
    let low = sustained.map_or(low, |sustained| sustained.min(low));
    let is_wide = is_wide(&order.vary, Interval { low, high }, LOCATED_RATIO);
    let is_unknown = found.boundary == Boundary::NotReached && found.irregular.is_empty();
    (is_wide || is_unknown).then_some(Interval { low, high })
}

/// Returns the range of the boundary if the trials show none and the search named no reason: from
/// `low` to the largest value that was tried.
fn without_boundary(trials: &[&Trial], low: f64) -> Interval {
    let high = trials.iter().map(|trial| trial.value).fold(low, f64::max);
    Interval { low, high }
}

/// Returns the smallest value above the confirmed one at which the conditions fail. Values below
/// the interval of the estimate are passed over if a value within or above it fails too: among many
/// tried values, one may fail by chance, and the regression over all trials is more reliable.
fn smallest_failing(
    order: &CapacityOrder,
    trials: &[&Trial],
    above: f64,
    interval_begins: Option<f64>,
) -> Option<(f64, TrialOutcome)> {
    let is_failing = |(value, outcome): &(f64, TrialOutcome)| {
        *value > above && matches!(outcome, TrialOutcome::Fail(_))
    };
    let mut failing: Vec<_> = outcomes(order, trials).into_iter().filter(is_failing).collect();
    let least = interval_begins.unwrap_or(0.0);
    let position = failing.iter().position(|(value, _)| *value >= least).unwrap_or(0);
    (!failing.is_empty()).then(|| failing.swap_remove(position))
}

/// Returns [`Irregular::NotLocated`] for a range. If `fails`, the smallest value that fails, lies
/// within the range, the range ends there. If `fails` is not above the lower end, the range from
/// `above` to `fails` is used.
fn up_to_failing(range: Interval, above: f64, fails: Option<f64>) -> Irregular {
    let Interval { low, high } = range;
    match fails {
        Some(fails) if fails <= low => Irregular::NotLocated { low: above, high: fails },
        Some(fails) => Irregular::NotLocated { low, high: high.min(fails) },
        None => Irregular::NotLocated { low, high },
    }
}

/// Judges the boundary again after the confirmation, whose trials may contradict it. Returns the
/// irregularity if the search did not know it.
fn contradict(
    order: &CapacityOrder,
    trials: &[&Trial],
    found: &mut FoundBoundary,
) -> Option<Irregular> {
    let is_known = |why: &Irregular| matches!(why, Irregular::LossInversion { .. });
    if found.irregular.iter().any(is_known) {
        return None;
    }
    let why = contradiction(order, trials, found.interval.low)?;
    if is_known(&why) {
        found.boundary = Boundary::NonMonotone;
    }
    Some(why)
}

#[cfg(test)]
mod tests {
    use super::super::result::TrialRequest;
    use super::super::synthetic::{
        QUEUE, bursty, failed_below, noisy, order, queue, queue_beyond, run, trial,
    };
    use super::super::trial::{LoadLimit, Measure, Phase};
    use super::*;
    use base::Nanos;
    use workload::question::Condition;
    use workload::{Metric, Side, Slo};

    fn request() -> TrialRequest {
        let (phase, window) = (Phase::Bracket, Nanos::from_secs(10));
        TrialRequest { value: 700.0, phase, warmup: Nanos::from_secs(1), window, number: 0 }
    }

    fn regular(request: &TrialRequest) -> Trial {
        trial(request, request.value, queue(request.value))
    }

    fn found(server: impl Fn(&TrialRequest) -> Trial) -> Capacity {
        run(&order(), server).0
    }

    #[track_caller]
    fn check(capacity: &Capacity, expected: impl Fn(&Irregular) -> bool) {
        assert!(capacity.irregular.iter().any(expected), "{:?}", capacity.irregular);
    }

    #[test]
    fn regular_server_has_a_smooth_boundary_that_is_confirmed() {
        let capacity = found(regular);
        assert_eq!((capacity.boundary, capacity.irregular.as_slice()), (Boundary::Smooth, &[][..]));
        let interval = capacity.interval.unwrap();
        assert!(interval.low < QUEUE && QUEUE < interval.high, "{interval:?}");
        assert!((capacity.estimate.unwrap() / QUEUE - 1.0).abs() < 0.01, "{capacity:?}");
        // The share of slow requests is exp(−(μ − λ)t): its logarithm grows by λt per ln λ.
        assert!((capacity.slope.unwrap() / (QUEUE * 0.02) - 1.0).abs() < 0.1, "{capacity:?}");
        let sustained = capacity.sustained.unwrap();
        assert!((0.95..1.0).contains(&(sustained / QUEUE)), "{sustained}");
        assert!(capacity.fails.unwrap() > QUEUE && capacity.confirmations == 6);
        assert_eq!((capacity.binding, capacity.slo.as_str()), (Some(0), "p99(read) < 20ms"));
        assert_eq!(capacity.took.as_secs_f64().ceil() as u64 / 1_500, 0, "within the budget");
    }

    #[test]
    fn resumed_search_orders_the_trials_that_the_first_one_ran() {
        let hour = Some(Nanos::from_secs(3_600));
        for (budget_s, hold) in [(300, None), (900, None), (900, hour), (1_500, None)] {
            let order = CapacityOrder { budget: Nanos::from_secs(budget_s), hold, ..order() };
            let (capacity, trials) = run(&order, regular);
            for known in 0..trials.len() {
                let Step::Run(next) = next_step(&order, &trials[..known]) else {
                    panic!("ends after {known} of {} trials", trials.len());
                };
                let ran = &trials[known];
                assert_eq!((next.value, next.phase), (ran.value, ran.phase), "trial {known}");
                assert_eq!((next.window, next.number), (ran.window, known));
            }
            assert_eq!(capacity.trials.len(), trials.len());
        }
    }

    #[test]
    fn server_that_refuses_beyond_a_rate_has_a_cliff() {
        let capacity = found(|request| {
            let refused = (1.0 - 800.0 / request.value).max(0.0);
            let errors = (refused * request.value * request.window.as_secs_f64()) as u64;
            Trial { errors, ..trial(request, request.value, refused) }
        });
        assert_eq!((capacity.boundary, capacity.irregular.as_slice()), (Boundary::Cliff, &[][..]));
        let interval = capacity.interval.unwrap();
        assert!(interval.low <= 800.0 && 800.0 < interval.high, "{interval:?}");
        assert_eq!((capacity.sustained, capacity.binding), (Some(interval.low), None));
        assert_eq!(capacity.slope, None);
    }

    /// Returns the result of a search for `mean(read) < 20ms`. The server has the mean time
    /// `mean_ms` at a rate, with a scatter of 1 %, and refuses requests beyond the rate `most`.
    fn mean_below_20_ms(mean_ms: impl Fn(f64) -> f64, most: f64, seed: u64) -> Capacity {
        let mut order = order();
        order.conditions[0].slo.metric = Metric::Response(workload::Statistic::Mean);
        let server = |request: &TrialRequest| {
            let refused = (1.0 - most / request.value).max(0.0);
            let errors = (refused * request.value * request.window.as_secs_f64()) as u64;
            let noise = base::Stream::new(base::Seed(seed), "test", "mean");
            let noise = 1.0 + 0.01 * noise.draw(request.number as u64).normal();
            let value = mean_ms(request.value.min(most)) * noise * 1e6;
            let measures = vec![Measure::Value { value, standard_error: Some(value * 0.01) }];
            Trial { errors, measures, ..regular(request) }
        };
        run(&order, server).0
    }

    /// Below the cliff, the mean is the service time, which does not fall to zero at low loads.
    #[test]
    fn mean_near_its_bound_does_not_hide_a_cliff() {
        for (mean_ms, seed) in [1.0, 4.0, 8.0, 15.0].into_iter().flat_map(|ms| [(ms, 1), (ms, 2)]) {
            let capacity = mean_below_20_ms(|_| mean_ms, 800.0, seed);
            let found = (capacity.boundary, capacity.irregular.as_slice());
            assert_eq!(found, (Boundary::Cliff, &[][..]), "{mean_ms} {seed}: {capacity:?}");
            let interval = capacity.interval.unwrap();
            assert!(interval.low <= 800.0 && 800.0 < interval.high, "{interval:?}");
            assert_eq!((capacity.sustained, capacity.binding), (Some(interval.low), None));
        }
    }

    /// The mean of a queue with one server is 20 ms at 950/s, or at 875/s if its times are
    /// multiplied by 2.5. A server that refuses requests beyond 800/s has a mean of 5 or 12.5 ms at
    /// 800/s.
    #[test]
    fn mean_that_grows_to_its_bound_is_smooth_unless_requests_are_refused_before() {
        let queue_ms = |per_s: f64| 1_000.0 / (1_000.0 - per_s).max(1.0);
        for seed in 1..=4 {
            let smooth = mean_below_20_ms(queue_ms, f64::INFINITY, seed);
            assert_eq!(smooth.boundary, Boundary::Smooth, "{seed}: {smooth:?}");
            assert!((smooth.estimate.unwrap() / 950.0 - 1.0).abs() < 0.01, "{smooth:?}");
            for service_ms in [1.0, 2.5] {
                let refusing = mean_below_20_ms(|it| service_ms * queue_ms(it), 800.0, seed);
                assert_eq!(refusing.boundary, Boundary::Cliff, "{seed}: {refusing:?}");
                let estimate = refusing.estimate.unwrap();
                assert!((estimate / 800.0 - 1.0).abs() < 0.01, "{seed}: {refusing:?}");
            }
        }
    }

    /// With a condition on failures alone, nothing is near its bound before the backlog grows.
    #[test]
    fn load_that_is_carried_up_to_a_rate_has_a_cliff() {
        let mut order = order();
        order.conditions = vec![failed_below("read", 1)];
        let (capacity, _) = run(&order, |request| {
            let exceeds_capacity = request.value > 1_000.0;
            Trial { exceeds_capacity, ..trial(request, request.value, 0.0) }
        });
        assert_eq!((capacity.boundary, capacity.irregular.as_slice()), (Boundary::Cliff, &[][..]));
        let sustained = capacity.sustained.unwrap();
        assert!((950.0..=1_000.0).contains(&sustained), "{capacity:?}");
    }

    /// A throughput of about twice its lower bound is no sign of a boundary.
    #[test]
    fn lower_bound_does_not_hide_a_cliff() {
        let mut order = order();
        order.conditions.push(throughput_above(400.0));
        let (capacity, _) = run(&order, |request| {
            let refused = (1.0 - 800.0 / request.value).max(0.0);
            let errors = (refused * request.value * request.window.as_secs_f64()) as u64;
            let mut trial = Trial { errors, ..trial(request, request.value, refused) };
            let value = request.value.min(800.0);
            trial.measures.push(Measure::Value { value, standard_error: None });
            trial
        });
        assert_eq!((capacity.boundary, capacity.irregular.as_slice()), (Boundary::Cliff, &[][..]));
        let interval = capacity.interval.unwrap();
        assert!(interval.low <= 800.0 && 800.0 < interval.high, "{interval:?}");
    }

    fn throughput_above(bound: f64) -> Condition {
        let text = format!("throughput(read) > {bound}");
        let slo = Slo { text, metric: Metric::Throughput, side: Side::Above, bound };
        Condition { job: "read".to_owned(), slo }
    }

    #[test]
    fn server_that_never_fails_is_confirmed_at_the_largest_value() {
        let capacity = found(|request| trial(request, request.value, 0.0));
        assert_eq!(capacity.irregular, [Irregular::NeverFails { highest: 10_000.0 }]);
        assert_eq!(capacity.boundary, Boundary::NotReached);
        assert_eq!((capacity.sustained, capacity.estimate), (Some(10_000.0), None));
    }

    #[test]
    fn server_that_always_fails_has_no_capacity() {
        let capacity = found(|request| trial(request, request.value, 0.5));
        // At half of 3.125/s, the trials of an attempt would have fewer than 400 requests.
        assert_eq!(capacity.irregular, [Irregular::AlwaysFails { lowest: 3.125 }]);
        assert_eq!((capacity.boundary, capacity.sustained), (Boundary::NotReached, None));
    }

    /// Returns the specification of a search with a budget of `minutes`, and the seed of its noise.
    fn minutes(minutes: u64, seed: u64) -> (CapacityOrder, u64) {
        let trial = Nanos::from_secs((minutes).clamp(2, 10));
        let highest = Some(2_000.0);
        let budget = Nanos::from_secs(minutes * 60);
        (CapacityOrder { trial, highest, budget, seed: base::Seed(seed), ..order() }, seed)
    }

    /// Exponential service times of 20, 10 and 5 ms: 37, 13.5 and 1.8 % of the requests take more
    /// than 20 ms at every rate. A trial at a low rate has too few requests to decide anything.
    #[test]
    fn server_whose_slow_requests_do_not_depend_on_the_rate_always_fails() {
        for (share, fewest) in [(0.368, 16), (0.135, 16), (0.018_3, 14)] {
            let mut named = 0;
            for (order, seed) in (1..=8).flat_map(|seed| [minutes(4, seed), minutes(15, seed)]) {
                let (capacity, trials) =
                    run(&order, |request| noisy(request, request.value, share, seed));
                let is_named = matches!(capacity.irregular[..], [Irregular::AlwaysFails { .. }]);
                named += u32::from(is_named && capacity.estimate.is_none());
                assert_eq!(capacity.sustained, None);
                assert!(trials.iter().all(|it| it.value >= 3.0), "{trials:?}");
            }
            assert!(named >= fewest, "{share}: {named} of 16");
        }
    }

    /// Half of the first value is tried: six trials of two seconds have enough requests there.
    #[test]
    fn server_with_slow_first_value_is_searched_despite_short_budget() {
        for seconds in [60, 90, 120] {
            let trial = Nanos::from_secs(2);
            let order = CapacityOrder { trial, budget: Nanos::from_secs(seconds), ..order() };
            let share = |value: f64| queue(value * QUEUE / 60.0);
            let (capacity, trials) = run(&order, |it| noisy(it, it.value, share(it.value), 1));
            assert!(trials.iter().any(|it| it.value == 50.0), "{seconds}: {trials:?}");
            let always = |why: &Irregular| matches!(why, Irregular::AlwaysFails { .. });
            assert!(!capacity.irregular.iter().any(always), "{:?}", capacity.irregular);
        }
    }

    #[test]
    fn first_value_that_is_the_lowest_one_to_judge_ends_the_budget() {
        let trial_length = Nanos::from_secs(2);
        let budget = Nanos::from_secs(120);
        let order = CapacityOrder { first: 10.0, trial: trial_length, budget, ..order() };
        let (capacity, _) = run(&order, |it| trial(it, it.value, 0.9));
        let phase = Phase::Bracket;
        assert_eq!(capacity.irregular, [Irregular::BudgetSpent { phase }]);
    }

    /// The throughput has no standard error, and it is smaller at every lower rate.
    #[test]
    fn lower_bound_does_not_hide_a_server_that_always_fails() {
        let mut order = order();
        order.conditions.push(throughput_above(1.0));
        let capacity = run(&order, |request| {
            let mut slow = noisy(request, request.value, 0.018_3, 3);
            slow.measures.push(Measure::Value { value: request.value, standard_error: None });
            slow
        });
        let irregular = &capacity.0.irregular;
        assert!(matches!(irregular[..], [Irregular::AlwaysFails { .. }]), "{irregular:?}");
    }

    /// The first value is far too large, and the trials at all smaller values decide little.
    #[test]
    fn capacity_far_below_the_first_value_is_found() {
        for (order, seed) in (1..=8).map(|seed| minutes(15, seed)) {
            let (capacity, _) = run(&order, |request| {
                noisy(request, request.value, queue(15.0 * request.value), seed)
            });
            let why = &capacity.irregular;
            assert!(!why.iter().any(|it| matches!(it, Irregular::AlwaysFails { .. })), "{why:?}");
            let estimate = capacity.estimate.unwrap();
            assert!((0.85..1.15).contains(&(15.0 * estimate / QUEUE)), "{seed}: {capacity:?}");
        }
    }

    #[test]
    fn generator_that_cannot_reach_the_rate_is_the_limit() {
        let invalid = |above: f64| {
            move |request: &TrialRequest| {
                let checks = (request.value > above).then(|| "send-lag".to_owned());
                Trial { invalid: checks.into_iter().collect(), ..regular(request) }
            }
        };
        // 400/s passes; 800, 565.69 and then, between 400 and 565.69, 475.68 are tried.
        let capacity = found(invalid(500.0));
        assert_eq!(capacity.irregular, [Irregular::GeneratorLimited { value: 565.69 }]);
        assert_eq!((capacity.sustained, capacity.boundary), (Some(475.68), Boundary::NotReached));
        let repeats = capacity.trials.iter().filter(|trial| trial.outcome.name() == "invalid");
        assert_eq!(repeats.count(), 6);
        let order = CapacityOrder { ceiling_per_s: Some(1_000.0), ..order() };
        let (capacity, _) = run(&order, regular);
        assert_eq!(capacity.irregular, [Irregular::GeneratorLimited { value: 565.69 }]);
    }

    /// The generator cannot produce 800/s, and the server fails at a lower rate.
    #[test]
    fn boundary_below_the_limit_of_the_generator_is_found() {
        let capacity = found(|request| {
            let checks = (request.value > 700.0).then(|| "send-lag".to_owned());
            let invalid = checks.into_iter().collect();
            Trial { invalid, ..trial(request, request.value, queue(1.6 * request.value)) }
        });
        assert_eq!((capacity.boundary, capacity.irregular.as_slice()), (Boundary::Smooth, &[][..]));
        let invalid = capacity.trials.iter().filter(|trial| trial.outcome.name() == "invalid");
        assert_eq!(invalid.count(), 3);
        assert!((capacity.estimate.unwrap() / (QUEUE / 1.6) - 1.0).abs() < 0.01, "{capacity:?}");
    }

    #[test]
    fn generator_that_fails_below_a_value_that_fails_is_named() {
        let capacity = found(|request| {
            let checks = (request.value < 90.0).then(|| "stall".to_owned());
            let invalid = checks.into_iter().collect();
            Trial { invalid, ..trial(request, request.value, 0.5) }
        });
        assert_eq!(capacity.irregular, [Irregular::GeneratorLimited { value: 50.0 }]);
        assert_eq!((capacity.trials.len(), capacity.sustained), (4, None));
    }

    #[test]
    fn budget_that_ends_below_the_limit_of_the_generator_is_named() {
        let order = CapacityOrder { budget: Nanos::from_secs(130), first: 400.0, ..order() };
        let (capacity, _) = run(&order, |request| {
            let checks = (request.value > 500.0).then(|| "send-lag".to_owned());
            Trial { invalid: checks.into_iter().collect(), ..regular(request) }
        });
        check(&capacity, |it| matches!(it, Irregular::GeneratorLimited { .. }));
        check(&capacity, |it| matches!(it, Irregular::BudgetSpent { .. }));
    }

    #[test]
    fn invalid_trial_is_repeated_and_changes_nothing() {
        let capacity = found(|request| {
            let checks = (request.number % 7 == 3).then(|| "stall".to_owned());
            Trial { invalid: checks.into_iter().collect(), ..regular(request) }
        });
        assert_eq!(capacity.irregular, []);
        assert!((capacity.estimate.unwrap() / QUEUE - 1.0).abs() < 0.01);
    }

    #[test]
    fn smaller_value_that_fails_is_a_loss_inversion() {
        let capacity = found(|request| {
            let errors = if (680.0..700.0).contains(&request.value) { 200 } else { 0 };
            Trial { errors, ..regular(request) }
        });
        check(&capacity, |it| {
            matches!(it, Irregular::LossInversion { fails, passes }
                if (680.0..700.0).contains(fails) && *passes > 700.0)
        });
        assert_eq!(capacity.boundary, Boundary::NonMonotone);
    }

    /// Some requests are refused by chance, at values below others that pass.
    #[test]
    fn few_failed_requests_are_not_an_inversion() {
        let capacity = found(|request| {
            let errors = if (680.0..700.0).contains(&request.value) { 100 } else { 0 };
            Trial { errors, ..regular(request) }
        });
        let why = &capacity.irregular;
        assert!(!why.iter().any(|it| matches!(it, Irregular::LossInversion { .. })), "{why:?}");
    }

    /// From 210 to 750/s, 0.9 % of the requests are slow: no trial there is decided, and the
    /// regression has no slope.
    #[test]
    fn boundary_that_is_not_located_is_irregular() {
        for (order, seed) in (1..=8).map(|seed| minutes(4, seed)) {
            let (capacity, _) = run(&order, |request| {
                let share = match request.value {
                    low if low < 210.0 => 0.000_1,
                    middle if middle < 750.0 => 0.009,
                    _ => 0.05,
                };
                noisy(request, request.value, share, seed)
            });
            let Some(interval) = capacity.interval else {
                assert!(!capacity.irregular.is_empty(), "{seed}: {capacity:?}");
                continue;
            };
            let low = capacity.sustained.map_or(interval.low, |it| it.min(interval.low));
            let is_wide = interval.high / low > LOCATED_RATIO;
            let why = &capacity.irregular;
            let is_named = why.iter().any(|it| matches!(it, Irregular::NotLocated { .. }));
            assert!(is_named || !is_wide, "{seed}: {capacity:?}");
            let is_unknown = capacity.boundary == Boundary::NotReached;
            assert!(!why.is_empty() || !is_unknown, "{seed}: {capacity:?}");
        }
    }

    /// The server becomes slower, and the trials have few requests, which come in bursts. No value
    /// passes below the smallest one that fails, so the order of the outcomes shows no boundary.
    #[test]
    fn search_without_an_estimate_is_irregular() {
        let mut without = 0;
        for (order, seed) in (1..=40).map(|seed| minutes(4, seed)) {
            let (capacity, _) = run(&order, |request| {
                let slower = 1.01_f64.powf(request.number as f64);
                bursty(request, queue(request.value * slower), (50.0, seed))
            });
            without += u32::from(capacity.estimate.is_none());
            let is_regular = capacity.irregular.is_empty();
            assert!(!is_regular || capacity.estimate.is_some(), "{seed}: {capacity:?}");
        }
        assert!(without > 0);
        let request = TrialRequest {
            value: 100.0,
            phase: Phase::Bracket,
            warmup: Nanos::ZERO,
            window: Nanos::from_secs(10),
            number: 0,
        };
        let low = regular(&request);
        let high = Trial { value: 400.0, ..low.clone() };
        let expected = Interval { low: 100.0, high: 400.0 };
        assert_eq!(without_boundary(&[&high, &low], 100.0), expected);
    }

    #[test]
    fn boundary_that_is_not_located_lies_below_the_smallest_value_that_fails() {
        let range = Interval { low: 500.0, high: 800.0 };
        let of = |fails| match up_to_failing(range, 400.0, fails) {
            Irregular::NotLocated { low, high } => (low, high),
            other => panic!("{other:?}"),
        };
        assert_eq!(of(None), (500.0, 800.0));
        assert_eq!(of(Some(900.0)), (500.0, 800.0));
        assert_eq!(of(Some(700.0)), (500.0, 700.0));
        assert_eq!(of(Some(450.0)), (400.0, 450.0));
        let mut named = 0;
        for (order, seed) in (1..=40).map(|seed| minutes(4, seed)) {
            let (capacity, _) = run(&order, |request| {
                let slower = 1.01_f64.powf(request.number as f64);
                bursty(request, queue(request.value * slower), (50.0, seed))
            });
            for why in &capacity.irregular {
                let (Irregular::NotLocated { high, .. }, Some(fails)) = (why, capacity.fails)
                else {
                    continue;
                };
                assert!(*high <= fails, "{seed}: {capacity:?}");
                named += 1;
            }
        }
        assert!(named > 0);
    }

    /// A server that stalls: 0.85 % of the requests are slow at every rate up to 750/s, in bursts.
    /// More trials would show the same.
    #[test]
    fn slow_requests_at_low_loads_are_named_where_nothing_is_located() {
        let (mut named, mut silent) = (0, 0);
        for (order, seed) in (1..=40).map(|seed| minutes(4, seed)) {
            let searched = |slow: f64| {
                let (capacity, _) = run(&order, |request| {
                    let share = if request.value < 750.0 { slow } else { 0.05 };
                    bursty(request, share, (20.0, seed))
                });
                capacity.irregular
            };
            let irregular = searched(0.008_5);
            let independent = irregular.iter().find_map(|why| match why {
                Irregular::Independent { condition, value, share } => {
                    Some((*condition, *value, *share))
                }
                _ => None,
            });
            if let Some((condition, value, share)) = independent {
                assert!(condition == 0 && value < 750.0 && share >= 0.005, "{irregular:?}");
                assert!(irregular.iter().any(Irregular::is_without_boundary), "{irregular:?}");
                named += 1;
            }
            let quick = searched(0.000_1);
            silent +=
                i32::from(!quick.iter().any(|why| matches!(why, Irregular::Independent { .. })));
        }
        assert!(named >= 10, "{named} of 40");
        assert_eq!(silent, 40);
    }

    /// The median of a queue reaches 1.39 ms at 500/s, half of its capacity. At 250/s, 35 % of the
    /// requests take that long; the condition allows 50 %.
    #[test]
    fn slow_requests_of_a_queue_are_not_said_to_be_independent_of_the_load() {
        let mut median = order();
        median.conditions[0].slo.text = "p50(read) < 1.39ms".to_owned();
        median.conditions[0].slo.metric = Metric::Response(workload::Statistic::Quantile(0.5));
        let bound_s = std::f64::consts::LN_2 / 500.0;
        let mut ended_early = 0;
        for (seed, budget_s) in (1..=20).flat_map(|seed| [60, 120, 240].map(|it| (seed, it))) {
            for first in [100.0, 200.0, 300.0, 400.0] {
                let budget = Nanos::from_secs(budget_s);
                let order = CapacityOrder { first, budget, ..median.clone() };
                let (capacity, _) = run(&order, |request| {
                    bursty(request, queue_beyond(request.value, bound_s), (2.0, seed))
                });
                let Capacity { irregular, estimate, fails, .. } = &capacity;
                let is_named = |why: &Irregular| matches!(why, Irregular::Independent { .. });
                assert!(!irregular.iter().any(is_named), "{seed} {first}: {capacity:?}");
                let has_value = estimate.or(*fails).is_some();
                ended_early +=
                    i32::from(has_value && irregular.iter().any(Irregular::is_without_boundary));
            }
        }
        assert!(ended_early > 0);
    }

    #[test]
    fn wide_range_above_the_confirmed_value_is_not_located() {
        let found = |low: f64, high: f64, boundary: Boundary| FoundBoundary {
            boundary,
            estimate: low,
            interval: Interval { low, high },
            binding: None,
            isotonic: None,
            steepness: None,
            irregular: Vec::new(),
        };
        let of = |low, high, sustained| {
            not_located(&order(), &found(low, high, Boundary::Smooth), Some(sustained))
        };
        assert_eq!(of(755.0, 792.0, 743.0), None);
        let range = |low, high| Some(Interval { low, high });
        assert_eq!(of(200.0, 752.0, 372.0), range(200.0, 752.0));
        assert_eq!(of(755.0, 792.0, 500.0), range(500.0, 792.0));
        let unknown = found(700.0, 760.0, Boundary::NotReached);
        assert!(not_located(&order(), &unknown, Some(690.0)).is_some());
        let vary = VariedLoad::Concurrency { job: "read".to_owned() };
        let clients = CapacityOrder { vary, ..order() };
        assert_eq!(not_located(&clients, &found(2.0, 3.0, Boundary::Smooth), Some(1.0)), None);
        let few = not_located(&clients, &found(2.0, 5.0, Boundary::Smooth), Some(1.0));
        assert!(few.is_some());
    }

    #[test]
    fn budget_that_ends_in_the_bracket_is_named() {
        let order = CapacityOrder { budget: Nanos::from_secs(100), first: 1.0, ..order() };
        let (capacity, _) = run(&order, regular);
        check(&capacity, |it| *it == Irregular::BudgetSpent { phase: Phase::Bracket });
        assert_eq!(capacity.boundary, Boundary::NotReached);
    }

    #[test]
    fn connections_that_bind_are_the_limit() {
        let limit = LoadLimit::OwnConnections(16);
        let capacity = found(|request| {
            let load_limit = (request.value > 700.0).then_some(limit);
            Trial { load_limit, ..regular(request) }
        });
        assert_eq!(capacity.irregular, [Irregular::LimitedBy(limit)]);
    }

    /// All connections to an overloaded server are busy, however many there are.
    #[test]
    fn connections_to_a_busy_server_are_not_a_limit() {
        let limit = LoadLimit::OwnConnections(16);
        let served = |slowed: u64| {
            found(move |request| {
                let is_overloaded = request.value > 700.0;
                let load_limit = is_overloaded.then_some(limit);
                let service = Nanos::from_millis(if is_overloaded { slowed } else { 10 });
                Trial { load_limit, service: Some(service), ..regular(request) }
            })
        };
        assert_eq!(served(19).irregular, [Irregular::LimitedBy(limit)]);
        assert_eq!(served(20).irregular, []);
    }

    /// Example: of 1,000 clients of a server that accepts four connections, 996 send nothing, and
    /// the other four are served equally fast however many clients there are.
    #[test]
    fn clients_without_a_connection_are_not_sustained() {
        let vary = VariedLoad::Concurrency { job: "read".to_owned() };
        let order = CapacityOrder { vary, first: 1.0, highest: Some(1_000.0), ..order() };
        let accepted = LoadLimit::AcceptedConnections(4);
        let (capacity, _) = run(&order, |request| {
            let load_limit = (request.value > 4.0).then_some(accepted);
            let service = Some(Nanos::from_millis(request.value.min(4.0) as u64));
            let served = trial(request, 1_000.0, 0.001);
            Trial { load_limit, service, offered_per_s: None, ..served }
        });
        assert_eq!((capacity.sustained, capacity.fails), (Some(4.0), Some(5.0)), "{capacity:?}");
        assert_eq!((capacity.binding, capacity.boundary), (None, Boundary::Cliff));
        assert_eq!(capacity.irregular, [Irregular::LimitedBy(accepted)]);
    }

    #[test]
    fn server_that_degrades_from_trial_to_trial_drifts() {
        let capacity = found(|request| {
            let slower = 1.0 + 0.002 * request.number as f64;
            trial(request, request.value, queue(request.value * slower))
        });
        check(&capacity, |it| matches!(it, Irregular::Drifts { change } if *change < -0.02));
    }

    /// Returns two numbers of searches, out of `searches`: those that report that the server
    /// becomes slower from trial to trial, and those that report that it becomes faster. Service
    /// times grow by `trend` with each trial. `dispersion` requests count like one independent
    /// request.
    fn drifting(searches: u64, trend: f64, dispersion: f64) -> [usize; 2] {
        let changes = (1..=searches).map(|seed| {
            let order = CapacityOrder { seed: base::Seed(seed), ..order() };
            let (capacity, _) = run(&order, |request| {
                let slower = (1.0 + trend).powf(request.number as f64);
                bursty(request, queue(request.value * slower), (dispersion, seed))
            });
            capacity.irregular.iter().find_map(|why| match why {
                Irregular::Drifts { change } => Some(*change),
                _ => None,
            })
        });
        let changes: Vec<f64> = changes.flatten().collect();
        let slower = changes.iter().filter(|change| **change < 0.0).count();
        [slower, changes.len() - slower]
    }

    #[test]
    fn degradation_is_named_for_nearly_all_seeds() {
        for dispersion in [1.0, 20.0] {
            for trend in [0.003, 0.01] {
                let [slower, faster] = drifting(20, trend, dispersion);
                assert!(slower >= 18 && faster == 0, "{dispersion} {trend}: {slower} {faster}");
            }
        }
    }

    #[test]
    fn improvement_is_named_for_nearly_all_seeds() {
        let [slower, faster] = drifting(20, -0.004, 20.0);
        assert!(faster >= 18 && slower == 0, "{slower} {faster}");
    }

    #[test]
    fn stationary_servers_seldom_drift() {
        for dispersion in [1.0, 20.0] {
            let named: usize = drifting(60, 0.0, dispersion).iter().sum();
            assert!(named <= 3, "{dispersion}: {named} of 60");
        }
    }

    /// The drift is so strong that the regression finds no boundary.
    #[test]
    fn strong_drift_is_named_without_a_regression() {
        let capacity = found(|request| {
            let slower = 1.0 + 0.02 * request.number as f64;
            trial(request, request.value, queue(request.value * slower))
        });
        assert_eq!((capacity.slope, capacity.binding), (None, Some(0)));
        check(&capacity, |it| matches!(it, Irregular::Drifts { change } if *change < -0.1));
    }

    #[test]
    fn value_that_fails_below_the_interval_of_the_estimate_is_chance() {
        let trials = [700.0, 760.0, 800.0].map(|value| {
            let request = TrialRequest { value, ..request() };
            trial(&request, value, if value == 760.0 { 0.005 } else { 0.03 })
        });
        let trials: Vec<&Trial> = trials.iter().collect();
        let fails = |begins| smallest_failing(&order(), &trials, 650.0, begins).map(|it| it.0);
        assert_eq!(fails(None), Some(700.0));
        assert_eq!(fails(Some(750.0)), Some(800.0));
        assert_eq!(fails(Some(900.0)), Some(700.0), "no value fails beyond the interval");
    }

    /// Restoring the data before each trial takes time that the `CapacityOrder` does not include.
    #[test]
    fn time_between_trials_counts_against_the_budget() {
        let order = order();
        let (capacity, trials) = run(&order, |request| {
            let trial = regular(request);
            Trial { took: trial.took + Nanos::from_secs(60), ..trial }
        });
        let took = trials.iter().fold(Nanos::ZERO, |sum, trial| sum + trial.took);
        assert!(took <= order.budget, "{took} {capacity:?}");
        assert!(capacity.sustained.is_some(), "{capacity:?}");
    }

    #[test]
    fn value_that_fails_with_fresh_seeds_is_not_published() {
        let capacity = found(|request| match request.phase {
            Phase::Confirm(_) => trial(request, request.value, 0.02),
            _ => regular(request),
        });
        check(&capacity, |it| matches!(it, Irregular::NotConfirmed { .. }));
        // Larger values passed before.
        check(&capacity, |it| matches!(it, Irregular::LossInversion { .. }));
        assert_eq!((capacity.sustained, capacity.boundary), (None, Boundary::NonMonotone));
        assert_eq!(capacity.estimate, None);
    }

    /// With two conditions, the one with the lower boundary binds.
    #[test]
    fn condition_that_fails_first_binds() {
        let mut order = order();
        let mean = Slo {
            text: "mean(read) < 2ms".to_owned(),
            metric: Metric::Response(workload::Statistic::Mean),
            side: Side::Below,
            bound: 2e6,
        };
        order.conditions.push(Condition { job: "read".to_owned(), slo: mean });
        // The mean of the queue is 1 / (μ − λ): 2 ms at 500/s.
        let (capacity, _) = run(&order, |request| {
            let mut trial = regular(request);
            let value = 1e9 / (1_000.0 - request.value).max(1.0);
            let standard_error = Some(value / (request.window.as_secs_f64() * 100.0).sqrt());
            trial.measures.push(Measure::Value { value, standard_error });
            trial
        });
        assert_eq!(capacity.binding, Some(1), "{capacity:?}");
        assert!((capacity.estimate.unwrap() / 500.0 - 1.0).abs() < 0.02, "{capacity:?}");
    }

    /// The more requests the varied job has, the less of the server a closed job gets: 50 of its
    /// 100 requests per second when the varied job has 500/s.
    #[test]
    fn least_throughput_of_another_job_limits_the_load() {
        let mut order = order();
        let mut pay = throughput_above(50.0);
        pay.job = "pay".to_owned();
        order.conditions.push(pay);
        for seed in 1..=4 {
            let (capacity, _) = run(&order, |request| {
                let mut trial = regular(request);
                let value = 100.0 * (1.0 - request.value / 1_000.0).max(0.01);
                let window = request.window.as_secs_f64();
                let mut draw =
                    base::Stream::new(base::Seed(seed), "test", "pay").draw(request.number as u64);
                let error = (value / window).sqrt();
                let (value, standard_error) = (value + error * draw.normal(), Some(error));
                trial.measures.push(Measure::Value { value, standard_error });
                trial
            });
            assert_eq!(capacity.binding, Some(1), "{seed}: {capacity:?}");
            let unmet = |why: &Irregular| matches!(why, Irregular::Unmet { .. });
            assert!(!capacity.irregular.iter().any(unmet), "{seed}: {capacity:?}");
            assert!((capacity.estimate.unwrap() / 500.0 - 1.0).abs() < 0.05, "{capacity:?}");
            let sustained = capacity.sustained.unwrap();
            assert!((400.0..510.0).contains(&sustained), "{seed}: {capacity:?}");
        }
    }

    /// The budget ends while the range around a cliff is halved.
    #[test]
    fn cut_search_keeps_the_gap_that_it_found() {
        let order = CapacityOrder {
            first: 1_000.0,
            highest: Some(1e6),
            budget: Nanos::from_secs(290),
            ..order()
        };
        let (capacity, _) = run(&order, |request| {
            let achieved_per_s = request.value.min(1e4);
            let share = if request.value > 1e4 { 1.0 } else { 0.0 };
            Trial { achieved_per_s, ..trial(request, request.value, share) }
        });
        check(&capacity, |it| matches!(it, Irregular::BudgetSpent { .. }));
        let interval = capacity.interval.unwrap();
        assert!(interval.low <= 1e4 && 1e4 < interval.high, "{capacity:?}");
        assert_eq!(capacity.boundary, Boundary::Cliff, "{capacity:?}");
    }

    /// The server keeps up with 10,000/s until the confirmation, and with 9,000/s from then on.
    #[test]
    fn confirmation_follows_a_cliff_that_moves_down() {
        let order = CapacityOrder { first: 1_000.0, highest: Some(1e6), ..order() };
        let (capacity, _) = run(&order, |request| {
            let carried = if matches!(request.phase, Phase::Confirm(_)) { 9_000.0 } else { 1e4 };
            let achieved_per_s = request.value.min(carried);
            let share = if request.value > carried { 1.0 } else { 0.0 };
            Trial { achieved_per_s, ..trial(request, request.value, share) }
        });
        let sustained = capacity.sustained.unwrap();
        assert!((8_500.0..9_000.0).contains(&sustained), "{sustained}: {:?}", capacity.irregular);
        assert_eq!(capacity.confirmations, 6);
        // The search found the boundary at 10,000/s, but in the confirmation values above 9,000/s
        // fail.
        check(&capacity, |it| {
            matches!(it, Irregular::BoundaryMoved { fails, low }
                if *fails > 9_000.0 && fails <= low && *low > 9_900.0)
        });
        assert_eq!((capacity.estimate, capacity.interval, capacity.isotonic), (None, None, None));
    }

    /// A value fails in the confirmation although larger ones passed in the search, as if another
    /// program had run in the meantime.
    #[test]
    fn confirmation_that_contradicts_the_search_is_an_inversion() {
        let capacity = found(|request| match request.phase {
            Phase::Confirm(_) if request.value > 700.0 => trial(request, request.value, 0.1),
            _ => regular(request),
        });
        check(&capacity, |it| {
            matches!(it, Irregular::LossInversion { fails, passes }
            if fails < passes && *fails > 700.0)
        });
        assert_eq!((capacity.boundary, capacity.estimate), (Boundary::NonMonotone, None));
    }

    /// The class of a boundary follows from a regression or from a jump, and this search has
    /// neither.
    #[test]
    fn wide_gap_of_a_cut_search_has_no_class() {
        let order = CapacityOrder { budget: Nanos::from_secs(220), first: 1_000.0, ..order() };
        let order = CapacityOrder { highest: Some(1e6), ..order };
        let (capacity, _) = run(&order, |request| {
            let share = if request.value > 1e4 { 1.0 } else { 0.0 };
            trial(request, request.value, share)
        });
        check(&capacity, |it| matches!(it, Irregular::BudgetSpent { .. }));
        let interval = capacity.interval.unwrap();
        assert!(interval.high / interval.low > 1.05, "{capacity:?}");
        assert_eq!(capacity.boundary, Boundary::NotReached, "{capacity:?}");
    }

    /// At a low rate, a trial has too few requests to decide anything if the requests come in
    /// bursts. The trial is not repeated, because the repeat, a longer trial, would cost time.
    #[test]
    fn low_rates_without_slow_requests_are_tried_once() {
        let order = CapacityOrder { trial: Nanos::from_secs(2), ..order() };
        let order = CapacityOrder { budget: Nanos::from_secs(240), ..order };
        let (capacity, trials) = run(&order, |request| {
            let mut trial = regular(request);
            if let Some(Measure::Count(counted)) = trial.measures.first_mut() {
                counted.dispersion = Some(10.0);
            }
            trial
        });
        let of_bracket: Vec<f64> = { trials.iter() }
            .filter(|trial| trial.phase == Phase::Bracket)
            .map(|trial| trial.value)
            .collect();
        assert_eq!(of_bracket[..4], [100.0, 200.0, 400.0, 800.0], "{capacity:?}");
    }

    /// Returns the result and the trials of a search. Up to the confirmation, the server has a
    /// cliff at 10,000/s; `confirming` returns the trials of the confirmation.
    fn with_cliff(
        order: &CapacityOrder,
        confirming: impl Fn(&TrialRequest) -> Trial,
    ) -> (Capacity, Vec<Trial>) {
        run(order, |request| match request.phase {
            Phase::Confirm(_) => confirming(request),
            _ => {
                let share = if request.value > 1e4 { 1.0 } else { 0.0 };
                let achieved_per_s = request.value.min(1e4);
                Trial { achieved_per_s, ..trial(request, request.value, share) }
            }
        })
    }

    /// In the confirmation, 36 % of the requests are slow above 9,500/s: one trial there is enough
    /// for a large step down.
    #[test]
    fn confirmation_steps_far_down_from_a_value_far_beyond_its_bound() {
        let order = CapacityOrder { first: 1_000.0, highest: Some(1e6), ..order() };
        let (capacity, trials) = with_cliff(&order, |request| {
            trial(request, request.value, if request.value > 9_500.0 { 0.36 } else { 0.0 })
        });
        let sustained = capacity.sustained.unwrap();
        assert!((9_000.0..9_500.0).contains(&sustained), "{sustained}");
        let confirming = |it: &&Trial| matches!(it.phase, Phase::Confirm(_));
        assert_eq!(trials.iter().filter(confirming).count(), 7, "one trial, and six that confirm");
    }

    /// The first trial of the confirmation has ten times the allowed number of slow requests; the
    /// slope shows how far away the boundary is.
    #[test]
    fn single_trial_beyond_its_bound_sets_the_step_down() {
        let capacity = found(|request| match request.phase {
            Phase::Confirm(1) => trial(request, request.value, 0.1),
            _ => regular(request),
        });
        let of = |attempt: u32| {
            let mut trials = capacity.trials.iter();
            trials.find(|it| it.phase == Phase::Confirm(attempt)).unwrap().value
        };
        let values = [of(1), of(2)];
        assert!((values[1] / values[0] - 0.94).abs() < 1e-3, "{values:?}");
        assert_eq!(capacity.sustained, Some(values[1]));
    }

    /// Returns the number of trials of the first attempt, and the number that confirmed a value.
    /// `ratios` are the ratios of the first trials' measures to the allowed measure; later trials
    /// have a ratio of 0.8.
    #[track_caller]
    fn first_attempt(budget_s: u64, ratios: [f64; 6]) -> (usize, u32) {
        let order = CapacityOrder { budget: Nanos::from_secs(budget_s), ..order() };
        let made = std::cell::Cell::new(0);
        let (capacity, trials) = run(&order, |request| {
            let mut trial = regular(request);
            if let (Phase::Confirm(_), Some(Measure::Count(counted))) =
                (request.phase, trial.measures.first_mut())
            {
                let ratio = ratios.get(made.replace(made.get() + 1)).unwrap_or(&0.8);
                counted.exceeded = (ratio * 0.01 * counted.total as f64).round() as u64;
            }
            trial
        });
        assert!(capacity.sustained.is_some(), "{capacity:?}");
        let first = trials.iter().filter(|trial| trial.phase == Phase::Confirm(1));
        (first.count(), capacity.confirmations)
    }

    /// The upper bound of the mean is 1.05 times the allowed number; with nine such trials, it
    /// would be 0.98 times that number.
    #[test]
    fn undecided_confirmation_is_extended_by_half_if_time_allows() {
        let undecided = [0.5, 1.1, 0.6, 1.0, 0.7, 0.9];
        assert_eq!(first_attempt(1_500, undecided), (9, 9));
        assert_eq!(first_attempt(300, undecided), (9, 9), "no time for another whole attempt");
        assert_eq!(first_attempt(500, undecided), (6, 6), "time for another one, but not for both");
    }

    #[test]
    fn confirmation_that_more_trials_would_not_decide_is_followed_by_a_lower_one() {
        assert_eq!(first_attempt(1_500, [0.5, 1.4, 0.6, 1.3, 0.7, 0.9]), (6, 6));
        let clear = [0.75, 0.8, 0.85, 0.75, 0.8, 0.85];
        assert_eq!(first_attempt(1_500, clear), (6, 6));
    }

    /// No request is slow, but the requests come in bursts: no trial of the bracket is decided.
    #[test]
    fn values_undecided_in_single_trials_are_confirmed() {
        let capacity = found(|request| {
            let mut trial = trial(request, request.value, 0.0);
            if let Some(Measure::Count(counted)) = trial.measures.first_mut() {
                counted.dispersion = Some(10.0);
                counted.total = counted.total.min(2_500);
            }
            trial
        });
        check(&capacity, |it| matches!(it, Irregular::NeverFails { .. }));
        assert_eq!(capacity.sustained, Some(10_000.0), "{capacity:?}");
    }

    /// Three valid trials are enough if the budget ends after them, but not if further trials at
    /// the value are invalid.
    #[test]
    fn value_that_the_generator_produces_half_of_the_time_is_not_confirmed() {
        let order = CapacityOrder { first: 1_000.0, highest: Some(1e6), ..order() };
        let made = std::cell::Cell::new(0);
        let (capacity, _) = with_cliff(&order, |request| {
            made.set(made.get() + u32::from(request.phase == Phase::Confirm(1)));
            let is_invalid = request.phase == Phase::Confirm(1) && made.get() > 3;
            let checks = is_invalid.then(|| "send-lag".to_owned());
            Trial { invalid: checks.into_iter().collect(), ..trial(request, request.value, 0.0) }
        });
        assert!((9_000.0..9_500.0).contains(&capacity.sustained.unwrap()), "{capacity:?}");
        check(&capacity, |it| matches!(it, Irregular::GeneratorLimited { value } if *value > 9e3));
    }

    #[test]
    fn value_that_the_generator_cannot_confirm_is_followed_by_a_lower_one() {
        let order = CapacityOrder { first: 1_000.0, highest: Some(1e6), ..order() };
        let (capacity, _) = with_cliff(&order, |request| {
            let checks = (request.value > 9_500.0).then(|| "send-lag".to_owned());
            Trial { invalid: checks.into_iter().collect(), ..trial(request, request.value, 0.0) }
        });
        assert!((9_000.0..9_500.0).contains(&capacity.sustained.unwrap()), "{capacity:?}");
        check(&capacity, |it| matches!(it, Irregular::GeneratorLimited { value } if *value > 9e3));
    }

    /// The budget ends after some trials of the confirmation: three suffice if they are clear.
    #[test]
    fn confirmation_that_the_budget_ends_needs_three_trials() {
        let confirmed = |budget_s: u64| {
            let budget = Nanos::from_secs(budget_s);
            let order = CapacityOrder { first: 1_000.0, highest: Some(1e6), budget, ..order() };
            let (capacity, _) = with_cliff(&order, |request| trial(request, request.value, 0.001));
            (capacity.sustained.is_some(), capacity.confirmations)
        };
        let all: Vec<(bool, u32)> = (100..400).step_by(13).map(confirmed).collect();
        assert!(all.iter().all(|(is, trials)| *is == (*trials >= 3)), "{all:?}");
        assert!(all.iter().any(|(_, trials)| (3..6).contains(trials)), "{all:?}");
    }

    #[test]
    fn condition_that_fails_is_named_although_the_budget_ended_before_the_rounds() {
        let order = CapacityOrder { budget: Nanos::from_secs(60), first: 400.0, ..order() };
        let (capacity, _) = run(&order, regular);
        check(&capacity, |it| matches!(it, Irregular::BudgetSpent { .. }));
        assert_eq!((capacity.estimate, capacity.boundary), (None, Boundary::NotReached));
        assert!(capacity.fails.is_some() && capacity.binding == Some(0), "{capacity:?}");
    }

    #[test]
    fn hold_publishes_only_a_value_that_holds() {
        let hold = Some(Nanos::from_secs(3_600));
        let order = CapacityOrder { hold, ..order() };
        let held = run(&order, regular);
        assert_eq!(held.0.irregular, []);
        assert_eq!(held.1.last().map(|trial| trial.window), hold);
        let (capacity, _) = run(&order, |request| match request.phase {
            Phase::Hold => trial(request, request.value, 0.011),
            _ => regular(request),
        });
        assert_eq!(
            capacity.irregular,
            [Irregular::HoldFailed { value: held.0.sustained.unwrap() }]
        );
        assert_eq!(capacity.sustained, None);
    }

    /// The machine makes every trial of an hour invalid, but shorter trials have confirmed the
    /// value.
    #[test]
    fn invalid_holds_leave_a_value_confirmed_and_not_held() {
        let order = CapacityOrder { hold: Some(Nanos::from_secs(3_600)), ..order() };
        let (capacity, trials) = run(&order, |request| {
            let checks = (request.phase == Phase::Hold).then(|| "send-lag".to_owned());
            Trial { invalid: checks.into_iter().collect(), ..regular(request) }
        });
        let (without_hold, _) = run(&CapacityOrder { hold: None, ..order }, regular);
        let value = without_hold.sustained.unwrap();
        assert_eq!((capacity.sustained, capacity.confirmations), (Some(value), 6));
        assert_eq!(capacity.irregular, [Irregular::NotHeld { value }]);
        assert_eq!(trials.iter().filter(|trial| trial.phase == Phase::Hold).count(), 3);
    }

    #[test]
    fn jump_next_to_a_plateau_makes_the_fits_disagree() {
        let capacity = found(|request| {
            let share = match request.value {
                low if low < 700.0 => 0.002,
                middle if middle < 800.0 => 0.009_7,
                _ => 0.05,
            };
            trial(request, request.value, share)
        });
        check(&capacity, |it| matches!(it, Irregular::FitsDisagree { .. }));
    }

    #[test]
    fn rounds_follow_each_other_in_random_order() {
        let capacity = found(regular);
        let of = |round: u32| -> Vec<f64> {
            let trials = capacity.trials.iter();
            trials.filter(|it| it.phase == Phase::Round(round)).map(|it| it.value).collect()
        };
        let (first, second) = (of(1), of(2));
        assert_eq!((first.len(), second.len()), (5, 5));
        let order = |values: &[f64]| -> Vec<usize> {
            let mut places: Vec<usize> = (0..values.len()).collect();
            places.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
            places
        };
        assert_ne!(order(&first), order(&second), "{first:?} {second:?}");
        assert!([&first, &second].iter().any(|it| !it.is_sorted()), "{first:?} {second:?}");
    }

    #[test]
    fn concurrency_is_a_whole_number() {
        let vary = VariedLoad::Concurrency { job: "read".to_owned() };
        let order = CapacityOrder { vary, first: 1.0, highest: Some(512.0), ..order() };
        // The share of slow requests is 1 % at 23.4 clients.
        let (capacity, trials) = run(&order, |request| {
            let clients = request.value;
            let mut trial = trial(request, 900.0, (0.01 * (0.3 * (clients - 23.4)).exp()).min(1.0));
            trial.offered_per_s = None;
            trial
        });
        assert!(trials.iter().all(|it| it.value >= 1.0 && it.value.fract() == 0.0));
        assert!((capacity.estimate.unwrap() - 23.4).abs() < 0.7, "{:?}", capacity.estimate);
        assert!((20.0..=23.0).contains(&capacity.sustained.unwrap()), "{:?}", capacity.sustained);
    }

    /// All four attempts are made, and each fails.
    #[test]
    fn value_that_is_overloaded_in_every_attempt_is_not_confirmed() {
        let capacity = found(|request| match request.phase {
            Phase::Confirm(_) => Trial { errors: 3, ..regular(request) },
            _ => regular(request),
        });
        assert_eq!(capacity.sustained, None);
        check(&capacity, |it| matches!(it, Irregular::NotConfirmed { .. }));
        let last = |it: &&super::super::result::JudgedTrial| it.phase == Phase::Confirm(4);
        assert!(capacity.trials.iter().any(|it| last(&it)), "{capacity:?}");
    }

    /// At 765/s, 0.91 % of the requests are slow, which is too near to the allowed 1 % to pass.
    #[test]
    fn largest_value_near_the_boundary_is_not_said_to_pass() {
        for seed in 1..=8 {
            let order = CapacityOrder { highest: Some(765.0), ..order() };
            let (capacity, _) = run(&order, |it| noisy(it, it.value, queue(it.value), seed));
            let passes = |why: &Irregular| matches!(why, Irregular::NeverFails { .. });
            assert!(!capacity.irregular.iter().any(passes), "{seed}: {capacity:?}");
            assert!(capacity.sustained > Some(0.9 * QUEUE), "{seed}: {capacity:?}");
        }
    }

    /// Returns the result and the trials of a search for the number of clients. Up to `most`
    /// clients meet the condition; with one more, it is missed by far.
    fn few_clients(most: f64, highest: f64, seed: u64) -> (Capacity, Vec<Trial>) {
        let vary = VariedLoad::Concurrency { job: "read".to_owned() };
        let (first, highest, seed_of_order) = (1.0, Some(highest), base::Seed(seed));
        let order = CapacityOrder { vary, first, highest, seed: seed_of_order, ..order() };
        run(&order, |request| {
            let beyond = request.value - most;
            let share = if beyond > 0.0 { 0.03 * beyond } else { 0.002 };
            let per_s = 200.0 * request.value.min(most);
            Trial { offered_per_s: None, ..noisy(request, per_s, share.min(1.0), seed) }
        })
    }

    #[test]
    fn boundary_between_two_numbers_of_clients_is_found() {
        for (most, seed) in (1..=4).flat_map(|most| (1..=8).map(move |seed| (most, seed))) {
            let most = f64::from(most);
            let (capacity, _) = few_clients(most, 512.0, seed);
            let found = (capacity.sustained, capacity.fails, capacity.irregular.as_slice());
            assert_eq!(
                found,
                (Some(most), Some(most + 1.0), &[][..]),
                "{most} {seed}: {capacity:?}"
            );
        }
    }

    /// No larger value is tried: the workload has no connection for more clients, and `highest` may
    /// be a limit of the server.
    #[test]
    fn no_trial_exceeds_the_largest_value() {
        let (capacity, trials) = few_clients(3.0, 4.0, 1);
        assert!(trials.iter().all(|it| it.value <= 4.0), "{trials:?}");
        assert_eq!((capacity.sustained, capacity.fails), (Some(3.0), Some(4.0)));
        for highest in [780.0, 765.432_1, 640.0] {
            let order = CapacityOrder { highest: Some(highest), ..order() };
            let (capacity, trials) = run(&order, regular);
            let largest = trials.iter().map(|it| it.value).fold(0.0, f64::max);
            assert!(largest == highest, "{largest} {highest}");
            assert!(capacity.sustained.is_some(), "{capacity:?}");
        }
    }

    #[test]
    fn lower_bound_that_the_result_misses_is_named() {
        let mut order = order();
        order.conditions.push(throughput_above(900.0));
        let (capacity, _) = run(&order, |request| {
            let mut trial = regular(request);
            trial.measures.push(Measure::Value { value: request.value, standard_error: None });
            trial
        });
        assert_eq!(capacity.irregular, [Irregular::Unmet { condition: 1 }]);
        assert_eq!(capacity.binding, Some(0));
    }
}
