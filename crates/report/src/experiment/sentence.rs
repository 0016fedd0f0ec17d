//! Sentences about the changes of metrics.

use analyze::compare::{
    BetOutcome, ChangeInterval, Compared, Conclusion, Incomparable, MetricChange, Missing,
    NotCompared, SampleSize,
};
use base::units::grouped;
use workload::question::{Bet, RunMetric, Scale};

use crate::number::{count, fixed, significant, trimmed};

/// Returns the name of an arm or a group as code, because a name such as `rarely` could be read as
/// a word of the sentence. A name that code cannot contain is returned unchanged. Labels and cells
/// of tables do not mark names as code.
pub(super) fn name_as_code(name: &str) -> String {
    match name.contains('`') || name.trim() != name || name.is_empty() {
        true => name.to_owned(),
        false => format!("`{name}`"),
    }
}

/// Returns the answer about a metric, for example that an arm lowers throughput by 16.2 % (95 % CI
/// 14.9 … 17.5 %, 12 interleaved pairs). It begins with a capital letter, or with the unchanged
/// name of an arm or a metric.
pub(super) fn answer(arm: &str, baseline: &str, change: &MetricChange) -> String {
    let (arm, baseline) = (name_as_code(arm), name_as_code(baseline));
    let (metric, alpha) = (&change.metric, change.alpha);
    let compared = match &change.compared {
        Ok(compared) => compared,
        Err(reason) => {
            let reason = not_compared(*reason);
            return format!("{metric} is not compared: {reason} ({arm} against {baseline})");
        }
    };
    let scale = metric.quantity.scale();
    let size = compared.values.size();
    let runs = runs(size);
    let between = compared
        .interval
        .map(|interval| format!("{} CI {}, {runs}", level(alpha), range(interval, scale)));
    let between = between.unwrap_or_else(|| runs.clone());
    match compared.conclusion {
        Conclusion::Better | Conclusion::Worse => {
            let verb = if compared.change < 0.0 { "lowers" } else { "raises" };
            let size = percent(compared.change.abs(), scale);
            let sizes = compared.interval.map(|interval| {
                format!("{} CI {}, ", level(alpha), sizes(interval, compared.change, scale))
            });
            format!("{arm} {verb} {metric} by {size} ({}{runs})", sizes.unwrap_or_default())
        }
        Conclusion::Equivalent => {
            // A change can be equivalent although its interval excludes zero, so the sentence names
            // the bound.
            let within = declared_size(2.0 * change.delta, scale);
            format!("{arm} and {baseline} are equivalent within {within} in {metric} ({between})")
        }
        Conclusion::Undecided { more_pairs } => {
            let more = match size {
                SampleSize::Pairs(_) => {
                    let delta = declared_size(change.delta, scale);
                    pairs_to_decide(
                        more_pairs,
                        &format!("show whether it changes by {delta} or more"),
                    )
                }
                SampleSize::Groups(_) => "more runs may decide".to_owned(),
            };
            format!("No claim about {metric} of {arm} ({between}); {more}")
        }
        Conclusion::NoScatter if compared.change == 0.0 => {
            format!("No claim about {metric} of {arm}: it is the same in all runs ({between})")
        }
        Conclusion::NoScatter => {
            let size = signed(compared.change, scale);
            format!("No claim about {metric} of {arm}: all runs differ by {size} ({between})")
        }
        Conclusion::SingleRun => {
            let size = signed(compared.change, scale);
            format!("No claim about {metric} of {arm}: {size}, and a single run has no scatter")
        }
    }
}

/// Returns the number of runs: `12 interleaved pairs`, `5 and 6 runs, not interleaved`.
pub(super) fn runs(size: SampleSize) -> String {
    match size {
        SampleSize::Pairs(pairs) => count(pairs.into(), "interleaved pair"),
        SampleSize::Groups(runs) => {
            let [baseline, arm] = runs.map(|runs| grouped(runs.into()));
            format!("{baseline} and {arm} runs, not interleaved")
        }
    }
}

