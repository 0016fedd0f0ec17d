//! Tests of the page and the metrics that a run serves while it is in progress.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use base::WallTime;
use nix::sys::signal::Signal;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::pages::base64;
use crate::support::{MM1, Running, TestFolder, assert_balanced, job, wait_for};

/// The words before the address of the page.
const SHOWN: &str = "the run is shown at";

const READ: &str = "[re<b>ad]\nquery = select 1\nconcurrency = 2\n";

/// A run in real time, with the address of its page.
struct LiveRun {
    run: Running,
    /// The address of the page, as HOST:PORT.
    address: String,
    /// The path of the page, with a slash at both ends.
    path: String,
}

impl LiveRun {
    fn start(place: &TestFolder, words: &str, options: &[&str]) -> LiveRun {
        let line = ["run", "w.ini", "--quiet", "--json", "--url", MM1, "--out", "r.assay"];
        LiveRun::of(place.start(&[&line[..], options].concat()), words)
    }

    /// Reads the address from the line of the run's output that contains `words`.
    fn of(mut run: Running, words: &str) -> LiveRun {
        let found = RefCell::new(String::new());
        run.wait_for_matching_line(words, |line| {
            let url = line.split_once("http://").filter(|_| line.contains(words));
            url.map(|(_, url)| *found.borrow_mut() = url.to_owned()).is_some()
        });
        let url = found.into_inner();
        let (address, path) = url.split_once('/').unwrap();
        LiveRun { run, address: address.to_owned(), path: format!("/{path}") }
    }

    /// Returns the document of the run after its end. A busy machine may make it INVALID.
    fn wait_for_end(self) -> Value {
        let ran = self.run.wait_for_end();
        assert!(matches!(ran.code, 0 | 3 | 130), "{}: {}", ran.code, ran.stderr);
        let document = ran.json();
        assert_balanced(&document);
        document
    }

    /// Requests a page and returns the head and the body of the answer.
    fn get(&self, path: &str) -> (String, String) {
        let text = answer(&self.address, &format!("{}{path}", self.path));
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }
}

/// Returns the whole answer to a request. The server has a limited number of connections, and each
/// becomes free only a moment after its answer. Until then, a request may be refused and its
/// connection reset; the request is then sent again.
fn answer(address: &str, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let attempt = || {
        let mut stream = TcpStream::connect(address).unwrap();
        let mut text = String::new();
        stream.write_all(request.as_bytes()).ok()?;
        stream.read_to_string(&mut text).ok()?;
        (!text.starts_with("HTTP/1.1 503 ")).then_some(text)
    };
    wait_for("an answer", attempt)
}

#[test]
fn page_of_a_run_is_updated_until_it_ends() {
    let place = TestFolder::with(READ);
    let options = ["--duration", "60s", "--serve=127.0.0.1:0"];
    let live = LiveRun::start(&place, SHOWN, &options);
    let (head, page) = live.get("");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(page.contains("<title>w.ini on "), "{page}");
    let mut lines = BufReader::new(begin(&live)).lines().map_while(Result::ok);
    let has_figures = |line: String| {
        line.starts_with("data: {")
            && line.contains("measuring, 00:")
            && line.contains("\"rows\":[[\"re<b>ad\",")
    };
    assert!(lines.any(has_figures), "the first figures");
    assert!(lines.any(has_figures), "a message after them");
    live.run.signal(Signal::SIGINT);
    let rest: Vec<String> = lines.collect();
    let end = ["event: end", "data: `assay report r.assay` prints the answer", ""];
    assert!(rest.ends_with(&end.map(str::to_owned)), "{rest:?}");
    live.wait_for_end();
}

#[test]
fn policy_of_the_page_of_a_run_allows_its_own_script() {
    let place = TestFolder::with(READ);
    let options = ["--duration", "60s", "--serve=127.0.0.1:0"];
    let live = LiveRun::start(&place, SHOWN, &options);
    let (head, page) = live.get("");
    let script = page.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
    let hash = base64(&Sha256::digest(script.as_bytes()));
    let allowed = format!("script-src 'sha256-{hash}'; connect-src 'self'");
    assert!(head.contains(&allowed) && page.contains(&allowed), "{hash}: {head}");
    live.run.signal(Signal::SIGINT);
    live.wait_for_end();
}

