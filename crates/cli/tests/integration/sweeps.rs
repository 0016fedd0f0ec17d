//! Tests of sweeps: the runs of every point, and the answer that follows from them.

use std::net::TcpListener;

use base::Nanos;
use nix::sys::signal::Signal;
use serde_json::Value;
use sim::{Config, Service};
use testbed::wire_server::{Simulation, WireServer};
use testbed::{Direction, Kind, Relay};

use crate::example::assert_matches_schema;
use crate::experiment_faults::without_notes;
use crate::support::{CommandResult, Running, TestFolder, number, wait_until};

/// A server whose throughput has its peak at √((1 − 0.02)/0.004) = 15.7 clients.
const USL: &str = "sim:usl?service=1ms&contention=0.02&coherency=0.004";

fn place(workload: &str, experiment: &str) -> TestFolder {
    let place = TestFolder::new();
    place.write("read.ini", workload);
    let question = "[question]\nask = How many clients are best?\nworkload = read.ini\n";
    place.write("sweep.ini", format!("{question}{experiment}"));
    place
}

fn closed(url: &str) -> String {
    format!("url = {url}\nduration = 5s\nwarmup = 1s\n[read]\nquery = select 1\nconcurrency = 1\n")
}

fn run(place: &TestFolder, more: &[&str]) -> CommandResult {
    let args = ["run", "sweep.ini", "--virtual", "--out", "r.assay"];
    place.assay(&[&args, more].concat())
}

fn document(ran: CommandResult) -> Value {
    let document = ran.json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    document
}

fn point<'d>(document: &'d Value, arm: &str, value: &str) -> &'d Value {
    let points = document["sweep"].as_array().unwrap();
    let found = points.iter().find(|point| point["arm"] == arm && point["value"] == value);
    found.unwrap_or_else(|| panic!("{arm} {value}: {document:#}"))
}

const CLIENTS: &str = "[sweep]\nvary = concurrency(read): 1..64 x2\n\
                       best = highest throughput(read)\n";

#[test]
fn best_number_of_clients_agrees_with_the_server() {
    let place = place(&closed(USL), CLIENTS);
    let document = document(run(&place, &["--json"]).expect(0));
    let best = &document["best"];
    assert_eq!((&best["value"], &best["by"]), (&"16".into(), &"highest throughput(read)".into()));
    // X(N) = N/ms / (1 + 0.02 (N − 1) + 0.004 N (N − 1)).
    for (value, clients) in [("1", 1.0), ("8", 8.0), ("16", 16.0), ("64", 64.0)] {
        let expected =
            1e3 * clients / (1.0 + 0.02 * (clients - 1.0) + 0.004 * clients * (clients - 1.0));
        let found = point(&document, "workload", value)["throughput_per_s"].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 0.05, "{value}: {found} {expected}");
    }
    let usl = &document["usl"];
    let near = |key: &str, expected: f64| {
        let found = usl[key]["estimate"].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 0.1, "{key}: {found} {expected}");
    };
    near("kappa", 0.004);
    near("peak_clients", 15.65);
    near("lambda_per_s", 1e3);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 7 * 3);
    assert!(runs.iter().all(|run| run["phase"] == "sweep" && run["point"].is_string()));
}

/// The universal scalability law gives 7,080 requests per second with 16 clients, 5,865 with 8 and
/// 5,727 with 32.
#[test]
fn gain_of_the_best_point_is_over_the_next_best_one() {
    let sweep = "[sweep]\nvary = concurrency(read): 8, 16, 32\nrepeats = 6\n\
                 best = highest throughput(read)\n";
    let place = place(&closed(&format!("{USL}&noise=0.01")), sweep);
    let document = document(run(&place, &["--json"]).expect(0));
    let gain = &document["best"]["gain"];
    assert_eq!(gain["against"], "8", "{gain}");
    let [low, high] = [0, 1].map(|end| gain["interval_percent"][end].as_f64().unwrap());
    let change = gain["change_percent"].as_f64().unwrap();
    assert!(low < change && change < high && low < 20.7 && 20.7 < high, "{gain}");
    let answer = place.assay(&["report", "r.assay"]).expect(0).stdout_line();
    let words = " % above concurrency(read) = 8, the next best (95 % CI ";
    assert!(answer.contains(words), "{answer}");
}

