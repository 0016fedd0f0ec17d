//! Tests of the figures of experiments.

use analyze::compare::{Missing, RunVerdict};
use analyze::curve::{FittedValue, Peak, PointSummary, Ranking, Unusable, Usl};
use analyze::{CheckKind, Component, Status};

use workload::question::{Bet, CpuOwner};

use super::super::capacity::tests::search;
use super::super::fixtures::{comparison, experiment, sweep};
use super::super::sweep::SweepView;
use super::super::view::ExperimentView;
use super::experiment_figures;
use super::subject::Subject;
use super::sweep::figures_of;
use crate::figure::{Figure, Mark, Point, Stroke, Swatch, Symbol};

const POINTS: [(&str, f64, f64); 3] = [("1", 100.0, 2.0), ("2", 190.0, 3.0), ("4", 180.0, 4.0)];

fn figures_of_sweep(sweep: &SweepView) -> Vec<Figure> {
    let names = ["plain", "tls"];
    let names = if sweep.curves.len() == 1 { vec![""] } else { names.to_vec() };
    figures_of(&Subject { sweep, names })
}

fn symbols(figure: &Figure, wanted: Symbol) -> Vec<Point> {
    let of = |mark: &Mark| match mark {
        Mark::Symbols { symbol, points, .. } if *symbol == wanted => points.clone(),
        _ => Vec::new(),
    };
    figure.marks.iter().flat_map(of).collect()
}

fn dots(figure: &Figure) -> usize {
    let of = |mark: &Mark| match mark {
        Mark::Dots { points, .. } => points.len(),
        _ => 0,
    };
    figure.marks.iter().map(of).sum()
}

#[test]
fn every_caption_is_one_sentence() {
    let mut compared = comparison(-0.1);
    let changes = &mut compared.arms[0].changes;
    changes[0].bets.push((Bet::parse("throughput(read) +50% .. +250%").unwrap(), None));
    let first = changes[0].clone();
    changes.extend(vec![first; 30]);
    let mut at_points = sweep(&POINTS, 2);
    at_points.comparisons = vec![compared.clone(); POINTS.len()];
    let views = [
        experiment(),
        ExperimentView { comparison: Some(compared), ..experiment() },
        ExperimentView { sweep: Some(sweep(&POINTS, 1)), ..experiment() },
        ExperimentView { sweep: Some(sweep(&POINTS[..1], 1)), ..experiment() },
        ExperimentView { sweep: Some(at_points), ..experiment() },
        ExperimentView { capacity: Some(search()), ..experiment() },
    ];
    let figures: Vec<Figure> = views.iter().flat_map(experiment_figures).collect();
    for figure in &figures {
        let text = figure.sentence();
        assert!(text.ends_with('.') && !text.contains(". "), "{}: {text}", figure.name);
    }
    let effects = figures.iter().find(|it| it.name == "effects" && it.missing.is_none()).unwrap();
    let clauses = ["; a bet is held", "; an arrow leads beyond the axis: ", "are in the tables."];
    assert!(clauses.iter().all(|words| effects.caption.contains(words)), "{}", effects.caption);
}

#[test]
fn lines_of_arms_differ_in_print_and_an_arm_keeps_its_stroke() {
    let arms = |figure: &Figure| {
        let lines = figure.legend.iter().filter_map(|entry| match entry.swatch {
            Swatch::Line(stroke) => Some((entry.text.clone(), stroke)),
            _ => None,
        });
        lines.collect::<Vec<(String, Stroke)>>()
    };
    let figures = figures_of_sweep(&sweep(&POINTS, 2));
    let throughput = arms(&figures[0]);
    assert_eq!(
        throughput[..2],
        [("plain".to_owned(), Stroke::Solid), ("tls".to_owned(), Stroke::Dashed)]
    );
    for figure in &figures {
        let lines = arms(figure);
        for (place, (name, stroke)) in lines.iter().enumerate() {
            assert!(
                lines[..place].iter().all(|(_, it)| it != stroke),
                "{}: {lines:?}",
                figure.name
            );
            let same = throughput.iter().find(|(known, _)| known == name);
            assert!(same.is_none_or(|(_, known)| known == stroke), "{}: {name}", figure.name);
        }
    }
}

#[test]
fn every_run_is_a_dot_and_the_best_point_and_its_ties_are_marked() {
    let figures = figures_of_sweep(&sweep(&POINTS, 1));
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["throughput", "response", "cpu.database"]);
    let throughput = &figures[0];
    assert_eq!(dots(throughput), 3 * 2);
    let best = symbols(throughput, Symbol::Ring);
    assert!(best.len() == 1 && (best[0].y - 190.0).abs() < 1e-9, "{best:?}");
    let ties = symbols(throughput, Symbol::Square);
    assert!(ties.len() == 1 && (ties[0].y - 180.0).abs() < 1e-9, "{ties:?}");
    assert!(symbols(throughput, Symbol::Cross).is_empty());
    assert_eq!(throughput.caption, "The highest mean is 190/s at 2, not separated from 4.");
}