/// Creates a file under every name that a record may get from 30 s ago to 30 s from now. `prefix`
/// is the kind of the record: `run` or `experiment`.
fn take_names(place: &TestFolder, prefix: &str) {
    let now = WallTime::now();
    for second in -30..30 {
        let name = now.plus(second * 1_000_000_000).compact();
        place.write(&format!("{prefix}-{name}.assay"), "");
    }
}

/// Returns the name of the only record whose name got a number.
fn numbered(place: &TestFolder) -> String {
    let names = place.names();
    let mut numbered = names.into_iter().filter(|name| name.ends_with("-2.assay"));
    numbered.next().unwrap()
}

/// Expects the page to name the record that was created. The usual name of the record is
/// taken, as if by another process.
#[test]
fn page_of_a_run_names_the_record_that_was_created() {
    let place = TestFolder::with(READ);
    take_names(&place, "run");
    let line = ["run", "w.ini", "--quiet", "--url", MM1, "--duration", "60s"];
    let live = LiveRun::of(place.start(&[&line[..], &["--serve=127.0.0.1:0"]].concat()), SHOWN);
    let events = BufReader::new(begin(&live));
    live.run.signal(Signal::SIGINT);
    let end = events.lines().map_while(Result::ok).find(|line| line.contains(" prints the answer"));
    let command = format!("`assay report {}`", numbered(&place));
    assert!(end.as_ref().is_some_and(|end| end.contains(&command)), "{command}: {end:?}");
    live.run.wait_for_end();
}

/// Expects the page to name the record that was created. The test takes the usual name of the
/// record after the experiment has begun, and before the record is created. The test is certain to
/// come first, because the experiment cannot print its third line before the test has read a line.
#[test]
fn page_of_an_experiment_names_the_record_that_was_created() {
    let place = TestFolder::with(&format!("duration = 200ms\n{READ}"));
    place.write("e.ini", EXPERIMENT);
    let metrics = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let line = ["run", "e.ini", "--url", MM1, "--serve=127.0.0.1:0", "--metrics", &metrics];
    let run = place.start_in_lockstep(&line);
    wait_for("the experiment", || TcpStream::connect(&metrics).ok());
    take_names(&place, "experiment");
    let mut live = LiveRun::of(run, SHOWN);
    let events = BufReader::new(begin(&live));
    live.run.wait_for_line("run 1 of ");
    live.run.signal(Signal::SIGINT);
    live.run.wait_for_end();
    let end = events.lines().map_while(Result::ok).find(|line| line.contains(" prints the answer"));
    let command = format!("`assay report {}`", numbered(&place));
    assert!(end.as_ref().is_some_and(|end| end.contains(&command)), "{command}: {end:?}");
}

const EXPERIMENT: &str = "[question]\nask = Is <b>slow</b> slower?\nworkload = w.ini\nrounds = 6\n\
    [arm plain]\n[arm slow]\noption.service = 2ms\n";