#[test]
fn points_run_in_another_order_in_each_repeat() {
    let place = place(&closed(USL), CLIENTS);
    let document = document(run(&place, &["--json"]).expect(0));
    let runs = document["runs"].as_array().unwrap();
    let order = |round: u64| -> Vec<&str> {
        let own = runs.iter().filter(|run| run["round"] == round);
        own.map(|run| run["point"].as_str().unwrap()).collect()
    };
    let orders = [order(0), order(1), order(2)];
    assert!(orders.iter().all(|order| order.len() == 7));
    assert!(orders[0] != orders[1] && orders[1] != orders[2], "{orders:?}");
    let mut sorted = orders.clone();
    sorted.iter_mut().for_each(|order| order.sort_unstable());
    assert_eq!(sorted[0], sorted[1]);
}

#[test]
fn report_gives_the_answer_of_the_run() {
    let place = place(&closed(USL), CLIENTS);
    let ran = run(&place, &["--full"]).expect(0);
    let (answer, _) = ran.stdout.split_once("\nchecks\n").unwrap();
    for line in answer.lines().filter(|line| line.starts_with("  ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let words =
        ["concurrency(read) = 16: highest throughput(read), ", "peak", "model", "best", "VALID"];
    for word in words {
        assert!(ran.stdout.contains(word), "{word}: {}", ran.stdout);
    }
    assert!(ran.stderr.contains("7 points, 21 runs"), "{}", ran.stderr);
    assert!(ran.stderr.contains("run 1 of at most 21: round 1, concurrency(read) = "));
    assert_eq!(place.assay(&["report", "r.assay", "--full"]).expect(0).stdout, ran.stdout);
    let markdown = place.assay(&["report", "r.assay", "--markdown"]).expect(0).stdout;
    assert!(markdown.contains("Points") && markdown.lines().count() <= 40, "{markdown}");
    let single = place.assay(&["report", "r.assay", "--run", "3"]).expect(0).stdout;
    assert!(single.contains("[read]") || single.contains("read"), "{single}");
}

/// Three of four rates λ are below the capacity μ of 1,000/s; their mean response time is 1/(μ −
/// λ).
#[test]
fn model_of_rates_predicts_the_queue() {
    let workload = "url = sim:mm1?service=1ms\nduration = 200s\nwarmup = 20s\n[read]\n\
                    query = select 1\nrate = 100\n";
    let place = place(workload, "[sweep]\nvary = rate(read): 100/s, 500/s, 800/s, 1500/s\n");
    let document = document(run(&place, &["--json"]).expect(0));
    let model = &document["model"];
    assert_eq!(model["refused"], Value::Null, "{model:#}");
    let plateau = model["plateau_per_s"].as_f64().unwrap();
    assert!((plateau / 1e3 - 1.0).abs() < 0.02, "{plateau}");
    let points = model["points"].as_array().unwrap();
    assert_eq!(points.len(), 3, "{model:#}");
    let predicted = points[1]["predicted_ms"].as_f64().unwrap();
    assert!((predicted / 2.0 - 1.0).abs() < 0.1, "{model:#}");
    let overloaded = point(&document, "workload", "1500");
    assert_eq!(overloaded["response_ms"]["p99"], Value::Null, "{overloaded:#}");
    assert_eq!(document["usl"], Value::Null);
}

/// In a sweep over workers of an arrival queue, the best point is one that sustains the load.
#[test]
fn overloaded_points_are_named_and_never_best() {
    let workload = "url = sim:mmc?service=4ms&servers=64\nduration = 20s\nwarmup = 2s\n[serve]\n\
                    query = select 1\nrate = 1000\nconcurrency = 8\nqueue-limit = 100k\n";
    let place = place(
        workload,
        "[sweep]\nvary = concurrency(serve): 2, 8, 16\nbest = lowest response.p99(serve)\n",
    );
    let document = document(run(&place, &["--json"]).expect(0));
    let best = &document["best"];
    assert!(["8", "16"].contains(&best["value"].as_str().unwrap()), "{best:#}");
    assert_eq!(best["excluded"][0]["value"], "2", "{best:#}");
    assert_eq!(best["excluded"][0]["reason"], "the load exceeds the capacity");
    let overloaded = point(&document, "workload", "2");
    assert_eq!(overloaded["response_ms"]["p99"], Value::Null, "{overloaded:#}");
    assert_eq!(document["verdict"], "SUSPECT");
}

#[test]
fn sweep_without_a_usable_point_has_no_answer() {
    let workload = closed("sim:mm1?service=1ms&errors=0.9");
    let place = place(&workload, "[sweep]\nvary = concurrency(read): 1, 2\nrepeats = 1\n");
    let document = document(run(&place, &["--json"]).expect(3));
    assert_eq!(document["verdict"], "INVALID");
}

/// Each range is refused before a run, with a remedy.
#[test]
fn range_that_is_not_a_sweep_is_refused_before_a_run() {
    for (range, message, help) in [
        (
            "1..10000 +1",
            "a sweep of 10,000 points is too large: at most 1,000",
            "it would make 30,000 runs and take 41 hours; take larger steps",
        ),
        ("", "the range is empty", "write for example"),
        (
            "8..1 x2",
            "the range `8..1 x2` descends",
            "write the lower end first; the order of runs is drawn",
        ),
    ] {
        let sweep = format!("[sweep]\nvary = concurrency(read): {range}\n");
        let place = place(&closed(USL), &sweep);
        for ran in [run(&place, &[]), place.assay(&["check", "sweep.ini"])] {
            let ran = ran.expect(2);
            assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
            assert!(ran.stderr.contains(help), "{help}: {}", ran.stderr);
        }
        assert_eq!(place.names(), ["read.ini", "sweep.ini"]);
    }
}

#[test]
fn best_point_by_a_metric_that_no_run_has_is_warned_of() {
    let place = place(
        &closed(USL),
        "[sweep]\nvary = concurrency(read): 1, 2\nrepeats = 1\nbest = lowest cpu.database\n",
    );
    let ran = run(&place, &[]);
    let words = "warning: no point can be the one with the lowest cpu.database: virtual time uses \
                 no processor\n";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    let words = "no point of concurrency(read) has a usable cpu.database";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
}

#[test]
fn arms_have_a_curve_each_and_are_compared_at_each_point() {
    let experiment = "bet = throughput(read) -20% .. -10%\n[arm fast]\n[arm slow]\n\
                      option.service = 1.2ms\n\
                      [sweep]\nvary = concurrency(read): 1, 4\nrepeats = 6\n\
                      best = highest throughput(read)\n";
    let place = place(&closed("sim:mm1?service=1ms"), experiment);
    let ran = run(&place, &["--full"]).expect(0);
    let names = ["with `slow`", "arms against `fast`", "slow at 4: "];
    for words in [&["fast: concurrency(read) = "][..], &names].concat() {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let document = document(place.assay(&["report", "r.assay", "--json"]).expect(0));
    assert_eq!(document["sweep"].as_array().unwrap().len(), 4);
    let rows = document["comparison"].as_array().unwrap();
    let row = |row: &&Value| row["metric"] == "throughput" && row["point"] == "4";
    let change = rows.iter().find(row).unwrap()["change_percent"].as_f64().unwrap();
    assert!((-20.0..-13.0).contains(&change), "{change}");
    assert_eq!(document["curves"][1]["arm"], "slow");
}

/// A simulated server is the same in every process: a resumed sweep has the same answer as one that
/// was not interrupted.
#[test]
fn resumed_sweep_has_the_answer_of_an_uninterrupted_one() {
    let text = "url = sim:mm1?service=1ms\nduration = 300ms\n[read]\nquery = select 1\n\
                concurrency = 1\n";
    let place = place(text, "[sweep]\nvary = concurrency(read): 1, 2, 3\n");
    let whole = without_notes(&run(&place, &["--full"]).expect(0).stdout);
    let args = ["run", "sweep.ini", "--virtual", "--out", "part.assay"];
    let mut running = place.start_in_lockstep(&args);
    running.wait_for_line("run 2 of at most 9");
    running.signal(Signal::SIGINT);
    let ended = running.wait_for_end();
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    assert!(ended.stdout.contains("\nNo answer: the experiment was interrupted"));
    let resumed = ["run", "sweep.ini", "--virtual", "--full", "--resume", "part.assay"];
    let resumed = place.assay(&resumed).expect(0).stdout;
    assert_eq!(without_notes(&resumed).replace("part.assay", "r.assay"), whole);
    let counts = "select count(*) from run where state = 'counts' and phase = 'sweep'";
    assert_eq!(number(&place.at("part.assay"), counts), 9);
}

#[test]
fn sweep_runs_on_a_real_database() {
    let text = "url = sqlite:shop.db\nduration = 300ms\n[setup]\n\
                query = create table t (id integer primary key)\n\
                [load t]\nrows = 100\ncolumns = id: row()\n\
                [read]\nquery = select id from t where id = ${uniform(1, 100)}\nconcurrency = 1\n\
                [teardown]\nquery = drop table t\n";
    let place = place(text, "[sweep]\nvary = concurrency(read): 1, 2\nrepeats = 2\n");
    let ran = place.assay(&["run", "sweep.ini", "--out", "r.assay", "--json"]);
    let document = document(ran);
    assert_eq!(document["state"], "complete");
    for value in ["1", "2"] {
        let found = point(&document, "workload", value);
        assert_eq!(found["runs"], 2, "{found:#}");
        assert!(found["throughput_per_s"].as_f64().unwrap() > 0.0, "{found:#}");
    }
}

/// Starts a server that executes one request of 10 ms at a time.
fn slow_server() -> WireServer {
    let config = Config::new(Service::Constant(Nanos::from_millis(10)), Some(1));
    let simulation = Simulation { config, ..Simulation::at_once(Kind::Postgres) };
    WireServer::start(simulation).unwrap()
}

#[test]
fn second_node_doubles_the_throughput_of_serial_servers() {
    let (one, two) = (slow_server(), slow_server());
    let url = format!("postgres://ann@{},{}/shop", one.address(), two.address());
    let text = "duration = 600ms\n[read]\nquery = select 1\nconcurrency = 4\n";
    let gain = || {
        let place = place(text, "[sweep]\nvary = nodes: 1, 2\nrepeats = 2\n");
        let args = ["run", "sweep.ini", "--out", "r.assay", "--json", "--url", &url];
        let document = document(place.assay(&args));
        let throughput =
            |nodes: &str| point(&document, "workload", nodes)["throughput_per_s"].as_f64();
        let nodes = "select count(distinct name) from account join run using (run) \
                     where kind = 'node' and point = '1'";
        assert_eq!(number(&place.at("r.assay"), nodes), 0);
        throughput("2").zip(throughput("1")).map(|(two, one)| two / one)
    };
    // A busy machine may slow one point more than the other, but not in every attempt.
    let is_double = |gain: &Option<f64>| gain.is_some_and(|gain| (1.5..2.5).contains(&gain));
    let others: Vec<_> =
        std::iter::repeat_with(gain).take(3).take_while(|gain| !is_double(gain)).collect();
    assert!(others.len() < 3, "{others:?}");
}

/// The second host of a sweep over nodes, which can be lost.
struct SecondHost {
    relay: Relay,
    _servers: [WireServer; 2],
    url: String,
}

impl SecondHost {
    fn start() -> SecondHost {
        let servers = [slow_server(), slow_server()];
        let relay = Relay::start(servers[1].address()).unwrap();
        let url = format!("postgres://ann@{},{}/shop", servers[0].address(), relay.address());
        SecondHost { relay, _servers: servers, url }
    }

    /// Cuts the host off for a while in the next run on two hosts.
    fn cut_off_in_next_run(&self, run: &mut Running) {
        run.wait_for_line(", nodes = 2");
        let before = self.relay.bytes_passed(Direction::ToServer);
        // The connections to the host are open, and requests pass.
        wait_until("requests", || self.relay.bytes_passed(Direction::ToServer) > before + 4_000);
        self.relay.refuse_connections();
        self.relay.cut();
        run.read_stderr_for(Nanos::from_millis(200));
        self.relay.accept_connections();
    }
}

/// A workload with four clients, two for each of two hosts.
const FOUR_CLIENTS: &str = "duration = 5s\n[read]\nquery = select 1\nconcurrency = 4\n";

/// A run at a point of two nodes does not count if it used only one node for a part of its time.
#[test]
fn run_that_lost_a_node_for_a_while_is_repeated() {
    let second = SecondHost::start();
    let sweep = "[sweep]\nvary = nodes: 1, 2\nrepeats = 2\nbest = highest throughput(read)\n";
    let place = place(FOUR_CLIENTS, sweep);
    let mut run = place.start(&["run", "sweep.ini", "--out", "r.assay", "--url", &second.url]);
    second.cut_off_in_next_run(&mut run);
    let ran = run.wait_for_end();
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    let at = second.relay.address().to_string();
    let why =
        ran.stderr.lines().find(|line| line.contains(" is repeated: a server was lost in run "));
    assert!(why.is_some_and(|line| line.contains(&at)), "{}", ran.stderr);
    let count = |state: &str| {
        let lost = "select count(*) from run where objections like '%outage%' and point = '2'";
        number(
            &place.at("r.assay"),
            &format!("{lost} and verdict = 'invalid' and state = '{state}'"),
        )
    };
    assert_eq!((count("repeated"), count("counts")), (1, 0), "{}", ran.stderr);
    // The answer names the host and the run, although the run does not count.
    let document = document(place.assay(&["report", "r.assay", "--json"]));
    let notes = document["notes"].to_string();
    assert!(notes.contains(&at) && notes.contains("a server was lost in run "), "{notes}");
}

#[test]
fn point_that_loses_a_node_in_every_attempt_is_invalid_and_never_the_best() {
    let second = SecondHost::start();
    let sweep = "[sweep]\nvary = nodes: 1, 2\nrepeats = 1\nbest = highest throughput(read)\n";
    let place = place(FOUR_CLIENTS, sweep);
    let mut run = place.start(&["run", "sweep.ini", "--out", "r.assay", "--url", &second.url]);
    (0..3).for_each(|_| second.cut_off_in_next_run(&mut run));
    let ran = run.wait_for_end();
    let document = document(place.assay(&["report", "r.assay", "--json"]));
    let lost = point(&document, "workload", "2");
    assert_eq!((&lost["verdict"], &lost["runs"]), (&"INVALID".into(), &1.into()), "{lost:#}");
    assert_ne!(document["best"]["value"], "2", "{document:#}");
    let excluded = document["best"]["excluded"].as_array().unwrap();
    assert!(excluded.iter().any(|point| point["value"] == "2"), "{document:#}");
    let said = ran.stdout_line();
    let words = format!("{} of the target refuses connections", second.relay.address());
    for words in ["worst in run ", &words, "the run had fewer servers than its point"] {
        assert!(said.contains(words), "{words}: {}", ran.stdout);
    }
    // The report of the run alone says so as well.
    let number = number(&place.at("r.assay"), "select max(run) from run where point = '2'");
    let report = place.assay(&["report", "r.assay", "--run", &number.to_string()]).expect(3);
    assert!(
        report.stdout_line().contains("the run had fewer servers than its point"),
        "{}",
        report.stdout
    );
}

/// The second node is unreachable. This is found before the setup, and before any run that uses
/// only the first node.
#[test]
fn dead_node_is_found_before_setup() {
    let (first, closed) = (slow_server(), TcpListener::bind(("127.0.0.1", 0)).unwrap());
    let dead = closed.local_addr().unwrap();
    drop(closed);
    let setup = "[setup]\nquery = create table t (id integer)\n[teardown]\nquery = drop table t\n";
    for sections in ["", setup] {
        let place = place(&format!("{FOUR_CLIENTS}{sections}"), "[sweep]\nvary = nodes: 1, 2\n");
        let url = format!("postgres://ann@{},{dead}/shop", first.address());
        let args = ["run", "sweep.ini", "--out", "r.assay", "--url", &url];
        let ran = place.assay(&args).expect(4);
        for words in ["nodes = 2: the target does not answer: ", &dead.to_string()] {
            assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        }
        for words in ["preparing the data", "run 1 of"] {
            assert!(!ran.stderr.contains(words), "{words}: {}", ran.stderr);
        }
        assert_eq!(place.names(), ["read.ini", "sweep.ini"]);
    }
}

/// Returns the components of a point with the percentages of their processor time: user, system and
/// idle, which add up to 100 %.
#[track_caller]
fn processors(point: &Value) -> Vec<(&str, [f64; 3])> {
    let parts = ["user_percent", "system_percent", "idle_percent"];
    let of = |cpu: &Value| parts.map(|part| cpu[part].as_f64().unwrap());
    let all: Vec<(&str, [f64; 3])> = { point["cpu"].as_array().unwrap().iter() }
        .map(|cpu| (cpu["component"].as_str().unwrap(), of(cpu)))
        .collect();
    for (_, parts) in &all {
        assert!((parts.iter().sum::<f64>() - 100.0).abs() < 0.5, "{point:#}");
    }
    all
}

#[test]
fn each_point_has_the_processor_time_of_a_pooler_and_of_the_database_behind_it() {
    let text = "url = testbed:postgres?via=pgbouncer\nduration = 3s\n[read]\n\
                query = select 1\nconcurrency = 1\n";
    let place = place(text, "[sweep]\nvary = concurrency(read): 1, 2\nrepeats = 1\n");
    let ran = place.assay(&["run", "sweep.ini", "--out", "r.assay", "--json", "--allow-commands"]);
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    let document = document(ran);
    let full = place.assay(&["report", "r.assay", "--full"]).stdout;
    let head = full.lines().find(|line| line.contains("verdict") && line.contains("limiter"));
    let titles: Vec<&str> = head.unwrap_or_else(|| panic!("{full}")).split_whitespace().collect();
    assert_eq!(titles, ["verdict", "generator", "proxy", "database", "limiter"], "{full}");
    for clients in ["1", "2"] {
        let point = point(&document, "workload", clients);
        let all = processors(point);
        let [("generator", _), ("proxy", proxy), ("database", database)] = all[..] else {
            panic!("{point:#}");
        };
        let cells = [proxy, database].map(|[user, system, idle]| {
            assert!(user + system > 0.1, "{point:#}");
            format!("{user:.0}/{system:.0}/{idle:.0}")
        });
        let is_row = |line: &&str| line.split_whitespace().next() == Some(clients);
        let mut rows = full.lines().filter(is_row);
        let has_cells = |row: &str| row.split_whitespace().skip(3).take(2).eq(&cells);
        assert!(rows.any(has_cells), "{cells:?}: {full}");
    }
}

#[test]
fn setting_of_the_server_is_in_effect_at_each_point() {
    let text = "url = testbed:postgres\nduration = 2s\n[read]\nquery = select 1\n\
                concurrency = 1\nthink = 5ms\n";
    let place = place(text, "[sweep]\nvary = server.work_mem: 8MB, 64MB\nrepeats = 1\n");
    let ran = place.assay(&["run", "sweep.ini", "--out", "r.assay", "--json", "--allow-commands"]);
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    let document = document(ran);
    assert_eq!(document["state"], "complete");
    for value in ["8MB", "64MB"] {
        let found = point(&document, "workload", value);
        let owners: Vec<&str> = processors(found).into_iter().map(|(owner, _)| owner).collect();
        assert_eq!(owners, ["generator", "database"], "{found:#}");
        let differs = format!(
            "select count(*) from run left join setting on setting.run = run.run and \
             name = 'work_mem' where point = '{value}' and value is not '{value}'"
        );
        assert_eq!(number(&place.at("r.assay"), &differs), 0, "{value}");
    }
    assert_eq!(number(&place.at("r.assay"), "select count(*) from run where state = 'counts'"), 2);
}

#[test]
fn option_and_parameter_take_their_values_in_every_run() {
    let server = "url = sim:mdc?service=1ms\nduration = 2s\n[params]\npause = 1ms\n[read]\n\
                  query = select 1\nconcurrency = 1\nthink = ${pause}\n";
    let found = |vary: &str| {
        let place = place(server, &format!("[sweep]\nvary = {vary}\nrepeats = 2\n"));
        let document = document(run(&place, &["--json"]));
        let per_s = |value: &str| {
            let point = point(&document, "workload", value);
            point["throughput_per_s"].as_f64().unwrap().round()
        };
        (per_s("4ms"), per_s("9ms"))
    };
    // A client sends its next request after the service time and the pause.
    assert_eq!(found("option.service: 4ms, 9ms"), (200.0, 100.0));
    assert_eq!(found("set.pause: 4ms, 9ms"), (200.0, 100.0));
}

#[test]
fn point_at_which_no_virtual_time_passes_is_named() {
    let place = place(&closed(USL), "[sweep]\nvary = option.service: 1ms, 0ms\n");
    let words = "option.service = 0ms: virtual time does not pass: the clients of [read]";
    run(&place, &[]).refuses(&[words, " | vary = option.service: 1ms, 0ms\n"]);
    assert_eq!(place.names(), ["read.ini", "sweep.ini"]);
}

/// Zero clients mean that their number is not set; a closed job then has one client.
#[test]
fn zero_clients_count_as_one_in_the_models() {
    let experiment = "[sweep]\nvary = concurrency(read): 0, 2..64 x2\n";
    let place = place(&closed(USL), experiment);
    let ran = run(&place, &["--quiet"]).expect(0);
    for words in ["\nUSL    peak ", "\nmodel  one request 1.00 ms"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
}