#[test]
fn seconds_of_runs_are_specks_around_their_point_in_the_order_of_time() {
    let mut sweep = sweep(&POINTS, 1);
    let seconds = vec![vec![100.0, 0.0, 250.0], vec![90.0]];
    sweep.curves[0].points[0].jobs[0].over_time_per_s = seconds;
    let specks = |figure: &Figure| {
        let of = |mark: &Mark| match mark {
            Mark::Specks { points, .. } => Some(points.clone()),
            _ => None,
        };
        figure.marks.iter().find_map(of)
    };
    let figures = figures_of_sweep(&sweep);
    let points = specks(&figures[0]).unwrap();
    let heights: Vec<f64> = points.iter().map(|point| point.y).collect();
    assert_eq!(heights, [100.0, 0.0, 250.0, 90.0, 190.0, 190.0, 180.0, 180.0]);
    assert!(figures[0].y.to >= 250.0 && points[0].x < 1.0 && points[2].x > 1.0, "{points:?}");
    assert!(points[0].x < points[1].x && points[1].x < points[2].x, "{points:?}");
    assert!(figures[0].legend.iter().any(|entry| entry.text == "a second of a run"));
    assert_eq!(specks(&figures[1]), None, "a second has too few requests for a p99");
    // The number of dots in a figure is bounded.
    for point in &mut sweep.curves[0].points {
        point.jobs[0].over_time_per_s = vec![vec![1.0; 120]; 40];
    }
    let many = specks(&figures_of_sweep(&sweep)[0]).unwrap().len();
    assert!((3_000..=4_800).contains(&many), "{many}");
}

#[test]
fn legend_names_the_part_of_a_run_that_a_small_dot_stands_for() {
    let mut sweep = sweep(&POINTS, 1);
    for (parts_s, expected) in [
        ([1.0, 1.0], "a second of a run"),
        ([5.0, 5.0], "5 s of a run"),
        ([3.0, 5.0], "3–5 s of a run"),
    ] {
        for point in &mut sweep.curves[0].points {
            point.jobs[0].parts_s = parts_s.to_vec();
        }
        let legend = &figures_of_sweep(&sweep)[0].legend;
        assert!(legend.iter().any(|entry| entry.text == expected), "{expected}: {legend:?}");
    }
}

/// Withholds the response times of a point.
fn overload(sweep: &mut SweepView, point: usize) {
    let times = &mut sweep.curves[0].points[point].jobs[0].response_ms;
    let exceeds = Unusable::Missing(Missing::ExceedsCapacity);
    times.iter_mut().for_each(|(_, mean)| *mean = Err(exceeds));
}

#[test]
fn caption_names_the_points_that_complete_the_offered_load() {
    let points =
        [("1", 3_000.0, 9.0), ("2", 5_000.0, 5.36), ("4", 7_994.0, 2.06), ("8", 7_994.0, 4.0)];
    let mut sweep = sweep(&points, 1);
    for point in &mut sweep.curves[0].points {
        point.jobs[0].offered_per_s = Some(8_000.0);
    }
    overload(&mut sweep, 0);
    let figures = figures_of_sweep(&sweep);
    assert_eq!(
        figures[0].caption,
        "read completes all 8,000/s that are offered at 4 to 8; less at 2; the load exceeds the \
         capacity at 1."
    );
    assert_eq!(
        figures[1].caption,
        "p99 goes from 5.36 ms at 2 to 4.00 ms at 8, lowest 2.06 ms at 4; the load exceeds the \
         capacity at 1."
    );
    (0..4).for_each(|point| overload(&mut sweep, point));
    let caption = &figures_of_sweep(&sweep)[0].caption;
    assert!(caption.starts_with("read nowhere completes all 8,000/s that are"), "{caption}");
    sweep.curves[0].points[1].jobs[0].offered_per_s = Some(9_000.0);
    overload(&mut sweep, 1);
    let caption = &figures_of_sweep(&sweep)[0].caption;
    assert!(caption.starts_with("read nowhere completes all that is offered"), "{caption}");
}

#[test]
fn equal_means_without_intervals_are_ties() {
    let mut sweep = sweep(&[("1", 99.99, 2.0), ("2", 99.98, 2.0), ("4", 80.0, 2.0)], 1);
    for point in &mut sweep.curves[0].points {
        point.jobs[0].completed_per_s.as_mut().unwrap().interval = None;
    }
    let caption = &figures_of_sweep(&sweep)[0].caption;
    assert_eq!(caption, "The highest mean is 100/s at 1, not separated from 2.");
}