/// Returns a bet with its outcome, and the reason if it is not decided: `throughput(read) -5% ..
/// -15%: held`.
pub(super) fn bet(bet: &Bet, outcome: Option<BetOutcome>, change: &MetricChange) -> String {
    let compared = change.compared.as_ref().ok().filter(|compared| compared.interval.is_some());
    let outcome = match (outcome, compared) {
        (Some(BetOutcome::Undecided { .. }), None) => format!("undecided: {NO_SCATTER}"),
        (Some(BetOutcome::Undecided { more_pairs }), Some(compared)) => {
            let end = nearest_end(bet, compared.change);
            let more = pairs_to_decide(more_pairs, "show on which side the change lies");
            format!("undecided: the interval contains {end}; {more}")
        }
        (Some(outcome), _) => outcome.name().to_owned(),
        (None, _) => match &change.compared {
            Err(reason) => format!("not judged: {}", not_compared(*reason)),
            Ok(_) => "not judged".to_owned(),
        },
    };
    format!("{bet}: {outcome}")
}

/// Reason why runs without scatter decide nothing.
pub(super) const NO_SCATTER: &str = "the runs do not scatter, so there is no interval";

/// Returns the end of a bet's range that is nearest to the change. The closer the change is to this
/// end, the more pairs are needed to decide the bet.
fn nearest_end(bet: &Bet, change: f64) -> String {
    let scale = bet.metric.quantity.scale();
    // The distance is measured on the scale on which the number of pairs was forecast.
    let place = |change: f64| match scale {
        Scale::Ratio => change.ln_1p(),
        Scale::Difference => change,
    };
    let distance = |end: f64| (place(end) - place(change)).abs();
    let (low, high) = (bet.range.low(), bet.range.high());
    let nearest = if distance(low) <= distance(high) { low } else { high };
    let sign = if nearest < 0.0 { "−" } else { "+" };
    format!("{sign}{}", declared_size(nearest.abs(), scale))
}

/// Returns a size that a file declares, without trailing zeros: `5 %`, `0.2 points`.
pub(super) fn declared_size(size: f64, scale: Scale) -> String {
    format!("{}{}", trimmed(&significant(size * 100.0)), unit(scale))
}

/// Returns the number of further pairs that would be enough for an aim: `about 9 more pairs would
/// show on which side the change lies`.
fn pairs_to_decide(pairs: Option<u32>, aim: &str) -> String {
    match pairs {
        Some(pairs) => format!("about {} would {aim}", count(pairs.into(), "more pair")),
        None => format!("no realistic number of pairs would {aim}"),
    }
}

/// Returns the reason why a metric is not compared.
pub(super) fn not_compared(reason: NotCompared) -> String {
    match reason {
        NotCompared::Incomparable(Incomparable::TooFew { has, needs }) => {
            format!("{} where {needs} are needed", count(has.into(), "value"))
        }
        NotCompared::Incomparable(Incomparable::NotPositive) => {
            "a value is 0 and has no ratio to another".to_owned()
        }
        NotCompared::OtherData => "the arms have other data, which is not declared".to_owned(),
        NotCompared::OtherDurability => {
            "the durability of commits differs between the arms, which is not declared".to_owned()
        }
        NotCompared::InvalidRuns => "runs of the arm or its baseline are INVALID".to_owned(),
        NotCompared::Missing(Missing::NotMeasured) => "it was not measured".to_owned(),
        NotCompared::Missing(Missing::OfferedRate) => "it is the rate that is offered".to_owned(),
        NotCompared::Missing(Missing::ExceedsCapacity) => {
            "the load exceeds the capacity".to_owned()
        }
        NotCompared::Missing(Missing::Ambiguous) => "several jobs or tables have it".to_owned(),
    }
}