#[test]
fn experiment_shows_its_runs_arms_and_figures() {
    let place = TestFolder::with(&format!("duration = 4s\n{READ}"));
    place.write("e.ini", EXPERIMENT);
    let line = ["run", "e.ini", "--quiet", "--url", MM1, "--out", "e.assay"];
    let pages = ["--serve=127.0.0.1:0", "--metrics", "127.0.0.1:0"];
    let mut run = place.start(&[&line[..], &pages].concat());
    let address = RefCell::new(Vec::new());
    for words in [SHOWN, "its metrics are at"] {
        run.wait_for_matching_line(words, |line| {
            let url = line.split_once("http://").filter(|_| line.contains(words));
            url.map(|(_, url)| address.borrow_mut().push(url.to_owned())).is_some()
        });
    }
    let [page, metrics] = &address.into_inner()[..] else { panic!("two addresses") };
    let get = |url: &str| {
        let (host, path) = url.split_once('/').unwrap();
        answer(host, &format!("/{path}"))
    };
    // The page shows the second run, with the result of the first run and figures of its own.
    let text = wait_for("figures of the second run", || {
        let text = get(page);
        let is_second = text.contains(">run 2 of at most ");
        let is_measured = text.contains("; measuring, 00:0");
        (is_second && is_measured && text.contains("<td class=\"number\">")).then_some(text)
    });
    for words in ["Is &lt;b&gt;slow&lt;/b&gt; slower?", "round 1, ", "run 1: ", "re&lt;b&gt;ad"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(
        get(metrics).contains("assay_requests_total{assay_job=\"re<b>ad\""),
        "{}",
        get(metrics)
    );
    run.signal(Signal::SIGINT);
    assert_eq!(run.wait_for_end().code, 130);
}

/// Maximum number of viewers of a run at once.
const MOST_VIEWERS: usize = 16;

/// Requests events on new connections until the server has a free one for a viewer. Returns that
/// connection, from which the beginning of the answer has been read.
fn begin(live: &LiveRun) -> TcpStream {
    let LiveRun { address, path, .. } = live;
    let request = format!("GET {path}events HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let attempt = || {
        // A connection that was refused may be reset before its answer is read.
        let mut stream = TcpStream::connect(address).ok()?;
        let mut first = [0u8; 15];
        stream.write_all(request.as_bytes()).ok()?;
        stream.read_exact(&mut first).ok()?;
        (&first == b"HTTP/1.1 200 OK").then_some(stream)
    };
    wait_for("a place that became free", attempt)
}

#[test]
fn connections_of_departed_viewers_are_freed_during_the_run() {
    let place = TestFolder::with(READ);
    let options = ["--duration", "300s", "--serve=127.0.0.1:0"];
    let mut live = LiveRun::start(&place, SHOWN, &options);
    let viewers: Vec<TcpStream> = (0..MOST_VIEWERS).map(|_| begin(&live)).collect();
    let mut refused = String::new();
    TcpStream::connect(&live.address).unwrap().read_to_string(&mut refused).unwrap();
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    drop(viewers);
    // Each of these viewers needs a connection that a departed viewer has left free.
    let silent: Vec<TcpStream> = (0..MOST_VIEWERS).map(|_| begin(&live)).collect();
    assert!(live.run.is_running(), "the run ended before its viewers");
    live.run.signal(Signal::SIGINT);
    live.wait_for_end();
    drop(silent);
}

/// Returns the value of a sample in the metrics.
fn sample(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn metrics_of_a_run_agree_with_each_other_and_with_its_answer() {
    let place = TestFolder::with(READ);
    let options = ["--duration", "60s", "--metrics", "127.0.0.1:0"];
    let live = LiveRun::start(&place, "its metrics are at", &options);
    assert_eq!(live.path, "/metrics");
    let of = |name: &str, more: &str| format!("{name}{{assay_job=\"re<b>ad\"{more}}}");
    let completed = of("assay_requests_total", ",outcome=\"completed\"");
    let text = wait_for("a completed request", || {
        let (head, text) = live.get("");
        assert!(head.contains("\r\nContent-Type: text/plain; version=0.0.4;"), "{head}");
        sample(&text, &completed).is_some_and(|count| count > 0.0).then_some(text)
    });
    live.run.signal(Signal::SIGINT);
    let answered = sample(&text, &of("assay_response_seconds_count", ""));
    assert_eq!(sample(&text, &completed), answered, "{text}");
    let last = sample(&text, &of("assay_response_seconds_bucket", ",le=\"+Inf\""));
    assert_eq!(last, answered, "{text}");
    let mean = sample(&text, &of("assay_response_seconds_sum", "")).unwrap() / answered.unwrap();
    let document = live.wait_for_end();
    let job = job(&document, "re<b>ad");
    // Two clients of a server that takes 1 ms; a busy machine may be slower.
    assert!((0.000_5..5.0).contains(&mean), "{text}");
    assert!(sample(&text, &completed) <= job["completed"].as_f64(), "{text}");
}

#[test]
fn address_that_cannot_be_used_ends_the_run_before_it_begins() {
    let place = TestFolder::with(READ);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = format!("--serve={address}");
    let line = ["run", "w.ini", "--url", MM1, "--duration", "1s"];
    for option in [&["--metrics", &address][..], &[&serve]] {
        let ran = place.assay(&[&line[..], option].concat());
        ran.refuses(&["cannot listen at", "another program listens there"]);
    }
    let virtually = [&line[..], &["--virtual", "--serve=127.0.0.1:0"]].concat();
    place.assay(&virtually).refuses(&["--virtual", "cannot be used with"]);
    place.write("e.ini", "[question]\nask = ?\nworkload = w.ini\n[arm a]\n[arm b]\nparam.x = 1\n");
    let experiment = ["run", "e.ini", "--url", MM1, "--metrics", "127.0.0.1:0"];
    place.assay(&experiment).expect(2);
    assert!(place.names().iter().all(|name| !name.ends_with(".assay")), "{:?}", place.names());
}
