//! Tests of experiments on simulated machines that become slower or faster during the experiment.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::experiment_faults::{SIMULATED, SLOWER, VIRTUAL, place};
use crate::support::TestFolder;

/// An A/A experiment: its two arms are equal.
const EQUAL: &str =
    "[question]\nask = What?\nworkload = w.ini\nrounds = 12\ndesign = aa\n[arm same]\n";

/// Experiments on a simulated machine: one with equal arms, and one whose second arm has a service
/// time that is longer by 30 %.
struct Experiments {
    place: TestFolder,
    equal: Value,
    slower: Value,
}

impl Experiments {
    /// Runs both experiments on a server, with this statement.
    fn run_on(server: &str, statement: &str) -> Experiments {
        let workload = SIMULATED.replace("sim:mm1?service=1ms", server);
        let place = place(&workload.replace("select 1", statement), EQUAL);
        let json = ["--json", "--quiet"];
        let equal = place.assay(&[&VIRTUAL[..], &json].concat()).expect(0).json();
        let slower = SLOWER.replace("1.2ms", "1.3ms").replace("-5% .. -25%", "-10% .. -40%");
        place.write("slower.ini", slower);
        let run = ["run", "slower.ini", "--virtual", "--out", "s.assay"];
        let slower = place.assay(&[&run[..], &json].concat()).expect(0).json();
        Experiments { place, equal, slower }
    }

    /// Checks that no change is claimed for the equal arms, and that the true change is found for
    /// the slower arm.
    #[track_caller]
    fn assert_conclusions_are_correct(&self) {
        let same = &self.equal["comparison"][0];
        assert!(same["verdict"] != "better" && same["verdict"] != "worse", "{same}");
        let change = &self.slower["comparison"][0];
        let end = |place: usize| change["interval_percent"][place].as_f64().unwrap();
        let truth = -100.0 * (1.0 - 1.0 / 1.3);
        assert!(end(0) < truth && truth < end(1), "{change}");
        assert_eq!(change["verdict"], "worse", "{change}");
        self.assert_says("r.assay", &self.equal, |answer| {
            !answer.contains(" lowers ") && !answer.contains(" raises ")
        });
        self.assert_says("s.assay", &self.slower, |answer| {
            answer.starts_with("`slow` lowers throughput(read) by 2")
        });
    }

    /// Checks the first sentence of an answer, in the document and in the text. Virtual time has no
    /// canary, so the answer says nothing about the machine.
    #[track_caller]
    fn assert_says(&self, record: &str, document: &Value, is_right: impl Fn(&str) -> bool) {
        let answer = document["answer"][0].as_str().unwrap();
        assert!(is_right(answer), "{answer}");
        let text = self.place.assay(&["report", record, "--full"]).expect(0).stdout_line();
        assert!(text.starts_with(answer), "{answer}: {text}");
        assert_eq!(document["machine_changes"], json!([]));
        assert!(!text.contains("the machine "), "{text}");
    }

    /// Checks that both orders of the arms occur: otherwise a drift in one direction would favour
    /// the first arm.
    #[track_caller]
    fn assert_both_orders_occur(&self) {
        let first = "sum(position = 0 and arm = 'same')";
        let rounds = self.query_throughputs(first);
        assert!((2.0..=10.0).contains(&rounds), "same runs first in {rounds} of 12 rounds");
    }

    /// Checks that the interval of the slower arm is narrower than any interval that a comparison
    /// of the arms as two groups could give: within a group, the drift counts as scatter.
    #[track_caller]
    fn assert_pairs_exclude_the_drift(&self) {
        let logarithm = |end: &Value| (end.as_f64().unwrap() / 100.0).ln_1p();
        let interval = &self.slower["comparison"][0]["interval_percent"];
        let half_width = (logarithm(&interval[1]) - logarithm(&interval[0])) / 2.0;
        let record = Connection::open(self.place.at("s.assay")).unwrap();
        let squared_error = |arm: &str| {
            let query = "select value from figure join run using (run) \
                         where metric = 'throughput' and arm = ?";
            let mut select = record.prepare(query).unwrap();
            let values = select.query_map([arm], |row| row.get::<_, f64>(0)).unwrap();
            let values: Vec<f64> = values.map(|value| value.unwrap().ln()).collect();
            let runs = values.len() as f64;
            let mean = values.iter().sum::<f64>() / runs;
            let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            squares / (runs - 1.0) / runs
        };
        let of_groups = (squared_error("fast") + squared_error("slow")).sqrt();
        // Student's t for two groups of at most 20 runs is above 2.
        assert!(half_width < 2.0 * of_groups, "{half_width} {of_groups}");
    }

    /// Returns the value of an SQL expression over the throughputs of the equal arms.
    fn query_throughputs(&self, what: &str) -> f64 {
        let record = Connection::open(self.place.at("r.assay")).unwrap();
        let query =
            format!("select {what} from figure join run using (run) where metric = 'throughput'");
        record.query_row(&query, [], |row| row.get(0)).unwrap()
    }
}

/// The machine becomes slower or faster by some 20 % in every part of the experiment. Such a drift
/// has no direction, so it cancels within pairs in any order of the arms, but not between two
/// groups.
#[test]
fn drift_of_the_machine_is_not_a_difference_between_the_arms() {
    let experiments = Experiments::run_on("sim:mm1?service=1ms&drift=0.2", "select 1");
    experiments.assert_conclusions_are_correct();
    experiments.assert_both_orders_occur();
    experiments.assert_pairs_exclude_the_drift();
    // The drift has an effect: the runs of one arm differ by more than the randomness of runs of
    // two seconds explains.
    let spread = experiments.query_throughputs("max(value) / min(value)");
    assert!(spread > 1.2, "{spread}");
}

/// Each run is 4 % slower than the one before, so the second run of a round is always the slower
/// one. The order of a round is random for a workload that reads; for one that writes, the effect
/// of the order is removed.
#[test]
fn machine_that_becomes_ever_slower_is_not_a_difference_between_the_arms() {
    for statement in ["select 1", "insert into t values (1)"] {
        let server = "sim:md1?service=1ms&noise=0.005&trend=0.04";
        let experiments = Experiments::run_on(server, statement);
        experiments.assert_conclusions_are_correct();
        // Each round is slower than the one before.
        let in_round = |round: u32, of: &str| {
            let sql = format!("{of}(case when round = {round} then value end)");
            experiments.query_throughputs(&sql)
        };
        for round in 1..12 {
            assert!(in_round(round - 1, "min") > in_round(round, "max"), "{round}");
        }
    }
}