/// Returns the confidence of an interval, such as `95 %` or `98.3 %`; with more decimals if one
/// decimal would round it to 100 %.
pub(super) fn level(alpha: f64) -> String {
    let rounded = |digits: i32| {
        let scale = 10_f64.powi(digits);
        ((1.0 - alpha) * 100.0 * scale).round() / scale
    };
    let percent = (1..MOST_DIGITS).map(rounded).find(|percent| *percent < 100.0);
    format!("{} %", percent.unwrap_or_else(|| rounded(MOST_DIGITS)))
}

/// Maximum number of decimals of a confidence.
const MOST_DIGITS: i32 = 6;

/// Returns an interval with signs: `−1.2 … +0.4 %`.
pub(crate) fn range(interval: ChangeInterval, scale: Scale) -> String {
    let low = signed(interval.low, scale);
    let high = signed(interval.high, scale);
    let unit = unit(scale);
    format!("{} … {high}", low.trim_end_matches(unit))
}

/// Smallest change, as a fraction, from which an interval has a shorter form: a factor of ten.
const WIDE_CHANGE: f64 = 9.0;

/// Returns a shorter form of an interval, if it has one: large ratios as factors (`×123 … ×126` for
/// `+12,204 … +12,543 %`), and differences without their unit, which is already next to the change.
pub(super) fn short_range(interval: ChangeInterval, scale: Scale) -> Option<String> {
    let factor = |change: f64| format!("×{}", significant(1.0 + change));
    match scale {
        Scale::Ratio if interval.high < WIDE_CHANGE => None,
        Scale::Ratio => Some(format!("{} … {}", factor(interval.low), factor(interval.high))),
        Scale::Difference => Some(range(interval, scale).trim_end_matches(unit(scale)).to_owned()),
    }
}

/// Returns an interval of sizes, the smaller first: `14.9 … 17.5 %`.
pub(super) fn sizes(interval: ChangeInterval, change: f64, scale: Scale) -> String {
    let ends = match change < 0.0 {
        true => (-interval.high, -interval.low),
        false => (interval.low, interval.high),
    };
    let unit = unit(scale);
    format!("{} … {}", percent(ends.0, scale).trim_end_matches(unit), percent(ends.1, scale))
}

/// Returns a change with its sign: `+4.1 %`.
pub(crate) fn signed(change: f64, scale: Scale) -> String {
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{}", percent(change.abs(), scale))
}

/// Returns a size in percent or in percentage points: without decimals from 100 on, with one
/// decimal from 10, two from 0.1, and three below.
pub(super) fn percent(size: f64, scale: Scale) -> String {
    let percent = size * 100.0;
    let digits = match percent.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.0995 => 2,
        _ => 3,
    };
    format!("{}{}", fixed(percent, digits), unit(scale))
}

/// Returns the unit of a change: percent, or percentage points if metrics are compared by
/// difference.
fn unit(scale: Scale) -> &'static str {
    match scale {
        Scale::Ratio => " %",
        Scale::Difference => " points",
    }
}

/// Returns the mean values of a metric for the baseline and the arm, formatted by `format`, which
/// gets a value and its unit.
pub(super) fn values(
    compared: &Compared,
    metric: &RunMetric,
    format: fn(f64, &str) -> String,
) -> [String; 2] {
    means(compared, metric).map(|mean| format(mean, metric.quantity.unit()))
}

/// Returns the mean values of a metric for the baseline and the arm, in the unit of the metric. A
/// metric that is compared by ratio has geometric means, whose ratio is the reported change.
pub(super) fn means(compared: &Compared, metric: &RunMetric) -> [f64; 2] {
    match metric.quantity.scale() {
        Scale::Ratio => compared.values.sides().map(|values| geometric_mean(values.into_iter())),
        Scale::Difference => compared.means,
    }
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (n, sum) = values.fold((0.0, 0.0), |(n, sum), value| (n + 1.0, sum + value.ln()));
    (sum / n).exp()
}

