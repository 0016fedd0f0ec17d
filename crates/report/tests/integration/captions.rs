//! The captions of response times over time.

use analyze::{Distribution, TimeColumn, TimeCourse};
use base::Nanos;
use record::Kind;

use crate::cases;
use crate::support::histogram;

/// Returns the caption of a run with ten seconds of warm-up, with these response times in the parts
/// that begin at these seconds.
fn caption(parts: &[(u64, &[Nanos])]) -> String {
    let view = cases::open().view();
    let column = |(from, times): &(u64, &[Nanos])| {
        let response = Distribution::of(&histogram(Kind::Response, times.iter().copied()));
        TimeColumn {
            steps: *from as usize..*from as usize + 1,
            from: Nanos::from_secs(*from),
            to: Nanos::from_secs(from + 1),
            service: response.clone(),
            response,
            wait_mean_ns: None,
            send_lag_mean_ns: None,
            classes: Vec::new(),
            errors: Vec::new(),
        }
    };
    let courses = [TimeCourse { columns: parts.iter().map(column).collect() }];
    let figures = report::figures(&view, &courses);
    let figure = figures.iter().find(|figure| figure.name == "response.read");
    figure.unwrap().sentence().to_owned()
}

#[test]
fn slowest_request_of_the_warm_up_is_named_as_such() {
    let [short, long] = [Nanos::from_millis(1), Nanos::from_millis(9)];
    let after = caption(&[(3, &[short]), (20, &[long])]);
    assert!(after.contains("; the slowest, 9.00 ms, was due at about 20 s; "), "{after}");
    let during = caption(&[(3, &[long]), (20, &[short])]);
    let words = "; the slowest, 9.00 ms, was due at about 3 s, in the warm-up; ";
    assert!(during.contains(words), "{during}");
}

#[test]
fn single_request_has_no_half() {
    let one = caption(&[(20, &[Nanos::from_millis(9)])]);
    assert_eq!(one, "The only response time is 9.00 ms, of a request that was due at about 20 s.");
}
