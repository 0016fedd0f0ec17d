//! The `calibration.*` settings in the record of a run.
//!
//! Every name is always present; without a calibration, its value is unknown.

use analyze::{Figures, Route};
use base::Nanos;
use record::environment::calibration::{
    ASSAY, CLOCK_COST, CLOCK_RESOLUTION, SQLITE_HAND_OFF, TAKEN, TIMER_MAX, TIMER_P50, TIMER_P99,
};
use record::environment::{UNKNOWN, calibration_of_server, known};

use super::figures::{Calibration, Quantiles};

/// Returns the settings for a run on a machine with this calibration.
pub(crate) fn facts_of(calibration: Option<&Calibration>) -> Vec<(String, String)> {
    let mut facts = FactList { calibration, facts: Vec::new() };
    facts.add(TAKEN, |c| Some(c.taken.clone()));
    facts.add(ASSAY, |c| Some(c.assay.clone()));
    facts.add(CLOCK_COST, |c| Some(format!("{:.1}", c.clock.cost_ns)));
    facts.add(CLOCK_RESOLUTION, |c| Some(c.clock.resolution.0.to_string()));
    facts.add(TIMER_P50, |c| Some(us(c.timer.quantiles.p50)));
    facts.add(TIMER_P99, |c| Some(us(c.timer.quantiles.p99)));
    facts.add(TIMER_MAX, |c| Some(us(c.timer.max)));
    for route in Route::ALL {
        let response = |quantile: fn(&Quantiles) -> Nanos| {
            move |c: &Calibration| Some(us(quantile(&c.of(route)?.floor.response)))
        };
        let mut add = |name: &str, value: &dyn Fn(&Calibration) -> Option<String>| {
            facts.add(&calibration_of_server(route.name(), name), value);
        };
        add("response_p50_us", &response(|q| q.p50));
        add("response_p99_us", &response(|q| q.p99));
        add("response_p99_9_us", &response(|q| q.p99_9));
        add(SERVICE_P50, &|c| Some(us(c.of(route)?.floor.service.p50)));
        add(PER_S, &|c| Some(format!("{:.0}", c.of(route)?.max_per_s())));
    }
    facts.add(SQLITE_HAND_OFF, |c| Some(us(c.hand_off.mean)));
    facts.facts
}

const SERVICE_P50: &str = "service_p50_us";
const PER_S: &str = "per_s";

struct FactList<'a> {
    calibration: Option<&'a Calibration>,
    facts: Vec<(String, String)>,
}

impl FactList<'_> {
    fn add(&mut self, name: &str, value: impl Fn(&Calibration) -> Option<String>) {
        let value = self.calibration.and_then(value).unwrap_or_else(|| UNKNOWN.to_owned());
        self.facts.push((name.to_owned(), value));
    }
}

fn us(time: Nanos) -> String {
    format!("{:.3}", time.0 as f64 / 1e3)
}

/// Reads the calibration to which a run refers from the settings of the run's record; returns
/// `None` if there was no calibration.
pub(crate) fn read(settings: &[(String, String)]) -> Option<analyze::Calibration> {
    known(settings, TAKEN)?;
    let number = |name: &str| {
        let number = known(settings, name)?.parse::<f64>().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number)
    };
    let figures = |route: Route| Figures {
        service_p50_ns: number(&calibration_of_server(route.name(), SERVICE_P50))
            .map(|us| us * 1e3),
        per_s: number(&calibration_of_server(route.name(), PER_S)),
    };
    Some(analyze::Calibration {
        clock_cost_ns: number(CLOCK_COST),
        clock_resolution_ns: number(CLOCK_RESOLUTION),
        routes: Route::ALL.map(|route| (route, figures(route))).to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::example::calibration;

    #[test]
    fn calibration_facts_are_read_back() {
        let facts = facts_of(Some(&calibration()));
        let found = read(&facts).unwrap();
        assert_eq!((found.clock_cost_ns, found.clock_resolution_ns), (Some(24.5), Some(20.0)));
        let postgres = found.of(Route::Postgres);
        assert_eq!((postgres.service_p50_ns, postgres.per_s), (Some(25e3), Some(60_124.0)));
        assert_eq!(known(&facts, "calibration.null.response_p99_9_us"), Some("150.000"));
        assert_eq!(known(&facts, "calibration.sqlite.hand_off_us"), Some("15.000"));
    }

    #[test]
    fn missing_calibration_has_unknown_settings() {
        let facts = facts_of(None);
        let names = |facts: &[(String, String)]| -> Vec<String> {
            facts.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&facts), names(&facts_of(Some(&calibration()))));
        assert!(facts.iter().all(|(_, value)| value == UNKNOWN), "{facts:?}");
        assert_eq!(read(&facts), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn invalid_calibration_setting_is_unknown() {
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let odd = [
            setting("calibration.taken", "yesterday"),
            setting("calibration.clock.cost_ns", "NaN"),
            setting("calibration.mysql.per_s", "-1"),
        ];
        let found = read(&odd).unwrap();
        assert_eq!((found.clock_cost_ns, found.of(Route::Mysql).per_s), (None, None));
    }
}