/// Returns the value of a metric in its unit.
pub(crate) fn value(value: f64, unit: &str) -> String {
    match unit {
        "" => crate::number::percent(value),
        "bytes" => crate::number::bytes(value.max(0.0).round() as u64),
        "clients" if value == 1.0 => "1 client".to_owned(),
        "clients" => format!("{} clients", crate::number::plain(value)),
        unit => format!("{} {unit}", significant(value)),
    }
}

/// Returns the value of a metric in its unit, short enough for a table on a screen: `1,003/s`.
pub(super) fn short_value(value: f64, unit: &str) -> String {
    match unit {
        "requests/s" | "rows/s" => crate::number::rate(value),
        unit => self::value(value, unit),
    }
}

/// Returns the value of a metric without its unit, for a place that names the unit. Bytes and
/// shares keep their unit.
pub(super) fn bare_value(value: f64, unit: &str) -> String {
    match unit {
        "" | "bytes" => self::value(value, unit),
        "requests/s" | "rows/s" => crate::number::plain(value),
        _ => significant(value),
    }
}

#[cfg(test)]
mod tests {
    use analyze::compare::{Pair, PairOrder, SampleValues};

    use super::*;

    #[test]
    fn values_of_pairs_have_the_ratio_that_is_the_change() {
        let pair = |baseline, arm| Pair { baseline, arm, order: PairOrder::ArmFirst };
        // The arithmetic means fall although the change within pairs is positive.
        let compared = Compared {
            values: SampleValues::Pairs(vec![pair(100.0, 120.0), pair(1_000.0, 850.0)]),
            means: [550.0, 485.0],
            change: 0.0099,
            interval: None,
            hodges_lehmann: 0.0099,
            spread: None,
            order_effect: None,
            conclusion: Conclusion::NoScatter,
        };
        let metric = RunMetric::parse("rows(read)").unwrap();
        assert_eq!(values(&compared, &metric, value), ["316 rows/s", "319 rows/s"]);
        let failed = RunMetric::parse("failed(read)").unwrap();
        assert_eq!(values(&compared, &failed, value), ["55,000 %", "48,500 %"]);
    }

    #[test]
    fn values_have_a_form_for_each_place() {
        for (number, unit, long, short, bare) in [
            (7_402.3, "requests/s", "7,402 requests/s", "7,402/s", "7,402"),
            (1.334, "ms", "1.33 ms", "1.33 ms", "1.33"),
            (0.0123, "", "1.23 %", "1.23 %", "1.23 %"),
            (175e6, "bytes", "175 MB", "175 MB", "175 MB"),
        ] {
            assert_eq!(value(number, unit), long);
            assert_eq!(short_value(number, unit), short);
            assert_eq!(bare_value(number, unit), bare);
        }
    }

    #[test]
    fn names_are_code_in_sentences_unless_code_cannot_contain_them() {
        for (name, expected) in [
            ("rarely", "`rarely`"),
            ("pr-?.assay", "`pr-?.assay`"),
            ("two words", "`two words`"),
            ("a`b", "a`b"),
            (" x", " x"),
            ("", ""),
        ] {
            assert_eq!(name_as_code(name), expected);
        }
    }

    #[test]
    fn numbers_of_clients_are_whole_if_they_can_be() {
        let shown = [1.0, 10.0, 10.5].map(|clients| value(clients, "clients"));
        assert_eq!(shown, ["1 client", "10 clients", "10.5 clients"]);
    }

