//! Runs without a database: evidence made by hand, the same each time.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use analyze::{
    DatabaseLocation, Distribution, Evidence, JobEvidence, JobStep, Observed, Route, Step, Steps,
    Surroundings, UsedTarget,
};
use base::{AccountId, Nanos, Seed, StatementId, Stream, WallTime};
use hdrhistogram::Histogram;
use record::{Balance, Counts, End, EndCounts, EndKind, Grid, Kind};
use report::{Page, RunDetails, Style, View};
use workload::{Overrides, Plan};

/// Returns the full text of a run.
pub(crate) fn text(view: &View, style: &Style) -> String {
    report::full_text(&Page::of(view), style)
}

/// Returns the short text of a run.
pub(crate) fn short_text(view: &View, style: &Style) -> String {
    report::text(&Page::of(view), style)
}

/// Returns the document of a run.
pub(crate) fn json(view: &View) -> serde_json::Value {
    report::json(&Page::of(view))
}

/// A run under construction.
pub(crate) struct Case {
    pub(crate) about: RunDetails,
    pub(crate) evidence: Evidence,
    /// For each job, the steps of the window in which it was served, with the response times of
    /// each.
    times: Vec<Vec<(usize, Histogram<u64>)>>,
}

/// Requests of a job in every second, warm-up included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    pub(crate) per_s: u64,
    /// Number of requests per second that end in time; the others stay unsent.
    pub(crate) served_per_s: u64,
    /// Minimum duration of a request, and the mean of the time beyond it.
    pub(crate) service: [Nanos; 2],
    /// Mean wait of a request.
    pub(crate) wait: Nanos,
    /// Mean send lag.
    pub(crate) lag: Nanos,
    pub(crate) connections: u64,
}

impl Traffic {
    /// Returns traffic with this many requests per second, all served, in about two milliseconds.
    pub(crate) fn of(per_s: u64) -> Traffic {
        Traffic {
            per_s,
            served_per_s: per_s,
            service: [Nanos::from_micros(600), Nanos::from_micros(1_200)],
            wait: Nanos::ZERO,
            lag: Nanos::from_micros(8),
            connections: 16,
        }
    }
}

impl Case {
    /// Creates a completed run of this workload without requests.
    pub(crate) fn new(workload: &str) -> Case {
        let (plan, diagnostics) = workload::plan(workload, &Overrides::default());
        let plan = plan.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let end = plan.duration.unwrap_or(Nanos::from_secs(60));
        let jobs = plan
            .jobs_and_parts()
            .map(|either| empty_times(either.requests().statements.len()))
            .collect();
        let ended = End { at: end, kind: EndKind::Completed, text: String::new() };
        let evidence = Evidence {
            unread_plan: None,
            is_virtual: false,
            threads: 1,
            spins: false,
            warmup: analyze::WarmupEnd::Given,
            steps: steps(&plan, end),
            ended: Some(EndKind::Completed),
            jobs,
            nodes: Vec::new(),
            disturbances: Vec::new(),
            events: Vec::new(),
            client: Vec::new(),
            loads: Vec::new(),
            unseen: Vec::new(),
            observed: idle_observations(end),
            surroundings: beside_sqlite(),
            server_counters: analyze::ServerCounters::default(),
            plan,
        };
        let times = vec![Vec::new(); evidence.jobs.len()];
        let mut case = Case { about: run_details(ended), evidence, times };
        case.sample_client();
        case
    }

    /// Returns the run as it is reported.
    pub(crate) fn view(mut self) -> View {
        let read = |JobStep { job, step }: JobStep| {
            let times = self.times[job.index()].iter().find(|(at, _)| *at == step);
            Ok::<_, Infallible>(
                times.map_or_else(Vec::new, |(_, times)| record::bucket_counts(times)),
            )
        };
        self.evidence.disturbances = analyze::disturbances(&self.evidence, read).unwrap();
        View::new(self.about, self.evidence)
    }

    /// Puts the run into virtual time.
    pub(crate) fn in_virtual_time(mut self) -> Case {
        self.about.is_virtual = true;
        self.about.started = WallTime::EPOCH;
        self.about.target = "sim:mm1?service=1ms".to_owned();
        self.about.command = "assay run shop.ini --virtual".to_owned();
        self.evidence.is_virtual = true;
        self.evidence.client.clear();
        self.evidence.observed.clear();
        self.evidence.surroundings = Surroundings::default();
        self
    }

