//! Tests of comparisons in which the server of one arm is cut off: before the first run, between
//! two runs of a late round, and within a run.

use std::fs;
use std::path::PathBuf;

use base::Nanos;
use sim::{Config, Service};
use testbed::wire_server::{Simulation, WireServer};
use testbed::{Direction, Kind, Relay};

use crate::experiment_end::{assert_ended, assert_exhausted};
use crate::experiment_faults::{content_of_runs, lost_rows, record_content};
use crate::support::{CommandResult, Running, TestFolder, number, wait_until};

/// Rounds of the comparison.
const ROUNDS: usize = 8;

/// A program that runs before each run of an arm. It waits until the test releases it, or until the
/// test ends and its folder is removed.
pub(crate) const HOLD: &str = "touch held && while [ -e held ]; do sleep 0.01; done\n";

const OUT: [&str; 2] = ["--out", "r.assay"];
const RESUME: [&str; 2] = ["--resume", "r.assay"];

/// A comparison of two simulated servers that speak PostgreSQL's protocol. The connection to the
/// far server can be cut.
struct Comparison {
    place: TestFolder,
    relay: Relay,
    /// The servers, which run until they are dropped.
    _servers: [WireServer; 2],
}

impl Comparison {
    /// Creates a comparison whose requests spend their time in the servers, so a busy machine
    /// delays few of them.
    fn new() -> Comparison {
        let start = || {
            let config = Config::new(Service::Constant(Nanos::from_millis(20)), None);
            let simulation = Simulation { config, ..Simulation::at_once(Kind::Postgres) };
            WireServer::start(simulation).unwrap()
        };
        let servers = [start(), start()];
        let relay = Relay::start(servers[1].address()).unwrap();
        let place = TestFolder::with(&format!(
            "url = postgres://ann@{}/shop\nduration = 250ms\n[read]\nquery = select 1\n\
             concurrency = 1\n[observe]\ndatabase = no\n",
            servers[0].address()
        ));
        let arms = format!(
            "[arm near]\n[arm far]\nurl = postgres://ann@{}/shop\nbefore-command = sh hold.sh\n",
            relay.address()
        );
        let question = format!(
            "[question]\nask = Which is nearer?\nworkload = w.ini\nrounds = {ROUNDS}\n\
             differences = several\n"
        );
        place.write("e.ini", format!("{question}{arms}"));
        place.write("hold.sh", HOLD);
        Comparison { place, relay, _servers: servers }
    }

    fn start(&self, record: [&str; 2]) -> Running {
        self.place.start(&["run", "e.ini", "--allow-commands", record[0], record[1]])
    }

    fn record(&self) -> PathBuf {
        self.place.at("r.assay")
    }

    /// Returns the number of rounds in which both arms have a run that counts.
    fn complete_rounds(&self) -> usize {
        let complete = "select count(*) from (select round from run where state = 'counts' \
                        group by round having count(*) = 2)";
        number(&self.record(), complete).try_into().unwrap()
    }

    /// Waits until this many rounds are complete, and the next run of the far arm is held before
    /// its start. Returns `None` if the load generator or the machine failed before, which happens
    /// on a busy machine.
    fn hold_after(&self, run: &mut Running, rounds: usize) -> Option<()> {
        self.hold(run)?;
        while self.complete_rounds() < rounds {
            self.release();
            self.hold(run)?;
        }
        Some(())
    }

    /// Waits until the next run of the far arm is held before its start.
    fn hold(&self, run: &mut Running) -> Option<()> {
        let is_held = || self.place.at("held").exists();
        wait_until("the next run of the far arm", || is_held() || !run.is_running());
        if is_held() {
            return Some(());
        }
        assert_exhausted(&self.place.assay(&["report", "r.assay", "--json"]).expect(3).json());
        None
    }

    /// Lets the held run begin.
    fn release(&self) {
        fs::remove_file(self.place.at("held")).unwrap();
    }

    /// Lets runs of the far arm end until this many rounds are complete, and returns the number of
    /// bytes that the far arm received in its last run.
    fn bytes_of_a_run(&self, run: &mut Running, rounds: usize) -> Option<u64> {
        loop {
            let before = self.relay.bytes_passed(Direction::ToClient);
            self.release();
            self.hold(run)?;
            if self.complete_rounds() == rounds {
                return Some(self.relay.bytes_passed(Direction::ToClient) - before);
            }
        }
    }

    /// Lets a run of the far arm begin, and cuts its server off after this many bytes.
    fn lose_after(&self, run: &mut Running, bytes: u64) {
        let passed = || self.relay.bytes_passed(Direction::ToClient);
        let until = passed() + bytes;
        self.release();
        let is_over = |run: &mut Running| self.place.at("held").exists() || !run.is_running();
        wait_until("the bytes of a part of a run", || passed() >= until || is_over(run));
        self.lose();
    }