    #[test]
    fn equal_runs_are_named_as_such_and_leave_a_bet_undecided() {
        let pair = Pair { baseline: 0.0, arm: 0.0, order: PairOrder::ArmFirst };
        let compared = Compared {
            values: SampleValues::Pairs(vec![pair; 6]),
            means: [0.0; 2],
            change: 0.0,
            interval: None,
            hodges_lehmann: 0.0,
            spread: Some(0.0),
            order_effect: None,
            conclusion: Conclusion::NoScatter,
        };
        let bet_on = Bet::parse("failed(read) +0% .. +10%").unwrap();
        let undecided = BetOutcome::Undecided { more_pairs: None };
        let change = MetricChange {
            metric: RunMetric::parse("failed(read)").unwrap(),
            is_exploratory: false,
            alpha: 0.05,
            delta: 0.001,
            compared: Ok(compared),
            bets: Vec::new(),
        };
        assert_eq!(
            answer("tls", "plain", &change),
            "No claim about failed(read) of `tls`: it is the same in all runs (6 interleaved pairs)"
        );
        assert_eq!(
            bet(&bet_on, Some(undecided), &change),
            "failed(read) +0% .. +10%: undecided: the runs do not scatter, so there is no interval"
        );
    }

    #[test]
    fn equivalence_names_the_size_within_which_it_holds() {
        let pair = Pair { baseline: 1.0, arm: 1.045, order: PairOrder::ArmFirst };
        let compared = Compared {
            values: SampleValues::Pairs(vec![pair; 8]),
            means: [1.0, 1.045],
            change: 0.045,
            interval: Some(ChangeInterval { low: 0.0256, high: 0.065 }),
            hodges_lehmann: 0.045,
            spread: Some(0.02),
            order_effect: None,
            conclusion: Conclusion::Equivalent,
        };
        let change = MetricChange {
            metric: RunMetric::parse("response.p50(read)").unwrap(),
            is_exploratory: false,
            alpha: 0.05,
            delta: 0.05,
            compared: Ok(compared),
            bets: Vec::new(),
        };
        assert_eq!(
            answer("tls", "plain", &change),
            "`tls` and `plain` are equivalent within 10 % in response.p50(read) (95 % CI +2.56 \
             … +6.50 %, 8 interleaved pairs)"
        );
    }

    #[test]
    fn smallest_change_of_a_share_is_in_percentage_points() {
        let words = |conclusion| {
            let mut measured = super::super::fixtures::comparison(0.0003).arms.remove(0);
            let mut change = measured.changes.remove(0);
            change.metric = RunMetric::parse("failed(read)").unwrap();
            change.delta = 0.001;
            change.compared.as_mut().unwrap().conclusion = conclusion;
            answer("tls", "plain", &change)
        };
        assert_eq!(
            words(Conclusion::Equivalent),
            "`tls` and `plain` are equivalent within 0.2 points in failed(read) (95 % CI −0.27 … \
             +0.33 points, 6 interleaved pairs)"
        );
        let undecided = words(Conclusion::Undecided { more_pairs: Some(9) });
        let aim = "about 9 more pairs would show whether it changes by 0.1 points or more";
        assert!(undecided.ends_with(aim), "{undecided}");
    }

    #[test]
    fn incomparable_values_are_explained() {
        let check = |reason, expected: &str| {
            assert_eq!(not_compared(NotCompared::Incomparable(reason)), expected);
        };
        check(Incomparable::TooFew { has: 3, needs: 4 }, "3 values where 4 are needed");
        check(Incomparable::TooFew { has: 1, needs: 4 }, "1 value where 4 are needed");
        check(Incomparable::NotPositive, "a value is 0 and has no ratio to another");
    }

    #[test]
    fn large_changes_are_grouped_and_sizes_have_their_unit() {
        assert_eq!(signed(20.67, Scale::Ratio), "+2,067 %");
        assert_eq!(pairs_to_decide(Some(1_750), "decide"), "about 1,750 more pairs would decide");
        assert_eq!(pairs_to_decide(Some(1), "decide"), "about 1 more pair would decide");
        assert_eq!(runs(SampleSize::Groups([1_200, 8])), "1,200 and 8 runs, not interleaved");
        assert_eq!(runs(SampleSize::Pairs(1)), "1 interleaved pair");
        assert_eq!(value(175_046_656.0, "bytes"), "175 MB");
    }

