//! A calibration as tables for people. The JSON document is in the crate `lab`, because it is also
//! the stored form.

use std::path::Path;

use base::Nanos;
use lab::calibrate::{Calibration, CalibrationResult, Floor, Quantiles, title};
use report::Style;

use crate::findings::{table, table_within};

/// Returns the tables. The last line names the file in which the result is stored, or says that it
/// is not stored.
pub(crate) fn text(
    calibrated: &CalibrationResult,
    target: Option<&str>,
    file: Option<&Path>,
    style: &Style,
) -> String {
    let CalibrationResult { calibration, target: floor } = calibrated;
    let mut floors = vec![FLOOR_HEAD.map(str::to_owned)];
    if let (Some(url), Some(floor)) = (target, floor) {
        floors.push(floor_row(url, floor));
    }
    let routes = calibration.routes.iter();
    floors.extend(routes.map(|figures| floor_row(title(figures.route), &figures.floor)));
    let kept = match file {
        Some(file) => format!("kept in {}: later runs on this machine refer to it", file.display()),
        None => "nothing was kept".to_owned(),
    };
    let floors = table_within(style, &floors, &[0], &OMITTED);
    let parts =
        [floors, ceilings(calibration), clock_and_timer(calibration), busy_warning(calibration)];
    parts.into_iter().filter(|part| !part.is_empty()).map(|part| part + "\n").collect::<String>()
        + &kept
        + "\n"
}

/// The p99 of timer lateness above which the machine was busy: the limit of a run's check
/// `send-lag`.
const LATENESS_LIMIT: Nanos = Nanos::from_micros(200);

/// Returns a warning if the machine was busy during the calibration.
fn busy_warning(calibration: &Calibration) -> String {
    match calibration.timer.quantiles.p99 > LATENESS_LIMIT {
        false => String::new(),
        true => "the machine was busy, and the figures are worse than its best: sleeps ended more \
                 than 200 µs late at\np99; calibrate again when it is idle\n"
            .to_owned(),
    }
}

const FLOOR_HEAD: [&str; 8] = [
    "floor: an empty statement",
    "requests",
    "response p50",
    "p99",
    "p99.9",
    "service p50",
    "p99",
    "p99.9",
];

/// The columns that are omitted on a narrow terminal, in this order.
const OMITTED: [usize; 4] = [1, 4, 7, 5];

fn floor_row(name: &str, floor: &Floor) -> [String; 8] {
    let [response, service] = [floor.response, floor.service].map(quantiles);
    let [response_p50, response_p99, response_p99_9] = response;
    let [service_p50, service_p99, service_p99_9] = service;
    let count = floor.count.to_string();
    [
        name.to_owned(),
        count,
        response_p50,
        response_p99,
        response_p99_9,
        service_p50,
        service_p99,
        service_p99_9,
    ]
}

fn quantiles(quantiles: Quantiles) -> [String; 3] {
    [quantiles.p50, quantiles.p99, quantiles.p99_9].map(us)
}

fn us(time: Nanos) -> String {
    format!("{:.2} µs", time.0 as f64 / 1e3)
}

/// Returns the table of ceilings: the throughput of one thread.
fn ceilings(calibration: &Calibration) -> String {
    let head = ["ceiling: one thread", "connections", "per second"];
    let mut rows = vec![head.map(str::to_owned)];
    for figures in &calibration.routes {
        for ceiling in &figures.ceilings {
            let connections = ceiling.connections.to_string();
            let per_s = format!("{:.0}", ceiling.per_s);
            rows.push([title(figures.route).to_owned(), connections, per_s]);
        }
    }
    table(&rows, &[0])
}

/// Returns the table of clock, timer and hand-off.
fn clock_and_timer(calibration: &Calibration) -> String {
    let (clock, timer) = (calibration.clock, calibration.timer);
    let [late_p50, late_p99, late_p99_9] = quantiles(timer.quantiles);
    let hand_off = calibration.hand_off;
    let row = |name: &str, value: String| [name.to_owned(), value];
    let rows = [
        row("clock, a reading", format!("{:.1} ns", clock.cost_ns)),
        row("clock, the smallest step seen", format!("{} ns", clock.resolution.0)),
        row(
            "timer, lateness of sleeps of 1 ms",
            format!("p50 {late_p50}, p99 {late_p99}, p99.9 {late_p99_9}, max {}", us(timer.max)),
        ),
        row(
            "hand-off to a thread of SQLite and back",
            format!(
                "p50 {}, p99 {}, mean {}",
                us(hand_off.p50),
                us(hand_off.p99),
                us(hand_off.mean)
            ),
        ),
    ];
    table(&rows, &[0, 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Target;
    use lab::calibrate::{Ceiling, ClockFigures, HandOff, Lateness, Machine, RouteFigures, SCHEMA};

    fn calibrated(late: Nanos) -> CalibrationResult {
        let quantiles = |p50| Quantiles { p50, p99: late, p99_9: late };
        let times = quantiles(Nanos::from_micros(21));
        let floor = Floor { count: 20_000, response: times, service: times };
        let ceilings = vec![Ceiling { connections: 16, per_s: 61_234.5 }];
        let figures = RouteFigures { route: analyze::Route::Postgres, floor, ceilings };
        let calibration = Calibration {
            assay: "0.1.0".to_owned(),
            taken: "2026-11-21T20:15:02Z".to_owned(),
            is_quick: false,
            machine: Machine::of(&[]),
            clock: ClockFigures { cost_ns: 24.5, resolution: Nanos(20) },
            timer: Lateness { count: 1_000, quantiles: times, max: late },
            routes: vec![figures],
            hand_off: HandOff { p50: late, p99: late, mean: late },
        };
        CalibrationResult { calibration, target: Some(floor) }
    }

    #[test]
    fn calibration_tables_contain_every_figure() {
        let unbroken = Style { width: usize::MAX, ..Style::PLAIN };
        let text = text(&calibrated(Nanos::from_micros(199)), Some("sqlite:"), None, &unbroken);
        for words in ["sqlite:", "20000  ", "21.00 µs", "61234", "24.5 ns", "nothing was kept"] {
            assert!(text.contains(words), "`{words}` is not in:\n{text}");
        }
        assert!(!text.contains("busy"), "{text}");
    }

    #[test]
    fn busy_machine_is_reported() {
        let file = Some(Path::new("/s/c.json"));
        let text = text(&calibrated(Nanos::from_micros(201)), None, file, &Style::PLAIN);
        assert!(text.contains("the machine was busy"), "{text}");
        assert!(text.ends_with("\nkept in /s/c.json: later runs on this machine refer to it\n"));
    }

    #[test]
    fn the_document_has_no_password() {
        let target = Target::parse("postgres://ann:hunter2@h/d").unwrap().to_string();
        let document = calibrated(Nanos(1)).document(Some(&target), None);
        assert_eq!(document["schema"], SCHEMA);
        assert!(!document.to_string().contains("hunter2"), "{document}");
    }
}