#[test]
fn caption_of_a_single_point_describes_no_trend() {
    let mut sweep = SweepView { best: None, ..sweep(&POINTS[..1], 1) };
    sweep.curves[0].best = None;
    let figures = figures_of_sweep(&sweep);
    assert_eq!(figures[0].caption, "The highest mean is 100/s at 1.");
    assert_eq!(figures[1].caption, "p99 is 2.00 ms at 1.");
    for figure in &figures {
        let text = crate::svg::svg(figure);
        assert!(
            figure.missing.is_none() && !text.contains("NaN") && !text.contains("inf"),
            "{text}"
        );
    }
}

#[test]
fn unproven_points_are_not_ties() {
    let mut sweep = sweep(&POINTS, 1);
    let best = sweep.curves[0].best.as_mut().unwrap();
    best.others.iter_mut().for_each(|other| other.ranking = Ranking::Unproven);
    assert!(symbols(&figures_of_sweep(&sweep)[0], Symbol::Square).is_empty());
}

#[test]
fn invalid_point_is_crossed_out() {
    let mut sweep = sweep(&POINTS, 1);
    let invalid = RunVerdict::new([(CheckKind::Errors, Status::Invalid)]);
    sweep.curves[0].points[2].verdicts[0] = invalid.clone();
    let figures = figures_of_sweep(&sweep);
    let crosses: Vec<f64> = symbols(&figures[0], Symbol::Cross).iter().map(|it| it.y).collect();
    assert_eq!(crosses, [171.0, 180.0], "the run and the mean");
    assert!(figures[0].legend.iter().any(|entry| entry.text == "a run is INVALID"));
    sweep.curves[0].points[1].verdicts[0] = invalid.clone();
    let words = "; a run is INVALID at 2, 4 (errors).";
    let caption = format!("The highest mean is 100/s at 1{words}");
    assert_eq!(figures_of_sweep(&sweep)[0].caption, caption);
    sweep.curves[0].points[0].verdicts[0] = invalid;
    let words = "; a run is INVALID at every point (errors).";
    let caption = format!("Every point has an INVALID run{words}");
    assert_eq!(figures_of_sweep(&sweep)[0].caption, caption);
}

#[test]
fn suspect_runs_of_a_sweep_are_struck_through_in_every_figure_of_runs() {
    let mut sweep = sweep(&POINTS, 2);
    let is_doubtful = |figure: &Figure| figure.legend.iter().any(|it| it.text.contains("SUSPECT"));
    assert!(!figures_of_sweep(&sweep).iter().any(is_doubtful), "all runs are VALID");
    let suspect = |kind| RunVerdict::new([(kind, Status::Suspect)]);
    sweep.curves[1].points[0].verdicts[1] = suspect(CheckKind::Drift);
    sweep.curves[1].points[2].verdicts[0] = suspect(CheckKind::SendLag);
    let figures = figures_of_sweep(&sweep);
    for (figure, heights) in figures.iter().zip([[105.0, 171.0], [2.1e6, 3.8e6]]) {
        let struck: Vec<f64> =
            symbols(figure, Symbol::Slash).iter().map(|it| it.y.round()).collect();
        assert_eq!(struck, heights, "{}", figure.name);
        assert!(is_doubtful(figure), "{:?}", figure.legend);
        let text = crate::svg::svg(figure);
        assert!(text.contains("a run is SUSPECT</text>"), "{text}");
    }
    let words = "; a run is SUSPECT at 1, 4 (send-lag, drift).";
    assert!(figures[0].caption.ends_with(words), "{}", figures[0].caption);
    assert!(symbols(&figures[0], Symbol::Cross).is_empty());
    let points = sweep.curves.iter_mut().flat_map(|curve| &mut curve.points);
    points.for_each(|point| point.verdicts.fill(suspect(CheckKind::Stall)));
    let caption = &figures_of_sweep(&sweep)[0].caption;
    assert!(caption.ends_with("; every run is SUSPECT (stall)."), "{caption}");
}

#[test]
fn overload_lies_beyond_the_axis_and_is_named() {
    let points = [POINTS[0], POINTS[1], POINTS[2], ("8", 150.0, 4_000.0)];
    let response = &figures_of_sweep(&sweep(&points, 1))[1];
    assert!(response.y.to < 10e6, "{:?}", response.y);
    assert_eq!(symbols(response, Symbol::Triangle).len(), 3, "one of each quantile");
    assert!(response.caption.contains("beyond the axis: 8 (4.00 s)"), "{}", response.caption);
    let calm = &figures_of_sweep(&sweep(&POINTS, 1))[1];
    assert!(symbols(calm, Symbol::Triangle).is_empty() && !calm.caption.contains("beyond"));
}