    /// Cuts off the server of the far arm.
    fn lose(&self) {
        self.relay.refuse_connections();
        self.relay.cut();
    }

    /// Ends the experiment by letting all of its runs begin.
    fn wait_for_end(&self, mut run: Running) -> CommandResult {
        wait_until("the end", || {
            if self.place.at("held").exists() {
                self.release();
            }
            !run.is_running()
        });
        run.wait_for_end()
    }

    /// Checks that an experiment ended because the far server was lost in a round, and that its
    /// message names the round, the arm and the server.
    #[track_caller]
    fn assert_lost(&self, ran: &CommandResult, round: usize, how: &str) {
        let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let error = format!("error: [arm far]: in round {round}, the target ");
        let (_, error) = said.split_once(&error).unwrap_or_else(|| panic!("{}", ran.stderr));
        let server = self.relay.address().to_string();
        for words in [how, &server, "continue with --resume r.assay"] {
            assert!(error.contains(words), "`{words}`: {}", ran.stderr);
        }
        assert!(ran.stdout.contains("No answer: the experiment was interrupted"), "{}", ran.stdout);
    }
}

#[test]
fn server_that_is_away_at_the_start_is_named_with_its_arm_and_leaves_no_record() {
    let comparison = Comparison::new();
    comparison.lose();
    let run = comparison.start(OUT);
    let ran = comparison.wait_for_end(run).expect(4);
    let server = comparison.relay.address().to_string();
    for words in ["[arm far]: ", &server] {
        assert!(ran.stderr.contains(words), "`{words}`: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("--resume") && ran.stdout.is_empty(), "{ran:?}");
    assert_eq!(comparison.place.names(), ["e.ini", "hold.sh", "w.ini"]);
}

/// Expects the runs before the loss to be kept, and no round to be lost. On a machine with other
/// work the load generator may fail; the comparison is then repeated.
#[test]
fn server_that_is_lost_from_round_7_of_8_on_keeps_the_runs_before_and_loses_no_round() {
    let is_seen = (0..10).any(|_| lose_from_round_7_on().is_some());
    assert!(is_seen, "the load generator or the machine failed in every comparison");
}

/// Cuts the far server off before its run of round 7, and again during its run of round 8. Returns
/// `None` if the load generator or the machine failed before.
fn lose_from_round_7_on() -> Option<()> {
    let comparison = Comparison::new();
    let record = comparison.record();
    let mut run = comparison.start(OUT);
    comparison.hold_after(&mut run, 6)?;
    let before = record_content(&record);
    comparison.lose();
    let ran = comparison.wait_for_end(run).expect(4);
    comparison.assert_lost(&ran, 7, "does not answer");
    assert_eq!(comparison.complete_rounds(), 6);
    assert_eq!(lost_rows(&before, &record_content(&record)), Vec::<&String>::new());
    let last = number(&record, "select max(run) from run where round < 6");
    let kept = content_of_runs(&record, last);
    // The far server is still unreachable. Depending on the order of the arms, the continuation
    // first repeats the run of the near arm.
    let run = comparison.start(RESUME);
    let ran = comparison.wait_for_end(run).expect(4);
    assert!(ran.stderr.contains("[arm far]: "), "{}", ran.stderr);
    assert_eq!(comparison.complete_rounds(), 6);
    assert_eq!(content_of_runs(&record, last), kept);
    // The far server is reachable again, and lost again within a run of the last round.
    comparison.relay.accept_connections();
    let mut run = comparison.start(RESUME);
    comparison.hold_after(&mut run, 6)?;
    let of_a_run = comparison.bytes_of_a_run(&mut run, 7)?;
    let before = record_content(&record);
    // Two thirds of the bytes come before the first of some twelve requests.
    comparison.lose_after(&mut run, of_a_run * 7 / 8);
    let ran = comparison.wait_for_end(run).expect(4);
    comparison.assert_lost(&ran, 8, "was lost during a run");
    assert_eq!(comparison.complete_rounds(), 7);
    assert_eq!(lost_rows(&before, &record_content(&record)), Vec::<&String>::new());
    let cut = "select count(*) from run where arm = 'far' and round = 7 and state = 'abandoned'";
    assert_eq!(number(&record, cut), 1);
    // The far server stays reachable from now on.
    comparison.relay.accept_connections();
    let run = comparison.start(RESUME);
    let ran = comparison.wait_for_end(run);
    let document = assert_ended(&comparison.place, &ran, ROUNDS);
    assert_eq!(content_of_runs(&record, last), kept);
    if document["state"] == "complete" {
        assert_eq!(comparison.complete_rounds(), ROUNDS);
        assert_eq!(document["comparison"][0]["pairs"], ROUNDS, "{document}");
    }
    assert!(!comparison.place.at("r.assay-run").exists());
    Some(())
}