    #[test]
    fn intervals_are_written_with_their_signs_or_as_sizes() {
        let interval = ChangeInterval { low: -0.175, high: -0.149 };
        assert_eq!(range(interval, Scale::Ratio), "−17.5 … −14.9 %");
        assert_eq!(sizes(interval, -0.162, Scale::Ratio), "14.9 … 17.5 %");
        let interval = ChangeInterval { low: -0.004, high: 0.029 };
        assert_eq!(range(interval, Scale::Ratio), "−0.40 … +2.90 %");
        assert_eq!(range(interval, Scale::Difference), "−0.40 … +2.90 points");
        let large = ChangeInterval { low: 122.04, high: 125.43 };
        assert_eq!(short_range(large, Scale::Ratio).as_deref(), Some("×123 … ×126"));
        assert_eq!(short_range(interval, Scale::Difference).as_deref(), Some("−0.40 … +2.90"));
        assert_eq!(short_range(ChangeInterval { low: 1.0, high: 8.9 }, Scale::Ratio), None);
    }

    #[test]
    fn no_interval_has_a_confidence_of_100_percent() {
        let levels = [0.05, 0.05 / 3.0, 0.05 / 6.0, 0.05 / 180.0, 0.05 / 6_000.0].map(level);
        assert_eq!(levels, ["95 %", "98.3 %", "99.2 %", "99.97 %", "99.999 %"]);
    }

    #[test]
    fn metric_that_is_not_compared_names_the_arm() {
        let mut change = super::super::fixtures::comparison(-0.1).arms.remove(0).changes.remove(0);
        change.refuse(NotCompared::Missing(Missing::ExceedsCapacity));
        let words = "throughput(read) is not compared: the load exceeds the capacity (`tls` \
                     against `plain`)";
        assert_eq!(answer("tls", "plain", &change), words);
    }

    /// The number of pairs follows from the distance to the nearest end of a bet's range. That
    /// distance may be small although the change is large.
    #[test]
    fn undecided_bet_names_the_end_of_its_range_that_is_nearest() {
        let undecided = Some(BetOutcome::Undecided { more_pairs: Some(917) });
        let check = |on: &str, change: f64, end: &str| {
            let mut measured = super::super::fixtures::comparison(change).arms.remove(0);
            let measured = measured.changes.remove(0);
            let on = Bet::parse(on).unwrap();
            let expected = format!(
                "{on}: undecided: the interval contains {end}; about 917 more pairs would show on \
                 which side the change lies"
            );
            assert_eq!(bet(&on, undecided, &measured), expected);
        };
        check("throughput -20% .. +200%", -0.19, "−20 %");
        check("throughput -20% .. +200%", 1.9, "+200 %");
        check("throughput +200% .. -2.5%", 0.0, "−2.5 %");
        // The ratios 0.5 and 2 are equally far from 1.
        check("throughput -50% .. +110%", 0.0, "−50 %");
        check("failed -1% .. +0.2%", 0.0, "+0.2 points");
    }

    #[test]
    fn bet_without_scatter_says_so() {
        let mut change = super::super::fixtures::comparison(-0.1).arms.remove(0).changes.remove(0);
        let on = Bet::parse("throughput -5% .. -25%").unwrap();
        let undecided = Some(BetOutcome::Undecided { more_pairs: None });
        let words = "throughput -5% .. -25%: undecided: ";
        let nearest = "the interval contains −5 %; no realistic number of pairs would show on \
                       which side the change lies";
        assert_eq!(bet(&on, undecided, &change), format!("{words}{nearest}"));
        change.compared.as_mut().unwrap().interval = None;
        assert_eq!(bet(&on, undecided, &change), format!("{words}{NO_SCATTER}"));
    }
}