    /// Sets the location of the database, without a calibrated route to it.
    pub(crate) fn at(mut self, location: DatabaseLocation) -> Case {
        self.evidence.surroundings.main = UsedTarget { route: None, location };
        self
    }

    /// Sets a different end of the run, after this many seconds; `None` for a killed run.
    pub(crate) fn ended(mut self, kind: Option<EndKind>, seconds: u64, text: &str) -> Case {
        let at = Nanos::from_secs(seconds);
        self.evidence.steps = steps(&self.evidence.plan, at);
        self.evidence.ended = kind;
        self.about.ended = kind.map(|kind| End { at, kind, text: text.to_owned() });
        self.evidence.client.clear();
        self.sample_client();
        self
    }

    /// Adds requests to the job at `place`, from time zero to the end.
    pub(crate) fn serving(self, place: usize, traffic: Traffic) -> Case {
        self.serving_by_second(place, |_| traffic)
    }

    /// Adds requests to the job at `place`, second by second. `traffic` returns the traffic of a
    /// second; its number of requests must be the same in every second.
    pub(crate) fn serving_by_second(
        mut self,
        place: usize,
        traffic: impl Fn(u64) -> Traffic,
    ) -> Case {
        let seconds = self.evidence.end().0.div_ceil(1_000_000_000);
        let window = self.evidence.steps.window();
        let stream = Stream::new(Seed(7), "case", &place.to_string());
        let statements =
            self.evidence.plan.account(AccountId(place as u16)).requests().statements.len();
        let job = &mut self.evidence.jobs[place];
        let mut seconds_done = Vec::new();
        for second in 0..seconds {
            let traffic = traffic(second);
            let mut times = empty_times(statements);
            for number in 0..traffic.per_s {
                times.count(traffic, stream.draw(second * traffic.per_s + number));
            }
            job.steps.push(step(traffic));
            if window.contains(&(second as usize)) {
                seconds_done.push((second as usize, times));
            }
        }
        for (_, times) in &seconds_done {
            job.window.iter_mut().zip(&times.window).for_each(|((_, sum), (_, h))| {
                sum.add(h).unwrap();
            });
        }
        for part in seconds_done.chunks((self.evidence.plan.probe.0 / 1_000_000_000) as usize) {
            let mut response = Kind::Response.histogram();
            part.iter().for_each(|(_, times)| response.add(&times.window[0].1).unwrap());
            let range = part[0].0..part[part.len() - 1].0 + 1;
            job.probes.push((range, Distribution::of(&response)));
        }
        let responses = seconds_done.iter().map(|(at, times)| (*at, times.window[0].1.clone()));
        self.times[place] = responses.collect();
        assert!(job.probes.len() <= analyze::ROWS, "so few probes are the course as they are");
        job.course = job.probes.clone();
        self
    }

    /// Adds an observation with this growth per second.
    pub(crate) fn grow(&mut self, component: &str, metric: &str, per_s: f64) {
        let seconds = self.evidence.end().0 / 1_000_000_000;
        self.evidence.observed.push(Observed {
            component: component.to_owned(),
            metric: metric.to_owned(),
            points: (0..=seconds).map(|s| (Nanos::from_secs(s), per_s * s as f64)).collect(),
            ranges: Vec::new(),
        });
    }

    /// Adds the low usage of an idle generator.
    fn sample_client(&mut self) {
        let seconds = self.evidence.end().0 / 1_000_000_000;
        self.evidence.client.extend((0..=seconds).map(|second| analyze::ClientSample {
            at: Nanos::from_secs(second),
            user: Nanos::from_millis(8 * second),
            system: Nanos::from_millis(22 * second),
            peak_rss_bytes: 12_345_678,
        }));
    }
}

/// Returns the observations of a nearly idle generator and machine.
fn idle_observations(end: Nanos) -> Vec<Observed> {
    let seconds = end.0.div_ceil(1_000_000_000);
    let grows = [
        ("lane-0", "ran", 0.03),
        ("lane-0", "waited", 0.001),
        ("host", "processors", 2.0),
        ("host", "stolen", 0.0),
        ("host", "wall-clock", 0.0),
    ];
    let observed = grows.map(|(component, metric, per_s)| Observed {
        component: component.to_owned(),
        metric: metric.to_owned(),
        points: (0..=seconds).map(|s| (Nanos::from_secs(s), per_s * s as f64)).collect(),
        ranges: Vec::new(),
    });
    observed.into()
}