#[test]
fn arms_are_series_of_one_figure_for_each_quantile() {
    let figures = figures_of_sweep(&sweep(&POINTS, 2));
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(
        names,
        ["throughput", "response.p99", "response.p95", "response.p50", "cpu.database"]
    );
    let legend: Vec<&str> = figures[0].legend.iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!(legend[..2], ["plain", "tls"]);
    assert_eq!(symbols(&figures[0], Symbol::Ring).len(), 2);
    assert!(figures[4].caption.ends_with("from left to right: plain, tls."), "{:?}", figures[4]);
}

#[test]
fn predicted_peak_has_a_rule_and_an_extrapolation_says_so() {
    let fitted = |estimate| FittedValue { estimate, interval: None };
    let law = |clients| Usl {
        lambda: fitted(100.0),
        sigma: fitted(0.02),
        kappa: fitted(0.01),
        peak: Peak::At { clients: fitted(clients), throughput: fitted(190.0) },
        deviation: 0.01,
        largest: 4.0,
        unusable: Vec::new(),
    };
    let mut sweep = sweep(&POINTS, 1);
    let mut check = |clients, is_drawn: bool, words: &str| {
        sweep.curves[0].usl = Some(Ok(law(clients)));
        let figure = &figures_of_sweep(&sweep)[0];
        let has_rule = figure.marks.iter().any(|mark| matches!(mark, Mark::Rule { .. }));
        assert_eq!(has_rule, is_drawn, "{clients}");
        assert!(figure.caption.ends_with(words), "{}", figure.caption);
    };
    check(3.0, true, "has its peak at 3 clients.");
    check(7.0, true, "has its peak at 7 clients, an extrapolation.");
    check(70.0, false, "beyond the figure: an extrapolation.");
}

#[test]
fn parts_of_processor_time_stand_on_each_other_up_to_the_whole() {
    let figures = figures_of_sweep(&sweep(&POINTS, 1));
    let bars = |mark: &Mark| match mark {
        Mark::Bars { bars, .. } => (bars[0].low, bars[0].high),
        other => panic!("{other:?}"),
    };
    let parts: Vec<(f64, f64)> = figures[2].marks.iter().map(bars).collect();
    assert_eq!(parts, [(0.0, 0.5), (0.5, 0.75), (0.75, 1.0)]);
    assert_eq!(figures[2].caption, "At most 75 % of 2 processors busy, at 4.");
}

#[test]
fn quota_below_one_processor_is_not_rounded_to_none() {
    let mut sweep = sweep(&POINTS, 1);
    let points = &mut sweep.curves[0].points;
    points.iter_mut().for_each(|point| point.cpu[0].processors = 0.4);
    assert_eq!(figures_of_sweep(&sweep)[2].caption, "At most 75 % of 0.4 processors busy, at 4.");
}

#[test]
fn points_without_numbers_are_in_slots_and_gaps_are_named() {
    let points = [("off", 100.0, 2.0), ("on", 190.0, 3.0)];
    let mut sweep = sweep(&points, 1);
    sweep.curves[0].best = None;
    sweep.curves[0].points[0].jobs[0].completed_per_s = Err(Unusable::Invalid);
    let figure = &figures_of_sweep(&sweep)[0];
    let ticks: Vec<&str> = figure.x.ticks.iter().map(|tick| tick.label.as_str()).collect();
    assert_eq!(ticks, ["off", "on"]);
    assert_eq!(figure.caption, "The highest mean is 190/s at on; there is none at off.");
}

#[test]
fn sweep_without_results_says_why_its_figures_are_empty() {
    let mut sweep = SweepView { best: None, ..sweep(&POINTS, 1) };
    for point in &mut sweep.curves[0].points {
        *point = PointSummary {
            verdicts: Vec::new(),
            jobs: Vec::new(),
            cpu: Vec::new(),
            ..point.clone()
        };
    }
    let figures = figures_of_sweep(&sweep);
    assert!(figures.iter().all(|figure| figure.missing.is_some()), "{figures:?}");
}

#[test]
fn limiters_of_a_sweep_are_shown_by_the_processor_time_of_their_component() {
    for (component, owner) in [
        (Component::DatabaseCpu, CpuOwner::Database),
        (Component::Proxy, CpuOwner::Proxy),
        (Component::GeneratorThread, CpuOwner::Generator),
    ] {
        let name = format!("cpu.{}", owner.name());
        assert_eq!(super::figure_with_evidence(component), Some(name.as_str()));
    }
}