/// Returns a machine that was never calibrated, with SQLite in the generator's process.
fn beside_sqlite() -> Surroundings {
    let main = UsedTarget { route: Some(Route::Sqlite), location: DatabaseLocation::Inside };
    Surroundings { main, ..Surroundings::default() }
}

fn run_details(ended: End) -> RunDetails {
    RunDetails {
        record: PathBuf::from("run-20261121T201502Z.assay"),
        run: None,
        target: "sqlite:shop.db".to_owned(),
        workload: "shop.ini".to_owned(),
        command: "assay run shop.ini --url sqlite:shop.db".to_owned(),
        version: "0.1.0".to_owned(),
        commit: Some("0123456789ab".to_owned()),
        plan: "duration = 60s\n".to_owned(),
        started: WallTime(1_795_292_102_000_000_000),
        seed: Seed(42),
        is_virtual: false,
        threads: 1,
        ended: Some(ended),
        op_log: None,
        settings: [("journal_mode", "wal"), ("server", "SQLite 3.51.1"), ("synchronous", "full")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        notes: Vec::new(),
        excerpts: Vec::new(),
        keeps_files: true,
    }
}

/// Returns the times of a job without requests.
fn empty_times(statements: usize) -> Times {
    let statements = (0..statements as u16).map(StatementId).map(Kind::Statement);
    let kinds = Kind::OF_A_JOB.into_iter().chain(statements);
    Times {
        estimates: analyze::Responses::default(),
        parts: Vec::new(),
        steps: Vec::new(),
        course: Vec::new(),
        window: kinds.map(|kind| (kind, kind.histogram())).collect(),
        probes: Vec::new(),
        failures: Vec::new(),
        statements: None,
    }
}

type Times = JobEvidence;

/// A collection that counts requests in histograms.
trait CountTimes {
    fn count(&mut self, traffic: Traffic, draw: base::Draw);
}

impl CountTimes for Times {
    fn count(&mut self, traffic: Traffic, mut draw: base::Draw) {
        let mut random = |mean: Nanos| (draw.exponential() * mean.0 as f64) as u64;
        let [least, more] = traffic.service;
        let (lag, wait) = (random(traffic.lag), random(traffic.wait));
        let service = least.0 + random(more);
        let statements = (self.window.len() - Kind::OF_A_JOB.len()) as u64;
        for (kind, histogram) in &mut self.window {
            let time = match kind {
                Kind::Response => lag + wait + service,
                Kind::Service => service,
                Kind::Wait => wait,
                Kind::SendLag => lag,
                Kind::Error | Kind::Gap => continue,
                Kind::Statement(_) => service / statements,
            };
            histogram.saturating_record(time);
        }
    }
}

/// Returns a second of traffic.
pub(crate) fn step(traffic: Traffic) -> Step {
    let Traffic { per_s, served_per_s, connections, .. } = traffic;
    Step {
        counts: Counts {
            arrivals: per_s,
            balance: Balance::of(served_per_s, 0, 0, per_s - served_per_s),
            rows: served_per_s,
            bytes_sent: 41 * per_s,
            bytes_received: 97 * served_per_s,
            ..Counts::default()
        },
        ends: EndCounts { completed: served_per_s, errors: 0, rows: served_per_s },
        connections: Some(connections),
    }
}

/// Returns the steps of a run of this plan with this end.
fn steps(plan: &Plan, end: Nanos) -> Steps {
    Steps::new(Grid::new(plan.warmup.known(), plan.duration), end, plan.probe)
}

/// Returns a histogram of these times.
pub(crate) fn histogram(kind: Kind, times: impl IntoIterator<Item = Nanos>) -> Histogram<u64> {
    let mut histogram = kind.histogram();
    times.into_iter().for_each(|time| histogram.saturating_record(time.0));
    histogram
}

/// Compares a text with the file of this name, or writes the file if `UPDATE` is set.
#[track_caller]
pub(crate) fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/snapshots").join(name);
    compare_with(&path, text);
}

/// Compares a text with a file of the repository, or writes the file if `UPDATE` is set.
#[track_caller]
pub(crate) fn compare_with(path: &Path, text: &str) {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, text).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        text == expected,
        "{} differs; look at it and run the tests once with UPDATE=1\n{text}",
        path.display()
    );
}
